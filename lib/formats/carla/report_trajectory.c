/* The path of one actor, frame by frame. The speed is the recorded one if there is one, else the distance from the
 * previous frame divided by the time; the row contains its source. The acceleration is the difference from the velocity
 * in the previous frame, if that is of the same source, divided by the time. */
#include <math.h>

#include "base/bytes.h"
#include "formats/carla/report.h"

enum { SPEED = 8, SPEED_FROM = 12, ACCELERATION = 13, COLUMNS = 17 };

struct pose {
    double time, location[3], rotation[3];
    uint64_t ordinal, frame; /* offset in the file; the frame's own id */
};
struct velocity {
    enum { UNKNOWN, RECORDED, DIFFERENCE } from;
    double at[3]; /* m/s */
};
struct trajectory {
    bool met;    /* the actor was found */
    bool headed; /* the columns have been written */
    bool waits;  /* the row for `now` is pending: its frame may still contain the speed */
    bool has_before;
    struct pose now, before;
    struct velocity velocity, velocity_before; /* velocity: as recorded in the frame of `now` */
    struct carla_layout layout;
};

static bool carla_report_trajectory_needs(const struct reel_carla *pass, enum carla_kind kind) {
    (void)pass;
    return kind == CARLA_FRAME_START || kind == CARLA_EVENT_ADD || kind == CARLA_POSITION || kind == CARLA_KINEMATICS;
}

static bool carla_report_trajectory_begin(struct reel_carla *pass, struct reel_error *err) {
    (void)pass;
    (void)err;
    return true; /* columns are written when the actor is found */
}

static bool write_columns(struct reel_carla *pass, struct reel_error *err) {
    static const char *const columns[COLUMNS] = {
        "time_s",  "frame",     "x_m",    "y_m",    "z_m",    "roll_deg",   "pitch_deg",
        "yaw_deg", "speed_m_s", "vx_m_s", "vy_m_s", "vz_m_s", "speed_from", "acceleration_m_s2",
        "ax_m_s2", "ay_m_s2",   "az_m_s2"};
    struct trajectory *s = pass->state;
    bool first = !s->headed;
    s->headed = true;
    return !first || carla_columns(pass, columns, COLUMNS, err);
}

/* Seconds since the frame before; 0: there is none, or not with this actor. */
static double step_of(const struct trajectory *s) {
    double step = s->now.time - s->before.time;
    return s->has_before && s->before.ordinal + 1 == s->now.ordinal && step > 0 ? step : 0;
}

static struct velocity find_velocity(const struct trajectory *s) {
    struct velocity v = s->velocity;
    double step = step_of(s);
    if (v.from == UNKNOWN && step > 0) {
        v.from = DIFFERENCE;
        for (int i = 0; i < 3; i++) {
            v.at[i] = (s->now.location[i] - s->before.location[i]) / 100 / step;
        }
    }
    return v;
}

