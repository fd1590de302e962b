/* One NanoVer message: its contents and oddities, collected in one walk over its bytes; and the channel for a list of
 * message types. Only data that are not a MessagePack map of named types are damage; everything else is an oddity, and
 * the message is kept. */
#include "formats/nanover/message.h"
#include "base/bytes.h"
#include "formats/nanover/keys.h"

enum { BODY_DEPTH = REEL_DEPTH_MAX - 2 }; /* within the maps of the message and of the frame or state */

enum packed_rows { ROWS_OTHER, ROWS_PARTICLE };
struct packed {
    const char *key;
    uint8_t key_size, row_bytes, columns;
    enum nanover_packed type;
    enum packed_rows rows;
};
#define PACKED(name, bytes, across, element, kind)                                                                     \
    {                                                                                                                  \
        .key = (name), .key_size = sizeof(name) - 1, .row_bytes = (bytes), .columns = (across), .type = (element),     \
        .rows = (kind)                                                                                                 \
    }
static const struct packed packed_keys[] = {
    PACKED("particle.positions", 12, 3, NANOVER_F32, ROWS_PARTICLE),
    PACKED("particle.velocities", 12, 3, NANOVER_F32, ROWS_PARTICLE),
    PACKED("particle.forces", 12, 3, NANOVER_F32, ROWS_PARTICLE),
    PACKED("particle.forces.system", 12, 3, NANOVER_F32, ROWS_PARTICLE),
    PACKED("particle.elements", 1, 1, NANOVER_U8, ROWS_PARTICLE),
    PACKED("particle.colors", 4, 4, NANOVER_U8, ROWS_PARTICLE),
    PACKED("particle.residues", 4, 1, NANOVER_U32, ROWS_PARTICLE),
    PACKED("residue.chains", 4, 1, NANOVER_U32, ROWS_OTHER),
    PACKED("bond.pairs", 8, 2, NANOVER_U32, ROWS_OTHER),
    PACKED("bond.orders", 1, 1, NANOVER_U8, ROWS_OTHER),
    PACKED("system.box.vectors", 36, 3, NANOVER_F32, ROWS_OTHER),
    PACKED("forces.user.index", 4, 1, NANOVER_U32, ROWS_OTHER),
    PACKED("forces.user.sparse", 12, 3, NANOVER_F32, ROWS_OTHER),
};

static const struct packed *packed_find(struct reel_bytes key) {
    for (size_t i = 0; i < sizeof packed_keys / sizeof packed_keys[0]; i++) {
        const struct packed *p = &packed_keys[i];
        if (p->key_size == key.size && memcmp(p->key, key.data, key.size) == 0) {
            return p;
        }
    }
    return NULL;
}

enum nanover_packed nanover_packed_key(struct reel_bytes key) {
    const struct packed *p = packed_find(key);
    return p ? p->type : NANOVER_UNPACKED;
}
unsigned nanover_packed_columns(struct reel_bytes key) {
    const struct packed *p = packed_find(key);
    return p ? p->columns : 1;
}

static void keys_add(struct nanover_keys *keys, enum nanover_key_role role, struct reel_bytes key) {
    if (keys) {
        nanover_keys_add(keys, role, key);
    }
}

static void quirk(struct nanover_message *m, enum nanover_quirk q) {
    m->quirks |= UINT32_C(1) << q;
}
static void quirk_faults(struct nanover_message *m, const struct msgpack_faults *faults) {
    m->quirks |= (uint32_t)faults->text << QUIRK_TEXT | (uint32_t)faults->key << QUIRK_KEY;
}

static uint64_t index_end(struct reel_bytes indices) {
    uint64_t end = 0;
    for (size_t at = 0; indices.size - at >= 4; at += 4) {
        uint64_t index = load_u32le(indices.data + at);
        end = index >= end ? index + 1 : end;
    }
    return end;
}

