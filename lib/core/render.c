/* Rendering: any bytes of a planned output, or a streamed output from front to back. A group is emitted into one buffer; the requested
 * bytes are copied from there. */
#include <stdlib.h>

#include "core/run.h"
#include "core/transient.h"
#include "wire/cleanup.h"

enum {
    STREAM_WINDOW = 1 << 20,      /* streamed: bytes rendered at a time */
    STREAM_WINDOW_MAX = 32 << 20, /* for a larger group the window doubles, so that the group is not emitted too often */
};

struct reel_render {
    struct run run;
    struct reel_stream *stream;
    struct reel_plan *plan;
    struct reel_write_options options; /* of a streamed run */
    struct arena arena;                /* their texts */
    void *totals;                      /* of a streamed run */
    uint8_t *buffer;
    size_t capacity;
    uint64_t held, held_end; /* output bytes in the buffer (planned), or bytes of the group (streamed) */
    uint64_t messages;
    /* streamed: */
    enum { AT_START, AT_HEAD, AT_MESSAGES, AT_TAIL, AT_END, BROKEN } stage;
    uint64_t tail_part, tail_parts;
    uint64_t group_size, returned; /* of the section being returned */
    uint64_t group_count;
};

struct reel_render *reel_render_new(struct reel_plan *plan, const struct reel_writer *writer, const struct reel_write_options *options,
                                    struct reel_stream *stream, struct reel_error *err) {
    struct reel_render *r = calloc(1, sizeof *r);
    void *totals = calloc(1, writer->totals_size ? writer->totals_size : 1);
    if (!r || !totals) {
        free(r);
        free(totals);
        reel_stream_free(stream);
        reel_fail_memory(err);
        return NULL;
    }
    r->totals = totals;
    r->stream = stream;
    r->plan = plan ? reel_plan_ref(plan) : NULL;
    r->run.plan = plan;
    if (!plan && !run_copy_options(&r->options, options, stream->n_sources, &r->arena)) {
        reel_render_free(r);
        reel_fail_memory(err);
        return NULL;
    }
    if (!run_open(&r->run, writer, plan ? &plan->options : &r->options, stream, plan ? plan->totals : totals, false, err)) {
        reel_render_free(r);
        return NULL;
    }
    r->run.stream_group = 0;
    return r;
}

void reel_render_free(struct reel_render *r) {
    if (!r) {
        return;
    }
    run_close(&r->run);
    reel_stream_free(r->stream);
    reel_plan_free(r->plan);
    free(r->totals);
    free(r->buffer);
    arena_free(&r->arena);
    free(r);
}

uint64_t reel_render_messages(const struct reel_render *r) {
    return r->messages;
}

static bool reserve(struct reel_render *r, size_t size, struct reel_error *err) {
    if (size > r->capacity) {
        free(TAKE(r->buffer));
        r->capacity = 0;
        if (!(r->buffer = malloc(size))) {
            return reel_fail_memory(err);
        }
        r->capacity = size;
    }
    return true;
}

/* ---- planned */

struct stretch { /* a group of any kind */
    enum { HEAD, MESSAGES, TAIL } kind;
    uint64_t index, offset, size;
};

