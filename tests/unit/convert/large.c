/* Outputs beyond the fields of 32 bits that formats have: files of more than 4 GiB (a tar of more than 8), and messages
 * of almost that. Recordings repeat one run of bytes that is nowhere stored, outputs are rendered where a reader reads
 * them, so that neither needs memory or a disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/plan.h"
#include "convert/writer.h"
#include "index/scan.h"
#include "read/reader.h"
#include "stream/stream.h"

#define GIB (UINT64_C(1) << 30)
#define T0 INT64_C(1700000000000000000)
enum { TAIL = 64, FILLER = 'z' };

static void source_free(struct reel_source *source) {
    free(source);
}

/* ---- recordings */

/* Messages of `size` bytes, which all are the same bytes of the file: `head`, then FILLER. */
struct shape {
    const char *encoding, *type;
    uint32_t messages, size;
    struct reel_bytes head;
};
static struct shape shape;

static bool recorded_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                          struct reel_error *err) {
    (void)source;
    (void)err;
    memset(buffer, FILLER, size);
    if (offset < shape.head.size) {
        size_t left = shape.head.size - (size_t)offset;
        memcpy(buffer, shape.head.data + offset, left < size ? left : size);
    }
    return true;
}

static bool large_scan(struct reel_scan *scan, struct reel_error *err) {
    const char *topics[] = {"frame"};
    struct reel_channel c = {.name = "/a",
                             .type = shape.type ? shape.type : "p/msg/T",
                             .encoding = shape.encoding,
                             .topics = topics,
                             .n_topics = 1};
    uint32_t id;
    reel_scan_clock(scan, REEL_CLOCK_WALL, NULL);
    bool good = reel_scan_channel(scan, &c, &id, err);
    for (uint32_t i = 0; i < shape.messages && good; i++) {
        const struct reel_entry e = {.time_ns = T0 + i * INT64_C(1000000), .channel = id, .size = shape.size};
        good = reel_scan_entry(scan, &e, err);
    }
    return good;
}
/* A pack names its format, which must be one that there is; this one says nothing of its messages. */
extern const struct reel_format reel_format_ulog;
static struct reel_format large;

static struct reel_recording *open_source(struct reel_source *source, const struct reel_format *format,
                                          const char *pack) {
    struct reel_error err = {0};
    const struct reel_recording_options options = {0};
    struct reel_source **parts = malloc(sizeof(struct reel_source *));
    assert_non_null(parts);
    parts[0] = source;
    if (!reel_scan_run(parts, 1, format, pack, NULL, &err)) {
        fail_msg("%s: %s", source->name, err.text);
    }
    struct reel_recording *r = reel_recording_from_index(reel_index_open(pack, &err), parts, 1, &options, &err);
    assert_non_null(r);
    free(parts);
    return r;
}

static struct reel_recording *make(const struct shape *s) {
    static const struct reel_source_ops ops = {.read = recorded_read, .free = source_free};
    struct reel_source *source = calloc(1, sizeof *source);
    assert_non_null(source);
    shape = *s;
    large = reel_format_ulog;
    large.scan = large_scan;
    *source = (struct reel_source){.ops = &ops, .size = s->size, .name = "large"};
    return open_source(source, &large, REEL_SCRATCH "/large.pack");
}

/* ---- outputs, as sources */

struct output {
    struct reel_source source;
    struct reel_planned_output *rendered;
};

static bool output_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                        struct reel_error *err) {
    return reel_planned_output_read(((struct output *)source)->rendered, offset, buffer, size, err);
}
static void output_free(struct reel_source *source) {
    reel_planned_output_free(((struct output *)source)->rendered);
    free(source);
}

static struct reel_plan *plan_of(struct reel_recording *r, const struct reel_writer *writer, struct reel_error *err) {
    const struct reel_write_options options = {.compression = writer->compressions ? "none" : "", .name = "large"};
    AUTO(reel_stream_free) struct reel_stream *s = reel_writer_stream(writer, &r, 1, &selection_all, err);
    assert_non_null(s);
    return reel_plan_new(writer, &options, s, NULL, err);
}

static struct reel_source *render(struct reel_recording *r, const struct reel_writer *writer, struct reel_plan *plan) {
    static const struct reel_source_ops ops = {.read = output_read, .free = output_free};
    struct output *o = calloc(1, sizeof *o);
    struct reel_error err = {0};
    assert_non_null(o);
    o->source = (struct reel_source){.ops = &ops, .size = reel_plan_length(plan), .name = "output"};
    o->rendered = reel_planned_output_new(plan, reel_writer_stream(writer, &r, 1, &selection_all, &err), &err);
    assert_non_null(o->rendered);
    return &o->source;
}

