/* Computes the state of a CARLA recording at a time, as packets to put in front of a cut: the actors alive, their
 * parents, the last record of values that are written only on change, and the last packet of values that every frame
 * repeats. Packets are applied in the order of the file, and an actor that is deleted loses all its records. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "formats/carla/names.h"
#include "formats/carla/payload.h"
#include "stream/initial_state.h"

enum {
    FOLD_PACKETS_MAX = 1 << 20,    /* most packets with records read for one cut */
    POSITION_BYTES_MAX = 32 << 20, /* most bytes of last positions: an actor without one stays where it was created */
    FOLD_ITEMS_MAX = 1 << 20,      /* most actors and records kept for one cut */
    RECORDS_MAX = 65535,           /* most records in one packet */
};

/* --- which packets count --- */

struct position { /* position of a packet's data; sorts in the order of the file */
    uint32_t chunk;
    uint64_t offset;
};
struct packet {
    struct position position;
    uint32_t size;
    uint8_t kind;
};
struct packets {
    struct packet *items;
    size_t count, capacity;
    enum carla_kind kind; /* kind of the current channel */
    uint64_t bytes;
    enum reel_code failed;
};

static bool add_packet(struct packets *p, const struct reel_entry *entry) {
    if (p->count >= FOLD_PACKETS_MAX || !GROW_ARRAY(p->items, p->count, p->capacity)) {
        p->failed = p->count >= FOLD_PACKETS_MAX ? REEL_LIMIT : REEL_NO_MEMORY;
        return false;
    }
    p->items[p->count++] = (struct packet){
        .position = {entry->chunk, entry->offset + entry->head}, .size = entry->size, .kind = (uint8_t)p->kind};
    return true;
}
static bool visit_all(void *context, const struct reel_entry *entry) {
    return entry->size <= 2 || add_packet(context, entry);
}
static bool visit_last(void *context, const struct reel_entry *entry) {
    if (entry->size > 0) {
        add_packet(context, entry);
    }
    return entry->size == 0;
}
static bool visit_positions(void *context, const struct reel_entry *entry) {
    struct packets *p = context;
    p->bytes += entry->size;
    return p->bytes <= POSITION_BYTES_MAX && p->count < FOLD_PACKETS_MAX && visit_all(p, entry);
}

static int carla_compare_positions(const struct position *a, const struct position *b) {
    return a->chunk != b->chunk ? (a->chunk > b->chunk) - (a->chunk < b->chunk)
                                : (a->offset > b->offset) - (a->offset < b->offset);
}
static int in_file_order(const void *a, const void *b) {
    return carla_compare_positions(&((const struct packet *)a)->position, &((const struct packet *)b)->position);
}

/* --- the fold --- */

/* The last record for a key and kind. Actors have the kind CARLA_EVENT_ADD. */
struct item {
    uint64_t key;             /* kind in the upper bits, the record's key below */
    struct position position; /* position of its packet: a record older than its actor belongs to another actor */
    uint8_t *data;            /* NULL: deleted */
    uint32_t size;
    bool moved;
    uint8_t pose[2 * CARLA_VEC_DOUBLE]; /* last location and rotation of an actor that has moved */
};

struct fold {
    struct reel_reader *reader;
    int64_t time_ns;
    const bool *wanted;
    struct reel_initial_state *initial;
    const struct reel_channel *channels[CARLA_KINDS]; /* NULL: the file has no such packet */
    struct carla_layout layouts[CARLA_KINDS];
    struct packets packets;
    struct arena arena;
    struct item *items; /* in the order of their first records */
    size_t count, capacity;
    struct hash_table by_key; /* → index in items + 1 */
};

static void fold_free(struct fold *f) {
    arena_free(&f->arena);
    free(f->packets.items);
    free(f->items);
    hash_table_free(&f->by_key);
}

