/* Chunks: where the bytes of messages are. */
#ifndef REEL_CHUNKS_CHUNK_H
#define REEL_CHUNKS_CHUNK_H

#include "reel/model.h"

enum reel_codec {
    REEL_CODEC_NONE,
    REEL_CODEC_ZLIB,
    REEL_CODEC_GZIP,
    REEL_CODEC_DEFLATE,
    REEL_CODEC_BZIP2,
    REEL_CODEC_LZ4,
    REEL_CODEC_ZSTD,
    /* a database: the raw bytes are its rows, at the addresses that the format's open_rows() assigns */
    REEL_CODEC_ROWS,
    /* JSON text; in the raw bytes the digits of each {"$base64": "…"} are its bytes, then zeros */
    REEL_CODEC_JSON_BYTES,
    /* a database with the changes in its log: the chunk with the id before this one, plain; by the format's
       open_logged() */
    REEL_CODEC_LOGGED,
    REEL_CODEC_XZ,
};

#define REEL_CHUNK_PART UINT32_C(0x80000000) /* reel_chunk.part refers to a chunk instead of a part */

/* A run of bytes of one file, perhaps compressed; or of another chunk. Chunk ids 0 … n_parts-1 are the parts
 * themselves, whole and plain.
 */
struct reel_chunk {
    uint32_t part; /* or REEL_CHUNK_PART | id: inside the raw bytes of that earlier chunk (a member of an archive, a
                      row) */
    enum reel_codec codec;
    uint64_t offset, stored; /* position in the part, size there */
    uint64_t raw; /* bytes after decompression; equal to stored for REEL_CODEC_NONE, UINT64_MAX for REEL_CODEC_ROWS */
    /* a compressed run of which only the first `raw` bytes can be decoded; a database that needs repair */
    bool damaged;
};

#endif
