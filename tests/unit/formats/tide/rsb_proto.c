/* The text of protobuf definitions, compiled. What was compiled is compared by field number, see proto_text.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/protobuf/text.h"
#include "formats/tide/rsb.h"
#include "syntax/json_out.h"

static void texts_are_compiled(void **state) {
    (void)state;
    static const char text[] =
        "// A.proto\nsyntax = \"proto2\"; package a.b; import \"x\"; option o = \"};\"; /* } */\n"
        "message M { required E e = 1 [default = X]; repeated sint32 v = 2 [packed = true]; enum E { X = -1; } "
        "optional b.N n = 3; oneof o { int32 x = 4; bool y = 5; } oneof p { N z = 6; } optional int32 q = 7; }\n"
        "package a.b; message N { } message M { }";
    static const char want[] =
        "{\"1\":[{\"2\":\"a.b\",\"4\":{\"1\":\"M\",\"2\":[{\"1\":\"e\",\"3\":1,\"4\":2,\"5\":14,\"6\":\".a.b.M.E\"},"
        "{\"1\":\"v\",\"3\":2,\"4\":3,\"5\":17,\"8\":{\"2\":1}}],\"4\":{\"1\":\"E\",\"2\":{\"1\":\"X\",\"2\":"
        "\"18446744073709551615\"}},"
        "\"2\":{\"1\":\"n\",\"3\":3,\"4\":1,\"5\":11,\"6\":\".a.b.N\"},\"8\":{\"1\":\"o\"},"
        "\"2\":[{\"1\":\"x\",\"3\":4,\"4\":1,\"5\":5,\"9\":0},{\"1\":\"y\",\"3\":5,\"4\":1,\"5\":8,\"9\":0}],\"8\":{"
        "\"1\":\"p\"},"
        "\"2\":[{\"1\":\"z\",\"3\":6,\"4\":1,\"5\":11,\"6\":\".a.b.N\",\"9\":1},{\"1\":\"q\",\"3\":7,\"4\":1,\"5\":5}]}"
        "},{\"2\":\"a.b\",\"4\":{\"1\":\"N\"}}]}";
    struct grow set = {0}, json = {0};
    struct reel_error err = {0};
    assert_true(proto_text_compile(bytes_text(text), &set, &err));
    struct json_out out = json_out_to(&json, 1 << 20);
    assert_true(rsb_guess_emit(bytes_of(set.data, set.size), &out.visitor));
    grow_put(&json, "", 1);
    assert_string_equal((char *)json.data, want);
    free(set.data);
    free(json.data);
}

static void texts_that_are_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *problem;
    } wrong[] = {{"message A { optional B b = 1; }", "byte 28 of 31: the type \"B\" is not defined"},
                 {"message A { optional group G = 1 { } }", "byte 21 of 38: groups are not supported"},
                 {"message A { map<string,int32> a = 1; }", "byte 15 of 38: a name is expected"},
                 {"message A {", "byte 11 of 11: \"}\" is expected"},
                 {"foo", "byte 0 of 3: no statement of a definition"},
                 {"message A { optional int32 a = 0; }", "byte 32 of 35: a field number that protobuf does not have"},
                 {"message A { optional int32 a = 0x80000000; }", "byte 31 of 44: not a number of 32 bits"},
                 {"option a = {", "byte 12 of 12: a statement has no end"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct grow set = {0};
        struct reel_error err = {0};
        assert_false(proto_text_compile(bytes_text(wrong[i].text), &set, &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        assert_string_equal(err.text + strlen("proto text, "), wrong[i].problem);
        free(set.data);
    }
}

static void texts_have_ceilings(void **state) {
    (void)state;
    struct grow deep = {0}, set = {0};
    for (unsigned i = 0; i < 40; i++) {
        grow_put(&deep, "message a{", 10);
    }
    struct reel_error err = {0};
    assert_false(proto_text_compile(bytes_of(deep.data, deep.size), &set, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    deep.size = 0;
    for (unsigned i = 0; i <= PROTO_TEXT_NAMES_MAX; i++) {
        grow_put(&deep, "enum a{} ", 9);
    }
    assert_false(proto_text_compile(bytes_of(deep.data, deep.size), &set, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    deep.size = 0;
    memset(grow_take(&deep, PROTO_TEXT_MAX + 1), ';', PROTO_TEXT_MAX + 1);
    assert_false(proto_text_compile(bytes_of(deep.data, deep.size), &set, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    free(deep.data);
    free(set.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_compiled),
        cmocka_unit_test(texts_that_are_wrong),
        cmocka_unit_test(texts_have_ceilings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
