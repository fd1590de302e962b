/* See plans.h. */
#include "api/plans_internal.h"

#include <stdlib.h>
#include <string.h>

#include "reel/cleanup.h"
#include "wire/cleanup.h"

static void free_texts(char **texts, uint32_t n) {
    for (uint32_t i = 0; texts && i < n; i++) {
        free(texts[i]);
    }
    free(texts);
}

void plans_free_making(void *context) {
    struct making *m = context;
    if (!m) {
        return;
    }
    for (uint32_t i = 0; m->recordings && i < m->n_recordings; i++) {
        reel_recording_free(m->recordings[i]);
    }
    free(m->recordings);
    free_texts(m->topics, m->selection.n_topics);
    free_texts(m->exclude, m->selection.n_exclude);
    free_texts(m->where, m->selection.n_where);
    free_texts(m->renames, m->selection.n_renames);
    free_texts(m->compress_topics, m->options.n_compress_topics);
    free_texts(m->source_ids, m->n_source_ids);
    free(m->sources);
    free(m->channels);
    free(m->compression);
    free(m->name);
    free(m);
}

static char **copy_texts(const char *const *texts, uint32_t n) {
    char **copy = calloc(n ? n : 1, sizeof *copy);
    for (uint32_t i = 0; copy && i < n; i++) {
        if (!(copy[i] = strdup(texts[i]))) {
            free_texts(copy, i);
            return NULL;
        }
    }
    return copy;
}

static bool copy_channels(struct making *m, const struct plan_request *q) {
    size_t n = q->selection.n_channels;
    m->channels = calloc(n + 1, sizeof *m->channels);
    m->selection.channels = m->channels;
    for (size_t i = 0; m->channels && i < n; i++) {
        m->channels[i] = q->selection.channels[i];
    }
    return m->channels != NULL;
}

static bool copy_sources(struct making *m, const struct plan_request *q) {
    if (!q->selection.sources) {
        return true;
    }
    size_t size = q->n_recordings * sizeof *m->sources;
    m->sources = malloc(size);
    if (m->sources) {
        memcpy(m->sources, q->selection.sources, size);
    }
    m->selection.sources = m->sources;
    return m->sources != NULL;
}

struct making *plans_copy_request(const struct plan_request *q) {
    AUTO(plans_free_making) struct making *m = calloc(1, sizeof *m);
    if (!m) {
        return NULL;
    }
    m->writer = q->writer;
    m->options = q->options;
    m->selection = q->selection;
    m->selection.front = NULL;
    m->topics = copy_texts(q->selection.topics, q->selection.n_topics);
    m->exclude = copy_texts(q->selection.exclude, q->selection.n_exclude);
    m->compress_topics = copy_texts(q->options.compress_topics, q->options.n_compress_topics);
    m->options.compress_topics = (const char *const *)m->compress_topics;
    m->selection.topics = (const char *const *)m->topics;
    m->n_source_ids = q->options.source_ids ? q->n_recordings : 0;
    m->source_ids = copy_texts(q->options.source_ids, m->n_source_ids);
    m->options.source_ids = q->options.source_ids ? (const char *const *)m->source_ids : NULL;
    m->options.fields = NULL; /* of streamed writers */
    m->options.n_fields = 0;
    m->selection.exclude = (const char *const *)m->exclude;
    m->renames = copy_texts(q->selection.renames, q->selection.n_renames);
    m->selection.renames = (const char *const *)m->renames;
    m->where = copy_texts(q->selection.where, q->selection.n_where);
    m->selection.where = (const char *const *)m->where;
    m->compression = strdup(q->options.compression ? q->options.compression : "");
    m->options.compression = m->compression;
    m->name = strdup(q->options.name ? q->options.name : "");
    m->options.name = m->name;
    m->recordings = calloc(q->n_recordings, sizeof(struct reel_recording *));
    if (!copy_sources(m, q) || !copy_channels(m, q) || !m->topics || !m->exclude || !m->renames || !m->where || !m->compress_topics ||
        !m->source_ids || !m->compression || !m->name || !m->recordings) {
        return NULL;
    }
    for (uint32_t i = 0; i < q->n_recordings; i++) {
        m->recordings[i] = reel_recording_ref(q->recordings[i]);
    }
    m->n_recordings = q->n_recordings;
    return TAKE(m);
}

static bool make_plan(void *context, const struct reel_progress *progress, void **thing, uint64_t *memory, struct reel_error *err) {
    struct making *m = context;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_writer_stream(m->writer, m->recordings, m->n_recordings, &m->selection, err);
    struct reel_plan *plan = stream ? reel_plan_new(m->writer, &m->options, stream, progress, err) : NULL;
    *thing = plan;
    *memory = plan ? reel_plan_memory(plan) : 0;
    return plan;
}

static void *ref_plan(void *plan) {
    return reel_plan_ref(plan);
}
static void unref_plan(void *plan) {
    reel_plan_free(plan);
}

struct reel_plan *plans_get(struct derived_cache *cache, const struct plan_request *q, int64_t wait_ns, char job[33],
                            struct reel_error *err) {
    static const struct derived_kind kind = {
        .job = "plan", .make = make_plan, .free_context = plans_free_making, .ref = ref_plan, .unref = unref_plan};
    return derived_get(cache, &kind, q->key, q->writer->name, plans_copy_request(q), wait_ns, job, err);
}
