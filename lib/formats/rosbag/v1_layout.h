/* How ROS bags before 2.0 lie in the file, as tables. All integers are little-endian, nothing is aligned.
 *
 * First line             file
 *   "#ROSRECORD V1.2"    framed records to the end of the file
 *   "#ROSRECORD V1.1", "#ROSLOG V1.1", "#ROSLOG V1.0", or none (version 0)    text-header log
 *
 * Framed record (1.2)
 *   u32      header_len
 *   bytes    header: fields of u32 length + "name=value"; the first '=' divides; any order; a value is any bytes
 *   u32      data_len
 *   bytes    data
 *
 *   op=1 definition    topic, md5, type, def                                 no data
 *   op=2 message       topic, md5, type, sec u32, nsec u32; latched ones     data = payload
 *                      also latching ("1") and callerid, both text
 *   op=3 file header   index_pos u64 (0: never written); first record        data = spaces
 *   op=4 index         topic, ver u32 (0), count u32, type                   data = count index entries
 *
 * Index entry (16 bytes)
 *   0   u32  sec
 *   4   u32  nsec
 *   8   u64  pos, of the message record; a topic's first may be that of the definition record before it
 *
 * Text-header log: a line is bytes up to '\n'
 *   version 0     file: topic, md5, type lines            record: sec u32, nsec u32, len u32, payload
 *   version 1.0   file: quantity line (decimal digits),   record: topic line, sec u32, nsec u32, len u32, payload
 *                 quantity x topic, md5, type lines
 *   version 1.1   file: nothing                           record: topic, md5, type lines, sec u32, nsec u32, len u32,
 * payload md5 and type stand in either order; both may be "*". Stamps count from the start of the recording or from
 * 1970.
 */
#ifndef REEL_FORMATS_ROSBAG_V1_LAYOUT_H
#define REEL_FORMATS_ROSBAG_V1_LAYOUT_H

#define ROSBAG_V1_LINE_12 "#ROSRECORD V1.2\n"

enum rosbag_v1_op { ROSBAG_V1_DEFINITION = 1, ROSBAG_V1_MESSAGE = 2, ROSBAG_V1_FILE_HEADER = 3, ROSBAG_V1_INDEX = 4 };

enum {
    ROSBAG_V1_RECORD_MIN = 8, /* header_len and data_len */
    ROSBAG_V1_INDEX_ENTRY = 16,
    ROSBAG_V1_FILE_HEADER_ROOM = 4096, /* header_len + data_len of the file header record, as recorders wrote it */
    ROSBAG_V1_STAMP = 8,               /* sec, nsec */
    ROSBAG_V1_LINE_MAX = 4096,         /* longest line of a text-header log that is believed */
};

#define ROSBAG_V1_NS_PER_SEC 1000000000

#endif
