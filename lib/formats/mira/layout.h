/* Layout of MIRA tapes. Nothing is aligned. No real tape was available: where the documentation is ambiguous (byte
 * order, whether the size of a field includes its header, where links point), the reader accepts every interpretation,
 * and the writer uses the one described here.
 *
 * File header (32 bytes; there is no magic)
 *   0    u32  version
 *   4    u64  start of the recording, ns since 1970; times in fields count from it
 *   12   i64  difference of the machine's clock to UTC, ns
 *   20   u32  message blocks
 *   24   u64  offset of the first channel info, 0 = none or never written
 *
 * Then fields to the end of the file: u8 type, u32 size of what follows, and
 *   0A  message block   u32 messages, u32 bytes of the fields in it, i64 first time, i64 last time; the fields follow
 *   0B  channel info    u64 offset of the next one, i64 first, i64 last, string name, string type, u64 n, n bytes of
 * meta data, u64 stored bytes of all messages, u64 offset of the index 0C  message         i64 time, string channel,
 * string frame id, u32 sequence, u32 stored size, u8 compressed, [u32 size, when it is], data 0D  index           u32
 * count, count x { u64 offset of the block, u64 offset of the message in it, i64 time }
 *
 * A string is u32 length + bytes. Tapes are little-endian or big-endian. Offsets are those of field headers; the offset
 * of a message is relative to the header of its block. */
#ifndef REEL_FORMATS_MIRA_LAYOUT_H
#define REEL_FORMATS_MIRA_LAYOUT_H

#include "formats/mira/keys.h"

enum mira_type { MIRA_BLOCK = 0x0a, MIRA_INFO = 0x0b, MIRA_MESSAGE = 0x0c, MIRA_INDEX = 0x0d };

enum {
    MIRA_HEADER = 32,
    MIRA_FIELD_HEAD = 5,
    MIRA_BLOCK_HEAD = 24,    /* content of a block before its fields */
    MIRA_INFO_FIXED = 56,    /* an info without name, type and meta data */
    MIRA_INFO_LINKS = 24,    /* next, first, last: before its name */
    MIRA_INFO_END = 16,      /* data size and index: after its meta data */
    MIRA_MESSAGE_FIXED = 25, /* a message without channel, frame id, size and data */
    MIRA_INDEX_ENTRY = 24,
    MIRA_VERSION_DEFAULT = 0x10000, /* for tapes of Reel; no value is documented */
};

#define MIRA_FRAME_KEY "frame_id"   /* channel metadata: the frame ids of its messages, in order of appearance */
#define MIRA_CODEC_KEY "mira.codec" /* channel metadata: "unknown" if messages are delivered as stored */
#define MIRA_VERSION_KEY "mira.version"
#define MIRA_START_KEY "mira.start_ns"
#define MIRA_UTC_KEY "mira.utc_offset_ns"
#define MIRA_NAME_FIELD                                                                                                \
    "reel.name" /* in the meta data of a foreign channel, with the fields of ros/wrap.h: its original name */
#define MIRA_LATCHED_FIELD "reel.latched"

#define MIRA_UTC_MAX_NS (15 * 3600 * 1000000000LL)
#define MIRA_WALL_MIN_NS 946684800000000000  /* 2000: an earlier start is a simulated clock */
#define MIRA_WALL_MAX_NS 4102444800000000000 /* 2100 */

/* entry.extra[0]: sequence in the low 32 bits; in the high ones the stated decoded size of a message with unknown
 * compression. extra[1]: 1
 * + index of its frame id among those of the channel (0: none), and MIRA_STORED_FLAG for a message with unknown
 * compression, or the codec (enum reel_codec) of one whose compression is known. */
#define MIRA_STORED_FLAG (1ull << 32)
#define MIRA_CODEC_SHIFT 40

#endif
