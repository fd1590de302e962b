/* Groups whose planned size is met, exceeded by one byte, or nothing: every writer with every compression, over
 * payloads that cannot be compressed, are all alike, or empty. A group that is packed twice equals one that is packed
 * once. */
#define BAG_FORMAT &reel_format_mcap
#include "makers/mcap_maker.h"

#include <stdio.h>

#include "makers/any_output.h"
#include "makers/bag_scan.h"

#include "convert/conversion.h"
#include "convert/writer_run.h"
#include "formats/mcap/layout.h"
#include "formats/mcap/write.h"
#include "reel/open.h"

/* ---- recordings */

enum kind { RANDOM, CONSTANT, EMPTY, KINDS };
static const char *const kind_names[] = {"random", "constant", "empty"};

static uint64_t random_state = 1;
static uint32_t random_number(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

static void make_payload(struct maker *m, enum kind kind, size_t size) {
    for (size_t i = 0; i < size; i++) {
        make_number(m, kind == RANDOM ? random_number() : 'c', 1);
    }
}

static void make_bytes_message(struct maker *m, enum kind kind, unsigned i) {
    static const size_t sizes[] = {1, 300, 0, 20000, 40000};
    make_payload(m, kind, sizes[i % 5]);
}

/* A map of one blob, as NanoVer's readers expect at least; the smallest one has no member. */
static void make_nanover_message(struct maker *m, enum kind kind, unsigned i) {
    enum { SIZE = 30000 };
    (void)i;
    if (kind == EMPTY) {
        make_number(m, 0x80, 1);
        return;
    }
    make_text(m, "\x81\xa1x\xc5");
    make_number(m, SIZE >> 8, 1);
    make_number(m, SIZE & 255, 1);
    make_payload(m, kind, SIZE);
}

/* {"frame": {"particle.positions": …}}: of random ones within 10 nm, of constant ones all alike. */
static void make_frame_message(struct maker *m, enum kind kind, unsigned i) {
    enum { PARTICLES = 40, STEPS = 10000 };
    (void)i;
    make_text(m, "\x81\xa5"
                 "frame\x81\xb2"
                 "particle.positions\xc5");
    make_number(m, 12 * PARTICLES >> 8, 1);
    make_number(m, 12 * PARTICLES & 255, 1);
    for (unsigned k = 0; k < 3 * PARTICLES; k++) {
        uint32_t bits = f32_bits(kind == RANDOM ? (float)(random_number() % STEPS) / 1000 : 1.5F);
        make_number(m, bits, 4);
    }
}

/* Of random ones each has a field of its own, so that most cells of a table are null. */
static void make_json_message(struct maker *m, enum kind kind, unsigned i) {
    char text[100];
    snprintf(text, sizeof text, kind == RANDOM ? "{\"x\":%u.5,\"t\":\"%08x\",\"n%u\":%u}" : "{\"x\":1,\"t\":\"c\"}",
             random_number(), random_number(), i, i);
    make_text(m, text);
}

static void make_header(struct maker *m) {
    make_bytes(m, (const uint8_t[16]){0}, 16);
}

static void make_image_message(struct maker *m, enum kind kind, unsigned i) {
    enum { SIDE = 16 };
    (void)i;
    make_header(m);
    make_number(m, SIDE, 4);
    make_number(m, SIDE, 4);
    mcap_text(m, "rgb8");
    make_number(m, 0, 1);
    make_number(m, SIDE * 3, 4);
    make_number(m, SIDE * SIDE * 3, 4);
    make_payload(m, kind, SIDE * SIDE * 3);
}

static void make_cloud_message(struct maker *m, enum kind kind, unsigned i) {
    enum { POINTS = 200, FLOAT32 = 7, STEP = 12 };
    (void)i;
    make_header(m);
    make_number(m, 1, 4);
    make_number(m, POINTS, 4);
    make_number(m, 3, 4);
    for (unsigned k = 0; k < 3; k++) {
        mcap_text(m, (const char[]){"xyz"[k], '\0'});
        make_number(m, 4 * k, 4);
        make_number(m, FLOAT32, 1);
        make_number(m, 1, 4);
    }
    make_number(m, 0, 1);
    make_number(m, STEP, 4);
    make_number(m, STEP * POINTS, 4);
    make_number(m, STEP * POINTS, 4);
    make_payload(m, kind, STEP * POINTS);
    make_number(m, 1, 1);
}

#define HEADER_DEFINITION "===\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
static const struct shape {
    const char *type, *definition, *encoding;
    bool special; /* only for writers that do not take the others */
    void (*make)(struct maker *m, enum kind kind, unsigned i);
    unsigned messages;
} shapes[] = {
    {NULL, NULL, "unknown", false, make_bytes_message, 10},
    {NULL, NULL, "json", false, make_json_message, 60},
    {NULL, NULL, "nanover", true, make_nanover_message, 5},
    {NULL, NULL, "nanover", true, make_frame_message, 300},
    {"sensor_msgs/Image",
     "Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\n"
     "uint8[] data\n" HEADER_DEFINITION,
     "ros1", true, make_image_message, 20},
    {"sensor_msgs/PointCloud2",
     "Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\nuint32 point_step\n"
     "uint32 row_step\nuint8[] data\nbool is_dense\n" HEADER_DEFINITION
     "===\nMSG: sensor_msgs/PointField\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n",
     "ros1", true, make_cloud_message, 3},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void begin_file(struct maker *m, const struct shape *s) {
    mcap_header(m, "", "");
    if (s->type) {
        mcap_schema(m, 1, s->type, "ros1msg", s->definition);
    }
    mcap_channel(m, 1, s->type ? 1 : 0, "/b", s->encoding, NULL);
}

static size_t begin_message(struct maker *m, unsigned i) {
    size_t record = mcap_begin(m, 5);
    make_number(m, 1, 2);
    make_number(m, i, 4);
    make_number(m, MCAP_T + i, 8);
    make_number(m, MCAP_T + i, 8);
    return record;
}

static struct maker make_file(const struct shape *s, enum kind kind) {
    struct maker m = {0};
    begin_file(&m, s);
    for (unsigned i = 0; i < s->messages; i++) {
        size_t record = begin_message(&m, i);
        if (kind != EMPTY || strcmp(s->encoding, "nanover") == 0) {
            s->make(&m, kind, i);
        }
        mcap_end(&m, record);
    }
    mcap_close(&m);
    return m;
}

/* ---- outputs */

struct trial {
    const struct reel_writer *writer;
    struct reel_write_options options;
    struct reel_recording *recording;
    struct reel_threads *threads;
    const char *what; /* for messages */
    bool special;
};

struct output {
    struct maker bytes;
    struct reel_error err; /* code REEL_OK: the output is whole */
};

static void output_free(struct output *o) {
    free(o->bytes.data);
}

static bool append(void *context, const void *data, size_t size, struct reel_error *err) {
    (void)err;
    make_bytes(context, data, size);
    return true;
}

static bool rewrite(void *context, const void *data, size_t size, struct reel_error *err) {
    struct maker *m = context;
    (void)err;
    assert_true(size <= m->size);
    memcpy(m->data, data, size);
    return true;
}

static struct reel_stream *stream_of(const struct trial *t) {
    struct reel_error err = {0};
    struct reel_recording *recording = t->recording;
    struct reel_stream *s = reel_writer_stream(t->writer, &recording, 1, &selection_all, &err);
    assert_non_null(s);
    return s;
}

static bool is_accepted(const struct trial *t) {
    AUTO(reel_stream_free) struct reel_stream *s = stream_of(t);
    return reel_writer_accepts(t->writer, s, NULL, NULL);
}

/* In one go, on the caller's thread or on several. */
static struct output convert(const struct trial *t, const struct reel_writer *writer, bool threads) {
    struct output out = {0};
    struct reel_recording *recording = t->recording;
    AUTO(reel_conversion_free)
    struct reel_conversion *c = reel_conversion_new(writer, &recording, 1, &selection_all, &t->options,
                                                    threads ? t->threads : NULL, NULL, &out.err);
    assert_non_null(c);
    conversion_write(c, &(struct reel_output){.write = append, .rewrite = rewrite, .context = &out.bytes}, NULL, NULL,
                     &out.err);
    return out;
}

static struct reel_plan *plan_of(const struct trial *t, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *s = stream_of(t);
    return reel_plan_new(t->writer, &t->options, s, NULL, err);
}

/* By one stream in pieces; `plan` NULL: the writer streams. */
static struct output render(const struct trial *t, struct reel_plan *plan) {
    enum { STREAMED_STEP = 5000, PIECES = 5 };
    struct output out = {0};
    size_t step = plan ? (size_t)reel_plan_length(plan) / PIECES + 1 : STREAMED_STEP, got = 1;
    struct any_output any;
    AUTO_MEM uint8_t *piece = malloc(step);
    assert_true(any_output_open(&any, plan, t->writer, &t->options, stream_of(t), &out.err) && piece);
    while (got > 0 && any_output_next(&any, piece, step, &got, &out.err)) {
        make_bytes(&out.bytes, piece, got);
    }
    any_output_close(&any);
    return out;
}

static void assert_same(const struct trial *t, const struct output *expected, struct output is, const char *how) {
    bool same = is.err.code == expected->err.code &&
                (is.err.code != REEL_OK || (is.bytes.size == expected->bytes.size &&
                                            memcmp(is.bytes.data, expected->bytes.data, is.bytes.size) == 0));
    if (!same) {
        fail_msg("%s%s %s of %s, %s: %zu bytes instead of %zu; %s", t->writer->name, t->writer->extension,
                 t->options.compression, t->what, how, is.bytes.size, expected->bytes.size, is.err.text);
    }
    output_free(&is);
}

/* ---- planned sizes */

/* A writer that plans for each group that it packs `less` bytes fewer than the group has. */
static struct {
    const struct reel_writer *real;
    const struct reel_plan *plan; /* made without it */
    uint64_t less;
    unsigned packed; /* groups */
} forced;

static bool forced_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    uint64_t from = out->pos;
    if (!forced.real->messages(w, out, err)) {
        return false;
    }
    if (w->planning && ((const struct writer_run *)w)->packs) {
        uint64_t size = forced.plan->groups[w->group].size;
        out->pos = from + (size > forced.less ? size - forced.less : 0);
        forced.packed++;
    }
    return true;
}

/* How many groups are packed. */
static unsigned check_planned_sizes(const struct trial *t, const struct reel_plan *plan,
                                    const struct output *expected) {
    static const struct {
        uint64_t less;
        const char *how;
        bool threads;
    } ways[] = {{1, "a byte more than planned", false}, {UINT64_MAX, "nothing planned", true}, {0, "as planned", true}};
    struct reel_writer writer = *t->writer;
    writer.messages = forced_messages;
    forced.real = t->writer;
    forced.plan = plan;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        forced.less = ways[i].less;
        forced.packed = 0;
        assert_same(t, expected, convert(t, &writer, ways[i].threads), ways[i].how);
        if (forced.packed == 0) {
            return 0;
        }
    }
    return forced.packed;
}

