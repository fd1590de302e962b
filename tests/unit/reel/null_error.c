/* `err` may be NULL: every function reel_… that takes one is called without, on input that it refuses where
 * there is such input. tests/lint/null_error.py checks that none is missing here. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "convert/conversion.h"
#include "convert/split.h"
#include "formats/carla/follow.h"
#include "formats/carla/question.h"
#include "formats/nanover/question.h"
#include "formats/rosbag/info.h"
#include "formats/rows/append.h"
#include "formats/tide/report.h"
#include "index/growing.h"
#include "index/index.h"
#include "index/scan.h"
#include "media/picture.h"
#include "reel/reel.h"
#include "reel/values.h"
#include "stream/stream.h"
#include "stream/view.h"

#define MCAP "mcap/zstd/input.mcap"
#define CARLA "carla/user_packets/input.log"
#define NANOVER "nanover/deflated/input.nanover.zip"
#define BAG "rosbag-2.0/bz2/input.bag"
#define TIDE "tide/usual/input.tide"

/* ---- recordings whose files cannot be read any more */

static bool broken; /* every read fails */

struct breakable {
    struct reel_source source; /* first */
    struct reel_source *below;
};
static bool breakable_read(struct reel_source *s, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    return broken ? reel_fail(err, REEL_IO, "broken")
                  : reel_source_read(((struct breakable *)s)->below, offset, buffer, size, err);
}
static void breakable_free(struct reel_source *s) {
    reel_source_free(((struct breakable *)s)->below);
    free(s);
}
static struct reel_source *breakable_open(const char *name) {
    static const struct reel_source_ops ops = {.read = breakable_read, .free = breakable_free};
    char path[300];
    snprintf(path, sizeof path, REEL_TESTS "/golden/%s", name);
    struct reel_source *below = reel_source_open(path, NULL, NULL);
    struct breakable *s = calloc(1, sizeof *s);
    assert_true(below && s);
    *s = (struct breakable){.source = {.ops = &ops, .size = below->size, .name = below->name}, .below = below};
    return &s->source;
}

static const char pack[] = REEL_SCRATCH "/null_error.pack";

static struct reel_recording *open_broken(const char *name) {
    broken = false;
    struct reel_source *source = breakable_open(name);
    assert_true(reel_scan_run(&source, 1, NULL, pack, NULL, NULL));
    struct reel_index *index = reel_index_open(pack, NULL);
    struct reel_recording *recording = reel_recording_from_index(index, &source, 1, NULL, NULL);
    assert_non_null(recording);
    broken = true;
    return recording;
}

/* At its first message. */
static struct reel_stream *open_stream(struct reel_recording *recording, struct reel_message *m) {
    struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, NULL);
    assert_true(stream && stream_next(stream, m, NULL) == REEL_STEP_MESSAGE);
    return stream;
}

static bool refuse_columns(void *context, const char *const *names, unsigned n) {
    (void)context;
    (void)names;
    (void)n;
    return false;
}
static bool refuse_row(void *context, const struct reel_cell *cells, unsigned n) {
    (void)context;
    (void)cells;
    (void)n;
    return false;
}
static bool refuse_end(void *context) {
    (void)context;
    return false;
}
static const struct reel_table refusing = {.columns = refuse_columns, .row = refuse_row, .end = refuse_end};
static bool refuse_text(void *context, const char *text, size_t size) {
    (void)context;
    (void)text;
    (void)size;
    return false;
}
static bool refuse_bytes(void *context, const void *data, size_t size, struct reel_error *err) {
    (void)context;
    (void)data;
    (void)size;
    return reel_fail(err, REEL_IO, "no");
}
static bool stop(void *context, uint64_t done, uint64_t total) {
    (void)context;
    (void)done;
    (void)total;
    return false;
}
static const struct reel_progress cancelled = {.report = stop};
static bool ignore_field(void *context, const struct reel_field *field) {
    (void)context;
    (void)field;
    return true;
}
static bool ignore_entry(void *context, const struct reel_entry *entry) {
    (void)context;
    (void)entry;
    return true;
}
static bool ignore_chunk(void *context, const struct reel_chunk *chunk) {
    (void)context;
    (void)chunk;
    return true;
}

/* ---- errors, times, sources, files */

