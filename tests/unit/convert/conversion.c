/* A conversion opens its selection once, whatever asks for streams of it, and uses a stream again when it was returned:
 * from the first message on, as a new one. */
#include "makers/toy_format.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "convert/conversion.h"
#include "convert/writer_run.h"
#include "makers/tables.h"
#include "stream/initial_state.h"
#include "stream/selection.h"

extern const struct reel_writer reel_writer_mcap, reel_writer_ndjson;

static unsigned opened, streams;

struct opened_selection *__real_selection_open(struct reel_recording *const *recordings, uint32_t n,
                                               const struct reel_selection *selection, struct reel_error *err);
struct opened_selection *__wrap_selection_open(struct reel_recording *const *recordings, uint32_t n,
                                               const struct reel_selection *selection, struct reel_error *err);
struct opened_selection *__wrap_selection_open(struct reel_recording *const *recordings, uint32_t n,
                                               const struct reel_selection *selection, struct reel_error *err) {
    __atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
    return __real_selection_open(recordings, n, selection, err);
}

static struct reel_stream *counted_view(struct reel_stream *source, struct reel_error *err) {
    __atomic_fetch_add(&streams, 1, __ATOMIC_RELAXED);
    return reel_writer_mcap.view(source, err);
}

/* About 12 MB: enough for MCAP files to group their messages by weight. */
static struct reel_recording *make_recording(struct toy *toy) {
    enum { MESSAGES = 3000, HEAVY = 12000 };
    static uint8_t payload[HEAVY];
    toy_start(toy, REEL_CLOCK_WALL);
    toy_channel(toy, &(struct reel_channel){.name = "/light", .type = "", .encoding = "json"});
    toy_channel(toy, &(struct reel_channel){.name = "/heavy", .type = "camera/Image", .encoding = "bytes"});
    for (uint32_t i = 0; i < MESSAGES; i++) {
        int size = snprintf((char *)payload, sizeof payload, "{\"n\":%u}", i);
        toy_message(toy, i % 3 == 0, 1000000 * (int64_t)i, i, payload, i % 3 == 0 ? HEAVY : (size_t)size);
    }
    return toy_open(toy);
}

struct bytes { /* an output */
    uint8_t *data;
    size_t size, room;
};
static bool append(void *context, const void *data, size_t size, struct reel_error *err) {
    struct bytes *b = context;
    (void)err;
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->data = realloc(b->data, b->room);
        assert_non_null(b->data);
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return true;
}

static struct reel_conversion *conversion_of(const struct reel_writer *writer, struct reel_recording *r,
                                             const struct reel_selection *q, const char *compression,
                                             struct reel_threads *threads) {
    struct reel_error err = {0};
    const struct reel_write_options options = {
        .compression = compression, .is_cut = q->start_ns != REEL_TIME_MIN, .start_ns = q->start_ns};
    struct reel_conversion *c = reel_conversion_new(writer, &r, 1, q, &options, threads, NULL, &err);
    assert_non_null(c);
    return c;
}

