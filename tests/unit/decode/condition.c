/* decode/condition.h: what conditions say, how they are joined, and what is none. */
#include "decode/condition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct conditions parse(const char *text) {
    struct conditions c;
    struct reel_error err = {0};
    if (!conditions_parse(&text, 1, &c, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    return c;
}

static void parts_of_a_condition(void **state) {
    (void)state;
    static const struct {
        const char *text, *field, *value;
        enum comparison comparison;
    } known[] = {
        {"/a.b>1", "/a.b", "1", IS_MORE},
        {" /a.b >= 1.5 ", "/a.b", "1.5", IS_AT_LEAST},
        {"/a.b<\t-2", "/a.b", "-2", IS_LESS},
        {"/a.b<=1", "/a.b", "1", IS_AT_MOST},
        {"/a.b=1", "/a.b", "1", IS_EQUAL},
        {"/a.b==1", "/a.b", "1", IS_EQUAL},
        {"/a.b!=auto run", "/a.b", "auto run", IS_NOT_EQUAL},
        {"/a.b=\"this and (that)\"", "/a.b", "this and (that)", IS_EQUAL},
        {"/a.b=\"\"", "/a.b", "", IS_EQUAL},
        {"((/a.b=x))", "/a.b", "x", IS_EQUAL},
        {"/a.b=android", "/a.b", "android", IS_EQUAL},
        {"/a.b=2024-06-11T10:00:00Z", "/a.b", "2024-06-11T10:00:00Z", IS_EQUAL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct conditions c = parse(known[i].text);
        assert_int_equal(c.n, 1);
        assert_string_equal(c.items[0].field, known[i].field);
        assert_string_equal(c.items[0].value, known[i].value);
        assert_int_equal(c.items[0].comparison, known[i].comparison);
        if (strcmp(known[i].value, "1.5") == 0) {
            assert_true(c.items[0].is_number && c.items[0].number == 1.5); /* also under a locale with commas */
        }
        conditions_done(&c);
    }
}

/* The whole for each truth of its conditions, given as letters: no, maybe, yes, - for those that are left out. */
static void check(const char *text, const char *each, char expected) {
    static const char letters[] = "nmy-"; /* as in enum truth */
    struct conditions c = parse(text);
    enum truth truths[CONDITIONS_MAX];
    assert_int_equal(c.n, strlen(each));
    for (uint32_t i = 0; i < c.n; i++) {
        truths[i] = (enum truth)(strchr(letters, each[i]) - letters);
    }
    if (letters[conditions_truth(&c, truths)] != expected) {
        fail_msg("%s with %s is not %c", text, each, expected);
    }
    conditions_done(&c);
}

static void conditions_are_joined(void **state) {
    (void)state;
    const char *both = "/a.x=1 and /b.x=1", *either = "/a.x=1 OR /b.x=1";
    static const char *const and[] = {"nnn", "nmn", "nyn", "mmm", "mym", "yyy", "-nn", "-mm", "-yy", "---"};
    static const char *const or [] = {"nnn", "nmm", "nyy", "mmm", "myy", "yyy", "-nn", "-mm", "-yy", "---"};
    for (size_t i = 0; i < sizeof and / sizeof *and; i++) {
        const char there[] = {and[i][0], and[i][1], '\0'}, back[] = {and[i][1], and[i][0], '\0'};
        check(both, there, and[i][2]);
        check(both, back, and[i][2]);
        check(either, there, or [i][2]);
        check(either, back, or [i][2]);
    }
    check("/a.x=1 or /b.x=1 and /c.x=1", "ynn", 'y'); /* "and" first */
    check("(/a.x=1 or /b.x=1) and /c.x=1", "ynn", 'n');
    check("(/a.x=1 or /b.x=1)and(/c.x=1 or /d.x=1)", "n-y-", 'n');
    check("(/a.x=1 or /b.x=1)and(/c.x=1 or /d.x=1)", "y--n", 'n');
    check("(/a.x=1 or /b.x=1)and(/c.x=1 or /d.x=1)", "y---", 'y');
    const char *const texts[] = {"/a.x=1 or /b.x=1", "/c.x=1", "/d.x=1"};
    struct conditions c;
    assert_true(conditions_parse(texts, 3, &c, NULL));
    assert_int_equal(conditions_truth(&c, (enum truth[CONDITIONS_MAX]){TRUTH_YES, TRUTH_NO, TRUTH_YES, TRUTH_YES}),
                     TRUTH_YES);
    assert_int_equal(conditions_truth(&c, (enum truth[CONDITIONS_MAX]){TRUTH_YES, TRUTH_YES, TRUTH_YES, TRUTH_NO}),
                     TRUTH_NO);
    conditions_done(&c);
}

static void refuse(const char *text, const char *why) {
    struct conditions c;
    struct reel_error err = {0};
    assert_false(conditions_parse(&text, 1, &c, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    if (!strstr(err.text, why)) {
        fail_msg("%s: %s", text, err.text);
    }
}

static void what_is_no_condition_is_refused(void **state) {
    (void)state;
    refuse("", "character 1: a condition, such as");
    refuse(">1", "character 1: a condition, such as");
    refuse("/a", "character 1: a condition, such as");
    refuse("/a!1", "character 1: a condition, such as");
    refuse("/a.v<", "a value behind the operator");
    refuse("/a.v<)", "a value behind the operator");
    refuse("/a.v=\"x", "a second \"");
    refuse("/a.v=\"x\" y", "character 10: \"and\", \"or\" or the end");
    refuse("/a.v<1)", "character 7: \"and\", \"or\" or the end");
    refuse("(/a.v<1", "character 8: \")\"");
    refuse("/a.v<1 and", "character 11: a condition, such as");
    refuse("/a.v<1 or or", "a condition, such as");
    char deep[100], many[17 * 12 + 1] = "/a.v<1";
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    refuse(deep, "more than 32 parentheses");
    for (unsigned i = 0; i < CONDITIONS_MAX - 1; i++) {
        strcat(many, " and /a.v<1");
    }
    struct conditions c = parse(many);
    assert_int_equal(c.n, CONDITIONS_MAX);
    conditions_done(&c);
    refuse(strcat(many, " or /a.v<1"), "at most 16 conditions");
    struct reel_error err = {0};
    assert_false(conditions_parse(NULL, 0, &c, &err));
    assert_non_null(strstr(err.text, "a condition is needed"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_condition),
        cmocka_unit_test(conditions_are_joined),
        cmocka_unit_test(what_is_no_condition_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
