/* Connections of a ROS bag 2.0 and their channels. A connection becomes a channel with its first message; its record
 * may be anywhere: in a chunk, at the end, or missing. */
#include "base/bytes.h"
#include "formats/rosbag/v2.h"

#include <stdio.h>
#include <stdlib.h>

struct rosbag_v2_connection *rosbag_v2_find(const struct bag2 *bag, uint32_t id) {
    return (struct rosbag_v2_connection *)hash_table_get(&bag->by_id, hash_key_number(id));
}

static void *rosbag_keep(struct bag2 *bag, size_t size, struct reel_error *err) {
    void *p = arena_alloc(&bag->arena, size ? size : 1);
    if (!p) {
        arena_fail(&bag->arena, err);
    }
    return p;
}

static bool rosbag_v2_names_keep_bytes(struct bag2 *bag, struct reel_bytes from, struct reel_bytes *out,
                                       struct reel_error *err) {
    uint8_t *p = rosbag_keep(bag, from.size, err);
    if (p && from.size > 0) {
        memcpy(p, from.data, from.size);
    }
    *out = bytes_of(p, from.size);
    return p != NULL;
}

static const char *rosbag_v2_names_text_of(struct bag2 *bag, struct reel_bytes raw, struct reel_error *err) {
    return reel_scan_text(bag->scan, raw, err);
}

struct rosbag_v2_connection *rosbag_v2_connection_of(struct bag2 *bag, uint32_t id, struct reel_error *err) {
    struct rosbag_v2_connection *c = rosbag_v2_find(bag, id);
    if (c) {
        return c;
    }
    if (bag->n_connections >= REEL_CHANNELS_MAX) {
        reel_fail(err, REEL_LIMIT, "more than %d connections", REEL_CHANNELS_MAX);
        return NULL;
    }
    if (!(c = rosbag_keep(bag, sizeof *c, err)) ||
        !hash_table_set(&bag->by_id, hash_key_number(id), (uintptr_t)c, err)) {
        return NULL;
    }
    c->id = id;
    *bag->connections_end = c;
    bag->connections_end = &c->next;
    bag->n_connections++;
    return c;
}

/* The fields that become parts of the channel rather than its metadata. */
struct inner {
    struct reel_bytes topic, type, md5sum, message_definition;
    struct reel_bytes latching; /* both */
    size_t others;
};

static const struct rosrecord_name inner_names[] = {
    ROSRECORD_NAME(struct inner, topic),
    ROSRECORD_NAME(struct inner, type),
    ROSRECORD_NAME(struct inner, md5sum),
    ROSRECORD_NAME(struct inner, message_definition),
};
enum { INNER_NAMES = sizeof inner_names / sizeof *inner_names };

static bool inner_read(struct reel_bytes header, struct inner *inner) {
    struct cursor fields = cursor_of(header);
    struct reel_bytes name, value;
    while (rosrecord_field(&fields, &name, &value)) {
        inner->others += !rosrecord_keep(inner_names, INNER_NAMES, inner, name, value);
        if (bytes_is(name, "latching")) {
            inner->latching = value;
        }
    }
    return !fields.failed;
}

/* The publisher's topic, when the bag remapped it; then all other fields, in their order. */
static bool keep_metadata(struct bag2 *bag, struct rosbag_v2_connection *c, const struct inner *inner,
                          struct reel_error *err) {
    struct reel_pair *pairs = rosbag_keep(bag, (inner->others + 1) * sizeof *pairs, err);
    size_t n = 0;
    if (!pairs) {
        return false;
    }
    if (inner->topic.data && !bytes_equal(inner->topic, c->topic)) {
        pairs[n++] = (struct reel_pair){"topic", rosbag_v2_names_text_of(bag, inner->topic, err)};
    }
    struct cursor fields = cursor_of(c->header);
    struct reel_bytes name, value;
    struct inner known;
    while (rosrecord_field(&fields, &name, &value)) {
        if (!rosrecord_keep(inner_names, INNER_NAMES, &known, name, value) && name.size <= REEL_TEXT_MAX &&
            value.size <= REEL_SCHEMA_MAX) {
            pairs[n++] =
                (struct reel_pair){rosbag_v2_names_text_of(bag, name, err), rosbag_v2_names_text_of(bag, value, err)};
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!pairs[i].key || !pairs[i].value) {
            return false;
        }
    }
    c->model.metadata = (struct reel_pairs){.items = pairs, .count = n};
    return true;
}

static bool rosbag_describe(struct bag2 *bag, struct rosbag_v2_connection *c, uint64_t position,
                            struct reel_error *err) {
    struct inner inner = {0};
    if (!inner_read(c->header, &inner) || !inner.type.data) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, position, 0, "the record of connection %u at %llu lacks fields",
                          c->id, (unsigned long long)position);
    }
    uint32_t id = c->model.id;
    const char *name = rosbag_v2_names_text_of(bag, c->topic, err);
    c->model = (struct reel_channel){.id = id, .name = name, .latched = bytes_is(inner.latching, "1")};
    if (!name) {
        return false;
    }
    if (!c->has_channel && ros_wrap_is(c->header)) {
        c->wrapped = true;
        return ros_wrap_read(bag->scan, &bag->arena, c->header, &c->model, err);
    }
    const char *type = rosbag_v2_names_text_of(bag, inner.type, err),
               *hash = rosbag_v2_names_text_of(bag, inner.md5sum, err);
    c->schema =
        (struct reel_schema){.name = type, .encoding = "ros1msg", .hash = hash, .data = inner.message_definition};
    c->schema.data.data = inner.message_definition.data ? inner.message_definition.data : (const uint8_t *)"";
    c->model.type = type;
    c->model.encoding = "ros1";
    c->model.schemas = &c->schema;
    c->model.n_schemas = 1;
    return type && hash && keep_metadata(bag, c, &inner, err);
}

