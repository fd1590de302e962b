/* row_bytes(n, …): the numbers of all rows as one value, four bytes each, the most significant first. A statement that
 * gives a million rows costs three times as much. In PostgreSQL this is string_agg(int4send(n)). */
#include <stdlib.h>

#include "base/bytes.h"
#include "catalog/sqlite/sqlite.h"

struct row_bytes {
    uint8_t *data;
    size_t size, room;
};

static bool row_bytes_grow(struct row_bytes *b, size_t more) {
    if (b->size + more > b->room) {
        size_t room = b->room ? 2 * b->room : 4096;
        uint8_t *data = realloc(b->data, room);
        if (!data) {
            return false;
        }
        b->data = data;
        b->room = room;
    }
    return true;
}

static void row_bytes_step(sqlite3_context *context, int n, sqlite3_value **values) {
    struct row_bytes *b = sqlite3_aggregate_context(context, sizeof *b);
    if (!b || !row_bytes_grow(b, 4 * (size_t)n)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (int i = 0; i < n; i++) {
        store_u32le(b->data + b->size, __builtin_bswap32((uint32_t)sqlite3_value_int64(values[i])));
        b->size += 4;
    }
}

static void row_bytes_end(sqlite3_context *context) {
    struct row_bytes *b = sqlite3_aggregate_context(context, 0);
    if (b) {
        sqlite3_result_blob64(context, b->data, b->size, free);
        *b = (struct row_bytes){0};
    }
}

int row_bytes_register(sqlite3 *sqlite) {
    return sqlite3_create_function_v2(sqlite, "row_bytes", -1, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, NULL,
                                      row_bytes_step, row_bytes_end, NULL);
}
