/* See writer_run.h. Here are also the functions of convert/writer.h that a writer calls; they serve planning and
 * rendering alike. */
#include "convert/writer_run.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 256 << 10 };

static bool copy_texts(const char *const **texts, uint32_t n, struct arena *arena) {
    return !*texts || (*texts = arena_texts(arena, *texts, n));
}

static bool copy_values(struct reel_write_options *o, struct arena *arena) {
    struct reel_write_value *values = arena_copy(arena, o->values, o->n_values * sizeof *values);
    bool good = values || o->n_values == 0;
    for (uint32_t i = 0; good && i < o->n_values; i++) {
        good = (values[i].text = arena_text(arena, values[i].text ? values[i].text : "")) != NULL;
    }
    o->values = values;
    return good;
}

bool writer_run_copy_options(struct reel_write_options *copy, const struct reel_write_options *options,
                             uint32_t n_sources, struct arena *arena) {
    *copy = *options;
    copy->compression = arena_text(arena, options->compression ? options->compression : "");
    copy->name = options->name ? arena_text(arena, options->name) : NULL;
    return copy->compression && (copy->name || !options->name) && copy_texts(&copy->fields, options->n_fields, arena) &&
           copy_texts(&copy->source_ids, n_sources, arena) && copy_values(copy, arena);
}

bool writer_compresses(const struct reel_write_options *options) {
    return options->compression[0] != '\0' && strcmp(options->compression, "none") != 0;
}

/* ---- options of the writer's table */

static bool find_value(const struct reel_write *w, const char *name, uint32_t i, struct reel_write_value *value) {
    return reel_write_values_find(w->writer->options, w->options->values, w->options->n_values, name, i, value);
}

uint64_t reel_write_option_u64(const struct reel_write *w, const char *name) {
    struct reel_write_value value;
    return find_value(w, name, 0, &value) ? value.number : 0;
}

const char *reel_write_option_text(const struct reel_write *w, const char *name, uint32_t i) {
    struct reel_write_value value;
    return find_value(w, name, i, &value) ? value.text : NULL;
}

bool writer_run_open(struct writer_run *run, const struct reel_writer *writer, const struct reel_write_options *options,
                     struct reel_stream *stream, void *totals, bool planning, struct reel_error *err) {
    run->w = (struct reel_write){
        .writer = writer, .options = options, .stream = stream, .totals = totals, .planning = planning};
    run->stream_group = 0;
    if (!(run->w.run = calloc(1, writer->run_size ? writer->run_size : 1))) {
        return reel_fail_memory(err);
    }
    return !writer->open || writer->open(&run->w, err);
}

void writer_run_close(struct writer_run *run) {
    if (run->w.run && run->w.writer->close) {
        run->w.writer->close(&run->w);
    }
    free(run->w.run);
    free(run->scratch);
    free(run->note.data);
}

void writer_run_begin_group(struct writer_run *run, uint64_t group, uint64_t quota) {
    run->w.group = group;
    run->taken = 0;
    run->quota = quota;
    run->note.size = 0;
    run->packs = false;
}

static void writer_run_count(struct reel_write_counts *c, const struct reel_message *m) {
    c->first_ns = c->messages == 0 || m->time_ns < c->first_ns ? m->time_ns : c->first_ns;
    c->last_ns = c->messages == 0 || m->time_ns > c->last_ns ? m->time_ns : c->last_ns;
    c->messages++;
    c->by_channel[m->channel]++;
}

const struct reel_write_counts *reel_write_counts(const struct reel_write *w) {
    return &((const struct writer_run *)w)->plan->counts;
}

enum reel_step reel_write_next(struct reel_write *w, struct reel_message *m, struct reel_error *err) {
    struct writer_run *run = (struct writer_run *)w;
    if (run->taken == run->quota) {
        return REEL_STEP_END;
    }
    if (run->has_pending) {
        *m = run->pending;
        run->has_pending = false;
    } else {
        enum reel_step step = stream_next(w->stream, m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step;
        }
    }
    if (run->taken++ == 0) {
        run->first = reel_position_of(m);
    }
    if (w->planning) {
        writer_run_count(&run->plan->counts, m);
    }
    return !run->keeps || taken_add(run->keeps, w->stream, m, err) ? REEL_STEP_MESSAGE : REEL_STEP_ERROR;
}

