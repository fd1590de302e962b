/* Query parameters. A handler only sees parameters that its route declares, already validated. */
#include "base/heap.h"
#include "base/number.h"
#include "http/http_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hex.h"
#include "syntax/utf8.h"

enum { FROM_TO_UNIT_NS = 1000000, COMPLAINTS_MAX = 32 };

bool http_decode(char *text, size_t size, bool form, size_t *out_size) {
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < size ? hex_digit(text[i + 1]) : -1;
            int low = i + 2 < size ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return false;
            }
            c = (char)(high << 4 | low);
            i += 2;
        } else if (form && c == '+') {
            c = ' ';
        }
        if (c == '\0') {
            return false;
        }
        text[used++] = c;
    }
    text[used] = '\0';
    *out_size = used;
    return utf8_valid(bytes_of(text, used));
}

__attribute__((format(printf, 3, 4))) static void add_error(json_t *errors, const char *param, const char *format,
                                                            ...) {
    char detail[512];
    if (json_array_size(errors) >= COMPLAINTS_MAX) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    json_array_append_new(errors, json_pack("{s:s, s:s}", "param", param, "detail", detail));
}

static bool parse_bool(const char *text, bool *out) {
    bool yes = *text == '\0' || strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    *out = yes;
    return yes || strcmp(text, "0") == 0 || strcmp(text, "false") == 0;
}

/* An unescaped "+" is decoded as a space. In a time, every space but the one between date and time must have been a
 * "+". */
static void restore_plus(char *text) {
    for (size_t i = 0; text[i]; i++) {
        if (text[i] == ' ' && i != strlen("2010-05-10")) {
            text[i] = '+';
        }
    }
}

static void check_choice(const struct http_param *param, const char *value, json_t *errors) {
    char list[256] = "";
    for (size_t i = 0; param->choices && param->choices[i]; i++) {
        if (strcmp(param->choices[i], value) == 0) {
            return;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", param->choices[i]);
    }
    add_error(errors, param->name, "must be one of %s", list);
}

/* The largest number that it may be. */
static uint64_t most_of(const struct http_param *param) {
    return param->max > 0 && !param->repeats ? param->max : UINT64_MAX;
}

static void check_value(const struct http_param *param, const char *value, json_t *errors) {
    uint64_t u;
    int64_t i;
    bool b;
    struct reel_time time;
    struct reel_error err;
    switch (param->type) {
    case HTTP_TEXT:
    case HTTP_GLOB:
        return;
    case HTTP_UINT:
        if (!number_u64(value, &u) || u < param->min || u > most_of(param)) {
            add_error(errors, param->name, "must be an integer from %llu to %llu", (unsigned long long)param->min,
                      (unsigned long long)most_of(param));
        }
        return;
    case HTTP_INT:
        if (!number_i64(value, &i)) {
            add_error(errors, param->name, "must be a 64-bit integer");
        }
        return;
    case HTTP_BOOL:
        if (!parse_bool(value, &b)) {
            add_error(errors, param->name, "must be true or false");
        }
        return;
    case HTTP_TIME:
    case HTTP_TIME_MS:
        if (!reel_time_parse(value, param->type == HTTP_TIME ? 1 : FROM_TO_UNIT_NS, &time, &err)) {
            add_error(errors, param->name, "%s", err.text);
        }
        return;
    case HTTP_DURATION:
        if (!reel_duration_parse(value, &i, &err)) {
            add_error(errors, param->name, "%s", err.text);
        }
        return;
    case HTTP_CHOICE:
        check_choice(param, value, errors);
        return;
    }
}

const struct http_param *http_param_row(const struct http_param *param) {
    while (param && !param->name && param->more) {
        param = param->more();
    }
    return param && param->name ? param : NULL;
}

/* The parameter's row; a row named "*" matches all names that are not in the table. */
static const struct http_param *find_param(const struct http_param *table, const char *name) {
    const struct http_param *any = NULL;
    for (const struct http_param *p = http_param_row(table); p; p = http_param_row(p + 1)) {
        if (strcmp(p->name, name) == 0) {
            return p;
        }
        if (strcmp(p->name, "*") == 0) {
            any = p;
        }
    }
    return any;
}

static const char *find_value(const struct http_query *query, const char *name) {
    for (size_t i = 0; i < query->count; i++) {
        if (strcmp(query->values[i].name, name) == 0) {
            return query->values[i].value;
        }
    }
    return NULL;
}

/* Adds one decoded pair, or an error. */
static void take_pair(const struct http_param *param, char *name, char *value, struct http_query *out, json_t *errors) {
    if (!param) {
        add_error(errors, name, "is not a parameter of this path");
        return;
    }
    if (!param->repeats && strcmp(param->name, "*") != 0 && find_value(out, name)) {
        add_error(errors, name, "may not be repeated");
        return;
    }
    if (param->type == HTTP_TIME || param->type == HTTP_TIME_MS) {
        restore_plus(value);
    }
    check_value(param, value, errors);
    if (param->deprecated && out->n_deprecated < HTTP_DEPRECATED_MAX) {
        out->deprecated[out->n_deprecated++] = param->deprecated;
    }
    out->values[out->count++] = (struct http_text){.name = name, .value = value};
}

size_t params_count(const char *raw) {
    size_t count = 0;
    for (const char *p = raw; *p;) {
        size_t size = strcspn(p, "&");
        count += size > 0;
        p += size + (p[size] == '&');
    }
    return count;
}

static size_t count_values(const struct http_query *query, const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < query->count; i++) {
        count += strcmp(query->values[i].name, name) == 0;
    }
    return count;
}

