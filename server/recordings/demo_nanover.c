/* The demonstration simulation: 20 s of an ethanol molecule and two users; one of them pulls at an atom
 * for a while. Frames 30 times a second, the shared state 10 times. The layout is that of NanoVer's own recorder:
 * messages, then their index, both stored in a ZIP file. */
#include <math.h>
#include <msgpack.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/sink.h"
#include "recordings/demo.h"

enum {
    FRAMES = 600,
    FRAME_US = 33333,
    FIRST_US = 120,
    STATE_EACH = 3,
    ATOMS = 9,
    BONDS = 8,
    PULLED = 8,
    PULL_FROM = 150,
    PULL_TO = 270
};

static const struct {
    const char *name;
    uint8_t element;
    double x, y, z; /* nm */
} atoms[ATOMS] = {
    {"C1", 6, 0, 0, 0},
    {"C2", 6, 0.151, 0, 0},
    {"O1", 8, 0.199, 0.133, 0},
    {"H11", 1, -0.036, 0.103, 0},
    {"H12", 1, -0.036, -0.051, 0.089},
    {"H13", 1, -0.036, -0.051, -0.089},
    {"H21", 1, 0.188, -0.051, 0.089},
    {"H22", 1, 0.188, -0.051, -0.089},
    {"HO1", 1, 0.295, 0.129, 0},
};
static const uint32_t bonds[BONDS][2] = {{0, 1}, {1, 2}, {0, 3}, {0, 4}, {0, 5}, {1, 6}, {1, 7}, {2, 8}};

struct show { /* both members while they are written */
    msgpack_sbuffer messages, entries;
    uint32_t count;
    bool failed; /* out of memory */
};
static inline void reel_auto_show_done(struct show *s) {
    msgpack_sbuffer_destroy(&s->messages);
    msgpack_sbuffer_destroy(&s->entries);
}

/* Output of the packers, which ignore failed writes: a failure is recorded here. */
struct growing {
    msgpack_sbuffer *buffer;
    bool *failed;
};
static int grow(void *context, const char *data, size_t size) {
    const struct growing *g = context;
    *g->failed = msgpack_sbuffer_write(g->buffer, data, size) != 0 || *g->failed;
    return 0;
}

/* ---- values */

static void demo_nanover_put_text(msgpack_packer *p, const char *text) {
    msgpack_pack_str(p, strlen(text));
    msgpack_pack_str_body(p, text, strlen(text));
}
static void put_bin(msgpack_packer *p, const void *data, size_t size) {
    msgpack_pack_bin(p, size);
    msgpack_pack_bin_body(p, data, size);
}
static void put_f64_key(msgpack_packer *p, const char *key, double value) {
    demo_nanover_put_text(p, key);
    msgpack_pack_double(p, value);
}
static void put_int_key(msgpack_packer *p, const char *key, uint64_t value) {
    demo_nanover_put_text(p, key);
    msgpack_pack_uint64(p, value);
}
static void put_text_key(msgpack_packer *p, const char *key, const char *value) {
    demo_nanover_put_text(p, key);
    demo_nanover_put_text(p, value);
}
static void put_numbers(msgpack_packer *p, const char *key, const double *values, size_t n) {
    demo_nanover_put_text(p, key);
    msgpack_pack_array(p, n);
    for (size_t i = 0; i < n; i++) {
        msgpack_pack_double(p, values[i]);
    }
}

static void store_f32(uint8_t *at, double value) {
    store_u32le(at, f32_bits((float)value));
}

/* ---- frames */

static void demo_nanover_position_of(unsigned atom, unsigned frame, double out[3]) {
    double t = frame / 30.0, turn = t * 0.5, wobble = 0.006;
    bool pulled = atom == PULLED && frame >= PULL_FROM && frame < PULL_TO;
    double x = atoms[atom].x + wobble * sin(19 * t + atom) + (pulled ? 0.05 : 0),
           y = atoms[atom].y + wobble * sin(23 * t + 2 * atom);
    out[0] = 1.5 + x * cos(turn) - y * sin(turn);
    out[1] = 1.5 + x * sin(turn) + y * cos(turn);
    out[2] = 1.5 + atoms[atom].z + wobble * sin(29 * t + 3 * atom);
}

