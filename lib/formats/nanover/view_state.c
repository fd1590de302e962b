/* The last value of each key in NanoVer's messages. The result is the same whether all messages were read or the one
 * that aggregates them.
 */
#include <math.h>

#include "base/bytes.h"
#include "formats/nanover/view.h"

enum { VISITORS_MAX = 1024, VISITOR_BYTES_MAX = 64 << 10, DEPTH = REEL_DEPTH_MAX - 4, POSES_MAX = 16 };

/* --- values --- */

static size_t read_numbers(struct cursor at, double *out, size_t room) {
    struct msgpack_item item, number;
    size_t n = 0;
    if (msgpack_read(&at, &item) != MSGPACK_OK || item.kind != MSGPACK_ARRAY || item.count != room) {
        return 0;
    }
    while (n < room && msgpack_read(&at, &number) == MSGPACK_OK && msgpack_is_number(&number) &&
           isfinite(number.number)) {
        out[n++] = number.number;
    }
    return n;
}

/* --- frames --- */

static void no_frame(struct nanover_room *room) {
    room->elements.size = room->colors.size = room->bonds.size = room->positions.size = room->box.size = 0;
}

static const struct {
    const char *key;
    enum nanover_energy is;
} energies[] = {
    {"system.simulation.time", ENERGY_TIME},
    {"energy.kinetic", ENERGY_KINETIC},
    {"energy.potential", ENERGY_POTENTIAL},
    {"energy.user.total", ENERGY_USER},
    {"energy.total", ENERGY_TOTAL},
    {"forces.user.work_done", ENERGY_WORK},
    {"system.temperature", ENERGY_TEMPERATURE},
};

static void take_energy(struct nanover_news *news, struct reel_bytes key, struct cursor at) {
    struct msgpack_item item;
    for (size_t i = 0; i < sizeof energies / sizeof *energies; i++) {
        if (bytes_is(key, energies[i].key) && msgpack_read(&at, &item) == MSGPACK_OK && msgpack_is_number(&item) &&
            isfinite(item.number)) {
            news->has[energies[i].is] = true;
            news->energies[energies[i].is] = item.number;
        }
    }
}

static bool take_key(struct nanover_room *room, struct nanover_news *news, struct reel_bytes key, struct cursor at,
                     struct reel_error *err) {
    const struct {
        const char *key;
        struct grow *to;
    } kept[] = {{"particle.positions", &room->positions},
                {"particle.elements", &room->elements},
                {"particle.colors", &room->colors},
                {"bond.pairs", &room->bonds},
                {"system.box.vectors", &room->box}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (bytes_is(key, kept[i].key)) {
            news->scene = true;
            return nanover_packed_value(at, nanover_packed_key(key), kept[i].to) || reel_fail_memory(err);
        }
    }
    if (bytes_is(key, "system.simulation.exception")) {
        struct msgpack_item item;
        news->exception =
            msgpack_read(&at, &item) == MSGPACK_OK && item.kind == MSGPACK_STR ? item.bytes : news->exception;
    }
    take_energy(news, key, at);
    return true;
}

/* Reads a key and passes over its value; false: not possible. */
static bool next_pair(struct cursor *c, struct reel_bytes *key, struct cursor *value) {
    struct msgpack_faults faults = {.text = false};
    bool good = msgpack_key(c, key, DEPTH, &faults) == MSGPACK_OK;
    *value = *c;
    return good && msgpack_skip(c, DEPTH, &faults) == MSGPACK_OK;
}

static bool take_frame(struct nanover_room *room, struct cursor c, struct nanover_news *news, struct reel_error *err) {
    struct cursor value;
    struct msgpack_item map;
    struct reel_bytes key;
    msgpack_read(&c, &map);
    for (uint64_t i = 0; i < map.count && next_pair(&c, &key, &value); i++) {
        if (!take_key(room, news, key, value, err)) {
            return false;
        }
    }
    return true;
}

/* --- users --- */

