/* Suggestions for a misspelled name. */
#ifndef REEL_BASE_SUGGEST_H
#define REEL_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAR_TEXT_MAX = 128, NEAR_MAX = 3, NEAR_NONE = 1000 };

/* Number of edits from `given` to `name`; 0 if `name` contains it; NEAR_NONE if it is too far. Ignores case. */
unsigned near_distance(const char *given, const char *name);

/* The nearest names seen so far, nearest first. */
struct near {
    unsigned n;
    const char *names[NEAR_MAX]; /* borrowed */
    unsigned distances[NEAR_MAX];
};
void near_add(struct near *near, const char *given, const char *name);
/* "" or `before` and the names that are nearest, separated by commas. */
const char *near_text(const struct near *near, const char *before, char *out, size_t size);

#endif
