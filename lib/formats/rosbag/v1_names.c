/* Topics, connections (topic + md5 + type), channels (connection + latching + callerid) and message definitions of a
 * bag. Names are compared as raw bytes. */
#include "base/bytes.h"
#include "formats/rosbag/v1.h"

#include <stdlib.h>

void *rosbag_v1_keep(struct rosbag_v1 *bag, size_t size, struct reel_error *err) {
    void *p = arena_alloc(&bag->arena, size ? size : 1);
    if (!p) {
        arena_fail(&bag->arena, err);
    }
    return p;
}

static bool rosbag_v1_names_keep_bytes(struct rosbag_v1 *bag, struct reel_bytes from, struct reel_bytes *out,
                                       struct reel_error *err) {
    uint8_t *p = rosbag_v1_keep(bag, from.size, err);
    if (!p) {
        return false;
    }
    if (from.size > 0) {
        memcpy(p, from.data, from.size);
    }
    *out = bytes_of(p, from.size);
    return true;
}

/* Joins `n` values so that different lists never produce equal bytes; an absent value differs from an empty one. */
static bool rosbag_join(struct rosbag_v1 *bag, const struct reel_bytes *values, size_t n, struct reel_bytes *out,
                        struct reel_error *err) {
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        size += 4 + values[i].size;
    }
    if (size > bag->key_room) {
        uint8_t *grown = realloc(bag->key, size);
        if (!grown) {
            return reel_fail_memory(err);
        }
        bag->key = grown;
        bag->key_room = size;
    }
    uint8_t *p = bag->key;
    for (size_t i = 0; i < n; i++) {
        store_u32le(p, values[i].data ? (uint32_t)values[i].size : UINT32_MAX);
        if (values[i].size > 0) {
            memcpy(p + 4, values[i].data, values[i].size);
        }
        p += 4 + values[i].size;
    }
    *out = bytes_of(bag->key, size);
    return true;
}

bool rosbag_v1_names_fit(const struct rosbag_v1_fields *f) {
    return f->topic.size <= REEL_TEXT_MAX && f->md5.size <= REEL_TEXT_MAX && f->type.size <= REEL_TEXT_MAX &&
           f->latching.size <= REEL_TEXT_MAX && f->callerid.size <= REEL_TEXT_MAX;
}

static const char *rosbag_v1_names_text_of(struct rosbag_v1 *bag, struct reel_bytes raw, struct reel_error *err) {
    return reel_scan_text(bag->scan, raw, err);
}

struct rosbag_v1_topic *rosbag_v1_topic_named(const struct rosbag_v1 *bag, struct reel_bytes name) {
    return (void *)hash_table_get(&bag->topic_table, hash_key_bytes(name));
}

static struct rosbag_v1_topic *topic_of(struct rosbag_v1 *bag, struct reel_bytes name, struct reel_error *err) {
    struct rosbag_v1_topic *topic = rosbag_v1_topic_named(bag, name);
    if (topic) {
        return topic;
    }
    struct reel_bytes key;
    if (!(topic = rosbag_v1_keep(bag, sizeof *topic, err)) || !rosbag_v1_names_keep_bytes(bag, name, &key, err) ||
        !(topic->text = rosbag_v1_names_text_of(bag, name, err)) ||
        !hash_table_set(&bag->topic_table, hash_key_bytes(key), (uintptr_t)topic, err)) {
        return NULL;
    }
    topic->first_at = topic->definition_at = ROSBAG_V1_NOWHERE;
    *bag->topics_end = topic;
    bag->topics_end = &topic->next;
    return topic;
}

static struct rosbag_v1_connection *connection_of(struct rosbag_v1 *bag, const struct rosbag_v1_fields *f, uint64_t at,
                                                  struct reel_error *err) {
    const struct reel_bytes names[] = {f->topic, f->md5, f->type, f->number};
    struct reel_bytes key;
    if (!rosbag_join(bag, names, 4, &key, err)) {
        return NULL;
    }
    struct rosbag_v1_connection *c = (void *)hash_table_get(&bag->connection_table, hash_key_bytes(key));
    if (c) {
        return c;
    }
    if (!(c = rosbag_v1_keep(bag, sizeof *c, err)) || !rosbag_v1_names_keep_bytes(bag, key, &c->key, err) ||
        !(c->topic = topic_of(bag, f->topic, err)) ||
        !hash_table_set(&bag->connection_table, hash_key_bytes(c->key), (uintptr_t)c, err)) {
        return NULL;
    }
    c->topic_name = bytes_of(c->key.data + 4, f->topic.size);
    c->md5 = bytes_of(c->topic_name.data + f->topic.size + 4, f->md5.size);
    c->type = bytes_of(c->md5.data + f->md5.size + 4, f->type.size);
    c->number = f->number.data ? bytes_of(c->type.data + f->type.size + 4, f->number.size) : f->number;
    if (++c->topic->connections > 1 && !f->number.data) {
        const char *type = rosbag_v1_names_text_of(bag, f->type, err);
        if (!type) {
            return NULL;
        }
        reel_scan_finding(bag->scan, REEL_WARNING, 0, at, 0,
                          "topic %s has a second type or md5 sum (%s): kept as a channel of its own", c->topic->text,
                          type);
    }
    *bag->connections_end = c;
    bag->connections_end = &c->next;
    return c;
}

