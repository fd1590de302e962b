/* Moments: what happened, as events with a title: collisions, actors added and removed, vehicles that were blocked,
 * traffic lights that changed. Collisions and blocked vehicles are those of CARLA's own reports, which run inside of
 * this one. The rows have no order: how long a vehicle was blocked is known at the end. */
#include <math.h>

#include "base/bytes.h"
#include "formats/carla/names.h"
#include "formats/carla/report.h"

enum { START, END, TITLE, KIND, ACTOR, TYPE, DESCRIPTION, OTHER, OTHER_TYPE, OTHER_DESCRIPTION, STATE, COLUMNS };

enum { NAME_MAX_SHOWN = 200 }; /* bytes of an actor's name in a title */
enum { COLLISIONS, BLOCKED, PARTS };
static const struct carla_question *const parts[PARTS] = {&carla_collisions, &carla_blocked};

struct moments {
    struct carla_actor_table actors;
    struct hash_table lights; /* id of a traffic light → its state + 1 */
    size_t n_lights;
    void *parts[PARTS];
    struct reel_table table; /* for the rows of this report */
    struct grow title;
    int64_t now_ns, zero_ns; /* time of the frame; of elapsed 0 */
};

static bool moments_needs(const struct reel_carla *pass, enum carla_kind kind) {
    return parts[COLLISIONS]->needs(pass, kind) || parts[BLOCKED]->needs(pass, kind) || kind == CARLA_TRAFFIC_LIGHT;
}

/* --- rows --- */

/* Without the name when it is not known. */
static void moments_title(struct moments *s, const char *start, struct reel_cell name, int64_t id) {
    carla_print(&s->title, start);
    if (name.kind == REEL_CELL_TEXT && name.text.size > 0) {
        grow_put(&s->title, name.text.data, name.text.size < NAME_MAX_SHOWN ? name.text.size : NAME_MAX_SHOWN);
        carla_print(&s->title, " ");
    }
    carla_print_number(&s->title, (uint64_t)id);
}

/* The title is what was printed to s->title, which is empty afterwards. */
static bool moments_put(struct moments *s, const char *kind, struct reel_cell cells[COLUMNS]) {
    cells[TITLE] = reel_cell_text(bytes_of(s->title.data, s->title.size));
    cells[KIND] = reel_cell_text(bytes_text(kind));
    s->title.size = 0;
    return !s->title.failed && s->table.row(s->table.context, cells, COLUMNS);
}

static struct reel_cell null_cell(void) {
    return reel_cell_of(REEL_CELL_NULL);
}

/* A row of the report of collisions. */
static bool moments_collided(void *context, const struct reel_cell *row, unsigned n) {
    struct moments *s = context;
    struct reel_cell cells[COLUMNS] = {reel_cell_integer(s->now_ns), reel_cell_integer(s->now_ns)};
    (void)n;
    memcpy(&cells[ACTOR], &row[3], 3 * sizeof *cells);
    memcpy(&cells[OTHER], &row[7], 3 * sizeof *cells);
    if (row[3].kind == REEL_CELL_INTEGER) {
        moments_title(s, "Collision of ", row[5], row[3].integer);
    } else {
        carla_print(&s->title, "Collision of something");
    }
    if (row[7].kind == REEL_CELL_INTEGER) {
        moments_title(s, " with ", row[9], row[7].integer);
    } else {
        carla_print(&s->title, " with something else");
    }
    return moments_put(s, "collision", cells);
}

static int64_t moments_ns(const struct moments *s, double seconds) {
    bool good = fabs(seconds) <= CARLA_ELAPSED_MAX;
    return good ? s->zero_ns + llround(seconds * CARLA_NS_PER_SEC) : s->now_ns;
}

/* A row of the report of blocked actors: of the vehicles. */
static bool moments_blocked(void *context, const struct reel_cell *row, unsigned n) {
    struct moments *s = context;
    int64_t start_ns = moments_ns(s, row[3].real), end_ns = moments_ns(s, row[3].real + row[4].real);
    struct reel_cell cells[COLUMNS] = {reel_cell_integer(start_ns),
                                       reel_cell_integer(end_ns > start_ns ? end_ns : start_ns)};
    (void)n;
    if (row[1].kind != REEL_CELL_TEXT || !bytes_is(row[1].text, "vehicle")) {
        return true;
    }
    memcpy(&cells[ACTOR], &row[0], 3 * sizeof *cells);
    moments_title(s, "Blocked: ", row[2], row[0].integer);
    return moments_put(s, "blocked", cells);
}

static bool moments_columns(void *context, const char *const *names, unsigned n) {
    (void)context, (void)names, (void)n;
    return true;
}
static bool moments_rows_end(void *context) {
    (void)context;
    return true;
}

/* --- the reports inside --- */

/* What one of them is asked for: its begin() (p NULL), packet() or end() (*more). */
static bool moments_part(struct reel_carla *pass, int part, const struct carla_packet *p, bool *more,
                         struct reel_error *err) {
    struct moments *s = pass->state;
    const struct carla_question *how = parts[part];
    pass->state = s->parts[part];
    pass->table = (struct reel_table){.columns = moments_columns,
                                      .row = part == COLLISIONS ? moments_collided : moments_blocked,
                                      .end = moments_rows_end,
                                      .context = s};
    bool good = p ? how->packet(pass, p, err) : more ? how->end(pass, more, err) : how->begin(pass, err);
    pass->state = s;
    pass->table = s->table;
    return good;
}

