/* /tokens, /links and /audit. Rule: a secret leaves in the answer to whoever asked for it, and never again. */
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "api/answer.h"
#include "api/body.h"
#include "api/common.h"
#include "api/paging.h"
#include "api/routes.h"
#include "api/table.h"
#include "api/views.h"
#include "wire/bytes.h"
#include "wire/cleanup.h"

enum { PAGE = 256, LINK_DAYS_MAX = 366 };
static const int64_t SECOND_NS = 1000000000, LINK_USUAL_NS = 86400 * INT64_C(1000000000);

/* A time of a row: 0 is none. `text` lives as long as the cell. */
static struct reel_cell time_cell(int64_t ns, char text[REEL_TIME_TEXT]) {
    if (ns == 0) {
        return (struct reel_cell){.kind = REEL_CELL_NULL};
    }
    return reel_cell_text(bytes_of(text, reel_time_rfc3339(ns, text)));
}

static struct reel_cell text_cell(const char *text) {
    return reel_cell_text(bytes_text(text));
}

/* ---- the list of tokens */

struct tokens_pass {
    struct catalog *catalog;
    const struct reel_table *to;
    int64_t after;
    bool begun;
};

static const char *const token_columns[] = {"id", "name", "role", "collections", "state", "created", "expires", "last_used"};
enum { TOKEN_COLUMNS = sizeof token_columns / sizeof *token_columns };

static bool put_token(const struct reel_table *to, const struct token *t) {
    char created[REEL_TIME_TEXT], expires[REEL_TIME_TEXT], used[REEL_TIME_TEXT];
    const struct reel_cell cells[TOKEN_COLUMNS] = {reel_cell_integer(t->row),
                                                   text_cell(t->name),
                                                   text_cell(token_role_name(t->role)),
                                                   reel_cell_json(bytes_text(t->collections)),
                                                   text_cell(token_state_name(token_state(t, reel_now_ns()))),
                                                   time_cell(t->created_ns, created),
                                                   time_cell(t->expires_ns, expires),
                                                   time_cell(t->used_ns, used)};
    return to->row(to->context, cells, TOKEN_COLUMNS);
}

static bool tokens_step(void *context, bool *done, struct reel_error *err) {
    struct tokens_pass *p = context;
    struct token page[PAGE];
    uint32_t n;
    bool good = (p->begun || p->to->columns(p->to->context, token_columns, TOKEN_COLUMNS)) || reel_fail_memory(err);
    p->begun = true;
    if (!good || !catalog_tokens(p->catalog, p->after, page, PAGE, &n, err)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        good = good && (put_token(p->to, &page[i]) || reel_fail_memory(err));
        p->after = page[i].row;
        token_done(&page[i]);
    }
    *done = n < PAGE;
    return good && (!*done || p->to->end(p->to->context) || reel_fail_memory(err));
}

void api_tokens_list(struct http_request *r) {
    struct reel_error err = {0};
    int form;
    const char *media = api_table_form(r, REEL_TABLE_JSON, REEL_TABLE_JSON, &form);
    if (!media) {
        return;
    }
    struct api_answer *answer = api_answer_new(form, &err);
    struct tokens_pass *p = answer ? malloc(sizeof *p) : NULL;
    if (!p) {
        api_answer_free(answer);
        http_reply_no_memory(r);
        return;
    }
    *p = (struct tokens_pass){.catalog = http_app(r)->catalog, .to = api_answer_rows(answer)};
    api_answer_reply(r, answer, &(struct api_pass){.pass = p, .step = tokens_step, .free = free}, media);
}

/* ---- making and revoking */

static json_t *view_token(const struct token *t) {
    json_t *collections = json_loads(t->collections, 0, NULL);
    return json_pack("{s:I, s:s, s:s, s:o, s:o, s:o}", "id", (json_int_t)t->row, "name", t->name, "role", token_role_name(t->role),
                     "collections", collections ? collections : json_null(), "created", view_time(t->created_ns, REEL_CLOCK_WALL),
                     "expires", t->expires_ns ? view_time(t->expires_ns, REEL_CLOCK_WALL) : json_null());
}

static void reply_made(struct http_request *r, const struct token *t, const char *text) {
    char address[64];
    snprintf(address, sizeof address, "/api/v1/tokens/%lld", (long long)t->row);
    http_add_header(r, "Location", address);
    http_add_header(r, "Cache-Control", "no-store");
    json_t *body = view_token(t);
    json_object_set_new(body, "token", json_string(text));
    http_reply_json(r, 201, body);
}

void api_token_create(struct http_request *r) {
    static const char *const known[] = {"name", "role", "collections", "expires", NULL};
    const char *collections[TOKEN_COLLECTIONS_MAX + 1];
    char text[TOKEN_TEXT];
    struct token token;
    struct reel_error err = {0};
    json_t *body = body_json(r), *item;
    if (!body || !body_knows(r, body, known)) {
        return;
    }
    const json_t *list = json_object_get(body, "collections"), *expires = json_object_get(body, "expires");
    if ((list && !json_is_array(list)) || (expires && !json_is_string(expires) && !json_is_null(expires))) {
        http_reply_problem(r, 400, "bad-body", "collections is a list of names, expires a text such as \"30d\"");
        return;
    }
    struct token_options options = {.name = json_string_value(json_object_get(body, "name")),
                                    .role = json_string_value(json_object_get(body, "role")),
                                    .expires = json_string_value(expires),
                                    .collections = collections};
    size_t i;
    json_array_foreach(list, i, item) {
        if (options.n_collections <= TOKEN_COLLECTIONS_MAX) {
            collections[options.n_collections++] = json_string_value(item); /* NULL is refused */
        }
    }
    if (token_make(http_app(r)->catalog, &options, text, &token, &err)) {
        reply_made(r, &token, text);
        OPENSSL_cleanse(text, sizeof text);
    } else {
        http_reply_error(r, &err);
    }
    token_done(&token);
}

