/* Parses channel rows (formats/rows/append.h). */
#include "formats/rows/row_parse.h"

#include "base/error.h"
#include "base/limits.h"
#include "syntax/json_scan.h"
#include "syntax/msgpack.h"

enum { TOPICS_MAX = 64 }; /* of a channel */

/* ---- lists */

typedef bool (*take_item)(void *context, const struct row_value *item, struct reel_error *err);

static bool take_json_items(struct reel_bytes text, take_item take, void *context, bool *is_list,
                            struct reel_error *err) {
    struct json_items s = json_items_of(text, '[', ']');
    struct reel_bytes item;
    while (json_next(&s, &item)) {
        if (!take(context, &(struct row_value){item, VALUE_JSON}, err)) {
            return false;
        }
    }
    *is_list = json_items_end(&s);
    return true;
}

static bool take_msgpack_items(struct reel_bytes text, take_item take, void *context, bool *is_list,
                               struct reel_error *err) {
    struct msgpack_faults faults = {0};
    struct cursor at = cursor_of(text);
    struct msgpack_item list;
    *is_list = msgpack_read(&at, &list) == MSGPACK_OK && list.kind == MSGPACK_ARRAY;
    for (uint64_t i = 0; *is_list && i < list.count; i++) {
        const uint8_t *from = at.at;
        *is_list = msgpack_skip(&at, REEL_DEPTH_MAX, &faults) == MSGPACK_OK;
        if (*is_list &&
            !take(context, &(struct row_value){bytes_of(from, (size_t)(at.at - from)), VALUE_MSGPACK}, err)) {
            return false;
        }
    }
    return true;
}

static bool take_items(const struct row_value *list, const char *member, take_item take, void *context,
                       struct reel_error *err) {
    bool is_list = true;
    bool good = list->medium == VALUE_NONE   ? true
                : list->medium == VALUE_JSON ? take_json_items(list->text, take, context, &is_list, err)
                                             : take_msgpack_items(list->text, take, context, &is_list, err);
    return good && (is_list || reel_fail(err, REEL_ARGUMENT, "%s must be a list", member));
}

/* What the lists of a channel row are added to. */
struct adding {
    const struct row_parser *p;
    struct reel_channel *c;
    struct reel_schema *schemas;
    const char **topics;
};

/* ---- definitions */

static bool read_definition(const struct row_parser *p, const struct row_value *value, struct reel_schema *schema,
                            struct reel_error *err) {
    struct row_value digits;
    struct row_scalar s;
    if (row_is_base64(value, &digits)) {
        if (!row_read_base64(p, &digits, &schema->data, err)) {
            return false;
        }
    } else if (!row_read_scalar(p, value, "schema", &s, err)) {
        return false;
    } else {
        bool is_text = s.kind == SCALAR_TEXT || s.kind == SCALAR_BYTES;
        schema->data = is_text ? s.bytes : value->text; /* a JSON Schema may stand there as it is */
        if (!is_text && (s.kind != SCALAR_OTHER || value->medium != VALUE_JSON)) {
            return reel_fail(err, REEL_ARGUMENT, "schema must be a text, an object, or {\"$base64\": …}");
        }
    }
    return schema->data.size <= REEL_SCHEMA_MAX ||
           reel_fail(err, REEL_LIMIT, "schema: at most %d bytes", REEL_SCHEMA_MAX);
}

/* The definition in these members; `name` and `encoding` where they do not say. */
static bool rows_read_schema(const struct row_parser *p, const struct row_members *m, const char *name,
                             const char *encoding, struct reel_schema *schema, struct reel_error *err) {
    *schema = (struct reel_schema){.data = bytes_of("", 0)};
    return row_text_or(p, &m->schema_name, "schema_name", name, &schema->name, err) &&
           row_text_or(p, &m->schema_encoding, "schema_encoding", encoding, &schema->encoding, err) &&
           row_text_or(p, &m->schema_hash, "schema_hash", "", &schema->hash, err) &&
           (m->schema.medium == VALUE_NONE || read_definition(p, &m->schema, schema, err));
}

static bool add_schema(void *context, const struct row_value *item, struct reel_error *err) {
    const struct adding *a = context;
    struct row_members m;
    if (a->c->n_schemas == REEL_SCHEMAS_PER_CHANNEL_MAX) {
        return reel_fail(err, REEL_LIMIT, "schemas: at most %d", REEL_SCHEMAS_PER_CHANNEL_MAX);
    }
    return (row_split(item, &m, err) && rows_read_schema(a->p, &m, "", "", &a->schemas[a->c->n_schemas++], err)) ||
           reel_error_at(err, "schemas");
}

/* All of "schemas", or the one in "schema". */
static bool read_schemas(const struct row_parser *p, const struct row_members *m, struct reel_channel *c,
                         struct reel_error *err) {
    const struct reel_encoding *encoding = reel_encoding_of(c);
    const char *assumed = encoding && encoding->schema_encoding ? encoding->schema_encoding : c->encoding;
    bool several = m->schemas.medium != VALUE_NONE;
    if (!several && m->schema.medium == VALUE_NONE) {
        return true;
    }
    struct adding a = {.p = p, .c = c};
    a.schemas = arena_alloc(p->arena, (several ? REEL_SCHEMAS_PER_CHANNEL_MAX : 1) * sizeof *a.schemas);
    c->schemas = a.schemas;
    if (!a.schemas) {
        return arena_fail(p->arena, err);
    }
    c->n_schemas = !several;
    return several ? take_items(&m->schemas, "schemas", add_schema, &a, err)
                   : rows_read_schema(p, m, c->type, assumed, a.schemas, err);
}

