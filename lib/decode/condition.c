/* See condition.h. */
#include "decode/condition.h"

#include "decode/decoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/number.h"
#include "reel/time.h"

/* ---- text: any = all ("or" all)*; all = one ("and" one)*; one = "(" any ")" | FIELD OPERATOR VALUE. A value ends at
 * " and ", " or " or ")", unless it is in double quotes. */

enum { NESTING_MAX = 32 };
#define SPACES " \t\r\n"

struct parser {
    struct conditions *out;
    const char *text, *at;
    unsigned depth;
    struct reel_error *err;
};

static void skip_spaces(struct parser *p) {
    p->at += strspn(p->at, SPACES);
}

static bool condition_refuse(struct parser *p, const char *expected) {
    return reel_fail(p->err, REEL_ARGUMENT, "where: character %zu: %s is expected", (size_t)(p->at - p->text) + 1,
                     expected);
}

/* "and" or "or" here, as a word of its own. */
static bool condition_is_word(const char *at, const char *word) {
    size_t size = strlen(word);
    /* or the end, which strchr() finds, too */
    return ascii_ncasecmp(at, word, size) == 0 && strchr(SPACES "(", at[size]);
}

/* Where the value ends that begins here, without spaces behind it. */
static const char *value_end(const char *at) {
    const char *end = at;
    for (; *at && *at != ')'; at++) {
        if (strchr(SPACES, *at)) {
            const char *next = at + strspn(at, SPACES);
            if (condition_is_word(next, "and") || condition_is_word(next, "or")) {
                break;
            }
        } else {
            end = at + 1;
        }
    }
    return end;
}

