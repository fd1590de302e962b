/* Reads messages without an index, after a crash of the recorder or damage to the index. Messages delimit themselves,
 * so they can be walked; their times are estimated from the timestamps in frames. A time never runs backwards, and a
 * jump of the clock is ignored. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/nanover/scan.h"

#include <inttypes.h>
#include <math.h>

enum {
    PENDING_MAX = 4096, /* messages that wait for the time of the next frame */
    FRAME_NS = 1000000000 / 30,
    FIRST_READ = 64 << 10,
};
#define STEP_MAX_SECONDS 120.0 /* a longer step between two frames counts as a jump of the clock */

struct stamp { /* a clock inside the frames: its last value, and the recording time of that value */
    bool known;
    double seconds;
    int64_t time_ns;
};

struct recovery {
    struct nanover_scan *s;
    struct reel_entry *pending; /* messages since the last frame; their time is not set yet */
    uint32_t n_pending;
    int64_t time_ns; /* of the last frame, or of the last message emitted */
    bool started;
    struct stamp server, simulation;
    uint64_t by_server, by_simulation, by_rate; /* number of frames timed with each clock */
};

/* Spreads the pending messages evenly between the last frame and `until_ns`, and emits them. */
static bool nanover_flush(struct recovery *r, int64_t until_ns, struct reel_error *err) {
    int64_t step = until_ns < NANOVER_TIME_MAX ? (until_ns - r->time_ns) / (int64_t)(r->n_pending + 1) : 0;
    for (uint32_t i = 0; i < r->n_pending; i++) {
        r->pending[i].time_ns = r->time_ns + step * (int64_t)(i + 1);
        if (!nanover_entry_emit(r->s, &r->pending[i], err)) {
            return false;
        }
    }
    r->n_pending = 0;
    return true;
}

static bool step_by(const struct stamp *stamp, bool has, double seconds, int64_t now, int64_t *time_ns) {
    double step = seconds - stamp->seconds;
    if (!has || !stamp->known || !(step >= 0 && step <= STEP_MAX_SECONDS)) {
        return false;
    }
    int64_t t = stamp->time_ns + (int64_t)(step * 1e9);
    t = t < NANOVER_TIME_MAX ? t : NANOVER_TIME_MAX;
    *time_ns = t > now ? t : now;
    return true;
}

static void stamp_set(struct stamp *stamp, bool has, double seconds, int64_t time_ns) {
    if (has && isfinite(seconds)) {
        *stamp = (struct stamp){.known = true, .seconds = seconds, .time_ns = time_ns};
    }
}

static int64_t frame_time(struct recovery *r, const struct nanover_message *m) {
    int64_t t = r->time_ns;
    if (step_by(&r->server, m->has_server_time, m->server_time, r->time_ns, &t)) {
        r->by_server++;
    } else if (step_by(&r->simulation, m->has_simulation_time, m->simulation_time, r->time_ns, &t)) {
        r->by_simulation++; /* one picosecond counts as one second */
    } else if (r->started) {
        r->by_rate++;
        t += t < NANOVER_TIME_MAX ? FRAME_NS : 0;
    }
    stamp_set(&r->server, m->has_server_time, m->server_time, t);
    stamp_set(&r->simulation, m->has_simulation_time, m->simulation_time, t);
    return t;
}

static bool nanover_recover_take(struct recovery *r, const struct nanover_message *m, uint64_t offset, uint32_t length,
                                 struct reel_error *err) {
    struct reel_entry entry;
    bool kept;
    if (!nanover_entry_make(r->s, m, offset, length, &entry, &kept, err)) {
        return false;
    }
    if (!kept) {
        return true;
    }
    if (m->has_frame) {
        int64_t t = frame_time(r, m);
        r->started = true;
        if (!nanover_flush(r, t, err)) {
            return false;
        }
        r->time_ns = entry.time_ns = t;
        return nanover_entry_emit(r->s, &entry, err);
    }
    if (r->n_pending == PENDING_MAX) { /* no frame so far */
        int64_t until = r->time_ns + (int64_t)(PENDING_MAX + 1) * FRAME_NS;
        if (!nanover_flush(r, until, err)) {
            return false;
        }
        r->time_ns = r->s->time_ns;
    }
    r->started = true;
    r->pending[r->n_pending++] = entry;
    return true;
}

