/* Definitions of ROS 2 by the rules of ROS 1: the reverse of translate_to_ros2.c. The types of the standard get the
 * texts of ROS 1, whose constants decide their MD5 sums. */
#include "formats/ros/translate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/ros/definition_link.h"
#include "formats/ros/definition_text.h"
#include "formats/ros/names.h"

static bool is_stamp(const struct ros_definition *d, uint32_t type) {
    return d->types[type].stamp != ROS_NO_STAMP;
}

/* ---- lines */

/* A word of one type without brackets and bounds. */
static const char *word_of(struct ros_translating *t, const struct ros_definition *def,
                           const struct ros_definition_step *s) {
    static const char *const numbers[] = {
        [REEL_BOOL] = "bool",  [REEL_I8] = "int8",     [REEL_U8] = "uint8",   [REEL_I16] = "int16",
        [REEL_U16] = "uint16", [REEL_I32] = "int32",   [REEL_U32] = "uint32", [REEL_I64] = "int64",
        [REEL_U64] = "uint64", [REEL_F32] = "float32", [REEL_F64] = "float64"};
    if (s->kind == ROS_VALUE_TYPE) {
        const struct ros_definition_type *of = &def->types[s->type];
        const char *name = of->stamp == ROS_TIME       ? "time"
                           : of->stamp == ROS_DURATION ? "duration"
                                                       : ros_short_name(t->arena, of->name, t->err);
        return name ? ros1_standard_name(name) : NULL;
    }
    bool byte = strcmp(s->word, "byte") == 0 || strcmp(s->word, "octet") == 0, letter = strcmp(s->word, "char") == 0;
    return byte                           ? "byte"
           : letter && s->kind == REEL_U8 ? "char"
           : ros_definition_is_number(s)  ? numbers[s->kind]
                                          : "string";
}

static bool ros_translate_to_ros1_put_field(struct ros_translating *t, const struct ros_definition *def,
                                            const struct ros_definition_step *s, struct grow *out) {
    const char *word = word_of(t, def, s);
    char many[16] = "";
    if (s->many != ROS_ONE) {
        snprintf(many, sizeof many, s->many == ROS_ARRAY ? "[%u]" : "[]", s->count);
    }
    if (word) {
        grow_text(out, word);
        grow_text(out, many);
        grow_text(out, " ");
        grow_put(out, s->key.data, s->key.size);
        grow_text(out, "\n");
    }
    return word;
}

/* The text of a string constant of ROS 2: without its quotes and backslashes. */
static void put_unquoted(struct grow *out, struct reel_bytes value) {
    char quote = value.size > 1 && (value.data[0] == '"' || value.data[0] == '\'') ? (char)value.data[0] : '\0';
    for (size_t i = quote != 0; i < value.size; i++) {
        char c = (char)value.data[i];
        if (quote && c == quote) {
            return;
        }
        if (quote && c == '\\' && i + 1 < value.size) {
            c = (char)value.data[++i];
        }
        grow_u8(out, (uint8_t)c);
    }
}

static void ros_translate_to_ros1_put_constant(struct grow *out, const struct ros_line *l) {
    bool text = bytes_start(l->word, bytes_text("string")) || bytes_start(l->word, bytes_text("wstring"));
    if (text) {
        grow_text(out, "string");
    } else {
        grow_put(out, l->word.data, l->word.size);
    }
    grow_text(out, " ");
    grow_put(out, l->name.data, l->name.size);
    grow_text(out, "=");
    if (text) {
        put_unquoted(out, l->value);
        grow_text(out, "\n");
        return;
    }
    const uint8_t *hash = l->value.size > 0 ? memchr(l->value.data, '#', l->value.size) : NULL;
    struct reel_bytes value = ros_trim(bytes_of(l->value.data, hash ? (size_t)(hash - l->value.data) : l->value.size));
    uint8_t number = value.size == 3
                         ? (uint8_t)((value.data[0] - '0') * 100 + (value.data[1] - '0') * 10 + (value.data[2] - '0'))
                         : 0;
    if (bytes_is(value, "true") || bytes_is(value, "false")) {
        grow_text(out, bytes_is(value, "true") ? "1" : "0");
    } else if (bytes_is(l->word, "byte") && number > INT8_MAX) { /* which has a sign here */
        char negative[8];
        snprintf(negative, sizeof negative, "%d", (int8_t)number);
        grow_text(out, negative);
    } else {
        grow_put(out, value.data, value.size);
    }
    grow_text(out, "\n");
}

