/* /carla: the queries of CARLA's own tools, answered by reading the stored log; no simulator is needed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/answer.h"
#include "api/params.h"
#include "api/recording.h"
#include "api/table.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "formats/carla/question.h"

static bool reports_carla_read_number(struct http_request *r, const char *name, double *out) {
    const char *text = http_param(r, name);
    if (!text) {
        return true;
    }
    double value;
    if (!number_real(text, &value) || !isfinite(value) || value < 0) {
        http_reply_bad_param(r, name, "a number, 0 or more");
        return false;
    }
    *out = value;
    return true;
}

static bool read_question(struct http_request *r, struct reel_carla_question *q) {
    struct reel_error err = {0};
    const char *dialect = http_param(r, "dialect"), *type1 = http_param(r, "type1"), *type2 = http_param(r, "type2"),
               *frame = http_param(r, "frame");
    http_param_bool(r, "all", &q->all);
    if (dialect && !reel_carla_dialect_named(dialect, &q->dialect, &err)) {
        http_reply_bad_param(r, "dialect", "%s", err.text);
        return false;
    }
    q->type1 = type1 ? type1[0] : q->type1;
    q->type2 = type2 ? type2[0] : q->type2;
    q->ros_frame = frame && strcmp(frame, "ros") == 0;
    return reports_carla_read_number(r, "min_time", &q->min_time_s) &&
           reports_carla_read_number(r, "min_distance", &q->min_distance_cm);
}

static bool carla_step(void *pass, bool *done, struct reel_error *err) {
    return reel_carla_step(pass, done, err);
}
static void free_pass(void *pass) {
    reel_carla_free(pass);
}

static void carla_answer(struct http_request *r, const struct reel_carla_question *q, struct reel_recording *recording,
                         int form, const char *media) {
    struct reel_error err = {0};
    AUTO(api_answer_free) struct api_answer *out = api_answer_new(form, &err);
    struct reel_carla *pass =
        out ? reel_carla_open(recording, q, api_answer_text(out), api_answer_rows(out), &err) : NULL;
    if (!pass) {
        http_reply_error(r, &err);
        return;
    }
    if (reel_index_info(reel_recording_index(recording))->damaged) {
        /* the answer covers what could be read; /scan lists the rest */
        http_add_header(r, "X-Recording-Damaged", "true");
    }
    api_answer_reply(r, TAKE(out), &(struct api_pass){.pass = pass, .step = carla_step, .free = free_pass}, media);
}

static void carla_reply(struct http_request *r, struct reel_carla_question q) {
    struct api_recording a;
    int form;
    bool has_text = q.topic <= REEL_CARLA_BLOCKED;
    const char *media = api_table_form(r, has_text ? API_TABLE_TEXT : REEL_TABLE_JSON,
                                       q.topic == REEL_CARLA_TRAJECTORY ? REEL_TABLE_GEOJSON : REEL_TABLE_JSON, &form);
    if (!media || !read_question(r, &q) || !api_open_messages(r, &a)) {
        return;
    }
    struct reel_error err = {0};
    struct reel_time at;
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a.recording));
    q.at_ns = info->end_ns;
    if (http_param_time(r, "at", &at) && !reel_time_within(&at, info->start_ns, info->end_ns, &q.at_ns, &err)) {
        http_reply_error(r, &err);
    } else {
        carla_answer(r, &q, a.recording, form, media);
    }
    api_recording_done(&a);
}

static void api_carla_info(struct http_request *r) {
    carla_reply(r, reel_carla_question(REEL_CARLA_INFO));
}
static void api_carla_collisions(struct http_request *r) {
    carla_reply(r, reel_carla_question(REEL_CARLA_COLLISIONS));
}
static void api_carla_blocked(struct http_request *r) {
    carla_reply(r, reel_carla_question(REEL_CARLA_BLOCKED));
}
static void api_carla_actors(struct http_request *r) {
    carla_reply(r, reel_carla_question(REEL_CARLA_ACTORS));
}

static void api_carla_state(struct http_request *r) {
    carla_reply(r, reel_carla_question(REEL_CARLA_STATE));
}

