/* See foxglove_message.h. */
#include "api/contents/foxglove_message.h"

#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/cursor.h"
#include "syntax/base64.h"

enum { OP_MESSAGE = 1, OP_TIME = 2, OP_STATE = 5, OP_CONTROL = 3, REQUEST_ID_MAX = 1024 };
enum { PLAYING, PAUSED, BUFFERING, ENDED };
static const int64_t SECOND_NS = 1000000000;

static json_t *time_of(int64_t ns) {
    int64_t at = ns > 0 ? ns : 0;
    return json_pack("{s:I, s:I}", "sec", (json_int_t)(at / SECOND_NS), "nsec", (json_int_t)(at % SECOND_NS));
}

json_t *foxglove_server_info(const struct foxglove_server *server) {
    json_t *info = json_pack("{s:s, s:s, s:[s], s:s, s:{}}", "op", "serverInfo", "name", server->name, "capabilities",
                             "time", "sessionId", server->session, "metadata");
    if (info && server->plays) {
        json_array_append_new(json_object_get(info, "capabilities"), json_string("playbackControl"));
        json_object_set_new(info, "dataStartTime", time_of(server->start_ns));
        json_object_set_new(info, "dataEndTime", time_of(server->end_ns));
    }
    return info;
}

static json_t *schema_text(const struct reel_schema *schema) {
    bool binary = strcmp(schema->encoding, "protobuf") == 0 || strcmp(schema->encoding, "flatbuffer") == 0;
    if (!binary) {
        struct arena arena = {0};
        const char *text = arena_utf8(&arena, schema->data);
        json_t *out = text ? json_string(text) : NULL;
        arena_free(&arena);
        return out;
    }
    char *text = malloc(BASE64_TEXT(schema->data.size) + 1);
    if (text) {
        base64_write(schema->data, text);
    }
    json_t *out = text ? json_stringn(text, BASE64_TEXT(schema->data.size)) : NULL;
    free(text);
    return out;
}

json_t *foxglove_advertise(uint32_t id, const struct reel_channel *channel) {
    const struct reel_schema *schema = reel_channel_schema(channel);
    json_t *one = json_pack("{s:I, s:s, s:s, s:s, s:s}", "id", (json_int_t)id, "topic", channel->name, "encoding",
                            channel->encoding, "schemaName", channel->type, "schema", "");
    if (one && schema && schema->data.size > 0) {
        json_t *text = schema_text(schema);
        json_object_set_new(one, "schemaEncoding", json_string(schema->encoding));
        json_object_set_new(one, "schema", text ? text : json_string(""));
    }
    return json_pack("{s:s, s:[o]}", "op", "advertise", "channels", one);
}

json_t *foxglove_status(int level, const char *message) {
    return json_pack("{s:s, s:i, s:s}", "op", "status", "level", level, "message", message);
}

void foxglove_put_message(struct grow *out, uint32_t subscription, int64_t time_ns, struct reel_bytes payload) {
    grow_u8(out, OP_MESSAGE);
    grow_u32(out, subscription);
    grow_u64(out, (uint64_t)time_ns);
    grow_put(out, payload.data, payload.size);
}

void foxglove_put_time(struct grow *out, int64_t time_ns) {
    grow_u8(out, OP_TIME);
    grow_u64(out, (uint64_t)time_ns);
}

void foxglove_put_state(struct grow *out, const struct reel_play_state *state, bool ended, bool seeked,
                        struct reel_bytes request) {
    grow_u8(out, OP_STATE);
    grow_u8(out, ended ? ENDED : state->paused ? PAUSED : PLAYING);
    grow_u64(out, (uint64_t)state->position_ns);
    grow_u32(out, f32_bits((float)state->speed));
    grow_u8(out, seeked);
    grow_u32(out, (uint32_t)request.size);
    grow_put(out, request.data, request.size);
}

bool foxglove_read_control(struct reel_bytes message, struct foxglove_control *out) {
    struct cursor c = cursor_of(message);
    uint8_t op = cursor_u8(&c), command = cursor_u8(&c);
    uint32_t speed = cursor_u32le(&c);
    bool seeks = cursor_u8(&c) != 0;
    uint64_t position = cursor_u64le(&c);
    *out = (struct foxglove_control){.paused = command != 0,
                                     .seeks = seeks,
                                     .speed = f32_of(speed),
                                     .position_ns = position < INT64_MAX ? (int64_t)position : INT64_MAX,
                                     .request = cursor_string32(&c)};
    return op == OP_CONTROL && command <= 1 && !c.failed && cursor_done(&c) && out->request.size <= REQUEST_ID_MAX;
}