static bool rosbag_collect(struct bag2 *bag, struct rosbag_v2_connection *c, struct reel_bytes topic,
                           struct reel_bytes header, uint64_t position, struct reel_error *err) {
    if (c->described) {
        if (!c->reported && (!bytes_equal(topic, c->topic) || !bytes_equal(header, c->header))) {
            c->reported = true;
            reel_scan_finding(bag->scan, REEL_WARNING, 0, position, 0,
                              "connection %u (topic %s) is described again at %llu, differently: the first counts",
                              c->id, c->model.name, (unsigned long long)position);
        }
        return true;
    }
    c->described = true;
    if (!rosbag_v2_names_keep_bytes(bag, topic, &c->topic, err) ||
        !rosbag_v2_names_keep_bytes(bag, header, &c->header, err) || !rosbag_describe(bag, c, position, err)) {
        return false;
    }
    if (!c->has_channel) {
        return true;
    }
    reel_scan_finding(bag->scan, REEL_WARNING, 0, position, 0,
                      "the record of connection %u (topic %s) follows its first message", c->id, c->model.name);
    return reel_scan_channel_update(bag->scan, c->model.id, &c->model, err);
}

bool rosbag_v2_connection_record(struct bag2 *bag, struct window *window, const struct rosbag_v2_record *r,
                                 uint64_t position, struct reel_error *err) {
    const struct rosbag_v2_fields *f = &r->fields;
    if (f->conn.size != 4 || !f->topic.data || f->topic.size > REEL_TEXT_MAX || r->size > REEL_CONNECTION_MAX) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, position, 0,
                          "record at %llu: a connection without a proper number, topic or length",
                          (unsigned long long)r->at);
        return true;
    }
    uint64_t topic_at = (uint64_t)(f->topic.data - f->all.data);
    uint32_t topic_size = (uint32_t)f->topic.size;
    struct rosbag_v2_connection *c = rosbag_v2_connection_of(bag, load_u32le(f->conn.data), err);
    const uint8_t *p = c ? window_at(window, r->at, (size_t)r->head + r->size, err) : NULL; /* the fields may have moved
                                                                                               with it */
    return p && rosbag_collect(bag, c, bytes_of(p + 4 + topic_at, topic_size), bytes_of(p + r->head, r->size), position,
                               err);
}

/* The channel that the connection had in an earlier file; a new one otherwise. */
static bool shared_channel(struct bag2 *bag, struct rosbag_v2_connection *c, struct reel_error *err) {
    struct rosbag_v2_splits *splits = bag->splits;
    uint8_t *key = arena_alloc(&splits->arena, c->topic.size + c->header.size + 1);
    if (!key) {
        return arena_fail(&splits->arena, err);
    }
    memcpy(key, c->topic.data, c->topic.size);
    memcpy(key + c->topic.size, c->header.data, c->header.size);
    /* the size of the topic tells equal bytes apart */
    const struct hash_key whole = {.number = c->topic.size + 1, .bytes = bytes_of(key, c->topic.size + c->header.size)};
    uint64_t known = hash_table_get(&splits->channels, whole);
    if (known > 0) {
        c->model.id = (uint32_t)known - 1;
        return true;
    }
    return reel_scan_channel(bag->scan, &c->model, &c->model.id, err) &&
           hash_table_set(&splits->channels, whole, (uintptr_t)c->model.id + 1, err);
}

bool rosbag_v2_channel_ready(struct bag2 *bag, struct rosbag_v2_connection *c, struct reel_error *err) {
    if (!c->described) {
        char name[32];
        snprintf(name, sizeof name, "connection %u", c->id);
        c->model = (struct reel_channel){
            .name = reel_scan_text(bag->scan, bytes_text(name), err), .type = "", .encoding = "ros1"};
        if (!c->model.name) {
            return false;
        }
    }
    c->has_channel = bag->splits && c->described ? shared_channel(bag, c, err)
                                                 : reel_scan_channel(bag->scan, &c->model, &c->model.id, err);
    return c->has_channel;
}

bool rosbag_v2_finish_connections(struct bag2 *bag, struct reel_error *err) {
    for (struct rosbag_v2_connection *c = bag->connections; c; c = c->next) {
        if (!c->described && c->messages > 0) {
            reel_scan_finding(bag->scan, REEL_WARNING, 0, 0, 0,
                              "no record describes connection %u: topic and type of its %llu messages are unknown",
                              c->id, (unsigned long long)c->messages);
        }
        if (c->described && !c->has_channel && !rosbag_v2_channel_ready(bag, c, err)) { /* it has no messages */
            return false;
        }
    }
    return true;
}
