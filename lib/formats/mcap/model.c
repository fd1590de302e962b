/* Builds the schemas, channels and metadata of an MCAP file from the stream's channels. A channel refers to a record of
 * its own schema with all the types it needs (formats/ros/channel_definition.h). When it has several schemas, all of
 * them get records too, and "reel.schemas" in its metadata lists their ids, so that the channel can be restored. */
#include "base/arena.h"
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "decode/decoder_set.h"
#include "decode/encoding.h"
#include "formats/mcap/write.h"
#include "formats/ros/assume.h"
#include "formats/ros/channel_definition.h"
#include "formats/ros/md5.h"
#include "formats/ros/rename.h"
#include "formats/ros/text.h"

#include <stdlib.h>

/* The MCAP registry has no schema encoding for msgpack, and the viewers' checker refuses channels without a schema. For
 * encodings whose payloads are maps, the schema states that they are an object. For other payloads the schema has the
 * type's name, encoding "" and no data, which in MCAP means "no definition". */
#define ANY_OBJECT "{\"type\":\"object\"}"

struct mcap_schema {
    const char *name, *encoding;
    struct reel_bytes data;
    bool empty, made_up, encoding_assumed; /* as in struct mcap_schemas */
};

struct mcap_model {
    struct arena arena;
    const struct reel_stream *stream;
    struct mcap_first first;
    struct mcap_schema *schemas; /* by channel: the schema it refers to, then all its schemas if it has several */
    uint32_t *first_schema;      /* channel position -> index in `schemas` */
    uint32_t *schema_of;         /* index in `schemas` -> record */
    uint32_t *first_with;        /* record -> index in `schemas` it is written from */
    uint32_t n_places, n_schemas;
    struct reel_pairs *channel_pairs; /* by channel position */
    struct mcap_metadata *metadata;
    uint32_t n_metadata;
    const char *profile;
};

static bool is_ros1(const struct reel_channel *c) {
    return reel_channel_has_profile(c, "ros1");
}
const char *mcap_message_encoding(const struct reel_channel *c) {
    const struct reel_encoding *encoding = reel_encoding_of(c);
    return encoding && encoding->message_encoding ? encoding->message_encoding : c->encoding;
}

/* The schema encoding to join a definition with; only the encodings that MCAP names are joined. */
static const char *language_of(const struct reel_channel *c, const struct reel_schema *s) {
    enum ros_language language = c->n_schemas > 1 ? ros_language_of(c, s) : ROS_LANGUAGE_OTHER;
    return language == ROS_LANGUAGE_MSG                                                 ? "ros2msg"
           : language == ROS_LANGUAGE_IDL && ascii_ncasecmp(s->encoding, "omg", 3) != 0 ? "ros2idl"
                                                                                        : s->encoding;
}

