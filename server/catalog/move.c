/* See move.h. Tables have the same names and columns in both engines but for the full-text index, whose rows have the
 * key `row` in PostgreSQL and `rowid` in SQLite. Triggers stand still meanwhile: what they keep is copied. */
#include "catalog/move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/text_stream.h"
#include "catalog/catalog_internal.h"
#include "catalog/db_engine.h"

enum { COLUMNS_MAX = 64, REPORT_ROWS = 10000, SQL_MAX = 4096, FETCHED = 5000, BUFFER = 1 << 20 };
enum cell_kind { CELL_NULL, CELL_INT, CELL_TEXT, CELL_BLOB };
struct cell {
    enum cell_kind kind;
    int64_t number;
    const void *data;
    size_t size;
};

/* Each with its key, by which its rows are ordered. event_widths comes with the schema. */
static const struct table {
    const char *name, *key;
} tables[] = {{"labels", "id"},
              {"label_sets", "id"},
              {"label_set_labels", "label_set, label"},
              {"labels_changed", "id"},
              {"recordings", "row"},
              {"parts", "recording, position"},
              {"manifests_due", "recording"},
              {"sums", "collection, format, state, day"},
              {"collections", "name"},
              {"tag_keys", "id"},
              {"tag_values", "id"},
              {"recording_tags", "recording, key"},
              {"notes", "row"},
              {"events", "row"},
              {"event_titles", "recording, label"},
              {"fetches", "row"},
              {"tokens", "row"},
              {"logins", "hash"},
              {"audit", "row"},
              {"uploads", "row"},
              {"responses", "key"},
              {"failures", "row"},
              {"imports", "folder, name"},
              {"jobs", "row"},
              {"batch_items", "batch, position"},
              {"servers", "id"},
              {"changes", "seq"},
              {"webhooks", "row"},
              {"webhook_results", "row"},
              {"saved", "kind, collection, name"},
              {"definitions", "name"},
              {"maintenance", "key"},
              {"corrupted_files", "sha256"},
              {"objects", "sha256"},
              {"search", NULL},
              {"label_search", NULL}};
struct move {
    struct db_handle *from, *to;
    const struct reel_progress *progress;
    struct catalog_moved *out;
    char columns[SQL_MAX];
    enum cell_kind kinds[COLUMNS_MAX];
    unsigned n_columns;
};

/* ---- the columns of a table */

static enum cell_kind move_kind_of(const char *type) {
    return strcmp(type, "INTEGER") == 0 || strcmp(type, "bigint") == 0 ? CELL_INT
           : strcmp(type, "BLOB") == 0 || strcmp(type, "bytea") == 0   ? CELL_BLOB
                                                                       : CELL_TEXT;
}

static bool find_columns(struct move *m, const struct table *table, struct reel_error *err) {
    m->n_columns = 0;
    m->columns[0] = '\0';
    if (!table->key) { /* the full-text index, without its key */
        m->kinds[m->n_columns++] = CELL_TEXT;
        strcpy(m->columns, "text");
        return true;
    }
    char sql[400];
    snprintf(sql, sizeof sql,
             db_is_postgres(m->from)
                 ? "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '%s' AND "
                   "table_schema = current_schema() AND is_generated = 'NEVER' ORDER BY ordinal_position"
                 : "SELECT name, type FROM pragma_table_xinfo('%s') WHERE hidden = 0 ORDER BY cid",
             table->name);
    AUTO(db_done) struct db_statement *s = db_compose(m->from, sql, err);
    enum db_step step = DB_FAILED;
    while (s && (step = db_next(s, err)) == DB_ROW && m->n_columns < COLUMNS_MAX) {
        size_t used = strlen(m->columns);
        snprintf(m->columns + used, sizeof m->columns - used, "%s%s", used > 0 ? ", " : "", db_text(s, 0));
        m->kinds[m->n_columns++] = move_kind_of(db_text(s, 1));
    }
    return step == DB_END;
}

/* ---- reading: by a cursor where results are kept whole */

struct each {
    struct db_handle *h;
    struct db_statement *s;
    bool cursor;
    unsigned left; /* of what was fetched */
};

static void each_free(struct each *each) {
    db_done(TAKE(each->s));
}
#define AUTO_EACH __attribute__((cleanup(each_free)))

static bool run_sql(struct db_handle *h, const char *sql, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_compose(h, sql, err);
    return s && db_run(s, err);
}

static bool each_open(struct each *each, struct db_handle *h, const char *sql, struct reel_error *err) {
    char declare[2 * SQL_MAX];
    *each = (struct each){.h = h, .cursor = db_is_postgres(h)};
    if (!each->cursor) {
        return (each->s = db_compose(h, sql, err)) != NULL;
    }
    snprintf(declare, sizeof declare, "DECLARE moved NO SCROLL CURSOR FOR %s", sql);
    return run_sql(h, declare, err);
}

