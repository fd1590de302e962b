/* Conversions on several threads: every writer's output is that of one thread, byte for byte; a conversion can be left
 * in the middle; an error comes where it is; clients take turns. */
#define TOY_MORE_FORMATS &reel_format_carla,
#define TOY_MORE_WRITERS &reel_writer_mcap, /* which is in archives of ROS 2 */
#include "convert/writer.h"
#include "index/format.h"
extern const struct reel_format reel_format_carla;
extern const struct reel_writer reel_writer_mcap;
#include "makers/toy_format.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/threads.h"
#include "convert/conversion.h"
#include "makers/any_output.h"
#include "makers/carla_maker.h"
#include "makers/tables.h"

extern const struct reel_writer reel_writer_mcap, reel_writer_rosbag_v2, reel_writer_rosbag_v1, reel_writer_mira,
    reel_writer_tide, reel_writer_tide2, reel_writer_nanover, reel_writer_carla, reel_writer_ndjson, reel_writer_json,
    reel_writer_json_seq, reel_writer_events, reel_writer_csv, reel_writer_msgpack, reel_writer_parquet,
    reel_writer_arrow;

enum {
    MANY = 62 /* threads: pieces are then of 1 MiB; only as many start as there are pieces */,
    HUGE_BYTES = 13 << 20
};
static const int64_t HUGE_AT = 4000000;
#ifdef __SANITIZE_THREAD__
enum { TRIALS = 2 }; /* of a test: the writers share what TSan looks at, and it takes ten times as long */
#else
enum { TRIALS = 20 };
#endif

/* ---- recordings */

static uint64_t random_state = 1;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

static void add_channel(struct toy *toy, const char *name, const char *type, const char *encoding) {
    struct reel_schema schema = {.name = type, .encoding = "ros1msg", .data = bytes_text("string data\n")};
    bool ros = strcmp(encoding, "ros1") == 0;
    toy_channel(toy, &(struct reel_channel){
                         .name = name, .type = type, .encoding = encoding, .schemas = &schema, .n_schemas = ros});
}

/* About 6 MB; `huge`: and one message that is larger than all pieces. */
static void make_toy(struct toy *toy, const char *encoding, bool huge) {
    static uint8_t all[HUGE_BYTES], payload[20000];
    toy_start(toy, REEL_CLOCK_WALL);
    add_channel(toy, "/text", "std_msgs/String", encoding ? encoding : "ros1");
    add_channel(toy, "/json", "", encoding ? encoding : "json");
    add_channel(toy, "/raw", "camera/Image", encoding ? encoding : "bytes");
    for (size_t i = 0; i < sizeof all; i++) {
        all[i] = i % 3 ? (uint8_t)random_below(256) : 'x';
    }
    for (int64_t time = 1; time < 6000000;) {
        uint32_t channel = random_below(3), size = channel == 2 ? random_below(20000) : random_below(300);
        time += random_below(10) > 0 ? (int64_t)random_below(10000) : 0; /* some at the same time */
        if (channel == 0) {
            store_u32le(payload, size);
            memset(payload + 4, 'a' + (int)random_below(26), size);
            size += 4;
        } else if (channel == 1) {
            size = (uint32_t)snprintf((char *)payload, 100, "{\"n\":%u}", size);
        }
        toy_message(toy, channel, time, (uint32_t)time, channel == 2 ? all + random_below(1 << 20) : payload, size);
    }
    if (huge) {
        toy_message(toy, 2, HUGE_AT, 7, all, HUGE_BYTES);
    }
}

/* ---- whole outputs */

struct output {
    uint8_t *data;
    size_t size, room;
    size_t stop; /* a write beyond this many bytes fails; 0: none does */
};

static bool append(void *context, const void *data, size_t size, struct reel_error *err) {
    struct output *o = context;
    if (o->stop > 0 && o->size + size > o->stop) {
        return reel_fail(err, REEL_NO_SPACE, "full");
    }
    if (o->size + size > o->room) {
        o->room = 2 * (o->size + size);
        o->data = realloc(o->data, o->room);
        assert_non_null(o->data);
    }
    memcpy(o->data + o->size, data, size);
    o->size += size;
    return true;
}

