/* MessagePack item by item: every code, every way of being cut, depth, and what strict readers refuse. */
#include "base/bytes.h"
#include "makers/nanover_maker.h"

static enum msgpack_result walk(const void *data, size_t size, size_t *used, struct msgpack_faults *faults) {
    struct cursor c = cursor_of(bytes_of(data, size));
    *faults = (struct msgpack_faults){.text = false};
    enum msgpack_result r = msgpack_skip(&c, REEL_DEPTH_MAX, faults);
    *used = (size_t)(c.at - (const uint8_t *)data);
    return r;
}

static struct msgpack_item read_one(const char *bytes, size_t size) {
    struct cursor c = cursor_of(bytes_of(bytes, size));
    struct msgpack_item item;
    assert_int_equal(msgpack_read(&c, &item), MSGPACK_OK);
    assert_true(cursor_done(&c));
    return item;
}
#define READ(text) read_one(text, sizeof(text) - 1)

static void numbers_of_every_width(void **state) {
    (void)state;
    assert_int_equal(READ("\x7f").integer, 127);
    assert_int_equal(READ("\xe0").integer, -32);
    assert_int_equal(READ("\xcc\xff").integer, 255);
    assert_int_equal(READ("\xcd\x01\x02").integer, 0x102);
    assert_int_equal(READ("\xce\xff\xff\xff\xff").integer, UINT32_MAX);
    assert_int_equal(READ("\xd0\x80").integer, -128);
    assert_int_equal(READ("\xd1\x80\x00").integer, INT16_MIN);
    assert_int_equal(READ("\xd2\x80\x00\x00\x00").integer, INT32_MIN);
    assert_true(READ("\xd3\x80\x00\x00\x00\x00\x00\x00\x00").integer == INT64_MIN);
    assert_true(READ("\xcf\xff\xff\xff\xff\xff\xff\xff\xff").over);
    assert_true(READ("\xca\x3f\xc0\x00\x00").number == 1.5);
    assert_true(READ("\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00").number == 1.5);
    assert_int_equal(READ("\xc3").integer, 1);
}

static void runs_and_containers(void **state) {
    (void)state;
    assert_true(bytes_is(READ("\xa2hi").bytes, "hi"));
    assert_true(bytes_is(READ("\xd9\x02hi").bytes, "hi"));
    assert_int_equal(READ("\xc4\x01z").kind, MSGPACK_BIN);
    assert_int_equal(READ("\xd6\x05"
                          "abcd")
                         .bytes.size,
                     5); /* ext: its type, then its bytes */
    struct cursor c = cursor_of(bytes_of("\xdd\x00\x01\x00\x00", 5));
    struct msgpack_item item;
    assert_int_equal(msgpack_read(&c, &item), MSGPACK_OK);
    assert_int_equal(item.count, 0x10000);
}

static void every_cut_is_short(void **state) {
    (void)state;
    msgpack_sbuffer b;
    msgpack_sbuffer_init(&b);
    picture(&b, "{'frame' {'a' [1 -300 70000 1.5 n {}] 'b' <00112233>} 'state' {'updates' {} 'removals' ['x' 'y']}}");
    size_t used;
    struct msgpack_faults faults;
    for (size_t size = 0; size < b.size; size++) {
        assert_int_equal(walk(b.data, size, &used, &faults), MSGPACK_SHORT);
    }
    assert_int_equal(walk(b.data, b.size, &used, &faults), MSGPACK_OK);
    assert_int_equal(used, b.size);
    assert_false(faults.text || faults.key);
    msgpack_sbuffer_destroy(&b);
}

static void depth_has_a_ceiling(void **state) {
    (void)state;
    char deep[REEL_DEPTH_MAX + 2];
    memset(deep, '\x91', sizeof deep);
    size_t used;
    struct msgpack_faults faults;
    deep[REEL_DEPTH_MAX] = '\x00';
    assert_int_equal(walk(deep, REEL_DEPTH_MAX + 1, &used, &faults), MSGPACK_OK);
    deep[REEL_DEPTH_MAX] = '\x91';
    deep[REEL_DEPTH_MAX + 1] = '\x00';
    assert_int_equal(walk(deep, sizeof deep, &used, &faults), MSGPACK_DEEP);
}

static void what_strict_readers_refuse_is_noted(void **state) {
    (void)state;
    size_t used;
    struct msgpack_faults faults;
    assert_int_equal(walk("\xc1", 1, &used, &faults), MSGPACK_BAD);
    assert_int_equal(walk("\x81\x01\x02", 3, &used, &faults), MSGPACK_OK);
    assert_true(faults.key && !faults.text);
    const char *const broken[] = {"\xa1\xff", "\xa2\xc0\x80", "\xa3\xed\xa0\x80", "\xa4\xf4\x90\x80\x80", "\xa1\xc3"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        assert_int_equal(walk(broken[i], strlen(broken[i]), &used, &faults), MSGPACK_OK);
        assert_true(faults.text);
    }
    assert_int_equal(walk("\xa5\xc3\xbc\xe2\x82\xac", 6, &used, &faults), MSGPACK_OK);
    assert_false(faults.text);
}

static void a_count_costs_only_the_bytes_that_are_there(void **state) {
    (void)state;
    size_t used;
    struct msgpack_faults faults;
    assert_int_equal(walk("\xdf\xff\xff\xff\xff\xa1x\xdd\xff\xff\xff\xff", 12, &used, &faults), MSGPACK_SHORT);
    assert_int_equal(walk("\xc6\xff\xff\xff\xff", 5, &used, &faults), MSGPACK_SHORT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_width),
        cmocka_unit_test(runs_and_containers),
        cmocka_unit_test(every_cut_is_short),
        cmocka_unit_test(depth_has_a_ceiling),
        cmocka_unit_test(what_strict_readers_refuse_is_noted),
        cmocka_unit_test(a_count_costs_only_the_bytes_that_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
