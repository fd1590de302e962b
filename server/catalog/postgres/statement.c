/* Values and rows. A statement is sent with all its values when the first row is asked for, and its whole result is
 * kept until it is done, so that others can run on the connection meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/postgres/postgres.h"

static struct pg_statement *postgres_statement_own(struct db_statement *s) {
    return (struct pg_statement *)s;
}
static struct pg_handle *handle_of(const struct pg_statement *s) {
    return (struct pg_handle *)s->base.handle;
}

static void drop_result(struct pg_statement *s) {
    PQclear(TAKE(s->result));
    s->row = -1;
}

static void forget_values(struct pg_statement *s) {
    for (uint16_t i = 0; i < s->text->n_names; i++) {
        s->values[i] = (struct pg_value){.type = 0};
    }
    for (size_t i = 0; i < sizeof s->made / sizeof *s->made; i++) {
        free(TAKE(s->made[i]));
    }
}

void pg_reset(struct db_statement *s) {
    drop_result(postgres_statement_own(s));
}

void pg_done(struct db_statement *base) {
    struct pg_statement *s = postgres_statement_own(base);
    drop_result(s);
    forget_values(s);
    if (s->composed) {
        pg_text_free(s->composed);
        free(s->values);
        free(s);
    }
}

void pg_forget_statements(struct pg_handle *h) {
    for (size_t i = 0; i < sql_statements_count; i++) {
        free(TAKE(h->own[i].prepared));
    }
}

/* ---- parameters */

/* NULL: the statement does not have it. */
static struct pg_value *statement_value_of(struct db_statement *base, const char *name) {
    struct pg_statement *s = postgres_statement_own(base);
    for (uint16_t i = 0; i < s->text->n_names; i++) {
        if (strcmp(s->text->names[i], name) == 0) {
            return &s->values[i];
        }
    }
    return NULL;
}

void pg_set_int(struct db_statement *s, const char *name, int64_t number) {
    struct pg_value *v = statement_value_of(s, name);
    if (v) {
        *v = (struct pg_value){.type = PG_INT8, .data = (char *)v->number, .size = 8};
        for (int i = 0; i < 8; i++) {
            v->number[i] = (uint8_t)((uint64_t)number >> (56 - 8 * i));
        }
    }
}

void pg_set_text(struct db_statement *s, const char *name, const char *text) {
    struct pg_value *v = statement_value_of(s, name);
    if (v) {
        *v = (struct pg_value){.type = PG_TEXT, .data = text, .size = (int)strlen(text)};
    }
}

void pg_set_null(struct db_statement *s, const char *name) {
    struct pg_value *v = statement_value_of(s, name);
    if (v) {
        *v = (struct pg_value){.type = 0};
    }
}

void pg_set_blob(struct db_statement *s, const char *name, const void *data, size_t size) {
    struct pg_value *v = statement_value_of(s, name);
    if (v) {
        *v = (struct pg_value){.type = PG_BYTEA, .data = data, .size = (int)size};
    }
}

static int64_t big_endian(const uint8_t *p, int size) {
    uint64_t n = size > 0 && p[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < size; i++) {
        n = n << 8 | p[i];
    }
    return (int64_t)n;
}

/* What our own functions of the statement give becomes the value of their parameters. */
static bool make_calls(struct pg_statement *s, struct reel_error *err) {
    for (uint8_t i = 0; i < s->text->n_calls; i++) {
        const struct pg_call *call = &s->text->calls[i];
        const char *arguments[2];
        char number[24];
        for (uint8_t k = 0; k < call->n_arguments; k++) {
            const struct pg_value *v = &s->values[call->arguments[k]];
            arguments[k] = v->type == PG_TEXT ? v->data : "";
            if (v->type == PG_INT8) {
                snprintf(number, sizeof number, "%lld", (long long)big_endian(v->number, 8));
                arguments[k] = number;
            }
        }
        free(TAKE(s->made[i]));
        s->made[i] = pg_search_text(s->base.handle->db, call->sql, arguments, call->n_arguments, err);
        if (!s->made[i]) {
            return false;
        }
        s->values[call->result] =
            (struct pg_value){.type = PG_TEXT, .data = s->made[i], .size = (int)strlen(s->made[i])};
    }
    return true;
}