static void packed_value(struct nanover_message *m, const struct packed *p, const struct msgpack_item *v) {
    bool positions = p == &packed_keys[0];
    m->has_positions |= positions;
    if (v->kind != MSGPACK_BIN) {
        quirk(m, v->kind == MSGPACK_ARRAY ? QUIRK_LIST : QUIRK_LENGTH);
        return;
    }
    if (v->bytes.size % p->row_bytes != 0) {
        quirk(m, QUIRK_LENGTH);
        return;
    }
    uint64_t rows = v->bytes.size / p->row_bytes;
    if (p->rows == ROWS_PARTICLE && rows > 0) {
        if (m->rows != 0 && m->rows != rows) {
            quirk(m, QUIRK_ROWS);
        }
        m->rows = rows;
    }
    if (strcmp(p->key, "bond.pairs") == 0) {
        m->bond_end = index_end(v->bytes);
    } else if (strcmp(p->key, "particle.residues") == 0) {
        m->residue_end = index_end(v->bytes);
    }
}

/* A count may be a float64 in converted files. */
static bool item_count(const struct msgpack_item *v, uint64_t *count) {
    if (v->kind == MSGPACK_INT && !v->over && v->integer >= 0) {
        *count = (uint64_t)v->integer;
        return true;
    }
    if (v->kind == MSGPACK_FLOAT && v->number >= 0 && v->number < 9e15 && v->number == (double)(uint64_t)v->number) {
        *count = (uint64_t)v->number;
        return true;
    }
    return false;
}

static void frame_value(struct nanover_message *m, struct reel_bytes key, const struct msgpack_item *v) {
    const struct packed *p = packed_find(key);
    if (p) {
        packed_value(m, p, v);
    } else if (bytes_is(key, NANOVER_FRAME_INDEX)) {
        m->has_frame_index = item_count(v, &m->frame_index) && m->frame_index <= NANOVER_FRAME_INDEX_MAX;
        if (!m->has_frame_index) {
            quirk(m, QUIRK_FRAME_SHAPE);
        }
    } else if (bytes_is(key, "particle.count")) {
        item_count(v, &m->particles);
    } else if (bytes_is(key, "residue.count")) {
        item_count(v, &m->residues);
    } else if (bytes_is(key, "server.timestamp") && msgpack_is_number(v)) {
        m->has_server_time = true;
        m->server_time = v->number;
    } else if (bytes_is(key, "system.simulation.time") && msgpack_is_number(v)) {
        m->has_simulation_time = true;
        m->simulation_time = v->number;
    } else if (bytes_is(key, "system.simulation.name") && v->kind == MSGPACK_STR) {
        m->simulation_name = v->bytes;
    }
}

static enum msgpack_result nanover_read_frame(struct cursor *c, struct nanover_message *m, struct nanover_keys *keys,
                                              struct msgpack_faults *faults) {
    struct cursor start = *c;
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(c, &map);
    if (r != MSGPACK_OK || map.kind != MSGPACK_MAP) {
        *c = start;
        quirk(m, QUIRK_FRAME_SHAPE);
        return msgpack_skip(c, BODY_DEPTH, faults);
    }
    m->has_frame = true;
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        struct reel_bytes key;
        struct msgpack_item value = {.kind = MSGPACK_NIL};
        r = msgpack_key(c, &key, BODY_DEPTH, faults);
        r = r == MSGPACK_OK ? msgpack_take(c, &value, BODY_DEPTH, faults) : r;
        if (r == MSGPACK_OK) {
            keys_add(keys, NANOVER_KEY_FRAME, key);
            frame_value(m, key, &value);
        }
    }
    return r;
}

/* updates: a map whose keys are collected; removals: an array whose items are. */
static enum msgpack_result read_state_keys(struct cursor *c, struct nanover_message *m, struct nanover_keys *keys,
                                           enum nanover_key_role role, struct msgpack_faults *faults) {
    struct cursor start = *c;
    struct msgpack_item list;
    enum msgpack_result r = msgpack_read(c, &list);
    if (r != MSGPACK_OK || list.kind != (role == NANOVER_KEY_UPDATE ? MSGPACK_MAP : MSGPACK_ARRAY)) {
        *c = start;
        quirk(m, QUIRK_STATE_SHAPE);
        return msgpack_skip(c, BODY_DEPTH - 1, faults);
    }
    for (uint64_t i = 0; i < list.count && r == MSGPACK_OK; i++) {
        struct reel_bytes key;
        r = msgpack_key(c, &key, BODY_DEPTH - 1, faults);
        if (r == MSGPACK_OK) {
            keys_add(keys, role, key);
            r = role == NANOVER_KEY_UPDATE ? msgpack_skip(c, BODY_DEPTH - 1, faults) : MSGPACK_OK;
        }
    }
    return r;
}

