/* Finds one message by its position in time order, or the last one at or before a time. Positions are counted from the
 * index where possible instead of walking the messages. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "read/reader.h"
#include "stream/merge.h"
#include "stream/stream.h"

enum { WALKED_MAX = 20000 }; /* below this many messages, walk instead of counting again */

static bool not_there(int64_t index, uint64_t total, struct reel_error *err) {
    return reel_fail(err, REEL_NOT_FOUND, "there is no message %lld among %llu", (long long)index,
                     (unsigned long long)total);
}

static bool count_all(struct reel_stream *s, uint64_t *total, struct reel_error *err) {
    if (stream_can_count(s)) {
        return stream_count(s, REEL_TIME_MAX, total, err);
    }
    struct reel_message m;
    enum reel_step step;
    for (*total = 0; (step = stream_next(s, &m, err)) == REEL_STEP_MESSAGE; ++*total) {
    }
    return step == REEL_STEP_END && stream_rewind(s, err);
}

/* Seeks to a time shortly before the message at `skip`, and subtracts from `skip` the number of messages before that
 * time. */
static bool narrow(struct reel_stream *s, uint64_t total, uint64_t *skip, struct reel_error *err) {
    int64_t low = REEL_TIME_MIN, high = REEL_TIME_MAX;
    uint64_t before_low = 0, before_high = total;
    while (before_high - before_low > WALKED_MAX && (uint64_t)high - (uint64_t)low > 1) {
        int64_t middle = (int64_t)((uint64_t)low + ((uint64_t)high - (uint64_t)low) / 2);
        uint64_t before;
        if (!stream_count(s, middle, &before, err)) {
            return false;
        }
        bool is_later = before <= *skip;
        *(is_later ? &low : &high) = middle;
        *(is_later ? &before_low : &before_high) = before;
    }
    *skip -= before_low;
    return before_low == 0 || stream_seek(s, &(struct reel_position){.time_ns = low}, err);
}

bool reel_message_at_index(struct reel_stream *stream, int64_t index, struct reel_message *out,
                           struct reel_error *err) {
    uint64_t total, skip = (uint64_t)index;
    if (index < 0) {
        if (!count_all(stream, &total, err)) {
            return false;
        }
        skip += total; /* unsigned wrap-around gives the right result */
        if (skip >= total) {
            return not_there(index, total, err);
        }
    }
    uint64_t left = skip;
    if (left > WALKED_MAX && stream_can_count(stream)) {
        if (!count_all(stream, &total, err)) {
            return false;
        }
        if (left >= total) {
            return not_there(index, total, err);
        }
        if (!narrow(stream, total, &left, err)) {
            return false;
        }
    }
    for (uint64_t i = 0;; i++) {
        enum reel_step step = stream_next(stream, out, err);
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END ? not_there(index, i + (skip - left), err) : false;
        }
        if (i == left) {
            return true;
        }
    }
}

/* An index from the end counts from `total`; before the first message is at it. */
static uint64_t resolve(int64_t index, uint64_t total) {
    uint64_t from_end = 0 - (uint64_t)index;
    return index >= 0 ? (uint64_t)index : from_end > total ? 0 : total - from_end;
}

bool stream_slice(struct reel_stream *stream, int64_t *from, int64_t to, uint64_t *count, struct reel_error *err) {
    uint64_t total = 0;
    struct reel_message first;
    struct reel_error why = {0};
    if ((*from < 0 || to < 0) && !count_all(stream, &total, err)) {
        return false;
    }
    uint64_t begin = resolve(*from, total), end = resolve(to, total);
    *from = (int64_t)begin;
    *count = end > begin ? end - begin : 0;
    if (*count == 0 || begin == 0) {
        return true;
    }
    if (!reel_message_at_index(stream, (int64_t)begin, &first, &why)) {
        *count = 0;
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    const struct reel_position position = reel_position_of(&first);
    return stream_seek(stream, &position, err);
}

struct search { /* of one channel after the other, for the newest message of all */
    struct reel_stream *stream;
    int64_t start_ns;
    uint32_t channel;
    bool found, failed;
    struct reel_message newest;
    struct reel_error *err;
};

/* The entries of a channel, newest first. False: the older ones do not matter. */
static bool consider(void *context, const struct reel_entry *entry) {
    struct search *s = context;
    struct reel_message m = {.channel = s->channel, .size = entry->size, .entry = *entry};
    m.time_ns = m.entry.time_ns = merge_shifted(entry->time_ns, s->stream->shifts[0]);
    struct pack_key key = pack_key_of(&m.entry), newest = pack_key_of(&s->newest.entry);
    if (m.time_ns < s->start_ns || (s->found && pack_key_compare(&key, &newest) < 0)) {
        return false;
    }
    bool selected;
    s->failed = !stream_selects(s->stream, &m, &selected, s->err);
    if (!s->failed && selected) {
        s->newest = m;
        s->found = true;
    }
    return !s->failed && !selected;
}

bool reel_message_at_time(struct reel_recording *recording, const struct reel_selection *selection, int64_t time_ns,
                          struct reel_stream **stream, struct reel_message *out, struct reel_error *err) {
    struct reel_selection plain = *selection; /* the stream has no initial state */
    plain.last_per_topic = plain.latched = plain.state_at_cut = plain.key_frames = false;
    plain.initial = NULL;
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&recording, 1, &plain, err);
    if (!s) {
        return false;
    }
    int64_t before = time_ns < selection->end_ns && time_ns < INT64_MAX ? time_ns + 1 : selection->end_ns;
    struct search search = {.stream = s, .start_ns = selection->start_ns, .err = err};
    for (uint32_t i = 0; i < s->n_channels; i++) {
        search.channel = i;
        if (!reel_reader_reverse(s->readers[0], s->channels[i]->id, merge_unshifted(before, s->shifts[0]), consider,
                                 &search, err) ||
            search.failed) {
            return false;
        }
    }
    if (!search.found) {
        return reel_fail(err, REEL_NOT_FOUND, "there is no message at or before that time");
    }
    *out = search.newest;
    *stream = TAKE(s);
    return true;
}
