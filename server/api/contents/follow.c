/* /messages?follow=true: the messages that there are, then those that come, until the recording is finished or the
 * client leaves. Each round is a stream over the recording as it is then, of the messages in chunks that the rounds
 * before had not. */
#include "api/contents/follow.h"
#include "api/recording.h"
#include "api/reserve.h"
#include "api/selection.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "live/live.h"
#include "work/jobs.h"

enum { AGAIN_NS = 20000000 };
static const int64_t LOOK_NS = 500000000, HEARTBEAT_NS = INT64_C(15000000000);

struct follower {
    struct http_request *r;
    struct app *app;
    char id[RECORDING_ID_TEXT];
    const char *media_type, *extension;
    struct api_selection q;
    struct reel_since since;
    struct reel_write_options options;
    struct api_text text;
    struct reel_row_output *rows; /* NULL: between two rounds */
    uint64_t messages;            /* of the recording in the last round */
    uint32_t channels;            /* of the stream then */
    bool wants_channels;
    int64_t sent_ns;
    uint64_t held; /* bytes reserved for the latest round */
    bool ended;
};

static void free_follower(void *context) {
    struct follower *f = context;
    reel_row_output_free(f->rows);
    api_text_done(&f->text);
    free(f);
}

static bool begin_round(struct follower *f, struct reel_recording *recording, struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &f->q.selection, err);
    const struct reel_writer *writer = stream ? reel_writer_named(f->extension, NULL, err) : NULL;
    f->messages = info->messages;
    f->options.channels = f->wants_channels && stream && stream->n_channels > f->channels;
    f->channels = stream ? stream->n_channels : 0;
    f->since = (struct reel_since){.bytes = reel_index_part_size(reel_recording_index(recording), 0),
                                   .chunks = (uint32_t)info->n_chunks};
    f->q.selection.since = &f->since;
    f->q.selection.last_per_topic = f->q.selection.state_at_cut = false; /* only in front of the first round */
    f->rows = writer ? reel_row_output_new(writer, &f->options, TAKE(stream), err) : NULL;
    return f->rows;
}

/* Begins a round if there is anything new; the last one after the recording is finished. */
static bool look(struct follower *f, struct reel_error *err) {
    struct catalog_recording row;
    char job[JOB_ID_TEXT];
    if (!catalog_get(f->app->catalog, f->id, &row, err)) {
        nanosleep(&(struct timespec){.tv_nsec = AGAIN_NS}, NULL);
        return reel_is_transient(err->code);
    }
    bool growing = row.state == STATE_RECORDING;
    AUTO(reel_recording_free) struct reel_recording *recording = api_recording_open(f->app, &row, LOOK_NS, job, err);
    catalog_recording_done(&row);
    if (!recording) { /* it is being finished: look again */
        nanosleep(&(struct timespec){.tv_nsec = AGAIN_NS}, NULL);
        return err->code == REEL_BUSY || reel_is_transient(err->code);
    }
    f->ended = !growing;
    if (reel_index_info(reel_recording_index(recording))->messages <= f->messages) {
        return true;
    }
    f->held = api_idle_memory(recording, true);
    return http_hold(f->r, f->held, err) && begin_round(f, recording, err);
}

/* A sign of life, which readers of the format skip. */
static bool heartbeat(struct follower *f, char *buffer, size_t *got) {
    bool events = strcmp(f->extension, ".events") == 0, lines = strcmp(f->extension, ".ndjson") == 0;
    if (reel_now_ns() - f->sent_ns < HEARTBEAT_NS || (!events && !lines)) {
        return false;
    }
    *got = events ? 3 : 1;
    memcpy(buffer, events ? ":\n\n" : "\n", *got);
    f->sent_ns = reel_now_ns();
    return true;
}

static bool follow_next_rows(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct follower *f = context;
    for (;;) {
        bool more, growing;
        *got = 0;
        if (f->rows) {
            if (!reel_row_output_next(f->rows, buffer, size, got, err)) {
                return false;
            }
            if (*got > 0) {
                f->sent_ns = reel_now_ns();
                return true;
            }
            reel_row_output_free(TAKE(f->rows));
            http_give_back(f->r, f->held);
        }
        if (f->ended || http_stream_ending(f->r, false) != HTTP_GOES_ON) {
            return true;
        }
        live_wait(f->app->live, f->id, f->messages, LOOK_NS, &more, &growing);
        if ((more || !growing) && !look(f, err)) {
            return false;
        }
        if (!f->rows && !f->ended && heartbeat(f, buffer, got)) {
            return true;
        }
    }
}

void follow_reply(struct http_request *r, struct api_recording *a, const char *media_type, const char *extension) {
    struct follower *f = calloc(1, sizeof *f);
    struct reel_error err = {0};
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a->recording));
    if (!f) {
        http_reply_no_memory(r);
        return;
    }
    const struct reel_writer *writer = reel_writer_named(extension, NULL, &err);
    if (!writer) {
        http_reply_error(r, &err);
        free_follower(f);
        return;
    }
    if (!api_select(r, info->start_ns, info->end_ns, &f->q) || !api_read_text(r, writer, &f->text, &f->options)) {
        free_follower(f);
        return;
    }
    f->r = r;
    f->app = http_app(r);
    memcpy(f->id, a->row.id, sizeof f->id);
    f->media_type = media_type;
    f->extension = extension;
    f->options.prompt = true;
    f->wants_channels = f->options.channels;
    f->options.is_cut = f->q.has_start;
    f->options.start_ns = f->q.has_start ? f->q.selection.start_ns : info->start_ns;
    f->sent_ns = reel_now_ns();
    f->ended = a->row.state != STATE_RECORDING;
    f->held = api_idle_memory(a->recording, true);
    if (!begin_round(f, a->recording, &err)) {
        http_reply_error(r, &err);
        free_follower(f);
        return;
    }
    http_add_header(r, "Cache-Control", "no-store");
    http_reply_stream(
        r, &(struct http_stream){
               .media_type = media_type, .next = follow_next_rows, .free = free_follower, .context = f, .lasts = true});
}
