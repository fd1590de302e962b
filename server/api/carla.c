/* /carla: the questions of CARLA's own tools, answered from the stored log as it is read: nothing is prepared, and nothing waits for a
 * simulator. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/common.h"
#include "api/routes.h"
#include "reel/carla.h"

/* --- the answer as a stream --- */

enum { FORM_TEXT = -1 };
struct media {
    const char *media_type, *format, *sent_as;
    int form; /* enum reel_table_form, or FORM_TEXT */
};
static const struct media medias[] = {
    {"text/plain", "text", "text/plain; charset=utf-8", FORM_TEXT},
    {"application/json", "json", "application/json", REEL_TABLE_JSON},
    {"text/csv", "csv", "text/csv; charset=utf-8; header=present", REEL_TABLE_CSV},
    {"application/x-ndjson", "ndjson", "application/x-ndjson", REEL_TABLE_NDJSON},
};
enum { MEDIAS = sizeof medias / sizeof *medias };

struct answer {
    struct reel_carla *pass;
    struct reel_table_text *rows; /* NULL: CARLA's text */
    char *text;                   /* told and not yet sent */
    size_t at, size, capacity;
    bool done;
};

static void free_answer(void *context) {
    struct answer *a = context;
    if (a) {
        reel_carla_free(a->pass);
        reel_table_text_free(a->rows);
        free(a->text);
        free(a);
    }
}
REEL_DEFINE_AUTO(struct answer, free_answer);

static bool keep(void *context, const char *text, size_t size) {
    struct answer *a = context;
    if (a->capacity - a->size < size) {
        size_t want = 2 * (a->size + size);
        char *larger = realloc(a->text, want);
        if (!larger) {
            return false;
        }
        a->text = larger;
        a->capacity = want;
    }
    memcpy(a->text + a->size, text, size);
    a->size += size;
    return true;
}

/* Until there is something to send, or nothing more. */
static bool advance(struct answer *a, struct reel_error *err) {
    while (a->at == a->size && !a->done) {
        a->at = a->size = 0;
        if (!reel_carla_step(a->pass, &a->done, err)) {
            return false;
        }
    }
    return true;
}

static bool next(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct answer *a = context;
    if (!advance(a, err)) {
        return false;
    }
    *got = a->size - a->at < size ? a->size - a->at : size;
    memcpy(buffer, a->text + a->at, *got);
    a->at += *got;
    return true;
}

static struct answer *open_answer(struct reel_recording *recording, const struct reel_carla_question *q, int form, struct reel_error *err) {
    AUTO(free_answer) struct answer *a = calloc(1, sizeof *a);
    if (!a) {
        reel_fail_memory(err);
        return NULL;
    }
    const struct reel_text_sink sink = {.put = keep, .context = a};
    if (form != FORM_TEXT && !(a->rows = reel_table_text_new((enum reel_table_form)form, &sink, err))) {
        return NULL;
    }
    a->pass = reel_carla_open(recording, q, &sink, a->rows ? reel_table_of_text(a->rows) : NULL, err);
    return a->pass && advance(a, err) ? TAKE(a) : NULL; /* what goes wrong before the first byte is a proper answer */
}

/* --- what is asked --- */

static const struct media *choose_media(struct http_request *r, bool has_text) {
    static const char *const offers[] = {"text/plain", "application/json", "text/csv", "application/x-ndjson", NULL};
    const char *format = http_param(r, "format"), *type = format ? NULL : http_negotiate(r, offers + !has_text);
    for (size_t i = !has_text; i < MEDIAS; i++) {
        if (format ? strcmp(medias[i].format, format) == 0 : type && strcmp(medias[i].media_type, type) == 0) {
            return &medias[i];
        }
    }
    http_reply_problem(r, 406, "not-acceptable", "this is given as %sapplication/json, text/csv or application/x-ndjson",
                       has_text ? "text/plain, " : "");
    return NULL;
}

static bool read_number(struct http_request *r, const char *name, double *out) {
    const char *text = http_param(r, name);
    if (!text) {
        return true;
    }
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value < 0) {
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
    return read_number(r, "min_time", &q->min_time_s) && read_number(r, "min_distance", &q->min_distance_cm);
}

static void reply(struct http_request *r, struct reel_carla_question q) {
    struct api_recording a;
    struct reel_error err = {0};
    const struct media *media = choose_media(r, q.topic <= REEL_CARLA_BLOCKED);
    if (!media || !read_question(r, &q) || !api_open(r, &a)) {
        return;
    }
    bool damaged = reel_index_info(reel_recording_index(a.recording))->damaged;
    struct answer *answer = open_answer(a.recording, &q, media->form, &err);
    api_recording_done(&a);
    if (!answer) {
        http_reply_error(r, &err);
        return;
    }
    if (damaged) {
        http_add_header(r, "X-Recording-Damaged", "true"); /* told of what could be read; /scan says what could not */
    }
    http_reply_stream(r, &(struct http_stream){.media_type = media->sent_as, .next = next, .free = free_answer, .context = answer});
}

void api_carla_info(struct http_request *r) {
    reply(r, reel_carla_question(REEL_CARLA_INFO));
}
void api_carla_collisions(struct http_request *r) {
    reply(r, reel_carla_question(REEL_CARLA_COLLISIONS));
}
void api_carla_blocked(struct http_request *r) {
    reply(r, reel_carla_question(REEL_CARLA_BLOCKED));
}
void api_carla_actors(struct http_request *r) {
    reply(r, reel_carla_question(REEL_CARLA_ACTORS));
}

void api_carla_trajectory(struct http_request *r) {
    struct reel_carla_question q = reel_carla_question(REEL_CARLA_TRAJECTORY);
    const char *text = http_segment(r, "actor");
    char *end;
    errno = 0;
    unsigned long long actor = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || actor > UINT32_MAX) {
        http_reply_problem(r, 404, "not-found", "an actor is named by its number, as in …/carla/actors");
        return;
    }
    q.actor = (uint32_t)actor;
    reply(r, q);
}
