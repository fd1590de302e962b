/* See plans.h. Every part has a plan, so the archive has a length and ranges before a byte of it is written. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/export/plans.h"
#include "base/cleanup.h"
#include "formats/nanover/question.h"
#include "syntax/ustar.h"

enum { PLANS_MEMORY_MAX = 256 << 20 }; /* of all parts together */

struct parts {
    _Atomic uint32_t references;
    struct reel_plan **plans;
    struct reel_split_part *ranges; /* only their times and options count: the texts are the request's */
    uint32_t count;
};

void parts_free(struct parts *parts) {
    if (!parts || atomic_fetch_sub(&parts->references, 1) != 1) {
        return;
    }
    for (uint32_t i = 0; parts->plans && i < parts->count; i++) {
        reel_plan_free(parts->plans[i]);
    }
    free(parts->plans);
    free(parts->ranges);
    free(parts);
}

/* ---- planning */

struct request { /* the job's */
    struct reel_conversion *conversion;
    struct reel_split_rule rule;
};

static void parts_free_request(void *context) {
    struct request *q = context;
    if (q) {
        reel_conversion_free(q->conversion);
        free(q);
    }
}

/* What a part is rendered from: the selection and options of `m` with its times. */
static void set_part(const struct reel_conversion *m, const struct reel_split_part *range,
                     struct reel_selection *selection, struct reel_write_options *options) {
    *selection = m->selection;
    selection->start_ns = range->selection.start_ns;
    selection->end_ns = range->selection.end_ns;
    selection->key_frames = range->selection.key_frames;
    selection->state_at_cut = range->selection.state_at_cut;
    selection->latched = range->selection.latched;
    *options = m->options;
    options->is_cut = range->options.is_cut;
    options->start_ns = range->options.start_ns;
}

static bool plan_parts(struct parts *parts, const struct request *q, const struct reel_progress *progress,
                       uint64_t *memory, struct reel_error *err) {
    const struct reel_conversion *m = q->conversion;
    struct reel_selection selection;
    struct reel_write_options options;
    parts->ranges = reel_split_is_nanover(&q->rule)
                        ? reel_nanover_split(m->recordings[0], &m->selection, &m->options, &q->rule, &parts->count, err)
                        : reel_split(m->writer, m->recordings, m->n_recordings, &m->selection, &m->options, &q->rule,
                                     progress, &parts->count, err);
    parts->plans = parts->ranges ? calloc(parts->count, sizeof(struct reel_plan *)) : NULL;
    if (!parts->plans) {
        return parts->ranges ? reel_fail_memory(err) : false;
    }
    for (uint32_t i = 0; i < parts->count; i++) {
        set_part(m, &parts->ranges[i], &selection, &options);
        AUTO(reel_stream_free)
        struct reel_stream *stream = reel_writer_stream(m->writer, m->recordings, m->n_recordings, &selection, err);
        if (!stream || !(parts->plans[i] = reel_plan_new(m->writer, &options, stream, progress, err))) {
            return false;
        }
        *memory += sizeof *parts->ranges + reel_plan_memory(parts->plans[i]);
        if (*memory > PLANS_MEMORY_MAX) {
            return reel_fail(err, REEL_LIMIT, "the plans of %u of %u parts need more than %u MiB; choose larger parts",
                             i + 1, parts->count, PLANS_MEMORY_MAX >> 20);
        }
    }
    return true;
}

static bool make_parts(void *context, const struct reel_progress *progress, void **thing, uint64_t *memory,
                       struct reel_error *err) {
    AUTO(parts_free) struct parts *parts = calloc(1, sizeof *parts);
    if (!parts) {
        return reel_fail_memory(err);
    }
    atomic_init(&parts->references, 1);
    *memory = sizeof *parts;
    if (!plan_parts(parts, context, progress, memory, err)) {
        return false;
    }
    *thing = TAKE(parts);
    return true;
}

static void *ref_parts(void *parts) {
    atomic_fetch_add(&((struct parts *)parts)->references, 1);
    return parts;
}
static void unref_parts(void *parts) {
    parts_free(parts);
}

struct parts *parts_get(struct derived_cache *cache, const struct plan_request *q, const struct reel_split_rule *rule,
                        int64_t wait_ns, char job[33], struct reel_error *err) {
    static const struct derived_kind kind = {
        .job = "plan", .make = make_parts, .free_context = parts_free_request, .ref = ref_parts, .unref = unref_parts};
    struct request *request = calloc(1, sizeof *request);
    if (request) {
        request->conversion = reel_conversion_ref(q->conversion);
        request->rule = *rule;
    }
    const struct derived_request derived = {
        .key = q->key, .subject = q->conversion->writer->name, .owner = q->owner, .wait_ns = wait_ns};
    return derived_get(cache, &kind, &derived, request, job, err);
}

