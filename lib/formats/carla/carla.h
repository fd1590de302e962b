/* What the parts of the CARLA recorder format share. packets: what each packet is, its records, its channel · scan: the walk · facts: what
 * only the packets tell of a file (floats or doubles, numbering, writer) · state: the state of one instant · write, join: the .log writer.
 * Contract of the entries: head is the 5-byte packet header; extra[0] is the frame's place in the file, from 1 (0: before the first frame),
 * extra[1] how many bytes before the packet that frame's start packet lies. */
#ifndef REEL_FORMATS_CARLA_H
#define REEL_FORMATS_CARLA_H

#include "core/window.h"
#include "formats/carla/wire.h"
#include "reel/scan.h"
#include "wire/cursor.h"
#include "wire/limits.h"

#define CARLA_NS_PER_SEC 1000000000
#define CARLA_DATE_MIN 946684800  /* 2000: CARLA is younger */
#define CARLA_DATE_MAX 4102444800 /* 2100 */
#define CARLA_ELAPSED_MAX 1e9     /* seconds; more is no time */
#define CARLA_JUMP_MAX 86400.0    /* seconds from frame to frame; more is not believed */

/* Packets by meaning, in the order in which a frame holds them. */
enum carla_kind {
    CARLA_FRAME_START,
    CARLA_VISUAL_TIME,
    CARLA_FRAME_COUNTER,
    CARLA_EVENT_ADD,
    CARLA_EVENT_DEL,
    CARLA_EVENT_PARENT,
    CARLA_COLLISION,
    CARLA_DOOR,
    CARLA_POSITION,
    CARLA_TRAFFIC_LIGHT,
    CARLA_VEHICLE_ANIMATION,
    CARLA_WALKER_ANIMATION,
    CARLA_VEHICLE_LIGHT,
    CARLA_SCENE_LIGHT,
    CARLA_WHEELS,
    CARLA_BIKER,
    CARLA_WEATHER,
    CARLA_KINEMATICS,
    CARLA_BOUNDING_BOX,
    CARLA_TRIGGER_VOLUME,
    CARLA_PLATFORM_TIME,
    CARLA_PHYSICS,
    CARLA_TRAFFIC_LIGHT_TIME,
    CARLA_BONES,
    CARLA_UNKNOWN,
    CARLA_FRAME_END,
    CARLA_KINDS
};

/* What only a look at the packets tells. */
struct carla_layout {
    uint8_t vec;                                                /* bytes of a vec; 0 = not known yet */
    uint8_t wheel;                                              /* bytes of a wheel in packet 15; 0 = none was seen */
    uint8_t attributes_from;                                    /* attribute types count from 0 or 1 */
    enum { CARLA_IDS_OPEN, CARLA_IDS_0915, CARLA_IDS_UE5 } ids; /* the numbering of 21…23 */
};

struct carla_header {
    uint16_t version;
    int64_t date;
    struct reel_bytes map;
    uint32_t size;
};
struct carla_frame {
    uint64_t id;
    double duration, elapsed;
};

/* --- carla_packets.c --- */

/* How a cut makes the state of its first instant. */
enum carla_front {
    CARLA_FRONT_NONE,   /* what happens, or is measured anew: no state */
    CARLA_FRONT_ACTORS, /* event add: those alive */
    CARLA_FRONT_LATEST, /* the last packet of the kind */
    CARLA_FRONT_KEYED,  /* the last record of each key */
};
struct carla_facts {
    const char *topic, *type;
    uint8_t id; /* in the numbering of 0.9.16 */
    enum { CARLA_PLAIN, CARLA_LIST, CARLA_LIST_ADD, CARLA_LIST_PHYSICS, CARLA_LIST_BONES, CARLA_LIST_WHEELS, CARLA_OPAQUE } body;
    uint8_t fixed, vecs; /* bytes of the data (CARLA_PLAIN) or of a record (CARLA_LIST): these, and that many vecs */
    enum carla_front front;
    uint8_t key; /* bytes of the key at a record's begin; 0 = none */
};
extern const struct carla_facts carla_facts[CARLA_KINDS];

