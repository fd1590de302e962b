/* The files of a rosbag2 directory: metadata.yaml and .db3 (SQLite) or .mcap files, each of them perhaps packed whole
 * as FILE.zstd.
 *
 *   tables of a .db3, by schema version       1 (2018)  2 (Foxy)  3 (2022)  4 (Iron)
 *   topics       id                              x         x         x         x      integer primary key
 *                name, type                      x         x         x         x
 *                serialization_format            x         x         x         x      "cdr"
 *                offered_qos_profiles            -         x         x         x      YAML list, as metadata.yaml holds
 * it type_description_hash           -         -         -         x      "RIHS01_…", may be empty messages     id x x
 * x         x      integer primary key: the rowid topic_id, timestamp, data       x         x         x         x
 * timestamp: received, ns since 1970 schema       schema_version, ros_distro      -         -         x         x one
 * row metadata     id, metadata_version, metadata  -         -         x         x      the last row: metadata.yaml as
 * text message_definitions topic_type, encoding,           -         -         -         x      "ros2msg", "ros2idl" or
 * "unknown" encoded_message_definition      -         -         -         x      the text type_description_hash - - - x
 *   index        timestamp_idx on messages       (x)       x         x         x      not used: it could say something
 * else
 *
 *   data is CDR with its header of 4 bytes (0, kind, options); with compression_mode MESSAGE each is a zstd frame of
 * that.
 *
 *   header of an SQLite file, big-endian:
 *   0   16   "SQLite format 3", NUL
 *   16  2    page size, 1 = 65536
 *   18  1    write version: 2 = WAL
 *   19  1    read version: 2 = WAL
 *   20  1    bytes reserved at the end of each page
 *   24  4    change counter
 *   28  4    pages of the database, good when the change counter is that of 92
 *   32  4    first trunk page of the list of free pages; 0: none
 *   36  4    number of free pages
 *   92  4    change counter when 28 was written
 *   trunk page: u32 next trunk page or 0, u32 number of leaves n, n times u32 page of the list's leaf
 */
#ifndef REEL_FORMATS_ROSBAG2_LAYOUT_H
#define REEL_FORMATS_ROSBAG2_LAYOUT_H

#include <stdint.h>

#define SQLITE_MAGIC "SQLite format 3" /* with its NUL */
#define ROSBAG2_LOG_ENDING "-wal"      /* after the name of its database */
#define ROSBAG2_YAML_ROOT "rosbag2_bagfile_information"

enum {
    SQLITE_MAGIC_SIZE = 16,
    SQLITE_HEADER_SIZE = 100,
    SQLITE_PAGE_SIZE_AT = 16,
    SQLITE_READ_VERSION_AT = 19,
    SQLITE_RESERVED_AT = 20,
    SQLITE_CHANGES_AT = 24,
    SQLITE_PAGES_AT = 28,
    SQLITE_FREE_AT = 32,
    SQLITE_PAGES_GOOD_AT = 92,
    SQLITE_PAGE_MIN = 512,
};

/* A row's payload is at address rowid << 31 of the rows: SQLite holds no value of 2^31 bytes. */
enum { ROSBAG2_ROW_BITS = 31 };
#define ROSBAG2_ROW_MAX ((INT64_C(1) << 33) - 1)
#define ROSBAG2_PAYLOAD_MAX ((INT64_C(1) << 31) - 1)

static inline uint64_t rosbag2_address(int64_t rowid) {
    return (uint64_t)rowid << ROSBAG2_ROW_BITS;
}

#define ROSBAG2_ENCODING "cdr" /* of the messages of a topic that names none */

#endif
