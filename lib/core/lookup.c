/* One message by its place in time order, or the last one at or before a time. */
#include <stdlib.h>

#include "core/reader.h"
#include "reel/iterate.h"

static uint64_t count_all(const struct reel_stream *s) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->n_channels; i++) {
        const struct reel_index *index = reel_recording_index(reel_reader_recording(s->readers[s->channel_source[i]]));
        uint32_t id = s->channels[i]->id;
        bool own = id < reel_index_info(index)->n_channels && reel_index_channel(index, id) == s->channels[i]; /* not one that only the front has */
        total += own ? reel_index_stats(index, id)->count : 0;
    }
    return total;
}

bool reel_message_at_index(struct reel_stream *stream, int64_t index, struct reel_message *out, struct reel_error *err) {
    uint64_t total = count_all(stream);
    uint64_t back = index < 0 ? (uint64_t)-(index + 1) + 1 : 0;
    if (index < 0 ? back > total : (uint64_t)index >= total) {
        return reel_fail(err, REEL_NOT_FOUND, "there is no message %lld among %llu", (long long)index, (unsigned long long)total);
    }
    for (uint64_t skip = index < 0 ? total - back : (uint64_t)index;; skip--) {
        enum reel_step step = reel_stream_next(stream, out, err);
        if (step == REEL_STEP_ERROR) {
            return false;
        }
        if (step == REEL_STEP_END) {
            return reel_fail(err, REEL_NOT_FOUND, "there is no message %lld", (long long)index);
        }
        if (skip == 0) {
            return true;
        }
    }
}

struct newest {
    bool found;
    struct reel_entry entry;
};

static bool take_newest(void *context, const struct reel_entry *entry) {
    *(struct newest *)context = (struct newest){.found = true, .entry = *entry};
    return false;
}

bool reel_message_at_time(struct reel_recording *recording, const struct reel_selection *selection, int64_t time_ns, struct reel_stream **stream,
                          struct reel_message *out, struct reel_error *err) {
    struct reel_selection plain = *selection; /* nothing in front */
    plain.last_per_topic = plain.state_at_cut = false;
    plain.front = NULL;
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&recording, 1, &plain, err);
    if (!s) {
        return false;
    }
    bool found = false;
    for (uint32_t i = 0; i < s->n_channels; i++) {
        struct newest newest = {0};
        if (!reel_reader_back(s->readers[0], s->channels[i]->id, time_ns == INT64_MAX ? time_ns : time_ns + 1, take_newest, &newest, err)) {
            return false;
        }
        struct pack_key now = pack_key_of(&newest.entry), best = pack_key_of(&out->entry);
        if (newest.found && (!found || pack_key_compare(&now, &best) > 0)) {
            *out = (struct reel_message){.time_ns = newest.entry.time_ns, .channel = i, .size = newest.entry.size, .entry = newest.entry};
            found = true;
        }
    }
    if (!found) {
        return reel_fail(err, REEL_NOT_FOUND, "there is no message at or before that time");
    }
    *stream = TAKE(s);
    return true;
}
