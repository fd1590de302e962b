/* /nanover: the queries of NanoVer's own tools: the full frame or state at a time, frames, resets, state changes,
 * energies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/answer.h"
#include "api/digests.h"
#include "api/params.h"
#include "api/recording.h"
#include "api/selection.h"
#include "api/table.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "decode/encoding.h"
#include "formats/nanover/question.h"

enum { KEYS_MAX = 64, MOMENT_VERSION = 1 /* part of the ETag: raise it when a byte of the output changes */ };

/* --- frame and state --- */

struct moment { /* source of a reply */
    uint8_t *data;
    size_t size;
};

static bool read_moment(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    const struct moment *m = context;
    (void)err;
    memcpy(buffer, m->data + offset, size);
    return true;
}
static void free_moment(void *context) {
    struct moment *m = context;
    if (m) {
        free(m->data);
        free(m);
    }
}
REEL_DEFINE_AUTO(struct moment, free_moment);

static struct moment *make_moment(struct reel_recording *recording, enum reel_nanover_part part, int64_t time_ns,
                                  bool packed, struct reel_error *err) {
    AUTO(free_moment) struct moment *m = calloc(1, sizeof *m);
    if (!m) {
        reel_fail_memory(err);
        return NULL;
    }
    if (!reel_nanover_moment(recording, part, time_ns, &m->data, &m->size, err)) {
        return NULL;
    }
    if (!packed) {
        AUTO_MEM uint8_t *message = TAKE(m->data);
        char *text = NULL;
        bool good = reel_nanover_json(bytes_of(message, m->size), &text, &m->size, err);
        m->data = (uint8_t *)text;
        return good ? TAKE(m) : NULL;
    }
    return TAKE(m);
}

/* NULL: replied. */
static const char *choose_form(struct http_request *r) {
    static const char *const offers[] = {"application/json", "application/msgpack", NULL};
    const char *output = http_param(r, "output");
    const char *type = !output ? http_negotiate(r, offers) : strcmp(output, "msgpack") == 0 ? offers[1] : offers[0];
    if (!type) {
        http_reply_problem(r, 406, "not-acceptable", "this is available as application/json or application/msgpack");
    }
    return type;
}

static void reply_moment(struct http_request *r, enum reel_nanover_part part) {
    struct api_recording a;
    struct reel_error err = {0};
    struct reel_time at;
    const char *type = choose_form(r);
    if (!type || !api_open_messages(r, &a)) {
        return;
    }
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a.recording));
    int64_t time_ns = info->end_ns;
    bool good = !http_param_time(r, "at", &at) || reel_time_within(&at, info->start_ns, info->end_ns, &time_ns, &err);
    struct moment *m =
        !good ? NULL : make_moment(a.recording, part, time_ns, strcmp(type, "application/msgpack") == 0, &err);
    if (m) {
        char text[256], etag[64];
        snprintf(text, sizeof text, "nanover %d %d %s %u %lld %s %u.%u", (int)part, (int)info->clock, a.row.content,
                 info->format->version, (long long)time_ns, type, MOMENT_VERSION, reel_encodings_version());
        api_etag(text, etag);
        http_reply_file(r, &(struct http_file){.length = m->size,
                                               .etag = etag,
                                               .media_type = type,
                                               .fd = -1,
                                               .read = read_moment,
                                               .free = free_moment,
                                               .context = m});
    } else {
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}

static void api_nanover_frame(struct http_request *r) {
    reply_moment(r, REEL_NANOVER_FRAME);
}
static void api_nanover_state(struct http_request *r) {
    reply_moment(r, REEL_NANOVER_STATE);
}

/* --- rows --- */

static bool nanover_step(void *pass, bool *done, struct reel_error *err) {
    return reel_nanover_step(pass, done, err);
}
static void free_pass(void *pass) {
    reel_nanover_free(pass);
}

static void reply_rows(struct http_request *r, const struct reel_nanover_question *q, struct reel_recording *recording,
                       int form, const char *media) {
    struct reel_error err = {0};
    AUTO(api_answer_free) struct api_answer *answer = api_answer_new(form, &err);
    struct reel_nanover *pass = answer ? reel_nanover_open(recording, q, api_answer_rows(answer), &err) : NULL;
    if (!pass) {
        http_reply_error(r, &err);
        return;
    }
    api_answer_reply(r, TAKE(answer), &(struct api_pass){.pass = pass, .step = nanover_step, .free = free_pass}, media);
}

static const char *table_form(struct http_request *r, enum reel_nanover_topic topic, int *form) {
    int fallback = topic == REEL_NANOVER_CHANGES || topic == REEL_NANOVER_STATES ? REEL_TABLE_NDJSON : REEL_TABLE_JSON;
    return api_table_form(r, fallback, fallback, form);
}

