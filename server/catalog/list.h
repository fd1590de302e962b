/* Shared by the files that answer a list: list_query.c turns a query into names and ids, list_plan.c chooses the driving index,
 * list_sql.c writes the statement, list.c runs it. */
#ifndef SERVER_CATALOG_LIST_H
#define SERVER_CATALOG_LIST_H

#include <jansson.h>

#include "catalog/catalog_internal.h"

enum {
    LIST_SELECTIVE = 5000,
    LIST_VERY_SELECTIVE = 100, /* a filter that leaves at most so many rows drives the list */
    LIST_SPANS = 20000,        /* the same for an interval, whose rows are adjacent in the index */
    LIST_WINDOW = 1000,
    LIST_PAGE = 100,          /* a walk in the order of a sort reads LIST_WINDOW rows for each LIST_PAGE; as many are sorted */
    LIST_LINKS_WINDOW = 2000, /* a walk along several labels or tags reads so many */
    LIST_COUNTED = 2000,      /* counts end here */
};

enum list_driver {
    LIST_WALK, /* the index of the sort */
    LIST_COLLECTION,
    LIST_GROUP,
    LIST_ALLOWED,
    LIST_FORMAT,
    LIST_STATE,
    LIST_DAMAGED,
    LIST_SIZE,
    LIST_DURATION,
    LIST_MESSAGES, /* the index of a selective filter */
    LIST_WORDS,
    LIST_LINK,
    LIST_INTERVAL, /* collected first */
    LIST_FOUND,    /* rows that are already known */
    LIST_STREAM_WORDS,
    LIST_STREAM_LINK,
    LIST_STREAM_LINKS,
    LIST_STREAM_SPANS, /* these are in row order by themselves */
    LIST_DRIVERS
};

enum list_filter {
    FILTER_COLLECTIONS,
    FILTER_NO_COLLECTIONS,
    FILTER_ALLOWED,
    FILTER_GROUPS,
    FILTER_NO_GROUPS,
    FILTER_FORMATS,
    FILTER_NO_FORMATS,
    FILTER_STATES,
    FILTER_NO_STATES,
    FILTER_TRASH /* may be among the states */,
    FILTER_DAMAGED,
    FILTER_INTACT,
    FILTER_START,
    FILTER_END,
    FILTER_SIZE,
    FILTER_DURATION,
    FILTER_MESSAGES,
    FILTER_WORDS,
    FILTER_WITHOUT,
    FILTER_FLOOR,
    FILTER_CEILING /* the ends of a walk in the order of times */
};
#define LIST_BIT(filter) (1u << (filter))

/* A condition on what recordings are linked with: one of these ids, or none of them. */
enum list_by { BY_LABEL, BY_TAG_KEY, BY_TAG_VALUE };
struct list_link {
    enum list_by by;
    bool negated;
    char *ids; /* a JSON array */
    uint32_t n;
    int64_t first;
};
enum { LIST_LINKS_MAX = 256 };

struct list_set { /* JSON arrays; NULL: no condition */
    json_t *in, *out;
};

struct list_plan { /* all that the statement depends on */
    enum list_driver driver;
    const char *column; /* of the sort: "row", "name" … */
    bool descending, counting;
    bool very_selective; /* so few rows that each is looked up in the full-text index, instead of reading all its matches */
    uint32_t filters;    /* LIST_BIT of enum list_filter */
    const struct list_link *links;
    uint32_t n_links, driving_link; /* the link whose index drives the list */
};

struct list_query {
    struct list_plan plan;
    struct list_set collections, groups, formats, states;
    struct list_link links[LIST_LINKS_MAX];
    char *words, *without, *allowed;
    char *texts[9]; /* of the sets, to be bound */
    int64_t start_ns, end_ns, size[2], duration[2], messages[2];
    int64_t floor_ns, ceiling_ns; /* in the order of times: the first that can match, and the first that cannot */
    bool placed;                  /* they are set */
    uint32_t names_read;          /* names compared with globs and patterns so far; bounded, as is the time */
    int64_t deadline_ns;
};

/* Fills all but the driver and the sort. list_query_done() in any case. */
bool list_query(struct db_handle *h, const struct catalog_query *q, struct list_query *out, struct reel_error *err);
void list_query_done(struct list_query *query);
void list_bind(struct db_statement *s, const struct list_query *query); /* to a list, or a "selective_…" statement */
bool list_choose_plan(struct db_handle *h, struct list_query *query, struct reel_error *err);
/* malloc'd, NULL without memory. */
char *list_sql(const struct list_plan *plan);

/* The newest `max` rows that a query finds, as a JSON array for json_each(); *more: there are others. malloc'd. */
bool list_rows(struct db_handle *h, const struct catalog_query *q, uint32_t max, char **rows, uint32_t *n, bool *more,
               struct reel_error *err);

#endif