static bool rewrite(void *context, const void *data, size_t size, struct reel_error *err) {
    struct output *o = context;
    (void)err;
    assert_true(size <= o->size);
    memcpy(o->data, data, size);
    return true;
}

static struct reel_threads *threads_of(unsigned n) {
    struct reel_error err = {0};
    struct reel_threads *t = reel_threads_new(
        &(struct reel_threads_options){.size = sizeof(struct reel_threads_options), .threads = n, .from_bytes = 1},
        &err);
    assert_non_null(t);
    return t;
}

static struct reel_conversion *conversion_of(const struct reel_writer *writer, struct reel_recording *r,
                                             const struct reel_selection *q, const struct reel_write_options *o,
                                             struct reel_threads *threads) {
    struct reel_error err = {0};
    struct reel_conversion *c = reel_conversion_new(writer, &r, 1, q, o, threads, NULL, &err);
    assert_non_null(c);
    return c;
}

static struct output convert(const struct reel_writer *writer, struct reel_recording *r, const struct reel_selection *q,
                             const struct reel_write_options *o, struct reel_threads *threads) {
    struct reel_error err = {0};
    struct output out = {0};
    AUTO(reel_conversion_free) struct reel_conversion *c = conversion_of(writer, r, q, o, threads);
    if (!conversion_write(c,
                          &(struct reel_output){.write = append, .rewrite = threads ? rewrite : NULL, .context = &out},
                          NULL, NULL, &err)) {
        fail_msg("%s %s: %s", writer->name, o->compression, err.text);
    }
    return out;
}

static void assert_same(const struct output *a, const struct output *b, const char *what) {
    if (a->size != b->size || memcmp(a->data, b->data, a->size) != 0) {
        fail_msg("%s: %zu bytes by one thread, %zu by several", what, a->size, b->size);
    }
}

/* By the plan of one stream and one render, as the tests of the writers do. */
static struct output render_alone(const struct reel_writer *writer, struct reel_recording *r,
                                  const struct reel_selection *q, const struct reel_write_options *o) {
    struct reel_error err = {0};
    struct output out = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_writer_stream(writer, &r, 1, q, &err);
    assert_non_null(s);
    AUTO(reel_plan_free)
    struct reel_plan *plan = writer->needs & REEL_STREAMED ? NULL : reel_plan_new(writer, o, s, NULL, &err);
    struct reel_selection again = *q;
    again.initial = plan ? reel_plan_initial_state(plan) : NULL;
    struct reel_stream *second = reel_writer_stream(writer, &r, 1, &again, &err);
    struct any_output any;
    assert_true(any_output_open(&any, plan, writer, o, second, &err));
    enum { STEP = 300000 };
    static uint8_t piece[STEP];
    for (size_t got = 1; got > 0; append(&out, piece, got, &err)) {
        assert_true(any_output_next(&any, piece, STEP, &got, &err));
    }
    any_output_close(&any);
    return out;
}

static void check(const struct reel_writer *writer, struct reel_recording *r, const struct reel_selection *q,
                  const struct reel_write_options *o) {
    AUTO(reel_threads_free) struct reel_threads *threads = threads_of(MANY);
    struct output alone = render_alone(writer, r, q, o), one = convert(writer, r, q, o, NULL),
                  many = convert(writer, r, q, o, threads);
    assert_true(alone.size > 1000);
    assert_same(&alone, &one, writer->name);
    assert_same(&alone, &many, writer->name);
    free(alone.data);
    free(one.data);
    free(many.data);
}

struct trial {
    const struct reel_writer *writer;
    const char *compression;
};

static void check_all(const struct trial *trials, size_t n, bool huge, const struct reel_selection *q,
                      const struct reel_write_options *o) {
    struct toy toy = {0};
    make_toy(&toy, NULL, huge);
    struct reel_recording *r = toy_open(&toy);
    for (size_t i = 0; i < n && i < TRIALS; i++) {
        struct reel_write_options options = *o;
        options.compression = trials[i].compression;
        check(trials[i].writer, r, q, &options);
    }
    reel_recording_free(r);
    toy_free(&toy);
}

