/* A program that knows the installed headers alone: it describes, reads, decodes, converts, records and plays. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "reel/reel.h"

#define MCAP REEL_TESTS "/golden/mcap/zstd/input.mcap"
#define SECOND INT64_C(1000000000)

enum { MESSAGES = 20 };

/* Records MESSAGES readings of a battery, one a second from 1000 s on. */
static struct reel_recording *recorded(const char *path) {
    struct reel_error err = {0};
    const char *schema = "{\"type\":\"object\",\"properties\":{\"voltage\":{\"type\":\"number\"}}}";
    const struct reel_pair pair = {.key = "unit", .value = "V"};
    const struct reel_channel_options battery = {.size = sizeof battery,
                                                 .topic = "/battery",
                                                 .type = "Battery",
                                                 .encoding = "json",
                                                 .schema_encoding = "jsonschema",
                                                 .schema = {(const uint8_t *)schema, strlen(schema)},
                                                 .metadata = &pair,
                                                 .n_metadata = 1};
    remove(path);
    struct reel_recorder *recorder = reel_recorder_open(path, reel_writer_for_file(path, NULL, &err), NULL, &err);
    uint32_t id;
    assert_true(recorder && reel_recorder_channel(recorder, &battery, &id, &err));
    for (uint32_t i = 0; i < MESSAGES; i++) {
        char text[64];
        int size = snprintf(text, sizeof text, "{\"voltage\":%u.5}", i);
        const struct reel_record record = {.size = sizeof record,
                                           .channel = id,
                                           .sequence = i,
                                           .log_time_ns = (1000 + i) * SECOND,
                                           .payload = {(const uint8_t *)text, (size_t)size}};
        assert_true(reel_recorder_message(recorder, &record, &err));
    }
    assert_true(reel_recorder_close(recorder, &err));
    struct reel_recording *recording = reel_recording_open(path, NULL, &err);
    if (!recording) {
        fail_msg("%s", err.text);
    }
    return recording;
}

static void it_is_described(void **state) {
    (void)state;
    struct reel_recording *recording = recorded(REEL_SCRATCH "/described.mcap");
    const struct reel_index *index = reel_recording_index(recording);
    const struct reel_index_info *info = reel_index_info(index);
    assert_string_equal(reel_format_name(info->format), "mcap");
    assert_string_equal(reel_format_title(info->format), "MCAP");
    assert_ptr_equal(reel_format_named("mcap"), info->format);
    assert_true(info->n_channels == 1 && info->messages == MESSAGES && info->start_ns == 1000 * SECOND);
    const struct reel_channel *channel = reel_index_channel(index, 0);
    assert_string_equal(channel->name, "/battery");
    assert_string_equal(reel_channel_schema(channel)->encoding, "jsonschema");
    assert_int_equal(reel_index_stats(index, 0)->count, MESSAGES);
    assert_null(reel_index_finding(index, 0));
    assert_null(reel_index_attachment(index, 0));
    size_t formats = 0;
    while (reel_format_at(formats)) {
        formats++;
    }
    assert_true(formats > 5 && !reel_format_at(formats + 100));
    reel_recording_free(recording);
}

