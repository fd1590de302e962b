/* Whatever is done with a golden file (scan, summary, open, read, every writer, view and report), one allocation or one
 * read of the file fails: then the result is that of the undisturbed run, or an error that passes (reel_is_transient).
 * Never other bytes, never damage that is not there, never half a pack, never a leak. Some runs are repeated without an
 * err to be filled, which changes nothing.
 *
 * nomemory FORMAT runs tests/golden/FORMAT. With a case, a stage, "memory" or "read" and a number after it, it runs
 * only that one. Of long sequences some are taken; REEL_EVERY=1 takes all. */
#include "damage/failing.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "formats/carla/question.h"
#include "formats/nanover/question.h"
#include "formats/rosbag/info.h"
#include "formats/tide/report.h"
#include "index/scan.h"
#include "makers/any_output.h"
#include "media/picture.h"
#include "reel/values.h"
#include "stream/view.h"

enum { SHOWN_MAX = 5, STAGES_MAX = 128, MUTE_EACH = 3 };

static char folder[64], pack[96];

/* --- what a run returns: a hash over all its output */

struct run {
    uint64_t hash;
    struct reel_error err;
    bool good;
};

static void digest(struct run *r, const void *data, size_t size) {
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++) {
        r->hash = (r->hash ^ p[i]) * 1099511628211u;
    }
}
static void digest_text(struct run *r, const char *text) {
    digest(r, text, strlen(text) + 1);
}

static bool text_put(void *context, const char *text, size_t size) {
    digest(context, text, size);
    return true;
}
static bool table_columns(void *context, const char *const *names, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        digest_text(context, names[i]);
    }
    return true;
}
static bool table_row(void *context, const struct reel_cell *cells, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        digest(context, &cells[i].kind, sizeof cells[i].kind);
        if (cells[i].kind == REEL_CELL_TEXT || cells[i].kind == REEL_CELL_JSON) {
            digest(context, cells[i].text.data, cells[i].text.size);
        } else if (cells[i].kind == REEL_CELL_INTEGER || cells[i].kind == REEL_CELL_REAL) {
            digest(context, &cells[i].integer, sizeof cells[i].integer);
        }
    }
    return true;
}
static bool table_end(void *context) {
    digest_text(context, "end");
    return true;
}
static struct reel_table table_of(struct run *r) {
    return (struct reel_table){.columns = table_columns, .row = table_row, .end = table_end, .context = r};
}

/* --- stages */

struct job {
    const char *format;
    uint8_t *data;
    size_t size;
    char name[128];
    bool scanned;
};

struct stage {
    const char *name;
    bool (*run)(struct reel_recording *recording, const struct stage *stage, struct run *r, struct reel_error *err);
    const struct reel_writer *writer;
    const struct reel_view *view;
    const char *compression;
    bool cut, raw;
    int topic;
};

static struct reel_source *open_source(const struct job *job, struct reel_error *err) {
    struct reel_source *below = reel_source_from_memory(bytes_of(job->data, job->size), job->name, err);
    struct reel_source *source = below ? failing_source(below) : NULL;
    if (below && !source) {
        reel_fail_memory(err);
    }
    return source;
}

static struct reel_recording *open_recording(const struct job *job, struct reel_error *err) {
    struct reel_source *source = open_source(job, err);
    struct reel_index *index = source ? reel_index_open(pack, err) : NULL;
    if (!index) {
        reel_source_free(source);
        return NULL;
    }
    return reel_recording_from_index(index, &source, 1, NULL, err);
}

static bool run_stream(struct reel_recording *recording, const struct stage *stage, struct run *r,
                       struct reel_error *err) {
    (void)stage;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, err);
    struct reel_message m;
    enum reel_step step = stream ? REEL_STEP_MESSAGE : REEL_STEP_ERROR;
    while (step == REEL_STEP_MESSAGE && (step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        struct reel_description d;
        if (!reel_stream_payload(stream, &m, &payload, err)) {
            return false;
        }
        digest(r, payload.data, payload.size);
        if (!stream_describe(stream, &m, &d, err)) {
            return false;
        }
        digest(r, &d.publish_ns, sizeof d.publish_ns);
    }
    return step == REEL_STEP_END;
}

