/* Idempotency-Key, If-Match and If-None-Match, as the policy of the route says. A key is looked up before the handler
 * runs and the answer is stored before it is sent, so handlers know nothing of it. Where it is stored is not known here
 * (http_options.keys). */
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/text_stream.h"
#include "http/http_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES_MAX = 255 };

struct http_policy key_policy(const struct http_request *r) {
    const struct http_options *o = &r->server->options;
    return o->policies ? o->policies[r->route - o->routes] : (struct http_policy){0};
}

bool http_changes(const char *method) {
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0 ||
           strcmp(method, "DELETE") == 0;
}

/* ---- hashes; each text is added with its NUL, so that texts cannot run into each other */

static void add_text(struct digest *hash, const char *text) {
    digest_add(hash, text, strlen(text) + 1);
}

static void name_key(struct http_request *r, const char *key) {
    struct digest hash;
    char principal[HTTP_PRINCIPAL];
    digest_start(&hash, DIGEST_SHA256);
    add_text(&hash, http_principal(r, principal));
    add_text(&hash, r->method);
    add_text(&hash, r->path.text);
    add_text(&hash, key);
    digest_end_hex(&hash, r->key.name);
}

/* The headers of upload sessions are part of what is requested. */
static void add_upload_header(void *context, const char *name, const char *value) {
    if (ascii_ncasecmp(name, "Upload-", 7) == 0) {
        add_text(context, name);
        add_text(context, value);
    }
}

static bool add_field(void *context, const char *name, const char *file_name, uint64_t at, const void *data,
                      size_t size) {
    struct digest *hash = context;
    if (at == 0) {
        add_text(hash, name);
        add_text(hash, file_name ? file_name : "");
    }
    digest_add(hash, data, size);
    return true;
}

static void begin_hash(struct http_request *r) {
    const char *type = http_header(r, "Content-Type");
    size_t size = type ? strcspn(type, "; ") : 0;
    struct digest *hash = &r->key.hash;
    digest_start(hash, DIGEST_SHA256);
    add_text(hash, r->target);
    digest_add(hash, type, size);
    http_each_header(r, "", add_upload_header, hash);
    add_text(hash, "");
    r->key.form = http_form_new(r, add_field, hash);
}

void key_piece(struct http_request *r, const void *data, size_t size) {
    if (!r->key.name[0]) {
        return;
    }
    if (!r->key.form) {
        digest_add(&r->key.hash, data, size);
    } else {
        (void)http_form_piece(r->key.form, data, size); /* the handler refuses a malformed form */
    }
}

const char *http_key(const struct http_request *r) {
    return r->key.name;
}

void http_key_request(const struct http_request *r, char out[HTTP_KEY_TEXT]) {
    memset(out, '0', HTTP_KEY_TEXT - 1);
    out[HTTP_KEY_TEXT - 1] = '\0';
    if (r->key.name[0]) {
        digest_end_hex(&r->key.hash, out);
    }
}

/* ---- before the handler */

static bool admit_key(struct http_request *r, enum http_key policy) {
    const struct http_keys *keys = r->server->options.keys;
    const char *key = http_header(r, "Idempotency-Key");
    if (!key || !keys || policy == HTTP_KEY_NATURAL) {
        return true;
    }
    if (policy == HTTP_KEY_REFUSED) {
        http_reply_problem(r, 400, "unsupported-header",
                           "This operation does not support Idempotency-Key: its answer contains a secret, which is "
                           "not stored.");
        return false;
    }
    if (!*key || strlen(key) > KEY_BYTES_MAX || http_header_count(r, "Idempotency-Key") > 1) {
        http_reply_problem(r, 400, "bad-request", "One Idempotency-Key must have 1 to %d bytes.", KEY_BYTES_MAX);
        return false;
    }
    name_key(r, key);
    begin_hash(r);
    return policy != HTTP_KEY_STORED || keys->take(r, r->key.name, &r->key.hold, &r->key.first);
}

