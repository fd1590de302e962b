/* show_recorder_actors_blocked: actors that stood still, and for how long. Distances are computed in float, as CARLA
 * does. */
#include <math.h>

#include "base/bytes.h"
#include "formats/carla/names.h"
#include "formats/carla/report.h"

struct stop {
    uint32_t id, position; /* in the order found */
    uint8_t type;
    struct reel_bytes name;
    double since, duration;
};
struct blocked {
    struct carla_actor_table actors;
    struct stop *stops;
    size_t count, capacity, written;
    bool closed; /* includes those still blocked at the end */
};
enum { ROWS_A_STEP = 1024 };

static bool carla_report_blocked_needs(const struct reel_carla *pass, enum carla_kind kind) {
    (void)pass;
    return kind == CARLA_FRAME_START || kind == CARLA_EVENT_ADD || kind == CARLA_EVENT_DEL || kind == CARLA_POSITION;
}

static bool carla_report_blocked_begin(struct reel_carla *pass, struct reel_error *err) {
    static const char *const columns[] = {"actor", "type", "description", "since_s", "duration_s"};
    if (pass->rows) {
        return carla_columns(pass, columns, sizeof columns / sizeof *columns, err);
    }
    carla_print_start(pass);
    carla_print(&pass->text, "    Time     Id Actor                                 Duration\n");
    return true;
}

static bool stopped(struct blocked *s, const struct carla_actor_row *actor, struct reel_error *err) {
    if (s->count >= CARLA_ROWS_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d times an actor was blocked: use a longer minimum time",
                         CARLA_ROWS_MAX);
    }
    if (!GROW_ARRAY(s->stops, s->count, s->capacity)) {
        return reel_fail_memory(err);
    }
    s->stops[s->count] = (struct stop){.id = actor->id,
                                       .position = (uint32_t)s->count,
                                       .type = actor->type,
                                       .name = actor->name,
                                       .since = actor->since,
                                       .duration = actor->duration};
    s->count++;
    return true;
}

static double carla_report_blocked_distance(const double a[3], const double b[3], bool floats) {
    if (!floats) {
        return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
    }
    volatile float sum = 0; /* every step rounds to float */
    for (int i = 0; i < 3; i++) {
        volatile float d = (float)b[i] - (float)a[i];
        volatile float square = d * d;
        sum = sum + square;
    }
    return (double)sqrtf(sum);
}

static bool carla_report_blocked_move(struct reel_carla *pass, const struct carla_packet *p, struct reel_bytes record,
                                      struct reel_error *err) {
    struct blocked *s = pass->state;
    struct carla_actor_row *actor = carla_actor_row_of(&s->actors, load_u32le(record.data), err);
    double now[3], step = pass->frame.duration;
    if (!actor) {
        return false;
    }
    carla_vec_read(record.data + 4, &p->layout, now);
    if (carla_report_blocked_distance(actor->last, now, p->layout.vec == CARLA_VEC_FLOAT) <
        pass->question.min_distance_cm) {
        actor->since = actor->duration == 0 ? carla_now(pass) : actor->since;
        actor->duration += pass->rows && !(step > 0) ? 0 : step; /* CARLA's text includes the -1 of the last frame */
        return true;
    }
    bool good = !(actor->duration >= pass->question.min_time_s) || stopped(s, actor, err);
    actor->duration = 0;
    memcpy(actor->last, now, sizeof now);
    return good;
}

static bool carla_report_blocked_packet(struct reel_carla *pass, const struct carla_packet *p, struct reel_error *err) {
    struct blocked *s = pass->state;
    struct cursor c = carla_records(p->kind, p->data);
    struct reel_bytes record;
    if (p->kind == CARLA_EVENT_ADD || p->kind == CARLA_EVENT_DEL) {
        return carla_actor_table_update(&s->actors, p, pass->rows, err);
    }
    for (uint32_t i = 0; p->kind == CARLA_POSITION && i < p->total && carla_record(p->kind, &p->layout, &c, &record);
         i++) {
        if (!carla_report_blocked_move(pass, p, record, err)) {
            return false;
        }
    }
    return true;
}

static int longest_first(const void *a, const void *b) {
    const struct stop *x = a, *y = b;
    double dx = isnan(x->duration) ? INFINITY : x->duration, dy = isnan(y->duration) ? INFINITY : y->duration;
    return dx != dy ? (dx < dy) - (dx > dy) : (x->position > y->position) - (x->position < y->position);
}

static bool close_all(struct reel_carla *pass, struct blocked *s, struct reel_error *err) {
    for (size_t i = 0; i < s->actors.count; i++) {
        const struct carla_actor_row *actor = &s->actors.items[i];
        if (actor->known && actor->duration >= pass->question.min_time_s && !stopped(s, actor, err)) {
            return false;
        }
    }
    if (s->count > 1) {
        qsort(s->stops, s->count, sizeof *s->stops, longest_first);
    }
    s->closed = true;
    return true;
}

static bool write_stop(struct reel_carla *pass, const struct stop *stop, struct reel_error *err) {
    struct grow *text = &pass->text;
    if (pass->rows) {
        bool known = stop->name.size > 0;
        const struct reel_cell cells[] = {
            reel_cell_integer(stop->id),
            known ? reel_cell_text(bytes_text(carla_type_name(stop->type, &pass->added))) : (struct reel_cell){0},
            known ? reel_cell_text(stop->name) : (struct reel_cell){0},
            reel_cell_real(stop->since),
            reel_cell_real(stop->duration),
        };
        return carla_row(pass, cells, sizeof cells / sizeof *cells, err);
    }
    carla_print_rounded(text, stop->since, 8);
    carla_print(text, " ");
    carla_print_rounded(text, stop->id, 6);
    carla_print(text, " ");
    carla_print_padded(text, stop->name, -35);
    carla_print(text, " ");
    carla_print_rounded(text, stop->duration, 10);
    carla_print(text, "\n");
    return true;
}

static bool carla_report_blocked_end(struct reel_carla *pass, bool *more, struct reel_error *err) {
    struct blocked *s = pass->state;
    if (!s->closed && !close_all(pass, s, err)) {
        return false;
    }
    for (size_t i = 0; i < ROWS_A_STEP && s->written < s->count; i++) {
        if (!write_stop(pass, &s->stops[s->written++], err)) {
            return false;
        }
    }
    *more = s->written < s->count;
    if (!*more && pass->rows) {
        return carla_rows_end(pass, err);
    }
    if (!*more) {
        carla_print_end(pass, false);
    }
    return true;
}

static void carla_report_blocked_free_state(void *state) {
    struct blocked *s = state;
    carla_actor_table_free(&s->actors);
    free(s->stops);
}

const struct carla_question carla_blocked = {.needs = carla_report_blocked_needs,
                                             .begin = carla_report_blocked_begin,
                                             .packet = carla_report_blocked_packet,
                                             .end = carla_report_blocked_end,
                                             .free = carla_report_blocked_free_state,
                                             .state_size = sizeof(struct blocked)};
