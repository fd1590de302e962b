/* Writers for tests of plan and render. toy_planned writes
 *
 *   head    "TOYHEAD!", messages u64, place of the tail u64, CRC-32 of the message groups u32 (toy_hashed; else 0)
 *   groups  per message: 'M', channel u32, time i64, size u32, payload; then 'G', CRC-32 of the group so far u32 (0
 * when it is too large for a patch). A group ends after 20 messages or 4000 bytes; a message over 2000 bytes stands
 * alone (so the one before is given back) tail a part for every 8 groups: 'T', per group: offset, size, first u64,
 * count u32, its note (time of its first message), times of all its messages; then a last part: 'E', places of all
 * parts before it
 *
 * toy_streamed writes "[", per message the same record, "]" and a count; a group is as many bytes as toy_streamed_group
 * says. */
#ifndef REEL_TESTS_TOY_WRITER_H
#define REEL_TESTS_TOY_WRITER_H

#include "base/bytes.h"
#include "base/cursor.h"
#include "index/pack.h"
#include "makers/toy_oracle.h"

enum {
    TOY_GROUP_MESSAGES = 20,
    TOY_GROUP_BYTES = 4000,
    TOY_LARGE = 2000,
    TOY_PART_GROUPS = 8,
    TOY_RECORD = 17,
    TOY_HEAD_BYTES = 28
};

struct toy_totals {
    uint64_t messages, tail_at;
    uint32_t crc;
    bool *kept; /* proves reel_write_keep */
};
struct toy_run {
    uint64_t opened, count, before, group;
};

static size_t toy_streamed_group = 5000;
static uint64_t toy_open_runs;

static inline bool toy_accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    (void)channel;
    (void)loss;
    return true;
}
static inline bool toy_writer_open(struct reel_write *w, struct reel_error *err) {
    (void)err;
    ((struct toy_run *)w->run)->opened = 77;
    __atomic_fetch_add(&toy_open_runs, 1, __ATOMIC_RELAXED);
    return true;
}
static inline void toy_writer_close(struct reel_write *w) {
    if (((struct toy_run *)w->run)->opened == 77) {
        __atomic_fetch_sub(&toy_open_runs, 1, __ATOMIC_RELAXED);
    }
}

static inline bool toy_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct toy_totals *t = w->totals;
    if (w->planning) {
        t->kept = reel_write_keep(w, sizeof *t->kept, err);
        if (!t->kept) {
            return false;
        }
        *t->kept = true;
    }
    reel_sink_put(out, "TOYHEAD!", 8);
    reel_sink_u64le(out, t->messages);
    reel_sink_u64le(out, t->tail_at);
    reel_sink_u32le(out, t->crc);
    return *t->kept;
}

static inline bool toy_record(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                              struct reel_error *err) {
    reel_sink_u8(out, 'M');
    reel_sink_u32le(out, m->channel);
    reel_sink_u64le(out, (uint64_t)reel_write_time(w, m));
    reel_sink_u32le(out, m->size);
    return reel_write_payload(w, m, out, err);
}

static inline bool toy_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct toy_totals *t = w->totals;
    uint64_t start = out->pos, n = 0;
    bool large = false;
    if (w->planning && w->group == 0) {
        out->crc = 0;
    }
    while (n < TOY_GROUP_MESSAGES && out->pos - start < TOY_GROUP_BYTES && !large) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step == REEL_STEP_ERROR) {
            return false;
        }
        if (step == REEL_STEP_END) {
            break;
        }
        large = m.size > TOY_LARGE;
        if (large && n > 0) {
            reel_write_unget(w, &m);
            break;
        }
        if (n == 0 && !reel_write_note(w, &m.time_ns, sizeof m.time_ns, err)) {
            return false;
        }
        if (!toy_record(w, &m, out, err)) {
            return false;
        }
        n++;
    }
    reel_sink_u8(out, 'G');
    const uint8_t *all = reel_sink_at(out, start, out->pos - start);
    bool hashed = w->writer->needs & REEL_NEEDS_PAYLOAD_TO_PLAN;
    out->lacking = !hashed && !all && reel_sink_shows(out, out->pos, 4);
    reel_sink_u32le(out, all && !hashed ? pack_crc(all, out->pos - start) : 0);
    if (w->planning) {
        t->messages += n;
        t->tail_at = out->pos;
        t->crc = out->hashing ? out->crc : 0;
    }
    return true;
}