/* How often each parameter was sent. */
static void check_counts(const struct http_param *table, const struct http_query *query, json_t *errors) {
    for (const struct http_param *p = http_param_row(table); p; p = http_param_row(p + 1)) {
        size_t count = p->required || (p->repeats && p->max > 0) ? count_values(query, p->name) : 0;
        if (p->required && count == 0) {
            add_error(errors, p->name, "is missing. %s", p->help);
        } else if (p->repeats && p->max > 0 && count > p->max) {
            add_error(errors, p->name, "may be sent at most %llu times", (unsigned long long)p->max);
        }
    }
}

/* Decodes text into *buffer, NUL-terminated. NULL: invalid. */
static char *decode_to(char **buffer, const char *text, size_t size) {
    char *at = *buffer;
    size_t decoded;
    memcpy(at, text, size);
    if (!http_decode(at, size, true, &decoded)) {
        return NULL;
    }
    *buffer = at + decoded + 1;
    return at;
}

bool params_parse(const char *raw, char *buffer, const struct http_param *table, const struct http_param *everywhere,
                  struct http_query *out, json_t *errors) {
    *out = (struct http_query){.values = calloc(params_count(raw) + 1, sizeof out->values[0])};
    if (!out->values) {
        heap_failed();
        add_error(errors, "?", "out of memory");
        return false;
    }
    while (*raw) {
        size_t size = strcspn(raw, "&");
        size_t name_size = strcspn(raw, "&=");
        bool has_value = name_size < size;
        char *name = decode_to(&buffer, raw, name_size);
        char *value = !name        ? NULL
                      : !has_value ? buffer - 1
                                   : decode_to(&buffer, raw + name_size + 1, size - name_size - 1);
        if (!name || !value) {
            add_error(errors, name ? name : "?", "contains an invalid percent escape, a NUL or invalid UTF-8");
            if (!name) {
                break;
            }
        } else if (size > 0) {
            const struct http_param *param = find_param(table, name);
            take_pair(param ? param : find_param(everywhere, name), name, value, out, errors);
        }
        raw += size + (raw[size] == '&');
    }
    check_counts(table, out, errors);
    return json_array_size(errors) == 0;
}

const char *http_param(const struct http_request *r, const char *name) {
    return find_value(&r->query, name);
}

size_t http_params(const struct http_request *r, const char *name, const char **out, size_t max) {
    size_t count = 0;
    for (size_t i = 0; i < r->query.count && count < max; i++) {
        if (strcmp(r->query.values[i].name, name) == 0) {
            out[count++] = r->query.values[i].value;
        }
    }
    return count;
}

void http_forget_params(struct http_request *r) {
    r->query.count = 0;
}

bool http_param_u64(const struct http_request *r, const char *name, uint64_t *out) {
    const char *value = http_param(r, name);
    return value && number_u64(value, out);
}

bool http_param_i64(const struct http_request *r, const char *name, int64_t *out) {
    const char *value = http_param(r, name);
    return value && number_i64(value, out);
}

bool http_param_bool(const struct http_request *r, const char *name, bool *out) {
    const char *value = http_param(r, name);
    return value && parse_bool(value, out);
}

bool http_param_time(const struct http_request *r, const char *name, struct reel_time *out) {
    const char *value = http_param(r, name);
    const struct http_param *param = value ? find_param(r->route->params, name) : NULL;
    return param && reel_time_parse(value, param->type == HTTP_TIME_MS ? FROM_TO_UNIT_NS : 1, out, NULL);
}

bool http_param_duration(const struct http_request *r, const char *name, int64_t *ns) {
    const char *value = http_param(r, name);
    return value && reel_duration_parse(value, ns, NULL);
}
