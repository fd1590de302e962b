/* Evaluates expressions (idl_constants.h): integers of 64 bits that wrap, booleans and characters. A constant is
 * evaluated when it is first used. */
#include "formats/ros/idl_constants.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "formats/ros/text.h"

struct evaluating {
    struct idl_constants *constants;
    struct idl_lexer *l;
    const struct idl_place *place;
    uint32_t depth;
    struct reel_error *err;
};

/* ---- literals */

static unsigned idl_digit(uint8_t c) { /* 99: none */
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 99;
    return (unsigned)digit;
}

static bool idl_number(struct evaluating *e, int64_t *out) {
    struct reel_bytes t = e->l->token;
    bool hex = t.size > 2 && t.data[0] == '0' && (t.data[1] | 32) == 'x',
         octal = !hex && t.size > 1 && t.data[0] == '0';
    unsigned base = hex ? 16 : octal ? 8 : 10;
    uint64_t value = 0;
    for (size_t i = hex ? 2 : 0; i < t.size; i++) {
        unsigned digit = idl_digit(t.data[i]);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return idl_refuse(e->l, REEL_UNSUPPORTED, "this is not an integer", e->err);
        }
    }
    idl_next(e->l);
    *out = (int64_t)value;
    return true;
}

/* 'a', '\n', '\x41', '\101' */
static bool idl_character(struct evaluating *e, int64_t *out) {
    static const char letters[] = "ntvbrfa", values[] = "\n\t\v\b\r\f\a";
    struct reel_bytes t = e->l->token;
    *out = t.size > 1 ? t.data[1] : 0;
    if (t.size > 3 && t.data[1] == '\\') {
        bool hex = t.data[2] == 'x';
        const char *letter = strchr(letters, t.data[2]);
        int64_t value = letter && t.data[2] ? values[letter - letters] : t.data[2];
        if (hex || idl_digit(t.data[2]) < 8) {
            value = 0;
            for (size_t i = hex ? 3 : 2; i + 1 < t.size && i < 6; i++) {
                value = value * (hex ? 16 : 8) + (int64_t)idl_digit(t.data[i]);
            }
        }
        *out = value;
    }
    idl_next(e->l);
    return true;
}

/* ---- names */

/* NAME, seen from `scope` outwards; with `group`, from "SCOPE/GROUP". */
static struct idl_constant *idl_find(struct idl_constants *c, const char *scope, const char *group, const char *name) {
    char path[3 * ROS_NAME_ROOM];
    size_t size = strlen(scope);
    for (;;) {
        int n = snprintf(path, sizeof path, "%.*s%s%s%s%s", (int)size, scope, size > 0 ? "/" : "", group,
                         group[0] ? "/" : "", name);
        c->lookups++;
        uintptr_t found = hash_table_get(&c->by_name, hash_key_bytes(bytes_of(path, (size_t)n)));
        if (found > 0 || size == 0) {
            return found > 0 ? &c->items[found - 1] : NULL;
        }
        while (size > 0 && scope[size - 1] != '/') {
            size--;
        }
        size -= size > 0;
    }
}

static bool idl_any(struct evaluating *e, unsigned level, int64_t *out);

/* Evaluates it only once: its text may be as long as the definition. */
static bool idl_value_of(struct evaluating *e, struct idl_constant *constant) {
    if (constant->is_tried) {
        return constant->is_known || idl_refuse(e->l, REEL_UNSUPPORTED, "this is a constant without a value", e->err);
    }
    constant->is_tried = true;
    const struct idl_place place = {.scope = constant->scope};
    struct idl_lexer l = idl_lexer_of(constant->text, constant->line);
    struct evaluating inner = {
        .constants = e->constants, .l = &l, .place = &place, .depth = e->depth + 1, .err = e->err};
    constant->is_known = idl_any(&inner, 0, &constant->value) &&
                         (l.token.size == 0 || idl_refuse(&l, REEL_UNSUPPORTED, "this is not an integer", e->err));
    return constant->is_known;
}

static bool idl_named(struct evaluating *e, int64_t *out) {
    char name[ROS_NAME_ROOM], group[ROS_NAME_ROOM] = "";
    bool named = ros_type_name(e->l->token, true, name), grouped = false;
    if (named && e->place->enum_word) {
        grouped = ros_type_name(bytes_text(e->place->enum_word), true, group);
    }
    if (e->constants->lookups > REEL_EXPRESSION_LOOKUPS_MAX) {
        return idl_refuse(e->l, REEL_LIMIT, "expressions have too many names", e->err);
    }
    struct idl_constant *found = grouped ? idl_find(e->constants, e->place->scope, group, name) : NULL;
    found = found || !named ? found : idl_find(e->constants, e->place->scope, "", name);
    if (!found) {
        return idl_refuse(e->l, REEL_UNSUPPORTED, "this is not a number or a constant of the definition", e->err);
    }
    struct idl_constant *base = found - found->more;
    if (!idl_value_of(e, base)) {
        return false;
    }
    *out = (int64_t)((uint64_t)base->value + found->more);
    idl_next(e->l);
    return true;
}

