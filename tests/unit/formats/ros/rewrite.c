/* Payloads that rules lay out anew: whatever their bytes are, a size that was measured is the size that is written, and
 * nothing beyond it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "formats/ros/rules.h"

#define LINE "================================================================================\n"
static const char definition[] =
    "uint8 a\nstring b\nPart[] parts\nfloat32[] numbers\nEmpty[] none\nint16[3] three\n" LINE
    "MSG: t/Part\nbool c\nfloat64 d\nstring[] texts\n" LINE "MSG: t/Empty\n";

static const struct ros_field_rule top_fields[] = {{.name = "b", .is_removed = true},
                                                   {.name = "numbers", .type = "float64"},
                                                   {.name = "three", .to = "drei", .type = "int64"}};
static const struct ros_added_field top_added[] = {{.type = "float32[5]", .name = "five", .value = "1.5"},
                                                   {.type = "string", .name = "word", .value = "new"}};
static const struct ros_added_field part_added[] = {{.type = "uint64", .name = "big", .value = "18446744073709551615"}};
static const struct ros_field_rule part_fields[] = {{.name = "c", .to = "flag"}};
static const struct ros_type_rule types[] = {
    {.type = "t/Top", .to = "u/Top", .fields = top_fields, .n_fields = 3, .added = top_added, .n_added = 2},
    {.type = "t/Part", .fields = part_fields, .n_fields = 1, .added = part_added, .n_added = 1}};
static const struct ros_rules rules = {.base = {.open = ros_rules_open}, .types = types, .n_types = 2};

static bool open_with(struct arena *arena, enum ros_dialect dialect, const char *text, const struct ros_rules *some,
                      bool used[2], struct ros_translation *t, struct reel_error *err) {
    const char *type = dialect == ROS_1 ? "t/Top" : "t/msg/Top";
    const struct reel_schema schema = {
        .name = type, .encoding = dialect == ROS_1 ? "ros1msg" : "ros2msg", .hash = "", .data = bytes_text(text)};
    const struct reel_channel channel = {
        .name = "/a", .type = type, .encoding = dialect == ROS_1 ? "ros1" : "cdr", .schemas = &schema, .n_schemas = 1};
    return ros_translate_by_rules(arena, &channel, dialect, some, used, t, err);
}

static struct ros_relay *open_relay(struct arena *arena, enum ros_dialect dialect) {
    struct reel_error err = {0};
    bool used[2] = {false, false};
    struct ros_translation t;
    if (!open_with(arena, dialect, definition, &rules, used, &t, &err)) {
        fail_msg("%s", err.text);
    }
    assert_true(used[0] && used[1]);
    assert_string_equal(t.type, "u/Top");
    return t.relay;
}

/* True: the payload fits. */
static bool check_payload(const struct ros_relay *relay, struct reel_bytes payload) {
    struct reel_error err = {0};
    size_t size = 0, written = 0;
    bool needs_more = true;
    if (!ros_relay_size(relay, payload, payload.size, &size, &needs_more, &err)) {
        assert_false(needs_more);
        assert_true(err.code != REEL_OK);
        return false;
    }
    uint8_t *out = malloc(size > 0 ? size : 1); /* a byte too many is found by AddressSanitizer */
    assert_non_null(out);
    assert_true(ros_relay_put(relay, payload, out, size, &written, &err));
    assert_int_equal(written, size);
    if (size > 0) {
        assert_false(ros_relay_put(relay, payload, out, size - 1, &written, &err));
        assert_int_equal(err.code, REEL_CHANGED);
    }
    free(out);
    return true;
}

