/* See bound.h. What holds is a step function: a condition changes with the messages of its topic only, and a block of
 * which the statistics say that it holds for all messages, or for none, is one step. Between two events every channel
 * stays in its block, so the truth of the whole question, with "maybe" for conditions that some messages of a block
 * meet, is the same there. */
#include "values/bound.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"

/* ---- topics and fields */

static struct reel_bytes without_slash(struct reel_bytes name) {
    return name.size > 0 && name.data[0] == '/' ? bytes_of(name.data + 1, name.size - 1) : name;
}

/* The size of the longest topic that the field begins with, as "topic" or "topic.path"; neither has its leading slash.
 * 0: none. */
static size_t topic_size(const struct reel_statistics *s, struct reel_bytes field) {
    size_t best = 0;
    for (uint32_t i = 0; i < s->n_channels; i++) {
        for (uint32_t t = 0; t < s->channels[i].n_topics; t++) {
            struct reel_bytes name = without_slash(s->channels[i].topics[t]);
            bool begins = name.size > best && name.size <= field.size && memcmp(name.data, field.data, name.size) == 0;
            if (begins && (name.size == field.size || field.data[name.size] == '.')) {
                best = name.size;
            }
        }
    }
    return best;
}

static bool has_topic(const struct channel_statistics *c, struct reel_bytes topic) {
    for (uint32_t t = 0; t < c->n_topics; t++) {
        struct reel_bytes name = without_slash(c->topics[t]);
        if (name.size == topic.size && memcmp(name.data, topic.data, topic.size) == 0) {
            return true;
        }
    }
    return false;
}

static int32_t find_field(const struct channel_statistics *c, const char *path) {
    size_t size = strlen(path);
    int32_t found = c->flags & CHANNEL_TRUNCATED ? FIELD_UNKNOWN : FIELD_ABSENT;
    for (uint32_t i = 0; i < c->n_fields; i++) {
        const struct field_statistics *f = &c->fields[i];
        size_t n = f->path.size;
        bool begins = n <= size && memcmp(f->path.data, path, n) == 0;
        if (begins && n < size && (f->flags & FIELD_OPAQUE) && (n == 0 || path[n] == '.')) {
            return FIELD_UNKNOWN; /* it is a part of this one */
        }
        if (begins && n == size) {
            bool mixed = (f->flags & FIELD_TIMES) && (f->flags & FIELD_NUMBERS);
            found = mixed ? FIELD_UNKNOWN : (int32_t)i;
        }
    }
    return found;
}

/* ---- lanes */

static struct lane *lane_of(struct bound *b, struct channel_statistics *c, size_t *capacity, struct reel_error *err) {
    size_t n = b->n_lanes;
    for (uint32_t i = 0; i < b->n_lanes; i++) {
        if (b->lanes[i].channel == c) {
            return &b->lanes[i];
        }
    }
    if (n == REEL_QUESTION_CHANNELS_MAX) {
        reel_fail(err, REEL_LIMIT, "where: the topics have more than %d channels in one recording",
                  REEL_QUESTION_CHANNELS_MAX);
        return NULL;
    }
    if (!GROW_ARRAY(b->lanes, n, *capacity)) {
        reel_fail_memory(err);
        return NULL;
    }
    struct lane *lane = &b->lanes[b->n_lanes++];
    *lane = (struct lane){.channel = c, .block = UINT32_MAX};
    return lane;
}

static bool bind(struct bound *b, uint32_t condition, size_t *capacity, struct reel_error *err) {
    const char *text = b->question->all.items[condition].field;
    struct reel_bytes field = without_slash(bytes_text(text));
    size_t size = topic_size(b->statistics, field);
    const char *path = (const char *)field.data + size;
    if (size == 0) {
        return true;
    }
    if (!field_path_normal(path + (*path == '.'), b->paths[condition])) {
        return reel_fail(err, REEL_ARGUMENT, "where: \"%.64s\" is not a field", text);
    }
    for (uint32_t i = 0; i < b->statistics->n_channels; i++) {
        struct channel_statistics *c = &b->statistics->channels[i];
        if (c->n_blocks == 0 || !has_topic(c, bytes_of(field.data, size))) {
            continue;
        }
        struct lane *lane = lane_of(b, c, capacity, err);
        if (!lane) {
            return false;
        }
        lane->conditions |= UINT32_C(1) << condition;
        lane->fields[condition] = find_field(c, b->paths[condition]);
    }
    return true;
}