/* A condition that the handler would ignore is refused. */
static bool admit_conditions(struct http_request *r, struct http_policy policy) {
    const char *none = http_header(r, "If-None-Match");
    bool match_fits = policy.if_match || !http_header(r, "If-Match");
    bool none_fits = !none || (policy.if_none_match && strcmp(none, "*") == 0);
    if (!match_fits || !none_fits) {
        http_reply_problem(r, 400, "unsupported-header", "This operation does not support %s.",
                           !match_fits            ? "If-Match"
                           : policy.if_none_match ? "If-None-Match with another value than *"
                                                  : "If-None-Match");
    }
    return match_fits && none_fits;
}

bool key_admit(struct http_request *r) {
    if (!http_changes(r->method)) {
        return true;
    }
    struct http_policy policy = key_policy(r);
    return admit_conditions(r, policy) && admit_key(r, policy.key);
}

/* ---- answers */

static void release(struct http_request *r) {
    if (r->key.hold) {
        r->server->options.keys->release(r->key.hold);
        r->key.hold = NULL;
    }
}

static void write_headers(const struct http_request *r, const char *media_type, char **out) {
    size_t size;
    FILE *file = open_memstream(out, &size);
    if (!file) {
        return;
    }
    fprintf(file, "%s\n", media_type);
    for (const struct http_extra_header *h = r->extra_headers; h; h = h->next) {
        fprintf(file, "%s: %s\n", h->name, h->value);
    }
    text_stream_close(file, out);
}

static void answer_done(struct http_answer *a) {
    free(a->headers);
    free(a->body);
    *a = (struct http_answer){0};
}

/* A request that failed has changed nothing: it may be repeated. */
void key_answered(struct http_request *r, unsigned status, const char *media_type, const void *data, size_t size) {
    if (!r->key.hold || r->replied) {
        return;
    }
    if (status < 400 && r->body_ended) {
        bool lost = size > HTTP_ANSWER_MAX;
        struct http_answer answer = {.status = lost ? HTTP_ANSWER_LOST : status,
                                     .body = strndup(data, lost ? 0 : size)};
        write_headers(r, media_type, &answer.headers);
        http_key_request(r, answer.request);
        if (answer.headers && answer.body) {
            r->server->options.keys->store(r, r->key.name, &answer);
        }
        answer_done(&answer);
    }
    release(r);
}

void http_key_leave(struct http_request *r) {
    release(r);
}

void http_reply_key_reused(struct http_request *r) {
    http_reply_problem(r, 422, "key-reused", "This Idempotency-Key was used for another request of this operation.");
}

/* Adds the stored headers; returns the media type. */
static const char *restore_headers(struct http_request *r, char *lines) {
    char *rest = lines, *media_type = strsep(&rest, "\n");
    for (char *line; rest && *(line = strsep(&rest, "\n"));) {
        char *colon = strstr(line, ": ");
        if (colon) {
            *colon = '\0';
            http_add_header(r, line, colon + 2);
        }
    }
    return media_type;
}

void key_repeat(struct http_request *r) {
    struct http_answer *first = &r->key.first;
    char request[HTTP_KEY_TEXT];
    http_key_request(r, request);
    if (strcmp(request, first->request) != 0) {
        http_reply_key_reused(r);
        return;
    }
    if (first->status == HTTP_ANSWER_LOST) {
        http_reply_problem(r, 409, "conflict", "The request was carried out before; its answer was too long to store.");
        return;
    }
    const char *media_type = restore_headers(r, first->headers);
    http_add_header(r, "Idempotent-Replayed", "true");
    if (*media_type) {
        http_reply_text(r, first->status, media_type, first->body);
    } else {
        http_reply_empty(r, first->status);
    }
}

void key_close(struct http_request *r) {
    release(r);
    http_form_free(r->key.form);
    answer_done(&r->key.first);
}
