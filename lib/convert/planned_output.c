/* Byte ranges of a planned output (convert/writer.h). A group is emitted into one buffer, from which the bytes are
 * copied that were asked for. What is read in order is rendered on the threads of its conversion, in pieces of whole
 * groups (pipeline.h). */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/pipeline.h"
#include "convert/conversion.h"
#include "convert/group_store.h"
#include "convert/writer_run.h"

struct reel_planned_output {
    struct writer_run run;
    struct reel_plan *plan;
    struct reel_conversion *conversion; /* NULL: the stream is the output's own, and there are no threads */
    struct group_store *store;          /* the plan's; NULL: none */
    uint8_t *buffer;                    /* has the output bytes [from, to) */
    size_t capacity;
    uint64_t from, to;
    uint64_t expected_end;    /* reel_planned_output_expect(); 0: not known */
    struct read_ahead *ahead; /* NULL: bytes are rendered when they are read */
};

static void free_ahead(struct read_ahead *ahead);

void reel_planned_output_free(struct reel_planned_output *o) {
    if (!o) {
        return;
    }
    free_ahead(o->ahead);
    writer_run_close(&o->run);
    conversion_return(o->conversion, o->run.w.stream);
    if (o->store) {
        group_store_drop(o->store);
    }
    reel_plan_free(o->plan);
    reel_conversion_free(o->conversion);
    free(o->buffer);
    free(o);
}

/* Takes the stream, also on failure; it belongs to `conversion`, unless that is NULL. */
static struct reel_planned_output *open_output(struct reel_plan *plan, struct reel_conversion *conversion,
                                               struct reel_stream *stream, struct reel_error *err) {
    AUTO(reel_planned_output_free) struct reel_planned_output *o = calloc(1, sizeof *o);
    if (!o) {
        conversion_return(conversion, stream);
        reel_fail_memory(err);
        return NULL;
    }
    o->plan = reel_plan_ref(plan);
    o->conversion = conversion ? reel_conversion_ref(conversion) : NULL;
    o->store = group_store_acquire(plan->store) ? plan->store : NULL;
    o->run.plan = plan;
    return writer_run_open(&o->run, plan->writer, &plan->options, stream, plan->totals, false, err) ? TAKE(o) : NULL;
}

struct reel_planned_output *reel_planned_output_new(struct reel_plan *plan, struct reel_stream *stream,
                                                    struct reel_error *err) {
    return open_output(plan, NULL, stream, err);
}

struct reel_planned_output *reel_conversion_output(struct reel_conversion *c, struct reel_plan *plan,
                                                   struct reel_error *err) {
    struct reel_stream *stream = conversion_stream(c, plan->initial, err);
    return stream ? open_output(plan, c, stream, err) : NULL;
}

/* ---- groups */

struct extent { /* a group of any kind, in the output */
    enum { HEAD, MESSAGES, TAIL } kind;
    uint64_t index, offset, size;
};

