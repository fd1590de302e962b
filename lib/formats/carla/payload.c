/* Decodes CARLA packets: {"frame":…} for values that a frame has once; records of actors by the actor's id,
 * {"actors":{"24":{…}}}, so that actors.24.location.x stays the same actor when others appear or go; lists for records
 * without such an id. Numbers and units are those of the file. One table describes each packet, and one walk reads them
 * all. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "formats/carla/names.h"
#include "formats/carla/payload.h"
#include "formats/carla/payload_parts.h"
#include "syntax/visitor.h"

/* --- a channel --- */

struct state {
    const struct part *parts;
    enum carla_kind kind;
    struct carla_layout layout;
    bool doubles;
    char type[48]; /* of the list of records, like "carla/Position[]" */
};

static bool carla_payload_open_channel(const struct reel_channel *channel, void **out, struct reel_error *err) {
    struct state opened = {0};
    uint8_t id;
    if (!carla_channel_read(channel, &id, &opened.kind, &opened.layout)) {
        return reel_fail(err, REEL_DAMAGED, "its metadata lacks the kind of CARLA packet");
    }
    if (opened.kind == CARLA_UNKNOWN) {
        return reel_fail(err, REEL_UNSUPPORTED, "packets %u are not defined by CARLA: their content is unknown", id);
    }
    opened.doubles = opened.layout.vec == CARLA_VEC_DOUBLE;
    if (!carla_has_records(opened.kind, &opened.layout) && carla_is_list(opened.kind)) {
        return reel_fail(
            err, REEL_UNSUPPORTED,
            "the physics of UE5 files are raw memory of the simulator, and these have not its known sizes");
    }
    opened.parts = carla_parts_of(opened.kind, opened.layout.wheel);
    snprintf(opened.type, sizeof opened.type, "%s[]", carla_facts[opened.kind].type);
    struct state *state = malloc(sizeof *state);
    if (!state) {
        return reel_fail_memory(err);
    }
    *state = opened;
    *out = state;
    return true;
}

/* --- one payload --- */

struct walk {
    const struct state *state;
    struct cursor c;
    struct reel_bytes payload;
    struct reel_visitor *v;
    struct reel_error *err;
    uint32_t wrapped; /* number of records when the 16-bit total has wrapped; 0: the total is right */
};

static bool visit_parts(struct walk *w, const struct part *parts);

/* The part's `size` bytes, or NULL with the error set. */
static const uint8_t *carla_payload_take(struct walk *w, const struct part *part, uint64_t size) {
    size_t at = (size_t)(w->c.at - w->payload.data);
    const uint8_t *p = cursor_take(&w->c, size);
    if (!p) {
        reel_fail(w->err, REEL_DAMAGED, "byte %zu of %zu: %s is truncated", at, w->payload.size, part->name);
    }
    return p;
}

static bool visit_vec(struct walk *w, const struct part *part) {
    static const char *const axes[] = {"x", "y", "z"}, *const angles[] = {"roll", "pitch", "yaw"};
    const char *const *names = part->what == RPY ? angles : axes;
    bool doubles = w->state->doubles && part->what != METRES;
    const uint8_t *p = carla_payload_take(w, part, doubles ? CARLA_VEC_DOUBLE : CARLA_VEC_FLOAT);
    bool goes_on = p && visit_begin_map(w->v);
    for (size_t i = 0; goes_on && i < 3; i++) {
        goes_on = visit_key_text(w->v, names[i]) &&
                  (doubles ? visit_real(w->v, load_f64le(p + 8 * i)) : visit_real32(w->v, load_f32le(p + 4 * i)));
    }
    return goes_on && visit_end_map(w->v);
}

static bool visit_own_key(struct walk *w, const struct part *part, const char *end) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", part->name, end);
    return visit_key_text(w->v, name);
}

static bool visit_scalar(struct walk *w, const struct part *part) {
    static const uint8_t types[] = {
        [U8] = REEL_U8,   [FLAG] = REEL_BOOL, [NAMED] = REEL_U8, [ACTOR_TYPE] = REEL_U8, [ATTRIBUTE] = REEL_U8,
        [U32] = REEL_U32, [I32] = REEL_I32,   [U64] = REEL_U64,  [F32] = REEL_F32,       [F64] = REEL_F64};
    enum reel_number type = (enum reel_number)types[part->what];
    const uint8_t *p = carla_payload_take(w, part, reel_number_size(type));
    if (!p) {
        return false;
    }
    if (part->what == ATTRIBUTE) {
        return visit_text(
            w->v, bytes_text(carla_name_of(carla_attribute_names, (unsigned)*p - w->state->layout.attributes_from)));
    }
    bool named = part->what == NAMED || part->what == ACTOR_TYPE;
    const char *name = part->what == ACTOR_TYPE ? carla_type_name(*p, &w->state->layout)
                       : named                  ? carla_name_of(part->more, *p)
                                                : "";
    return reel_number_visit(w->v, type, p) &&
           (!named || (visit_own_key(w, part, "_name") && visit_text(w->v, bytes_text(name))));
}

static bool visit_bits(struct walk *w, const struct part *part) {
    const uint8_t *p = carla_payload_take(w, part, 4);
    uint32_t bits = p ? load_u32le(p) : 0;
    bool goes_on = p && visit_natural(w->v, bits) && visit_own_key(w, part, "_on") && visit_begin_list(w->v);
    for (size_t i = 0; goes_on && i < CARLA_LIGHTS; i++) {
        goes_on = (bits & carla_lights[i].bit) == 0 || visit_text(w->v, bytes_text(carla_lights[i].name));
    }
    return goes_on && visit_end_list(w->v);
}

