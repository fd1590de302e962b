/* See conversion.h. */
#include "convert/conversion.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/writer_run.h"
#include "stream/merge.h"
#include "stream/selection.h"

struct conversion {
    struct reel_conversion base;
    _Atomic uint32_t references;
    struct arena arena;
    struct thread_client *client;
};

void reel_conversion_free(struct reel_conversion *base) {
    struct conversion *c = (struct conversion *)base;
    if (!c || atomic_fetch_sub(&c->references, 1) != 1) {
        return;
    }
    for (uint32_t i = 0; i < base->n_recordings; i++) {
        reel_recording_free(base->recordings[i]);
    }
    threads_client_free(c->client);
    arena_free(&c->arena);
    free(c);
}

struct reel_conversion *reel_conversion_new(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                            uint32_t n, const struct reel_selection *selection,
                                            const struct reel_write_options *options, struct reel_threads *threads,
                                            const char *client, struct reel_error *err) {
    struct conversion *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    AUTO(reel_conversion_free) struct reel_conversion *base = &c->base;
    atomic_init(&c->references, 1);
    base->writer = writer;
    base->threads = threads;
    base->recordings = arena_alloc(&c->arena, (n + 1) * sizeof(struct reel_recording *));
    if (!base->recordings || !selection_copy(&base->selection, selection, n, &c->arena) ||
        !run_copy_options(&base->options, options, n, &c->arena)) {
        reel_fail_memory(err);
        return NULL;
    }
    for (; base->n_recordings < n; base->n_recordings++) {
        base->recordings[base->n_recordings] = reel_recording_ref(recordings[base->n_recordings]);
    }
    if (threads && !(c->client = threads_client(threads, client, err))) {
        return NULL;
    }
    return TAKE(base);
}

struct reel_conversion *reel_conversion_ref(struct reel_conversion *base) {
    atomic_fetch_add(&((struct conversion *)base)->references, 1);
    return base;
}

struct thread_client *conversion_client(const struct reel_conversion *base) {
    return ((const struct conversion *)base)->client;
}

struct reel_stream *conversion_stream(const struct reel_conversion *c, struct reel_initial_state *initial,
                                      struct reel_error *err) {
    struct reel_selection q = c->selection;
    q.initial = initial;
    return reel_writer_stream(c->writer, c->recordings, c->n_recordings, &q, err);
}

/* The share of [first, last] that lies in the selection, between 0 and 1. */
static double share_of(const struct reel_selection *q, int64_t first, int64_t last) {
    double from = (double)(q->start_ns > first ? q->start_ns : first),
           to = (double)(q->end_ns <= last ? q->end_ns : last);
    return to < from ? 0 : last > first ? (to - from) / ((double)last - (double)first) : 1;
}

/* About how many bytes of payload it has. */
static double payload_bytes(const struct reel_conversion *c) {
    struct reel_selection q = c->selection;
    q.state_at_cut = q.last_per_topic = q.key_frames = false;
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(c->recordings, c->n_recordings, &q, NULL);
    double bytes = 0;
    for (uint32_t i = 0; s && i < s->n_channels; i++) {
        const struct reel_index *index = reel_recording_index(reel_reader_recording(s->readers[s->channel_source[i]]));
        int64_t shift = s->shifts[s->channel_source[i]];
        uint32_t id = s->channels[i]->id;
        const struct reel_channel_stats *stats = reel_index_stats(index, id);
        bytes += (double)stats->bytes *
                 share_of(&q, merge_shifted(stats->first_ns, shift), merge_shifted(stats->last_ns, shift));
    }
    return bytes;
}

unsigned conversion_threads(const struct reel_conversion *c) {
    unsigned all = c->threads ? reel_threads_count(c->threads) : 0;
    return c->max_threads > 0 && c->max_threads < all ? c->max_threads : all;
}

bool conversion_shares(const struct reel_conversion *c, uint64_t bytes) {
    return conversion_threads(c) > 1 && bytes >= reel_threads_from(c->threads);
}

unsigned reel_conversion_threads(const struct reel_conversion *c) {
    return conversion_threads(c) > 1 && payload_bytes(c) >= (double)reel_threads_from(c->threads)
               ? conversion_threads(c)
               : 0;
}