static void put_positions(msgpack_packer *p, unsigned frame) {
    uint8_t bytes[ATOMS * 12];
    for (unsigned i = 0; i < ATOMS; i++) {
        double position[3];
        demo_nanover_position_of(i, frame, position);
        for (unsigned k = 0; k < 3; k++) {
            store_f32(bytes + (size_t)12 * i + (size_t)4 * k, position[k]);
        }
    }
    demo_nanover_put_text(p, "particle.positions");
    put_bin(p, bytes, sizeof bytes);
}

enum { TOPOLOGY_KEYS = 14, MOVING_KEYS = 7 };

static void put_topology(msgpack_packer *p) {
    uint8_t elements[ATOMS], residues[ATOMS * 4] = {0}, pairs[BONDS * 8], orders[BONDS], chains[4] = {0}, box[36] = {0};
    for (unsigned i = 0; i < ATOMS; i++) {
        elements[i] = atoms[i].element;
    }
    for (unsigned i = 0; i < BONDS; i++) {
        store_u32le(pairs + (size_t)8 * i, bonds[i][0]);
        store_u32le(pairs + (size_t)8 * i + 4, bonds[i][1]);
        orders[i] = 1;
    }
    for (unsigned i = 0; i < 3; i++) {
        store_f32(box + (size_t)16 * i, 3);
    }
    const struct {
        const char *key;
        const uint8_t *data;
        size_t size;
    } packed[] = {{"particle.elements", elements, sizeof elements},
                  {"particle.residues", residues, sizeof residues},
                  {"bond.pairs", pairs, sizeof pairs},
                  {"bond.orders", orders, sizeof orders},
                  {"residue.chains", chains, sizeof chains},
                  {"system.box.vectors", box, sizeof box}};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        demo_nanover_put_text(p, packed[i].key);
        put_bin(p, packed[i].data, packed[i].size);
    }
    demo_nanover_put_text(p, "particle.names");
    msgpack_pack_array(p, ATOMS);
    for (unsigned i = 0; i < ATOMS; i++) {
        demo_nanover_put_text(p, atoms[i].name);
    }
    const char *const lists[][2] = {{"residue.names", "ETH"}, {"residue.ids", "1"}, {"chain.names", "A"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        demo_nanover_put_text(p, lists[i][0]);
        msgpack_pack_array(p, 1);
        demo_nanover_put_text(p, lists[i][1]);
    }
    put_int_key(p, "particle.count", ATOMS);
    put_int_key(p, "residue.count", 1);
    put_int_key(p, "chain.count", 1);
    put_text_key(p, "system.simulation.name", "ethanol");
}

static void demo_nanover_put_frame(msgpack_packer *p, unsigned frame) {
    double t = frame / 30.0;
    msgpack_pack_map(p, 1);
    demo_nanover_put_text(p, "frame");
    msgpack_pack_map(p, MOVING_KEYS + (frame == 0 ? TOPOLOGY_KEYS : 0));
    put_int_key(p, "frame.index", frame);
    put_positions(p, frame);
    put_f64_key(p, "energy.kinetic", 33.5 + 2 * sin(7 * t));
    put_f64_key(p, "energy.potential", -21.25 - 2 * sin(7 * t));
    put_f64_key(p, "system.simulation.time", frame * 0.005);
    put_f64_key(p, "system.temperature", 300 + 18 * sin(7 * t));
    put_f64_key(p, "server.timestamp", 1000 + t);
    if (frame == 0) {
        put_topology(p);
    }
}

/* ---- shared state */

static const struct {
    const char *id, *name;
    double color[4], height;
} users[] = {
    {"2f9b1c4e-0d1f-4c55-9a57-6f0f5a3f0001", "Ada", {0.9, 0.4, 0.1, 1}, 1.7},
    {"2f9b1c4e-0d1f-4c55-9a57-6f0f5a3f0002", "Grace", {0.1, 0.5, 0.9, 1}, 1.6},
};
enum { USERS = sizeof users / sizeof *users };

static void put_component(msgpack_packer *p, const char *name, double angle, double far, double height) {
    const double position[] = {far * cos(angle), height, far * sin(angle)},
                 rotation[] = {0, -sin(angle / 2), 0, cos(angle / 2)};
    msgpack_pack_map(p, 3);
    put_text_key(p, "name", name);
    put_numbers(p, "position", position, 3);
    put_numbers(p, "rotation", rotation, 4);
}