static struct stretch stretch_at(const struct reel_plan *plan, uint64_t offset) {
    if (offset < plan->head_size) {
        return (struct stretch){.kind = HEAD, .size = plan->head_size};
    }
    uint64_t tail = plan->n_tail > 0 ? plan->tail[0].offset : plan->length;
    size_t low = 0, high = offset < tail ? plan->n_groups : plan->n_tail;
    bool in_tail = offset >= tail;
    while (high - low > 1) { /* the last group that begins at or before offset */
        size_t middle = low + (high - low) / 2;
        uint64_t begins = in_tail ? plan->tail[middle].offset : plan->groups[middle].offset;
        if (begins <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return in_tail ? (struct stretch){.kind = TAIL, .index = low, .offset = plan->tail[low].offset, .size = plan->tail[low].size}
                   : (struct stretch){.kind = MESSAGES, .index = low, .offset = plan->groups[low].offset, .size = plan->groups[low].size};
}

static bool emit(struct reel_render *r, const struct stretch *s, struct reel_sink *out, struct reel_error *err) {
    struct run *run = &r->run;
    const struct reel_writer *writer = run->w.writer;
    if (s->kind == HEAD) {
        return writer->head(&run->w, out, err);
    }
    if (s->kind == TAIL) {
        return writer->tail(&run->w, s->index, out, err);
    }
    if (run->stream_group != s->index && !reel_stream_seek(r->stream, &r->plan->marks[s->index], err)) {
        return false;
    }
    run->stream_group = UINT64_MAX;
    run->has_pending = false;
    run_begin_group(run, s->index, r->plan->groups[s->index].count);
    if (!writer->messages(&run->w, out, err)) {
        return false;
    }
    if (run->taken != run->quota) {
        return reel_fail(err, REEL_CHANGED, "the group at %llu has %llu messages, planned were %llu", (unsigned long long)s->offset,
                         (unsigned long long)run->taken, (unsigned long long)run->quota);
    }
    r->messages += run->taken;
    run->stream_group = s->index + 1;
    return true;
}

/* Fills the buffer with output bytes around `offset`. Sink positions are output positions, so that writers see the same positions as while
 * planning. */
static bool hold(struct reel_render *r, uint64_t offset, struct reel_error *err) {
    struct stretch s = stretch_at(r->plan, offset);
    struct reel_sink out = {.pos = s.offset, .lo = s.offset, .hi = s.offset + s.size};
    if (s.size > REEL_GROUP_WHOLE_MAX) {
        out.partial = true;
        out.lo = offset;
        out.hi = out.hi - offset > REEL_GROUP_WHOLE_MAX ? offset + REEL_GROUP_WHOLE_MAX : out.hi;
    }
    r->held = r->held_end = 0;
    if (!reserve(r, (size_t)(out.hi - out.lo), err)) {
        return false;
    }
    out.buffer = r->buffer;
    if (!emit(r, &s, &out, err)) {
        return false;
    }
    if (out.pos != s.offset + s.size) {
        return reel_fail(err, REEL_CHANGED, "group at %llu has %llu bytes, planned were %llu", (unsigned long long)s.offset,
                         (unsigned long long)(out.pos - s.offset), (unsigned long long)s.size);
    }
    r->held = out.lo;
    r->held_end = out.hi;
    return true;
}

static bool copy_held(struct reel_render *r, uint64_t offset, uint8_t *to, size_t size, struct reel_error *err) {
    while (size > 0) {
        if ((offset < r->held || offset >= r->held_end) && !hold(r, offset, err)) {
            return false;
        }
        size_t n = r->held_end - offset < size ? (size_t)(r->held_end - offset) : size;
        memcpy(to, r->buffer + (offset - r->held), n);
        to += n;
        offset += n;
        size -= n;
    }
    return true;
}

bool reel_render_read(struct reel_render *r, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    if (offset > r->plan->length || size > r->plan->length - offset) {
        return reel_fail(err, REEL_ARGUMENT, "bytes at %llu are beyond the end", (unsigned long long)offset);
    }
    struct transient_watch watch;
    transient_watch_begin(&watch);
    if (!transient_watch_end(&watch, copy_held(r, offset, buffer, size, err), err)) {
        r->held = r->held_end = 0;
        return false;
    }
    return true;
}

/* ---- streamed */

/* Emits the current section into the window that begins at `from`; the first pass also determines its size. */
static bool emit_streamed(struct reel_render *r, uint64_t from, struct reel_error *err) {
    struct run *run = &r->run;
    const struct reel_writer *writer = run->w.writer;
    size_t window = from < STREAM_WINDOW ? STREAM_WINDOW : from < STREAM_WINDOW_MAX ? (size_t)from : STREAM_WINDOW_MAX;
    if (!reserve(r, window, err)) {
        return false;
    }
    struct reel_sink out = {.lo = from, .hi = from + window, .buffer = r->buffer, .partial = true};
    bool good;
    if (r->stage == AT_HEAD) {
        good = writer->head(&run->w, &out, err);
    } else if (r->stage == AT_TAIL) {
        good = writer->tail(&run->w, r->tail_part, &out, err);
    } else {
        if (from > 0 && !reel_stream_seek(r->stream, &run->first, err)) {
            return false;
        }
        run->has_pending = run->has_pending && from == 0;
        run_begin_group(run, run->w.group, from > 0 ? r->group_count : UINT64_MAX);
        good = writer->messages(&run->w, &out, err);
        r->group_count = run->taken;
    }
    r->group_size = out.pos;
    r->held = from;
    r->held_end = out.pos < out.hi ? out.pos : out.hi;
    return good;
}

/* Advances to the next section. */
static bool next_stage(struct reel_render *r, struct reel_error *err) {
    struct run *run = &r->run;
    const struct reel_writer *writer = run->w.writer;
    bool more = false;
    switch (r->stage) {
    case AT_START:
        r->stage = AT_HEAD;
        return true;
    case AT_HEAD:
    case AT_MESSAGES:
        if (r->stage == AT_MESSAGES) {
            r->messages += r->group_count;
            run->w.group++;
        }
        /* an empty group: the writer needs no more messages */
        if ((r->stage == AT_HEAD || r->group_count > 0) && !run_has_more(run, &more, err)) {
            return false;
        }
        if (more) {
            r->stage = AT_MESSAGES;
            return true;
        }
        r->tail_parts = !writer->tail ? 0 : writer->tail_parts ? writer->tail_parts(&run->w) : 1;
        r->stage = r->tail_parts > 0 ? AT_TAIL : AT_END;
        return run_return_pending(run, err);
    default:
        r->stage = ++r->tail_part < r->tail_parts ? AT_TAIL : AT_END;
        return true;
    }
}

static bool read_streamed(struct reel_render *r, uint8_t *to, size_t size, size_t *got, struct reel_error *err) {
    while (*got < size && r->stage != AT_END) {
        if (r->returned == r->group_size) {
            r->returned = r->group_size = r->held_end = 0;
            if (*got > 0 && r->run.w.options->prompt) {
                return true;
            }
            if (!next_stage(r, err) || (r->stage != AT_END && !emit_streamed(r, 0, err))) {
                return false;
            }
            continue;
        }
        if (r->returned >= r->held_end && !emit_streamed(r, r->returned, err)) {
            return false;
        }
        size_t n = r->held_end - r->returned < size - *got ? (size_t)(r->held_end - r->returned) : size - *got;
        memcpy(to + *got, r->buffer + (r->returned - r->held), n);
        *got += n;
        r->returned += n;
    }
    return true;
}

bool reel_render_next(struct reel_render *r, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    *got = 0;
    if (r->stage == BROKEN) {
        return reel_fail(err, REEL_CANCELLED, "the output has broken off before");
    }
    struct transient_watch watch;
    transient_watch_begin(&watch);
    if (!transient_watch_end(&watch, read_streamed(r, buffer, size, got, err), err)) {
        r->stage = BROKEN;
        return false;
    }
    return true;
}
