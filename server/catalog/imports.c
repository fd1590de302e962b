/* See imports.h. Every function is one transaction. */
#include "catalog/imports.h"

#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "reel/time.h"

void catalog_imports_done(struct catalog_imports *list) {
    for (uint32_t i = 0; i < list->n; i++) {
        free(list->items[i].name);
    }
    free(list->items);
    *list = (struct catalog_imports){0};
}

void catalog_failure_done(struct catalog_failure *f) {
    free(f->folder);
    free(f->name);
    free(f->recording_name);
    free(f->collection);
    free(f->reason);
    free(f->request);
    *f = (struct catalog_failure){0};
}

void catalog_referenced_done(struct catalog_referenced *items, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        free(items[i].folder);
        free(items[i].name);
    }
}

static char *imports_keep(struct db_statement *s, int column, bool *ok) {
    char *text = strdup(db_text(s, column));
    *ok = *ok && text;
    return text;
}

/* ---- files */

static bool read_import(struct db_statement *s, struct catalog_imports *out, uint32_t *room, struct reel_error *err) {
    if (out->n == *room) {
        *room = *room ? 2 * *room : 64;
        struct catalog_import *items = realloc(out->items, *room * sizeof *items);
        if (!items) {
            return reel_fail_memory(err);
        }
        out->items = items;
    }
    bool ok = true;
    struct catalog_import *i = &out->items[out->n++];
    *i = (struct catalog_import){.name = imports_keep(s, 0, &ok),
                                 .device = (uint64_t)db_int(s, 1),
                                 .inode = (uint64_t)db_int(s, 2),
                                 .size = db_size(s, 3)};
    i->mtime_ns = db_int(s, 4);
    db_hex(s, 5, i->fingerprint, sizeof i->fingerprint);
    i->mode = (enum import_mode)db_int(s, 6);
    db_hex(s, 7, i->content, sizeof i->content);
    db_hex(s, 8, i->recording, sizeof i->recording);
    i->failure = db_int(s, 9);
    i->code = (enum reel_code)db_int(s, 10);
    return ok || reel_fail_memory(err);
}

static bool read_imports(struct db_statement *s, struct catalog_imports *out, struct reel_error *err) {
    uint32_t room = 0;
    enum db_step step;
    *out = (struct catalog_imports){0};
    db_set_int(s, ":limit", IMPORTS_OF_FOLDER_MAX);
    while ((step = db_next(s, err)) == DB_ROW) {
        if (!read_import(s, out, &room, err)) {
            step = DB_FAILED;
            break;
        }
    }
    if (step != DB_END) {
        catalog_imports_done(out);
    }
    return step == DB_END;
}

bool catalog_imports_of_folder(struct catalog *c, const char *folder, struct catalog_imports *out,
                               struct reel_error *err) {
    *out = (struct catalog_imports){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "imports_of_folder", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_path(s, ":folder", folder);
    return read_imports(s, out, err);
}

bool catalog_imports_of_failure(struct catalog *c, int64_t failure, struct catalog_imports *out,
                                struct reel_error *err) {
    *out = (struct catalog_imports){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "imports_of_failure", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":failure", failure);
    return read_imports(s, out, err);
}

bool catalog_import_is_known(struct catalog *c, const char *folder, const char *name, bool *known,
                             struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "import_known", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_path(s, ":folder", folder);
    db_set_path(s, ":name", name);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *known = db_int(s, 0) != 0;
    return true;
}

bool catalog_import_find(struct catalog *c, const char *folder, const char *name, struct catalog_import *out,
                         bool *recorded, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "import_find", err) : NULL;
    *out = (struct catalog_import){0};
    if (!s) {
        return false;
    }
    db_set_path(s, ":folder", folder);
    db_set_path(s, ":name", name);
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END && reel_fail(err, REEL_NOT_FOUND, "it was not imported");
    }
    db_hex(s, 0, out->fingerprint, sizeof out->fingerprint);
    db_hex(s, 1, out->content, sizeof out->content);
    out->failure = db_int(s, 2);
    *recorded = db_int(s, 3) != 0;
    return true;
}

/* `failure` 0: none. */
static bool imports_put_rows(struct db_handle *h, const char *folder, const struct catalog_import *items, uint32_t n,
                             int64_t failure, struct reel_error *err) {
    for (uint32_t k = 0; k < n; k++) {
        const struct catalog_import *i = &items[k];
        AUTO(db_done) struct db_statement *s = db_statement(h, "import_put", err);
        if (!s) {
            return false;
        }
        db_set_path(s, ":folder", folder);
        db_set_path(s, ":name", i->name);
        db_set_int(s, ":device", (int64_t)i->device);
        db_set_int(s, ":inode", (int64_t)i->inode);
        db_set_size(s, ":size", i->size);
        db_set_int(s, ":mtime", i->mtime_ns);
        db_set_hex(s, ":fingerprint", i->fingerprint);
        db_set_int(s, ":mode", i->mode);
        db_set_hex(s, ":content", i->content);
        db_set_hex(s, ":recording", i->recording);
        if (failure) { /* else NULL */
            db_set_int(s, ":failure", failure);
        }
        if (!db_run(s, err)) {
            return false;
        }
    }
    return true;
}

/* One statement for each file of a folder. */
static bool run_each(struct db_handle *h, const char *statement, const char *folder, const struct catalog_import *items,
                     uint32_t n, struct reel_error *err) {
    for (uint32_t k = 0; k < n; k++) {
        AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
        if (!s) {
            return false;
        }
        db_set_path(s, ":folder", folder);
        db_set_path(s, ":name", items[k].name);
        if (!db_run(s, err)) {
            return false;
        }
    }
    return true;
}

