/* CBOR decoded as values: the examples of RFC 8949, appendix A, and of RFC 8746. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "makers/decode_text.h"

static const struct reel_channel channel = {.name = "/a", .type = "", .encoding = "cbor"};

#define SHOWS(bytes, decoded) assert_string_equal(decode_text(&channel, bytes_of(bytes, sizeof(bytes) - 1)), decoded)

static void integers(void **state) {
    (void)state;
    SHOWS("\x00", "0");
    SHOWS("\x17", "23");
    SHOWS("\x18\x18", "24");
    SHOWS("\x19\x03\xe8", "1000");
    SHOWS("\x1a\x00\x0f\x42\x40", "1000000");
    SHOWS("\x1b\x00\x00\x00\xe8\xd4\xa5\x10\x00", "1000000000000");
    SHOWS("\x1b\xff\xff\xff\xff\xff\xff\xff\xff", "\"18446744073709551615\"");
    SHOWS("\x20", "-1");
    SHOWS("\x39\x03\xe7", "-1000");
    SHOWS("\x3b\x7f\xff\xff\xff\xff\xff\xff\xff", "\"-9223372036854775808\"");
    SHOWS("\x3b\x80\x00\x00\x00\x00\x00\x00\x00", "\"-9223372036854775809\"");
    SHOWS("\x3b\xff\xff\xff\xff\xff\xff\xff\xff", "\"-18446744073709551616\"");
}

static void bignums(void **state) {
    (void)state;
    SHOWS("\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00", "\"18446744073709551616\"");
    SHOWS("\xc3\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00", "\"-18446744073709551617\"");
    SHOWS("\xc2\x42\x01\x00", "256");
    SHOWS("\xc3\x42\x00\xff", "-256");
    SHOWS("\xc2\x40", "0");
    SHOWS("\xc3\x49\x00\x00\xff\xff\xff\xff\xff\xff\xff", "\"-72057594037927936\"");
    SHOWS("\xc2\x4c\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\"79228162514264337593543950335\"");
    SHOWS("\xc3\x4c\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\"-79228162514264337593543950336\"");
    SHOWS("\xc2\x4d\x02\x86\x3c\x1f\x5c\xda\xe4\x2f\x95\x40\x00\x00\x00", "\"200000000000000000000000000000\"");
    uint8_t large[67] = {0xc3, 0x58, 64};
    memset(large + 3, 0xff, 64);
    assert_string_equal(decode_text(&channel, bytes_of(large, sizeof large)),
                        "\"-1340780792994259709957402499820584612747936582059239337772356144372176403007354697680187429"
                        "8166903427690031858186486050853753882811946569946433649006084096\"");
}

static void floats(void **state) {
    (void)state;
    SHOWS("\xf9\x00\x00", "0");
    SHOWS("\xf9\x3c\x00", "1");
    SHOWS("\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a", "1.1");
    SHOWS("\xf9\x3e\x00", "1.5");
    SHOWS("\xf9\x7b\xff", "65504");
    SHOWS("\xfa\x47\xc3\x50\x00", "1e+05");
    SHOWS("\xf9\x00\x01", "5.9604645e-08");
    SHOWS("\xf9\x04\x00", "6.1035156e-05");
    SHOWS("\xf9\xc4\x00", "-4");
    SHOWS("\x83\xf9\x7c\x00\xf9\x7e\x00\xf9\xfc\x00", "[\"Infinity\",\"NaN\",\"-Infinity\"]");
    SHOWS("\xfa\x3d\xcc\xcc\xcd", "0.1");
    SHOWS("\xc4\x82\x21\x19\x6a\xb3", "273.15");
    SHOWS("\xc5\x82\x20\x03", "1.5");
    SHOWS("\xc4\x82\x01\xc2\x41\x01", "[1,1]");
    SHOWS("\xc4\x83\x01\x01\x01", "[1,1,1]");
    SHOWS("\xc4\x82\x1b\x7f\xff\xff\xff\xff\xff\xff\xff\x01", "[\"9223372036854775807\",1]");
}

static void simple_values(void **state) {
    (void)state;
    SHOWS("\x86\xf4\xf5\xf6\xf7\xf0\xf8\xff", "[false,true,null,null,null,null]");
}

static void strings(void **state) {
    (void)state;
    SHOWS("\x40", "{\"$base64\":\"\"}");
    SHOWS("\x44\x01\x02\x03\x04", "{\"$base64\":\"AQIDBA==\"}");
    SHOWS("\x62\xc3\xbc", "\"ü\"");
    SHOWS("\x5f\x42\x01\x02\x43\x03\x04\x05\xff", "{\"$base64\":\"AQIDBAU=\"}");
    SHOWS("\x7f\x65strea\x64ming\xff", "\"streaming\"");
    SHOWS("\x82\x7f\xff\x7f\x61x\x60\xff", "[\"\",\"x\"]");
}

static void containers(void **state) {
    (void)state;
    SHOWS("\x80", "[]");
    SHOWS("\x83\x01\x82\x02\x03\x82\x04\x05", "[1,[2,3],[4,5]]");
    SHOWS("\xa2\x61\x61\x01\x61\x62\x82\x02\x03", "{\"a\":1,\"b\":[2,3]}");
    SHOWS("\x9f\x01\x82\x02\x03\x9f\x04\x05\xff\xff", "[1,[2,3],[4,5]]");
    SHOWS("\xbf\x61\x61\x01\x61\x62\x9f\x02\x03\xff\xff", "{\"a\":1,\"b\":[2,3]}");
    SHOWS("\x9f\xff", "[]");
    SHOWS("\xa3\x61x\xf9\x3c\x00\x61y\xf9\x40\x00\x61z\xf9\x42\x00", "{\"x\":1,\"y\":2,\"z\":3}");
    SHOWS("\xa2\x61\x61\x01\x61\x61\x02", "{\"a\":1,\"a\":2}");
}

static void keys_that_are_no_text(void **state) {
    (void)state;
    SHOWS("\xa7\x05\x01\x20\x01\xfb\x3f\xb9\x99\x99\x99\x99\x99\x9a\x01\xf6\x01\xf5\x01\x41\x62\x01\xf9\x7e\x00\x01",
          "{\"5\":1,\"-1\":1,\"0.1\":1,\"null\":1,\"true\":1,\"b\":1,\"NaN\":1}");
    SHOWS("\xa3\x1b\xff\xff\xff\xff\xff\xff\xff\xff\x01\x7f\x61x\x61y\xff\x02\xc0\x61t\x03",
          "{\"18446744073709551615\":1,\"xy\":2,\"t\":3}");
    SHOWS("\xa1\x9f\xa1\x80\x01\xff\x02", "{\"\\\\x9f\\\\xa1\\\\x80\\u0001\\\\xff\":2}");
}

static void tags(void **state) {
    (void)state;
    SHOWS("\xc0\x74"
          "2013-03-21T20:04:00Z",
          "\"2013-03-21T20:04:00Z\"");
    SHOWS("\xc1\x1a\x51\x4b\x67\xb0", "\"2013-03-21T20:04:00Z\"");
    SHOWS("\xc1\xfb\x41\xd4\x52\xd9\xec\x20\x00\x00", "\"2013-03-21T20:04:00.500Z\"");
    SHOWS("\xc1\x20", "\"1969-12-31T23:59:59Z\"");
    SHOWS("\xc1\xf9\xb8\x00", "\"1969-12-31T23:59:59.500Z\"");
    SHOWS("\xc1\x1b\x7f\xff\xff\xff\xff\xff\xff\xff", "\"9223372036854775807\"");
    SHOWS("\xc1\x1b\x00\x00\x00\xe8\xd4\xa5\x10\x00", "{\"sec\":1000000000000,\"nsec\":0}");
    SHOWS("\xc1\xf9\x7e\x00", "\"NaN\"");
    SHOWS("\xd9\xd9\xf7\xa1\x61x\xd8\x63\x01", "{\"x\":1}");
    SHOWS("\xd8\x20\x61u", "\"u\"");
}

static void arrays_of_numbers(void **state) {
    (void)state;
    SHOWS("\xd8\x40\x43\x01\x02\xff", "[1,2,255]");
    SHOWS("\xd8\x41\x44\x00\x01\xff\xff", "[1,65535]");
    SHOWS("\xd8\x45\x44\x01\x00\xff\xff", "[1,65535]");
    SHOWS("\xd8\x48\x42\x01\xff", "[1,-1]");
    SHOWS("\xd8\x4a\x44\xff\xff\xff\xfe", "[-2]");
    SHOWS("\xd8\x50\x44\x3c\x00\xc4\x00", "[1,-4]");
    SHOWS("\xd8\x54\x44\x00\x3c\x00\xc4", "[1,-4]");
    SHOWS("\xd8\x51\x44\x3d\xcc\xcc\xcd", "[0.1]");
    SHOWS("\xd8\x56\x48\x9a\x99\x99\x99\x99\x99\xb9\x3f", "[0.1]");
    SHOWS("\xd8\x52\x5f\x44\x3f\xb9\x99\x99\x44\x99\x99\x99\x9a\xff", "[0.1]");
    SHOWS("\xd8\x41\x43\x00\x01\xff", "{\"$base64\":\"AAH/\"}"); /* two bytes and a half */
    SHOWS("\xd8\x53\x41\x01", "{\"$base64\":\"AQ==\"}");         /* 128 bits */
    SHOWS("\xd8\x4a\x40", "[]");
}