static void errors_and_times(void **state) {
    (void)state;
    struct reel_time time = {0};
    struct reel_split_rule rule;
    int64_t ns;
    assert_false(reel_fail(NULL, REEL_DAMAGED, "x"));
    assert_false(reel_fail_errno(NULL, "x"));
    assert_false(reel_fail_memory(NULL));
    assert_false(reel_error_at(NULL, "x"));
    assert_false(reel_error_pass(NULL, &(struct reel_error){.code = REEL_IO}));
    assert_false(reel_error_ignore(NULL, &(struct reel_error){.code = REEL_IO}));
    assert_false(reel_time_parse("noon", 1, &time, NULL));
    assert_true(reel_time_parse("9223372036854775807", 1, &time, NULL));
    reel_time_within(&time, INT64_MIN, INT64_MIN, &ns, NULL);
    assert_false(reel_duration_parse("long", &ns, NULL));
    assert_false(reel_split_parse("x", &rule, NULL));
    assert_false(reel_split_parse("key:", &rule, NULL));
    assert_null(reel_view_named("nothing", NULL));
    assert_null(reel_writer_named(".nothing", NULL, NULL));
    assert_null(reel_writer_for_file("x.nothing", NULL, NULL));
    AUTO(reel_threads_free)
    struct reel_threads *threads = reel_threads_new(
        &(struct reel_threads_options){.size = sizeof(struct reel_threads_options), .threads = 1}, NULL);
    AUTO(reel_cache_free) struct reel_cache *cache = reel_cache_new(0, NULL);
    AUTO(reel_table_text_free)
    struct reel_table_text *text =
        reel_table_text_new(REEL_TABLE_CSV, &(struct reel_text_sink){.put = refuse_text}, NULL);
    assert_true(threads && cache && text);
}

static void sources(void **state) {
    (void)state;
    uint8_t byte;
    assert_null(reel_source_open(REEL_SCRATCH "/nothing", NULL, NULL));
    assert_null(reel_source_from_fd(-1, "x", NULL));
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(bytes_text("no recording"), "x", NULL);
    assert_non_null(source);
    assert_null(reel_source_slice(source, 100, 1, NULL));
    assert_false(reel_source_read(source, 100, &byte, 1, NULL));
    assert_null(reel_format_probe(source, NULL));
    assert_false(reel_scan_run(&source, 1, NULL, pack, NULL, NULL));
    assert_false(reel_scan_run_on(&source, 1, NULL, pack, NULL, NULL, NULL));
    assert_false(reel_scan_summary(&source, 1, reel_formats[0], pack, NULL, NULL));
    assert_null(reel_scan_index(&source, 1, NULL, NULL, false, NULL, NULL, NULL));
}

static void files(void **state) {
    (void)state;
    const char *const none = REEL_SCRATCH "/nothing";
    assert_null(reel_recording_open(none, NULL, NULL));
    assert_null(reel_recording_open_files(&none, 1, NULL, NULL));
    assert_null(reel_summary_open(&none, 1, NULL, NULL));
    assert_null(reel_index_open(none, NULL));
    assert_null(reel_growing_open(none, reel_formats[0], pack, NULL));
    AUTO_FD int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_null(reel_statistics_open(fd, NULL));
}

/* What is cut anywhere is scanned with the same result. */
static void cut_files(void **state) {
    (void)state;
    const char *const names[] = {MCAP, CARLA, NANOVER, BAG, TIDE, "rosbag-1.2/definition_late/input.bag"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        AUTO(reel_source_free) struct reel_source *whole = (broken = false, breakable_open(names[i]));
        for (uint64_t cut = 0; cut < 60; cut++) {
            struct reel_error err = {0};
            AUTO(reel_source_free) struct reel_source *part = reel_source_slice(whole, 0, whole->size * cut / 60, NULL);
            part->name = whole->name;
            const struct reel_format *format = reel_format_probe(part, &err);
            assert_ptr_equal(reel_format_probe(part, NULL), format);
            bool good = reel_scan_run(&part, 1, NULL, pack, NULL, &err);
            assert_int_equal(reel_scan_run(&part, 1, NULL, pack, NULL, NULL), good);
            good = format && reel_scan_summary(&part, 1, format, pack, NULL, &err);
            assert_int_equal(format && reel_scan_summary(&part, 1, format, pack, NULL, NULL), good);
        }
    }
}

