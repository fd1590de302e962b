/* /tokens, /links and /audit. Rule: a secret leaves in the answer to whoever asked for it, and never again. */
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "api/body.h"
#include "api/common.h"
#include "api/paging.h"
#include "api/routes.h"
#include "api/views.h"
#include "wire/cleanup.h"

enum { PAGE = 256, LINK_DAYS_MAX = 366 };
static const int64_t SECOND_NS = 1000000000, LINK_DEFAULT_NS = 86400 * INT64_C(1000000000);

static json_t *time_or_null(int64_t ns) {
    return ns ? view_time(ns, REEL_CLOCK_WALL) : json_null();
}

/* ---- the list of tokens */

static json_t *view_token(const struct token *t) {
    json_t *collections = json_loads(t->collections, 0, NULL);
    return json_pack("{s:I, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "id", (json_int_t)t->row, "name", t->name, "role",
                     token_role_name(t->role), "collections", collections ? collections : json_null(), "state",
                     token_state_name(token_state(t, reel_now_ns())), "created", time_or_null(t->created_ns), "expires",
                     time_or_null(t->expires_ns), "last_used", time_or_null(t->used_ns));
}

void api_tokens_list(struct http_request *r) {
    static const char *const columns[] = {"id", "name", "role", "collections", "state", "created", "expires", "last_used", NULL};
    struct reel_error err = {0};
    struct token page[PAGE];
    uint32_t limit, n = 0;
    int64_t after = 0;
    if (!paging_limit(r, &limit) || !paging_after_row(r, &after)) {
        return;
    }
    json_t *items = json_array();
    bool more = true;
    while (more && json_array_size(items) < limit) {
        uint32_t room = limit - (uint32_t)json_array_size(items);
        uint32_t most = room < PAGE ? room : PAGE;
        if (!catalog_tokens(http_app(r)->catalog, after, page, most, &n, &err)) {
            json_decref(items);
            http_reply_error(r, &err);
            return;
        }
        for (uint32_t i = 0; i < n; i++) {
            json_array_append_new(items, view_token(&page[i]));
            after = page[i].row;
            token_done(&page[i]);
        }
        more = n == most;
    }
    char next[24];
    snprintf(next, sizeof next, "%lld", (long long)after);
    paging_reply(r, items, more ? next : NULL, columns);
}

/* ---- making and revoking */

static void reply_created(struct http_request *r, const struct token *t, const char *text) {
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
        reply_created(r, &token, text);
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
    int64_t now = reel_now_ns(), ns = LINK_DEFAULT_NS;
    struct reel_time t;
    const char *text = json_string_value(value);
    bool good = !value || (text && reel_duration_parse(text, &ns, NULL));
    if (!good && text && reel_time_parse(text, 1, &t, NULL) && (t.kind == REEL_TIME_ABSOLUTE || t.kind == REEL_TIME_FROM_NOW)) {
        int64_t at = reel_time_resolve(&t, 0, 0, now);
        good = at > now;
        ns = good ? at - now : 0;
    }
    if (!good || ns > LINK_DAYS_MAX * LINK_DEFAULT_NS) {
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

static json_t *view_audit(const struct audit_row *a) {
    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "time", time_or_null(a->time_ns), "caller", a->caller, "how", a->how,
                     "peer", a->peer, "method", a->method, "path", a->path, "status", (json_int_t)a->status, "request_id", a->request);
}

void api_audit(struct http_request *r) {
    static const char *const columns[] = {"time", "caller", "how", "peer", "method", "path", "status", "request_id", NULL};
    struct reel_error err = {0};
    uint32_t limit, n = 0;
    int64_t before = INT64_MAX;
    if (!paging_limit(r, &limit) || !paging_after_row(r, &before)) {
        return;
    }
    AUTO_MEM struct audit_row *rows = calloc((size_t)limit + 1, sizeof *rows); /* one more says whether there is a next page */
    if (!(rows || reel_fail_memory(&err)) || !catalog_audit(http_app(r)->catalog, before, rows, limit + 1, &n, &err)) {
        http_reply_error(r, &err);
        return;
    }
    bool more = n > limit;
    json_t *items = json_array();
    for (uint32_t i = 0; i < n && i < limit; i++) {
        json_array_append_new(items, view_audit(&rows[i]));
    }
    char next[24];
    snprintf(next, sizeof next, "%lld", more ? (long long)rows[limit - 1].row : 0LL);
    audit_rows_done(rows, n);
    paging_reply(r, items, more ? next : NULL, columns);
}