/* The same type of the standard, by the names of its fields: it has its constants, which a text of another program may
 * lack, and IDL. */
static void find_standard(const struct ros_translating *t, const struct ros_definition **def, uint32_t *type,
                          const char *name) {
    const struct ros_definition_type *own = &t->def->types[*type];
    uint32_t other = 0;
    bool same = ros_definition_find(t->standard, name, &other) && t->standard->types[other].count == own->count;
    for (uint32_t i = 0; i < own->count && same; i++) {
        same =
            bytes_equal(t->def->steps[own->first + i].key, t->standard->steps[t->standard->types[other].first + i].key);
    }
    if (same) {
        *def = t->standard;
        *type = other;
    }
}

static bool ros_translate_to_ros1_put_lines(struct ros_translating *t, const struct ros_definition *def, uint32_t type,
                                            struct grow *out) {
    const struct ros_definition_type *of = &def->types[type];
    uint32_t field = 0;
    struct ros_line l;
    for (struct reel_bytes rest = of->text; rest.size > 0;) {
        if (!ros_line_read(ros_next_line(&rest), &l)) {
            continue;
        }
        if (l.is_constant) {
            ros_translate_to_ros1_put_constant(out, &l);
        } else if (field < of->count &&
                   !ros_translate_to_ros1_put_field(t, def, &def->steps[of->first + field++], out)) {
            return false;
        }
    }
    for (; field < of->count; field++) { /* IDL, which has no lines */
        const struct ros_definition_step *s = &def->steps[of->first + field];
        if (!s->hidden && !ros_translate_to_ros1_put_field(t, def, s, out)) {
            return false;
        }
    }
    return !out->failed || reel_fail_memory(t->err);
}

/* ---- texts */

static bool has_text(const struct ros_translating *t, const char *name) {
    for (size_t i = 0; i < t->texts.count; i++) {
        if (strcmp(t->texts.items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool ros_translate_to_ros1_add_text(struct ros_translating *t, uint32_t type, bool originals) {
    const struct ros_definition_type *of = &t->def->types[type];
    const char *name = ros_short_name(t->arena, of->name, t->err);
    const char *ros2_name = name;
    name = name ? ros1_standard_name(name) : NULL;
    if (!name || has_text(t, name)) {
        return name;
    }
    const char *original = originals || strcmp(name, "std_msgs/Header") == 0 ? ros1_standard_text(name) : NULL;
    const struct ros_definition *def = t->def;
    uint32_t lines = type;
    if (originals) {
        find_standard(t, &def, &lines, ros2_name);
    }
    struct grow text = {0};
    bool good = original || is_stamp(t->def, type) || ros_translate_to_ros1_put_lines(t, def, lines, &text);
    original = is_stamp(t->def, type) ? (of->stamp == ROS_TIME ? "time data\n" : "duration data\n") : original;
    good = good && ros_texts_add(t, name, original ? bytes_text(original) : bytes_of(text.data, text.size));
    free(text.data);
    for (uint32_t i = 0; good && i < of->count; i++) {
        const struct ros_definition_step *s = &t->def->steps[of->first + i];
        good = s->kind != ROS_VALUE_TYPE || is_stamp(t->def, s->type) ||
               ros_translate_to_ros1_add_text(t, s->type, originals);
    }
    /* the header of a log is a time in ROS 2 */
    return good && (!original || !strstr(original, "Header header") || has_text(t, "std_msgs/Header") ||
                    ros_texts_add(t, "std_msgs/Header", bytes_text(ros1_standard_text("std_msgs/Header"))));
}

bool ros_texts_to_ros1(struct ros_translating *t, bool originals) {
    return ros_translate_to_ros1_add_text(t, t->def->top, originals);
}
