/* A plan of a conversion between ROS 1 and ROS 2 is used after the request that made it: its stream and recording are
 * gone. */
#include "makers/toy_format.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "convert/conversion.h"
#include "makers/tables.h"

enum { MESSAGES = 200 };

/* Text topics: one type that both have, and one that has another layout than the standard type of its name and so gets
 * another name. */
static void fill(struct toy *toy) {
    const struct reel_schema schemas[] = {
        {.name = "std_msgs/String",
         .encoding = "ros1msg",
         .hash = "992ce8a1687cec8c8bd883ec73ca41d1",
         .data = bytes_text("string data\n")},
        {.name = "geometry_msgs/Point", .encoding = "ros1msg", .hash = "0", .data = bytes_text("string where\n")}};
    static const char *const topics[] = {"/text", "/point"};
    toy_start(toy, REEL_CLOCK_WALL);
    for (unsigned i = 0; i < 2; i++) {
        toy_channel(toy, &(struct reel_channel){.name = topics[i],
                                                .type = schemas[i].name,
                                                .encoding = "ros1",
                                                .schemas = &schemas[i],
                                                .n_schemas = 1});
    }
    for (unsigned i = 0; i < MESSAGES; i++) {
        char payload[] = "\5\0\0\0text.";
        payload[8] = (char)('0' + i % 10);
        toy_message(toy, i % 2, 1000 + i, i, payload, sizeof payload - 1);
    }
}

static struct reel_stream *stream_of(struct reel_recording *recording, struct reel_selection selection) {
    struct reel_error err = {0};
    selection.encoding = "cdr";
    struct reel_stream *stream = reel_writer_stream(&reel_writer_mcap, &recording, 1, &selection, &err);
    if (!stream) {
        fail_msg("%s", err.text);
    }
    return stream;
}

static struct reel_plan *plan_of(struct toy *toy, const struct reel_selection *selection, const char *compression) {
    struct reel_error err = {0};
    struct reel_recording *recording = toy_open(toy);
    struct reel_stream *stream = stream_of(recording, *selection);
    struct reel_plan *plan =
        reel_plan_new(&reel_writer_mcap, &(struct reel_write_options){.compression = compression}, stream, NULL, &err);
    reel_stream_free(stream);
    reel_recording_free(recording);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    return plan;
}

static uint8_t *render(struct toy *toy, struct reel_plan *plan, struct reel_selection selection) {
    struct reel_error err = {0};
    struct reel_recording *recording = toy_open(toy);
    selection.initial = reel_plan_initial_state(plan);
    struct reel_planned_output *render = reel_planned_output_new(plan, stream_of(recording, selection), &err);
    uint8_t *all = malloc(reel_plan_length(plan));
    assert_true(render && all && reel_planned_output_read(render, 0, all, reel_plan_length(plan), &err));
    reel_planned_output_free(render);
    reel_recording_free(recording);
    return all;
}

static void check(struct toy *toy, const struct reel_selection *selection) {
    struct reel_plan *plan = plan_of(toy, selection, "");
    uint64_t size = reel_plan_length(plan);
    uint8_t *first = render(toy, plan, *selection), *second = render(toy, plan, *selection);
    assert_memory_equal(first, second, size);
    assert_non_null(memmem(first, size, "std_msgs/msg/String", 19));
    assert_non_null(memmem(first, size, "ros1_compat/msg/Point", 21));
    assert_non_null(memmem(first, size, "\0\1\0\0\6\0\0\0text9", 14)); /* a payload in CDR */
    free(first);
    free(second);
    reel_plan_free(plan);
}

static void a_plan_outlives_its_request(void **state) {
    (void)state;
    struct toy toy = {0};
    fill(&toy);
    check(&toy, &selection_all);
    toy_free(&toy);
}

static void so_does_what_is_put_in_front(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_selection cut = selection_all;
    fill(&toy);
    cut.start_ns = 1000 + MESSAGES - 10;
    cut.last_per_topic = true;
    check(&toy, &cut);
    toy_free(&toy);
}

static bool append(void *context, const void *data, size_t size, struct reel_error *err) {
    (void)err;
    toy_put(context, data, size);
    return true;
}

/* Of all sizes, up to one that has a chunk for itself and is not packed; those of a topic with many are grouped. */
static void fill_with_large_ones(struct toy *toy) {
    static const uint32_t sizes[] = {0, 1, 100, 16383, 16384, 16385, 100000, 900000, 5 << 20, 9 << 20};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const struct reel_schema schema = {
        .name = "pkg/Blob", .encoding = "ros1msg", .hash = "0", .data = bytes_text("uint8[] data\n")};
    static uint8_t payload[4 + (9 << 20)];
    toy_start(toy, REEL_CLOCK_WALL);
    for (unsigned i = 0; i < 2; i++) {
        toy_channel(toy, &(struct reel_channel){.name = i == 0 ? "/small" : "/large",
                                                .type = schema.name,
                                                .encoding = "ros1",
                                                .schemas = &schema,
                                                .n_schemas = 1});
    }
    for (unsigned i = 0; i < 8 * SIZES; i++) {
        bool large = i % 4 == 0;
        uint32_t size = large ? sizes[i / 4 % SIZES] : i % 50;
        memset(payload + 4, (int)i, size);
        store_u32le(payload, size);
        toy_message(toy, large, 1000 + i, i, payload, 4 + size);
    }
}

