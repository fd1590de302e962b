/* http/json_text.h: as jansson writes it, but for reals, which are as short as they can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http/json_text.h"

static void writes(const char *json, const char *wanted) {
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
    char *text = json_text(value);
    assert_string_equal(text, wanted);
    free(text);
    json_decref(value);
}

static void reals_are_short(void **state) {
    (void)state;
    writes("[0.40177299999999999, 0.1, 1e300, -2.5, 3.0, 0.30000000000000004, 5e-324]",
           "[0.401773,0.1,1e+300,-2.5,3,0.30000000000000004,5e-324]");
    writes("0.40177299999999999", "0.401773");
}

/* All but reals is what jansson makes of it, in one line and indented. */
static void the_rest_is_as_jansson_has_it(void **state) {
    (void)state;
    static const char *const all[] = {
        "{}", "[]", "null", "{\"b\": [1, {\"x\": []}, {}], \"a\\n\\u00e9\": {\"c\": null, \"d\": true, \"e\": false}}",
        "[[], [[-9223372036854775808]], \"\\\"\\\\\\u0001\\u007f/\"]"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_t *value = json_loads(all[i], JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(value);
        char *wanted = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY), *text = json_text(value), *printed = NULL;
        assert_string_equal(text, wanted);
        free(wanted);
        free(text);
        size_t size;
        FILE *f = open_memstream(&printed, &size);
        assert_true(json_text_print(value, 2, f));
        fclose(f);
        wanted = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY);
        assert_string_equal(printed, wanted);
        free(wanted);
        free(printed);
        json_decref(value);
    }
    assert_null(json_text(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals_are_short),
        cmocka_unit_test(the_rest_is_as_jansson_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
