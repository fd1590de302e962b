/* Work that was cancelled ends wherever it is: a conversion to any writer, on one thread and on several, statistics and
 * columns. Cancelled is what is asked for the n-th time, so that no clock is involved. */
#include "makers/toy_format.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/threads.h"
#include "convert/conversion.h"
#include "decode/encoding.h"
#include "makers/tables.h"
#include "reel/values.h"

extern const struct reel_writer reel_writer_mcap, reel_writer_rosbag_v2, reel_writer_rosbag_v1, reel_writer_mira,
    reel_writer_tide, reel_writer_nanover, reel_writer_ndjson, reel_writer_json, reel_writer_csv, reel_writer_msgpack,
    reel_writer_parquet, reel_writer_arrow;

enum { MESSAGES = 6000, SIZE = 700, ASKED_MIN = 20 };

struct patience {
    struct cancel cancel;
    _Atomic uint64_t asked, most; /* cancelled when asked more often */
};

static bool goes_on(void *context) {
    struct patience *p = context;
    return atomic_fetch_add(&p->asked, 1) < atomic_load(&p->most);
}

static void make_toy(struct toy *toy) {
    static char payload[SIZE];
    toy_start(toy, REEL_CLOCK_WALL);
    toy_channel(toy, &(struct reel_channel){.name = "/json", .type = "", .encoding = "json"});
    for (unsigned i = 0; i < MESSAGES; i++) {
        int n = snprintf(payload, sizeof payload, "{\"n\":%u,\"text\":\"", i);
        memset(payload + n, 'a' + i % 26, sizeof payload - (size_t)n - 2);
        memcpy(payload + sizeof payload - 2, "\"}", 2);
        toy_message(toy, 0, 1000 + i, i, payload, sizeof payload);
    }
}

/* ---- work: each returns whether it succeeded */

struct work {
    struct reel_recording *recording;
    const struct reel_writer *writer; /* NULL: something else */
    struct reel_threads *threads;
};

static bool drop(void *context, const void *data, size_t size, struct reel_error *err) {
    (void)context, (void)data, (void)size, (void)err;
    return true;
}

static bool do_convert(struct work *w, struct reel_error *err) {
    const struct reel_write_options options = {.compression = ""};
    AUTO(reel_conversion_free)
    struct reel_conversion *c =
        reel_conversion_new(w->writer, &w->recording, 1, &selection_all, &options, w->threads, NULL, err);
    return c && conversion_write(c, &(struct reel_output){.write = drop, .rewrite = drop}, NULL, NULL, err);
}
static bool do_statistics(struct work *w, struct reel_error *err) {
    uint8_t *data = NULL;
    size_t size;
    bool good = reel_statistics_make(w->recording, NULL, &data, &size, err);
    free(data);
    return good;
}
static bool do_column(struct work *w, struct reel_error *err) {
    struct reel_column *c = reel_column_new(w->recording, "/json", "n", REEL_TIME_MIN, REEL_TIME_MAX, NULL, err);
    reel_column_free(c);
    return c;
}

static void cancel_at(struct work *w, bool (*run)(struct work *w, struct reel_error *err)) {
    struct patience p = {.most = UINT64_MAX};
    struct reel_error err = {0};
    p.cancel = (struct cancel){.goes_on = goes_on, .context = &p};
    cancel_set(&p.cancel);
    if (!run(w, &err)) {
        fail_msg("%s: %s", w->writer ? w->writer->name : "values", err.text);
    }
    uint64_t all = atomic_load(&p.asked);
    assert_true(all >= ASKED_MIN);
    const uint64_t at[] = {0, 1, all / 4, all / 2};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        atomic_store(&p.asked, 0);
        atomic_store(&p.most, at[i]);
        err = (struct reel_error){0};
        assert_false(run(w, &err));
        assert_int_equal(err.code, REEL_CANCELLED);
    }
    cancel_set(NULL);
}

static void work_ends_wherever_it_is(void **state) {
    (void)state;
    static const struct reel_writer *const writers[] = {
        &reel_writer_mcap, &reel_writer_rosbag_v2, &reel_writer_rosbag_v1, &reel_writer_mira,    &reel_writer_ndjson,
        &reel_writer_json, &reel_writer_csv,       &reel_writer_msgpack,   &reel_writer_parquet, &reel_writer_arrow};
    struct toy toy = {0};
    struct reel_error err = {0};
    make_toy(&toy);
    struct work w = {.recording = toy_open(&toy)};
    AUTO(reel_threads_free)
    struct reel_threads *threads = reel_threads_new(
        &(struct reel_threads_options){.size = sizeof(struct reel_threads_options), .threads = 3, .from_bytes = 1},
        &err);
    assert_non_null(threads);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        w.writer = writers[i];
        w.threads = NULL;
        cancel_at(&w, do_convert);
        w.threads = threads;
        cancel_at(&w, do_convert);
    }
    w.writer = NULL;
    cancel_at(&w, do_statistics);
    cancel_at(&w, do_column);
    reel_recording_free(w.recording);
    toy_free(&toy);
}