static size_t visitor_at(const struct nanover_room *room, struct reel_bytes key, bool *found) {
    size_t low = 0, high = room->n_visitors;
    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct reel_bytes k = room->visitors[middle].key;
        size_t n = k.size < key.size ? k.size : key.size;
        int order = n > 0 ? memcmp(k.data, key.data, n) : 0;
        order = order != 0 ? order : (k.size > key.size) - (k.size < key.size);
        if (order == 0) {
            *found = true;
            return middle;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return low;
}

static void forget_visitor(struct nanover_room *room, size_t at) {
    free((void *)room->visitors[at].key.data);
    free((void *)room->visitors[at].value.data);
    memmove(&room->visitors[at], &room->visitors[at + 1], (--room->n_visitors - at) * sizeof *room->visitors);
}

static struct reel_bytes copy_of(struct reel_bytes b) {
    uint8_t *data = malloc(b.size + 1);
    if (data && b.size > 0) {
        memcpy(data, b.data, b.size);
    }
    return bytes_of(data, b.size);
}

/* At most VISITORS_MAX users are kept. */
static bool put_visitor(struct nanover_room *room, struct reel_bytes key, struct reel_bytes value,
                        struct reel_error *err) {
    bool found;
    size_t at = visitor_at(room, key, &found);
    if (found) {
        forget_visitor(room, at);
    }
    if (room->n_visitors == VISITORS_MAX || value.size > VISITOR_BYTES_MAX) {
        return true;
    }
    struct nanover_visitor v = {.key = copy_of(key), .value = copy_of(value)};
    if (!v.key.data || !v.value.data || !GROW_ARRAY(room->visitors, room->n_visitors, room->cap_visitors)) {
        free((void *)v.key.data);
        free((void *)v.value.data);
        return reel_fail_memory(err);
    }
    memmove(&room->visitors[at + 1], &room->visitors[at], (room->n_visitors++ - at) * sizeof v);
    room->visitors[at] = v;
    return true;
}

static void no_origin(struct nanover_room *room) {
    static const double origin[10] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    memcpy(room->origin, origin, sizeof origin);
}

static void take_origin(struct nanover_room *room, struct cursor at) {
    double v[10];
    if (read_numbers(at, v, 10) == 10 && v[7] > 0 && v[8] > 0 && v[9] > 0 &&
        v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6] > 1e-6) {
        memcpy(room->origin, v, sizeof v);
    } else {
        no_origin(room);
    }
}

static bool is_visitor(struct reel_bytes key) {
    return bytes_start(key, bytes_text("avatar."));
}

static bool take_updates(struct nanover_room *room, struct cursor c, struct nanover_news *news,
                         struct reel_error *err) {
    struct cursor value;
    struct msgpack_item map;
    struct reel_bytes key;
    msgpack_read(&c, &map);
    for (uint64_t i = 0; i < map.count && next_pair(&c, &key, &value); i++) {
        if (bytes_is(key, "scene")) {
            take_origin(room, value);
            news->visitors = true;
        } else if (is_visitor(key)) {
            news->visitors = true;
            if (!put_visitor(room, key, bytes_of(value.at, (size_t)(c.at - value.at)), err)) {
                return false;
            }
        }
    }
    return true;
}

static void take_removals(struct nanover_room *room, struct cursor c, struct nanover_news *news) {
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item list;
    struct reel_bytes key;
    msgpack_read(&c, &list);
    for (uint64_t i = 0; i < list.count && msgpack_key(&c, &key, DEPTH, &faults) == MSGPACK_OK; i++) {
        bool found;
        size_t at = visitor_at(room, key, &found);
        if (found) {
            forget_visitor(room, at);
        } else if (bytes_is(key, "scene")) {
            no_origin(room);
        }
        news->visitors |= found || bytes_is(key, "scene");
    }
}

/* --- messages --- */

bool nanover_room_take(struct nanover_room *room, struct reel_bytes message, struct nanover_news *news,
                       struct reel_error *err) {
    struct nanover_body body;
    struct nanover_message facts;
    const char *why;
    struct cursor c = cursor_of(message);
    *news = (struct nanover_news){.reset = false};
    if (nanover_message_read(&c, &facts, NULL, &why) != MSGPACK_OK ||
        nanover_message_body(message, &body) != MSGPACK_OK) {
        return true;
    }
    if (facts.has_frame_index && facts.frame_index == 0) {
        no_frame(room);
        news->reset = news->scene = true;
    }
    if ((body.has_frame && !take_frame(room, body.frame, news, err)) ||
        (body.has_updates && !take_updates(room, body.updates, news, err))) {
        return false;
    }
    if (body.has_removals) {
        take_removals(room, body.removals, news);
    }
    return true;
}

void nanover_room_forget(struct nanover_room *room) {
    no_frame(room);
    no_origin(room);
    while (room->n_visitors > 0) {
        forget_visitor(room, room->n_visitors - 1);
    }
}

