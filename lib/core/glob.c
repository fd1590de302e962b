/* Globs over topic names. Its one rule: only the last star is ever taken back, so time is at most glob x text, and REEL_GLOB_STEPS_MAX
 * ends even that (as no match). */
#include "reel/iterate.h"
#include "wire/limits.h"

/* Past one UTF-8 character; text is never empty here. */
static const char *glob_skip(const char *text) {
    do {
        text++;
    } while (((unsigned char)*text & 0xc0) == 0x80);
    return text;
}

bool reel_glob_match(const char *glob, const char *text) {
    const char *star = NULL;  /* what follows the last star met */
    const char *retry = NULL; /* where in the text that was tried */
    for (unsigned steps = 0; steps < REEL_GLOB_STEPS_MAX; steps++) {
        if (*glob == '*') {
            star = ++glob;
            retry = text;
            if (*glob == '\0') {
                return true;
            }
        } else if (*text == '\0') {
            return *glob == '\0';
        } else if (*glob == '?') {
            glob++;
            text = glob_skip(text);
        } else if (*glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star;
            text = retry = glob_skip(retry);
        } else {
            return false;
        }
    }
    return false;
}

bool reel_topic_match(const char *glob, const char *topic) {
    return reel_glob_match(glob + (glob[0] == '/'), topic + (topic[0] == '/'));
}