/* Chooses the schema record that the channel refers to. */
static bool choose_schema(struct arena *arena, const struct reel_channel *c, struct mcap_schema *out,
                          struct reel_error *err) {
    const struct reel_schema *s = reel_channel_schema(c);
    const struct reel_encoding *encoding = reel_encoding_of(c);
    struct reel_error why = {0};
    struct reel_bytes definition;
    if (!channel_definition(arena, c, &definition, &why) && why.code != REEL_LIMIT) {
        return reel_fail_memory(err);
    }
    bool has_assumed = c->n_schemas <= 1 && definition.size > 0 && (!s || definition.data != s->data.data);
    if (is_ros1(c)) {
        *out = (struct mcap_schema){.name = ros_rename_type(c->type), .encoding = "ros1msg", .made_up = !s};
        return (!s && !has_assumed) || ros_rename_definition(arena, c->type, definition, &out->data, err);
    }
    if (has_assumed) { /* the recording says that it holds none, also when it is read again */
        *out = (struct mcap_schema){.name = s && s->name[0] ? s->name : c->type,
                                    .encoding = "ros2msg",
                                    .data = definition,
                                    .empty = s != NULL,
                                    .made_up = s == NULL};
        return true;
    }
    if (s && (s->encoding[0] != '\0' || s->data.size > 0)) {
        /* a definition without an encoding: that of the payload is assumed */
        const char *assumed = encoding && encoding->schema_encoding ? encoding->schema_encoding : c->encoding;
        const char *language = language_of(c, s);
        *out = (struct mcap_schema){.name = s->name[0] ? s->name : c->type,
                                    .encoding = language[0] ? language : assumed,
                                    .data = definition,
                                    .encoding_assumed = !language[0]};
        return true;
    }
    *out = (struct mcap_schema){.name = s && s->name[0] ? s->name : c->type, .encoding = "", .empty = s != NULL};
    if (encoding && encoding->is_map) {
        out->encoding = "jsonschema";
        out->data = bytes_text(ANY_OBJECT);
        out->made_up = true;
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

static bool mcap_model_same_schema(const struct mcap_schema *a, const struct mcap_schema *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->encoding, b->encoding) == 0 && bytes_equal(a->data, b->data);
}

/* Gives equal schemas one record. Sorting finds them without a hash that a hostile file could attack; ids follow the
 * order of channels */
static bool number_schemas(struct mcap_model *model, struct reel_error *err) {
    uint32_t n = model->n_places;
    AUTO_MEM uint32_t *order = calloc((size_t)n + 1, sizeof *order);
    if (!order) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
    }
    qsort_r(order, n, sizeof *order, compare_schemas, model->schemas);
    for (uint32_t i = 0; i < n; i++) { /* for now: the first index with an equal schema */
        bool again = i > 0 && mcap_model_same_schema(&model->schemas[order[i - 1]], &model->schemas[order[i]]);
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

static bool choose_schemas(struct mcap_model *model, struct reel_error *err) {
    const struct reel_stream *stream = model->stream;
    AUTO_STRUCT(hash_table_free) struct hash_table chosen = {0}; /* a recording may have a type on each channel */
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        const struct reel_channel *c = stream->channels[i];
        const struct hash_key type = hash_key_bytes(bytes_text(c->type));
        uintptr_t before = hash_table_get(&chosen, type);
        model->first_schema[i] = model->n_places;
        if (!cancel_check(err)) {
            return false;
        }
        if (before && channels_decode_alike(stream->channels[before - 1], c)) {
            model->schemas[model->n_places++] = model->schemas[model->first_schema[before - 1]];
        } else if (!choose_schema(&model->arena, c, &model->schemas[model->n_places++], err) ||
                   (!before && !hash_table_set(&chosen, type, i + 1, err))) {
            return false;
        }
        for (uint32_t s = 0; s < c->n_schemas && c->n_schemas > 1; s++) {
            const struct reel_schema *from = &c->schemas[s];
            model->schemas[model->n_places++] =
                (struct mcap_schema){.name = from->name, .encoding = from->encoding, .data = from->data};
        }
    }
    if (!number_schemas(model, err)) {
        return false;
    }
    uint32_t n = model->first.schema + model->n_schemas;
    return n <= MCAP_SCHEMAS_MAX ||
           reel_fail(err, REEL_UNSUPPORTED, "%u schemas: MCAP numbers at most %d", n, MCAP_SCHEMAS_MAX);
}

static bool make_channel_pairs(struct mcap_model *model, uint32_t channel, struct reel_error *err) {
    const struct reel_channel *c = model->stream->channels[channel];
    uint32_t first = model->first_schema[channel];
    uint16_t ids[REEL_SCHEMAS_PER_CHANNEL_MAX];
    for (uint32_t i = 0; i < c->n_schemas && c->n_schemas > 1; i++) {
        ids[i] = mcap_id(model->first.schema + model->schema_of[first + 1 + i]);
    }
    const struct mcap_schema *s = &model->schemas[first];
    char md5[MD5_HEX];
    struct reel_error why = {0};
    bool summed = is_ros1(c) && c->n_schemas > 1 && ros_md5(c->type, s->data, md5, &why);
    if (!reel_error_ignore(err, &why)) {
        return false;
    }
    const struct mcap_schemas schemas = {.name = s->name,
                                         .empty = s->empty,
                                         .made_up = s->made_up,
                                         .encoding_assumed = s->encoding_assumed && c->n_schemas == 1,
                                         .ids = ids,
                                         .md5 = summed ? arena_text(&model->arena, md5) : NULL};
    return mcap_channel_pairs(&model->arena, c, &schemas, &model->channel_pairs[channel], err);
}

/* MCAP times always count from 1970, so the file notes when they do not. */
static void note_clock(struct mcap_model *model) {
    const struct reel_stream *stream = model->stream;
    bool relative = stream->n_sources > 0;
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        relative = relative && stream->clocks[i] == REEL_CLOCK_RELATIVE;
    }
    if (relative) {
        static struct reel_pair pair = {MCAP_CLOCK_KEY, MCAP_CLOCK_RELATIVE};
        model->metadata[model->n_metadata++] = (struct mcap_metadata){.name = MCAP_METADATA_NAME, .pairs = {&pair, 1}};
    }
}

static const struct reel_index *mcap_index_of(const struct reel_stream *stream, uint32_t source) {
    return reel_recording_index(reel_reader_recording(stream->readers[source]));
}
static bool is_mcap(const struct reel_index *index) {
    return reel_index_info(index)->format == &reel_format_mcap;
}