static void damage_is_reported_with_its_position(void **state) {
    (void)state;
    SHOWS("", "error 2: byte 0 of 0: ends inside a value");
    SHOWS("\x82\x01", "error 2: byte 0 of 2: ends inside a value");
    SHOWS("\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x01", "error 2: byte 0 of 10: ends inside a value");
    SHOWS("\xbb\x80\x00\x00\x00\x00\x00\x00\x01\x01\x01", "error 2: byte 0 of 11: ends inside a value");
    SHOWS("\xa1\x61\x61", "error 2: byte 3 of 3: ends inside a value");
    SHOWS("\x01\x02", "error 2: byte 1 of 2: 1 bytes too many");
    SHOWS("\x81\x1c", "error 2: byte 1 of 2: is no CBOR");
    SHOWS("\x1f", "error 2: byte 0 of 1: is no CBOR");
    SHOWS("\xff", "error 2: byte 0 of 1: is no CBOR");
    SHOWS("\x81\xff", "error 2: byte 1 of 2: is no CBOR");
    SHOWS("\xf8\x18", "error 2: byte 0 of 2: is no CBOR");
    SHOWS("\xbf\x61x\xff", "error 2: byte 3 of 4: is no CBOR");
    SHOWS("\x9f\xc0\xff", "error 2: byte 1 of 3: is no CBOR");
    SHOWS("\x7f\x41x\xff", "error 2: byte 1 of 4: is no CBOR");
    SHOWS("\x7f\x7f\x61x\xff\xff", "error 2: byte 1 of 6: is no CBOR");
    SHOWS("\x65x", "error 2: byte 1 of 2: ends inside a string");
    SHOWS("\x9f\x01", "error 2: byte 2 of 2: ends inside a value");
}

