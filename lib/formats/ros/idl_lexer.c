/* See idl_lexer.h. */
#include "formats/ros/idl_lexer.h"

#include <stdio.h>

#include "base/bytes.h"

static bool idl_word_byte(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
static bool idl_starts(const struct idl_lexer *l, const char *text) {
    return bytes_start(bytes_of(l->at, (size_t)(l->end - l->at)), bytes_text(text));
}
static void idl_to(struct idl_lexer *l, const uint8_t *at) {
    for (; l->at < at; l->at++) {
        l->line += *l->at == '\n';
    }
}
static void idl_past(struct idl_lexer *l, const char *text) {
    const uint8_t *found = memmem(l->at, (size_t)(l->end - l->at), text, strlen(text));
    idl_to(l, found ? found + strlen(text) : l->end);
}

static void idl_skip_blanks(struct idl_lexer *l) {
    for (;;) {
        bool line_start = l->at == l->begin || l->at[-1] == '\n';
        if (l->at < l->end && (*l->at == ' ' || (*l->at >= '\t' && *l->at <= '\r'))) {
            idl_to(l, l->at + 1);
        } else if (idl_starts(l, "//") || idl_starts(l, "#") ||
                   (line_start && (idl_starts(l, "===") || idl_starts(l, "IDL:")))) {
            idl_past(l, "\n");
        } else if (idl_starts(l, "/*")) {
            idl_past(l, "*/");
        } else {
            return;
        }
    }
}

void idl_next(struct idl_lexer *l) {
    idl_skip_blanks(l);
    const uint8_t *begin = l->at;
    if (l->at < l->end && (*l->at == '"' || *l->at == '\'')) {
        uint8_t quote = *l->at++;
        for (; l->at < l->end && *l->at != quote; l->at++) {
            l->line += *l->at == '\n';
            l->at += *l->at == '\\' && l->at + 1 < l->end;
        }
        l->at += l->at < l->end;
    } else if (l->at < l->end && (idl_word_byte(*l->at) || idl_starts(l, "::"))) {
        while (l->at < l->end && (idl_word_byte(*l->at) || idl_starts(l, "::"))) {
            l->at += *l->at == ':' ? 2 : 1;
        }
    } else {
        l->at += l->at < l->end;
    }
    l->token = bytes_of(begin, (size_t)(l->at - begin));
}

struct idl_lexer idl_lexer_of(struct reel_bytes text, uint32_t line) {
    text = text.size > 0 ? text : bytes_of("", 0);
    struct idl_lexer l = {.begin = text.data, .at = text.data, .end = text.data + text.size, .line = line};
    idl_next(&l);
    return l;
}

bool idl_is(const struct idl_lexer *l, const char *text) {
    return bytes_is(l->token, text);
}
bool idl_is_word(const struct idl_lexer *l) {
    return l->token.size > 0 && idl_word_byte(l->token.data[0]) && !memchr(l->token.data, ':', l->token.size);
}
bool idl_accept(struct idl_lexer *l, const char *text) {
    bool there = idl_is(l, text);
    if (there) {
        idl_next(l);
    }
    return there;
}

bool idl_skip_brackets(struct idl_lexer *l) {
    uint32_t open = 0;
    do {
        open += idl_is(l, "(") || idl_is(l, "{") || idl_is(l, "[");
        open -= idl_is(l, ")") || idl_is(l, "}") || idl_is(l, "]");
        if (l->token.size == 0) {
            return false;
        }
        idl_next(l);
    } while (open > 0);
    return true;
}

bool idl_refuse(const struct idl_lexer *l, enum reel_code code, const char *what, struct reel_error *err) {
    return reel_fail(err, code, "line %u: %s, at \"%.*s\"", l->line, what,
                     (int)(l->token.size < 64 ? l->token.size : 64), (const char *)l->token.data);
}
bool idl_need(struct idl_lexer *l, const char *text, struct reel_error *err) {
    char what[32];
    snprintf(what, sizeof what, "\"%s\" is missing", text);
    return idl_accept(l, text) || idl_refuse(l, REEL_DAMAGED, what, err);
}
bool idl_need_name(struct idl_lexer *l, struct reel_bytes *name, struct reel_error *err) {
    *name = l->token;
    if (!idl_is_word(l) || (name->data[0] >= '0' && name->data[0] <= '9')) {
        return idl_refuse(l, REEL_DAMAGED, "a name is missing", err);
    }
    idl_next(l);
    return true;
}