static void api_carla_trajectory(struct http_request *r) {
    struct reel_carla_question q = reel_carla_question(REEL_CARLA_TRAJECTORY);
    uint64_t actor = 0;
    if (!number_u64(http_segment(r, "actor"), &actor) || actor > UINT32_MAX) {
        http_reply_problem(r, 404, "not-found", "an actor is named by its number, as in …/carla/actors");
        return;
    }
    q.actor = (uint32_t)actor;
    carla_reply(r, q);
}

/* ---- the endpoints */

static const struct http_param carla_info_params[] = {
    {.name = "all", .type = HTTP_BOOL, .help = "Also returns the states of every frame."},
    {.name = "dialect",
     .type = HTTP_TEXT,
     .fallback = "0.9.15",
     .help = "The CARLA version whose wording the text has: 0.9.4 … 0.9.16, 0.10, dev2026."},
    PARAM_TABLE_OUTPUT,
    {0},
};
#define COLLISION_TYPE(type_name, text)                                                                                \
    {                                                                                                                  \
        .name = type_name, .type = HTTP_CHOICE, .choices = CHOICES("h", "v", "w", "t", "o", "a"), .fallback = "a",     \
        .help = text                                                                                                   \
    }
static const struct http_param carla_collisions_params[] = {
    COLLISION_TYPE("type1",
                   "The type of the first actor: h hero, v vehicle, w walker, t traffic light, o other, a any."),
    COLLISION_TYPE("type2", "The type of the second actor, as type1."),
    PARAM_TABLE_OUTPUT,
    {0},
};
static const struct http_param carla_blocked_params[] = {
    {.name = "min_time",
     .type = HTTP_TEXT,
     .fallback = "30",
     .help = "The minimum time of standing still, in seconds."},
    {.name = "min_distance",
     .type = HTTP_TEXT,
     .fallback = "10",
     .help = "An actor that moves less than this, in centimetres, stands still."},
    PARAM_TABLE_OUTPUT,
    {0},
};
static const struct http_param carla_actors_params[] = {PARAM_TABLE_OUTPUT, {0}};
static const struct http_param carla_trajectory_params[] = {
    {.name = "frame",
     .type = HTTP_CHOICE,
     .choices = CHOICES("carla", "ros"),
     .fallback = "carla",
     .help = "The coordinate system. carla: left-handed; ros: right-handed, with y, pitch and yaw negated."},
    PARAM_TABLE_OUTPUT,
    {0},
};
static const struct http_param carla_state_params[] = {
    {.name = "at", .type = HTTP_TIME, .help = "The time. Without it, the end of the recording."},
    {.name = "frame",
     .type = HTTP_CHOICE,
     .choices = CHOICES("carla", "ros"),
     .fallback = "carla",
     .help = "The coordinate system. carla: left-handed; ros: right-handed, with y, pitch and yaw negated."},
    PARAM_TABLE_OUTPUT,
    {0},
};

const struct api_route api_routes_carla[] = {
    {.http = {"GET", BASE "/recordings/{id}/carla/info", ROLE_READ, carla_info_params,
              "Returns the output of CARLA's show_recorder_file_info.", api_carla_info, NULL, NULL, NULL},
     .id = "getCarlaInfo",
     .tag = "carla",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/carla/collisions", ROLE_READ, carla_collisions_params,
              "Returns the output of CARLA's show_recorder_collisions.", api_carla_collisions, NULL, NULL, NULL},
     .id = "getCarlaCollisions",
     .tag = "carla",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/carla/blocked", ROLE_READ, carla_blocked_params,
              "Returns the output of CARLA's show_recorder_actors_blocked.", api_carla_blocked, NULL, NULL, NULL},
     .id = "getCarlaBlocked",
     .tag = "carla",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/carla/actors", ROLE_READ, carla_actors_params,
              "Lists the actors of a CARLA log.", api_carla_actors, NULL, NULL, NULL},
     .id = "listCarlaActors",
     .tag = "carla",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/carla/state", ROLE_READ, carla_state_params,
              "Returns the actors that live at a time, with interpolated positions.", api_carla_state, NULL, NULL,
              NULL},
     .id = "getCarlaState",
     .tag = "carla",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/carla/actors/{actor}/trajectory", ROLE_READ, carla_trajectory_params,
              "Returns the trajectory of an actor, frame by frame.", api_carla_trajectory, NULL, NULL, NULL},
     .id = "getCarlaTrajectory",
     .tag = "carla",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.id = NULL},
};