/* Moves behind the operator that begins at *at, if one does. */
static bool take_operator(const char **at, enum comparison *comparison) {
    static const struct {
        const char *sign;
        enum comparison comparison;
    } known[] = {{">=", IS_AT_LEAST}, {"<=", IS_AT_MOST}, {"!=", IS_NOT_EQUAL}, {"==", IS_EQUAL},
                 {"=", IS_EQUAL},     {">", IS_MORE},     {"<", IS_LESS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t size = strlen(known[i].sign);
        if (strncmp(*at, known[i].sign, size) == 0) {
            *comparison = known[i].comparison;
            *at += size;
            return true;
        }
    }
    return false;
}

static void set_integer(struct condition *c, __int128 integer) {
    c->is_integer = true;
    c->integer = integer;
    c->number = (double)integer;
}

/* The digits of a number that number_real() has read. */
static void read_integer(struct condition *c) {
    const char *digits = c->value + strspn(c->value, SPACES "\v\f");
    int64_t number;
    uint64_t natural;
    digits += *digits == '+';
    if (number_i64(digits, &number)) {
        set_integer(c, number);
    } else if (number_u64(digits, &natural)) {
        set_integer(c, natural);
    }
}

/* What the value may mean besides a text: true and false are 1 and 0, as bools are. */
static void condition_read_value(struct condition *c) {
    struct reel_time time;
    if (number_real(c->value, &c->number)) {
        c->is_number = c->is_time = true;
        read_integer(c);
    } else if (strcmp(c->value, "true") == 0 || strcmp(c->value, "false") == 0) {
        c->is_number = true;
        set_integer(c, c->value[0] == 't');
    } else if (reel_time_parse(c->value, 1, &time, NULL) && time.kind == REEL_TIME_ABSOLUTE) {
        c->is_time = true;
        set_integer(c, time.ns);
    }
}

static bool parse_condition(struct parser *p, struct condition *c) {
    size_t name = strcspn(p->at, "<>=!");
    const char *value = p->at + name;
    if (!take_operator(&value, &c->comparison) || name == 0) {
        return condition_refuse(p, "a condition, such as /topic.path>0.5,");
    }
    value += strspn(value, SPACES);
    bool quoted = *value == '"';
    value += quoted;
    const char *end = quoted ? strchr(value, '"') : value_end(value);
    if (!end || (!quoted && end == value)) {
        return condition_refuse(p, !end ? "a second \"" : "a value behind the operator");
    }
    while (name > 0 && strchr(SPACES, p->at[name - 1])) {
        name--;
    }
    c->field = strndup(p->at, name);
    c->value = strndup(value, (size_t)(end - value));
    if (!c->field || !c->value) {
        return reel_fail_memory(p->err);
    }
    condition_read_value(c);
    p->at = end + quoted;
    return true;
}

static bool condition_add_node(struct parser *p, struct condition_node node, uint32_t *out) {
    struct conditions *all = p->out;
    if (all->n_nodes == CONDITION_NODES_MAX) {
        return reel_fail(p->err, REEL_ARGUMENT, "where: at most %d conditions", CONDITIONS_MAX);
    }
    *out = all->n_nodes;
    all->nodes[all->n_nodes++] = node;
    return true;
}

static bool parse_any(struct parser *p, uint32_t *out);

static bool parse_one(struct parser *p, uint32_t *out) {
    skip_spaces(p);
    if (*p->at == '(') {
        p->at++;
        if (++p->depth > NESTING_MAX) {
            return reel_fail(p->err, REEL_ARGUMENT, "where: more than %d parentheses in each other", NESTING_MAX);
        }
        if (!parse_any(p, out)) {
            return false;
        }
        skip_spaces(p);
        if (*p->at != ')') {
            return condition_refuse(p, "\")\"");
        }
        p->at++;
        p->depth--;
        return true;
    }
    struct conditions *all = p->out;
    if (all->n == CONDITIONS_MAX) {
        return reel_fail(p->err, REEL_ARGUMENT, "where: at most %d conditions", CONDITIONS_MAX);
    }
    uint32_t i = all->n++;
    return parse_condition(p, &all->items[i]) &&
           condition_add_node(p, (struct condition_node){.kind = NODE_CONDITION, .left = i}, out);
}

static bool parse_joined(struct parser *p, const char *word, bool (*parse)(struct parser *p, uint32_t *out),
                         uint32_t *out) {
    if (!parse(p, out)) {
        return false;
    }
    for (skip_spaces(p); condition_is_word(p->at, word); skip_spaces(p)) {
        struct condition_node node = {.kind = word[0] == 'a' ? NODE_AND : NODE_OR, .left = *out};
        p->at += strlen(word);
        if (!parse(p, &node.right) || !condition_add_node(p, node, out)) {
            return false;
        }
    }
    return true;
}

static bool parse_all(struct parser *p, uint32_t *out) {
    return parse_joined(p, "and", parse_one, out);
}
static bool parse_any(struct parser *p, uint32_t *out) {
    return parse_joined(p, "or", parse_all, out);
}

static bool parse_texts(const char *const *where, uint32_t n, struct conditions *out, struct reel_error *err) {
    for (uint32_t i = 0; i < n; i++) {
        struct parser p = {.out = out, .text = where[i], .at = where[i], .err = err};
        struct condition_node node = {.kind = NODE_AND, .left = out->root};
        if (!parse_any(&p, &node.right) || (*p.at != '\0' && !condition_refuse(&p, "\"and\", \"or\" or the end"))) {
            return false;
        }
        out->root = node.right;
        if (i > 0 && !condition_add_node(&p, node, &out->root)) {
            return false;
        }
    }
    return n > 0 || reel_fail(err, REEL_ARGUMENT, "where: a condition is needed, such as /topic.path>0.5");
}

bool conditions_parse(const char *const *where, uint32_t n, struct conditions *out, struct reel_error *err) {
    *out = (struct conditions){0};
    bool good = parse_texts(where, n, out, err);
    if (!good) {
        conditions_done(out);
    }
    return good;
}

void conditions_done(struct conditions *c) {
    for (uint32_t i = 0; i < c->n; i++) {
        free(c->items[i].field);
        free(c->items[i].value);
    }
    *c = (struct conditions){0};
}

/* ---- one value */

static struct value *condition_self(struct reel_visitor *v) {
    return (struct value *)v;
}

static bool condition_on_real(struct reel_visitor *v, double value) {
    struct value *f = condition_self(v);
    if (f->depth == 0) {
        f->kind = VALUE_NUMBER;
        f->is_integer = false;
        f->number = value;
    }
    return true;
}
static bool keep_integer(struct reel_visitor *v, enum value_kind kind, __int128 integer, double number) {
    struct value *f = condition_self(v);
    if (f->depth == 0) {
        f->kind = kind;
        f->is_integer = true;
        f->integer = integer;
        f->number = number;
    }
    return true;
}
static bool condition_on_boolean(struct reel_visitor *v, bool value) {
    return keep_integer(v, VALUE_NUMBER, value, value);
}
static bool condition_on_integer(struct reel_visitor *v, int64_t value) {
    return keep_integer(v, VALUE_NUMBER, value, (double)value);
}
static bool condition_on_natural(struct reel_visitor *v, uint64_t value) {
    return keep_integer(v, VALUE_NUMBER, value, (double)value);
}
static bool condition_on_real32(struct reel_visitor *v, float value) {
    return condition_on_real(v, (double)value);
}
double value_of_stamp(const struct reel_stamp *stamp) {
    return (double)stamp->seconds * 1e9 + (double)stamp->nanoseconds;
}
static bool on_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    return keep_integer(v, VALUE_TIME, (__int128)value->seconds * 1000000000 + value->nanoseconds,
                        value_of_stamp(value));
}
/* It is compared at once: it may be long, and is valid no longer. */
static bool condition_on_text(struct reel_visitor *v, struct reel_bytes value) {
    struct value *f = condition_self(v);
    if (f->depth == 0) {
        f->kind = VALUE_TEXT;
        for (uint32_t i = 0; i < CONDITIONS_MAX; i++) {
            if (f->about & UINT32_C(1) << i) {
                f->orders[i] = bytes_compare(value, bytes_text(f->conditions[i].value));
            }
        }
    }
    return true;
}
static bool condition_on_begin(struct reel_visitor *v) {
    condition_self(v)->depth++;
    return true;
}
static bool condition_on_end(struct reel_visitor *v) {
    condition_self(v)->depth--;
    return true;
}
static bool condition_on_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data,
                                 unsigned columns) {
    (void)v, (void)type, (void)data, (void)columns;
    return true;
}
static const struct reel_visitor_ops value_ops = {.begin_map = condition_on_begin,
                                                  .end_map = condition_on_end,
                                                  .begin_list = condition_on_begin,
                                                  .end_list = condition_on_end,
                                                  .boolean = condition_on_boolean,
                                                  .integer = condition_on_integer,
                                                  .natural = condition_on_natural,
                                                  .real = condition_on_real,
                                                  .real32 = condition_on_real32,
                                                  .text = condition_on_text,
                                                  .numbers = condition_on_numbers,
                                                  .stamp = on_stamp};

