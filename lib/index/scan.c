/* What formats call while they scan (index/scan.h), and the run around them. */
#include "index/scan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/c_locale.h"
#include "base/cleanup.h"
#include "chunks/spool.h"
#include "index/builder.h"
#include "index/packed.h"
#include "index/scan_chunks.h"

bool reel_scan_progress(struct reel_scan *scan, uint64_t done, uint64_t total, struct reel_error *err) {
    const struct reel_progress *p = scan->progress;
    if (p && p->report && !p->report(p->context, done, total)) {
        return reel_fail(err, REEL_CANCELLED, "the scan was cancelled");
    }
    return true;
}

bool reel_scan_channel(struct reel_scan *scan, const struct reel_channel *c, uint32_t *id, struct reel_error *err) {
    return builder_add_channel(scan->builder, c, id, err);
}

bool reel_scan_channel_update(struct reel_scan *scan, uint32_t id, const struct reel_channel *c,
                              struct reel_error *err) {
    struct pack_model *m = &scan->builder->model;
    if (id >= m->n_channels) {
        return reel_fail(err, REEL_ARGUMENT, "there is no channel %u", id);
    }
    return builder_set_channel(scan->builder, id, c, err);
}

/* Ids below n_parts are the scan's own parts. In a nested scan these are chunks of the outer recording, which were
 * added before, so reel_scan_chunk() never returns an id this small. */
static uint32_t chunk_of(const struct reel_scan *scan, uint32_t id) {
    return scan->locations && id < scan->n_parts ? scan->locations[id].chunk : id;
}

bool reel_scan_chunk(struct reel_scan *scan, const struct reel_chunk *chunk, uint32_t *id, struct reel_error *err) {
    struct reel_chunk c = *chunk;
    if (scan->locations && c.part < scan->n_parts) {
        uint32_t in = scan->locations[c.part].chunk;
        c.part = in < scan->builder->model.n_parts ? in : REEL_CHUNK_PART | in;
    }
    return builder_add_chunk(scan->builder, &c, id, err);
}

bool reel_scan_entry(struct reel_scan *scan, const struct reel_entry *entry, struct reel_error *err) {
    if (!scan->locations) {
        return builder_add_entry(scan->builder, entry, err);
    }
    struct reel_entry e = *entry;
    e.chunk = chunk_of(scan, e.chunk);
    return builder_add_entry(scan->builder, &e, err);
}

bool reel_scan_count(struct reel_scan *scan, uint32_t channel, const struct reel_channel_stats *stats,
                     struct reel_error *err) {
    struct pack_model *m = &scan->builder->model;
    if (!m->is_summary || channel >= m->n_channels) {
        return reel_fail(err, REEL_ARGUMENT,
                         m->is_summary ? "there is no channel %u" : "channel %u: counts can only be set in summaries",
                         channel);
    }
    struct reel_channel_stats *s = &m->stats[channel];
    if (stats->count > 0) {
        bool early = stats->last_ns < REEL_DATE_MIN_NS;
        scan->builder->early += early ? stats->count : 0;
        scan->builder->unclear += !early && stats->first_ns < REEL_DATE_MIN_NS ? stats->count : 0;
        s->first_ns = s->count == 0 || stats->first_ns < s->first_ns ? stats->first_ns : s->first_ns;
        s->last_ns = s->count == 0 || stats->last_ns > s->last_ns ? stats->last_ns : s->last_ns;
    }
    s->count += stats->count;
    s->bytes += stats->bytes;
    return true;
}

bool reel_scan_attachment(struct reel_scan *scan, const struct reel_attachment *a, struct reel_error *err) {
    struct pack_model *m = &scan->builder->model;
    if (m->n_attachments >= REEL_ATTACHMENTS_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d attachments", REEL_ATTACHMENTS_MAX);
    }
    if (!GROW_ARRAY(m->attachments, m->n_attachments, m->cap_attachments)) {
        return reel_fail_memory(err);
    }
    struct reel_attachment copy = *a;
    copy.chunk = chunk_of(scan, a->chunk);
    copy.name = arena_text(&m->arena, a->name);
    copy.media_type = arena_text(&m->arena, a->media_type ? a->media_type : "application/octet-stream");
    if (!copy.name || !copy.media_type) {
        return pack_model_full(&m->arena, err);
    }
    m->attachments[m->n_attachments++] = copy;
    return true;
}

