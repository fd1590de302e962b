/* Definitions as rules have them (rules.h): type by type, line by line. Lines without a change stay as they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "formats/ros/definition_text.h"
#include "formats/ros/rules.h"

const struct ros_type_rule *ros_rule_of_type(const struct ros_rules *rules, const char *type) {
    for (size_t i = 0; i < rules->n_types; i++) {
        if (strcmp(rules->types[i].type, type) == 0) {
            return &rules->types[i];
        }
    }
    return NULL;
}

const struct ros_field_rule *ros_rule_of_field(const struct ros_type_rule *rule, struct reel_bytes name) {
    for (size_t i = 0; rule && i < rule->n_fields; i++) {
        if (bytes_is(name, rule->fields[i].name)) {
            return &rule->fields[i];
        }
    }
    return NULL;
}

struct writing {
    struct ros_translating *t;
    const struct ros_rules *rules;
    const char *owner; /* the type, by its old name */
    const char *renamed;
    struct grow out;
    bool any, *used;
};

/* The type that the word of a field names, "pkg/Type"; false: a number, text or time. */
static bool type_of_word(const struct writing *w, struct reel_bytes base, char out[ROS_NAME_ROOM]) {
    const char *slash = strchr(w->owner, '/');
    int package = slash ? (int)(slash - w->owner) : 0;
    if (ros_definition_is_word(base)) {
        return false;
    }
    if (memchr(base.data, '/', base.size)) {
        return ros_type_name(base, false, out);
    }
    if (w->t->def->dialect == ROS_1 && bytes_is(base, "Header")) {
        snprintf(out, ROS_NAME_ROOM, "std_msgs/Header");
        return true;
    }
    return (size_t)snprintf(out, ROS_NAME_ROOM, "%.*s/%.*s", package, w->owner, (int)base.size,
                            (const char *)base.data) < ROS_NAME_ROOM;
}

/* The word's type after the rules: as it is, the new name, or with the package that it left. */
static void put_word(struct writing *w, struct reel_bytes word, const struct ros_field_rule *rule, bool *changed) {
    size_t n = 0;
    while (n < word.size && word.data[n] != '[' && word.data[n] != '<') {
        n++;
    }
    struct reel_bytes base = bytes_of(word.data, n);
    char type[ROS_NAME_ROOM];
    bool named = type_of_word(w, base, type);
    const struct ros_type_rule *other = named ? ros_rule_of_type(w->rules, type) : NULL;
    bool moved = named && strcmp(w->owner, w->renamed) != 0 && !memchr(base.data, '/', base.size);
    const char *text = rule && rule->type ? rule->type : other && other->to ? other->to : moved ? type : NULL;
    *changed = text;
    if (text) {
        grow_text(&w->out, text);
    } else {
        grow_put(&w->out, base.data, base.size);
    }
    grow_put(&w->out, word.data + n, word.size - n);
}

static void put_line(struct writing *w, const struct ros_type_rule *rule, struct reel_bytes line) {
    struct ros_line l;
    bool is_field = ros_line_read(line, &l) && !l.is_constant;
    const struct ros_field_rule *field = is_field ? ros_rule_of_field(rule, l.name) : NULL;
    size_t before = w->out.size;
    bool changed = false;
    if (field && field->is_removed) {
        w->any = true;
        return;
    }
    if (is_field) {
        put_word(w, l.word, field, &changed);
        changed = changed || (field && field->to);
    }
    if (!changed) {
        w->out.size = before;
        grow_put(&w->out, line.data, line.size);
        grow_u8(&w->out, '\n');
        return;
    }
    w->any = true;
    grow_u8(&w->out, ' ');
    if (field && field->to) {
        grow_text(&w->out, field->to);
    } else {
        grow_put(&w->out, l.name.data, l.name.size);
    }
    if (l.value.size > 0) {
        grow_u8(&w->out, ' ');
        grow_put(&w->out, l.value.data, l.value.size);
    }
    grow_u8(&w->out, '\n');
}

static bool put_type(struct writing *w, const struct ros_definition_type *type) {
    const struct ros_type_rule *rule = ros_rule_of_type(w->rules, type->name);
    w->owner = type->name;
    w->renamed = rule && rule->to ? rule->to : type->name;
    if (rule) {
        w->any = w->used[rule - w->rules->types] = true;
    }
    w->out.size = 0;
    for (struct reel_bytes rest = type->text; rest.size > 0;) {
        put_line(w, rule, ros_next_line(&rest));
    }
    for (size_t i = 0; rule && i < rule->n_added; i++) {
        grow_text(&w->out, rule->added[i].type);
        grow_u8(&w->out, ' ');
        grow_text(&w->out, rule->added[i].name);
        grow_u8(&w->out, '\n');
    }
    return w->out.failed ? reel_fail_memory(w->t->err)
                         : ros_texts_add(w->t, w->renamed, bytes_of(w->out.data, w->out.size));
}

bool ros_rules_texts(struct ros_translating *t, const struct ros_rules *rules, bool *used, bool *any) {
    struct writing w = {.t = t, .rules = rules, .used = used};
    const struct ros_definition *def = t->def;
    bool good = put_type(&w, &def->types[def->top]);
    for (size_t i = 0; good && i < def->n_types; i++) {
        good = i == def->top || put_type(&w, &def->types[i]);
    }
    grow_done(&w.out);
    *any = w.any;
    return good;
}