static void put_avatar(msgpack_packer *p, unsigned user, unsigned frame) {
    double angle = user * M_PI + 0.1 * sin(frame / 40.0), reach = 0.1 * sin(frame / 25.0 + user);
    char key[64];
    snprintf(key, sizeof key, "avatar.%s", users[user].id);
    demo_nanover_put_text(p, key);
    msgpack_pack_map(p, 4);
    put_text_key(p, "playerid", users[user].id);
    put_text_key(p, "name", users[user].name);
    put_numbers(p, "color", users[user].color, 4);
    demo_nanover_put_text(p, "components");
    msgpack_pack_array(p, 3);
    put_component(p, "headset", angle, 1.2, users[user].height);
    put_component(p, "hand.left", angle - 0.2, 0.8 + reach, 1.2);
    put_component(p, "hand.right", angle + 0.2, 0.8 - reach, 1.2);
}

static void put_pull(msgpack_packer *p, unsigned frame) {
    double position[3];
    demo_nanover_position_of(PULLED, frame, position);
    demo_nanover_put_text(p, "interaction.demo");
    msgpack_pack_map(p, 5);
    put_numbers(p, "position", position, 3);
    demo_nanover_put_text(p, "particles");
    msgpack_pack_array(p, 1);
    msgpack_pack_uint64(p, PULLED);
    put_text_key(p, "interaction_type", "spring");
    put_f64_key(p, "scale", 200);
    put_text_key(p, "owner.id", users[0].id);
}

static void put_state(msgpack_packer *p, unsigned frame) {
    static const double scene[] = {0, 1, 0, 0, 0, 0, 1, 1, 1, 1};
    bool pulling = frame >= PULL_FROM && frame < PULL_TO;
    msgpack_pack_map(p, 1);
    demo_nanover_put_text(p, "state");
    msgpack_pack_map(p, 2);
    demo_nanover_put_text(p, "updates");
    msgpack_pack_map(p, USERS + (frame == 0) + pulling);
    if (frame == 0) {
        put_numbers(p, "scene", scene, sizeof scene / sizeof *scene);
    }
    for (unsigned i = 0; i < USERS; i++) {
        put_avatar(p, i, frame);
    }
    if (pulling) {
        put_pull(p, frame);
    }
    demo_nanover_put_text(p, "removals");
    msgpack_pack_array(p, frame == PULL_TO);
    if (frame == PULL_TO) {
        demo_nanover_put_text(p, "interaction.demo");
    }
}

/* ---- both members */

static void demo_nanover_add_message(struct show *s, const char *type, unsigned frame, uint64_t time_us) {
    msgpack_packer message, entry;
    size_t offset = s->messages.size;
    bool is_frame = strcmp(type, "frame") == 0;
    struct growing messages = {&s->messages, &s->failed}, entries = {&s->entries, &s->failed};
    msgpack_packer_init(&message, &messages, grow);
    msgpack_packer_init(&entry, &entries, grow);
    (is_frame ? demo_nanover_put_frame : put_state)(&message, frame);
    msgpack_pack_map(&entry, 3);
    put_int_key(&entry, "offset", offset);
    put_int_key(&entry, "length", s->messages.size - offset);
    demo_nanover_put_text(&entry, "metadata");
    msgpack_pack_map(&entry, is_frame ? 3 : 2);
    demo_nanover_put_text(&entry, "types");
    msgpack_pack_array(&entry, 1);
    demo_nanover_put_text(&entry, type);
    if (is_frame) {
        put_int_key(&entry, "frame.index", frame);
    }
    put_int_key(&entry, "timestamp", time_us);
    s->count++;
}

struct member {
    const char *name;
    const char *head, *body; /* an array's header, and what is in it */
    size_t head_size, body_size;
    bool zip64; /* the recorder asks for room for large sizes in the local header of the messages */
    uint64_t offset;
};

static uint32_t crc_of(const struct member *m) {
    uint32_t crc = (uint32_t)crc32_z(0, NULL, 0);
    crc = (uint32_t)crc32_z(crc, (const Bytef *)m->head, m->head_size);
    return (uint32_t)crc32_z(crc, (const Bytef *)m->body, m->body_size);
}

