/* ROS 1 as ROS 2 and back: definitions, hashes and payloads. The vectors of ../shared/samples/ros2 were checked by independent decoders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "encodings/ros/standard.h"
#include "encodings/ros/translate.h"
#include "hex.h"
#include "real_samples.h"
#include "wire/arena.h"
#include "wire/bytes.h"
#include "wire/cleanup.h"
#include "wire/sha256.h"

#define LINE "================================================================================\n"

static struct ros_definition *standard;
static struct arena arena;

static int open_standard(void **state) {
    (void)state;
    struct reel_error err = {0};
    standard = ros2_standard_types(&err);
    return standard ? 0 : -1;
}
static int close_standard(void **state) {
    (void)state;
    ros_definition_free(standard);
    arena_free(&arena);
    return 0;
}

static bool translate(enum ros_dialect to, const char *type, const char *definition, struct reel_pairs metadata,
                      struct ros_translation *out, struct reel_error *err) {
    const struct reel_schema schema = {
        .name = type, .encoding = to == ROS_2 ? "ros1msg" : "ros2msg", .hash = "", .data = bytes_text(definition)};
    const struct reel_channel channel = {
        .name = "/a", .type = type, .encoding = to == ROS_2 ? "ros1" : "cdr", .schemas = &schema, .n_schemas = 1, .metadata = metadata};
    return ros_translate(&arena, &channel, to, standard, out, err);
}

static void check_translated(enum ros_dialect to, const char *type, const char *definition, struct ros_translation *out) {
    struct reel_error err = {0};
    if (!translate(to, type, definition, (struct reel_pairs){0}, out, &err)) {
        fail_msg("%s: %s", type, err.text);
    }
}

/* The payload in the other layout, as digits. */
static const char *laid_out(const struct ros_relay *relay, struct reel_bytes payload) {
    static char text[8192];
    struct reel_error err = {0};
    size_t size = 0, again;
    bool needs_more;
    if (!ros_relay_size(relay, payload, payload.size, &size, &needs_more, &err)) {
        return arena_text(&arena, err.text);
    }
    for (size_t begin = 0; begin < payload.size; begin++) { /* what its beginning tells is right */
        bool known = ros_relay_size(relay, bytes_of(payload.data, begin), payload.size, &again, &needs_more, &err);
        assert_true(known ? again == size : needs_more);
    }
    uint8_t *out = malloc(size > 0 ? size : 1);
    assert_true(size < sizeof text / 2);
    assert_true(ros_relay_put(relay, payload, out, size, &err));
    for (size_t i = 0; i < size; i++) {
        snprintf(text + 2 * i, 3, "%02x", out[i]);
    }
    text[2 * size] = '\0';
    free(out);
    return text;
}

static const char *text_of(const json_t *vector, const char *key) {
    return json_string_value(json_object_get(vector, key));
}

/* "pkg/msg/Type" → "pkg/Type" */
static bool is_type(const char *ros2_type, const char *name) {
    char brief[ROS_NAME_ROOM];
    return ros_type_name(bytes_text(ros2_type), false, brief) && strcmp(brief, name) == 0;
}

static void check_vector(const json_t *v) {
    struct ros_translation out;
    check_translated(ROS_2, text_of(v, "ros1_type"), text_of(v, "ros1_definition"), &out);
    assert_true(is_type(text_of(v, "ros2_type"), out.type));
    assert_string_equal(laid_out(out.relay, hex(text_of(v, "ros1_hex"))), text_of(v, "cdr_hex"));
    assert_string_equal(out.hash, text_of(v, "ros2_rihs01"));
    ros_relay_free(out.relay);

    struct reel_pair original[] = {{ROS1_TYPE_KEY, text_of(v, "ros1_type")}, {ROS1_DEFINITION_KEY, text_of(v, "ros1_definition")}};
    struct reel_error err = {0};
    assert_true(translate(ROS_1, text_of(v, "ros2_type"), text_of(v, "ros2_definition"), (struct reel_pairs){original, 2}, &out, &err));
    assert_string_equal(out.type, text_of(v, "ros1_type"));
    assert_string_equal(laid_out(out.relay, hex(text_of(v, "cdr_hex"))), text_of(v, "ros1_back_hex"));
    assert_string_equal(out.hash, text_of(v, "ros1_md5"));
    ros_relay_free(out.relay);

    /* as recorded by ROS 2, which knows nothing of the original */
    const char *name = text_of(v, "name");
    if (strcmp(name, "camera_info_2009") != 0 && strcmp(name, "mixed") != 0) {
        check_translated(ROS_1, text_of(v, "ros2_type"), text_of(v, "ros2_definition"), &out);
        assert_string_equal(laid_out(out.relay, hex(text_of(v, "cdr_hex"))), text_of(v, "ros1_back_hex"));
        assert_string_equal(out.hash, text_of(v, "ros1_md5"));
        ros_relay_free(out.relay);
    }
}

static void vectors(void **state) {
    (void)state;
    json_error_t why;
    json_t *file = json_load_file(REEL_TESTS "/../../shared/samples/ros2/vectors.json", 0, &why);
    if (!file) {
        SAMPLES_SKIPPED(32);
    }
    size_t i;
    json_t *v, *all = json_object_get(file, "vectors");
    assert_int_equal(json_array_size(all), 32);
    json_array_foreach(all, i, v) {
        print_message("%s\n", text_of(v, "name"));
        check_vector(v);
    }
    json_decref(file);
}

static void sha256(void **state) {
    (void)state;
    char text[SHA256_TEXT], many[201];
    sha256_hex(bytes_text(""), text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_hex(bytes_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), text);
    assert_string_equal(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(many, 'a', sizeof many);
    sha256_hex(bytes_of(many, 200), text);
    assert_string_equal(text, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256),
        cmocka_unit_test(vectors),
    };
    return cmocka_run_group_tests(tests, open_standard, close_standard);
}