static enum db_step each_next(struct each *each, struct reel_error *err) {
    char sql[60];
    if (!each->cursor) {
        return db_next(each->s, err);
    }
    if (each->left == 0) {
        db_done(TAKE(each->s));
        snprintf(sql, sizeof sql, "FETCH %d FROM moved", FETCHED);
        each->left = FETCHED;
        if (!(each->s = db_compose(each->h, sql, err))) {
            return DB_FAILED;
        }
    }
    each->left--;
    enum db_step step = db_next(each->s, err);
    return step == DB_END && !run_sql(each->h, "CLOSE moved", err) ? DB_FAILED : step;
}

/* ---- writing: by COPY where there is one */

struct bulk {
    struct db_handle *h;
    struct db_statement *insert; /* NULL: COPY */
    struct grow buffer;
};

static void bulk_free(struct bulk *b) {
    db_done(TAKE(b->insert));
    free(b->buffer.data);
}
#define AUTO_BULK __attribute__((cleanup(bulk_free)))

static void move_put_u16(struct grow *g, uint16_t n) {
    const uint8_t bytes[] = {(uint8_t)(n >> 8), (uint8_t)n};
    grow_put(g, bytes, sizeof bytes);
}
static void put_u32(struct grow *g, uint32_t n) {
    move_put_u16(g, (uint16_t)(n >> 16));
    move_put_u16(g, (uint16_t)n);
}

static bool bulk_open(struct bulk *b, struct db_handle *h, const char *table, const char *columns, unsigned n,
                      struct reel_error *err) {
    char sql[2 * SQL_MAX], marks[COLUMNS_MAX * 8] = "";
    *b = (struct bulk){.h = h};
    if (db_is_postgres(h)) {
        static const char head[19] = "PGCOPY\n\377\r\n"; /* and nine zeros */
        snprintf(sql, sizeof sql, "COPY %s (%s) FROM STDIN (FORMAT binary)", table, columns);
        grow_put(&b->buffer, head, sizeof head);
        return h->db->engine->copy_in(h, sql, err);
    }
    for (unsigned i = 0; i < n; i++) {
        size_t used = strlen(marks);
        snprintf(marks + used, sizeof marks - used, "%s:c%u", i ? ", " : "", i);
    }
    snprintf(sql, sizeof sql, "INSERT INTO %s (%s) VALUES (%s)", table, columns, marks);
    return (b->insert = db_compose(h, sql, err)) != NULL;
}

static bool bulk_send(struct bulk *b, struct reel_error *err) {
    bool good = !b->buffer.failed || reel_fail_memory(err);
    good = good && b->h->db->engine->copy_put(b->h, b->buffer.data, b->buffer.size, err);
    b->buffer.size = 0;
    return good;
}

static bool move_insert_row(struct bulk *b, const struct cell *cells, unsigned n, struct reel_error *err) {
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, ":c%u", i);
        if (cells[i].kind == CELL_INT) {
            db_set_int(b->insert, name, cells[i].number);
        } else if (cells[i].kind == CELL_TEXT) {
            db_set_text(b->insert, name, cells[i].data);
        } else if (cells[i].kind == CELL_BLOB) {
            db_set_blob(b->insert, name, cells[i].data, cells[i].size);
        } else {
            db_set_null(b->insert, name);
        }
    }
    return db_run(b->insert, err);
}

static bool bulk_row(struct bulk *b, const struct cell *cells, unsigned n, struct reel_error *err) {
    if (b->insert) {
        return move_insert_row(b, cells, n, err);
    }
    move_put_u16(&b->buffer, (uint16_t)n);
    for (unsigned i = 0; i < n; i++) {
        bool is_int = cells[i].kind == CELL_INT;
        put_u32(&b->buffer, cells[i].kind == CELL_NULL ? UINT32_MAX : is_int ? 8 : (uint32_t)cells[i].size);
        if (is_int) {
            put_u32(&b->buffer, (uint32_t)((uint64_t)cells[i].number >> 32));
            put_u32(&b->buffer, (uint32_t)cells[i].number);
        } else if (cells[i].kind != CELL_NULL) {
            grow_put(&b->buffer, cells[i].data, cells[i].size);
        }
    }
    return b->buffer.size < BUFFER || bulk_send(b, err);
}

static bool bulk_end(struct bulk *b, struct reel_error *err) {
    if (b->insert) {
        return true;
    }
    move_put_u16(&b->buffer, UINT16_MAX);
    return bulk_send(b, err) && b->h->db->engine->copy_end(b->h, err);
}