static void check_ranges(const struct trial *t, struct reel_plan *plan, const struct maker *whole) {
    struct reel_error err = {0};
    AUTO(reel_planned_output_free) struct reel_planned_output *r = reel_planned_output_new(plan, stream_of(t), &err);
    assert_non_null(r);
    for (unsigned i = 0; i < 4; i++) {
        size_t at = random_number() % whole->size, left = whole->size - at, size = 1 + random_number() % left;
        size = i % 2 && size > 1000 ? 1000 : size;
        AUTO_MEM uint8_t *piece = malloc(size);
        reel_planned_output_expect(r, at + size);
        if (!reel_planned_output_read(r, at, piece, size, &err)) {
            fail_msg("%s of %s, %zu bytes at %zu: %s", t->writer->name, t->what, size, at, err.text);
        }
        assert_memory_equal(piece, whole->data + at, size);
    }
}

/* ---- reading back */

static bool is_read(const struct reel_writer *writer) {
    return writer->recorder || strcmp(writer->name, "rosbag2") == 0 || strcmp(writer->name, "carla") == 0;
}

/* The output has the messages of the stream from which it was made. */
static void check_messages(const struct trial *t, const struct maker *bytes) {
    char path[200];
    struct reel_error err = {0};
    struct reel_message m, n;
    snprintf(path, sizeof path, REEL_SCRATCH "/out%s", t->writer->extension);
    FILE *f = fopen(path, "wb");
    assert_true(f && fwrite(bytes->data, 1, bytes->size, f) == bytes->size && fclose(f) == 0);
    AUTO(reel_recording_free) struct reel_recording *back = reel_recording_open(path, NULL, &err);
    if (!back) {
        fail_msg("%s %s of %s: %s", path, t->options.compression, t->what, err.text);
    }
    AUTO(reel_stream_free) struct reel_stream *s = stream_of(t);
    AUTO(reel_stream_free) struct reel_stream *read = reel_stream_open(&back, 1, &selection_all, &err);
    enum reel_step step;
    while ((step = stream_next(s, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes a, b;
        assert_int_equal(stream_next(read, &n, &err), REEL_STEP_MESSAGE);
        assert_true(reel_stream_payload(s, &m, &a, &err) && reel_stream_payload(read, &n, &b, &err));
        if (a.size != b.size || memcmp(a.data, b.data, a.size) != 0) {
            fail_msg("%s %s of %s: a message of %zu bytes has %zu", path, t->options.compression, t->what, a.size,
                     b.size);
        }
    }
    assert_int_equal(step, REEL_STEP_END);
    assert_int_equal(stream_next(read, &n, &err), REEL_STEP_END);
}

/* ---- the tests */

static struct {
    unsigned written, packed, read; /* recordings, groups, recordings */
    bool common;                    /* it takes messages of any kind */
} done[100];                        /* by number of writer and compression */

static void check(const struct trial *t, unsigned number) {
    struct reel_error err = {0};
    bool streamed = t->writer->needs & REEL_STREAMED;
    if ((t->special && done[number].common) || !is_accepted(t)) {
        return;
    }
    done[number].common |= !t->special;
    AUTO(reel_plan_free) struct reel_plan *plan = streamed ? NULL : plan_of(t, &err);
    struct output expected = {.err = err};
    if (plan || streamed) {
        expected = render(t, plan);
    }
    assert_same(t, &expected, convert(t, t->writer, false), "one thread");
    assert_same(t, &expected, convert(t, t->writer, true), "several threads");
    if (expected.err.code == REEL_OK) {
        done[number].written++;
        if (plan) {
            check_ranges(t, plan, &expected.bytes);
            done[number].packed += check_planned_sizes(t, plan, &expected);
        }
        if (is_read(t->writer)) {
            check_messages(t, &expected.bytes);
            done[number].read++;
        }
    }
    output_free(&expected);
}

/* visit() with every compression, "" first. */
static void each_trial(struct trial *t, void (*visit)(const struct trial *t, unsigned number)) {
    unsigned number = 0;
    for (const struct reel_writer *const *w = reel_writers; *w; w++) {
        char names[100], *rest = names;
        snprintf(names, sizeof names, " %s", (*w)->compressions ? (*w)->compressions : "");
        t->writer = *w;
        for (char *name; (name = strsep(&rest, " "));) {
            if (name == names || *name) {
                assert_true(number < sizeof done / sizeof *done);
                t->options = (struct reel_write_options){.compression = name};
                visit(t, number++);
            }
        }
    }
}

static struct reel_threads *threads_new(void) {
    struct reel_error err = {0};
    struct reel_threads *t = reel_threads_new(
        &(struct reel_threads_options){.size = sizeof(struct reel_threads_options), .threads = 3, .from_bytes = 1},
        &err);
    assert_non_null(t);
    return t;
}

static void assert_done(const struct trial *t, unsigned number) {
    if (done[number].written == 0 || (is_read(t->writer) && done[number].read == 0)) {
        fail_msg("%s %s: no recording is written", t->writer->name, t->options.compression);
    }
    bool packs = t->options.compression[0] != '\0' && (t->writer->needs & (REEL_HEAD_FIRST | REEL_HEAD_LAST));
    assert_true(!packs || done[number].packed > 0);
}

static void every_writer_and_compression(void **state) {
    (void)state;
    AUTO(reel_threads_free) struct reel_threads *threads = threads_new();
    struct trial t = {.threads = threads};
    for (unsigned s = 0; s < SHAPES; s++) {
        for (enum kind kind = 0; kind < KINDS; kind++) {
            char what[100];
            snprintf(what, sizeof what, "%s %s messages", kind_names[kind],
                     shapes[s].type ? shapes[s].type : shapes[s].encoding);
            struct maker file = make_file(&shapes[s], kind);
            AUTO(reel_recording_free) struct reel_recording *r = bag_scan(&file);
            t.recording = r;
            t.what = what;
            t.special = shapes[s].special;
            each_trial(&t, check);
            reel_recording_free(TAKE(r));
            free(file.data);
        }
    }
    struct reel_error err = {0};
    AUTO(reel_recording_free)
    struct reel_recording *carla = reel_recording_open(REEL_TESTS "/golden/carla/version_0.9.16/input.log", NULL, &err);
    assert_non_null(carla);
    t.recording = carla;
    t.what = "a CARLA log";
    each_trial(&t, check);
    each_trial(&t, assert_done);
}

/* Of MCAP's chunks: those that are compressed, those that are rendered whole, and larger ones. */
static void messages_as_large_as_a_group_may_be(void **state) {
    (void)state;
    enum { REST = MCAP_CHUNK_HEAD + MCAP_MESSAGE_INDEX_HEAD + MCAP_MESSAGE_INDEX_ENTRY };
    static const uint64_t records[] = {MCAP_PACKED_MAX, MCAP_PACKED_MAX + 1, REEL_GROUP_WHOLE_MAX - REST,
                                       REEL_GROUP_WHOLE_MAX - REST + 1};
    static const struct shape shape = {.encoding = "unknown"};
    static const char *const ways[][2] = {{".mcap", ""}, {".mcap", "zstd"}, {".rosbag2.zip", "zstd"}};
    static uint32_t payload[REEL_GROUP_WHOLE_MAX / sizeof(uint32_t)];
    struct reel_error err = {0};
    struct maker file = {0};
    for (size_t i = 0; i < sizeof payload / sizeof *payload; i++) {
        payload[i] = random_number();
    }
    begin_file(&file, &shape);
    for (unsigned i = 0; i < sizeof records / sizeof *records; i++) {
        size_t record = begin_message(&file, i);
        make_bytes(&file, payload, records[i] - MCAP_MESSAGE_HEAD);
        mcap_end(&file, record);
    }
    mcap_close(&file);
    AUTO(reel_recording_free) struct reel_recording *r = bag_scan(&file);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct trial t = {.writer = reel_writer_named(ways[i][0], NULL, &err),
                          .options.compression = ways[i][1],
                          .recording = r,
                          .what = "large messages"};
        AUTO(reel_plan_free) struct reel_plan *plan = plan_of(&t, &err);
        assert_non_null(plan);
        struct output expected = render(&t, plan);
        assert_same(&t, &expected, convert(&t, t.writer, false), "one thread");
        check_messages(&t, &expected.bytes);
        output_free(&expected);
    }
    reel_recording_free(TAKE(r));
    free(file.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_writer_and_compression),
        cmocka_unit_test(messages_as_large_as_a_group_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
