/* MessagePack told to a visitor, for the decoders whose payloads are made of it. */
#ifndef REEL_DECODE_PACK_TELL_H
#define REEL_DECODE_PACK_TELL_H

#include "reel/encoding.h"
#include "wire/msgpack.h"

struct msgpack_walk {
    struct reel_bytes payload;
    struct cursor at;
    struct reel_visitor *v;
    struct reel_error *err;
};

static inline struct msgpack_walk msgpack_walk_of(struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    return (struct msgpack_walk){.payload = payload, .at = cursor_of(payload), .v = v, .err = err};
}

/* All of these return false with the error told, or, when the visitor wants no more, with none. */

/* The next item, not told: of an array or map the header, whose count is as many as can be there. */
bool msgpack_walk_read(struct msgpack_walk *t, struct msgpack_item *item);
/* Tells an item that was read, with all that is in it, at most `depth` levels deep. */
bool msgpack_walk_item(struct msgpack_walk *t, const struct msgpack_item *item, unsigned depth);
/* Both of these. */
bool msgpack_walk_value(struct msgpack_walk *t, unsigned depth);
/* Tells a key of a map. *text is its text, empty when it is none. */
bool msgpack_walk_key(struct msgpack_walk *t, struct reel_bytes *text);
/* Nothing follows. */
bool msgpack_walk_end(struct msgpack_walk *t);

#endif