/* The group that contains the byte at `offset`. */
static struct extent extent_at(const struct reel_plan *plan, uint64_t offset) {
    if (offset < plan->head_size) {
        return (struct extent){.kind = HEAD, .size = plan->head_size};
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
    return in_tail ? (struct extent){.kind = TAIL,
                                     .index = low,
                                     .offset = plan->tail[low].offset,
                                     .size = plan->tail[low].size}
                   : (struct extent){.kind = MESSAGES,
                                     .index = low,
                                     .offset = plan->groups[low].offset,
                                     .size = plan->groups[low].size};
}

static bool emit(struct reel_planned_output *o, const struct extent *group, struct reel_sink *out,
                 struct reel_error *err) {
    struct writer_run *run = &o->run;
    const struct reel_writer *writer = run->w.writer;
    if (group->kind == HEAD) {
        return writer->head(&run->w, out, err);
    }
    if (group->kind == TAIL) {
        return writer->tail(&run->w, group->index, out, err);
    }
    return writer_run_emit_group(run, group->index, &o->plan->positions[group->index],
                                 o->plan->groups[group->index].count, out, err);
}

/* Emits a group; the sink stores the part of it that its window shows. Positions of the sink are those of the output,
 * so that writers see the same positions as while planning. */
static bool emit_window(struct reel_planned_output *o, const struct extent *group, struct reel_sink *out,
                        struct reel_error *err) {
    uint64_t end = group->offset + group->size;
    out->pos = group->offset;
    return emit(o, group, out, err) &&
           (out->pos == end ||
            reel_fail(err, REEL_CHANGED, "the group at %llu has %llu bytes, planned were %llu",
                      (unsigned long long)group->offset, (unsigned long long)(out->pos - group->offset),
                      (unsigned long long)group->size));
}

/* ---- reading */

void reel_planned_output_expect(struct reel_planned_output *o, uint64_t end) {
    o->expected_end = end;
}

/* How much of a group the buffer gets, for reading from `offset` on: all of it, unless it is huge, or only a small part
 * of it is going to be read. */
static struct reel_sink window_of(const struct reel_planned_output *o, const struct extent *group, uint64_t offset) {
    uint64_t end = group->offset + group->size, until = end;
    bool known = o->expected_end > offset;
    if (known && o->expected_end < end) {
        until = o->expected_end;
    }
    bool huge = group->size > REEL_GROUP_WHOLE_MAX,
         narrow = group->kind == MESSAGES && known && until - offset < group->size / 4;
    if (!huge && !narrow) {
        return (struct reel_sink){.lo = group->offset, .hi = end};
    }
    return (struct reel_sink){.lo = offset,
                              .hi = until - offset > REEL_GROUP_WHOLE_MAX ? offset + REEL_GROUP_WHOLE_MAX : until,
                              .partial = true};
}

static bool planned_output_reserve(struct reel_planned_output *o, size_t size, struct reel_error *err) {
    if (size > o->capacity) {
        free(TAKE(o->buffer));
        o->capacity = 0;
        if (!(o->buffer = malloc(size))) {
            return reel_fail_memory(err);
        }
        o->capacity = size;
    }
    return true;
}

/* Fills the buffer with output bytes around `offset`. */
static bool fill_buffer(struct reel_planned_output *o, const struct extent *group, uint64_t offset,
                        struct reel_error *err) {
    struct reel_sink out = window_of(o, group, offset);
    o->from = o->to = 0;
    if (!planned_output_reserve(o, (size_t)(out.hi - out.lo), err)) {
        return false;
    }
    out.buffer = o->buffer;
    if (!emit_window(o, group, &out, err)) {
        return false;
    }
    if (out.lacking && group->size <= REEL_GROUP_WHOLE_MAX) {
        o->expected_end = 0;
        return fill_buffer(o, group, offset, err);
    }
    o->from = out.lo;
    o->to = out.hi;
    return true;
}

static bool is_stored(const struct reel_planned_output *o, const struct extent *group) {
    return o->store && group->kind == MESSAGES && o->plan->groups[group->index].kept;
}

/* Reads from `offset` on, up to the end of the group it is in. *got: how much. */
static bool read_group(struct reel_planned_output *o, uint64_t offset, uint8_t *to, size_t size, size_t *got,
                       struct reel_error *err) {
    if (offset < o->from || offset >= o->to) {
        const struct extent group = extent_at(o->plan, offset);
        uint64_t left = group.offset + group.size - offset;
        *got = left < size ? (size_t)left : size;
        if (is_stored(o, &group) && group_store_read(o->store, offset, to, *got)) {
            return true;
        }
        if (offset == group.offset && *got == group.size && group.size <= REEL_GROUP_WHOLE_MAX) { /* without a copy */
            struct reel_sink direct = {.lo = offset, .hi = offset + group.size, .buffer = to};
            return emit_window(o, &group, &direct, err);
        }
        if (!fill_buffer(o, &group, offset, err)) {
            return false;
        }
    }
    *got = o->to - offset < size ? (size_t)(o->to - offset) : size;
    memcpy(to, o->buffer + (offset - o->from), *got);
    return true;
}

static bool read_groups(struct reel_planned_output *o, uint64_t offset, uint8_t *to, size_t size,
                        struct reel_error *err) {
    for (size_t done = 0, got; done < size; done += got) {
        if (!read_group(o, offset + done, to + done, size - done, &got, err)) {
            return false;
        }
    }
    return true;
}

/* ---- reading ahead */

struct planned_piece {
    struct pipeline_piece base;
    uint64_t offset;
};

struct read_ahead {
    struct pipeline *pipeline;
    struct pipeline_piece *piece; /* being read; NULL: none */
    size_t used;                  /* bytes read of it */
    uint64_t at;                  /* the next byte to be read */
    uint64_t next, end;           /* where the next piece begins, and the last one ends */
    struct reel_plan *plan;       /* the output's, as the conversion is */
    struct reel_conversion *conversion;
};

static void free_ahead(struct read_ahead *a) {
    if (a) {
        pipeline_free(a->pipeline);
        free(a);
    }
}

/* Where a piece of about `size` bytes ends that begins at `offset`: with a group where possible, at `end` at the
 * latest. */
static uint64_t piece_end(const struct reel_plan *plan, uint64_t offset, uint64_t end, size_t size) {
    const struct extent first = extent_at(plan, offset);
    uint64_t to = first.offset + first.size;
    bool windows = !(plan->writer->needs & REEL_DECODES) || first.size > 2 * REEL_ROW_GROUP_BYTES; /* a table's group is
                                                                                                      encoded as a whole
                                                                                                    */
    if (first.size > REEL_GROUP_WHOLE_MAX && windows) {
        to = to - offset > REEL_GROUP_WHOLE_MAX ? offset + REEL_GROUP_WHOLE_MAX : to;
    }
    while (to < end) {
        const struct extent next = extent_at(plan, to);
        if (next.offset + next.size - offset > size) {
            break;
        }
        to = next.offset + next.size;
    }
    return to < end ? to : end;
}

static bool planned_output_next_piece(void *context, struct pipeline_piece *base, struct reel_error *err) {
    struct read_ahead *a = context;
    struct planned_piece *piece = (struct planned_piece *)base;
    (void)err;
    if (a->next == a->end) {
        return false;
    }
    piece->offset = a->next;
    a->next = piece_end(a->plan, a->next, a->end, pipeline_piece_bytes(a->pipeline));
    base->size = (size_t)(a->next - piece->offset);
    return true;
}

static bool render_piece(void *context, void *worker, struct pipeline_piece *base, struct reel_error *err) {
    (void)context;
    return pipeline_reserve(base, base->size, err) &&
           reel_planned_output_read(worker, ((struct planned_piece *)base)->offset, base->data, base->size, err);
}

static void *open_worker(void *context, struct reel_error *err) {
    const struct read_ahead *a = context;
    return reel_conversion_output(a->conversion, a->plan, err);
}
static void close_worker(void *worker) {
    reel_planned_output_free(worker);
}

/* Whether all bytes are stored, and nothing is to be rendered. */
static bool all_stored(const struct reel_planned_output *o) {
    return o->store && o->plan->n_groups > 0 && o->plan->groups[o->plan->n_groups - 1].kept;
}

bool reel_planned_output_read_ahead(struct reel_planned_output *o, uint64_t offset, uint64_t end) {
    static const struct pipeline_ops ops = {.piece_size = sizeof(struct planned_piece),
                                            .next = planned_output_next_piece,
                                            .render = render_piece,
                                            .open_worker = open_worker,
                                            .close_worker = close_worker};
    struct reel_conversion *c = o->conversion;
    free_ahead(TAKE(o->ahead));
    if (!c || end > o->plan->length || offset > end || all_stored(o) || !conversion_shares(c, end - offset)) {
        return false;
    }
    AUTO_MEM struct read_ahead *a = calloc(1, sizeof *a);
    if (a) {
        *a = (struct read_ahead){.at = offset, .next = offset, .end = end, .plan = o->plan, .conversion = c};
        a->pipeline = pipeline_new(conversion_client(c), conversion_threads(c), &ops, a, NULL);
        o->ahead = a->pipeline ? TAKE(a) : NULL;
    }
    return o->ahead;
}

/* Copies from the piece that is being read. 0: there is none, or it could not be rendered. */
static size_t copy_from_piece(struct read_ahead *a, uint8_t *to, size_t size) {
    if (!a->piece) {
        a->piece = pipeline_take(a->pipeline, NULL);
        a->used = 0;
    }
    if (!a->piece || !a->piece->good) {
        return 0;
    }
    size_t left = a->piece->size - a->used, n = size < left ? size : left;
    memcpy(to, a->piece->data + a->used, n);
    a->used += n;
    a->at += n;
    if (a->used == a->piece->size) {
        a->piece = NULL;
        pipeline_return(a->pipeline);
    }
    return n;
}

/* Less than `size`: a piece could not be rendered. */
static size_t read_pieces(struct read_ahead *a, uint8_t *buffer, size_t size) {
    size_t done = 0;
    for (size_t n = 1; n > 0 && done < size; done += n) {
        n = copy_from_piece(a, buffer + done, size - done);
    }
    return done;
}

bool reel_planned_output_read(struct reel_planned_output *o, uint64_t offset, void *buffer, size_t size,
                              struct reel_error *err) {
    if (offset > o->plan->length || size > o->plan->length - offset) {
        return reel_fail(err, REEL_ARGUMENT, "bytes at %llu are beyond the end", (unsigned long long)offset);
    }
    size_t done = 0;
    if (o->ahead && offset == o->ahead->at && size <= o->ahead->end - offset) {
        done = read_pieces(o->ahead, buffer, size);
        if (done == size) {
            return true;
        }
        free_ahead(TAKE(o->ahead)); /* what follows is rendered here, up to where it fails */
    }
    if (!read_groups(o, offset + done, (uint8_t *)buffer + done, size - done, err)) {
        o->from = o->to = 0;
        return false;
    }
    return true;
}
