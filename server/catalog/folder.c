/* See folder.h. */
#include "catalog/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"

enum { NAMES_READ = 4 * FOLDER_PAGE };
static const char last_character[] = "\xf4\x8f\xbf\xbf";

struct page { /* being filled: rows[i] belongs to items[at[i]] */
    struct catalog_folder *out;
    int64_t rows[FOLDER_PAGE];
    uint32_t at[FOLDER_PAGE], n_rows;
    size_t prefix; /* bytes of the folder's path with its slash */
};

void catalog_folder_done(struct catalog_folder *folder) {
    for (uint32_t i = 0; i < folder->n; i++) {
        free(folder->items[i].folder);
        catalog_recording_done(&folder->items[i].recording);
    }
    free(folder->next);
    *folder = (struct catalog_folder){0};
}

/* The name of the page's last entry, as long as it is. */
static bool is_last(const char *last, const char *name, size_t size) {
    return last && strlen(last) == size && strncmp(last, name, size) == 0;
}

/* Adds the row, or the folder that it is in, unless it was the last that was added. *full: there is no room. */
static bool folder_add(struct page *page, char **last, int64_t row, const char *name, bool *full,
                       struct reel_error *err) {
    const char *slash = strchr(name + page->prefix, '/');
    size_t size = slash ? (size_t)(slash - name) + 1 : strlen(name); /* a folder's with its slash */
    if (is_last(*last, name, size)) {
        return true;
    }
    *full = page->out->n == FOLDER_PAGE;
    if (*full) {
        page->out->next = strndup(name, size);
        return page->out->next || reel_fail_memory(err);
    }
    free(*last);
    *last = strndup(name, size);
    struct catalog_folder_entry *entry = &page->out->items[page->out->n];
    if (slash) {
        entry->folder = strndup(name, size - 1);
    } else {
        page->rows[page->n_rows] = row;
        page->at[page->n_rows++] = page->out->n;
    }
    page->out->n++;
    return (*last && (!slash || entry->folder)) || reel_fail_memory(err);
}

/* Reads names from `from` on. *ended: there are no more. */
static bool folder_read_names(struct db_handle *h, struct page *page, const char *collection, const char *from,
                              const char *end, char **last, bool *ended, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "recording_names_from", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":collection", collection);
    db_set_text(s, ":from", from);
    db_set_text(s, ":end", end);
    db_set_int(s, ":limit", NAMES_READ);
    enum db_step step;
    bool full = false;
    uint32_t n = 0;
    while ((step = db_next(s, err)) == DB_ROW) {
        n++;
        if (!folder_add(page, last, db_int(s, 0), db_text(s, 1), &full, err)) {
            return false;
        }
        if (full) {
            *ended = true;
            return true;
        }
    }
    *ended = n < NAMES_READ;
    return step == DB_END;
}

/* Behind all that the last entry stands for: the revisions of a name, or what is in a folder ('0' follows '/'). */
static char *behind(const char *last) {
    size_t size = strlen(last);
    char *text = malloc(size + 2);
    if (text) {
        memcpy(text, last, size + 1);
        if (last[size - 1] == '/') {
            text[size - 1] = '0';
        } else {
            memcpy(text + size, "\x01", 2);
        }
    }
    return text;
}

static bool folder_load(struct db_handle *h, struct page *page, struct reel_error *err) {
    AUTO_MEM struct catalog_recording *items = calloc(FOLDER_PAGE, sizeof *items);
    if (!items) {
        return reel_fail_memory(err);
    }
    bool good = catalog_load_rows(h, page->rows, page->n_rows, items, err);
    for (uint32_t i = 0; i < page->n_rows; i++) {
        page->out->items[page->at[i]].recording = items[i];
    }
    return good;
}

static bool folder_fill(struct db_handle *h, struct page *page, const char *collection, const char *path,
                        const char *from, struct reel_error *err) {
    AUTO_MEM char *at = NULL;
    AUTO_MEM char *end = NULL;
    AUTO_MEM char *last = NULL;
    bool ended = false;
    if (asprintf(&end, *path ? "%s0" : "%s%s", path, last_character) < 0 ||
        asprintf(&at, "%s%s", from ? from : path, from || !*path ? "" : "/") < 0) {
        return reel_fail_memory(err);
    }
    while (folder_read_names(h, page, collection, at, end, &last, &ended, err)) {
        if (ended) {
            return folder_load(h, page, err);
        }
        free(at);
        if (!(at = behind(last))) {
            return reel_fail_memory(err);
        }
    }
    return false;
}

bool catalog_folder_list(struct catalog *c, const char *collection, const char *path, const char *from,
                         struct catalog_folder *out, struct reel_error *err) {
    *out = (struct catalog_folder){0};
    struct page page = {.out = out, .prefix = *path ? strlen(path) + 1 : 0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    if (!h || !folder_fill(h, &page, collection, path, from, err)) {
        catalog_folder_done(out);
        return false;
    }
    return true;
}
