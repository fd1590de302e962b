/* See similar.h. */
#include "catalog/similar.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SHOWN_MAX = 4, LENGTH_MAX = 40, FAR = 3 };

/* Characters to insert, delete or replace; FAR when a text is too long to be compared. */
static unsigned distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    unsigned row[LENGTH_MAX + 1];
    if (n > LENGTH_MAX || m > LENGTH_MAX) {
        return FAR;
    }
    for (size_t k = 0; k <= m; k++) {
        row[k] = (unsigned)k;
    }
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= m; k++) {
            unsigned best = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            best = row[k] + 1 < best ? row[k] + 1 : best;
            row[k] = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
        }
    }
    return row[m];
}

static bool is_similar(const char *text, const char *name) {
    size_t size = strlen(text);
    return (size >= 2 && (strcasestr(name, text) || strcasestr(text, name))) ||
           distance(text, name) < (size < 4 ? 2 : FAR);
}

const char *similar_text(const char *text, const json_t *names, char *out, size_t size) {
    size_t i, n = 0;
    unsigned shown = 0;
    json_t *name;
    out[0] = '\0';
    json_array_foreach((json_t *)names, i, name) {
        const char *one = json_string_value(name);
        if (shown < SHOWN_MAX && one && *one && is_similar(text, one) && n + strlen(one) + 24 < size) {
            n += (size_t)snprintf(out + n, size - n, "%s%s", shown++ == 0 ? ": did you mean " : ", ", one);
        }
    }
    if (shown > 0) {
        snprintf(out + n, size - n, "?");
    }
    return out;
}
