/* reel/values.h: answers from statistics are those of a plain walk through all messages; damaged statistics are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "makers/toy_format.h"

#include "base/cleanup.h"
#include "index/pack.h"
#include "reel/values.h"
#include "values/statistics.h"

enum { MESSAGES = 9000, TOPICS = 2, CONDITIONS = 8 };
struct sample {
    int64_t time_ns;
    unsigned topic;
    int32_t n;
    double v;
    bool b, has;
};
static struct sample samples[MESSAGES];
static struct reel_recording *recording;
static unsigned opened;

static struct reel_recording *open_recording(void *context, struct reel_error *err) {
    (void)context, (void)err;
    opened++;
    return reel_recording_ref(recording);
}

/* Two channels; runs of equal values beside noise, so that blocks are wholly in, wholly out and mixed. */
static void make(struct toy *toy) {
    struct reel_schema schema = {.name = "test/V",
                                 .encoding = "ros1msg",
                                 .hash = "",
                                 .data = bytes_text("int32 n\nfloat64 v\nbool b\nfloat64[] list\ntime at\n")};
    unsigned seed = 1;
    toy_start(toy, REEL_CLOCK_WALL);
    toy_channel(toy, &(struct reel_channel){
                         .name = "/a", .type = "test/V", .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
    toy_channel(toy, &(struct reel_channel){
                         .name = "/b.c", .type = "test/V", .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
    for (int i = 0; i < MESSAGES; i++) {
        struct sample *s = &samples[i];
        seed = seed * 1103515245 + 12345;
        unsigned noise = seed >> 16;
        *s = (struct sample){
            .time_ns = 1000 * (int64_t)(i / 3), .topic = noise % 7 == 0, .n = i / 3000, .has = noise % 1500 != 0};
        s->v = i / 2500 == 1 ? (double)(noise % 100) : i / 2500 == 2 && noise % 400 == 0 ? NAN : 5;
        s->b = i > 4000 && i < 7500;
        uint8_t payload[25] = {0};
        uint64_t bits;
        memcpy(&bits, &s->v, sizeof bits);
        store_u32le(payload, (uint32_t)s->n);
        store_u64le(payload + 4, bits);
        payload[12] = s->b;
        store_u32le(payload + 17, (uint32_t)i);
        toy_message(toy, s->topic, s->time_ns, (uint32_t)i, payload, s->has ? sizeof payload : 4); /* of a damaged one
                                                                                                      nothing is decoded
                                                                                                    */
    }
}

static bool plain(const char *text, const struct sample *s) {
    size_t at = strcspn(text, "<>=!"), size = strspn(text + at, "<>=!");
    double value = strtod(text + at + size, NULL);
    char name = text[at - 1], op[3] = {text[at]};
    if (name == 'x' || !s->has) {
        return false;
    }
    double v = name == 'n' ? s->n : name == 'b' ? s->b : s->v;
    return op[0] == '<'   ? (size == 2 ? v <= value : v < value)
           : op[0] == '>' ? (size == 2 ? v >= value : v > value)
           : op[0] == '!' ? v != value
                          : v == value;
}

struct expected {
    uint64_t total, count;
    int64_t first_ns, last_ns, held_ns;
};

/* `join`: 'a', 'o', or 0 for the first condition alone. */
static struct expected walk_plainly(const char *one, const char *two, char join, int64_t for_ns) {
    struct expected x = {0};
    int64_t last[TOPICS] = {0}, start = 0;
    uint64_t count = 0;
    bool state[2] = {false, false}, open = false;
    unsigned topics[2] = {one[1] == 'b', two[1] == 'b'};
    for (int i = 0; i < MESSAGES; i++) {
        last[samples[i].topic] = samples[i].time_ns;
    }
    for (int i = 0; i <= MESSAGES; i++) {
        int64_t time = i < MESSAGES ? samples[i].time_ns : INT64_MAX;
        for (unsigned k = 0; k < 3; k++) { /* ends of topics that lie before this message, the earlier first; then the
                                              message */
            unsigned ending = last[0] <= last[1] ? k : 1 - k;
            int64_t at = k < 2 ? last[ending] : time;
            if (k < 2 && at >= time) {
                continue;
            }
            bool about = false;
            for (unsigned c = 0; c < 2; c++) {
                if (k < 2 && topics[c] == ending) {
                    state[c] = false;
                } else if (k == 2 && i < MESSAGES && samples[i].topic == topics[c]) {
                    state[c] = plain(c ? two : one, &samples[i]);
                    about = about || c == 0 || join;
                }
            }
            bool holds = join == 'a' ? state[0] && state[1] : join == 'o' ? state[0] || state[1] : state[0];
            if (holds && !open) {
                start = at;
                count = 0;
            }
            if (!holds && open && at - start >= for_ns) {
                x.first_ns = x.total == 0 ? start : x.first_ns;
                x.total++;
                x.count += count;
                x.last_ns = at;
                x.held_ns += at - start;
            }
            count += holds && about;
            open = holds;
        }
    }
    return x;
}

static struct reel_statistics *open_bytes(const uint8_t *data, size_t size, struct reel_error *err) {
    int fd = memfd_create("statistics", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    return reel_statistics_open(fd, err);
}

static void compare(struct reel_statistics *s, const char *text, const struct expected *x, int64_t for_ns) {
    struct reel_error err = {0};
    const struct reel_question_options options = {.size = sizeof options, .intervals_max = 100, .open = open_recording};
    AUTO(reel_question_free) struct reel_question *q = reel_question_new(&text, 1, for_ns, &err);
    assert_non_null(q);
    AUTO(reel_answer_free) struct reel_answer *a = reel_question_answer(q, s, &options, &err);
    if (!a) {
        fail_msg("%s: %s", text, err.text);
    }
    if (a->total != x->total || a->span.count != x->count || a->held_ns != x->held_ns || !a->complete) {
        fail_msg("%s for %lld: %llu intervals of %llu messages, %lld ns; expected are %llu of %llu, %lld", text,
                 (long long)for_ns, (unsigned long long)a->total, (unsigned long long)a->span.count,
                 (long long)a->held_ns, (unsigned long long)x->total, (unsigned long long)x->count,
                 (long long)x->held_ns);
    }
    assert_true(x->total == 0 || (a->span.start_ns == x->first_ns && a->span.end_ns == x->last_ns));
    assert_true(a->blocks_read <= a->blocks);
}

static void answers_are_those_of_a_plain_walk(void **state) {
    static const char *const conditions[CONDITIONS] = {"/a.v<11", "/b.c.v>=50", "/a.n=1", "/b.c.b=1",
                                                       "/a.v!=5", "/b.c.n<=0",  "/a.x>0", "/b.c.v>200"};
    struct reel_error err = {0};
    AUTO_STRUCT(toy_free) struct toy toy = {0};
    AUTO_MEM uint8_t *data = NULL;
    size_t size;
    char text[128];
    (void)state;
    make(&toy);
    recording = toy_open(&toy);
    assert_true(reel_statistics_make(recording, NULL, &data, &size, &err));
    AUTO(reel_statistics_free) struct reel_statistics *s = open_bytes(data, size, &err);
    assert_non_null(s);
    for (unsigned i = 0; i < CONDITIONS; i++) {
        for (unsigned k = 0; k < CONDITIONS; k++) {
            for (int64_t for_ns = 0; for_ns <= 4000; for_ns += 4000) {
                struct expected x = walk_plainly(conditions[i], conditions[k], 'a', for_ns);
                snprintf(text, sizeof text, "%s and %s", conditions[i], conditions[k]);
                compare(s, text, &x, for_ns);
                x = walk_plainly(conditions[i], conditions[k], 'o', for_ns);
                snprintf(text, sizeof text, "(%s) or %s", conditions[i], conditions[k]);
                compare(s, text, &x, for_ns);
            }
        }
    }
    opened = 0;
    const struct expected none = {0};
    compare(s, "/a.v>200", &none, 0);
    compare(s, "/a.nothing=1 or /c.v=1", &none, 0);
    compare(s, "/a.at<1970-01-01T00:00:00Z", &none, 0);
    assert_int_equal(opened, 0); /* the statistics decide */
    reel_recording_free(recording);
}

static void damaged_statistics_are_refused(void **state) {
    struct reel_error err = {0};
    AUTO_STRUCT(toy_free) struct toy toy = {0};
    AUTO_MEM uint8_t *data = NULL;
    size_t size;
    (void)state;
    make(&toy);
    recording = toy_open(&toy);
    assert_true(reel_statistics_make(recording, NULL, &data, &size, &err));
    const char *text = "/a.v<11 and /b.c.v>1";
    AUTO(reel_question_free) struct reel_question *q = reel_question_new(&text, 1, 0, &err);
    for (size_t i = 0; i < size; i += i < 64 ? 1 : 7) {
        const struct reel_question_options options = {
            .size = sizeof options, .intervals_max = 1, .open = open_recording};
        data[i] ^= 0x41;
        AUTO(reel_statistics_free) struct reel_statistics *s = open_bytes(data, size, &err);
        assert_true(s ? !reel_question_answer(q, s, &options, &err) && err.code == REEL_CHANGED
                      : err.code == REEL_CHANGED);
        data[i] ^= 0x41;
        AUTO(reel_statistics_free) struct reel_statistics *cut = open_bytes(data, i, &err);
        assert_true(!cut || (!reel_question_answer(q, cut, &options, &err) && err.code == REEL_CHANGED));
    }
    store_u32le(data + 12, load_u32le(data + 12) + 1); /* of other decoders */
    assert_null(open_bytes(data, size, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    reel_recording_free(recording);
}

static void questions_that_are_none_are_refused(void **state) {
    static const char *const wrong[] = {"",           "/a",           "/a.v<",    "(/a.v<1",           "/a.v<1)",
                                        "/a.v<1 and", "/a.v<1 or or", "/a.v=\"x", "/a.v<1 /b.v<2) and"};
    struct reel_error err = {0};
    char deep[200];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(reel_question_new(&wrong[i], 1, 0, &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
    }
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    const char *text = deep;
    assert_null(reel_question_new(&text, 1, 0, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_those_of_a_plain_walk),
                                       cmocka_unit_test(damaged_statistics_are_refused),
                                       cmocka_unit_test(questions_that_are_none_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
