/* The collections that a caller may see. Globs become names here, once a query, so that SQL compares names by the index
 * of collections. */
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "catalog/catalog_internal.h"
#include "json_whole.h"
#include "stream/stream.h"

enum { ALLOWED_MAX = 10000 };

/* The first collection at or after `from` (only after it, with `after`), in byte order; "" when there is none. */
static bool next_name(struct db_handle *h, const char *from, bool after, char **out, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, after ? "collection_after" : "collection_from", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", from);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *out = strdup(db_text(s, 0));
    return *out || reel_fail_memory(err);
}

/* Those that match, found by what the glob begins with. */
static bool add_matching(struct db_handle *h, const char *glob, json_t *names, struct reel_error *err) {
    size_t fixed = strcspn(glob, "*?");
    AUTO_MEM char *name = strndup(glob, fixed);
    bool after = false;
    while (name) {
        char *next = NULL;
        if (!next_name(h, name, after, &next, err)) {
            return false;
        }
        free(name);
        name = next;
        after = true;
        if (*name == '\0' || strncmp(name, glob, fixed) != 0) {
            return true;
        }
        if (reel_glob_match(glob, name)) {
            if (json_array_size(names) == ALLOWED_MAX) {
                return reel_fail(err, REEL_LIMIT, "the caller's collections are more than %d", ALLOWED_MAX);
            }
            json_array_append_new(names, json_string(name));
        }
    }
    return reel_fail_memory(err);
}

bool catalog_allowed(struct db_handle *h, const char *const *globs, char **names, struct reel_error *err) {
    json_auto_t *array = json_array();
    for (; *globs; globs++) {
        if (!(*globs)[strcspn(*globs, "*?")]) {
            json_array_append_new(array, json_string(*globs));
        } else if (!add_matching(h, *globs, array, err)) {
            return false;
        }
    }
    *names = json_whole_text(array, JSON_COMPACT);
    return *names || reel_fail_memory(err);
}
