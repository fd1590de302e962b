/* The directory of an index pack: everything but the segments. The builder fills one, the index reads it back. */
#ifndef REEL_INDEX_PACK_MODEL_H
#define REEL_INDEX_PACK_MODEL_H

#include "base/arena.h"
#include "base/grow.h"
#include "index/pack.h"

struct pack_model {
    struct arena arena; /* all texts */
    const char *format;
    uint32_t format_version;
    const char *container, *clock_note;
    enum reel_clock clock;
    bool is_summary; /* no segments: counts come from the file's own summary */
    uint32_t n_parts;
    uint64_t *part_sizes;
    struct reel_channel *channels;
    struct reel_channel_stats *stats; /* one per channel */
    size_t n_channels, cap_channels, cap_stats;
    struct reel_attachment *attachments;
    size_t n_attachments, cap_attachments;
    struct reel_finding *findings;
    size_t n_findings, cap_findings;
    struct reel_pairs metadata;
    size_t cap_metadata;
    uint64_t findings_total, losses, lost_bytes;
    uint64_t n_chunks;
    struct pack_segment *segments;
    size_t n_segments, cap_segments;
    struct pack_chunk_segment *chunk_segments;
    size_t n_chunk_segments, cap_chunk_segments;
};

void pack_model_free(struct pack_model *m); /* the struct may be used again */
/* Copies a channel into the model's arena; `out` may be the model's own. */
bool pack_model_copy_channel(struct arena *arena, const struct reel_channel *from, struct reel_channel *out);
void pack_model_write(const struct pack_model *m, struct grow *out);
/* Sets the error for a failed arena allocation: REEL_NO_MEMORY, or REEL_LIMIT when the texts of one recording are too
 * large. Returns false.
 */
bool pack_model_full(const struct arena *arena, struct reel_error *err);
/* REEL_CHANGED when the directory is inconsistent. */
bool pack_model_read(struct reel_bytes data, struct pack_model *m, struct reel_error *err);

#endif