static inline uint64_t toy_tail_parts(struct reel_write *w) {
    return (reel_write_groups(w) + TOY_PART_GROUPS - 1) / TOY_PART_GROUPS + 1;
}

static inline bool toy_put_time(struct reel_write *w, const struct reel_message *m, void *context,
                                struct reel_error *err) {
    (void)err;
    reel_sink_u64le(context, (uint64_t)reel_write_time(w, m));
    return true;
}

static inline bool toy_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    uint64_t groups = reel_write_groups(w);
    if (part == toy_tail_parts(w) - 1) {
        reel_sink_u8(out, 'E');
        for (uint64_t i = 0; i < part; i++) {
            reel_sink_u64le(out, reel_write_tail_offset(w, i));
        }
        return true;
    }
    reel_sink_u8(out, 'T');
    for (uint64_t g = part * TOY_PART_GROUPS; g < groups && g < (part + 1) * TOY_PART_GROUPS; g++) {
        const struct reel_group *group = reel_write_group(w, g);
        reel_sink_u64le(out, group->offset);
        reel_sink_u64le(out, group->size);
        reel_sink_u64le(out, group->first);
        reel_sink_u32le(out, group->count);
        reel_sink_put(out, group->note, group->note_size);
        if (!reel_write_walk(w, g, toy_put_time, out, err)) {
            return false;
        }
    }
    return true;
}

#define TOY_PLANNED                                                                                                    \
    .version = 1, .totals_size = sizeof(struct toy_totals), .run_size = sizeof(struct toy_run),                        \
    .accepts = toy_accepts, .open = toy_writer_open, .close = toy_writer_close, .head = toy_head,                      \
    .messages = toy_messages, .tail_parts = toy_tail_parts, .tail = toy_tail
static const struct reel_writer toy_planned = {.name = "toy", .extension = ".toy", TOY_PLANNED};
static const struct reel_writer toy_hashed = {
    .name = "toy", .extension = ".toy", .needs = REEL_NEEDS_PAYLOAD_TO_PLAN | REEL_REBASES_CUT, TOY_PLANNED};

/* --- streamed --- */

static inline bool toy_streamed_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)w;
    (void)err;
    reel_sink_u8(out, '[');
    return true;
}

static inline bool toy_streamed_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct toy_run *run = w->run;
    run->before = run->group == w->group && run->count > 0 ? run->before : run->count;
    run->group = w->group;
    run->count = run->before;
    uint64_t start = out->pos, limit = w->options->limit;
    while (limit == 0 || run->count < limit) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        if (run->count > run->before && out->pos - start + m.size > toy_streamed_group) {
            reel_write_unget(w, &m);
            return true;
        }
        if (!toy_record(w, &m, out, err)) {
            return false;
        }
        run->count++;
    }
    return true;
}

static inline uint64_t toy_two(struct reel_write *w) {
    (void)w;
    return 2;
}

/* The second part tells the count, and the time of a message left over, read from the stream itself. */
static inline bool toy_streamed_tail(struct reel_write *w, uint64_t part, struct reel_sink *out,
                                     struct reel_error *err) {
    struct reel_message m = {0};
    if (part == 0) {
        reel_sink_u8(out, ']');
        return true;
    }
    reel_sink_u64le(out, ((struct toy_run *)w->run)->count);
    enum reel_step step = stream_next(w->stream, &m, err);
    reel_sink_u64le(out, step == REEL_STEP_MESSAGE ? (uint64_t)m.time_ns : 0);
    return step != REEL_STEP_ERROR;
}

