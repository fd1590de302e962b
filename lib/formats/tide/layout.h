/* Layout of TIDE logs. Everything is little-endian. A file is blocks without padding, each `tag[4]`, u64 Size (bytes
 * that follow), body. "Old" is what majors 0 and 1 have, "new" is major 2.
 *
 *   TIDE, first and once      old                         new
 *    0  u8  major             u8                          u8
 *    1  u8  minor             u8                          u8
 *    2  u32 channels          u32, often 0                -
 *    6  u32 chunks            u32, often 0                -
 *
 *   CHAN                      old                         new
 *       id                    u32                         u32
 *       name                  u8 length + bytes           u8 length + bytes
 *       type                  u32 length + bytes          -
 *       source name           u32 length + bytes          u32 length + bytes
 *       source config         u32 length + bytes          u32 length + bytes
 *       format                u32 length + bytes          -
 *       hashes of types       -                           u8 count, each u16 length + bytes
 *
 *   CHNK
 *    0  u32 chunk id
 *    4  u32 count of entries (old recorders: of bytes)
 *    8  u64 start, ns since 1970; the smallest time of an entry
 *   16  u64 end, the largest
 *   24  u8  compression of what follows: 0 none, 1 gzip, 2 bzip2
 *   25  entries: u32 channel id, u64 time in ns, u32 size, bytes
 *
 *   INDX                      old                         new
 *    0  u32 channel id
 *    4  u32 count
 *    8  rows of 20 bytes:     u32 chunk id                u64 offset of the CHNK block
 *                             u64 time                    u64 time
 *                             u64 offset                  u32 offset, both from the first entry of the chunk
 *
 *   TYPE (new)  u16+hash  u8+syntax  u16+display name  u16+version  u32+definition  u8 n, u16+URL  u16 n, u16+hash of a
 * type it needs META (new)  u16 n, each u16+key u32+value */
#ifndef REEL_FORMATS_TIDE_LAYOUT_H
#define REEL_FORMATS_TIDE_LAYOUT_H

enum {
    TIDE_BLOCK_HEAD = 12,
    TIDE_BODY_NEW = 2,
    TIDE_BODY_OLD = 10,
    TIDE_MAJOR_MAX = 2,

    TIDE_CHUNK_HEAD = 25,
    TIDE_CHUNK_COUNT_AT = 4,
    TIDE_CHUNK_START_AT = 8,
    TIDE_CHUNK_END_AT = 16,
    TIDE_CHUNK_COMPRESSION_AT = 24,
    TIDE_PLAIN = 0,
    TIDE_GZIP = 1,
    TIDE_BZIP2 = 2,

    TIDE_ENTRY_HEAD = 16,
    TIDE_ENTRY_TIME_AT = 4,
    TIDE_ENTRY_SIZE_AT = 12,

    TIDE_INDEX_HEAD = 8,
    TIDE_INDEX_ROW = 20,
};

#endif