static bool moments_begin(struct reel_carla *pass, struct reel_error *err) {
    static const char *const columns[COLUMNS] = {"start_ns", "end_ns",      "title", "kind",       "actor",
                                                 "type",     "description", "other", "other_type", "other_description",
                                                 "state"};
    struct moments *s = pass->state;
    s->table = pass->table;
    for (int i = 0; i < PARTS; i++) {
        if (!(s->parts[i] = calloc(1, parts[i]->state_size))) {
            return reel_fail_memory(err);
        }
        if (!moments_part(pass, i, NULL, NULL, err)) {
            return false;
        }
    }
    return carla_columns(pass, columns, COLUMNS, err);
}

/* --- packets --- */

static bool moments_actor(struct reel_carla *pass, const struct carla_packet *p, uint32_t id, struct reel_error *err) {
    struct moments *s = pass->state;
    bool added = p->kind == CARLA_EVENT_ADD;
    const struct carla_actor_row *actor = carla_actor_row_of(&s->actors, id, err);
    if (!actor) {
        return false;
    }
    struct reel_cell cells[COLUMNS] = {reel_cell_integer(s->now_ns), reel_cell_integer(s->now_ns)};
    bool known = actor->name.size > 0;
    cells[ACTOR] = reel_cell_integer(id);
    cells[TYPE] = known ? reel_cell_text(bytes_text(carla_type_name(actor->type, &pass->added))) : null_cell();
    cells[DESCRIPTION] = known ? reel_cell_text(actor->name) : null_cell();
    moments_title(s, added ? "Added: " : "Removed: ", cells[DESCRIPTION], id);
    return moments_put(s, added ? "added" : "removed", cells) || reel_fail(err, REEL_CANCELLED, "the consumer stopped");
}

/* The first state of a light is no change. */
static bool moments_light(struct moments *s, struct reel_bytes record, struct reel_error *err) {
    uint32_t id = load_u32le(record.data);
    uint8_t state = record.data[9];
    uintptr_t before = hash_table_get(&s->lights, hash_key_number(id));
    if (before == (uintptr_t)state + 1) {
        return true;
    }
    if (before == 0 && s->n_lights++ >= CARLA_ACTORS_MAX) {
        return reel_fail(err, REEL_LIMIT, "the recording has more than %d traffic lights", CARLA_ACTORS_MAX);
    }
    if (!hash_table_set(&s->lights, hash_key_number(id), (uintptr_t)state + 1, err)) {
        return false;
    }
    if (before == 0) {
        return true;
    }
    struct reel_cell cells[COLUMNS] = {reel_cell_integer(s->now_ns), reel_cell_integer(s->now_ns)};
    const char *name = carla_name_of(carla_state_names, state);
    cells[ACTOR] = reel_cell_integer(id);
    cells[STATE] = reel_cell_text(bytes_text(name));
    moments_title(s, "Traffic light ", null_cell(), id);
    carla_print(&s->title, ": ");
    carla_print(&s->title, name);
    return moments_put(s, "traffic_light", cells) || reel_fail(err, REEL_CANCELLED, "the consumer stopped");
}

/* The first frame lists the actors that existed when recording started. */
static bool moments_records(struct reel_carla *pass, const struct carla_packet *p, struct reel_error *err) {
    struct cursor c = carla_records(p->kind, p->data);
    struct reel_bytes record;
    bool lights = p->kind == CARLA_TRAFFIC_LIGHT;
    bool actors = (p->kind == CARLA_EVENT_ADD && pass->frames > 1) || p->kind == CARLA_EVENT_DEL;
    for (uint32_t i = 0; (lights || actors) && i < p->total && carla_record(p->kind, &p->layout, &c, &record); i++) {
        if (lights ? !moments_light(pass->state, record, err) : !moments_actor(pass, p, load_u32le(record.data), err)) {
            return false;
        }
    }
    return true;
}

static bool moments_packet(struct reel_carla *pass, const struct carla_packet *p, struct reel_error *err) {
    struct moments *s = pass->state;
    if (p->kind == CARLA_FRAME_START) {
        s->now_ns = p->time_ns;
        bool good = fabs(pass->frame.elapsed) <= CARLA_ELAPSED_MAX;
        s->zero_ns = pass->frames == 1 && good ? p->time_ns - llround(pass->frame.elapsed * CARLA_NS_PER_SEC)
                     : pass->frames == 1       ? p->time_ns
                                               : s->zero_ns;
    }
    if (!carla_actor_table_update(&s->actors, p, true, err)) {
        return false;
    }
    for (int i = 0; i < PARTS; i++) {
        if (parts[i]->needs(pass, p->kind) && !moments_part(pass, i, p, NULL, err)) {
            return false;
        }
    }
    return moments_records(pass, p, err);
}

static bool moments_end(struct reel_carla *pass, bool *more, struct reel_error *err) {
    *more = false;
    for (int i = 0; i < PARTS && !*more; i++) {
        if (!moments_part(pass, i, NULL, more, err)) {
            return false;
        }
    }
    return *more || carla_rows_end(pass, err);
}

static void moments_free(void *state) {
    struct moments *s = state;
    for (int i = 0; i < PARTS; i++) {
        if (s->parts[i]) {
            parts[i]->free(s->parts[i]);
        }
        free(s->parts[i]);
    }
    carla_actor_table_free(&s->actors);
    hash_table_free(&s->lights);
    free(s->title.data);
}

const struct carla_question carla_moments = {.needs = moments_needs,
                                             .begin = moments_begin,
                                             .packet = moments_packet,
                                             .end = moments_end,
                                             .free = moments_free,
                                             .state_size = sizeof(struct moments)};
