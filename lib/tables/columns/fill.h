/* The values of some rows, column by column, as Arrow has them: a struct and a leaf have a slot for each value of the
 * list or struct they are in, also where that is null. A visitor fills them from decoded payloads. */
#ifndef REEL_TABLES_COLUMNS_FILL_H
#define REEL_TABLES_COLUMNS_FILL_H

#include "base/grow.h"
#include "base/limits.h"
#include "syntax/json_out.h"
#include "tables/columns/tree.h"

struct column_data {
    uint64_t length, nulls; /* slots; those that are null */
    struct grow valid;      /* of an optional column: a byte a slot, 1: not null */
    struct grow offsets;    /* of a list, of texts and bytes: u32, where the items of each slot end */
    struct grow values;     /* of a leaf */
};
static inline uint64_t column_offset(const struct column_data *data, uint64_t slot) {
    return slot == 0 ? 0 : load_u32le(data->offsets.data + (slot - 1) * 4);
}

struct fill_level {
    const struct column *column;
    uint32_t hint, seen; /* of a struct: members so far */
    bool is_list;
};
struct columns_fill {
    struct reel_visitor visitor; /* must be the first member */
    const struct columns *columns;
    struct column_data *data; /* by index */
    uint64_t rows, bytes;     /* so far; about what all values take */
    uint32_t depth, skipped;
    const struct column *next; /* the member whose key was last; NULL: not wanted */
    const struct column *json; /* the value that is being written as JSON */
    struct json_out json_out;
    uint32_t json_depth;
    struct fill_table *tables; /* where members of a fixed size belong (fill_members.c) */
    size_t n_tables, tables_room;
    struct fill_level levels[REEL_COLUMN_DEPTH_MAX + 2];
};
bool columns_fill_open(struct columns_fill *f, const struct columns *columns, struct reel_error *err);
void columns_fill_close(struct columns_fill *f);
void columns_fill_clear(struct columns_fill *f); /* no rows */
void column_data_free(struct column_data *data);

/* One row: first the fixed columns, then the payload through f->visitor (columns_fill_start() before it), or nothing of
 * it (columns_fill_bytes()), then columns_fill_end(). */
void columns_fill_start(struct columns_fill *f);
void columns_fill_bytes(struct columns_fill *f, struct reel_bytes payload);
void columns_fill_end(struct columns_fill *f);
/* After some rows: false when there was no memory for all of them. */
bool columns_fill_check(const struct columns_fill *f, struct reel_error *err);

void columns_put_integer(struct columns_fill *f, const struct column *column, int64_t value);
void columns_put_text(struct columns_fill *f, const struct column *column, struct reel_bytes text);

/* ---- for fill.c and fill_members.c */

static inline int64_t columns_fill_stamp(struct reel_stamp value) { /* ns */
    return (int64_t)((uint64_t)value.seconds * 1000000000 + (uint64_t)value.nanoseconds);
}
/* Are these numbers stored as they are? */
bool columns_fill_is_packed(const struct column *column, enum reel_number type);
bool columns_fill_members(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at);
void columns_fill_forget_tables(struct columns_fill *f);

#endif