static bool run_attachments(struct reel_recording *recording, const struct stage *stage, struct run *r,
                            struct reel_error *err) {
    (void)stage;
    size_t count;
    const struct reel_attachment *all = reel_index_attachments(reel_recording_index(recording), &count);
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(recording, err);
    for (size_t i = 0; reader && i < count; i++) {
        struct reel_bytes b;
        if (!reel_reader_view(reader, all[i].chunk, all[i].offset, (size_t)all[i].size, &b, err)) {
            return false;
        }
        digest(r, b.data, b.size);
    }
    return reader != NULL;
}

static bool run_writer(struct reel_recording *recording, const struct stage *stage, struct run *r,
                       struct reel_error *err) {
    const struct reel_writer *w = stage->writer;
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    struct reel_selection q = selection_all;
    struct reel_write_options options = {.compression = stage->compression ? stage->compression : "",
                                         .raw = stage->raw};
    if (stage->cut) {
        options.start_ns = q.start_ns = info->start_ns + (info->end_ns - info->start_ns) / 2;
        options.is_cut = true;
        q.state_at_cut = (w->needs & REEL_NEEDS_STATE_AT_CUT) != 0;
        q.last_per_topic = true;
    }
    q.view = stage->view;
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    struct reel_stream *stream = reel_writer_stream(w, &recording, 1, &q, err);
    if (!stream) {
        return false;
    }
    if (!loss) {
        reel_stream_free(stream);
        return reel_fail_memory(err);
    }
    bool accepted = reel_writer_accepts(w, stream, loss, err);
    AUTO(reel_plan_free) struct reel_plan *plan = NULL;
    if (accepted && !(w->needs & REEL_STREAMED)) {
        plan = reel_plan_new(w, &options, stream, NULL, err);
        reel_stream_free(stream);
        q.initial = plan ? reel_plan_initial_state(plan) : NULL;
        stream = plan ? reel_writer_stream(w, &recording, 1, &q, err) : NULL;
    } else if (!accepted) {
        reel_stream_free(stream);
        stream = NULL;
    }
    struct any_output any = {.at = 0};
    uint8_t piece[16384];
    size_t got = 1;
    bool good = stream && any_output_open(&any, plan, w, &options, stream, err);
    while (good && got > 0 && (good = any_output_next(&any, piece, sizeof piece, &got, err))) {
        digest(r, piece, got);
    }
    any_output_close(&any);
    return good;
}

static bool run_carla(struct reel_recording *recording, const struct stage *stage, struct run *r,
                      struct reel_error *err) {
    struct reel_carla_question q = reel_carla_question((enum reel_carla_topic)stage->topic);
    struct reel_table rows = table_of(r);
    const struct reel_text_sink text = {.put = text_put, .context = r};
    q.all = true;
    q.actor = 1;
    q.min_time_s = 0.1;
    AUTO(reel_carla_free)
    struct reel_carla *pass = reel_carla_open(recording, &q, &text, stage->raw ? NULL : &rows, err);
    for (bool done = false; pass && !done;) {
        if (!reel_carla_step(pass, &done, err)) {
            return false;
        }
    }
    return pass != NULL;
}

static bool run_nanover(struct reel_recording *recording, const struct stage *stage, struct run *r,
                        struct reel_error *err) {
    struct reel_table rows = table_of(r);
    const struct reel_nanover_question q = {.topic = (enum reel_nanover_topic)stage->topic};
    AUTO(reel_nanover_free) struct reel_nanover *pass = reel_nanover_open(recording, &q, &rows, err);
    for (bool done = false; pass && !done;) {
        if (!reel_nanover_step(pass, &done, err)) {
            return false;
        }
    }
    return pass != NULL;
}

