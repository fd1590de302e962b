/* A request inside of another one: one of the server's own GET routes answers it, on the same thread and connection,
 * after the checks that a request of its own would pass. Its body goes to memory, at most as much as is wanted. */
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/heap.h"
#include "http/http_internal.h"

#include <stdlib.h>
#include <string.h>

/* Headers of the outer request that are about its own body and answer. */
bool inner_hides(const char *name) {
    static const char *const begins[] = {"Accept", "Content-", "If-", "Mcp-"};
    static const char *const names[] = {"Range", "Prefer", "Idempotency-Key", "Last-Event-ID", "Transfer-Encoding"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (ascii_ncasecmp(name, begins[i], strlen(begins[i])) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (ascii_casecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *inner_header(const struct http_request *r, const char *name) {
    return ascii_casecmp(name, "Accept") == 0   ? r->inner->accept
           : ascii_casecmp(name, "Prefer") == 0 ? r->inner->prefer
           : inner_hides(name)                  ? NULL
                                                : MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, name);
}

/* What passes through reply_take() for the status and the headers; the body is in the answer. */
static struct MHD_Response *bodiless(void) {
    return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
}

static void set_type(struct http_request *r, const char *media_type) {
    snprintf(r->inner_answer->media_type, sizeof r->inner_answer->media_type, "%s", media_type ? media_type : "");
}

/* Room for `size` bytes of the body, of which less may come. NULL: no memory. */
static char *body_room(struct http_request *r, size_t size) {
    struct http_inner_answer *out = r->inner_answer;
    char *body = realloc(out->body, size + 1);
    if (!body) {
        heap_failed();
        return NULL;
    }
    out->body = body;
    return body;
}

struct MHD_Response *inner_bytes(struct http_request *r, const char *media_type, const void *data, size_t size) {
    struct http_inner_answer *out = r->inner_answer;
    size_t n = size < r->inner->max ? size : r->inner->max;
    char *body = body_room(r, n);
    set_type(r, media_type);
    if (body) {
        memcpy(body, data, n);
        body[n] = '\0';
        out->size = n;
        out->cut = n < size;
    }
    return bodiless();
}

static bool stream_piece(const struct http_stream *stream, char *piece, size_t *got, struct http_request *r) {
    struct reel_error err = {0};
    if (http_is_stopping(r) || http_is_gone(r)) {
        return false;
    }
    bool good = stream->next(stream->context, piece, HTTP_STREAM_BYTES, got, &err);
    if (!good) {
        reply_note_error(r, err.text);
    }
    return good;
}

static void stream_collect(struct http_request *r, const struct http_stream *stream) {
    struct http_inner_answer *out = r->inner_answer;
    AUTO_MEM char *piece = malloc(HTTP_STREAM_BYTES);
    char *body = body_room(r, r->inner->max);
    size_t got = 1;
    while (piece && body && got > 0 && !out->cut) {
        if (!stream_piece(stream, piece, &got, r)) {
            out->cut = true;
            break;
        }
        size_t n = got < r->inner->max - out->size ? got : r->inner->max - out->size;
        memcpy(body + out->size, piece, n);
        out->size += n;
        out->cut = n < got;
    }
    out->cut = out->cut || !piece;
    if (body) {
        body[out->size] = '\0';
    }
}

struct MHD_Response *inner_stream(struct http_request *r, const struct http_stream *stream) {
    set_type(r, stream->media_type);
    if (stream->lasts || !stream->next) {
        r->inner_answer->cut = stream->lasts;
    } else {
        stream_collect(r, stream);
    }
    if (stream->free) {
        stream->free(stream->context);
    }
    return bodiless();
}

struct MHD_Response *inner_file(struct http_request *r, const char *media_type, uint64_t length,
                                bool (*read)(const void *context, char *buffer, size_t size, struct reel_error *err),
                                const void *context) {
    struct http_inner_answer *out = r->inner_answer;
    struct reel_error err = {0};
    size_t n = length < r->inner->max ? (size_t)length : r->inner->max;
    char *body = body_room(r, n);
    set_type(r, media_type);
    if (body && n > 0 && !read(context, body, n, &err)) {
        reply_note_error(r, err.text);
        out->cut = true;
        n = 0;
    }
    if (body) {
        body[n] = '\0';
        out->size = n;
        out->cut = out->cut || n < length;
    }
    return bodiless();
}

static void keep_header(struct http_request *r) {
    for (const struct http_extra_header *h = r->extra_headers; h && r->inner->header; h = h->next) {
        if (ascii_casecmp(h->name, r->inner->header) == 0 && !r->inner_answer->header) {
            r->inner_answer->header = strdup(h->value);
        }
    }
}

static void inner_run(struct http_request *r) {
    if (connection_admit_inner(r) && r->inner->max > 0) {
        r->route->handle(r);
    }
    if (r->inner->max == 0 && !r->replied) {
        r->status = 200;
        return;
    }
    if (!r->replied) {
        http_reply_problem(r, 500, "internal", "The server failed to answer the request.");
    }
    if (r->server->options.finished) { /* what is refused or read by a link gets into the audit log */
        r->server->options.finished(r);
    }
}

bool http_ask_inner(struct http_request *outer, const struct http_inner *inner, struct http_inner_answer *out) {
    *out = (struct http_inner_answer){0};
    AUTO_MEM struct http_request *r = calloc(1, sizeof *r);
    if (!r || !request_open(r, outer->connection, outer->mhd, inner->target)) {
        heap_failed();
        return false;
    }
    r->inner = inner;
    r->inner_answer = out;
    r->heap_failures = heap_failures();
    memcpy(r->id, outer->id, sizeof r->id);
    memcpy(r->method, "GET", sizeof "GET");
    r->forwarded = outer->forwarded;
    memcpy(r->remote, outer->remote, sizeof r->remote);
    r->grant.again = true;
    inner_run(r);
    keep_header(r);
    out->status = r->status;
    bool good = out->status == 200 || out->body || r->response;
    request_close(r);
    return good;
}

void http_inner_answer_done(struct http_inner_answer *answer) {
    free(answer->body);
    free(answer->header);
    *answer = (struct http_inner_answer){0};
}
