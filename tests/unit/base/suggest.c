/* base/suggest.h: what is suggested for a misspelled name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "base/suggest.h"

static void check(const char *given, const char *const *names, const char *expected) {
    struct suggestions suggestions = {0};
    char text[256];
    for (; *names; names++) {
        suggest_add(&suggestions, given, *names);
    }
    assert_string_equal(suggest_text(&suggestions, "", text, sizeof text), expected);
}

static void only_the_nearest_names_are_suggested(void **state) {
    (void)state;
    static const char *const keys[] = {"a", "topic", "format", "state", "robot", "group", "ab", NULL};
    check("fromat", keys, "format");
    check("formt", keys, "format");
    check("FORMAT", keys, "format");
    check("robt", keys, "robot");
    check("x", keys, "");
    check("nothing", keys, "");
    check("", keys, "");
}

/* Signs between letters and digits are easily left out. */
static void part_of_a_name_comes_first(void **state) {
    (void)state;
    static const char *const formats[] = {"rosbag2", "mcap", "rosbag-1.2", "rosbag-2.0", "mira", "nanover", NULL};
    check("rosbag1", formats, "rosbag-1.2");
    check("bag2", formats, "rosbag2, rosbag-2.0");
    check("bag", formats, "rosbag2, rosbag-1.2, rosbag-2.0");
    check("mcpa", formats, "mcap");
    check("nanovr", formats, "nanover");
    static const char *const topics[] = {"/robot/odom", "/odon", "/map", NULL};
    check("/odom", topics, "/robot/odom");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_nearest_names_are_suggested),
        cmocka_unit_test(part_of_a_name_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
