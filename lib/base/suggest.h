/* Suggestions for a misspelled name. */
#ifndef REEL_BASE_SUGGEST_H
#define REEL_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { SUGGEST_TEXT_MAX = 128, SUGGESTIONS_MAX = 3, SUGGEST_NONE = 1000 };

/* Number of edits from `given` to `name`; 0 if `name` contains it; SUGGEST_NONE if it is too far. Ignores case. */
unsigned suggest_distance(const char *given, const char *name);

/* The nearest names seen so far, nearest first. */
struct suggestions {
    unsigned n;
    const char *names[SUGGESTIONS_MAX]; /* borrowed */
    unsigned distances[SUGGESTIONS_MAX];
};
void suggest_add(struct suggestions *suggestions, const char *given, const char *name);
/* "" or `before` and the names that are nearest, separated by commas. */
const char *suggest_text(const struct suggestions *suggestions, const char *before, char *out, size_t size);

#endif
