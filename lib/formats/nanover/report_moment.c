/* The whole frame or state of a moment, as a message and as JSON. */
#include "base/cleanup.h"
#include "formats/nanover/report.h"
#include "syntax/json_out.h"

bool reel_nanover_moment(struct reel_recording *recording, enum reel_nanover_part part, int64_t time_ns, uint8_t **data,
                         size_t *size, struct reel_error *err) {
    if (!nanover_is_there(reel_recording_index(recording))) {
        return reel_fail(err, REEL_UNSUPPORTED, "this recording holds no NanoVer messages");
    }
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(recording, err);
    int64_t end_ns = time_ns < INT64_MAX ? time_ns + 1 : time_ns;
    return reader && nanover_moment(reader, end_ns, part == REEL_NANOVER_FRAME, data, size, err);
}

bool reel_nanover_json(struct reel_bytes message, char **text, size_t *size, struct reel_error *err) {
    static const char *const topics[] = {"frame", "state"};
    static const struct reel_channel channel = {
        .name = "frame+state", .topics = topics, .n_topics = 2, .type = "nanover/frame+state", .encoding = "nanover"};
    struct grow out = {.size = 0};
    struct json_out json = json_out_to(&out, REEL_NANOVER_TEXT_MAX);
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(&channel, err);
    bool good = decoder && reel_decode(decoder, message, &json.visitor, err);
    grow_put(&out, "\n", 1);
    if (out.failed) {
        good = reel_fail_memory(err);
    } else if (json.too_long) {
        good = reel_fail(err, REEL_LIMIT, "this is more than %d MiB of JSON; ask for MessagePack",
                         REEL_NANOVER_TEXT_MAX >> 20);
    }
    *text = good ? (char *)out.data : NULL;
    *size = good ? out.size : 0;
    if (!good) {
        free(out.data);
    }
    return good;
}