static uint64_t carla_state_key_of(enum carla_kind kind, struct reel_bytes record) {
    uint64_t key = load_u32le(record.data);
    return (uint64_t)kind << 40 | (carla_facts[kind].key > 4 ? (uint64_t)record.data[4] << 32 : 0) | key;
}
static uint64_t actor_key(uint32_t id) {
    return (uint64_t)CARLA_EVENT_ADD << 40 | id;
}

static struct item *carla_state_find(const struct fold *f, uint64_t key) {
    uintptr_t index = hash_table_get(&f->by_key, hash_key_number(key));
    return index > 0 ? &f->items[index - 1] : NULL;
}

/* Finds the item of a key; adds one when there is none, or when `anew` is set and the item was deleted. */
static struct item *item_of(struct fold *f, uint64_t key, bool anew, struct reel_error *err) {
    struct item *item = carla_state_find(f, key);
    if (item && !(anew && !item->data)) {
        return item;
    }
    if (f->count >= FOLD_ITEMS_MAX) {
        reel_fail(err, REEL_LIMIT, "more than %d actors and records make the state of this instant", FOLD_ITEMS_MAX);
        return NULL;
    }
    if (!GROW_ARRAY(f->items, f->count, f->capacity)) {
        reel_fail_memory(err);
        return NULL;
    }
    struct item *added = &f->items[f->count];
    *added = (struct item){.key = key};
    return hash_table_set(&f->by_key, hash_key_number(key), ++f->count, err) ? added : NULL; /* of an actor created
                                                                                                again the later one */
}

static bool carla_state_keep(struct fold *f, const struct packet *packet, struct reel_bytes record,
                             struct reel_error *err) {
    struct item *item = item_of(f, carla_state_key_of((enum carla_kind)packet->kind, record), true, err);
    if (!item) {
        return false;
    }
    if (!item->data || item->size < record.size) {
        if (!(item->data = arena_alloc(&f->arena, record.size))) {
            return reel_fail(err, REEL_LIMIT,
                             "the state of this instant exceeds %d bytes, or there is no memory for it",
                             REEL_MESSAGE_MEMORY_MAX);
        }
    }
    memcpy(item->data, record.data, record.size);
    item->size = (uint32_t)record.size;
    item->position = packet->position;
    item->moved = false;
    return true;
}

static bool carla_state_forget(struct fold *f, const struct packet *packet, struct reel_bytes record,
                               struct reel_error *err) {
    struct item *item = item_of(f, actor_key(load_u32le(record.data)), false, err);
    if (!item) {
        return false;
    }
    item->data = NULL;
    item->position = packet->position;
    return true;
}

static void carla_state_move(const struct fold *f, const struct packet *packet, struct reel_bytes record) {
    struct item *actor = carla_state_find(f, actor_key(load_u32le(record.data)));
    if (actor && actor->data && carla_compare_positions(&packet->position, &actor->position) > 0 &&
        record.size - 4 <= sizeof actor->pose) {
        memcpy(actor->pose, record.data + 4, record.size - 4);
        actor->moved = true;
    }
}

/* A record of all doors replaces those of single ones, which then follow it. */
static void forget_doors(const struct fold *f, struct reel_bytes record) {
    for (unsigned door = 0; record.data[4] == CARLA_DOORS - 1 && door < CARLA_DOORS - 1; door++) {
        uint64_t key = (uint64_t)CARLA_DOOR << 40 | (uint64_t)door << 32 | load_u32le(record.data);
        struct item *item = carla_state_find(f, key);
        if (item) {
            item->data = NULL;
        }
    }
}