bool rosbag_v1_defined(struct rosbag_v1 *bag, const struct rosbag_v1_fields *f, bool *defined, struct reel_error *err) {
    const struct reel_bytes names[] = {f->topic, f->md5, f->type, f->number};
    struct reel_bytes key;
    if (!rosbag_join(bag, names, 4, &key, err)) {
        return false;
    }
    const struct rosbag_v1_connection *c = (void *)hash_table_get(&bag->connection_table, hash_key_bytes(key));
    *defined = c && c->defined;
    return true;
}

static bool channel_describe(struct rosbag_v1 *bag, struct rosbag_v1_channel *c, const struct rosbag_v1_fields *f,
                             struct reel_error *err) {
    if (c->connection->wrapped) {
        c->wrapped = true;
        c->model = *c->connection->wrapped;
        c->model.name = c->topic->text;
        c->model.latched = bytes_is(f->latching, "1");
        return true;
    }
    const char *type = rosbag_v1_names_text_of(bag, f->type, err),
               *hash = type ? rosbag_v1_names_text_of(bag, f->md5, err) : NULL;
    if (!hash) {
        return false;
    }
    size_t pairs = 0;
    if (f->callerid.data) {
        c->pairs[pairs++] = (struct reel_pair){"callerid", rosbag_v1_names_text_of(bag, f->callerid, err)};
    }
    if (f->latching.data) {
        c->pairs[pairs++] = (struct reel_pair){"latching", rosbag_v1_names_text_of(bag, f->latching, err)};
    }
    for (size_t i = 0; i < pairs; i++) {
        if (!c->pairs[i].value) {
            return false;
        }
    }
    c->schema = (struct reel_schema){.name = type, .encoding = "ros1msg", .hash = hash, .data = bytes_of("", 0)};
    c->model = (struct reel_channel){
        .name = c->topic->text,
        .type = type,
        .encoding = "ros1",
        .schemas = &c->schema,
        .n_schemas = 1,
        .metadata = {.items = c->pairs, .count = pairs},
        .latched = bytes_is(f->latching, "1"),
    };
    return true;
}

struct rosbag_v1_channel *rosbag_v1_channel_of(struct rosbag_v1 *bag, const struct rosbag_v1_fields *f, uint64_t at,
                                               struct reel_error *err) {
    const struct reel_bytes names[] = {f->topic, f->md5, f->type, f->number, f->latching, f->callerid};
    struct reel_bytes scratch = {0}, key = {0};
    if (!rosbag_join(bag, names, 6, &scratch, err)) {
        return NULL;
    }
    struct rosbag_v1_channel *c = (void *)hash_table_get(&bag->channel_table, hash_key_bytes(scratch));
    if (c) {
        return c;
    }
    if (!(c = rosbag_v1_keep(bag, sizeof *c, err)) || !rosbag_v1_names_keep_bytes(bag, scratch, &key, err) ||
        !(c->connection = connection_of(bag, f, at, err))) {
        return NULL;
    }
    c->topic = c->connection->topic;
    c->connection->used = true;
    if (!channel_describe(bag, c, f, err) || !reel_scan_channel(bag->scan, &c->model, &c->model.id, err) ||
        !hash_table_set(&bag->channel_table, hash_key_bytes(key), (uintptr_t)c, err)) {
        return NULL;
    }
    *bag->channels_end = c;
    bag->channels_end = &c->next;
    return c;
}

/* Any definition of the same md5 and type; the first one is used for connections that have none. */
static bool definition_share(struct rosbag_v1 *bag, const struct rosbag_v1_fields *f, struct reel_bytes *kept,
                             struct reel_error *err) {
    const struct reel_bytes names[] = {f->md5, f->type};
    struct reel_bytes scratch, key;
    if (!rosbag_join(bag, names, 2, &scratch, err)) {
        return false;
    }
    struct reel_bytes *known = (void *)hash_table_get(&bag->type_table, hash_key_bytes(scratch));
    if (known && bytes_equal(*known, f->def)) {
        *kept = *known;
        return true;
    }
    if (!rosbag_v1_names_keep_bytes(bag, f->def, kept, err)) {
        return false;
    }
    if (known) {
        return true;
    }
    struct reel_bytes *first = rosbag_v1_keep(bag, sizeof *first, err);
    if (!first || !rosbag_v1_names_keep_bytes(bag, scratch, &key, err)) {
        return false;
    }
    *first = *kept;
    return hash_table_set(&bag->type_table, hash_key_bytes(key), (uintptr_t)first, err);
}

/* Reads the fields of ros/wrap.h in a definition: they describe the wrapped messages. */
static bool define_wrapped(struct rosbag_v1 *bag, struct rosbag_v1_connection *c, struct reel_bytes header,
                           struct reel_error *err) {
    struct reel_bytes kept;
    c->wrapped = rosbag_v1_keep(bag, sizeof *c->wrapped, err);
    return c->wrapped && rosbag_v1_names_keep_bytes(bag, header, &kept, err) &&
           ros_wrap_read(bag->scan, &bag->arena, kept, c->wrapped, err);
}