static const struct trial fast[] = {{&reel_writer_mcap, ""},         {&reel_writer_mcap, "zstd"},
                                    {&reel_writer_rosbag_v2, "lz4"}, {&reel_writer_ndjson, ""},
                                    {&reel_writer_json, ""},         {&reel_writer_mcap, "lz4"},
                                    {&reel_writer_rosbag_v1, ""},    {&reel_writer_mira, ""},
                                    {&reel_writer_rosbag_v2, ""},    {&reel_writer_tide2, ""},
                                    {&reel_writer_tide, ""},         {&reel_writer_json_seq, ""},
                                    {&reel_writer_events, ""},       {&reel_writer_csv, ""},
                                    {&reel_writer_msgpack, ""}},
                          slow[] = {{&reel_writer_rosbag_v2, "bz2"},
                                    {&reel_writer_mira, "zlib"},
                                    {&reel_writer_tide2, "gzip"}},
                          packed[] = {{&reel_writer_rosbag2, ""},
                                      {&reel_writer_rosbag2, "zstd"},
                                      {&reel_writer_rosbag2_tar, ""},
                                      {&reel_writer_rosbag2_tar, "lz4"},
                                      {&reel_writer_tide, ""}};

static void every_writer(void **state) {
    (void)state;
    check_all(fast, sizeof fast / sizeof *fast, false, &selection_all, &(struct reel_write_options){.separated = true});
    struct reel_selection few = selection_all;
    few.end_ns = 2500000;
    check_all(slow, sizeof slow / sizeof *slow, false, &few, &(struct reel_write_options){.separated = false});
    check_all(packed, sizeof packed / sizeof *packed, false, &selection_all,
              &(struct reel_write_options){.separated = false});
}

static void tables(void **state) {
    (void)state;
    static const char *const topics[] = {"/raw"}, *const few[] = {"/text"};
    static const struct trial trials[] = {
        {&reel_writer_parquet, ""}, {&reel_writer_arrow, ""}, {&reel_writer_parquet, "none"}};
    struct reel_selection q = selection_all;
    q.topics = topics;
    q.n_topics = 1;
    check_all(trials, 3, true, &q, &(struct reel_write_options){.separated = false});
    q.topics = few;
    check_all(trials, 3, false, &q, &(struct reel_write_options){.separated = false});
}

static void a_cut(void **state) {
    (void)state;
    struct reel_selection cut = {
        .size = sizeof cut, .start_ns = 1000000, .end_ns = REEL_TIME_MAX, .every_n = 2, .last_per_topic = true};
    check_all(fast, 5, false, &cut,
              &(struct reel_write_options){.channels = true, .is_cut = true, .start_ns = cut.start_ns});
}

static void a_message_larger_than_all_pieces(void **state) {
    (void)state;
    check_all(fast, 4, true, &selection_all, &(struct reel_write_options){.separated = false});
    check_all(packed, sizeof packed / sizeof *packed, true, &selection_all,
              &(struct reel_write_options){.separated = false});
}

/* A head that is replaced in the end, and larger than the pieces in which an output is written. */
static void a_large_head(void **state) {
    (void)state;
    enum { DEFINITION = 5 << 20 };
    AUTO_MEM uint8_t *definition = malloc(DEFINITION);
    struct toy toy = {0};
    assert_non_null(definition);
    for (size_t i = 0; i < DEFINITION; i++) {
        definition[i] = (uint8_t)(i / 1021);
    }
    struct reel_schema schema = {.name = "p.Point", .encoding = "protobuf", .data = bytes_of(definition, DEFINITION)};
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){
                          .name = "/p", .type = "p.Point", .encoding = "protobuf", .schemas = &schema, .n_schemas = 1});
    for (int64_t i = 1; i <= 1000; i++) {
        toy_message(&toy, 0, i, (uint32_t)i, definition + i, 100);
    }
    struct reel_recording *r = toy_open(&toy);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        check(packed[i].writer, r, &selection_all, &(struct reel_write_options){.compression = packed[i].compression});
    }
    reel_recording_free(r);
    toy_free(&toy);
}

