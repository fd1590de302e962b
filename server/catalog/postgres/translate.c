/* SQL as it is written for SQLite becomes PostgreSQL's, token by token:
 *
 *   :name                              $1 …
 *   INDEXED BY name, NOT INDEXED       nothing
 *   CROSS JOIN t ON …                  JOIN t ON … (join_collapse_limit = 1 keeps the order of the tables)
 *   +r.column                          r.column
 *   CAST (… AS INTEGER)                CAST (… AS int8)
 *   x'00ff'                            '\x00ff'::bytea
 *   search_text(:a, :b), search_texts(:labels), search_needle(:a, :b)   a parameter, which is computed here
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "catalog/columns.h"
#include "catalog/postgres/postgres.h"

/* The planner knows how many values an array has, and finds them by an index; of a table that a function makes it knows
 * neither. It looks at each value of an array, unless a query returns it: a hundred thousand take longer to plan than
 * to find. */
static const struct columns_array arrays[COLUMNS_ARRAYS] = {
    {"{ints ", "(SELECT unnest(ints_of(", ")) AS value)"},
    {"{texts ", "(SELECT unnest(texts_of(", ")) AS value)"},
    {"{in ints ", "= ANY (ints_of(", "))"},
    {"{in texts ", "= ANY (texts_of(", "))"},
    {"{in rows ", "= ANY (ARRAY(SELECT unnest(ints_of(", "))))"}};

struct token {
    const char *at;
    size_t size;
};

struct translation {
    FILE *out;
    struct pg_text *text;
    struct token before; /* the last one that was put, blanks apart */
    bool failed;
};

static bool in_word(char c) {
    return ascii_is_alnum((uint8_t)c) || c == '_';
}

/* The token at `sql`, blanks and comments are one, too. */
static struct token read_token(const char *sql) {
    const char *end = sql + 1;
    if (ascii_is_space((uint8_t)*sql)) {
        end = sql + strspn(sql, " \t\r\n");
    } else if (strncmp(sql, "--", 2) == 0) {
        end = strchrnul(sql, '\n');
    } else if (*sql == '\'' || *sql == '"') {
        do { /* two quotes in it are one */
            end = strchrnul(end, *sql);
            end += *end != '\0';
        } while (*end == *sql && *end++);
    } else if (in_word(*sql) || (*sql == ':' && in_word(sql[1]))) {
        while (in_word(*end)) {
            end++;
        }
    }
    return (struct token){sql, (size_t)(end - sql)};
}

static bool is_blank(const struct token *t) {
    return ascii_is_space((uint8_t)*t->at) || strncmp(t->at, "--", 2) == 0;
}

static bool is(const struct token *t, const char *word) {
    return t->size == strlen(word) && ascii_ncasecmp(t->at, word, t->size) == 0;
}

static struct token next_of(const char *sql) {
    struct token t = read_token(sql);
    while (t.size > 0 && *t.at && is_blank(&t)) {
        t = read_token(t.at + t.size);
    }
    return t;
}

static bool ends_operand(const struct token *t) {
    static const char *const words[] = {"AND", "OR",   "NOT",  "WHERE", "ON", "SELECT",
                                        "BY",  "WHEN", "THEN", "ELSE",  "IN", "BETWEEN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is(t, words[i])) {
            return false;
        }
    }
    return t->size > 0 && (in_word(*t->at) || *t->at == ')' || *t->at == '\'' || *t->at == ':');
}

static uint16_t parameter(struct translation *w, const char *name, size_t size) {
    struct pg_text *text = w->text;
    for (uint16_t i = 0; i < text->n_names; i++) {
        if (strlen(text->names[i]) == size && memcmp(text->names[i], name, size) == 0) {
            return i;
        }
    }
    char *copy = text->n_names < PG_PARAMETERS_MAX ? strndup(name, size) : NULL;
    char **names = copy ? realloc(text->names, (text->n_names + 1u) * sizeof *names) : NULL;
    if (!names) {
        free(copy);
        w->failed = true;
        return 0;
    }
    text->names = names;
    names[text->n_names] = copy;
    return text->n_names++;
}

