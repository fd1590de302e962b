/* See condition.h. */
#include "decode/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
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

static bool refuse(struct parser *p, const char *expected) {
    return reel_fail(p->err, REEL_ARGUMENT, "where: character %zu: %s is expected", (size_t)(p->at - p->text) + 1,
                     expected);
}

/* "and" or "or" here, as a word of its own. */
static bool is_word(const char *at, const char *word) {
    size_t size = strlen(word);
    return ascii_ncasecmp(at, word, size) == 0 &&
           strchr(SPACES "(", at[size]); /* or the end, which strchr() finds, too */
}

/* Where the value ends that begins here, without spaces behind it. */
static const char *value_end(const char *at) {
    const char *end = at;
    for (; *at && *at != ')'; at++) {
        if (strchr(SPACES, *at)) {
            const char *next = at + strspn(at, SPACES);
            if (is_word(next, "and") || is_word(next, "or")) {
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

/* What the value may mean besides a text: true and false are 1 and 0, as bools are. */
static void read_value(struct condition *c) {
    struct reel_time time;
    c->is_number = c->is_time = number_real(c->value, &c->number);
    if (strcmp(c->value, "true") == 0 || strcmp(c->value, "false") == 0) {
        c->is_number = true;
        c->number = c->value[0] == 't';
    } else if (!c->is_number && reel_time_parse(c->value, 1, &time, NULL) && time.kind == REEL_TIME_ABSOLUTE) {
        c->is_time = true;
        c->number = (double)time.ns;
    }
}

static bool parse_condition(struct parser *p, struct condition *c) {
    size_t name = strcspn(p->at, "<>=!");
    const char *value = p->at + name;
    if (!take_operator(&value, &c->comparison) || name == 0) {
        return refuse(p, "a condition, such as /topic.path>0.5,");
    }
    value += strspn(value, SPACES);
    bool quoted = *value == '"';
    value += quoted;
    const char *end = quoted ? strchr(value, '"') : value_end(value);
    if (!end || (!quoted && end == value)) {
        return refuse(p, !end ? "a second \"" : "a value behind the operator");
    }
    while (name > 0 && strchr(SPACES, p->at[name - 1])) {
        name--;
    }
    c->field = strndup(p->at, name);
    c->value = strndup(value, (size_t)(end - value));
    if (!c->field || !c->value) {
        return reel_fail_memory(p->err);
    }
    read_value(c);
    p->at = end + quoted;
    return true;
}

static bool add_node(struct parser *p, struct condition_node node, uint32_t *out) {
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
            return refuse(p, "\")\"");
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
           add_node(p, (struct condition_node){.kind = NODE_CONDITION, .left = i}, out);
}

static bool parse_joined(struct parser *p, const char *word, bool (*parse)(struct parser *p, uint32_t *out),
                         uint32_t *out) {
    if (!parse(p, out)) {
        return false;
    }
    for (skip_spaces(p); is_word(p->at, word); skip_spaces(p)) {
        struct condition_node node = {.kind = word[0] == 'a' ? NODE_AND : NODE_OR, .left = *out};
        p->at += strlen(word);
        if (!parse(p, &node.right) || !add_node(p, node, out)) {
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
        if (!parse_any(&p, &node.right) || (*p.at != '\0' && !refuse(&p, "\"and\", \"or\" or the end"))) {
            return false;
        }
        out->root = node.right;
        if (i > 0 && !add_node(&p, node, &out->root)) {
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

static struct value *self(struct reel_visitor *v) {
    return (struct value *)v;
}

static bool keep(struct reel_visitor *v, enum value_kind kind, double number) {
    struct value *f = self(v);
    if (f->depth == 0) {
        f->kind = kind;
        f->number = number;
    }
    return true;
}
static bool on_real(struct reel_visitor *v, double value) {
    return keep(v, VALUE_NUMBER, value);
}
static bool on_boolean(struct reel_visitor *v, bool value) {
    return keep(v, VALUE_NUMBER, value);
}
static bool on_integer(struct reel_visitor *v, int64_t value) {
    return keep(v, VALUE_NUMBER, (double)value);
}
static bool on_natural(struct reel_visitor *v, uint64_t value) {
    return keep(v, VALUE_NUMBER, (double)value);
}
static bool on_real32(struct reel_visitor *v, float value) {
    return keep(v, VALUE_NUMBER, (double)value);
}
static bool on_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    return keep(v, VALUE_TIME, (double)value->seconds * 1e9 + (double)value->nanoseconds);
}
static bool on_text(struct reel_visitor *v, struct reel_bytes value) {
    struct value *f = self(v);
    size_t size = value.size < CONDITION_TEXT_MAX - 1 ? value.size : CONDITION_TEXT_MAX - 1;
    keep(v, VALUE_TEXT, 0);
    if (f->depth == 0) {
        if (size > 0) {
            memcpy(f->text, value.data, size);
        }
        f->text[size] = '\0';
    }
    return true;
}
static bool on_begin(struct reel_visitor *v) {
    self(v)->depth++;
    return true;
}
static bool on_end(struct reel_visitor *v) {
    self(v)->depth--;
    return true;
}
static bool on_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    (void)v, (void)type, (void)data, (void)columns;
    return true;
}
static const struct reel_visitor_ops value_ops = {.begin_map = on_begin,
                                                  .end_map = on_end,
                                                  .begin_list = on_begin,
                                                  .end_list = on_end,
                                                  .boolean = on_boolean,
                                                  .integer = on_integer,
                                                  .natural = on_natural,
                                                  .real = on_real,
                                                  .real32 = on_real32,
                                                  .text = on_text,
                                                  .numbers = on_numbers,
                                                  .stamp = on_stamp};

void value_start(struct value *value) {
    value->visitor.ops = &value_ops;
    value->kind = VALUE_NONE;
    value->depth = 0;
}

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

static bool number_holds(const struct condition *c, double number) {
    if (isnan(number) || isnan(c->number)) { /* NaN is equal to nothing */
        return c->comparison == IS_NOT_EQUAL;
    }
    return has_order(c->comparison, (number > c->number) - (number < c->number));
}

static bool condition_holds(const struct condition *c, const struct value *value) {
    switch (value->kind) {
    case VALUE_NONE:
        return false;
    case VALUE_NUMBER:
        return c->is_number && number_holds(c, value->number);
    case VALUE_TIME:
        return c->is_time && number_holds(c, value->number);
    case VALUE_TEXT:
        return has_order(c->comparison, strcmp(value->text, c->value));
    }
    return false;
}

/* Of numbers from min to max that include both. */
static enum truth range_truth(const struct condition *c, double min, double max) {
    bool low = number_holds(c, min), high = number_holds(c, max), between = min < c->number && c->number < max;
    if (low != high || (between && (c->comparison == IS_EQUAL || c->comparison == IS_NOT_EQUAL))) {
        return TRUTH_MAYBE;
    }
    return low ? TRUTH_YES : TRUTH_NO;
}

enum truth condition_truth(const struct condition *c, const struct value_range *range) {
    bool comparable = range->are_times ? c->is_time : c->is_number;
    enum truth numbers = comparable && range->numbers > 0 ? range_truth(c, range->min, range->max) : TRUTH_NO;
    bool nans = comparable && range->nans > 0 && number_holds(c, NAN);
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

void condition_reader_read(const struct condition_reader *r, const struct reel_bytes *payload,
                           struct value values[CONDITIONS_MAX]) {
    struct field_picker picker = {.set = r->paths, .open = open_value, .close = close_value, .context = values};
    for (uint32_t i = 0; i < field_set_count(r->paths); i++) {
        value_start(&values[i]);
    }
    if (r->decoder && payload) {
        field_picker_start(&picker);
        reel_decode(r->decoder, *payload, &picker.visitor, NULL); /* what is damaged has what was found before */
    }
}

void condition_reader_truths(const struct condition_reader *r, const struct conditions *c,
                             const struct value values[CONDITIONS_MAX], enum truth each[CONDITIONS_MAX]) {
    for (uint32_t i = 0; i < c->n; i++) {
        if (r->conditions & UINT32_C(1) << i) {
            each[i] = condition_holds(&c->items[i], &values[r->columns[i]]) ? TRUTH_YES : TRUTH_NO;
        }
    }
}
