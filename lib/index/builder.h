/* Builds an index pack during a scan: entries are collected per channel, sorted, packed into segments and written at
 * once, so memory does not grow with the recording. */
#ifndef REEL_INDEX_BUILDER_H
#define REEL_INDEX_BUILDER_H

#include <stdio.h>

#include "base/limits.h"
#include "index/pack_model.h"
#include "reel/cleanup.h"

#define REEL_DATE_MIN_NS INT64_C(100000000000000000) /* March 1973: earlier times are no dates */

struct builder_lane { /* entries of one channel that are not packed yet */
    struct reel_entry *entries;
    uint32_t count, capacity;
    bool unsorted;
};

struct reel_builder {
    struct pack_model model;
    bool no_memory;             /* for a finding: the index would lack it */
    bool knows_clock;           /* the format does; else most times decide */
    uint64_t early, unclear;    /* messages before REEL_DATE_MIN_NS; in a summary, those that may be */
    struct builder_lane *lanes; /* one per channel */
    size_t cap_lanes;
    size_t lane_bytes;         /* memory of all lanes */
    struct reel_chunk *chunks; /* the segment being filled; its first id is chunks_first */
    struct reel_chunk *before; /* the segment before it, for checks */
    uint64_t *first_raw;       /* raw sizes of the first REEL_SEGMENT_ENTRIES chunks, which include all parts and all
                                  containers of other chunks */
    uint64_t chunks_first;
    size_t n_chunks, cap_chunks, cap_before;
    uint8_t *scratch; /* one packed segment */
    size_t cap_scratch;
    FILE *file;
    uint64_t pos;
    char *path; /* final path of the pack; written to `temporary` first, then renamed. NULL: the file has no name */
    char *temporary;
};

/* False where something that was to be shown could not be kept. */
bool builder_is_complete(const struct reel_builder *b, struct reel_error *err);

/* The parts become chunks 0 … n_parts-1. `pack_path` NULL: the pack is a file without a name, for builder_open(). */
struct reel_builder *builder_new(const char *pack_path, const char *format, uint32_t format_version,
                                 const uint64_t *part_sizes, uint32_t n_parts, struct reel_error *err);
bool builder_add_channel(struct reel_builder *b, const struct reel_channel *c, uint32_t *id, struct reel_error *err);
/* Replaces the description of channel `id`. */
bool builder_set_channel(struct reel_builder *b, uint32_t id, const struct reel_channel *c, struct reel_error *err);
bool builder_add_chunk(struct reel_builder *b, const struct reel_chunk *c, uint32_t *id, struct reel_error *err);
bool builder_add_entry(struct reel_builder *b, const struct reel_entry *e, struct reel_error *err);
/* Packs the remaining entries, merges segments that overlap too much, writes the directory, fsyncs, renames. */
bool builder_finish(struct reel_builder *b, struct reel_error *err);
/* Opens what builder_finish() has written. */
struct reel_index *builder_open(const struct reel_builder *b, struct reel_error *err);
void builder_free(struct reel_builder *b); /* removes an unfinished file */
REEL_DEFINE_AUTO(struct reel_builder, builder_free);

/* For a recording of one part that is still being written: its size so far. */
uint64_t builder_part_size(const struct reel_builder *b);
void builder_grow_part(struct reel_builder *b, uint64_t size);
/* Decides the clock of `m`, the builder's model or a copy, by the messages so far. REEL_UNSUPPORTED: a summary does not
 * tell. */
bool builder_decide_clock(const struct reel_builder *b, struct pack_model *m, struct reel_error *err);
/* builder_index.c: an index of what was added so far, which does not change when more is added. */
struct reel_index *builder_index(struct reel_builder *b, struct reel_error *err);
/* Sorts entries by their keys; packs sorted ones of one channel into `out`, which stands at `offset` of the pack. */
void builder_sort(struct reel_entry *entries, uint32_t count);
struct pack_segment builder_pack(const struct reel_entry *entries, uint32_t count, uint8_t *out, uint64_t offset);

/* Packs sorted entries of one channel and writes them as a segment (used by builder_compact.c too). */
bool builder_put_segment(struct reel_builder *b, const struct reel_entry *entries, uint32_t count,
                         struct reel_error *err);
/* builder_compact.c: merges segments until at most REEL_OVERLAP_MAX of any channel overlap. */
bool builder_compact(struct reel_builder *b, struct reel_error *err);

#endif
