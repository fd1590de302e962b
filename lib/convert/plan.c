/* Planning: the writer runs once over a sink that only counts bytes, or hashes them. The plan has the offset, the size
 * and the first message of each group. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/group_store.h"
#include "convert/plan.h"
#include "stream/initial_state.h"

enum { PROGRESS_GROUPS = 64 };

void reel_plan_free(struct reel_plan *plan) {
    if (!plan || atomic_fetch_sub(&plan->references, 1) != 1) {
        return;
    }
    free(plan->groups);
    free(plan->positions);
    free(plan->tail);
    group_store_free(plan->store);
    reel_initial_state_free(plan->initial);
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

void reel_plan_report(const struct reel_plan *plan, struct reel_loss *loss) {
    if (plan && plan->unfit > 0) {
        reel_loss_add(loss, REEL_LOSES, NULL, "%llu messages that do not fit the definition of their type are left out",
                      (unsigned long long)plan->unfit);
    }
    if (plan && plan->left_out > 0) {
        reel_loss_add(loss, REEL_LOSES, NULL, "%llu messages %s are left out", (unsigned long long)plan->left_out,
                      plan->writer->leaves_out);
    }
}

uint64_t reel_plan_memory(const struct reel_plan *plan) {
    uint64_t initial = 0;
    for (size_t i = 0; plan->initial && i < plan->initial->n_messages; i++) {
        initial +=
            sizeof *plan->initial->messages + (plan->initial->messages[i].owned ? plan->initial->messages[i].size : 0);
    }
    return initial + sizeof *plan + plan->cap_groups * sizeof *plan->groups +
           plan->cap_positions * sizeof *plan->positions + plan->cap_tail * sizeof *plan->tail + plan->arena.used;
}

struct reel_initial_state *reel_plan_initial_state(const struct reel_plan *plan) {
    return plan->initial;
}

uint64_t reel_plan_kept(const struct reel_plan *plan) {
    return plan->store ? group_store_bytes(plan->store) : 0;
}

void reel_plan_forget(struct reel_plan *plan) {
    if (plan->store) {
        group_store_release(plan->store);
    }
}

/* Copies a note into the plan. */
static bool copy_note(struct reel_plan *plan, struct reel_bytes note, const uint8_t **copy, uint32_t *size,
                      struct reel_error *err) {
    *copy = NULL;
    *size = (uint32_t)note.size;
    return note.size == 0 || (*copy = arena_copy(&plan->arena, note.data, note.size)) || reel_fail_memory(err);
}

bool plan_next_group(struct writer_run *run, uint64_t group, struct reel_sink *out, struct planned_group *p,
                     struct reel_error *err) {
    uint64_t from = out->pos;
    writer_run_begin_group(run, group, UINT32_MAX);
    if (!run->w.writer->messages(&run->w, out, err)) {
        return false;
    }
    if (run->taken == 0) {
        return reel_fail(err, REEL_ARGUMENT, "the %s writer made a group without messages", run->w.writer->name);
    }
    *p = (struct planned_group){
        .first = run->first, .count = (uint32_t)run->taken, .packs = run->packs, .size = out->pos - from};
    return true;
}

bool plan_append(struct reel_plan *plan, const struct planned_group *p, struct reel_bytes note,
                 struct reel_error *err) {
    if (!GROW_ARRAY(plan->groups, plan->n_groups, plan->cap_groups) ||
        !GROW_ARRAY(plan->positions, plan->n_groups, plan->cap_positions)) {
        return reel_fail_memory(err);
    }
    struct reel_group *group = &plan->groups[plan->n_groups];
    *group = (struct reel_group){.offset = plan->length, .size = p->size, .first = plan->messages, .count = p->count};
    if (!copy_note(plan, note, &group->note, &group->note_size, err)) {
        return false;
    }
    plan->positions[plan->n_groups++] = p->first;
    plan->messages += p->count;
    plan->length += p->size;
    return true;
}

/* Plans one group. If it packs, it is rendered here to know its size, and once more for the output. */
static bool plan_group(struct writer_run *run, struct reel_sink *out, struct reel_error *err) {
    struct reel_plan *plan = run->plan;
    struct planned_group p;
    if (!plan_next_group(run, plan->n_groups, out, &p, err)) {
        return false;
    }
    if (p.packs) {
        struct reel_sink packed = {.pos = 0};
        run->stream_group = UINT64_MAX;
        if (!writer_run_pack_group(run, plan->n_groups, &p.first, p.count, &packed, err)) {
            return false;
        }
        p.size = packed.pos;
        out->pos = plan->length + p.size;
    }
    return plan_append(plan, &p, bytes_of(run->note.data, run->note.size), err);
}

static bool plan_messages(struct writer_run *run, struct reel_sink *out, struct reel_error *err) {
    for (bool more = true;;) {
        if (!writer_run_has_more(run, &more, err)) {
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

bool plan_tail(struct writer_run *run, struct reel_sink *out, struct reel_error *err) {
    struct reel_plan *plan = run->plan;
    const struct reel_writer *writer = run->w.writer;
    plan->unfit = run->w.stream->left_out ? *run->w.stream->left_out : 0;
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
        if (!copy_note(plan, bytes_of(run->note.data, run->note.size), &part.note, &part.note_size, err)) {
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

struct reel_plan *plan_new(const struct reel_writer *writer, const struct reel_write_options *options,
                           const struct reel_stream *stream, struct reel_error *err) {
    AUTO(reel_plan_free) struct reel_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        reel_fail_memory(err);
        return NULL;
    }
    atomic_init(&plan->references, 1);
    plan->writer = writer;
    plan->totals = arena_alloc(&plan->arena, writer->totals_size ? writer->totals_size : 1);
    plan->counts.by_channel =
        arena_alloc(&plan->arena, ((size_t)stream->n_channels + 1) * sizeof *plan->counts.by_channel);
    if (!plan->totals || !plan->counts.by_channel ||
        !writer_run_copy_options(&plan->options, options, stream->n_sources, &plan->arena)) {
        reel_fail_memory(err);
        return NULL;
    }
    plan->initial = stream->initial ? reel_initial_state_ref(stream->initial) : NULL;
    return TAKE(plan);
}

bool plan_head(struct writer_run *run, struct reel_stream *stream, const struct reel_progress *progress,
               struct reel_sink *out, struct reel_error *err) {
    struct reel_plan *plan = run->plan;
    run->progress = progress;
    run->total = count_messages(stream);
    out->hashing = (plan->writer->needs & REEL_NEEDS_PAYLOAD_TO_PLAN) != 0;
    if (!writer_run_open(run, plan->writer, &plan->options, stream, plan->totals, true, err) ||
        !plan->writer->head(&run->w, out, err)) {
        return false;
    }
    plan->head_size = plan->length = out->pos;
    return true;
}

struct reel_plan *reel_plan_new(const struct reel_writer *writer, const struct reel_write_options *options,
                                struct reel_stream *stream, const struct reel_progress *progress,
                                struct reel_error *err) {
    AUTO(reel_plan_free) struct reel_plan *plan = plan_new(writer, options, stream, err);
    if (!plan) {
        return NULL;
    }
    struct writer_run run = {.plan = plan};
    struct reel_sink out = {.pos = 0};
    bool good =
        plan_head(&run, stream, progress, &out, err) && plan_messages(&run, &out, err) && plan_tail(&run, &out, err);
    writer_run_close(&run);
    return good ? TAKE(plan) : NULL;
}