/* ---- comparing */

static bool has_order(enum comparison comparison, int order) {
    switch (comparison) {
    case IS_EQUAL:
        return order == 0;
    case IS_NOT_EQUAL:
        return order != 0;
    case IS_LESS:
        return order < 0;
    case IS_MORE:
        return order > 0;
    case IS_AT_MOST:
        return order <= 0;
    case IS_AT_LEAST:
        return order >= 0;
    }
    return false;
}

static int sign_of(bool more, bool less) {
    return more - less;
}

/* An integer and a double that is not NaN, exactly. */
static int compare_integer(__int128 integer, double number) {
    if (fabs(number) >= 0x1p126) {
        return number > 0 ? -1 : 1;
    }
    __int128 whole = (__int128)number;
    double rest = number - (double)whole;
    return integer != whole ? sign_of(integer > whole, integer < whole) : sign_of(rest<0, rest> 0);
}

static int compare_real(double number, const struct condition *c) {
    return c->is_integer ? -compare_integer(c->integer, number) : sign_of(number > c->number, number < c->number);
}

static bool real_holds(const struct condition *c, double number) {
    if (isnan(number) || isnan(c->number)) { /* NaN is equal to nothing */
        return c->comparison == IS_NOT_EQUAL;
    }
    return has_order(c->comparison, compare_real(number, c));
}

static bool integer_holds(const struct condition *c, __int128 integer) {
    if (c->is_integer) {
        return has_order(c->comparison, sign_of(integer > c->integer, integer < c->integer));
    }
    return isnan(c->number) ? c->comparison == IS_NOT_EQUAL
                            : has_order(c->comparison, compare_integer(integer, c->number));
}

static bool number_holds(const struct condition *c, const struct value *value) {
    return value->is_integer ? integer_holds(c, value->integer) : real_holds(c, value->number);
}

static bool condition_holds(const struct conditions *all, uint32_t i, const struct value *value) {
    const struct condition *c = &all->items[i];
    switch (value->kind) {
    case VALUE_NONE:
        return false;
    case VALUE_NUMBER:
        return c->is_number && number_holds(c, value);
    case VALUE_TIME:
        return c->is_time && number_holds(c, value);
    case VALUE_TEXT:
        return has_order(c->comparison, value->orders[i]);
    }
    return false;
}

/* The range is one of doubles. From 2^53 on an integer may have been rounded to them: it lies between their neighbours.
 */
static double beyond(double number, double towards) {
    return fabs(number) >= 0x1p53 ? nextafter(number, towards) : number;
}

