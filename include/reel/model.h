/* What every recording consists of, whatever its format. Plain data, which the library allocates and programs only
 * read; it is immutable and lives as long as what it was got from.
 *
 * Later versions may add members at the end of a struct, except of those that come in arrays (struct reel_pair, struct
 * reel_schema). So a program does not copy, compare or make arrays of the others. */
#ifndef REEL_MODEL_H
#define REEL_MODEL_H

#include "reel/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Texts are valid UTF-8, NUL-terminated and never NULL; bytes of a file that are no UTF-8 (and NULs) stand as \xNN. */
struct reel_pair {
    const char *key, *value;
};
struct reel_pairs { /* keys may repeat */
    struct reel_pair *items;
    size_t count;
};

/* The definition of a message type. */
struct reel_schema {
    const char *name;       /* "sensor_msgs/LaserScan" */
    const char *encoding;   /* the language: "ros1msg", "jsonschema", …; "": none */
    const char *hash;       /* as the file has it (ROS md5, TIDE hash as hex); "": none */
    struct reel_bytes data; /* the definition; may be empty */
};

/* A topic with a type: one connection of a file. Several channels may share a name. */
struct reel_channel {
    uint32_t id;               /* position in the index, from 0; the file's own id is in `metadata` where it has one */
    const char *name;          /* the topic */
    const char *const *topics; /* the names it is found under, usually { name }; NanoVer's "frame+state" is found under
                                  both types */
    uint32_t n_topics;         /* at least 1 */
    const char *type;          /* of its messages; may be "" */
    const char *encoding;      /* of the payload: "ros1", "cdr", "json", "nanover", … */
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

/* What times count from: 1970, or the recording's own zero. */
enum reel_clock { REEL_CLOCK_WALL, REEL_CLOCK_RELATIVE };

/* A file inside of the recording, read by reel_attachment_read(). */
struct reel_attachment {
    const char *name, *media_type;
    int64_t time_ns;
    uint32_t chunk;        /* where it is, for the library */
    uint64_t offset, size; /* … ; bytes */
};

enum reel_severity {
    REEL_NOTE,    /* unusual, nothing lost */
    REEL_WARNING, /* breaks the format's rules, nothing lost */
    REEL_LOSS,    /* bytes or messages could not be recovered: the recording is damaged */
};
/* What a scan found that is not as it should be. */
struct reel_finding {
    enum reel_severity severity;
    uint32_t part;           /* which of the recording's files */
    uint64_t offset, length; /* in it; length 0: unknown */
    const char *text;        /* "the last record is truncated: it has 17 of 4096 bytes" */
};

struct reel_channel_stats {
    uint64_t count, bytes;     /* messages, payload bytes */
    uint64_t largest;          /* the largest payload; 0 in a summary */
    int64_t first_ns, last_ns; /* smallest and largest time; 0 without messages */
    bool knows_gap;            /* not in a summary, nor where messages lie far out of order */
    uint64_t max_gap_ns;       /* the longest time between a message and the next */
};

#ifdef __cplusplus
}
#endif

#endif
