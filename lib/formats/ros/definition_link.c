/* Resolves the names of types and computes the sizes of all steps. Refuses a type that contains itself or nests too
 * deep. */
#include "formats/ros/definition_link.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "formats/ros/definition_members.h"

enum { NEW, OPEN, DONE }; /* ros_definition_type.state */

static const char *last_part(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* ---- names */

/* Of equal names the one defined first sorts first. */
static int in_order(int names, uint32_t a, uint32_t b) {
    return names ? names : (a > b) - (a < b);
}
static int ros_by_name(const void *a, const void *b, void *types) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return in_order(strcmp(((const struct ros_definition_type *)types)[x].name,
                           ((const struct ros_definition_type *)types)[y].name),
                    x, y);
}
static int by_short(const void *a, const void *b, void *types) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return in_order(strcmp(last_part(((const struct ros_definition_type *)types)[x].name),
                           last_part(((const struct ros_definition_type *)types)[y].name)),
                    x, y);
}

bool ros_definition_sort(struct ros_definition *d, struct reel_error *err) {
    d->n_short = 0;
    d->by_name = arena_alloc(&d->arena, d->n_types * sizeof *d->by_name);
    d->by_short = arena_alloc(&d->arena, d->n_types * sizeof *d->by_short);
    if (!d->by_name || !d->by_short) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < d->n_types; i++) {
        d->by_name[i] = i;
    }
    qsort_r(d->by_name, d->n_types, sizeof *d->by_name, ros_by_name, d->types);
    for (size_t i = 0; i < d->n_types; i++) {
        if (i == 0 || strcmp(d->types[d->by_name[i]].name, d->types[d->by_name[i - 1]].name) != 0) {
            d->by_short[d->n_short++] = d->by_name[i];
        }
    }
    qsort_r(d->by_short, d->n_short, sizeof *d->by_short, by_short, d->types);
    return true;
}

