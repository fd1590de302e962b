/* Plain MessagePack. Rule: it needs no schema, and has none. */
#include "encodings/encodings.h"
#include "encodings/msgpack/values.h"

static bool msgpack_open(const struct reel_channel *channel, void **state, struct reel_error *err) {
    (void)channel;
    (void)err;
    *state = NULL;
    return true;
}
static void msgpack_close(void *state) {
    (void)state;
}
static bool msgpack_decode(const void *state, struct bytes payload, struct reel_visitor *v, struct reel_error *err) {
    (void)state;
    struct pack_tell t = pack_tell_of(payload, v, err);
    return pack_tell_value(&t, REEL_DEPTH_MAX) && pack_tell_end(&t);
}

const struct reel_decoding reel_decoding_msgpack = {
    .encoding = "msgpack",
    .open = msgpack_open,
    .close = msgpack_close,
    .decode = msgpack_decode,
    .version = 1,
};
