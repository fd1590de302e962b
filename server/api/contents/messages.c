/* /messages: a time-range query as rows, streamed at the client's pace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/contents/follow.h"
#include "api/export/export.h"
#include "api/paging.h"
#include "api/recording.h"
#include "api/reserve.h"
#include "api/selection.h"
#include "base/cleanup.h"

#define PARQUET "application/vnd.apache.parquet"
#define ARROW "application/vnd.apache.arrow.stream"

struct row_media {
    const char *media_type, *output, *extension;
};
static const struct row_media medias[] = {
    {"application/x-ndjson", "ndjson", ".ndjson"},
    {"application/ndjson", "ndjson", ".ndjson"},
    {"application/jsonl", "ndjson", ".ndjson"},
    {"application/json", "json", ".json"},
    {"application/json-seq", "json-seq", ".json-seq"},
    {"text/csv", "csv", ".csv"},
    {"application/msgpack", "msgpack", ".msgpack"},
    {"text/event-stream", "events", ".events"},
    {PARQUET, "parquet", ".parquet"},
    {ARROW, "arrows", ".arrows"},
};

static const struct row_media *choose_media(struct http_request *r) {
    static const char *const offers[] = {"application/x-ndjson",
                                         "application/ndjson",
                                         "application/jsonl",
                                         "application/json",
                                         "application/json-seq",
                                         "text/csv",
                                         "application/msgpack",
                                         "text/event-stream",
                                         PARQUET,
                                         ARROW,
                                         NULL};
    const char *output = http_param(r, "output"), *media = output ? NULL : http_negotiate(r, offers);
    for (size_t i = 0; i < sizeof medias / sizeof *medias; i++) {
        if (output ? strcmp(medias[i].output, output) == 0 : media && strcmp(medias[i].media_type, media) == 0) {
            return &medias[i];
        }
    }
    http_reply_problem(r, 406, "not-acceptable",
                       "messages are available as application/x-ndjson, application/json, application/json-seq, "
                       "text/csv, application/msgpack, "
                       "text/event-stream, " PARQUET " or " ARROW);
    return NULL;
}

static bool messages_next_rows(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    return reel_row_output_next(context, buffer, size, got, err);
}
static void free_rows(void *context) {
    reel_row_output_free(context);
}

/* With a limit the position of the first message left out is found in advance, from the index, so that a header can
 * link to the next page.
 */
static bool add_next(struct http_request *r, struct reel_stream *stream, uint64_t limit,
                     const struct reel_position *from, struct reel_error *err) {
    struct reel_message m;
    struct reel_position first = {0};
    bool any = false;
    for (uint64_t i = 0; i <= limit; i++) {
        enum reel_step step = stream_next(stream, &m, err);
        if (step == REEL_STEP_ERROR) {
            return false;
        }
        if (step == REEL_STEP_END) {
            return !any || stream_seek(stream, from ? from : &first, err);
        }
        first = any ? first : reel_position_of(&m);
        any = true;
    }
    struct reel_position next = reel_position_of(&m);
    char cursor[160];
    reel_cursor_encode(&next, cursor, sizeof cursor);
    api_add_next_link(r, cursor);
    return stream_seek(stream, from ? from : &first, err);
}

