/* reel_glob_match: against a plain recursive matcher, on characters beyond ASCII, and in bounded time. */
#include "base/glob.h"
#include "stream/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void globs_as_users_write_them(void **state) {
    (void)state;
    static const struct {
        const char *glob, *text;
        bool match;
    } cases[] = {
        {"/scan", "/scan", true},
        {"/scan", "/scan2", false},
        {"/scan", "/sca", false},
        {"*", "", true},
        {"*", "/a/b", true},
        {"", "", true},
        {"", "a", false},
        {"?", "", false},
        {"/cam*/info", "/camera/left/info", true},
        {"/cam*/info", "/camera", false},
        {"*/image_raw", "/l/image_raw", true},
        {"/cam?", "/cam1", true},
        {"/cam?", "/cam", false},
        {"/cam?", "/cam12", false},
        {"a*b*c", "a1b2b3c", true},
        {"a*b*c", "a1b2b3", false},
        {"**a**", "xxaxx", true},
        {"*?", "", false},
        {"*?", "x", true},
        {"?\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac", true},
        {"?", "\xf0\x9f\xa4\x96", true},
        {"??", "\xf0\x9f\xa4\x96", false},
        {"*?", "\xc3\xa4", true},
        {"*\xa4", "\xc3\xa4", false},
        {"[a]", "a", false},
        {"[a]", "[a]", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (reel_glob_match(cases[i].glob, cases[i].text) != cases[i].match) {
            fail_msg("'%s' on '%s' is not %d", cases[i].glob, cases[i].text, cases[i].match);
        }
    }
}

static bool plain_match(const char *glob, const char *text) {
    if (*glob == '\0') {
        return *text == '\0';
    }
    if (*glob == '*') {
        return plain_match(glob + 1, text) || (*text != '\0' && plain_match(glob, text + 1));
    }
    return *text != '\0' && (*glob == '?' || *glob == *text) && plain_match(glob + 1, text + 1);
}

/* Writes the n-th word over the letters; false when there are no more of at most `max`. */
static bool word(unsigned n, const char *letters, size_t max, char *out) {
    size_t base = strlen(letters);
    size_t size = 0;
    for (; n > 0 && size <= max; n = (n - 1) / (unsigned)base) {
        out[size++] = letters[(n - 1) % base];
    }
    out[size] = '\0';
    return size <= max;
}

static void every_short_glob_agrees_with_a_plain_matcher(void **state) {
    (void)state;
    char glob[8];
    char text[8];
    for (unsigned g = 0; word(g, "ab*?", 5, glob); g++) {
        for (unsigned t = 0; word(t, "ab", 5, text); t++) {
            if (reel_glob_match(glob, text) != plain_match(glob, text)) {
                fail_msg("'%s' on '%s'", glob, text);
            }
        }
    }
}

static void hostile_globs_end(void **state) {
    (void)state;
    static char glob[60001];
    static char text[60001];
    memset(text, 'a', sizeof text - 1);
    for (size_t i = 0; i + 1 < sizeof glob; i++) {
        glob[i] = i % 2 == 0 ? '*' : 'a';
    }
    glob[sizeof glob - 2] = 'b';
    clock_t start = clock();
    assert_false(reel_glob_match(glob, text));
    memset(glob, 'a', sizeof glob - 1); /* one star, then half the text and a letter that is not there */
    glob[0] = '*';
    glob[30000] = 'b';
    glob[30001] = '\0';
    assert_false(reel_glob_match(glob, text));
    assert_true(clock() - start < CLOCKS_PER_SEC);
}

static void a_leading_slash_of_topics_does_not_count(void **state) {
    (void)state;
    assert_true(reel_topic_match("/scan", "scan"));
    assert_true(reel_topic_match("scan", "/scan"));
    assert_true(reel_topic_match("/s*", "scan"));
    assert_true(reel_topic_match("/a/*", "/a/b"));
    assert_false(reel_topic_match("/scan", "/base/scan"));
    assert_false(reel_topic_match("//scan", "/scan"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_as_users_write_them),
        cmocka_unit_test(every_short_glob_agrees_with_a_plain_matcher),
        cmocka_unit_test(hostile_globs_end),
        cmocka_unit_test(a_leading_slash_of_topics_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