static const struct reel_format *format_named(const char *name) {
    size_t i = 0;
    while (reel_formats[i] && strcmp(reel_formats[i]->name, name) != 0) {
        i++;
    }
    assert_non_null(reel_formats[i]);
    return reel_formats[i];
}

static void growing_files(void **state) {
    (void)state;
    const char *path = REEL_TESTS "/golden/mcap/plain/input.mcap";
    AUTO(reel_growing_free)
    struct reel_growing *growing = reel_growing_open(path, format_named("mcap"), pack, NULL);
    assert_non_null(growing);
    reel_growing_read(growing, 100, NULL, NULL);
    AUTO(reel_index_free) struct reel_index *index = reel_growing_index(growing, NULL);
    assert_non_null(index);
    assert_false(reel_growing_read(growing, 99, NULL, NULL)); /* it became shorter */
    assert_false(reel_growing_finish(growing, 99, NULL));
}

/* ---- reading */

static void indexes_and_readers(void **state) {
    (void)state;
    struct reel_span spans[4];
    struct reel_message m;
    struct reel_bytes bytes;
    struct reel_description d;
    uint64_t gap;
    uint8_t byte;
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(MCAP);
    AUTO(reel_stream_free) struct reel_stream *stream = open_stream(recording, &m);
    const struct reel_index *index = reel_recording_index(recording);
    assert_true(reel_index_coverage(index, 0, 0, 1, spans, 4, NULL));
    const uint32_t channel = 0;
    reel_index_gap(index, &channel, 1, &gap, NULL);
    assert_true(reel_index_verify(index, NULL));
    assert_true(reel_index_chunks(index, ignore_chunk, NULL, NULL));
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(recording, NULL);
    assert_non_null(reader);
    assert_false(reel_reader_view(reader, UINT32_MAX, 0, 1, &bytes, NULL));
    assert_false(reel_reader_view(reader, m.entry.chunk, m.entry.offset, 1, &bytes, NULL));
    assert_false(reel_reader_copy(reader, m.entry.chunk, m.entry.offset, &byte, 1, NULL));
    assert_false(reel_reader_payload(reader, &m.entry, &bytes, NULL));
    assert_false(reel_reader_describe(reader, &m.entry, &d, NULL));
    assert_false(reel_reader_reverse(reader, UINT32_MAX, 0, ignore_entry, NULL, NULL));
    assert_false(reel_stream_payload(stream, &m, &bytes, NULL));
    assert_false(reel_stream_copy(stream, &m, 0, &byte, 1, NULL));
    assert_false(stream_describe(stream, &m, &d, NULL));
    assert_null(reel_stream_describe(stream, &m, NULL));
    assert_true(stream_seek(stream, &(struct reel_position){0}, NULL));
    assert_false(reel_stream_seek(stream, "no cursor", NULL));
    const struct reel_message *next;
    assert_int_equal(reel_stream_next(stream, &next, NULL), REEL_STEP_MESSAGE);
    assert_false(reel_attachment_read(recording, &(struct reel_attachment){.name = "x"}, 1, &byte, 1, NULL));
    assert_false(reel_message_at_index(stream, INT64_MAX, &m, NULL));
    struct reel_stream *other = NULL;
    assert_false(reel_message_at_time(recording, &selection_all, INT64_MIN, &other, &m, NULL));
}

static void damaged_packs(void **state) {
    (void)state;
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(MCAP);
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    assert_true(info->messages > 0);
    AUTO_FD int fd = open(pack, O_RDWR | O_CLOEXEC);
    uint8_t zeros[64] = {0};
    assert_int_equal(pwrite(fd, zeros, sizeof zeros, 32), sizeof zeros);
    struct reel_span span;
    struct reel_message m, at;
    uint64_t gap;
    const uint32_t channel = 0;
    const struct reel_index *index = reel_recording_index(recording);
    reel_index_verify(index, NULL);
    reel_index_coverage(index, 0, info->start_ns, 1, &span, 1, NULL);
    reel_index_gap(index, &channel, 1, &gap, NULL);
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, NULL);
    assert_true(stream && stream_next(stream, &m, NULL) == REEL_STEP_ERROR);
    struct reel_stream *other = NULL;
    assert_false(reel_message_at_index(stream, -1, &at, NULL));
    assert_false(reel_message_at_time(recording, &selection_all, info->end_ns, &other, &at, NULL));
}