static enum truth cell_truth(const struct condition *c, const struct field_statistics *f, const struct cell *cell,
                             uint64_t messages) {
    uint64_t with = cell->numbers + cell->nans;
    const struct value_range range = {.min = cell->min,
                                      .max = cell->max,
                                      .numbers = cell->numbers,
                                      .nans = cell->nans,
                                      .missing = messages > with ? messages - with : 0,
                                      .has_texts = cell->has_texts,
                                      .are_times = f->flags & FIELD_TIMES};
    return condition_truth(c, &range);
}

enum truth bound_truth(const struct bound *b, const struct lane *lane, uint32_t condition, uint32_t block) {
    int32_t field = lane->fields[condition];
    if (field < 0) {
        return field == FIELD_ABSENT ? TRUTH_NO : TRUTH_MAYBE;
    }
    const struct cell cell = statistics_cell(lane->channel, (uint32_t)field, block);
    return cell_truth(&b->question->all.items[condition], &lane->channel->fields[field], &cell,
                      statistics_block(lane->channel, block).messages);
}

/* Before its first message no condition holds, so at best each may. */
static bool may_hold(const struct bound *b) {
    enum truth all[CONDITIONS_MAX] = {TRUTH_NO};
    for (uint32_t i = 0; i < b->n_lanes; i++) {
        const struct lane *lane = &b->lanes[i];
        for (uint32_t k = 0; k < b->question->all.n; k++) {
            int32_t field = lane->fields[k];
            if (!(lane->conditions & UINT32_C(1) << k) || field == FIELD_ABSENT) {
                continue;
            }
            const struct field_statistics *f = field >= 0 ? &lane->channel->fields[field] : NULL;
            if (!f || cell_truth(&b->question->all.items[k], f, &f->all, lane->channel->messages) != TRUTH_NO) {
                all[k] = TRUTH_MAYBE;
            }
        }
    }
    return conditions_truth(&b->question->all, all) != TRUTH_NO;
}

bool bound_open(struct bound *b, const struct reel_question *q, struct reel_statistics *s, bool *may,
                struct reel_error *err) {
    size_t capacity = 0;
    b->question = q;
    b->statistics = s;
    for (uint32_t i = 0; i < q->all.n; i++) {
        if (!bind(b, i, &capacity, err)) {
            return false;
        }
    }
    *may = may_hold(b);
    return true;
}

void bound_done(struct bound *b) {
    for (uint32_t i = 0; i < b->n_lanes; i++) {
        free(b->lanes[i].decisions);
    }
    free(b->lanes);
    free(b->events);
}

/* ---- events */

static int event_order(const void *a, const void *b) {
    const struct bound_event *x = a, *y = b;
    int order = pack_key_compare(&x->at, &y->at);
    if (order != 0) {
        return order;
    }
    return x->lane != y->lane ? (x->lane < y->lane ? -1 : 1) : (x->number > y->number) - (x->number < y->number);
}

static bool is_about(const struct lane *lane, uint32_t condition) {
    return lane->conditions & UINT32_C(1) << condition;
}

static void add_ends(struct bound *b) {
    for (uint32_t k = 0; k < b->question->all.n; k++) {
        int64_t last_ns = INT64_MIN;
        bool any = false;
        for (uint32_t i = 0; i < b->n_lanes; i++) {
            const struct lane *lane = &b->lanes[i];
            if (is_about(lane, k)) {
                any = true;
                last_ns = lane->channel->last_ns > last_ns ? lane->channel->last_ns : last_ns;
            }
        }
        if (any) {
            b->events[b->n_events++] = (struct bound_event){
                .at = {.time_ns = last_ns, .offset = UINT64_MAX, .chunk = UINT32_MAX}, .lane = UINT32_MAX, .number = k};
        }
    }
}

