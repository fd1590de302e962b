/* Directory of an index pack, written and read in the same order. Every count is checked against the bytes left before
 * it sizes anything.
 */
#include "index/pack_model.h"

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/hash_table.h"
#include "base/limits.h"

void pack_model_free(struct pack_model *m) {
    arena_free(&m->arena);
    free(m->part_sizes);
    free(m->channels);
    free(m->stats);
    free(m->attachments);
    free(m->findings);
    free(m->metadata.items);
    free(m->segments);
    free(m->chunk_segments);
    *m = (struct pack_model){0};
}

static bool copy_pairs(struct arena *arena, const struct reel_pairs *from, struct reel_pairs *out) {
    struct reel_pair *items = arena_alloc(arena, from->count * sizeof *items);
    if (!items) {
        return from->count == 0;
    }
    for (size_t i = 0; i < from->count; i++) {
        items[i].key = arena_text(arena, from->items[i].key);
        items[i].value = arena_text(arena, from->items[i].value);
        if (!items[i].key || !items[i].value) {
            return false;
        }
    }
    *out = (struct reel_pairs){.items = items, .count = from->count};
    return true;
}

static bool copy_schemas(struct arena *arena, const struct reel_channel *from, struct reel_channel *out) {
    struct reel_schema *schemas = arena_alloc(arena, from->n_schemas * sizeof *schemas);
    if (!schemas) {
        return from->n_schemas == 0;
    }
    for (uint32_t i = 0; i < from->n_schemas; i++) {
        const struct reel_schema *s = &from->schemas[i];
        schemas[i].name = arena_text(arena, s->name ? s->name : "");
        schemas[i].encoding = arena_text(arena, s->encoding ? s->encoding : "");
        schemas[i].hash = arena_text(arena, s->hash ? s->hash : "");
        schemas[i].data = bytes_of(arena_copy(arena, s->data.data, s->data.size), s->data.size);
        if (!schemas[i].name || !schemas[i].encoding || !schemas[i].hash ||
            (s->data.size > 0 && !schemas[i].data.data)) {
            return false;
        }
    }
    out->schemas = schemas;
    out->n_schemas = from->n_schemas;
    return true;
}

bool pack_model_copy_channel(struct arena *arena, const struct reel_channel *from, struct reel_channel *out) {
    struct reel_channel c = {.id = from->id, .latched = from->latched};
    c.name = arena_text(arena, from->name);
    c.type = arena_text(arena, from->type ? from->type : "");
    c.encoding = arena_text(arena, from->encoding ? from->encoding : "");
    c.n_topics = from->n_topics ? from->n_topics : 1;
    const char **topics = arena_alloc(arena, c.n_topics * sizeof *topics);
    if (!c.name || !c.type || !c.encoding || !topics) {
        return false;
    }
    for (uint32_t i = 0; i < c.n_topics; i++) {
        topics[i] = from->n_topics ? arena_text(arena, from->topics[i]) : c.name;
        if (!topics[i]) {
            return false;
        }
    }
    c.topics = topics;
    if (!copy_schemas(arena, from, &c) || !copy_pairs(arena, &from->metadata, &c.metadata)) {
        return false;
    }
    *out = c;
    return true;
}

bool pack_model_full(const struct arena *arena, struct reel_error *err) {
    return arena_fail(arena, err);
}

/* ---- writing */

static void pack_model_put_text(struct grow *g, const char *text) {
    size_t size = text ? strlen(text) : 0;
    grow_u32(g, (uint32_t)size);
    grow_put(g, text ? text : "", size);
}

static void pack_model_put_pairs(struct grow *g, const struct reel_pairs *pairs) {
    grow_u32(g, (uint32_t)pairs->count);
    for (size_t i = 0; i < pairs->count; i++) {
        pack_model_put_text(g, pairs->items[i].key);
        pack_model_put_text(g, pairs->items[i].value);
    }
}

