/* The path of one actor, frame by frame. The speed is the recorded one if there is one, else the distance from the
 * previous frame divided by the time; the row contains its source. */
#include <math.h>

#include "base/bytes.h"
#include "formats/carla/report.h"

struct pose {
    double time, location[3], rotation[3];
    uint64_t ordinal, frame; /* offset in the file; the frame's own id */
};
struct trajectory {
    bool met;    /* the actor was found */
    bool headed; /* the columns have been written */
    bool waits;  /* the row for `now` is pending: its frame may still contain the speed */
    bool has_before;
    bool moving; /* `velocity` is recorded */
    struct pose now, before;
    double velocity[3]; /* m/s */
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
    static const char *const columns[] = {"time_s",   "frame",     "x_m",       "y_m",       "z_m",
                                          "roll_deg", "pitch_deg", "yaw_deg",   "speed_m_s", "vx_m_s",
                                          "vy_m_s",   "vz_m_s",    "speed_from"};
    struct trajectory *s = pass->state;
    bool first = !s->headed;
    s->headed = true;
    return !first || carla_columns(pass, columns, sizeof columns / sizeof *columns, err);
}

/* Metres per second; false: unknown. */
static bool find_velocity(const struct trajectory *s, double v[3]) {
    if (s->moving) {
        memcpy(v, s->velocity, sizeof s->velocity);
        return true;
    }
    double step = s->now.time - s->before.time;
    if (!s->has_before || s->before.ordinal + 1 != s->now.ordinal || !(step > 0)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        v[i] = (s->now.location[i] - s->before.location[i]) / 100 / step;
    }
    return true;
}

static bool write_pending(struct reel_carla *pass, struct reel_error *err) {
    struct trajectory *s = pass->state;
    const double turn = pass->question.ros_frame ? -1 : 1; /* mirrored with the y axis: y itself, pitch and yaw; + 0:
                                                              never -0 */
    const struct pose *now = &s->now;
    struct reel_cell cells[13] = {
        reel_cell_real(now->time),
        reel_cell_integer((int64_t)now->frame),
        carla_metres(now->location[0], &s->layout),
        carla_metres(now->location[1] * turn + 0, &s->layout),
        carla_metres(now->location[2], &s->layout),
        carla_degrees(now->rotation[0], &s->layout),
        carla_degrees(now->rotation[1] * turn + 0, &s->layout),
        carla_degrees(now->rotation[2] * turn + 0, &s->layout),
    };
    double v[3];
    if (find_velocity(s, v)) {
        cells[8] = reel_cell_real32((float)sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        cells[9] = reel_cell_real32((float)v[0]);
        cells[10] = reel_cell_real32((float)(v[1] * turn + 0));
        cells[11] = reel_cell_real32((float)v[2]);
        cells[12] = reel_cell_text(bytes_text(s->moving ? "recorded" : "difference"));
    }
    s->before = s->now;
    s->has_before = true;
    s->waits = s->moving = false;
    return write_columns(pass, err) && carla_row(pass, cells, 13, err);
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
        s->moving = s->waits;
        carla_vec_read(record.data + 4, &p->layout, s->velocity);
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
