/* Shared by the files that answer a list: list_query.c and list_terms.c turn a query into conditions, list_plan.c
 * chooses how they are answered, list_sql.c writes the statement, list.c runs it.
 *
 * There are two ways. A walk reads the index of the sort and tests each row: good when many match. A gather collects
 * the rows of the most selective condition from its index, tests and sorts them: good when few match. Both answer
 * exactly; the plan only decides what it costs.
 */
#ifndef SERVER_CATALOG_LIST_H
#define SERVER_CATALOG_LIST_H

#include <jansson.h>
#include <stdio.h>

#include "catalog/catalog_internal.h"

enum {
    LIST_CONDITIONS_MAX = 512,
    LIST_WALKED_MAX = 20000,   /* a walk that has read so many rows without filling its page becomes a gather */
    LIST_ESTIMATE_MAX = 20000, /* estimates that are counted end here */
    LIST_TOTAL_MAX = 10000,    /* and totals here */
};

/* As in the table labels. KIND_TAG: a tag's value, KIND_TITLE: an event's title. */
enum label_kind { KIND_TOPIC, KIND_TYPE, KIND_META, KIND_TAG, KIND_TITLE };
enum { KINDS_OF_CHANNELS = 1 << KIND_TOPIC | 1 << KIND_TYPE, KINDS_ALL = (1 << (KIND_TITLE + 1)) - 1 };

enum condition_kind {
    CONDITION_ALL,    /* of its children; of none: everything */
    CONDITION_ANY,    /* of its children; of none: nothing */
    CONDITION_SET,    /* a column has one of these values */
    CONDITION_RANGE,  /* a column is in [min, max] */
    CONDITION_SPAN,   /* the recording overlaps [min, max) on the calendar */
    CONDITION_LABELS, /* it has one of these labels; the column is that of the set */
    CONDITION_TAGS,   /* it has a tag of one of these keys (column "key") or values ("value") */
    CONDITION_TEXT,   /* this text is found in its name or collection, or in a label */
};

struct condition {
    enum condition_kind kind;
    bool negated;
    bool has_trash;       /* CONDITION_SET: of states, the trash among them */
    unsigned kinds;       /* CONDITION_TEXT: 1 << label_kind of the labels that have it, others perhaps */
    uint32_t first, next; /* children of ALL and ANY: their place; 0: none */
    const char *column;
    char *text;  /* a JSON array of values or ids; CONDITION_TEXT: the text as search_needle() writes it. malloc'd */
    char *match; /* CONDITION_TEXT: the same for MATCH, or for LIKE in PostgreSQL */
    char *maybe; /* CONDITION_TEXT in SQLite: for MATCH, what finds all that has the text, and little else, in a third
                    of the time; NULL: there is nothing simpler. malloc'd */
    int64_t min, max;
    int64_t estimate; /* of the recordings that match */
    bool capped;      /* there may be more: LIST_ESTIMATE_MAX was reached */
};

struct list_query {
    struct condition *conditions; /* [0] is the root, a CONDITION_ALL */
    uint32_t n;
    bool has_trash;      /* a condition asks for the trash */
    const char *q;       /* for messages */
    bool postgres;       /* the engine */
    bool limited;        /* the caller sees some collections only */
    uint32_t names_read; /* names compared with globs and patterns so far; bounded, as is the time */
    int64_t deadline_ns;
    struct list_costs { /* list_plan.c */
        bool found;
        int64_t all; /* recordings */
        double part; /* of them that matches everything */
        bool known;  /* it is more than a guess */
        uint32_t driver;
        double driven; /* its rows */
    } costs;
};

/* list_query_done() in any case. */
bool list_query(struct db_handle *h, const struct catalog_query *q, struct list_query *out, struct reel_error *err);
void list_query_done(struct list_query *query);
/* A new last child of the condition at `parent`. NULL: reported. The pointer is good until the next call. */
struct condition *list_add(struct list_query *query, uint32_t parent, enum condition_kind kind, struct reel_error *err);
bool list_add_span(struct list_query *query, uint32_t parent, int64_t start_ns, int64_t end_ns, struct reel_error *err);
bool list_add_range(struct list_query *query, uint32_t parent, const char *column, bool negated, int64_t min,
                    int64_t max, struct reel_error *err);
/* list_terms.c: the terms of q= */
bool list_add_search(struct db_handle *h, struct list_query *query, const char *q, struct reel_error *err);

enum list_way { LIST_WALK, LIST_GATHER };
struct list_plan {
    enum list_way way;
    uint32_t driver;    /* LIST_GATHER: the condition whose rows are collected */
    int64_t window;     /* how many rows are read before it must be planned anew; 0: all */
    const char *column; /* of the sort: "row", "name" … */
    bool descending;
    bool counting; /* only rows, in no order */
    bool spans;    /* with counting: also when they begin and end on the calendar */
    bool bounded;  /* a walk ends at :edge_key, :edge_row */
};

/* The first plan for a page that begins behind `offset` rows and has `limit`; the other members of *plan are set. */
bool list_choose(struct db_handle *h, struct list_query *query, uint64_t offset, uint64_t limit, struct list_plan *plan,
                 struct reel_error *err);