static void selections(void **state) {
    (void)state;
    const char *const where[] = {"nothing"}, *const names[] = {"a", "b"}, *const shifts[] = {"x"};
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(MCAP);
    struct reel_recording *const two[] = {recording, recording};
    struct reel_source_option options[2] = {{.shift_ns = 0}};
    struct reel_selection q = selection_all;
    const char *topic, *path;
    bool any;
    char why[REEL_MATCHES_TEXT];
    uint64_t count;
    assert_true(reel_merge_options(two, 2, names, REEL_ALIGN_START, options, NULL));
    assert_false(reel_merge_shift(two, 2, names, shifts, 1, options, NULL));
    q.where = where;
    q.n_where = 1;
    assert_null(reel_stream_open(&recording, 1, &q, NULL));
    assert_false(reel_selection_matches(&recording, 1, &q, &any, why, NULL));
    assert_false(reel_series_split(recording, "nothing", &topic, &path, NULL));
    assert_true(reel_series_count(recording, "nothing", 0, 1, &count, NULL));
    assert_null(reel_column_new(recording, "nothing", "x", 0, 1, NULL, NULL));
    assert_false(reel_topic_fields(recording, "nothing", ignore_field, NULL, NULL));
    AUTO(reel_recording_free) struct reel_recording *bag = open_broken(BAG);
    const char *name = reel_index_channel(reel_recording_index(bag), 0)->name;
    assert_null(reel_column_new(bag, name, "x", REEL_TIME_MIN, REEL_TIME_MAX, NULL, NULL));
}

static void decoders(void **state) {
    (void)state;
    struct reel_schema schema = {
        .name = "test/V", .encoding = "ros1msg", .hash = "", .data = bytes_text("uint32 height\nuint8[] data\n")};
    const struct reel_channel nothing = {.name = "/x", .type = "x", .encoding = "nothing"},
                              v = {.name = "/v",
                                   .type = "test/V",
                                   .encoding = "ros1",
                                   .schemas = &schema,
                                   .n_schemas = 1},
                              mute = {.name = "/j", .type = "x", .encoding = "json"};
    static const struct reel_visitor_ops ops = {0};
    struct reel_visitor visitor = {.ops = &ops};
    struct reel_image image = {0}, large = {.encoding = "nothing", .width = 1, .height = 1};
    struct reel_picture picture;
    struct reel_pixels pixels;
    size_t size;
    assert_null(reel_decoder_open(&nothing, NULL));
    AUTO(reel_decoder_free)
    struct reel_decoder *decoder = reel_decoder_open(&v, NULL), *json = reel_decoder_open(&mute, NULL);
    assert_true(decoder && json);
    assert_false(reel_decode(decoder, bytes_text("x"), &visitor, NULL));
    assert_false(reel_decode_extent(decoder, bytes_text("x"), &size, NULL));
    assert_false(reel_decode_extent(json, bytes_text("{"), &size, NULL));
    assert_false(reel_image_read(decoder, bytes_text("x"), &image, NULL));
    reel_image_done(&image);
    assert_false(reel_picture_make(&large, REEL_PICTURE_PNG, 0, &picture, NULL));
    assert_false(reel_picture_pixels(&large, 0, &pixels, NULL));
}

/* ---- writing */

static const struct reel_writer *writer(const char *extension) {
    const struct reel_writer *w = reel_writer_named(extension, NULL, NULL);
    assert_non_null(w);
    return w;
}

static void options_of_writers(void **state) {
    struct reel_write_values values = {.n = 0};
    struct reel_write_value value;
    const struct reel_write_option *option = reel_write_option_find(writer(".mp4")->options, "fps");
    (void)state;
    assert_non_null(option);
    assert_false(reel_write_option_parse(option, "many", &value, NULL));
    assert_false(reel_write_values_add(&values, option, "many", NULL));
    assert_false(reel_writer_set_option(writer(".mcap"), "fps", "1", false, &values, NULL));
}

