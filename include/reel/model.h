/* The parts of every recording after its scan, whatever its format. */
#ifndef REEL_MODEL_H
#define REEL_MODEL_H

#include "reel/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All text in the model is valid UTF-8, NUL-terminated, owned by the index; bytes of a file that are no UTF-8 (and
 * NULs) stand as \xNN. */
struct reel_pair {
    const char *key, *value;
};
struct reel_pairs { /* keys may repeat */
    struct reel_pair *items;
    size_t count;
};

struct reel_schema {
    const char *name;       /* "sensor_msgs/LaserScan" */
    const char *encoding;   /* "ros1msg", "jsonschema", … ; "" = none */
    const char *hash;       /* of the file (ROS md5, TIDE hash as hex); "" = none */
    struct reel_bytes data; /* the definition; may be empty */
};

/* One connection: topic + type + definition (+ callerid, latching …). Several channels may share a name. */
struct reel_channel {
    uint32_t id;      /* dense, 0 …: position in the index; the file's own id is in metadata where it has one */
    const char *name; /* the topic */
    const char *const
        *topics; /* the names it is found under; usually { name }. NanoVer's "frame+state" is found under both types */
    uint32_t n_topics;    /* at least 1 */
    const char *type;     /* message type; may be "" */
    const char *encoding; /* of the payload: "ros1", "nanover", "json" …; what decoders are chosen by */
    const struct reel_schema *schemas;
    uint32_t n_schemas; /* see reel_channel_schema() */
    struct reel_pairs metadata;
    bool latched; /* the last message stays valid until the next one (ROS latching) */
};

/* The channel's own schema, which defines its messages: the first whose name is the channel's type, else the first
 * whose name is another spelling of it ("a/B", "a/msg/B" and "a::msg::B"; ".a.B" and "a.B"), else the first. The others
 * are an envelope (RSB in TIDE logs: it stands first) or types that the own one needs, in any order. NULL: the channel
 * has none. */
const struct reel_schema *reel_channel_schema(const struct reel_channel *channel);

enum reel_codec {
    REEL_CODEC_NONE,
    REEL_CODEC_ZLIB,
    REEL_CODEC_GZIP,
    REEL_CODEC_DEFLATE,
    REEL_CODEC_BZIP2,
    REEL_CODEC_LZ4,
    REEL_CODEC_ZSTD,
    REEL_CODEC_ROWS, /* a database: the raw bytes are its rows, at the addresses that the format's open_rows() assigns
                      */
    REEL_CODEC_JSON_BYTES, /* JSON text; in the raw bytes the digits of each {"$base64": "…"} are its bytes, then zeros
                            */
};

#define REEL_CHUNK_PART UINT32_C(0x80000000) /* reel_chunk.part refers to a chunk instead of a part */

/* A run of bytes of one file, perhaps compressed; or of another chunk. Chunk ids 0 … n_parts-1 are the parts
 * themselves, whole and plain.
 */
struct reel_chunk {
    uint32_t
        part; /* or REEL_CHUNK_PART | id: inside the raw bytes of that earlier chunk (a member of an archive, a row) */
    enum reel_codec codec;
    uint64_t offset, stored; /* position in the part, size there */
    uint64_t raw; /* bytes after decompression; equal to stored for REEL_CODEC_NONE, UINT64_MAX for REEL_CODEC_ROWS */
    bool
        damaged; /* a compressed run of which only the first `raw` bytes can be decoded; a database that needs repair */
};

enum { REEL_ENTRY_EXTRAS = 2 };

/* One message. */
struct reel_entry {
    int64_t time_ns; /* log_time: since 1970 (clock wall) or since the recording's own zero (clock relative) */
    uint64_t offset; /* of its record, in the chunk's raw bytes; the payload is at offset + head */
    uint32_t channel, chunk;
    uint32_t head; /* bytes of record header kept reachable before the payload, for the format's describe() */
    uint32_t size; /* bytes of payload */
    uint64_t extra[REEL_ENTRY_EXTRAS]; /* the format's own columns; 0 when unused (a constant column costs nothing) */
};

enum reel_clock { REEL_CLOCK_WALL, REEL_CLOCK_RELATIVE };

struct reel_attachment {
    const char *name, *media_type;
    int64_t time_ns;
    uint32_t chunk; /* which chunk's raw bytes */
    uint64_t offset, size;
};

enum reel_severity {
    REEL_NOTE,    /* unusual, nothing lost */
    REEL_WARNING, /* breaks the format's rules, survived without loss */
    REEL_LOSS,    /* bytes or messages could not be kept: the recording is flagged damaged */
};
struct reel_finding {
    enum reel_severity severity;
    uint32_t part;
    uint64_t offset, length; /* in the part; length 0 = unknown */
    const char *text;        /* "the last record is truncated: it has 17 of 4096 bytes" */
};

struct reel_channel_stats {
    uint64_t count, bytes;     /* messages, payload bytes */
    uint64_t largest;          /* the largest payload; 0 of summarys */
    int64_t first_ns, last_ns; /* smallest and largest time; 0 when count is 0 */
    bool knows_gap;            /* not of summarys, nor where messages lie far out of order */
    uint64_t max_gap_ns;       /* the longest time between a message and the next */
};

#ifdef __cplusplus
}
#endif

#endif