static enum msgpack_result read_state(struct cursor *c, struct nanover_message *m, struct nanover_keys *keys,
                                      struct msgpack_faults *faults) {
    struct cursor start = *c;
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(c, &map);
    if (r != MSGPACK_OK || map.kind != MSGPACK_MAP) {
        *c = start;
        quirk(m, QUIRK_STATE_SHAPE);
        return msgpack_skip(c, BODY_DEPTH, faults);
    }
    m->has_state = true;
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        struct reel_bytes key;
        r = msgpack_key(c, &key, BODY_DEPTH, faults);
        if (r != MSGPACK_OK) {
            break;
        }
        if (bytes_is(key, "updates")) {
            r = read_state_keys(c, m, keys, NANOVER_KEY_UPDATE, faults);
        } else if (bytes_is(key, "removals")) {
            r = read_state_keys(c, m, keys, NANOVER_KEY_REMOVAL, faults);
        } else {
            r = msgpack_skip(c, BODY_DEPTH, faults);
        }
    }
    return r;
}

static void check_frame(struct nanover_message *m) {
    if (m->has_frame && !m->has_frame_index && (m->quirks & UINT32_C(1) << QUIRK_FRAME_SHAPE) == 0) {
        quirk(m, QUIRK_NO_FRAME_INDEX);
    }
}

enum msgpack_result nanover_message_read(struct cursor *c, struct nanover_message *m, struct nanover_keys *keys,
                                         const char **why) {
    if (keys) {
        nanover_keys_clear(keys);
    }
    *m = (struct nanover_message){.n_types = 0};
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(c, &map);
    *why = msgpack_result_text(r);
    if (r == MSGPACK_OK && (map.kind != MSGPACK_MAP || map.count > NANOVER_TYPES_MAX)) {
        *why = map.kind != MSGPACK_MAP ? "is not a map" : "holds too many message types";
        return MSGPACK_BAD;
    }
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        struct msgpack_item key;
        r = msgpack_take(c, &key, REEL_DEPTH_MAX - 1, &faults);
        if (r == MSGPACK_OK && key.kind != MSGPACK_STR) {
            *why = "has a message type that is not text";
            return MSGPACK_BAD;
        }
        if (r == MSGPACK_OK) {
            m->types[m->n_types++] = key.bytes;
            r = bytes_is(key.bytes, "frame")   ? nanover_read_frame(c, m, keys, &faults)
                : bytes_is(key.bytes, "state") ? read_state(c, m, keys, &faults)
                                               : msgpack_skip(c, REEL_DEPTH_MAX - 1, &faults);
        }
        *why = msgpack_result_text(r);
    }
    quirk_faults(m, &faults);
    check_frame(m);
    return r;
}

void nanover_fill_entry(struct reel_bytes message, struct reel_entry *entry) {
    struct nanover_message facts;
    const char *why;
    struct cursor c = cursor_of(message);
    bool has_index = nanover_message_read(&c, &facts, NULL, &why) == MSGPACK_OK && facts.has_frame_index;
    entry->extra[0] = has_index && facts.frame_index == 0;
    entry->extra[1] = has_index ? facts.frame_index + 1 : 0;
}

static enum msgpack_result find_state(struct cursor *c, struct nanover_body *body, struct msgpack_faults *faults) {
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(c, &map);
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        struct reel_bytes key;
        r = msgpack_key(c, &key, BODY_DEPTH, faults);
        struct cursor start = *c;
        r = r == MSGPACK_OK ? msgpack_skip(c, BODY_DEPTH, faults) : r;
        if (r == MSGPACK_OK && bytes_is(key, "updates")) {
            body->updates = start;
            body->has_updates = true;
        } else if (r == MSGPACK_OK && bytes_is(key, "removals")) {
            body->removals = start;
            body->has_removals = true;
        }
    }
    return r;
}

/* Position of the header of a map or array; other types are ignored. */
static bool is_kind(struct cursor start, enum msgpack_kind kind) {
    struct msgpack_item item;
    return msgpack_read(&start, &item) == MSGPACK_OK && item.kind == kind;
}

