/* Replies built in memory: JSON, text, problems (RFC 9457). A reply is only stored here; connection.c passes it to the
 * library when that is allowed (before the request body or after it, never in between). */
#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/cleanup.h"
#include "base/heap.h"
#include "http/http_internal.h"
#include "http/json_text.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GZIP_LEVEL = 4 };
#define RETRY_AFTER_S "2"

void reply_header(struct MHD_Response *response, const char *name, const char *value) {
    errno = 0;
    if (MHD_add_response_header(response, name, value) != MHD_YES && errno == ENOMEM) {
        heap_failed(); /* other headers are forbidden by the library */
    }
}

void http_add_header(struct http_request *r, const char *name, const char *value) {
    size_t name_size = strlen(name), value_size = strlen(value);
    if (r->caught || !guard_token(name) || strpbrk(value, "\r\n")) {
        return;
    }
    struct http_extra_header *header = malloc(sizeof *header + name_size + value_size + 2);
    if (!header) {
        heap_failed();
        return;
    }
    memcpy(header->name, name, name_size + 1);
    header->value = memcpy(header->name + name_size + 1, value, value_size + 1);
    header->next = NULL;
    *r->extra_headers_end = header;
    r->extra_headers_end = &header->next;
}

static const char *extra_header(const struct http_request *r, const char *name) {
    for (const struct http_extra_header *h = r->extra_headers; h; h = h->next) {
        if (ascii_casecmp(h->name, name) == 0) {
            return h->value;
        }
    }
    return NULL;
}

void reply_note_error(struct http_request *r, const char *text) {
    if (r->error[0] == '\0') {
        snprintf(r->error, sizeof r->error, "%s", text);
    }
}

/* Durations up to the response's first byte; the log has the total. Zero durations are left out. */
static void add_timing(const struct http_request *r, struct MHD_Response *response) {
    C_LOCALE;
    const struct http_caller *caller = http_caller(r);
    if (caller->role < ROLE_EDIT || caller->collections) {
        return; /* the duration of an upload would reveal whether another collection has the same bytes */
    }
    char text[160];
    const struct http_elapsed *elapsed = r->server->options.elapsed;
    int64_t total = reel_now_ns() - r->started_ns;
    int n = snprintf(text, sizeof text, "total;dur=%.3f", (double)(total > 0 ? total : 0) / 1e6);
    for (unsigned i = 0; elapsed && i < HTTP_ELAPSED_MAX && elapsed[i].name; i++) {
        int64_t ns = elapsed[i].ns() - r->elapsed_ns[i];
        n += ns > 0 ? snprintf(text + n, sizeof text - (size_t)n, ", %s;dur=%.3f", elapsed[i].name, (double)ns / 1e6)
                    : 0;
    }
    reply_header(response, "Server-Timing", text);
}

/* Has a header or JSON that was read or made been cut short? Afterwards it counts no more: the reply that says so has
 * both, too. */
static bool lacks_memory(struct http_request *r) {
    bool lacks = heap_failures() != r->heap_failures;
    r->heap_failures = heap_failures();
    return lacks;
}

void reply_take(struct http_request *r, unsigned status, struct MHD_Response *response, uint64_t length) {
    if (r->replied) { /* only the first reply is sent */
        if (response) {
            MHD_destroy_response(response);
        }
        return;
    }
    r->replied = true;
    r->status = status;
    r->response = response;
    r->reply_bytes = length;
    if (!response) {
        reply_note_error(r, "out of memory");
        return;
    }
    reply_header(response, "X-Request-Id", r->id);
    reply_header(response, "X-Content-Type-Options", "nosniff");
    reply_header(response, "Referrer-Policy", "no-referrer");
    if (!extra_header(r, "Content-Security-Policy")) {
        /* The content may be an uploaded page or SVG: browsers must not run its scripts. */
        reply_header(response, "Content-Security-Policy",
                     "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'");
    }
    if (!extra_header(r, "Cache-Control")) {
        reply_header(response, "Cache-Control", status >= 400 ? "no-store" : "private, no-cache");
    }
    add_timing(r, response);
    cors_headers(r, response);
    if (!r->answered_by_peer) {
        deprecation_headers(r, response);
    }
    for (const struct http_extra_header *h = r->extra_headers; h; h = h->next) {
        reply_header(response, h->name, h->value);
    }
    if (lacks_memory(r)) { /* no answer is better than one without Location or the headers for safety */
        MHD_destroy_response(response);
        r->response = NULL;
        reply_note_error(r, "out of memory");
    }
}

