/* decode/condition.h: what conditions say, how they are joined, and what is none. */
#include "decode/condition.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "reel/open.h"
#include "stream/stream.h"

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

/* ---- values */

static struct reel_error err;

struct given {
    const char *field;
    uint64_t bits; /* of a number; of a time: nanoseconds */
    struct reel_bytes text;
};
#define NATURAL_OF(v) ((struct given){.field = "n", .bits = (v)})
#define INTEGER_OF(v) ((struct given){.field = "i", .bits = (uint64_t)(v)})
#define REAL_OF(v) ((struct given){.field = "r", .bits = f64_bits(v)})
#define TIME_OF(v) ((struct given){.field = "t", .bits = (uint64_t)(v)})
#define TEXT_OF(v) ((struct given){.field = "s", .text = (v)})

/* A payload of ROS that has the value. */
static void put_payload(struct given g, struct grow *out) {
    bool is_time = g.field[0] == 't';
    grow_u64(out, g.field[0] == 'n' ? g.bits : 0);
    grow_u64(out, g.field[0] == 'i' ? g.bits : 0);
    grow_u64(out, g.field[0] == 'r' ? g.bits : 0);
    grow_u32(out, is_time ? (uint32_t)(g.bits / 1000000000) : 0);
    grow_u32(out, is_time ? (uint32_t)(g.bits % 1000000000) : 0);
    grow_u32(out, (uint32_t)g.text.size);
    grow_put(out, g.text.data, g.text.size);
}

/* The condition is about the value's field: its text is the operator and what follows. */
static bool holds(const char *operator, struct given g) {
    const struct reel_schema schema = {.name = "t/T",
                                       .encoding = "ros1msg",
                                       .hash = "",
                                       .data = bytes_text("uint64 n\nint64 i\nfloat64 r\ntime t\nstring s\n")};
    const struct reel_channel channel = {
        .name = "/a", .type = "t/T", .encoding = "ros1", .schemas = &schema, .n_schemas = 1};
    char text[700];
    snprintf(text, sizeof text, "/a.%s%s", g.field, operator);
    struct conditions c = parse(text);
    struct condition_reader reader = {.decoder = reel_decoder_open(&channel, &err)};
    struct value values[CONDITIONS_MAX];
    enum truth each[CONDITIONS_MAX] = {TRUTH_NONE};
    struct grow payload = {0};
    put_payload(g, &payload);
    assert_true(reader.decoder && condition_reader_add(&reader, 0, g.field, &err));
    assert_true(condition_reader_read(&reader, &c, &(struct reel_bytes){payload.data, payload.size}, values, NULL));
    condition_reader_truths(&reader, &c, values, each);
    condition_reader_done(&reader);
    conditions_done(&c);
    free(payload.data);
    return each[0] == TRUTH_YES;
}

/* Of the value's order to the condition's: what each operator says. */
static void compares(const char *than, struct given g, int order) {
    static const struct {
        const char *sign;
        bool less, same, more;
    } operators[] = {{"=", false, true, false}, {"!=", true, false, true}, {"<", true, false, false},
                     {">", false, false, true}, {"<=", true, true, false}, {">=", false, true, true}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s", operators[i].sign, than);
        bool expected = order < 0 ? operators[i].less : order > 0 ? operators[i].more : operators[i].same;
        if (holds(text, g) != expected) {
            fail_msg("%s%s is %s", g.field, text, expected ? "false" : "true");
        }
    }
}