static bool run_nanover_moment(struct reel_recording *recording, const struct stage *stage, struct run *r,
                               struct reel_error *err) {
    AUTO_MEM uint8_t *data = NULL;
    AUTO_MEM char *text = NULL;
    size_t size = 0, length = 0;
    int64_t end = reel_index_info(reel_recording_index(recording))->end_ns;
    if (!reel_nanover_moment(recording, (enum reel_nanover_part)stage->topic, end, &data, &size, err) ||
        !reel_nanover_json(bytes_of(data, size), &text, &length, err)) {
        return false;
    }
    digest(r, data, size);
    digest(r, text, length);
    return true;
}

static bool run_bag_info(struct reel_recording *recording, const struct stage *stage, struct run *r,
                         struct reel_error *err) {
    AUTO_MEM char *text =
        reel_bag_info(recording, &(struct reel_bag_question){.path = "x", .yaml = stage->raw, .freq = true}, err);
    digest_text(r, text ? text : "");
    return text != NULL;
}

static bool run_tide_channels(struct reel_recording *recording, const struct stage *stage, struct run *r,
                              struct reel_error *err) {
    (void)stage;
    struct reel_table rows = table_of(r);
    return reel_tide_channels(reel_recording_index(recording), &rows, err);
}

static bool run_introspection(struct reel_recording *recording, const struct stage *stage, struct run *r,
                              struct reel_error *err) {
    (void)stage;
    AUTO_MEM char *text = reel_tide_introspection(recording, NULL, err);
    digest_text(r, text ? text : "");
    return text != NULL;
}

static bool field_seen(void *context, const struct reel_field *field) {
    digest_text(context, field->path);
    digest_text(context, field->type);
    return true;
}

/* An answer that there is none ("not decoded") is a result too; one that passes is not. */
static bool answered(struct run *r, const struct reel_error *why, struct reel_error *err) {
    if (why->code != REEL_OK && reel_is_transient(why->code)) {
        return reel_error_pass(err, why);
    }
    digest_text(r, why->text);
    return true;
}

static bool run_fields(struct reel_recording *recording, const struct stage *stage, struct run *r,
                       struct reel_error *err) {
    (void)stage;
    const struct reel_index *index = reel_recording_index(recording);
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        struct reel_error why = {0};
        if (!reel_topic_fields(recording, reel_index_channel(index, i)->name, field_seen, r, &why) &&
            !answered(r, &why, err)) {
            return false;
        }
        AUTO(reel_column_free)
        struct reel_column *c = reel_column_new(recording, reel_index_channel(index, i)->name, "data", REEL_TIME_MIN,
                                                REEL_TIME_MAX, NULL, &why);
        if (!c && !answered(r, &why, err)) {
            return false;
        }
        struct reel_point points[64];
        size_t n = c ? reel_column_points(c, REEL_TIME_MIN, REEL_TIME_MAX, 64, REEL_MINMAX, points) : 0;
        digest(r, points, n * sizeof *points);
    }
    return true;
}

static bool draw(const struct reel_decoder *decoder, struct reel_bytes payload, struct run *r, struct reel_error *why) {
    struct reel_image image = {0};
    struct reel_picture picture = {0};
    bool good = reel_image_read(decoder, payload, &image, why);
    for (int form = 0; good && form < 2; form++) {
        good = reel_picture_make(&image, (enum reel_picture_form)form, 16, &picture, why);
        digest(r, picture.data, picture.size);
        reel_picture_done(&picture);
        picture = (struct reel_picture){0};
    }
    reel_image_done(&image);
    return good;
}

static bool run_pictures(struct reel_recording *recording, const struct stage *stage, struct run *r,
                         struct reel_error *err) {
    (void)stage;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, err);
    struct reel_message m;
    enum reel_step step = stream ? REEL_STEP_MESSAGE : REEL_STEP_ERROR;
    for (int i = 0; i < 4 && step == REEL_STEP_MESSAGE && (step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE;
         i++) {
        struct reel_bytes payload;
        struct reel_error why = {0};
        AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(stream->channels[m.channel], &why);
        if (decoder && !reel_stream_payload(stream, &m, &payload, err)) {
            return false;
        }
        if ((!decoder || !draw(decoder, payload, r, &why)) && !answered(r, &why, err)) {
            return false;
        }
    }
    return step != REEL_STEP_ERROR;
}

