/* Schemas, channels and metadata of an MCAP file, made from the stream's channels. Rule: what Reel knows and MCAP has no place for goes
 * into the channel's metadata under "reel.…", so that a channel can come back as it was. */
#include "formats/mcap_write.h"

#include "core/arena.h"
#include "formats/ros_rename.h"

#include <stdio.h>

/* The registry knows no schema language for msgpack, and the viewers' checker refuses channels without a schema. What can be said of a
 * NanoVer or plain JSON message is that it is one object; for payloads of which not even that is known the schema bears the type's name,
 * and encoding "" with no data, MCAP's way of saying that there is no definition. */
#define ANY_OBJECT "{\"type\":\"object\"}"

struct mcap_schema {
    const char *name, *encoding;
    struct bytes data;
};

struct mcap_model {
    struct arena arena;
    const struct reel_stream *stream;
    struct mcap_schema *schemas; /* by channel position */
    uint32_t *schema_of;         /* channel position -> schema position */
    uint32_t *first_with;        /* schema position -> channel position it is written from */
    uint32_t n_schemas;
    struct reel_pairs *channel_pairs; /* by channel position */
    struct reel_pairs *file_pairs;    /* by source */
    bool ros1;
};

static bool is_ros1(const struct reel_channel *c) {
    return strcmp(c->encoding, "ros1") == 0;
}
static bool is_json(const struct reel_channel *c) {
    return strcmp(c->encoding, "json") == 0;
}
static bool is_nanover(const struct reel_channel *c) { /* a msgpack map a message */
    return strcmp(c->encoding, "nanover") == 0;
}
static const char *message_encoding(const struct reel_channel *c) {
    return is_nanover(c) ? "msgpack" : c->encoding;
}

/* Outer first: the first schema is the one that describes the payload's bytes. */
static bool choose_schema(struct arena *arena, const struct reel_channel *c, struct mcap_schema *out, struct reel_error *err) {
    const struct reel_schema *s = c->n_schemas > 0 ? &c->schemas[0] : NULL;
    if (is_ros1(c)) {
        *out = (struct mcap_schema){.name = ros_rename_type(c->type), .encoding = "ros1msg"};
        return !s || ros_rename_definition(arena, c->type, s->data, &out->data, err);
    }
    if (s && (s->encoding[0] != '\0' || s->data.size > 0)) {
        const char *assumed = is_json(c) ? "jsonschema" : c->encoding; /* a definition in no named language: that of the payload */
        *out = (struct mcap_schema){
            .name = s->name[0] ? s->name : c->type, .encoding = s->encoding[0] ? s->encoding : assumed, .data = s->data};
        return true;
    }
    *out = (struct mcap_schema){.name = c->type, .encoding = ""};
    if (is_json(c) || is_nanover(c)) {
        out->encoding = "jsonschema";
        out->data = bytes_text(ANY_OBJECT);
    }
    return true;
}

static int compare_schemas(const void *left, const void *right, void *context) {
    const struct mcap_schema *schemas = context;
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    const struct mcap_schema *a = &schemas[l], *b = &schemas[r];
    int order = strcmp(a->name, b->name);
    order = order ? order : strcmp(a->encoding, b->encoding);
    order = order ? order : (a->data.size > b->data.size) - (a->data.size < b->data.size);
    order = order || a->data.size == 0 ? order : memcmp(a->data.data, b->data.data, a->data.size);
    return order ? order : (l > r) - (l < r);
}

static bool same_schema(const struct mcap_schema *a, const struct mcap_schema *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->encoding, b->encoding) == 0 && bytes_equal(a->data, b->data);
}

/* Equal schemas are one record. Sorting finds them without a hash that a hostile file could play against; ids follow the channels' order.
 */
static bool number_schemas(struct mcap_model *model, struct reel_error *err) {
    uint32_t n = model->stream->n_channels;
    AUTO_MEM uint32_t *order = calloc((size_t)n + 1, sizeof *order);
    if (!order) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
    }
    qsort_r(order, n, sizeof *order, compare_schemas, model->schemas);
    for (uint32_t i = 0; i < n; i++) { /* for now the smallest channel position with an equal schema */
        bool again = i > 0 && same_schema(&model->schemas[order[i - 1]], &model->schemas[order[i]]);
        model->schema_of[order[i]] = again ? model->schema_of[order[i - 1]] : order[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        if (model->schema_of[i] == i) {
            model->first_with[model->n_schemas] = i;
            model->schema_of[i] = model->n_schemas++;
        } else {
            model->schema_of[i] = model->schema_of[model->schema_of[i]];
        }
    }
    return true;
}

struct key_place {
    const char *key;
    size_t place;
};
static int compare_keys(const void *a, const void *b) {
    return strcmp(((const struct key_place *)a)->key, ((const struct key_place *)b)->key);
}
static int compare_places(const void *a, const void *b) {
    const struct key_place *l = a, *r = b;
    int order = compare_keys(a, b);
    return order ? order : (l->place > r->place) - (l->place < r->place);
}