void nanover_room_free(struct nanover_room *room) {
    nanover_room_forget(room);
    free(room->elements.data);
    free(room->colors.data);
    free(room->bonds.data);
    free(room->positions.data);
    free(room->box.data);
    free(room->visitors);
}

/* --- poses --- */

static struct view_vec turned_back(const double q[4], struct view_vec v) {
    double x = -q[0], y = -q[1], z = -q[2], w = q[3];
    struct view_vec c = {y * v.z - z * v.y + w * v.x, z * v.x - x * v.z + w * v.y, x * v.y - y * v.x + w * v.z};
    return (struct view_vec){v.x + 2 * (y * c.z - z * c.y), v.y + 2 * (z * c.x - x * c.z),
                             v.z + 2 * (x * c.y - y * c.x)};
}

/* From the users' room into the simulation: the inverse of position, rotation and scale. */
static void emit_pose(const struct nanover_room *room, const double at[3], const double turn[4],
                      void (*emit)(struct grow *g, struct view_vec at, struct view_quat turn), struct grow *g) {
    const double *o = room->origin;
    double n = sqrt(o[3] * o[3] + o[4] * o[4] + o[5] * o[5] + o[6] * o[6]),
           q[4] = {o[3] / n, o[4] / n, o[5] / n, o[6] / n};
    struct view_vec v = turned_back(q, (struct view_vec){at[0] - o[0], at[1] - o[1], at[2] - o[2]});
    double x = -q[0], y = -q[1], z = -q[2], w = q[3];
    struct view_quat t = {
        w * turn[0] + x * turn[3] + y * turn[2] - z * turn[1], w * turn[1] - x * turn[2] + y * turn[3] + z * turn[0],
        w * turn[2] + x * turn[1] - y * turn[0] + z * turn[3], w * turn[3] - x * turn[0] - y * turn[1] - z * turn[2]};
    emit(g, (struct view_vec){v.x / o[7], v.y / o[8], v.z / o[9]}, t);
}

/* {name, position[3], rotation[4]}; the cursor skips it. */
static void read_component(const struct nanover_room *room, struct cursor *c,
                           void (*emit)(struct grow *g, struct view_vec at, struct view_quat turn), struct grow *g) {
    struct msgpack_faults faults = {.text = false};
    struct cursor whole = *c;
    struct msgpack_item map;
    struct reel_bytes key;
    double at[3], turn[4] = {0, 0, 0, 1};
    bool placed = false;
    if (msgpack_skip(c, DEPTH, &faults) != MSGPACK_OK || msgpack_read(&whole, &map) != MSGPACK_OK ||
        map.kind != MSGPACK_MAP) {
        return;
    }
    for (uint64_t i = 0; i < map.count && msgpack_key(&whole, &key, DEPTH, &faults) == MSGPACK_OK; i++) {
        placed |= bytes_is(key, "position") && read_numbers(whole, at, 3) == 3;
        if (bytes_is(key, "rotation") && read_numbers(whole, turn, 4) != 4) {
            turn[0] = turn[1] = turn[2] = 0;
            turn[3] = 1;
        }
        msgpack_skip(&whole, DEPTH, &faults);
    }
    if (placed) {
        emit_pose(room, at, turn, emit, g);
    }
}

void nanover_visitor_poses(const struct nanover_room *room, const struct nanover_visitor *visitor,
                           void (*emit)(struct grow *g, struct view_vec at, struct view_quat turn), struct grow *g) {
    struct msgpack_faults faults = {.text = false};
    struct cursor c = cursor_of(visitor->value);
    struct msgpack_item map, list;
    struct reel_bytes key;
    if (msgpack_read(&c, &map) != MSGPACK_OK || map.kind != MSGPACK_MAP) {
        return;
    }
    for (uint64_t i = 0; i < map.count && msgpack_key(&c, &key, DEPTH, &faults) == MSGPACK_OK; i++) {
        struct cursor value = c;
        if (bytes_is(key, "components") && msgpack_read(&value, &list) == MSGPACK_OK && list.kind == MSGPACK_ARRAY) {
            for (uint64_t k = 0; k < list.count && k < POSES_MAX && !cursor_done(&value); k++) {
                read_component(room, &value, emit, g);
            }
        }
        if (msgpack_skip(&c, DEPTH, &faults) != MSGPACK_OK) {
            return;
        }
    }
}