static bool make_metadata(struct mcap_model *model, struct reel_error *err) {
    const struct reel_stream *stream = model->stream;
    size_t room = 0;
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        room += reel_index_metadata(mcap_index_of(stream, i))->count + 1;
    }
    model->metadata = arena_alloc(&model->arena, (room + 1) * sizeof *model->metadata);
    if (!model->metadata) {
        return reel_fail_memory(err);
    }
    note_clock(model);
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        const struct reel_index *index = mcap_index_of(stream, i);
        if (!mcap_file_metadata(&model->arena, reel_index_metadata(index), is_mcap(index), model->metadata,
                                &model->n_metadata, err)) {
            return false;
        }
    }
    return true;
}

static bool all_of_profile(const struct reel_stream *stream, const char *profile) {
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        if (!reel_channel_has_profile(stream->channels[i], profile)) {
            return false;
        }
    }
    return stream->n_channels > 0;
}

/* "ros1" when all channels are ROS 1; else the sources' own profile if they agree. MCAP files state it; of the other
 * formats, only those of ROS 2 have one. */
static const char *choose_profile(const struct reel_stream *stream) {
    bool ros1 = all_of_profile(stream, "ros1"), ros2 = all_of_profile(stream, "ros2");
    const char *profile = NULL;
    for (uint32_t i = 0; i < stream->n_sources && !ros1; i++) {
        const struct reel_pairs *pairs = reel_index_metadata(mcap_index_of(stream, i));
        const char *own = ros2 && !is_mcap(mcap_index_of(stream, i)) ? "ros2" : "";
        for (size_t p = 0; p < pairs->count && is_mcap(mcap_index_of(stream, i)); p++) {
            own = strcmp(pairs->items[p].key, MCAP_PROFILE_KEY) == 0 ? pairs->items[p].value : own;
        }
        own = ros2 && strcmp(own, "ros1") == 0 ? "ros2" : own; /* the messages have been converted */
        profile = profile && strcmp(profile, own) != 0 ? "" : own;
    }
    return ros1 ? "ros1" : profile ? profile : "";
}

static bool mcap_build(struct mcap_model *model, struct reel_error *err) {
    const struct reel_stream *stream = model->stream;
    struct arena *arena = &model->arena;
    size_t n = (size_t)stream->n_channels + 1, capacity = 1; /* an arena returns no empty tables */
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        capacity += 1 + (stream->channels[i]->n_schemas > 1 ? stream->channels[i]->n_schemas : 0);
    }
    model->schemas = arena_alloc(arena, capacity * sizeof *model->schemas);
    model->first_schema = arena_alloc(arena, n * sizeof *model->first_schema);
    model->schema_of = arena_alloc(arena, capacity * sizeof *model->schema_of);
    model->first_with = arena_alloc(arena, capacity * sizeof *model->first_with);
    model->channel_pairs = arena_alloc(arena, n * sizeof *model->channel_pairs);
    if (!model->schemas || !model->first_schema || !model->schema_of || !model->first_with || !model->channel_pairs) {
        return reel_fail_memory(err);
    }
    model->profile = choose_profile(stream);
    if (!choose_schemas(model, err)) {
        return false;
    }
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        if (!cancel_check(err) || !make_channel_pairs(model, i, err)) {
            return false;
        }
    }
    return make_metadata(model, err);
}