/* The unknown fields of a definition become metadata of its channels. */
static bool keep_extras(struct rosbag_v1 *bag, struct rosbag_v1_connection *c, const struct rosbag_v1_fields *f,
                        struct reel_error *err) {
    struct cursor fields = cursor_of(f->all);
    struct reel_bytes name, value;
    if (f->unknown > 0 && !(c->extras = rosbag_v1_keep(bag, f->unknown * sizeof *c->extras, err))) {
        return false;
    }
    while (c->n_extras < f->unknown && rosrecord_field(&fields, &name, &value)) {
        if (!rosbag_v1_is_extra(name) || name.size == 0 || name.size > REEL_TEXT_MAX) {
            continue;
        }
        struct reel_pair *pair = &c->extras[c->n_extras++];
        if (!(pair->key = rosbag_v1_names_text_of(bag, name, err)) ||
            !(pair->value = rosbag_v1_names_text_of(bag, value, err))) {
            return false;
        }
    }
    return true;
}

bool rosbag_v1_define(struct rosbag_v1 *bag, const struct rosbag_v1_fields *f, uint64_t at, struct reel_error *err) {
    if (!f->topic.data) { /* once per type: good for every topic of the type */
        struct reel_bytes kept;
        return definition_share(bag, f, &kept, err);
    }
    struct rosbag_v1_connection *c = connection_of(bag, f, at, err);
    if (!c) {
        return false;
    }
    if (c->topic->messages == 0) {
        c->topic->definition_at = at;
    }
    if (c->defined) {
        bool same = bytes_equal(c->definition, f->def);
        reel_scan_finding(bag->scan, same ? REEL_NOTE : REEL_WARNING, 0, at, 0, "topic %s is defined again%s",
                          c->topic->text, same ? "" : ", differently: the first definition counts");
        return true;
    }
    if (c->used) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, at, 0, "the definition of topic %s follows its first message",
                          c->topic->text);
    }
    c->defined = true;
    if (!keep_extras(bag, c, f, err)) {
        return false;
    }
    if (!c->used && ros_wrap_is(f->all) && !define_wrapped(bag, c, f->all, err)) {
        return false;
    }
    return definition_share(bag, f, &c->definition, err);
}

static bool add_extras(struct rosbag_v1 *bag, struct rosbag_v1_channel *c, struct reel_error *err) {
    const struct rosbag_v1_connection *connection = c->connection;
    struct reel_pairs *all = &c->model.metadata;
    struct reel_pair *pairs = rosbag_v1_keep(bag, (all->count + connection->n_extras) * sizeof *pairs, err);
    if (!pairs) {
        return false;
    }
    for (size_t i = 0; i < all->count; i++) {
        pairs[i] = all->items[i];
    }
    memcpy(pairs + all->count, connection->extras, connection->n_extras * sizeof *pairs);
    *all = (struct reel_pairs){.items = pairs, .count = all->count + connection->n_extras};
    return true;
}

static bool channel_finish(struct rosbag_v1 *bag, struct rosbag_v1_channel *c, struct reel_error *err) {
    const struct rosbag_v1_connection *connection = c->connection;
    if (c->wrapped) {
        return true;
    }
    struct reel_bytes definition = connection->definition;
    if (!connection->defined) {
        const struct reel_bytes names[] = {connection->md5, connection->type};
        struct reel_bytes key;
        if (!rosbag_join(bag, names, 2, &key, err)) {
            return false;
        }
        const struct reel_bytes *other = (void *)hash_table_get(&bag->type_table, hash_key_bytes(key));
        if (!other) {
            reel_scan_finding(bag->scan, REEL_WARNING, 0, c->topic->first_at, 0,
                              "topic %s has no definition of its type %s", c->model.name, c->model.type);
            return true;
        }
        reel_scan_finding(bag->scan, REEL_NOTE, 0, c->topic->first_at, 0,
                          "topic %s has no definition of its own: taken from another of type %s", c->model.name,
                          c->model.type);
        definition = *other;
    }
    c->schema.data = definition;
    if (connection->n_extras > 0 && !add_extras(bag, c, err)) {
        return false;
    }
    return (definition.size == 0 && connection->n_extras == 0) ||
           reel_scan_channel_update(bag->scan, c->model.id, &c->model, err);
}

bool rosbag_v1_finish_channels(struct rosbag_v1 *bag, struct reel_error *err) {
    for (const struct rosbag_v1_connection *c = bag->connections; c; c = c->next) {
        const struct rosbag_v1_fields f = {.topic = c->topic_name, .md5 = c->md5, .type = c->type, .number = c->number};
        if (!c->used && !rosbag_v1_channel_of(bag, &f, 0, err)) { /* defined, but without messages */
            return false;
        }
    }
    for (struct rosbag_v1_channel *c = bag->channels; c; c = c->next) {
        if (!channel_finish(bag, c, err)) {
            return false;
        }
    }
    return true;
}
