/* MD5, and the sums of ROS 1 types; the expected ones are those of ROS's own tools (python3-genmsg). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/ros/md5.h"

#define LINE "================================================================================\n"
#define POINT "float64 x\nfloat64 y\nfloat64 z\n"

static void md5_of_the_rfc(void **state) {
    (void)state;
    static const char *const known[][2] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };
    char out[MD5_HEX];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        digest_hex(DIGEST_MD5, bytes_text(known[i][0]), out);
        assert_string_equal(out, known[i][1]);
    }
}

static const char *sum(const char *type, const char *definition) {
    static char out[MD5_HEX];
    struct reel_error err = {0};
    if (!ros_md5(type, bytes_text(definition), out, &err)) {
        print_message("%s\n", err.text);
        return "";
    }
    return out;
}

static void sums_are_those_of_ros(void **state) {
    (void)state;
    assert_string_equal(sum("pkg/Nothing", "# a\n"), "d41d8cd98f00b204e9800998ecf8427e");
    assert_string_equal(sum("geometry_msgs/Point", POINT), "4a842b65f413084dc2b10fb484ea7f17");
    assert_string_equal(sum("geometry_msgs/Point", LINE "MSG: geometry_msgs/Point\n" POINT),
                        "4a842b65f413084dc2b10fb484ea7f17");
    assert_string_equal(sum("geometry_msgs/Pose", "# where\nPoint position\nQuaternion orientation\n" LINE
                                                  "MSG: geometry_msgs/Quaternion\n" POINT "float64 w\n" LINE
                                                  "MSG: geometry_msgs/Point\n" POINT),
                        "e45d45a5a1ce597b249e23fb30fc871f");
    assert_string_equal(sum("pkg/Wrap", "geometry_msgs/Point position"
                                        "\n" LINE "MSG: geometry_msgs/Point\n" POINT),
                        "e7bb0ef028c744b081acdc57743b11d8");
    static const char known[] =
        "# top\nuint8 A=1 # one\r\nstring S= a # b\nfloat32   X =  1.50\nHeader header  # h\nbyte[] data\n"
        "geometry_msgs/Point[3]   points # p\nint32[4] n\ntime t\nduration d\nchar  c\nbool b\nstring s\n" LINE
        "MSG: geometry_msgs/Point\n" POINT;
    assert_string_equal(sum("pkg/Known", known), "cc2e3801a7fd2451b6de7c7f36b27eb0"); /* Header left out: everybody
                                                                                         knows it */
}

static void what_cannot_be_summed(void **state) {
    (void)state;
    assert_string_equal(sum("pkg/Wrap", "geometry_msgs/Point position\n"), "");
    assert_string_equal(sum("pkg/A", "B b\n" LINE "MSG: pkg/B\nA a\n"), "");
    assert_string_equal(sum("", "uint8 a\n"), "");
    assert_string_equal(sum("pkg/A", "uint8? a\n"), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(md5_of_the_rfc),
        cmocka_unit_test(sums_are_those_of_ros),
        cmocka_unit_test(what_cannot_be_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