/* The length of a vec and its parts; `turn`: the sign of y. */
static void put_vec(const double v[3], double turn, struct reel_cell cells[4]) {
    cells[0] = reel_cell_real32((float)sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    cells[1] = reel_cell_real32((float)v[0]);
    cells[2] = reel_cell_real32((float)(v[1] * turn + 0));
    cells[3] = reel_cell_real32((float)v[2]);
}

static void put_motion(const struct trajectory *s, const struct velocity *v, double turn, struct reel_cell *cells) {
    double step = step_of(s), a[3];
    if (v->from == UNKNOWN) {
        return;
    }
    put_vec(v->at, turn, cells + SPEED);
    cells[SPEED_FROM] = reel_cell_text(bytes_text(v->from == RECORDED ? "recorded" : "difference"));
    if (step > 0 && v->from == s->velocity_before.from) {
        for (int i = 0; i < 3; i++) {
            a[i] = (v->at[i] - s->velocity_before.at[i]) / step;
        }
        put_vec(a, turn, cells + ACCELERATION);
    }
}

static bool write_pending(struct reel_carla *pass, struct reel_error *err) {
    struct trajectory *s = pass->state;
    const double turn = pass->question.ros_frame ? -1 : 1; /* mirrored with the y axis: y itself, pitch and yaw; + 0:
                                                              never -0 */
    const struct pose *now = &s->now;
    struct reel_cell cells[COLUMNS] = {
        reel_cell_real(now->time),
        reel_cell_integer((int64_t)now->frame),
        carla_metres(now->location[0], &s->layout),
        carla_metres(now->location[1] * turn + 0, &s->layout),
        carla_metres(now->location[2], &s->layout),
        carla_degrees(now->rotation[0], &s->layout),
        carla_degrees(now->rotation[1] * turn + 0, &s->layout),
        carla_degrees(now->rotation[2] * turn + 0, &s->layout),
    };
    const struct velocity v = find_velocity(s);
    put_motion(s, &v, turn, cells);
    s->before = s->now;
    s->velocity_before = v;
    s->velocity.from = UNKNOWN;
    s->has_before = true;
    s->waits = false;
    return write_columns(pass, err) && carla_row(pass, cells, COLUMNS, err);
}

/* Processes the records of the packet for the actor. */
static bool carla_report_trajectory_take_record(struct reel_carla *pass, const struct carla_packet *p,
                                                struct reel_bytes record, struct reel_error *err) {
    struct trajectory *s = pass->state;
    s->met = true;
    if (p->kind == CARLA_EVENT_ADD) { /* another actor with the same id: its path is separate */
        bool good = !s->waits || write_pending(pass, err);
        s->has_before = false;
        return good;
    }
    if (p->kind == CARLA_KINEMATICS) {
        s->velocity.from = s->waits ? RECORDED : UNKNOWN;
        carla_vec_read(record.data + 4, &p->layout, s->velocity.at);
        return true;
    }
    if (s->waits && !write_pending(pass, err)) {
        return false;
    }
    s->layout = p->layout;
    s->now = (struct pose){.time = carla_now(pass), .ordinal = pass->frames, .frame = pass->frame.id};
    carla_vec_read(record.data + 4, &p->layout, s->now.location);
    carla_vec_read(record.data + 4 + p->layout.vec, &p->layout, s->now.rotation);
    s->waits = true;
    return true;
}

static bool carla_report_trajectory_packet(struct reel_carla *pass, const struct carla_packet *p,
                                           struct reel_error *err) {
    const struct trajectory *s = pass->state;
    struct cursor c = carla_records(p->kind, p->data);
    struct reel_bytes record;
    if (p->kind == CARLA_FRAME_START) {
        return !s->waits || write_pending(pass, err);
    }
    for (uint32_t i = 0; i < p->total && carla_record(p->kind, &p->layout, &c, &record); i++) {
        if (load_u32le(record.data) == pass->question.actor &&
            !carla_report_trajectory_take_record(pass, p, record, err)) {
            return false;
        }
    }
    return true;
}

static bool carla_report_trajectory_end(struct reel_carla *pass, bool *more, struct reel_error *err) {
    const struct trajectory *s = pass->state;
    *more = false;
    if (!s->met) {
        return reel_fail(err, REEL_NOT_FOUND, "no actor %u is in this recording", pass->question.actor);
    }
    return (!s->waits || write_pending(pass, err)) && write_columns(pass, err) && carla_rows_end(pass, err);
}

static void carla_report_trajectory_free_state(void *state) {
    (void)state;
}

const struct carla_question carla_trajectory = {.needs = carla_report_trajectory_needs,
                                                .begin = carla_report_trajectory_begin,
                                                .packet = carla_report_trajectory_packet,
                                                .end = carla_report_trajectory_end,
                                                .free = carla_report_trajectory_free_state,
                                                .state_size = sizeof(struct trajectory)};