/* search_text(:a, :b) at `t`; where it ends, NULL: it is not of parameters only. */
static const char *put_call(struct translation *w, const struct token *t) {
    struct pg_call call = {0};
    struct token at = next_of(t->at + t->size);
    while (!is(&at, ")")) {
        at = next_of(at.at + at.size);
        if (*at.at != ':' || call.n_arguments == 2) {
            return NULL;
        }
        call.arguments[call.n_arguments++] = parameter(w, at.at, at.size);
        at = next_of(at.at + at.size);
    }
    char name[16];
    if (w->text->n_calls == 2) {
        return NULL;
    }
    call.sql = is(t, "search_needle")  ? "SELECT search_needle(?, CAST(? AS INTEGER))"
               : is(t, "search_texts") ? "SELECT json_group_array(search_text(substr(value, 2))) FROM json_each(?)"
               : call.n_arguments == 1 ? "SELECT search_text(?)"
                                       : "SELECT search_text(?, ?)";
    snprintf(name, sizeof name, "call%u", w->text->n_calls);
    call.result = parameter(w, name, strlen(name));
    w->text->calls[w->text->n_calls++] = call;
    fprintf(w->out, "$%u", call.result + 1u);
    return at.at + at.size;
}

/* Puts the token at `t` as it is in PostgreSQL; returns where it goes on. */
static const char *put_token(struct translation *w, const struct token *t) {
    const char *end = t->at + t->size;
    struct token after = next_of(end);
    if (*t->at == ':' && t->size > 1) {
        fprintf(w->out, "$%u", parameter(w, t->at, t->size) + 1u);
    } else if (is(t, "INDEXED") && is(&after, "BY")) {
        after = next_of(after.at + after.size);
        return after.at + after.size;
    } else if (is(t, "NOT") && is(&after, "INDEXED")) {
        return after.at + after.size;
    } else if ((is(t, "CROSS") && is(&after, "JOIN")) || (*t->at == '+' && !ends_operand(&w->before))) {
        return end;
    } else if (is(t, "INTEGER")) {
        fputs("int8", w->out);
    } else if (is(t, "x") && *end == '\'') {
        after = read_token(end);
        fprintf(w->out, "'\\x%.*s::bytea", (int)after.size - 1, after.at + 1);
        end += after.size;
    } else if ((is(t, "search_text") || is(t, "search_texts") || is(t, "search_needle")) && is(&after, "(")) {
        const char *rest = put_call(w, t);
        w->failed = w->failed || !rest;
        end = rest ? rest : end;
    } else {
        fwrite(t->at, 1, t->size, w->out);
    }
    w->before = *t;
    return end;
}

void pg_text_free(struct pg_text *text) {
    if (text) {
        for (uint16_t i = 0; i < text->n_names; i++) {
            free(text->names[i]);
        }
        free(text->names);
        free(text->sql);
        free(text);
    }
}

struct pg_text *pg_translate(const char *sql, struct reel_error *err) {
    AUTO_MEM char *expanded = columns_expand(sql, arrays);
    struct pg_text *text = calloc(1, sizeof *text);
    size_t size;
    struct translation w = {.text = text};
    if (!expanded || !text || !(w.out = open_memstream(&text->sql, &size))) {
        free(text);
        reel_fail_memory(err);
        return NULL;
    }
    for (const char *at = expanded; *at;) {
        struct token t = read_token(at);
        at += t.size;
        if (is_blank(&t)) {
            fputc(' ', w.out);
        } else {
            at = put_token(&w, &t);
        }
    }
    bool whole = text_stream_close(w.out, &text->sql);
    if (!whole || w.failed) {
        pg_text_free(text);
        (void)(whole ? reel_fail(err, REEL_UNSUPPORTED, "catalog: a statement that cannot be translated")
                     : reel_fail_memory(err));
        return NULL;
    }
    return text;
}
