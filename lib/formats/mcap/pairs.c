/* Converts a Channel record to the model's channel. It reverses model.c and keys.c: keys "reel.…" hold properties that
 * MCAP has no field for and are not part of the channel's metadata. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "decode/encoding.h"
#include "formats/mcap/read.h"

#include <stdlib.h>

enum { NUMBERED_MAX = 4096 }; /* most pairs of a map that are searched for numbered keys */

/* ---- maps ---- */

/* "dc:Creator#2" after "dc:Creator" is the second dc:Creator (keys.c numbers repeated keys). */
static bool restore_keys(struct mcap *m, struct reel_pairs *pairs, struct reel_error *err) {
    if (!m->own || pairs->count > NUMBERED_MAX) {
        return true;
    }
    AUTO_MEM const char **keys = calloc(pairs->count + 1, sizeof(const char *));
    if (!keys) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < pairs->count; i++) {
        keys[i] = pairs->items[i].key;
    }
    qsort(keys, pairs->count, sizeof(const char *), order_texts);
    for (size_t i = 0; i < pairs->count; i++) {
        const char *hash = strrchr(pairs->items[i].key, '#');
        if (!hash || hash[1] == '\0' || hash[1 + strspn(hash + 1, "0123456789")] != '\0') {
            continue;
        }
        char *base = arena_copy(&m->arena, pairs->items[i].key, (size_t)(hash - pairs->items[i].key) + 1);
        if (!base) {
            return mcap_no_room(m, err);
        }
        base[hash - pairs->items[i].key] = '\0';
        if (bsearch(&base, keys, pairs->count, sizeof(const char *), order_texts)) {
            pairs->items[i].key = base;
        }
    }
    return true;
}

bool mcap_pairs(struct mcap *m, struct reel_bytes map, struct reel_pairs *out, struct reel_error *err) {
    size_t count = 0;
    struct cursor c = cursor_of(map);
    for (; !cursor_done(&c); count++) {
        cursor_string32(&c);
        cursor_string32(&c);
    }
    if (c.failed) {
        return reel_fail(err, REEL_DAMAGED, "a map of texts whose lengths do not fit");
    }
    *out = (struct reel_pairs){.items = arena_alloc(&m->arena, (count + 1) * sizeof *out->items), .count = count};
    if (!out->items) {
        return mcap_no_room(m, err);
    }
    c = cursor_of(map);
    for (size_t i = 0; i < count; i++) {
        out->items[i].key = arena_utf8(&m->arena, cursor_string32(&c));
        out->items[i].value = arena_utf8(&m->arena, cursor_string32(&c));
        if (!out->items[i].key || !out->items[i].value) {
            return mcap_no_room(m, err);
        }
    }
    return restore_keys(m, out, err);
}

/* ---- the channel ---- */

/* The pairs that our writer has added to the metadata. */
struct own_keys {
    const char *encoding, *type, *schema_encoding, *schemas, *topics, *md5;
    const char *hashes[REEL_SCHEMAS_PER_CHANNEL_MAX];
};

static bool is_true(const char *text) {
    return strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

/* Where the hash for this key goes: "reel.hash" is that of the first schema, "reel.hash.1" of the second; ROS 1 uses
 * "md5sum". NULL: no such key. */
static const char **hash_slot(struct own_keys *own, const char *key, bool ros1) {
    static const char name[] = "reel.hash";
    if (strcmp(key, name) == 0) {
        return &own->hashes[0];
    }
    if (ros1 && strcmp(key, "md5sum") == 0) {
        return &own->md5;
    }
    if (strncmp(key, name, sizeof name - 1) != 0 || key[sizeof name - 1] != '.') {
        return NULL;
    }
    unsigned long number = strtoul(key + sizeof name, NULL, 10);
    return number > 0 && number < REEL_SCHEMAS_PER_CHANNEL_MAX ? &own->hashes[number] : NULL;
}

/* Handles a pair that is not part of the channel's metadata; false when it is. */
static bool take_own(struct own_keys *own, struct reel_channel *out, bool ros1, struct reel_pair *pair) {
    const struct {
        const char *key, **value;
    } keys[] = {{"reel.encoding", &own->encoding},
                {"reel.type", &own->type},
                {"reel.schema_encoding", &own->schema_encoding},
                {"reel.schemas", &own->schemas},
                {"reel.topics", &own->topics}};
    if (strcmp(pair->key, "latching") == 0) {
        bool yes = is_true(pair->value);
        out->latched |= yes;
        if (ros1 && yes) {
            pair->value = "1"; /* as in bags */
        }
        return ros1 != yes;
    }
    const char **hash = hash_slot(own, pair->key, ros1);
    if (hash) {
        *hash = pair->value;
        return true;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(pair->key, keys[i].key) == 0) {
            *keys[i].value = pair->value;
            return true;
        }
    }
    return false;
}

static bool add_schema(struct mcap *m, const struct mcap_schema_def *def, struct reel_channel *out,
                       struct reel_schema *schemas, struct reel_error *err) {
    struct reel_schema *s = &schemas[out->n_schemas++];
    *s = (struct reel_schema){.name = arena_utf8(&m->arena, def->name),
                              .encoding = arena_utf8(&m->arena, def->encoding),
                              .hash = "",
                              .data = def->data};
    return (s->name && s->encoding) || mcap_no_room(m, err);
}

