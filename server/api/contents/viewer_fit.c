/* Where a camera sees all that is drawn first: the extent of the points of the first scene that has any. */
#include "api/contents/viewer_fit.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"

enum {
    SCENES_MAX = 64,       /* looked at, until one has points */
    SCENE_BYTES = 8 << 20, /* a longer one is not looked at */
    DEPTH_MAX = 16,
};

struct extent {
    double low[3], high[3];
    bool any;
};

/* Takes each object of x, y and z that is a position: no size, and no turn, which has w. */
static void viewer_fit_take(struct extent *e, const char *key, const json_t *value, int depth) {
    static const char *const axes[] = {"x", "y", "z"};
    const char *name;
    json_t *member;
    size_t i;
    double at[3];
    bool point =
        json_is_object(value) && !json_object_get(value, "w") && strcmp(key, "size") != 0 && strcmp(key, "scale") != 0;
    for (i = 0; point && i < 3; i++) {
        const json_t *number = json_object_get(value, axes[i]);
        point = json_is_number(number);
        at[i] = json_number_value(number);
    }
    for (i = 0; point && i < 3; i++) {
        e->low[i] = e->any ? fmin(e->low[i], at[i]) : at[i];
        e->high[i] = e->any ? fmax(e->high[i], at[i]) : at[i];
    }
    e->any |= point;
    if (point || depth == DEPTH_MAX) {
        return;
    }
    if (json_is_object(value)) {
        json_object_foreach((json_t *)value, name, member) {
            viewer_fit_take(e, name, member, depth + 1);
        }
    } else {
        json_array_foreach(value, i, member) {
            viewer_fit_take(e, key, member, depth + 1);
        }
    }
}

static bool take_scene(struct extent *e, struct reel_stream *stream, const struct reel_message *m,
                       struct reel_error *err) {
    struct reel_bytes payload;
    if (m->size > SCENE_BYTES) {
        return true;
    }
    if (!reel_stream_payload(stream, m, &payload, err)) {
        return false;
    }
    json_t *scene = json_loadb((const char *)payload.data, payload.size, 0, NULL);
    viewer_fit_take(e, "", scene, 0);
    json_decref(scene);
    return true;
}

bool viewer_fit(struct reel_recording *recording, const struct reel_view *view, struct viewer_fit *out,
                struct reel_error *err) {
    static const char *const topics[] = {"/view/scene"};
    struct reel_selection scenes = selection_all;
    struct extent e = {.any = false};
    struct reel_message m;
    enum reel_step step = REEL_STEP_END;
    *out = (struct viewer_fit){.found = false};
    scenes.topics = topics;
    scenes.n_topics = 1;
    scenes.view = view;
    const struct reel_writer *mcap = reel_writer_named(".mcap", NULL, err);
    AUTO(reel_stream_free)
    struct reel_stream *stream = mcap ? reel_writer_stream(mcap, &recording, 1, &scenes, err) : NULL;
    if (!stream) {
        return false;
    }
    for (int i = 0; i < SCENES_MAX && !e.any && (step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE; i++) {
        if (!take_scene(&e, stream, &m, err)) {
            return false;
        }
    }
    double diagonal = 0;
    for (int i = 0; i < 3; i++) {
        out->centre[i] = (e.low[i] + e.high[i]) / 2;
        diagonal += (e.high[i] - e.low[i]) * (e.high[i] - e.low[i]);
    }
    out->radius = sqrt(diagonal) / 2;
    out->found = e.any && isfinite(out->radius) && out->radius > 0;
    return step != REEL_STEP_ERROR;
}
