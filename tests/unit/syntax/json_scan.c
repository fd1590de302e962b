/* syntax/json_scan.h: tokens of JSON text, of which nothing behind the end is read. */
#include "syntax/json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "exact.h"

/* ---- strings */

/* The same without looking at eight bytes at once. */
static bool string_of(struct cursor *c, struct json_string *out) {
    const uint8_t *begin = ++c->at;
    *out = (struct json_string){0};
    for (; !cursor_done(c) && *c->at != '"'; c->at++) {
        if (*c->at == '\\') {
            out->escaped = true;
            c->at += cursor_left(c) > 1;
        } else if (*c->at < ' ' && !out->control) {
            out->control = c->at;
        }
    }
    out->raw = bytes_of(begin, (size_t)(c->at - begin));
    bool ends = !cursor_done(c);
    c->at += ends;
    return ends;
}

static void check_string(struct reel_bytes text) {
    AUTO_EXACT struct reel_bytes copy = exact_copy(text);
    struct cursor c = cursor_of(copy), plain = c;
    struct json_string is, expected;
    assert_int_equal(json_string(&c, &is), string_of(&plain, &expected));
    assert_ptr_equal(c.at, plain.at);
    assert_ptr_equal(is.control, expected.control);
    assert_int_equal(is.escaped, expected.escaped);
    assert_true(is.raw.data == expected.raw.data && is.raw.size == expected.raw.size);
}

static void strings_end_at_their_quote(void **state) {
    (void)state;
    static const char bytes[] = "\"\\\x1f\x01 !#[]^\x7f\x80\xa2\xdc\xff"; /* neighbours of what ends a run, too */
    enum { KINDS = sizeof bytes };                                        /* with the NUL */
    uint8_t text[24] = "\"";
    check_string(bytes_of(text, 1));
    for (size_t at = 1; at < sizeof text; at++) { /* one byte of each kind, and another one behind it */
        for (size_t i = 0; i < KINDS * KINDS; i++) {
            memset(text + 1, 'a', sizeof text - 1);
            text[at] = (uint8_t)bytes[i / KINDS];
            text[at + 1 < sizeof text ? at + 1 : 1] = (uint8_t)bytes[i % KINDS];
            for (size_t size = at + 1; size <= sizeof text; size += 5) {
                check_string(bytes_of(text, size));
            }
        }
    }
    uint32_t random = 1;
    for (unsigned n = 0; n < 20000; n++) {
        for (size_t i = 1; i < sizeof text; i++) {
            random = random * 1664525 + 1013904223;
            text[i] = (uint8_t)bytes[(random >> 16) % KINDS];
        }
        check_string(bytes_of(text, 1 + n % sizeof text));
    }
}

static void check_unescape(const char *raw, const char *expected) {
    AUTO_EXACT struct reel_bytes text = exact_copy(bytes_text(raw));
    uint8_t *out = malloc(text.size + 1); /* with one byte more for the end of the result */
    size_t size = 0;
    if (json_unescape(text, out, &size) != (expected != NULL)) {
        fail_msg("%s", raw);
    }
    if (expected) {
        assert_true(size <= text.size);
        out[size] = '\0';
        assert_string_equal((const char *)out, expected);
    }
    free(out);
}