/* ---- rows */

/* The first column is the key of the full-text index, where there is one. */
static unsigned first_of(const struct table *table) {
    return table->key ? 0 : 1;
}

static void read_cells(struct move *m, struct db_statement *s, const struct table *table, struct cell *cells) {
    unsigned first = first_of(table);
    if (first) {
        cells[0] = (struct cell){.kind = CELL_INT, .number = db_int(s, 0)};
    }
    for (unsigned i = 0; i < m->n_columns; i++) {
        struct cell *cell = &cells[first + i];
        int at = (int)(first + i);
        *cell = (struct cell){.kind = db_is_null(s, at) ? CELL_NULL : m->kinds[i]};
        if (cell->kind == CELL_INT) {
            cell->number = db_int(s, at);
        } else if (cell->kind != CELL_NULL) {
            cell->data = db_bytes(s, at, &cell->size);
        }
    }
}

static void hash_row(struct digest *hash, const struct cell *cells, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint8_t kind = (uint8_t)cells[i].kind;
        uint64_t size = cells[i].size;
        digest_add(hash, &kind, 1);
        digest_add(hash, &cells[i].number, sizeof cells[i].number);
        digest_add(hash, &size, sizeof size);
        digest_add(hash, cells[i].data ? cells[i].data : "", cells[i].size);
    }
}

static bool move_report(const struct move *m, struct reel_error *err) {
    const struct reel_progress *p = m->progress;
    return !p || !p->report || m->out->rows % REPORT_ROWS != 0 || p->report(p->context, m->out->rows, 0) ||
           reel_fail(err, REEL_CANCELLED, "interrupted");
}

/* All rows of a table of `h`, in the order of its key, into the hash and, with `bulk`, into the other database. */
static bool move_walk(struct move *m, struct db_handle *h, const struct table *table, struct bulk *bulk,
                      uint8_t digest[DIGEST_SHA256], uint64_t *rows, struct reel_error *err) {
    char sql[SQL_MAX + 200];
    struct cell cells[COLUMNS_MAX + 1];
    const char *key = table->key ? table->key : db_is_postgres(h) ? "row" : "rowid";
    unsigned n = m->n_columns + first_of(table);
    snprintf(sql, sizeof sql, "SELECT %s%s%s FROM %s ORDER BY %s", table->key ? "" : key, table->key ? "" : ", ",
             m->columns, table->name, key);
    AUTO_EACH struct each each = {0};
    struct digest hash;
    digest_start(&hash, DIGEST_SHA256);
    bool good = each_open(&each, h, sql, err);
    enum db_step step = DB_END;
    for (*rows = 0; good && (step = each_next(&each, err)) == DB_ROW; ++*rows) {
        read_cells(m, each.s, table, cells);
        hash_row(&hash, cells, n);
        good = !bulk || (bulk_row(bulk, cells, n, err) && (m->out->rows++, move_report(m, err)));
    }
    digest_end(&hash, digest);
    return good && step == DB_END;
}

static bool copy_table(struct move *m, const struct table *table, struct reel_error *err) {
    uint8_t before[DIGEST_SHA256], after[DIGEST_SHA256];
    char columns[SQL_MAX + 10];
    uint64_t n, n_after;
    if (!find_columns(m, table, err)) {
        return false;
    }
    snprintf(columns, sizeof columns, "%s%s",
             table->key              ? ""
             : db_is_postgres(m->to) ? "row, "
                                     : "rowid, ",
             m->columns);
    AUTO_BULK struct bulk bulk = {0};
    bool good = bulk_open(&bulk, m->to, table->name, columns, m->n_columns + first_of(table), err) &&
                move_walk(m, m->from, table, &bulk, before, &n, err) && bulk_end(&bulk, err) &&
                move_walk(m, m->to, table, NULL, after, &n_after, err) &&
                ((n == n_after && memcmp(before, after, sizeof before) == 0) ||
                 reel_fail(err, REEL_CHANGED, "what was written is not what was read"));
    m->out->tables++;
    return good || reel_error_at(err, "table %s", table->name);
}

/* ---- the empty tables, without their triggers */

static const char triggers_off[] =
    "DO $$ DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP "
    "EXECUTE format('ALTER TABLE %I DISABLE TRIGGER USER', t); END LOOP; END $$";
static const char triggers_on[] =
    "DO $$ DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP "
    "EXECUTE format('ALTER TABLE %I ENABLE TRIGGER USER', t); END LOOP; END $$";