bool reel_scan_metadata(struct reel_scan *scan, const char *key, struct reel_bytes value, struct reel_error *err) {
    struct pack_model *m = &scan->builder->model;
    if (m->metadata.count >= REEL_METADATA_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d metadata values", REEL_METADATA_MAX);
    }
    if (!GROW_ARRAY(m->metadata.items, m->metadata.count, m->cap_metadata)) {
        return reel_fail_memory(err);
    }
    struct reel_pair pair = {.key = arena_text(&m->arena, key), .value = arena_utf8(&m->arena, value)};
    if (!pair.key || !pair.value) {
        return pack_model_full(&m->arena, err);
    }
    m->metadata.items[m->metadata.count++] = pair;
    return true;
}

bool reel_scan_finding(struct reel_scan *scan, enum reel_severity severity, uint32_t part, uint64_t offset,
                       uint64_t length, const char *text, ...) {
    C_LOCALE;
    struct pack_model *m = &scan->builder->model;
    m->findings_total++;
    if (severity == REEL_LOSS) {
        m->losses++;
        m->lost_bytes += length;
    }
    if (m->n_findings >= REEL_FINDINGS_MAX) {
        return true;
    }
    if (!GROW_ARRAY(m->findings, m->n_findings, m->cap_findings)) {
        scan->builder->no_memory = true; /* the scan fails at its end */
        return true;
    }
    char line[1024];
    int prefix = 0;
    if (scan->locations && part < scan->n_parts) {
        const struct reel_location *p = &scan->locations[part];
        prefix = snprintf(line, sizeof line / 2, "%s: ", scan->parts[part]->name);
        prefix = prefix < 0 ? 0 : prefix < (int)sizeof line / 2 ? prefix : (int)sizeof line / 2 - 1;
        offset = p->packed ? p->offset : p->offset + offset;
        part = p->part;
    }
    va_list arguments;
    va_start(arguments, text);
    int n = vsnprintf(line + prefix, sizeof line - (size_t)prefix, text, arguments);
    va_end(arguments);
    size_t size = n < 0 ? (size_t)prefix : (size_t)(prefix + n) < sizeof line ? (size_t)(prefix + n) : sizeof line - 1;
    const char *copy = arena_utf8(&m->arena, bytes_of(line, size));
    if (copy) {
        m->findings[m->n_findings++] =
            (struct reel_finding){.severity = severity, .part = part, .offset = offset, .length = length, .text = copy};
    }
    return true;
}

void reel_scan_clock(struct reel_scan *scan, enum reel_clock clock, const char *why) {
    struct pack_model *m = &scan->builder->model;
    const char *note = arena_text(&m->arena, why ? why : "");
    scan->builder->knows_clock = true;
    m->clock = clock;
    m->clock_note = note ? note : "";
}

void reel_scan_container(struct reel_scan *scan, const char *version) {
    struct pack_model *m = &scan->builder->model;
    const char *text = arena_text(&m->arena, version);
    m->container = text ? text : "";
}

const char *reel_scan_text(struct reel_scan *scan, struct reel_bytes raw, struct reel_error *err) {
    struct arena *arena = &scan->builder->model.arena;
    const char *text = arena_utf8(arena, raw);
    if (!text) {
        arena_fail(arena, err);
    }
    return text;
}

struct reel_source *reel_scan_open_chunk(struct reel_scan *scan, const struct reel_chunk *chunk,
                                         struct reel_error *err) {
    if (chunk->part >= scan->n_parts) {
        reel_fail(err, REEL_ARGUMENT, "there is no part %u", chunk->part);
        return NULL;
    }
    if (scan->chunks && scan_chunks_part(scan->chunks) == chunk->part) {
        return scan_chunks_open(scan->chunks, chunk, err);
    }
    return spool_chunk(chunk, scan->parts[chunk->part], err);
}

