/* Picking fields out of payloads by their paths: for projections, columns and series. A path is keys and places in lists joined by dots –
 * "pose.position.x", "ranges.0" – and "ranges[0]" is the same as "ranges.0". A path that ends at a map or list means all of it; the empty
 * one means a payload that is a single value. */
#ifndef REEL_CORE_FIELDS_H
#define REEL_CORE_FIELDS_H

#include "reel/encoding.h"

enum { FIELD_PATH_MAX = 1024, FIELDS_MAX = 4096, FIELD_DEPTH_MAX = 64 };

/* An immutable set of paths; the place of a path in the list it was made of is its column. */
struct field_set;
/* REEL_ARGUMENT: too long a path; REEL_LIMIT: more than FIELDS_MAX. */
struct field_set *field_set_new(const char *const *paths, uint32_t n, struct reel_error *err);
/* One more path, before the set is used; one that is there already is that column. REEL_ARGUMENT, REEL_LIMIT as above. */
bool field_set_add(struct field_set *set, const char *path, struct reel_error *err);
uint32_t field_set_count(const struct field_set *set);
const char *field_set_name(const struct field_set *set, uint32_t column); /* as it was given */
void field_set_free(struct field_set *set);
REEL_DEFINE_AUTO(struct field_set, field_set_free);

/* The visitor that picks. Each value found is reported, whole, to the visitor that open() returns for its column (NULL: it is skipped). One
 * payload each: field_picker_start() before it. A walk that the picker ended because all is found has `done`. */
struct field_level {
    uint32_t length; /* of the path up to here */
    uint32_t next;   /* the place of the next value, in a list */
    bool list;
};
struct field_picker {
    struct reel_visitor visitor; /* first: this is one */
    const struct field_set *set;
    struct reel_visitor *(*open)(void *context, uint32_t column);
    bool (*close)(void *context, uint32_t column); /* the value is complete */
    void *context;
    uint32_t found;
    bool done;
    struct reel_visitor *inner; /* of the value that is being told */
    uint32_t column;
    uint32_t inside, outside; /* how deep in a value that is told, or that nobody wants */
    uint32_t depth;
    uint32_t length;
    struct field_level levels[FIELD_DEPTH_MAX + 1];
    char path[FIELD_PATH_MAX];
};
void field_picker_start(struct field_picker *p);

#endif
