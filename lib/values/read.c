/* Statistics of a file: statistics.h has the layout. Nothing of it is believed before its checksum holds, and no length
 * even then. */
#include <limits.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/limits.h"
#include "base/source.h"
#include "chunks/codec.h"
#include "values/statistics.h"

enum { DIRECTORY_FIELD = 4 + 1 + 8 + 8 + 8 + 8 + 1 }; /* at least, of one field in the directory */

static bool read_damaged(struct reel_error *err) {
    return reel_fail(err, REEL_CHANGED, "the statistics are damaged");
}

/* A run of the file, decompressed, from malloc. */
static uint8_t *read_read_run(struct reel_source *source, uint64_t offset, uint32_t stored, uint32_t raw, uint32_t crc,
                              struct reel_error *err) {
    struct reel_error why = {0};
    if (offset > source->size || stored > source->size - offset) {
        read_damaged(err);
        return NULL;
    }
    AUTO_MEM uint8_t *packed = malloc((size_t)stored + 1), *out = malloc((size_t)raw + 1);
    if (!packed || !out) {
        reel_fail_memory(err);
        return NULL;
    }
    if (!reel_source_read(source, offset, packed, stored, err)) {
        return NULL;
    }
    AUTO(reel_source_free) struct reel_source *memory = reel_source_from_memory(bytes_of(packed, stored), NULL, err);
    const struct reel_chunk run = {.codec = REEL_CODEC_ZSTD, .stored = stored, .raw = raw};
    if (!memory) {
        return NULL;
    }
    if (pack_crc(packed, stored) != crc || !codec_decode_chunk(&run, memory, out, NULL, &why)) {
        reel_is_transient(why.code) ? reel_error_pass(err, &why) : read_damaged(err);
        return NULL;
    }
    return TAKE(out);
}

static double read_real(struct cursor *c) {
    uint64_t bits = cursor_u64le(c);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool read_read_fields(struct reel_statistics *s, struct channel_statistics *c, struct cursor *in,
                             struct reel_error *err) {
    if (c->n_fields > REEL_STATISTICS_FIELDS_MAX || c->n_fields > cursor_left(in) / DIRECTORY_FIELD) {
        return read_damaged(err);
    }
    if (!(c->fields = arena_alloc(&s->arena, (c->n_fields + 1) * sizeof *c->fields))) {
        return arena_fail(&s->arena, err);
    }
    for (uint32_t i = 0; i < c->n_fields; i++) {
        struct field_statistics *f = &c->fields[i];
        f->path = cursor_string32(in);
        f->flags = cursor_u8(in);
        f->all.min = read_real(in);
        f->all.max = read_real(in);
        f->all.numbers = cursor_u64le(in);
        f->all.nans = cursor_u64le(in);
        f->all.has_texts = cursor_u8(in) != 0;
    }
    return true;
}

static bool read_read_channel(struct reel_statistics *s, struct channel_statistics *c, struct cursor *in,
                              struct reel_error *err) {
    c->id = cursor_u32le(in);
    c->flags = cursor_u32le(in);
    c->n_topics = cursor_u32le(in);
    if (c->n_topics > cursor_left(in) / 4) {
        return read_damaged(err);
    }
    if (!(c->topics = arena_alloc(&s->arena, ((size_t)c->n_topics + 1) * sizeof *c->topics))) {
        return arena_fail(&s->arena, err);
    }
    for (uint32_t i = 0; i < c->n_topics; i++) {
        c->topics[i] = cursor_string32(in);
    }
    c->n_fields = cursor_u32le(in);
    c->n_blocks = cursor_u32le(in);
    c->last_ns = (int64_t)cursor_u64le(in);
    c->messages = cursor_u64le(in);
    if (!read_read_fields(s, c, in, err)) {
        return false;
    }
    c->offset = cursor_u64le(in);
    c->stored = cursor_u32le(in);
    c->raw = cursor_u32le(in);
    c->crc = cursor_u32le(in);
    uint64_t raw = (uint64_t)c->n_blocks * (STATISTICS_BLOCK + (uint64_t)c->n_fields * STATISTICS_CELL);
    return (!in->failed && raw == c->raw && raw <= UINT32_MAX) || read_damaged(err);
}

static bool read_directory(struct reel_statistics *s, struct reel_bytes directory, uint64_t sections,
                           struct reel_error *err) {
    struct cursor in = cursor_of(directory);
    s->n_channels = cursor_u32le(&in);
    if (s->n_channels > REEL_CHANNELS_MAX) {
        return read_damaged(err);
    }
    if (!(s->channels = calloc((size_t)s->n_channels + 1, sizeof *s->channels))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < s->n_channels; i++) {
        if (!read_read_channel(s, &s->channels[i], &in, err)) {
            return false;
        }
        s->channels[i].offset += sections;
    }
    return (!in.failed && cursor_done(&in)) || read_damaged(err);
}

static bool read_read_head(struct reel_statistics *s, struct reel_error *err) {
    uint8_t head[STATISTICS_HEADER];
    if (s->source->size < sizeof head) {
        return read_damaged(err);
    }
    if (!reel_source_read(s->source, 0, head, sizeof head, err)) {
        return false;
    }
    if (memcmp(head, STATISTICS_MAGIC, 8) != 0 || load_u32le(head + 8) != STATISTICS_VERSION ||
        (load_u32le(head + 12) != statistics_version(false) && load_u32le(head + 12) != statistics_version(true))) {
        return reel_fail(err, REEL_CHANGED, "the statistics are of another version");
    }
    uint32_t stored = load_u32le(head + 16), raw = load_u32le(head + 20);
    if (pack_crc(head, sizeof head - 4) != load_u32le(head + 28) || raw > STATISTICS_DIRECTORY_MAX) {
        return read_damaged(err);
    }
    s->directory = read_read_run(s->source, sizeof head, stored, raw, load_u32le(head + 24), err);
    return s->directory && read_directory(s, bytes_of(s->directory, raw), sizeof head + (uint64_t)stored, err);
}

struct reel_statistics *reel_statistics_open(int fd, struct reel_error *err) {
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_fd(fd, "statistics", err);
    AUTO(reel_statistics_free) struct reel_statistics *s = source ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        if (source) {
            reel_fail_memory(err);
        }
        return NULL;
    }
    s->source = TAKE(source);
    s->arena.max = REEL_MODEL_MAX;
    return read_read_head(s, err) ? TAKE(s) : NULL;
}