enum msgpack_result nanover_message_body(struct reel_bytes message, struct nanover_body *body) {
    *body = (struct nanover_body){.has_frame = false};
    struct msgpack_faults faults = {.text = false};
    struct cursor c = cursor_of(message);
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(&c, &map);
    if (r != MSGPACK_OK || map.kind != MSGPACK_MAP) {
        return r == MSGPACK_OK ? MSGPACK_BAD : r;
    }
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        struct reel_bytes key;
        r = msgpack_key(&c, &key, REEL_DEPTH_MAX - 1, &faults);
        struct cursor start = c;
        r = r == MSGPACK_OK ? msgpack_skip(&c, REEL_DEPTH_MAX - 1, &faults) : r;
        if (r != MSGPACK_OK || !is_kind(start, MSGPACK_MAP)) {
            continue;
        }
        if (bytes_is(key, "frame")) {
            body->frame = start;
            body->has_frame = true;
        } else if (bytes_is(key, "state")) {
            body->has_state = true;
            r = find_state(&start, body, &faults);
        }
    }
    body->has_updates = body->has_updates && is_kind(body->updates, MSGPACK_MAP);
    body->has_removals = body->has_removals && is_kind(body->removals, MSGPACK_ARRAY);
    return r;
}

static bool nanover_put_number(struct grow *out, enum nanover_packed type, double value) {
    uint8_t b[4] = {0};
    float narrow = (float)value;
    if (type == NANOVER_F32) {
        memcpy(b, &narrow, sizeof narrow);
    } else if (value >= 0 && value <= UINT32_MAX) {
        store_u32le(b, (uint32_t)value);
    }
    grow_put(out, b, type == NANOVER_U8 ? 1 : 4);
    return !out->failed;
}

bool nanover_packed_value(struct cursor at, enum nanover_packed type, struct grow *out) {
    struct msgpack_item item, number;
    out->size = 0;
    if (msgpack_read(&at, &item) != MSGPACK_OK) {
        return true;
    }
    if (item.kind == MSGPACK_BIN) {
        grow_put(out, item.bytes.data, item.bytes.size);
        return !out->failed;
    }
    for (uint64_t i = 0; item.kind == MSGPACK_ARRAY && i < item.count; i++) {
        if (msgpack_read(&at, &number) != MSGPACK_OK || !msgpack_is_number(&number)) {
            out->size = 0;
            return true;
        }
        if (!nanover_put_number(out, type, number.number)) {
            return false;
        }
    }
    return true;
}

/* "frame+state", prefixed by `prefix`. */
static const char *joined(struct arena *arena, const char *prefix, const char *const *types, unsigned n) {
    size_t size = strlen(prefix) + 1;
    for (unsigned i = 0; i < n; i++) {
        size += strlen(types[i]) + (i > 0);
    }
    char *text = size <= REEL_TEXT_MAX ? arena_alloc(arena, size) : NULL;
    if (!text) {
        return NULL;
    }
    char *at = stpcpy(text, prefix);
    for (unsigned i = 0; i < n; i++) {
        at = stpcpy(stpcpy(at, i > 0 ? "+" : ""), types[i]);
    }
    return text;
}

bool nanover_channel(struct arena *arena, const struct reel_bytes *types, unsigned n_types, struct reel_channel *out) {
    unsigned n = n_types > 0 ? n_types : 1;
    const char **topics = arena_alloc(arena, n * sizeof *topics);
    struct reel_schema *schema = arena_alloc(arena, sizeof *schema);
    if (!topics || !schema) {
        return false;
    }
    topics[0] = "(none)";
    for (unsigned i = 0; i < n_types; i++) {
        topics[i] = types[i].size < REEL_TEXT_MAX ? arena_utf8(arena, types[i]) : NULL;
        if (!topics[i]) {
            return false;
        }
    }
    const char *name = joined(arena, "", topics, n);
    schema->name = joined(arena, "nanover/", topics, n_types);
    schema->encoding = "";
    schema->hash = "";
    *out = (struct reel_channel){.name = name,
                                 .topics = topics,
                                 .n_topics = n,
                                 .type = schema->name,
                                 .encoding = NANOVER_ENCODING,
                                 .schemas = schema,
                                 .n_schemas = 1};
    return name && schema->name;
}

uint32_t nanover_channel_types(const struct reel_channel *channel) {
    return strcmp(channel->type, "nanover/") == 0 && channel->n_topics == 1 && channel->topics[0][0] != '\0'
               ? 0
               : channel->n_topics;
}
