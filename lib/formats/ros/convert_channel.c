/* See convert_channel.h. */
#include "formats/ros/convert_channel.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "formats/ros/channel_definition.h"
#include "formats/ros/write.h"

enum { OWN_PAIRS = 5 };

#define QOS_KEY "offered_qos_profiles"
#define HASH_KEY "topic_type_hash"

/* ---- QoS */

/* A list of one profile, as rosbag2 writes it until Humble. */
static const char *qos_text(struct arena *arena, bool latched) {
    static const char forever[] = "    sec: 9223372036\n    nsec: 854775807\n";
    char text[512];
    snprintf(text, sizeof text,
             "- history: %d\n  depth: %d\n  reliability: 1\n  durability: %d\n  deadline:\n%s  lifespan:\n%s  "
             "liveliness: 1\n"
             "  liveliness_lease_duration:\n%s  avoid_ros_namespace_conventions: false",
             latched ? 1 : 3, latched, latched ? 1 : 2, forever, forever, forever);
    return arena_text(arena, text);
}

/* Profiles of one topic that differ make players give up durability, so one latched publisher latches its topic. */
static bool is_latched_topic(const struct reel_stream *s, const char *name) {
    bool latched = strcmp(name, "/tf_static") == 0;
    for (uint32_t i = 0; i < s->n_channels && !latched; i++) {
        latched = s->channels[i]->latched && strcmp(s->channels[i]->name, name) == 0;
    }
    return latched;
}

/* All publishers of a topic are "transient local". */
static bool is_transient_local(const char *qos) {
    unsigned all = 0, local = 0;
    for (const char *p = qos; p && (p = strstr(p, "durability:")); all++) {
        p += strlen("durability:");
        p += strspn(p, " ");
        local += strncmp(p, "transient_local", strlen("transient_local")) == 0 ||
                 (p[0] == '1' && (p[1] == '\0' || strchr("\r\n ,}", p[1])));
    }
    return all > 0 && local == all;
}

/* ---- channels */

static void ros_add_pair(struct reel_pairs *pairs, const char *key, const char *value) {
    pairs->items[pairs->count++] = (struct reel_pair){.key = key, .value = value};
}

/* The definition that the channel had, as text of the model, for the way back. */
static const char *original_text(const struct converted_channel *how, const struct reel_channel *c,
                                 struct reel_error *err) {
    struct reel_bytes definition;
    const char *text = channel_definition(how->arena, c, &definition, err) ? arena_utf8(how->arena, definition) : NULL;
    if (!text) {
        reel_fail_memory(err);
    }
    return text;
}

static bool add_ros2_pairs(const struct converted_channel *how, const struct reel_channel *c,
                           const struct ros_translation *t, struct reel_pairs *pairs, struct reel_error *err) {
    const struct reel_schema *own = reel_channel_schema(c);
    const char *original = original_text(how, c, err), *qos = ros_metadata_of(c, QOS_KEY);
    qos = qos ? qos : qos_text(how->arena, is_latched_topic(how->stream, c->name));
    if (!original || !qos) {
        return original ? reel_fail_memory(err) : false;
    }
    ros_add_pair(pairs, QOS_KEY, qos);
    ros_add_pair(pairs, HASH_KEY, t->hash);
    ros_add_pair(pairs, ROS1_TYPE_KEY, c->type);
    if (own->hash[0]) {
        ros_add_pair(pairs, ROS1_MD5_KEY, own->hash);
    }
    ros_add_pair(pairs, ROS1_DEFINITION_KEY, original);
    return true;
}

static bool set_pairs(const struct converted_channel *how, const struct reel_channel *c,
                      const struct ros_translation *t, struct reel_pairs *pairs, struct reel_error *err) {
    static const char *const replaced[] = {HASH_KEY, ROS1_TYPE_KEY, ROS1_MD5_KEY, ROS1_DEFINITION_KEY};
    pairs->items = arena_alloc(how->arena, (c->metadata.count + OWN_PAIRS) * sizeof *pairs->items);
    pairs->count = 0;
    if (!pairs->items) {
        return reel_fail_memory(err);
    }
    bool becomes_ros2 = how->to == ROS_2 && !how->by_rules;
    if (becomes_ros2 && !add_ros2_pairs(how, c, t, pairs, err)) {
        return false;
    }
    for (size_t i = 0; i < c->metadata.count; i++) {
        const struct reel_pair *p = &c->metadata.items[i];
        bool old = becomes_ros2 && strcmp(p->key, QOS_KEY) == 0;
        for (size_t k = 0; k < sizeof replaced / sizeof *replaced; k++) {
            old = old || strcmp(p->key, replaced[k]) == 0;
        }
        if (!old) {
            ros_add_pair(pairs, p->key, p->value);
        }
    }
    return true;
}

/* "pkg/msg/Type" */
static const char *whole_name(struct arena *arena, const char *type) {
    const char *slash = strchr(type, '/');
    size_t package = slash ? (size_t)(slash - type) : 0, room = strlen(type) + sizeof "/msg";
    char *name = arena_alloc(arena, room);
    if (name) {
        snprintf(name, room, "%.*s/msg%s", (int)package, type, type + package);
    }
    return name;
}

const struct reel_channel *ros_converted_channel(const struct converted_channel *how, const struct reel_channel *from,
                                                 const struct ros_translation *t, struct reel_error *err) {
    bool ros2 = how->to == ROS_2;
    struct reel_channel *c = arena_copy(how->arena, from, sizeof *c);
    struct reel_schema *schema = arena_alloc(how->arena, sizeof *schema);
    const char *name = ros2 ? whole_name(how->arena, t->type) : arena_text(how->arena, t->type);
    if (!c || !schema || !name || !set_pairs(how, from, t, &c->metadata, err)) {
        reel_fail_memory(err);
        return NULL;
    }
    const uint8_t *definition = arena_copy(how->arena, t->definition.data, t->definition.size); /* it may be of the
                                                                                                  channel's metadata */
    if (!definition) {
        reel_fail_memory(err);
        return NULL;
    }
    *schema = (struct reel_schema){.name = name,
                                   .encoding = ros2 ? "ros2msg" : "ros1msg",
                                   .hash = ros2 ? "" : t->hash,
                                   .data = bytes_of(definition, t->definition.size)};
    c->type = name;
    c->encoding = ros2 ? "cdr" : "ros1";
    c->schemas = schema;
    c->n_schemas = 1;
    c->latched = from->latched || (!ros2 && !how->by_rules && is_transient_local(ros_metadata_of(from, QOS_KEY)));
    return c;
}