/* All messages are there, and the last one ends as it should. */
static void check_output(struct reel_recording *r, const struct reel_writer *writer, struct reel_plan *plan) {
    struct reel_error err = {0};
    struct reel_message m = {0}, last = {0};
    uint8_t tail[TAIL];
    AUTO(reel_recording_free)
    struct reel_recording *back = open_source(render(r, writer, plan), NULL, REEL_SCRATCH "/output.pack");
    const struct reel_index *index = reel_recording_index(back);
    size_t findings = 0;
    const struct reel_finding *f = reel_index_findings(index, &findings);
    for (size_t i = 0; i < findings; i++) {
        if (f[i].severity != REEL_NOTE) {
            fail_msg("%s: %s", writer->name, f[i].text);
        }
    }
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&back, 1, &selection_all, &err);
    uint32_t n = 0;
    for (; stream_next(s, &m, &err) == REEL_STEP_MESSAGE; n++) {
        assert_int_equal(m.size, shape.size);
        assert_int_equal(m.time_ns / 1000000, T0 / 1000000 + n);
        last = m;
    }
    assert_int_equal(n, shape.messages);
    assert_true(reel_stream_copy(s, &last, shape.size - TAIL, tail, TAIL, &err));
    for (size_t i = 0; i < TAIL; i++) {
        assert_int_equal(tail[i], FILLER);
    }
}

/* ---- the tests */

#define WRITERS(X)                                                                                                     \
    X(mp4)                                                                                                             \
    X(parquet)                                                                                                         \
    X(mcap)                                                                                                            \
    X(rosbag2) X(rosbag2_tar) X(rosbag2_sqlite3) X(rosbag_v2) X(rosbag_v1) X(mira) X(tide) X(tide0) X(tide2)           \
        X(nanover)
#define DECLARE(name) extern const struct reel_writer reel_writer_##name;
WRITERS(DECLARE)
#define OF(name) &reel_writer_##name

#define BYTES(text)                                                                                                    \
    { (const uint8_t *)(text), sizeof(text) - 1 }
/* {"frame": {"x": … bytes}} */
#define NANOVER_HEAD                                                                                                   \
    "\x81\xa5"                                                                                                         \
    "frame\x81\xa1x\xc6\x07\x7f\xff\xf1"

/* Each file is larger than 4 GiB, a tar than 8. */
static void files_beyond_32_bits(void **state) {
    static const struct {
        const struct reel_writer *writer;
        struct shape shape;
    } cases[] = {
        {OF(mcap), {.encoding = "cdr", .messages = 37, .size = 120 << 20}},
        {OF(rosbag2), {.encoding = "cdr", .messages = 37, .size = 120 << 20}},
        {OF(rosbag2_tar), {.encoding = "cdr", .messages = 70, .size = 120 << 20}},
        {OF(rosbag2_sqlite3), {.encoding = "cdr", .messages = 37, .size = 120 << 20}},
        {OF(rosbag_v2), {.encoding = "cdr", .messages = 37, .size = 120 << 20}},
        {OF(rosbag_v1), {.encoding = "cdr", .messages = 37, .size = 120 << 20}},
        {OF(mira), {.encoding = "cdr", .messages = 37, .size = 120 << 20}},
        {OF(tide), {.encoding = "cdr", .messages = 37, .size = 120 << 20}},
        {OF(tide0), {.encoding = "cdr", .messages = 37, .size = 120 << 20}},
        {OF(tide2), {.encoding = "cdr", .messages = 37, .size = 120 << 20}},
        {OF(nanover), {.encoding = "nanover", .messages = 37, .size = 120 << 20, .head = BYTES(NANOVER_HEAD)}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reel_error err = {0};
        AUTO(reel_recording_free) struct reel_recording *r = make(&cases[i].shape);
        AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, cases[i].writer, &err);
        if (!plan) {
            fail_msg("%s: %s", cases[i].writer->name, err.text);
        }
        assert_true(reel_plan_length(plan) > (cases[i].writer == OF(rosbag2_tar) ? 8 * GIB : 4 * GIB));
        check_output(r, cases[i].writer, plan);
    }
}

/* The longest payload that a message may have: with its head it exceeds the lengths of some formats. */
static void messages_of_32_bits(void **state) {
    static const struct {
        const struct reel_writer *writer;
        const char *encoding, *refused; /* NULL: it is written */
    } cases[] = {
        {OF(mcap), "cdr", NULL},
        {OF(rosbag2), "cdr", NULL},
        {OF(rosbag2_tar), "cdr", NULL},
        {OF(rosbag2_sqlite3), "cdr", "topic /a: a message of 4294967295 bytes is larger than SQLite takes"},
        {OF(rosbag_v2), "cdr", "topic /a: a message of 4294967295 bytes does not fit a chunk of a ROS bag"},
        {OF(rosbag_v1), "cdr", "topic /a: a message of 4294967295 bytes has no room for its wrapper"},
        {OF(rosbag_v1), "ros1", NULL},
        {OF(mira), "cdr", "topic /a: a message of 4294967295 bytes is too large for a tape"},
        {OF(tide), "cdr", NULL},
        {OF(tide0), "cdr", NULL},
        {OF(tide2), "cdr", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reel_error err = {0};
        const struct shape longest = {.encoding = cases[i].encoding, .messages = 1, .size = UINT32_MAX};
        AUTO(reel_recording_free) struct reel_recording *r = make(&longest);
        AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, cases[i].writer, &err);
        if (cases[i].refused) {
            assert_null(plan);
            assert_string_equal(err.text, cases[i].refused);
            assert_int_equal(err.code, REEL_UNSUPPORTED);
        } else if (!plan) {
            fail_msg("%s: %s", cases[i].writer->name, err.text);
        } else {
            check_output(r, cases[i].writer, plan);
        }
    }
}