static void conversions(void **state) {
    (void)state;
    const struct reel_write_options options = {.compression = ""};
    const struct reel_convert_options convert = {.size = sizeof convert};
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(MCAP);
    assert_false(reel_convert(recording, NULL, REEL_SCRATCH "/x.nothing", &convert, NULL, NULL));
    assert_false(reel_convert(recording, NULL, REEL_SCRATCH "/no_folder/x.bag", &convert, NULL, NULL));
    AUTO(reel_conversion_free)
    struct reel_conversion *c =
        reel_conversion_new(writer(".csv"), &recording, 1, &selection_all, &options, NULL, NULL, NULL);
    assert_non_null(c);
    const struct reel_output output = {.write = refuse_bytes};
    assert_false(conversion_write(c, &output, NULL, NULL, NULL));
    assert_false(reel_convert_to(&recording, 1, NULL, writer(".csv"), &output, NULL, NULL, NULL));
    AUTO(reel_row_output_free) struct reel_row_output *rows = reel_conversion_rows(c, NULL);
    uint8_t piece[64];
    size_t got;
    assert_non_null(rows);
    while (reel_row_output_next(rows, piece, sizeof piece, &got, NULL) && got > 0) {
    }
    AUTO(reel_conversion_free)
    struct reel_conversion *packed =
        reel_conversion_new(writer(".mcap"), &recording, 1, &selection_all,
                            &(struct reel_write_options){.compression = "zstd"}, NULL, NULL, NULL);
    assert_non_null(packed);
    assert_null(reel_conversion_plan(packed, NULL, NULL, NULL));
    uint32_t count;
    assert_null(reel_split(writer(".csv"), &recording, 1, &selection_all, &options,
                           &(struct reel_split_rule){.bytes = 1}, NULL, &count, NULL));
    struct reel_message m;
    const char *text;
    size_t length;
    AUTO(reel_stream_free) struct reel_stream *stream = open_stream(recording, &m);
    AUTO(reel_json_free) struct reel_json *json = reel_json_new(stream, NULL);
    assert_non_null(json);
    assert_false(reel_message_json(json, &m, &text, &length, NULL));
}

static void plans_and_renders(void **state) {
    (void)state;
    const struct reel_write_options options = {.compression = ""};
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(MCAP);
    const struct reel_writer *w = writer(".mcap");
    AUTO(reel_stream_free)
    struct reel_stream *stream = reel_writer_stream(writer(".log"), &recording, 1, &selection_all, NULL);
    assert_non_null(stream);
    assert_false(reel_writer_accepts(writer(".log"), stream, NULL, NULL));
    assert_null(reel_plan_new(w, &options, stream, &cancelled, NULL));
    broken = false;
    AUTO(reel_stream_free) struct reel_stream *again = reel_writer_stream(w, &recording, 1, &selection_all, NULL);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(w, &options, again, NULL, NULL);
    assert_non_null(plan);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *output = reel_planned_output_new(plan, TAKE(again), NULL);
    assert_non_null(output);
    struct reel_stream *third = reel_writer_stream(writer(".csv"), &recording, 1, &selection_all, NULL);
    AUTO(reel_row_output_free)
    struct reel_row_output *rows = reel_row_output_new(writer(".csv"), &options, third, NULL);
    assert_non_null(rows);
    struct reel_selection nonsense = selection_all;
    nonsense.where = &(const char *){"nonsense"};
    nonsense.n_where = 1;
    AUTO(reel_conversion_free)
    struct reel_conversion *c = reel_conversion_new(w, &recording, 1, &nonsense, &options, NULL, NULL, NULL);
    char why[REEL_MATCHES_TEXT];
    bool any;
    assert_non_null(c);
    assert_false(reel_conversion_matches(c, true, &any, why, NULL));
    assert_null(reel_conversion_stream(c, true, NULL));
    assert_null(reel_conversion_output(c, plan, NULL));
    broken = true;
    uint8_t piece[4096];
    bool good = true;
    for (uint64_t at = 0; good && at + sizeof piece <= reel_plan_length(plan); at += sizeof piece) {
        good = reel_planned_output_read(output, at, piece, sizeof piece, NULL);
    }
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(recording, NULL);
    struct reel_sink sink = {.pos = 0};
    const struct reel_attachment beyond = {.chunk = UINT32_MAX, .size = 1};
    reel_write_attachment(reader, &beyond, &sink, NULL);
}