bool ros_definition_find(const struct ros_definition *d, const char *name, uint32_t *out) {
    size_t low = 0, high = d->n_types;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(d->types[d->by_name[middle]].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *out = low < d->n_types ? d->by_name[low] : 0;
    return low < d->n_types && strcmp(d->types[*out].name, name) == 0;
}

/* Finds the only type with this last part of its name: packages were renamed over the years, often in a field's type
 * but not in the heading. */
static bool find_short(const struct ros_definition *d, const char *name, uint32_t *out) {
    size_t low = 0, high = d->n_short;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(last_part(d->types[d->by_short[middle]].name), name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *out = low < d->n_short ? d->by_short[low] : 0;
    bool found = low < d->n_short && strcmp(last_part(d->types[*out].name), name) == 0;
    return found && (low + 1 == d->n_short || strcmp(last_part(d->types[d->by_short[low + 1]].name), name) != 0);
}

bool ros_definition_find_near(const struct ros_definition *d, const char *owner, const char *name, uint32_t *out) {
    char path[2 * ROS_NAME_ROOM];
    strcpy(path, owner);
    for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
        strcpy(slash + 1, name);
        if (ros_definition_find(d, path, out)) {
            return true;
        }
        *slash = '\0';
    }
    return ros_definition_find(d, name, out);
}

/* In ROS 1 a bare "Header" is std_msgs/Header, whose package was renamed twice. */
static bool find_header(const struct ros_definition *d, const char *name, uint32_t *out) {
    return d->dialect == ROS_1 && strcmp(name, "Header") == 0 &&
           (ros_definition_find(d, "roslib/Header", out) || ros_definition_find(d, "rostools/Header", out) ||
            ros_definition_find(d, "std_msgs/Header", out));
}

/* "a/B" in the text of a .msg names a/msg/B, if that is defined in IDL. */
static bool find_message(const struct ros_definition *d, const char *brief, uint32_t *out) {
    char path[2 * ROS_NAME_ROOM];
    const char *slash = strchr(brief, '/');
    if (!slash || strchr(slash + 1, '/')) {
        return false;
    }
    snprintf(path, sizeof path, "%.*s/msg%s", (int)(slash - brief), brief, slash);
    return ros_definition_find(d, path, out);
}

static bool ros_find(const struct ros_definition *d, const char *owner, const char *word, uint32_t *out,
                     struct reel_error *err) {
    char name[ROS_NAME_ROOM];
    bool named = ros_type_name(bytes_text(word), true, name);
    if (named && (find_header(d, name, out) || ros_definition_find_near(d, owner, name, out))) {
        return true;
    }
    char brief[ROS_NAME_ROOM];
    named = named && ros_type_name(bytes_text(word), false, brief);
    if (named && (ros_definition_find_near(d, owner, brief, out) || find_message(d, brief, out) ||
                  find_short(d, last_part(name), out))) {
        return true;
    }
    return reel_fail(err, REEL_UNSUPPORTED, "%.128s, which %.128s holds, is not in the recording's definition", word,
                     owner);
}

/* ---- measures */

static uint64_t plus(uint64_t a, uint64_t b) {
    return a + b > ROS_HUGE ? ROS_HUGE : a + b;
}

static bool link_type(struct ros_definition *d, uint32_t type, uint32_t level, struct reel_error *err);

/* Replaces an alias by the type it stands for; a list of an alias for a list stays one. */
static void put_alias(struct ros_definition_step *s, const struct ros_definition_step *is) {
    if (s->many != ROS_ONE && is->many != ROS_ONE) {
        return;
    }
    if (s->many == ROS_ONE) {
        s->many = is->many;
        s->count = is->count;
    }
    s->kind = is->kind;
    s->type = is->type;
    s->word = is->word;
    s->is_enum = is->is_enum;
    s->unit = s->unit[0] ? s->unit : is->unit;
}

/* Finds the step's type. */
static bool link_name(struct ros_definition *d, const char *owner, uint32_t step, uint32_t level,
                      struct reel_error *err) {
    uint32_t type;
    if (!ros_find(d, owner, d->steps[step].word, &type, err) || !link_type(d, type, level + 1, err)) {
        return false;
    }
    struct ros_definition_step *s = &d->steps[step]; /* linking adds the steps of types that inherit */
    const struct ros_definition_type *t = &d->types[type];
    s->type = type;
    if (t->form == ROS_ALIAS) {
        put_alias(s, &d->steps[t->first]);
    } else if (t->form == ROS_ENUM) {
        s->kind = t->number;
        s->is_enum = true;
    }
    return true;
}

/* Fills type, least and fixed. *depth: how deep one value nests. */
static bool link_step(struct ros_definition *d, const char *owner, uint32_t step, uint32_t level, uint32_t *depth,
                      struct reel_error *err) {
    if (d->steps[step].kind == ROS_VALUE_TYPE && !d->steps[step].linked && !link_name(d, owner, step, level, err)) {
        return false;
    }
    struct ros_definition_step *s = &d->steps[step];
    *depth = s->kind == ROS_VALUE_TIME || s->kind == ROS_VALUE_DURATION;
    s->fixed = s->kind != ROS_VALUE_TEXT && s->kind != ROS_VALUE_WIDE_TEXT;
    s->linked = true;
    if (s->kind == ROS_VALUE_TYPE) {
        const struct ros_definition_type *t = &d->types[s->type];
        s->fixed = t->fixed;
        s->least = t->least;
        *depth = t->depth;
    } else {
        s->least = ros_definition_is_number(s)        ? reel_number_size(s->kind)
                   : s->kind == ROS_VALUE_LONG_DOUBLE ? 16
                   : s->fixed                         ? 8
                                                      : 4; /* a time; the length of a text */
    }
    return true;
}

/* From the last step to the first, because a run counts the steps that follow. */
static void ros_definition_link_measure(struct ros_definition *d, struct ros_definition_type *t) {
    struct ros_definition_step *next = NULL;
    t->fixed = true;
    for (uint32_t i = t->count; i-- > 0;) {
        struct ros_definition_step *s = &d->steps[t->first + i];
        uint64_t least = s->optional            ? 1
                         : s->many == ROS_ONE   ? s->least
                         : s->many == ROS_ARRAY ? ros_definition_bytes(s->least, s->count)
                                                : 4;
        bool fixed = s->many == ROS_ARRAY ? s->fixed || s->count == 0 : s->fixed && s->many == ROS_ONE;
        t->fixed = t->fixed && fixed;
        t->least = plus(t->least, least);
        s->run = fixed ? 1 + (next ? next->run : 0) : 0;
        s->run_bytes = fixed ? plus(least, next ? next->run_bytes : 0) : 0;
        next = s;
    }
    if (t->form == ROS_UNION) {
        t->least = d->steps[t->first].least;
    } else if (t->form == ROS_MAP || (t->extensibility == ROS_MUTABLE && t->least > 4)) {
        t->least = 4; /* members of a mutable type may be missing */
    }
}

static bool is_number(const struct ros_definition_step *s, const char *key, uint8_t kind) {
    return bytes_is(s->key, key) && s->kind == kind && s->many == ROS_ONE;
}

/* NULL: it has none, and a definition of nothing but such types has no array. */
static struct ros_definition_step *steps_of(const struct ros_definition *d, const struct ros_definition_type *t) {
    return t->count > 0 ? &d->steps[t->first] : NULL;
}

static uint8_t ros_definition_link_stamp_of(const struct ros_definition *d, const struct ros_definition_type *t) {
    const struct ros_definition_step *s = steps_of(d, t);
    const char *name = last_part(t->name);
    bool pair = t->form == ROS_STRUCT && t->count == 2 && is_number(&s[0], "sec", REEL_I32) &&
                is_number(&s[1], "nanosec", REEL_U32);
    if (d->dialect != ROS_2 || !pair || strncmp(t->name, "builtin_interfaces/", 19) != 0) {
        return ROS_NO_STAMP;
    }
    return strcmp(name, "Time") == 0 ? ROS_TIME : strcmp(name, "Duration") == 0 ? ROS_DURATION : ROS_NO_STAMP;
}

/* ---- what only IDL has */

/* Puts the steps of the base before the type's own. */
static bool link_base(struct ros_definition *d, uint32_t type, uint32_t level, struct reel_error *err) {
    uint32_t base, first, count, own;
    if (!d->types[type].base) {
        return true;
    }
    if (!ros_find(d, d->types[type].name, d->types[type].base, &base, err) || !link_type(d, base, level + 1, err)) {
        return false;
    }
    struct ros_definition_type *t = &d->types[type];
    const struct ros_definition_type *b = &d->types[base];
    if (b->form != ROS_STRUCT || b->stamp != ROS_NO_STAMP) {
        return reel_fail(err, REEL_UNSUPPORTED, "%.128s, which %.128s extends, is not a struct", b->name, t->name);
    }
    first = (uint32_t)d->n_steps;
    count = b->count;
    own = t->first;
    if (!ros_definition_copy_steps(d, b->first, count, err) || !ros_definition_copy_steps(d, own, t->count, err)) {
        return false;
    }
    t->first = first;
    t->count += count;
    t->extensibility = t->extensibility ? t->extensibility : b->extensibility;
    return true;
}

static int by_member_id(const void *a, const void *b, void *steps) {
    uint32_t x = ((const struct ros_definition_step *)steps)[*(const uint32_t *)a].id,
             y = ((const struct ros_definition_step *)steps)[*(const uint32_t *)b].id;
    return (x > y) - (x < y);
}

/* Numbers the members, and sorts them by id where ids are not in order. */
static bool link_ids(struct ros_definition *d, struct ros_definition_type *t, struct reel_error *err) {
    struct ros_definition_step *steps = steps_of(d, t);
    bool ordered = true;
    for (uint32_t i = 0; i < t->count; i++) {
        steps[i].id = steps[i].id != ROS_NEXT_ID ? steps[i].id : i > 0 ? steps[i - 1].id + 1 : 0;
        ordered = ordered && steps[i].id == i;
    }
    if (ordered || t->form != ROS_STRUCT) {
        return true;
    }
    uint32_t *by_id = arena_alloc(&d->arena, t->count * sizeof *by_id);
    if (!by_id) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        by_id[i] = i;
    }
    qsort_r(by_id, t->count, sizeof *by_id, by_member_id, steps);
    for (uint32_t i = 1; i < t->count; i++) {
        if (steps[by_id[i]].id == steps[by_id[i - 1]].id) {
            return reel_fail(err, REEL_DAMAGED, "two members of %.128s have the id %u", t->name, steps[by_id[i]].id);
        }
    }
    t->by_id = by_id;
    return true;
}