/* All that the command line does for one conversion. */
static void convert(struct reel_conversion *c) {
    struct reel_error err = {0};
    struct bytes out = {0};
    char why[REEL_MATCHES_TEXT];
    bool any = false;
    assert_true(reel_conversion_matches(c, true, &any, why, &err) && any);
    struct reel_stream *described = reel_conversion_stream(c, true, &err);
    assert_true(described && reel_writer_accepts(c->writer, described, NULL, &err));
    assert_ptr_equal(described, reel_conversion_stream(c, true, &err));
    if (!conversion_write(c, &(struct reel_output){.write = append, .context = &out}, NULL, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    assert_true(out.size > 1000);
    free(out.data);
}

static void a_selection_is_opened_once(void **state) {
    (void)state;
    static const struct {
        const struct reel_writer *writer;
        const char *compression;
        unsigned streams; /* that are in use at the same time, without threads; rows are not counted */
    } trials[] = {{&reel_writer_mcap, "", 2}, {&reel_writer_mcap, "zstd", 2}, {&reel_writer_ndjson, "", 0}};
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_recording *r = make_recording(&toy);
    AUTO(reel_threads_free)
    struct reel_threads *threads = reel_threads_new(
        &(struct reel_threads_options){.size = sizeof(struct reel_threads_options), .threads = 3, .from_bytes = 1},
        &err);
    struct reel_selection cut = {.start_ns = 1000000000, .end_ns = REEL_TIME_MAX, .last_per_topic = true};
    for (size_t i = 0; i < 12; i++) {
        struct reel_writer writer = *trials[i % 3].writer;
        bool shared = i / 3 % 2;
        writer.view = writer.view ? counted_view : NULL;
        opened = streams = 0;
        AUTO(reel_conversion_free)
        struct reel_conversion *c = conversion_of(&writer, r, i < 6 ? &selection_all : &cut, trials[i % 3].compression,
                                                  shared ? threads : NULL);
        assert_int_equal(opened, 0);
        convert(c);
        assert_int_equal(opened, 1);
        assert_true(shared || streams == trials[i % 3].streams);
    }
    reel_recording_free(r);
    toy_free(&toy);
}

/* Rows of values use threads from an eighth of the bytes on. */
static void what_uses_threads(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_recording *r = make_recording(&toy);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < reel_index_info(reel_recording_index(r))->n_channels; i++) {
        bytes += reel_index_stats(reel_recording_index(r), i)->bytes;
    }
    for (unsigned times = 1; times <= 9; times++) {
        AUTO(reel_threads_free)
        struct reel_threads *threads = reel_threads_new(
            &(struct reel_threads_options){
                .size = sizeof(struct reel_threads_options), .threads = 3, .from_bytes = bytes * times},
            &err);
        AUTO(reel_conversion_free)
        struct reel_conversion *mcap = conversion_of(&reel_writer_mcap, r, &selection_all, "", threads);
        AUTO(reel_conversion_free)
        struct reel_conversion *rows = conversion_of(&reel_writer_ndjson, r, &selection_all, "", threads);
        assert_int_equal(reel_conversion_threads(mcap), times <= 1 ? 3 : 0);
        assert_int_equal(reel_conversion_threads(rows), times <= 8 ? 3 : 0);
    }
    reel_recording_free(r);
    toy_free(&toy);
}

/* A stream without the messages before the selection says nothing about one with them. */
static void what_describes_a_cut_is_not_read(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_recording *r = make_recording(&toy);
    struct reel_selection cut = {.start_ns = 1000000000, .end_ns = REEL_TIME_MAX, .last_per_topic = true};
    AUTO(reel_conversion_free) struct reel_conversion *c = conversion_of(&reel_writer_mcap, r, &cut, "", NULL);
    opened = 0;
    const struct reel_stream *plain = reel_conversion_stream(c, false, &err);
    assert_true(plain && !plain->initial);
    assert_int_equal(reel_conversion_threads(c), 0);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(c, NULL, NULL, &err);
    assert_non_null(plan);
    assert_int_equal(reel_plan_initial_state(plan)->n_messages, 2);
    assert_int_equal(opened, 1);
    reel_recording_free(r);
    toy_free(&toy);
}

static struct bytes read_output(struct reel_conversion *c, struct reel_plan *plan, uint64_t from) {
    struct reel_error err = {0};
    struct bytes all = {.size = (size_t)(reel_plan_length(plan) - from)};
    AUTO(reel_planned_output_free) struct reel_planned_output *output = reel_conversion_output(c, plan, &err);
    all.data = malloc(all.size + 1);
    assert_true(output && all.data && reel_planned_output_read(output, from, all.data, all.size, &err));
    return all;
}

static void a_returned_stream_begins_again(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_recording *r = make_recording(&toy);
    struct reel_writer writer = reel_writer_mcap;
    struct reel_selection selections[] = {selection_all,
                                          {.start_ns = 700000000, .end_ns = 2500000000, .last_per_topic = true},
                                          {.start_ns = REEL_TIME_MIN, .end_ns = REEL_TIME_MAX, .every_n = 3},
                                          {.start_ns = REEL_TIME_MIN, .end_ns = REEL_TIME_MAX, .every_ns = 5000000}};
    writer.view = counted_view;
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
        AUTO(reel_conversion_free) struct reel_conversion *c = conversion_of(&writer, r, &selections[i], "", NULL);
        struct bytes all[2];
        streams = 0;
        for (size_t k = 0; k < 2; k++) {
            AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(c, NULL, NULL, &err);
            assert_non_null(plan);
            free(read_output(c, plan, reel_plan_length(plan) / 2).data);
            all[k] = read_output(c, plan, 0);
        }
        assert_int_equal(streams, 1);
        assert_int_equal(all[0].size, all[1].size);
        assert_memory_equal(all[0].data, all[1].data, all[0].size);
        free(all[0].data);
        free(all[1].data);
    }
    reel_recording_free(r);
    toy_free(&toy);
}

/* Strings of ROS 1. Five of them do not fit their definition: two at the beginning and three near the end. */
static struct reel_recording *make_strings(struct toy *toy) {
    enum { MESSAGES = 200, SIZE = 40000 };
    static uint8_t payload[4 + SIZE];
    const struct reel_schema schema = {
        .name = "std_msgs/String", .encoding = "ros1msg", .data = bytes_text("string data\n")};
    store_u32le(payload, SIZE);
    toy_start(toy, REEL_CLOCK_WALL);
    toy_channel(toy, &(struct reel_channel){
                         .name = "/text", .type = schema.name, .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
    for (uint32_t i = 0; i < MESSAGES; i++) {
        bool fits = i >= 2 && (i < MESSAGES - 10 || i >= MESSAGES - 7);
        toy_message(toy, 0, i, i, payload, fits ? sizeof payload : SIZE);
    }
    return toy_open(toy);
}

/* Even if the stream was first used to read the end of an output. */
static void what_does_not_fit_is_counted_from_the_first_message_on(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_recording *r = make_strings(&toy);
    struct reel_selection cdr = selection_all;
    cdr.encoding = "cdr";
    AUTO(reel_conversion_free)
    struct reel_conversion *first = conversion_of(&reel_writer_mcap, r, &cdr, "", NULL),
                           *second = conversion_of(&reel_writer_mcap, r, &cdr, "", NULL);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(first, NULL, NULL, &err);
    assert_non_null(plan);
    assert_int_equal(plan->unfit, 5);
    assert_true(plan->n_groups > 3);
    free(read_output(second, plan, reel_plan_length(plan) / 2).data);
    AUTO(reel_plan_free) struct reel_plan *again = reel_conversion_plan(second, NULL, NULL, &err);
    assert_non_null(again);
    assert_int_equal(again->unfit, 5);
    reel_recording_free(r);
    toy_free(&toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_selection_is_opened_once),
        cmocka_unit_test(what_uses_threads),
        cmocka_unit_test(what_describes_a_cut_is_not_read),
        cmocka_unit_test(a_returned_stream_begins_again),
        cmocka_unit_test(what_does_not_fit_is_counted_from_the_first_message_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