/* A writer whose messages() calls what writers call. */
static bool own_accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    (void)channel;
    (void)loss;
    return true;
}
static bool own_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)w;
    (void)out;
    (void)err;
    return true;
}
static bool refuse_message(struct reel_write *w, const struct reel_message *m, void *context, struct reel_error *err) {
    (void)w;
    (void)m;
    (void)context;
    return reel_fail(err, REEL_LIMIT, "no");
}
static bool own_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct reel_message m;
    (void)err;
    assert_true(reel_write_next(w, &m, NULL) == REEL_STEP_MESSAGE);
    assert_false(reel_write_progress(w, 1, NULL));
    assert_true(reel_write_note(w, "x", 1, NULL));
    assert_non_null(reel_write_keep(w, 1, NULL));
    return reel_write_payload(w, &m, out, NULL);
}
static bool own_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    (void)part;
    (void)out;
    (void)err;
    return reel_write_walk(w, 0, refuse_message, NULL, NULL);
}
static void writers_of_their_own(void **state) {
    (void)state;
    struct reel_writer own = {.name = "own",
                              .extension = ".own",
                              .media_type = "x/y",
                              .needs = REEL_NEEDS_PAYLOAD_TO_PLAN,
                              .accepts = own_accepts,
                              .head = own_head,
                              .messages = own_messages,
                              .tail = own_tail};
    const struct reel_write_options options = {.compression = ""};
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(MCAP);
    AUTO(reel_stream_free) struct reel_stream *stream = reel_writer_stream(&own, &recording, 1, &selection_all, NULL);
    assert_null(reel_plan_new(&own, &options, stream, &cancelled, NULL)); /* the payload cannot be read */
    broken = false;
    own.needs = 0;
    AUTO(reel_stream_free) struct reel_stream *other = reel_writer_stream(&own, &recording, 1, &selection_all, NULL);
    assert_null(reel_plan_new(&own, &options, other, &cancelled, NULL)); /* the walk is refused */
}

/* A format whose scan() calls what formats call. */
static bool no_records(struct reel_bytes beginning, uint64_t raw) {
    (void)beginning;
    (void)raw;
    return false;
}
static bool own_scan(struct reel_scan *scan, struct reel_error *err) {
    struct reel_schema many[200] = {{.name = "", .encoding = "", .hash = ""}};
    const struct reel_channel c = {.name = "/x", .type = "", .encoding = ""},
                              wrong = {.name = "/x", .type = "", .encoding = "", .schemas = many, .n_schemas = 200};
    struct reel_chunk chunk = {.codec = REEL_CODEC_ZLIB, .offset = 0, .stored = 4, .raw = 1 << 20};
    uint32_t id;
    (void)err;
    for (size_t i = 0; i < 200; i++) {
        many[i] = many[0];
    }
    assert_false(reel_scan_progress(scan, 0, 1, NULL));
    reel_scan_channel(scan, &wrong, &id, NULL);
    assert_true(reel_scan_channel(scan, &c, &id, NULL));
    assert_false(reel_scan_channel_update(scan, UINT32_MAX, &c, NULL));
    assert_false(reel_scan_entry(scan, &(struct reel_entry){.channel = UINT32_MAX}, NULL));
    assert_false(reel_scan_count(scan, UINT32_MAX, &(struct reel_channel_stats){0}, NULL));
    assert_null(reel_scan_open_chunk(scan, &(struct reel_chunk){.part = UINT32_MAX}, NULL));
    assert_null(reel_scan_open_chunk(scan, &chunk, NULL));
    reel_scan_worth_decoding(scan, &chunk, no_records, NULL);
    chunk.offset = UINT32_MAX;
    assert_false(reel_scan_chunk(scan, &chunk, &id, NULL));
    bool room = true;
    for (size_t i = 0; room && i < 1 << 20; i++) {
        room = reel_scan_metadata(scan, "x", bytes_text("x"), NULL);
    }
    assert_false(room);
    room = true;
    const struct reel_attachment a = {.name = "x", .media_type = "x", .size = 1};
    for (size_t i = 0; room && i < 1 << 20; i++) {
        room = reel_scan_attachment(scan, &a, NULL);
    }
    assert_false(room);
    assert_non_null(reel_scan_text(scan, bytes_text("x"), NULL));
    return false;
}
static void formats_of_their_own(void **state) {
    (void)state;
    static const struct reel_format own = {.name = "own", .title = "Own", .scan = own_scan};
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(bytes_text("no recording"), "x", NULL);
    assert_false(reel_scan_run(&source, 1, &own, pack, &cancelled, NULL));
}