/* Keys of JSON are texts. */
static bool link_form(const struct ros_definition *d, const struct ros_definition_type *t, struct reel_error *err) {
    const struct ros_definition_step *s = steps_of(d, t);
    bool integer = t->count > 0 && s->many == ROS_ONE && s->kind < REEL_F32;
    if (t->form == ROS_UNION && !integer) {
        return reel_fail(err, REEL_UNSUPPORTED, "%.128s: a union whose discriminator is not an integer", t->name);
    }
    if (t->form == ROS_MAP && !integer && !(s->many == ROS_ONE && s->kind == ROS_VALUE_TEXT)) {
        return reel_fail(err, REEL_UNSUPPORTED, "a map whose keys are neither texts nor integers");
    }
    return true;
}

/* What definitions in the .msg format cannot say of the step; NULL: nothing. */
static const char *beyond_msg(const struct ros_definition *d, const struct ros_definition_step *s) {
    return s->optional                           ? "optional fields"
           : s->kind == ROS_VALUE_LONG_DOUBLE    ? "long double"
           : s->kind != ROS_VALUE_TYPE           ? NULL
           : d->types[s->type].form == ROS_ALIAS ? "lists of lists"
                                                 : d->types[s->type].beyond;
}

/* What decoders and translation need to know of the type. */
static void link_traits(struct ros_definition *d, struct ros_definition_type *t) {
    t->beyond = t->form == ROS_UNION              ? "unions"
                : t->form == ROS_MAP              ? "maps"
                : t->extensibility == ROS_MUTABLE ? "mutable types"
                                                  : NULL;
    d->has_mutable = d->has_mutable || t->extensibility == ROS_MUTABLE;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct ros_definition_step *s = &d->steps[t->first + i];
        bool list = s->many != ROS_ONE && (s->is_enum || !ros_definition_is_number(s));
        d->varies = d->varies || list || s->kind == ROS_VALUE_TYPE;
        t->required += !s->optional && !s->hidden;
        t->beyond = t->beyond ? t->beyond : beyond_msg(d, s);
    }
}