void reel_statistics_free(struct reel_statistics *s) {
    if (!s) {
        return;
    }
    for (uint32_t i = 0; s->channels && i < s->n_channels; i++) {
        free(s->channels[i].section);
    }
    free(s->channels);
    free(s->directory);
    arena_free(&s->arena);
    reel_source_free(s->source);
    free(s);
}

/* ---- sections */

bool statistics_load(struct reel_statistics *s, struct channel_statistics *c, struct reel_error *err) {
    uint64_t messages = 0;
    if (c->section || c->raw == 0) {
        return true;
    }
    if (!(c->section = read_read_run(s->source, c->offset, c->stored, c->raw, c->crc, err))) {
        return false;
    }
    for (uint32_t i = 0; i < c->n_blocks; i++) {
        const struct block b = statistics_block(c, i);
        if (i > 0) {
            const struct block before = statistics_block(c, i - 1);
            if (pack_key_compare(&before.first, &b.first) > 0) {
                return read_damaged(err);
            }
        }
        messages += b.messages;
    }
    return messages == c->messages || read_damaged(err);
}

struct block statistics_block(const struct channel_statistics *c, uint32_t block) {
    const uint8_t *time = c->section, *chunk = time + (size_t)c->n_blocks * 8,
                  *offset = chunk + (size_t)c->n_blocks * 4, *messages = offset + (size_t)c->n_blocks * 8;
    return (struct block){.first = {.time_ns = (int64_t)load_u64le(time + (size_t)block * 8),
                                    .chunk = load_u32le(chunk + (size_t)block * 4),
                                    .offset = load_u64le(offset + (size_t)block * 8)},
                          .messages = load_u32le(messages + (size_t)block * 4)};
}

static double load_real(const uint8_t *at) {
    uint64_t bits = load_u64le(at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct cell statistics_cell(const struct channel_statistics *c, uint32_t field, uint32_t block) {
    size_t n = c->n_blocks, at = block;
    const uint8_t *column = c->section + n * (STATISTICS_BLOCK + (size_t)field * STATISTICS_CELL);
    return (struct cell){.min = load_real(column + at * 8),
                         .max = load_real(column + n * 8 + at * 8),
                         .numbers = load_u32le(column + n * 16 + at * 4),
                         .nans = load_u32le(column + n * 20 + at * 4),
                         .has_texts = column[n * 24 + at] != 0};
}
