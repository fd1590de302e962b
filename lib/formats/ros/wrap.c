/* See wrap.h. A channel that is written and read back is equal; a number in a field name is checked against the
 * number of such fields.
 */
#include "formats/ros/wrap.h"

#include "base/bytes.h"
#include "base/channel.h"
#include "base/limits.h"
#include "decode/encoding.h"
#include "formats/ros/bag_record.h"

#include <stdio.h>

const char ros_wrap_definition[] =
    "# Messages in another encoding, stored unchanged: the reel.* fields give their type and schema.\n"
    "MultiArrayLayout layout\n"
    "uint8[] data\n"
    "\n"
    "================================================================================\n"
    "MSG: std_msgs/MultiArrayLayout\n"
    "MultiArrayDimension[] dim\n"
    "uint32 data_offset\n"
    "\n"
    "================================================================================\n"
    "MSG: std_msgs/MultiArrayDimension\n"
    "string label\n"
    "uint32 size\n"
    "uint32 stride\n";

/* ---- writing ---- */

bool ros_wrap_needed(const struct reel_channel *c) {
    return !reel_channel_has_profile(c, "ros1");
}

void ros_wrap_put_head(struct reel_sink *out, uint32_t payload_size) {
    uint8_t head[ROS_WRAP_HEAD] = {0};
    store_u32le(head + 8, payload_size);
    reel_sink_put(out, head, sizeof head);
}

static void put_numbered(struct reel_sink *out, const char *kind, size_t number, const char *part,
                         struct reel_bytes value) {
    char name[64];
    snprintf(name, sizeof name, "reel.%s.%zu%s", kind, number, part);
    ros_put_field(out, name, value);
}

void ros_wrap_put_fields(struct reel_sink *out, const struct reel_channel *c) {
    ros_put_field(out, "reel.encoding", bytes_text(c->encoding));
    for (size_t i = 0; i < c->metadata.count; i++) {
        put_numbered(out, "metadata", i, ".key", bytes_text(c->metadata.items[i].key));
        put_numbered(out, "metadata", i, ".value", bytes_text(c->metadata.items[i].value));
    }
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        const struct reel_schema *s = &c->schemas[i];
        put_numbered(out, "schema", i, ".data", s->data);
        put_numbered(out, "schema", i, ".encoding", bytes_text(s->encoding));
        put_numbered(out, "schema", i, ".hash", bytes_text(s->hash));
        put_numbered(out, "schema", i, ".name", bytes_text(s->name));
    }
    for (uint32_t i = 0; !channel_is_one_topic(c) && i < c->n_topics; i++) {
        put_numbered(out, "topic", i, "", bytes_text(c->topics[i]));
    }
    ros_put_field(out, "reel.type", bytes_text(c->type));
}

/* ---- reading ---- */

bool ros_wrap_is_field(struct reel_bytes name) {
    return bytes_start(name, bytes_text("reel."));
}

static struct reel_bytes field_named(struct reel_bytes header, const char *expected) {
    struct cursor c = cursor_of(header);
    struct reel_bytes name, value;
    while (rosrecord_field(&c, &name, &value)) {
        if (bytes_is(name, expected)) {
            return value;
        }
    }
    return bytes_of(NULL, 0);
}

bool ros_wrap_is(struct reel_bytes header) {
    return bytes_is(field_named(header, "type"), ROS_WRAP_TYPE) && field_named(header, "reel.encoding").data;
}

/* "reel.schema.12.name": prefix "reel.schema.", number 12, rest ".name". False: another name, or an invalid number. */
static bool numbered(struct reel_bytes name, const char *prefix, uint32_t *number, struct reel_bytes *rest) {
    size_t i = strlen(prefix), first = i;
    *number = 0;
    if (!bytes_start(name, bytes_text(prefix))) {
        return false;
    }
    for (; i < name.size && name.data[i] >= '0' && name.data[i] <= '9' && i - first < 6; i++) {
        *number = *number * 10 + (uint32_t)(name.data[i] - '0');
    }
    *rest = bytes_of(name.data + i, name.size - i);
    return i > first;
}

struct parts { /* counts of each kind, or the tables to fill */
    uint32_t n_schemas, n_pairs, n_topics;
    struct reel_schema *schemas;
    struct reel_pair *pairs;
    const char **topics;
};

