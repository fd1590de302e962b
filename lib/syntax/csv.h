/* A cell of CSV (RFC 4180): quoted where that is needed, and where a reader might trim blanks. */
#ifndef REEL_SYNTAX_CSV_H
#define REEL_SYNTAX_CSV_H

#include "base/grow.h"

static inline bool csv_needs_quotes(struct reel_bytes value) {
    for (size_t i = 0; i < value.size; i++) {
        uint8_t c = value.data[i];
        if (c == ',' || c == '"' || c == '\n' || c == '\r') {
            return true;
        }
    }
    return value.size > 0 && (value.data[0] == ' ' || value.data[value.size - 1] == ' ');
}

static inline void csv_put(struct grow *to, struct reel_bytes value) {
    if (!csv_needs_quotes(value)) {
        grow_put(to, value.data, value.size);
        return;
    }
    grow_u8(to, '"');
    for (size_t i = 0, plain = 0; i <= value.size; i++) {
        if (i == value.size || value.data[i] == '"') {
            grow_put(to, value.data + plain, i - plain);
            grow_text(to, i < value.size ? "\"" : ""); /* written again as the start of the next plain run */
            plain = i;
        }
    }
    grow_u8(to, '"');
}

#endif