void reel_write_unget(struct reel_write *w, const struct reel_message *m) {
    struct writer_run *run = (struct writer_run *)w;
    run->pending = *m;
    run->has_pending = true;
    run->taken--;
    if (w->planning) { /* first_ns and last_ns need no correction: the next group has the message */
        run->plan->counts.messages--;
        run->plan->counts.by_channel[m->channel]--;
    }
    if (run->keeps) {
        taken_remove_last(run->keeps);
    }
}

bool writer_run_emit_group(struct writer_run *run, uint64_t group, const struct reel_position *first, uint64_t count,
                           struct reel_sink *out, struct reel_error *err) {
    if (run->stream_group != group && !stream_seek(run->w.stream, first, err)) {
        return false;
    }
    run->stream_group = UINT64_MAX;
    run->has_pending = false;
    writer_run_begin_group(run, group, count);
    if (!run->w.writer->messages(&run->w, out, err)) {
        return false;
    }
    if (run->taken != count) {
        return reel_fail(err, REEL_CHANGED, "group %llu has %llu messages, planned were %llu",
                         (unsigned long long)group, (unsigned long long)run->taken, (unsigned long long)count);
    }
    run->stream_group = group + 1;
    return true;
}

bool writer_run_pack_group(struct writer_run *run, uint64_t group, const struct reel_position *first, uint64_t count,
                           struct reel_sink *out, struct reel_error *err) {
    bool planning = run->w.planning;
    run->w.planning = false;
    run->w.packing = true;
    bool good = writer_run_emit_group(run, group, first, count, out, err);
    run->w.packing = false;
    run->w.planning = planning;
    return good;
}

bool writer_run_has_more(struct writer_run *run, bool *more, struct reel_error *err) {
    enum reel_step step = run->has_pending ? REEL_STEP_MESSAGE : stream_next(run->w.stream, &run->pending, err);
    *more = run->has_pending = step == REEL_STEP_MESSAGE;
    return step != REEL_STEP_ERROR;
}

bool writer_run_return_pending(struct writer_run *run, struct reel_error *err) {
    struct reel_position position = reel_position_of(&run->pending);
    bool pending = run->has_pending;
    run->has_pending = false;
    return !pending || stream_seek(run->w.stream, &position, err);
}

/* Copies, in pieces, a payload that is hashed or that the window shows only in part. What lies outside the window is
 * read only for hashing. */
static bool put_pieces(struct writer_run *run, const struct reel_message *m, struct reel_sink *out,
                       struct reel_error *err) {
    if (!run->scratch && !(run->scratch = malloc(PIECE))) {
        return reel_fail_memory(err);
    }
    for (uint64_t at = 0; at < m->size;) {
        uint64_t left = m->size - at;
        if (!out->hashing && out->pos < out->lo) { /* skip to the window */
            uint64_t skip = out->lo - out->pos < left ? out->lo - out->pos : left;
            out->pos += skip;
            at += skip;
            continue;
        }
        if (!out->hashing && out->pos >= out->hi) {
            out->pos += left;
            return true;
        }
        size_t size = left < PIECE ? (size_t)left : PIECE;
        if (!reel_stream_copy(run->w.stream, m, at, run->scratch, size, err)) {
            return false;
        }
        reel_sink_put(out, run->scratch, size);
        at += size;
    }
    return true;
}

bool reel_write_payload(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                        struct reel_error *err) {
    if (m->size == 0) {
        return true;
    }
    if (!out->hashing) {
        if (out->lo == out->hi || out->pos + m->size <= out->lo || out->pos >= out->hi) {
            out->pos += m->size;
            return true;
        }
        if (out->pos >= out->lo && out->pos + m->size <= out->hi) {
            uint8_t *direct = out->buffer + (out->pos - out->lo);
            out->pos += m->size;
            return reel_stream_copy(w->stream, m, 0, direct, m->size, err);
        }
    }
    return put_pieces((struct writer_run *)w, m, out, err);
}