static void pack_model_put_channel(struct grow *g, const struct reel_channel *c, const struct reel_channel_stats *s) {
    pack_model_put_text(g, c->name);
    pack_model_put_text(g, c->type);
    pack_model_put_text(g, c->encoding);
    grow_u32(g, c->latched);
    grow_u32(g, c->n_topics);
    for (uint32_t i = 0; i < c->n_topics; i++) {
        pack_model_put_text(g, c->topics[i]);
    }
    grow_u32(g, c->n_schemas);
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        pack_model_put_text(g, c->schemas[i].name);
        pack_model_put_text(g, c->schemas[i].encoding);
        pack_model_put_text(g, c->schemas[i].hash);
        grow_u32(g, (uint32_t)c->schemas[i].data.size);
        grow_put(g, c->schemas[i].data.data, c->schemas[i].data.size);
    }
    pack_model_put_pairs(g, &c->metadata);
    grow_u64(g, s->count);
    grow_u64(g, s->bytes);
    grow_u64(g, s->largest);
    grow_u64(g, (uint64_t)s->first_ns);
    grow_u64(g, (uint64_t)s->last_ns);
}

static void put_key(struct grow *g, const struct pack_key *k) {
    grow_u64(g, (uint64_t)k->time_ns);
    grow_u64(g, k->offset);
    grow_u32(g, k->chunk);
}

static void pack_model_put_tables(const struct pack_model *m, struct grow *g) {
    grow_u32(g, (uint32_t)m->n_attachments);
    for (size_t i = 0; i < m->n_attachments; i++) {
        const struct reel_attachment *a = &m->attachments[i];
        pack_model_put_text(g, a->name);
        pack_model_put_text(g, a->media_type);
        grow_u64(g, (uint64_t)a->time_ns);
        grow_u32(g, a->chunk);
        grow_u64(g, a->offset);
        grow_u64(g, a->size);
    }
    grow_u32(g, (uint32_t)m->n_findings);
    for (size_t i = 0; i < m->n_findings; i++) {
        const struct reel_finding *f = &m->findings[i];
        grow_u32(g, (uint32_t)f->severity);
        grow_u32(g, f->part);
        grow_u64(g, f->offset);
        grow_u64(g, f->length);
        pack_model_put_text(g, f->text);
    }
    pack_model_put_pairs(g, &m->metadata);
}

void pack_model_write(const struct pack_model *m, struct grow *g) {
    pack_model_put_text(g, m->format);
    grow_u32(g, m->format_version);
    pack_model_put_text(g, m->container);
    pack_model_put_text(g, m->clock_note);
    grow_u32(g, (uint32_t)m->clock);
    grow_u32(g, m->is_summary);
    grow_u64(g, m->findings_total);
    grow_u64(g, m->losses);
    grow_u64(g, m->lost_bytes);
    grow_u64(g, m->n_chunks);
    grow_u32(g, m->n_parts);
    for (uint32_t i = 0; i < m->n_parts; i++) {
        grow_u64(g, m->part_sizes[i]);
    }
    grow_u32(g, (uint32_t)m->n_channels);
    for (size_t i = 0; i < m->n_channels; i++) {
        pack_model_put_channel(g, &m->channels[i], &m->stats[i]);
    }
    pack_model_put_tables(m, g);
    grow_u32(g, (uint32_t)m->n_chunk_segments);
    for (size_t i = 0; i < m->n_chunk_segments; i++) {
        grow_u64(g, m->chunk_segments[i].offset);
        grow_u32(g, m->chunk_segments[i].count);
        grow_u32(g, m->chunk_segments[i].size);
        grow_u32(g, m->chunk_segments[i].crc);
    }
    grow_u32(g, (uint32_t)m->n_segments);
    for (size_t i = 0; i < m->n_segments; i++) {
        const struct pack_segment *s = &m->segments[i];
        grow_u32(g, s->channel);
        grow_u32(g, s->count);
        put_key(g, &s->first);
        put_key(g, &s->last);
        grow_u64(g, s->gap);
        grow_u64(g, s->offset);
        grow_u32(g, s->size);
        grow_u32(g, s->crc);
    }
}

/* ---- reading */

static const char *get_text(struct cursor *c, struct arena *arena) {
    struct reel_bytes b = cursor_string32(c);
    char *text = c->failed ? NULL : arena_alloc(arena, b.size + 1);
    if (!text) {
        c->failed = true;
        return "";
    }
    if (b.size > 0) {
        memcpy(text, b.data, b.size);
    }
    return text;
}

