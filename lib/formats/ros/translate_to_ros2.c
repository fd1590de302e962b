/* Definitions of ROS 1 by the rules of ROS 2. A type that ROS 2 has too gets its definition there, if it can be laid
 * out so; others get their own lines with the words of ROS 2. */
#include "base/ascii.h"
#include "base/number.h"
#include "formats/ros/translate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/ros/definition_link.h"
#include "formats/ros/definition_text.h"
#include "formats/ros/names.h"
#include "syntax/utf8.h"

struct renaming {
    struct ros_translating *t;
    const char **names;      /* in ROS 2, by type of the definition */
    bool *standard;          /* it is a standard type there */
    bool *texted;            /* its text is added */
    struct hash_table taken; /* the names: see ros_free_name() */
};

/* ---- names of types */

/* Can messages of this type be those of the standard type? False with an error: no memory. */
static bool fits_standard(struct ros_translating *t, uint32_t type, const char *name) {
    struct reel_error why = {0};
    uint32_t other;
    if (!ros_definition_find(t->standard, name, &other)) {
        return false;
    }
    AUTO(ros_relay_free) struct ros_relay *relay = ros_relay_new(t->def, type, t->standard, other, &why);
    return relay || (why.code == REEL_NO_MEMORY ? reel_fail_memory(t->err) : false);
}

/* The name of a type that ROS 2 has not: by the rules, and in another package where ROS 2 has a type of that name. */
static const char *own_name(struct renaming *r, uint32_t type) {
    struct ros_translating *t = r->t;
    const char *name = t->def->types[type].name, *slash = strrchr(name, '/'),
               *by_rules = ros2_type_name(t->arena, name);
    if (by_rules && (ros2_standard_name(name) || ros2_standard_text(by_rules))) {
        by_rules = ros2_type_name(t->arena, slash ? slash + 1 : name); /* "ros1_compat/Type" */
        t->out->custom = arena_text(t->arena, name);                   /* which the definition has only for a while */
    }
    return by_rules ? ros_free_name(t->arena, &r->taken, by_rules, "") : NULL;
}

static const char *standard_name(struct renaming *r, const char *name) {
    struct hash_key key = hash_key_bytes(bytes_text(name));
    return hash_table_get(&r->taken, key) || hash_table_set(&r->taken, key, 1, NULL) ? name : NULL;
}

static bool name_type(struct renaming *r, uint32_t type) {
    struct ros_translating *t = r->t;
    const struct ros_definition_type *of = &t->def->types[type];
    if (r->names[type]) {
        return true;
    }
    const char *standard = ros2_standard_name(of->name);
    r->standard[type] = standard && fits_standard(t, type, standard);
    r->names[type] = r->standard[type] ? standard_name(r, standard) : own_name(r, type);
    if (t->err->code != REEL_OK || !r->names[type]) {
        return t->err->code != REEL_OK ? false : reel_fail_memory(t->err);
    }
    if (of->count > ROS_TYPE_FIELDS_MAX) {
        return reel_fail(t->err, REEL_LIMIT, "%.128s has more than %d fields", of->name, ROS_TYPE_FIELDS_MAX);
    }
    for (uint32_t i = 0; i < of->count && !r->standard[type]; i++) {
        const struct ros_definition_step *s = &t->def->steps[of->first + i];
        if (s->kind == ROS_VALUE_TYPE && !name_type(r, s->type)) {
            return false;
        }
    }
    return true;
}

/* ---- lines */

/* ROS 2 cuts comments off before it looks at quotes, so a text with "#" cannot be a constant. */
static void put_string_constant(struct grow *out, const char *name, struct reel_bytes value, bool *lost) {
    bool possible = (value.size == 0 || !memchr(value.data, '#', value.size)) && utf8_valid(value);
    grow_text(out, possible ? "string " : "# constant not representable: ");
    grow_text(out, name);
    grow_text(out, possible ? "=\"" : " = \"");
    for (size_t i = 0; i < value.size && (possible || utf8_valid(value)); i++) {
        if (value.data[i] == '\\' || value.data[i] == '"') {
            grow_u8(out, '\\');
        }
        grow_u8(out, value.data[i]);
    }
    grow_text(out, "\"\n");
    *lost = *lost || !possible;
}

static void ros_translate_to_ros2_put_constant(struct grow *out, const struct ros_line *l, bool *lost) {
    char name[ROS_NAME_ROOM + 8];
    ros2_constant_name(l->name, name, sizeof name);
    if (bytes_is(l->word, "string")) {
        put_string_constant(out, name, l->value, lost);
        return;
    }
    const uint8_t *hash = l->value.size > 0 ? memchr(l->value.data, '#', l->value.size) : NULL;
    struct reel_bytes value = ros_trim(bytes_of(l->value.data, hash ? (size_t)(hash - l->value.data) : l->value.size));
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)(value.size < sizeof text ? value.size : 0), (const char *)value.data);
    bool yes = ascii_casecmp(text, "true") == 0, word = yes || ascii_casecmp(text, "false") == 0,
         is_byte = bytes_is(l->word, "byte");
    double number = yes;
    if ((!word && !number_real(text, &number)) || (is_byte && !(number >= -128 && number <= 255))) {
        *lost = true;
        return;
    }
    if (bytes_is(l->word, "bool")) {
        snprintf(text, sizeof text, "%s", number != 0 ? "true" : "false");
    } else if (is_byte || word) {
        snprintf(text, sizeof text, "%d", (int)number & 255);
    }
    grow_put(out, l->word.data, l->word.size);
    grow_text(out, " ");
    grow_text(out, name);
    grow_text(out, "=");
    grow_text(out, text);
    grow_text(out, "\n");
}