/* The texts that a statement gives, one after the other. */
static bool run_each_text(struct db_handle *h, const char *sql, struct reel_error *err) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    AUTO(db_done) struct db_statement *s = out ? db_compose(h, sql, err) : NULL;
    enum db_step step = s ? DB_ROW : DB_FAILED;
    while (s && (step = db_next(s, err)) == DB_ROW) {
        fprintf(out, "%s;\n", db_text(s, 0));
    }
    bool good = text_stream_close(out, &text) && step == DB_END;
    db_done(TAKE(s));
    good = good && h->db->engine->script(h, text, err);
    free(text);
    return good;
}

static bool move_create(struct db_handle *h, struct reel_error *err) {
    uint64_t version;
    if (!h->db->engine->tables(h, &version, err) || version > 0) {
        return version > 0 && reel_fail(err, REEL_CONFLICT, "there is a catalog already");
    }
    if (!db_create(h, err)) {
        return false;
    }
    return db_is_postgres(h)
               ? run_sql(h, triggers_off, err)
               : run_sql(h, "CREATE TEMP TABLE moved AS SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
                         err) &&
                     run_each_text(h, "SELECT 'DROP TRIGGER ' || name FROM moved", err);
}

static bool create_end(struct db_handle *h, struct reel_error *err) {
    return (db_is_postgres(h)
                ? run_sql(h, triggers_on, err)
                : run_each_text(h, "SELECT sql FROM moved", err) && run_sql(h, "DROP TABLE temp.moved", err)) &&
           db_record(h, h->db->n_migrations, err);
}

/* ---- numbers that are given once */

static bool read_last(struct db_handle *h, const char *table, const char *column, int64_t *last,
                      struct reel_error *err) {
    char sql[300];
    snprintf(sql, sizeof sql,
             db_is_postgres(h) ? "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM %s_%s_seq"
                               : "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = '%s'), 0), "
                                 "coalesce(max(%s), 0)) FROM %s",
             table, column, table);
    AUTO(db_done) struct db_statement *s = db_compose(h, sql, err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *last = db_int(s, 0);
    return true;
}

static bool write_last(struct db_handle *h, const char *table, const char *column, int64_t last,
                       struct reel_error *err) {
    char sql[300];
    if (db_is_postgres(h)) {
        snprintf(sql, sizeof sql, "SELECT setval('%s_%s_seq', %lld, %s)", table, column,
                 (long long)(last > 0 ? last : 1), last > 0 ? "true" : "false");
        return run_sql(h, sql, err);
    }
    snprintf(sql, sizeof sql, "DELETE FROM sqlite_sequence WHERE name = '%s'", table);
    if (!run_sql(h, sql, err)) {
        return false;
    }
    snprintf(sql, sizeof sql, "INSERT INTO sqlite_sequence (name, seq) VALUES ('%s', %lld)", table, (long long)last);
    return run_sql(h, sql, err);
}

static bool copy_numbers(const struct move *m, struct reel_error *err) {
    static const struct {
        const char *table, *column;
        bool reused; /* in SQLite: the next one is above the largest there is */
    } numbers[] = {{"recordings", "row", false}, {"labels", "id", false},    {"notes", "row", false},
                   {"events", "row", false},     {"fetches", "row", false},  {"tokens", "row", false},
                   {"audit", "row", false},      {"failures", "row", false}, {"jobs", "row", false},
                   {"changes", "seq", false},    {"webhooks", "row", false}, {"webhook_results", "row", false},
                   {"label_sets", "id", true},   {"tag_keys", "id", true},   {"tag_values", "id", true},
                   {"uploads", "row", true}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int64_t last;
        if (!read_last(m->from, numbers[i].table, numbers[i].column, &last, err) ||
            ((db_is_postgres(m->to) || !numbers[i].reused) &&
             !write_last(m->to, numbers[i].table, numbers[i].column, last, err))) {
            return false;
        }
    }
    return true;
}

bool catalog_move(const char *from, const char *to, const struct reel_progress *progress, struct catalog_moved *out,
                  struct reel_error *err) {
    *out = (struct catalog_moved){0};
    AUTO(db_close) struct db *source = db_open_readonly(from, err), *target = source ? db_open(to, err) : NULL;
    struct move m = {.progress = progress, .out = out};
    if (!target || !db_is_current(source, err)) {
        return false;
    }
    AUTO(db_end) struct db_handle *reads = db_read(source, err), *writes = reads ? db_write(target, err) : NULL;
    m.from = reads;
    m.to = writes;
    bool good = writes && db_patient(reads, err) && db_patient(writes, err) && move_create(writes, err);
    for (size_t i = 0; good && i < sizeof tables / sizeof *tables; i++) {
        good = copy_table(&m, &tables[i], err);
    }
    good = good && copy_numbers(&m, err) && create_end(writes, err) && db_commit(writes, err);
    if (good) {
        db_analyze(target);
    }
    return good;
}
