/* See definition.h. */
#include "datasets/definition.h"

#include <math.h>
#include <string.h>

#include "catalog/saved.h"

static bool wrong(struct reel_error *err, const char *member, const char *what) {
    return reel_fail(err, REEL_ARGUMENT, "\"%s\" %s", member, what);
}

static bool knows(const json_t *value, const char *what, const char *const *known, struct reel_error *err) {
    const char *name;
    json_t *any;
    json_object_foreach((json_t *)value, name, any) {
        const char *const *k = known;
        while (*k && strcmp(name, *k) != 0) {
            k++;
        }
        if (!*k) {
            return reel_fail(err, REEL_ARGUMENT, "%s no member \"%.100s\"", what, name);
        }
    }
    return true;
}

static bool read_sources(struct dataset_definition *d, const json_t *value, uint32_t *n, struct dataset_feature *out,
                         struct reel_error *err) {
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    out->sources = &d->sources[*n];
    if (count > DATASET_SOURCES_MAX - *n) {
        return wrong(err, "features", "has too many sources");
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
        if (!text) {
            return wrong(err, "features", "has \"/topic.path\", or a list of such texts, for each name");
        }
        d->sources[(*n)++] = text;
    }
    out->n_sources = (uint32_t)count;
    return true;
}

static bool read_features(const json_t *value, struct dataset_definition *out, struct reel_error *err) {
    const char *name;
    json_t *sources;
    uint32_t n = 0;
    if (!json_is_object(value) || json_object_size(value) > DATASET_FEATURES_MAX) {
        return wrong(err, "features", "is an object of names and sources");
    }
    json_object_foreach((json_t *)value, name, sources) {
        struct dataset_feature *f = &out->features[out->spec.n_features++];
        f->name = name;
        if (!read_sources(out, sources, &n, f, err)) {
            return false;
        }
    }
    return true;
}

static bool read_recordings(const json_t *value, struct dataset_definition *out, struct reel_error *err) {
    const json_t *search = json_object_get(value, "search"), *ids = json_object_get(value, "recordings");
    if (!ids == !search) {
        return reel_fail(err, REEL_ARGUMENT, "a dataset has either \"search\" or \"recordings\"");
    }
    if (search) {
        return (json_is_object(search) && saved_search_read(search, &out->query)) ||
               wrong(err, "search", "is an object with q, start and end");
    }
    size_t n = json_array_size(ids);
    bool good = n > 0 && n <= DATASET_EPISODES_MAX;
    for (size_t i = 0; good && i < n; i++) {
        good = json_is_string(json_array_get(ids, i));
    }
    out->recordings = ids;
    return good || reel_fail(err, REEL_ARGUMENT, "\"recordings\" is a list of 1 to %d ids", DATASET_EPISODES_MAX);
}

/* A member that is not null; NULL: there is none. */
static const json_t *member(const json_t *value, const char *name) {
    const json_t *found = json_object_get(value, name);
    return json_is_null(found) ? NULL : found;
}

static bool read_clock(const json_t *value, struct dataset_definition *out, struct reel_error *err) {
    const json_t *fps = member(value, "fps"), *clock = member(value, "clock"), *age = member(value, "max_age_s");
    json_int_t n = json_integer_value(fps);
    double seconds = json_number_value(age);
    if (clock && json_string_length(clock) == 0) {
        return wrong(err, "clock", "is a topic");
    }
    if ((fps || !clock) && (!json_is_integer(fps) || n < 1 || n > DATASET_FPS_MAX)) {
        return reel_fail(err, REEL_ARGUMENT, "\"fps\" is a whole number from 1 to %d", DATASET_FPS_MAX);
    }
    if (age && (!json_is_number(age) || !(seconds > 0) || seconds > 1e9)) {
        return wrong(err, "max_age_s", "is a number of seconds above 0");
    }
    out->has_fps = fps;
    out->spec.fps = (uint32_t)n;
    out->spec.clock = json_string_value(clock);
    out->spec.max_age_ns = llround(seconds * 1e9);
    return true;
}

static bool read_seconds(const json_t *cuts, const char *name, int64_t *ns, struct reel_error *err) {
    const json_t *given = member(cuts, name);
    double seconds = json_number_value(given);
    *ns = llround(seconds * 1e9);
    return !given || (json_is_number(given) && seconds >= 0 && seconds <= 1e6) ||
           wrong(err, name, "is a number of seconds, 0 or more");
}

static bool read_cuts(const json_t *value, struct dataset_definition *out, struct reel_error *err) {
    static const char *const known[] = {"title", "before_s", "after_s", NULL};
    const json_t *cuts = member(value, "cuts"), *title = member(cuts, "title");
    if (!cuts) {
        return true;
    }
    if (!json_is_object(cuts) || (title && !json_is_string(title))) {
        return wrong(err, "cuts", "is an object of title, before_s and after_s");
    }
    out->cuts = true;
    out->title = json_string_value(title);
    return knows(cuts, "cuts have", known, err) && read_seconds(cuts, "before_s", &out->before_ns, err) &&
           read_seconds(cuts, "after_s", &out->after_ns, err);
}

bool dataset_definition_read(const json_t *value, struct dataset_definition *out, struct reel_error *err) {
    static const char *const known[] = {"search", "recordings", "fps",   "clock", "features",
                                        "cuts",   "max_age_s",  "robot", NULL};
    const json_t *robot = json_object_get(value, "robot");
    *out = (struct dataset_definition){.robot = json_string_value(robot)};
    out->spec.features = out->features;
    if (!json_is_object(value)) {
        return reel_fail(err, REEL_ARGUMENT, "a dataset is an object");
    }
    if (robot && !json_is_null(robot) && !out->robot) {
        return wrong(err, "robot", "is a text");
    }
    return knows(value, "a dataset has", known, err) && read_recordings(value, out, err) &&
           read_clock(value, out, err) && read_cuts(value, out, err) &&
           read_features(json_object_get(value, "features"), out, err) && dataset_spec_check(&out->spec, err);
}