/* ---- topics */

static bool add_topic(void *context, const struct row_value *item, struct reel_error *err) {
    const struct adding *a = context;
    if (a->c->n_topics == TOPICS_MAX) {
        return reel_fail(err, REEL_LIMIT, "topics: at most %d", TOPICS_MAX);
    }
    return row_read_text(a->p, item, "topics", &a->topics[a->c->n_topics++], err);
}

/* The topics that the channel is found under: its own name, unless there is a list. */
static bool read_topics(const struct row_parser *p, const struct row_members *m, struct reel_channel *c,
                        struct reel_error *err) {
    struct adding a = {.p = p, .c = c};
    a.topics = arena_alloc(p->arena, (m->topics.medium == VALUE_NONE ? 1 : TOPICS_MAX) * sizeof *a.topics);
    c->topics = a.topics;
    if (!a.topics) {
        return arena_fail(p->arena, err);
    }
    if (!take_items(&m->topics, "topics", add_topic, &a, err)) {
        return false;
    }
    if (c->n_topics == 0) {
        a.topics[c->n_topics++] = c->name;
    }
    return true;
}

/* ---- metadata */

static bool rows_add_pair(const struct row_parser *p, struct reel_channel *c, struct reel_bytes key,
                          struct row_value text, struct reel_error *err) {
    struct reel_pair *pair = &c->metadata.items[c->metadata.count];
    if (c->metadata.count++ == REEL_ROW_METADATA_MAX) {
        return reel_fail(err, REEL_LIMIT, "metadata: at most %d texts", REEL_ROW_METADATA_MAX);
    }
    return (pair->key = arena_utf8(p->arena, key)) ? row_read_text(p, &text, "metadata", &pair->value, err)
                                                   : arena_fail(p->arena, err);
}

static bool read_json_pairs(const struct row_parser *p, struct reel_bytes map, struct reel_channel *c,
                            struct reel_error *err) {
    struct json_items s = json_items_of(map, '{', '}');
    struct reel_bytes key, text;
    while (json_next_member(&s, &key, &text)) {
        if (!rows_add_pair(p, c, key, (struct row_value){text, VALUE_JSON}, err)) {
            return false;
        }
    }
    return !s.c.failed || reel_fail(err, REEL_ARGUMENT, "metadata must be an object of texts");
}

static bool read_msgpack_pairs(const struct row_parser *p, struct reel_bytes map, struct reel_channel *c,
                               struct reel_error *err) {
    struct msgpack_faults faults = {0};
    struct cursor at = cursor_of(map);
    struct msgpack_item item;
    struct reel_bytes key;
    bool good = msgpack_read(&at, &item) == MSGPACK_OK && item.kind == MSGPACK_MAP;
    for (uint64_t i = 0; good && i < item.count; i++) {
        const uint8_t *from = NULL;
        good = msgpack_key(&at, &key, REEL_DEPTH_MAX, &faults) == MSGPACK_OK && (from = at.at) &&
               msgpack_skip(&at, REEL_DEPTH_MAX, &faults) == MSGPACK_OK;
        if (good &&
            !rows_add_pair(p, c, key, (struct row_value){bytes_of(from, (size_t)(at.at - from)), VALUE_MSGPACK}, err)) {
            return false;
        }
    }
    return good || reel_fail(err, REEL_ARGUMENT, "metadata must be a map of texts");
}

static bool read_metadata(const struct row_parser *p, const struct row_value *value, struct reel_channel *c,
                          struct reel_error *err) {
    if (value->medium == VALUE_NONE) {
        return true;
    }
    if (!(c->metadata.items = arena_alloc(p->arena, (REEL_ROW_METADATA_MAX + 1) * sizeof *c->metadata.items))) {
        return arena_fail(p->arena, err);
    }
    return value->medium == VALUE_JSON ? read_json_pairs(p, value->text, c, err)
                                       : read_msgpack_pairs(p, value->text, c, err);
}

/* ---- the row */

bool row_read_channel(const struct row_parser *p, const struct row_value *value, struct row *out,
                      struct reel_error *err) {
    struct row_members m;
    struct row_scalar latched = {0};
    if (!row_split(value, &m, err)) {
        return reel_error_at(err, "$channel");
    }
    struct reel_channel *c = arena_alloc(p->arena, sizeof *c);
    if (!c) {
        return arena_fail(p->arena, err);
    }
    if (m.topic.medium == VALUE_NONE) {
        return reel_fail(err, REEL_ARGUMENT, "$channel: topic is missing");
    }
    if (!row_read_text(p, &m.topic, "topic", &c->name, err) || !row_text_or(p, &m.type, "type", "", &c->type, err) ||
        !row_text_or(p, &m.encoding, "encoding", value->medium == VALUE_JSON ? "json" : "msgpack", &c->encoding, err) ||
        !read_schemas(p, &m, c, err) || !read_topics(p, &m, c, err) || !read_metadata(p, &m.metadata, c, err) ||
        (m.latched.medium != VALUE_NONE && !row_read_scalar(p, &m.latched, "latched", &latched, err))) {
        return reel_error_at(err, "$channel");
    }
    c->latched = latched.kind == SCALAR_BOOL && latched.integer;
    out->kind = ROW_CHANNEL;
    out->topic = c->name;
    out->channel = c;
    return true;
}