/* Replaces the schemas by those with the listed ids ("3 4 7"). Ids without a record are left out; if none has one, the
 * channel keeps the schema it refers to. */
static bool replace_schemas(struct mcap *m, const char *ids, struct reel_channel *out, struct reel_schema *schemas,
                            struct reel_error *err) {
    uint32_t kept = out->n_schemas;
    out->n_schemas = 0;
    for (const char *at = ids; out->n_schemas < REEL_SCHEMAS_PER_CHANNEL_MAX;) {
        char *end = NULL;
        unsigned long id = strtoul(at, &end, 10);
        const struct mcap_schema_def *def = id < MCAP_IDS ? mcap_defined(m->names, (uint16_t)id)->schema : NULL;
        if (def && !add_schema(m, def, out, schemas, err)) {
            return false;
        }
        if (end == at || *end != ' ') {
            break;
        }
        at = end + 1;
    }
    out->n_schemas = out->n_schemas > 0 ? out->n_schemas : kept;
    return true;
}

static bool is_list(const char *schemas) {
    return schemas && schemas[0] >= '0' && schemas[0] <= '9';
}

/* A schema with only a type name counts as none: MCAP names the type of a message without definition this way. */
static bool make_schemas(struct mcap *m, const struct mcap_channel_def *def, const struct own_keys *own,
                         struct reel_channel *out, struct reel_error *err) {
    struct reel_schema *schemas = arena_alloc(&m->arena, REEL_SCHEMAS_PER_CHANNEL_MAX * sizeof *schemas);
    if (!schemas || (def->schema && !add_schema(m, def->schema, out, schemas, err))) {
        return schemas || mcap_no_room(m, err);
    }
    out->schemas = schemas;
    out->type = own->type ? own->type : out->n_schemas > 0 ? schemas[0].name : "";
    bool empty = own->schemas && strcmp(own->schemas, "empty") == 0,
         none = own->schemas && strcmp(own->schemas, "none") == 0;
    if (empty && def->schema) {
        schemas[0].encoding = "";
        schemas[0].data = bytes_of("", 0);
    } else if (none || (def->schema && def->schema->encoding.size == 0 && def->schema->data.size == 0)) {
        out->n_schemas = 0;
    } else if (is_list(own->schemas)) {
        if (!replace_schemas(m, own->schemas, out, schemas, err)) {
            return false;
        }
    } else if (out->n_schemas > 0) {
        schemas[0].name = own->type && reel_channel_has_profile(out, "ros1") ? own->type : schemas[0].name;
        schemas[0].encoding = own->schema_encoding ? own->schema_encoding : schemas[0].encoding;
    }
    for (uint32_t i = 0; i < out->n_schemas; i++) {
        schemas[i].hash = own->hashes[i]                                 ? own->hashes[i]
                          : i == 0 && own->md5 && !is_list(own->schemas) ? own->md5
                                                                         : "";
    }
    return true;
}

/* "reel.topics" has one topic per line. */
static bool make_topics(struct mcap *m, const char *text, struct reel_channel *out, struct reel_error *err) {
    uint32_t lines = 1;
    for (const char *p = text; *p; p++) {
        lines += *p == '\n';
    }
    const char **topics = arena_alloc(&m->arena, lines * sizeof(const char *));
    char *copy = arena_copy(&m->arena, text, strlen(text) + 1);
    if (!topics || !copy) {
        return mcap_no_room(m, err);
    }
    for (uint32_t i = 0; i < lines; i++) {
        topics[i] = copy;
        copy += strcspn(copy, "\n");
        *copy = '\0';
        copy++;
    }
    out->topics = topics;
    out->n_topics = lines;
    return true;
}

bool mcap_channel_model(struct mcap *m, const struct mcap_channel_def *def, struct reel_channel *out,
                        struct reel_error *err) {
    struct own_keys own = {0};
    *out = (struct reel_channel){.name = arena_utf8(&m->arena, def->topic),
                                 .encoding = arena_utf8(&m->arena, def->encoding)};
    if (!out->name || !out->encoding) {
        return mcap_no_room(m, err);
    }
    struct reel_error why = {0};
    if (!mcap_pairs(m, def->metadata, &out->metadata, &why)) {
        if (why.code != REEL_DAMAGED) {
            return reel_error_pass(err, &why);
        }
        reel_scan_finding(m->scan, REEL_LOSS, m->part, def->at, 0, "channel %u: its metadata is %s", def->id, why.text);
        out->metadata = (struct reel_pairs){0};
    }
    bool ros1 = reel_channel_has_profile(out, "ros1");
    size_t kept = 0;
    for (size_t i = 0; i < out->metadata.count; i++) {
        struct reel_pair pair = out->metadata.items[i];
        if (!take_own(&own, out, ros1, &pair)) {
            out->metadata.items[kept++] = pair;
        }
    }
    out->metadata.count = kept;
    out->encoding = own.encoding ? own.encoding : out->encoding;
    return make_schemas(m, def, &own, out, err) && (!own.topics || make_topics(m, own.topics, out, err));
}
