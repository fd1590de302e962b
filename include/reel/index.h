/* An opened index pack: all that is known of a scanned recording. Immutable; may be used from many threads. */
#ifndef REEL_INDEX_H
#define REEL_INDEX_H

#include "reel/format.h"
#include "reel/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_index;

struct reel_index_info {
    const struct reel_format *format;
    const char *container; /* "#ROSRECORD V1.2"; may be "" */
    enum reel_clock clock;
    const char *clock_note; /* may be "" */
    uint32_t n_channels, n_parts;
    uint64_t n_chunks, messages, payload_bytes;
    uint64_t largest_payload; /* 0 of summarys */
    int64_t start_ns, end_ns; /* smallest and largest message time; 0 when messages is 0 */
    uint64_t pack_bytes;      /* size of the pack file */
    uint64_t memory;          /* bytes of the opened index, for caches */
    bool is_summary;          /* no entries; counts and times come from the file's own index; bytes 0 = unknown */
    bool damaged;             /* a finding of severity REEL_LOSS exists */
    uint64_t lost_bytes;      /* sum of the lengths of those */
    uint64_t n_findings_total;
};

/* REEL_NOT_FOUND: no such file. REEL_CHANGED: an older version, another program's, or a checksum that does not hold:
 * rebuild it. */
struct reel_index *reel_index_open(const char *pack_path, struct reel_error *err);
void reel_index_free(struct reel_index *index);
/* Closes the file; from now on it is open only while it is read, so that one may have a thousand indexes. Before other
 * threads have it. */
void reel_index_rest(struct reel_index *index);
REEL_DEFINE_AUTO(struct reel_index, reel_index_free);

const struct reel_index_info *reel_index_info(const struct reel_index *index);
const struct reel_channel *reel_index_channel(const struct reel_index *index, uint32_t id); /* id < n_channels */
const struct reel_channel_stats *reel_index_stats(const struct reel_index *index, uint32_t channel_id); /* never NULL */
const struct reel_attachment *reel_index_attachments(const struct reel_index *index, size_t *count);
const struct reel_finding *reel_index_findings(const struct reel_index *index, size_t *count);
const struct reel_pairs *reel_index_metadata(const struct reel_index *index);
/* When the channel has messages: bin i begins at start_ns + i * width_ns, and spans[i] gets the count and the first and
 * last time of what begins in it. Messages before the first bin or after the last are counted in that bin. Results are
 * added to `spans`, which must be zeroed before the first of several channels. No payload is read; entries only of
 * segments longer than a bin. */
struct reel_span {
    int64_t first_ns, last_ns;
    uint64_t count;
};
bool reel_index_coverage(const struct reel_index *index, uint32_t channel, int64_t start_ns, uint64_t width_ns,
                         struct reel_span *spans, uint32_t n, struct reel_error *err);
/* The longest time in which none of these channels (of a pack that is no summary) has a message. Reads all their
 * entries. */
bool reel_index_gap(const struct reel_index *index, const uint32_t *channels, uint32_t n, uint64_t *gap_ns,
                    struct reel_error *err);
/* Reads the whole pack and checks its checksums; opening checks only those of the directory, and reading only those of
 * what is read. */
bool reel_index_verify(const struct reel_index *index, struct reel_error *err);
/* Bytes read from the pack did not match their checksum (REEL_CHANGED): it has to be discarded, and rebuilt. */
bool reel_index_is_corrupted(const struct reel_index *index);
/* Removes the file of a corrupted pack, unless another pack has replaced it. Does nothing to a pack that is not known
 * to be corrupted. */
void reel_index_discard(const struct reel_index *index);
uint64_t reel_index_part_size(const struct reel_index *index, uint32_t part);
/* All chunks but the parts themselves, in the order of their ids; visit() false ends it. */
bool reel_index_chunks(const struct reel_index *index, bool (*visit)(void *context, const struct reel_chunk *chunk),
                       void *context, struct reel_error *err);

#ifdef __cplusplus
}
#endif

#endif
