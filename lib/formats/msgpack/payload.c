/* Decodes plain MessagePack, which has no schema. */
#include "decode/encoding.h"
#include "syntax/msgpack_walk.h"

static bool msgpack_open(const struct reel_channel *channel, void **state, struct reel_error *err) {
    (void)channel;
    (void)err;
    *state = NULL;
    return true;
}
static void msgpack_close(void *state) {
    (void)state;
}
static bool msgpack_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v,
                           struct reel_error *err) {
    (void)state;
    struct msgpack_walk t = msgpack_walk_of(payload, v, err);
    return msgpack_walk_value(&t, REEL_DEPTH_MAX) && msgpack_walk_end(&t);
}

const struct reel_encoding reel_encoding_msgpack = {
    .name = "msgpack",
    .open = msgpack_open,
    .close = msgpack_close,
    .decode = msgpack_decode,
    .languages = (const char *const[]){"msgpack", NULL},
    .version = 1,
};