static void nanover_and_carla(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    make_toy(&toy, "nanover", false);
    struct reel_recording *r = toy_open(&toy);
    check(&reel_writer_nanover, r, &selection_all, &(struct reel_write_options){.compression = ""});
    reel_recording_free(r);
    toy_free(&toy);

    struct maker world = make_world(&make_styles[0], 4000);
    struct reel_source *source = reel_source_from_memory(bytes_of(world.data, world.size), "world.log", &err);
    assert_true(reel_scan_run(&source, 1, &reel_format_carla, REEL_SCRATCH "/carla.pack", NULL, &err));
    struct reel_index *index = reel_index_open(REEL_SCRATCH "/carla.pack", &err);
    r = reel_recording_from_index(index, &source, 1, NULL, &err);
    assert_non_null(r);
    struct reel_selection cut = {.size = sizeof cut,
                                 .start_ns = reel_index_info(index)->start_ns + 1000000000,
                                 .end_ns = REEL_TIME_MAX,
                                 .state_at_cut = true};
    check(&reel_writer_carla, r, &selection_all, &(struct reel_write_options){.compression = ""});
    check(&reel_writer_carla, r, &cut,
          &(struct reel_write_options){.compression = "", .is_cut = true, .start_ns = cut.start_ns});
    reel_recording_free(r);
    free(world.data);
}

/* ---- ranges, and what is kept */

static _Atomic uint64_t kept_now;
static uint64_t kept_most;
static bool take(void *context, uint64_t bytes) {
    (void)context;
    bool room = atomic_load(&kept_now) + bytes <= kept_most;
    atomic_fetch_add(&kept_now, room ? bytes : 0);
    return room;
}
static void give(void *context, uint64_t bytes) {
    (void)context;
    atomic_fetch_sub(&kept_now, bytes);
}

static void assert_range(struct reel_planned_output *render, const struct output *all, uint64_t at, size_t size) {
    struct reel_error err = {0};
    uint8_t *piece = malloc(size + 1);
    assert_true(reel_planned_output_read(render, at, piece, size, &err));
    assert_memory_equal(piece, all->data + at, size);
    free(piece);
}

/* The same bytes whether they are kept, kept in part, forgotten while a render uses them, or compressed again. */
static void compressed_groups_are_kept(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    make_toy(&toy, NULL, true);
    struct reel_recording *r = toy_open(&toy);
    const struct reel_write_options zstd = {.compression = "zstd"};
    const struct reel_keep keep = {.folder = REEL_SCRATCH, .take = take, .give = give};
    struct output all = render_alone(&reel_writer_mcap, r, &selection_all, &zstd);
    AUTO(reel_threads_free) struct reel_threads *threads = threads_of(MANY);
    AUTO(reel_conversion_free)
    struct reel_conversion *c = conversion_of(&reel_writer_mcap, r, &selection_all, &zstd, threads);
    uint64_t mosts[] = {UINT64_MAX, 0 /* half of the first */, 0};
    for (size_t i = 0; i < 3; i++) {
        kept_most = mosts[i];
        struct reel_plan *plan = reel_conversion_plan(c, &keep, NULL, &err);
        assert_non_null(plan);
        assert_int_equal(reel_plan_length(plan), all.size);
        uint64_t kept = reel_plan_kept(plan);
        assert_int_equal(kept, atomic_load(&kept_now));
        assert_true(kept <= kept_most && (kept > 300000) == (i < 2));
        mosts[1] = i == 0 ? kept / 2 : mosts[1];
        struct reel_planned_output *render = reel_conversion_output(c, plan, &err);
        assert_range(render, &all, 0, all.size);
        reel_plan_forget(plan);
        assert_int_equal(reel_plan_kept(plan), 0);
        assert_range(render, &all, 77777, 3000000);
        reel_planned_output_free(render);
        assert_int_equal(atomic_load(&kept_now), 0);
        render = reel_conversion_output(c, plan, &err);
        assert_range(render, &all, 77777, 3000000);
        reel_planned_output_free(render);
        reel_plan_free(plan);
    }
    free(all.data);
    reel_recording_free(r);
    toy_free(&toy);
}