/* Of numbers from min to max that include both, as far as they were not rounded. */
static enum truth range_truth(const struct condition *c, double min, double max) {
    double from = beyond(min, -INFINITY), to = beyond(max, INFINITY);
    bool low = real_holds(c, from), high = real_holds(c, to),
         between = !isnan(c->number) && compare_real(from, c) < 0 && compare_real(to, c) > 0;
    if (low != high || (between && (c->comparison == IS_EQUAL || c->comparison == IS_NOT_EQUAL))) {
        return TRUTH_MAYBE;
    }
    return low ? TRUTH_YES : TRUTH_NO;
}

enum truth condition_truth(const struct condition *c, const struct value_range *range) {
    bool comparable = range->are_times ? c->is_time : c->is_number;
    enum truth numbers = comparable && range->numbers > 0 ? range_truth(c, range->min, range->max) : TRUTH_NO;
    bool nans = comparable && range->nans > 0 && real_holds(c, NAN);
    bool some = numbers != TRUTH_NO || nans || range->has_texts;
    bool all = (range->numbers == 0 || numbers == TRUTH_YES) && (range->nans == 0 || nans) && range->missing == 0 &&
               !range->has_texts;
    return !some ? TRUTH_NO : all ? TRUTH_YES : TRUTH_MAYBE;
}

/* ---- all of them */

/* A node stands behind those that it joins. */
enum truth conditions_truth(const struct conditions *c, const enum truth each[CONDITIONS_MAX]) {
    enum truth all[CONDITION_NODES_MAX];
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        const struct condition_node *n = &c->nodes[i];
        if (n->kind == NODE_CONDITION) {
            all[i] = each[n->left];
            continue;
        }
        enum truth a = all[n->left], b = all[n->right];
        bool first = b == TRUTH_NONE || (a != TRUTH_NONE && (n->kind == NODE_AND) == (a < b));
        all[i] = first ? a : b;
    }
    return all[c->root];
}

bool condition_reader_add(struct condition_reader *r, uint32_t condition, const char *path, struct reel_error *err) {
    char normal[FIELD_PATH_MAX];
    if (!field_path_normal(path, normal)) {
        return reel_fail(err, REEL_ARGUMENT, "where: \"%.64s\" is not a field", path);
    }
    if ((!r->paths && !(r->paths = field_set_new(NULL, 0, err))) || !field_set_add(r->paths, normal, err)) {
        return false;
    }
    r->conditions |= UINT32_C(1) << condition;
    for (uint32_t i = 0; i < field_set_count(r->paths); i++) {
        if (strcmp(field_set_name(r->paths, i), normal) == 0) {
            r->columns[condition] = i;
        }
    }
    return true;
}

void condition_reader_done(struct condition_reader *r) {
    reel_decoder_free(r->decoder);
    field_set_free(r->paths);
    *r = (struct condition_reader){0};
}

static struct reel_visitor *open_value(void *context, uint32_t column) {
    return &((struct value *)context)[column].visitor;
}
static bool close_value(void *context, uint32_t column) {
    (void)context;
    (void)column;
    return true;
}

bool condition_reader_read(const struct condition_reader *r, const struct conditions *c,
                           const struct reel_bytes *payload, struct value values[CONDITIONS_MAX],
                           struct reel_error *err) {
    struct field_picker picker = {.set = r->paths, .open = open_value, .close = close_value, .context = values};
    for (uint32_t i = 0; i < field_set_count(r->paths); i++) {
        values[i].visitor.ops = &value_ops;
        values[i].kind = VALUE_NONE;
        values[i].depth = values[i].about = 0;
        values[i].conditions = c->items;
    }
    for (uint32_t i = 0; i < c->n; i++) {
        if (r->conditions & UINT32_C(1) << i) {
            values[r->columns[i]].about |= UINT32_C(1) << i;
        }
    }
    if (!r->decoder || !payload) {
        return true;
    }
    field_picker_start(&picker);
    return decode_try(r->decoder, *payload, &picker.visitor, NULL, err); /* what is damaged has what was found before */
}

void condition_reader_truths(const struct condition_reader *r, const struct conditions *c,
                             const struct value values[CONDITIONS_MAX], enum truth each[CONDITIONS_MAX]) {
    for (uint32_t i = 0; i < c->n; i++) {
        if (r->conditions & UINT32_C(1) << i) {
            each[i] = condition_holds(c, i, &values[r->columns[i]]) ? TRUTH_YES : TRUTH_NO;
        }
    }
}