static void nanover_answer(struct http_request *r, enum reel_nanover_topic topic) {
    struct api_recording a;
    struct api_selection selection;
    const char *keys[KEYS_MAX];
    size_t n = http_params(r, "key", keys, KEYS_MAX);
    int form;
    const char *media = table_form(r, topic, &form);
    if (!media || !api_open_messages(r, &a)) {
        return;
    }
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a.recording));
    if (api_select(r, info->start_ns, info->end_ns, &selection)) {
        const struct reel_nanover_question q = {
            .topic = topic, .keys = keys, .n_keys = (uint32_t)n, .selection = &selection.selection};
        reply_rows(r, &q, a.recording, form, media);
    }
    api_recording_done(&a);
}

static void api_nanover_resets(struct http_request *r) {
    nanover_answer(r, REEL_NANOVER_RESETS);
}
static void api_nanover_changes(struct http_request *r) {
    nanover_answer(r, REEL_NANOVER_CHANGES);
}
static void api_nanover_energies(struct http_request *r) {
    nanover_answer(r, REEL_NANOVER_ENERGIES);
}
static void api_nanover_frames(struct http_request *r) {
    nanover_answer(r, REEL_NANOVER_FRAMES);
}
static void api_nanover_states(struct http_request *r) {
    nanover_answer(r, REEL_NANOVER_STATES);
}

/* ---- the endpoints */

static const struct http_param nanover_moment_params[] = {
    {.name = "at",
     .type = HTTP_TIME,
     .help = "The time; all messages up to it are merged. Without it, the end of the recording."},
    PARAM_OUTPUT("json", "msgpack"),
    {0},
};
static const struct http_param nanover_resets_params[] = {PARAM_ROW_OUTPUT, {0}};
static const struct http_param nanover_changes_params[] = {
    {.name = "key",
     .type = HTTP_GLOB,
     .repeats = true,
     .max = 64,
     .help = "Only keys that match one of these globs: avatar.*"},
    PARAM_SPAN,
    PARAM_ROW_OUTPUT,
    {0},
};
static const struct http_param nanover_rows_params[] = {
    PARAM_SPAN,
    {.name = "every",
     .type = HTTP_TEXT,
     .help = "Fewer frames: 10 selects every tenth frame, 100ms the first in each interval."},
    PARAM_ROW_OUTPUT,
    {0},
};

const struct api_route api_routes_nanover[] = {
    {.http = {"GET", BASE "/recordings/{id}/nanover/frame", ROLE_READ, nanover_moment_params,
              "Returns the complete NanoVer frame at a time.", api_nanover_frame, NULL, NULL, NULL},
     .id = "getNanoverFrame",
     .tag = "nanover",
     .headers = "range prefer",
     .answers = "200 206:Partial" ERRORS_FILE},
    {.http = {"GET", BASE "/recordings/{id}/nanover/state", ROLE_READ, nanover_moment_params,
              "Returns the complete NanoVer shared state at a time.", api_nanover_state, NULL, NULL, NULL},
     .id = "getNanoverState",
     .tag = "nanover",
     .headers = "range prefer",
     .answers = "200 206:Partial" ERRORS_FILE},
    {.http = {"GET", BASE "/recordings/{id}/nanover/state/changes", ROLE_READ, nanover_changes_params,
              "Lists the changes of the NanoVer shared state, key by key.", api_nanover_changes, NULL, NULL, NULL},
     .id = "listNanoverChanges",
     .tag = "nanover",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/nanover/states", ROLE_READ, nanover_changes_params,
              "Lists the complete NanoVer shared state after each message that changes it.", api_nanover_states, NULL,
              NULL, NULL},
     .id = "listNanoverStates",
     .tag = "nanover",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/nanover/resets", ROLE_READ, nanover_resets_params,
              "Lists the simulation runs of a NanoVer recording, each of which begins with a reset.",
              api_nanover_resets, NULL, NULL, NULL},
     .id = "listNanoverResets",
     .tag = "nanover",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/nanover/frames", ROLE_READ, nanover_rows_params,
              "Lists the NanoVer frames with index, keys, particle count and energies.", api_nanover_frames, NULL, NULL,
              NULL},
     .id = "listNanoverFrames",
     .tag = "nanover",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/nanover/energies", ROLE_READ, nanover_rows_params,
              "Lists the energies of a NanoVer recording, frame by frame.", api_nanover_energies, NULL, NULL, NULL},
     .id = "listNanoverEnergies",
     .tag = "nanover",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.id = NULL},
};