static void ranges_ahead(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    make_toy(&toy, NULL, true);
    struct reel_recording *r = toy_open(&toy);
    const struct reel_write_options plain = {.compression = ""};
    struct output all = render_alone(&reel_writer_mcap, r, &selection_all, &plain);
    AUTO(reel_threads_free) struct reel_threads *threads = threads_of(3);
    AUTO(reel_conversion_free)
    struct reel_conversion *c = conversion_of(&reel_writer_mcap, r, &selection_all, &plain, threads);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(c, NULL, NULL, &err);
    struct reel_planned_output *render = reel_conversion_output(c, plan, &err);
    for (uint64_t from = 0; from < all.size; from += 1234567) {
        uint64_t to = all.size - from < 6000000 ? all.size : from + 6000000, at = from;
        assert_true(reel_planned_output_read_ahead(render, from, to));
        for (size_t n; at < to && at < from + 2500000; at += n) { /* then it is left in the middle */
            n = to - at < 99999 ? (size_t)(to - at) : 99999;
            assert_range(render, &all, at, n);
        }
        assert_range(render, &all, from / 2, 1000); /* elsewhere, meanwhile */
    }
    assert_false(reel_planned_output_read_ahead(render, 5, 5));
    assert_false(reel_planned_output_read_ahead(render, 0, all.size + 1));
    reel_planned_output_free(render);
    free(all.data);
    reel_recording_free(r);
    toy_free(&toy);
}

/* ---- cancelled, and failing */

static bool report_twice(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return ++*(int *)context < 2;
}

static void left_in_the_middle(void **state) {
    (void)state;
    struct toy toy = {0};
    make_toy(&toy, NULL, true);
    struct reel_recording *r = toy_open(&toy);
    AUTO(reel_threads_free) struct reel_threads *threads = threads_of(4);
    static const struct {
        const struct reel_writer *writer;
        const char *compression;
    } all[] = {{&reel_writer_mcap, ""},
               {&reel_writer_mcap, "zstd"},
               {&reel_writer_rosbag_v2, "lz4"},
               {&reel_writer_ndjson, ""}};
    for (size_t i = 0; i < sizeof all / sizeof *all && i < TRIALS; i++) {
        const struct reel_write_options o = {.compression = all[i].compression};
        AUTO(reel_conversion_free)
        struct reel_conversion *c = conversion_of(all[i].writer, r, &selection_all, &o, threads);
        struct reel_error err = {0};
        struct output out = {.stop = 3 << 20};
        assert_false(conversion_write(c, &(struct reel_output){.write = append, .context = &out}, NULL, NULL, &err));
        assert_int_equal(err.code, REEL_NO_SPACE);
        struct output whole = render_alone(all[i].writer, r, &selection_all, &o);
        assert_memory_equal(out.data, whole.data, out.size);
        free(out.data);
        free(whole.data);
        int reports = 0;
        out = (struct output){0};
        bool planned = !(all[i].writer->needs & REEL_STREAMED);
        bool good = conversion_write(c, &(struct reel_output){.write = append, .context = &out}, NULL,
                                     &(struct reel_progress){.report = report_twice, .context = &reports}, &err);
        assert_int_equal(good, !planned); /* rows have no progress */
        assert_true(!planned || err.code == REEL_CANCELLED);
        free(out.data);
    }
    reel_recording_free(r);
    toy_free(&toy);
}

struct failing { /* a source of which some bytes cannot be read */
    struct reel_source source;
    const uint8_t *data;
    _Atomic uint64_t from, to;
    _Atomic uint64_t read; /* bytes so far */
};
static bool failing_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                         struct reel_error *err) {
    struct failing *f = (struct failing *)source;
    if (offset < f->to && offset + size > f->from) {
        return reel_fail(err, REEL_IO, "byte %llu", (unsigned long long)f->from);
    }
    memcpy(buffer, f->data + offset, size);
    atomic_fetch_add(&f->read, size);
    return true;
}
static void failing_free(struct reel_source *source) {
    (void)source;
}

static const struct reel_source_ops failing_ops = {.read = failing_read, .free = failing_free};

