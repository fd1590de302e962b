/* Writes keys and values of an MCAP file: metadata of channels, and of the recording as Metadata records. Properties
 * that MCAP has no field for go into the channel's metadata under "reel.…", so that pairs.c can restore them. */
#include "decode/encoding.h"
#include "formats/mcap/write.h"

#include "base/channel.h"
#include "base/cleanup.h"
#include "formats/ros/rename.h"

#include <stdio.h>
#include <stdlib.h>

struct key_position {
    const char *key;
    size_t position;
};
static int compare_keys(const void *a, const void *b) {
    return strcmp(((const struct key_position *)a)->key, ((const struct key_position *)b)->key);
}
static int compare_places(const void *a, const void *b) {
    const struct key_position *l = a, *r = b;
    int order = compare_keys(a, b);
    return order ? order : (l->position > r->position) - (l->position < r->position);
}

/* An MCAP map holds each key once, Reel's metadata may repeat it: the second "dc:Creator" becomes "dc:Creator#2", and
 * so on. */
static bool number_keys(struct arena *arena, struct reel_pairs pairs, struct reel_error *err) {
    AUTO_MEM struct key_position *keys = calloc(pairs.count + 1, sizeof *keys);
    if (!keys) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < pairs.count; i++) {
        keys[i] = (struct key_position){.key = pairs.items[i].key, .position = i};
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
        do { /* each number already taken is tried once, so this stays short */
            snprintf(name, room, "%s#%u", keys[i].key, ++number);
        } while (bsearch(&(struct key_position){.key = name}, keys, pairs.count, sizeof *keys, compare_keys));
        pairs.items[keys[i].position].key = name;
    }
    return true;
}

/* ---- channels ---- */

static void mcap_keys_add_pair(struct reel_pairs *pairs, const char *key, const char *value) {
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

/* The topics of a channel, one per line; NULL: only its own name. */
static bool topic_lines(struct arena *arena, const struct reel_channel *c, const char **out, struct reel_error *err) {
    *out = NULL;
    if (channel_is_one_topic(c)) {
        return true;
    }
    size_t room = 0;
    for (uint32_t i = 0; i < c->n_topics; i++) {
        room += strlen(c->topics[i]) + 1;
    }
    char *text = arena_alloc(arena, room), *to = text;
    for (uint32_t i = 0; text && i < c->n_topics; i++) {
        to = stpcpy(to, c->topics[i]);
        *to++ = i + 1 < c->n_topics ? '\n' : '\0';
    }
    *out = text;
    return text || reel_fail_memory(err);
}

/* The value of "reel.schemas": "none" or "empty" when the schema record says more than the channel's schema; ids when
 * the channel has several schemas; NULL when the record is the channel's only schema. */
static bool schema_list(struct arena *arena, const struct reel_channel *c, const struct mcap_schemas *schemas,
                        const char **out, struct reel_error *err) {
    enum { DIGITS = 6 };
    *out = c->n_schemas == 1 && schemas->empty ? "empty" : c->n_schemas == 0 && schemas->made_up ? "none" : NULL;
    if (c->n_schemas < 2) {
        return true;
    }
    char *text = arena_alloc(arena, (size_t)c->n_schemas * DIGITS + 1);
    for (uint32_t i = 0, used = 0; text && i < c->n_schemas; i++) {
        used += (uint32_t)snprintf(text + used, DIGITS + 1, i > 0 ? " %u" : "%u", schemas->ids[i]);
    }
    *out = text;
    return text || reel_fail_memory(err);
}

/* Adds the hashes of the schemas. The only hash of a ROS 1 channel is an MD5 sum. */
static bool add_hashes(struct arena *arena, const struct reel_channel *c, bool ros1, const char *md5,
                       struct reel_pairs *out, struct reel_error *err) {
    enum { ROOM = 24 };
    bool is_md5 = ros1 && c->n_schemas == 1;
    if (md5) {
        mcap_keys_add_pair(out, "md5sum", md5);
    }
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        char *key = c->schemas[i].hash[0] != '\0' && i > 0 ? arena_alloc(arena, ROOM) : NULL;
        if (c->schemas[i].hash[0] == '\0') {
            continue;
        }
        if (i > 0) {
            if (!key) {
                return reel_fail_memory(err);
            }
            snprintf(key, ROOM, "reel.hash.%u", i);
        }
        mcap_keys_add_pair(out, key ? key : is_md5 ? "md5sum" : "reel.hash", c->schemas[i].hash);
    }
    return true;
}

