/* Compiles rules for a pair of definitions (rewrite.h): what becomes of each field, and the values of those that are
 * added. */
#include "formats/ros/rewrite_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "formats/ros/definition_link.h"

/* Whether every value of one number is one of the other. */
static bool widens(uint8_t from, uint8_t to) {
    size_t a = reel_number_size(from), b = reel_number_size(to);
    if (from == to) {
        return true;
    }
    if (to == REEL_F64 || to == REEL_F32) {
        return from == REEL_F32 || (is_integer(from) && a < b);
    }
    return is_integer(from) && is_integer(to) && a < b && (!is_signed(from) || is_signed(to));
}

static bool is_plain(const struct ros_definition *def, struct reel_error *err) {
    for (size_t i = 0; i < def->n_types; i++) {
        if (def->types[i].form != ROS_STRUCT || (def->types[i].text.size == 0 && def->is_omg)) {
            return reel_fail(err, REEL_UNSUPPORTED, "rules apply to definitions in the .msg format only");
        }
    }
    return true;
}

/* Whether the text is a value of this number. */
static bool is_value(uint8_t kind, const char *text) {
    int64_t integer;
    uint64_t natural;
    double real;
    unsigned bits = 8 * reel_number_size(kind);
    if (kind == REEL_BOOL) {
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || strcmp(text, "0") == 0 ||
               strcmp(text, "1") == 0;
    }
    if (!is_integer(kind)) {
        return number_real(text, &real);
    }
    if (is_signed(kind)) {
        return number_i64_of(text, strlen(text), &integer) && integer >= INT64_MIN >> (64 - bits) &&
               integer <= INT64_MAX >> (64 - bits);
    }
    return number_u64(text, &natural) && natural <= UINT64_MAX >> (64 - bits);
}

static bool check_value(const struct ros_definition_step *s, const char *value, struct reel_error *err) {
    bool fits = !value || (s->many != ROS_LIST &&
                           (ros_definition_is_number(s) ? is_value(s->kind, value) : s->kind == ROS_VALUE_TEXT));
    return fits || reel_fail(err, REEL_UNSUPPORTED, "field %.*s cannot have the value %.100s", (int)s->key.size,
                             (const char *)s->key.data, value);
}

static const struct ros_added_field *added_field(const struct ros_type_rule *rule, struct reel_bytes name) {
    for (size_t i = 0; rule && i < rule->n_added; i++) {
        if (bytes_is(name, rule->added[i].name)) {
            return &rule->added[i];
        }
    }
    return NULL;
}

/* Names of types may be found otherwise in the other definition, where a rule gave one away. */
static bool same_kind(const struct ros_rewrite *w, const struct ros_definition_step *a,
                      const struct ros_definition_step *b) {
    return a->kind == b->kind && (a->kind != ROS_VALUE_TYPE || w->partners[a->type] == b->type);
}

static bool check_step(const struct ros_rewrite *w, const struct ros_definition_type *type,
                       const struct ros_definition_step *a, const struct ros_definition_step *b,
                       struct reel_error *err) {
    bool numbers = ros_definition_is_number(a) && ros_definition_is_number(b) && widens(a->kind, b->kind);
    bool same = same_kind(w, a, b) && a->many == b->many && (a->many != ROS_ARRAY || a->count == b->count);
    return same || (numbers && a->many == b->many && (a->many != ROS_ARRAY || a->count == b->count)) ||
           reel_fail(err, REEL_UNSUPPORTED, "%.128s: field %.*s cannot become this type: numbers become larger ones",
                     type->name, (int)a->key.size, (const char *)a->key.data);
}