/* Reads a count of items of at least `item` bytes each; fails when so many cannot follow. */
static uint32_t get_count(struct cursor *c, size_t item) {
    uint32_t n = cursor_u32le(c);
    if (n > cursor_left(c) / item) {
        c->failed = true;
        return 0;
    }
    return n;
}

static void *get_array(struct cursor *c, struct arena *arena, uint32_t n, size_t item) {
    void *p = calloc(n ? n : 1, item);
    if (!p) {
        arena->no_memory = c->failed = true;
    }
    return p;
}

static void get_pairs(struct cursor *c, struct arena *arena, struct reel_pairs *out, bool in_arena) {
    uint32_t n = get_count(c, 8);
    struct reel_pair *items =
        in_arena ? arena_alloc(arena, (n ? n : 1) * sizeof *items) : get_array(c, arena, n, sizeof *items);
    if (!items) {
        c->failed = true;
        return;
    }
    *out = (struct reel_pairs){.items = items, .count = n};
    for (uint32_t i = 0; i < n; i++) {
        items[i].key = get_text(c, arena);
        items[i].value = get_text(c, arena);
    }
}

/* A definition. Equal ones of many channels are one, in `known`. */
static struct reel_bytes get_definition(struct cursor *c, struct arena *arena, struct hash_table *known) {
    struct reel_bytes data = cursor_string32(c);
    const uint8_t *copy = (const uint8_t *)hash_table_get(known, hash_key_bytes(data));
    if (!copy) {
        copy = arena_copy(arena, data.data, data.size);
        c->failed |= copy == NULL;
        if (copy && !hash_table_set(known, hash_key_bytes(bytes_of(copy, data.size)), (uintptr_t)copy, NULL)) {
            arena->no_memory = c->failed = true;
        }
    }
    return bytes_of(copy, data.size);
}

static void get_schemas(struct cursor *c, struct arena *arena, struct hash_table *known, struct reel_channel *channel) {
    uint32_t n = get_count(c, 16);
    struct reel_schema *schemas = arena_alloc(arena, (n ? n : 1) * sizeof *schemas);
    if (!schemas) {
        c->failed = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        schemas[i].name = get_text(c, arena);
        schemas[i].encoding = get_text(c, arena);
        schemas[i].hash = get_text(c, arena);
        schemas[i].data = get_definition(c, arena, known);
    }
    channel->schemas = schemas;
    channel->n_schemas = n;
}

static void get_channel(struct cursor *c, struct arena *arena, struct hash_table *known, struct reel_channel *channel,
                        struct reel_channel_stats *s) {
    channel->name = get_text(c, arena);
    channel->type = get_text(c, arena);
    channel->encoding = get_text(c, arena);
    channel->latched = cursor_u32le(c) != 0;
    uint32_t n = get_count(c, 4);
    const char **topics = arena_alloc(arena, (n ? n : 1) * sizeof *topics);
    if (!topics) {
        c->failed = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        topics[i] = get_text(c, arena);
    }
    channel->topics = topics;
    channel->n_topics = n;
    get_schemas(c, arena, known, channel);
    get_pairs(c, arena, &channel->metadata, true);
    s->count = cursor_u64le(c);
    s->bytes = cursor_u64le(c);
    s->largest = cursor_u64le(c);
    s->first_ns = (int64_t)cursor_u64le(c);
    s->last_ns = (int64_t)cursor_u64le(c);
}

static void get_key(struct cursor *c, struct pack_key *k) {
    k->time_ns = (int64_t)cursor_u64le(c);
    k->offset = cursor_u64le(c);
    k->chunk = cursor_u32le(c);
}

static void get_tables(struct cursor *c, struct pack_model *m) {
    m->n_attachments = get_count(c, 36);
    m->attachments = get_array(c, &m->arena, (uint32_t)m->n_attachments, sizeof *m->attachments);
    for (size_t i = 0; i < m->n_attachments && !c->failed; i++) {
        struct reel_attachment *a = &m->attachments[i];
        a->name = get_text(c, &m->arena);
        a->media_type = get_text(c, &m->arena);
        a->time_ns = (int64_t)cursor_u64le(c);
        a->chunk = cursor_u32le(c);
        a->offset = cursor_u64le(c);
        a->size = cursor_u64le(c);
    }
    m->n_findings = get_count(c, 28);
    m->findings = get_array(c, &m->arena, (uint32_t)m->n_findings, sizeof *m->findings);
    for (size_t i = 0; i < m->n_findings && !c->failed; i++) {
        struct reel_finding *f = &m->findings[i];
        f->severity = (enum reel_severity)cursor_u32le(c);
        f->part = cursor_u32le(c);
        f->offset = cursor_u64le(c);
        f->length = cursor_u64le(c);
        f->text = get_text(c, &m->arena);
    }
    get_pairs(c, &m->arena, &m->metadata, false);
}

