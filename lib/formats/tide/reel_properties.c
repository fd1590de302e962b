/* Properties of a channel from another format, as JSON in the source config of the TIDE channel, so that reading
 * restores them.
 *
 *   {"reel":{"name":"/scan","type":"sensor_msgs/LaserScan","encoding":"ros1","clock":"relative","latched":true,"topics":["/scan"],
 *            "schemas":[{"name":"…","encoding":"ros1msg","hash":"…","bytes":1234,"parts":[["HASH","text"]]}],
 *            "metadata":[["callerid","/hokuyo"]]}}
 *
 * `clock`, `latched`, `topics` and `parts` are omitted if they have the default value. Only JSON in exactly this form
 * is read; any other is treated as an ordinary source config. */
#include "formats/tide/container.h"

#include "base/bytes.h"
#include "base/channel.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "syntax/json_scan.h"

#include <stdio.h>

#define BEGIN "{\"reel\":{"

/* ---- writing ---- */

static void tide_reel_properties_put(struct grow *g, const char *text) {
    grow_put(g, text, strlen(text));
}

static void tide_put_bytes(struct grow *g, struct reel_bytes text) {
    const char *p = (const char *)text.data, *end = p + text.size;
    tide_reel_properties_put(g, "\"");
    while (p < end) {
        size_t plain = 0;
        while (p + plain < end && (uint8_t)p[plain] >= 0x20 && p[plain] != '"' && p[plain] != '\\') {
            plain++;
        }
        grow_put(g, p, plain);
        p += plain;
        if (p < end) {
            char escaped[8];
            snprintf(escaped, sizeof escaped, *p == '"' || *p == '\\' ? "\\%c" : "\\u%04x", *p);
            tide_reel_properties_put(g, escaped);
            p++;
        }
    }
    tide_reel_properties_put(g, "\"");
}

static void tide_put_text(struct grow *g, const char *text) {
    tide_put_bytes(g, bytes_text(text));
}

static void tide_reel_properties_put_member(struct grow *g, const char *before, const char *text) {
    tide_reel_properties_put(g, before);
    tide_put_text(g, text);
}

/* False: no memory. */
static bool put_parts(struct grow *g, struct arena *arena, const struct tide_parts *parts) {
    for (uint32_t i = 0; i < parts->count; i++) {
        const char *hash = tide_hex(arena, parts->items[i].hash);
        if (!hash) {
            return false;
        }
        tide_reel_properties_put_member(g, i == 0 ? ",\"parts\":[[" : ",[", hash);
        tide_reel_properties_put(g, ",");
        tide_put_bytes(g, parts->items[i].after);
        tide_reel_properties_put(g, i + 1 == parts->count ? "]]" : "]");
    }
    return true;
}

static bool put_schemas(struct grow *g, struct arena *arena, const struct reel_channel *c,
                        const struct tide_parts *parts) {
    tide_reel_properties_put(g, ",\"schemas\":[");
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        char bytes[40];
        tide_reel_properties_put_member(g, i > 0 ? ",{\"name\":" : "{\"name\":", c->schemas[i].name);
        tide_reel_properties_put_member(g, ",\"encoding\":", c->schemas[i].encoding);
        tide_reel_properties_put_member(g, ",\"hash\":", c->schemas[i].hash);
        snprintf(bytes, sizeof bytes, ",\"bytes\":%zu", c->schemas[i].data.size);
        tide_reel_properties_put(g, bytes);
        if (parts && !put_parts(g, arena, &parts[i])) {
            return false;
        }
        tide_reel_properties_put(g, "}");
    }
    tide_reel_properties_put(g, "]");
    return true;
}

bool tide_reel_write(struct arena *arena, const struct reel_channel *c, const struct tide_parts *parts, bool relative,
                     struct reel_bytes *config) {
    struct grow g = {0};
    tide_reel_properties_put_member(&g, BEGIN "\"name\":", c->name);
    tide_reel_properties_put_member(&g, ",\"type\":", c->type);
    tide_reel_properties_put_member(&g, ",\"encoding\":", c->encoding);
    tide_reel_properties_put(&g, relative ? ",\"clock\":\"relative\"" : "");
    tide_reel_properties_put(&g, c->latched ? ",\"latched\":true" : "");
    if (!channel_is_one_topic(c)) {
        for (uint32_t i = 0; i < c->n_topics; i++) {
            tide_reel_properties_put_member(&g, i == 0 ? ",\"topics\":[" : ",", c->topics[i]);
        }
        tide_reel_properties_put(&g, "]");
    }
    g.failed |= !put_schemas(&g, arena, c, parts);
    tide_reel_properties_put(&g, ",\"metadata\":[");
    for (size_t i = 0; i < c->metadata.count; i++) {
        tide_reel_properties_put_member(&g, i > 0 ? ",[" : "[", c->metadata.items[i].key);
        tide_reel_properties_put_member(&g, ",", c->metadata.items[i].value);
        tide_reel_properties_put(&g, "]");
    }
    tide_reel_properties_put(&g, "]}}");
    AUTO_MEM uint8_t *text = g.data;
    *config = bytes_of(g.failed ? NULL : arena_copy(arena, text, g.size), g.size);
    return config->data != NULL;
}