/* ---- bodies */

struct text {
    char *data;
    size_t size, capacity;
};

static int text_add(const char *data, size_t size, void *context) {
    struct text *text = context;
    if (size == 0) {
        return 0;
    }
    if (text->capacity - text->size < size) {
        size_t capacity = text->capacity ? text->capacity : 512;
        while (capacity - text->size < size) {
            capacity *= 2;
        }
        char *grown = realloc(text->data, capacity);
        if (!grown) {
            return -1;
        }
        text->data = grown;
        text->capacity = capacity;
    }
    memcpy(text->data + text->size, data, size);
    text->size += size;
    return 0;
}

/* Replaces the text by its gzip form if that is smaller. */
static bool text_gzip(struct text *text) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(GZIP_LEVEL);
    char *packed = malloc(text->size);
    size_t size =
        compressor && packed ? libdeflate_gzip_compress(compressor, text->data, text->size, packed, text->size) : 0;
    libdeflate_free_compressor(compressor);
    if (size == 0) {
        free(packed);
        return false;
    }
    free(text->data);
    *text = (struct text){.data = packed, .size = size, .capacity = size};
    return true;
}

/* Takes ownership of text->data. */
static void reply_body(struct http_request *r, unsigned status, const char *media_type, struct text *text,
                       bool packable) {
    key_answered(r, status, media_type, text->data, text->size);
    if (r->inner) {
        reply_take(r, status, inner_bytes(r, media_type, text->data, text->size), text->size);
        free(text->data);
        return;
    }
    bool large = packable && text->size >= HTTP_GZIP_MIN;
    bool packed = large && accept_coding(http_header(r, "Accept-Encoding"), "gzip") && text_gzip(text);
    struct MHD_Response *response = MHD_create_response_from_buffer(text->size, text->data, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(text->data);
    } else {
        reply_header(response, "Content-Type", media_type);
        if (large) {
            reply_header(response, "Vary", "Accept-Encoding");
        }
        if (packed) {
            reply_header(response, "Content-Encoding", "gzip");
        }
    }
    r->by_library = true;
    reply_take(r, status, response, text->size);
}

/* Takes the reference. False: out of memory, and has replied. */
static bool body_text(struct http_request *r, json_t *body, struct text *text) {
    bool good = json_text_write(body, 0, text_add, text) && text_add("\n", 1, text) == 0;
    json_decref(body);
    if (!good) {
        free(text->data);
        reply_take(r, 500, NULL, 0);
    }
    return good;
}

/* Strong tags identify the bytes: the gzip form gets its own. */
static void tag_as(struct http_request *r, const char *etag) {
    for (struct http_extra_header **h = &r->extra_headers; *h; h = &(*h)->next) {
        if (ascii_casecmp((*h)->name, "ETag") == 0) {
            struct http_extra_header *gone = *h;
            *h = gone->next;
            r->extra_headers_end = r->extra_headers_end == &gone->next ? h : r->extra_headers_end;
            free(gone);
            break;
        }
    }
    http_add_header(r, "ETag", etag);
}

/* Takes the text. If the handler set an ETag, conditional requests are handled here. */
static void reply_tagged(struct http_request *r, unsigned status, const char *media_type, struct text text,
                         bool packable) {
    const char *etag = extra_header(r, "ETag");
    char packed[HTTP_ETAG_TEXT];
    bool reads = etag && status == 200 && !request_writes(r);
    if (reads && packable && text.size >= HTTP_GZIP_MIN && accept_coding(http_header(r, "Accept-Encoding"), "gzip") &&
        conditional_packed_etag(etag, packed)) {
        tag_as(r, packed);
        etag = packed;
    }
    struct http_validators validators = {.etag = etag};
    unsigned condition = reads ? conditional_status(r, &validators) : 0;
    if (condition == 0) {
        reply_body(r, status, media_type, &text, packable && (!etag || reads));
        return;
    }
    free(text.data);
    if (condition == 304) {
        if (packable && text.size >= HTTP_GZIP_MIN) { /* like the full response */
            http_add_header(r, "Vary", "Accept-Encoding");
        }
        reply_not_modified(r, text.size);
    } else {
        http_reply_problem(
            r, 412, "precondition-failed",
            "The resource does not match the precondition of the request (If-Match, If-Unmodified-Since).");
    }
}