static void escapes_become_their_characters(void **state) {
    (void)state;
    check_unescape("", "");
    check_unescape("no escape at all, and longer than eight bytes", "no escape at all, and longer than eight bytes");
    check_unescape("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
    check_unescape("123456\\n", "123456\n");
    check_unescape("1234567\\n12345678\\n", "1234567\n12345678\n");
    check_unescape("\\u0041\\u00e9\\u20AC\\uD83d\\uDe00!", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80!");
    check_unescape("\\ud83d", "\xed\xa0\xbd"); /* half a character */
    check_unescape("\\ud83d\\n", "\xed\xa0\xbd\n");
    check_unescape("\\ud83d\\u0041", "\xed\xa0\xbd"
                                     "A");
    check_unescape("\\ud83d\\ud83d\\ude00", "\xed\xa0\xbd\xf0\x9f\x98\x80");
    check_unescape("\\ude00", "\xed\xb8\x80");
    static const char *const bad[] = {"\\",      "abcdefg\\", "\\q",       "\\u",         "\\u00e",
                                      "\\u00g1", "\\u-001",   "\\ud83d\\", "\\ud83d\\u1", "\\U0041"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        check_unescape(bad[i], NULL);
    }
}

/* ---- members and elements */

/* "key=value;" of each member, or "value;" of each element, then "!" if the text is none. */
static const char *items(const char *json, bool object) {
    static char out[256];
    size_t used = 0;
    AUTO_EXACT struct reel_bytes text = exact_copy(bytes_text(json));
    struct json_items s = object ? json_items_of(text, '{', '}') : json_items_of(text, '[', ']');
    struct reel_bytes key = {0}, value;
    while (object ? json_next_member(&s, &key, &value) : json_next(&s, &value)) {
        assert_true(value.data >= text.data && value.data + value.size <= text.data + text.size);
        used += (size_t)snprintf(out + used, sizeof out - used, "%.*s%s%.*s;", (int)key.size, (const char *)key.data,
                                 object ? "=" : "", (int)value.size, (const char *)value.data);
    }
    snprintf(out + used, sizeof out - used, "%s", json_items_end(&s) ? "" : "!");
    return out;
}

static void members_are_found(void **state) {
    (void)state;
    assert_string_equal(items(" {\"a\" : 1 ,\"b\":\"x,}\\\"\",\n\"c\":[1,{\"d\":[]}] , \"\":{}}\r\n", true),
                        "a=1;b=\"x,}\\\"\";c=[1,{\"d\":[]}];={};");
    assert_string_equal(items("{}", true), "");
    assert_string_equal(items(" [ 1,[2 , 3], \"]\" ,{\"a\":1}]", false), "1;[2 , 3];\"]\";{\"a\":1};");
    assert_string_equal(items("[]", false), "");
    assert_string_equal(items("[NaN,-1e5]", false), "NaN;-1e5;");
}

static void what_is_no_object_fails(void **state) {
    (void)state;
    static const char *const none[] = {
        "",       " ",         "[",         "{",           "{\"",      "{\"\\",      "{\"a",       "{\"a\\",
        "{\"a\"", "{\"a\":",   "{\"a\":\"", "{\"a\":\"\\", "{\"a\":[", "{\"a\":[\"", "{\"a\":}",   "{a:1}",
        "{,}",    "{\"a\",1}", "{}x",       "{:1}",        "{\"a\":,", "{\"a\" \"b", "{\"a\":\"b", "{\"a\":{\"b\\"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (strcmp(items(none[i], true), "!") != 0) {
            fail_msg("%s gives %s", none[i], items(none[i], true));
        }
    }
    assert_string_equal(items("{\"a\":1,}", true), "a=1;!");
    assert_string_equal(items("{\"a\":1,\"b\"}", true), "a=1;!");
    assert_string_equal(items("{\"a\":1 2}", true), "!");
    assert_string_equal(items("[1,2,]", false), "1;2;!");
    assert_string_equal(items("[1,,2]", false), "1;!");
    assert_string_equal(items("[1}", false), "!");
    assert_string_equal(items("[\"a\"1]", false), "!");
    assert_string_equal(items("[\"a\\", false), "!");
}

/* Depth is counted, not followed. */
static void nesting_has_no_cost(void **state) {
    (void)state;
    enum { DEEP = 1000000 };
    char *text = malloc(2 * DEEP + 1);
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    text[2 * DEEP] = '\0';
    struct json_items s = json_items_of(bytes_of(text, 2 * DEEP), '[', ']');
    struct reel_bytes value = {0};
    assert_true(json_next(&s, &value));
    assert_int_equal(value.size, 2 * DEEP - 2);
    assert_false(json_next(&s, &value));
    assert_true(json_items_end(&s));
    s = json_items_of(bytes_of(text, 2 * DEEP - 1), '[', ']');
    assert_false(json_next(&s, &value));
    assert_false(json_items_end(&s));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_end_at_their_quote), cmocka_unit_test(escapes_become_their_characters),
        cmocka_unit_test(members_are_found),          cmocka_unit_test(what_is_no_object_fails),
        cmocka_unit_test(nesting_has_no_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