static void an_error_comes_where_it_is(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    make_toy(&toy, NULL, true);
    struct failing failing = {.source = {.ops = &failing_ops, .size = toy.size, .name = "test.toy", .sparse = true},
                              .data = toy.data};
    struct reel_source *source = &failing.source;
    assert_true(reel_scan_run(&source, 1, &toy_format, REEL_SCRATCH "/failing.pack", NULL, &err));
    struct reel_recording *r =
        reel_recording_from_index(reel_index_open(REEL_SCRATCH "/failing.pack", &err), &source, 1, NULL, &err);
    AUTO(reel_threads_free) struct reel_threads *threads = threads_of(4);
    static const struct {
        const struct reel_writer *writer;
        const char *compression;
    } all[] = {
        {&reel_writer_mcap, ""}, {&reel_writer_mcap, "zstd"}, {&reel_writer_tide2, ""}, {&reel_writer_ndjson, ""}};
    for (size_t i = 0; i < sizeof all / sizeof *all && i < TRIALS; i++) {
        const struct reel_write_options o = {.compression = all[i].compression};
        struct output whole = render_alone(all[i].writer, r, &selection_all, &o), out = {0}, one = {0};
        AUTO(reel_conversion_free)
        struct reel_conversion *serial = conversion_of(all[i].writer, r, &selection_all, &o, NULL);
        AUTO(reel_conversion_free)
        struct reel_conversion *c = conversion_of(all[i].writer, r, &selection_all, &o, threads);
        atomic_store(&failing.from, 4500000);
        atomic_store(&failing.to, 4500001);
        err = (struct reel_error){0};
        assert_false(conversion_write(c, &(struct reel_output){.write = append, .context = &out}, NULL, NULL, &err));
        assert_false(
            conversion_write(serial, &(struct reel_output){.write = append, .context = &one}, NULL, NULL, NULL));
        atomic_store(&failing.to, 0);
        assert_int_equal(err.code, REEL_IO);
        assert_non_null(strstr(err.text, "byte 4500000"));
        assert_true(out.size >= one.size && out.size < whole.size); /* at least what comes without threads */
        assert_memory_equal(out.data, whole.data, out.size);
        free(out.data);
        free(one.data);
        free(whole.data);
    }
    reel_recording_free(r);
    toy_free(&toy);
}

/* A reader that stops is not rendered ahead of for ever: of 200 MB only the pieces that are held. */
static void memory_is_bounded(void **state) {
    (void)state;
    enum { MESSAGES = 2000, SIZE = 100000, THREADS = 2, PIECES = THREADS + 2, PIECE = 4 << 20 };
    struct toy toy = {0};
    struct reel_error err = {0};
    static uint8_t payload[SIZE];
    toy_start(&toy, REEL_CLOCK_WALL);
    add_channel(&toy, "/raw", "camera/Image", "bytes");
    toy_message(&toy, 0, 1, 1, payload, SIZE);
    for (int64_t i = 2; i <= MESSAGES; i++) {
        toy_message_again(&toy, 0, i, 200, SIZE - 1000);
    }
    struct failing counting = {.source = {.ops = &failing_ops, .size = toy.size, .name = "test.toy", .sparse = true},
                               .data = toy.data};
    struct reel_source *source = &counting.source;
    assert_true(reel_scan_run(&source, 1, &toy_format, REEL_SCRATCH "/counting.pack", NULL, &err));
    struct reel_recording *r =
        reel_recording_from_index(reel_index_open(REEL_SCRATCH "/counting.pack", &err), &source, 1, NULL, &err);
    AUTO(reel_threads_free) struct reel_threads *threads = threads_of(THREADS);
    AUTO(reel_conversion_free)
    struct reel_conversion *c =
        conversion_of(&reel_writer_mcap, r, &selection_all, &(struct reel_write_options){.compression = ""}, threads);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(c, NULL, NULL, &err);
    struct reel_planned_output *render = reel_conversion_output(c, plan, &err);
    uint8_t byte;
    atomic_store(&counting.read, 0);
    assert_true(reel_planned_output_read_ahead(render, 0, reel_plan_length(plan)) &&
                reel_planned_output_read(render, 0, &byte, 1, &err));
    uint64_t before = 0;
    /* until the threads have nothing more to do */
    for (int still = 0, tries = 0; still < 20 && tries < 6000; tries++, before = atomic_load(&counting.read)) {
        still = atomic_load(&counting.read) == before && before > 2 * PIECE ? still + 1 : 0;
        usleep(10000);
    }
    assert_true(before > 2 * PIECE && before <= PIECES * PIECE);
    reel_planned_output_free(render);
    reel_recording_free(r);
    toy_free(&toy);
}

/* ---- turns */

