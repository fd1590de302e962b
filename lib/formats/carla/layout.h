/* How CARLA recorder files lie on disk, as tables. All integers are little-endian, nothing is aligned, strings are u16
 * length + bytes without a terminator; there is no index, no checksum and no footer.
 *
 * Header
 *   u16      version         1; 2 since March 2025 (attribute types count from 1)
 *   string   magic           "CARLA_RECORDER"
 *   i64      date            seconds since 1970
 *   string   map
 * Packet
 *   u8       id
 *   u32      size            of the data that follow
 *   bytes    data
 *
 * Packets by id. "vec" is three floats, or three doubles (UE5). A list is u16 total + records.
 *   0   frame start          u64 frame id, f64 duration (-1 in the last frame), f64 elapsed
 *   1   frame end            nothing
 *   2   event add            list of actors, below
 *   3   event del            list of { u32 actor }; a document shows it with a total of 32 bits
 *   4   event parent         list of { u32 child, u32 parent }
 *   5   collision            list of { u32 id, u32 actor 1, u32 actor 2, u8 1 is hero, u8 2 is hero }
 *   6   position             list of { u32 actor, vec location, vec rotation }
 *   7   traffic light state  list of { u32 actor, u8 frozen, f32 elapsed, u8 state }
 *   8   vehicle animation    list of { u32 actor, f32 steering, f32 throttle, f32 brake, u8 handbrake, i32 gear }
 *   9   walker animation     list of { u32 actor, f32 speed }
 *   10  vehicle light        list of { u32 actor, u32 bits }
 *   11  scene light          list of { i32 light, f32 intensity, f32 x 4 RGBA, u8 on, u8 type }
 *   12  kinematics           list of { u32 actor, vec linear, vec angular }
 *   13  bounding box         list of { u32 actor, vec origin, vec extension }
 *   14  platform time        f64 seconds
 *   15  physics control      list, below; another one in UE5 files
 *   16  traffic light time   list of { u32 actor, f32 green, f32 yellow, f32 red }
 *   17  trigger volume       as 13
 *   18  frame counter        u64
 *   19  walker bones         list of { u32 actor, u16 n, n x { string name, vec location, vec rotation } }
 *   20  visual time          f64 seconds
 *   24  weather              list of { f32 x 14 }
 *   21…23 have two numberings, distinguished by position and size:
 *          0.9.15, 0.9.16:                         21 wheels, 22 biker, 23 door
 *          UE5, ue4-dev November 2023 to March 2025:  21 door, 22 wheels, 23 biker
 *       wheels               list of { u32 actor, u32 n, n x { u8 position, f32 steering, f32 rotation } }
 *       biker                list of { u32 actor, f32 speed, f32 engine rotation }
 *       door                 list of { u32 actor, u8 door, u8 open }
 *   others: unknown, from 100 on the user's own
 *
 * Actor (packet 2)
 *   u32 id, u8 type, vec location, vec rotation, u32 uid, string description, u16 n, n x { u8 type, string id, string
 * value } A location is the world's, but for an actor with a parent it is relative to that. Physics control (packet 15)
 *   u32 actor, f32 x 5, u8 gear autobox, f32 x 4, f32 x 3 centre of mass,
 *   u32 n, n x f32 x 2 torque · u32 n, n x f32 x 3 gears · u32 n, n x f32 x 2 steering · u32 n, n wheels of 36 (0.9.10,
 * 0.9.11) or 48 bytes
 * Physics control of UE5
 *   u32 actor, f32 x 6, u8 differential, f32, u8 automatic gears, f32 x 7, f32 x 3 centre of mass, f32 x 4,
 *   f32 x 3 inertia, f32 x 2, u8 sweep,
 *   u32 n, n x f32 x 2 torque · u32 n, n x f32 forward gears · u32 n, n x f32 reverse gears ·
 *   u32 n, n x f32 x 2 steering · u32 n, n wheels of 208 bytes: memory of the simulator on x86-64, with padding and
 *   three pointers of a vector (payload.c). Files by another compiler or version may differ: only lists that end where
 *   their packet ends are read so, others are opaque.
 */
