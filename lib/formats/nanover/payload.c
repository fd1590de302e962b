/* Decodes NanoVer's messages: MessagePack in which the frame's packed keys are arrays of numbers. Values are emitted as
 * they are, except for packed keys of the expected type: their numbers are emitted in rows (a position has three
 * columns), whether packed or a list. */
#include "formats/nanover/payload.h"
#include "base/bytes.h"
#include "syntax/msgpack_walk.h"
#include "syntax/visitor.h"

#include <string.h>

enum { BODY_DEPTH = REEL_DEPTH_MAX - 2 }; /* below the message's map and the frame's */

static bool nanover_open(const struct reel_channel *channel, void **state, struct reel_error *err) {
    (void)err;
    *state = (void *)channel;
    return true;
}
static void nanover_close(void *state) {
    (void)state;
}

/* Emits a flat list as rows. */
static bool emit_rows(struct msgpack_walk *t, uint64_t count, unsigned columns) {
    bool goes_on = visit_begin_list(t->v);
    for (uint64_t i = 0; goes_on && i < count; i++) {
        bool first = i % columns == 0, last = i % columns == columns - 1 || i == count - 1;
        goes_on = (!first || visit_begin_list(t->v)) && msgpack_walk_value(t, BODY_DEPTH - 2) &&
                  (!last || visit_end_list(t->v));
    }
    return goes_on && visit_end_list(t->v);
}

static bool begins_with_number(const struct msgpack_walk *t) {
    struct cursor ahead = t->at;
    struct msgpack_item first;
    return msgpack_read(&ahead, &first) == MSGPACK_OK && msgpack_is_number(&first);
}

static bool emit_packed(struct msgpack_walk *t, struct reel_bytes key, enum nanover_packed packed,
                        const struct msgpack_item *item) {
    static const enum reel_number types[] = {
        [NANOVER_F32] = REEL_F32, [NANOVER_U8] = REEL_U8, [NANOVER_U32] = REEL_U32};
    unsigned columns = nanover_packed_columns(key);
    if (item->kind == MSGPACK_BIN && item->bytes.size % reel_number_size(types[packed]) == 0) {
        return visit_numbers(t->v, types[packed], item->bytes, columns);
    }
    if (item->kind == MSGPACK_ARRAY && columns > 1 && item->count > 0 && begins_with_number(t)) {
        return emit_rows(t, item->count, columns);
    }
    return msgpack_walk_item(t, item, BODY_DEPTH);
}

static bool emit_frame(struct msgpack_walk *t, uint64_t count) {
    bool goes_on = visit_begin_map(t->v);
    for (uint64_t i = 0; goes_on && i < count; i++) {
        struct reel_bytes key;
        struct msgpack_item item;
        if (!msgpack_walk_key(t, &key) || !msgpack_walk_read(t, &item)) {
            return false;
        }
        enum nanover_packed packed = nanover_packed_key(key);
        goes_on =
            packed != NANOVER_UNPACKED ? emit_packed(t, key, packed, &item) : msgpack_walk_item(t, &item, BODY_DEPTH);
    }
    return goes_on && visit_end_map(t->v);
}

static bool emit_types(struct msgpack_walk *t, uint64_t count) {
    bool goes_on = visit_begin_map(t->v);
    for (uint64_t i = 0; goes_on && i < count; i++) {
        struct reel_bytes key;
        struct msgpack_item item;
        if (!msgpack_walk_key(t, &key) || !msgpack_walk_read(t, &item)) {
            return false;
        }
        bool frame = item.kind == MSGPACK_MAP && bytes_is(key, "frame");
        goes_on = frame ? emit_frame(t, item.count) : msgpack_walk_item(t, &item, REEL_DEPTH_MAX - 1);
    }
    return goes_on && visit_end_map(t->v);
}

static bool nanover_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v,
                           struct reel_error *err) {
    (void)state;
    struct msgpack_walk t = msgpack_walk_of(payload, v, err);
    struct msgpack_item item;
    return msgpack_walk_read(&t, &item) &&
           (item.kind == MSGPACK_MAP ? emit_types(&t, item.count) : msgpack_walk_item(&t, &item, REEL_DEPTH_MAX)) &&
           msgpack_walk_end(&t);
}

/* True when `type` is one of the message types in a channel type like "nanover/frame+state". */
static bool has_type(const struct reel_channel *channel, const char *type) {
    const char *at = strchr(channel->type, '/');
    for (size_t size = strlen(type); at && *at; at += strcspn(at, "+")) {
        at++;
        if (strncmp(at, type, size) == 0 && (at[size] == '+' || at[size] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool nanover_fields(const void *state, reel_field_visit visit, void *context) {
    const struct reel_channel *channel = state;
    return (!has_type(channel, "frame") || nanover_frame_fields(visit, context)) &&
           (!has_type(channel, "state") || nanover_state_fields(visit, context));
}

const struct reel_encoding reel_encoding_nanover = {
    .name = NANOVER_ENCODING,
    .open = nanover_open,
    .close = nanover_close,
    .decode = nanover_decode,
    .fields = nanover_fields,
    .state_at = nanover_state_at,
    .message_encoding = "msgpack",
    .is_map = true,
    .version = 1,
};