/* Every item takes bytes, so a hostile count is bounded by the payload. */
static bool visit_items(struct walk *w, const struct part *part) {
    const uint8_t *p = carla_payload_take(w, part, part->what == LIST32 ? 4 : 2);
    uint32_t n = !p ? 0 : part->what == LIST32 ? load_u32le(p) : load_u16le(p);
    bool keyed = part->what == KEYED || part->what == KEYED_I32,
         goes_on = p && (keyed ? visit_begin_map(w->v) : visit_begin_list(w->v));
    if (w->wrapped > 0) {
        n = w->wrapped;
        w->wrapped = 0;
    }
    for (uint32_t i = 0; goes_on && i < n; i++) {
        if (keyed) {
            char key[16];
            goes_on = (p = carla_payload_take(w, part, 4)) != NULL;
            snprintf(key, sizeof key, part->what == KEYED ? "%u" : "%d", p ? load_u32le(p) : 0);
            goes_on = goes_on && visit_key_text(w->v, key);
        }
        goes_on = goes_on && visit_begin_map(w->v) && visit_parts(w, part->more) && visit_end_map(w->v);
    }
    return goes_on && (keyed ? visit_end_map(w->v) : visit_end_list(w->v));
}

static bool visit_packed(struct walk *w, const struct part *part) {
    struct cursor records = carla_records(w->state->kind, w->payload);
    const uint8_t *p = carla_payload_take(w, part, records.failed ? 2 : (uint64_t)(records.at - w->payload.data));
    size_t n = !p ? 0 : w->wrapped > 0 ? w->wrapped : load_u16le(p);
    const uint8_t *data = p ? carla_payload_take(w, part, 4 * (uint64_t)n) : NULL;
    return data && visit_numbers(w->v, REEL_U32, bytes_of(data, 4 * n), 1);
}

static bool visit_floats(struct walk *w, const struct part *part) {
    const uint8_t *p = carla_payload_take(w, part, 4);
    uint64_t size = p ? 4 * (uint64_t)load_u32le(p) : 0;
    const uint8_t *data = p ? carla_payload_take(w, part, size) : NULL;
    return data && visit_numbers(w->v, REEL_F32, bytes_of(data, (size_t)size), 1);
}

static bool visit_string(struct walk *w, const struct part *part) {
    const uint8_t *p = carla_payload_take(w, part, 2);
    size_t size = p ? load_u16le(p) : 0;
    const uint8_t *text = p ? carla_payload_take(w, part, size) : NULL;
    return text && visit_text(w->v, bytes_of(text, size));
}

static bool carla_visit_part(struct walk *w, const struct part *part) {
    switch (part->what) {
    case XYZ:
    case RPY:
    case METRES:
        return visit_vec(w, part);
    case TEXT:
        return visit_string(w, part);
    case BITS:
        return visit_bits(w, part);
    case NUMBERS:
        return visit_packed(w, part);
    case FLOATS:
        return visit_floats(w, part);
    case LIST:
    case LIST32:
    case KEYED:
    case KEYED_I32:
        return visit_items(w, part);
    default:
        return visit_scalar(w, part);
    }
}

static bool visit_parts(struct walk *w, const struct part *parts) {
    for (; parts->name; parts++) {
        bool good = parts->what == GAP ? carla_payload_take(w, parts, *(const uint8_t *)parts->more) != NULL
                                       : visit_key_text(w->v, parts->name) && carla_visit_part(w, parts);
        if (!good) {
            return false;
        }
    }
    return true;
}

/* CARLA writes a 16-bit total even for more records than it can hold. */
static uint32_t wrapped_total(const struct state *state, struct reel_bytes payload) {
    uint32_t n;
    bool counted = carla_facts[state->kind].body == CARLA_LIST && carla_count(state->kind, &state->layout, payload, &n);
    return counted && n > UINT16_MAX ? n : 0;
}

static bool carla_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    struct walk w = {.state = state,
                     .c = cursor_of(payload),
                     .payload = payload,
                     .v = v,
                     .err = err,
                     .wrapped = wrapped_total(state, payload)};
    if (!visit_begin_map(v) || !visit_parts(&w, w.state->parts)) {
        return false;
    }
    if (!cursor_done(&w.c)) {
        return reel_fail(err, REEL_DAMAGED, "byte %zu of %zu: %zu bytes too many", (size_t)(w.c.at - payload.data),
                         payload.size, cursor_left(&w.c));
    }
    return visit_end_map(v);
}

/* --- fields --- */

static bool carla_fields(const void *of, reel_field_visit visit, void *context) {
    const struct state *state = of;
    for (const struct part *p = state->parts; p->name; p++) {
        bool number = p->what == U64 || p->what == F64;
        struct reel_field f = {.path = p->name,
                               .type = p->what == U64   ? "uint64"
                                       : p->what == F64 ? "float64"
                                                        : state->type,
                               .unit = p->unit,
                               .numeric = number};
        if (!visit(context, &f)) {
            return false;
        }
    }
    return true;
}

/* Most lists are written in every frame. A total has 2 or 4 bytes, a record at least 4. */
static uint32_t carla_least_filled(const struct reel_channel *channel) {
    struct carla_layout layout;
    enum carla_kind kind;
    uint8_t id;
    return carla_channel_read(channel, &id, &kind, &layout) && carla_is_list(kind) ? 5 : 0;
}

const struct reel_encoding reel_encoding_carla = {.name = CARLA_ENCODING,
                                                  .open = carla_payload_open_channel,
                                                  .close = free,
                                                  .decode = carla_decode,
                                                  .fields = carla_fields,
                                                  .state_at = carla_state_at,
                                                  .least_filled = carla_least_filled,
                                                  .version = 2};
