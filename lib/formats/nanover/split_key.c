/* Where a key of the frame or of the shared state gets another value: a recording can be split there. */
#include "base/bytes.h"
#include "formats/nanover/report.h"

/* The bytes of the last value of the key in a map. */
static bool value_in(struct cursor map, struct reel_bytes key, struct reel_bytes *value) {
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item head;
    bool found = false;
    enum msgpack_result r = msgpack_read(&map, &head);
    for (uint64_t i = 0; r == MSGPACK_OK && i < head.count; i++) {
        struct reel_bytes own;
        r = msgpack_key(&map, &own, REEL_DEPTH_MAX, &faults);
        const uint8_t *at = map.at;
        r = r == MSGPACK_OK ? msgpack_skip(&map, REEL_DEPTH_MAX, &faults) : r;
        if (r == MSGPACK_OK && bytes_equal(own, key)) {
            *value = bytes_of(at, (size_t)(map.at - at));
            found = true;
        }
    }
    return found;
}

static bool value_of(struct reel_bytes payload, struct reel_bytes key, struct reel_bytes *value) {
    struct nanover_body body;
    return nanover_message_body(payload, &body) == MSGPACK_OK &&
           ((body.has_updates && value_in(body.updates, key, value)) ||
            (body.has_frame && value_in(body.frame, key, value)));
}

bool nanover_key_changes(struct nanover_key_watch *w, struct reel_stream *stream, const struct reel_message *m,
                         bool *changes, struct reel_error *err) {
    const struct reel_channel *channel = stream->channels[m->channel];
    bool frame = nanover_carries(channel, "frame");
    struct reel_bytes payload, value;
    *changes = false;
    if (!frame && !nanover_carries(channel, "state")) {
        return true;
    }
    if (!stream_decodable(stream, m, &payload, err)) {
        return false;
    }
    if (value_of(payload, bytes_text(w->key), &value) &&
        !(w->has_value && bytes_equal(value, bytes_of(w->value.data, w->value.size)))) {
        *changes = w->has_value || w->has_frames;
        w->has_value = true;
        w->value.size = 0;
        grow_put(&w->value, value.data, value.size);
    }
    w->has_frames |= frame;
    return !w->value.failed || reel_fail_memory(err);
}
