/* How PX4 ULog files lie on disk (docs.px4.io, "ULog File Format"). Little-endian, nothing is aligned; there is no
 * index, no checksum and no footer.
 *
 * Header
 *   7 bytes  magic            "ULog" 01 12 35
 *   u8       version          0 or 1
 *   u64      time             of the start, µs; as all times, since boot
 * Message
 *   u16      size             of the data that follow the type
 *   u8       type
 *   bytes    data
 *
 * Messages by type; first come B, F, I, M, P and Q (the definitions), then all but B and F (the data).
 *   B  flag bits       u8[8] compatible, u8[8] incompatible, u64[3] offsets of appended data, ...; the first message
 *   F  format          "name:type field;type[3] field;..."; a type is a basic one or the name of another format
 *   I  info            u8 size of the key, key "type name", value
 *   M  multi info      u8 continues the one before, then as I
 *   P  parameter       as I; int32_t or float. In the data: it has changed
 *   Q  default         u8 which (1 system, 2 setup), then as I
 *   A  subscription    u8 instance, u16 id, name of a format
 *   R  end of one      u16 id
 *   D  data            u16 id, values by the format; padding at its end may be left out
 *   L  text            u8 level ('0' to '7' as syslog's), u64 time, text
 *   C  tagged text     u8 level, u16 tag, u64 time, text
 *   S  sync            8 magic bytes
 *   O  dropout         u16 ms
 *
 * Basic types are int8_t to uint64_t, float, double, bool (u8) and char. Fields whose name begins with _padding hold
 * nothing. The field "timestamp" (uint64_t, µs) is the time of a message. */
#ifndef REEL_FORMATS_ULOG_LAYOUT_H
#define REEL_FORMATS_ULOG_LAYOUT_H

#define ULOG_MAGIC "ULog\x01\x12\x35"
#define ULOG_SYNC "\x2f\x73\x13\x20\x25\x0c\xbb\x12"
#define ULOG_PADDING "_padding"
#define ULOG_ROS_PADDING "ulog_padding" /* in definitions of ROS */

enum {
    ULOG_MAGIC_SIZE = 7,
    ULOG_HEADER = 16,
    ULOG_HEAD = 3,      /* of a message */
    ULOG_DATA_HEAD = 5, /* of a D message, with its id */
    ULOG_FLAGS = 40,
    ULOG_APPENDED = 3,
    ULOG_SYNC_SIZE = 8,
    ULOG_DATA_MAX = 65535,
};

/* Encoding of D messages. The bytes are those of a ROS 1 message, with the definition that ulog_definition() writes. */
#define ULOG_ENCODING "ulog"
/* L, C and P messages are laid out as messages of ROS 1 when they are read: payloads of a chunk of REEL_CODEC_ROWS, in
 * which that of the message at N is at N << ULOG_ROW_BITS. */
enum { ULOG_ROW_BITS = 18 };

#endif
