/* /tokens: lists, creates and revokes access tokens. The secret of a token is only in the answer that creates it; the
 * catalog has its hash. */
#include <openssl/crypto.h>
#include <stdio.h>

#include "access/access.h"
#include "access/s3_keys.h"
#include "api/admin/admin.h"
#include "api/body.h"
#include "api/paging.h"
#include "app.h"
#include "views/views.h"

enum { PAGE = 256 };

static json_t *time_or_null(int64_t ns) {
    return ns ? view_time(ns, REEL_CLOCK_WALL) : json_null();
}

static json_t *view_token(const struct token *t) {
    json_t *collections = json_loads(t->collections, 0, NULL);
    return json_pack("{s:I, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "id", (json_int_t)t->row, "name", t->name, "role",
                     token_role_name(t->role), "collections", collections ? collections : json_null(), "state",
                     token_state_name(token_state(t, reel_now_ns())), "created", time_or_null(t->created_ns), "expires",
                     time_or_null(t->expires_ns), "last_used", time_or_null(t->used_ns));
}

void api_tokens_list(struct http_request *r) {
    static const char *const columns[] = {"id",      "name",    "role",      "collections", "state",
                                          "created", "expires", "last_used", NULL};
    struct reel_error err = {0};
    struct token page[PAGE];
    uint32_t limit = paging_limit(r), n = 0;
    int64_t after = 0;
    if (!paging_after_row(r, &after)) {
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

/* {"access_key", "secret_key"}; NULL: replied. */
static json_t *view_s3(struct http_request *r, const struct token *t) {
    struct s3_keys keys;
    struct reel_error err = {0};
    if (!access_s3_keys(http_app(r)->access, t, &keys, &err)) {
        http_reply_error(r, &err);
        return NULL;
    }
    json_t *view = json_pack("{s:s, s:s}", "access_key", keys.access, "secret_key", keys.secret);
    OPENSSL_cleanse(&keys, sizeof keys);
    return view;
}

static void reply_created(struct http_request *r, const struct token *t, const char *text, bool s3) {
    char address[64];
    json_t *keys = s3 ? view_s3(r, t) : NULL;
    if (s3 && !keys) {
        return;
    }
    snprintf(address, sizeof address, "/api/v1/tokens/%lld", (long long)t->row);
    http_add_address(r, "Location", address);
    http_add_header(r, "Cache-Control", "no-store");
    json_t *body = view_token(t);
    json_object_set_new(body, "token", json_string(text));
    if (keys) {
        json_object_set_new(body, "s3", keys);
    }
    http_reply_json(r, 201, body);
}

void api_token_create(struct http_request *r) {
    static const char *const known[] = {"name", "role", "collections", "expires", "s3", NULL};
    const char *collections[TOKEN_COLLECTIONS_MAX + 1];
    char text[TOKEN_TEXT];
    struct token token;
    struct reel_error err = {0};
    json_t *body = body_json(r), *item;
    if (!body || !body_knows(r, body, known)) {
        return;
    }
    const json_t *list = json_object_get(body, "collections"), *expires = json_object_get(body, "expires");
    const json_t *s3 = json_object_get(body, "s3");
    if ((s3 && !json_is_boolean(s3)) || (list && !json_is_array(list)) ||
        (expires && !json_is_string(expires) && !json_is_null(expires))) {
        http_reply_problem(r, 400, "bad-body",
                           "collections is a list of names, expires a text such as \"30d\", s3 true or false");
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
    const struct app *app = http_app(r);
    const struct token_archive archive = {.data = app->config.data, .store = app->store, .catalog = app->catalog};
    if (token_create(&archive, &options, text, &token, &err)) {
        reply_created(r, &token, text, json_is_true(s3));
        OPENSSL_cleanse(text, sizeof text);
    } else {
        http_reply_error(r, &err);
    }
    token_done(&token);
}

void api_log_in(struct http_request *r) {
    struct reel_error err = {0};
    http_audit(r);
    access_log_in(http_app(r)->access, r, &err) ? http_reply_empty(r, 204) : http_reply_error(r, &err);
}

void api_log_out(struct http_request *r) {
    struct reel_error err = {0};
    access_log_out(http_app(r)->access, r, &err) ? http_reply_empty(r, 204) : http_reply_error(r, &err);
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