static void get_segments(struct cursor *c, struct pack_model *m) {
    m->n_chunk_segments = get_count(c, 20);
    m->chunk_segments = get_array(c, &m->arena, (uint32_t)m->n_chunk_segments, sizeof *m->chunk_segments);
    for (size_t i = 0; i < m->n_chunk_segments && !c->failed; i++) {
        struct pack_chunk_segment *s = &m->chunk_segments[i];
        s->offset = cursor_u64le(c);
        s->count = cursor_u32le(c);
        s->size = cursor_u32le(c);
        s->crc = cursor_u32le(c);
        c->failed |=
            s->count == 0 || s->count > REEL_SEGMENT_ENTRIES || s->size > PACK_BOUND(s->count, PACK_CHUNK_COLUMNS);
    }
    m->n_segments = get_count(c, 72);
    m->segments = get_array(c, &m->arena, (uint32_t)m->n_segments, sizeof *m->segments);
    for (size_t i = 0; i < m->n_segments && !c->failed; i++) {
        struct pack_segment *s = &m->segments[i];
        s->channel = cursor_u32le(c);
        s->count = cursor_u32le(c);
        get_key(c, &s->first);
        get_key(c, &s->last);
        s->gap = cursor_u64le(c);
        s->offset = cursor_u64le(c);
        s->size = cursor_u32le(c);
        s->crc = cursor_u32le(c);
        c->failed |= s->channel >= m->n_channels || s->count == 0 || s->count > REEL_SEGMENT_ENTRIES ||
                     s->size > PACK_BOUND(s->count, PACK_ENTRY_COLUMNS);
    }
}

static void get_channels(struct cursor *c, struct pack_model *m) {
    struct hash_table definitions = {0};
    m->n_channels = get_count(c, 32);
    m->channels = get_array(c, &m->arena, (uint32_t)m->n_channels, sizeof *m->channels);
    m->stats = get_array(c, &m->arena, (uint32_t)m->n_channels, sizeof *m->stats);
    for (uint32_t i = 0; i < m->n_channels && !c->failed; i++) {
        m->channels[i].id = i;
        get_channel(c, &m->arena, &definitions, &m->channels[i], &m->stats[i]);
    }
    hash_table_free(&definitions);
}

bool pack_model_read(struct reel_bytes data, struct pack_model *m, struct reel_error *err) {
    struct cursor c = cursor_of(data);
    m->format = get_text(&c, &m->arena);
    m->format_version = cursor_u32le(&c);
    m->container = get_text(&c, &m->arena);
    m->clock_note = get_text(&c, &m->arena);
    m->clock = (enum reel_clock)cursor_u32le(&c);
    m->is_summary = cursor_u32le(&c) != 0;
    m->findings_total = cursor_u64le(&c);
    m->losses = cursor_u64le(&c);
    m->lost_bytes = cursor_u64le(&c);
    m->n_chunks = cursor_u64le(&c);
    m->n_parts = get_count(&c, 8);
    m->part_sizes = get_array(&c, &m->arena, m->n_parts, sizeof *m->part_sizes);
    for (uint32_t i = 0; i < m->n_parts && !c.failed; i++) {
        m->part_sizes[i] = cursor_u64le(&c);
    }
    get_channels(&c, m);
    if (!c.failed) {
        get_tables(&c, m);
    }
    if (!c.failed) {
        get_segments(&c, m);
    }
    if (m->arena.no_memory) {
        return reel_fail_memory(err);
    }
    if (c.failed || !cursor_done(&c)) {
        return reel_fail(err, REEL_CHANGED, "the index directory does not hold together");
    }
    return true;
}
