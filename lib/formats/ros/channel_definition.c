/* See definition.h. */
#include "formats/ros/channel_definition.h"

#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "formats/ros/assume.h"
#include "formats/ros/text.h"
#include "syntax/protobuf.h"

struct join {
    struct arena *arena;
    struct grow out;
    struct hash_table known; /* names of the types or files in `out` */
    enum ros_language language;
    struct reel_error *err;
};

/* *is_new: the name was not in the set before. */
static bool ros_add_name(struct join *j, struct reel_bytes name, bool *is_new) {
    *is_new = hash_table_get(&j->known, hash_key_bytes(name)) == 0;
    if (!*is_new) {
        return true;
    }
    const uint8_t *kept = arena_copy(j->arena, name.data, name.size);
    return kept ? hash_table_set(&j->known, hash_key_bytes(bytes_of(kept, name.size)), 1, j->err)
                : reel_fail_memory(j->err);
}

static bool check_size(struct join *j) {
    if (j->out.failed) {
        return reel_fail_memory(j->err);
    }
    return j->out.size <= REEL_SCHEMA_MAX ||
           reel_fail(j->err, REEL_LIMIT, "a definition that exceeds %d bytes with its dependencies", REEL_SCHEMA_MAX);
}

/* ---- ROS */

static void ros_put_text(struct join *j, const char *text) {
    grow_put(&j->out, text, strlen(text));
}

static void put_section(struct join *j, const char *heading, const char *name, struct reel_bytes text) {
    static const char line[] = "================================================================================\n";
    while (text.size > 0 && (text.data[text.size - 1] == '\n' || ros_is_blank(text.data[text.size - 1]))) {
        text.size--;
    }
    ros_put_text(j, j->out.size > 0 && j->out.data[j->out.size - 1] != '\n' ? "\n\n" : "\n");
    ros_put_text(j, line);
    ros_put_text(j, heading);
    ros_put_text(j, " ");
    ros_put_text(j, name);
    ros_put_text(j, "\n");
    grow_put(&j->out, text.data, text.size);
    ros_put_text(j, text.size > 0 ? "\n" : "");
}

static bool only_blanks(struct reel_bytes text) {
    while (text.size > 0 && (text.data[0] == '\n' || ros_is_blank(text.data[0]))) {
        text = bytes_of(text.data + 1, text.size - 1);
    }
    return text.size == 0;
}

/* Appends the types of one schema. The types of the channel's own schema are in `out` already: only their names are
 * recorded. */
static bool add_types(struct join *j, const struct reel_schema *s, bool own) {
    struct ros_sections sections = {.rest = s->data, .heading = ros_heading(j->language)};
    struct ros_section section;
    for (bool first = true; ros_sections_next(&sections, &section); first = false) {
        char name[ROS_NAME_ROOM];
        bool heading_follows = first && !sections.ended && only_blanks(section.text); /* some writers put a heading
                                                                                         before the first type too */
        if (heading_follows ||
            !ros_type_name(first ? bytes_text(s->name) : section.name, j->language == ROS_LANGUAGE_IDL, name)) {
            continue;
        }
        bool is_new;
        if (!ros_add_name(j, bytes_text(name), &is_new)) {
            return false;
        }
        if (is_new && !own) {
            put_section(j, section.heading, name, section.text);
        }
        if (!check_size(j)) {
            return false;
        }
    }
    return true;
}

static bool join_ros(struct join *j, const struct reel_channel *c, const struct reel_schema *own) {
    grow_put(&j->out, own->data.data, own->data.size);
    if (!add_types(j, own, true)) {
        return false;
    }
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        const struct reel_schema *s = &c->schemas[i];
        if (s != own && ros_language_of(c, s) == j->language && ros_is_defined(s, s->name) && !add_types(j, s, false)) {
            return false;
        }
    }
    return true;
}

/* ---- protobuf */

enum { SET_FILE = 1, FILE_NAME = 1 }; /* fields of FileDescriptorSet and FileDescriptorProto */

static void ros_put_varint(struct join *j, uint64_t v) {
    for (; v > 127; v >>= 7) {
        grow_u8(&j->out, (uint8_t)(v | 128));
    }
    grow_u8(&j->out, (uint8_t)v);
}

static struct reel_bytes file_name(struct reel_bytes file) {
    struct cursor c = cursor_of(file);
    struct proto_field f;
    while (proto_next(&c, &f)) {
        if (f.number == FILE_NAME && f.wire == PROTO_BYTES) {
            return f.bytes;
        }
    }
    return bytes_of("", 0);
}

static bool add_files(struct join *j, struct reel_bytes set) {
    struct cursor c = cursor_of(set);
    struct proto_field f;
    while (proto_next(&c, &f)) {
        bool is_new = false;
        if (f.number == SET_FILE && f.wire == PROTO_BYTES && !ros_add_name(j, file_name(f.bytes), &is_new)) {
            return false;
        }
        if (is_new) {
            ros_put_varint(j, SET_FILE << 3 | PROTO_BYTES);
            ros_put_varint(j, f.bytes.size);
            grow_put(&j->out, f.bytes.data, f.bytes.size);
        }
        if (!check_size(j)) {
            return false;
        }
    }
    return true;
}

static bool is_set(const struct reel_schema *s) {
    return strcmp(s->encoding, "protobuf") == 0 && s->data.size > 0;
}

static bool join_sets(struct join *j, const struct reel_channel *c, const struct reel_schema *own) {
    if (!add_files(j, own->data)) {
        return false;
    }
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        if (&c->schemas[i] != own && is_set(&c->schemas[i]) && !add_files(j, c->schemas[i].data)) {
            return false;
        }
    }
    return true;
}

/* ---- the channel */

/* False when there is nothing to join: a set with one file, or another language. */
static bool joins(const struct join *j, const struct reel_channel *c, const struct reel_schema *own) {
    uint32_t others = 0;
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        const struct reel_schema *s = &c->schemas[i];
        others += s != own && (j->language ? ros_language_of(c, s) == j->language : is_set(own) && is_set(s));
    }
    return others > 0;
}

bool channel_definition(struct arena *arena, const struct reel_channel *c, struct reel_bytes *out,
                        struct reel_error *err) {
    const struct reel_schema *own = reel_channel_schema(c);
    struct reel_bytes assumed;
    if (!ros_assumed_text(arena, c, &assumed, err)) {
        return false;
    }
    *out = assumed.size > 0 ? assumed : own ? own->data : bytes_of("", 0);
    struct join j = {.arena = arena, .err = err, .language = own ? ros_language_of(c, own) : ROS_LANGUAGE_OTHER};
    if (!own || !joins(&j, c, own) || (j.language && !ros_is_defined(own, own->name))) {
        return true;
    }
    bool good = j.language ? join_ros(&j, c, own) : join_sets(&j, c, own);
    const uint8_t *kept = good ? arena_copy(arena, j.out.data, j.out.size) : NULL;
    if (kept) {
        *out = bytes_of(kept, j.out.size);
    }
    free(j.out.data);
    hash_table_free(&j.known);
    return kept || (good ? reel_fail_memory(err) : false);
}
