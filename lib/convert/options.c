/* See options.h. */
#include "convert/options.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "reel/time.h"

const struct reel_write_option *reel_write_option_find(const struct reel_write_option *options, const char *name) {
    for (const struct reel_write_option *o = options; o && o->name; o++) {
        if (strcmp(o->name, name) == 0) {
            return o;
        }
    }
    return NULL;
}

static bool parse_flag(const char *text, uint64_t *number, struct reel_error *err) {
    *number = !text || text[0] == '\0' || strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    return *number == 1 || strcmp(text, "0") == 0 || strcmp(text, "false") == 0 ||
           reel_fail(err, REEL_ARGUMENT, "must be true or false");
}

static bool in_range(const struct reel_write_option *o, uint64_t number) {
    return number >= o->least && (o->most == 0 || number <= o->most);
}

static bool parse_number(const struct reel_write_option *o, const char *text, uint64_t *number,
                         struct reel_error *err) {
    return (number_u64(text, number) && in_range(o, *number)) ||
           reel_fail(err, REEL_ARGUMENT, "must be a whole number from %llu to %llu", (unsigned long long)o->least,
                     (unsigned long long)(o->most > 0 ? o->most : UINT64_MAX));
}

static bool parse_duration(const struct reel_write_option *o, const char *text, uint64_t *number,
                           struct reel_error *err) {
    int64_t ns; /* positive */
    if (!reel_duration_parse(text, &ns, err)) {
        return false;
    }
    *number = (uint64_t)ns;
    return in_range(o, *number) ||
           reel_fail(err, REEL_ARGUMENT, "must be a duration from %llu to %llu ns", (unsigned long long)o->least,
                     (unsigned long long)(o->most > 0 ? o->most : INT64_MAX));
}

static bool parse_choice(const struct reel_write_option *o, const char *text, struct reel_error *err) {
    char list[256] = "";
    for (size_t i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", o->choices[i]);
    }
    return reel_fail(err, REEL_ARGUMENT, "must be one of %s", list);
}

bool reel_write_option_parse(const struct reel_write_option *o, const char *text, struct reel_write_value *value,
                             struct reel_error *err) {
    *value = (struct reel_write_value){.name = o->name, .text = ""};
    switch (o->type) {
    case REEL_OPTION_FLAG:
        return parse_flag(text, &value->number, err);
    case REEL_OPTION_UINT:
    case REEL_OPTION_BYTES:
        return parse_number(o, text, &value->number, err);
    case REEL_OPTION_DURATION:
        return parse_duration(o, text, &value->number, err);
    case REEL_OPTION_CHOICE:
        value->text = text;
        return parse_choice(o, text, err);
    case REEL_OPTION_GLOBS:
        value->text = text;
        return true;
    }
    return false;
}

bool reel_write_values_add(struct reel_write_values *values, const struct reel_write_option *o, const char *text,
                           struct reel_error *err) {
    struct reel_write_value value;
    uint32_t given = 0, at = values->n;
    if (!reel_write_option_parse(o, text, &value, err)) {
        return false;
    }
    for (uint32_t i = 0; i < values->n; i++) {
        bool same = strcmp(values->items[i].name, o->name) == 0;
        given += same;
        at = same && o->type != REEL_OPTION_GLOBS ? i : at;
    }
    if (o->type == REEL_OPTION_GLOBS && o->most > 0 && given >= o->most) {
        return reel_fail(err, REEL_LIMIT, "may be given at most %llu times", (unsigned long long)o->most);
    }
    if (at == REEL_WRITE_VALUES_MAX) {
        return reel_fail(err, REEL_LIMIT, "there are more than %d options", REEL_WRITE_VALUES_MAX);
    }
    values->items[at] = value;
    values->n += at == values->n;
    return true;
}

bool reel_write_values_find(const struct reel_write_option *options, const struct reel_write_value *values, uint32_t n,
                            const char *name, uint32_t i, struct reel_write_value *value) {
    uint32_t found = 0;
    for (uint32_t v = 0; v < n; v++) {
        if (strcmp(values[v].name, name) == 0 && found++ == i) {
            *value = values[v];
            return true;
        }
    }
    const struct reel_write_option *o = reel_write_option_find(options, name);
    assert(o);
    return found == 0 && i == 0 && o->initial && reel_write_option_parse(o, o->initial, value, NULL);
}