static const struct reel_writer toy_streamed = {.name = "toy-stream",
                                                .extension = ".toys",
                                                .needs = REEL_STREAMED,
                                                .run_size = sizeof(struct toy_run),
                                                .accepts = toy_accepts,
                                                .open = toy_writer_open,
                                                .close = toy_writer_close,
                                                .head = toy_streamed_head,
                                                .messages = toy_streamed_messages,
                                                .tail_parts = toy_two,
                                                .tail = toy_streamed_tail};

/* --- checking what was written --- */

static inline void toy_check_record(struct cursor *c, const struct toy *toys, const struct wanted *w, int64_t rebase) {
    assert_int_equal(cursor_u8(c), 'M');
    cursor_u32le(c);
    assert_true((int64_t)cursor_u64le(c) == w->entry.time_ns - rebase);
    assert_int_equal(cursor_u32le(c), w->entry.size);
    struct reel_bytes payload = cursor_bytes(c, w->entry.size);
    assert_false(c->failed);
    assert_memory_equal(payload.data, toys[w->source].parts[w->entry.chunk].data + w->entry.offset + w->entry.head,
                        w->entry.size);
}

/* A planned output from end to end: each byte is accounted for. `tail` (may be NULL) gets the place of the tail. */
static inline void toy_check_planned(struct reel_bytes all, const struct toy *toys, const struct wanted *w, size_t n,
                                     bool hashed, int64_t rebase) {
    struct cursor c = cursor_of(all);
    assert_true(bytes_is(cursor_bytes(&c, 8), "TOYHEAD!"));
    assert_true(cursor_u64le(&c) == n);
    uint64_t tail_at = cursor_u64le(&c), groups = 0;
    uint32_t crc = cursor_u32le(&c);
    assert_true(n == 0 || crc == (hashed ? pack_crc(all.data + TOY_HEAD_BYTES, tail_at - TOY_HEAD_BYTES) : 0));
    struct {
        uint64_t offset, size, first;
    } *seen = calloc(n + 1, sizeof *seen);
    for (size_t i = 0; i < n; groups++) {
        uint64_t start = (uint64_t)(c.at - all.data);
        seen[groups].offset = start;
        seen[groups].first = i;
        while (*c.at == 'M') {
            toy_check_record(&c, toys, &w[i++], rebase);
        }
        assert_int_equal(cursor_u8(&c), 'G');
        uint64_t size = (uint64_t)(c.at - all.data) - start;
        uint32_t annotations = cursor_u32le(&c);
        seen[groups].size = size + 4;
        assert_true(annotations == (hashed || size + 4 > REEL_GROUP_WHOLE_MAX ? 0 : pack_crc(all.data + start, size)));
    }
    seen[groups].first = n;
    assert_true(n == 0 || tail_at == (uint64_t)(c.at - all.data));
    uint64_t parts = 0, places[1000];
    for (uint64_t g = 0; g < groups; g++) {
        if (g % TOY_PART_GROUPS == 0) {
            assert_true(parts < 1000);
            places[parts++] = (uint64_t)(c.at - all.data);
            assert_int_equal(cursor_u8(&c), 'T');
        }
        assert_true(cursor_u64le(&c) == seen[g].offset && cursor_u64le(&c) == seen[g].size &&
                    cursor_u64le(&c) == seen[g].first);
        assert_int_equal(cursor_u32le(&c), seen[g + 1].first - seen[g].first);
        assert_true((int64_t)cursor_u64le(&c) == w[seen[g].first].entry.time_ns);
        for (size_t i = seen[g].first; i < seen[g + 1].first; i++) {
            assert_true((int64_t)cursor_u64le(&c) == w[i].entry.time_ns - rebase);
        }
    }
    assert_int_equal(cursor_u8(&c), 'E');
    for (uint64_t i = 0; i < parts; i++) {
        assert_true(cursor_u64le(&c) == places[i]);
    }
    assert_true(cursor_done(&c) && !c.failed);
    free(seen);
}

#endif
