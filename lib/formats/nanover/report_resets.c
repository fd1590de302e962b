/* The simulation runs: a frame with frame.index 0 is a reset, which begins a run that lasts until the next reset. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/nanover/report.h"

enum { NAMED_WITHIN = 3 /* frames examined per run: an empty reset may precede the frame with the particles */ };

struct resets {
    uint64_t messages; /* of all runs so far */
    uint64_t runs;
    int64_t last_ns;
    struct run {
        int64_t start_ns;
        uint64_t first, frames;
        struct msgpack_item counter;
        bool has_counter, has_name;
        struct grow name;
    } run; /* the current run */
};

static const char *const columns[] = {
    "run", "time", "time_ns", "index", "messages", "frames", "duration_s", "simulation_counter", "simulation_name"};

static struct reel_cell number_cell(const struct msgpack_item *item) {
    bool whole = item->kind == MSGPACK_INT && !item->over;
    return whole ? reel_cell_integer(item->integer) : reel_cell_real(item->number);
}

static bool write_run(struct reel_nanover *pass, int64_t end_ns, struct reel_error *err) {
    struct resets *s = pass->state;
    const struct run *run = &s->run;
    char time[REEL_TIME_TEXT];
    if (s->runs == 0) {
        return true;
    }
    if (run->name.failed) {
        return reel_fail_memory(err);
    }
    const struct reel_cell cells[] = {
        reel_cell_integer((int64_t)s->runs),
        reel_cell_text(nanover_time_text(pass, run->start_ns, time)),
        reel_cell_integer(run->start_ns),
        reel_cell_integer((int64_t)run->first),
        reel_cell_integer((int64_t)(s->messages - run->first)),
        reel_cell_integer((int64_t)run->frames),
        reel_cell_real((double)((uint64_t)end_ns - (uint64_t)run->start_ns) / 1e9),
        run->has_counter ? number_cell(&run->counter) : (struct reel_cell){.kind = REEL_CELL_NULL},
        run->has_name ? reel_cell_text(bytes_of(run->name.data, run->name.size))
                      : (struct reel_cell){.kind = REEL_CELL_NULL},
    };
    return nanover_row(pass, cells, err);
}

static bool name_run(struct reel_nanover *pass, const struct reel_message *m, struct reel_error *err) {
    static const char *const keys[] = {"system.simulation.counter", "system.simulation.name"};
    struct run *run = &((struct resets *)pass->state)->run;
    struct nanover_body body;
    struct msgpack_item values[2];
    bool found[2] = {false, false};
    if (!nanover_read_body(pass, m, &body, err)) {
        return false;
    }
    if (!body.has_frame) {
        return true;
    }
    nanover_pick(body.frame, keys, 2, values, found);
    if (found[0] && msgpack_is_number(&values[0])) {
        run->counter = values[0];
        run->has_counter = true;
    }
    if (found[1] && values[1].kind == MSGPACK_STR && values[1].bytes.size <= REEL_TEXT_MAX) {
        run->name.size = 0;
        grow_put(&run->name, values[1].bytes.data, values[1].bytes.size);
        run->has_name = true;
    }
    return true;
}

static bool nanover_report_resets_message(struct reel_nanover *pass, const struct reel_message *m,
                                          struct reel_error *err) {
    struct resets *s = pass->state;
    struct run *run = &s->run;
    bool frame = pass->frames[m->channel];
    if (frame && nanover_is_reset(&m->entry)) {
        if (!write_run(pass, m->time_ns, err)) {
            return false;
        }
        s->runs++;
        run->name.size = 0;
        *run = (struct run){.start_ns = m->time_ns, .first = s->messages, .name = run->name};
    }
    s->messages++;
    s->last_ns = m->time_ns;
    run->frames += frame;
    return !frame || s->runs == 0 || run->frames > NAMED_WITHIN || name_run(pass, m, err);
}

static bool nanover_end(struct reel_nanover *pass, struct reel_error *err) {
    return write_run(pass, ((struct resets *)pass->state)->last_ns, err);
}

static void nanover_report_resets_free_state(void *state) {
    free(((struct resets *)state)->run.name.data);
}

const struct nanover_question nanover_resets = {.columns = columns,
                                                .n_columns = sizeof columns / sizeof *columns,
                                                .message = nanover_report_resets_message,
                                                .end = nanover_end,
                                                .free = nanover_report_resets_free_state,
                                                .state_size = sizeof(struct resets)};

/* --- a single run --- */

struct bounds {
    bool found, frames; /* frames: there are some before the first reset */
    uint64_t resets;
    int64_t start_ns, end_ns;
};

