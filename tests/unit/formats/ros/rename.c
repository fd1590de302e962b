/* formats/ros_rename.h: old package names become today's in type positions and nowhere else. */
#include "formats/ros/rename.h"
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void check(const char *type, const char *before, const char *after) {
    struct arena arena = {0};
    struct reel_error err = {0};
    struct reel_bytes out = {0};
    assert_true(ros_rename_definition(&arena, type, bytes_text(before), &out, &err));
    assert_int_equal(out.size, strlen(after));
    assert_memory_equal(out.data, after, out.size);
    assert_int_equal(ros_rename_changes(type, bytes_text(before)), strcmp(before, after) != 0);
    if (strcmp(before, after) == 0) {
        assert_ptr_equal(out.data, before); /* nothing is copied for nothing */
    }
    arena_free(&arena);
}

static void types_get_their_later_names(void **state) {
    (void)state;
    assert_string_equal(ros_rename_type("roslib/Header"), "std_msgs/Header");
    assert_string_equal(ros_rename_type("roslib/Log"), "rosgraph_msgs/Log");
    assert_string_equal(ros_rename_type("roslib/Clock"), "rosgraph_msgs/Clock");
    const char *kept[] = {"roslib/Logger", "roslib/Time", "roslib", "", "*", "std_msgs/Header"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        assert_ptr_equal(ros_rename_type(kept[i]), kept[i]);
    }
}

static void msg_lines_and_field_types_change(void **state) {
    (void)state;
    check("sensor_msgs/LaserScan", "Header header\nfloat32 x\n====\nMSG: roslib/Header\nuint32 seq\ntime stamp\n",
          "Header header\nfloat32 x\n====\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\n");
    check("a/B", "roslib/Header header\nroslib/Log[] logs\r\n\troslib/Clock[2] c # roslib/Clock\nMSG:roslib/Log",
          "std_msgs/Header header\nrosgraph_msgs/Log[] logs\r\n\trosgraph_msgs/Clock[2] c # "
          "roslib/Clock\nMSG:rosgraph_msgs/Log");
}

static void all_else_stays(void **state) {
    (void)state;
    check("a/B", "", "");
    check("a/B", "float32 x\n", "float32 x\n");
    check("a/B", "# roslib/Header is not here\nstring S=roslib/Header\nroslib/Headers h\nLog log\n",
          "# roslib/Header is not here\nstring S=roslib/Header\nroslib/Headers h\nLog log\n");
    check("roslib/Time", "time rostime", "time rostime");
}

static void neighbours_in_roslib_find_each_other(void **state) {
    (void)state;
    check("roslib/Logs",
          "Header header\nLog[] logs\n===\nMSG: roslib/Log\nHeader header\nbyte level\n===\nMSG: a/C\nLog log\n",
          "Header header\nrosgraph_msgs/Log[] logs\n===\nMSG: rosgraph_msgs/Log\nHeader header\nbyte level\n===\nMSG: "
          "a/C\nLog log\n");
}

static void any_bytes_are_survived(void **state) {
    (void)state;
    const char raw[] = "roslib/Log\0x\n\xff\xfe roslib/Log\nroslib/Log";
    struct arena arena = {0};
    struct reel_error err = {0};
    struct reel_bytes out = {0};
    assert_true(ros_rename_definition(&arena, "a/B", bytes_of(raw, sizeof raw - 1), &out, &err));
    const char expected[] = "rosgraph_msgs/Log\0x\n\xff\xfe roslib/Log\nrosgraph_msgs/Log";
    assert_int_equal(out.size, sizeof expected - 1);
    assert_memory_equal(out.data, expected, out.size);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_get_their_later_names),
        cmocka_unit_test(msg_lines_and_field_types_change),
        cmocka_unit_test(all_else_stays),
        cmocka_unit_test(neighbours_in_roslib_find_each_other),
        cmocka_unit_test(any_bytes_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
