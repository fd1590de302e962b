/* A request's data and the functions that handlers read it with. Returned texts live until the request ends. */
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/hex.h"
#include "base/mix.h"
#include "base/text_stream.h"
#include "http/http_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t http_clock_ms(void) {
    return clock_ns() / 1000000;
}

/* One buffer for the target, the decoded path, the captured segments and the decoded query. */
bool request_open(struct http_request *r, struct http_connection *connection, struct MHD_Connection *mhd,
                  const char *target) {
    size_t size = strlen(target);
    *r = (struct http_request){.server = connection->server,
                               .connection = connection,
                               .mhd = mhd,
                               .started_ms = http_clock_ms(),
                               .started_ns = reel_now_ns()};
    const struct http_elapsed *elapsed = r->server->options.elapsed;
    for (unsigned i = 0; elapsed && i < HTTP_ELAPSED_MAX && elapsed[i].name; i++) {
        r->elapsed_ns[i] = elapsed[i].ns();
    }
    r->extra_headers_end = &r->extra_headers;
    r->buffer = malloc(4 * (size + 1));
    if (!r->buffer) {
        return false;
    }
    r->target = r->buffer;
    memcpy(r->target, target, size + 1);
    prefix_take(r);
    return true;
}

static bool id_usable(const char *id) {
    size_t size = strnlen(id, HTTP_ID_MAX + 1);
    for (size_t i = 0; i < size; i++) {
        char c = id[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                    c == '_' || c == '-';
        if (!good) {
            return false;
        }
    }
    return size >= 1 && size <= HTTP_ID_MAX;
}

void request_take_id(struct http_request *r) {
    const char *given = r->mhd ? http_header(r, "X-Request-Id") : NULL;
    if (given && id_usable(given)) {
        memcpy(r->id, given, strlen(given) + 1);
        return;
    }
    static _Thread_local uint64_t seed, count; /* no secret: another number for each request is enough */
    uint8_t number[8];
    seed = count++ == 0 ? hash_seed() : seed;
    store_u64le(number, mix_step(seed, count));
    hex_write(number, sizeof number, r->id);
}

size_t request_raw_path_size(const struct http_request *r) {
    return strcspn(r->target, "?");
}

bool request_split_target(struct http_request *r) {
    size_t size = request_raw_path_size(r);
    char *decoded = r->target + strlen(r->target) + 1;
    if (r->target[0] != '/') {
        http_reply_problem(r, 400, "bad-target", "The request target must be a path that begins with \"/\".");
        return false;
    }
    if (!router_split(r->target, size, decoded, &r->path)) {
        r->path = (struct http_path){0}; /* it is not whole */
        http_reply_problem(r, 400, "bad-path",
                           "The path contains an invalid percent escape, a NUL, invalid UTF-8, a \".\" or \"..\" "
                           "segment, or more than %d segments.",
                           HTTP_PATH_PARTS_MAX);
        return false;
    }
    return true;
}

void request_drop_headers(struct http_request *r) {
    while (r->extra_headers) {
        struct http_extra_header *next = r->extra_headers->next;
        free(r->extra_headers);
        r->extra_headers = next;
    }
    r->extra_headers_end = &r->extra_headers;
}

void request_close(struct http_request *r) {
    memory_release(r);
    if (r->free_state && r->state) {
        r->free_state(r->state);
    }
    if (r->response) {
        MHD_destroy_response(r->response);
    }
    socket_free(r->socket);
    request_drop_headers(r);
    key_close(r);
    free(r->grant.memory);
    free(r->query.values);
    free(r->buffer);
    *r = (struct http_request){0};
}

bool request_method_is(const struct http_request *r, const char *method) {
    return strcmp(r->method, method) == 0;
}

bool request_writes(const struct http_request *r) {
    return !request_method_is(r, "GET") && !request_method_is(r, "HEAD") && !request_method_is(r, "OPTIONS");
}

struct http_server *http_server_of(const struct http_request *r) {
    return r->server;
}

struct app *http_app(const struct http_request *r) {
    return r->server->options.app;
}

const char *http_id(const struct http_request *r) {
    return r->id;
}

const char *http_method(const struct http_request *r) {
    return r->method;
}

bool http_writes(const struct http_request *r) {
    return request_writes(r);
}

enum http_role http_role_needed(const struct http_request *r) {
    return r->route ? r->route->role : ROLE_NONE;
}

unsigned http_status(const struct http_request *r) {
    return r->replied ? r->status : 0;
}

void http_audit(struct http_request *r) {
    r->audited = true;
}

bool http_is_audited(const struct http_request *r) {
    return r->audited;
}

const char *http_path(const struct http_request *r) {
    return r->path.text ? r->path.text : "";
}

const char *http_target(const struct http_request *r) {
    return r->target;
}

const char *http_segment(const struct http_request *r, const char *name) {
    for (size_t i = 0; i < r->captured_count; i++) {
        if (bytes_is(r->captured[i], name)) {
            return r->captured_values[i];
        }
    }
    return NULL;
}

const char *http_header(const struct http_request *r, const char *name) {
    return r->inner ? inner_header(r, name) : MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, name);
}

const char *http_cookie(const struct http_request *r, const char *name) {
    return MHD_lookup_connection_value(r->mhd, MHD_COOKIE_KIND, name);
}

bool http_is_secure(const struct http_request *r) {
    const char *proto = http_header(r, "X-Forwarded-Proto");
    return r->server->tls || (proto && strcmp(proto, "https") == 0);
}

struct lines {
    const char *name;
    FILE *out; /* NULL: only counted */
    unsigned n;
};

static enum MHD_Result visit_line(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct lines *lines = context;
    (void)kind;
    if (ascii_casecmp(name, lines->name) == 0) {
        if (lines->out) {
            fprintf(lines->out, "%s%s", lines->n ? "," : "", value ? value : "");
        }
        lines->n++;
    }
    return MHD_YES;
}

unsigned http_header_count(const struct http_request *r, const char *name) {
    struct lines lines = {.name = name};
    MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, visit_line, &lines);
    return lines.n;
}

char *http_header_lines(const struct http_request *r, const char *name) {
    char *text = NULL;
    size_t size;
    struct lines lines = {.name = name};
    if (!http_header(r, name) || !(lines.out = open_memstream(&text, &size))) {
        return NULL;
    }
    MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, visit_line, &lines);
    return text_stream_close(lines.out, &text) ? text : NULL;
}

bool http_is_head(const struct http_request *r) {
    return request_method_is(r, "HEAD");
}

bool http_has_body_length(const struct http_request *r, uint64_t *length) {
    if (r->body_known) {
        *length = r->body_length;
    }
    return r->body_known;
}

void http_set_state(struct http_request *r, void *state, void (*free_state)(void *)) {
    if (r->state && r->state != state && r->free_state) {
        r->free_state(r->state);
    }
    r->state = state;
    r->free_state = free_state;
}

void *http_state(const struct http_request *r) {
    return r->state;
}

const char *http_negotiate(const struct http_request *r, const char *const *offers) {
    return accept_best(http_header(r, "Accept"), offers);
}
