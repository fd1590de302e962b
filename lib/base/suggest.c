/* See near.h. */
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static unsigned char lower(char c) {
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
}

unsigned near_distance(const char *given, const char *name) {
    size_t m = strnlen(given, NEAR_TEXT_MAX + 1), n = strnlen(name, NEAR_TEXT_MAX + 1);
    size_t most = (m < n ? m : n) / 3 + 1;
    if (m == 0 || m > NEAR_TEXT_MAX || n > NEAR_TEXT_MAX) {
        return NEAR_NONE;
    }
    if (m >= 3 && strcasestr(name, given)) {
        return (unsigned)(n - m > most ? most : n - m);
    }
    unsigned row[NEAR_TEXT_MAX + 1]; /* Levenshtein's, one row at a time */
    for (size_t k = 0; k <= n; k++) {
        row[k] = (unsigned)k;
    }
    for (size_t i = 1; i <= m; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= n; k++) {
            unsigned above = row[k];
            row[k] = least(least(above, row[k - 1]) + 1, diagonal + (lower(given[i - 1]) != lower(name[k - 1])));
            diagonal = above;
        }
    }
    return row[n] <= most ? row[n] : NEAR_NONE;
}

void near_add(struct near *near, const char *given, const char *name) {
    unsigned distance = near_distance(given, name), at = near->n;
    for (unsigned i = 0; i < near->n; i++) {
        if (strcmp(near->names[i], name) == 0) {
            return;
        }
    }
    while (at > 0 && near->distances[at - 1] > distance) {
        at--;
    }
    if (distance == NEAR_NONE || at == NEAR_MAX) {
        return;
    }
    near->n += near->n < NEAR_MAX;
    for (unsigned i = near->n - 1; i > at; i--) {
        near->names[i] = near->names[i - 1];
        near->distances[i] = near->distances[i - 1];
    }
    near->names[at] = name;
    near->distances[at] = distance;
}

const char *near_text(const struct near *near, const char *before, char *out, size_t size) {
    out[0] = '\0';
    for (unsigned i = 0; i < near->n && near->distances[i] <= near->distances[0] + 1; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", i ? ", " : before, near->names[i]);
    }
    return out;
}
