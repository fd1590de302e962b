/* Walks through the events of a bound question. A block that is not read is one step; where one has to be read, the
 * messages of all such blocks are, in the order of the recording, up to the next event. */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"
#include "base/options.h"
#include "decode/decoder.h"
#include "stream/stream.h"
#include "values/bound.h"

enum { REPORT_EACH = 256 };

struct reading {
    struct condition_reader reader; /* of a lane's messages */
    uint32_t left;                  /* messages of the current block that are to be read */
};
struct walk {
    struct bound *b;
    const struct reel_question_options *options;
    struct reel_answer *out;
    size_t cap_intervals;
    enum truth state[CONDITIONS_MAX];
    struct reel_interval now;
    bool open, done;
    uint64_t steps;
    /* reading */
    struct reel_recording *recording;
    struct reel_stream *stream;
    struct reading *readings; /* by lane */
    uint32_t *lanes;          /* by channel of the stream */
    uint32_t active;          /* lanes with messages left */
    struct reel_message pending;
    bool is_pending, in_place; /* the stream is behind the last event */
    struct value values[CONDITIONS_MAX];
};

static void walk_done(struct walk *w) {
    for (uint32_t i = 0; w->readings && i < w->b->n_lanes; i++) {
        condition_reader_done(&w->readings[i].reader);
    }
    free(w->readings);
    free(w->lanes);
    reel_stream_free(w->stream);
    reel_recording_free(w->recording);
}

/* ---- intervals */

static void add_values(struct reel_interval *to, bool has, double min, double max) {
    if (has) {
        to->min = !to->has_values || min < to->min ? min : to->min;
        to->max = !to->has_values || max > to->max ? max : to->max;
        to->has_values = true;
    }
}

static bool close_interval(struct walk *w, int64_t end_ns, struct reel_error *err) {
    struct reel_answer *a = w->out;
    int64_t length;
    w->open = false;
    w->now.end_ns = end_ns;
    if (__builtin_sub_overflow(end_ns, w->now.start_ns, &length)) {
        length = INT64_MAX;
    }
    if (length < w->b->question->for_ns) {
        return true;
    }
    a->span.start_ns = a->total == 0 ? w->now.start_ns : a->span.start_ns;
    a->span.end_ns = end_ns;
    a->span.count += w->now.count;
    add_values(&a->span, w->now.has_values, w->now.min, w->now.max);
    a->total++;
    if (__builtin_add_overflow(a->held_ns, length, &a->held_ns)) {
        a->held_ns = INT64_MAX;
    }
    w->done = w->options->intervals_max == 0;
    if (a->n >= w->options->intervals_max) {
        return true;
    }
    size_t n = a->n;
    if (!GROW_ARRAY(a->intervals, n, w->cap_intervals)) {
        return reel_fail_memory(err);
    }
    a->intervals[a->n++] = w->now;
    return true;
}

/* The question after a step. */
static bool evaluate(struct walk *w, int64_t time_ns, bool *holds, struct reel_error *err) {
    *holds = conditions_truth(&w->b->question->all, w->state) == TRUTH_YES;
    w->out->until_ns = time_ns;
    if (*holds && !w->open) {
        w->open = true;
        w->now = (struct reel_interval){.start_ns = time_ns};
    }
    return *holds || !w->open || close_interval(w, time_ns, err);
}

/* ---- reading */

static bool open_reader(struct walk *w, struct lane *lane, struct condition_reader *reader,
                        const struct reel_channel *channel, struct reel_error *err) {
    if (!decoder_try(channel, &reader->decoder, err)) { /* none: it has no values */
        return false;
    }
    for (uint32_t k = 0; k < w->b->question->all.n; k++) {
        if ((lane->conditions & UINT32_C(1) << k) && !condition_reader_add(reader, k, w->b->paths[k], err)) {
            return false;
        }
    }
    return true;
}

static bool open_lanes(struct walk *w, struct reel_error *err) {
    for (uint32_t i = 0; i < w->b->n_lanes; i++) {
        uint32_t at = 0;
        while (at < w->stream->n_channels && w->stream->channels[at]->id != w->b->lanes[i].channel->id) {
            at++;
        }
        if (at == w->stream->n_channels) {
            return reel_fail(err, REEL_CHANGED, "the statistics are of another recording");
        }
        w->lanes[at] = i;
        if (!open_reader(w, &w->b->lanes[i], &w->readings[i].reader, w->stream->channels[at], err)) {
            return false;
        }
    }
    return true;
}

