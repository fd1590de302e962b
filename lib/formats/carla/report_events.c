/* Events: a row per actor created, destroyed, attached or collided, in the order of CARLA's own text. */
#include "base/bytes.h"
#include "formats/carla/names.h"
#include "formats/carla/report.h"

enum { TIME, FRAME, EVENT, ACTOR, OTHER, TYPE, DESCRIPTION, X, Y, Z, COLLISION, HERO, OTHER_HERO, COLUMNS };

static bool carla_report_events_needs(const struct reel_carla *pass, enum carla_kind kind) {
    (void)pass;
    return kind == CARLA_FRAME_START || kind == CARLA_EVENT_ADD || kind == CARLA_EVENT_DEL ||
           kind == CARLA_EVENT_PARENT || kind == CARLA_COLLISION;
}

static bool carla_report_events_begin(struct reel_carla *pass, struct reel_error *err) {
    static const char *const columns[COLUMNS] = {"time_s",    "frame",       "event",     "actor", "other",
                                                 "type",      "description", "x_m",       "y_m",   "z_m",
                                                 "collision", "hero",        "other_hero"};
    return carla_columns(pass, columns, COLUMNS, err);
}

static struct reel_cell actor_cell(uint32_t id) {
    return id != UINT32_MAX ? reel_cell_integer(id) : (struct reel_cell){0};
}

static void write_created(struct reel_cell *cells, struct reel_bytes record, const struct carla_layout *layout) {
    struct carla_added added;
    cells[EVENT] = reel_cell_text(bytes_text("created"));
    if (carla_added_read(record, layout, &added)) {
        cells[TYPE] = reel_cell_text(bytes_text(carla_type_name(added.type, layout)));
        cells[DESCRIPTION] = reel_cell_text(added.description);
        for (int i = 0; i < 3; i++) {
            cells[X + i] = carla_metres(added.location[i], layout);
        }
    }
}

static void write_record(struct reel_cell *cells, const struct carla_packet *p, struct reel_bytes record) {
    struct cursor c = cursor_of(record);
    uint32_t first = cursor_u32le(&c);
    cells[ACTOR] = actor_cell(first);
    if (p->kind == CARLA_EVENT_ADD) {
        write_created(cells, record, &p->layout);
    } else if (p->kind == CARLA_EVENT_DEL) {
        cells[EVENT] = reel_cell_text(bytes_text("destroyed"));
    } else if (p->kind == CARLA_EVENT_PARENT) {
        cells[EVENT] = reel_cell_text(bytes_text("attached"));
        cells[OTHER] = actor_cell(cursor_u32le(&c));
    } else {
        cells[EVENT] = reel_cell_text(bytes_text("collided"));
        cells[COLLISION] = reel_cell_integer(first);
        cells[ACTOR] = actor_cell(cursor_u32le(&c));
        cells[OTHER] = actor_cell(cursor_u32le(&c));
        cells[HERO] = reel_cell_bool(cursor_u8(&c) != 0);
        cells[OTHER_HERO] = reel_cell_bool(cursor_u8(&c) != 0);
    }
}

static bool carla_report_events_packet(struct reel_carla *pass, const struct carla_packet *p, struct reel_error *err) {
    struct cursor c = carla_records(p->kind, p->data);
    struct reel_bytes record;
    for (uint32_t i = 0; i < p->total && carla_record(p->kind, &p->layout, &c, &record); i++) {
        struct reel_cell cells[COLUMNS] = {
            [TIME] = reel_cell_real(carla_now(pass)), [FRAME] = reel_cell_integer((int64_t)pass->frame.id)};
        write_record(cells, p, record);
        if (!carla_row(pass, cells, COLUMNS, err)) {
            return false;
        }
    }
    return true;
}

static bool carla_report_events_end(struct reel_carla *pass, bool *more, struct reel_error *err) {
    *more = false;
    return carla_rows_end(pass, err);
}

static void carla_report_events_free_state(void *state) {
    (void)state;
}

const struct carla_question carla_events = {.needs = carla_report_events_needs,
                                            .begin = carla_report_events_begin,
                                            .packet = carla_report_events_packet,
                                            .end = carla_report_events_end,
                                            .free = carla_report_events_free_state,
                                            .state_size = 1};
