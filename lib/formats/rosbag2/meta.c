/* Reads metadata.yaml with libyaml's event parser. Nothing is built in memory but the known values: a value is
 * recognised by the path of keys that leads to it. Aliases are not followed, so a small file cannot expand to a large
 * one. */
#include "formats/rosbag2/container.h"

#include <errno.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/bytes.h"
#include "base/grow.h"

enum {
    DEPTH_KNOWN = 6,
    DEPTH_MAX = 32, /* libyaml visits every open level for each value */
    EVENTS_MAX = 4 << 20,
    TOPICS_MAX = REEL_CHANNELS_MAX,
};

struct level { /* a map or a list that is open */
    bool map, key_next;
    const char *key; /* the last one; "[]" in a list */
};
struct reading {
    struct rosbag2_meta *meta;
    struct arena *arena;
    struct level levels[DEPTH_KNOWN]; /* the outermost levels; deeper ones hold no known value */
    unsigned depth;
    bool full; /* too many values, or no memory */
    bool no_memory;
};

/* Where a value is stored. `path` is the keys that lead to it, below the root. */
struct known_value {
    const char *path[DEPTH_KNOWN];
    void (*take)(struct reading *r, const char *text);
};

static struct rosbag2_meta_topic *last_topic(const struct reading *r) {
    return r->meta->n_topics > 0 ? &r->meta->topics[r->meta->n_topics - 1] : NULL;
}
static bool rosbag2_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

static void take_version(struct reading *r, const char *text) {
    r->meta->version = text;
}
static void take_storage(struct reading *r, const char *text) {
    r->meta->storage = text;
}
static void take_mode(struct reading *r, const char *text) {
    r->meta->compression_mode = text;
}
static void take_format(struct reading *r, const char *text) {
    r->meta->compression_format = text;
}
static void take_distro(struct reading *r, const char *text) {
    r->meta->distro = text;
}
static void take_count(struct reading *r, const char *text) {
    r->meta->counted = rosbag2_number(text, &r->meta->messages);
}
static bool rosbag2_has_room(struct reading *r, bool grown) {
    r->full |= !grown;
    r->no_memory |= !grown;
    return grown;
}
static void take_path(struct reading *r, const char *text) {
    r->full |= r->meta->n_paths >= REEL_PARTS_MAX;
    if (!r->full && rosbag2_has_room(r, GROW_ARRAY(r->meta->paths, r->meta->n_paths, r->meta->cap_paths))) {
        r->meta->paths[r->meta->n_paths++] = text;
    }
}
static void take_custom(struct reading *r, const char *text) {
    struct reel_pairs *custom = &r->meta->custom;
    r->full |= custom->count >= REEL_METADATA_MAX / 2;
    if (!r->full && rosbag2_has_room(r, GROW_ARRAY(custom->items, custom->count, r->meta->cap_custom))) {
        custom->items[custom->count++] = (struct reel_pair){.key = r->levels[r->depth - 1].key, .value = text};
    }
}
static void take_topic_name(struct reading *r, const char *text) {
    last_topic(r)->name = text;
}
static void take_topic_type(struct reading *r, const char *text) {
    last_topic(r)->type = text;
}
static void take_topic_serialization(struct reading *r, const char *text) {
    last_topic(r)->serialization = text;
}
static void take_topic_qos(struct reading *r, const char *text) {
    last_topic(r)->qos = text;
}
static void take_topic_hash(struct reading *r, const char *text) {
    last_topic(r)->hash = text;
}
static void take_topic_count(struct reading *r, const char *text) {
    last_topic(r)->counted = rosbag2_number(text, &last_topic(r)->count);
}

#define TOPICS "topics_with_message_count"
#define TOPIC "topic_metadata"
#define TOPIC_OLD "topic_and_type" /* until November 2018 */
static const struct known_value known_values[] = {
    {{"version"}, take_version},
    {{"storage_identifier"}, take_storage},
    {{"compression_mode"}, take_mode},
    {{"compression_format"}, take_format},
    {{"ros_distro"}, take_distro},
    {{"message_count"}, take_count},
    {{"relative_file_paths", "[]"}, take_path},
    {{"custom_data", "*"}, take_custom},
    {{TOPICS, "[]", "message_count"}, take_topic_count},
    {{TOPICS, "[]", TOPIC, "name"}, take_topic_name},
    {{TOPICS, "[]", TOPIC, "type"}, take_topic_type},
    {{TOPICS, "[]", TOPIC, "serialization_format"}, take_topic_serialization},
    {{TOPICS, "[]", TOPIC, "offered_qos_profiles"}, take_topic_qos},
    {{TOPICS, "[]", TOPIC, "type_description_hash"}, take_topic_hash},
    {{TOPICS, "[]", TOPIC_OLD, "name"}, take_topic_name},
    {{TOPICS, "[]", TOPIC_OLD, "type"}, take_topic_type},
    {{TOPICS, "[]", TOPIC_OLD, "serialization_format"}, take_topic_serialization},
};

/* True when the open levels match all of `path`. The root key of metadata.yaml is missing in the copy in the table
 * metadata. */