/* Where cursor or offset begin; without both `given` stays false. False: replied. */
static bool read_start(struct http_request *r, struct reel_stream *stream, struct reel_position *mark, bool *given) {
    const char *cursor = http_param(r, "cursor");
    uint64_t offset = 0;
    struct reel_message first;
    struct reel_error err = {0};
    http_param_u64(r, "offset", &offset);
    *given = cursor || offset > 0;
    if (cursor && offset > 0) {
        http_reply_bad_param(r, "offset", "a cursor has its own position");
        return false;
    }
    if (cursor && !reel_cursor_decode(cursor, mark)) {
        http_reply_bad_param(r, "cursor", "is not a cursor of this server");
        return false;
    }
    if (offset > 0 && !reel_message_at_index(stream, (int64_t)offset, &first, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (offset > 0) {
        *mark = reel_position_of(&first);
    }
    return true;
}

/* from_index and to_index; *none: no message is between them. False: replied. */
static bool messages_slice(struct http_request *r, struct reel_stream *stream, struct reel_write_options *options,
                           bool *none) {
    int64_t from = 0, to = INT64_MAX;
    uint64_t count = 0;
    struct reel_error err = {0};
    http_param_i64(r, "from_index", &from);
    http_param_i64(r, "to_index", &to);
    if (!stream_slice(stream, &from, to, &count, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    options->limit = count;
    *none = count == 0;
    return true;
}

/* limit, cursor and offset; false: replied. */
static bool messages_position(struct http_request *r, struct reel_stream *stream, struct reel_write_options *options) {
    struct reel_position mark;
    bool moved;
    struct reel_error err = {0};
    if (!read_start(r, stream, &mark, &moved)) {
        return false;
    }
    bool limited = http_param_u64(r, "limit", &options->limit);
    if ((moved && !stream_seek(stream, &mark, &err)) ||
        (limited && !add_next(r, stream, options->limit, moved ? &mark : NULL, &err))) {
        http_reply_error(r, &err);
        return false;
    }
    return true;
}

/* The stream between from_index and to_index. NULL: replied. */
static struct reel_stream *open_slice(struct http_request *r, struct reel_recording *recording,
                                      const struct reel_selection *q, struct reel_write_options *options) {
    struct reel_error err = {0};
    bool none = false;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, q, &err);
    if (stream && !messages_slice(r, stream, options, &none)) {
        return NULL;
    }
    if (stream && none) {
        struct reel_selection nothing = *q;
        nothing.end_ns = nothing.start_ns = REEL_TIME_MIN;
        nothing.last_per_topic = false;
        reel_stream_free(TAKE(stream));
        stream = reel_stream_open(&recording, 1, &nothing, &err);
    }
    if (!stream) {
        http_reply_error(r, &err);
    }
    return TAKE(stream);
}

static bool is_slice(const struct http_request *r) {
    return http_param(r, "from_index") || http_param(r, "to_index");
}

/* The rows that limit, cursor and offset, or from_index and to_index, ask for. NULL: replied. */
static struct reel_row_output *open_page(struct http_request *r, struct reel_recording *recording,
                                         const struct reel_writer *writer, const struct reel_selection *q,
                                         struct reel_write_options *options) {
    struct reel_error err = {0};
    AUTO(reel_stream_free)
    struct reel_stream *stream =
        is_slice(r) ? open_slice(r, recording, q, options) : reel_stream_open(&recording, 1, q, &err);
    if (is_slice(r) ? !stream : stream && !messages_position(r, stream, options)) {
        return NULL;
    }
    struct reel_row_output *rows = stream ? reel_row_output_new(writer, options, TAKE(stream), &err) : NULL;
    if (!rows) {
        http_reply_error(r, &err);
    }
    return rows;
}

/* The rows of all messages, on several threads where that pays. NULL: replied. */
static struct reel_row_output *open_all(struct http_request *r, struct reel_recording *recording,
                                        const struct reel_writer *writer, const struct reel_selection *q,
                                        struct reel_write_options *options) {
    struct reel_error err = {0};
    AUTO(reel_conversion_free)
    struct reel_conversion *c = api_conversion(r, writer, &recording, 1, q, options, &err);
    if (c) {
        api_reserve_threads(r, c);
    }
    struct reel_row_output *rows = c ? reel_conversion_rows(c, &err) : NULL;
    if (!rows) {
        http_reply_error(r, &err);
    }
    return rows;
}

static void reply_rows(struct http_request *r, struct api_recording *a, const struct row_media *media) {
    struct api_selection q;
    struct reel_error err = {0};
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a->recording));
    if (!api_select(r, info->start_ns, info->end_ns, &q) || !api_note_matches(r, &a->recording, 1, &q.selection)) {
        return;
    }
    const struct reel_writer *writer = reel_writer_named(media->extension, NULL, &err);
    if (!writer) {
        http_reply_error(r, &err);
        return;
    }
    struct reel_write_options options = {.is_cut = q.has_start,
                                         .start_ns = q.has_start ? q.selection.start_ns : info->start_ns};
    AUTO_STRUCT(api_text_done) struct api_text text = {0};
    if (!api_read_text(r, writer, &text, &options)) {
        return;
    }
    bool paged = http_param(r, "limit") || http_param(r, "cursor") || http_param(r, "offset") || is_slice(r);
    struct reel_row_output *rows = (paged ? open_page : open_all)(r, a->recording, writer, &q.selection, &options);
    if (rows) {
        http_reply_stream(
            r, &(struct http_stream){
                   .media_type = media->media_type, .next = messages_next_rows, .free = free_rows, .context = rows});
    }
}

/* A table is the export of the same name, with a length and ranges. */
static void reply_table(struct http_request *r, const struct row_media *media) {
    static const char *const others[] = {"limit", "cursor", "offset", "from_index", "to_index", "follow", "end_record"};
    char name[32];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (http_param(r, others[i])) {
            http_reply_bad_param(r, others[i],
                                 "does not go with a table, which is a whole file; start and end select a part");
            return;
        }
    }
    snprintf(name, sizeof name, "messages%s", media->extension);
    api_export(r, http_segment(r, "id"), &(struct api_export_file){.name = name});
}

void api_messages(struct http_request *r) {
    struct api_recording a;
    const struct row_media *media = choose_media(r);
    if (media && (strcmp(media->media_type, PARQUET) == 0 || strcmp(media->media_type, ARROW) == 0)) {
        reply_table(r, media);
        return;
    }
    bool follow = false;
    http_param_bool(r, "follow", &follow);
    static const char *const pages[] = {"limit", "cursor", "offset"};
    for (size_t i = 0; is_slice(r) && i < sizeof pages / sizeof *pages; i++) {
        if (http_param(r, pages[i])) {
            http_reply_bad_param(r, pages[i], "goes without from_index and to_index");
            return;
        }
    }
    bool whole = media && (strcmp(media->output, "json") == 0 || strcmp(media->output, "csv") == 0); /* has a beginning
                                                                                                        or an end */
    if (follow && media &&
        (whole || is_slice(r) || http_param(r, "limit") || http_param(r, "cursor") || http_param(r, "offset"))) {
        http_reply_bad_param(r, "follow",
                             "goes with output=ndjson, json-seq, msgpack or events, without limit, cursor, offset, "
                             "from_index and to_index");
        return;
    }
    if (media && api_open_messages(r, &a)) {
        if (follow) {
            follow_reply(r, &a, media->media_type, media->extension);
        } else {
            reply_rows(r, &a, media);
        }
        api_recording_done(&a);
    }
}
