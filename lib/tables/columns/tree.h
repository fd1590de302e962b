/* The columns of a table: a tree of structs, lists and leaves. It grows from the schemas of channels (columns_shape())
 * and from values (columns_survey()), and then gets its final types (columns_settle()); after that it never changes and
 * is used by many threads.
 *
 * What schemas do not say is taken from the values: one kind of value is a column of that type; integers and floats
 * together are floats if no integer is beyond 2^53; a mixture of other kinds, an object used as a map and a value of
 * which only null, [] or {} was seen are JSON text. */
#ifndef REEL_TABLES_COLUMNS_TREE_H
#define REEL_TABLES_COLUMNS_TREE_H

#include "base/arena.h"
#include "decode/encoding.h"

enum column_kind {
    COLUMN_STRUCT,
    COLUMN_LIST,
    COLUMN_BOOL,
    COLUMN_INTEGER,
    COLUMN_FLOAT,
    COLUMN_DOUBLE,
    COLUMN_TEXT,
    COLUMN_JSON, /* text that is JSON */
    COLUMN_BYTES,
    COLUMN_TIME,     /* int64, ns since 1970 */
    COLUMN_DURATION, /* int64, ns */
};

/* What was seen of a column; the first bits are those of enum reel_number. */
enum column_seen {
    SEEN_NUMBERS = (1 << (REEL_F64 + 1)) - 1,
    SEEN_INTEGER = 1 << 11,  /* of a value, of no certain width */
    SEEN_NEGATIVE = 1 << 12, /* such integers: below 0, */
    SEEN_INEXACT = 1 << 13,  /* beyond 2^53, */
    SEEN_HUGE = 1 << 14,     /* above INT64_MAX */
    SEEN_TEXT = 1 << 15,
    SEEN_BYTES = 1 << 16,
    SEEN_TIME = 1 << 17,
    SEEN_DURATION = 1 << 18,
    SEEN_MAP = 1 << 19,
    SEEN_LIST = 1 << 20,
    SEEN_NULL = 1 << 21,
    SEEN_ANY = 1 << 22, /* becomes JSON whatever else was seen */
};

struct column {
    struct reel_bytes key; /* as payloads have it */
    const char *name;      /* unique among its siblings, whatever the case; never empty */
    struct column *parent;
    struct column **children; /* in the order of the table; of a list: the element */
    struct column **sorted;   /* of a struct: the same, by key */
    uint32_t n_children, room;
    enum column_kind kind;
    uint8_t bits;   /* of an integer */
    bool is_signed; /* it too */
    bool optional;
    uint32_t index; /* in pre-order, from 0; the root's children begin with 0 */
    uint32_t depth;
    /* while the tree grows: */
    uint32_t seen;  /* enum column_seen */
    bool declared;  /* `seen` is from a schema */
    bool absent;    /* the schema allows that it is missing */
    uint64_t count; /* values that were not null */
    uint64_t slot;  /* the count of its parent when the last value was counted */
};

struct columns {
    void *(*alloc)(void *owner, size_t size); /* zeroed; NULL: no memory */
    void *owner;                              /* not used after columns_settle() */
    struct column *payload;                   /* the value that the tree grew from */
    struct column *root; /* the table: the fixed columns, then those of the payload; set by columns_settle() */
    struct column *log_time, *publish_time, *sequence, *recording, *topic, *data; /* NULL: not in this table */
    struct column **all;                                                          /* by index */
    uint32_t n, created;
    uint32_t parts; /* of shapes that were visited */
    bool exact;     /* all payloads are what the schema says: nothing was counted */
    bool no_memory; /* an allocation failed */
    uint64_t rows;  /* surveyed */
    uint64_t raw;   /* rows whose payload is not decoded: their bytes are in `data` */
};

/* Begins a tree. */
bool columns_init(struct columns *c, void *(*alloc)(void *owner, size_t size), void *owner);
/* Adds the shape of a decoder's payloads. *exact: as reel_decoder_shape(). */
void columns_shape(struct columns *c, const struct reel_decoder *decoder, bool *exact);

/* The child with this key; NULL: none. *hint: where it is probably found, and after that where the next one is. */
struct column *column_find(const struct column *parent, struct reel_bytes key, uint32_t *hint);
/* The same, added if there is none. NULL: beyond a ceiling; the struct has become JSON. */
struct column *columns_child(struct columns *c, struct column *parent, struct reel_bytes key, uint32_t *hint);
/* The element of a list, added if there is none. NULL as above. */
struct column *columns_element(struct columns *c, struct column *list);
/* Makes it JSON text and forgets its children. */
void column_collapse(struct column *column);
static inline bool column_is_any(const struct column *column) {
    return column->seen & SEEN_ANY;
}

/* The fixed columns that come before and after those of the payload. */
struct columns_fixed {
    bool times;     /* log_time, publish_time, sequence */
    bool recording; /* the message's recording */
    bool topic;     /* its topic */
};
/* Decides types and names, and numbers the columns. False: no memory. */
bool columns_settle(struct columns *c, const struct columns_fixed *fixed);

static inline bool column_is_leaf(const struct column *column) {
    return column->kind > COLUMN_LIST;
}
static inline bool column_is_bytes(const struct column *column) {
    return column->kind == COLUMN_TEXT || column->kind == COLUMN_JSON || column->kind == COLUMN_BYTES;
}
/* Bytes of a value of a leaf that has no variable size. */
static inline uint32_t column_width(const struct column *column) {
    return column->kind == COLUMN_BOOL      ? 1
           : column->kind == COLUMN_FLOAT   ? 4
           : column->kind == COLUMN_INTEGER ? column->bits / 8u
                                            : 8;
}

#endif
