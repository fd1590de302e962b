/* Replies with a body of unknown length, chunked. Only a complete stream gets the last chunk. The library requests
 * small pieces (the size of its pool), so next() fills a larger buffer that is passed on in parts. */
#include "base/cleanup.h"
#include "http/http_internal.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct stream_body {
    struct http_request *request;
    struct http_stream stream;
    bool over;       /* nothing more comes */
    size_t at, size; /* position in the buffer, and bytes in it */
    char buffer[HTTP_STREAM_BYTES];
};

static void stream_free(void *context) {
    struct stream_body *body = context;
    if (body->stream.free) {
        body->stream.free(body->stream.context);
    }
    free(body);
}

static ssize_t stream_cut(struct http_request *r, const char *why) {
    reply_note_error(r, why);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* The last bytes of a stream whose caller may no longer read it. */
static bool stream_revoke(struct stream_body *body, struct reel_error *err) {
    const struct http_stream *s = &body->stream;
    body->over = true;
    body->size = s->revoked ? s->revoked(s->context, body->buffer, sizeof body->buffer) : 0;
    return body->size > 0 || reel_fail(err, REEL_CANCELLED, "the token or the link is not valid any more");
}

static bool stream_next(struct stream_body *body, struct reel_error *err) {
    const struct http_stream *s = &body->stream;
    body->at = body->size = 0;
    if (body->over) {
        return true;
    }
    if (s->lasts && http_stream_ending(body->request, false) == HTTP_REVOKED) {
        return stream_revoke(body, err);
    }
    bool good = s->next(s->context, body->buffer, sizeof body->buffer, &body->size, err);
    return s->lasts && body->request->revoked ? stream_revoke(body, err) : good;
}

static ssize_t stream_read(void *context, uint64_t position, char *buffer, size_t size) {
    struct stream_body *body = context;
    struct http_request *r = body->request;
    (void)position;
    if (body->at == body->size) {
        struct reel_error err = {0};
        int64_t begun_ms = http_clock_ms();
        if (atomic_load_explicit(&r->server->cutting, memory_order_relaxed)) {
            return stream_cut(r, "the server is stopping");
        }
        if (!stream_next(body, &err)) {
            return stream_cut(r, err.text);
        }
        connection_worked(r, begun_ms);
        if (body->size == 0) {
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
    }
    size = size < body->size - body->at ? size : body->size - body->at;
    memcpy(buffer, body->buffer + body->at, size);
    body->at += size;
    r->sent_bytes += size;
    return (ssize_t)size;
}

bool http_is_stopping(const struct http_request *r) {
    return atomic_load(&r->server->draining);
}

bool http_is_gone(const struct http_request *r) {
    struct pollfd connection = {.fd = r->connection->fd, .events = POLLRDHUP};
    return poll(&connection, 1, 0) > 0 && (connection.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

enum http_ending http_stream_ending(struct http_request *r, bool now) {
    const struct http_options *options = &r->server->options;
    int64_t now_ms = http_clock_ms();
    if (options->still_granted && !r->revoked && (now || now_ms - r->granted_ms >= HTTP_GRANT_MS)) {
        r->granted_ms = now_ms;
        r->revoked = !options->still_granted(r);
    }
    return r->revoked ? HTTP_REVOKED : http_is_stopping(r) ? HTTP_STOPPING : http_is_gone(r) ? HTTP_GONE : HTTP_GOES_ON;
}

struct MHD_Response *stream_response(struct http_request *r, uint64_t length, const struct http_stream *stream) {
    if (r->inner && !r->replied) {
        return inner_stream(r, stream);
    }
    AUTO_MEM char *media_type = stream->media_type ? strdup(stream->media_type) : NULL; /* the context may own it */
    struct stream_body *body = r->replied ? NULL : malloc(sizeof *body);
    struct MHD_Response *response = NULL;
    if (!body) {
        if (stream->free) {
            stream->free(stream->context);
        }
    } else {
        body->request = r;
        body->stream = *stream;
        body->over = false;
        body->at = body->size = 0;
        response = MHD_create_response_from_callback(length, HTTP_STREAM_BYTES, stream_read, body, stream_free);
        if (!response) {
            stream_free(body);
        }
    }
    if (response && media_type) {
        reply_header(response, "Content-Type", media_type);
    }
    return response;
}

/* libmicrohttpd 0.9.75 sends the end of a chunked body after the head that HEAD asked for: the next answer on the
 * connection would begin with it. */
void http_reply_stream(struct http_request *r, const struct http_stream *stream) {
    r->close = r->close || request_method_is(r, "HEAD");
    reply_take(r, stream->status ? stream->status : 200, stream_response(r, MHD_SIZE_UNKNOWN, stream), 0);
}
