/* See body.h. Bytes beyond the limit are dropped, and JSON nested too deep for the recursive parser is rejected before
 * it is parsed. */
#include "api/body.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"

struct body {
    char *text;
    size_t size, capacity;
    json_t *json;
};

static void free_body(void *state) {
    struct body *b = state;
    free(b->text);
    json_decref(b->json);
    free(b);
}

void body_begin(struct http_request *r) {
    struct body *b = calloc(1, sizeof *b);
    if (!b || !(b->text = calloc(1, 1))) {
        free(b);
        http_reply_no_memory(r);
        return;
    }
    http_set_state(r, b, free_body);
}

static bool add_piece(struct http_request *r, const void *data, size_t size, size_t max) {
    struct body *b = http_state(r);
    if (size > max - b->size) {
        http_reply_problem(r, 413, "too-large", "this body may have at most %zu bytes", max);
        return false;
    }
    if (b->size + size + 1 > b->capacity) {
        size_t capacity = 2 * (b->size + size) + 256;
        char *text = realloc(b->text, capacity);
        if (!text) {
            http_reply_no_memory(r);
            return false;
        }
        b->text = text;
        b->capacity = capacity;
    }
    memcpy(b->text + b->size, data, size);
    b->size += size;
    b->text[b->size] = '\0';
    http_keep_body(r, b->text, b->size);
    return true;
}

bool body_piece(struct http_request *r, const void *data, size_t size) {
    return add_piece(r, data, size, BODY_BYTES_MAX);
}

bool body_archive_piece(struct http_request *r, const void *data, size_t size) {
    return add_piece(r, data, size, BODY_ARCHIVE_MAX);
}

const char *body_text(struct http_request *r, size_t *size) {
    const struct body *b = http_state(r);
    *size = b->size;
    return b->text;
}

/* The nesting depth of brackets outside of strings. For text that is not JSON the result is arbitrary. */
unsigned body_depth(const char *text, size_t size) {
    unsigned depth = 0, deepest = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
            deepest = depth > deepest ? depth : deepest;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
        }
    }
    return deepest;
}

json_t *body_json(struct http_request *r) {
    struct body *b = http_state(r);
    json_error_t why = {0};
    if (b->json) {
        return b->json;
    }
    if (body_depth(b->text, b->size) > BODY_DEPTH_MAX) {
        http_reply_problem(r, 400, "bad-body", "the JSON is nested deeper than %d", BODY_DEPTH_MAX);
        return NULL;
    }
    b->json = b->size > 0 ? json_loadb(b->text, b->size, JSON_REJECT_DUPLICATES, &why) : json_object();
    if (!json_is_object(b->json)) {
        http_reply_problem(r, 400, "bad-body", "the body must be a JSON object%s%s", b->json ? "" : ": ",
                           b->json ? "" : why.text);
        return NULL;
    }
    return b->json;
}

void body_refuse(struct http_request *r, const char *member, const char *detail, ...) {
    C_LOCALE;
    char text[512], whole[700];
    va_list args;
    va_start(args, detail);
    vsnprintf(text, sizeof text, detail, args);
    va_end(args);
    snprintf(whole, sizeof whole, "\"%.128s\" %s", member, text);
    http_reply_problem_with(r, 400, "bad-body", whole,
                            json_pack("{s:[{s:s, s:s}]}", "errors", "member", member, "detail", text));
}

bool body_knows(struct http_request *r, const json_t *object, const char *const *known) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0) {
            i++;
        }
        if (!known[i]) {
            body_refuse(r, key, "means nothing here");
            return false;
        }
    }
    return true;
}
