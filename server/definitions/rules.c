/* See rules.h. */
#include "definitions/rules.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/ros/text.h"

enum { FILE_MAX = 1 << 20, RULES_MEMORY_MAX = 64 << 20 };

struct reading {
    struct message_rules *rules;
    const char *type; /* for errors */
    struct reel_error *err;
};

static void *rules_alloc(struct reading *r, size_t n, size_t size) {
    void *memory = arena_alloc(&r->rules->arena, (n + 1) * size);
    if (!memory) {
        arena_fail(&r->rules->arena, r->err);
    }
    return memory;
}

static const char *rules_text(struct reading *r, const char *text) {
    const char *copy = arena_text(&r->rules->arena, text);
    if (!copy) {
        arena_fail(&r->rules->arena, r->err);
    }
    return copy;
}

static bool refuse(const struct reading *r, const char *what, const char *expected) {
    return reel_fail(r->err, REEL_ARGUMENT, "%s%s%.100s: %s is expected", r->type ? r->type : "", r->type ? ": " : "",
                     what, expected);
}

static bool rules_knows(const struct reading *r, const json_t *object, const char *const *known, const char *what) {
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        return refuse(r, what, "an object");
    }
    json_object_foreach((json_t *)object, key, value) {
        const char *const *k = known;
        while (*k && strcmp(*k, key) != 0) {
            k++;
        }
        if (!*k) {
            return reel_fail(r->err, REEL_ARGUMENT, "%s%s\"%.100s\" is no member of a rule", r->type ? r->type : "",
                             r->type ? ": " : "", key);
        }
    }
    return true;
}

/* ---- topics */

static bool read_topics(struct reading *r, const json_t *topics) {
    const char *from;
    json_t *to;
    if (!topics) {
        return true;
    }
    if (!json_is_object(topics)) {
        return refuse(r, "topics", "an object of new names by old ones");
    }
    const char **renames = rules_alloc(r, json_object_size(topics), sizeof *renames);
    json_object_foreach((json_t *)topics, from, to) {
        AUTO_MEM char *text = NULL;
        if (!json_is_string(to) || !from[0] || !json_string_value(to)[0] || strchr(json_string_value(to), ':')) {
            return refuse(r, from, "the new name of the topic");
        }
        if (!renames || asprintf(&text, "%s:%s", from, json_string_value(to)) < 0 ||
            !(renames[r->rules->n_renames++] = rules_text(r, text))) {
            return reel_fail_memory(r->err);
        }
    }
    r->rules->renames = renames;
    return true;
}

/* ---- types */

static bool is_name(const char *text) {
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n > 0 && text[n] == '\0' && !(text[0] >= '0' && text[0] <= '9');
}

/* "pkg/Type". NULL: it is no such name. */
static const char *type_name(struct reading *r, const char *text) {
    char name[ROS_NAME_ROOM];
    const char *slash = strchr(text, '/');
    if (!slash || slash == text || !ros_type_name(bytes_text(text), false, name) || !is_name(strrchr(name, '/') + 1)) {
        refuse(r, text, "the name of a type, package/Type,");
        return NULL;
    }
    return rules_text(r, name);
}

/* The rule of a field; made if there is none. The array has room. */
static struct ros_field_rule *field_rule(struct reading *r, struct ros_field_rule *fields, size_t *n,
                                         const char *name) {
    for (size_t i = 0; i < *n; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            return &fields[i];
        }
    }
    fields[*n].name = rules_text(r, name);
    return fields[*n].name ? &fields[(*n)++] : NULL;
}

static bool read_fields(struct reading *r, const json_t *rule, struct ros_type_rule *out) {
    const json_t *rename = json_object_get(rule, "rename"), *removed = json_object_get(rule, "remove"),
                 *change = json_object_get(rule, "change");
    const char *key;
    json_t *value;
    size_t i;
    if ((rename && !json_is_object(rename)) || (change && !json_is_object(change)) ||
        (removed && !json_is_array(removed))) {
        return refuse(r, "rename, change, remove", "an object, an object and a list");
    }
    struct ros_field_rule *fields =
        rules_alloc(r, json_object_size(rename) + json_object_size(change) + json_array_size(removed), sizeof *fields);
    bool good = fields;
    json_object_foreach((json_t *)rename, key, value) {
        struct ros_field_rule *f = good ? field_rule(r, fields, &out->n_fields, key) : NULL;
        const char *to = json_string_value(value);
        good = f && ((to && is_name(to)) || refuse(r, key, "the new name of the field")) && (f->to = rules_text(r, to));
    }
    json_object_foreach((json_t *)change, key, value) {
        struct ros_field_rule *f = good ? field_rule(r, fields, &out->n_fields, key) : NULL;
        const char *to = json_string_value(value);
        good = f && ((to && is_name(to)) || refuse(r, key, "the name of a number's type")) &&
               (f->type = rules_text(r, to));
    }
    json_array_foreach((json_t *)removed, i, value) {
        const char *name = json_string_value(value);
        struct ros_field_rule *f = good && name ? field_rule(r, fields, &out->n_fields, name) : NULL;
        good = f || (good && refuse(r, "remove", "a list of fields"));
        if (f) {
            f->is_removed = true;
        }
    }
    out->fields = fields;
    return good;
}