/* ---- reading ---- */

struct reading {
    struct cursor c;
    struct arena *arena;
    const struct tide_types *types; /* may be NULL */
    bool no_room;
};

/* Beside the arena, which has the reason that the caller reports. */
static bool lacks_memory(struct reading *r) {
    r->no_room = r->arena->no_memory = true;
    return false;
}

static bool tide_skip(struct reading *r, const char *text) {
    struct reel_bytes left = bytes_of(r->c.at, cursor_left(&r->c));
    if (!bytes_start(left, bytes_text(text))) {
        return false;
    }
    cursor_take(&r->c, strlen(text));
    return true;
}

/* NULL: no text here, or no memory. */
static const char *tide_read_text(struct reading *r) {
    struct json_string s;
    size_t size;
    if (cursor_done(&r->c) || *r->c.at != '"' || !json_string(&r->c, &s) || s.control) {
        return NULL;
    }
    uint8_t *text = arena_alloc(r->arena, s.raw.size + 1);
    bool good = text && json_unescape(s.raw, text, &size) && !memchr(text, 0, size);
    const char *checked = good ? arena_utf8(r->arena, bytes_of(text, size)) : NULL;
    r->no_room |= !text || (good && !checked);
    return checked;
}

static bool read_member(struct reading *r, const char *before, const char **text) {
    return tide_skip(r, before) && (*text = tide_read_text(r)) != NULL;
}

/* Copies an array into the arena; not NULL for an empty one. */
static void *tide_keep(struct reading *r, const void *items, size_t size) {
    void *kept = arena_alloc(r->arena, size + 1);
    if (kept && size > 0) {
        memcpy(kept, items, size);
    }
    r->no_room |= !kept;
    return kept;
}

static bool read_topics(struct reading *r, struct reel_channel *out) {
    const char **topics = NULL;
    size_t count = 0, capacity = 0;
    bool good = true;
    do {
        good = GROW_ARRAY(topics, count, capacity) && count < REEL_CHANNELS_MAX;
        good = good && (topics[count] = tide_read_text(r)) != NULL;
        count += good;
    } while (good && tide_skip(r, ","));
    AUTO_MEM const char **owned = topics;
    out->topics = good && tide_skip(r, "]") ? tide_keep(r, owned, count * sizeof *owned) : NULL;
    out->n_topics = (uint32_t)count;
    return out->topics != NULL;
}

/* Puts a definition together from its types. One that is missing, or another size, is damage, and leaves the definition
 * empty. */
static bool read_parts(struct reading *r, struct reel_schema *s) {
    struct grow data = {0};
    bool good = true, whole = true;
    do {
        const char *hash, *after;
        good = read_member(r, "[", &hash) && read_member(r, ",", &after) && tide_skip(r, "]");
        struct reel_bytes key = good ? tide_hex_back(r->arena, hash, strlen(hash)) : bytes_of(NULL, 0);
        const struct tide_type *type = key.data && r->types ? tide_type_find(r->types, key) : NULL;
        whole = whole && type && data.size + type->definition.size + strlen(after) <= s->data.size;
        if (whole) {
            tide_type_used(r->types, type);
            grow_put(&data, type->definition.data, type->definition.size);
            grow_put(&data, after, strlen(after));
        }
    } while (good && tide_skip(r, ","));
    AUTO_MEM uint8_t *owned = data.data;
    whole = whole && data.size == s->data.size;
    const uint8_t *kept = whole && !data.failed ? arena_copy(r->arena, data.data, data.size) : NULL;
    s->data = kept ? bytes_of(kept, data.size) : bytes_of("", 0);
    if (data.failed) {
        lacks_memory(r);
    }
    r->no_room |= whole && !kept;
    return good && tide_skip(r, "]");
}