static void count_parts(struct reel_bytes header, struct parts *p) {
    struct cursor c = cursor_of(header);
    struct reel_bytes name, value, rest;
    uint32_t number;
    while (rosrecord_field(&c, &name, &value)) {
        p->n_schemas += numbered(name, "reel.schema.", &number, &rest) && bytes_is(rest, ".name");
        p->n_pairs += numbered(name, "reel.metadata.", &number, &rest) && bytes_is(rest, ".key");
        p->n_topics += numbered(name, "reel.topic.", &number, &rest) && rest.size == 0;
    }
    p->n_schemas = p->n_schemas < REEL_SCHEMAS_PER_CHANNEL_MAX ? p->n_schemas : REEL_SCHEMAS_PER_CHANNEL_MAX;
    p->n_pairs = p->n_pairs < REEL_METADATA_MAX ? p->n_pairs : REEL_METADATA_MAX;
    p->n_topics = p->n_topics < REEL_CHANNELS_MAX ? p->n_topics : REEL_CHANNELS_MAX;
}

static bool make_parts(struct arena *arena, struct parts *p) {
    p->schemas = arena_alloc(arena, (p->n_schemas + 1) * sizeof *p->schemas);
    p->pairs = arena_alloc(arena, (p->n_pairs + 1) * sizeof *p->pairs);
    p->topics = arena_alloc(arena, (p->n_topics + 1) * sizeof *p->topics);
    if (!p->schemas || !p->pairs || !p->topics) {
        return false;
    }
    for (uint32_t i = 0; i < p->n_schemas; i++) {
        p->schemas[i] = (struct reel_schema){.name = "", .encoding = "", .hash = "", .data = bytes_of("", 0)};
    }
    for (uint32_t i = 0; i < p->n_pairs; i++) {
        p->pairs[i] = (struct reel_pair){"", ""};
    }
    for (uint32_t i = 0; i < p->n_topics; i++) {
        p->topics[i] = "";
    }
    return true;
}

/* Destination of a field's text; NULL: none. */
static const char **text_member(const struct parts *p, struct reel_channel *c, struct reel_bytes name) {
    struct reel_bytes rest;
    uint32_t n;
    if (numbered(name, "reel.schema.", &n, &rest) && n < p->n_schemas) {
        return bytes_is(rest, ".name")       ? &p->schemas[n].name
               : bytes_is(rest, ".encoding") ? &p->schemas[n].encoding
               : bytes_is(rest, ".hash")     ? &p->schemas[n].hash
                                             : NULL;
    }
    if (numbered(name, "reel.metadata.", &n, &rest) && n < p->n_pairs) {
        return bytes_is(rest, ".key") ? &p->pairs[n].key : bytes_is(rest, ".value") ? &p->pairs[n].value : NULL;
    }
    if (numbered(name, "reel.topic.", &n, &rest) && n < p->n_topics && rest.size == 0) {
        return &p->topics[n];
    }
    return bytes_is(name, "reel.type") ? &c->type : bytes_is(name, "reel.encoding") ? &c->encoding : NULL;
}

bool ros_wrap_read(struct reel_scan *scan, struct arena *arena, struct reel_bytes header, struct reel_channel *c,
                   struct reel_error *err) {
    struct parts p = {0};
    count_parts(header, &p);
    if (!make_parts(arena, &p)) {
        return reel_fail_memory(err);
    }
    c->type = c->encoding = "";
    struct cursor fields = cursor_of(header);
    struct reel_bytes name, value, rest;
    uint32_t n;
    while (rosrecord_field(&fields, &name, &value)) {
        const char **member = text_member(&p, c, name);
        if (member && !(*member = reel_scan_text(scan, value, err))) {
            return false;
        }
        if (numbered(name, "reel.schema.", &n, &rest) && n < p.n_schemas && bytes_is(rest, ".data")) {
            p.schemas[n].data = value;
        }
    }
    c->schemas = p.schemas;
    c->n_schemas = p.n_schemas;
    c->metadata = (struct reel_pairs){.items = p.pairs, .count = p.n_pairs};
    c->topics = p.topics;
    c->n_topics = p.n_topics;
    return true;
}
