/* What a stream over toys should give, found the naive way: all entries put together, sorted, filtered one by one. */
#ifndef REEL_TESTS_TOY_ORACLE_H
#define REEL_TESTS_TOY_ORACLE_H

#include "base/glob.h"
#include "makers/toy.h"

struct wanted {
    struct reel_entry entry;
    uint32_t source;
    bool initial;
};

static inline int oracle_compare(const void *a, const void *b) {
    const struct wanted *x = a, *y = b;
    const struct reel_entry *e = &x->entry, *f = &y->entry;
    if (x->initial != y->initial) {
        return x->initial ? -1 : 1;
    }
    if (e->time_ns != f->time_ns) {
        return e->time_ns < f->time_ns ? -1 : 1;
    }
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    if (e->chunk != f->chunk) {
        return e->chunk < f->chunk ? -1 : 1;
    }
    return (e->offset > f->offset) - (e->offset < f->offset);
}

static inline bool oracle_any(const char *const *globs, uint32_t n, const char *text) {
    for (uint32_t i = 0; i < n; i++) {
        if (reel_topic_match(globs[i], text)) {
            return true;
        }
    }
    return false;
}

/* A topic counts when it is wanted and not excluded; a channel also by its own name. */
static inline bool oracle_selected(const struct reel_selection *q, const struct reel_channel *c) {
    bool in = oracle_any(q->topics, q->n_topics, c->name);
    for (uint32_t k = 0; k < (c->n_topics ? c->n_topics : 1); k++) {
        const char *topic = c->n_topics ? c->topics[k] : c->name;
        in |= (q->n_topics == 0 || oracle_any(q->topics, q->n_topics, topic)) &&
              !oracle_any(q->exclude, q->n_exclude, topic);
    }
    return in && !oracle_any(q->exclude, q->n_exclude, c->name);
}

static inline bool oracle_in_range(const struct reel_selection *q, int64_t time) {
    return time >= q->start_ns && (q->end_ns == REEL_TIME_MAX || time < q->end_ns);
}

/* The last message of each topic of one toy before the start. */
static inline size_t oracle_last(const struct toy *t, uint32_t source, const struct reel_selection *q,
                                 struct wanted *out) {
    size_t n = 0;
    for (uint32_t c = 0; c < t->n_channels; c++) {
        struct wanted best = {0};
        bool found = false, newer_elsewhere = false;
        for (int pass = 0; pass < 2; pass++) { /* its own last; then those of other channels of the topic */
            for (size_t i = 0; i < t->n_entries; i++) {
                const struct reel_entry *e = &t->entries[i];
                struct wanted w = {.entry = *e, .source = source};
                bool counts = e->time_ns < q->start_ns &&
                              (q->lookback_ns <= 0 || e->time_ns >= q->start_ns - q->lookback_ns) &&
                              oracle_selected(q, &t->channels[e->channel]);
                if (!counts || strcmp(t->channels[e->channel].name, t->channels[c].name) != 0) {
                    continue;
                }
                if (pass == 0 && e->channel == c && (!found || oracle_compare(&w, &best) > 0)) {
                    best = w;
                    found = true;
                }
                newer_elsewhere |= pass == 1 && found && oracle_compare(&w, &best) > 0;
            }
        }
        if (found && (t->channels[c].latched || !newer_elsewhere)) {
            best.initial = true;
            out[n++] = best;
        }
    }
    return n;
}

static inline size_t oracle_sample(const struct toy *const *toys, uint32_t n_toys, const struct reel_selection *q,
                                   struct wanted *w, size_t n) {
    uint64_t seen[8][64] = {0}, bucket[8][64] = {0};
    int64_t origin = INT64_MAX;
    for (uint32_t s = 0; s < n_toys; s++) {
        for (size_t i = 0; i < toys[s]->n_entries; i++) {
            origin = toys[s]->entries[i].time_ns < origin ? toys[s]->entries[i].time_ns : origin;
        }
    }
    origin = q->start_ns != REEL_TIME_MIN ? q->start_ns : origin;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t s = w[i].source, c = w[i].entry.channel;
        if (w[i].initial) {
            w[kept++] = w[i];
            continue;
        }
        if (q->every_n > 1 && seen[s][c]++ % q->every_n != 0) {
            continue;
        }
        if (q->every_ns > 0) {
            uint64_t b = 1 + (uint64_t)(w[i].entry.time_ns - origin) / (uint64_t)q->every_ns;
            if (bucket[s][c] == b) {
                continue;
            }
            bucket[s][c] = b;
        }
        w[kept++] = w[i];
    }
    return kept;
}

/* *out from malloc. At most 8 toys of 64 channels. */
static inline size_t oracle_stream(const struct toy *const *toys, uint32_t n_toys, const struct reel_selection *q,
                                   struct wanted **out) {
    size_t n = 0, room = 1;
    for (uint32_t s = 0; s < n_toys; s++) {
        room += toys[s]->n_entries + toys[s]->n_channels;
    }
    struct wanted *w = malloc(room * sizeof *w);
    assert(w);
    for (uint32_t s = 0; s < n_toys; s++) {
        for (size_t i = 0; i < toys[s]->n_entries; i++) {
            const struct reel_entry *e = &toys[s]->entries[i];
            if (oracle_in_range(q, e->time_ns) && oracle_selected(q, &toys[s]->channels[e->channel])) {
                w[n++] = (struct wanted){.entry = *e, .source = s};
            }
        }
        n += q->last_per_topic && q->start_ns != REEL_TIME_MIN ? oracle_last(toys[s], s, q, w + n) : 0;
    }
    qsort(w, n, sizeof *w, oracle_compare);
    *out = w;
    return oracle_sample(toys, n_toys, q, w, n);
}

static inline bool oracle_agrees(const struct wanted *w, const struct reel_stream *s, const struct reel_message *m) {
    return m->source == w->source && s->channel_source[m->channel] == w->source &&
           s->channels[m->channel]->id == w->entry.channel && m->time_ns == w->entry.time_ns &&
           m->size == w->entry.size && m->entry.offset == w->entry.offset && m->entry.chunk == w->entry.chunk &&
           m->before_start == w->initial && (m->initial > 0) == w->initial;
}

#endif
