/* Takes messages, which lie in chunks or outside of them: those that need no second look in one loop (most do not), the
 * others one by one. */
#include "base/bytes.h"
#include "formats/mcap/read.h"

static inline void run_count(struct mcap *m, struct mcap_run *run, uint16_t channel, uint64_t time) {
    mcap_defined(m->names, channel)->messages++;
    run->start_ns = run->messages == 0 || time < run->start_ns ? time : run->start_ns;
    run->end_ns = time > run->end_ns ? time : run->end_ns;
    run->index_sum += mcap_position_hash(channel, time, run->at - run->base);
    run->messages++;
}

void mcap_run_end(struct mcap *m, const struct mcap_run *run) {
    struct mcap_tally *t = &m->found;
    if (run->messages > 0) {
        t->start_ns = t->messages == 0 || run->start_ns < t->start_ns ? run->start_ns : t->start_ns;
        t->end_ns = run->end_ns > t->end_ns ? run->end_ns : t->end_ns;
        t->messages += run->messages;
    }
}

bool mcap_take_messages(struct mcap *m, struct mcap_run *run, struct reel_error *err) {
    struct mcap_names *names = m->names;
    size_t left = window_held(run->window, run->at);
    left = left > run->end - run->at ? (size_t)(run->end - run->at) : left;
    const uint8_t *p = left > 0 ? run->window->buffer + (run->at - run->window->offset) : NULL;
    while (left >= MCAP_MESSAGE_HEAD && p[0] == MCAP_MESSAGE) {
        uint64_t size = load_u64le(p + 1) - (MCAP_MESSAGE_HEAD - MCAP_RECORD_HEAD),
                 time = load_u64le(p + MCAP_MESSAGE_TIME_AT);
        uint16_t channel = load_u16le(p + MCAP_MESSAGE_CHANNEL_AT);
        if (size > run->end - run->at - MCAP_MESSAGE_HEAD || size > UINT32_MAX || time > INT64_MAX ||
            mcap_model_of_id(names, channel) == MCAP_NO_MODEL) {
            break; /* the slow path reports it */
        }
        if (size >= 4 && (left < MCAP_MESSAGE_HEAD + 4 || mcap_begins_packed(p + MCAP_MESSAGE_HEAD, size))) {
            break; /* the slow path unpacks it */
        }
        const struct reel_entry entry = {.time_ns = (int64_t)time,
                                         .offset = run->at,
                                         .channel = mcap_model_of_id(names, channel),
                                         .chunk = run->chunk,
                                         .head = MCAP_MESSAGE_HEAD,
                                         .size = (uint32_t)size};
        if (!reel_scan_entry(m->scan, &entry, err)) {
            return false;
        }
        run_count(m, run, channel, time);
        uint64_t step = MCAP_MESSAGE_HEAD + size;
        run->at += step;
        left = step < left ? left - (size_t)step : 0;
        p += left > 0 ? step : 0;
    }
    return true;
}

static void loss_of_message(struct mcap *m, uint64_t position, uint64_t length, const char *why) {
    reel_scan_finding(m->scan, REEL_LOSS, m->part, position, MCAP_RECORD_HEAD + length, "message at %llu: %s",
                      (unsigned long long)position, why);
}

bool mcap_take_message(struct mcap *m, struct mcap_run *run, uint64_t length, uint64_t position,
                       struct reel_error *err) {
    if (length < MCAP_MESSAGE_HEAD - MCAP_RECORD_HEAD) {
        loss_of_message(m, position, length, "it is too short");
        return true;
    }
    uint64_t size = length - (MCAP_MESSAGE_HEAD - MCAP_RECORD_HEAD);
    const uint8_t *p = window_at(run->window, run->at, MCAP_MESSAGE_HEAD + (size < 4 ? (size_t)size : 4), err);
    if (!p) {
        return false;
    }
    uint64_t time = load_u64le(p + MCAP_MESSAGE_TIME_AT);
    uint16_t channel = load_u16le(p + MCAP_MESSAGE_CHANNEL_AT);
    if (time > INT64_MAX) {
        loss_of_message(m, position, length, "its log_time is after the year 2262");
        return true;
    }
    if (size > UINT32_MAX) {
        loss_of_message(m, position, length, "it is larger than 4 GiB");
        return true;
    }
    struct reel_entry entry = {.time_ns = (int64_t)time,
                               .offset = run->at,
                               .chunk = run->chunk,
                               .head = MCAP_MESSAGE_HEAD,
                               .size = (uint32_t)size};
    bool kept = true;
    if (!mcap_channel_for(m, channel, position, &entry.channel, err) ||
        (mcap_is_packed(m, channel, p + MCAP_MESSAGE_HEAD, size) &&
         !mcap_unpack(m, run, p, position, &entry, &kept, err)) ||
        (kept && !reel_scan_entry(m->scan, &entry, err))) {
        return false;
    }
    run_count(m, run, channel, time);
    return true;
}
