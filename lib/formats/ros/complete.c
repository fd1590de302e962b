/* See complete.h. Types are found by their names in the fields of those that are there already, starting with the
 * message itself. */
#include "formats/ros/complete.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "decode/own_definitions.h"
#include "formats/ros/definition_text.h"
#include "formats/ros/idl_messages.h"
#include "formats/ros/interfaces.h"

struct named_text {
    const char *name; /* "pkg/Type" */
    struct reel_bytes text;
    bool is_added;
};

struct completing {
    struct arena *arena;
    enum ros_dialect dialect;
    enum ros_distribution distribution;
    bool uses_own;
    struct named_text *texts; /* recorded ones first */
    size_t n, room, added_bytes;
    struct hash_table names;  /* of texts: "pkg/Type" */
    struct hash_table shorts; /* of recorded texts: "Type" */
    enum ros_source source;
    bool varies;
    struct reel_error *err;
};
static void completing_done(struct completing *c) {
    free(c->texts);
    hash_table_free(&c->names);
    hash_table_free(&c->shorts);
}

/* ---- texts */

static struct hash_key key_of_name(const char *name) {
    return hash_key_bytes(bytes_text(name));
}
static const char *last_part(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static bool add_text(struct completing *c, const char *name, struct reel_bytes text, bool is_added) {
    if (hash_table_get(&c->names, key_of_name(name))) {
        return true;
    }
    const char *kept = arena_text(c->arena, name);
    if (!kept || !GROW_ARRAY(c->texts, c->n, c->room)) {
        return reel_fail_memory(c->err);
    }
    c->texts[c->n++] = (struct named_text){.name = kept, .text = text, .is_added = is_added};
    c->added_bytes += is_added ? text.size + strlen(kept) : 0;
    if (c->added_bytes > REEL_COMPLETED_MAX || c->n > REEL_DEFINITION_TYPES_MAX) {
        return reel_fail(c->err, REEL_LIMIT, "more than %d bytes or %d types would complete the definition",
                         REEL_COMPLETED_MAX, REEL_DEFINITION_TYPES_MAX);
    }
    return hash_table_set(&c->names, key_of_name(kept), 1, c->err) &&
           (is_added || hash_table_set(&c->shorts, key_of_name(last_part(kept)), 1, c->err));
}

/* Adds the sections of a text whose first type is `top`. */
static bool add_sections(struct completing *c, const char *top, struct reel_bytes text, bool is_added) {
    struct ros_sections sections = {.rest = text, .heading = ros_heading(ROS_LANGUAGE_MSG)};
    struct ros_section s;
    char name[ROS_NAME_ROOM];
    for (bool first = true; ros_sections_next(&sections, &s); first = false) {
        bool heading_follows = first && !sections.ended && ros_trim(s.text).size == 0;
        if (!heading_follows && ros_type_name(first ? bytes_text(top) : s.name, false, name) &&
            !add_text(c, name, s.text, is_added)) {
            return false;
        }
    }
    return true;
}

/* The text that users supplied of a type, as .msg or .idl. */
static bool find_own(struct completing *c, const char *name, struct reel_bytes *text) {
    char file[OWN_DEFINITION_NAME_ROOM];
    const char *slash = strrchr(name, '/');
    bool is_interface = slash && strchr(name, '/') != slash;
    struct reel_bytes idl = bytes_of(NULL, 0);
    if (!own_definitions_find(c->arena, name, text, c->err)) {
        return false;
    }
    if (text->data || !slash ||
        snprintf(file, sizeof file, "%.*s%s%s.idl", (int)(slash - name), name, is_interface ? "" : "/msg", slash) >=
            (int)sizeof file) {
        return true;
    }
    return own_definitions_find(c->arena, file, &idl, c->err) &&
           (!idl.data ||
            (is_interface ? ros_idl_to_interface : ros_idl_to_messages)(c->arena, name, idl, text, c->err));
}

/* The text that is known of a type: *text has no data if there is none. */
static bool find_known(struct completing *c, const char *name, struct reel_bytes *text) {
    const char *builtin;
    *text = bytes_of(NULL, 0);
    if (c->uses_own && !find_own(c, name, text)) {
        return false;
    }
    if (text->data) {
        c->source = ROS_OWN;
        return true;
    }
    if (!ros_builtin_text(c->arena, c->dialect, c->distribution, name, &builtin, c->err)) {
        return false;
    }
    if (builtin) {
        c->varies = c->varies || (c->dialect == ROS_2 && ros_builtin_varies(name));
        c->source = c->source == ROS_OWN ? ROS_OWN : ROS_BUILT_IN;
        *text = bytes_text(builtin);
    }
    return true;
}

/* ---- the message itself */

/* Also of a message that belongs to a service or an action. */
static bool find_top(struct completing *c, const char *type, struct reel_bytes *text) {
    char name[ROS_NAME_ROOM], whole[ROS_NAME_ROOM], interface[ROS_NAME_ROOM];
    if (!ros_type_name(bytes_text(type), false, name) || !ros_type_name(bytes_text(type), true, whole)) {
        return reel_fail(c->err, REEL_UNSUPPORTED, "\"%.128s\" is not the name of a type", type);
    }
    if (!find_known(c, name, text) ||
        (!text->data && ros_interface_name(whole, interface) && !find_known(c, interface, text))) {
        return false;
    }
    return text->data || reel_fail(c->err, REEL_UNSUPPORTED, "the recording holds no definition of %.128s", type);
}

static bool add_top(struct completing *c, const char *type, struct reel_bytes recorded) {
    struct reel_bytes text = recorded, messages;
    bool is_added = recorded.size == 0;
    return (!is_added || find_top(c, type, &text)) &&
           ros_interfaces_to_messages(c->arena, type, text, &messages, c->err) &&
           add_sections(c, type, messages, is_added);
}

/* ---- the types in it */

/* The definition of the decoder has these in any case (definition.c). */
static bool is_implied(enum ros_dialect dialect, const char *name) {
    return dialect == ROS_1
               ? strcmp(name, "std_msgs/Header") == 0
               : strcmp(name, "builtin_interfaces/Time") == 0 || strcmp(name, "builtin_interfaces/Duration") == 0;
}

/* The type that a field's word names, in `name`. False: a number, a text or no type. */
static bool name_of_word(const struct completing *c, const char *owner, struct reel_bytes word,
                         char name[ROS_NAME_ROOM]) {
    size_t size = 0;
    while (size < word.size && word.data[size] != '[' && word.data[size] != '<') {
        size++;
    }
    struct reel_bytes base = bytes_of(word.data, size);
    if (ros_definition_is_word(base) || size == 0 || size >= ROS_NAME_ROOM) {
        return false;
    }
    if (memchr(base.data, '/', size)) {
        return ros_type_name(base, false, name);
    }
    bool is_header = c->dialect == ROS_1 && bytes_is(base, "Header");
    const char *from = is_header ? "std_msgs/" : owner;
    const char *slash = strrchr(from, '/');
    size_t package = slash ? (size_t)(slash - from) + 1 : 0;
    if (package + size >= ROS_NAME_ROOM) {
        return false;
    }
    memcpy(name, from, package);
    memcpy(name + package, base.data, size);
    name[package + size] = '\0';
    return true;
}

static bool add_word(struct completing *c, const char *owner, struct reel_bytes word) {
    char name[ROS_NAME_ROOM];
    struct reel_bytes text;
    if (!name_of_word(c, owner, word, name) || is_implied(c->dialect, name) ||
        hash_table_get(&c->names, key_of_name(name)) || hash_table_get(&c->shorts, key_of_name(last_part(name)))) {
        return true;
    }
    return find_known(c, name, &text) && (!text.data || add_sections(c, name, text, true));
}

static bool add_types_of(struct completing *c, size_t i) {
    struct ros_line l;
    const char *owner = c->texts[i].name;
    for (struct reel_bytes rest = c->texts[i].text; rest.size > 0;) {
        if (ros_line_read(ros_next_line(&rest), &l) && !l.is_constant && !add_word(c, owner, l.word)) {
            return false;
        }
    }
    return true;
}

static bool join_texts(struct completing *c, struct reel_bytes *out) {
    struct grow g = {0};
    grow_put(&g, c->texts[0].text.data, c->texts[0].text.size);
    for (size_t i = 1; i < c->n; i++) {
        grow_text(&g, "\n================================================================================\nMSG: ");
        grow_text(&g, c->texts[i].name);
        grow_text(&g, "\n");
        grow_put(&g, c->texts[i].text.data, c->texts[i].text.size);
    }
    const uint8_t *kept = g.failed ? NULL : arena_copy(c->arena, g.size > 0 ? g.data : (const uint8_t *)"", g.size);
    *out = bytes_of(kept, g.size);
    grow_done(&g);
    return kept || reel_fail_memory(c->err);
}

bool ros_complete(struct arena *arena, enum ros_dialect dialect, enum ros_distribution distribution, bool uses_own,
                  const char *type, struct reel_bytes recorded, struct ros_completion *out, struct reel_error *err) {
    AUTO_STRUCT(completing_done)
    struct completing c = {
        .arena = arena, .dialect = dialect, .distribution = distribution, .uses_own = uses_own, .err = err};
    if (!add_top(&c, type, recorded)) {
        return false;
    }
    for (size_t i = 0; i < c.n; i++) {
        if (!add_types_of(&c, i)) {
            return false;
        }
    }
    out->source = c.source;
    out->varies = c.varies;
    return join_texts(&c, &out->text);
}
