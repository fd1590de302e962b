/* Rendering: any bytes of a planned output; rows are in render_rows.c. A group is emitted into one buffer; the
 * requested bytes are copied from there. */
#include "convert/render.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "convert/group_store.h"

struct reel_render *reel_render_new(struct reel_plan *plan, const struct reel_writer *writer,
                                    const struct reel_write_options *options, struct reel_stream *stream,
                                    struct reel_error *err) {
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
    r->kept = plan && kept_use(plan->kept) ? plan->kept : NULL;
    r->left = UINT64_MAX;
    r->run.plan = plan;
    if (!plan && !run_copy_options(&r->options, options, stream->n_sources, &r->arena)) {
        reel_render_free(r);
        reel_fail_memory(err);
        return NULL;
    }
    if (!run_open(&r->run, writer, plan ? &plan->options : &r->options, stream, plan ? plan->totals : totals, false,
                  err)) {
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
    render_ahead_free(r->ahead);
    run_close(&r->run);
    reel_stream_free(r->stream);
    if (r->kept) {
        kept_leave(r->kept);
    }
    reel_plan_free(r->plan);
    reel_conversion_free(r->conversion);
    free(r->totals);
    free(r->buffer);
    arena_free(&r->arena);
    free(r);
}

uint64_t reel_render_messages(const struct reel_render *r) {
    return r->messages;
}

bool render_reserve(struct reel_render *r, size_t size, struct reel_error *err) {
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
    return in_tail ? (struct stretch){.kind = TAIL,
                                      .index = low,
                                      .offset = plan->tail[low].offset,
                                      .size = plan->tail[low].size}
                   : (struct stretch){.kind = MESSAGES,
                                      .index = low,
                                      .offset = plan->groups[low].offset,
                                      .size = plan->groups[low].size};
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
    if (run->stream_group != s->index && !stream_seek(r->stream, &r->plan->marks[s->index], err)) {
        return false;
    }
    run->stream_group = UINT64_MAX;
    run->has_pending = false;
    run_begin_group(run, s->index, r->plan->groups[s->index].count);
    if (!writer->messages(&run->w, out, err)) {
        return false;
    }
    if (run->taken != run->quota) {
        return reel_fail(err, REEL_CHANGED, "the group at %llu has %llu messages, planned were %llu",
                         (unsigned long long)s->offset, (unsigned long long)run->taken, (unsigned long long)run->quota);
    }
    r->messages += run->taken;
    run->stream_group = s->index + 1;
    return true;
}

/* Emits a group, or as much of it as the window shows. Sink positions are output positions, so that writers see the
 * same positions as while planning. */
static bool emit_window(struct reel_render *r, const struct stretch *s, struct reel_sink *out, struct reel_error *err) {
    out->pos = s->offset;
    return emit(r, s, out, err) && (out->pos == s->offset + s->size ||
                                    reel_fail(err, REEL_CHANGED, "group at %llu has %llu bytes, planned were %llu",
                                              (unsigned long long)s->offset, (unsigned long long)(out->pos - s->offset),
                                              (unsigned long long)s->size));
}

void reel_render_expect(struct reel_render *r, uint64_t end) {
    r->until = end;
}

/* What of a group is to be held for reading from `offset` on: all of it, unless it is huge, or only a small part of it
 * is going to be read.
 */
static struct reel_sink window_of(const struct reel_render *r, const struct stretch *s, uint64_t offset) {
    uint64_t end = s->offset + s->size, until = r->until > offset && r->until < end ? r->until : end;
    bool huge = s->size > REEL_GROUP_WHOLE_MAX,
         narrow = s->kind == MESSAGES && r->until > offset && until - offset < s->size / 4;
    if (!huge && !narrow) {
        return (struct reel_sink){.lo = s->offset, .hi = end};
    }
    return (struct reel_sink){.lo = offset,
                              .hi = until - offset > REEL_GROUP_WHOLE_MAX ? offset + REEL_GROUP_WHOLE_MAX : until,
                              .partial = true};
}

/* Fills the buffer with output bytes around `offset`. */
static bool hold(struct reel_render *r, const struct stretch *s, uint64_t offset, struct reel_error *err) {
    struct reel_sink out = window_of(r, s, offset);
    r->held = r->held_end = 0;
    if (!render_reserve(r, (size_t)(out.hi - out.lo), err)) {
        return false;
    }
    out.buffer = r->buffer;
    if (!emit_window(r, s, &out, err)) {
        return false;
    }
    if (out.lacking && s->size <= REEL_GROUP_WHOLE_MAX) {
        r->until = 0;
        return hold(r, s, offset, err);
    }
    r->held = out.lo;
    r->held_end = out.hi;
    return true;
}

static bool is_kept(const struct reel_render *r, const struct stretch *s) {
    return r->kept && s->kind == MESSAGES && r->plan->groups[s->index].kept;
}

/* Reads the output from `offset` on, up to the end of the group it is in. *got: how much. */
static bool read_group(struct reel_render *r, uint64_t offset, uint8_t *to, size_t size, size_t *got,
                       struct reel_error *err) {
    if (offset < r->held || offset >= r->held_end) {
        const struct stretch s = stretch_at(r->plan, offset);
        uint64_t left = s.offset + s.size - offset;
        *got = left < size ? (size_t)left : size;
        if (is_kept(r, &s) && kept_read(r->kept, offset, to, *got)) {
            return true;
        }
        if (offset == s.offset && *got == s.size &&
            s.size <= REEL_GROUP_WHOLE_MAX) { /* the whole group: needs no copy */
            return emit_window(r, &s, &(struct reel_sink){.lo = s.offset, .hi = s.offset + s.size, .buffer = to}, err);
        }
        if (!hold(r, &s, offset, err)) {
            return false;
        }
    }
    *got = r->held_end - offset < size ? (size_t)(r->held_end - offset) : size;
    memcpy(to, r->buffer + (offset - r->held), *got);
    return true;
}

static bool read_groups(struct reel_render *r, uint64_t offset, uint8_t *to, size_t size, struct reel_error *err) {
    for (size_t done = 0, got; done < size; done += got) {
        if (!read_group(r, offset + done, to + done, size - done, &got, err)) {
            return false;
        }
    }
    return true;
}

uint64_t render_piece_end(const struct reel_plan *plan, uint64_t offset, uint64_t end, size_t size) {
    const struct stretch s = stretch_at(plan, offset);
    uint64_t to = s.offset + s.size;
    bool windows = !(plan->writer->needs & REEL_DECODES) ||
                   s.size > 2 * REEL_ROW_GROUP_BYTES; /* a table's group is encoded as a whole */
    if (s.size > REEL_GROUP_WHOLE_MAX && windows) {
        to = to - offset > REEL_GROUP_WHOLE_MAX ? offset + REEL_GROUP_WHOLE_MAX : to;
    }
    while (to < end) {
        const struct stretch next = stretch_at(plan, to);
        if (next.offset + next.size - offset > size) {
            break;
        }
        to = next.offset + next.size;
    }
    return to < end ? to : end;
}

bool reel_render_read(struct reel_render *r, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    if (offset > r->plan->length || size > r->plan->length - offset) {
        return reel_fail(err, REEL_ARGUMENT, "bytes at %llu are beyond the end", (unsigned long long)offset);
    }
    size_t done = 0;
    if (r->ahead && render_ahead_has(r->ahead, offset, size)) {
        done = render_ahead_read(r->ahead, buffer, size);
        if (done == size) {
            return true;
        }
        render_ahead_free(TAKE(r->ahead)); /* what follows is rendered here, up to where it fails */
    }
    if (!read_groups(r, offset + done, (uint8_t *)buffer + done, size - done, err)) {
        r->held = r->held_end = 0;
        return false;
    }
    return true;
}