bool reel_write_attachment(struct reel_reader *reader, const struct reel_attachment *a, struct reel_sink *out,
                           struct reel_error *err) {
    AUTO_MEM uint8_t *piece = malloc(PIECE);
    if (!piece) {
        return reel_fail_memory(err);
    }
    for (uint64_t done = 0; done < a->size;) {
        uint64_t left = a->size - done;
        size_t size = left < PIECE ? (size_t)left : PIECE;
        if (!out->hashing && (out->pos + size <= out->lo || out->pos >= out->hi)) {
            reel_sink_fill(out, 0, size);
        } else if (reel_reader_copy(reader, a->chunk, a->offset + done, piece, size, err)) {
            reel_sink_put(out, piece, size);
        } else {
            return reel_error_at(err, "attachment %s", a->name);
        }
        done += size;
    }
    return true;
}

int64_t reel_write_time(const struct reel_write *w, const struct reel_message *m) {
    bool rebase = (w->writer->needs & REEL_REBASES_CUT) && w->options->is_cut;
    return rebase ? (int64_t)((uint64_t)m->time_ns - (uint64_t)w->options->start_ns) : m->time_ns;
}

bool reel_write_note(struct reel_write *w, const void *data, size_t size, struct reel_error *err) {
    struct writer_run *run = (struct writer_run *)w;
    if (!w->planning && !w->packing) {
        return true;
    }
    grow_put(&run->note, data, size);
    return !run->note.failed || reel_fail_memory(err);
}

bool reel_write_progress(const struct reel_write *w, uint64_t messages, struct reel_error *err) {
    const struct writer_run *run = (const struct writer_run *)w;
    const struct reel_progress *p = run->progress;
    return !p || !p->report || p->report(p->context, messages, run->total) ||
           reel_fail(err, REEL_CANCELLED, "planning was cancelled");
}

void reel_write_pack(struct reel_write *w) {
    ((struct writer_run *)w)->packs = w->planning;
}

void reel_write_leave_out(struct reel_write *w, uint64_t messages) {
    ((struct writer_run *)w)->plan->left_out += messages;
}

void *reel_write_keep(struct reel_write *w, size_t size, struct reel_error *err) {
    struct writer_run *run = (struct writer_run *)w;
    void *p = w->planning ? arena_alloc(&run->plan->arena, size ? size : 1) : NULL;
    if (!p) {
        reel_fail_memory(err);
    }
    return p;
}

uint64_t reel_write_groups(const struct reel_write *w) {
    const struct writer_run *run = (const struct writer_run *)w;
    return run->plan ? run->plan->n_groups : 0;
}

const struct reel_group *reel_write_group(const struct reel_write *w, uint64_t group) {
    const struct writer_run *run = (const struct writer_run *)w;
    return &run->plan->groups[group];
}

uint64_t reel_write_tail_offset(const struct reel_write *w, uint64_t part) {
    const struct reel_plan *plan = ((const struct writer_run *)w)->plan;
    return (part < plan->n_tail ? plan->tail[part].offset : plan->length) - w->base;
}

bool reel_write_walk(struct reel_write *w, uint64_t group,
                     bool (*visit)(struct reel_write *w, const struct reel_message *m, void *context,
                                   struct reel_error *err),
                     void *context, struct reel_error *err) {
    struct writer_run *run = (struct writer_run *)w;
    const struct reel_plan *plan = run->plan;
    if (group >= plan->n_groups) {
        return reel_fail(err, REEL_ARGUMENT, "the %s writer has no group %llu", w->writer->name,
                         (unsigned long long)group);
    }
    if (run->stream_group != group && !stream_seek(w->stream, &plan->positions[group], err)) {
        return false;
    }
    run->stream_group = UINT64_MAX;
    for (uint32_t i = 0; i < plan->groups[group].count; i++) {
        struct reel_message m;
        enum reel_step step = stream_next(w->stream, &m, err);
        if (step == REEL_STEP_END) {
            return reel_fail(err, REEL_CHANGED, "the recording has fewer messages than were planned");
        }
        if (step != REEL_STEP_MESSAGE || !visit(w, &m, context, err)) {
            return false;
        }
    }
    run->stream_group = group + 1;
    return true;
}