/* An MCAP map holds a key once, Reel's metadata may repeat it: the second "dc:Creator" goes on as "dc:Creator#2", and so on. */
static bool number_keys(struct arena *arena, struct reel_pairs pairs, struct reel_error *err) {
    AUTO_MEM struct key_place *keys = calloc(pairs.count + 1, sizeof *keys);
    if (!keys) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < pairs.count; i++) {
        keys[i] = (struct key_place){.key = pairs.items[i].key, .place = i};
    }
    qsort(keys, pairs.count, sizeof *keys, compare_places);
    unsigned number = 1;
    for (size_t i = 1; i < pairs.count; i++) {
        if (compare_keys(&keys[i - 1], &keys[i]) != 0) {
            number = 1;
            continue;
        }
        size_t room = strlen(keys[i].key) + 12;
        char *name = arena_alloc(arena, room);
        if (!name) {
            return reel_fail_memory(err);
        }
        do { /* each name already taken is met once, so this stays short */
            snprintf(name, room, "%s#%u", keys[i].key, ++number);
        } while (bsearch(&(struct key_place){.key = name}, keys, pairs.count, sizeof *keys, compare_keys));
        pairs.items[keys[i].place].key = name;
    }
    return true;
}

static void add_pair(struct reel_pairs *pairs, const char *key, const char *value) {
    pairs->items[pairs->count++] = (struct reel_pair){.key = key, .value = value};
}

static bool holds_key(const struct reel_pairs *pairs, size_t count, const char *key) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs->items[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* The keys that this writer sets itself, then the channel's others. */
static bool make_channel_pairs(struct arena *arena, const struct reel_channel *c, struct reel_pairs *out, struct reel_error *err) {
    enum { OWN = 4 };
    out->items = arena_alloc(arena, (c->metadata.count + OWN) * sizeof *out->items);
    if (!out->items) {
        return reel_fail_memory(err);
    }
    const char *hash = c->n_schemas > 0 ? c->schemas[0].hash : "";
    if (is_ros1(c) || c->latched) { /* as profile ros1 has it */
        add_pair(out, "latching", c->latched ? "true" : "false");
    }
    if (hash[0] != '\0') {
        add_pair(out, is_ros1(c) ? "md5sum" : "reel.hash", hash);
    }
    if (message_encoding(c) != c->encoding) {
        add_pair(out, "reel.encoding", c->encoding);
    }
    if (is_ros1(c) && ros_rename_type(c->type) != c->type) {
        add_pair(out, "reel.type", c->type);
    }
    size_t own = out->count;
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (!holds_key(out, own, c->metadata.items[i].key)) {
            add_pair(out, c->metadata.items[i].key, c->metadata.items[i].value);
        }
    }
    return number_keys(arena, *out, err);
}

static const struct reel_pairs *source_metadata(const struct reel_stream *stream, uint32_t source) {
    return reel_index_metadata(reel_recording_index(reel_reader_recording(stream->readers[source])));
}

static bool make_file_pairs(struct arena *arena, const struct reel_pairs *from, struct reel_pairs *out, struct reel_error *err) {
    out->items = arena_alloc(arena, (from->count + 1) * sizeof *out->items);
    if (!out->items) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < from->count; i++) {
        add_pair(out, from->items[i].key, from->items[i].value);
    }
    return number_keys(arena, *out, err);
}

static bool build(struct mcap_model *model, struct reel_error *err) {
    const struct reel_stream *stream = model->stream;
    struct arena *arena = &model->arena;
    size_t n = (size_t)stream->n_channels + 1; /* an arena gives no empty tables */
    model->schemas = arena_alloc(arena, n * sizeof *model->schemas);
    model->schema_of = arena_alloc(arena, n * sizeof *model->schema_of);
    model->first_with = arena_alloc(arena, n * sizeof *model->first_with);
    model->channel_pairs = arena_alloc(arena, n * sizeof *model->channel_pairs);
    model->file_pairs = arena_alloc(arena, ((size_t)stream->n_sources + 1) * sizeof *model->file_pairs);
    if (!model->schemas || !model->schema_of || !model->first_with || !model->channel_pairs || !model->file_pairs) {
        return reel_fail_memory(err);
    }
    model->ros1 = stream->n_channels > 0;
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        const struct reel_channel *c = stream->channels[i];
        model->ros1 = model->ros1 && is_ros1(c);
        if (!choose_schema(arena, c, &model->schemas[i], err) || !make_channel_pairs(arena, c, &model->channel_pairs[i], err)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        if (!make_file_pairs(arena, source_metadata(stream, i), &model->file_pairs[i], err)) {
            return false;
        }
    }
    return number_schemas(model, err);
}