/* --- one run, with or without a failure */

static void digest_file(struct run *r, const char *path) {
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t piece[4096];
    ssize_t got = 0;
    while (fd >= 0 && (got = read(fd, piece, sizeof piece)) > 0) {
        digest(r, piece, (size_t)got);
    }
}

static bool run_scan(const struct job *job, bool summary, struct run *r, struct reel_error *err) {
    char path[128];
    snprintf(path, sizeof path, "%s/scan", folder);
    AUTO(reel_source_free) struct reel_source *source = open_source(job, err);
    const struct reel_format *format = source && summary ? reel_format_probe(source, err) : NULL;
    bool good = source && (!summary || format) &&
                (summary ? reel_scan_summary(&source, 1, format, path, NULL, err)
                         : reel_scan_run(&source, 1, NULL, path, NULL, err));
    if (good) {
        digest_file(r, path);
        unlink(path);
    }
    return good;
}

static const struct stage scan_stage = {.name = "scan"}, summary_stage = {.name = "summary"},
                          open_stage = {.name = "open"};

/* Fails the n-th of `what` (negative: none); *seen: how many there were. err: r->err or NULL. */
static struct run run_with(const struct job *job, const struct stage *stage, struct countdown *what, long n, long *seen,
                           bool mute) {
    struct run r = {.hash = 14695981039346656037u};
    struct reel_error *err = mute ? NULL : &r.err;
    struct reel_recording *recording = stage->run ? open_recording(job, err) : NULL;
    assert_true(!stage->run || recording);
    what->seen = 0;
    what->at = n;
    if (stage == &open_stage) {
        recording = open_recording(job, err);
        r.good = recording != NULL;
    } else {
        r.good = stage->run ? stage->run(recording, stage, &r, err) : run_scan(job, stage == &summary_stage, &r, err);
    }
    *seen = what->seen;
    what->at = -1;
    reel_recording_free(recording);
    return r;
}

static struct run run_once(const struct job *job, const struct stage *stage, struct countdown *what, long n,
                           long *seen) {
    return run_with(job, stage, what, n, seen, false);
}

static bool same_without_error(const struct job *job, const struct stage *stage, struct countdown *what, long n,
                               const struct run *r) {
    long seen;
    struct run mute = run_with(job, stage, what, n, &seen, true);
    return mute.good == r->good && (!r->good || mute.hash == r->hash);
}

/* What is in the folder besides the pack. */
static int leftovers(void) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        n += e->d_name[0] != '.' && strcmp(e->d_name, "pack") != 0;
    }
    closedir(d);
    return n;
}

static bool right(const struct run *clean, const struct run *r) {
    if (!r->good && reel_is_transient(r->err.code)) {
        return true;
    }
    return r->good == clean->good && (r->good ? r->hash == clean->hash : r->err.code == clean->err.code);
}

/* All at first, then in growing steps; `phase` moves them, so that other cases meet other places. */
static long after(long n, long dense, unsigned phase) {
    return n < dense ? n + 1 : n + 1 + (n - dense) / 4 + (long)(phase % 7);
}