/* Reads the message at `at`, whatever its length. */
static bool read_next(struct nanover_scan *s, uint64_t at, struct nanover_message *m, enum msgpack_result *result,
                      uint64_t *length, const char **why, struct reel_error *err) {
    uint64_t left = s->size - at < REEL_MESSAGE_MEMORY_MAX ? s->size - at : REEL_MESSAGE_MEMORY_MAX;
    uint64_t size = window_held(&s->window, at);
    size = size > FIRST_READ ? size : FIRST_READ;
    for (;;) {
        size = size < left ? size : left;
        const uint8_t *p = nanover_scan_bytes(s, at, (size_t)size, err);
        if (!p) {
            return false;
        }
        struct cursor c = cursor_of(bytes_of(p, (size_t)size));
        *result = nanover_message_read(&c, m, &s->keys, why);
        *length = (uint64_t)(c.at - p);
        if (*result != MSGPACK_SHORT || size == left) {
            return true;
        }
        size *= 2;
    }
}

/* True when the next record of the archive begins here: the messages end. */
static bool at_zip_record(struct nanover_scan *s, uint64_t at, bool *is, struct reel_error *err) {
    *is = false;
    if (s->size - at < 4) {
        return true;
    }
    const uint8_t *p = nanover_scan_bytes(s, at, 4, err);
    if (!p) {
        return false;
    }
    uint32_t magic = load_u32le(p);
    *is = magic == ZIP_LOCAL_MAGIC || magic == ZIP_CENTRAL_MAGIC;
    return true;
}

static void nanover_report(const struct recovery *r, uint64_t from) {
    if (r->s->taken > 0) {
        reel_scan_finding(r->s->scan, REEL_WARNING, 0, r->s->plain ? r->s->base + from : 0, 0,
                          "times of the messages from %" PRIu64
                          " of messages.msgpack on are not recorded: frames are timed by server.timestamp (%" PRIu64
                          "), by system.simulation.time, 1 ps as 1 s (%" PRIu64 "), by 30 frames a second (%" PRIu64
                          "), other messages between them",
                          from, r->by_server, r->by_simulation, r->by_rate);
    }
}

bool nanover_recover(struct nanover_scan *s, uint64_t at, struct reel_error *err) {
    AUTO_MEM struct reel_entry *pending = malloc(PENDING_MAX * sizeof *pending);
    if (!pending) {
        return reel_fail_memory(err);
    }
    struct recovery r = {.s = s, .pending = pending, .time_ns = s->time_ns, .started = s->taken > 0};
    uint64_t from = at;
    bool record = false;
    while (at < s->size) {
        struct nanover_message m;
        enum msgpack_result result;
        uint64_t length;
        const char *why;
        if (!at_zip_record(s, at, &record, err) || (!record && !read_next(s, at, &m, &result, &length, &why, err))) {
            return false;
        }
        if (record) {
            break;
        }
        if (result != MSGPACK_OK) {
            nanover_lost(s, at, s->size - at, "%s: %s",
                         result == MSGPACK_SHORT ? "the last one is truncated" : "the rest is omitted, because it",
                         why);
            break;
        }
        s->checked += length;
        if (!nanover_recover_take(&r, &m, at, (uint32_t)length, err)) {
            return false;
        }
        at += length;
    }
    if (!nanover_flush(&r, r.time_ns + (int64_t)(r.n_pending + 1) * FRAME_NS, err)) {
        return false;
    }
    nanover_report(&r, from);
    return true;
}
