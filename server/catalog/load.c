/* Recordings of given rows with their parts and tags: three statements, however many rows. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_stream.h"
#include "catalog/catalog_internal.h"
#include "catalog/columns.h"

struct position { /* of a row among the items */
    int64_t row;
    uint32_t at;
};

static int load_compare(const void *a, const void *b) {
    const struct position *x = a, *y = b;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Where each row belongs, by row. */
static struct position *sort_positions(const int64_t *rows, uint32_t n) {
    struct position *positions = calloc(n ? n : 1, sizeof *positions);
    for (uint32_t i = 0; positions && i < n; i++) {
        positions[i] = (struct position){.row = rows[i], .at = i};
    }
    if (positions) {
        qsort(positions, n, sizeof *positions, load_compare);
    }
    return positions;
}

char *rows_json(const int64_t *rows, uint32_t n) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fputc('[', out);
    for (uint32_t i = 0; i < n; i++) {
        fprintf(out, i == 0 ? "%lld" : ",%lld", (long long)rows[i]);
    }
    fputc(']', out);
    return text_stream_close(out, &text) ? text : NULL;
}

static bool load_add_part(struct db_statement *s, struct catalog_recording *r, struct reel_error *err) {
    struct catalog_part *parts = realloc(r->parts, (r->n_parts + 1) * sizeof *parts);
    if (!parts) {
        return reel_fail_memory(err);
    }
    r->parts = parts;
    struct catalog_part *part = &parts[r->n_parts];
    db_hex(s, 1, part->sha256, sizeof part->sha256);
    part->size = db_size(s, 2);
    part->file_name = strdup(db_text(s, 3));
    r->n_parts += part->file_name != NULL;
    return part->file_name || reel_fail_memory(err);
}

static bool add_tag(struct db_statement *s, struct catalog_recording *r, struct reel_error *err) {
    AUTO_MEM char *key = strdup(db_text(s, 1));
    return key ? catalog_annotations_set_tag(&r->annotations, key, db_text(s, 2), err) : reel_fail_memory(err);
}

/* Each row of a statement, which come by recording, belongs to the recording that its first column names. */
static bool read_each(struct db_handle *h, const char *statement, const char *rows, const struct position *positions,
                      uint32_t n, struct catalog_recording *items,
                      bool (*read)(struct db_statement *s, struct catalog_recording *r, struct reel_error *err),
                      struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":rows", rows);
    uint32_t i = 0;
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        int64_t row = db_int(s, 0);
        while (i < n && positions[i].row < row) {
            i++;
        }
        if (i < n && positions[i].row == row && !read(s, &items[positions[i].at], err)) {
            return false;
        }
    }
    return step == DB_END;
}

static bool read_columns(struct db_statement *s, struct catalog_recording *r, struct reel_error *err) {
    return columns_read(s, r) || reel_fail_memory(err);
}

bool catalog_load_rows(struct db_handle *h, const int64_t *rows, uint32_t n, struct catalog_recording *items,
                       struct reel_error *err) {
    AUTO_MEM struct position *positions = sort_positions(rows, n);
    AUTO_MEM char *json = positions ? rows_json(rows, n) : NULL;
    if (!json) {
        return reel_fail_memory(err);
    }
    return read_each(h, "recordings_of_rows", json, positions, n, items, read_columns, err) &&
           read_each(h, "parts_of_rows", json, positions, n, items, load_add_part, err) &&
           read_each(h, "tags_of_rows", json, positions, n, items, add_tag, err);
}

bool catalog_load(struct db_handle *h, int64_t row, struct catalog_recording *out, struct reel_error *err) {
    *out = (struct catalog_recording){0};
    bool good =
        catalog_load_rows(h, &row, 1, out, err) && (out->row || reel_fail(err, REEL_NOT_FOUND, "no such recording"));
    if (!good) {
        catalog_recording_done(out);
    }
    return good;
}