struct mcap_model *mcap_model_new(const struct reel_stream *stream, struct reel_error *err) {
    AUTO(mcap_model_free) struct mcap_model *model = calloc(1, sizeof *model);
    if (!model) {
        reel_fail_memory(err);
        return NULL;
    }
    model->stream = stream;
    return build(model, err) ? TAKE(model) : NULL;
}

void mcap_model_free(struct mcap_model *model) {
    if (model) {
        arena_free(&model->arena);
        free(model);
    }
}

uint32_t mcap_model_schemas(const struct mcap_model *model) {
    return model->n_schemas;
}
uint32_t mcap_model_channels(const struct mcap_model *model) {
    return model->stream->n_channels;
}
bool mcap_model_is_ros1(const struct mcap_model *model) {
    return model->ros1;
}

static uint64_t string_size(const char *text) {
    return 4 + strlen(text);
}
static void put_string(struct reel_sink *out, const char *text) {
    reel_sink_string32(out, bytes_text(text));
}
static uint64_t pairs_size(struct reel_pairs pairs) { /* of the map, without its own length */
    uint64_t size = 0;
    for (size_t i = 0; i < pairs.count; i++) {
        size += string_size(pairs.items[i].key) + string_size(pairs.items[i].value);
    }
    return size;
}
static void put_pairs(struct reel_sink *out, struct reel_pairs pairs) {
    reel_sink_u32le(out, (uint32_t)pairs_size(pairs));
    for (size_t i = 0; i < pairs.count; i++) {
        put_string(out, pairs.items[i].key);
        put_string(out, pairs.items[i].value);
    }
}

void mcap_put_schemas(const struct mcap_model *model, struct reel_sink *out) {
    for (uint32_t i = 0; i < model->n_schemas; i++) {
        const struct mcap_schema *s = &model->schemas[model->first_with[i]];
        mcap_put_record(out, MCAP_SCHEMA, 2 + string_size(s->name) + string_size(s->encoding) + 4 + s->data.size);
        reel_sink_u16le(out, mcap_id(i));
        put_string(out, s->name);
        put_string(out, s->encoding);
        reel_sink_string32(out, s->data);
    }
}

void mcap_put_channels(const struct mcap_model *model, struct reel_sink *out) {
    for (uint32_t i = 0; i < model->stream->n_channels; i++) {
        const struct reel_channel *c = model->stream->channels[i];
        const char *encoding = message_encoding(c);
        struct reel_pairs pairs = model->channel_pairs[i];
        mcap_put_record(out, MCAP_CHANNEL, 2 + 2 + string_size(c->name) + string_size(encoding) + 4 + pairs_size(pairs));
        reel_sink_u16le(out, mcap_id(i));
        reel_sink_u16le(out, mcap_id(model->schema_of[i]));
        put_string(out, c->name);
        put_string(out, encoding);
        put_pairs(out, pairs);
    }
}

void mcap_put_metadata(const struct mcap_model *model, uint32_t source, struct reel_sink *out) {
    struct reel_pairs pairs = model->file_pairs[source];
    if (pairs.count > 0) {
        mcap_put_record(out, MCAP_METADATA, string_size(MCAP_METADATA_NAME) + 4 + pairs_size(pairs));
        put_string(out, MCAP_METADATA_NAME);
        put_pairs(out, pairs);
    }
}

bool mcap_accepts(const struct reel_channel *c, struct reel_loss *loss) {
    if (is_ros1(c) && (ros_rename_type(c->type) != c->type || (c->n_schemas > 0 && ros_rename_changes(c->type, c->schemas[0].data)))) {
        reel_loss_add(loss, REEL_CHANGES, c,
                      "definition: types of the old package roslib get their later names (std_msgs/Header, rosgraph_msgs/Log, …)");
    }
    if (is_ros1(c) && (c->n_schemas == 0 || c->schemas[0].data.size == 0)) {
        reel_loss_add(loss, REEL_LOSES, c, "the recording holds no definition of this type: viewers cannot decode the messages");
    }
    if (c->n_schemas > 1) {
        reel_loss_add(loss, REEL_LOSES, c, "MCAP holds one schema a channel: %u further ones are left out", c->n_schemas - 1);
    }
    return true;
}

bool mcap_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        const struct reel_index *index = reel_recording_index(reel_reader_recording(stream->readers[i]));
        if (reel_index_info(index)->clock == REEL_CLOCK_RELATIVE) {
            reel_loss_add(loss, REEL_CHANGES, NULL, "times count from the start of the recording: MCAP readers will show them as 1970");
            break;
        }
    }
    if (stream->n_channels > MCAP_CHANNELS_MAX) {
        reel_loss_add(loss, REEL_REFUSES, NULL, "%u channels: MCAP numbers at most %d", stream->n_channels, MCAP_CHANNELS_MAX);
        return false;
    }
    return true;
}
