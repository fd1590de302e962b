/* Files as recordings, in one call: scanned the first time, opened by the kept index pack from then on. */
#ifndef REEL_OPEN_H
#define REEL_OPEN_H

#include "reel/cleanup.h"
#include "reel/error.h"
#include "reel/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called from time to time while a function works. report() may be NULL; returning false cancels (REEL_CANCELLED). */
struct reel_progress {
    bool (*report)(void *context, uint64_t done, uint64_t total);
    void *context;
};

struct reel_open_options {
    size_t size;              /* sizeof(struct reel_open_options) */
    const char *cache_folder; /* an existing folder where index packs are kept; NULL: the pack is a temporary file in
                                 $TMPDIR (or /tmp) that is gone when the recording is freed */
    bool rescan;              /* scan even if a pack is kept */
    const struct reel_progress *progress; /* of the scan; may be NULL */
};

struct reel_recording;
/* Opens one file. The pack in `cache_folder` is named by the file's path, device, inode, size and time of change, and
 * used again while these are the same. Fails with REEL_NOT_MINE when the file is no recording of a known format. Free
 * with reel_recording_free(). */
struct reel_recording *reel_recording_open(const char *path, const char *cache_folder, struct reel_error *err);

/* The same for the `n` files of one recording (run.traj and run.state), with options; NULL: the defaults. */
struct reel_recording *reel_recording_open_files(const char *const *paths, uint32_t n,
                                                 const struct reel_open_options *options, struct reel_error *err);

struct reel_index;
/* What the files say of themselves in their own indexes, without reading messages (reel_index_info.summary); files that
 * have no index are scanned. Free with reel_index_free(). */
struct reel_index *reel_summary_open(const char *const *paths, uint32_t n, const struct reel_open_options *options,
                                     struct reel_error *err);

/* Removes the kept pack of these files, for a pack that turned out to be wrong when it was read (REEL_CHANGED). True
 * when there was one. */
bool reel_recording_forget(const char *const *paths, uint32_t n, const char *cache_folder);

struct reel_recording *reel_recording_ref(struct reel_recording *recording); /* thread-safe count */
void reel_recording_free(struct reel_recording *recording); /* gives one reference back; NULL is fine */
const struct reel_index *reel_recording_index(const struct reel_recording *recording);
REEL_DEFINE_AUTO(struct reel_recording, reel_recording_free);

/* ---- what is known of a recording: immutable, for any number of threads */

struct reel_format;
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

void reel_index_free(struct reel_index *index);
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

#ifdef __cplusplus
}
#endif

#endif