static uint64_t random_state;
static uint32_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static void any_payload_is_measured(void **state) {
    (void)state;
    static const uint8_t ros1[] = {1, 2, 0, 0, 0, 'h', 'i', 1, 0, 0, 0, 1,   0, 0, 0, 0, 0,
                                   0, 0, 0, 1, 0, 0,   0,   1, 0, 0, 0, 'x', 2, 0, 0, 0, 0,
                                   0, 0, 0, 0, 0, 128, 63,  3, 0, 0, 0, 1,   0, 2, 0, 3, 0};
    static const uint8_t cdr[] = {0, 1, 0, 0, 1, 0, 0,   0,  1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                  1, 0, 0, 0, 0, 0, 128, 63, 2, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0};
    const struct reel_bytes seeds[] = {{ros1, sizeof ros1}, {cdr, sizeof cdr}};
    for (int dialect = ROS_1; dialect <= ROS_2; dialect++) {
        struct arena arena = {0};
        AUTO(ros_relay_free) struct ros_relay *relay = open_relay(&arena, (enum ros_dialect)dialect);
        const struct reel_bytes seed = seeds[dialect];
        uint8_t bytes[64];
        unsigned fits = 0;
        assert_true(check_payload(relay, seed));
        for (unsigned i = 0; i < 50000; i++) {
            size_t size = next_random() % 8 == 0 ? next_random() % (seed.size + 1) : seed.size;
            memcpy(bytes, seed.data, size);
            for (unsigned k = next_random() % 4; k > 0 && size > 0; k--) {
                bytes[next_random() % size] = (uint8_t)(next_random() % 3 == 0 ? next_random() : next_random() % 4);
            }
            uint8_t *own = malloc(size > 0 ? size : 1);
            assert_non_null(own);
            memcpy(own, bytes, size);
            fits += check_payload(relay, bytes_of(own, size));
            free(own);
        }
        assert_true(fits > 1000 && fits < 49000);
        arena_free(&arena);
    }
}

/* "Bar" is c/Bar, the only type with that last part, until a rule gives another type that name. */
static void a_name_must_not_become_that_of_another_type(void **state) {
    (void)state;
    static const struct ros_type_rule moved[] = {{.type = "c/Bar", .to = "c/Baz"}, {.type = "d/X", .to = "d/Bar"}};
    static const struct ros_rules some = {.base = {.open = ros_rules_open}, .types = moved, .n_types = 2};
    struct arena arena = {0};
    struct ros_translation t;
    struct reel_error err = {0};
    bool used[2] = {false, false};
    assert_false(open_with(&arena, ROS_2,
                           "Bar b\nd/X x\n" LINE "MSG: c/Bar\n"
                           "uint8 a\nuint8 b\nuint8 c\nuint8 d\nuint8 e\nuint8 f\nuint8 g\nuint8 h\n" LINE
                           "MSG: d/X\nuint8 y\n",
                           &some, used, &t, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    if (!strstr(err.text, "field b cannot become this type")) {
        fail_msg("%s", err.text);
    }
    arena_free(&arena);
}

static void a_payload_that_becomes_too_large_is_left_out(void **state) {
    (void)state;
    static const struct ros_field_rule widened[] = {{.name = "data", .type = "uint64"}};
    static const struct ros_type_rule type = {.type = "t/Top", .fields = widened, .n_fields = 1};
    static const struct ros_rules some = {.base = {.open = ros_rules_open}, .types = &type, .n_types = 1};
    const uint32_t count = REEL_MESSAGE_MEMORY_MAX / 8;
    struct arena arena = {0};
    struct ros_translation t;
    struct reel_error err = {0};
    bool used[2] = {false, false};
    assert_true(open_with(&arena, ROS_1, "uint8[] data\n", &some, used, &t, &err));
    AUTO(ros_relay_free) struct ros_relay *relay = t.relay;
    uint8_t *payload = calloc(count + 4, 1);
    size_t size;
    bool needs_more;
    assert_non_null(payload);
    store_u32le(payload, count - 1);
    assert_true(ros_relay_size(relay, bytes_of(payload, count + 3), count + 3, &size, &needs_more, &err));
    assert_int_equal(size, 4 + 8 * ((size_t)count - 1));
    store_u32le(payload, count);
    assert_false(ros_relay_size(relay, bytes_of(payload, count + 4), count + 4, &size, &needs_more, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    free(payload);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_payload_is_measured),
                                       cmocka_unit_test(a_name_must_not_become_that_of_another_type),
                                       cmocka_unit_test(a_payload_that_becomes_too_large_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
