/* See suggest.h. */
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static uint8_t lower(char c) {
    return ascii_lower((uint8_t)c);
}

/* Letters and digits alone: "rosbag1" is the beginning of "rosbag-1.2". Returns their number. */
static size_t squeeze(const char *text, char out[SUGGEST_TEXT_MAX + 1]) {
    size_t n = 0;
    for (; *text; text++) {
        unsigned char c = lower(*text);
        if (ascii_is_alnum(c) || c >= 0x80) {
            out[n++] = (char)c;
        }
    }
    out[n] = '\0';
    return n;
}

/* The edit distance of Damerau and Levenshtein (insert, delete, replace, swap neighbours), in three rows of its table.
 */
static unsigned edits(const char *a, size_t m, const char *b, size_t n) {
    unsigned rows[3][SUGGEST_TEXT_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t k = 0; k <= n; k++) {
        last[k] = (unsigned)k;
    }
    for (size_t i = 1; i <= m; i++) {
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= n; k++) {
            bool same = lower(a[i - 1]) == lower(b[k - 1]);
            row[k] = least(least(last[k], row[k - 1]) + 1, last[k - 1] + !same);
            if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) && lower(a[i - 2]) == lower(b[k - 1])) {
                row[k] = least(row[k], before[k - 2] + 1);
            }
        }
        unsigned *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[n];
}

unsigned suggest_distance(const char *given, const char *name) {
    size_t m = strnlen(given, SUGGEST_TEXT_MAX + 1), n = strnlen(name, SUGGEST_TEXT_MAX + 1), shorter = m < n ? m : n;
    char part[SUGGEST_TEXT_MAX + 1], whole[SUGGEST_TEXT_MAX + 1];
    if (m > SUGGEST_TEXT_MAX || n > SUGGEST_TEXT_MAX) {
        return SUGGEST_NONE;
    }
    if (squeeze(given, part) >= 3 && squeeze(name, whole) > 0 && strstr(whole, part)) {
        return 0;
    }
    unsigned distance = edits(given, m, name, n);
    return distance < shorter && distance <= shorter / 3 + 1 ? distance : SUGGEST_NONE;
}

void suggest_add(struct suggestions *suggestions, const char *given, const char *name) {
    unsigned distance = suggest_distance(given, name), at = suggestions->n;
    for (unsigned i = 0; i < suggestions->n; i++) {
        if (strcmp(suggestions->names[i], name) == 0) {
            return;
        }
    }
    while (at > 0 && suggestions->distances[at - 1] > distance) {
        at--;
    }
    if (distance == SUGGEST_NONE || at == SUGGESTIONS_MAX) {
        return;
    }
    suggestions->n += suggestions->n < SUGGESTIONS_MAX;
    for (unsigned i = suggestions->n - 1; i > at; i--) {
        suggestions->names[i] = suggestions->names[i - 1];
        suggestions->distances[i] = suggestions->distances[i - 1];
    }
    suggestions->names[at] = name;
    suggestions->distances[at] = distance;
}

const char *suggest_text(const struct suggestions *suggestions, const char *before, char *out, size_t size) {
    out[0] = '\0';
    for (unsigned i = 0; i < suggestions->n && suggestions->distances[i] == suggestions->distances[0]; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", i ? ", " : before, suggestions->names[i]);
    }
    return out;
}
