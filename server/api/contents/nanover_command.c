/* See nanover_command.h. */
#include "api/contents/nanover_command.h"

#include <string.h>

#include "base/bytes.h"
#include "formats/nanover/message.h"
#include "syntax/msgpack.h"

/* The value of a key in the map at `c`, which has been read as `map`; false: there is none. */
static bool find_key(struct cursor c, uint64_t pairs, const char *name, struct reel_bytes *value) {
    struct msgpack_faults faults = {0};
    for (uint64_t i = 0; i < pairs; i++) {
        struct reel_bytes key;
        if (msgpack_key(&c, &key, REEL_DEPTH_MAX, &faults) != MSGPACK_OK) {
            return false;
        }
        const uint8_t *begin = c.at;
        if (msgpack_skip(&c, REEL_DEPTH_MAX, &faults) != MSGPACK_OK) {
            return false;
        }
        *value = bytes_of(begin, (size_t)(c.at - begin));
        if (bytes_is(key, name)) {
            return true;
        }
    }
    return false;
}

/* The same for a packed value that may be a map. */
static bool member_of(struct reel_bytes packed, const char *name, struct reel_bytes *value) {
    struct cursor c = cursor_of(packed);
    struct msgpack_item map;
    return msgpack_read(&c, &map) == MSGPACK_OK && map.kind == MSGPACK_MAP && find_key(c, map.count, name, value);
}

static bool read_command(struct reel_bytes packed, struct nanover_command *out) {
    struct reel_bytes name, arguments, index;
    struct msgpack_item item;
    *out = (struct nanover_command){.has_index = false};
    if (!member_of(packed, "request", &out->request) || !member_of(out->request, "name", &name)) {
        return false;
    }
    struct cursor c = cursor_of(name);
    if (msgpack_read(&c, &item) != MSGPACK_OK || item.kind != MSGPACK_STR) {
        return false;
    }
    out->name = item.bytes;
    if (member_of(out->request, "arguments", &arguments) && member_of(arguments, "index", &index)) {
        c = cursor_of(index);
        out->has_index = msgpack_read(&c, &item) == MSGPACK_OK && item.kind == MSGPACK_INT && !item.over;
        out->index = out->has_index ? item.integer : 0;
    }
    return true;
}

void nanover_command_each(struct reel_bytes message,
                          bool (*visit)(void *context, const struct nanover_command *command), void *context) {
    struct msgpack_faults faults = {0};
    struct nanover_command command;
    struct msgpack_item list;
    struct reel_bytes packed;
    if (!member_of(message, "command", &packed)) {
        return;
    }
    struct cursor c = cursor_of(packed);
    if (msgpack_read(&c, &list) != MSGPACK_OK || list.kind != MSGPACK_ARRAY) { /* older clients send a list */
        list.count = 1;
        c = cursor_of(packed);
    }
    for (uint64_t i = 0; i < list.count; i++) {
        const uint8_t *begin = c.at;
        if (msgpack_skip(&c, REEL_DEPTH_MAX, &faults) != MSGPACK_OK) {
            return;
        }
        if (read_command(bytes_of(begin, (size_t)(c.at - begin)), &command) && !visit(context, &command)) {
            return;
        }
    }
}

/* ---- answers */

void nanover_pack_text(msgpack_packer *to, const char *text) {
    msgpack_pack_str_with_body(to, text, strlen(text));
}

void nanover_pack_answer(msgpack_packer *to, const struct nanover_command *command, const char *member) {
    msgpack_pack_map(to, 1);
    nanover_pack_text(to, "command");
    msgpack_pack_map(to, 2);
    nanover_pack_text(to, "request");
    to->callback(to->data, (const char *)command->request.data, command->request.size);
    nanover_pack_text(to, member);
}

/* The keys of the state but "scene", which is set: packed, or (NULL) only counted. */
static size_t pack_keys(msgpack_packer *to, struct cursor updates) {
    struct msgpack_item map = {.count = 0};
    struct msgpack_faults faults = {0};
    size_t n = 0;
    (void)msgpack_read(&updates, &map);
    for (uint64_t i = 0; i < map.count; i++) {
        struct reel_bytes key = bytes_of("", 0);
        (void)msgpack_key(&updates, &key, REEL_DEPTH_MAX, &faults);
        (void)msgpack_skip(&updates, REEL_DEPTH_MAX, &faults);
        bool wanted = !bytes_is(key, "scene");
        n += wanted;
        if (to && wanted) {
            msgpack_pack_str_with_body(to, key.data, key.size);
        }
    }
    return n;
}

static void pack_removals(msgpack_packer *to, struct reel_bytes state) {
    struct nanover_body body;
    bool any = nanover_message_body(state, &body) == MSGPACK_OK && body.has_updates;
    msgpack_pack_array(to, any ? pack_keys(NULL, body.updates) : 0);
    if (any) {
        pack_keys(to, body.updates);
    }
}

void nanover_pack_clear(msgpack_packer *to, struct reel_bytes state) {
    static const int box[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1}; /* position, rotation and scale of the scene */
    msgpack_pack_map(to, 2);
    nanover_pack_text(to, "frame");
    msgpack_pack_map(to, 1);
    nanover_pack_text(to, NANOVER_FRAME_INDEX);
    msgpack_pack_int(to, 0);
    nanover_pack_text(to, "state");
    msgpack_pack_map(to, 2);
    nanover_pack_text(to, "updates");
    msgpack_pack_map(to, 1);
    nanover_pack_text(to, "scene");
    msgpack_pack_array(to, sizeof box / sizeof *box);
    for (size_t i = 0; i < sizeof box / sizeof *box; i++) {
        msgpack_pack_int(to, box[i]);
    }
    nanover_pack_text(to, "removals");
    pack_removals(to, state);
}