struct turn {
    struct thread_task task;
    _Atomic int *clock;
    int at; /* when it ran */
    pthread_mutex_t *gate;
};
static void run_turn(struct thread_task *task) {
    struct turn *t = (struct turn *)task;
    pthread_mutex_lock(t->gate);
    pthread_mutex_unlock(t->gate);
    t->at = atomic_fetch_add(t->clock, 1);
}

static void clients_take_turns(void **state) {
    (void)state;
    enum { TASKS = 20 };
    static struct turn many[TASKS], few[2], same;
    struct reel_error err = {0};
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    _Atomic int clock = 0;
    struct reel_threads *t = threads_of(1);
    struct thread_client *greedy = threads_client(t, "greedy", &err), *other = threads_client(t, "other", &err),
                         *again = threads_client(t, "greedy", &err), *own = threads_client(t, NULL, &err);
    assert_ptr_equal(greedy, again);
    assert_ptr_not_equal(greedy, other);
    pthread_mutex_lock(&gate); /* the first task waits, so that all others queue */
    for (int i = 0; i < TASKS; i++) {
        many[i] = (struct turn){.task.run = run_turn, .clock = &clock, .gate = &gate, .at = -1};
        assert_true(threads_submit(greedy, &many[i].task));
    }
    same = (struct turn){.task.run = run_turn, .clock = &clock, .gate = &gate, .at = -1};
    assert_true(threads_submit(again, &same.task));
    for (int i = 0; i < 2; i++) {
        few[i] = (struct turn){.task.run = run_turn, .clock = &clock, .gate = &gate, .at = -1};
        assert_true(threads_submit(i == 0 ? other : own, &few[i].task));
    }
    assert_true(threads_withdraw(greedy, &many[5].task));
    assert_false(threads_withdraw(greedy, &many[5].task));
    pthread_mutex_unlock(&gate);
    while (atomic_load(&clock) < TASKS + 2) {
        usleep(1000);
    }
    threads_client_free(greedy);
    threads_client_free(again);
    threads_client_free(other);
    threads_client_free(own);
    reel_threads_free(t);
    assert_int_equal(many[5].at, -1);
    assert_true(few[0].at <= 3 && few[1].at <= 4); /* after one or two of the greedy client */
    assert_int_equal(same.at, TASKS + 1);          /* it gains nothing by a second conversion */
    for (int i = 1; i < TASKS; i++) {
        assert_true(i == 5 || many[i].at > many[i == 6 ? 4 : i - 1].at);
    }
}

static void too_small_for_threads(void **state) {
    (void)state;
    struct toy toy = {0};
    make_toy(&toy, NULL, true);
    struct reel_recording *r = toy_open(&toy);
    struct reel_error err = {0};
    AUTO(reel_threads_free) struct reel_threads *threads = reel_threads_new(NULL, &err);
    AUTO(reel_threads_free) struct reel_threads *low = threads_of(3);
    const struct reel_write_options plain = {.compression = ""};
    struct reel_selection none = selection_all;
    none.start_ns = 50000000;
    struct reel_conversion *c = conversion_of(&reel_writer_mcap, r, &selection_all, &plain, threads);
    assert_int_equal(reel_conversion_threads(c), 0); /* 19 MB */
    reel_conversion_free(c);
    c = conversion_of(&reel_writer_ndjson, r, &selection_all, &plain, low);
    assert_int_equal(reel_conversion_threads(c), 3);
    c->max_threads = 2;
    assert_int_equal(reel_conversion_threads(c), 2);
    c->max_threads = 1;
    assert_int_equal(reel_conversion_threads(c), 0);
    reel_conversion_free(c);
    c = conversion_of(&reel_writer_ndjson, r, &none, &plain, low);
    assert_int_equal(reel_conversion_threads(c), 0);
    reel_conversion_free(c);
    reel_recording_free(r);
    toy_free(&toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_take_turns),
        cmocka_unit_test(every_writer),
        cmocka_unit_test(a_cut),
        cmocka_unit_test(tables),
        cmocka_unit_test(a_message_larger_than_all_pieces),
        cmocka_unit_test(a_large_head),
        cmocka_unit_test(nanover_and_carla),
        cmocka_unit_test(compressed_groups_are_kept),
        cmocka_unit_test(ranges_ahead),
        cmocka_unit_test(left_in_the_middle),
        cmocka_unit_test(an_error_comes_where_it_is),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(too_small_for_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
