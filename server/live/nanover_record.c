/* See nanover_record.h. */
#include "live/nanover_record.h"

#include "formats/nanover/message.h"

bool nanover_record_channel(struct arena *arena, struct reel_bytes message, struct reel_channel *out, bool *is_nanover,
                            struct reel_error *err) {
    struct cursor c = cursor_of(message);
    struct nanover_message m = {0};
    const char *why;
    *is_nanover = nanover_message_read(&c, &m, NULL, &why) == MSGPACK_OK && cursor_done(&c) &&
                  nanover_channel(arena, m.types, m.n_types, out);
    return *is_nanover || !arena->no_memory || reel_fail_memory(err);
}

bool nanover_record(struct reel_recorder *recorder, struct reel_rows *rows, struct reel_bytes message, int64_t log_ns,
                    bool *is_nanover, struct reel_error *err) {
    struct arena arena = {.max = NANOVER_RECORD_CHANNEL_MAX};
    struct reel_channel channel;
    struct reel_record record = {.size = sizeof record, .payload = message, .log_time_ns = log_ns};
    bool good = nanover_record_channel(&arena, message, &channel, is_nanover, err) &&
                (!*is_nanover || (reel_rows_channel(rows, &channel, &record.channel, err) &&
                                  reel_recorder_message(recorder, &record, err)));
    arena_free(&arena);
    return good;
}