void api_token_revoke(struct http_request *r) {
    struct catalog *c = http_app(r)->catalog;
    struct reel_error err = {0};
    struct token token;
    bool found = catalog_token_by_key(c, http_segment(r, "id"), &token, &err);
    if (found && catalog_token_revoke(c, token.row, &err)) {
        http_reply_empty(r, 204);
    } else {
        http_reply_error(r, &err);
    }
    token_done(&token);
}

/* ---- links */

static bool read_expires(struct http_request *r, const json_t *value, int64_t *expires_s) {
    int64_t now = reel_now_ns(), ns = LINK_USUAL_NS;
    struct reel_time t;
    const char *text = json_string_value(value);
    bool good = !value || (text && reel_duration_parse(text, &ns, NULL));
    if (!good && text && reel_time_parse(text, 1, &t, NULL) && (t.kind == REEL_TIME_ABSOLUTE || t.kind == REEL_TIME_FROM_NOW)) {
        int64_t at = reel_time_resolve(&t, 0, 0, now);
        good = at > now;
        ns = good ? at - now : 0;
    }
    if (!good || ns > LINK_DAYS_MAX * LINK_USUAL_NS) {
        http_reply_problem(r, 400, "bad-body", "expires is a duration such as \"12h\", or a time to come, at most %d days from now",
                           LINK_DAYS_MAX);
        return false;
    }
    *expires_s = (now + ns) / SECOND_NS + 1;
    return true;
}

void api_link_create(struct http_request *r) {
    static const char *const known[] = {"path", "expires", NULL};
    struct reel_error err = {0};
    int64_t expires_s;
    json_t *body = body_json(r);
    http_keep_in_audit(r);
    if (!body || !body_knows(r, body, known) || !read_expires(r, json_object_get(body, "expires"), &expires_s)) {
        return;
    }
    const char *path = json_string_value(json_object_get(body, "path"));
    AUTO_MEM char *signed_path = NULL;
    if (!path || !access_sign(http_app(r)->access, http_caller(r), path, expires_s, &signed_path, &err)) {
        if (!path) {
            reel_fail(&err, REEL_ARGUMENT, "path is what the link leads to, such as /api/v1/recordings/ID/as/run.mcap");
        }
        http_reply_error(r, &err);
        return;
    }
    http_add_header(r, "Cache-Control", "no-store");
    http_reply_json(r, 201, json_pack("{s:s, s:o}", "url", signed_path, "expires", view_time(expires_s * SECOND_NS, REEL_CLOCK_WALL)));
}

/* ---- the audit */

struct audit_pass {
    struct audit_row *rows;
    uint32_t n;
    const struct reel_table *to;
};

static const char *const audit_columns[] = {"time", "caller", "how", "peer", "method", "path", "status", "request_id"};
enum { AUDIT_COLUMNS = sizeof audit_columns / sizeof *audit_columns };

static bool put_audit(const struct reel_table *to, const struct audit_row *a) {
    char time[REEL_TIME_TEXT];
    const struct reel_cell cells[AUDIT_COLUMNS] = {time_cell(a->time_ns, time),  text_cell(a->caller), text_cell(a->how),
                                                   text_cell(a->peer),           text_cell(a->method), text_cell(a->path),
                                                   reel_cell_integer(a->status), text_cell(a->request)};
    return to->row(to->context, cells, AUDIT_COLUMNS);
}

static bool audit_step(void *context, bool *done, struct reel_error *err) {
    struct audit_pass *p = context;
    bool good = p->to->columns(p->to->context, audit_columns, AUDIT_COLUMNS);
    for (uint32_t i = 0; good && i < p->n; i++) {
        good = put_audit(p->to, &p->rows[i]);
    }
    *done = true;
    return (good && p->to->end(p->to->context)) || reel_fail_memory(err);
}

static void audit_free(void *context) {
    struct audit_pass *p = context;
    audit_rows_done(p->rows, p->n);
    free(p->rows);
    free(p);
}

/* The page; NULL: replied. */
static struct audit_pass *read_audit(struct http_request *r) {
    struct reel_error err = {0};
    uint32_t limit;
    int64_t before = INT64_MAX;
    if (!paging_limit(r, &limit) || !paging_after_row(r, &before)) {
        return NULL;
    }
    struct audit_pass *p = calloc(1, sizeof *p);
    if (!p || !(p->rows = calloc((size_t)limit + 1, sizeof *p->rows))) {
        free(p);
        http_reply_no_memory(r);
        return NULL;
    }
    if (!catalog_audit(http_app(r)->catalog, before, p->rows, limit + 1, &p->n, &err)) {
        free(p->rows);
        free(p);
        http_reply_error(r, &err);
        return NULL;
    }
    if (p->n > limit) { /* there is one more */
        char next[24];
        audit_rows_done(&p->rows[--p->n], 1);
        snprintf(next, sizeof next, "%lld", (long long)p->rows[limit - 1].row);
        paging_link(r, next);
    }
    return p;
}

void api_audit(struct http_request *r) {
    struct reel_error err = {0};
    int form;
    const char *media = api_table_form(r, REEL_TABLE_JSON, REEL_TABLE_JSON, &form);
    struct audit_pass *p = media ? read_audit(r) : NULL;
    if (!p) {
        return;
    }
    struct api_answer *answer = api_answer_new(form, &err);
    if (!answer) {
        audit_free(p);
        http_reply_no_memory(r);
        return;
    }
    p->to = api_answer_rows(answer);
    api_answer_reply(r, answer, &(struct api_pass){.pass = p, .step = audit_step, .free = audit_free}, media);
}
