/* See conversion.h. */
#include "convert/conversion.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/writer.h"
#include "convert/writer_run.h"
#include "stream/rules.h"
#include "stream/selection.h"

struct conversion {
    struct reel_conversion base;
    _Atomic uint32_t references;
    struct arena arena;
    struct thread_client *client;
    pthread_mutex_t mutex;            /* of the members below */
    struct reel_rules *rules;         /* a reference; NULL: none */
    struct opened_selection *opened;  /* NULL: no stream has been needed yet */
    struct reel_stream *returned;     /* the stream that was returned last; NULL: none, or it is in use again */
    struct reel_stream *described[2]; /* of reel_conversion_stream(), without and with the initial state; NULL: none */
};

void reel_conversion_free(struct reel_conversion *base) {
    struct conversion *c = (struct conversion *)base;
    if (!c || atomic_fetch_sub(&c->references, 1) != 1) {
        return;
    }
    for (uint32_t i = 0; i < base->n_recordings; i++) {
        reel_recording_free(base->recordings[i]);
    }
    reel_stream_free(c->returned);
    reel_stream_free(c->described[0]);
    reel_stream_free(c->described[1]);
    selection_free(c->opened);
    reel_rules_free(c->rules);
    pthread_mutex_destroy(&c->mutex);
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
    pthread_mutex_init(&c->mutex, NULL);
    base->writer = writer;
    base->threads = threads;
    base->recordings = arena_alloc(&c->arena, (n + 1) * sizeof(struct reel_recording *));
    if (!base->recordings || !selection_copy(&base->selection, selection, n, &c->arena) ||
        !writer_run_copy_options(&base->options, options, n, &c->arena)) {
        reel_fail_memory(err);
        return NULL;
    }
    reel_rules_ref(c->rules = selection->rules);
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

/* ---- streams */

/* Opens the selection once. The mutex is held. */
static bool open_selection(struct conversion *c, struct reel_error *err) {
    const struct reel_conversion *base = &c->base;
    if (!c->opened) {
        c->opened = writer_selection(base->writer, base->recordings, base->n_recordings, &base->selection, err);
    }
    return c->opened;
}

/* Takes a stream that is not in use. *used: it was read before, and may be at any position. NULL: there is none. The
 * mutex is held. */
static struct reel_stream *take_stream(struct conversion *c, bool *used) {
    bool initial = selection_wants_initial_state(&c->base.selection);
    struct reel_stream *unread = TAKE(c->described[initial]);
    if (initial) {
        reel_stream_free(TAKE(c->described[0]));
    }
    *used = !unread;
    return unread ? unread : TAKE(c->returned);
}

struct reel_stream *conversion_stream(struct reel_conversion *base, struct reel_initial_state *initial,
                                      struct reel_error *err) {
    struct conversion *c = (struct conversion *)base;
    bool used;
    pthread_mutex_lock(&c->mutex);
    bool good = open_selection(c, err) && selection_make_initial_state(c->opened, initial, err);
    struct reel_stream *stream = good ? take_stream(c, &used) : NULL;
    pthread_mutex_unlock(&c->mutex);
    if (!good || !stream) {
        return good ? writer_stream(base->writer, c->opened, true, err) : NULL;
    }
    if (used && !stream_rewind(stream, err)) {
        reel_stream_free(stream);
        return NULL;
    }
    return stream;
}

void conversion_return(struct reel_conversion *base, struct reel_stream *stream) {
    struct conversion *c = (struct conversion *)base;
    if (c && stream) {
        pthread_mutex_lock(&c->mutex);
        struct reel_stream *earlier = c->returned; /* freed: only one stream waits, however many threads there were */
        c->returned = stream;
        stream = earlier;
        pthread_mutex_unlock(&c->mutex);
    }
    reel_stream_free(stream);
}

struct reel_stream *reel_conversion_stream(struct reel_conversion *base, bool with_initial_state,
                                           struct reel_error *err) {
    struct conversion *c = (struct conversion *)base;
    bool initial = with_initial_state && selection_wants_initial_state(&base->selection);
    pthread_mutex_lock(&c->mutex);
    if (!c->described[initial] && open_selection(c, err) &&
        (!initial || selection_make_initial_state(c->opened, NULL, err))) {
        c->described[initial] = writer_stream(base->writer, c->opened, initial, err);
    }
    struct reel_stream *stream = c->described[initial];
    pthread_mutex_unlock(&c->mutex);
    return stream;
}

bool reel_conversion_matches(struct reel_conversion *base, bool with_initial_state, bool *any,
                             char why[REEL_MATCHES_TEXT], struct reel_error *err) {
    struct conversion *c = (struct conversion *)base;
    pthread_mutex_lock(&c->mutex);
    bool good = open_selection(c, err) && (!with_initial_state || selection_make_initial_state(c->opened, NULL, err));
    AUTO(reel_stream_free)
    struct reel_stream *stream = good ? selection_stream(c->opened, with_initial_state, err) : NULL;
    pthread_mutex_unlock(&c->mutex);
    *any = true;
    why[0] = '\0';
    return stream && selection_matches(c->opened, stream, any, why, err);
}

/* ---- threads */

/* The share of [first, last] that lies in the selection, between 0 and 1. */
static double share_of(const struct reel_selection *q, int64_t first, int64_t last) {
    double from = (double)(q->start_ns > first ? q->start_ns : first),
           to = (double)(q->end_ns <= last ? q->end_ns : last);
    return to < from ? 0 : last > first ? (to - from) / ((double)last - (double)first) : 1;
}

/* Estimates the payload bytes of a selection, as if the messages of each channel were spread evenly over its time. */
static double payload_bytes(const struct opened_selection *o) {
    const struct reel_selection *q = &o->selection;
    double bytes = 0;
    for (uint32_t i = 0; i < o->n_selected; i++) {
        uint32_t source = o->channel_source[i];
        int64_t shift = o->shifts[source];
        const struct reel_channel_stats *stats =
            reel_index_stats(reel_recording_index(o->recordings[source]), o->channels[i]->id);
        bytes += (double)stats->bytes *
                 share_of(q, merge_shifted(stats->first_ns, shift), merge_shifted(stats->last_ns, shift));
    }
    return bytes;
}

static bool is_costly(struct conversion *c) {
    const struct reel_writer *writer = c->base.writer;
    AUTO(reel_stream_free)
    struct reel_stream *stream = writer->is_costly ? selection_stream(c->opened, false, NULL) : NULL;
    return stream && writer->is_costly(stream);
}

/* Rows of values, and images that are encoded, take several times as long as copies of the payloads. */
static double cost_of(struct conversion *c) {
    enum { DECODED = 8 };
    return ((c->base.writer->takes & REEL_TAKES_VALUES) && !c->base.options.raw) || is_costly(c) ? DECODED : 1;
}

static bool is_large(struct conversion *c) {
    pthread_mutex_lock(&c->mutex);
    bool large =
        open_selection(c, NULL) && payload_bytes(c->opened) * cost_of(c) >= (double)reel_threads_from(c->base.threads);
    pthread_mutex_unlock(&c->mutex);
    return large;
}

unsigned conversion_threads(const struct reel_conversion *c) {
    unsigned all = c->threads ? reel_threads_count(c->threads) : 0;
    return c->max_threads > 0 && c->max_threads < all ? c->max_threads : all;
}

bool conversion_shares(const struct reel_conversion *c, uint64_t bytes) {
    return conversion_threads(c) > 1 && bytes >= reel_threads_from(c->threads);
}

unsigned reel_conversion_threads(struct reel_conversion *c) {
    return conversion_threads(c) > 1 && is_large((struct conversion *)c) ? conversion_threads(c) : 0;
}
