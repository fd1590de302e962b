/* The builder's side that format readers see: scan() reports here, in any order it meets things; everything is copied.
 */
#ifndef REEL_INDEX_SCAN_H
#define REEL_INDEX_SCAN_H

#include "index/format.h"
#include "reel/open.h"
#include "reel/threads.h"

struct reel_builder;

/* Location of a part that is inside another one: a member of an archive. */
struct reel_location {
    uint32_t chunk;  /* its bytes are the raw bytes of this chunk */
    uint32_t part;   /* findings refer to this part of the recording …  */
    uint64_t offset; /* … in which it begins here */
    bool packed;     /* it is compressed: findings refer to its beginning */
};

struct reel_scan {
    struct reel_source *const *parts;
    uint32_t n_parts;
    struct reel_builder *builder;
    const struct reel_progress *progress;  /* may be NULL */
    const struct reel_location *locations; /* one per part, if another format scans parts that are inside a recording.
                                              NULL: parts of the recording */
    struct reel_threads *threads;          /* that decode chunks ahead; NULL: none do */
    struct scan_chunks *chunks;            /* index/scan_chunks.h; NULL: none */
    uint64_t expanded;                     /* decoded bytes of chunks that expand beyond REEL_EXPANSION_MAX:1 */
    bool useless;                          /* one of them held no records */
};

/* Call every few MiB. False when the work was cancelled (err is filled). */
bool reel_scan_progress(struct reel_scan *scan, uint64_t done, uint64_t total, struct reel_error *err);

/* Adds a channel (c->id is ignored, all is copied; n_topics 0 means { name }). The new dense id goes to *id. Never
 * merges: a format interns its own. */
bool reel_scan_channel(struct reel_scan *scan, const struct reel_channel *c, uint32_t *id, struct reel_error *err);

/* Replaces channel `id` (its definition followed its messages); its entries stay. */
bool reel_scan_channel_update(struct reel_scan *scan, uint32_t id, const struct reel_channel *c,
                              struct reel_error *err);

/* Adds a chunk; ids count on from n_parts (0 … n_parts-1 are the whole parts and exist already). Entries and further
 * chunks may refer to the first REEL_SEGMENT_ENTRIES and the last REEL_SEGMENT_ENTRIES chunks. */
bool reel_scan_chunk(struct reel_scan *scan, const struct reel_chunk *chunk, uint32_t *id, struct reel_error *err);

/* Adds a message; the hot path. Checks that it lies inside its chunk. */
bool reel_scan_entry(struct reel_scan *scan, const struct reel_entry *entry, struct reel_error *err);

/* In a summary: adds the statistics of a channel from the file's index to those added before. `first_ns` and `last_ns`
 * may be bounds, those of the chunks that contain it. `bytes` 0 = unknown. */
bool reel_scan_count(struct reel_scan *scan, uint32_t channel, const struct reel_channel_stats *stats,
                     struct reel_error *err);

bool reel_scan_attachment(struct reel_scan *scan, const struct reel_attachment *a, struct reel_error *err);
bool reel_scan_metadata(struct reel_scan *scan, const char *key, struct reel_bytes value, struct reel_error *err);

/* Notes something unusual or damaged. At most REEL_FINDINGS_MAX texts are kept, all are counted. Returns true; where
 * there is no memory for it, the scan fails at its end. */
__attribute__((format(printf, 6, 7))) bool reel_scan_finding(struct reel_scan *scan, enum reel_severity severity,
                                                             uint32_t part, uint64_t offset, uint64_t length,
                                                             const char *text, ...);

/* For formats that know it. Without this call the clock is relative if most messages are before March 1973: those
 * times are no dates. `why` (may be NULL) is shown with the recording: "counts from the start of the recorder". */
void reel_scan_clock(struct reel_scan *scan, enum reel_clock clock, const char *why);
void reel_scan_container(struct reel_scan *scan, const char *version); /* "#ROSRECORD V1.2" */

/* Copies file bytes as model text (UTF-8, other bytes as \xNN) into memory that lives as long as the scan. NULL:
 * REEL_NO_MEMORY, or REEL_LIMIT: all texts together are too many. */
const char *reel_scan_text(struct reel_scan *scan, struct reel_bytes raw, struct reel_error *err);

/* The raw bytes of a chunk as a source (decompressed to an unlinked temporary file when larger than
 * REEL_CHUNK_MEMORY_MAX). Caller frees; one at a time is fast where the format has called scan_chunks_new(). */
struct reel_source *reel_scan_open_chunk(struct reel_scan *scan, const struct reel_chunk *chunk,
                                         struct reel_error *err);

/* Whether a chunk is worth decoding; REEL_LIMIT: it is not. One that expands beyond REEL_EXPANSION_MAX:1, as recordings
 * of zeros do, is reported as a finding and decoded if records() accepts its beginning: up to REEL_EXPANSION_PEEK of
 * its `raw` bytes. After the first that is not accepted no more of them are decoded, so that a small file cannot hold a
 * scan for long. */
enum { REEL_EXPANSION_PEEK = 64 << 10 };
bool reel_scan_worth_decoding(struct reel_scan *scan, const struct reel_chunk *chunk,
                              bool (*records)(struct reel_bytes beginning, uint64_t raw), struct reel_error *err);
/* The most that `stored` bytes may decode to without being asked about. */
uint64_t reel_scan_expansion_max(enum reel_codec codec, uint64_t stored);

/* Scans `parts` and writes the index pack to `pack_path` (written to a temporary file next to it, flushed, renamed).
 * `format` NULL = probe part 0. */
bool reel_scan_run(struct reel_source *const *parts, uint32_t n_parts, const struct reel_format *format,
                   const char *pack_path, const struct reel_progress *progress, struct reel_error *err);

/* The same, with threads (NULL: none) that decode the chunks of a large file ahead. They are those of conversions, too:
 * a scan takes turns with them, and does itself what no thread has begun when it needs it. */
bool reel_scan_run_on(struct reel_source *const *parts, uint32_t n_parts, const struct reel_format *format,
                      const char *pack_path, struct reel_threads *threads, const struct reel_progress *progress,
                      struct reel_error *err);

/* Writes a summary: a pack without entries, from the indexes that the files contain (reel_index_info.is_summary).
 * REEL_UNSUPPORTED when they contain none, or the format has no summary(): use reel_scan_run(). Detects no damage that
 * only a scan can find. */
bool reel_scan_summary(struct reel_source *const *parts, uint32_t n_parts, const struct reel_format *format,
                       const char *pack_path, const struct reel_progress *progress, struct reel_error *err);

/* Either of them, and opens the pack. `pack_path` NULL: it is a temporary file without a name that goes with the index.
 */
struct reel_index *reel_scan_index(struct reel_source *const *parts, uint32_t n_parts, const struct reel_format *format,
                                   const char *pack_path, bool summary, struct reel_threads *threads,
                                   const struct reel_progress *progress, struct reel_error *err);

#endif
