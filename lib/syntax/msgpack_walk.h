/* MessagePack reported to a visitor, for decoders whose payloads contain it. */
#ifndef REEL_SYNTAX_MSGPACK_WALK_H
#define REEL_SYNTAX_MSGPACK_WALK_H

#include "decode/encoding.h"
#include "syntax/msgpack.h"

struct msgpack_walk {
    struct reel_bytes payload;
    struct cursor at;
    struct reel_visitor *v;
    struct reel_error *err;
};

static inline struct msgpack_walk msgpack_walk_of(struct reel_bytes payload, struct reel_visitor *v,
                                                  struct reel_error *err) {
    return (struct msgpack_walk){.payload = payload, .at = cursor_of(payload), .v = v, .err = err};
}

/* All return false with an error, or without one when the visitor stopped the walk. */

/* Reads the next item without reporting it: of an array or map the header, whose count is checked against the bytes
 * left. */
bool msgpack_walk_read(struct msgpack_walk *t, struct msgpack_item *item);
/* Reports an item that was read, with its contents, at most `depth` levels deep. */
bool msgpack_walk_item(struct msgpack_walk *t, const struct msgpack_item *item, unsigned depth);
/* Reads and reports. */
bool msgpack_walk_value(struct msgpack_walk *t, unsigned depth);
/* Reports a key of a map. *text is its text, empty when it has none. */
bool msgpack_walk_key(struct msgpack_walk *t, struct reel_bytes *text);
/* Checks that nothing follows. */
bool msgpack_walk_end(struct msgpack_walk *t);

#endif
