/* The actor table: a row per actor, in order of creation. Only offset and times of each actor are kept in memory; its
 * record is read again when the row is written. */
#include "base/bytes.h"
#include "formats/carla/names.h"
#include "formats/carla/report.h"
#include "syntax/json_out.h"

struct actor {
    uint64_t offset; /* of its record, in the chunk */
    uint32_t chunk, size, id, parent;
    bool attached, destroyed;
    double first, last;
};
struct roster {
    struct hash_table ids; /* the last actor of each id */
    struct actor *actors;
    size_t count, capacity, written;
    struct carla_layout layout;
    struct grow json; /* attributes of the current row */
};
enum { ROWS_A_STEP = 256 };

static bool carla_report_actors_needs(const struct reel_carla *pass, enum carla_kind kind) {
    (void)pass;
    return kind == CARLA_FRAME_START || kind == CARLA_EVENT_ADD || kind == CARLA_EVENT_DEL ||
           kind == CARLA_EVENT_PARENT;
}

static bool carla_report_actors_begin(struct reel_carla *pass, struct reel_error *err) {
    static const char *const columns[] = {"actor",        "type",        "description", "role_name", "parent",
                                          "first_time_s", "last_time_s", "destroyed",   "x_m",       "y_m",
                                          "z_m",          "roll_deg",    "pitch_deg",   "yaw_deg",   "attributes"};
    return carla_columns(pass, columns, sizeof columns / sizeof *columns, err);
}

static bool carla_report_actors_create(struct roster *s, const struct carla_packet *p, struct reel_bytes record,
                                       double now, struct reel_error *err) {
    if (s->count >= CARLA_ACTORS_MAX) {
        return reel_fail(err, REEL_LIMIT, "the recording has more than %d actors", CARLA_ACTORS_MAX);
    }
    if (!GROW_ARRAY(s->actors, s->count, s->capacity)) {
        return reel_fail_memory(err);
    }
    s->actors[s->count++] = (struct actor){
        .chunk = p->chunk,
        .offset = p->offset + (uint64_t)(record.data - p->data.data),
        .size = (uint32_t)record.size,
        .id = load_u32le(record.data),
        .first = now,
    };
    s->layout = p->layout;
    return carla_ids_put(&s->ids, load_u32le(record.data), (uint32_t)s->count, err);
}

static bool carla_report_actors_packet(struct reel_carla *pass, const struct carla_packet *p, struct reel_error *err) {
    struct roster *s = pass->state;
    struct cursor c = carla_records(p->kind, p->data);
    struct reel_bytes record;
    for (uint32_t i = 0; i < p->total && carla_record(p->kind, &p->layout, &c, &record); i++) {
        if (p->kind == CARLA_EVENT_ADD) {
            if (!carla_report_actors_create(s, p, record, carla_now(pass), err)) {
                return false;
            }
            continue;
        }
        uint32_t index = carla_ids_find(&s->ids, load_u32le(record.data));
        struct actor *actor = index > 0 ? &s->actors[index - 1] : NULL;
        if (actor && p->kind == CARLA_EVENT_DEL && !actor->destroyed) {
            actor->destroyed = true;
            actor->last = carla_now(pass);
        } else if (actor && p->kind == CARLA_EVENT_PARENT) {
            actor->attached = true;
            actor->parent = load_u32le(record.data + 4);
        }
    }
    return true;
}

struct reel_cell carla_attributes_cell(struct grow *json, struct carla_added *added, struct reel_bytes *role) {
    struct reel_bytes id, value;
    json->size = 0;
    grow_put(json, "{", 1);
    for (uint16_t i = 0; i < added->n_attributes && carla_attribute_read(&added->attributes, &id, &value); i++) {
        grow_put(json, ",", i > 0);
        json_put_string(json, id);
        grow_put(json, ":", 1);
        json_put_string(json, value);
        *role = bytes_is(id, "role_name") ? value : *role;
    }
    grow_put(json, "}", 1);
    return reel_cell_json(bytes_of(json->data, json->size));
}

static bool write_actor(struct reel_carla *pass, const struct actor *actor, struct reel_error *err) {
    struct roster *s = pass->state;
    struct reel_bytes record, role = {0};
    struct carla_added added;
    if (!reel_reader_view(pass->stream->readers[0], actor->chunk, actor->offset, actor->size, &record, err)) {
        return false;
    }
    if (!carla_added_read(record, &s->layout, &added)) {
        return reel_fail(err, REEL_CHANGED, "the record of actor %u at %llu is another now", actor->id,
                         (unsigned long long)actor->offset);
    }
    struct reel_cell cells[15] = {
        reel_cell_integer(actor->id),
        reel_cell_text(bytes_text(carla_type_name(added.type, &s->layout))),
        reel_cell_text(added.description),
        [5] = reel_cell_real(actor->first),
        reel_cell_real(actor->destroyed ? actor->last : carla_now(pass)),
        reel_cell_bool(actor->destroyed),
    };
    for (int i = 0; i < 3; i++) {
        cells[8 + i] = carla_metres(added.location[i], &s->layout);
        cells[11 + i] = carla_degrees(added.rotation[i], &s->layout);
    }
    cells[14] = carla_attributes_cell(&s->json, &added, &role);
    cells[3] = role.data ? reel_cell_text(role) : cells[3];
    cells[4] = actor->attached ? reel_cell_integer(actor->parent) : cells[4];
    return s->json.failed ? reel_fail_memory(err) : carla_row(pass, cells, 15, err);
}

static bool carla_report_actors_end(struct reel_carla *pass, bool *more, struct reel_error *err) {
    struct roster *s = pass->state;
    for (int i = 0; i < ROWS_A_STEP && s->written < s->count; i++) {
        if (!write_actor(pass, &s->actors[s->written++], err)) {
            return false;
        }
    }
    *more = s->written < s->count;
    return *more || carla_rows_end(pass, err);
}

static void carla_report_actors_free_state(void *state) {
    struct roster *s = state;
    hash_table_free(&s->ids);
    free(s->actors);
    free(s->json.data);
}

const struct carla_question carla_roster = {.needs = carla_report_actors_needs,
                                            .begin = carla_report_actors_begin,
                                            .packet = carla_report_actors_packet,
                                            .end = carla_report_actors_end,
                                            .free = carla_report_actors_free_state,
                                            .state_size = sizeof(struct roster)};
