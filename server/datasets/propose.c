/* See propose.h. */
#include "datasets/propose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "datasets/dataset.h"

enum { FPS_PROPOSED_MAX = 60, FPS_OTHERWISE = 10, RATE_MESSAGES_MIN = 2 };
static const char state[] = "observation.state", action[] = "action", images[] = "observation.images.";

/* Fields with the numbers of a message, by the end of its type: "JointState" of sensor_msgs/msg/JointState. */
static const struct {
    const char *type, *fields[4];
} types[] = {
    {"JointState", {"position"}},
    {"Odometry", {"pose.pose.position", "pose.pose.orientation", "twist.twist.linear", "twist.twist.angular"}},
    {"PoseStamped", {"pose.position", "pose.orientation"}},
    {"Pose", {"position", "orientation"}},
    {"TwistStamped", {"twist.linear", "twist.angular"}},
    {"Twist", {"linear", "angular"}},
    {"WrenchStamped", {"wrench.force", "wrench.torque"}},
    {"Float64MultiArray", {"data"}},
    {"Float32MultiArray", {"data"}},
    {"Float64", {"data"}},
    {"Float32", {"data"}},
    {"PointStamped", {"point"}},
    {"Point", {"x", "y", "z"}},
    {"Vector3Stamped", {"vector"}},
    {"Vector3", {"x", "y", "z"}},
};
static const char *const image_types[] = {"Image", "CompressedImage", "CompressedVideo", "RawImage"};

static const char *end_of(const char *type) {
    const char *slash = strrchr(type, '/'), *dot = strrchr(type, '.'), *last = slash > dot ? slash : dot;
    return last ? last + 1 : type;
}

static bool holds(const char *topic, const char *word) {
    for (; *topic; topic++) {
        if (ascii_ncasecmp(topic, word, strlen(word)) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_command(const char *topic) {
    return holds(topic, "cmd") || holds(topic, "command") || holds(topic, "action");
}

static bool is_image(const char *type) {
    for (size_t i = 0; i < sizeof image_types / sizeof *image_types; i++) {
        if (strcmp(end_of(type), image_types[i]) == 0) {
            return true;
        }
    }
    return false;
}

struct proposal {
    json_t *features;
    double slowest, images; /* messages a second of the slowest topic, and of the fastest with images; 0: none */
    uint32_t n_sources;
};

/* ---- rates */

static double rate_of(const struct reel_index *index, uint32_t channel) {
    const struct reel_channel_stats *s = reel_index_stats(index, channel);
    double span = s->count < RATE_MESSAGES_MIN ? 0 : (double)s->last_ns - (double)s->first_ns;
    return span > 0 ? (double)(s->count - 1) * 1e9 / span : 0;
}

static json_int_t fps_of(const struct proposal *p) {
    double rate = round(p->images > 0 ? p->images : p->slowest);
    if (p->images <= 0 && p->slowest <= 0) {
        return FPS_OTHERWISE;
    }
    return rate < 1 ? 1 : rate > FPS_PROPOSED_MAX ? FPS_PROPOSED_MAX : (json_int_t)rate;
}

/* ---- features */

static void add_source(struct proposal *p, const char *feature, const char *topic, const char *field) {
    char text[1024];
    json_t *sources = json_object_get(p->features, feature);
    if (p->n_sources == DATASET_SOURCES_MAX ||
        (size_t)snprintf(text, sizeof text, "%s.%s", topic, field) >= sizeof text) {
        return;
    }
    if (!sources) {
        json_object_set_new(p->features, feature, sources = json_array());
    }
    json_array_append_new(sources, json_string(text));
    p->n_sources++;
}

static void add_numbers(struct proposal *p, const char *topic, const char *type) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (size_t f = 0; f < 4 && strcmp(end_of(type), types[i].type) == 0 && types[i].fields[f]; f++) {
            add_source(p, is_command(topic) ? action : state, topic, types[i].fields[f]);
        }
    }
}

/* Features are one, whatever their case. */
static bool has_feature(const struct proposal *p, const char *name) {
    const char *key;
    json_t *value;
    json_object_foreach(p->features, key, value) {
        if (ascii_casecmp(key, name) == 0) {
            return true;
        }
    }
    return false;
}

/* observation.images.front.color of /front/color. Leaves room for state and action. */
static void add_image(struct proposal *p, const char *topic) {
    char name[256];
    if (p->n_sources == DATASET_SOURCES_MAX || json_object_size(p->features) >= DATASET_FEATURES_MAX - 2 ||
        (size_t)snprintf(name, sizeof name, "%s%s", images, topic + (topic[0] == '/')) >= sizeof name) {
        return;
    }
    for (char *at = name; (at = strchr(at, '/'));) {
        *at = '.';
    }
    if (!has_feature(p, name)) {
        json_object_set_new(p->features, name, json_string(topic));
        p->n_sources++;
    }
}

static void add_channel(struct proposal *p, const struct reel_index *index, uint32_t id) {
    const struct reel_channel *c = reel_index_channel(index, id);
    double rate = rate_of(index, id);
    uint32_t before = p->n_sources;
    if (rate <= 0 || c->n_topics != 1) { /* a message alone, such as a map, is no value of its time */
        return;
    }
    if (is_image(c->type)) {
        add_image(p, c->name);
        p->images = fmax(p->images, rate);
        return;
    }
    add_numbers(p, c->name, c->type);
    if (p->n_sources > before) {
        p->slowest = p->slowest > 0 ? fmin(p->slowest, rate) : rate;
    }
}

json_t *dataset_propose(const json_t *definition, const struct reel_index *index, struct reel_error *err) {
    struct proposal p = {.features = json_object()};
    json_t *out = json_copy((json_t *)definition);
    uint32_t n = reel_index_info(index)->n_channels;
    for (uint32_t id = 0; id < n; id++) {
        add_channel(&p, index, id);
    }
    if (json_object_size(p.features) == 0 && !json_object_get(out, "features")) {
        json_decref(p.features);
        json_decref(out);
        reel_fail(err, REEL_UNSUPPORTED, "no topic is of a type that features are proposed for: name the features");
        return NULL;
    }
    if (!json_object_get(out, "fps") && !json_object_get(out, "clock")) {
        json_object_set_new(out, "fps", json_integer(fps_of(&p)));
    }
    if (!json_object_get(out, "features")) {
        json_object_set(out, "features", p.features);
    }
    json_decref(p.features);
    return out;
}
