/* Fuzzes reports. Input: a recording of any format. Every report of every kind is made of it, as text and as rows:
 * nothing may crash, leak or hang; a report that fails gives a reason. */
#include "fuzz_scan.h"

#include "formats/carla/question.h"
#include "formats/nanover/question.h"
#include "formats/rosbag/info.h"
#include "formats/tide/report.h"
#include "media/picture.h"
#include "reel/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    STEPS_MAX = 4000,
    PAYLOAD_MAX = 1 << 20,
    TEXT_MAX = 1 << 20,
    CHANNELS_MAX = 16,
    PICTURES = 8,
    PIXELS_MAX = 1 << 18
};

static struct fuzz_turns turns; /* of this input */
enum { OF = 40 };

static void check(bool good, const char *report, const struct reel_error *err) {
    fuzz_expect(good || (err->code != REEL_OK && err->text[0] != '\0'), report, err);
}

/* Ends a report whose text grows without end. */
static bool text_put(void *context, const char *text, size_t size) {
    size_t *seen = context;
    (void)text;
    return (*seen += size) < TEXT_MAX;
}

struct rows {
    struct reel_table table;
    size_t seen;
    struct reel_table_text *text;
};

static void rows_open(struct rows *r, enum reel_table_form form) {
    struct reel_error err = {0};
    const struct reel_text_sink sink = {.put = text_put, .context = &r->seen};
    *r = (struct rows){0};
    r->text = reel_table_text_new(form, &sink, &err);
    fuzz_expect(r->text != NULL, "a table as text", &err);
    r->table = *reel_table_of_text(r->text);
}

static void run_carla(struct reel_recording *recording, enum reel_carla_topic topic, enum reel_carla_dialect dialect,
                      bool rows) {
    if (!fuzz_turn(&turns, OF)) {
        return;
    }
    struct reel_error err = {0};
    struct reel_carla_question q = reel_carla_question(topic);
    struct rows to;
    size_t seen = 0;
    const struct reel_text_sink text = {.put = text_put, .context = &seen};
    rows_open(&to, topic == REEL_CARLA_TRAJECTORY ? REEL_TABLE_GEOJSON : REEL_TABLE_NDJSON);
    q.all = rows;
    q.dialect = dialect;
    q.actor = 1;
    q.min_time_s = 0.1;
    q.ros_frame = true;
    AUTO(reel_carla_free)
    struct reel_carla *pass = reel_carla_open(recording, &q, &text, rows ? &to.table : NULL, &err);
    bool done = false, good = pass != NULL;
    for (unsigned i = 0; good && !done && i < STEPS_MAX; i++) {
        good = reel_carla_step(pass, &done, &err);
    }
    check(good, "CARLA's report", &err);
    reel_table_text_free(to.text);
}

static void all_carla(struct reel_recording *recording) {
    for (int dialect = REEL_CARLA_0_9_4; dialect <= REEL_CARLA_DEV_2026; dialect++) {
        run_carla(recording, REEL_CARLA_INFO, (enum reel_carla_dialect)dialect, false);
    }
    for (int topic = REEL_CARLA_INFO; topic <= REEL_CARLA_TRAJECTORY; topic++) {
        run_carla(recording, (enum reel_carla_topic)topic, REEL_CARLA_0_9_15, true);
        run_carla(recording, (enum reel_carla_topic)topic, REEL_CARLA_0_9_15, false);
    }
}

static void run_nanover(struct reel_recording *recording, enum reel_nanover_topic topic) {
    if (!fuzz_turn(&turns, OF)) {
        return;
    }
    struct reel_error err = {0};
    struct rows to;
    rows_open(&to, topic % 2 ? REEL_TABLE_CSV : REEL_TABLE_JSON);
    const struct reel_nanover_question q = {.topic = topic};
    AUTO(reel_nanover_free) struct reel_nanover *pass = reel_nanover_open(recording, &q, &to.table, &err);
    bool done = false, good = pass != NULL;
    for (unsigned i = 0; good && !done && i < STEPS_MAX; i++) {
        good = reel_nanover_step(pass, &done, &err);
    }
    check(good, "NanoVer's report", &err);
    reel_table_text_free(to.text);
}

static void run_nanover_moment(struct reel_recording *recording, enum reel_nanover_part part, int64_t time_ns) {
    if (!fuzz_turn(&turns, OF)) {
        return;
    }
    struct reel_error err = {0};
    AUTO_MEM uint8_t *data = NULL;
    AUTO_MEM char *text = NULL;
    size_t size = 0, length = 0;
    bool good = reel_nanover_moment(recording, part, time_ns, &data, &size, &err);
    check(good, "NanoVer at a time", &err);
    check(!good || reel_nanover_json(bytes_of(data, size), &text, &length, &err), "NanoVer's JSON", &err);
}

