/* What row.c and row_channel.c share: the members of a row, as spans of either medium, and how they are read. */
#ifndef REEL_FORMATS_ROWS_ROW_PARSE_H
#define REEL_FORMATS_ROWS_ROW_PARSE_H

#include "formats/rows/row.h"

/* A value where it stands, in either medium. */
struct row_value {
    struct reel_bytes text;
    enum { VALUE_NONE, VALUE_JSON, VALUE_MSGPACK } medium;
};

struct row_scalar {
    struct reel_visitor visitor; /* must be first */
    struct arena *arena;
    enum { SCALAR_OTHER, SCALAR_NULL, SCALAR_BOOL, SCALAR_INTEGER, SCALAR_REAL, SCALAR_TEXT, SCALAR_BYTES } kind;
    int64_t integer;
    double real;
    struct reel_bytes bytes; /* in the arena, with a NUL behind it */
    bool no_memory;
};

struct row_members {
    struct row_value topic, log_time, publish_time, sequence, frame_id, callerid, data, channel;
    struct row_value type, encoding, schema, schema_name, schema_encoding, schema_hash; /* of a channel row, … */
    struct row_value schemas, topics, latched, metadata;                                /* … too */
    bool ignored;
};

/* False in all of these: REEL_ARGUMENT or REEL_LIMIT names the member, or there is no memory. */
bool row_split(const struct row_value *value, struct row_members *out, struct reel_error *err);
bool row_read_scalar(const struct row_parser *p, const struct row_value *value, const char *member,
                     struct row_scalar *out, struct reel_error *err);
/* A text without control characters; in the arena. */
bool row_read_text(const struct row_parser *p, const struct row_value *value, const char *member, const char **out,
                   struct reel_error *err);
bool row_text_or(const struct row_parser *p, const struct row_value *value, const char *member, const char *otherwise,
                 const char **out, struct reel_error *err);
bool row_is_base64(const struct row_value *value, struct row_value *digits);
bool row_read_base64(const struct row_parser *p, const struct row_value *digits, struct reel_bytes *out,
                     struct reel_error *err);

/* row_channel.c: the value of "$channel". */
bool row_read_channel(const struct row_parser *p, const struct row_value *value, struct row *out,
                      struct reel_error *err);

#endif