/* ---- running */

struct sent { /* the values as libpq takes them */
    Oid *types;
    const char **data;
    int *sizes, *formats;
};

static void sent_done(struct sent *v) {
    free(v->types);
    free(v->data);
    free(v->sizes);
    free(v->formats);
}
#define AUTO_SENT __attribute__((cleanup(sent_done)))

static bool statement_collect(const struct pg_statement *s, struct sent *out, struct reel_error *err) {
    size_t n = s->text->n_names;
    out->types = calloc(n + 1, sizeof *out->types);
    out->data = calloc(n + 1, sizeof *out->data);
    out->sizes = calloc(n + 1, sizeof *out->sizes);
    out->formats = calloc(n + 1, sizeof *out->formats);
    if (!out->types || !out->data || !out->sizes || !out->formats) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        const struct pg_value *v = &s->values[i];
        out->types[i] = v->type;
        out->data[i] = v->type ? v->data : NULL;
        out->sizes[i] = v->size;
        out->formats[i] = 1;
    }
    return true;
}

/* In this connection, the first time; *as_it_was: with other types than these values have. */
static bool postgres_statement_prepare(struct pg_statement *s, const struct sent *v, bool *as_it_was,
                                       struct reel_error *err) {
    PGconn *link = handle_of(s)->link;
    size_t size = s->text->n_names * sizeof *v->types;
    if (s->prepared) {
        *as_it_was = memcmp(s->prepared, v->types, size) == 0;
        return true;
    }
    if (!PQsendPrepare(link, s->name, s->text->sql, s->text->n_names, v->types)) {
        return pg_fail(link, NULL, err);
    }
    PGresult *result = pg_await(link, handle_of(s)->wait_ms, err);
    PQclear(result);
    if (!result) {
        return false;
    }
    if (!(s->prepared = malloc(size + 1))) {
        return reel_fail_memory(err);
    }
    memcpy(s->prepared, v->types, size);
    *as_it_was = true;
    return true;
}

static bool statement_run(struct pg_statement *s, struct reel_error *err) {
    PGconn *link = handle_of(s)->link;
    AUTO_SENT struct sent v = {0};
    bool prepared = false;
    if (!make_calls(s, err) || !statement_collect(s, &v, err) ||
        (!s->composed && !postgres_statement_prepare(s, &v, &prepared, err))) {
        return false;
    }
    int n = s->text->n_names;
    bool sent = prepared ? PQsendQueryPrepared(link, s->name, n, v.data, v.sizes, v.formats, 1)
                         : PQsendQueryParams(link, s->text->sql, n, v.types, v.data, v.sizes, v.formats, 1);
    if (!sent) {
        return pg_fail(link, NULL, err);
    }
    s->result = pg_await(link, handle_of(s)->wait_ms, err);
    s->row = -1;
    s->changes = s->result ? (unsigned)strtoul(PQcmdTuples(s->result), NULL, 10) : 0;
    return s->result;
}

/* An idle connection that was lost is noticed by the first statement; one that is a transaction by itself is sent once
 * more. */
static bool run_again(struct pg_statement *s, struct reel_error *err) {
    struct reel_error why = {0};
    struct pg_handle *h = handle_of(s);
    if (statement_run(s, &why)) {
        return true;
    }
    if (h->use == DB_READING_ONCE && h->statements == 0 && PQstatus(h->link) == CONNECTION_BAD) {
        return pg_reconnect(h, err) && statement_run(s, err);
    }
    return reel_error_pass(err, &why);
}

enum db_step pg_next(struct db_statement *base, struct reel_error *err) {
    struct pg_statement *s = postgres_statement_own(base);
    if (!s->result && !run_again(s, err)) {
        reel_error_at(err, "%s", s->name ? s->name : "a list");
        return DB_FAILED;
    }
    handle_of(s)->statements++;
    if (++s->row < PQntuples(s->result)) {
        return DB_ROW;
    }
    drop_result(s);
    return DB_END;
}

/* ---- making */