/* Finds the extent of the run from its frames; stops at the next reset. */
static bool find_run(struct reel_recording *recording, uint64_t number, struct bounds *b, struct reel_error *err) {
    static const char *const topic = "frame";
    struct reel_selection selection = selection_all;
    struct reel_message m;
    enum reel_step step;
    selection.topics = &topic;
    selection.n_topics = 1;
    AUTO(reel_stream_free) struct reel_stream *stream = nanover_stream(recording, &selection, err);
    if (!stream) {
        return false;
    }
    while ((step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE) {
        if (!nanover_carries(stream->channels[m.channel], topic)) {
            continue;
        }
        if (!nanover_is_reset(&m.entry)) {
            b->frames |= b->resets == 0;
        } else if (b->resets++ == number) {
            b->end_ns = m.time_ns;
            break;
        } else if (b->resets == number) {
            b->start_ns = m.time_ns;
        }
    }
    b->found = number == 0 ? b->frames : b->resets >= number;
    return step != REEL_STEP_ERROR;
}

/* The cut is just after the reset, so that the front contains the reset itself. */
static void select_run(const struct reel_index_info *info, uint64_t run, int64_t start_ns, int64_t end_ns,
                       struct reel_selection *selection, struct reel_write_options *options) {
    options->is_cut = true;
    options->start_ns = run > 0 ? start_ns : info->start_ns;
    selection->start_ns = run > 0 ? start_ns + 1 : REEL_TIME_MIN;
    selection->end_ns = end_ns;
    selection->state_at_cut = run > 0;
}

bool reel_nanover_run(struct reel_recording *recording, uint64_t run, struct reel_selection *selection,
                      struct reel_write_options *options, struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    struct bounds b = {.end_ns = REEL_TIME_MAX};
    if (!find_run(recording, run, &b, err)) {
        return false;
    }
    if (!b.found && run == 0) {
        return reel_fail(err, REEL_NOT_FOUND, "there is no run 0: no frame precedes the first reset");
    }
    if (!b.found) {
        return reel_fail(err, REEL_NOT_FOUND, "there is no run %llu: this recording has %llu resets",
                         (unsigned long long)run, (unsigned long long)b.resets);
    }
    if (run > 0 && b.end_ns == b.start_ns) {
        return reel_fail(err, REEL_NOT_FOUND, "run %llu lasts no time: the next reset is of the same instant",
                         (unsigned long long)run);
    }
    select_run(info, run, b.start_ns, b.end_ns, selection, options);
    return true;
}

/* --- all runs --- */

struct runs {
    struct reel_split_part *items;
    size_t count, capacity;
    struct nanover_key_watch watch; /* its key is "": runs begin with resets */
};

static bool add_run(struct runs *runs, const struct reel_split_part *part, struct reel_error *err) {
    if (runs->count == REEL_SPLIT_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d parts", REEL_SPLIT_MAX);
    }
    if (!GROW_ARRAY(runs->items, runs->count, runs->capacity)) {
        return reel_fail_memory(err);
    }
    runs->items[runs->count++] = *part;
    return true;
}

/* The run that ends here, if it has frames and lasts any time. */
static bool end_run(const struct reel_index_info *info, const struct bounds *b, const struct reel_split_part *whole,
                    struct runs *runs, struct reel_error *err) {
    struct reel_split_part part = *whole;
    bool empty = b->resets == 0 ? !b->frames : b->end_ns == b->start_ns;
    select_run(info, b->resets, b->start_ns, b->end_ns, &part.selection, &part.options);
    return empty || add_run(runs, &part, err);
}

static bool begins_run(struct runs *runs, struct reel_stream *stream, const struct reel_message *m, bool *begins,
                       struct reel_error *err) {
    *begins = nanover_carries(stream->channels[m->channel], "frame") && nanover_is_reset(&m->entry);
    return !runs->watch.key[0] || nanover_key_changes(&runs->watch, stream, m, begins, err);
}

static bool find_runs(struct reel_recording *recording, const struct reel_split_part *whole, struct runs *runs,
                      struct reel_error *err) {
    static const char *const topic = "frame";
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    struct reel_selection frames = selection_all;
    struct bounds b = {0};
    struct reel_message m;
    enum reel_step step;
    bool by_key = runs->watch.key[0] != '\0', begins;
    frames.topics = &topic;
    frames.n_topics = !by_key;
    AUTO(reel_stream_free) struct reel_stream *stream = nanover_stream(recording, &frames, err);
    if (!stream) {
        return false;
    }
    while ((step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE) {
        if (!begins_run(runs, stream, &m, &begins, err)) {
            return false;
        }
        if (begins) {
            b.end_ns = m.time_ns;
            if (!end_run(info, &b, whole, runs, err)) {
                return false;
            }
            b = (struct bounds){.resets = b.resets + 1, .start_ns = m.time_ns};
        }
        b.frames |= by_key || nanover_carries(stream->channels[m.channel], topic);
    }
    b.end_ns = REEL_TIME_MAX;
    return step != REEL_STEP_ERROR && end_run(info, &b, whole, runs, err) &&
           (runs->count > 0 || add_run(runs, whole, err));
}

struct reel_split_part *reel_nanover_split(struct reel_recording *recording, const struct reel_selection *selection,
                                           const struct reel_write_options *options, const struct reel_split_rule *rule,
                                           uint32_t *count, struct reel_error *err) {
    const struct reel_split_part whole = {.selection = *selection, .options = *options};
    struct runs runs = {.watch = {.key = rule->key}};
    if (selection->start_ns != REEL_TIME_MIN || selection->end_ns != REEL_TIME_MAX) {
        reel_fail(err, REEL_ARGUMENT,
                  "runs have their own starts and ends: no times go with a split by resets or a key");
        return NULL;
    }
    bool good = find_runs(recording, &whole, &runs, err);
    free(runs.watch.value.data);
    if (!good) {
        free(runs.items);
        return NULL;
    }
    *count = (uint32_t)runs.count;
    return runs.items;
}
