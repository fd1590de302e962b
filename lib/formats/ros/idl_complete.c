/* See idl_complete.h. */
#include "formats/ros/idl_complete.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "decode/own_definitions.h"
#include "formats/ros/builtin.h"
#include "formats/ros/definition_idl.h"
#include "formats/ros/definition_link.h"
#include "formats/ros/definition_text.h"

enum { PATH_ROOM = 2 * ROS_NAME_ROOM };

struct idl_completing {
    struct ros_definition *def;
    struct hash_table names; /* of types, and of those that were looked for */
    size_t n_named, added_bytes;
    struct reel_error *err;
};
static void idl_completing_done(struct idl_completing *c) {
    hash_table_free(&c->names);
}

/* Names are in the definition's arena. */
static bool name_types(struct idl_completing *c) {
    for (; c->n_named < c->def->n_types; c->n_named++) {
        if (!hash_table_set(&c->names, hash_key_bytes(bytes_text(c->def->types[c->n_named].name)), 1, c->err)) {
            return false;
        }
    }
    return true;
}

static bool has_name(const struct idl_completing *c, const char *name) {
    return hash_table_get(&c->names, hash_key_bytes(bytes_text(name))) != 0;
}

/* Whether a/b/WORD, a/WORD or WORD is there for a member of a/b/C. */
static bool is_near(const struct idl_completing *c, const char *owner, const char *word) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s", owner);
    for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
        snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "%s", word);
        if (has_name(c, path)) {
            return true;
        }
        *slash = '\0';
    }
    return has_name(c, word);
}

/* "pkg/Type" of the type that a member of `owner` names. */
static bool name_of_type(const char *owner, const char *word, char name[ROS_NAME_ROOM]) {
    char path[PATH_ROOM];
    const char *slash = strrchr(owner, '/');
    bool is_whole = strchr(word, '/') || !slash;
    snprintf(path, sizeof path, "%.*s%s", is_whole ? 0 : (int)(slash - owner) + 1, owner, word);
    return ros_type_name(bytes_text(path), false, name);
}

static bool read_known(struct idl_completing *c, const char *name, const char *whole, enum ros_source *source) {
    struct ros_definition *d = c->def;
    char file[OWN_DEFINITION_NAME_ROOM];
    struct reel_bytes text = bytes_of(NULL, 0);
    const char *builtin = NULL;
    *source = ROS_OWN;
    if (snprintf(file, sizeof file, "%s.idl", whole) < OWN_DEFINITION_NAME_ROOM &&
        !own_definitions_find(&d->arena, file, &text, c->err)) {
        return false;
    }
    if (text.data) {
        c->added_bytes += text.size;
        return ros_definition_read_idl(d, text, c->err);
    }
    if (!own_definitions_find(&d->arena, name, &text, c->err) ||
        (!text.data && !ros_builtin_text(&d->arena, ROS_2, ROS_JAZZY, name, &builtin, c->err))) {
        return false;
    }
    if (!text.data) {
        *source = builtin ? ROS_BUILT_IN : ROS_RECORDED;
        text = bytes_text(builtin ? builtin : "");
    }
    c->added_bytes += text.size;
    return *source == ROS_RECORDED || ros_definition_read_text(d, whole, true, text, c->err);
}

static bool add_type(struct idl_completing *c, const char *owner, const char *word) {
    char name[ROS_NAME_ROOM], whole[ROS_NAME_ROOM + 8];
    enum ros_source source;
    if (!strchr(owner, '/') || is_near(c, owner, word) || !name_of_type(owner, word, name)) {
        return true;
    }
    const char *slash = strrchr(name, '/');
    snprintf(whole, sizeof whole, "%.*s/msg/%s", slash ? (int)(slash - name) : 0, name, slash ? slash + 1 : name);
    if (!slash || has_name(c, whole) || strlen(whole) >= ROS_NAME_ROOM) {
        return true;
    }
    const char *kept = arena_text(&c->def->arena, whole);
    if (!kept || !hash_table_set(&c->names, hash_key_bytes(bytes_text(kept)), 1, c->err)) {
        return kept ? false : reel_fail_memory(c->err);
    }
    if (!read_known(c, name, kept, &source) || !name_types(c)) {
        return false;
    }
    if (c->added_bytes > REEL_COMPLETED_MAX) {
        return reel_fail(c->err, REEL_LIMIT, "more than %d bytes would complete the definition", REEL_COMPLETED_MAX);
    }
    c->def->source = source == ROS_OWN || c->def->source == ROS_RECORDED ? source : c->def->source;
    return true;
}

static bool complete(struct ros_definition *d, struct reel_error *err) {
    AUTO_STRUCT(idl_completing_done) struct idl_completing c = {.def = d, .err = err};
    if (!name_types(&c)) {
        return false;
    }
    for (size_t i = 0; i < d->n_types; i++) { /* also those that are added meanwhile */
        if (d->types[i].base && !add_type(&c, d->types[i].name, d->types[i].base)) {
            return false;
        }
        for (uint32_t k = 0; k < d->types[i].count; k++) {
            const struct ros_definition_step *s = &d->steps[d->types[i].first + k];
            if (s->kind == ROS_VALUE_TYPE && !add_type(&c, d->types[i].name, s->word)) {
                return false;
            }
        }
    }
    return true;
}

struct ros_definition *ros_idl_completed(const char *type, struct reel_bytes text, enum ros_source source,
                                         struct reel_error *err) {
    AUTO(ros_definition_free) struct ros_definition *d = calloc(1, sizeof *d);
    if (!d) {
        reel_fail_memory(err);
        return NULL;
    }
    d->dialect = ROS_2;
    d->source = source;
    bool good = ros_definition_read_idl(d, text, err) && complete(d, err) && ros_definition_link(d, type, err);
    return good ? TAKE(d) : NULL;
}

struct ros_definition *ros_idl_supplied(const char *type, struct reel_error *err) {
    char name[ROS_NAME_ROOM], file[ROS_NAME_ROOM + 8];
    struct reel_bytes text;
    struct arena arena = {0};
    if (!ros_type_name(bytes_text(type), true, name)) {
        reel_fail(err, REEL_UNSUPPORTED, "\"%.128s\" is not the name of a type", type);
        return NULL;
    }
    snprintf(file, sizeof file, "%s.idl", name);
    bool good = own_definitions_find(&arena, file, &text, err) &&
                (text.data || reel_fail(err, REEL_UNSUPPORTED, "there is no definition of %.128s", type));
    struct ros_definition *d = good ? ros_idl_completed(type, text, ROS_OWN, err) : NULL;
    arena_free(&arena);
    return d;
}
