/* Streams and messages as programs see them (reel/stream.h), which know no layouts. */
#include <string.h>

#include "stream/stream.h"

const struct reel_channel *reel_stream_channel(const struct reel_stream *stream, uint32_t position) {
    return position < stream->n_channels ? stream->channels[position] : NULL;
}
uint32_t reel_stream_channel_recording(const struct reel_stream *stream, uint32_t position) {
    return position < stream->n_channels ? stream->channel_source[position] : 0;
}

enum reel_step reel_stream_next(struct reel_stream *stream, const struct reel_message **message,
                                struct reel_error *err) {
    enum reel_step step = stream_next(stream, &stream->latest, err);
    *message = step == REEL_STEP_MESSAGE ? &stream->latest : NULL;
    return step;
}

int64_t reel_message_time(const struct reel_message *message) {
    return message->time_ns;
}
uint32_t reel_message_channel(const struct reel_message *message) {
    return message->channel;
}
uint32_t reel_message_size(const struct reel_message *message) {
    return message->size;
}
bool reel_message_is_before_start(const struct reel_message *message) {
    return message->before_start;
}

const struct reel_description *reel_stream_describe(struct reel_stream *stream, const struct reel_message *message,
                                                    struct reel_error *err) {
    return stream_describe(stream, message, &stream->description, err) ? &stream->description : NULL;
}

void reel_message_cursor(const struct reel_message *message, char out[REEL_CURSOR_ROOM]) {
    const struct reel_position position = reel_position_of(message);
    reel_cursor_encode(&position, out, REEL_CURSOR_ROOM);
}
bool reel_stream_seek(struct reel_stream *stream, const char *cursor, struct reel_error *err) {
    struct reel_position position;
    return reel_cursor_decode(cursor, &position) ? stream_seek(stream, &position, err)
                                                 : reel_fail(err, REEL_ARGUMENT, "this is no position in a stream");
}
