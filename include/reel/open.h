/* Files as recordings, in one call: scanned the first time, opened by the kept index pack from then on. */
#ifndef REEL_OPEN_H
#define REEL_OPEN_H

#include "reel/reader.h"
#include "reel/scan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_open_options {
    size_t size;              /* sizeof(struct reel_open_options) */
    const char *cache_folder; /* an existing folder where index packs are kept, 40 hexadecimal digits and ".reel" each;
                                 those not used for 30 days are deleted. NULL: the pack is a temporary file in $TMPDIR
                                 (or /tmp) that is gone when the recording is freed */
    bool rescan;              /* scan even if a pack is kept */
    const struct reel_progress *progress; /* of the scan; may be NULL */
};

/* Opens one file. The pack in `cache_folder` is named by the file's path, device, inode, size and time of change, and
 * used again while these are the same. Fails with REEL_NOT_MINE when the file is no recording of a known format. Free
 * with reel_recording_free(). */
struct reel_recording *reel_recording_open(const char *path, const char *cache_folder, struct reel_error *err);

/* The same for the `n` files of one recording (run.traj and run.state), with options; NULL: the defaults. */
struct reel_recording *reel_recording_open_files(const char *const *paths, uint32_t n,
                                                 const struct reel_open_options *options, struct reel_error *err);

/* What the files say of themselves in their own indexes, without reading messages (reel_index_info.summary); files that
 * have no index are scanned. Free with reel_index_free(). */
struct reel_index *reel_summary_open(const char *const *paths, uint32_t n, const struct reel_open_options *options,
                                     struct reel_error *err);

/* Removes the kept pack of these files, for a pack that turned out to be wrong when it was read (REEL_CHANGED). True
 * when there was one. */
bool reel_recording_forget(const char *const *paths, uint32_t n, const char *cache_folder);

#ifdef __cplusplus
}
#endif

#endif