static bool answer_open_stream(struct walk *w, struct reel_error *err) {
    AUTO_MEM uint32_t *ids = calloc((size_t)w->b->n_lanes + 1, sizeof *ids);
    w->readings = calloc((size_t)w->b->n_lanes + 1, sizeof *w->readings);
    w->lanes = calloc((size_t)w->b->n_lanes + 1, sizeof *w->lanes);
    if (!ids || !w->readings || !w->lanes) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < w->b->n_lanes; i++) {
        ids[i] = w->b->lanes[i].channel->id;
    }
    struct reel_selection q = selection_all;
    q.channels = ids;
    q.n_channels = w->b->n_lanes;
    return (w->recording = w->options->open(w->options->context, err)) &&
           (w->stream = reel_stream_open(&w->recording, 1, &q, err)) && open_lanes(w, err);
}

/* The values that the lane's conditions are about; none where the payload cannot be read or decoded. */
static bool read_values(struct walk *w, const struct condition_reader *reader, const struct reel_message *m,
                        struct reel_error *err) {
    struct reel_bytes payload;
    struct reel_error why = {0};
    bool decodes = reader->decoder && m->size <= REEL_DECODED_MAX;
    if (decodes && !reel_stream_payload(w->stream, m, &payload, &why)) {
        decodes = false;
        if (reel_is_transient(why.code)) {
            return reel_error_pass(err, &why);
        }
    }
    return condition_reader_read(reader, &w->b->question->all, decodes ? &payload : NULL, w->values, err);
}

static bool step_message(struct walk *w, struct lane *lane, const struct condition_reader *reader,
                         const struct reel_message *m, struct reel_error *err) {
    bool holds;
    if (!read_values(w, reader, m, err)) {
        return false;
    }
    condition_reader_truths(reader, &w->b->question->all, w->values, w->state);
    if (!evaluate(w, m->time_ns, &holds, err)) {
        return false;
    }
    w->now.count += holds;
    if (holds && (lane->conditions & 1)) {
        const struct value *value = &w->values[reader->columns[0]];
        bool is_number = value->kind == VALUE_NUMBER || value->kind == VALUE_TIME;
        add_values(&w->now, is_number && !isnan(value->number), value->number, value->number);
    }
    return true;
}

/* False: it is to stop here. */
static bool answer_go_on(struct walk *w) {
    const struct reel_progress *p = w->options->progress;
    bool stop = ++w->steps % REPORT_EACH == 0 && p && p->report && !p->report(p->context, w->steps, 0);
    w->out->complete = !stop;
    w->done = w->done || stop;
    return !w->done;
}

static bool find_place(struct walk *w, const struct pack_key *at, struct reel_error *err) {
    const struct reel_position mark = {.time_ns = at->time_ns, .offset = at->offset, .chunk = at->chunk};
    if (!w->stream && !answer_open_stream(w, err)) {
        return false;
    }
    w->is_pending = false;
    w->in_place = true;
    return stream_seek(w->stream, &mark, err);
}

/* Reads the messages of active lanes up to `end`. */
static bool answer_read_messages(struct walk *w, const struct pack_key *begin, const struct pack_key *end,
                                 struct reel_error *err) {
    if (!w->in_place && !find_place(w, begin, err)) {
        return false;
    }
    while (w->active > 0 && answer_go_on(w)) {
        struct reel_message *m = &w->pending;
        if (!w->is_pending) {
            enum reel_step step = stream_next(w->stream, m, err);
            if (step != REEL_STEP_MESSAGE) {
                w->active = 0;
                return step == REEL_STEP_END;
            }
        }
        struct pack_key key = pack_key_of(&m->entry);
        w->is_pending = pack_key_compare(&key, end) >= 0;
        if (w->is_pending) {
            return true;
        }
        uint32_t lane = w->lanes[m->channel];
        struct reading *reading = &w->readings[lane];
        if (reading->left > 0) {
            w->active -= --reading->left == 0;
            if (!step_message(w, &w->b->lanes[lane], &reading->reader, m, err)) {
                return false;
            }
        }
    }
    w->in_place = false;
    return true;
}

/* ---- events */

