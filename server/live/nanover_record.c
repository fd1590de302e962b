/* See nanover_record.h. */
#include "live/nanover_record.h"

#include "formats/nanover/message.h"

enum { CHANNEL_MAX = 1 << 20 };

bool nanover_record(struct reel_recorder *recorder, struct reel_rows *rows, struct reel_bytes message, int64_t log_ns,
                    bool *is_nanover, struct reel_error *err) {
    struct cursor c = cursor_of(message);
    struct nanover_message m = {0};
    struct arena arena = {.max = CHANNEL_MAX};
    struct reel_channel channel;
    const char *why;
    struct reel_record record = {.size = sizeof record, .payload = message, .log_time_ns = log_ns};
    *is_nanover = nanover_message_read(&c, &m, NULL, &why) == MSGPACK_OK && cursor_done(&c);
    if (!*is_nanover) {
        return true;
    }
    bool good = (nanover_channel(&arena, m.types, m.n_types, &channel) || reel_fail_memory(err)) &&
                reel_rows_channel(rows, &channel, &record.channel, err) &&
                reel_recorder_message(recorder, &record, err);
    arena_free(&arena);
    return good;
}
