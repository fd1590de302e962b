/* A ZIP archive: its layout, and what is in it. All numbers are little-endian.
 *
 * Local file header            | Central directory entry       | End of central directory
 *   0  4  "PK\3\4"             |   0  4  "PK\1\2"              |   0  4  "PK\5\6"
 *   4  2  version needed       |   4  2  made by (3 = Unix)    |   4  2  this disk
 *   6  2  flags                |   6  2  version needed        |   6  2  disk of the directory
 *   8  2  method               |   8  2  flags                 |   8  2  entries on this disk
 *  10  2  DOS time             |  10  2  method                |  10  2  entries
 *  12  2  DOS date             |  12  2  DOS time              |  12  4  size of the directory
 *  14  4  CRC-32               |  14  2  DOS date              |  16  4  offset of the directory
 *  18  4  stored size          |  16  4  CRC-32                |  20  2  comment length
 *  22  4  raw size             |  20  4  stored size           |  22     comment
 *  26  2  name length          |  24  4  raw size              |
 *  28  2  extra length         |  28  2  name length           | ZIP64 end of central directory
 *  30     name, extra          |  30  2  extra length          |   0  4  "PK\6\6"
 *                              |  32  2  comment length        |   4  8  size of the rest (44)
 * ZIP64 extra field            |  34  2  disk                  |  12  2  made by, then needed (45, 45)
 *   0  2  id 0x0001            |  36  2  internal attributes   |  16  4  this disk, then disk of the directory
 *   2  2  length               |  38  4  external attributes   |  24  8  entries on this disk
 *   4  8  raw size       \     |  42  4  local header offset   |  32  8  entries
 *      8  stored size     } those whose 32-bit field is        |  40  8  size of the directory
 *      8  header offset  /     0xFFFFFFFF, in this order       |  48  8  offset of the directory
 *
 * ZIP64 locator: 0 4 "PK\6\7", 4 4 disk, 8 8 offset of the ZIP64 end, 16 4 disks (1)
 */
#ifndef REEL_SYNTAX_ZIP_H
#define REEL_SYNTAX_ZIP_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/source.h"
#include "chunks/chunk.h"

enum {
    ZIP_LOCAL_SIZE = 30,
    ZIP_CENTRAL_SIZE = 46,
    ZIP_END_SIZE = 22,
    ZIP_END64_SIZE = 56,
    ZIP_LOCATOR_SIZE = 20,
    ZIP_COMMENT_MAX = 65535,
    ZIP_ID_ZIP64 = 0x0001,
    ZIP_STORED = 0,
    ZIP_DEFLATED = 8,
    ZIP_FLAG_ENCRYPTED = 0x0001,
    ZIP_FLAG_DESCRIPTOR = 0x0008, /* sizes and CRC follow the data */
    ZIP_FLAG_UTF8 = 0x0800,
    ZIP_VERSION = 20,
    ZIP_VERSION_64 = 45,
    ZIP_MADE_BY_UNIX = 3,
    ZIP_DATE_1980 = 0x0021,      /* 1980-01-01: members carry no real time */
    ZIP_ATTRIBUTES = 0x01800000, /* mode 0600 */
    ZIP64_EXTRA_SIZE = 20,
};

#define ZIP_LOCAL_MAGIC UINT32_C(0x04034b50)
#define ZIP_CENTRAL_MAGIC UINT32_C(0x02014b50)
#define ZIP_END_MAGIC UINT32_C(0x06054b50)
#define ZIP_END64_MAGIC UINT32_C(0x06064b50)
#define ZIP_LOCATOR_MAGIC UINT32_C(0x07064b50)
#define ZIP_IN_ZIP64 UINT32_C(0xFFFFFFFF)
#define ZIP_PLAIN_MAX UINT64_C(0x7FFFFFFF) /* Python's zipfile switches to ZIP64 above this, not above 2^32 - 1 */

struct zip_member {
    struct reel_bytes name;
    uint64_t offset, stored, raw; /* of its data in the file */
    enum reel_codec codec;
    bool crc_known;
    uint32_t crc;
    const char *problem; /* why its bytes cannot be read; NULL = readable */
    bool foreign;        /* … because of its compression or encryption, not damage */
};
struct zip_contents {
    struct arena arena;
    struct zip_member *members;
    size_t count;
};

/* Reads the members in the directory. Free the contents after a failure too. REEL_DAMAGED: no directory, or a damaged
 * one; REEL_LIMIT. */
bool zip_contents_read(struct zip_contents *contents, struct reel_source *source, struct reel_error *err);
/* For a file without a directory: the first `most` members by their local headers, from the start of the file. Replaces
 * the members, keeps the arena. REEL_NOT_MINE: the file does not begin with a local header. */
bool zip_contents_walk(struct zip_contents *contents, struct reel_source *source, size_t most, struct reel_error *err);
void zip_contents_free(struct zip_contents *contents);

#endif
