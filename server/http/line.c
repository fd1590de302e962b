/* See line.h. If a line is too long, whole fields are left out, so it stays parseable. */
#include "http/line.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 2048 };

static bool line_is_plain(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c <= ' ' || *c == '"' || *c == '=' || *c == '\\' || *c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* Quotes for both forms: control characters become \u00XX, harmless in a terminal. Truncated to VALUE_MAX, between
 * characters. */
static void quote(const char *text, char out[VALUE_MAX]) {
    size_t used = 0;
    out[used++] = '"';
    for (const unsigned char *c = (const unsigned char *)text; *c && (used < VALUE_MAX - 16 || (*c & 0xc0) == 0x80);
         c++) {
        if (*c == '"' || *c == '\\') {
            out[used++] = '\\';
            out[used++] = (char)*c;
        } else if (*c < ' ' || *c == 0x7f) {
            used += (size_t)snprintf(out + used, 8, "\\u%04x", *c);
        } else {
            out[used++] = (char)*c;
        }
        if (used >= VALUE_MAX - 8) {
            break;
        }
    }
    out[used++] = '"';
    out[used] = '\0';
}

void line_write(bool json, const struct line_field *fields, size_t n, char *out, size_t size) {
    static const char *const before_key[2][2] = {{" ", ""}, {",\"", "\""}};
    char value[VALUE_MAX], field[VALUE_MAX + 64];
    size_t used = json ? (size_t)snprintf(out, size, "{") : 0;
    bool first = true;
    out[used] = '\0';
    for (size_t i = 0; i < n; i++) {
        const struct line_field *f = &fields[i];
        if (f->text && !f->text[0]) {
            continue;
        }
        bool plain = !json && f->text && line_is_plain(f->text) && strlen(f->text) < sizeof value;
        if (!f->text) {
            snprintf(value, sizeof value, "%lld", (long long)f->number);
        } else if (!plain) {
            quote(f->text, value);
        }
        char *end = stpcpy(stpcpy(field, before_key[json][first]), f->key); /* each request has a line: no snprintf() */
        end = stpcpy(end, json ? "\":" : "=");
        end = stpcpy(end, plain ? f->text : value);
        size_t length = (size_t)(end - field);
        if (used + length + 2 < size) {
            memcpy(out + used, field, length + 1);
            used += length;
            first = false;
        }
    }
    if (json) {
        memcpy(out + used, "}", 2);
    }
}