static void all_nanover(struct reel_recording *recording) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    for (int topic = REEL_NANOVER_RESETS; topic <= REEL_NANOVER_STATES; topic++) {
        run_nanover(recording, (enum reel_nanover_topic)topic);
    }
    run_nanover_moment(recording, REEL_NANOVER_FRAME, info->end_ns);
    run_nanover_moment(recording, REEL_NANOVER_STATE, info->start_ns / 2 + info->end_ns / 2);
    if (!fuzz_turn(&turns, OF / 4)) {
        return;
    }
    struct reel_error err = {0};
    struct reel_selection selection = selection_all;
    struct reel_write_options options = {.compression = ""};
    check(reel_nanover_run(recording, 1, &selection, &options, &err), "a run of NanoVer", &err);
}

static void all_ros_and_tide(struct reel_recording *recording) {
    if (!fuzz_turn(&turns, OF / 4)) {
        return;
    }
    for (int yaml = 0; yaml < 2; yaml++) {
        struct reel_error err = {0};
        AUTO_MEM char *text =
            reel_bag_info(recording, &(struct reel_bag_question){.path = "x", .yaml = yaml, .freq = true}, &err);
        check(text != NULL, "rosbag info", &err);
    }
    struct reel_error err = {0};
    struct rows to;
    rows_open(&to, REEL_TABLE_CSV);
    check(reel_tide_channels(reel_recording_index(recording), &to.table, &err), "channels of TIDE", &err);
    reel_table_text_free(to.text);
    AUTO_MEM char *text = reel_tide_introspection(recording, NULL, &err);
    check(text != NULL, "introspection of RSB", &err);
}

static bool field_seen(void *context, const struct reel_field *field) {
    char *first = context;
    if (field->numeric && first[0] == '\0' && strlen(field->path) < 256) {
        memcpy(first, field->path, strlen(field->path) + 1);
    }
    return true;
}

static void draw_column(struct reel_recording *recording, const char *topic) {
    if (!fuzz_turn(&turns, OF / 4)) {
        return;
    }
    struct reel_error err = {0};
    char path[256] = "";
    struct reel_point points[64];
    check(reel_topic_fields(recording, topic, field_seen, path, &err), "fields of a topic", &err);
    err = (struct reel_error){0};
    AUTO(reel_column_free)
    struct reel_column *column = reel_column_new(recording, topic, path, REEL_TIME_MIN, REEL_TIME_MAX, NULL, &err);
    check(column != NULL, "a column", &err);
    for (int how = REEL_MINMAX; column && how <= REEL_LAST; how++) {
        size_t n = reel_column_points(column, REEL_TIME_MIN, REEL_TIME_MAX, 64, (enum reel_aggregate)how, points);
        fuzz_expect(n <= 64, "as many points as there is room for", &err);
    }
}

static void all_series(struct reel_recording *recording) {
    const struct reel_index *index = reel_recording_index(recording);
    uint32_t n = reel_index_info(index)->n_channels;
    for (uint32_t i = 0; i < n && i < CHANNELS_MAX; i++) {
        draw_column(recording, reel_index_channel(index, i)->name);
    }
}

static void draw_picture(const struct reel_decoder *decoder, struct reel_bytes all) {
    AUTO_EXACT struct reel_bytes payload = exact_copy(all);
    struct reel_error err = {0};
    struct reel_image image = {0};
    struct reel_picture picture = {0};
    bool good = reel_image_read(decoder, payload, &image, &err);
    if (good && !image.compressed && (uint64_t)image.width * image.height <= PIXELS_MAX) { /* files are what
                                                                                              fuzz_picture makes */
        good = reel_picture_make(&image, REEL_PICTURE_PNG, 16, &picture, &err);
        reel_picture_done(&picture);
    }
    check(good, "a picture", &err);
    reel_image_done(&image);
}

static void all_pictures(struct reel_recording *recording) {
    if (!fuzz_turn(&turns, OF / 4)) {
        return;
    }
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, &err);
    struct reel_message m;
    for (int i = 0; stream && i < PICTURES && stream_next(stream, &m, &err) == REEL_STEP_MESSAGE; i++) {
        struct reel_bytes payload;
        AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(stream->channels[m.channel], &err);
        if (decoder && m.size <= PAYLOAD_MAX && reel_stream_payload(stream, &m, &payload, &err)) {
            draw_picture(decoder, payload);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(reel_recording_free) struct reel_recording *recording = fuzz_open(bytes_of(data, size), NULL);
    turns = fuzz_turns_of(bytes_of(data, size));
    if (recording) {
        all_carla(recording);
        all_nanover(recording);
        all_ros_and_tide(recording);
        all_series(recording);
        all_pictures(recording);
    }
    return 0;
}
