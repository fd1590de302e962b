/* The bytes of a NanoVer recording of the older form, which was two files: STEM.traj (frames) and STEM.state (shared state). Little-endian.
 *
 * File                              | Record, from byte 16 on, until the file ends
 *   0  8  magic                     |   0  8  timestamp: microseconds since the start of the recording
 *   8  8  version (2)               |   8  8  its upper half: 0
 *  16     records                   |  16  8  size
 *                                   |  24     message, protobuf
 * Version 1 had no header: its records begin at byte 0, and a .traj holds bare FrameData.
 *
 * .traj   GetFrameResponse { 1 frame_index: uint32 (absent = 0), 2 frame: FrameData }
 *         FrameData        { 1 values: map<string, Value>, 2 arrays: map<string, ValueArray> }
 *         ValueArray       { one of: 1 FloatArray { 1: repeated float }, 2 IndexArray { 1: repeated uint32 }, 3 StringArray { 1: repeated
 * string } } .state  StateUpdate      { 1 changed_keys: Struct } Struct           { 1 fields: map<string, Value> }       a null in
 * changed_keys: the key is removed ListValue        { 1 values: repeated Value } Value            { one of: 1 null (varint), 2 double, 3
 * string, 4 bool (varint), 5 Struct, 6 ListValue } A map is a repeated message { 1: key, 2: value }; of equal keys the last counts.
 * Repeated numbers come packed (one run of bytes) or one by one. */
#ifndef REEL_NANOVER_LEGACY_WIRE_H
#define REEL_NANOVER_LEGACY_WIRE_H

#include <stdint.h>

#define LEGACY_MAGIC UINT64_C(6661355757386708963)

enum {
    LEGACY_VERSION = 2,
    LEGACY_HEADER_SIZE = 16,
    LEGACY_RECORD_SIZE = 24,

    FRAME_INDEX = 1, /* GetFrameResponse */
    FRAME_DATA = 2,
    DATA_VALUES = 1, /* FrameData */
    DATA_ARRAYS = 2,
    STATE_CHANGED = 1, /* StateUpdate */
    MAP_ENTRY = 1,     /* Struct */
    MAP_KEY = 1,
    MAP_VALUE = 2,
    LIST_ITEM = 1,   /* ListValue, FloatArray, IndexArray, StringArray */
    ARRAY_FLOAT = 1, /* ValueArray */
    ARRAY_INDEX = 2,
    ARRAY_STRING = 3,
    VALUE_NULL = 1, /* Value */
    VALUE_NUMBER = 2,
    VALUE_STRING = 3,
    VALUE_BOOL = 4,
    VALUE_STRUCT = 5,
    VALUE_LIST = 6,
};

#endif
