/* The walk that all table reports share: messages in time order, converted to today's form. A step is short, and
 * between two steps nothing is held but the state of the query. */
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/nanover/report.h"
#include "stream/stream.h"

enum { STEP_MESSAGES = 256 };

static bool sunk(bool accepted, struct reel_error *err) {
    return accepted || reel_fail(err, REEL_CANCELLED, "the consumer stopped");
}
bool nanover_row(struct reel_nanover *pass, const struct reel_cell *cells, struct reel_error *err) {
    return sunk(pass->table.row(pass->table.context, cells, pass->how->n_columns), err);
}

struct reel_bytes nanover_time_text(const struct reel_nanover *pass, int64_t time_ns, char out[REEL_TIME_TEXT]) {
    bool wall = pass->stream->clocks[0] == REEL_CLOCK_WALL;
    size_t size = wall ? reel_time_rfc3339(time_ns, out) : reel_time_seconds(time_ns, out);
    return bytes_of(out, size);
}

bool nanover_carries(const struct reel_channel *channel, const char *type) {
    bool any = false;
    for (uint32_t i = 0; i < channel->n_topics && reel_encoding_of(channel) == &reel_encoding_nanover; i++) {
        any |= strcmp(channel->topics[i], type) == 0;
    }
    return any;
}

bool nanover_read_body(struct reel_nanover *pass, const struct reel_message *m, struct nanover_body *body,
                       struct reel_error *err) {
    struct reel_bytes payload;
    if (!stream_decodable(pass->stream, m, &payload, err)) {
        return false;
    }
    if (nanover_message_body(payload, body) != MSGPACK_OK) {
        *body = (struct nanover_body){.has_frame = false};
    }
    return true;
}

void nanover_pick(struct cursor frame, const char *const *keys, unsigned n, struct msgpack_item *values, bool *found) {
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(&frame, &map);
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        struct reel_bytes key;
        struct msgpack_item value;
        r = msgpack_key(&frame, &key, REEL_DEPTH_MAX, &faults);
        r = r == MSGPACK_OK ? msgpack_take(&frame, &value, REEL_DEPTH_MAX, &faults) : r;
        for (unsigned k = 0; k < n && r == MSGPACK_OK; k++) {
            if (bytes_is(key, keys[k])) {
                values[k] = value;
                found[k] = true;
            }
        }
    }
}

/* --- opening --- */

struct reel_stream *nanover_stream(struct reel_recording *recording, const struct reel_selection *selection,
                                   struct reel_error *err) {
    if (!nanover_is_there(reel_recording_index(recording))) {
        reel_fail(err, REEL_UNSUPPORTED, "this recording holds no NanoVer messages");
        return NULL;
    }
    struct reel_selection q = *selection;
    q.prefixing = REEL_PREFIX_NEVER;
    struct reel_stream *stream = reel_stream_open(&recording, 1, &q, err);
    return stream ? nanover_view(stream, err) : NULL;
}

static bool nanover_open_stream(struct reel_nanover *pass, struct reel_recording *recording,
                                const struct reel_selection *asked, struct reel_error *err) {
    struct reel_selection all = selection_all;
    if (asked) {
        all.start_ns = asked->start_ns;
        all.end_ns = asked->end_ns;
        all.every_n = asked->every_n;
        all.every_ns = asked->every_ns;
    }
    all.topics = &pass->how->topic;
    all.n_topics = pass->how->topic != NULL;
    if (!(pass->stream = nanover_stream(recording, &all, err))) {
        return false;
    }
    uint32_t n = pass->stream->n_channels;
    pass->frames = calloc((size_t)n + 1, sizeof *pass->frames);
    pass->states = calloc((size_t)n + 1, sizeof *pass->states);
    if (!pass->frames || !pass->states) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        pass->frames[i] = nanover_carries(pass->stream->channels[i], "frame");
        pass->states[i] = nanover_carries(pass->stream->channels[i], "state");
    }
    return true;
}

static bool copy_keys(struct reel_nanover *pass, const struct reel_nanover_question *question, struct reel_error *err) {
    pass->keys = calloc((size_t)question->n_keys + 1, sizeof *pass->keys);
    for (uint32_t i = 0; pass->keys && i < question->n_keys; i++) {
        if (!(pass->keys[i] = strdup(question->keys[i]))) {
            return reel_fail_memory(err);
        }
        pass->n_keys++;
    }
    return pass->keys || reel_fail_memory(err);
}

static const struct nanover_question *const questions[] = {[REEL_NANOVER_RESETS] = &nanover_resets,
                                                           [REEL_NANOVER_CHANGES] = &nanover_changes,
                                                           [REEL_NANOVER_ENERGIES] = &nanover_energies,
                                                           [REEL_NANOVER_FRAMES] = &nanover_frames,
                                                           [REEL_NANOVER_STATES] = &nanover_states};

struct reel_nanover *reel_nanover_open(struct reel_recording *recording, const struct reel_nanover_question *question,
                                       const struct reel_table *rows, struct reel_error *err) {
    AUTO(reel_nanover_free) struct reel_nanover *pass = calloc(1, sizeof *pass);
    if (!pass) {
        reel_fail_memory(err);
        return NULL;
    }
    pass->how = questions[question->topic];
    pass->table = *rows;
    if (!nanover_open_stream(pass, recording, question->selection, err) || !copy_keys(pass, question, err)) {
        return NULL;
    }
    if (pass->how->state_size > 0 && !(pass->state = calloc(1, pass->how->state_size))) {
        reel_fail_memory(err);
        return NULL;
    }
    return TAKE(pass);
}

void reel_nanover_free(struct reel_nanover *pass) {
    if (!pass) {
        return;
    }
    if (pass->state && pass->how->free) {
        pass->how->free(pass->state);
    }
    free(pass->state);
    for (uint32_t i = 0; i < pass->n_keys; i++) {
        free(pass->keys[i]);
    }
    free(pass->keys);
    reel_stream_free(pass->stream);
    free(pass->frames);
    free(pass->states);
    free(pass);
}

/* --- steps --- */

bool reel_nanover_step(struct reel_nanover *pass, bool *done, struct reel_error *err) {
    const struct nanover_question *how = pass->how;
    *done = false;
    if (!pass->begun) {
        pass->begun = true;
        return sunk(pass->table.columns(pass->table.context, how->columns, how->n_columns), err);
    }
    if (pass->more) {
        return how->rest(pass, &pass->more, err);
    }
    for (int i = 0; i < STEP_MESSAGES && !pass->more; i++) {
        struct reel_message m;
        enum reel_step step = stream_next(pass->stream, &m, err);
        if (step == REEL_STEP_ERROR) {
            return false;
        }
        if (step == REEL_STEP_END) {
            *done = true;
            return (!how->end || how->end(pass, err)) && sunk(pass->table.end(pass->table.context), err);
        }
        if (!how->message(pass, &m, err)) {
            return false;
        }
    }
    return true;
}
