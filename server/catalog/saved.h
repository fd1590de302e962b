/* What users save by name, as JSON objects: layouts of a collection's recordings and searches, which only the page
 * understands, and datasets (datasets/definition.h). Layouts of a collection whose last recording is deleted stay, for
 * when it has some again. */
#ifndef SERVER_CATALOG_SAVED_H
#define SERVER_CATALOG_SAVED_H

#include <jansson.h>

#include "catalog/catalog.h"

enum {
    SAVED_NAME_MAX = 255, /* bytes */
    SAVED_VALUE_MAX = 64 << 10,
    SAVED_EACH_MAX = 200, /* searches, datasets, or layouts of a collection */
    SAVED_MAX = 5000,     /* all together */
    SAVED_CHARACTERS_MAX = 8 << 20,
};

struct saved {        /* texts belong to it */
    char *kind;       /* "layout", "search" or "dataset" */
    char *collection; /* of a layout; else "" */
    char *name;
    json_t *value;
    char *author;                   /* who saved it last */
    int64_t created_ns, updated_ns; /* updated_ns grows with every change: it is the version */
};
void saved_done(struct saved *one);

struct saved_list {
    struct saved *items; /* by name */
    uint32_t n;
};
void saved_list_done(struct saved_list *list);

/* kind NULL: all of every kind. */
bool catalog_saved_list(struct catalog *c, const char *kind, const char *collection, struct saved_list *out,
                        struct reel_error *err);
/* Kind, collection and name of `key` name it. REEL_NOT_FOUND. */
bool catalog_saved_get(struct catalog *c, const struct saved *key, struct saved *out, struct reel_error *err);
/* If its version is this one: CATALOG_ABSENT: there is none, CATALOG_ANY_VERSION: in any case; otherwise REEL_CHANGED.
 * put() sets the times that are 0; REEL_ARGUMENT, REEL_LIMIT. */
bool catalog_saved_put(struct catalog *c, struct saved *one, int64_t version, struct reel_error *err);
bool catalog_saved_delete(struct catalog *c, const struct saved *key, int64_t version, struct reel_error *err);

/* What a search finds of the form that the page saves: q, start, end (and sort, which means nothing here); texts are
 * those of the value. False: it is not of that form. */
bool saved_search_read(const json_t *value, struct catalog_query *out);

#endif
