/* One row, parsed: row.c. */
#ifndef REEL_FORMATS_ROWS_ROW_H
#define REEL_FORMATS_ROWS_ROW_H

#include "base/arena.h"
#include "decode/encoding.h"
#include "formats/rows/append.h"

struct row {
    enum { ROW_IGNORED, ROW_MESSAGE, ROW_CHANNEL } kind;
    const char *topic;               /* in the arena */
    const char *frame_id, *callerid; /* NULL: none */
    int64_t log_ns, publish_ns;
    uint32_t sequence;
    bool has_publish_time, dated; /* dated: log_time was a date and time */
    bool is_bytes;                /* bytes instead of a value */
    struct reel_bytes payload;    /* in the row's text, or in the arena */
    struct reel_bytes span;       /* where it stands in the row's text; of base64 the digits */
    const char *encoding;         /* of bytes; "" = not told */
    struct reel_channel *channel; /* ROW_CHANNEL; in the arena */
};

struct row_parser {
    struct arena *arena; /* for what is not in the row's text */
    struct reel_decoder *json;
    struct reel_decoder *msgpack;
    int64_t now_ns; /* of rows without a time */
};
bool row_parser_open(struct row_parser *p, struct arena *arena, int64_t now_ns, struct reel_error *err);
void row_parser_close(struct row_parser *p);

bool row_parse_json(const struct row_parser *p, struct reel_bytes text, struct row *out, struct reel_error *err);
/* `map` is one whole map. */
bool row_parse_msgpack(const struct row_parser *p, struct reel_bytes map, struct row *out, struct reel_error *err);

#endif