#ifndef REEL_FORMATS_CARLA_LAYOUT_H
#define REEL_FORMATS_CARLA_LAYOUT_H

#include "base/cursor.h"
#include "base/limits.h"
#include "reel/model.h"

struct reel_error;
struct reel_reader;

#define CARLA_MAGIC "CARLA_RECORDER"

enum {
    CARLA_MAGIC_SIZE = sizeof CARLA_MAGIC - 1,
    CARLA_DATE_AT = 2 + 2 + CARLA_MAGIC_SIZE, /* in the header */
    CARLA_HEADER_MIN = CARLA_DATE_AT + 8 + 2, /* with an empty map */
    CARLA_HEADER_MAX = CARLA_HEADER_MIN + 65535,
    CARLA_PACKET_HEAD = 5,
    CARLA_START_SIZE = 24,
    CARLA_VEC_FLOAT = 12,
    CARLA_VEC_DOUBLE = 24,
    CARLA_WHEEL_OLD = 36,
    CARLA_WHEEL_NEW = 48,
    CARLA_WHEEL_UE5 = 208,
    CARLA_PHYSICS_UE5 = 111, /* a record before its lists */
    CARLA_USER_ID = 100,     /* ids from here on are the user's own */
};

#define CARLA_ENCODING "carla"
/* reel_format.contract of CARLA logs: part 0 is the file. In entries, head is the 5-byte packet header, extra[0] the
 * position of the frame in the file, from 1 (0: before the first frame), extra[1] the distance in bytes from that
 * frame's start packet to the packet. */
#define CARLA_CONTRACT "carla"
/* Metadata of the channel of frame starts: the file's header as hex digits, so that a log can be written again from any
 * container. */
#define CARLA_HEADER_KEY "header"

#define CARLA_NS_PER_SEC 1000000000
#define CARLA_DATE_MIN 946684800  /* 2000: CARLA is younger */
#define CARLA_DATE_MAX 4102444800 /* 2100 */
#define CARLA_ELAPSED_MAX 1e9     /* seconds; larger values are not times */
#define CARLA_JUMP_MAX 86400.0    /* seconds between frames; larger values are treated as damage */

/* Packets by meaning, in their order within a frame. */
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

