/* See folder.h. */
#include "catalog/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"

static const char last_character[] = "\xf4\x8f\xbf\xbf";

void catalog_folder_done(struct catalog_folder *files) {
    for (uint32_t i = 0; i < files->n; i++) {
        free(files->items[i].name);
    }
    free(files->items);
    free(files->last);
    *files = (struct catalog_folder){0};
}

static bool read_file(struct db_statement *s, struct catalog_folder_file *out, struct reel_error *err) {
    *out = (struct catalog_folder_file){.name = strdup(db_text(s, 1)),
                                        .state = (enum recording_state)db_int(s, 2),
                                        .row = db_int(s, 0),
                                        .created_ns = db_int(s, 3),
                                        .size = db_size(s, 5),
                                        .is_empty = db_int(s, 6) == 0,
                                        .has_several = db_int(s, 6) > 1};
    if (!out->is_empty) {
        db_hex(s, 4, out->sha256, sizeof out->sha256);
    }
    return out->name || reel_fail_memory(err);
}

/* *rows: that were read, older revisions among them. */
static bool read_files(struct db_statement *s, struct catalog_folder *out, uint32_t *rows, struct reel_error *err) {
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        ++*rows;
        if (out->n > 0 && strcmp(out->items[out->n - 1].name, db_text(s, 1)) == 0) {
            continue;
        }
        if (!read_file(s, &out->items[out->n], err)) {
            return false;
        }
        out->n++;
    }
    return step == DB_END;
}

bool catalog_folder_read(struct catalog *c, const char *collection, const char *prefix, const char *from,
                         uint32_t limit, struct catalog_folder *out, struct reel_error *err) {
    uint32_t rows = 0;
    AUTO_MEM char *end = NULL;
    *out = (struct catalog_folder){.items = calloc(limit, sizeof *out->items)};
    if (!out->items || asprintf(&end, "%s%s", prefix, last_character) < 0) {
        catalog_folder_done(out);
        return reel_fail_memory(err);
    }
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "recording_files_from", err) : NULL;
    if (s) {
        db_set_text(s, ":collection", collection);
        db_set_text(s, ":from", strcmp(from, prefix) > 0 ? from : prefix);
        db_set_text(s, ":end", end);
        db_set_int(s, ":limit", limit);
    }
    bool good = s && read_files(s, out, &rows, err);
    if (good && rows == limit) {
        good = (out->last = strdup(out->items[out->n - 1].name)) || reel_fail_memory(err);
    }
    if (!good) {
        catalog_folder_done(out);
    }
    return good;
}

/* '0' follows '/'; no name has a control character. */
char *catalog_folder_after(const char *last) {
    size_t size = strlen(last);
    char *text = malloc(size + 2);
    if (text) {
        memcpy(text, last, size + 1);
        if (size > 0 && last[size - 1] == '/') {
            text[size - 1] = '0';
        } else {
            memcpy(text + size, "\x01", 2);
        }
    }
    return text;
}

bool catalog_folder_recording(struct catalog *c, int64_t row, struct catalog_recording *out, struct reel_error *err) {
    *out = (struct catalog_recording){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    return h && catalog_load(h, row, out, err);
}
