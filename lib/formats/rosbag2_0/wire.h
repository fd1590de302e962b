/* How a ROS bag 2.0 lies in the file, as tables. All integers are little-endian, nothing is aligned. Records are framed as in 1.2
 * (rosbag1_wire.h): u32 header_len, header of "name=value" fields in any order, u32 data_len, data.
 *
 * File
 *   "#ROSBAG V2.0\n"
 *   file header record     header_len + data_len = 4096
 *   chunk record, its index data records (one a connection that is in it); and again
 *   at index_pos: all connection records, all chunk info records
 *
 *   op=3 file header   index_pos u64 (0: never closed), conn_count u32,       data = spaces
 *                      chunk_count u32; encryptor, gpg_user, … when encrypted
 *   op=5 chunk         compression ("none", "bz2", "lz4"), size u32 (raw)     data = connection and message records, compressed
 *   op=7 connection    conn u32, topic                                        data = fields: topic, type, md5sum, message_definition,
 *                                                                             perhaps callerid, latching ("1"), others
 *   op=2 message       conn u32, time                                         data = payload
 *   op=4 index data    ver u32 (1), conn u32, count u32                       data = count entries (12 bytes each)
 *   op=6 chunk info    ver u32 (1), chunk_pos u64, start_time, end_time,      data = count rows (8 bytes each)
 *                      count u32
 *
 * Time: u32 sec, u32 nsec
 * Index entry                                       Chunk info row
 *   0   8 bytes  time of the message                  0   u32  conn
 *   8   u32      its offset in the raw chunk          4   u32  messages of it in the chunk
 *
 * Encrypted: chunk data and both halves of the connection records at the end are a 16-byte vector and AES-CBC; the framing stays.
 */
#ifndef REEL_FORMATS_BAG2_WIRE_H
#define REEL_FORMATS_BAG2_WIRE_H

#define ROSBAG2_0_LINE "#ROSBAG V2.0\n"

enum rosbag2_0_op {
    ROSBAG2_0_MESSAGE = 2,
    ROSBAG2_0_FILE_HEADER = 3,
    ROSBAG2_0_INDEX = 4,
    ROSBAG2_0_CHUNK = 5,
    ROSBAG2_0_CHUNK_INFO = 6,
    ROSBAG2_0_CONNECTION = 7,
};

enum {
    ROSBAG2_0_INDEX_ENTRY = 12,
    ROSBAG2_0_INFO_ROW = 8,
    ROSBAG2_0_VERSION_1 = 1,          /* of index data and chunk info */
    ROSBAG2_0_MESSAGE_FIELDS = 38,    /* length of a message's header: conn, op, time in some order */
    ROSBAG2_0_MESSAGE_HEAD = 46,      /* with both lengths */
    ROSBAG2_0_FILE_HEADER_ROOM = 4096 /* header_len + data_len of the file header record */
};

#define ROSBAG2_0_NS_PER_SEC 1000000000
#define ROSBAG2_0_WALL_SEC_MIN 100000000u /* a first stamp below this (March 1973) is no date */

#endif
