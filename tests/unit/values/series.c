/* values/series.h and decode/fields.h: fields picked out of payloads, and their points over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "makers/toy_format.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "decode/fields.h"
#include "syntax/json_out.h"
#include "syntax/visitor.h"
#include "values/series.h"

/* ---- fields */

struct picked {
    struct grow text;
    struct json_out json;
    const struct field_set *set;
};
static struct reel_visitor *open_one(void *context, uint32_t column) {
    struct picked *p = context;
    grow_put(&p->text, field_set_name(p->set, column), strlen(field_set_name(p->set, column)));
    grow_put(&p->text, "=", 1);
    p->json = json_out_to(&p->text, 1 << 20);
    return &p->json.visitor;
}
static bool close_one(void *context, uint32_t column) {
    struct picked *p = context;
    (void)column;
    grow_put(&p->text, ";", 1);
    return true;
}

/* {"a":{"b":1,"c":[10,[20,21],{"d":2}]},"p":[0.5,1.5,2.5,3.5] as rows of 2,"a.x":7,"z":"text"} */
static bool report(struct reel_visitor *v) {
    static const float p[] = {0.5f, 1.5f, 2.5f, 3.5f};
    return visit_begin_map(v) && visit_key_text(v, "a") && visit_begin_map(v) && visit_key_text(v, "b") &&
           visit_integer(v, 1) && visit_key_text(v, "c") && visit_begin_list(v) && visit_natural(v, 10) &&
           visit_begin_list(v) && visit_natural(v, 20) && visit_natural(v, 21) && visit_end_list(v) &&
           visit_begin_map(v) && visit_key_text(v, "d") && visit_real(v, 2) && visit_end_map(v) && visit_end_list(v) &&
           visit_end_map(v) && visit_key_text(v, "p") && visit_numbers(v, REEL_F32, bytes_of(p, sizeof p), 2) &&
           visit_key_text(v, "a.x") && visit_boolean(v, true) && visit_key_text(v, "z") &&
           visit_text(v, bytes_text("text")) && visit_end_map(v);
}

