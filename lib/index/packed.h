/* Recordings that are packed: run.bag.gz, .zst, .xz, .bz2, a ZIP or tar archive, a tar archive that is compressed.
 * Formats that read their own archives (rosbag2, NanoVer) do that themselves; every other one gets the file that is
 * inside. */
#ifndef REEL_INDEX_PACKED_H
#define REEL_INDEX_PACKED_H

#include "index/scan.h"

/* The format of the recording in a packed file, by the file's first bytes, the archive's directory and the first bytes
 * of its members. NULL, with err->code REEL_OK: none is in it. */
const struct reel_format *packed_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err);

/* Scans the recording in the scan's only part by its format. *packed = false: the part is not packed, nothing was done.
 */
bool packed_scan(struct reel_scan *scan, const struct reel_format *format, bool *packed, struct reel_error *err);

#endif