/* Properties of a file that only its packets reveal. */
struct carla_layout {
    uint8_t vec;             /* bytes of a vec; 0 = not known yet */
    uint8_t wheel;           /* bytes of a wheel in packet 15; 0 = none seen, or opaque */
    uint8_t attributes_from; /* whether attribute types count from 0 or 1 */
    enum { CARLA_IDS_OPEN, CARLA_IDS_0915, CARLA_IDS_UE5 } ids; /* the numbering of 21…23 */
    enum {
        CARLA_TYPES_0912,
        CARLA_TYPES_0910,
        CARLA_TYPES_094
    } types; /* the types of actors: "invalid" was 4, then 5, is 6 */
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

/* How the state at the start of a cut is computed. */
enum carla_initial_state {
    CARLA_FRONT_NONE,   /* an event or a new measurement: no state */
    CARLA_FRONT_ACTORS, /* event add: the actors that exist */
    CARLA_FRONT_LATEST, /* the last packet of the kind */
    CARLA_FRONT_KEYED,  /* the last record of each key */
};
struct carla_facts {
    const char *topic, *type;
    uint8_t id; /* in the numbering of 0.9.16 */
    enum {
        CARLA_PLAIN,
        CARLA_LIST,
        CARLA_LIST_ADD,
        CARLA_LIST_PHYSICS,
        CARLA_LIST_BONES,
        CARLA_LIST_WHEELS,
        CARLA_OPAQUE
    } body;
    uint8_t fixed, vecs; /* bytes of the data (CARLA_PLAIN) or of a record (CARLA_LIST), without its vecs, and the
                            number of vecs */
    enum carla_initial_state initial;
    uint8_t key; /* bytes of the key at the start of a record; 0 = none */
};
extern const struct carla_facts carla_facts[CARLA_KINDS];

enum carla_kind carla_kind_of(uint8_t id, const struct carla_layout *layout);
static inline bool carla_is_list(enum carla_kind kind) {
    return carla_facts[kind].body >= CARLA_LIST && carla_facts[kind].body <= CARLA_LIST_WHEELS;
}
/* Packets that the recorder first writes with size 0. */
static inline bool carla_is_patched(enum carla_kind kind) {
    return (carla_is_list(kind) && carla_facts[kind].body != CARLA_LIST) || kind == CARLA_EVENT_DEL ||
           kind == CARLA_EVENT_PARENT || kind == CARLA_VEHICLE_ANIMATION;
}
/* Bytes of a record of a CARLA_LIST. */
static inline uint32_t carla_record_size(enum carla_kind kind, const struct carla_layout *layout) {
    return carla_facts[kind].fixed + (uint32_t)carla_facts[kind].vecs * (layout->vec ? layout->vec : CARLA_VEC_FLOAT);
}
/* True when the records of a list can be walked. Not for physics of UE5 whose sizes do not fit. */
static inline bool carla_has_records(enum carla_kind kind, const struct carla_layout *layout) {
    return carla_is_list(kind) &&
           !(kind == CARLA_PHYSICS && layout->vec == CARLA_VEC_DOUBLE && layout->wheel != CARLA_WHEEL_UE5);
}
/* Steps over one record of a list; false when it does not fit. */
bool carla_record(enum carla_kind kind, const struct carla_layout *layout, struct cursor *c, struct reel_bytes *record);
/* At the first record of a list. Its total has 16 bits; 32 in an event del as a document of CARLA shows it, of 4 + 4 n
 * bytes. */
static inline struct cursor carla_records(enum carla_kind kind, struct reel_bytes data) {
    struct cursor c = cursor_of(data);
    bool wide =
        kind == CARLA_EVENT_DEL && data.size % 4 == 0 && data.size > 0 && load_u32le(data.data) == (data.size - 4) / 4;
    cursor_take(&c, wide ? 4 : 2);
    return c;
}
/* Counts the records of a list, even when its total has wrapped at 65536; false: they do not end exactly at the
 * packet's end, or cannot be walked. */
bool carla_count(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes data, uint32_t *count);
/* True when the records of the packet end exactly at its end. Physics are tried only with the wheel size of `layout`.
 */
bool carla_fits(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes data);

bool carla_header_read(struct reel_bytes head, struct carla_header *header); /* false: REEL_NOT_MINE, or the file is cut
                                                                                off */
/* Of a log, or of a recording that it was converted to: REEL_UNSUPPORTED for others. *head is malloc'd, also on
 * failure; `header` points into it. */
bool carla_header_load(struct reel_reader *reader, uint8_t **head, struct carla_header *header, struct reel_error *err);
struct carla_frame carla_frame_read(const uint8_t data[CARLA_START_SIZE]);
static inline bool carla_date_believed(int64_t date) {
    return date >= CARLA_DATE_MIN && date <= CARLA_DATE_MAX;
}

/* The channel of a packet: its type and metadata hold everything needed to decode the payload. */
enum { CARLA_CHANNEL_PAIRS = 6 };
struct carla_channel {
    struct reel_channel model;
    struct reel_pair pairs[CARLA_CHANNEL_PAIRS];
    char topic[24], type[32], id[4];
};
void carla_channel_make(struct carla_channel *c, uint8_t id, enum carla_kind kind, const struct carla_layout *layout);
/* The reverse; false for a channel of another kind. */
bool carla_channel_read(const struct reel_channel *channel, uint8_t *id, enum carla_kind *kind,
                        struct carla_layout *layout);

#endif