static bool step_block(struct walk *w, struct lane *lane, const struct bound_event *e, struct reel_error *err) {
    const struct block block = statistics_block(lane->channel, e->number);
    bool holds;
    for (uint32_t k = 0; k < w->b->question->all.n; k++) {
        if (lane->conditions & UINT32_C(1) << k) {
            w->state[k] = bound_truth(w->b, lane, k, e->number);
        }
    }
    if (!evaluate(w, e->at.time_ns, &holds, err)) {
        return false;
    }
    if (holds) {
        w->now.count += block.messages;
        if ((lane->conditions & 1) && lane->fields[0] >= 0) {
            const struct cell cell = statistics_cell(lane->channel, (uint32_t)lane->fields[0], e->number);
            add_values(&w->now, cell.numbers > 0, cell.min, cell.max);
        }
    }
    return true;
}

static bool begin_reading(struct walk *w, const struct bound_event *e, const struct lane *lane,
                          struct reel_error *err) {
    if (!w->in_place && !find_place(w, &e->at, err)) {
        return false;
    }
    struct reading *reading = &w->readings[e->lane];
    w->active += reading->left == 0;
    reading->left = statistics_block(lane->channel, e->number).messages;
    return true;
}

static bool step_event(struct walk *w, const struct bound_event *e, struct reel_error *err) {
    bool holds;
    if (e->lane == UINT32_MAX) {
        w->state[e->number] = TRUTH_NO;
        return evaluate(w, e->at.time_ns, &holds, err);
    }
    struct lane *lane = &w->b->lanes[e->lane];
    if (lane->decisions[e->number] == BLOCK_READ) {
        return begin_reading(w, e, lane, err);
    }
    if (w->readings && w->readings[e->lane].left > 0) { /* never, unless the statistics are of another recording */
        return reel_fail(err, REEL_CHANGED, "the statistics do not fit the recording");
    }
    return step_block(w, lane, e, err);
}

static bool walk_events(struct walk *w, struct reel_error *err) {
    static const struct pack_key end = {.time_ns = INT64_MAX, .offset = UINT64_MAX, .chunk = UINT32_MAX};
    w->out->complete = true;
    for (size_t i = 0; i < w->b->n_events && answer_go_on(w); i++) {
        const struct bound_event *e = &w->b->events[i];
        if (!step_event(w, e, err)) {
            return false;
        }
        if (w->active > 0 && !answer_read_messages(w, &e->at, i + 1 < w->b->n_events ? &e[1].at : &end, err)) {
            return false;
        }
    }
    return !w->open || close_interval(w, w->out->until_ns, err); /* it was to stop here */
}

/* ---- questions */

struct reel_question *reel_question_new(const char *const *where, uint32_t n, int64_t for_ns, struct reel_error *err) {
    AUTO(reel_question_free) struct reel_question *q = calloc(1, sizeof *q);
    if (!q) {
        reel_fail_memory(err);
        return NULL;
    }
    q->for_ns = for_ns;
    return conditions_parse(where, n, &q->all, err) ? TAKE(q) : NULL;
}

void reel_question_free(struct reel_question *q) {
    if (q) {
        conditions_done(&q->all);
    }
    free(q);
}

static bool answer_answer(const struct reel_question *q, struct reel_statistics *s,
                          const struct reel_question_options *options, struct reel_answer *out,
                          struct reel_error *err) {
    AUTO_STRUCT(bound_done) struct bound b = {0};
    AUTO_STRUCT(walk_done) struct walk w = {.b = &b, .options = options, .out = out};
    bool may_hold = false;
    out->complete = true;
    if (!bound_open(&b, q, s, &may_hold, err)) {
        return false;
    }
    if (!may_hold) {
        return true;
    }
    bool good = bound_decide(&b, err) && walk_events(&w, err);
    out->blocks = b.blocks;
    out->blocks_read = b.reads;
    return good;
}

struct reel_answer *reel_question_answer(const struct reel_question *question, struct reel_statistics *statistics,
                                         const struct reel_question_options *options, struct reel_error *err) {
    struct reel_question_options chosen;
    if (!options_copy(&chosen, sizeof chosen, options, "reel_question_options", err)) {
        return NULL;
    }
    AUTO(reel_answer_free) struct reel_answer *out = calloc(1, sizeof *out);
    if (!out) {
        reel_fail_memory(err);
        return NULL;
    }
    return answer_answer(question, statistics, &chosen, out, err) ? TAKE(out) : NULL;
}

void reel_answer_free(struct reel_answer *answer) {
    if (answer) {
        free(answer->intervals);
        free(answer);
    }
}
