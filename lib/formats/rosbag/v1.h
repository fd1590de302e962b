/* Internals of the reader of ROS bags 0 … 1.2; a `struct rosbag_v1` is one bag during a scan. Layouts: v1_layout.h.
 * v1_scan.c: recognition and the scan · v1_walk.c: framed records and the fast path · v1_text.c: text-header logs ·
 * v1_names.c: topics, channels and definitions · v1_resume.c: where to go on after damage · v1_index.c: the index
 * compared with the walk · v1_summary.c: summary from the index alone. */
#ifndef REEL_FORMATS_ROSBAG_V1_H
#define REEL_FORMATS_ROSBAG_V1_H

#include "base/arena.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "base/mix.h"
#include "formats/ros/bag_record.h"
#include "formats/ros/wrap.h"
#include "formats/rosbag/v1_layout.h"
#include "index/format.h"
#include "index/scan.h"

extern const struct reel_format reel_format_rosbag_v1;

#define ROSBAG_V1_NOWHERE ROSRECORD_NOWHERE

/* The fields of a record header; data NULL: absent. They point into the window and are valid until its next use. */
struct rosbag_v1_fields {
    struct reel_bytes topic, md5, type, def, sec, nsec, latching, callerid, op, index_pos, ver, count;
    struct reel_bytes number;       /* reel.channel */
    struct reel_bytes all;          /* the whole header */
    struct reel_bytes unknown_name; /* name of the last unknown field */
    uint32_t unknown;               /* number of unknown fields */
    uint32_t unknown_bytes; /* in the header; extra[0] of entries, so that a writer of 1.2 can write them again */
    bool odd;               /* a field name is empty or unprintable */
};

struct rosbag_v1_record {
    uint64_t at;
    uint32_t head; /* bytes before the data */
    uint32_t size; /* of the data */
    uint8_t op;
    bool cut; /* not read because the file ends inside it */
    struct rosbag_v1_fields fields;
};

struct rosbag_v1_place { /* of a message */
    uint64_t at;
    uint32_t head, size;
    uint32_t unknown_bytes; /* of unknown fields in its header */
};
static inline struct rosbag_v1_place rosbag_v1_place_of(const struct rosbag_v1_record *r) {
    return (struct rosbag_v1_place){
        .at = r->at, .head = r->head, .size = r->size, .unknown_bytes = r->fields.unknown_bytes};
}

struct rosbag_v1_topic {
    const char *text; /* the name as model text */
    uint32_t connections;
    uint64_t messages, sum; /* what the walk found; sum of rosbag_v1_entry_hash(), independent of order */
    uint64_t first_at;      /* record of the first message */
    uint64_t definition_at; /* the last definition record before it */
    uint64_t index_entries, index_sum;
    bool indexed, distrusted;
    struct rosbag_v1_topic *next;
};

/* topic + md5 + type (+ the number of a wrapped channel): the subject of a definition record. */
struct rosbag_v1_connection {
    struct rosbag_v1_topic *topic;
    struct reel_bytes key; /* of these, joined */
    struct reel_bytes topic_name, md5, type, number;
    struct reel_bytes definition;
    struct reel_channel *wrapped; /* the channel inside the wrapper; NULL: not wrapped */
    struct reel_pair *extras;     /* unknown fields of its definition */
    size_t n_extras;
    bool defined, used; /* used: a message was found */
    struct rosbag_v1_connection *next;
};

/* connection + latching + callerid: a channel of the index pack. */
struct rosbag_v1_channel {
    struct reel_channel model; /* model.id is the builder's */
    struct reel_schema schema;
    struct reel_pair pairs[2];
    bool wrapped;
    struct rosbag_v1_connection *connection;
    struct rosbag_v1_topic *topic;
    struct rosbag_v1_channel *next;
};

/* Recorders repeat the header of a topic's messages byte for byte, except for the stamp. A template is such a header: a
 * record that equals it outside the two stamp words needs no parsing. */
enum { ROSBAG_V1_TEMPLATE_MAX = 512, ROSBAG_V1_TEMPLATE_BITS = 10, ROSBAG_V1_TEMPLATES = 1 << ROSBAG_V1_TEMPLATE_BITS };
struct rosbag_v1_template {
    struct rosbag_v1_template *next; /* what followed last time: the first guess */
    struct rosbag_v1_channel *channel;
    uint32_t size; /* bytes before the u32 payload length */
    uint32_t sec_at, nsec_at;
    uint32_t unknown; /* unknown fields in each such header */
    uint32_t unknown_bytes;
    uint32_t words; /* of eight bytes, the last one perhaps with some that are masked */
    uint64_t bits[ROSBAG_V1_TEMPLATE_MAX / 8], mask[ROSBAG_V1_TEMPLATE_MAX / 8]; /* mask: 0 at the stamp */
};
struct rosbag_v1_templates {
    struct rosbag_v1_template *slots[ROSBAG_V1_TEMPLATES];
    struct rosbag_v1_template *layouts[ROSBAG_V1_TEMPLATE_MAX + 1]; /* by size: the last one, for where the stamp is */
    struct rosbag_v1_template *last;                                /* of the record before */
    bool random; /* the last guess was wrong: the next one is not tried first */
};

/* Record positions that the index lists, kept for going on after damage. */
struct rosbag_v1_positions {
    uint64_t *at; /* sorted */
    size_t count, next;
    bool more; /* the index lists more, larger ones */
    unsigned passes;
};

