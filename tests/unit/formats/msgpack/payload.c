/* Plain MessagePack decoded as values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "makers/decode_text.h"

static const struct reel_channel channel = {.name = "/a", .type = "", .encoding = "msgpack"};

#define TELLS(bytes, decoded) assert_string_equal(decode_text(&channel, bytes_of(bytes, sizeof(bytes) - 1)), decoded)

static void values_of_every_kind(void **state) {
    (void)state;
    TELLS("\x83\xa1\x61\x93\x01\xff\xd0\x80\xa1\x62\xc0\xa1\x63\x92\xc2\xc3",
          "{\"a\":[1,-1,-128],\"b\":null,\"c\":[false,true]}");
    TELLS("\x94\xcd\x01\x00\xce\x00\x01\x00\x00\xd1\xff\x00\xd2\xff\xff\x00\x00", "[256,65536,-256,-65536]");
    TELLS("\x92\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xd3\x80\x00\x00\x00\x00\x00\x00\x00",
          "[\"18446744073709551615\",\"-9223372036854775808\"]");
    TELLS("\x93\xca\x3d\xcc\xcc\xcd\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00",
          "[0.1,0.1,\"Infinity\"]");
    TELLS("\x92\xc4\x02\x00\xff\xd9\x01\x78", "[{\"$base64\":\"AP8=\"},\"x\"]");
    TELLS("\xdc\x00\x01\xde\x00\x01\xa0\xdd\x00\x00\x00\x00", "[{\"\":[]}]");
    TELLS("\x80", "{}");
    TELLS("\x07", "7");
}

static void keys_that_are_no_text(void **state) {
    (void)state;
    TELLS("\x87\x05\x01\xff\x01\xca\x3d\xcc\xcc\xcd\x01\xc0\x01\xc3\x01\xc4\x01\x62\x01\xcf\xff\xff\xff\xff\xff\xff\xff"
          "\xff\x01",
          "{\"5\":1,\"-1\":1,\"0.1\":1,\"null\":1,\"true\":1,\"b\":1,\"18446744073709551615\":1}");
    TELLS("\x82\x91\x01\x01\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00\x02", "{\"\\\\x91\\u0001\":1,\"NaN\":2}");
}

static void extensions_and_times(void **state) {
    (void)state;
    TELLS("\xd6\xff\x00\x00\x00\x01", "\"1970-01-01T00:00:01.000000000Z\"");
    TELLS("\xd7\xff\x00\x00\x00\x04\x00\x00\x00\x01", "\"1970-01-01T00:00:01.000000001Z\"");
    TELLS("\xc7\x0c\xff\x00\x00\x00\x05\xff\xff\xff\xff\xff\xff\xff\xff", "\"1969-12-31T23:59:59.000000005Z\"");
    TELLS("\xc7\x0c\xff\x3b\x9a\xca\x00\x00\x00\x00\x00\x00\x00\x00\x00",
          "{\"$ext\":-1,\"data\":{\"$base64\":\"O5rKAAAAAAAAAAAA\"}}"); /* 1e9 ns */
    TELLS("\xc7\x0c\xff\x00\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff",
          "{\"$ext\":-1,\"data\":{\"$base64\":\"AAAAAH//////////\"}}");
    TELLS("\xd4\x05\x01", "{\"$ext\":5,\"data\":{\"$base64\":\"AQ==\"}}");
    TELLS("\xc7\x00\xff", "{\"$ext\":-1,\"data\":{\"$base64\":\"\"}}");
}

static void damage_is_reported_with_its_position(void **state) {
    (void)state;
    TELLS("", "error 2: byte 0 of 0: ends inside an object");
    TELLS("\x92\x01", "error 2: byte 0 of 2: ends inside an object");
    TELLS("\xdd\xff\xff\xff\xff\x01", "error 2: byte 0 of 6: ends inside an object");
    TELLS("\x01\x02", "error 2: byte 1 of 2: 1 bytes too many");
    TELLS("\x92\x01\xc1", "error 2: byte 2 of 3: is no MessagePack");
    TELLS("\x91\xa5\x61", "error 2: byte 1 of 3: ends inside an object");
    TELLS("\x81\xa1\x61", "error 2: byte 3 of 3: ends inside an object");
}

static void depth_has_a_ceiling(void **state) {
    (void)state;
    uint8_t deep[130];
    memset(deep, 0x91, sizeof deep);
    deep[128] = 1;
    assert_memory_equal(decode_text(&channel, bytes_of(deep, 129)), "[[[[", 4);
    deep[128] = 0x91;
    deep[129] = 1;
    assert_string_equal(decode_text(&channel, bytes_of(deep, 130)), "error 4: byte 129 of 130: is nested too deeply");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_kind), cmocka_unit_test(keys_that_are_no_text),
        cmocka_unit_test(extensions_and_times), cmocka_unit_test(damage_is_reported_with_its_position),
        cmocka_unit_test(depth_has_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
