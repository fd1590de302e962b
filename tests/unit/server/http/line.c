/* Lines of the log: whatever a value holds, a line stays one line, and a JSON line an object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "http/line.h"

enum { LINE = 4096 };

static const char nasty[] = "a \"b\" \\ c=d\r\ne\t\x1b[31m\x7f é \xe2\x82\xac";

static void plain_values_stand_as_they_are(void **state) {
    (void)state;
    char line[LINE];
    const struct line_field fields[] = {{.key = "a", .text = "x"},
                                        {.key = "none", .text = ""},
                                        {.key = "n", .number = -7},
                                        {.key = "q", .text = "two words"}};
    line_write(false, fields, 4, line, sizeof line);
    assert_string_equal(line, "a=x n=-7 q=\"two words\"");
    line_write(true, fields, 4, line, sizeof line);
    assert_string_equal(line, "{\"a\":\"x\",\"n\":-7,\"q\":\"two words\"}");
    line_write(true, fields, 0, line, sizeof line);
    assert_string_equal(line, "{}");
}

static void nothing_ends_a_line(void **state) {
    (void)state;
    char line[LINE];
    const struct line_field fields[] = {{.key = "a", .text = nasty}, {.key = "b", .text = "end"}};
    line_write(false, fields, 2, line, sizeof line);
    for (const unsigned char *c = (const unsigned char *)line; *c; c++) {
        assert_true(*c >= ' ' && *c != 0x7f);
    }
    assert_non_null(strstr(line, "\" b=end"));
    line_write(true, fields, 2, line, sizeof line);
    json_t *o = json_loads(line, 0, NULL);
    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "a")), nasty);
    json_decref(o);
}

static void long_values_are_cut_and_lines_bounded(void **state) {
    (void)state;
    char line[LINE], text[3 * LINE];
    for (size_t at = 0; at + 3 < sizeof text; at += 3) {
        memcpy(text + at, "\xe2\x82\xac", 4);
    }
    const struct line_field fields[] = {
        {.key = "a", .text = text}, {.key = "b", .text = text}, {.key = "c", .text = text}, {.key = "d", .number = 1}};
    for (int json = 0; json < 2; json++) {
        line_write(json, fields, 4, line, sizeof line);
        assert_true(strlen(line) < sizeof line);
        assert_non_null(strstr(line, json ? "\"d\":1}" : " d=1"));
    }
    json_t *o = json_loads(line, 0, NULL); /* cut between characters */
    assert_non_null(o);
    json_decref(o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_values_stand_as_they_are),
        cmocka_unit_test(nothing_ends_a_line),
        cmocka_unit_test(long_values_are_cut_and_lines_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
