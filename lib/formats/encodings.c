/* The encodings: a new one is one line here. The first that has a channel's encoding as its name is used. */
#include "decode/encoding.h"

#define ENCODINGS(X)                                                                                                   \
    X(rsb)                                                                                                             \
    X(bytes)                                                                                                           \
    X(frames)                                                                                                          \
    X(mira)                                                                                                            \
    X(ulog)                                                                                                            \
    X(ros1)                                                                                                            \
    X(cdr)                                                                                                             \
    X(carla)                                                                                                           \
    X(json)                                                                                                            \
    X(msgpack)                                                                                                         \
    X(cbor)                                                                                                            \
    X(protobuf)                                                                                                        \
    X(flatbuffer)                                                                                                      \
    X(capnproto)                                                                                                       \
    X(nanover)                                                                                                         \
    X(nanover_legacy)

#define DECLARE(name) extern const struct reel_encoding reel_encoding_##name;
ENCODINGS(DECLARE)

#define LIST(name) &reel_encoding_##name,
const struct reel_encoding *const reel_encodings[] = {ENCODINGS(LIST) NULL};