static bool tide_read_schema(struct reading *r, struct reel_schema *s) {
    uint64_t bytes = 0;
    if (!read_member(r, "{\"name\":", &s->name) || !read_member(r, ",\"encoding\":", &s->encoding) ||
        !read_member(r, ",\"hash\":", &s->hash) || !tide_skip(r, ",\"bytes\":")) {
        return false;
    }
    for (; r->c.at < r->c.end && *r->c.at >= '0' && *r->c.at <= '9' && bytes <= UINT32_MAX; r->c.at++) {
        bytes = bytes * 10 + (uint64_t)(*r->c.at - '0');
    }
    s->data = bytes_of(NULL, (size_t)bytes); /* set later, unless it has parts */
    return bytes <= REEL_SCHEMA_MAX && (!tide_skip(r, ",\"parts\":[") || read_parts(r, s)) && tide_skip(r, "}");
}

static bool read_schemas(struct reading *r, struct reel_channel *out) {
    struct reel_schema schemas[REEL_SCHEMAS_PER_CHANNEL_MAX];
    uint32_t count = 0;
    bool good = tide_skip(r, ",\"schemas\":["), more = good && !tide_skip(r, "]");
    while (good && more) {
        good = count < REEL_SCHEMAS_PER_CHANNEL_MAX && tide_read_schema(r, &schemas[count]);
        count += good;
        more = good && tide_skip(r, ",");
        good = good && (more || tide_skip(r, "]"));
    }
    out->schemas = tide_keep(r, schemas, count * sizeof *schemas);
    out->n_schemas = count;
    return good && out->schemas;
}

static bool read_pairs(struct reading *r, struct reel_channel *out) {
    struct reel_pair *pairs = NULL;
    size_t count = 0, capacity = 0;
    bool good = tide_skip(r, ",\"metadata\":["), more = good && !tide_skip(r, "]");
    while (good && more) {
        good = (GROW_ARRAY(pairs, count, capacity) || lacks_memory(r)) && read_member(r, "[", &pairs[count].key) &&
               read_member(r, ",", &pairs[count].value) && tide_skip(r, "]");
        count += good;
        more = good && tide_skip(r, ",");
        good = good && (more || tide_skip(r, "]"));
    }
    AUTO_MEM struct reel_pair *owned = pairs;
    out->metadata = (struct reel_pairs){.items = tide_keep(r, owned, count * sizeof *owned), .count = count};
    return good && out->metadata.items;
}

/* Sets the definitions. A size that does not match is damage, and leaves the definition empty. */
static void set_definitions(bool is_new, const struct tide_fields *f, const struct tide_types *types,
                            struct reel_schema *schemas, uint32_t count) {
    struct cursor c = cursor_of(f->format);
    for (uint32_t i = 0; i < count; i++) {
        if (schemas[i].data.data) { /* put together from parts */
            continue;
        }
        const struct tide_type *type = is_new && i < f->n_hashes ? tide_type_find(types, f->hashes[i]) : NULL;
        tide_type_used(types, type);
        struct reel_bytes data = type     ? type->definition
                                 : is_new ? bytes_of("", 0)
                                          : cursor_bytes(&c, schemas[i].data.size);
        schemas[i].data = data.size == schemas[i].data.size ? data : bytes_of("", 0);
    }
}

enum tide_reel tide_reel_read(struct arena *arena, bool is_new, const struct tide_fields *f,
                              const struct tide_types *types, struct reel_channel *out, bool *relative) {
    struct reading r = {.c = cursor_of(f->config), .arena = arena, .types = is_new ? types : NULL};
    struct reel_channel c = {0};
    if (!tide_skip(&r, BEGIN)) {
        return TIDE_REEL_OTHER;
    }
    bool good = read_member(&r, "\"name\":", &c.name) && read_member(&r, ",\"type\":", &c.type) &&
                read_member(&r, ",\"encoding\":", &c.encoding);
    *relative = good && tide_skip(&r, ",\"clock\":\"relative\"");
    c.latched = good && tide_skip(&r, ",\"latched\":true");
    good = good && (!tide_skip(&r, ",\"topics\":[") || read_topics(&r, &c));
    good = good && read_schemas(&r, &c) && read_pairs(&r, &c) && tide_skip(&r, "}}") && cursor_done(&r.c);
    if (!good) {
        return r.no_room ? TIDE_REEL_NO_ROOM : TIDE_REEL_OTHER;
    }
    set_definitions(is_new, f, types, (struct reel_schema *)(uintptr_t)c.schemas, c.n_schemas);
    *out = c;
    return TIDE_REEL_READ;
}
