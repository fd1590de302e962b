/* Files as recordings: scanned the first time, opened by the index pack of that scan from then on; and what is known of
 * a recording without reading a message.
 *
 * Recordings and indexes are immutable: any number of threads may use one at the same time. */
#ifndef REEL_OPEN_H
#define REEL_OPEN_H

#include "reel/cleanup.h"
#include "reel/error.h"
#include "reel/model.h"
#include "reel/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called from time to time, on the thread of the caller, while a function works; `done` of `total` in a unit of the
 * function's own. report() may be NULL; returning false cancels (REEL_CANCELLED). */
struct reel_progress {
    bool (*report)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* ---- recordings */

struct reel_open_options {
    size_t size;              /* sizeof(struct reel_open_options) */
    const char *cache_folder; /* an existing folder where index packs are stored, 40 hexadecimal digits and ".reel"
                                 each; those not used for 30 days are deleted. NULL: the pack is a temporary file in
                                 $TMPDIR (or /tmp) that is gone when the recording is freed */
    bool rescan;              /* scan even if there is a pack */
    const struct reel_progress *progress; /* of the scan, in bytes; may be NULL */
    struct reel_threads *threads; /* reel/threads.h: that decompress ahead of the scan of a large file; NULL: it runs on
                                     the caller's thread alone */
};

/* Opens one file, or a folder that is one recording: that of `ros2 bag record`, a run.traj with its run.state, files
 * that a recorder split. The pack in `cache_folder` (NULL: none) is named by the file's path, device, inode, size and
 * time of change, and used again while these are the same. REEL_NOT_MINE: no recording of a known format; REEL_DAMAGED:
 * nothing of it can be recovered. Free with reel_recording_free(). */
struct reel_recording;
struct reel_recording *reel_recording_open(const char *path, const char *cache_folder, struct reel_error *err);

/* The same for the `n` files of one recording (run.traj and run.state) or one folder, with options; NULL: the defaults.
 */
struct reel_recording *reel_recording_open_files(const char *const *paths, uint32_t n,
                                                 const struct reel_open_options *options, struct reel_error *err);

struct reel_recording *reel_recording_ref(struct reel_recording *recording); /* one more reference */
void reel_recording_free(struct reel_recording *recording); /* gives one reference back; NULL is fine */
REEL_DEFINE_AUTO(struct reel_recording, reel_recording_free);

/* Removes the stored pack of these files, after it turned out to be wrong when it was read (REEL_CHANGED). True when
 * there was one. */
bool reel_recording_forget(const char *const *paths, uint32_t n, const char *cache_folder);

/* ---- what is known of a recording */

/* The index of a recording; valid as long as that. */
struct reel_index;
const struct reel_index *reel_recording_index(const struct reel_recording *recording);

/* The index that the files themselves contain, without reading messages (reel_index_info.is_summary); files that have
 * none are scanned. Errors as reel_recording_open_files(). Free with reel_index_free(). */
struct reel_index *reel_summary_open(const char *const *paths, uint32_t n, const struct reel_open_options *options,
                                     struct reel_error *err);
void reel_index_free(struct reel_index *index); /* only of reel_summary_open(); NULL is fine */
REEL_DEFINE_AUTO(struct reel_index, reel_index_free);

struct reel_format;
struct reel_index_info {
    const struct reel_format *format;
    const char *container; /* the version as the file has it: "#ROSRECORD V1.2"; may be "" */
    enum reel_clock clock;
    const char *clock_note;       /* why, where that is not plain; may be "" */
    uint32_t n_channels, n_parts; /* parts: files */
    uint64_t n_chunks, messages, payload_bytes;
    uint64_t largest_payload; /* bytes; 0 in a summary */
    int64_t start_ns, end_ns; /* smallest and largest time of a message; 0 without messages */
    bool is_summary;          /* counts and times come from the file's own index; bytes may be 0: unknown */
    bool damaged;             /* there is a finding of severity REEL_LOSS */
    uint64_t lost_bytes;      /* the lengths of those, together */
    uint64_t n_findings_total;
};
const struct reel_index_info *reel_index_info(const struct reel_index *index);

/* id < n_channels */
const struct reel_channel *reel_index_channel(const struct reel_index *index, uint32_t id);
const struct reel_channel_stats *reel_index_stats(const struct reel_index *index, uint32_t id);
/* Of the file as a whole. */
const struct reel_pairs *reel_index_metadata(const struct reel_index *index);
/* The i-th, from 0; NULL: there are no more. Of findings the first 1000 are stored, all are counted. */
const struct reel_attachment *reel_index_attachment(const struct reel_index *index, size_t i);
const struct reel_finding *reel_index_finding(const struct reel_index *index, size_t i);

/* When the channel has messages: bin i begins at start_ns + i * width_ns, and spans[i] gets the count and the first and
 * last time of the messages in it. Messages before the first bin or after the last are counted in that bin. Results are
 * added to spans[n], which must be zeroed before the first of several channels. Reads no payload. */
struct reel_span {
    int64_t first_ns, last_ns;
    uint64_t count;
};
bool reel_index_coverage(const struct reel_index *index, uint32_t channel, int64_t start_ns, uint64_t width_ns,
                         struct reel_span *spans, uint32_t n, struct reel_error *err);

/* The longest time in which none of the channels[n] has a message, of an index that is no summary. Reads the times of
 * all their messages. */
bool reel_index_gap(const struct reel_index *index, const uint32_t *channels, uint32_t n, uint64_t *gap_ns,
                    struct reel_error *err);

/* Bytes [offset, offset + size) of an attachment into `buffer`. REEL_ARGUMENT: they are not all inside. */
bool reel_attachment_read(struct reel_recording *recording, const struct reel_attachment *attachment, uint64_t offset,
                          void *buffer, size_t size, struct reel_error *err);

/* ---- formats that can be read; constant */

const struct reel_format *reel_format_at(size_t i);              /* all of them, from 0; NULL: there are no more */
const struct reel_format *reel_format_named(const char *name);   /* NULL: there is none */
const char *reel_format_name(const struct reel_format *format);  /* "mcap", "rosbag-2.0" */
const char *reel_format_title(const struct reel_format *format); /* for people: "ROS 1 bag (2.0)" */

#ifdef __cplusplus
}
#endif

#endif