static int stage_faults(const struct job *job, const struct stage *stage, struct countdown *what, const char *kind,
                        long dense, unsigned phase, unsigned long *runs) {
    long total, seen;
    struct run clean = run_once(job, stage, what, -1, &total);
    int faults = 0;
    if (!clean.good && reel_is_transient(clean.err.code)) {
        fail_msg("%s %s: fails undisturbed: %s", job->name, stage->name, clean.err.text);
    }
    for (long n = -1; n < total; n = after(n, dense, phase)) {
        long before = blocks;
        struct run r = run_once(job, stage, what, n, &seen);
        ++*runs;
        int left = leftovers();
        bool leaks = blocks > before && !failed_in("libzip.");
        bool same = (n > 0 && n % MUTE_EACH != 0) || same_without_error(job, stage, what, n, &r);
        if (!right(&clean, &r) || left > 0 || leaks || !same) {
            if (faults++ < SHOWN_MAX) {
                print_message("%s %s %s %ld of %ld: %s%s%s%s; %s%s\n", job->name, stage->name, kind, n, total,
                              right(&clean, &r) ? "right"
                              : r.good          ? "another result"
                                                : r.err.text,
                              left ? ", files left" : "", leaks ? ", a leak" : "", same ? "" : ", another without err",
                              "undisturbed: ", clean.good ? "good" : clean.err.text);
            }
        }
    }
    return faults;
}

/* --- the stages of a case */

static struct stage stages[STAGES_MAX];
static size_t n_stages;
static char stage_names[STAGES_MAX][64];

static void add(struct stage s) {
    assert_true(n_stages < STAGES_MAX);
    snprintf(stage_names[n_stages], sizeof stage_names[0], "%s", s.name);
    s.name = stage_names[n_stages];
    stages[n_stages++] = s;
}

static void add_writer(const struct reel_writer *w, const char *compression, const struct reel_view *view, bool cut,
                       bool raw) {
    char name[64];
    snprintf(name, sizeof name, "%s%s%s%s%s%s%s", w->name, w->variant ? w->variant : "", compression ? "+" : "",
             compression ? compression : "", view ? "+view" : "", cut ? "+cut" : "", raw ? "+raw" : "");
    add((struct stage){.name = name,
                       .run = run_writer,
                       .writer = w,
                       .compression = compression,
                       .view = view,
                       .cut = cut,
                       .raw = raw});
}

static void add_report(const char *name, int topic, bool raw,
                       bool (*run)(struct reel_recording *, const struct stage *, struct run *, struct reel_error *)) {
    char full[64];
    snprintf(full, sizeof full, "%s%d%s", name, topic, raw ? "+text" : "");
    add((struct stage){.name = full, .run = run, .topic = topic, .raw = raw});
}

static void add_stages(void) {
    add((struct stage){.name = "stream", .run = run_stream});
    add((struct stage){.name = "attachments", .run = run_attachments});
    for (size_t i = 0; reel_writers[i]; i++) {
        const struct reel_writer *w = reel_writers[i];
        add_writer(w, NULL, NULL, false, false);
        add_writer(w, NULL, NULL, true, false);
        if (w->compressions && (strstr(w->compressions, "lz4") || strstr(w->compressions, "bz2"))) {
            add_writer(w, strstr(w->compressions, "lz4") ? "lz4" : "bz2", NULL, false, false);
        }
        if (strcmp(w->name, "mcap") == 0 || strcmp(w->name, "ndjson") == 0) {
            add_writer(w, NULL, reel_views[0], true, false);
        }
    }
    for (int i = REEL_CARLA_INFO; i <= REEL_CARLA_TRAJECTORY; i++) {
        add_report("carla", i, false, run_carla);
        add_report("carla", i, true, run_carla);
    }
    for (int i = REEL_NANOVER_RESETS; i <= REEL_NANOVER_FRAMES; i++) {
        add_report("nanover", i, false, run_nanover);
    }
    add_report("moment", REEL_NANOVER_FRAME, false, run_nanover_moment);
    add_report("moment", REEL_NANOVER_STATE, false, run_nanover_moment);
    add_report("baginfo", 0, false, run_bag_info);
    add_report("baginfo", 0, true, run_bag_info);
    add_report("channels", 0, false, run_tide_channels);
    add_report("introspection", 0, false, run_introspection);
    add_report("fields", 0, false, run_fields);
    add_report("pictures", 0, false, run_pictures);
}

/* --- the cases */

static const char *only_case, *only_stage, *only_kind;
static long only_at = -1;

