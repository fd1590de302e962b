/* The walk over one payload, shared by payload.c, scalars.c and known.c. */
#ifndef REEL_FORMATS_PROTOBUF_WALK_H
#define REEL_FORMATS_PROTOBUF_WALK_H

#include "formats/protobuf/payload.h"
#include "syntax/visitor.h"

struct pb_walk {
    const struct pb_schema *schema;
    struct reel_bytes payload;
    struct reel_visitor *v;
    struct reel_error *err;
    uint64_t steps; /* steps left */
    size_t joined;  /* bytes of messages in pieces that are joined at present */
};

/* Returns false, with an error that has the position of `at`. */
bool pb_fail_at(struct pb_walk *w, const uint8_t *at, const char *what, struct reel_bytes name);

bool pb_emit_message(struct pb_walk *w, const struct pb_message *m, struct reel_bytes bytes, unsigned depth);
/* The keys and values without the map around them. */
bool pb_emit_members(struct pb_walk *w, const struct pb_message *m, struct reel_bytes bytes, unsigned depth);

/* scalars.c */
enum proto_wire pb_wire_of(enum pb_type type);
/* The number type of a packed array with fixed-size items. */
bool pb_packed_type(enum pb_type type, enum reel_number *number);
/* Emits any value except messages. */
bool pb_emit_scalar(struct pb_walk *w, const struct pb_field *s, uint64_t value, struct reel_bytes bytes);
bool pb_emit_key(struct pb_walk *w, const struct pb_field *s, const struct proto_field *f);

/* known.c */
bool pb_emit_time(struct pb_walk *w, struct reel_bytes bytes, bool is_duration);
bool pb_emit_mask(struct pb_walk *w, struct reel_bytes bytes);
bool pb_emit_any(struct pb_walk *w, const struct pb_message *m, struct reel_bytes bytes, unsigned depth);

#endif
