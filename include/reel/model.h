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