/* A file from which nothing was recovered is not a recording: the first loss becomes the error. */
static bool kept_something(const struct pack_model *m, struct reel_error *err) {
    bool any = m->losses == 0 || m->n_attachments > 0;
    for (size_t i = 0; i < m->n_channels && !any; i++) {
        any = m->stats[i].count > 0;
    }
    for (size_t i = 0; i < m->n_findings && !any; i++) {
        if (m->findings[i].severity == REEL_LOSS) {
            return reel_fail(err, REEL_DAMAGED, "nothing of it could be kept: byte %llu: %s",
                             (unsigned long long)m->findings[i].offset, m->findings[i].text);
        }
    }
    return any || reel_fail(err, REEL_DAMAGED, "nothing of it could be kept");
}

/* Creates a builder for the parts, and the scan that fills it. */
static struct reel_builder *scan_begin(struct reel_source *const *parts, uint32_t n_parts,
                                       const struct reel_format *format, const char *pack_path,
                                       struct reel_error *err) {
    AUTO_MEM uint64_t *sizes = malloc(n_parts * sizeof *sizes);
    if (!sizes) {
        reel_fail_memory(err);
        return NULL;
    }
    for (uint32_t i = 0; i < n_parts; i++) {
        sizes[i] = parts[i]->size;
    }
    return builder_new(pack_path, format->name, format->version, sizes, n_parts, err);
}

static bool check_parts(struct reel_source *const *parts, uint32_t n_parts, const struct reel_format **format,
                        struct reel_error *err) {
    if (n_parts == 0 || n_parts > REEL_PARTS_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "a recording has 1 to %d parts, not %u", REEL_PARTS_MAX, n_parts);
    }
    return *format || (*format = reel_format_probe(parts[0], err));
}

/* Scans the parts, or reads what they say of themselves. */
static bool scan_parts(struct reel_scan *scan, const struct reel_format *format, bool summary, struct reel_error *err) {
    bool packed;
    scan->builder->model.is_summary = summary;
    if (summary) {
        return format->summary(scan, err);
    }
    return packed_scan(scan, format, &packed, err) && (packed || format->scan(scan, err)) &&
           kept_something(&scan->builder->model, err);
}

/* A builder that has finished. */
static struct reel_builder *scan_build(struct reel_source *const *parts, uint32_t n_parts,
                                       const struct reel_format *format, const char *pack_path, bool summary,
                                       struct reel_threads *threads, const struct reel_progress *progress,
                                       struct reel_error *err) {
    if (!check_parts(parts, n_parts, &format, err)) {
        return NULL;
    }
    if (summary && !format->summary) {
        reel_fail(err, REEL_UNSUPPORTED, "%s files have no index of their own", format->title);
        return NULL;
    }
    AUTO(builder_free) struct reel_builder *builder = scan_begin(parts, n_parts, format, pack_path, err);
    if (!builder) {
        return NULL;
    }
    struct reel_scan scan = {
        .parts = parts, .n_parts = n_parts, .builder = builder, .progress = progress, .threads = threads};
    return scan_parts(&scan, format, summary, err) && builder_finish(builder, err) ? TAKE(builder) : NULL;
}

bool reel_scan_run(struct reel_source *const *parts, uint32_t n_parts, const struct reel_format *format,
                   const char *pack_path, const struct reel_progress *progress, struct reel_error *err) {
    return reel_scan_run_on(parts, n_parts, format, pack_path, NULL, progress, err);
}

bool reel_scan_run_on(struct reel_source *const *parts, uint32_t n_parts, const struct reel_format *format,
                      const char *pack_path, struct reel_threads *threads, const struct reel_progress *progress,
                      struct reel_error *err) {
    AUTO(builder_free)
    struct reel_builder *builder = scan_build(parts, n_parts, format, pack_path, false, threads, progress, err);
    return builder;
}

bool reel_scan_summary(struct reel_source *const *parts, uint32_t n_parts, const struct reel_format *format,
                       const char *pack_path, const struct reel_progress *progress, struct reel_error *err) {
    AUTO(builder_free)
    struct reel_builder *builder = scan_build(parts, n_parts, format, pack_path, true, NULL, progress, err);
    return builder;
}

struct reel_index *reel_scan_index(struct reel_source *const *parts, uint32_t n_parts, const struct reel_format *format,
                                   const char *pack_path, bool summary, struct reel_threads *threads,
                                   const struct reel_progress *progress, struct reel_error *err) {
    AUTO(builder_free)
    struct reel_builder *builder = scan_build(parts, n_parts, format, pack_path, summary, threads, progress, err);
    return builder ? builder_open(builder, err) : NULL;
}
