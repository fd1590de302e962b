/* From the arguments of a call to the path and the query of its route. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/mcp/tools.h"
#include "base/c_locale.h"
#include "views/addresses.h"

struct target {
    FILE *f;
    const struct mcp_operation *operation;
    const json_t *arguments;
    struct reel_error *err;
    bool good;
    char next; /* what goes before the next parameter */
};

static bool put_value(FILE *f, const json_t *value) {
    C_LOCALE;
    char text[40];
    if (json_is_string(value)) {
        address_put_escaped(f, json_string_value(value));
        return true;
    }
    if (json_is_integer(value)) {
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        snprintf(text, sizeof text, "%.17g", json_real_value(value));
    } else if (json_is_boolean(value)) {
        snprintf(text, sizeof text, "%s", json_is_true(value) ? "true" : "false");
    } else {
        return false;
    }
    address_put_escaped(f, text);
    return true;
}

static void put_segment(void *context, const char *segment, const char *name) {
    struct target *t = context;
    const json_t *value = name ? json_object_get(t->arguments, name) : NULL;
    if (!t->good) {
        return;
    }
    fputc('/', t->f);
    if (!name) {
        fputs(segment, t->f);
        return;
    }
    const char *text = json_string_value(value);
    t->good = text && *text && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
    if (t->good) {
        address_put_escaped(t->f, text);
    } else {
        reel_fail(t->err, REEL_ARGUMENT, "\"%s\" is missing, or is not a text", name);
    }
}

static bool put_param(struct target *t, const char *name, const json_t *value) {
    fprintf(t->f, "%c%s=", t->next, name);
    t->next = '&';
    return put_value(t->f, value) ||
           reel_fail(t->err, REEL_ARGUMENT, "\"%s\" is neither a text nor a number nor true or false", name);
}

/* A parameter of the query, several times if it is an array. */
static bool put_argument(struct target *t, const char *name, const json_t *value) {
    size_t i;
    json_t *item;
    if (!json_is_array(value)) {
        return put_param(t, name, value);
    }
    json_array_foreach((json_t *)value, i, item) {
        if (!put_param(t, name, item)) {
            return false;
        }
    }
    return true;
}

struct named {
    const char *name;
    bool found;
};

static void compare(void *context, const char *segment, const char *name) {
    struct named *named = context;
    (void)segment;
    named->found = named->found || (name && strcmp(name, named->name) == 0);
}

static bool is_segment(const struct mcp_operation *o, const char *name) {
    struct named named = {.name = name};
    mcp_each_segment(o, compare, &named);
    return named.found;
}

static bool put_query(struct target *t, const struct mcp_tool *tool) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)t->arguments, name, value) {
        bool selects = t->operation->kind && strcmp(name, "kind") == 0,
             amount = tool->amount && strcmp(name, tool->amount) == 0;
        if (selects || is_segment(t->operation, name) || json_is_null(value)) {
            continue;
        }
        if (!mcp_param(t->operation, name)) {
            return reel_fail(t->err, REEL_ARGUMENT, "\"%.64s\" is no argument of this tool%s%s", name,
                             t->operation->kind ? " with kind=" : "", t->operation->kind ? t->operation->kind : "");
        }
        if (!amount && !put_argument(t, name, value)) {
            return false;
        }
    }
    return true;
}

bool mcp_put_target(FILE *f, const struct mcp_tool *tool, const struct mcp_operation *o, const json_t *arguments,
                    uint64_t amount, struct reel_error *err) {
    struct target t = {.f = f, .operation = o, .arguments = arguments, .err = err, .good = true, .next = '?'};
    mcp_each_segment(o, put_segment, &t);
    if (!t.good || !put_query(&t, tool)) {
        return false;
    }
    if (tool->amount && mcp_param(o, tool->amount)) {
        fprintf(f, "%c%s=%" PRIu64, t.next, tool->amount, amount);
        t.next = '&';
    }
    if (tool->output) {
        fprintf(f, "%coutput=%s", t.next, tool->output);
    }
    return true;
}