static void nesting_is_bounded(void **state) {
    (void)state;
    uint8_t deep[200];
    memset(deep, 0x81, sizeof deep);
    deep[128] = 1;
    assert_memory_equal(decode_text(&channel, bytes_of(deep, 129)), "[[[[", 4);
    deep[128] = 0x81;
    deep[199] = 1;
    assert_memory_equal(decode_text(&channel, bytes_of(deep, 200)), "error 4: byte 129", 17);
    memset(deep, 0xc6, 199); /* tags are no levels */
    deep[199] = 1;
    assert_string_equal(decode_text(&channel, bytes_of(deep, 200)), "1");
}

/* Each container that is a key takes a frame of the stack: a thread of the server has 256 KiB. */
static void nesting_of_keys_is_bounded(void **state) {
    (void)state;
    uint8_t deep[400];
    memset(deep, 0xa1, sizeof deep); /* maps as keys of maps */
    assert_string_equal(decode_text(&channel, bytes_of(deep, 400)), "error 4: byte 10 of 400: nested too deeply");
    memset(deep, 0x81, 120);
    assert_string_equal(decode_text(&channel, bytes_of(deep, 400)), "error 4: byte 129 of 400: nested too deeply");
    SHOWS("\xa1\x81\x81\x81\x81\x81\x81\x81\x80\x01",
          "{\"\\\\x81\\\\x81\\\\x81\\\\x81\\\\x81\\\\x81\\\\x81\\\\x80\":1}");
    SHOWS("\xa1\x81\x81\x81\x81\x81\x81\x81\x81\x80\x01", "error 4: byte 10 of 11: nested too deeply");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(bignums),
        cmocka_unit_test(floats),
        cmocka_unit_test(simple_values),
        cmocka_unit_test(strings),
        cmocka_unit_test(containers),
        cmocka_unit_test(keys_that_are_no_text),
        cmocka_unit_test(tags),
        cmocka_unit_test(arrays_of_numbers),
        cmocka_unit_test(damage_is_reported_with_its_position),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(nesting_of_keys_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