/* Applies every complete record of a packet. */
static bool fold_packet(struct fold *f, const struct packet *packet, struct reel_error *err) {
    struct reel_bytes data, record;
    if (!reel_reader_view(f->reader, packet->position.chunk, packet->position.offset, packet->size, &data, err)) {
        return false;
    }
    enum carla_kind kind = (enum carla_kind)packet->kind;
    struct cursor c = carla_records(kind, data);
    uint16_t total = data.size >= 2 ? load_u16le(data.data) : 0;
    for (uint16_t i = 0; i < total && carla_record(kind, &f->layouts[kind], &c, &record); i++) {
        if (kind == CARLA_POSITION) {
            carla_state_move(f, packet, record);
        } else if (kind == CARLA_EVENT_DEL ? !carla_state_forget(f, packet, record, err)
                                           : !carla_state_keep(f, packet, record, err)) {
            return false;
        } else if (kind == CARLA_DOOR) {
            forget_doors(f, record);
        }
    }
    return true;
}

static bool back(struct fold *f, enum carla_kind kind, bool (*visit)(void *context, const struct reel_entry *entry),
                 struct reel_error *err) {
    f->packets.kind = kind;
    f->packets.failed = REEL_OK;
    if (f->channels[kind] &&
        !reel_reader_reverse(f->reader, f->channels[kind]->id, f->time_ns, visit, &f->packets, err)) {
        return false;
    }
    if (f->packets.failed == REEL_LIMIT) {
        return reel_fail(err, REEL_LIMIT, "more than %d packets make the state of this instant", FOLD_PACKETS_MAX);
    }
    return f->packets.failed == REEL_OK || reel_fail_memory(err);
}

static bool fold_packets(struct fold *f, struct reel_error *err) {
    if (f->packets.count > 1) {
        qsort(f->packets.items, f->packets.count, sizeof *f->packets.items, in_file_order);
    }
    for (size_t i = 0; i < f->packets.count; i++) {
        if (!fold_packet(f, &f->packets.items[i], err)) {
            return false;
        }
    }
    f->packets.count = 0;
    return true;
}

/* --- what is alive --- */

/* The current actor; NULL: deleted, or not the one that the record was about. */

static bool actor_lives(const struct fold *f, uint32_t id, const struct position *record, bool must_be_known) {
    const struct item *actor = carla_state_find(f, actor_key(id));
    return actor ? actor->data && carla_compare_positions(&actor->position, record) <= 0 : !must_be_known;
}

static bool lives(const struct fold *f, const struct item *item) {
    enum carla_kind kind = (enum carla_kind)(item->key >> 40);
    uint32_t id = (uint32_t)item->key;
    if (!item->data || kind == CARLA_SCENE_LIGHT) {
        return item->data != NULL;
    }
    if (kind == CARLA_EVENT_ADD) {
        return carla_state_find(f, item->key) == item;
    }
    if (kind == CARLA_EVENT_PARENT) {
        return actor_lives(f, id, &item->position, true) &&
               actor_lives(f, load_u32le(item->data + 4), &item->position, true);
    }
    return actor_lives(f, id, &item->position, false);
}

/* --- the packets --- */

static bool put_packet(struct fold *f, enum carla_kind kind, struct grow *data, struct reel_error *err) {
    const uint64_t extra[REEL_ENTRY_EXTRAS] = {0};
    if (data->failed) {
        free(data->data);
        return reel_fail_memory(err);
    }
    return reel_initial_state_add(f->initial, f->channels[kind], f->time_ns, data->data, data->size, extra, err);
}

/* Creates an actor at its last position; one with a parent where it was attached, because its position is then relative
 * to the parent. */
static void put_actor(const struct fold *f, const struct item *actor, struct grow *out) {
    size_t at = out->size, pose_size = 2 * (size_t)f->layouts[CARLA_EVENT_ADD].vec;
    const struct item *parent = carla_state_find(f, (uint64_t)CARLA_EVENT_PARENT << 40 | (uint32_t)actor->key);
    grow_put(out, actor->data, actor->size);
    if (actor->moved && !(parent && lives(f, parent)) && !out->failed) {
        memcpy(out->data + at + 5, actor->pose, pose_size);
    }
}