bool mcap_channel_pairs(struct arena *arena, const struct reel_channel *c, const struct mcap_schemas *schemas,
                        struct reel_pairs *out, struct reel_error *err) {
    enum { OWN = 7 };
    bool ros1 = reel_channel_has_profile(c, "ros1");
    const char *topics, *list;
    out->items = arena_alloc(arena, (c->metadata.count + c->n_schemas + OWN) * sizeof *out->items);
    if (!out->items || !topic_lines(arena, c, &topics, err) || !schema_list(arena, c, schemas, &list, err)) {
        return out->items || reel_fail_memory(err);
    }
    if (ros1 || c->latched) { /* as in profile ros1 */
        mcap_keys_add_pair(out, "latching", c->latched ? "true" : "false");
    }
    if (!add_hashes(arena, c, ros1, schemas->md5, out, err)) {
        return false;
    }
    if (strcmp(mcap_message_encoding(c), c->encoding) != 0) {
        mcap_keys_add_pair(out, "reel.encoding", c->encoding);
    }
    if (strcmp(schemas->name, c->type) != 0) {
        mcap_keys_add_pair(out, "reel.type", c->type);
    }
    if (schemas->encoding_assumed) {
        mcap_keys_add_pair(out, "reel.schema_encoding", "");
    }
    if (list) {
        mcap_keys_add_pair(out, "reel.schemas", list);
    }
    if (topics) {
        mcap_keys_add_pair(out, "reel.topics", topics);
    }
    size_t own = out->count;
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (!holds_key(out, own, c->metadata.items[i].key)) {
            mcap_keys_add_pair(out, c->metadata.items[i].key, c->metadata.items[i].value);
        }
    }
    return number_keys(arena, *out, err);
}

/* ---- the recording ---- */

/* Length of "NAME" and its colon in a key "NAME:key"; 0: the key has none. */
static size_t prefix_of(const char *key) {
    const char *colon = strchr(key, ':');
    return colon ? (size_t)(colon - key) : 0;
}

/* For each pair, the index of the previous pair with the same key; SIZE_MAX: none. */
static bool find_repeats(const struct reel_pairs *from, size_t *before, struct reel_error *err) {
    AUTO_MEM struct key_position *keys = calloc(from->count + 1, sizeof *keys);
    if (!keys) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < from->count; i++) {
        keys[i] = (struct key_position){.key = from->items[i].key, .position = i};
    }
    qsort(keys, from->count, sizeof *keys, compare_places);
    for (size_t i = 0; i < from->count; i++) {
        before[keys[i].position] = i > 0 && compare_keys(&keys[i - 1], &keys[i]) == 0 ? keys[i - 1].position : SIZE_MAX;
    }
    return true;
}

/* Adds one record for consecutive pairs with one name; a repeated key starts the next record of that name. */
static bool add_named(struct arena *arena, const struct reel_pairs *from, size_t first, size_t end, size_t prefix,
                      struct mcap_metadata *out, struct reel_error *err) {
    char *name = arena_alloc(arena, prefix + 1);
    out->pairs.items = arena_alloc(arena, (end - first) * sizeof *out->pairs.items);
    if (!name || !out->pairs.items) {
        return reel_fail_memory(err);
    }
    memcpy(name, from->items[first].key, prefix);
    out->name = name;
    for (size_t i = first; i < end; i++) {
        const char *key = from->items[i].key + prefix + 1;
        if (end - first > 1 || key[0] != '\0' || from->items[i].value[0] != '\0') { /* "NAME:" alone stands for a record
                                                                                       without pairs */
            mcap_keys_add_pair(&out->pairs, key, from->items[i].value);
        }
    }
    return true;
}

/* Adds the Metadata records that an MCAP file's metadata was read from. */
static bool add_all_named(struct arena *arena, const struct reel_pairs *from, struct mcap_metadata *records,
                          uint32_t *count, struct reel_error *err) {
    AUTO_MEM size_t *before = calloc(from->count + 1, sizeof *before);
    if (!before) {
        return reel_fail_memory(err);
    }
    if (!find_repeats(from, before, err)) {
        return false;
    }
    for (size_t i = 0, end; i < from->count; i = end) {
        size_t prefix = prefix_of(from->items[i].key);
        for (end = i + 1; end < from->count && prefix_of(from->items[end].key) == prefix &&
                          strncmp(from->items[end].key, from->items[i].key, prefix) == 0 &&
                          (before[end] == SIZE_MAX || before[end] < i);
             end++) {
        }
        if (prefix > 0 && !add_named(arena, from, i, end, prefix, &records[(*count)++], err)) {
            return false;
        }
    }
    return true;
}

bool mcap_file_metadata(struct arena *arena, const struct reel_pairs *from, bool named, struct mcap_metadata *records,
                        uint32_t *count, struct reel_error *err) {
    struct reel_pairs own = {.items = arena_alloc(arena, (from->count + 1) * sizeof *own.items)};
    if (!own.items) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < from->count; i++) {
        if (!named || prefix_of(from->items[i].key) == 0) {
            mcap_keys_add_pair(&own, from->items[i].key, from->items[i].value);
        }
    }
    if (own.count > 0) {
        records[(*count)++] = (struct mcap_metadata){.name = MCAP_METADATA_NAME, .pairs = own};
        if (!number_keys(arena, own, err)) {
            return false;
        }
    }
    return !named || add_all_named(arena, from, records, count, err);
}
