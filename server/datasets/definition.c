/* See definition.h. */
#include "datasets/definition.h"

#include <math.h>
#include <string.h>

#include "catalog/saved.h"

static bool wrong(struct reel_error *err, const char *member, const char *what) {
    return reel_fail(err, REEL_ARGUMENT, "\"%s\" %s", member, what);
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

static bool read_clock(const json_t *value, struct dataset_definition *out, struct reel_error *err) {
    const json_t *fps = json_object_get(value, "fps"), *age = json_object_get(value, "max_age_s");
    json_int_t n = json_integer_value(fps);
    double seconds = json_number_value(age);
    if (!json_is_integer(fps) || n < 1 || n > DATASET_FPS_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "\"fps\" is a whole number from 1 to %d", DATASET_FPS_MAX);
    }
    if (age && !json_is_null(age) && (!json_is_number(age) || !(seconds > 0) || seconds > 1e9)) {
        return wrong(err, "max_age_s", "is a number of seconds above 0");
    }
    out->spec.fps = (uint32_t)n;
    out->spec.max_age_ns = llround(seconds * 1e9);
    return true;
}

static bool knows(const json_t *value, struct reel_error *err) {
    static const char *const known[] = {"search", "recordings", "fps", "features", "max_age_s", "robot"};
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)value, name, member) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && strcmp(name, known[i]) != 0) {
            i++;
        }
        if (i == sizeof known / sizeof *known) {
            return reel_fail(err, REEL_ARGUMENT, "a dataset has no member \"%.100s\"", name);
        }
    }
    return true;
}

bool dataset_definition_read(const json_t *value, struct dataset_definition *out, struct reel_error *err) {
    const json_t *robot = json_object_get(value, "robot");
    *out = (struct dataset_definition){.robot = json_string_value(robot)};
    out->spec.features = out->features;
    if (!json_is_object(value)) {
        return reel_fail(err, REEL_ARGUMENT, "a dataset is an object");
    }
    if (robot && !json_is_null(robot) && !out->robot) {
        return wrong(err, "robot", "is a text");
    }
    return knows(value, err) && read_recordings(value, out, err) && read_clock(value, out, err) &&
           read_features(json_object_get(value, "features"), out, err) && dataset_spec_check(&out->spec, err);
}