/* ---- the archive */

struct member {
    uint64_t at, data_at; /* of its head, of its bytes */
    size_t head_size;
};
struct parts_archive {
    struct reel_conversion *conversion;
    struct parts *parts;
    struct member *members;
    char *stem;
    int64_t modified_s;
    uint64_t length;
    struct reel_planned_output *output; /* of part `rendered` */
    uint32_t rendered;
};

void parts_archive_free(void *archive) {
    struct parts_archive *a = archive;
    if (a) {
        reel_planned_output_free(a->output);
        parts_free(a->parts);
        reel_conversion_free(a->conversion);
        free(a->members);
        free(a->stem);
        free(a);
    }
}
REEL_DEFINE_AUTO(struct parts_archive, parts_archive_free);

static size_t parts_put_head(const struct parts_archive *a, uint32_t part, uint8_t out[USTAR_HEAD_MAX]) {
    char name[USTAR_NAME_MAX];
    snprintf(name, sizeof name, "%.900s_%04u%s", a->stem, part, a->conversion->writer->extension);
    return ustar_head(name, reel_plan_length(a->parts->plans[part]), a->modified_s, out);
}

struct parts_archive *parts_archive_new(struct parts *parts, const struct plan_request *q, const char *stem,
                                        int64_t modified_ns, struct reel_error *err) {
    AUTO(parts_archive_free) struct parts_archive *a = calloc(1, sizeof *a);
    uint8_t head[USTAR_HEAD_MAX];
    if (!a || !(a->members = calloc(parts->count, sizeof *a->members)) || !(a->stem = strdup(stem))) {
        reel_fail_memory(err);
        return NULL;
    }
    a->conversion = reel_conversion_ref(q->conversion);
    a->parts = ref_parts(parts);
    a->modified_s = modified_ns / 1000000000;
    for (uint32_t i = 0; i < parts->count; i++) {
        uint64_t size = reel_plan_length(parts->plans[i]);
        struct member *m = &a->members[i];
        *m = (struct member){.at = a->length, .head_size = parts_put_head(a, i, head)};
        m->data_at = m->at + m->head_size;
        a->length = m->data_at + size + ustar_padding(size);
    }
    a->length += USTAR_END;
    return TAKE(a);
}

uint64_t parts_archive_length(const struct parts_archive *a) {
    return a->length;
}

static bool open_part(struct parts_archive *a, uint32_t part, struct reel_error *err) {
    struct reel_selection selection;
    struct reel_write_options options;
    if (a->output && a->rendered == part) {
        return true;
    }
    reel_planned_output_free(a->output);
    a->output = NULL;
    a->rendered = part;
    set_part(a->conversion, &a->parts->ranges[part], &selection, &options);
    struct reel_plan *plan = a->parts->plans[part];
    selection.initial = reel_plan_initial_state(plan);
    struct reel_stream *stream = reel_writer_stream(a->conversion->writer, a->conversion->recordings,
                                                    a->conversion->n_recordings, &selection, err);
    return stream && (a->output = reel_planned_output_new(plan, stream, err));
}

/* Reads up to `size` bytes from `offset` that belong together: of a head, of a part, or of padding. *got is at least 1.
 */
static bool parts_read_run(struct parts_archive *a, uint64_t offset, uint8_t *buffer, size_t size, size_t *got,
                           struct reel_error *err) {
    uint32_t low = 0, high = a->parts->count;
    while (high - low > 1) { /* the member that it is in */
        uint32_t middle = low + (high - low) / 2;
        *(a->members[middle].at <= offset ? &low : &high) = middle;
    }
    const struct member *m = &a->members[low];
    uint64_t data_end = m->data_at + reel_plan_length(a->parts->plans[low]);
    uint64_t end = offset < m->data_at         ? m->data_at
                   : offset < data_end         ? data_end
                   : low + 1 < a->parts->count ? m[1].at
                                               : a->length;
    *got = end - offset < size ? (size_t)(end - offset) : size;
    if (offset < m->data_at) {
        uint8_t head[USTAR_HEAD_MAX];
        parts_put_head(a, low, head);
        memcpy(buffer, head + (offset - m->at), *got);
        return true;
    }
    if (offset >= data_end) {
        memset(buffer, 0, *got);
        return true;
    }
    return open_part(a, low, err) && reel_planned_output_read(a->output, offset - m->data_at, buffer, *got, err);
}

bool parts_archive_read(void *archive, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    for (size_t done = 0, got; done < size; done += got) {
        if (!parts_read_run(archive, offset + done, (uint8_t *)buffer + done, size - done, &got, err)) {
            return false;
        }
    }
    return true;
}