struct rosbag_v1 {
    struct reel_scan *scan;
    struct reel_source *source;
    struct window window;
    uint64_t at;        /* position of the walk */
    uint64_t last;      /* where the payload of the previous record begins; 0: unknown */
    int64_t last_ns;    /* version 0: the last plausible stamp */
    uint64_t report_at; /* position of the next progress report */
    bool framed;        /* 1.2, not a text-header log */

    struct arena arena; /* memory for everything below that is kept by name */
    uint64_t seed;
    struct hash_table channel_table, connection_table, type_table, topic_table;
    struct rosbag_v1_channel *channels, **channels_end;
    struct rosbag_v1_connection *connections, **connections_end;
    struct rosbag_v1_topic *topics, **topics_end;
    uint8_t *key; /* scratch for joined keys */
    size_t key_room;
    struct rosbag_v1_templates *templates;

    uint64_t messages, carried;       /* stamps with nsec >= 10^9 */
    uint64_t unwrapped, unwrapped_at; /* messages of wrapped channels without a wrapper */
    uint64_t unknown_ops, unknown_ops_at, unknown_fields, unknown_fields_at;
    uint8_t unknown_op;
    char unknown_name[64];

    bool has_header;
    uint64_t index_pos; /* from the file header; 0: none */
    uint64_t index_at;  /* position of the first index record */
    struct rosbag_v1_positions positions;
    uint64_t search_left; /* bytes that searching may still read, so that it stays linear */
};

static inline int64_t rosbag_v1_time(uint32_t sec, uint32_t nsec) {
    return (int64_t)sec * ROSBAG_V1_NS_PER_SEC + nsec;
}
static inline uint64_t rosbag_v1_entry_hash(uint32_t sec, uint32_t nsec, uint64_t at) {
    return mix_pair((uint64_t)sec << 32 | nsec, at);
}

/* scan */
bool rosbag_v1_open(struct rosbag_v1 *bag, struct reel_scan *scan, size_t window_bytes, struct reel_error *err);
void rosbag_v1_close(struct rosbag_v1 *bag);

/* summary */
bool rosbag_v1_summary(struct reel_scan *scan, struct reel_error *err);

/* names */
void *rosbag_v1_keep(struct rosbag_v1 *bag, size_t size, struct reel_error *err); /* zeroed, lives with the bag */
bool rosbag_v1_names_fit(const struct rosbag_v1_fields *f);                       /* names within REEL_TEXT_MAX */
struct rosbag_v1_channel *rosbag_v1_channel_of(struct rosbag_v1 *bag, const struct rosbag_v1_fields *f, uint64_t at,
                                               struct reel_error *err);
struct rosbag_v1_topic *rosbag_v1_topic_named(const struct rosbag_v1 *bag, struct reel_bytes name);
bool rosbag_v1_define(struct rosbag_v1 *bag, const struct rosbag_v1_fields *f, uint64_t at, struct reel_error *err);
bool rosbag_v1_defined(struct rosbag_v1 *bag, const struct rosbag_v1_fields *f, bool *defined,
                       struct reel_error *err); /* the connection of a message */
/* adds the definitions to the channels */
bool rosbag_v1_finish_channels(struct rosbag_v1 *bag, struct reel_error *err);

/* walk */
bool rosbag_v1_record_read(struct window *window, uint64_t at, struct rosbag_v1_record *record,
                           struct reel_error *err); /* REEL_DAMAGED: no whole record */
bool rosbag_v1_is_extra(struct reel_bytes name);    /* of a field: it has no meaning in a bag */
bool rosbag_v1_walk(struct rosbag_v1 *bag, struct reel_error *err);
bool rosbag_v1_take(struct rosbag_v1 *bag, const struct rosbag_v1_record *record,
                    struct reel_error *err);                              /* one that
                                                                             is in
                                                                             bag->window
                                                                           */
bool rosbag_v1_is_message(const struct rosbag_v1_record *record);         /* with a proper topic and stamp */
bool rosbag_v1_walk_known(struct rosbag_v1 *bag, struct reel_error *err); /* reads the records that the window holds and
                                                                             templates match */
bool rosbag_v1_learn(struct rosbag_v1 *bag, const struct rosbag_v1_template *seen, const uint8_t *bytes,
                     struct reel_error *err);
bool rosbag_v1_message(struct rosbag_v1 *bag, struct rosbag_v1_channel *channel, const struct rosbag_v1_place *place,
                       uint32_t sec, uint32_t nsec, struct reel_error *err);
bool rosbag_v1_progress(struct rosbag_v1 *bag, uint64_t at, struct reel_error *err);

/* text */
enum rosbag_v1_log { ROSBAG_V1_LOG_0, ROSBAG_V1_LOG_10, ROSBAG_V1_LOG_11 };
bool rosbag_v1_text_plausible(struct reel_bytes head, uint64_t file_size); /* a version 0 log? */
bool rosbag_v1_text_walk(struct rosbag_v1 *bag, enum rosbag_v1_log log, struct reel_error *err);

/* log_0 */
/* True when this may be a record, by its stamp and by what follows it. For records whose length is right. */
bool rosbag_v1_log_0_check(struct rosbag_v1 *bag, int64_t time_ns, uint64_t end, bool *yes, struct reel_error *err);
/* Position of the first record from `from` on whose stamp is later than the last plausible one; ROSBAG_V1_NOWHERE:
 * none.
 */
bool rosbag_v1_log_0_find(struct rosbag_v1 *bag, uint64_t from, uint64_t *found, struct reel_error *err);

/* resume: moves bag->at past damage and reports it */
bool rosbag_v1_resume(struct rosbag_v1 *bag, const char *why, struct reel_error *err);

/* index */
bool rosbag_v1_index_prove(struct rosbag_v1 *bag, struct reel_error *err);

#endif
