/* The bytes of a NanoVer recording: a ZIP archive (syntax/zip.h) with two stored members at its root,
 * `messages.msgpack` first, then `index.msgpack`. All MessagePack numbers are big-endian.
 *
 * index.msgpack: array of maps { "offset": int, "length": int, "metadata": { "types": [str …], "frame.index": int
 * (optional), "timestamp": int } }, offset counted from the start of messages.msgpack, timestamp in microseconds since
 * the start of the recording. messages.msgpack: maps one after another, { "frame": { key: value … }, "state": {
 * "updates": { key: value … }, "removals": [key …] }, … }. */
#ifndef REEL_FORMATS_NANOVER_LAYOUT_H
#define REEL_FORMATS_NANOVER_LAYOUT_H

#include "syntax/zip.h"

#define NANOVER_MESSAGES "messages.msgpack"
#define NANOVER_INDEX "index.msgpack"

enum { NANOVER_DATA_START = 66 }; /* offset of the messages in a written file: 30 + 16 of name + 20 of ZIP64 extra */

#endif