/* ---- a table */

/* The offset of the last row group is in the footer, as Thrift writes a number of 64 bits. */
static void a_table_beyond_32_bits(void **state) {
    (void)state;
    struct reel_error err = {0};
    AUTO(reel_recording_free)
    struct reel_recording *r = make(&(struct shape){.encoding = "x", .messages = 72, .size = 60 << 20});
    AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, &reel_writer_parquet, &err);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_source_free) struct reel_source *table = render(r, &reel_writer_parquet, plan);
    uint64_t last = plan->groups[plan->n_groups - 1].offset;
    assert_int_equal(plan->n_groups, 72);
    assert_true(last > 4 * GIB);
    uint8_t end[8], number[10];
    assert_true(reel_source_read(table, table->size - 8, end, sizeof end, &err));
    assert_memory_equal(end + 4, "PAR1", 4);
    uint32_t size = load_u32le(end);
    AUTO_MEM uint8_t *footer = malloc(size);
    assert_true(reel_source_read(table, table->size - 8 - size, footer, size, &err));
    size_t n = 0;
    for (uint64_t zigzag = 2 * last; zigzag > 0; zigzag >>= 7) {
        number[n++] = (uint8_t)(zigzag | (zigzag > 127 ? 128 : 0));
    }
    assert_non_null(memmem(footer, size, number, n));
}

/* ---- a video */

static uint64_t number_at(struct reel_source *source, uint64_t at, unsigned size) {
    uint8_t bytes[8];
    uint64_t value = 0;
    struct reel_error err = {0};
    assert_true(reel_source_read(source, at, bytes, size, &err));
    for (unsigned i = 0; i < size; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

/* The box of this type in the first MiB. */
static uint64_t find_box(struct reel_source *source, const char type[4]) {
    static uint8_t begin[1 << 20];
    struct reel_error err = {0};
    assert_true(reel_source_read(source, 0, begin, sizeof begin, &err));
    const uint8_t *found = memmem(begin, sizeof begin, type, 4);
    assert_non_null(found);
    return (uint64_t)(found - begin) - 4;
}

/* Key frames of an H.264 stream in sensor_msgs/CompressedImage of ROS 1. */
#define FRAME_HEAD                                                                                                     \
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0h264\xe4\xff\xbf\x03"                                                     \
    "\0\0\0\1\x67\x42\xc0\x0a\xda\x10\x9b\x01\x10\0\0\3\0\x10\0\0\3\3\xc0\xf1\x22\x6a"                                 \
    "\0\0\0\1\x68\xce\x0f\xc8\0\0\0\1\x65"

static void a_video_beyond_32_bits(void **state) {
    static const struct shape frames = {.encoding = "ros1",
                                        .type = "sensor_msgs/CompressedImage",
                                        .messages = 72,
                                        .size = 60 << 20,
                                        .head = BYTES(FRAME_HEAD)};
    struct reel_error err = {0};
    (void)state;
    AUTO(reel_recording_free) struct reel_recording *r = make(&frames);
    AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, &reel_writer_mp4, &err);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_source_free) struct reel_source *video = render(r, &reel_writer_mp4, plan);
    assert_true(video->size > 4 * GIB);
    uint64_t mdat = find_box(video, "mdat"), sizes = find_box(video, "stsz"), sum = 0;
    assert_int_equal(number_at(video, mdat, 4), 1); /* its size is behind its type */
    assert_int_equal(mdat + number_at(video, mdat + 8, 8), video->size);
    assert_int_equal(number_at(video, find_box(video, "co64") + 16, 8), mdat + 16);
    assert_int_equal(number_at(video, sizes + 16, 4), frames.messages);
    for (uint32_t i = 0; i < frames.messages; i++) {
        uint64_t at = mdat + 16 + sum, size = number_at(video, sizes + 20 + 4 * i, 4);
        assert_int_equal(number_at(video, at, 4), size - 4); /* one unit */
        assert_int_equal(number_at(video, at + 4, 1), 0x65);
        assert_int_equal(number_at(video, at + size - 1, 1), FILLER);
        sum += size;
    }
    assert_int_equal(mdat + 16 + sum, video->size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_beyond_32_bits),
        cmocka_unit_test(messages_of_32_bits),
        cmocka_unit_test(a_table_beyond_32_bits),
        cmocka_unit_test(a_video_beyond_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
