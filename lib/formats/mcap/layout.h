/* MCAP as bytes. All integers little-endian; a string is u32 length + UTF-8; a map is u32 byte length + entries; an
 * array is u32 byte length + elements.
 *
 * File: magic | Header | schemas, channels | (Chunk, its MessageIndexes)* | Attachments | Metadata | DataEnd |
 *       summary: schemas, channels, Statistics, ChunkIndexes, AttachmentIndexes, MetadataIndexes | SummaryOffsets |
 * Footer | magic Magic: 89 'M' 'C' 'A' 'P' '0' 0D 0A
 */
/* clang-format off */
/* Every record: op u8 | length u64 of what follows | content, which may be longer than its fields:
 *   01 Header            profile str, library str
 *   02 Footer            summary_start u64, summary_offset_start u64, summary_crc u32
 *   03 Schema            id u16 (not 0), name str, encoding str, data u32 length + bytes
 *   04 Channel           id u16, schema u16, topic str, message_encoding str, metadata map<str,str>
 *   05 Message           channel u16, sequence u32, log_time u64, publish_time u64, payload
 *   06 Chunk             start u64, end u64, uncompressed_size u64, uncompressed_crc u32, compression str ("", lz4, zstd),
 *                        records u64 length + bytes
 *   07 MessageIndex      channel u16, array of (log_time u64, offset u64 in the chunk's records)
 *   08 ChunkIndex        start u64, end u64, chunk offset u64, chunk length u64, map<channel u16, MessageIndex offset u64>,
 *                        message index length u64, compression str, compressed_size u64, uncompressed_size u64
 *   09 Attachment        log_time u64, create_time u64, name str, media_type str, data u64 length + bytes,
 *                        crc u32 of all content before it
 *   0A AttachmentIndex   offset u64, length u64, log_time u64, create_time u64, data_size u64, name str, media_type str
 *   0B Statistics        messages u64, schemas u16, channels u32, attachments u32, metadata u32, chunks u32, start u64, end u64,
 *                        map<channel u16, count u64>
 *   0C Metadata          name str, map<str,str>
 *   0D MetadataIndex     offset u64, length u64, name str
 *   0E SummaryOffset     group's op u8, start u64, length u64
 *   0F DataEnd           data_section_crc u32 of all bytes before this record
 * A CRC of 0 is none. summary_crc covers the summary, the summary offsets and the footer up to and including summary_offset_start.
 * Offsets point at an op byte. */
/* clang-format on */
#ifndef REEL_FORMATS_MCAP_LAYOUT_H
#define REEL_FORMATS_MCAP_LAYOUT_H

#include "formats/mcap/message.h"

#define MCAP_MAGIC "\x89MCAP0\r\n"

enum mcap_op {
    MCAP_HEADER = 0x01,
    MCAP_FOOTER = 0x02,
    MCAP_SCHEMA = 0x03,
    MCAP_CHANNEL = 0x04,
    MCAP_MESSAGE = 0x05,
    MCAP_PRIVATE = 0x80, /* and above: records of applications */
    MCAP_CHUNK = 0x06,
    MCAP_MESSAGE_INDEX = 0x07,
    MCAP_CHUNK_INDEX = 0x08,
    MCAP_ATTACHMENT = 0x09,
    MCAP_ATTACHMENT_INDEX = 0x0A,
    MCAP_STATISTICS = 0x0B,
    MCAP_METADATA = 0x0C,
    MCAP_METADATA_INDEX = 0x0D,
    MCAP_SUMMARY_OFFSET = 0x0E,
    MCAP_DATA_END = 0x0F,
};

enum { /* bytes, with op and length where a whole record is meant */
       MCAP_MAGIC_SIZE = 8,
       MCAP_MAGIC_VERSION_AT = 5,
       MCAP_RECORD_HEAD = 9,
       MCAP_CHUNK_HEAD = 49,         /* Chunk without its records, compression "" */
       MCAP_CHUNK_CRC_AT = 33,       /* uncompressed_crc in the Chunk */
       MCAP_MESSAGE_INDEX_HEAD = 15, /* MessageIndex without its entries */
       MCAP_MESSAGE_INDEX_ENTRY = 16,
       MCAP_DATA_END_SIZE = 13,
       MCAP_FOOTER_SIZE = 29,
       MCAP_FOOTER_CRC_AT = 25, /* summary_crc in the Footer: what is before it is covered by it */
};

/* The Metadata record that Reel's writer keeps a recording's own metadata in, and what the fields of a Header are
 * called among these. */
#define MCAP_METADATA_NAME "reel"
#define MCAP_PROFILE_KEY "mcap.profile"
#define MCAP_LIBRARY_KEY "mcap.library"
/* In Reel's own Metadata record: times count from the recording's own zero. */
#define MCAP_CLOCK_KEY "reel.clock"
#define MCAP_CLOCK_RELATIVE "relative"

#endif
