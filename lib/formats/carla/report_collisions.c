/* show_recorder_collisions: each collision that begins. A pair is reported again only after a frame without a collision
 * of it. */
#include "base/bytes.h"
#include "base/order.h"
#include "formats/carla/names.h"
#include "formats/carla/report.h"

struct pairs {
    uint64_t *items; /* actor 1 in the high half, actor 2 in the low half */
    size_t count, capacity;
};
struct collisions {
    struct carla_actor_table actors;
    struct pairs before, now; /* pairs of the previous frame (sorted), and of this one */
    bool any;
};

static bool carla_report_collisions_needs(const struct reel_carla *pass, enum carla_kind kind) {
    (void)pass;
    return kind == CARLA_FRAME_START || kind == CARLA_EVENT_ADD || kind == CARLA_EVENT_DEL || kind == CARLA_COLLISION;
}

static bool carla_report_collisions_begin(struct reel_carla *pass, struct reel_error *err) {
    static const char *const columns[] = {"time_s", "frame",  "collision", "actor1",       "type1", "description1",
                                          "hero1",  "actor2", "type2",     "description2", "hero2"};
    if (pass->rows) {
        return carla_columns(pass, columns, sizeof columns / sizeof *columns, err);
    }
    carla_print_start(pass);
    carla_print(
        &pass->text,
        "    Time  Types     Id Actor 1                                 Id Actor 2                            \n");
    return true;
}

static void next_frame(struct collisions *s) {
    struct pairs was = s->before;
    s->before = s->now;
    s->now = was;
    s->now.count = 0;
    if (s->before.count > 1) {
        qsort(s->before.items, s->before.count, sizeof *s->before.items, order_u64);
    }
}

static bool carla_goes_on(const struct collisions *s, uint64_t pair) {
    return s->before.count > 0 && bsearch(&pair, s->before.items, s->before.count, sizeof pair, order_u64);
}

static bool carla_remember(struct pairs *pairs, uint64_t pair, struct reel_error *err) {
    if (pairs->count >= CARLA_ROWS_MAX) {
        return reel_fail(err, REEL_LIMIT, "a frame has more than %d collisions", CARLA_ROWS_MAX);
    }
    if (!GROW_ARRAY(pairs->items, pairs->count, pairs->capacity)) {
        return reel_fail_memory(err);
    }
    pairs->items[pairs->count++] = pair;
    return true;
}

struct side {
    uint32_t id;
    bool hero;
    char letter;
    struct carla_actor_row actor;
};

/* CARLA's letters: the one for a sign is used for heroes, the one for a sensor for any actor. */
static bool find_side(struct collisions *s, uint32_t id, bool hero, struct side *out, struct reel_error *err) {
    static const char letters[] = "ovwtha";
    const struct carla_actor_row *actor = carla_actor_row_of(&s->actors, id, err);
    if (!actor) {
        return false;
    }
    *out = (struct side){.id = id, .hero = hero, .actor = *actor};
    out->letter = id == UINT32_MAX ? 'o' : actor->type < sizeof letters - 1 ? letters[actor->type] : '?';
    return true;
}

static bool passes(const struct side *side, char filter) {
    return filter == 'a' || filter == side->letter || (filter == 'h' && side->hero);
}

static void side_cells(const struct reel_carla *pass, const struct side *side, struct reel_cell cells[4]) {
    bool known = side->id != UINT32_MAX && side->actor.name.size > 0;
    cells[0] = side->id != UINT32_MAX ? reel_cell_integer(side->id) : (struct reel_cell){0};
    cells[1] =
        known ? reel_cell_text(bytes_text(carla_type_name(side->actor.type, &pass->added))) : (struct reel_cell){0};
    cells[2] = known ? reel_cell_text(side->actor.name) : (struct reel_cell){0};
    cells[3] = reel_cell_bool(side->hero);
}

static bool write_collision(struct reel_carla *pass, uint32_t number, const struct side *a, const struct side *b,
                            struct reel_error *err) {
    struct grow *text = &pass->text;
    if (pass->rows) {
        struct reel_cell cells[11] = {reel_cell_real(carla_now(pass)), reel_cell_integer((int64_t)pass->frame.id),
                                      reel_cell_integer(number)};
        side_cells(pass, a, cells + 3);
        side_cells(pass, b, cells + 7);
        return carla_row(pass, cells, 11, err);
    }
    const char letters[] = {' ', ' ', ' ', a->letter, ' ', b->letter, ' ', ' '};
    const struct side *sides[] = {a, b};
    carla_print_rounded(text, carla_now(pass), 8);
    grow_put(text, letters, sizeof letters);
    for (int i = 0; i < 2; i++) {
        carla_print_rounded(text, sides[i]->id, 6);
        carla_print(text, " ");
        carla_print_padded(text, sides[i]->actor.name, -35);
        carla_print(text, i == 0 ? " " : "\n");
    }
    return true;
}

static bool collide(struct reel_carla *pass, struct cursor record, struct reel_error *err) {
    struct collisions *s = pass->state;
    struct side a, b;
    uint32_t number = cursor_u32le(&record), id1 = cursor_u32le(&record), id2 = cursor_u32le(&record);
    bool hero1 = cursor_u8(&record) != 0, hero2 = cursor_u8(&record) != 0;
    if (!find_side(s, id1, hero1, &a, err) || !find_side(s, id2, hero2, &b, err)) {
        return false;
    }
    if (!passes(&a, pass->question.type1) || !passes(&b, pass->question.type2)) {
        return true;
    }
    uint64_t pair = (uint64_t)id1 << 32 | id2;
    if (!carla_goes_on(s, pair)) {
        s->any = true;
        if (!write_collision(pass, number, &a, &b, err)) {
            return false;
        }
    }
    return carla_remember(&s->now, pair, err);
}

static bool carla_report_collisions_packet(struct reel_carla *pass, const struct carla_packet *p,
                                           struct reel_error *err) {
    struct collisions *s = pass->state;
    struct cursor c = carla_records(p->kind, p->data);
    struct reel_bytes record;
    if (p->kind == CARLA_FRAME_START) {
        next_frame(s);
        return true;
    }
    if (p->kind != CARLA_COLLISION) {
        return carla_actor_table_update(&s->actors, p, pass->rows, err);
    }
    for (uint32_t i = 0; i < p->total && carla_record(p->kind, &p->layout, &c, &record); i++) {
        if (!collide(pass, cursor_of(record), err)) {
            return false;
        }
    }
    return true;
}

/* CARLA's stream keeps the format for whole seconds after the first row. */
static bool carla_report_collisions_end(struct reel_carla *pass, bool *more, struct reel_error *err) {
    const struct collisions *s = pass->state;
    *more = false;
    if (pass->rows) {
        return carla_rows_end(pass, err);
    }
    carla_print_end(pass, s->any);
    return true;
}

static void carla_report_collisions_free_state(void *state) {
    struct collisions *s = state;
    carla_actor_table_free(&s->actors);
    free(s->before.items);
    free(s->now.items);
}

const struct carla_question carla_collisions = {.needs = carla_report_collisions_needs,
                                                .begin = carla_report_collisions_begin,
                                                .packet = carla_report_collisions_packet,
                                                .end = carla_report_collisions_end,
                                                .free = carla_report_collisions_free_state,
                                                .state_size = sizeof(struct collisions)};