/* ---- very many channels */

static void what_is_written_of_each_channel(void **state) {
    (void)state;
    enum { CHANNELS = 2000 };
    static const struct reel_writer *const writers[] = {&reel_writer_mcap, &reel_writer_rosbag_v2, &reel_writer_mira,
                                                        &reel_writer_tide};
    struct toy toy = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    static char names[CHANNELS][8];
    for (unsigned i = 0; i < CHANNELS; i++) {
        snprintf(names[i], sizeof names[i], "/%u", i);
        toy_channel(&toy, &(struct reel_channel){.name = names[i], .type = "", .encoding = "json"});
    }
    toy_message(&toy, 0, 1000, 0, "{}", 2);
    struct work w = {.recording = toy_open(&toy)};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        struct patience p = {.cancel = {.goes_on = goes_on, .context = &p}, .most = UINT64_MAX};
        struct reel_error err = {0};
        w.writer = writers[i];
        cancel_set(&p.cancel);
        assert_true(do_convert(&w, &err));
        assert_true(p.asked >= CHANNELS);
        p.most = CHANNELS / 2;
        p.asked = 0;
        assert_false(do_convert(&w, &err));
        assert_int_equal(err.code, REEL_CANCELLED);
        cancel_set(NULL);
    }
    reel_recording_free(w.recording);
    toy_free(&toy);
}

/* ---- one payload of very many values */

enum { VALUES = 300000 };

static void decode_counting(const struct reel_channel *channel, const uint8_t *payload, size_t size) {
    struct patience p = {.cancel = {.goes_on = goes_on, .context = &p}, .most = UINT64_MAX};
    struct reel_error err = {0};
    struct reel_visitor nobody = {.ops = &visit_nothing};
    struct reel_decoder *decoder = reel_decoder_open(channel, &err);
    assert_non_null(decoder);
    cancel_set(&p.cancel);
    assert_true(reel_decode(decoder, bytes_of(payload, size), &nobody, &err));
    uint64_t asked = p.asked;
    assert_true(asked >= VALUES / 65536);
    p.asked = 0;
    p.most = asked / 2;
    assert_false(reel_decode(decoder, bytes_of(payload, size), &nobody, &err));
    assert_int_equal(err.code, REEL_CANCELLED);
    cancel_set(NULL);
    reel_decoder_free(decoder);
}

static void a_payload_of_many_values(void **state) {
    (void)state;
    static uint8_t payload[16 + 8 * VALUES];
    for (size_t i = 0; i < VALUES; i++) {
        memcpy(payload + 2 * i, i ? ",1" : "[1", 2);
    }
    payload[2 * VALUES] = ']';
    decode_counting(&(struct reel_channel){.name = "/json", .type = "", .encoding = "json"}, payload, 2 * VALUES + 1);
    memset(payload, 1, sizeof payload);
    payload[0] = 0xdd; /* array 32 */
    memcpy(payload + 1, (const uint8_t[]){0, VALUES >> 16, VALUES >> 8 & 0xff, VALUES & 0xff}, 4);
    decode_counting(&(struct reel_channel){.name = "/msgpack", .type = "", .encoding = "msgpack"}, payload, 5 + VALUES);
    payload[0] = 0x9a; /* array, 32 bits of its length */
    decode_counting(&(struct reel_channel){.name = "/cbor", .type = "", .encoding = "cbor"}, payload, 5 + VALUES);
    memcpy(payload, (const uint8_t[]){0, 1, 0, 0}, 4);
    store_u32le(payload + 4, VALUES);
    for (size_t i = 0; i < VALUES; i++) { /* empty texts */
        memcpy(payload + 8 + 8 * i, (const uint8_t[]){1, 0, 0, 0, 0, 0, 0, 0}, 8);
    }
    const struct reel_schema schema = {.name = "p/msg/T", .encoding = "ros2msg", .data = bytes_text("string[] x")};
    decode_counting(
        &(struct reel_channel){
            .name = "/cdr", .type = "p/msg/T", .encoding = "cdr", .schemas = &schema, .n_schemas = 1},
        payload, 8 + 8 * VALUES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(work_ends_wherever_it_is),
                                       cmocka_unit_test(what_is_written_of_each_channel),
                                       cmocka_unit_test(a_payload_of_many_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