static bool path_matches(const struct reading *r, const char *const *path) {
    if (r->depth == 0 || r->depth > DEPTH_KNOWN || !r->levels[0].key) {
        return false;
    }
    unsigned root = strcmp(r->levels[0].key, ROSBAG2_YAML_ROOT) == 0;
    for (unsigned i = root; i < r->depth; i++) {
        const char *key = r->levels[i].key, *expected = path[i - root];
        if (!expected || !key || (strcmp(expected, "*") != 0 && strcmp(expected, key) != 0)) {
            return false;
        }
    }
    return r->depth - root == DEPTH_KNOWN || path[r->depth - root] == NULL;
}

static void take_scalar(struct reading *r, const yaml_event_t *event) {
    struct level *top = r->depth > 0 && r->depth <= DEPTH_KNOWN ? &r->levels[r->depth - 1] : NULL;
    if (!top) {
        return;
    }
    struct reel_bytes raw = bytes_of(event->data.scalar.value, event->data.scalar.length);
    bool is_key = top->map && top->key_next;
    if (is_key) {
        top->key_next = false;
        top->key = raw.size <= REEL_TEXT_MAX ? arena_utf8(r->arena, raw) : "";
        r->full |= top->key == NULL;
        return;
    }
    top->key_next = true;
    bool plain_null =
        event->data.scalar.plain_implicit && (raw.size == 0 || bytes_is(raw, "~") || bytes_is(raw, "null"));
    for (size_t i = 0; i < sizeof known_values / sizeof *known_values && !plain_null; i++) {
        if (path_matches(r, known_values[i].path)) {
            const char *text = raw.size <= REEL_SCHEMA_MAX ? arena_utf8(r->arena, raw) : NULL;
            r->full |= text == NULL;
            if (text) {
                known_values[i].take(r, text);
            }
            return;
        }
    }
}

static void open_level(struct reading *r, bool map) {
    static const char *const topics[DEPTH_KNOWN] = {TOPICS, "[]"};
    if (map && path_matches(r, topics)) {
        struct rosbag2_meta *m = r->meta;
        r->full |= m->n_topics >= TOPICS_MAX;
        if (r->full || !rosbag2_has_room(r, GROW_ARRAY(m->topics, m->n_topics, m->cap_topics))) {
            return;
        }
        m->topics[m->n_topics++] = (struct rosbag2_meta_topic){0};
    }
    if (r->depth < DEPTH_KNOWN) {
        r->levels[r->depth] = (struct level){.map = map, .key_next = map, .key = map ? NULL : "[]"};
    }
    r->full |= ++r->depth > DEPTH_MAX;
}
static void close_level(struct reading *r) {
    r->depth -= r->depth > 0;
    if (r->depth > 0 && r->depth <= DEPTH_KNOWN) { /* it was a value, or stood where a key was expected */
        r->levels[r->depth - 1].key_next = true;
    }
}

/* Handles one event. False at the end of the text, or at damage. */
static bool take_event(struct reading *r, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        take_scalar(r, event);
        return true;
    case YAML_ALIAS_EVENT:
        if (r->depth > 0 && r->depth <= DEPTH_KNOWN) {
            r->levels[r->depth - 1].key_next = !r->levels[r->depth - 1].key_next;
        }
        return true;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        open_level(r, event->type == YAML_MAPPING_START_EVENT);
        return true;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_level(r);
        return true;
    case YAML_DOCUMENT_END_EVENT:
    case YAML_STREAM_END_EVENT:
        return false;
    default:
        return true;
    }
}

bool rosbag2_meta_read(struct rosbag2_meta *meta, struct arena *arena, struct reel_bytes yaml, struct reel_error *err) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        return reel_fail_memory(err);
    }
    yaml_parser_set_input_string(&parser, yaml.data, yaml.size);
    struct reading r = {.meta = meta, .arena = arena};
    bool good = true;
    for (unsigned i = 0, more = 1; good && more && !r.full && i < EVENTS_MAX; i++) {
        yaml_event_t event;
        good = yaml_parser_parse(&parser, &event) == 1;
        if (!good && (parser.error == YAML_MEMORY_ERROR || parser.error == YAML_NO_ERROR)) {
            r.no_memory = true; /* of which libyaml does not always say so */
            break;
        }
        if (!good) {
            reel_fail(err, REEL_DAMAGED, "line %zu: %s", parser.problem_mark.line + 1,
                      parser.problem ? parser.problem : "no YAML");
            break;
        }
        more = take_event(&r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (r.no_memory || arena->no_memory) {
        return reel_fail_memory(err);
    }
    if (r.full) {
        return reel_fail(err, REEL_LIMIT, "it holds more than is taken");
    }
    meta->present = meta->version || meta->storage || meta->n_topics > 0 || meta->n_paths > 0;
    return good && (meta->present || reel_fail(err, REEL_DAMAGED, "it holds no " ROSBAG2_YAML_ROOT));
}

void rosbag2_meta_free(struct rosbag2_meta *meta) {
    free(meta->topics);
    free(meta->paths);
    free(meta->custom.items);
}