/* The statement's text for PostgreSQL, if there is one. */
static const char *text_for(size_t at) {
    size_t other = db_find(sql_postgres_statements, sql_postgres_statements_count, sql_statements[at].name);
    return other == SIZE_MAX ? sql_statements[at].text : sql_postgres_statements[other].text;
}

struct db_statement *pg_statement_of(struct db_handle *handle, const char *name, struct reel_error *err) {
    struct pg_handle *h = (struct pg_handle *)handle;
    size_t at = db_find(sql_statements, sql_statements_count, name);
    if (at == SIZE_MAX) {
        reel_fail(err, REEL_ARGUMENT, "catalog: no statement %s", name);
        return NULL;
    }
    struct pg_statement *s = &h->own[at];
    if (!s->text) {
        struct pg_text *text = pg_translate(text_for(at), err);
        s->values = text ? calloc(text->n_names + 1u, sizeof *s->values) : NULL;
        if (!s->values) {
            pg_text_free(text);
            return text ? reel_fail_memory(err), NULL : NULL;
        }
        s->name = sql_statements[at].name;
        s->text = text;
        s->row = -1;
    }
    return &s->base;
}

struct db_statement *pg_compose(struct db_handle *handle, const char *sql, struct reel_error *err) {
    (void)handle;
    struct pg_statement *s = calloc(1, sizeof *s);
    struct pg_text *text = s ? pg_translate(sql, err) : NULL;
    if (!text || !(s->values = calloc(text->n_names + 1u, sizeof *s->values))) {
        s && !text ? false : reel_fail_memory(err);
        pg_text_free(text);
        free(s);
        return NULL;
    }
    s->text = s->composed = text;
    s->row = -1;
    return &s->base;
}

/* ---- results */

unsigned pg_changes(struct db_statement *s) {
    return postgres_statement_own(s)->changes;
}

bool pg_is_null(struct db_statement *s, int column) {
    return PQgetisnull(postgres_statement_own(s)->result, postgres_statement_own(s)->row, column);
}

/* What is before the point, of the base 10,000. */
static int64_t numeric(const uint8_t *p) {
    int digits = (int)big_endian(p, 2), weight = (int)big_endian(p + 2, 2);
    bool negative = p[4] == 0x40;
    int64_t n = 0;
    for (int i = 0; i <= weight; i++) {
        int64_t digit = i < digits ? big_endian(p + 8 + (ptrdiff_t)i * 2, 2) : 0;
        if (__builtin_mul_overflow(n, 10000, &n) || __builtin_add_overflow(n, digit, &n)) {
            return negative ? INT64_MIN : INT64_MAX;
        }
    }
    return negative ? -n : n;
}

int64_t pg_int(struct db_statement *base, int column) {
    struct pg_statement *s = postgres_statement_own(base);
    const uint8_t *p = (const uint8_t *)PQgetvalue(s->result, s->row, column);
    if (pg_is_null(base, column)) {
        return 0;
    }
    switch (PQftype(s->result, column)) {
    case PG_INT8:
    case PG_INT4:
    case PG_INT2:
        return big_endian(p, PQgetlength(s->result, s->row, column));
    case PG_BOOL:
        return p[0];
    case PG_NUMERIC:
        return numeric(p);
    default:
        return strtoll((const char *)p, NULL, 10);
    }
}

const char *pg_text_of(struct db_statement *base, int column) {
    struct pg_statement *s = postgres_statement_own(base);
    switch (PQftype(s->result, column)) {
    case PG_INT8:
    case PG_INT4:
    case PG_INT2:
    case PG_BOOL:
    case PG_NUMERIC:
        snprintf(s->number, sizeof s->number, "%lld", (long long)pg_int(base, column));
        return pg_is_null(base, column) ? "" : s->number;
    default:
        return PQgetvalue(s->result, s->row, column);
    }
}

const uint8_t *pg_blob(struct db_statement *base, int column, size_t *size) {
    struct pg_statement *s = postgres_statement_own(base);
    *size = (size_t)PQgetlength(s->result, s->row, column);
    return (const uint8_t *)PQgetvalue(s->result, s->row, column);
}