/* Takes the text. */
static void reply_reserved(struct http_request *r, unsigned status, struct text text) {
    if (lacks_memory(r)) {
        free(text.data);
        http_reply_no_memory(r);
    } else if (text.size <= HTTP_MEMORY_UNCOUNTED || http_reserve(r, text.size)) {
        reply_tagged(r, status, "application/json", text, true);
    } else {
        free(text.data);
    }
}

void http_reply_json(struct http_request *r, unsigned status, json_t *body) {
    struct text text = {0};
    if (body_text(r, body, &text)) {
        reply_reserved(r, status, text);
    }
}

void http_reply_json_text(struct http_request *r, unsigned status, char *text) {
    size_t size = strlen(text);
    reply_reserved(r, status, (struct text){.data = text, .size = size, .capacity = size + 1});
}

void http_reply_bytes(struct http_request *r, unsigned status, const char *media_type, const void *data, size_t size) {
    struct text copy = {0};
    if (text_add(data, size, &copy) != 0) {
        reply_take(r, status, NULL, 0);
        return;
    }
    reply_tagged(r, status, media_type, copy, false);
}

void http_reply_text(struct http_request *r, unsigned status, const char *media_type, const char *text) {
    http_reply_bytes(r, status, media_type, text, strlen(text));
}

void http_reply_empty(struct http_request *r, unsigned status) {
    key_answered(r, status, "", "", 0);
    reply_take(r, status, MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT), 0);
}

