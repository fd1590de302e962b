/* See foreign.h. What opening a pack has checked is not checked again: sizes of tables and segments. */
#include "index/foreign.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "syntax/utf8.h"

static bool is_text(const char *text, size_t most) {
    size_t size = strlen(text);
    return size <= most && utf8_valid(bytes_of(text, size));
}

static bool are_texts(const struct reel_pairs *pairs) {
    bool good = pairs->count <= REEL_METADATA_MAX;
    for (size_t i = 0; i < pairs->count && good; i++) {
        good = is_text(pairs->items[i].key, REEL_TEXT_MAX) && is_text(pairs->items[i].value, REEL_MODEL_MAX);
    }
    return good;
}

static bool is_channel(const struct reel_channel *c) {
    bool good = is_text(c->name, REEL_TEXT_MAX) && is_text(c->type, REEL_TEXT_MAX) &&
                is_text(c->encoding, REEL_TEXT_MAX) && c->n_topics >= 1 &&
                c->n_schemas <= REEL_SCHEMAS_PER_CHANNEL_MAX && are_texts(&c->metadata);
    for (uint32_t i = 0; i < c->n_topics && good; i++) {
        good = is_text(c->topics[i], REEL_TEXT_MAX);
    }
    for (uint32_t i = 0; i < c->n_schemas && good; i++) {
        const struct reel_schema *s = &c->schemas[i];
        good = is_text(s->name, REEL_TEXT_MAX) && is_text(s->encoding, REEL_TEXT_MAX) &&
               is_text(s->hash, REEL_TEXT_MAX) && s->data.size <= REEL_SCHEMA_MAX;
    }
    return good;
}

/* Whether the chunk rows are as many as it says; chunks are found by their number, so all segments but the last are
 * full. The parts are the first chunks. */
static bool are_chunks(const struct pack_model *m) {
    uint64_t rows = 0;
    bool good = true;
    for (size_t i = 0; i < m->n_chunk_segments && good; i++) {
        rows += m->chunk_segments[i].count;
        good = i + 1 == m->n_chunk_segments || m->chunk_segments[i].count == REEL_SEGMENT_ENTRIES;
    }
    return good && rows == m->n_chunks && rows >= m->n_parts && rows <= UINT32_MAX;
}

static bool are_tables(const struct pack_model *m) {
    uint64_t topics = 0;
    bool good =
        are_chunks(m) && m->n_channels <= REEL_CHANNELS_MAX && m->n_parts >= 1 && m->n_parts <= REEL_PARTS_MAX &&
        m->n_attachments <= REEL_ATTACHMENTS_MAX && m->n_findings <= REEL_FINDINGS_MAX &&
        m->n_findings <= m->findings_total && (m->clock == REEL_CLOCK_WALL || m->clock == REEL_CLOCK_RELATIVE) &&
        is_text(m->container, REEL_TEXT_MAX) && is_text(m->clock_note, REEL_TEXT_MAX) && are_texts(&m->metadata);
    for (size_t i = 0; i < m->n_channels && good; i++) {
        topics += m->channels[i].n_topics;
        good = topics <= REEL_CHANNELS_MAX && is_channel(&m->channels[i]);
    }
    for (size_t i = 0; i < m->n_attachments && good; i++) {
        good = is_text(m->attachments[i].name, REEL_TEXT_MAX) && is_text(m->attachments[i].media_type, REEL_TEXT_MAX);
    }
    for (size_t i = 0; i < m->n_findings && good; i++) {
        good = m->findings[i].part < m->n_parts && m->findings[i].severity <= REEL_LOSS &&
               is_text(m->findings[i].text, REEL_TEXT_MAX);
    }
    return good;
}

/* Whether the segment's entries are in order, and within what its row says. */
static bool is_segment(const struct reel_index *index, const struct pack_segment *s, uint8_t *buffer,
                       struct reel_error *err) {
    struct pack_cursor cursor;
    struct reel_entry e;
    struct pack_key last = s->first;
    uint32_t n = 0;
    if (!index_read_segment(index, s, buffer, err)) {
        return false;
    }
    bool good = pack_cursor_open(&cursor, bytes_of(buffer, s->size), s->count, s->channel);
    for (; good && pack_cursor_next(&cursor, &e); n++) {
        struct pack_key key = pack_key_of(&e);
        good = (n > 0 || pack_key_compare(&key, &s->first) == 0) && pack_key_compare(&key, &last) >= 0 &&
               e.chunk < index->model.n_chunks;
        last = key;
    }
    return (good && n == s->count && pack_key_compare(&last, &s->last) == 0) ||
           reel_fail(err, REEL_DAMAGED, "a segment of the index has other entries than its directory says");
}

static bool is_counted(const struct reel_index *index, size_t channel) {
    const struct reel_channel_stats *stats = &index->model.stats[channel];
    uint64_t count = 0;
    bool within = stats->count == 0 || stats->first_ns <= stats->last_ns;
    for (size_t i = index->first_segment[channel]; i < index->first_segment[channel + 1]; i++) {
        const struct pack_segment *s = &index->model.segments[i];
        count += s->count;
        within = within && s->first.time_ns >= stats->first_ns && s->last.time_ns <= stats->last_ns;
    }
    return within && count == stats->count;
}

static bool are_counted(const struct reel_index *index) {
    uint64_t bytes = 0;
    bool good = true;
    for (size_t i = 0; i < index->model.n_channels && good; i++) {
        good = is_counted(index, i) && !__builtin_add_overflow(bytes, index->model.stats[i].bytes, &bytes);
    }
    return good;
}

bool index_check_foreign(const struct reel_index *index, struct reel_error *err) {
    const struct pack_model *m = &index->model;
    uint32_t most = 1;
    if (m->is_summary || !are_tables(m) || !are_counted(index)) {
        return reel_fail(err, REEL_DAMAGED, "%s",
                         m->is_summary ? "the index is a summary: it has no messages"
                                       : "the directory of the index is not as a scan writes it");
    }
    for (size_t i = 0; i < m->n_segments; i++) {
        most = m->segments[i].size > most ? m->segments[i].size : most;
    }
    AUTO_MEM uint8_t *buffer = malloc(most);
    bool good = buffer || reel_fail_memory(err);
    for (size_t i = 0; i < m->n_segments && good; i++) {
        good = is_segment(index, &m->segments[i], buffer, err);
    }
    return good;
}