enum carla_kind carla_kind_of(uint8_t id, const struct carla_layout *layout);
static inline bool carla_is_list(enum carla_kind kind) {
    return carla_facts[kind].body >= CARLA_LIST && carla_facts[kind].body <= CARLA_LIST_WHEELS;
}
/* Packets that the recorder writes with size 0 first. */
static inline bool carla_is_patched(enum carla_kind kind) {
    return (carla_is_list(kind) && carla_facts[kind].body != CARLA_LIST) || kind == CARLA_EVENT_DEL || kind == CARLA_EVENT_PARENT ||
           kind == CARLA_VEHICLE_ANIMATION;
}
/* Bytes of a record of a CARLA_LIST. */
static inline uint32_t carla_record_size(enum carla_kind kind, const struct carla_layout *layout) {
    return carla_facts[kind].fixed + (uint32_t)carla_facts[kind].vecs * (layout->vec ? layout->vec : CARLA_VEC_FLOAT);
}
/* Are the records of a list something that we can walk? Not the physics of UE5. */
static inline bool carla_has_records(enum carla_kind kind, const struct carla_layout *layout) {
    return carla_is_list(kind) && !(kind == CARLA_PHYSICS && layout->vec == CARLA_VEC_DOUBLE);
}
/* Steps over one record of a list; false when it does not fit. */
bool carla_record(enum carla_kind kind, const struct carla_layout *layout, struct cursor *c, struct reel_bytes *record);
/* How many records a list holds, also where its total has wrapped at 65536; false: they do not end exactly at the packet's end, or cannot
 * be walked. */
bool carla_count(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes data, uint32_t *count);
/* Do the records of the packet end exactly at its end? Physics are tried with the wheels of `layout` only. */
bool carla_fits(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes data);

bool carla_header_read(struct reel_bytes head, struct carla_header *header); /* REEL_NOT_MINE and cut ones: false */
struct carla_frame carla_frame_read(const uint8_t data[CARLA_START_SIZE]);
static inline bool carla_date_believed(int64_t date) {
    return date >= CARLA_DATE_MIN && date <= CARLA_DATE_MAX;
}

/* The channel of a packet: everything that is needed to decode its payload stands in type and metadata. */
enum { CARLA_CHANNEL_PAIRS = 6 };
struct carla_channel {
    struct reel_channel model;
    struct reel_pair pairs[CARLA_CHANNEL_PAIRS];
    char topic[24], type[32], id[4];
};
void carla_channel_make(struct carla_channel *c, uint8_t id, enum carla_kind kind, const struct carla_layout *layout);
/* And back; false for a channel of another kind. */
bool carla_channel_read(const struct reel_channel *channel, uint8_t *id, enum carla_kind *kind, struct carla_layout *layout);

/* --- the scan --- */

enum carla_quirk { /* told one by one at first, then counted */
                   CARLA_OUTSIDE,
                   CARLA_NO_END,
                   CARLA_MISFIT,
                   CARLA_UNWALKED,
                   CARLA_NUMBER,
                   CARLA_ELAPSED,
                   CARLA_NO_POSITION,
                   CARLA_NO_TRAFFIC_LIGHT,
                   CARLA_QUIRKS
};

struct carla_scan {
    struct reel_scan *scan;
    struct reel_source *source;
    struct window window;
    uint64_t at, report_at;
    uint64_t quirks[CARLA_QUIRKS];

    struct carla_header header;
    int64_t date_ns; /* 0 when the clock is relative */
    struct carla_layout layout;
    bool vec_proved, ids_proved; /* by records; before that by less */
    bool attributes_proved;
    uint64_t wrapped; /* lists whose total has wrapped at 65536 */

    uint32_t channels[256];
    bool met[256];
    uint8_t kinds[256];

    uint64_t frames, frame_at; /* so far; start packet of the last one */
    bool open;                 /* it has not ended */
    bool cut;                  /* the file ends inside a packet */
    bool has[CARLA_KINDS];     /* packets of this frame */
    struct carla_frame frame;  /* of the last start */
    double elapsed;            /* the one believed */
    int64_t time_ns;
};

__attribute__((format(printf, 4, 5))) void carla_tell(struct carla_scan *s, enum carla_quirk quirk, uint64_t offset, const char *text, ...);

/* --- carla_learn.c: what the packets tell of the layout, and what is told of the file --- */
void carla_learn_ids(struct carla_scan *s, uint8_t id); /* by its place in the frame, when the first of 21…23 comes */
void carla_learn_ids_by_size(struct carla_scan *s, uint8_t id, uint16_t total, uint32_t size);
void carla_learn_vec_by_size(struct carla_scan *s, enum carla_kind kind, uint16_t total, uint32_t size); /* a CARLA_LIST with records */
void carla_learn_vec_by_walk(struct carla_scan *s, enum carla_kind kind, struct reel_bytes data);        /* a list of variable records */
void carla_learn_attributes(struct carla_scan *s, struct reel_bytes data);                               /* of an event add packet */
bool carla_tell_header(struct carla_scan *s, struct reel_error *err);
bool carla_tell_file(struct carla_scan *s, struct reel_error *err); /* channels and metadata, at the end */

/* --- carla_state.c --- */
bool carla_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_front *front, struct reel_error *err);

/* --- carla_join.c: a list of the state before a cut and the list of its first frame, as one --- */
/* Records of `front` whose key `own` has not, then all of `own`; *out from malloc. *joined false: they cannot be one packet. */
bool carla_join(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes front, struct reel_bytes own,
                struct reel_bytes *out, bool *joined, struct reel_error *err);

#endif