static ssize_t never_read(void *context, uint64_t position, char *buffer, size_t size) {
    (void)context, (void)position, (void)buffer, (void)size;
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* A 304 has the Content-Length of the full response (or none); the library must not set it to 0. */
void reply_not_modified(struct http_request *r, uint64_t length) {
    reply_take(r, 304, MHD_create_response_from_callback(length, 1, never_read, NULL, NULL), 0);
}

/* ---- problems */

/* Text as a JSON string; invalid UTF-8 is replaced. */
static json_t *json_safe(const char *text) {
    json_t *string = json_string(text);
    if (string) {
        return string;
    }
    AUTO_MEM char *copy = strdup(text);
    for (char *p = copy; p && *p; p++) {
        *p = (unsigned char)*p < 0x80 ? *p : '?';
    }
    return json_string(copy ? copy : "");
}

void http_catch_problems(struct http_request *r, struct http_problem *out) {
    if (out) {
        *out = (struct http_problem){0};
    }
    r->caught = out;
}

bool http_catches_problems(const struct http_request *r) {
    return r->caught;
}

/* As the protocol of the path says it. */
static void reply_problem_of(struct http_request *r, const struct http_protocol *p, unsigned status, const char *slug,
                             const char *detail) {
    char *text = p->problem(r, &status, slug, r->grant.code, detail);
    if (status >= 500) {
        reply_note_error(r, detail);
    }
    if (text) {
        http_reply_text(r, status, p->media_type, text);
    } else {
        reply_take(r, 500, NULL, 0);
    }
    free(text);
}

json_t *reply_problem_json(const struct http_request *r, unsigned status, const char *slug, const char *detail) {
    char type[256];
    snprintf(type, sizeof type, "%s/problems/%s", r->server->options.prefix, slug);
    json_t *instance =
        /* NULL: not UTF-8 */
        json_sprintf("%s%.*s", r->server->options.prefix, (int)request_raw_path_size(r), r->target);
    json_t *problem = json_object();
    json_object_set_new(problem, "type", json_safe(type));
    json_object_set_new(problem, "title", json_safe(MHD_get_reason_phrase_for(status)));
    json_object_set_new(problem, "status", json_integer((json_int_t)status));
    json_object_set_new(problem, "detail", json_safe(detail));
    json_object_set_new(problem, "instance", instance ? instance : json_string(""));
    json_object_set_new(problem, "request_id", json_safe(r->id));
    return problem;
}

void http_reply_problem_with(struct http_request *r, unsigned status, const char *slug, const char *detail,
                             json_t *extra_members) {
    if (lacks_memory(r) && status < 500) { /* what it objects to may not be what was sent */
        json_decref(extra_members);
        http_reply_no_memory(r);
        return;
    }
    if (r->caught) {
        r->caught->status = status;
        snprintf(r->caught->detail, sizeof r->caught->detail, "%s", detail);
        json_decref(extra_members);
        return;
    }
    if (protocol_of(r)) {
        json_decref(extra_members);
        reply_problem_of(r, protocol_of(r), status, slug, detail);
        return;
    }
    json_t *problem = reply_problem_json(r, status, slug, detail);
    if (extra_members) {
        json_object_update(problem, extra_members);
        json_decref(extra_members);
    }
    if (status >= 500) {
        reply_note_error(r, detail);
    }
    struct text text = {0};
    if (body_text(r, problem, &text)) {
        reply_body(r, status, "application/problem+json", &text, false);
    }
}

void http_reply_problem(struct http_request *r, unsigned status, const char *slug, const char *detail, ...) {
    char text[1024];
    va_list args;
    va_start(args, detail);
    vsnprintf(text, sizeof text, detail, args);
    va_end(args);
    http_reply_problem_with(r, status, slug, text, NULL);
}

void reply_bad_params(struct http_request *r, json_t *errors) {
    char text[512];
    const json_t *first = json_array_get(errors, 0);
    const char *param = json_string_value(json_object_get(first, "param"));
    const char *detail = json_string_value(json_object_get(first, "detail"));
    snprintf(text, sizeof text, "Parameter \"%s\" %s%s", param ? param : "?", detail ? detail : "is invalid",
             json_array_size(errors) > 1 ? "; and others." : ".");
    json_t *members = json_object();
    json_object_set_new(members, "errors", errors);
    http_reply_problem_with(r, 400, "bad-parameter", text, members);
}

void http_reply_bad_param(struct http_request *r, const char *param, const char *detail, ...) {
    C_LOCALE;
    char text[512];
    va_list args;
    va_start(args, detail);
    vsnprintf(text, sizeof text, detail, args);
    va_end(args);
    json_t *error = json_object();
    json_object_set_new(error, "param", json_safe(param));
    json_object_set_new(error, "detail", json_safe(text));
    json_t *errors = json_array();
    json_array_append_new(errors, error);
    reply_bad_params(r, errors);
}

void http_reply_error(struct http_request *r, const struct reel_error *err) {
    static const struct {
        unsigned status;
        const char *slug;
    } answers[] = {
        [REEL_OK] = {500, "internal"},
        [REEL_NOT_MINE] = {415, "unknown-format"},
        [REEL_DAMAGED] = {422, "damaged"},
        [REEL_UNSUPPORTED] = {422, "unsupported"},
        [REEL_LIMIT] = {413, "limit"},
        [REEL_ARGUMENT] = {400, "bad-argument"},
        [REEL_NOT_FOUND] = {404, "not-found"},
        [REEL_CONFLICT] = {409, "conflict"},
        [REEL_IO] = {500, "io"},
        [REEL_NO_SPACE] = {507, "no-space"},
        [REEL_NO_MEMORY] = {503, "no-memory"},
        [REEL_CANCELLED] = {503, "cancelled"},
        [REEL_CHANGED] = {500, "changed"},
        [REEL_READ_ONLY] = {503, "read-only"},
        [REEL_CATALOG] = {500, "catalog"},
        [REEL_BUSY] = {503, "busy"},
    };
    size_t code = (size_t)err->code < sizeof answers / sizeof answers[0] ? (size_t)err->code : 0;
    if (answers[code].status == 503) {
        http_add_header(r, "Retry-After", RETRY_AFTER_S);
    }
    http_reply_problem_with(r, answers[code].status, answers[code].slug, err->text, NULL);
}

void http_reply_no_memory(struct http_request *r) {
    struct reel_error err = {0};
    reel_fail_memory(&err);
    http_reply_error(r, &err);
}