static bool put_records(struct fold *f, enum carla_kind kind, struct reel_error *err) {
    struct grow out = {0};
    uint32_t total = 0;
    grow_put(&out, "\0", 2);
    for (size_t i = 0; i < f->count; i++) {
        const struct item *item = &f->items[i];
        if ((item->key >> 40) != kind || !lives(f, item)) {
            continue;
        }
        total++;
        if (kind == CARLA_EVENT_ADD) {
            put_actor(f, item, &out);
        } else {
            grow_put(&out, item->data, item->size);
        }
    }
    if (total == 0 || total > RECORDS_MAX) {
        free(out.data);
        return total == 0 ||
               reel_fail(err, REEL_LIMIT, "%u records make the state of %s at this instant: one packet holds %d", total,
                         carla_facts[kind].topic, RECORDS_MAX);
    }
    if (!out.failed) {
        store_u16le(out.data, (uint16_t)total);
    }
    return put_packet(f, kind, &out, err);
}

/* Emits whole packets: the last one, or all of a kind whose records have no key. */
static bool put_packets(struct fold *f, enum carla_kind kind,
                        bool (*visit)(void *context, const struct reel_entry *entry), struct reel_error *err) {
    if (!back(f, kind, visit, err)) {
        return false;
    }
    for (size_t i = f->packets.count; i-- > 0;) { /* found from the newest backwards */
        struct reel_bytes data;
        struct grow out = {0};
        const struct packet *packet = &f->packets.items[i];
        if (!reel_reader_view(f->reader, packet->position.chunk, packet->position.offset, packet->size, &data, err)) {
            return false;
        }
        grow_put(&out, data.data, data.size);
        if (!put_packet(f, kind, &out, err)) {
            return false;
        }
    }
    f->packets.count = 0;
    return true;
}

static bool is_folded(const struct fold *f, enum carla_kind kind) {
    enum carla_initial_state initial = carla_facts[kind].initial;
    return (initial == CARLA_FRONT_KEYED || initial == CARLA_FRONT_ACTORS) &&
           carla_has_records(kind, &f->layouts[kind]);
}

static bool put_state(struct fold *f, struct reel_error *err) {
    for (int k = 0; k < CARLA_KINDS; k++) {
        enum carla_kind kind = (enum carla_kind)k;
        enum carla_initial_state initial = carla_facts[kind].initial;
        if (!f->channels[kind] || !f->wanted[f->channels[kind]->id] || initial == CARLA_FRONT_NONE) {
            continue;
        }
        bool good = is_folded(f, kind)
                        ? put_records(f, kind, err)
                        : put_packets(f, kind, initial == CARLA_FRONT_LATEST ? visit_last : visit_all, err);
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool fold_all(struct fold *f, struct reel_error *err) {
    for (int k = 0; k < CARLA_KINDS; k++) {
        enum carla_kind kind = (enum carla_kind)k;
        if ((is_folded(f, kind) || kind == CARLA_EVENT_DEL) && !back(f, kind, visit_all, err)) {
            return false;
        }
    }
    const struct reel_channel *adds = f->channels[CARLA_EVENT_ADD];
    bool placed = adds && f->wanted[adds->id];
    return fold_packets(f, err) && (!placed || (back(f, CARLA_POSITION, visit_positions, err) && fold_packets(f, err)));
}

bool carla_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_initial_state *initial,
                    struct reel_error *err) {
    AUTO_STRUCT(fold_free)
    struct fold f = {.reader = reader,
                     .time_ns = time_ns,
                     .wanted = wanted,
                     .initial = initial,
                     .arena = {.max = REEL_MESSAGE_MEMORY_MAX}};
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        const struct reel_channel *channel = reel_index_channel(index, i);
        struct carla_layout layout;
        enum carla_kind kind;
        uint8_t id;
        if (carla_channel_read(channel, &id, &kind, &layout)) {
            f.channels[kind] = channel;
            f.layouts[kind] = layout;
        }
    }
    return fold_all(&f, err) && put_state(&f, err);
}