static bool read_added_field(struct reading *r, const json_t *field, struct ros_added_field *out) {
    static const char *const known[] = {"type", "name", "value", NULL};
    const char *type = json_string_value(json_object_get(field, "type")),
               *name = json_string_value(json_object_get(field, "name"));
    const json_t *value = json_object_get(field, "value");
    if (!rules_knows(r, field, known, "add")) {
        return false;
    }
    if (!type || !type[0] || strpbrk(type, " \t\r\n#=") || !name || !is_name(name)) {
        return refuse(r, "add", "{\"type\": …, \"name\": …}");
    }
    AUTO_MEM char *text = json_is_string(value) ? strdup(json_string_value(value))
                          : value               ? json_dumps(value, JSON_ENCODE_ANY)
                                                : NULL;
    if (value && !text) {
        return reel_fail_memory(r->err);
    }
    return (out->type = rules_text(r, type)) && (out->name = rules_text(r, name)) &&
           (!text || (out->value = rules_text(r, text)));
}

static bool read_added(struct reading *r, const json_t *added, struct ros_type_rule *out) {
    size_t i;
    json_t *field;
    if (added && !json_is_array(added)) {
        return refuse(r, "add", "a list of fields");
    }
    struct ros_added_field *fields = rules_alloc(r, json_array_size(added), sizeof *fields);
    if (!fields) {
        return false;
    }
    json_array_foreach((json_t *)added, i, field) {
        if (!read_added_field(r, field, &fields[out->n_added++])) {
            return false;
        }
    }
    out->added = fields;
    return true;
}

static bool read_type(struct reading *r, const json_t *rule, struct ros_type_rule *out) {
    static const char *const known[] = {"name", "rename", "remove", "change", "add", NULL};
    const json_t *name = json_object_get(rule, "name");
    if (!rules_knows(r, rule, known, "the rule of a type")) {
        return false;
    }
    if (name && !json_is_string(name)) {
        return refuse(r, "name", "the new name of the type");
    }
    return (!name || (out->to = type_name(r, json_string_value(name)))) && read_fields(r, rule, out) &&
           read_added(r, json_object_get(rule, "add"), out);
}

static bool read_types(struct reading *r, const json_t *types) {
    const char *type;
    json_t *rule;
    if (types && !json_is_object(types)) {
        return refuse(r, "types", "an object of rules by types");
    }
    struct ros_type_rule *rules = rules_alloc(r, json_object_size(types), sizeof *rules);
    if (!rules) {
        return false;
    }
    json_object_foreach((json_t *)types, type, rule) {
        struct ros_type_rule *out = &rules[r->rules->ros.n_types++];
        r->type = type;
        if (!(out->type = type_name(r, type)) || !read_type(r, rule, out)) {
            return false;
        }
        r->type = NULL;
    }
    r->rules->ros.types = rules;
    return true;
}

/* ---- the file */

static void free_rules(struct reel_rules *base) {
    struct message_rules *rules = (struct message_rules *)base;
    arena_free(&rules->arena);
    free(rules);
}

void rules_free(struct message_rules *rules) {
    reel_rules_free(rules ? &rules->ros.base : NULL);
}

struct message_rules *rules_parse(const char *text, size_t size, struct reel_error *err) {
    static const char *const known[] = {"topics", "types", NULL};
    json_error_t why;
    json_auto_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    if (!json) {
        reel_fail(err, REEL_ARGUMENT, "line %d: %s", why.line, why.text);
        return NULL;
    }
    struct message_rules *made = calloc(1, sizeof *made);
    if (!made) {
        reel_fail_memory(err);
        return NULL;
    }
    atomic_init(&made->ros.base.references, 1);
    made->ros.base.free = free_rules;
    made->ros.base.open = ros_rules_open;
    made->arena.max = RULES_MEMORY_MAX;
    AUTO(rules_free) struct message_rules *rules = made;
    struct reading r = {.rules = rules, .err = err};
    char *copy = rules_alloc(&r, size, 1);
    if (!copy) {
        return NULL;
    }
    memcpy(copy, text, size);
    rules->text = copy;
    return rules_knows(&r, json, known, "rules") && read_topics(&r, json_object_get(json, "topics")) &&
                   read_types(&r, json_object_get(json, "types"))
               ? TAKE(rules)
               : NULL;
}

struct message_rules *rules_load(const char *path, struct reel_error *err) {
    FILE *file = fopen(path, "rbe");
    AUTO_MEM char *text = malloc(FILE_MAX + 1);
    if (!file || !text) {
        file ? reel_fail_memory(err) : reel_fail_errno(err, "%s", path);
        if (file) {
            fclose(file);
        }
        return NULL;
    }
    size_t size = fread(text, 1, FILE_MAX + 1, file);
    bool failed = ferror(file);
    fclose(file);
    if (failed || size > FILE_MAX) {
        failed ? reel_fail_errno(err, "%s", path)
               : reel_fail(err, REEL_LIMIT, "%s: more than %d bytes", path, FILE_MAX);
        return NULL;
    }
    struct message_rules *rules = rules_parse(text, size, err);
    if (!rules) {
        reel_error_at(err, "%s", path);
    }
    return rules;
}

bool rules_add_renames(const struct message_rules *rules, struct reel_selection *selection, const char ***all,
                       struct reel_error *err) {
    uint32_t n = selection->n_renames;
    if (!(*all = calloc((size_t)n + rules->n_renames + 1, sizeof **all))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        (*all)[i] = selection->renames[i];
    }
    for (uint32_t i = 0; i < rules->n_renames; i++) {
        (*all)[n + i] = rules->renames[i];
    }
    selection->renames = *all;
    selection->n_renames += rules->n_renames;
    return true;
}
