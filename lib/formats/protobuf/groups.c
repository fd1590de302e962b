/* Fields on the wire, with groups, whose end has to be searched for. */
#include "base/limits.h"
#include "formats/protobuf/payload.h"

/* Skips a group whose begin was read. *end: of its content. */
static bool skip_group(struct cursor *c, uint32_t number, const uint8_t **end) {
    uint32_t open[REEL_DEPTH_MAX];
    unsigned depth = 1;
    open[0] = number;
    while (depth > 0 && !c->failed) {
        struct cursor ahead = *c;
        uint64_t tag = proto_varint(&ahead);
        struct proto_field f;
        if ((tag & 7) == PROTO_GROUP && depth < REEL_DEPTH_MAX) {
            open[depth++] = (uint32_t)(tag >> 3);
            *c = ahead;
        } else if ((tag & 7) == PROTO_GROUP_END && open[depth - 1] == tag >> 3) {
            depth--;
            *end = c->at;
            *c = ahead;
        } else if (!proto_next(c, &f)) {
            c->failed = true;
        }
    }
    return !c->failed;
}

bool pb_next(struct cursor *c, struct proto_field *f) {
    if (c->failed || cursor_done(c)) {
        return false;
    }
    struct cursor ahead = *c;
    uint64_t tag = proto_varint(&ahead);
    if ((tag & 7) != PROTO_GROUP || tag >> 3 == 0 || tag >> 3 > PROTO_NUMBER_MAX) {
        return proto_next(c, f);
    }
    const uint8_t *begin = ahead.at;
    *c = ahead;
    *f = (struct proto_field){.number = (uint32_t)(tag >> 3), .wire = (enum proto_wire)PROTO_GROUP};
    const uint8_t *end = begin;
    bool whole = skip_group(c, f->number, &end);
    f->bytes = bytes_of(begin, (size_t)(end - begin));
    return whole;
}
