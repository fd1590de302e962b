/* The bytes of a NanoVer recording of the older form, which was two files: STEM.traj (frames) and STEM.state (shared
 * state). Little-endian.
 *
 * File                              | Record, from byte 16 on, until the file ends
 *   0  8  magic                     |   0  8  timestamp: microseconds since the start of the recording
 *   8  8  version (2)               |   8  8  its upper half: 0
 *  16     records                   |  16  8  size
 *                                   |  24     message, protobuf
 * Version 1 (before July 2023) had no header: its records begin at byte 0, and a .traj holds bare FrameData.
 * The messages: formats/nanover/legacy.h. */
#ifndef REEL_FORMATS_NANOVER_LEGACY_LAYOUT_H
#define REEL_FORMATS_NANOVER_LEGACY_LAYOUT_H

#include <stdint.h>

#define LEGACY_MAGIC UINT64_C(6661355757386708963)

enum {
    LEGACY_VERSION = 2,
    LEGACY_HEADER_SIZE = 16,
    LEGACY_RECORD_SIZE = 24,
};

#endif
