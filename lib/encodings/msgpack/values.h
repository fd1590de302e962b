/* MessagePack told to a visitor, for the decoders whose payloads are made of it. */
#ifndef REEL_DECODE_PACK_TELL_H
#define REEL_DECODE_PACK_TELL_H

#include "formats/nanover/nanover.h"
#include "reel/decode.h"

struct pack_tell {
    struct bytes payload;
    struct cursor at;
    struct reel_visitor *v;
    struct reel_error *err;
};

static inline struct pack_tell pack_tell_of(struct bytes payload, struct reel_visitor *v, struct reel_error *err) {
    return (struct pack_tell){.payload = payload, .at = cursor_of(payload), .v = v, .err = err};
}

/* All of these return false with the error told, or, when the visitor wants no more, with none. */

/* The next item, not told: of an array or map the header, whose count is as many as can be there. */
bool pack_tell_read(struct pack_tell *t, struct pack_item *item);
/* Tells an item that was read, with all that is in it, at most `depth` levels deep. */
bool pack_tell_item(struct pack_tell *t, const struct pack_item *item, unsigned depth);
/* Both of these. */
bool pack_tell_value(struct pack_tell *t, unsigned depth);
/* Tells a key of a map. *text is its text, empty when it is none. */
bool pack_tell_key(struct pack_tell *t, struct bytes *text);
/* Nothing follows. */
bool pack_tell_end(struct pack_tell *t);

#endif
