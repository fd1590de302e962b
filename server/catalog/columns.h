/* The columns of a recording, as one table: what is read, written and sorted by. A new column is a migration, a member
 * of struct catalog_recording and a row here. */
#ifndef SERVER_CATALOG_COLUMNS_H
#define SERVER_CATALOG_COLUMNS_H

#include <stddef.h>

#include "catalog/catalog.h"
#include "catalog/db.h"

enum column_kind {
    COLUMN_TEXT,      /* char *, malloc'd; written as '' when NULL */
    COLUMN_HEX,       /* char[], a blob in the database */
    COLUMN_I64,       /* int64_t */
    COLUMN_U64,       /* uint64_t */
    COLUMN_U32,       /* uint32_t */
    COLUMN_BOOL,      /* bool */
    COLUMN_STATE,     /* enum recording_state */
    COLUMN_CLOCK,     /* enum reel_clock */
    COLUMN_TIME,      /* int64_t, 0 in the database when there are no messages */
    COLUMN_SET_CLOCK, /* annotations.has_clock and clock; NULL in the database when it has none */
    COLUMN_EPOCH,     /* annotations.has_epoch and epoch_ns; NULL in the database when it has none */
    COLUMN_DURATION,  /* no member: end - start, saturated */
    COLUMN_COMPUTED,  /* no member: the database computes it, to sort by */
};
/* When a column is written with its member's value. The other columns get theirs from the statement. */
enum { COLUMN_ON_SCAN = 1, COLUMN_ON_INSERT = 2 };

struct column {
    const char *name; /* also of the parameter, with ':' before it */
    enum column_kind kind;
    size_t offset, size; /* of the member */
    unsigned written;
    const char *sort; /* its name in the parameter sort; NULL: not to sort by */
};
extern const struct column recording_columns[]; /* ends with name NULL */

/* `sql` with its placeholders replaced; malloc'd, NULL without memory.
 * {columns}: all that are read, as columns_read() expects them. {inserted}: those written on insert, {:inserted}: their
 * parameters. {scanned}: "name = :name, …" of those written after a scan. {ints :name}, {texts :name}: a JSON array as
 * a table with the column `value`; {in ints :name}, {in texts :name}: "IN" such an array; {in rows :name}: of up to a
 * hundred thousand numbers. Engines write these differently. */
enum { COLUMNS_ARRAYS = 5 };
struct columns_array {
    const char *placeholder, *before, *after; /* "{ints ", "json_each(", ")" */
};
char *columns_expand(const char *sql, const struct columns_array arrays[COLUMNS_ARRAYS]);
/* false: no memory; what was read is in *out */
bool columns_read(struct db_statement *s, struct catalog_recording *out);
void columns_bind(struct db_statement *s, const struct catalog_recording *r);
/* Replaces all texts of *r by copies; false: no memory, some are NULL. */
bool columns_copy_texts(struct catalog_recording *r);
void columns_free_texts(struct catalog_recording *r);
size_t columns_texts_size(const struct catalog_recording *r); /* with their NULs */

#endif
