/* See names.h. */
#include "recordings/names.h"
#include "base/bytes.h"
#include "syntax/utf8.h"

#include <string.h>

static bool check_text(const char *what, const char *text, struct reel_error *err) {
    if (!text || !*text) {
        return reel_fail(err, REEL_ARGUMENT, "%s is empty", what);
    }
    if (strlen(text) > NAME_BYTES_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "%s is longer than %d bytes", what, NAME_BYTES_MAX);
    }
    if (!utf8_valid(bytes_text(text)) || utf8_has_control(text)) {
        return reel_fail(err, REEL_ARGUMENT, "%s is not UTF-8, or has control characters", what);
    }
    return true;
}

static bool is_dots(const char *text) {
    return strcmp(text, ".") == 0 || strcmp(text, "..") == 0;
}

bool names_check(const char *collection, const char *name, struct reel_error *err) {
    if (!check_text("collection", collection, err) || !check_text("name", name, err)) {
        return false;
    }
    if (strchr(collection, '/') || is_dots(collection)) {
        return reel_fail(err, REEL_ARGUMENT, "collection has a \"/\" in it, or is \".\" or \"..\"");
    }
    for (const char *at = name, *end;; at = end + 1) {
        end = strchrnul(at, '/');
        size_t size = (size_t)(end - at);
        if (size == 0 || (size == 1 && at[0] == '.') || (size == 2 && at[0] == '.' && at[1] == '.')) {
            return reel_fail(err, REEL_ARGUMENT,
                             "name begins or ends with \"/\", or has a segment that is empty, \".\" or \"..\"");
        }
        if (!*end) {
            return true;
        }
    }
}

const char *names_file(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}
