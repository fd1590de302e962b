/* Picks fields out of payloads by their paths, for projections, columns and series. A path consists of keys and list
 * indexes joined by dots: "pose.position.x", "ranges.0"; "ranges[0]" is the same as "ranges.0". A path to a map or list
 * selects all of it; the empty path selects a payload that is a single value. */
#ifndef REEL_DECODE_FIELDS_H
#define REEL_DECODE_FIELDS_H

#include "decode/encoding.h"

enum { FIELD_PATH_MAX = 1024, FIELDS_MAX = 4096, FIELD_DEPTH_MAX = 64 };

/* "a[3].b" → "a.3.b"; "a.[p.x]" stays. False: too long. */
bool field_path_normal(const char *path, char out[FIELD_PATH_MAX]);

/* A set of paths, immutable once it is used. The index of a path in the list that it was created from is its column. */
struct field_set;
/* REEL_ARGUMENT: a path is too long; REEL_LIMIT: more than FIELDS_MAX. */
struct field_set *field_set_new(const char *const *paths, uint32_t n, struct reel_error *err);
/* Adds a path, before the set is used; a path that it already contains keeps its column. REEL_ARGUMENT, REEL_LIMIT as
 * above. */
bool field_set_add(struct field_set *set, const char *path, struct reel_error *err);
uint32_t field_set_count(const struct field_set *set);
const char *field_set_name(const struct field_set *set, uint32_t column); /* as it was passed in */
void field_set_free(struct field_set *set);
REEL_DEFINE_AUTO(struct field_set, field_set_free);

/* A visitor that passes each value it finds to the visitor that open() returns for its column (NULL: skip the value).
 * Call field_picker_start() before each payload. `done` is set if the picker ended the walk because all fields are
 * found. */
struct field_level {
    uint32_t length; /* of the path so far */
    uint32_t next;   /* in a list: index of the next value */
    bool list;
};
struct field_picker {
    struct reel_visitor visitor; /* must be the first member */
    const struct field_set *set;
    struct reel_visitor *(*open)(void *context, uint32_t column);
    bool (*close)(void *context, uint32_t column); /* the value is complete */
    void *context;
    uint32_t found;
    bool done;
    struct reel_visitor *inner; /* receives the current value; NULL between picked values */
    uint32_t column;
    uint32_t value_depth, skipped_depth; /* nesting in the picked value, or in a skipped one */
    uint32_t depth;
    uint32_t length;
    struct reel_bytes members[2]; /* of the next value, which is shown in place of maps with these keys */
    uint32_t n_members;
    struct field_level levels[FIELD_DEPTH_MAX + 1];
    char path[FIELD_PATH_MAX];
};
void field_picker_start(struct field_picker *p);

#endif
