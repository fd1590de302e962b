/* /message: one message, by time or by index, as a row or as its raw payload. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/digests.h"
#include "api/recording.h"
#include "api/selection.h"
#include "base/cleanup.h"
#include "reel/values.h"

struct payload { /* source of an octet-stream reply */
    struct reel_stream *stream;
    struct reel_message message;
};

static bool read_payload(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    struct payload *p = context;
    return reel_stream_copy(p->stream, &p->message, offset, buffer, size, err);
}

static void free_payload(void *context) {
    struct payload *p = context;
    reel_stream_free(p->stream);
    free(p);
}

static void reply_raw(struct http_request *r, const struct api_recording *a, struct reel_stream *stream,
                      const struct reel_message *m) {
    struct payload *p = malloc(sizeof *p);
    if (!p) {
        reel_stream_free(stream);
        http_reply_no_memory(r);
        return;
    }
    *p = (struct payload){.stream = stream, .message = *m};
    char text[160], etag[64];
    snprintf(text, sizeof text, "message %s %u %llu %u", a->row.content, m->entry.chunk,
             (unsigned long long)m->entry.offset, m->size);
    api_etag(text, etag);
    http_reply_file(r, &(struct http_file){.length = m->size,
                                           .etag = etag,
                                           .media_type = "application/octet-stream",
                                           .fd = -1,
                                           .read = read_payload,
                                           .free = free_payload,
                                           .context = p});
}

/* The row by the same writer that streams rows. */
static void reply_row(struct http_request *r, const struct api_recording *a, struct reel_stream *stream,
                      const struct reel_message *m) {
    struct reel_error err = {0};
    struct reel_position mark = reel_position_of(m);
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a->recording));
    struct reel_write_options options = {.limit = 1, .start_ns = info->start_ns};
    AUTO_STRUCT(api_text_done) struct api_text texts = {0};
    const struct reel_writer *writer = reel_writer_named(".ndjson", NULL, &err);
    AUTO(reel_stream_free) struct reel_stream *owned = stream;
    if (writer && !api_read_text(r, writer, &texts, &options)) {
        return;
    }
    if (!writer || !stream_seek(stream, &mark, &err)) {
        http_reply_error(r, &err);
        return;
    }
    AUTO(reel_row_output_free) struct reel_row_output *rows = reel_row_output_new(writer, &options, TAKE(owned), &err);
    AUTO_MEM char *text = NULL;
    size_t size = 0, got = 1;
    while (rows && got > 0) {
        enum { PIECE = 64 << 10 };
        char *more = size > 2u * REEL_GROUP_WHOLE_MAX ? NULL : realloc(text, size + PIECE + 1);
        if (!more) {
            reel_fail(&err, REEL_LIMIT, "this message is too large for a row; request application/octet-stream");
            break;
        }
        text = more;
        if (!reel_row_output_next(rows, text + size, PIECE, &got, &err)) {
            break;
        }
        size += got;
        text[size] = '\0';
    }
    if (err.code != REEL_OK) {
        http_reply_error(r, &err);
        return;
    }
    http_reply_text(r, 200, "application/json", text);
}

/* Finds the requested message. False: replied. */
static bool message_find(struct http_request *r, const struct api_recording *a, struct reel_stream **stream,
                         struct reel_message *m) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a->recording));
    const char *topics[API_GLOBS_MAX];
    uint32_t channels[API_GLOBS_MAX];
    size_t n = http_params(r, "topic", topics, API_GLOBS_MAX);
    struct reel_selection q = selection_all;
    struct reel_time at;
    int64_t index;
    struct reel_error err = {0};
    bool has_at = http_param_time(r, "at", &at), has_index = http_param_i64(r, "index", &index);
    if (has_at == has_index) {
        http_reply_problem(r, 400, "bad-parameter", "either at or index is required");
        return false;
    }
    q.n_channels = api_read_channels(r, channels);
    q.channels = channels;
    q.topics = topics;
    q.n_topics = (uint32_t)n;
    bool good;
    int64_t at_ns;
    if (has_at) {
        good = reel_time_within(&at, info->start_ns, info->end_ns, &at_ns, &err) &&
               reel_message_at_time(a->recording, &q, at_ns, stream, m, &err);
    } else {
        *stream = reel_stream_open(&a->recording, 1, &q, &err);
        good = *stream && reel_message_at_index(*stream, index, m, &err);
        if (!good) {
            reel_stream_free(*stream);
        }
    }
    if (!good) {
        http_reply_error(r, &err);
    }
    return good;
}

/* X-Index: where the message is among those of the topic, for a list that follows a time. Counted from the index alone.
 */
static void add_index(struct http_request *r, const struct api_recording *a, const struct reel_message *m) {
    const char *topics[2];
    char text[32];
    uint64_t upto;
    if (http_params(r, "topic", topics, 2) != 1 || http_param(r, "channel") || m->time_ns == INT64_MAX ||
        !reel_series_count(a->recording, topics[0], REEL_TIME_MIN, m->time_ns + 1, &upto, NULL) || upto == 0) {
        return;
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)upto - 1); /* `at` selects the last one of its time */
    http_add_header(r, "X-Index", text);
}

void api_message(struct http_request *r) {
    static const char *const offers[] = {"application/json", "application/x-ndjson", "application/octet-stream", NULL};
    struct api_recording a;
    const char *media = http_negotiate(r, offers);
    if (!media) {
        http_reply_problem(r, 406, "not-acceptable",
                           "a message is available as application/json or application/octet-stream");
        return;
    }
    static const char *const of_rows[] = {"fields", "time_format"};
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) {
        if (strcmp(media, offers[2]) == 0 && http_param(r, of_rows[i])) {
            http_reply_bad_param(r, of_rows[i], "means nothing for %s", media);
            return;
        }
    }
    if (!api_open_messages(r, &a)) {
        return;
    }
    struct reel_stream *stream = NULL;
    struct reel_message m;
    if (message_find(r, &a, &stream, &m)) {
        if (http_param(r, "at")) {
            add_index(r, &a, &m);
        }
        if (strcmp(media, "application/octet-stream") == 0) {
            reply_raw(r, &a, stream, &m);
        } else {
            reply_row(r, &a, stream, &m);
        }
    }
    api_recording_done(&a);
}