/* The fields of one type, whose new form is `to`. */
static bool compile_type(struct ros_rewrite *w, const struct ros_rules *rules, const struct ros_definition_type *from,
                         const struct ros_definition_type *to, struct reel_error *err) {
    const struct ros_type_rule *rule = ros_rule_of_type(rules, from->name);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        const struct ros_definition_step *s = &w->from->steps[from->first + i];
        const struct ros_field_rule *field = ros_rule_of_field(rule, s->key);
        bool drops = s->hidden || (field && field->is_removed);
        w->drops[from->first + i] = drops;
        if (drops) {
            continue;
        }
        if (kept >= to->count || !check_step(w, from, s, &w->to->steps[to->first + kept], err)) {
            return kept < to->count ? false : reel_fail(err, REEL_UNSUPPORTED, "%.128s: fields are missing", to->name);
        }
        kept++;
    }
    for (uint32_t i = kept; i < to->count; i++) {
        const struct ros_added_field *field = added_field(rule, w->to->steps[to->first + i].key);
        w->values[to->first + i] = field ? field->value : NULL;
        if (!check_value(&w->to->steps[to->first + i], w->values[to->first + i], err)) {
            return false;
        }
    }
    return true;
}

/* Each name of the rule must be that of a field. */
static bool check_names(const struct ros_rewrite *w, const struct ros_type_rule *rule,
                        const struct ros_definition_type *type, struct reel_error *err) {
    for (size_t i = 0; rule && i < rule->n_fields; i++) {
        bool found = false;
        for (uint32_t k = 0; k < type->count && !found; k++) {
            found = bytes_is(w->from->steps[type->first + k].key, rule->fields[i].name);
        }
        if (!found) {
            return reel_fail(err, REEL_UNSUPPORTED, "%.128s has no field %.128s, which a rule names", type->name,
                             rule->fields[i].name);
        }
    }
    return true;
}

/* Which types of both definitions belong together. Of a payload's type alone the rest follows (check_step()). */
static bool find_partners(struct ros_rewrite *w, const struct ros_rules *rules, struct reel_error *err) {
    for (size_t i = 0; i < w->from->n_types; i++) {
        const char *name = w->from->types[i].name;
        const struct ros_type_rule *rule = ros_rule_of_type(rules, name);
        if (!ros_definition_find(w->to, rule && rule->to ? rule->to : name, &w->partners[i])) {
            w->partners[i] = NO_PARTNER;
        }
    }
    return w->partners[w->from->top] == w->to->top ||
           reel_fail(err, REEL_UNSUPPORTED, "another type has the new name of %.128s, too",
                     w->from->types[w->from->top].name);
}

static bool compile_rewrite(struct ros_rewrite *w, const struct ros_rules *rules, struct reel_error *err) {
    w->partners = calloc(w->from->n_types + 1, sizeof *w->partners);
    w->drops = calloc(w->from->n_steps + 1, sizeof *w->drops);
    w->values = calloc(w->to->n_steps + 1, sizeof *w->values);
    if (!w->partners || !w->drops || !w->values) {
        return reel_fail_memory(err);
    }
    if (!is_plain(w->from, err) || !find_partners(w, rules, err)) {
        return false;
    }
    for (size_t i = 0; i < w->from->n_types; i++) {
        const struct ros_definition_type *type = &w->from->types[i];
        const struct ros_type_rule *rule = ros_rule_of_type(rules, type->name);
        if (w->partners[i] != NO_PARTNER &&
            (!check_names(w, rule, type, err) || !compile_type(w, rules, type, &w->to->types[w->partners[i]], err))) {
            return false;
        }
    }
    return true;
}

struct ros_rewrite *ros_rewrite_new(struct ros_definition *from, struct ros_definition *to,
                                    const struct ros_rules *rules, struct reel_error *err) {
    AUTO(ros_rewrite_free) struct ros_rewrite *w = calloc(1, sizeof *w);
    if (!w) {
        ros_definition_free(from);
        ros_definition_free(to);
        reel_fail_memory(err);
        return NULL;
    }
    w->from = from;
    w->to = to;
    return compile_rewrite(w, rules, err) ? TAKE(w) : NULL;
}

void ros_rewrite_free(struct ros_rewrite *w) {
    if (w) {
        ros_definition_free(w->from);
        ros_definition_free(w->to);
        free(w->partners);
        free(w->drops);
        free(w->values);
        free(w);
    }
}