static bool list_events(struct bound *b, struct reel_error *err) {
    size_t n = CONDITIONS_MAX;
    for (uint32_t i = 0; i < b->n_lanes; i++) {
        struct lane *lane = &b->lanes[i];
        if (!statistics_load(b->statistics, lane->channel, err)) {
            return false;
        }
        n += lane->channel->n_blocks;
        if (!(lane->decisions = calloc(lane->channel->n_blocks, 1))) {
            return reel_fail_memory(err);
        }
    }
    if (!(b->events = calloc(n, sizeof *b->events))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < b->n_lanes; i++) {
        const struct channel_statistics *c = b->lanes[i].channel;
        for (uint32_t k = 0; k < c->n_blocks; k++) {
            b->events[b->n_events++] = (struct bound_event){.at = statistics_block(c, k).first, .lane = i, .number = k};
        }
    }
    add_ends(b);
    qsort(b->events, b->n_events, sizeof *b->events, event_order);
    return true;
}

/* ---- decisions */

struct sweep {
    struct bound *b;
    uint32_t lanes[CONDITIONS_MAX][3]; /* of each condition: in how many channels' current blocks it is false, may be
                                          true, is true */
    uint64_t spans[3];                 /* between events so far, by what the question was */
};

/* The end of a lane's current block. Where it is read for the extremes alone, it has a field without statistics. */
static void close_block(struct sweep *w, struct lane *lane) {
    if (lane->block == UINT32_MAX) {
        return;
    }
    uint64_t no = w->spans[TRUTH_NO] - lane->before[TRUTH_NO], yes = w->spans[TRUTH_YES] - lane->before[TRUTH_YES];
    bool maybe = w->spans[TRUTH_MAYBE] > lane->before[TRUTH_MAYBE] || (no > 0 && yes > 0);
    maybe = maybe || (yes > 0 && is_about(lane, 0) && lane->fields[0] == FIELD_UNKNOWN);
    lane->decisions[lane->block] = maybe ? BLOCK_READ : yes > 0 ? BLOCK_YES : BLOCK_NO;
    w->b->blocks++;
    w->b->reads += maybe;
}

static void count_lane(struct sweep *w, const struct lane *lane, int by) {
    for (uint32_t k = 0; k < w->b->question->all.n && lane->block != UINT32_MAX; k++) {
        if (is_about(lane, k)) {
            w->lanes[k][bound_truth(w->b, lane, k, lane->block)] += (uint32_t)by;
        }
    }
}

static void begin_block(struct sweep *w, struct lane *lane, uint32_t block) {
    close_block(w, lane);
    count_lane(w, lane, -1);
    lane->block = block;
    count_lane(w, lane, 1);
    memcpy(lane->before, w->spans, sizeof lane->before);
}

/* A topic has ended: its condition does not hold from now on, and the last blocks of its channels are over. */
static void end_condition(struct sweep *w, uint32_t condition, uint32_t *ended) {
    *ended |= UINT32_C(1) << condition;
    for (uint32_t i = 0; i < w->b->n_lanes; i++) {
        struct lane *lane = &w->b->lanes[i];
        if (is_about(lane, condition) && (lane->conditions & ~*ended) == 0) {
            close_block(w, lane);
            count_lane(w, lane, -1);
            lane->block = UINT32_MAX;
        }
    }
}

static enum truth joined_truth(const uint32_t lanes[3]) {
    bool no = lanes[TRUTH_NO] > 0, maybe = lanes[TRUTH_MAYBE] > 0, yes = lanes[TRUTH_YES] > 0;
    return maybe || (no && yes) ? TRUTH_MAYBE : yes ? TRUTH_YES : TRUTH_NO;
}

bool bound_decide(struct bound *b, struct reel_error *err) {
    struct sweep w = {.b = b};
    uint32_t ended = 0;
    if (!list_events(b, err)) {
        return false;
    }
    for (size_t i = 0; i < b->n_events; i++) {
        const struct bound_event *e = &b->events[i];
        enum truth all[CONDITIONS_MAX];
        if (e->lane == UINT32_MAX) {
            end_condition(&w, e->number, &ended);
        } else {
            begin_block(&w, &b->lanes[e->lane], e->number);
        }
        for (uint32_t k = 0; k < b->question->all.n; k++) {
            all[k] = ended & UINT32_C(1) << k ? TRUTH_NO : joined_truth(w.lanes[k]);
        }
        w.spans[conditions_truth(&b->question->all, all)]++;
    }
    return true;
}