struct mcap_model *mcap_model_new(const struct reel_stream *stream, struct mcap_first first, struct reel_error *err) {
    AUTO(mcap_model_free) struct mcap_model *model = calloc(1, sizeof *model);
    if (!model) {
        reel_fail_memory(err);
        return NULL;
    }
    model->stream = stream;
    model->first = first;
    return mcap_build(model, err) ? TAKE(model) : NULL;
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
const char *mcap_model_profile(const struct mcap_model *model) {
    return model->profile;
}

static uint64_t string_size(const char *text) {
    return 4 + strlen(text);
}
static void mcap_put_string(struct reel_sink *out, const char *text) {
    reel_sink_string32(out, bytes_text(text));
}
static uint64_t pairs_size(struct reel_pairs pairs) { /* Size of the map without its length field. */
    uint64_t size = 0;
    for (size_t i = 0; i < pairs.count; i++) {
        size += string_size(pairs.items[i].key) + string_size(pairs.items[i].value);
    }
    return size;
}
static void mcap_put_pairs(struct reel_sink *out, struct reel_pairs pairs) {
    reel_sink_u32le(out, (uint32_t)pairs_size(pairs));
    for (size_t i = 0; i < pairs.count; i++) {
        mcap_put_string(out, pairs.items[i].key);
        mcap_put_string(out, pairs.items[i].value);
    }
}

void mcap_put_schemas(const struct mcap_model *model, struct reel_sink *out) {
    for (uint32_t i = 0; i < model->n_schemas; i++) {
        const struct mcap_schema *s = &model->schemas[model->first_with[i]];
        mcap_put_record(out, MCAP_SCHEMA, 2 + string_size(s->name) + string_size(s->encoding) + 4 + s->data.size);
        reel_sink_u16le(out, mcap_id(model->first.schema + i));
        mcap_put_string(out, s->name);
        mcap_put_string(out, s->encoding);
        reel_sink_string32(out, s->data);
    }
}

void mcap_put_channels(const struct mcap_model *model, struct reel_sink *out) {
    for (uint32_t i = 0; i < model->stream->n_channels; i++) {
        const struct reel_channel *c = model->stream->channels[i];
        const char *encoding = mcap_message_encoding(c);
        struct reel_pairs pairs = model->channel_pairs[i];
        mcap_put_record(out, MCAP_CHANNEL,
                        2 + 2 + string_size(c->name) + string_size(encoding) + 4 + pairs_size(pairs));
        reel_sink_u16le(out, mcap_id(model->first.channel + i));
        reel_sink_u16le(out, mcap_id(model->first.schema + model->schema_of[model->first_schema[i]]));
        mcap_put_string(out, c->name);
        mcap_put_string(out, encoding);
        mcap_put_pairs(out, pairs);
    }
}

const struct mcap_metadata *mcap_model_metadata(const struct mcap_model *model, uint32_t *count) {
    *count = model->n_metadata;
    return model->metadata;
}

uint64_t mcap_metadata_size(const struct mcap_metadata *m) {
    return MCAP_RECORD_HEAD + string_size(m->name) + 4 + pairs_size(m->pairs);
}

void mcap_put_metadata(const struct mcap_metadata *m, struct reel_sink *out) {
    mcap_put_record(out, MCAP_METADATA, mcap_metadata_size(m) - MCAP_RECORD_HEAD);
    mcap_put_string(out, m->name);
    mcap_put_pairs(out, m->pairs);
}

static bool is_assumed(const struct reel_channel *c) {
    struct arena arena = {0};
    struct reel_bytes text;
    struct reel_error ignored = {0};
    bool is = ros_assumed_text(&arena, c, &text, &ignored) && text.size > 0;
    arena_free(&arena);
    return is;
}

bool mcap_accepts(const struct reel_channel *c, struct reel_loss *loss) {
    const struct reel_schema *own = reel_channel_schema(c);
    if (is_ros1(c) && (ros_rename_type(c->type) != c->type || (own && ros_rename_changes(c->type, own->data)))) {
        reel_loss_add(loss, REEL_CHANGES, c,
                      "definition: types of the old package roslib get their later names (std_msgs/Header, "
                      "rosgraph_msgs/Log, …)");
    }
    return true;
}

/* A definition that is missing. */
static void report_definition(const struct reel_channel *c, bool has_assumed, struct reel_loss *loss) {
    const struct reel_schema *own = reel_channel_schema(c);
    if (has_assumed) {
        reel_loss_add(loss, REEL_CHANGES, c,
                      "the recording holds no definition of this type: that of Reel, or the supplied one, is written");
    } else if (is_ros1(c) && (!own || own->data.size == 0)) {
        reel_loss_add(loss, REEL_LOSES, c,
                      "the recording holds no definition of this type: viewers cannot decode the messages");
    }
}

/* Channels that are alike are looked at once. */
static void report_definitions(const struct reel_stream *stream, struct reel_loss *loss) {
    AUTO_STRUCT(hash_table_free) struct hash_table known = {0};
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        const struct reel_channel *c = stream->channels[i];
        const struct hash_key type = hash_key_bytes(bytes_text(c->type));
        uintptr_t before = hash_table_get(&known, type); /* twice the channel's number, and whether it is assumed */
        bool is_known = before && channels_decode_alike(stream->channels[(before >> 1) - 1], c);
        bool has_assumed = is_known ? (before & 1) == 1 : is_assumed(c);
        report_definition(c, has_assumed, loss);
        if (!before) {
            (void)hash_table_set(&known, type, ((uintptr_t)i + 1) << 1 | has_assumed, NULL);
        }
    }
}

bool mcap_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    report_definitions(stream, loss);
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        if (stream->clocks[i] == REEL_CLOCK_RELATIVE) {
            reel_loss_add(loss, REEL_CHANGES, NULL,
                          "times count from the start of the recording: MCAP readers will show them as 1970");
            break;
        }
    }
    if (stream->n_channels > MCAP_CHANNELS_MAX) {
        reel_loss_add(loss, REEL_REFUSES, NULL, "%u channels: MCAP numbers at most %d", stream->n_channels,
                      MCAP_CHANNELS_MAX);
        return false;
    }
    return true;
}