/* version needed, flags, method, time, date, CRC: alike in both headers. */
static void put_common(struct reel_sink *out, const struct member *m) {
    reel_sink_u16le(out, m->zip64 ? 45 : 20);
    reel_sink_u16le(out, 0);
    reel_sink_u16le(out, 0);
    reel_sink_u16le(out, 0);
    reel_sink_u16le(out, 0x21); /* 1980-01-01 */
    reel_sink_u32le(out, crc_of(m));
}

static void demo_nanover_put_member(struct reel_sink *out, struct member *m) {
    uint32_t size = (uint32_t)(m->head_size + m->body_size);
    m->offset = out->pos;
    reel_sink_u32le(out, 0x04034b50);
    put_common(out, m);
    reel_sink_u32le(out, m->zip64 ? UINT32_MAX : size);
    reel_sink_u32le(out, m->zip64 ? UINT32_MAX : size);
    reel_sink_u16le(out, (uint16_t)strlen(m->name));
    reel_sink_u16le(out, m->zip64 ? 20 : 0);
    reel_sink_put_bytes(out, bytes_text(m->name));
    if (m->zip64) {
        reel_sink_u16le(out, 1);
        reel_sink_u16le(out, 16);
        reel_sink_u64le(out, size);
        reel_sink_u64le(out, size);
    }
    reel_sink_put(out, m->head, m->head_size);
    reel_sink_put(out, m->body, m->body_size);
}

static void put_directory(struct reel_sink *out, const struct member *members, unsigned n) {
    uint64_t start = out->pos;
    for (unsigned i = 0; i < n; i++) {
        uint32_t size = (uint32_t)(members[i].head_size + members[i].body_size);
        reel_sink_u32le(out, 0x02014b50);
        reel_sink_u16le(out, (uint16_t)(3 << 8 | (members[i].zip64 ? 45 : 20))); /* version made by: Unix */
        put_common(out, &members[i]);
        reel_sink_u32le(out, size);
        reel_sink_u32le(out, size);
        reel_sink_u16le(out, (uint16_t)strlen(members[i].name));
        reel_sink_fill(out, 0, 2 + 2 + 2 + 2); /* no extra field, no comment, disk 0, no internal attributes */
        reel_sink_u32le(out, 0x01800000);      /* mode 0600 */
        reel_sink_u32le(out, (uint32_t)members[i].offset);
        reel_sink_put_bytes(out, bytes_text(members[i].name));
    }
    uint32_t size = (uint32_t)(out->pos - start);
    reel_sink_u32le(out, 0x06054b50);
    reel_sink_u32le(out, 0); /* disks */
    reel_sink_u16le(out, (uint16_t)n);
    reel_sink_u16le(out, (uint16_t)n);
    reel_sink_u32le(out, size);
    reel_sink_u32le(out, (uint32_t)start);
    reel_sink_u16le(out, 0);
}

static void put_archive(struct reel_sink *out, struct member members[2]) {
    demo_nanover_put_member(out, &members[0]);
    demo_nanover_put_member(out, &members[1]);
    put_directory(out, members, 2);
}

bool demo_nanover(uint8_t **data, size_t *size, struct reel_error *err) {
    AUTO(show_done) struct show show = {0};
    for (unsigned frame = 0; frame < FRAMES; frame++) {
        uint64_t now = FIRST_US + (uint64_t)frame * FRAME_US;
        demo_nanover_add_message(&show, "frame", frame, now);
        if (frame % STATE_EACH == 0) {
            demo_nanover_add_message(&show, "state", frame, now + 5000);
        }
    }
    if (show.failed) {
        return reel_fail_memory(err);
    }
    const char head[] = {(char)0xdc, (char)(show.count >> 8), (char)show.count}; /* array16 */
    struct member members[] = {
        {.name = "messages.msgpack",
         .head = head,
         .body = show.messages.data,
         .body_size = show.messages.size,
         .zip64 = true},
        {.name = "index.msgpack",
         .head = head,
         .head_size = sizeof head,
         .body = show.entries.data,
         .body_size = show.entries.size},
    };
    struct reel_sink count = {0};
    put_archive(&count, members);
    AUTO_MEM uint8_t *bytes = malloc(count.pos);
    if (!bytes) {
        return reel_fail_memory(err);
    }
    struct reel_sink out = {.hi = count.pos, .buffer = bytes};
    put_archive(&out, members);
    *data = TAKE(bytes);
    *size = count.pos;
    return true;
}