static void integers_are_compared_exactly(void **state) {
    (void)state;
    compares("9007199254740992", NATURAL_OF(9007199254740992), 0);
    compares("9007199254740992", NATURAL_OF(9007199254740993), 1);
    compares("9007199254740993", NATURAL_OF(9007199254740992), -1);
    compares("18446744073709551615", NATURAL_OF(UINT64_MAX), 0);
    compares("18446744073709551614", NATURAL_OF(UINT64_MAX), 1);
    compares("18446744073709551616", NATURAL_OF(UINT64_MAX), -1); /* a double */
    compares("-9223372036854775808", INTEGER_OF(INT64_MIN), 0);
    compares("-9223372036854775807", INTEGER_OF(INT64_MIN), -1);
    compares("9223372036854775807", INTEGER_OF(INT64_MAX), 0);
    compares("+7", INTEGER_OF(7), 0);
    compares(" 9007199254740993", NATURAL_OF(9007199254740993), 0);
    compares("true", NATURAL_OF(1), 0);
}

static void integers_and_reals_are_compared(void **state) {
    (void)state;
    compares("2.5", INTEGER_OF(2), -1);
    compares("2.5", INTEGER_OF(3), 1);
    compares("-2.5", INTEGER_OF(-2), 1);
    compares("-2.5", INTEGER_OF(-3), -1);
    compares("1e3", INTEGER_OF(1000), 0);
    compares("0x10", INTEGER_OF(16), 0);
    compares("9007199254740993.5", NATURAL_OF(9007199254740993), -1); /* the double is …994 */
    compares("1e300", NATURAL_OF(UINT64_MAX), -1);
    compares("-1e300", INTEGER_OF(INT64_MIN), 1);
    compares("inf", INTEGER_OF(INT64_MAX), -1);
    compares("-inf", INTEGER_OF(INT64_MIN), 1);
    compares("2", REAL_OF(2.5), 1);
    compares("3", REAL_OF(2.5), -1);
    compares("9007199254740992", REAL_OF(0x1p53), 0);
    compares("0", REAL_OF(-0.0), 0);
    compares("1", REAL_OF(INFINITY), 1);
    assert_true(holds("!=nan", INTEGER_OF(1)) && !holds("=nan", INTEGER_OF(1)));
    assert_true(holds("!=1", REAL_OF(NAN)) && !holds("<1", REAL_OF(NAN)));
}

static void times_are_compared_exactly(void **state) {
    (void)state;
    const int64_t t = 1718100000123456789;
    compares("2024-06-11T10:00:00.123456789Z", TIME_OF(t), 0);
    compares("2024-06-11T10:00:00.123456788Z", TIME_OF(t), 1);
    compares("2024-06-11T10:00:00.123456790Z", TIME_OF(t), -1);
    compares("1718100000123456789", TIME_OF(t), 0);
    compares("1718100000123456788", TIME_OF(t), 1);
}

static void texts_are_compared_in_full(void **state) {
    (void)state;
    char long_text[400], other[401];
    memset(long_text, 'x', sizeof long_text);
    memset(other, 'x', sizeof other);
    long_text[sizeof long_text - 1] = '\0';
    other[399] = '\0';
    compares(other, TEXT_OF(bytes_text(long_text)), 0);
    compares(other, TEXT_OF(bytes_of(long_text, 398)), -1);
    other[398] = 'y';
    compares(other, TEXT_OF(bytes_text(long_text)), -1);
    other[398] = 'a';
    compares(other, TEXT_OF(bytes_text(long_text)), 1);
    other[300] = '\0';
    compares(other, TEXT_OF(bytes_text(long_text)), 1);
    compares("abc", TEXT_OF(bytes_text("abd")), 1);
    compares("abc", TEXT_OF(bytes_text("ab")), -1);
    compares("abc", TEXT_OF(bytes_text("")), -1);
    compares("a", TEXT_OF(bytes_text("\xc3\xa9")), 1);
}

/* ---- statistics */

static enum truth truth_of(const char *condition, double min, double max) {
    struct conditions c = parse(condition);
    enum truth truth = condition_truth(&c.items[0], &(struct value_range){.min = min, .max = max, .numbers = 2});
    conditions_done(&c);
    return truth;
}

