/* Statistics as bytes: statistics.h has the layout. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "chunks/codec.h"
#include "values/collect.h"
#include "values/schema_source.h"

static void put_u64(struct grow *out, uint64_t value) {
    grow_u64(out, value);
}
static void put_real(struct grow *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    grow_u64(out, bits);
}
static void write_put_bytes(struct grow *out, struct reel_bytes text) {
    grow_u32(out, (uint32_t)text.size);
    grow_put(out, text.data, text.size);
}

/* ---- sections */

static struct cell cell_of(const struct collected_channel *c, size_t block, size_t field) {
    const struct collected_block *b = &c->blocks[block];
    return field < b->n_cells ? c->cells[b->cells + field] : (struct cell){0};
}

static void write_put_field(struct grow *out, const struct collected_channel *c, size_t field) {
    for (size_t i = 0; i < c->n_blocks; i++) {
        put_real(out, cell_of(c, i, field).min);
    }
    for (size_t i = 0; i < c->n_blocks; i++) {
        put_real(out, cell_of(c, i, field).max);
    }
    for (size_t i = 0; i < c->n_blocks; i++) {
        grow_u32(out, (uint32_t)cell_of(c, i, field).numbers);
    }
    for (size_t i = 0; i < c->n_blocks; i++) {
        grow_u32(out, (uint32_t)cell_of(c, i, field).nans);
    }
    for (size_t i = 0; i < c->n_blocks; i++) {
        grow_u8(out, cell_of(c, i, field).has_texts);
    }
}

static void put_section(struct grow *out, const struct collected_channel *c) {
    for (size_t i = 0; i < c->n_blocks; i++) {
        put_u64(out, (uint64_t)c->blocks[i].first.time_ns);
    }
    for (size_t i = 0; i < c->n_blocks; i++) {
        grow_u32(out, c->blocks[i].first.chunk);
    }
    for (size_t i = 0; i < c->n_blocks; i++) {
        put_u64(out, c->blocks[i].first.offset);
    }
    for (size_t i = 0; i < c->n_blocks; i++) {
        grow_u32(out, c->blocks[i].messages);
    }
    for (size_t i = 0; i < c->n_fields; i++) {
        write_put_field(out, c, i);
    }
}

/* ---- directory */

static struct cell whole_cell(const struct collected_channel *c, size_t field) {
    struct cell all = {0};
    for (size_t i = 0; i < c->n_blocks; i++) {
        const struct cell one = cell_of(c, i, field);
        cell_join(&all, &one);
    }
    return all;
}

static void write_put_channel(struct grow *out, const struct collected_channel *c) {
    grow_u32(out, c->channel->id);
    grow_u32(out, (c->decoder ? CHANNEL_DECODED : 0) | (c->truncated ? CHANNEL_TRUNCATED : 0));
    grow_u32(out, c->channel->n_topics);
    for (uint32_t i = 0; i < c->channel->n_topics; i++) {
        write_put_bytes(out, bytes_text(c->channel->topics[i]));
    }
    grow_u32(out, (uint32_t)c->n_fields);
    grow_u32(out, (uint32_t)c->n_blocks);
    put_u64(out, c->n_blocks ? (uint64_t)c->blocks[c->n_blocks - 1].last_ns : 0);
    put_u64(out, c->messages);
    for (size_t i = 0; i < c->n_fields; i++) {
        const struct cell all = whole_cell(c, i);
        write_put_bytes(out, c->fields[i].path);
        grow_u8(out, c->fields[i].flags);
        put_real(out, all.min);
        put_real(out, all.max);
        put_u64(out, all.numbers);
        put_u64(out, all.nans);
        grow_u8(out, all.has_texts);
    }
}

/* ---- the file */

/* A run of `raw`, compressed, behind `out`; and what the directory says of it. */
static bool put_run(struct grow *out, const struct grow *raw, uint32_t *stored, uint32_t *crc, struct reel_error *err) {
    size_t before = out->size;
    if (!codec_encode(REEL_CODEC_ZSTD, raw->data, raw->size, out, err)) {
        return false;
    }
    *stored = (uint32_t)(out->size - before);
    *crc = pack_crc(out->data + before, *stored);
    return true;
}

static bool put_channels(const struct collection *all, struct grow *directory, struct grow *sections,
                         struct reel_error *err) {
    AUTO_STRUCT(grow_done) struct grow raw = {0};
    grow_u32(directory, all->stream->n_channels);
    for (uint32_t i = 0; i < all->stream->n_channels; i++) {
        const struct collected_channel *c = &all->channels[i];
        uint32_t stored = 0, crc = 0;
        uint64_t offset = sections->size;
        raw.size = 0;
        put_section(&raw, c);
        if (raw.failed || (raw.size > 0 && !put_run(sections, &raw, &stored, &crc, err))) {
            return raw.failed ? reel_fail_memory(err) : false;
        }
        write_put_channel(directory, c);
        put_u64(directory, offset);
        grow_u32(directory, stored);
        grow_u32(directory, (uint32_t)raw.size);
        grow_u32(directory, crc);
    }
    return !directory->failed || reel_fail_memory(err);
}

static bool write_put_file(const struct collection *all, uint32_t version, struct grow *out, struct reel_error *err) {
    AUTO_STRUCT(grow_done) struct grow directory = {0}, sections = {0};
    uint32_t stored, crc;
    if (!put_channels(all, &directory, &sections, err)) {
        return false;
    }
    if (directory.size > STATISTICS_DIRECTORY_MAX) {
        return reel_fail(err, REEL_LIMIT, "the recording has too many topics for statistics of its fields");
    }
    grow_take(out, STATISTICS_HEADER);
    if (out->failed || !put_run(out, &directory, &stored, &crc, err)) {
        return out->failed ? reel_fail_memory(err) : false;
    }
    memcpy(out->data, STATISTICS_MAGIC, 8);
    store_u32le(out->data + 8, STATISTICS_VERSION);
    store_u32le(out->data + 12, version);
    store_u32le(out->data + 16, stored);
    store_u32le(out->data + 20, (uint32_t)directory.size);
    store_u32le(out->data + 24, crc);
    store_u32le(out->data + 28, pack_crc(out->data, STATISTICS_HEADER - 4));
    grow_put(out, sections.data, sections.size);
    return !out->failed || reel_fail_memory(err);
}

bool reel_statistics_make(struct reel_recording *recording, const struct reel_progress *progress, uint8_t **data,
                          size_t *size, struct reel_error *err) {
    AUTO_STRUCT(collection_done) struct collection all = {0};
    AUTO_STRUCT(grow_done) struct grow out = {0};
    uint32_t version = statistics_version(schema_sources_vary(reel_recording_index(recording)));
    if (!collect(&all, recording, progress, err) || !write_put_file(&all, version, &out, err)) {
        return false;
    }
    *size = out.size;
    *data = TAKE(out.data);
    return true;
}