static bool link_steps(struct ros_definition *d, uint32_t type, uint32_t level, struct reel_error *err) {
    for (uint32_t i = 0; i < d->types[type].count; i++) {
        uint32_t depth, step = d->types[type].first + i;
        if (!link_step(d, d->types[type].name, step, level, &depth, err)) {
            return false;
        }
        depth += (d->types[type].form != ROS_ALIAS) + (d->steps[step].many != ROS_ONE);
        d->types[type].depth = depth > d->types[type].depth ? depth : d->types[type].depth;
    }
    return true;
}

static bool link_type(struct ros_definition *d, uint32_t type, uint32_t level, struct reel_error *err) {
    struct ros_definition_type *t = &d->types[type]; /* no types are added while linking */
    if (t->state == DONE) {
        return true;
    }
    if (t->state == OPEN) {
        return reel_fail(err, REEL_DAMAGED, "%.128s holds itself", t->name);
    }
    if (level > REEL_DEPTH_MAX) {
        return reel_fail(err, REEL_LIMIT, "types nest deeper than %d", REEL_DEPTH_MAX);
    }
    t->state = OPEN;
    t->depth = 1;
    if (!link_base(d, type, level, err) || !link_steps(d, type, level, err)) {
        return false;
    }
    if (t->depth > REEL_DEPTH_MAX) {
        return reel_fail(err, REEL_LIMIT, "types nest deeper than %d", REEL_DEPTH_MAX);
    }
    if (!link_form(d, t, err) || !link_ids(d, t, err)) {
        return false;
    }
    ros_definition_link_measure(d, t);
    link_traits(d, t);
    t->stamp = ros_definition_link_stamp_of(d, t);
    t->state = DONE;
    return true;
}

bool ros_definition_link(struct ros_definition *d, const char *top, struct reel_error *err) {
    char name[ROS_NAME_ROOM];
    if (!ros_definition_sort(d, err)) {
        return false;
    }
    for (int whole = 1; whole >= 0; whole--) {
        if (ros_type_name(bytes_text(top), whole, name) && ros_definition_find(d, name, &d->top)) {
            if (d->types[d->top].form != ROS_STRUCT && d->types[d->top].form != ROS_UNION) {
                return reel_fail(err, REEL_UNSUPPORTED, "this is neither a struct nor a union");
            }
            return link_type(d, d->top, 1, err) && ros_definition_link_members(d, err);
        }
    }
    return reel_fail(err, REEL_UNSUPPORTED, "the type itself is not in the recording's definition");
}