static void check_fields(const char *expected, bool ended, const char *const *paths, uint32_t n) {
    struct reel_error err = {0};
    AUTO(field_set_free) struct field_set *set = field_set_new(paths, n, &err);
    assert_non_null(set);
    struct picked p = {.set = set};
    struct field_picker picker = {.set = set, .open = open_one, .close = close_one, .context = &p};
    field_picker_start(&picker);
    assert_int_equal(!report(&picker.visitor), ended);
    assert_int_equal(picker.done, ended);
    grow_put(&p.text, "", 1);
    assert_string_equal((char *)p.text.data, expected);
    free(p.text.data);
}
#define FIELDS(expected, ended, ...)                                                                                   \
    check_fields(expected, ended, (const char *const[]){__VA_ARGS__},                                                  \
                 sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

static void fields_are_found_by_path(void **state) {
    (void)state;
    FIELDS("a.b=1;", true, "a.b");
    FIELDS("a={\"b\":1,\"c\":[10,[20,21],{\"d\":2}]};", true, "a");
    FIELDS("a.c[0]=10;a.c.1.1=21;a.c[2].d=2;", true, "a.c[2].d", "a.c[0]", "a.c.1.1");
    FIELDS("a.c[1]=[20,21];", true, "a.c[1]");
    FIELDS("p=[[0.5,1.5],[2.5,3.5]];", true, "p");
    FIELDS("p[1][0]=2.5;z=\"text\";", true, "z", "p[1][0]");
    FIELDS("p[1]=[2.5,3.5];", true, "p[1]");
    FIELDS("a.x=true;", true, "a.x"); /* a key with a dot in it */
    FIELDS("a.b=1;", false, "a.b", "a.nothing", "q.r");
    FIELDS("", false, "b", "aa", "a.bb", "p[2]");
}

static void sets_refuse_what_is_no_path(void **state) {
    (void)state;
    struct reel_error err = {0};
    char path[FIELD_PATH_MAX + 10];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_null(field_set_new((const char *const[]){path}, 1, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    AUTO(field_set_free) struct field_set *set = field_set_new((const char *const[]){"a", "a[0]", "a.0", "a"}, 4, &err);
    assert_int_equal(field_set_count(set), 2);
}

/* ---- series */

static struct reel_recording *recording;

static struct reel_recording *make(struct toy *toy, size_t n, double (*value)(size_t i)) {
    struct reel_schema schema = {
        .name = "test/V", .encoding = "ros1msg", .hash = "", .data = bytes_text("int32 n\nfloat64 v\n")};
    toy_start(toy, REEL_CLOCK_WALL);
    toy_channel(toy, &(struct reel_channel){
                         .name = "/v", .type = "test/V", .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
    for (size_t i = 0; i < n; i++) {
        uint8_t payload[12] = {0};
        double v = value(i);
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        store_u32le(payload, (uint32_t)i);
        store_u64le(payload + 4, bits);
        toy_message(toy, 0, 1000 * (int64_t)i, (uint32_t)i, payload, sizeof payload);
    }
    return toy_open(toy);
}

static double wave(size_t i) {
    return i == 777 ? 100 : i == 5555 ? -100 : sin((double)i / 500);
}
static double with_nan(size_t i) {
    return i % 3 == 0 ? NAN : (double)i;
}

static void all_values_when_they_are_few(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_point points[100];
    recording = make(&toy, 30, with_nan);
    AUTO(reel_column_free)
    struct reel_column *c = reel_column_new(recording, "/v", "v", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    assert_non_null(c);
    assert_int_equal(reel_column_points(c, REEL_TIME_MIN, REEL_TIME_MAX, 100, REEL_MINMAX, points), 20); /* what is no
                                                                                                            number is
                                                                                                            left out */
    assert_true(points[0].time_ns == 1000 && points[0].value == 1 && points[19].value == 29);
    assert_int_equal(reel_column_points(c, 5000, 11000, 100, REEL_LTTB, points), 4); /* 5, 7, 8, 10 */
    assert_true(points[0].value == 5 && points[3].value == 10);
    assert_int_equal(reel_column_points(c, 99000, 100000, 100, REEL_MEAN, points), 0);
    assert_null(reel_column_new(recording, "/v", "w", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_null(reel_column_new(recording, "/w", "v", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    reel_recording_free(recording);
    toy_free(&toy);
}

/* Values that are all float32 are known as such: they print with fewer digits. */
static void float32_is_known(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_schema schema = {
        .name = "test/F", .encoding = "ros1msg", .hash = "", .data = bytes_text("float32 f\nint32 n\n")};
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){
                          .name = "/f", .type = "test/F", .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
    toy_message(&toy, 0, 1000, 1, "\x0a\xd7\xa3\x3c\1\0\0\0", 8); /* 0.02f */
    recording = toy_open(&toy);
    AUTO(reel_column_free)
    struct reel_column *f = reel_column_new(recording, "/f", "f", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    AUTO(reel_column_free)
    struct reel_column *n = reel_column_new(recording, "/f", "n", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    assert_true(f && reel_column_is_float32(f));
    assert_true(n && !reel_column_is_float32(n));
    struct reel_point point;
    char text[REEL_NUMBER_TEXT];
    assert_int_equal(reel_column_points(f, REEL_TIME_MIN, REEL_TIME_MAX, 2, REEL_MINMAX, &point), 1);
    reel_number_text32((float)point.value, text);
    assert_string_equal(text, "0.02");
    reel_recording_free(recording);
    toy_free(&toy);
}

/* Whatever is drawn: no more than asked for, in order of time, in the interval, and no peak is lost. */
static void check_wave(const struct reel_column *c, size_t n, int64_t start, int64_t end) {
    struct reel_point points[200];
    for (int how = REEL_MINMAX; how <= REEL_LAST; how++) {
        size_t count = reel_column_points(c, start, end, 200, (enum reel_aggregate)how, points);
        double low = INFINITY, high = -INFINITY;
        assert_true(count > 90 && count <= 200);
        for (size_t i = 0; i < count; i++) {
            assert_true(points[i].time_ns >= start && points[i].time_ns < end);
            assert_true(i == 0 || points[i].time_ns > points[i - 1].time_ns);
            low = fmin(low, points[i].value);
            high = fmax(high, points[i].value);
            assert_true(how == REEL_MEAN || points[i].value == wave((size_t)(points[i].time_ns / 1000)));
        }
        assert_true((how != REEL_MINMAX && how != REEL_LTTB) || start > 0 || end < (int64_t)n * 1000 ||
                    (low == -100 && high == 100));
        assert_true(how != REEL_MEAN || (low > -15 && high < 15));
    }
}

static void many_values_are_drawn_by_few_points(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    enum { N = 20000 };
    recording = make(&toy, N, wave);
    AUTO(reel_column_free)
    struct reel_column *c = reel_column_new(recording, "v", "v", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    assert_non_null(c);
    check_wave(c, N, 0, N * 1000);
    check_wave(c, N, 3000000, 9000000);
    reel_recording_free(recording);
    toy_free(&toy);
}

static void very_many_values_are_kept_in_runs(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    enum { N = 2 * REEL_COLUMN_EXACT + 1001 };
    recording = make(&toy, N, wave);
    AUTO(reel_column_free)
    struct reel_column *c = reel_column_new(recording, "/v", "v", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    assert_non_null(c);
    assert_true(reel_column_memory(c) <= 32 << 20);
    check_wave(c, N, 0, (int64_t)N * 1000);
    struct reel_point mean[2];
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        sum += i < N / 2 ? wave(i) : 0;
    }
    assert_int_equal(reel_column_points(c, REEL_TIME_MIN, REEL_TIME_MAX, 2, REEL_MEAN, mean), 2);
    assert_true(fabs(mean[0].value - sum / (N / 2)) < 1e-3);
    uint64_t count;
    assert_true(reel_series_count(recording, "/v", 1000, 5000, &count, &err));
    assert_int_equal(count, 4);
    reel_recording_free(recording);
    toy_free(&toy);
}

/* From the first instant there is to the last one: 2^64 ns. */
static void times_as_far_apart_as_can_be(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_schema schema = {.name = "test/V", .encoding = "ros1msg", .hash = "", .data = bytes_text("int32 v\n")};
    enum { N = REEL_COLUMN_EXACT + 2 };
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){
                          .name = "/v", .type = "test/V", .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
    for (int i = 0; i < N; i++) {
        uint8_t payload[4];
        store_u32le(payload, (uint32_t)i);
        toy_message(&toy, 0, i == 0 ? INT64_MIN : i == N - 1 ? INT64_MAX : i, (uint32_t)i, payload, sizeof payload);
    }
    recording = toy_open(&toy);
    AUTO(reel_column_free)
    struct reel_column *c = reel_column_new(recording, "/v", "v", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    assert_non_null(c);
    for (int how = REEL_MINMAX; how <= REEL_LAST; how++) {
        struct reel_point points[10];
        size_t n = reel_column_points(c, REEL_TIME_MIN, REEL_TIME_MAX, 10, (enum reel_aggregate)how, points);
        assert_in_range(n, 2, 10);
        for (size_t i = 1; i < n; i++) {
            assert_true(points[i].time_ns > points[i - 1].time_ns);
        }
    }
    reel_recording_free(recording);
    toy_free(&toy);
}

static double no_number(size_t i) {
    (void)i;
    return NAN;
}
/* A field that is there is no mistake, even if it says nothing. */
static void only_what_is_not_there_is_not_found(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_point points[10];
    recording = make(&toy, 30, no_number);
    AUTO(reel_column_free)
    struct reel_column *c = reel_column_new(recording, "/v", "v", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    assert_non_null(c);
    assert_int_equal(reel_column_points(c, REEL_TIME_MIN, REEL_TIME_MAX, 10, REEL_MINMAX, points), 0);
    assert_null(reel_column_new(recording, "/v", "w", 2000, 3000, NULL, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    reel_recording_free(recording);
    toy_free(&toy);
}

static double first_of(const char *path, enum reel_code expected, struct reel_error *err) {
    struct reel_point one;
    AUTO(reel_column_free)
    struct reel_column *c = reel_column_new(recording, "/t", path, REEL_TIME_MIN, REEL_TIME_MAX, NULL, err);
    assert_int_equal(c ? REEL_OK : err->code, expected);
    if (!c) {
        return 0;
    }
    assert_int_equal(reel_column_points(c, REEL_TIME_MIN, REEL_TIME_MAX, 1000, REEL_LAST, &one), 1);
    return one.value;
}

/* Not the last number in them. */
static void objects_and_lists_are_no_numbers(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_schema schema = {.name = "test/T",
                                 .encoding = "ros1msg",
                                 .hash = "",
                                 .data = bytes_text("time t\nduration d\nint32[2] l\nQ[] q\nP p\n=====\nMSG: test/P\n"
                                                    "duration d\nint32 x\nstring s\n=====\nMSG: test/Q\nint32 x\n")};
    uint8_t payload[16 + 8 + 8 + 16] = {0};
    store_u32le(payload, 1700000000);
    store_u32le(payload + 4, 250000000);
    store_u32le(payload + 8, (uint32_t)-2); /* -1.5 s */
    store_u32le(payload + 12, 500000000);
    store_u32le(payload + 24, 1);
    store_u32le(payload + 28, 77);
    store_u32le(payload + 40, 5); /* p.x */
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){
                          .name = "/t", .type = "test/T", .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
    toy_message(&toy, 0, 1, 1, payload, sizeof payload);
    recording = toy_open(&toy);
    assert_true(first_of("t", REEL_OK, &err) == 1700000000.25);
    assert_true(first_of("d", REEL_OK, &err) == -1.5);
    assert_true(first_of("d.nsec", REEL_OK, &err) == 5e8);
    assert_true(first_of("p.x", REEL_OK, &err) == 5);
    first_of("p", REEL_ARGUMENT, &err);
    assert_string_equal(err.text, "\"p\" of /t is an object, not a number; its numeric fields are: p.d, p.x");
    first_of("l", REEL_ARGUMENT, &err);
    assert_string_equal(err.text, "\"l\" of /t is a list, not a number; its first element is l[0]");
    first_of("q", REEL_ARGUMENT, &err);
    first_of("q[0]", REEL_ARGUMENT, &err);
    assert_true(first_of("q[0].x", REEL_OK, &err) == 77);
    reel_recording_free(recording);
    toy_free(&toy);
}

static double some_infinite(size_t i) {
    return i == 0 || i / 100 == 5 ? INFINITY : i % 100 == 50 ? NAN : i % 100 == 51 ? -INFINITY : i % 100 == 60 ? 3 : 1;
}
static double most(size_t i) {
    return i % 2 ? 1e308 : -1e308;
}
/* Means and triangles are those of the finite values. A bucket that has no others is infinite. */
static void infinite_values_do_not_spoil_the_others(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_point points[20];
    recording = make(&toy, 1000, some_infinite);
    AUTO(reel_column_free)
    struct reel_column *c = reel_column_new(recording, "/v", "v", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    assert_int_equal(reel_column_points(c, REEL_TIME_MIN, REEL_TIME_MAX, 10, REEL_MEAN, points), 10);
    for (size_t i = 0; i < 10; i++) {
        assert_true(i == 5 ? points[i].value == INFINITY : fabs(points[i].value - 1.02) < 0.001);
    }
    assert_int_equal(reel_column_points(c, REEL_TIME_MIN, REEL_TIME_MAX, 12, REEL_LTTB, points), 12);
    for (size_t i = 2, peaks = 0; i < 11; i++) { /* points[0], [11]: the first and the last value */
        peaks += points[i].value == 3;
        assert_true(points[i].value == 3 || points[i].value == 1 || points[i].time_ns / 100000 == 5);
        assert_true(i < 10 || peaks >= 2);
    }
    reel_recording_free(recording);
    toy_free(&toy);
    recording = make(&toy, 1000, most);
    AUTO(reel_column_free)
    struct reel_column *d = reel_column_new(recording, "/v", "v", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    assert_int_equal(reel_column_points(d, REEL_TIME_MIN, REEL_TIME_MAX, 12, REEL_LTTB, points), 12);
    reel_recording_free(recording);
    toy_free(&toy);
}

static bool count_field(void *context, const struct reel_field *field) {
    assert_true(strcmp(field->path, *(int *)context == 0 ? "n" : "v") == 0 && field->numeric);
    ++*(int *)context;
    return true;
}

static void a_field_is_a_topic_and_a_path(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    const char *topic, *path;
    recording = make(&toy, 3, wave);
    assert_true(reel_series_split(recording, "/v.a.b[1]", &topic, &path, &err));
    assert_string_equal(topic, "/v");
    assert_string_equal(path, "a.b[1]");
    assert_true(reel_series_split(recording, "v", &topic, &path, &err));
    assert_string_equal(path, "");
    assert_false(reel_series_split(recording, "/vv.a", &topic, &path, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    int fields = 0;
    assert_true(reel_topic_fields(recording, "/v", count_field, &fields, &err));
    assert_int_equal(fields, 2);
    reel_recording_free(recording);
    toy_free(&toy);
}

static bool note_field(void *context, const struct reel_field *field) {
    snprintf((char *)context + strlen(context), 64, "%s ", field->path);
    return true;
}

/* Without a schema the first message has the fields: of a topic's second channel, however many messages come before. */
static void each_channel_of_a_topic_has_its_fields(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    char fields[256] = "";
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){.name = "/j", .type = "one", .encoding = "json"});
    toy_channel(&toy, &(struct reel_channel){.name = "/j", .type = "two", .encoding = "json"});
    enum { N = 1500 };
    for (uint32_t i = 0; i <= N; i++) {
        const char *text = i < N ? "{\"a\":1}" : "{\"b\":{\"c\":2}}";
        toy_message(&toy, i < N ? 0 : 1, 1000 * (int64_t)i, i, text, strlen(text));
    }
    recording = toy_open(&toy);
    assert_true(reel_topic_fields(recording, "/j", note_field, fields, &err));
    assert_string_equal(fields, "a b.c ");
    reel_recording_free(recording);
    toy_free(&toy);
}

/* v is 0, 1, 2 … at 0, 1000, 2000 … */
static double rising(size_t i) {
    return (double)i;
}
static void check_last(const char *const *where, int64_t start_ns, int64_t end_ns, int64_t at_ns, int64_t expected) {
    struct reel_error err = {0};
    struct reel_message m;
    AUTO(reel_stream_free) struct reel_stream *stream = NULL;
    struct reel_selection q = selection_all;
    q.where = where;
    q.n_where = where ? 1 : 0;
    q.start_ns = start_ns;
    q.end_ns = end_ns;
    bool found = reel_message_at_time(recording, &q, at_ns, &stream, &m, &err);
    assert_int_equal(found, expected >= 0);
    if (found) {
        assert_int_equal(m.time_ns, expected);
    } else {
        assert_int_equal(err.code, REEL_NOT_FOUND);
    }
}
static void the_last_message_before_a_time_is_one_of_the_selection(void **state) {
    (void)state;
    struct toy toy = {0};
    const char *const low[] = {"/v.v<3"}, *const none[] = {"/v.v<0"}, *const other[] = {"/v.v>=2000"};
    recording = make(&toy, 3000, rising);
    check_last(NULL, REEL_TIME_MIN, REEL_TIME_MAX, 1499500, 1499000);
    check_last(low, REEL_TIME_MIN, REEL_TIME_MAX, 1499500, 2000);
    check_last(low, 1000, 2000, 1499500, 1000);
    check_last(low, 3000, REEL_TIME_MAX, 1499500, -1);
    check_last(none, REEL_TIME_MIN, REEL_TIME_MAX, 1499500, -1);
    check_last(other, REEL_TIME_MIN, REEL_TIME_MAX, 1499500, -1);
    check_last(NULL, 5000, 9000, 1499500, 8000);
    check_last(NULL, 5000, 9000, 4999, -1);
    check_last(NULL, REEL_TIME_MIN, 9000, INT64_MAX, 8000);
    reel_recording_free(recording);
    toy_free(&toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_found_by_path),
        cmocka_unit_test(sets_refuse_what_is_no_path),
        cmocka_unit_test(all_values_when_they_are_few),
        cmocka_unit_test(float32_is_known),
        cmocka_unit_test(many_values_are_drawn_by_few_points),
        cmocka_unit_test(very_many_values_are_kept_in_runs),
        cmocka_unit_test(times_as_far_apart_as_can_be),
        cmocka_unit_test(only_what_is_not_there_is_not_found),
        cmocka_unit_test(objects_and_lists_are_no_numbers),
        cmocka_unit_test(infinite_values_do_not_spoil_the_others),
        cmocka_unit_test(a_field_is_a_topic_and_a_path),
        cmocka_unit_test(each_channel_of_a_topic_has_its_fields),
        cmocka_unit_test(the_last_message_before_a_time_is_one_of_the_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
