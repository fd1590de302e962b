/* Finds constants and enumerators (idl_constants.h). Everything else is passed over: what is wrong there is found when
 * the types are read. */
#include "formats/ros/idl_constants.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/limits.h"
#include "formats/ros/text.h"

enum { SCOPES_MAX = 64 };

struct collecting {
    struct idl_constants *constants;
    struct idl_lexer l;
    char scope[ROS_NAME_ROOM];
    uint16_t lengths[SCOPES_MAX]; /* by open brace: the length of the scope before it */
    uint32_t depth;
    struct reel_error *err;
};

void idl_constants_free(struct idl_constants *c) {
    hash_table_free(&c->by_name);
    free(c->items);
}

static bool idl_put_name(struct collecting *c, const char *group, struct reel_bytes name) {
    char path[3 * ROS_NAME_ROOM];
    if (name.size >= ROS_NAME_ROOM) {
        return true; /* no name can be as long as this */
    }
    int n = snprintf(path, sizeof path, "%s%s%s%s%.*s", c->scope, c->scope[0] ? "/" : "", group, group[0] ? "/" : "",
                     (int)name.size, (const char *)name.data);
    const uint8_t *kept = arena_copy(c->constants->arena, path, (size_t)n);
    struct hash_key key = hash_key_bytes(bytes_of(kept, (size_t)n));
    if (!kept) {
        return reel_fail_memory(c->err);
    }
    return hash_table_get(&c->constants->by_name, key) > 0 ||
           hash_table_set(&c->constants->by_name, key, c->constants->n, c->err);
}

static struct idl_constant *idl_add_constant(struct collecting *c, struct reel_bytes text, uint32_t line) {
    struct idl_constants *all = c->constants;
    if (all->n == REEL_DEFINITION_CONSTANTS_MAX) {
        reel_fail(c->err, REEL_LIMIT, "a definition of more than %d constants", REEL_DEFINITION_CONSTANTS_MAX);
        return NULL;
    }
    const char *scope = arena_text(all->arena, c->scope);
    if (!scope || !GROW_ARRAY(all->items, all->n, all->room)) {
        reel_fail_memory(c->err);
        return NULL;
    }
    all->items[all->n] = (struct idl_constant){.scope = scope, .text = text, .line = line};
    return &all->items[all->n++];
}

/* The tokens up to `end`, which is not in brackets. */
static struct reel_bytes idl_text_until(struct idl_lexer *l, const char *end, const char *or_end) {
    const uint8_t *begin = l->token.data, *last = begin;
    while (l->token.size > 0 && !idl_is(l, end) && !idl_is(l, or_end)) {
        bool bracket = idl_is(l, "(");
        if (!bracket) {
            last = l->at;
            idl_next(l);
        } else if (idl_skip_brackets(l)) {
            last = l->token.data;
        }
    }
    return bytes_of(begin, (size_t)(last - begin));
}

/* const TYPE NAME = expression; */
static bool idl_collect_constant(struct collecting *c) {
    struct reel_bytes name = bytes_of("", 0);
    while (c->l.token.size > 0 && !idl_is(&c->l, "=") && !idl_is(&c->l, ";")) {
        name = c->l.token;
        idl_next(&c->l);
    }
    if (!idl_accept(&c->l, "=")) {
        return true;
    }
    uint32_t line = c->l.line;
    return idl_add_constant(c, idl_text_until(&c->l, ";", ";"), line) && idl_put_name(c, "", name);
}

/* @value(expression); other annotations are passed over. */
static void idl_collect_value(struct collecting *c, struct reel_bytes *value) {
    bool is_value = idl_accept(&c->l, "value");
    if (!is_value) {
        idl_next(&c->l);
    }
    if (is_value && idl_accept(&c->l, "(")) {
        *value = idl_text_until(&c->l, ")", ")");
        idl_accept(&c->l, ")");
    } else if (idl_is(&c->l, "(")) {
        idl_skip_brackets(&c->l);
    }
}

/* enum NAME { @value(1) A, B, … } */
static bool idl_collect_enum(struct collecting *c) {
    char group[ROS_NAME_ROOM];
    struct reel_bytes text = bytes_of("0", 1), value = text;
    uint32_t more = 0;
    snprintf(group, sizeof group, "%.*s", (int)(c->l.token.size < ROS_NAME_ROOM ? c->l.token.size : 0),
             (const char *)c->l.token.data);
    idl_next(&c->l);
    if (!idl_accept(&c->l, "{")) {
        return true;
    }
    while (c->l.token.size > 0 && !idl_accept(&c->l, "}")) {
        if (idl_accept(&c->l, "@")) {
            idl_collect_value(c, &value);
            continue;
        }
        more = value.data == text.data ? more : 0;
        text = value;
        if (idl_is_word(&c->l)) {
            struct idl_constant *added = idl_add_constant(c, text, c->l.line);
            if (!added || !idl_put_name(c, "", c->l.token) || !idl_put_name(c, group, c->l.token)) {
                return false;
            }
            added->more = more++;
        }
        idl_next(&c->l);
    }
    return true;
}

static bool idl_open_brace(struct collecting *c, struct reel_bytes module) {
    size_t size = strlen(c->scope);
    if (c->depth == SCOPES_MAX || size + 1 + module.size >= sizeof c->scope) {
        return reel_fail(c->err, REEL_LIMIT, "line %u: modules nest too deep", c->l.line);
    }
    c->lengths[c->depth++] = (uint16_t)size;
    if (module.size > 0) {
        snprintf(c->scope + size, sizeof c->scope - size, "%s%.*s", size > 0 ? "/" : "", (int)module.size,
                 (const char *)module.data);
    }
    return true;
}

static bool idl_collect_one(struct collecting *c) {
    struct reel_bytes module = bytes_of("", 0);
    if (idl_accept(&c->l, "module")) {
        module = c->l.token;
        idl_next(&c->l);
        return !idl_accept(&c->l, "{") || idl_open_brace(c, module);
    }
    if (idl_accept(&c->l, "{")) {
        return idl_open_brace(c, module);
    }
    if (idl_accept(&c->l, "}")) {
        c->depth -= c->depth > 0;
        c->scope[c->depth < SCOPES_MAX ? c->lengths[c->depth] : 0] = '\0';
        return true;
    }
    if (idl_accept(&c->l, "const")) {
        return idl_collect_constant(c);
    }
    if (idl_accept(&c->l, "enum")) {
        return idl_collect_enum(c);
    }
    idl_next(&c->l);
    return true;
}

bool idl_constants_collect(struct idl_constants *constants, struct reel_bytes text, struct reel_error *err) {
    struct collecting c = {.constants = constants, .l = idl_lexer_of(text, 1), .err = err};
    while (c.l.token.size > 0) {
        if (!idl_collect_one(&c)) {
            return false;
        }
    }
    return true;
}