static bool is_chosen(const char *chosen, const char *name) {
    return !chosen || strcmp(chosen, name) == 0;
}

static int run_stage(const struct job *job, const struct stage *stage, unsigned phase, unsigned long *runs) {
    long dense = getenv("REEL_EVERY") ? LONG_MAX : stage->run ? 24 : 200;
    int faults = 0;
    if (!is_chosen(only_stage, stage->name)) {
        return 0;
    }
    if (only_at >= 0) {
        long seen;
        struct run r = run_once(job, stage, strcmp(only_kind, "read") == 0 ? &reads : &allocations, only_at, &seen);
        print_message("%s, code %d: %s\n", r.good ? "good" : "failed", r.err.code, r.err.text);
        return 0;
    }
    faults += stage_faults(job, stage, &allocations, "memory", dense, phase, runs);
    faults += stage_faults(job, stage, &reads, "read", dense, phase, runs);
    return faults;
}

static struct job job_of(const char *format, const char *name) {
    struct job job = {.format = format};
    char path[512] = "", where[400];
    snprintf(where, sizeof where, "%s/golden/%s/%s", REEL_TESTS, format, name);
    DIR *d = opendir(where);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, "input.", 6) == 0) {
            snprintf(path, sizeof path, "%s/%.100s", where, e->d_name);
            snprintf(job.name, sizeof job.name, "%.100s", e->d_name);
        }
    }
    closedir(d);
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    job.size = (size_t)st.st_size;
    job.data = malloc(job.size + 1);
    assert_true(job.data && read(fd, job.data, job.size) == st.st_size);
    snprintf(job.name, sizeof job.name, "%.60s.%s", name, strrchr(path, '.') + 1);
    return job;
}

static int run_case(const char *format, const char *name, unsigned phase, unsigned long *runs) {
    struct job job = job_of(format, name);
    struct reel_error err = {0};
    int faults = run_stage(&job, &scan_stage, phase, runs) + run_stage(&job, &summary_stage, phase, runs);
    AUTO(reel_source_free) struct reel_source *source = open_source(&job, &err);
    assert_non_null(source);
    if (reel_scan_run(&source, 1, NULL, pack, NULL, &err)) {
        faults += run_stage(&job, &open_stage, phase, runs);
        for (size_t i = 0; i < n_stages; i++) {
            faults += run_stage(&job, &stages[i], phase, runs);
        }
        unlink(pack);
    }
    free(job.data);
    return faults;
}

static const char *format_wanted;

static void whatever_fails_passes(void **state) {
    (void)state;
    char where[300];
    struct dirent **names;
    snprintf(where, sizeof where, "%s/golden/%s", REEL_TESTS, format_wanted);
    int n = scandir(where, &names, NULL, alphasort), faults = 0;
    unsigned long runs = 0;
    assert_true(n > 2);
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.' && is_chosen(only_case, names[i]->d_name)) {
            faults += run_case(format_wanted, names[i]->d_name, (unsigned)i, &runs);
        }
        free(names[i]);
    }
    free(names);
    print_message("%lu runs, %d faults\n", runs, faults);
    assert_int_equal(faults, 0);
}

int main(int argc, char **argv) {
    setenv("TZ", "UTC", 1); /* without it each mktime() of libzip allocates, and keeps, the name of the time zone */
    if (argc < 2) {
        return 2;
    }
    format_wanted = argv[1];
    only_case = argc > 2 ? argv[2] : NULL;
    only_stage = argc > 3 ? argv[3] : NULL;
    only_kind = argc > 4 ? argv[4] : "memory";
    only_at = argc > 5 ? atol(argv[5]) : -1;
    snprintf(folder, sizeof folder, "%s/reel-nomemory-%ld", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".",
             (long)getpid());
    snprintf(pack, sizeof pack, "%s/pack", folder);
    if (mkdir(folder, 0700) != 0) {
        return 2;
    }
    add_stages();
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_fails_passes)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
