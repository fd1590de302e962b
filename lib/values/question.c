/* The text of a question: any = all ("or" all)*; all = one ("and" one)*; one = "(" any ")" | FIELD OPERATOR VALUE. A
 * value ends at " and ", " or " or ")", unless it is in double quotes. */
#include "values/question.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

enum { NESTING_MAX = 32 };
#define SPACES " \t\r\n"

struct parser {
    struct reel_question *q;
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
    return strncasecmp(at, word, size) == 0 && strchr(SPACES "(", at[size]); /* or the end, which strchr() finds, too */
}

static bool add_node(struct parser *p, struct question_node node, uint32_t *out) {
    struct reel_question *q = p->q;
    if (q->n_nodes == QUESTION_NODES_MAX) {
        return reel_fail(p->err, REEL_ARGUMENT, "where: at most %d conditions", CONDITIONS_MAX);
    }
    *out = q->n_nodes;
    q->nodes[q->n_nodes++] = node;
    return true;
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

/* FIELD OPERATOR VALUE as condition_parse() takes it: without spaces around the operator, and without the quotes. */
static char *condition_text(struct parser *p) {
    size_t name = strcspn(p->at, "<>=!"), sign = strspn(p->at + name, "<>=!");
    const char *value = p->at + name + sign + strspn(p->at + name + sign, SPACES), *end;
    bool quoted = *value == '"';
    end = quoted ? strchr(value + 1, '"') : value_end(value);
    if (sign == 0 || !end || (!quoted && end == value)) {
        refuse(p, sign == 0 ? "a condition, such as /topic.path>0.5,"
                  : !end    ? "a second \""
                            : "a value behind the operator");
        return NULL;
    }
    size_t field = name;
    while (field > 0 && strchr(SPACES, p->at[field - 1])) {
        field--;
    }
    value += quoted;
    char *text = malloc(field + sign + (size_t)(end - value) + 1);
    if (!text) {
        reel_fail_memory(p->err);
        return NULL;
    }
    memcpy(text, p->at, field);
    memcpy(text + field, p->at + name, sign);
    memcpy(text + field + sign, value, (size_t)(end - value));
    text[field + sign + (size_t)(end - value)] = '\0';
    p->at = end + quoted;
    return text;
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
    if (p->q->n_conditions == CONDITIONS_MAX) {
        return reel_fail(p->err, REEL_ARGUMENT, "where: at most %d conditions", CONDITIONS_MAX);
    }
    AUTO_MEM char *text = condition_text(p);
    if (!text || !condition_parse(text, &p->q->conditions[p->q->n_conditions], p->err)) {
        return false;
    }
    return add_node(p, (struct question_node){.kind = NODE_CONDITION, .left = p->q->n_conditions++}, out);
}

static bool parse_joined(struct parser *p, const char *word, bool (*parse)(struct parser *p, uint32_t *out),
                         uint32_t *out) {
    if (!parse(p, out)) {
        return false;
    }
    for (skip_spaces(p); is_word(p->at, word); skip_spaces(p)) {
        struct question_node node = {.kind = word[0] == 'a' ? NODE_AND : NODE_OR, .left = *out};
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

static bool parse_text(struct reel_question *q, const char *text, uint32_t *out, struct reel_error *err) {
    struct parser p = {.q = q, .text = text, .at = text, .err = err};
    return parse_any(&p, out) && (*p.at == '\0' || refuse(&p, "\"and\", \"or\" or the end"));
}

static bool parse(struct reel_question *q, const char *const *where, uint32_t n, struct reel_error *err) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node;
        struct parser p = {.q = q, .err = err};
        if (!parse_text(q, where[i], &node, err)) {
            return false;
        }
        if (i > 0 && !add_node(&p, (struct question_node){.kind = NODE_AND, .left = q->root, .right = node}, &node)) {
            return false;
        }
        q->root = node;
    }
    return n > 0 || reel_fail(err, REEL_ARGUMENT, "where: a condition is needed, such as /topic.path>0.5");
}

struct reel_question *reel_question_new(const char *const *where, uint32_t n, int64_t for_ns, struct reel_error *err) {
    AUTO(reel_question_free) struct reel_question *q = calloc(1, sizeof *q);
    if (!q) {
        reel_fail_memory(err);
        return NULL;
    }
    q->for_ns = for_ns;
    return parse(q, where, n, err) ? TAKE(q) : NULL;
}

void reel_question_free(struct reel_question *q) {
    for (uint32_t i = 0; q && i < q->n_conditions; i++) {
        condition_done(&q->conditions[i]);
    }
    free(q);
}

/* A node stands behind those that it joins. */
enum truth question_truth(const struct reel_question *q, const enum truth conditions[CONDITIONS_MAX]) {
    enum truth all[QUESTION_NODES_MAX];
    for (uint32_t i = 0; i < q->n_nodes; i++) {
        const struct question_node *n = &q->nodes[i];
        if (n->kind == NODE_CONDITION) {
            all[i] = conditions[n->left];
        } else {
            enum truth a = all[n->left], b = all[n->right];
            all[i] = (n->kind == NODE_AND) == (a < b) ? a : b;
        }
    }
    return all[q->root];
}