/* The next plan, where the window of this one has ended before the page was full. */
void list_choose_again(uint64_t offset, uint64_t limit, struct list_plan *plan);
/* For `max` rows in no order. */
bool list_choose_any(struct db_handle *h, struct list_query *query, uint64_t max, struct list_plan *plan,
                     struct reel_error *err);
/* the widest class of length there is */
bool list_widest(struct db_handle *h, int64_t *width_ns, struct reel_error *err);
/* The conditions that can drive a gather. */
bool list_can_gather(const struct list_query *query, uint32_t i);
uint32_t list_driver(const struct list_query *query, uint32_t i); /* of those within an ALL, the one with the smallest
                                                                     estimate */

/* Statements; malloc'd, NULL without memory. */
char *list_sql(const struct list_query *query, const struct list_plan *plan);
char *list_sql_edge(const struct list_plan *plan);     /* the last row of a walk's window */
char *list_sql_sample(const struct list_query *query); /* how many of the rows in :rows match, and how many there are */
char *list_sql_count(const struct list_query *query, uint32_t condition); /* its rows, up to :limit */
/* Parts of statements: a test of the row r; the rows of a condition; those of a text by the value 'm', or by 'c' those
 * that may have it. */
void list_sql_put_leaf(FILE *out, const struct list_query *query, uint32_t i);
void list_sql_put_rows(FILE *out, const struct list_query *query, uint32_t i);
void list_sql_put_text_rows(FILE *out, const struct list_query *query, char value, uint32_t i);
/* list_sql_sets.c. As they are stored: of one that has no children; of all in the order of a column. */
char *list_sql_rows(const struct list_query *query, uint32_t condition);
char *list_sql_maybe(const struct list_query *query, uint32_t condition); /* by `maybe` */
char *list_sql_order(const struct list_query *query, const char *column);
/* The same of the rows in :rows: those that a condition finds, those outside of the trash, and in the order of a column
 * each with the row behind it, or 0. */
char *list_sql_matches(const struct list_query *query, uint32_t condition);
char *list_sql_shown(void);
char *list_sql_moved(const char *column);
struct list_values {    /* of each recording */
    const char *column; /* "channel_labels" or "metadata_labels"; the number of the set */
    const char *tag;    /* instead: the number of the value of this tag */
};
char *list_sql_values(const struct list_query *query, const struct list_values *values); /* rows and numbers */
char *list_sql_changed_values(const struct list_values *values);
bool list_is_kept(const struct condition *c); /* that number is kept, not counted */
void list_bind(struct db_statement *s, const struct list_query *query);

struct list_found { /* the newest `max` rows that a query finds; list_found_done() */
    char *rows;     /* as a JSON array for {ints :rows} */
    bool counted;   /* instead: of each value, its number << 32 and how many of the rows have it */
    uint32_t n;
    bool more; /* there are others */
};
/* `values` NULL: the rows. With them it may count instead. */
bool list_rows(struct catalog *c, struct db_handle *h, const struct catalog_query *q, const struct list_values *values,
               uint32_t max, struct list_found *out, struct reel_error *err);
void list_found_done(struct list_found *found);
/* Calls `visit` with the times of what a query finds, in no order; of at most `max`. Recordings without a date are left
 * out, if the query has a start or an end. */
bool list_spans(struct db_handle *h, const struct catalog_query *q, uint32_t max,
                void (*visit)(void *, int64_t start_ns, int64_t end_ns), void *context, uint32_t *n, bool *more,
                struct reel_error *err);

/* ---- list_sets.c, list_bits.c */

enum {
    LIST_SETS_BYTES_MAX = 32 << 20,
    LIST_SETS_ROWS_MAX = 4000000,
    LIST_SETS_DRIVEN_MIN = 20000, /* where a gather reads fewer rows it is as fast */
};

struct list_sets *list_sets_new(struct reel_error *err);
void list_sets_free(struct list_sets *sets); /* NULL is fine */
size_t list_sets_bytes(struct list_sets *sets);
void list_sets_always(struct list_sets *sets); /* for tests: for short lists too */

struct list_cut {      /* of all that match, in the order of the sort */
    int64_t after_row; /* behind this one; 0: from the first */
    uint64_t offset;
    uint32_t limit;
    /* filled in */
    bool done; /* else the answer has to come from a query */
    bool more;
    uint32_t n;
    int64_t *rows; /* `limit` of them */
};
/* Whether so many recordings match some conditions that the page is read faster from sets. */
bool list_sets_pay(struct list_sets *sets, const struct list_query *query, const struct list_plan *plan);
/* A page that was read by queries took so long. */
void list_sets_took(struct list_sets *sets, const struct list_plan *plan, int64_t ns);
/* Instead of a walk only by an order that is there. */
bool list_sets_cut(struct list_sets *sets, struct db_handle *h, const struct list_query *query,
                   const struct list_plan *plan, struct list_cut *cut, struct reel_error *err);
/* out->rows stays NULL where the answer has to come from a query. */
bool list_sets_count(struct list_sets *sets, struct db_handle *h, const struct list_query *query,
                     const struct list_values *values, uint32_t max, struct list_found *out, struct reel_error *err);

#endif
