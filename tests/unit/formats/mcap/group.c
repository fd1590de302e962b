/* formats/mcap_group.c: who reads one topic of an MCAP file fetches the chunks of that topic, not the file. */
#include "makers/tables.h"
#define TOY_MORE_FORMATS &reel_format_mcap,
#include "makers/toy_format.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "chunks/codec.h"
#include "makers/mcap_reader.h"
#include "makers/mcap_scan.h"

enum { HEAVY = 20000, SECONDS = 20, DAMAGES = 6 };
static const int64_t SECOND = 1000000000;

static uint8_t payload[HEAVY + 1000];

/* Two pictures at 15 Hz, two light topics at 100 Hz; and one heavy message that comes late by 3 s. */
static struct reel_recording *make(struct toy *toy) {
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)(i * 7 + i / 251);
    }
    toy_start(toy, REEL_CLOCK_WALL);
    const char *const names[] = {"/left", "/imu", "/right", "/tf"};
    for (unsigned i = 0; i < 4; i++) {
        toy_channel(toy, &(struct reel_channel){.name = names[i], .type = "T", .encoding = "own"});
    }
    uint32_t sequence = 0;
    for (int64_t i = 0; i < 100 * SECONDS; i++) {
        int64_t at = i * SECOND / 100;
        toy_message(toy, 1, at, sequence++, payload + i % 100, 40);
        toy_message(toy, 3, at, sequence++, payload + i % 90, (size_t)(i % 50));
        for (uint32_t c = 0; i % 7 == 0 && c <= 2; c += 2) {
            toy_message(toy, c, i == 700 ? at - 3 * SECOND : at + 1, sequence++, payload + i % 500, HEAVY);
        }
    }
    return toy_open(toy);
}

static struct reel_stream *seen_through(struct reel_recording *r, const struct reel_selection *q) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_writer_stream(&reel_writer_mcap, &r, 1, q, &err);
    assert_non_null(s);
    return s;
}

static uint8_t *render_all(struct reel_recording *r, const struct reel_selection *q, uint64_t *size) {
    static const struct reel_write_options options = {.compression = ""};
    struct reel_error err = {0};
    struct reel_stream *planned = seen_through(r, q);
    struct reel_plan *plan = reel_plan_new(&reel_writer_mcap, &options, planned, NULL, &err);
    assert_non_null(plan);
    struct reel_planned_output *render = reel_planned_output_new(plan, seen_through(r, q), &err);
    *size = reel_plan_length(plan);
    uint8_t *all = malloc(*size), *part = malloc(*size);
    assert_true(reel_planned_output_read(render, 0, all, *size, &err));
    uint64_t random = 77;
    for (int i = 0; i < 60; i++) { /* any place is found again */
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        uint64_t at = (random >> 16) % *size, length = 1 + (random >> 40) % 300000;
        length = length > *size - at ? *size - at : length;
        assert_true(reel_planned_output_read(render, at, part, length, &err));
        assert_memory_equal(part, all + at, length);
    }
    free(part);
    reel_planned_output_free(render);
    reel_plan_free(plan);
    reel_stream_free(planned);
    return all;
}

static void light_and_heavy_topics_share_no_chunk(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_recording *r = make(&toy);
    uint64_t size, light = 0;
    uint8_t *file = render_all(r, &selection_all, &size);
    struct seen s = {0};
    see_file(&s, file, size);
    assert_int_equal(s.messages, 200 * SECONDS + 2 * ((100 * SECONDS + 6) / 7));
    for (uint32_t i = 0; i < s.chunks; i++) {
        const struct seen_chunk *c = &s.chunk[i];
        bool heavy = false, any_light = false;
        for (uint32_t k = 0; k < c->indexes; k++) {
            bool is_light = c->index[k].channel == 2 || c->index[k].channel == 4;
            heavy |= !is_light;
            any_light |= is_light;
        }
        assert_true(heavy != any_light && (!heavy || c->indexes == 1));
        assert_true(c->end - c->start <= 20 * (uint64_t)SECOND); /* windows are bounded in time */
        light += any_light ? c->size : 0;
    }
    assert_true(light < size / 20);
    free(s.chunk);
    free(file);
    reel_recording_free(r);
    toy_free(&toy);
}

static void a_cut_and_what_stands_in_front_of_it(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_recording *r = make(&toy);
    struct reel_selection q = selection_all;
    q.start_ns = 5 * SECOND + 12345;
    q.end_ns = 17 * SECOND;
    q.last_per_topic = true;
    uint64_t size;
    uint8_t *file = render_all(r, &q, &size);
    struct seen s = {0};
    see_file(&s, file, size);
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *plain = reel_stream_open(&r, 1, &q, &err);
    uint64_t count = 0;
    for (struct reel_message m; stream_next(plain, &m, &err) == REEL_STEP_MESSAGE;) {
        count++;
    }
    assert_int_equal(s.messages, count);
    assert_int_equal(s.count[1] + s.count[3], s.messages - s.count[2] - s.count[4]);
    free(s.chunk);
    free(file);
    reel_recording_free(r);
    toy_free(&toy);
}

/* What is left of a damaged recording is grouped like any other: each of its messages arrives in a sound file. */
static void a_damaged_recording_is_grouped(void **state) {
    (void)state;
    struct toy toy = {0};
    AUTO(reel_recording_free) struct reel_recording *whole = make(&toy);
    uint64_t size, written;
    AUTO_MEM uint8_t *file = render_all(whole, &selection_all, &size);
    unsigned grouped = 0;
    for (unsigned i = 0; i < DAMAGES; i++) {
        uint64_t at = size / 10 * 8 + i * 104729, end = i % 2 ? size : at; /* cut, or with 300 bytes overwritten; 8 MB
                                                                              are left */
        AUTO_MEM uint8_t *damaged = malloc(size);
        memcpy(damaged, file, size);
        memset(damaged + at, 0xa5, i % 2 ? 300 : 0);
        struct reel_error err = {0};
        AUTO(reel_recording_free) struct reel_recording *r = bag_try(bytes_of(damaged, end), &err);
        assert_non_null(r);
        const struct reel_index_info *info = reel_index_info(reel_recording_index(r));
        assert_true(info->damaged && info->messages > 1000);
        AUTO(reel_stream_free) struct reel_stream *stream = seen_through(r, &selection_all);
        grouped += stream->view_version != codec_encode_version();
        AUTO_MEM uint8_t *again = render_all(r, &selection_all, &written);
        struct seen s = {0};
        see_file(&s, again, written);
        assert_int_equal(s.messages, info->messages);
        free(s.chunk);
    }
    assert_int_equal(grouped, DAMAGES);
    toy_free(&toy);
}

static void the_order_is_kept_where_sorting_is_not_worth_it(void **state) {
    (void)state;
    struct toy toy = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "own"});
    toy_channel(&toy, &(struct reel_channel){.name = "/b", .type = "T", .encoding = "own"});
    for (int i = 0; i < 100; i++) {
        toy_message(&toy, (uint32_t)(i % 2), i, (uint32_t)i, payload, i % 2 ? HEAVY : 10);
    }
    struct reel_recording *r = toy_open(&toy);
    struct reel_stream *s = seen_through(r, &selection_all);
    assert_int_equal(s->view_version, codec_encode_version()); /* of no view */
    reel_stream_free(s);
    reel_recording_free(r);
    toy_free(&toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light_and_heavy_topics_share_no_chunk),
        cmocka_unit_test(a_cut_and_what_stands_in_front_of_it),
        cmocka_unit_test(a_damaged_recording_is_grouped),
        cmocka_unit_test(the_order_is_kept_where_sorting_is_not_worth_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