static void attachments_are_read(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_recording *recording = reel_recording_open(MCAP, NULL, &err);
    assert_non_null(recording);
    const struct reel_attachment *a = reel_index_attachment(reel_recording_index(recording), 0);
    assert_true(a && a->size > 2);
    char *whole = malloc(a->size), part;
    assert_true(reel_attachment_read(recording, a, 0, whole, a->size, &err));
    assert_true(reel_attachment_read(recording, a, 2, &part, 1, &err) && part == whole[2]);
    assert_false(reel_attachment_read(recording, a, a->size, &part, 1, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_false(reel_attachment_read(recording, a, UINT64_MAX, &part, 1, &err));
    free(whole);
    reel_recording_free(recording);
}

/* The number of messages, each of which is looked at in every way. */
static unsigned walk(struct reel_stream *stream) {
    struct reel_error err = {0};
    struct reel_json *json = reel_json_new(stream, &err);
    const struct reel_message *m;
    unsigned n = 0;
    enum reel_step step;
    while ((step = reel_stream_next(stream, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        char copy[64], expected[80];
        const char *text;
        uint32_t second = (uint32_t)(reel_message_time(m) / SECOND - 1000);
        assert_string_equal(reel_stream_channel(stream, reel_message_channel(m))->name, "/battery");
        assert_int_equal(reel_stream_channel_recording(stream, reel_message_channel(m)), 0);
        assert_true(reel_stream_payload(stream, m, &payload, &err) && payload.size == reel_message_size(m));
        assert_true(reel_stream_copy(stream, m, 1, copy, payload.size - 1, &err));
        assert_memory_equal(copy, payload.data + 1, payload.size - 1);
        assert_false(reel_stream_copy(stream, m, 1, copy, payload.size, &err));
        const struct reel_description *d = reel_stream_describe(stream, m, &err);
        assert_true(d && d->sequence == second && d->publish_ns == reel_message_time(m) && !d->frame_id);
        assert_true(reel_message_json(json, m, &text, NULL, &err));
        snprintf(expected, sizeof expected, "\"data\":{\"voltage\":%u.5}", second);
        assert_non_null(strstr(text, expected));
        assert_false(reel_message_is_before_start(m));
        n++;
    }
    assert_true(step == REEL_STEP_END && !m);
    reel_json_free(json);
    return n;
}

static void messages_are_read(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_recording *recording = recorded(REEL_SCRATCH "/read.mcap");
    struct reel_stream *stream = reel_stream_open(&recording, 1, NULL, &err);
    assert_non_null(stream);
    assert_null(reel_stream_channel(stream, 1));
    assert_int_equal(walk(stream), MESSAGES);
    reel_stream_free(stream);
    struct reel_selection q = reel_select_all();
    q.start_ns = 1005 * SECOND;
    q.end_ns = 1010 * SECOND;
    stream = reel_stream_open(&recording, 1, &q, &err);
    assert_int_equal(walk(stream), 5);
    reel_stream_free(stream);
    q.last_per_topic = true;
    stream = reel_stream_open(&recording, 1, &q, &err);
    const struct reel_message *m;
    assert_true(reel_stream_next(stream, &m, &err) == REEL_STEP_MESSAGE && reel_message_is_before_start(m));
    assert_int_equal(reel_message_time(m), 1004 * SECOND);
    reel_stream_free(stream);
    bool any;
    char why[REEL_MATCHES_TEXT];
    const char *const topics[] = {"/bateri"};
    q.topics = topics;
    q.n_topics = 1;
    assert_true(reel_selection_matches(&recording, 1, &q, &any, why, &err) && !any && strstr(why, "/battery"));
    reel_recording_free(recording);
}

static void a_stream_continues_at_a_cursor(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_recording *recording = recorded(REEL_SCRATCH "/cursor.mcap");
    struct reel_stream *stream = reel_stream_open(&recording, 1, NULL, &err);
    char cursor[REEL_CURSOR_ROOM];
    const struct reel_message *m = NULL;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(reel_stream_next(stream, &m, &err), REEL_STEP_MESSAGE);
    }
    reel_message_cursor(m, cursor);
    reel_stream_free(stream);
    stream = reel_stream_open(&recording, 1, NULL, &err);
    assert_true(reel_stream_seek(stream, cursor, &err));
    assert_int_equal(walk(stream), MESSAGES - 7);
    assert_false(reel_stream_seek(stream, "nonsense", &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    reel_stream_free(stream);
    reel_recording_free(recording);
}

static bool count_fields(void *context, const struct reel_field *field) {
    assert_string_equal(field->path, "voltage");
    assert_true(field->numeric);
    ++*(int *)context;
    return true;
}
static struct reel_recording *lend(void *context, struct reel_error *err) {
    (void)err;
    return reel_recording_ref(context);
}

static void values_are_asked_for(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_recording *recording = recorded(REEL_SCRATCH "/values.mcap");
    int fields = 0;
    assert_true(reel_topic_fields(recording, "/battery", count_fields, &fields, &err) && fields == 1);
    struct reel_point points[MESSAGES];
    struct reel_column *column =
        reel_column_new(recording, "/battery", "voltage", REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    assert_int_equal(reel_column_points(column, REEL_TIME_MIN, REEL_TIME_MAX, MESSAGES, REEL_MINMAX, points), MESSAGES);
    assert_true(points[3].value == 3.5 && points[3].time_ns == 1003 * SECOND);
    reel_column_free(column);

    uint8_t *data;
    size_t size;
    assert_true(reel_statistics_make(recording, NULL, &data, &size, &err));
    int fd = open(REEL_SCRATCH "/values.statistics", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    free(data);
    struct reel_statistics *statistics = reel_statistics_open(fd, &err);
    const char *where[] = {"/battery.voltage<10"};
    struct reel_question *question = reel_question_new(where, 1, 0, &err);
    struct reel_question_options options = {
        .size = sizeof options, .intervals_max = 10, .open = lend, .context = recording};
    struct reel_answer *answer = reel_question_answer(question, statistics, &options, &err);
    assert_true(answer && answer->total == 1 && answer->n == 1 && answer->complete);
    assert_true(answer->intervals[0].start_ns == 1000 * SECOND && answer->intervals[0].end_ns == 1010 * SECOND);
    options.size = 0;
    assert_null(reel_question_answer(question, statistics, &options, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    reel_answer_free(answer);
    reel_question_free(question);
    reel_statistics_free(statistics);
    reel_recording_free(recording);
}

static void it_is_converted(void **state) {
    (void)state;
    struct reel_error err = {0};
    const char *path = REEL_SCRATCH "/converted.bag";
    struct reel_recording *recording = recorded(REEL_SCRATCH "/converts.mcap");
    const struct reel_writer *writer = reel_writer_for_file(path, NULL, &err);
    assert_string_equal(reel_writer_extension(writer), ".bag");
    assert_non_null(strstr(reel_writer_compressions(writer), "lz4"));
    assert_non_null(strchr(reel_writer_media_type(writer), '/'));
    assert_string_equal(reel_writer_version(reel_writer_named(".bag", "1.2", &err)), "1.2");
    size_t writers = 0;
    while (reel_writer_at(writers)) {
        assert_true(reel_writer_name(reel_writer_at(writers++))[0]);
    }
    assert_true(writers > 5);
    struct reel_loss *loss = reel_loss_new();
    struct reel_convert_options options = {.size = sizeof options, .compression = "lz4", .replace = true, .loss = loss};
    assert_true(reel_convert(recording, NULL, path, &options, NULL, &err));
    size_t n;
    const struct reel_loss_item *items = reel_loss_items(loss, &n);
    for (size_t i = 0; i < n; i++) {
        assert_true(items[i].kind != REEL_REFUSES && items[i].text[0]);
    }
    options.replace = false;
    assert_false(reel_convert(recording, NULL, path, &options, NULL, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    reel_recording_free(recording);
    recording = reel_recording_open(path, NULL, &err);
    assert_int_equal(reel_index_info(reel_recording_index(recording))->messages, MESSAGES);
    reel_loss_free(loss);
    reel_recording_free(recording);
}

struct bytes {
    char *data;
    size_t size;
};
static bool append(void *context, const void *data, size_t size, struct reel_error *err) {
    struct bytes *to = context;
    (void)err;
    to->data = realloc(to->data, to->size + size + 1);
    memcpy(to->data + to->size, data, size);
    to->size += size;
    to->data[to->size] = '\0';
    return true;
}

/* Two recordings as one, on threads that conversions share, into memory. */
static void it_is_converted_anywhere(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_recording *both[] = {recorded(REEL_SCRATCH "/first.mcap"), recorded(REEL_SCRATCH "/second.mcap")};
    const char *const names[] = {"first.mcap", "second.mcap"}, *const shifts[] = {"second:10s"};
    const char *const keys[] = {"first", "second"};
    struct reel_source_option sources[2];
    assert_true(reel_merge_options(both, 2, names, REEL_ALIGN_NONE, sources, &err) &&
                reel_merge_shift(both, 2, keys, shifts, 1, sources, &err));
    int64_t first, last;
    reel_merge_span(both, 2, sources, &first, &last);
    assert_true(first == 1000 * SECOND && last == (1009 + MESSAGES) * SECOND);
    struct reel_threads *threads = reel_threads_new(NULL, &err);
    struct reel_selection q = reel_select_all();
    q.sources = sources;
    struct bytes out = {.size = 0};
    const struct reel_output output = {.write = append, .context = &out};
    struct reel_convert_options options = {.size = sizeof options, .pool = threads};
    assert_true(reel_convert_to(both, 2, &q, reel_writer_named(".ndjson", NULL, &err), &output, &options, NULL, &err));
    size_t lines = 0;
    for (const char *at = out.data; (at = strchr(at, '\n')); at++) {
        lines++;
    }
    assert_int_equal(lines, 2 * MESSAGES);
    assert_true(strstr(out.data, "\"/first/battery\"") && strstr(out.data, "\"/second/battery\""));

    const struct reel_pair settings[] = {{.key = "block_size", .value = "65536"}};
    options.settings = settings;
    options.n_settings = 1;
    const struct reel_writer *tape = reel_writer_named(".tape", NULL, &err);
    assert_true(reel_convert_to(both, 1, NULL, tape, &output, &options, NULL, &err));
    assert_false(reel_convert_to(both, 2, &q, reel_writer_named(".ndjson", NULL, &err), &output, &options, NULL, &err));
    assert_true(err.code == REEL_ARGUMENT && strstr(err.text, "block_size"));
    free(out.data);
    reel_threads_free(threads);
    reel_recording_free(both[0]);
    reel_recording_free(both[1]);
}

static void it_is_played(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_recording *recording = recorded(REEL_SCRATCH "/played.mcap");
    struct reel_play_options options = reel_play_defaults();
    options.speed = 0; /* as fast as possible */
    struct reel_play *play = reel_play_new(&options, &err);
    struct reel_selection q = reel_select_all();
    const char *topics[] = {"/battery"};
    q.topics = topics;
    q.n_topics = 1;
    struct reel_stream *stream =
        reel_play_stream(play, &recording, 1, &q, 1000 * SECOND, (999 + MESSAGES) * SECOND, &err);
    assert_non_null(stream);
    memset(&q, 0xff, sizeof q); /* it was copied */
    topics[0] = NULL;
    const struct reel_message *m;
    assert_int_equal(reel_stream_next(stream, &m, &err), REEL_STEP_MESSAGE);
    const struct reel_play_change change = {
        .size = sizeof change, .set = REEL_PLAY_POSITION, .position_ns = 1015 * SECOND};
    assert_true(reel_play_set(play, &change, &err));
    assert_int_equal(reel_stream_next(stream, &m, &err), REEL_STEP_MESSAGE);
    assert_int_equal(reel_message_time(m), 1015 * SECOND);
    struct reel_play_state s = {.size = sizeof s};
    reel_play_get(play, &s);
    assert_true(s.messages == 2 && s.start_ns == 1000 * SECOND && s.size == sizeof s);
    struct { /* of a program that knows only the first members */
        size_t size;
        bool paused, loop;
        char more[6];
    } old = {.size = 10, .more = "abcde"};
    reel_play_get(play, (struct reel_play_state *)&old);
    assert_true(old.size == 10 && strcmp(old.more, "abcde") == 0);
    reel_stream_free(stream);
    reel_play_free(play);
    reel_recording_free(recording);
}

/* A program that was compiled with a later or an earlier header. */
static void sizes_are_checked(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_recording *recording = recorded(REEL_SCRATCH "/sizes.mcap");
    struct reel_selection q = reel_select_all();
    q.size = 0;
    assert_null(reel_stream_open(&recording, 1, &q, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    q.size = sizeof q + 8;
    assert_null(reel_stream_open(&recording, 1, &q, &err));
    q.end_ns = 1003 * SECOND;
    q.every_n = 2;
    q.size = offsetof(struct reel_selection, every_n); /* which it does not know then */
    struct reel_stream *stream = reel_stream_open(&recording, 1, &q, &err);
    assert_non_null(stream);
    assert_int_equal(walk(stream), 3);
    reel_stream_free(stream);
    assert_null(reel_play_new(&(struct reel_play_options){.speed = 1}, &err));
    const struct reel_convert_options convert = {.replace = true};
    assert_false(reel_convert(recording, NULL, REEL_SCRATCH "/sizes.bag", &convert, NULL, &err));
    const char *path = REEL_SCRATCH "/sizes.mcap";
    assert_null(reel_recording_open_files(&path, 1, &(struct reel_open_options){.rescan = true}, &err));
    assert_null(reel_threads_new(&(struct reel_threads_options){.threads = 1}, &err));
    reel_recording_free(recording);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_described),          cmocka_unit_test(attachments_are_read),
        cmocka_unit_test(messages_are_read),        cmocka_unit_test(a_stream_continues_at_a_cursor),
        cmocka_unit_test(values_are_asked_for),     cmocka_unit_test(it_is_converted),
        cmocka_unit_test(it_is_converted_anywhere), cmocka_unit_test(it_is_played),
        cmocka_unit_test(sizes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
