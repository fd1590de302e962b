/* See sweep.h. No statement is open when a function returns. */
#include "catalog/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"

bool catalog_hashes_from(struct catalog *c, const char *low, struct catalog_hashes *page, struct reel_error *err) {
    static const char *const statements[] = {[HASHED_PARTS] = "hashes_of_parts",
                                             [HASHED_CONTENTS] = "hashes_of_contents",
                                             [HASHED_OBJECTS] = "hashes_of_objects"};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done)
    struct db_statement *s = h && db_patient(h, err) ? db_statement(h, statements[page->of], err) : NULL;
    page->n = 0;
    page->rest = false;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":sha256", low);
    db_set_int(s, ":limit", CATALOG_SWEPT);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && page->n < CATALOG_SWEPT) {
        db_hex(s, 0, page->items[page->n++], SHA256_HEX);
    }
    memmove(page->low, low, strlen(low) + 1);
    page->rest = step == DB_END && page->n < CATALOG_SWEPT;
    return step != DB_FAILED;
}

static int compare(const void *a, const void *b) {
    return strcmp(a, b);
}

bool catalog_hashes_has(struct catalog *c, struct catalog_hashes *page, const char *sha256, bool *has,
                        struct reel_error *err) {
    bool there = strcmp(page->low, sha256) <= 0 &&
                 (page->rest || (page->n > 0 && strcmp(sha256, page->items[page->n - 1]) <= 0));
    if (!there && !catalog_hashes_from(c, sha256, page, err)) {
        return false;
    }
    *has = bsearch(sha256, page->items, page->n, sizeof page->items[0], compare);
    return true;
}

/* ---- files of recordings */

static bool add_file(struct catalog_files *page, struct db_statement *s, struct reel_error *err) {
    if (page->n == page->room) {
        uint32_t room = page->room ? 2 * page->room : CATALOG_SWEPT;
        void *items = realloc(page->items, room * sizeof *page->items);
        if (!items) {
            return reel_fail_memory(err);
        }
        page->items = items;
        page->room = room;
    }
    struct catalog_row_file *file = &page->items[page->n++];
    file->row = db_int(s, 0);
    db_hex(s, 1, file->sha256, sizeof file->sha256);
    return true;
}

static bool read_ready(struct db_handle *h, struct catalog_files *page, char **json, struct reel_error *err) {
    AUTO_MEM int64_t *rows = calloc(CATALOG_SWEPT, sizeof *rows);
    AUTO(db_done) struct db_statement *s = db_statement(h, "rows_in_state", err);
    if (!s || !rows) {
        return s ? reel_fail_memory(err) : false;
    }
    db_set_int(s, ":state", STATE_READY);
    db_set_int(s, ":row", page->after);
    db_set_int(s, ":limit", CATALOG_SWEPT);
    enum db_step step = DB_ROW;
    while (page->rows < CATALOG_SWEPT && (step = db_next(s, err)) == DB_ROW) {
        page->after = rows[page->rows++] = db_int(s, 0);
    }
    *json = step != DB_FAILED ? rows_json(rows, page->rows) : NULL;
    return *json || (step != DB_FAILED ? reel_fail_memory(err) : false);
}

bool catalog_ready_files(struct catalog *c, bool objects, struct catalog_files *page, struct reel_error *err) {
    AUTO_MEM char *json = NULL;
    page->rows = page->n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done)
    struct db_statement *s = h && read_ready(h, page, &json, err) ? db_statement(h, "files_of_rows", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":rows", json);
    db_set_int(s, ":objects", objects);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        if (!add_file(page, s, err)) {
            return false;
        }
    }
    return step == DB_END;
}

void catalog_files_done(struct catalog_files *page) {
    free(page->items);
    *page = (struct catalog_files){0};
}