static void ros_translate_to_ros2_put_field(const struct renaming *r, struct grow *out,
                                            const struct ros_definition_step *s, const char *name) {
    char many[16] = "";
    const char *word = s->kind == ROS_VALUE_TYPE       ? r->names[s->type]
                       : s->kind == ROS_VALUE_TIME     ? "builtin_interfaces/Time"
                       : s->kind == ROS_VALUE_DURATION ? "builtin_interfaces/Duration"
                                                       : s->word;
    if (s->many != ROS_ONE) {
        snprintf(many, sizeof many, s->many == ROS_ARRAY ? "[%u]" : "[]", s->count);
    }
    grow_text(out, word);
    grow_text(out, many);
    grow_text(out, " ");
    grow_text(out, name);
    grow_text(out, "\n");
}

static bool ros_translate_to_ros2_put_lines(struct renaming *r, uint32_t type, struct grow *out) {
    struct ros_translating *t = r->t;
    const struct ros_definition_type *of = &t->def->types[type];
    const char *const *names = ros2_field_names(t->arena, t->def, type);
    uint32_t field = 0;
    for (struct reel_bytes rest = of->text; names && rest.size > 0;) {
        struct reel_bytes line = ros_trim(ros_next_line(&rest));
        struct ros_line l;
        if (!ros_line_read(line, &l)) {
            grow_put(out, line.data, utf8_valid(line) ? line.size : 0);
            grow_text(out, utf8_valid(line) ? "\n" : "");
        } else if (l.is_constant) {
            ros_translate_to_ros2_put_constant(out, &l, &t->out->lost_constants);
        } else if (field < of->count) {
            ros_translate_to_ros2_put_field(r, out, &t->def->steps[of->first + field], names[field]);
            field++;
        }
    }
    return (names && !out->failed) || reel_fail_memory(t->err);
}

/* ---- texts */

/* Adds the text of a type of the standard, and of those it needs. */
static bool add_standard(struct ros_translating *t, const char *name) {
    uint32_t type;
    for (size_t i = 0; i < t->texts.count; i++) {
        if (strcmp(t->texts.items[i].name, name) == 0) {
            return true;
        }
    }
    if (!ros_definition_find(t->standard, name, &type) ||
        !ros_texts_add(t, t->standard->types[type].name, t->standard->types[type].text)) {
        return false;
    }
    const struct ros_definition_type *of = &t->standard->types[type];
    for (uint32_t i = 0; i < of->count; i++) {
        const struct ros_definition_step *s = &t->standard->steps[of->first + i];
        if (s->kind == ROS_VALUE_TYPE && !add_standard(t, t->standard->types[s->type].name)) {
            return false;
        }
    }
    return true;
}

static bool ros_translate_to_ros2_add_text(struct renaming *r, uint32_t type) {
    struct ros_translating *t = r->t;
    const struct ros_definition_type *of = &t->def->types[type];
    if (r->texted[type]) {
        return true;
    }
    r->texted[type] = true;
    if (r->standard[type]) {
        return add_standard(t, r->names[type]);
    }
    struct grow text = {0};
    bool good = ros_translate_to_ros2_put_lines(r, type, &text) &&
                ros_texts_add(t, r->names[type], bytes_of(text.data, text.size));
    free(text.data);
    for (uint32_t i = 0; good && i < of->count; i++) {
        const struct ros_definition_step *s = &t->def->steps[of->first + i];
        good = s->kind == ROS_VALUE_TYPE       ? ros_translate_to_ros2_add_text(r, s->type)
               : s->kind == ROS_VALUE_TIME     ? add_standard(t, "builtin_interfaces/Time")
               : s->kind == ROS_VALUE_DURATION ? add_standard(t, "builtin_interfaces/Duration")
                                               : true;
    }
    return good;
}

bool ros_texts_to_ros2(struct ros_translating *t) {
    size_t n = t->def->n_types;
    struct renaming r = {.t = t,
                         .names = arena_alloc(t->arena, n * sizeof *r.names),
                         .standard = arena_alloc(t->arena, n * sizeof *r.standard),
                         .texted = arena_alloc(t->arena, n * sizeof *r.texted)};
    if (!r.names || !r.standard || !r.texted) {
        return reel_fail_memory(t->err);
    }
    bool good = name_type(&r, t->def->top) && ros_translate_to_ros2_add_text(&r, t->def->top);
    hash_table_free(&r.taken);
    return good;
}
