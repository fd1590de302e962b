/* MessagePack read item by item from a cursor, without building a tree. */
#ifndef REEL_SYNTAX_MSGPACK_H
#define REEL_SYNTAX_MSGPACK_H

#include "base/cursor.h"
#include "base/limits.h"

enum msgpack_result {
    MSGPACK_OK,
    MSGPACK_SHORT /* the data are cut off */,
    MSGPACK_BAD /* not MessagePack */,
    MSGPACK_DEEP /* more than REEL_DEPTH_MAX levels */
};
const char *msgpack_result_text(enum msgpack_result r);

enum msgpack_kind {
    MSGPACK_NIL,
    MSGPACK_BOOL,
    MSGPACK_INT,
    MSGPACK_FLOAT,
    MSGPACK_STR,
    MSGPACK_BIN,
    MSGPACK_EXT,
    MSGPACK_ARRAY,
    MSGPACK_MAP
};
struct msgpack_item {
    enum msgpack_kind kind;
    bool over;        /* MSGPACK_INT above INT64_MAX: number is approximate, integer is invalid, natural is exact */
    bool narrow;      /* MSGPACK_FLOAT of 32 bits */
    int64_t integer;  /* MSGPACK_INT, MSGPACK_BOOL */
    uint64_t natural; /* MSGPACK_INT that is not negative */
    double number;    /* MSGPACK_INT, MSGPACK_FLOAT */
    uint64_t count;   /* MSGPACK_ARRAY: items, MSGPACK_MAP: pairs; they follow */
    struct reel_bytes bytes; /* MSGPACK_STR, MSGPACK_BIN, MSGPACK_EXT */
};
struct msgpack_faults { /* accepted here, refused by strict readers */
    bool text, key;     /* a str that is not UTF-8; a map key that is not a str */
};

enum msgpack_result msgpack_read(struct cursor *c, struct msgpack_item *item);
/* Skips one object, at most `depth` levels deep. */
enum msgpack_result msgpack_skip(struct cursor *c, unsigned depth, struct msgpack_faults *faults);
/* Like msgpack_read(), but skips the contents of an array or map. */
enum msgpack_result msgpack_take(struct cursor *c, struct msgpack_item *item, unsigned depth,
                                 struct msgpack_faults *faults);
/* A map key: its text, or an item of another type, which is skipped and flagged (text is then empty). */
enum msgpack_result msgpack_key(struct cursor *c, struct reel_bytes *text, unsigned depth,
                                struct msgpack_faults *faults);
static inline bool msgpack_is_container(const struct msgpack_item *item) {
    return item->kind == MSGPACK_ARRAY || item->kind == MSGPACK_MAP;
}
static inline bool msgpack_is_number(const struct msgpack_item *item) {
    return item->kind == MSGPACK_INT || item->kind == MSGPACK_FLOAT;
}

#endif