/* ---- operators */

static bool idl_primary(struct evaluating *e, int64_t *out) {
    struct reel_bytes t = e->l->token;
    if (idl_accept(e->l, "(")) {
        const struct idl_place *place = e->place, open = {.scope = place->scope, .enum_word = place->enum_word};
        e->place = &open;
        bool good = idl_any(e, 0, out);
        e->place = place;
        return good && idl_need(e->l, ")", e->err);
    }
    if (idl_accept(e->l, "TRUE") || idl_accept(e->l, "FALSE")) {
        *out = t.data[0] == 'T';
        return true;
    }
    uint8_t first = t.size > 0 ? t.data[0] : 0;
    return first >= '0' && first <= '9' ? idl_number(e, out)
           : first == '\''              ? idl_character(e, out)
                                        : idl_named(e, out);
}

static bool idl_unary(struct evaluating *e, int64_t *out) {
    bool minus = idl_is(e->l, "-"), inverts = idl_is(e->l, "~");
    if (!minus && !inverts && !idl_is(e->l, "+")) {
        return idl_primary(e, out);
    }
    if (++e->depth > REEL_EXPRESSION_DEPTH_MAX) {
        return idl_refuse(e->l, REEL_LIMIT, "expressions nest too deep", e->err);
    }
    idl_next(e->l);
    bool good = idl_unary(e, out);
    e->depth--;
    if (good) {
        *out = inverts ? ~*out : minus ? (int64_t)(0 - (uint64_t)*out) : *out;
    }
    return good;
}

enum { LEVELS = 6 }; /* of binary operators, the loosest first */

/* The operator of this level at the token, which is passed; 0: none. Shifts have two tokens. */
static char idl_operator(struct evaluating *e, unsigned level) {
    static const char *const operators[LEVELS] = {"|", "^", "&", "<>", "+-", "*/%"};
    struct idl_lexer *l = e->l;
    if (l->token.size != 1 || !strchr(operators[level], l->token.data[0])) {
        return 0;
    }
    char found = (char)l->token.data[0];
    bool shift = found == '<' || found == '>';
    if (shift && ((e->place->is_bound && found == '>') || l->at == l->end || (char)*l->at != found)) {
        return 0;
    }
    idl_next(l);
    if (shift) {
        idl_next(l);
    }
    return found;
}

static bool idl_apply(struct evaluating *e, char operator, int64_t b, int64_t *a) {
    uint64_t x = (uint64_t)*a, y = (uint64_t)b;
    bool divides = operator== '/' || operator== '%';
    if (divides && (b == 0 || b == -1)) { /* -1: the quotient may not fit */
        *a = operator== '%' ? 0 : (int64_t)(0 - x);
        return b == -1 || idl_refuse(e->l, REEL_DAMAGED, "a division by zero", e->err);
    }
    switch (operator) {
    case '|':
        x |= y;
        break;
    case '^':
        x ^= y;
        break;
    case '&':
        x &= y;
        break;
    case '<':
        x = y < 64 ? x << y : 0;
        break;
    case '>':
        x = y < 64 ? (uint64_t)(*a >> y) : 0;
        break;
    case '+':
        x += y;
        break;
    case '-':
        x -= y;
        break;
    case '*':
        x *= y;
        break;
    default:
        x = (uint64_t)(operator== '/' ? *a / b : * a % b);
    }
    *a = (int64_t)x;
    return true;
}

static bool idl_any(struct evaluating *e, unsigned level, int64_t *out) {
    if (level == LEVELS) {
        return idl_unary(e, out);
    }
    if (level == 0 && ++e->depth > REEL_EXPRESSION_DEPTH_MAX) {
        return idl_refuse(e->l, REEL_LIMIT, "expressions nest too deep", e->err);
    }
    bool good = idl_any(e, level + 1, out);
    for (char found; good && (found = idl_operator(e, level));) {
        int64_t right;
        good = idl_any(e, level + 1, &right) && idl_apply(e, found, right, out);
    }
    e->depth -= level == 0;
    return good;
}

bool idl_expression(struct idl_constants *constants, struct idl_lexer *l, const struct idl_place *place, int64_t *value,
                    struct reel_error *err) {
    struct evaluating e = {.constants = constants, .l = l, .place = place, .err = err};
    return idl_any(&e, 0, value);
}