/* ---- recording */

static void recorders(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/null_error.mcap";
    struct reel_recorder_options options = {.size = sizeof options};
    const struct reel_channel c = {.name = "/x", .type = "x", .encoding = "json"};
    struct reel_rows_added added;
    uint32_t id;
    remove(path);
    assert_null(reel_recorder_open(path, writer(".csv"), &options, NULL));
    struct reel_recorder *recorder = reel_recorder_open(path, writer(".mcap"), &options, NULL);
    assert_non_null(recorder);
    assert_true(reel_recorder_copy_channel(recorder, &c, &id, NULL));
    assert_false(reel_recorder_channel(recorder, NULL, &id, NULL));
    assert_false(reel_recorder_message(
        recorder, &(struct reel_record){.size = sizeof(struct reel_record), .channel = UINT32_MAX}, NULL));
    AUTO(reel_rows_free) struct reel_rows *rows = reel_rows_new(recorder, NULL);
    assert_non_null(rows);
    assert_true(reel_rows_know(rows, &c, id, NULL));
    assert_true(reel_rows_channel(rows, &c, &id, NULL));
    assert_false(reel_rows_append(rows, REEL_ROWS_JSON, bytes_text("{\n"), 0, &added, NULL));
    assert_false(reel_rows_append(rows, REEL_ROWS_MSGPACK, bytes_text("\xc1"), 0, &added, NULL));
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(MCAP);
    assert_false(reel_rows_append_recording(rows, recording, &added, NULL));
    assert_true(reel_recorder_flush(recorder, NULL));
    assert_true(reel_recorder_sync(recorder, NULL));
    assert_true(reel_recorder_commit(recorder, NULL));
    assert_true(reel_recorder_close(recorder, NULL));
}

/* ---- playback, views, reports, values */

static void playback_and_views(void **state) {
    (void)state;
    struct reel_play_options options = {.size = sizeof options, .speed = -1};
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(CARLA);
    assert_null(reel_play_new(&options, NULL));
    options.speed = 1;
    AUTO(reel_play_free) struct reel_play *play = reel_play_new(&options, NULL);
    assert_false(reel_play_set(
        play, &(struct reel_play_change){.size = sizeof(struct reel_play_change), .set = REEL_PLAY_SPEED, .speed = -1},
        NULL));
    const char *const where[] = {"nothing"};
    struct reel_selection q = selection_all;
    q.where = where;
    q.n_where = 1;
    assert_null(reel_play_stream(play, &recording, 1, &q, 0, 1, NULL));
    struct reel_stream *below = reel_stream_open(&recording, 1, &selection_all, NULL);
    AUTO(reel_stream_free) struct reel_stream *followed = reel_carla_follow(below, 1, NULL);
    struct reel_message m;
    enum reel_step step = REEL_STEP_MESSAGE;
    while (followed && step == REEL_STEP_MESSAGE) {
        step = stream_next(followed, &m, NULL);
    }
    assert_false(reel_carla_has_actor(recording, 1234567, NULL));
}