bool catalog_imports_put(struct catalog *c, const char *folder, const struct catalog_import *items, uint32_t n,
                         struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && run_each(h, "failure_over", folder, items, n, err) && imports_put_rows(h, folder, items, n, 0, err) &&
           db_commit(h, err);
}

bool catalog_imports_forget(struct catalog *c, const char *folder, const struct catalog_import *items, uint32_t n,
                            struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && run_each(h, "failure_over", folder, items, n, err) &&
           run_each(h, "import_delete", folder, items, n, err) && db_commit(h, err);
}

/* ---- references */

bool catalog_referenced_after(struct catalog *c, const char *folder, const char *name, struct catalog_referenced *out,
                              uint32_t max, uint32_t *n, struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "imports_referenced_after", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_path(s, ":folder", folder);
    db_set_path(s, ":name", name);
    db_set_int(s, ":limit", max);
    enum db_step step = DB_END;
    bool ok = true;
    while (ok && (step = db_next(s, err)) == DB_ROW) {
        struct catalog_referenced *r = &out[(*n)++];
        *r = (struct catalog_referenced){.folder = imports_keep(s, 0, &ok), .name = imports_keep(s, 1, &ok)};
        db_hex(s, 2, r->content, sizeof r->content);
    }
    if (!ok || step != DB_END) {
        catalog_referenced_done(out, *n);
        *n = 0;
        return ok ? false : reel_fail_memory(err);
    }
    return true;
}

static bool recordings_with(struct catalog *c, const char *statement, const char *sha256,
                            char (*ids)[RECORDING_ID_TEXT], uint32_t max, uint32_t *n, struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":sha256", sha256);
    db_set_int(s, ":limit", max);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        db_hex(s, 0, ids[(*n)++], RECORDING_ID_TEXT);
    }
    return step == DB_END;
}

bool catalog_recordings_of_file(struct catalog *c, const char *sha256, char (*ids)[RECORDING_ID_TEXT], uint32_t max,
                                uint32_t *n, struct reel_error *err) {
    return recordings_with(c, "recordings_of_file", sha256, ids, max, n, err);
}

bool catalog_recordings_of_content(struct catalog *c, const char *content, char (*ids)[RECORDING_ID_TEXT], uint32_t max,
                                   uint32_t *n, struct reel_error *err) {
    return recordings_with(c, "recordings_of_content", content, ids, max, n, err);
}

/* ---- failures */

static bool put_failure(struct db_handle *h, struct catalog_failure *f, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "failure_put", err);
    if (!s) {
        return false;
    }
    db_set_path(s, ":folder", f->folder);
    db_set_path(s, ":name", f->name);
    db_set_text(s, ":collection", f->collection);
    db_set_int(s, ":code", f->code);
    db_set_text(s, ":reason", f->reason);
    db_set_text(s, ":request", f->request);
    db_set_int(s, ":now", reel_now_ns());
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    f->row = db_int(s, 0);
    return true;
}

bool catalog_failure_put(struct catalog *c, struct catalog_failure *f, const struct catalog_import *items, uint32_t n,
                         struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && put_failure(h, f, err) && imports_put_rows(h, f->folder, items, n, f->row, err) && db_commit(h, err);
}

static bool read_failure(struct db_statement *s, struct catalog_failure *f) {
    bool ok = true;
    *f = (struct catalog_failure){.row = db_int(s, 0),
                                  .folder = imports_keep(s, 1, &ok),
                                  .name = imports_keep(s, 2, &ok),
                                  .collection = imports_keep(s, 4, &ok)};
    db_hex(s, 3, f->recording, sizeof f->recording);
    f->code = (enum reel_code)db_int(s, 5);
    f->reason = imports_keep(s, 6, &ok);
    f->request = imports_keep(s, 7, &ok);
    f->tries = db_size(s, 8);
    f->first_ns = db_int(s, 9);
    f->last_ns = db_int(s, 10);
    f->recording_name = imports_keep(s, 11, &ok);
    return ok;
}

bool catalog_failures_after(struct catalog *c, int64_t row, struct catalog_failure *out, uint32_t max, uint32_t *n,
                            struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "failures_after", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    db_set_int(s, ":limit", max);
    enum db_step step = DB_END;
    bool ok = true;
    while (ok && (step = db_next(s, err)) == DB_ROW) {
        ok = read_failure(s, &out[(*n)++]);
    }
    if (!ok || step != DB_END) {
        while (*n > 0) {
            catalog_failure_done(&out[--*n]);
        }
        return ok ? false : reel_fail_memory(err);
    }
    return true;
}

bool catalog_failure_get(struct catalog *c, int64_t row, struct catalog_failure *out, struct reel_error *err) {
    uint32_t n;
    *out = (struct catalog_failure){0};
    if (row < 1 || !catalog_failures_after(c, row - 1, out, 1, &n, err)) {
        return row < 1 ? reel_fail(err, REEL_NOT_FOUND, "there is no such failure") : false;
    }
    bool found = n == 1 && out->row == row;
    if (!found) {
        catalog_failure_done(out);
    }
    return found || reel_fail(err, REEL_NOT_FOUND, "there is no such failure");
}

bool catalog_failure_forget(struct catalog *c, int64_t row, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "failure_delete", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END && reel_fail(err, REEL_NOT_FOUND, "there is no such failure");
    }
    db_done(TAKE(s));
    return db_commit(h, err);
}

bool catalog_failures_count(struct catalog *c, uint64_t most, uint64_t *count, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "failures_count", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_size(s, ":limit", most);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *count = db_size(s, 0);
    return true;
}