/* An output that is written while it is planned is the planned one. */
static void check_one_pass(void (*fill_with)(struct toy *toy), const char *compression) {
    struct toy toy = {0}, file = {0};
    struct reel_error err = {0};
    struct reel_selection selection = selection_all;
    fill_with(&toy);
    struct reel_plan *plan = plan_of(&toy, &selection, compression);
    uint8_t *planned = render(&toy, plan, selection);
    struct reel_recording *recording = toy_open(&toy);
    selection.encoding = "cdr";
    struct reel_conversion *c =
        reel_conversion_new(&reel_writer_mcap, &recording, 1, &selection,
                            &(struct reel_write_options){.compression = compression}, NULL, NULL, &err);
    assert_non_null(c);
    if (!conversion_write(c, &(struct reel_output){.write = append, .context = &file}, NULL, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(file.size, reel_plan_length(plan));
    assert_memory_equal(file.data, planned, file.size);
    reel_conversion_free(c);
    reel_recording_free(recording);
    reel_plan_free(plan);
    free(planned);
    toy_free(&toy);
    toy_free(&file);
}

static void an_output_in_one_pass(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        check_one_pass(fill, i == 0 ? "" : "lz4");
        check_one_pass(fill_with_large_ones, i == 0 ? "" : "lz4");
    }
}

/* None of its messages fits: it stays as it is, as one whose definition is incomplete does, and the report says so. */
static void a_channel_that_does_not_fit_stays_as_it_is(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    size_t n = 0;
    const struct reel_schema schema = {
        .name = "rcl_interfaces/Log", .encoding = "ros1msg", .hash = "", .data = bytes_text("uint8 level\n")};
    fill(&toy);
    toy_channel(&toy,
                &(struct reel_channel){
                    .name = "/rosout", .type = schema.name, .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
    for (unsigned i = 0; i < 10; i++) {
        toy_message(&toy, 2, 1000 + i, i, "whole log", 9);
    }
    struct reel_recording *recording = toy_open(&toy);
    AUTO(reel_stream_free) struct reel_stream *stream = stream_of(recording, selection_all);
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    assert_string_equal(stream->channels[2]->encoding, "ros1");
    assert_string_equal(stream->channels[0]->encoding, "cdr");
    assert_true(reel_writer_accepts(&reel_writer_mcap, stream, loss, &err));
    const struct reel_loss_item *items = reel_loss_items(loss, &n);
    bool said = false;
    for (size_t i = 0; i < n; i++) {
        said = said || strstr(items[i].text, "they do not fit their definition");
    }
    assert_true(said);
    AUTO(reel_plan_free)
    struct reel_plan *plan =
        reel_plan_new(&reel_writer_mcap, &(struct reel_write_options){.compression = ""}, stream, NULL, &err);
    assert_non_null(plan);
    assert_int_equal(*stream->left_out, 0);
    reel_recording_free(recording);
    toy_free(&toy);
}

/* The report on what planning has left out. */
static void assert_left_out(const struct reel_plan *plan, const char *text) {
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    size_t n = 0;
    assert_non_null(loss);
    reel_plan_report(plan, loss);
    const struct reel_loss_item *items = reel_loss_items(loss, &n);
    assert_int_equal(n, 1);
    if (strncmp(items[0].text, text, strlen(text)) != 0) {
        fail_msg("%s", items[0].text);
    }
}

/* However often planning reads a message: a table looks for its columns first, and groups are packed. */
static void what_does_not_fit_is_counted_once(void **state) {
    (void)state;
    static const char *const topic[] = {"/text"};
    static const struct {
        const struct reel_writer *writer;
        const char *compression;
    } ways[] = {
        {&reel_writer_mcap, ""}, {&reel_writer_mcap, "zstd"}, {&reel_writer_parquet, ""}, {&reel_writer_arrow, ""}};
    struct toy toy = {0};
    fill(&toy);
    for (unsigned i = 0; i < 5; i++) { /* too short; the first ones come before all others */
        toy_message(&toy, 0, i < 2 ? i : 1050 + i, i, "\5\0\0\0te", 6);
    }
    struct reel_recording *recording = toy_open(&toy);
    struct reel_selection selection = selection_all;
    selection.topics = topic;
    selection.n_topics = 1;
    selection.encoding = "cdr";
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct reel_error err = {0};
        const struct reel_write_options options = {.compression = ways[i].compression};
        AUTO(reel_stream_free)
        struct reel_stream *stream = reel_writer_stream(ways[i].writer, &recording, 1, &selection, &err);
        assert_non_null(stream);
        AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(ways[i].writer, &options, stream, NULL, &err);
        AUTO(reel_conversion_free)
        struct reel_conversion *c =
            reel_conversion_new(ways[i].writer, &recording, 1, &selection, &options, NULL, NULL, &err);
        AUTO(reel_plan_free) struct reel_plan *packed = c ? reel_conversion_plan(c, NULL, NULL, &err) : NULL;
        assert_true(plan && packed);
        assert_left_out(plan, "5 messages");
        assert_left_out(packed, "5 messages");
    }
    reel_recording_free(recording);
    toy_free(&toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_outlives_its_request),
        cmocka_unit_test(so_does_what_is_put_in_front),
        cmocka_unit_test(an_output_in_one_pass),
        cmocka_unit_test(a_channel_that_does_not_fit_stays_as_it_is),
        cmocka_unit_test(what_does_not_fit_is_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