static void reports(void **state) {
    (void)state;
    enum reel_carla_dialect dialect;
    uint8_t *data;
    char *text;
    size_t size;
    bool done;
    struct reel_picture picture;
    AUTO(reel_recording_free)
    struct reel_recording *carla = open_broken(CARLA), *mcap = open_broken(MCAP), *nanover = open_broken(NANOVER),
                          *bag = open_broken(BAG), *tide = open_broken(TIDE);
    assert_false(reel_carla_dialect_named("nothing", &dialect, NULL));
    const struct reel_carla_question actors = reel_carla_question(REEL_CARLA_INFO);
    assert_null(reel_carla_open(mcap, &actors, NULL, &refusing, NULL));
    AUTO(reel_carla_free) struct reel_carla *pass = reel_carla_open(carla, &actors, NULL, &refusing, NULL);
    assert_false(pass && reel_carla_step(pass, &done, NULL));
    const struct reel_nanover_question resets = {.topic = REEL_NANOVER_RESETS};
    assert_null(reel_nanover_open(mcap, &resets, &refusing, NULL));
    AUTO(reel_nanover_free) struct reel_nanover *run = reel_nanover_open(nanover, &resets, &refusing, NULL);
    assert_false(run && reel_nanover_step(run, &done, NULL));
    assert_false(reel_nanover_moment(nanover, REEL_NANOVER_FRAME, INT64_MAX, &data, &size, NULL));
    assert_false(reel_nanover_json(bytes_text("\xc1"), &text, &size, NULL));
    struct reel_selection q = selection_all;
    struct reel_write_options options = {.compression = ""};
    assert_false(reel_nanover_run(nanover, 12345, &q, &options, NULL));
    uint32_t parts;
    q.end_ns = 1;
    assert_null(reel_nanover_split(nanover, &q, &options, &(struct reel_split_rule){.key = "x"}, &parts, NULL));
    assert_null(reel_bag_info(bag, &(struct reel_bag_question){.path = "x"}, NULL));
    assert_false(reel_bag_topics(bag, &refusing, NULL));
    assert_false(reel_tide_channels(reel_recording_index(tide), &refusing, NULL));
    reel_tide_introspection(tide, NULL, NULL);
    assert_false(
        reel_thumbnail_make(mcap, &(struct reel_thumbnail){.frames = 1, .width = 1, .height = 1}, &picture, NULL));
}

static struct reel_recording *open_none(void *context, struct reel_error *err) {
    (void)context;
    reel_fail(err, REEL_IO, "no");
    return NULL;
}
static void values(void **state) {
    (void)state;
    const char *const wrong[] = {"nothing"}, *const right[] = {"/nothing.x>1"};
    uint8_t *data = NULL;
    size_t size;
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(BAG);
    assert_false(reel_statistics_make(recording, NULL, &data, &size, NULL));
    assert_null(reel_question_new(wrong, 1, 0, NULL));
    AUTO(reel_question_free) struct reel_question *question = reel_question_new(right, 1, 0, NULL);
    broken = false;
    assert_true(question && reel_statistics_make(recording, NULL, &data, &size, NULL));
    FILE *file = tmpfile();
    assert_true(file && fwrite(data, 1, size, file) == size && fflush(file) == 0);
    AUTO(reel_statistics_free) struct reel_statistics *statistics = reel_statistics_open(dup(fileno(file)), NULL);
    assert_non_null(statistics);
    const struct reel_question_options options = {
        .size = sizeof options, .intervals_max = 1, .open = open_none, .progress = &cancelled};
    AUTO(reel_answer_free) struct reel_answer *answer = reel_question_answer(question, statistics, &options, NULL);
    fclose(file);
    free(data);
}

static void fronts(void **state) {
    (void)state;
    AUTO(reel_recording_free) struct reel_recording *recording = open_broken(CARLA);
    struct reel_selection q = selection_all;
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    q.start_ns = info->end_ns;
    q.state_at_cut = true; /* initial_state_make() calls reel_initial_state_add() */
    assert_null(reel_stream_open(&recording, 1, &q, NULL));
    broken = false;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &q, NULL);
    assert_true(stream && stream->initial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_and_times),
        cmocka_unit_test(sources),
        cmocka_unit_test(files),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(growing_files),
        cmocka_unit_test(indexes_and_readers),
        cmocka_unit_test(damaged_packs),
        cmocka_unit_test(selections),
        cmocka_unit_test(decoders),
        cmocka_unit_test(options_of_writers),
        cmocka_unit_test(conversions),
        cmocka_unit_test(plans_and_renders),
        cmocka_unit_test(writers_of_their_own),
        cmocka_unit_test(formats_of_their_own),
        cmocka_unit_test(recorders),
        cmocka_unit_test(playback_and_views),
        cmocka_unit_test(reports),
        cmocka_unit_test(values),
        cmocka_unit_test(fronts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
