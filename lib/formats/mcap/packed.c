/* Messages that a recorder has compressed one by one: `ros2 bag record -s mcap --compression-mode message`. That only
 * metadata.yaml says so is no matter: CDR begins with a zero byte, so a zstd frame in its place is unambiguous. Such a
 * message gets a chunk of its own; its entry keeps the time of publishing and the sequence number. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "chunks/codec.h"
#include "formats/mcap/message.h"
#include "formats/mcap/read.h"

enum {
    UNPACK_RATIO = 256,     /* all of them may unpack to this multiple of the file's size, … */
    PACKED_IN_A_ROW = 4000, /* so many chunks later a compressed chunk can no longer be referred to, and is added again
                             */
};
#define UNPACK_BASE (UINT64_C(4) << 30) /* … but at least to this */

static bool is_cdr(const struct mcap *m, uint16_t channel) {
    const struct mcap_channel_def *c = mcap_defined(m->names, channel)->channel;
    return c && bytes_is(c->encoding, "cdr");
}

bool mcap_is_packed(const struct mcap *m, uint16_t channel, const uint8_t *payload, uint64_t size) {
    return mcap_begins_packed(payload, size) && is_cdr(m, channel);
}

/* The chunk that the run's bytes are in, as a chunk inside of it refers to it. */
static bool packed_parent(struct mcap *m, struct mcap_run *run, uint32_t *parent, struct reel_error *err) {
    if (run->row && ++run->packed % PACKED_IN_A_ROW == 0 && !reel_scan_chunk(m->scan, run->row, &run->chunk, err)) {
        return false;
    }
    *parent = run->row ? REEL_CHUNK_PART | run->chunk : run->chunk;
    return true;
}

/* Sets chunk->raw by unpacking it once. */
static bool measure(struct mcap *m, const struct mcap_run *run, struct reel_chunk *chunk, struct reel_error *err) {
    uint64_t size = m->source->size,
             max = UNPACK_BASE + (size < UINT64_MAX / 2 / UNPACK_RATIO ? size * UNPACK_RATIO : 0);
    uint64_t left = m->unpacked < max ? max - m->unpacked : 0;
    left = left < REEL_MESSAGE_MEMORY_MAX ? left : REEL_MESSAGE_MEMORY_MAX;
    if (!codec_measure(chunk->codec, run->window->source, chunk->offset, chunk->stored, left, &chunk->raw, err)) {
        return false;
    }
    m->unpacked += chunk->raw;
    return true;
}

bool mcap_unpack(struct mcap *m, struct mcap_run *run, const uint8_t *head, uint64_t position, struct reel_entry *entry,
                 bool *kept, struct reel_error *err) {
    struct reel_chunk chunk = {
        .codec = REEL_CODEC_ZSTD, .offset = entry->offset + MCAP_MESSAGE_HEAD, .stored = entry->size};
    struct reel_error why = {0};
    const uint64_t publish = load_u64le(head + MCAP_MESSAGE_PUBLISH_AT),
                   sequence = load_u32le(head + MCAP_MESSAGE_SEQUENCE_AT);
    *kept = false;
    if (!measure(m, run, &chunk, &why)) {
        if (why.code != REEL_DAMAGED && why.code != REEL_LIMIT && why.code != REEL_UNSUPPORTED) {
            return reel_error_pass(err, &why);
        }
        return reel_scan_finding(m->scan, REEL_LOSS, m->part, position, MCAP_MESSAGE_HEAD + (uint64_t)entry->size,
                                 "message at %llu: it is compressed and does not unpack: %s",
                                 (unsigned long long)position, why.text);
    }
    *entry = (struct reel_entry){.time_ns = entry->time_ns,
                                 .channel = entry->channel,
                                 .size = (uint32_t)chunk.raw,
                                 .extra = {[MCAP_EXTRA_PUBLISH] = publish, [MCAP_EXTRA_SEQUENCE] = sequence}};
    *kept = true;
    return packed_parent(m, run, &chunk.part, err) && reel_scan_chunk(m->scan, &chunk, &entry->chunk, err);
}