/* For every integer that rounds into a range, its truth is the range's or the range does not know. */
static void statistics_rule_nothing_out(void **state) {
    (void)state;
    static const char *const operators[] = {"=", "!=", "<", ">", "<=", ">="};
    static const uint64_t bases[] = {100, 9007199254740992, 1718100000123456789, UINT64_MAX - 5000};
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
        for (int64_t than = -600; than <= 600; than += 75) {
            for (int64_t v = -600; v <= 600; v += 43) {
                for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
                    char text[64];
                    int64_t base = b == 0 ? 1000 : 0;
                    uint64_t value = bases[b] + (uint64_t)(v + base);
                    snprintf(text, sizeof text, "/a%s%llu", operators[i],
                             (unsigned long long)(bases[b] + (uint64_t)(than + base)));
                    enum truth truth = truth_of(text, (double)value, (double)value);
                    bool yes = holds(text + 2, NATURAL_OF(value));
                    if (truth != TRUTH_MAYBE && (truth == TRUTH_YES) != yes) {
                        fail_msg("%s for %llu", text, (unsigned long long)value);
                    }
                }
            }
        }
    }
    assert_int_equal(truth_of("/a=5", 1, 4), TRUTH_NO);
    assert_int_equal(truth_of("/a=4", 1, 4), TRUTH_MAYBE);
    assert_int_equal(truth_of("/a=4", 4, 4), TRUTH_YES);
    assert_int_equal(truth_of("/a<5", 1, 4), TRUTH_YES);
    assert_int_equal(truth_of("/a!=2", 1, 4), TRUTH_MAYBE);
    assert_int_equal(truth_of("/a>1.5", 1, 4), TRUTH_MAYBE);
    assert_int_equal(truth_of("/a>=9007199254740992", 0x1p54, 0x1p54), TRUTH_YES);
    assert_int_equal(truth_of("/a=9007199254740993", 0x1p53, 0x1p53), TRUTH_MAYBE);
    assert_int_equal(truth_of("/a=nan", 0x1p53, DBL_MAX), TRUTH_NO);
}

/* ---- a recording */

static unsigned found(struct reel_recording *recording, const char *condition) {
    struct reel_selection q = selection_all;
    struct reel_message m;
    unsigned n = 0;
    q.where = &condition;
    q.n_where = 1;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &q, &err);
    assert_non_null(stream);
    while (stream_next(stream, &m, &err) == REEL_STEP_MESSAGE) {
        n++;
    }
    return n;
}

static void messages_are_selected(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/ids.ndjson";
    char long_text[301], condition[340];
    memset(long_text, 'x', sizeof long_text);
    long_text[300] = '\0';
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 4; i++) {
        fprintf(f,
                "{\"topic\":\"/a\",\"log_time\":%d,\"data\":{\"id\":900719925474099%d,\"name\":\"%s%d\",\"v\":2.%d}}\n",
                i + 1, i, long_text, i, i);
    }
    assert_int_equal(fclose(f), 0);
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(path, NULL, &err);
    assert_non_null(recording);
    assert_int_equal(found(recording, "/a.id=9007199254740992"), 1);
    assert_int_equal(found(recording, "/a.id>9007199254740992"), 1);
    assert_int_equal(found(recording, "/a.v<2.2"), 2);
    snprintf(condition, sizeof condition, "/a.name=%s2", long_text);
    assert_int_equal(found(recording, condition), 1);
    snprintf(condition, sizeof condition, "/a.name>%s1", long_text);
    assert_int_equal(found(recording, condition), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_condition),
        cmocka_unit_test(conditions_are_joined),
        cmocka_unit_test(what_is_no_condition_is_refused),
        cmocka_unit_test(integers_are_compared_exactly),
        cmocka_unit_test(integers_and_reals_are_compared),
        cmocka_unit_test(times_are_compared_exactly),
        cmocka_unit_test(texts_are_compared_in_full),
        cmocka_unit_test(statistics_rule_nothing_out),
        cmocka_unit_test(messages_are_selected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
