/* How a ROS bag 2.0 lies in the file, as tables, and reading single records of it. All integers are little-endian,
 * nothing is aligned. Records are framed as in 1.2 (v1_layout.h): u32 header_len, header of "name=value" fields in
 * any order, u32 data_len, data.
 *
 * File
 *   "#ROSBAG V2.0\n"
 *   file header record     header_len + data_len = 4096
 *   chunk record, its index data records (one a connection that is in it); and again
 *   at index_pos: all connection records, all chunk info records
 *
 *   op=3 file header   index_pos u64 (0: never closed), conn_count u32,       data = spaces
 *                      chunk_count u32; encryptor, gpg_user, … when encrypted
 *   op=5 chunk         compression ("none", "bz2", "lz4"), size u32 (raw)     data = connection and message records,
 * compressed op=7 connection    conn u32, topic                                        data = fields: topic, type,
 * md5sum, message_definition, perhaps callerid, latching ("1"), others op=2 message       conn u32, time data = payload
 *   op=4 index data    ver u32 (1), conn u32, count u32                       data = count entries (12 bytes each)
 *   op=6 chunk info    ver u32 (1), chunk_pos u64, start_time, end_time,      data = count rows (8 bytes each)
 *                      count u32
 *
 * Time: u32 sec, u32 nsec
 * Index entry                                       Chunk info row
 *   0   8 bytes  time of the message                  0   u32  conn
 *   8   u32      its offset in the raw chunk          4   u32  messages of it in the chunk
 *
 * Encrypted: chunk data and both halves of the connection records at the end are a 16-byte vector and AES-CBC; the
 * framing stays.
 */
#ifndef REEL_FORMATS_ROSBAG_V2_LAYOUT_H
#define REEL_FORMATS_ROSBAG_V2_LAYOUT_H

#include "base/mix.h"
#include "formats/ros/bag_record.h"

#define ROSBAG_V2_LINE "#ROSBAG V2.0\n"

enum rosbag_v2_op {
    ROSBAG_V2_MESSAGE = 2,
    ROSBAG_V2_FILE_HEADER = 3,
    ROSBAG_V2_INDEX = 4,
    ROSBAG_V2_CHUNK = 5,
    ROSBAG_V2_CHUNK_INFO = 6,
    ROSBAG_V2_CONNECTION = 7,
};

enum {
    ROSBAG_V2_INDEX_ENTRY = 12,
    ROSBAG_V2_INFO_ROW = 8,
    ROSBAG_V2_VERSION_1 = 1,          /* of index data and chunk info */
    ROSBAG_V2_MESSAGE_FIELDS = 38,    /* length of a message's header: conn, op, time in some order */
    ROSBAG_V2_MESSAGE_HEAD = 46,      /* with both lengths */
    ROSBAG_V2_FILE_HEADER_ROOM = 4096 /* header_len + data_len of the file header record */
};

#define ROSBAG_V2_NS_PER_SEC 1000000000

/* The fields of a record header; data NULL = missing. They point into the window: valid until its next use. */
struct rosbag_v2_fields {
    struct reel_bytes op, conn, topic, time, compression, size, ver, count;
    struct reel_bytes index_pos, conn_count, chunk_count, chunk_pos, start_time, end_time, encryptor;
    struct reel_bytes all;          /* the whole header */
    struct reel_bytes unknown_name; /* name of the last unknown field */
    uint32_t unknown;               /* number of unknown fields */
    bool odd;                       /* a field name is empty or unprintable */
};

struct rosbag_v2_record {
    uint64_t at;
    uint32_t head; /* bytes before the data */
    uint32_t size; /* of the data */
    uint8_t op;
    bool cut; /* not read because the file (or chunk) ends inside it */
    struct rosbag_v2_fields fields;
};

/* One chunk info record. */
struct rosbag_v2_info {
    uint64_t chunk_pos, start, end; /* stamps as sec << 32 | nsec */
    uint64_t messages, sum;         /* sum of rosbag_v2_row_hash() */
    uint32_t connections;
    uint32_t rows; /* number of rows: declared and present */
};
struct rosbag_v2_row {
    uint32_t conn, messages;
};
static inline uint64_t rosbag_v2_entry_hash(uint64_t stamp, uint64_t offset) {
    return mix_pair(stamp, offset);
}
static inline uint64_t rosbag_v2_row_hash(uint32_t conn, uint64_t messages) {
    return rosbag_v2_entry_hash(conn, messages);
}
/* A time field or index entry as one sortable number. */
static inline uint64_t rosbag_v2_stamp(const uint8_t *p) {
    return (uint64_t)load_u32le(p) << 32 | load_u32le(p + 4);
}
static inline int64_t rosbag_v2_stamp_ns(uint64_t stamp) {
    return (int64_t)(stamp >> 32) * ROSBAG_V2_NS_PER_SEC + (int64_t)(stamp & UINT32_MAX);
}
/* A u32 field, or `other` when it is missing or of another size. */
static inline uint32_t rosbag_v2_u32(struct reel_bytes field, uint32_t other) {
    return field.size == 4 ? load_u32le(field.data) : other;
}

bool rosbag_v2_record_read(struct window *window, uint64_t at, const struct rosrecord_bounds *bounds,
                           struct rosbag_v2_record *r, struct reel_error *err);
bool rosbag_v2_is_record(const struct rosbag_v2_record *r); /* true when all fields of its op are present */
bool rosbag_v2_info_read(struct window *window, const struct rosbag_v2_record *r, struct rosbag_v2_info *info,
                         struct reel_error *err);
bool rosbag_v2_info_row(struct window *window, const struct rosbag_v2_record *r, uint32_t i, struct rosbag_v2_row *row,
                        struct reel_error *err);

#endif
