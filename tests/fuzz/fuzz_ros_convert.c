/* Fuzzes the conversion between ROS 1 and ROS 2: u8 which way, u32 length, definition, u32 length, definition that a
 * channel of ROS 2 had before (not used when empty), the rest is the payload. What is measured is what is written, and
 * what goes forth comes back. */
#include "base/arena.h"
#include "formats/ros/standard.h"
#include "formats/ros/translate.h"
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lays the payload out; *out is allocated and exactly as large as it must be. */
static bool lay_out(const struct ros_relay *relay, struct reel_bytes payload, struct reel_bytes *out) {
    struct reel_error err = {0};
    size_t size, again;
    bool needs_more;
    if (!ros_relay_size(relay, payload, payload.size, &size, &needs_more, &err)) {
        fuzz_must(err.code == REEL_DAMAGED || err.code == REEL_LIMIT, "what is refused says why");
        return false;
    }
    fuzz_must(size <= 16 * payload.size + (64 << 10) + 4, "nothing grows without bounds");
    AUTO_EXACT struct reel_bytes half = exact_copy(bytes_of(payload.data, payload.size / 2));
    bool known = ros_relay_size(relay, half, payload.size, &again, &needs_more, &err);
    fuzz_must(known ? again == size : needs_more, "the beginning tells the size, or that it does not");
    uint8_t *to = malloc(size > 0 ? size : 1);
    fuzz_must(to && ros_relay_put(relay, payload, to, size, &again, &err) && again == size,
              "what is measured is written");
    *out = bytes_of(to, size);
    return true;
}

static void convert(const struct reel_channel *channel, enum ros_dialect to, struct reel_bytes payload) {
    static struct ros_definition *standard; /* read once: that takes longer than all the rest */
    struct arena arena = {0};
    struct reel_error err = {0};
    struct ros_translation forth, back;
    struct reel_bytes out, again;
    standard = standard ? standard : ros2_standard_types(&err);
    fuzz_must(standard, "the standard types are read");
    bool good = ros_translate(&arena, channel, to, standard, &forth, &err);
    fuzz_must(good == (err.code == REEL_OK), "what is not translated says why");
    if (good && lay_out(forth.relay, payload, &out)) {
        const struct reel_schema schema = {
            .name = forth.type, .encoding = to == ROS_2 ? "ros2msg" : "ros1msg", .hash = "", .data = forth.definition};
        const struct reel_channel other = {.name = "/a",
                                           .type = forth.type,
                                           .encoding = to == ROS_2 ? "cdr" : "ros1",
                                           .schemas = &schema,
                                           .n_schemas = 1};
        if (ros_translate(&arena, &other, to == ROS_2 ? ROS_1 : ROS_2, standard, &back, &err)) {
            if (lay_out(back.relay, out, &again)) {
                free((void *)again.data);
            }
            ros_relay_free(back.relay);
        }
        free((void *)out.data);
    }
    if (good) {
        ros_relay_free(forth.relay);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_of(bytes_of(data, size));
    bool to_ros2 = cursor_u8(&c) & 1;
    AUTO_EXACT struct reel_bytes definition = exact_copy(cursor_string32(&c));
    struct reel_bytes before = cursor_string32(&c);
    AUTO_EXACT struct reel_bytes payload = exact_copy(bytes_of(c.at, cursor_left(&c)));
    if (c.failed) {
        return 0;
    }
    AUTO_MEM char *text = strndup((const char *)before.data, before.size);
    fuzz_must(text, "memory");
    struct reel_pair pairs[] = {{ROS1_TYPE_KEY, "std_msgs/Header"}, {ROS1_DEFINITION_KEY, text}};
    const struct reel_schema schema = {
        .name = "std_msgs/Header", .encoding = to_ros2 ? "ros1msg" : "ros2msg", .hash = "", .data = definition};
    const struct reel_channel channel = {.name = "/a",
                                         .type = "std_msgs/Header",
                                         .encoding = to_ros2 ? "ros1" : "cdr",
                                         .schemas = &schema,
                                         .n_schemas = 1,
                                         .metadata = {.items = pairs, .count = before.size > 0 ? 2 : 0}};
    convert(&channel, to_ros2 ? ROS_2 : ROS_1, payload);
    return 0;
}
