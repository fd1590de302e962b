/* Globs over topic names. Only the last star is ever retried, so the time is at most glob × text; after
 * REEL_GLOB_STEPS_MAX steps the answer is "no match". */
#include "base/glob.h"
#include "base/limits.h"
#include "stream/stream.h"

/* Skips one UTF-8 character; text is never empty here. */
static const char *glob_skip(const char *text) {
    do {
        text++;
    } while (((unsigned char)*text & 0xc0) == 0x80);
    return text;
}

bool reel_glob_match(const char *glob, const char *text) {
    const char *star = NULL;  /* the glob after the last star */
    const char *retry = NULL; /* the text position tried for that star */
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
