/* Planning: the writer runs once over a sink that only counts (or hashes); position, size and first message of each group are kept. */
#include <stdatomic.h>
#include <stdlib.h>

#include "core/front.h"
#include "core/run.h"
#include "core/transient.h"
#include "wire/cleanup.h"

enum { PROGRESS_GROUPS = 64 };

void reel_plan_free(struct reel_plan *plan) {
    if (!plan || atomic_fetch_sub(&plan->references, 1) != 1) {
        return;
    }
    free(plan->groups);
    free(plan->marks);
    free(plan->tail);
    reel_front_free(plan->front);
    arena_free(&plan->arena);
    free(plan);
}

struct reel_plan *reel_plan_ref(struct reel_plan *plan) {
    atomic_fetch_add(&plan->references, 1);
    return plan;
}

uint64_t reel_plan_length(const struct reel_plan *plan) {
    return plan->length;
}

uint64_t reel_plan_left_out(const struct reel_plan *plan) {
    return plan->left_out;
}

uint64_t reel_plan_memory(const struct reel_plan *plan) {
    uint64_t front = 0;
    for (size_t i = 0; plan->front && i < plan->front->n_messages; i++) {
        front += sizeof *plan->front->messages + (plan->front->messages[i].owned ? plan->front->messages[i].size : 0);
    }
    return front + sizeof *plan + plan->cap_groups * sizeof *plan->groups + plan->cap_marks * sizeof *plan->marks +
           plan->cap_tail * sizeof *plan->tail + plan->arena.used;
}

struct reel_front *reel_plan_front(const struct reel_plan *plan) {
    return plan->front;
}

/* Moves the note of the group that just ended to the plan's arena. */
static bool keep_note(struct run *run, const uint8_t **note, uint32_t *size, struct reel_error *err) {
    *note = NULL;
    *size = (uint32_t)run->note.size;
    if (run->note.size > 0 && !(*note = arena_copy(&run->plan->arena, run->note.data, run->note.size))) {
        return reel_fail_memory(err);
    }
    return true;
}

static bool plan_group(struct run *run, struct reel_sink *out, struct reel_error *err) {
    struct reel_plan *plan = run->plan;
    if (!GROW_ARRAY(plan->groups, plan->n_groups, plan->cap_groups) || !GROW_ARRAY(plan->marks, plan->n_groups, plan->cap_marks)) {
        return reel_fail_memory(err);
    }
    struct reel_group group = {.offset = out->pos, .first = plan->messages};
    run_begin_group(run, plan->n_groups, UINT32_MAX);
    if (!run->w.writer->messages(&run->w, out, err)) {
        return false;
    }
    if (run->taken == 0) {
        return reel_fail(err, REEL_ARGUMENT, "the %s writer made a group without messages", run->w.writer->name);
    }
    group.size = out->pos - group.offset;
    group.count = (uint32_t)run->taken;
    if (!keep_note(run, &group.note, &group.note_size, err)) {
        return false;
    }
    plan->messages += run->taken;
    plan->marks[plan->n_groups] = run->first;
    plan->groups[plan->n_groups++] = group;
    return true;
}

static bool plan_messages(struct run *run, struct reel_sink *out, struct reel_error *err) {
    for (bool more = true;;) {
        if (!run_has_more(run, &more, err)) {
            return false;
        }
        if (!more) {
            return true;
        }
        if (!plan_group(run, out, err)) {
            return false;
        }
        if (run->plan->n_groups % PROGRESS_GROUPS == 0 && !reel_write_progress(&run->w, run->plan->messages, err)) {
            return false;
        }
    }
}

static bool plan_tail(struct run *run, struct reel_sink *out, struct reel_error *err) {
    struct reel_plan *plan = run->plan;
    const struct reel_writer *writer = run->w.writer;
    plan->length = out->pos;
    run->stream_group = UINT64_MAX;
    uint64_t parts = !writer->tail ? 0 : writer->tail_parts ? writer->tail_parts(&run->w) : 1;
    for (uint64_t i = 0; i < parts; i++) {
        if (!GROW_ARRAY(plan->tail, plan->n_tail, plan->cap_tail)) {
            return reel_fail_memory(err);
        }
        struct tail_part part = {.offset = out->pos};
        run->note.size = 0;
        if (!writer->tail(&run->w, i, out, err)) {
            return false;
        }
        part.size = out->pos - part.offset;
        if (!keep_note(run, &part.note, &part.note_size, err)) {
            return false;
        }
        plan->tail[plan->n_tail++] = part;
        plan->length = out->pos;
    }
    return true;
}

static uint64_t count_messages(const struct reel_stream *s) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->n_sources; i++) {
        total += reel_index_info(reel_recording_index(reel_reader_recording(s->readers[i])))->messages;
    }
    return total;
}

struct reel_plan *reel_plan_new(const struct reel_writer *writer, const struct reel_write_options *options, struct reel_stream *stream,
                                const struct reel_progress *progress, struct reel_error *err) {
    AUTO(reel_plan_free) struct reel_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        reel_fail_memory(err);
        return NULL;
    }
    atomic_init(&plan->references, 1);
    plan->writer = writer;
    plan->totals = arena_alloc(&plan->arena, writer->totals_size ? writer->totals_size : 1);
    plan->counts.by_channel = arena_alloc(&plan->arena, ((size_t)stream->n_channels + 1) * sizeof *plan->counts.by_channel);
    if (!plan->totals || !plan->counts.by_channel || !run_copy_options(&plan->options, options, stream->n_sources, &plan->arena)) {
        reel_fail_memory(err);
        return NULL;
    }
    plan->front = stream->front ? reel_front_ref(stream->front) : NULL;
    struct run run = {.plan = plan, .progress = progress, .total = count_messages(stream)};
    struct reel_sink out = {.hashing = (writer->needs & REEL_NEEDS_PAYLOAD_TO_PLAN) != 0};
    struct transient_watch watch;
    transient_watch_begin(&watch);
    bool good = run_open(&run, writer, &plan->options, stream, plan->totals, true, err);
    if (good) {
        good = writer->head(&run.w, &out, err);
        plan->head_size = out.pos;
        good = good && plan_messages(&run, &out, err);
        plan->left_out = stream->left_out ? *stream->left_out : 0;
        good = good && plan_tail(&run, &out, err);
    }
    run_close(&run);
    return transient_watch_end(&watch, good, err) ? TAKE(plan) : NULL;
}
