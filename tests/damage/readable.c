/* What is not damaged is still read. Bytes of whole files are flipped or zeroed in strides, and their ends are cut off:
 * every message whose own bytes (of a compressed chunk: the chunk's) are not among the damaged ones is there
 * afterwards, with its time and its payload. And every writer takes the damaged recording, with views and with a cut in
 * the middle: what it writes as a recording has, scanned, as many messages as the writer took.
 *
 * readable FORMAT runs tests/golden/FORMAT. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "formats/ulog/layout.h"
#include "index/scan.h"
#include "makers/any_output.h"
#include "stream/view.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "index/index.h"

#ifdef __SANITIZE_ADDRESS__
enum { PLACES = 60 };
#else
enum { PLACES = 240 };
#endif
enum { ZEROED = 16, WRITE_EVERY = 12, MESSAGES_MAX = 4096, OUTPUT_MAX = 16 << 20, SHOWN_MAX = 8 };

static const struct sample {
    const char *format, *name;
    bool joined;
    size_t run; /* messages; 0: those of one time */
} samples[] = {
    {"rosbag-1.2", "indexed", false, 0},
    {"rosbag-1.2", "latched", false, 0},
    {"rosbag-1.2", "log_1.1_rosrecord_absolute", false, 0},
    {"rosbag-2.0", "plain", false, 0},
    {"rosbag-2.0", "lz4", false, 0},
    {"rosbag-2.0", "bz2", false, 0},
    {"mcap", "plain", true, 2},
    {"mcap", "lz4", false, 0},
    {"mcap", "zstd", false, 0},
    {"mcap", "unchunked", false, 0},
    {"tide", "usual", false, 0},
    {"tide", "new_usual", false, 0},
    {"tide", "new_packed", false, 0},
    {"mira", "usual", false, 0},
    {"mira", "compressed", false, 0},
    {"carla", "version_0.9.15", true, 0},
    {"nanover", "official_layout", false, 0},
    {"nanover_legacy", "usual_traj", false, 0},
    {"rosbag2", "schema_4", false, 0},
    {"ulog", "no_gps_time", false, 0},
};

static const char *format_wanted;
static unsigned faults, checks, outputs;

static void fault(const char *sample, const char *how, size_t at, const char *what, unsigned long long a,
                  unsigned long long b) {
    if (faults++ < SHOWN_MAX) {
        print_message("%s, %s at %zu: %s (%llu, %llu)\n", sample, how, at, what, a, b);
    }
}

/* --- scanning */

static const char *pack_path(void) {
    static char path[64];
    snprintf(path, sizeof path, "%s/reel-readable-%ld.reel", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".",
             (long)getpid());
    return path;
}

static struct reel_recording *scan(struct reel_bytes data, const char *name, struct reel_error *err) {
    struct reel_source *source = reel_source_from_memory(data, name, err);
    assert_non_null(source);
    if (!reel_scan_run(&source, 1, NULL, pack_path(), NULL, err)) {
        reel_source_free(source);
        return NULL;
    }
    struct reel_index *index = reel_index_open(pack_path(), err);
    unlink(pack_path());
    assert_non_null(index);
    struct reel_recording *recording = reel_recording_from_index(index, &source, 1, NULL, err);
    assert_non_null(recording);
    return recording;
}

/* --- what was read */

struct seen {
    uint64_t hash; /* of time and payload */
    int64_t time_ns;
    uint64_t begin, end; /* of its record, or of the chunk or frame that it lies in */
};
struct list {
    struct seen items[MESSAGES_MAX];
    size_t count;
};

static uint64_t hash_of(int64_t time_ns, struct reel_bytes payload) {
    uint64_t h = (uint64_t)time_ns * 0x9e3779b97f4a7c15u ^ payload.size;
    for (size_t i = 0; i < payload.size; i++) {
        h = (h ^ payload.data[i]) * 1099511628211u;
    }
    return h;
}

static void place_of(const struct reel_recording *recording, const struct reel_message *m, struct seen *s) {
    static struct reel_chunk rows[REEL_SEGMENT_ENTRIES];
    struct reel_error err = {0};
    uint32_t first, count;
    assert_true(index_read_chunks(reel_recording_index(recording), m->entry.chunk, rows, &first, &count, &err));
    const struct reel_chunk *row = &rows[m->entry.chunk - first];
    bool plain = row->codec == REEL_CODEC_NONE && row->part < REEL_CHUNK_PART;
    if (row->codec == REEL_CODEC_ROWS && strcmp(format_wanted, "ulog") == 0) { /* longer than in the file */
        s->begin = m->entry.offset >> ULOG_ROW_BITS;
        s->end = s->begin + m->entry.size;
        return;
    }
    s->begin = row->offset + (plain ? m->entry.offset : 0);
    s->end = plain ? s->begin + m->entry.head + m->entry.size : row->offset + row->stored;
}

/* Runs of messages that are damaged together: the frames of CARLA, with the frame before (a packet of a wrong length
 * may swallow the start of the next frame), and the two messages of a plain chunk in MCAP. */
static void join_runs(struct list *l, size_t run) {
    uint64_t before = l->items[0].begin;
    for (size_t first = 0, n; first < l->count; first += n) {
        uint64_t begin = l->items[first].begin;
        for (n = 1;
             first + n < l->count && (run > 0 ? n < run : l->items[first + n].time_ns == l->items[first].time_ns);
             n++) {
        }
        for (size_t i = first; i < first + n; i++) {
            l->items[i].begin = run > 0 ? begin : before;
            l->items[i].end = l->items[first + n - 1].end;
        }
        before = begin;
    }
}

/* NanoVer's times stand in an index at the end, and these messages of ULog have that of the one before. */
static bool has_time(const struct reel_channel *c) {
    return strcmp(format_wanted, "nanover") != 0 && strcmp(c->type, "ulog/parameter") != 0 &&
           strcmp(c->type, "ulog/dropout") != 0;
}

/* False: a message could not be read. */
static bool read_all(struct reel_recording *recording, struct list *out, struct reel_error *err) {
    AUTO(reel_stream_free)
    struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, err);
    assert_non_null(stream);
    struct reel_message m;
    enum reel_step step;
    out->count = 0;
    while ((step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE && out->count < MESSAGES_MAX) {
        struct reel_bytes payload;
        if (!reel_stream_payload(stream, &m, &payload, err)) {
            return false;
        }
        struct seen *s = &out->items[out->count++];
        s->hash = hash_of(has_time(stream->channels[m.channel]) ? m.time_ns : 0, payload);
        s->time_ns = m.time_ns;
        place_of(recording, &m, s);
    }
    return step == REEL_STEP_END;
}

static bool holds(const struct list *l, const struct seen *s) {
    for (size_t i = 0; i < l->count; i++) {
        if (l->items[i].hash == s->hash) {
            return true;
        }
    }
    return false;
}

/* --- writers */

static bool take_all(struct reel_recording *recording, const struct reel_writer *w, const struct reel_selection *q,
                     uint64_t *count, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *stream = reel_writer_stream(w, &recording, 1, q, err);
    struct reel_message m;
    enum reel_step step = stream ? REEL_STEP_MESSAGE : REEL_STEP_ERROR;
    for (*count = 0; step == REEL_STEP_MESSAGE && (step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE;) {
        ++*count;
    }
    return step == REEL_STEP_END;
}

/* The whole output, in `out` (of OUTPUT_MAX bytes). *refused: the writer does not take such channels. */
static bool write_all(struct reel_recording *recording, const struct reel_writer *w, struct reel_selection q,
                      uint8_t *out, size_t *size, bool *refused, struct reel_error *err) {
    struct reel_write_options options = {
        .compression = "", .start_ns = q.start_ns, .is_cut = q.start_ns != REEL_TIME_MIN};
    struct reel_stream *stream = reel_writer_stream(w, &recording, 1, &q, err);
    *refused = stream && !reel_writer_accepts(w, stream, NULL, err);
    bool streamed = w->needs & REEL_STREAMED;
    AUTO(reel_plan_free)
    struct reel_plan *plan = stream && !*refused && !streamed ? reel_plan_new(w, &options, stream, NULL, err) : NULL;
    if (!streamed || *refused) {
        reel_stream_free(stream);
        q.initial = plan ? reel_plan_initial_state(plan) : NULL;
        stream = plan ? reel_writer_stream(w, &recording, 1, &q, err) : NULL;
    }
    struct any_output any = {.at = 0};
    bool good = stream && any_output_open(&any, plan, w, &options, stream, err);
    size_t got = 1;
    for (*size = 0; good && got > 0; *size += good ? got : 0) {
        assert_true(*size < OUTPUT_MAX);
        good = any_output_next(&any, out + *size, OUTPUT_MAX - *size, &got, err);
    }
    any_output_close(&any);
    return good;
}

static void check_output(struct reel_recording *recording, const struct reel_writer *w, const struct reel_selection *q,
                         const char *name, size_t at) {
    static uint8_t out[OUTPUT_MAX];
    struct reel_error err = {0};
    size_t size = 0;
    bool refused = false;
    uint64_t taken = 0;
    if (!write_all(recording, w, *q, out, &size, &refused, &err)) {
        if (!refused && err.code != REEL_UNSUPPORTED) {
            print_message("%s %s: %s\n", w->name, q->view ? "view" : "", err.text);
            fault(name, w->name, at, "is not written", err.code, 0);
        }
        return;
    }
    if (!reel_format_named(w->name) || q->state_at_cut) {
        return; /* text; or a state that the writer merges with what follows */
    }
    outputs++;
    assert_true(take_all(recording, w, q, &taken, &err));
    AUTO(reel_recording_free) struct reel_recording *again = scan(bytes_of(out, size), "written", &err);
    uint64_t found = again ? reel_index_info(reel_recording_index(again))->messages : UINT64_MAX;
    if (found != taken) {
        fault(name, w->name, at, "other messages are in what it wrote", taken, found);
    }
}

static void check_writers(struct reel_recording *recording, const char *name, size_t at) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    for (size_t i = 0; reel_writers[i]; i++) {
        const struct reel_writer *w = reel_writers[i];
        struct reel_selection q = selection_all;
        struct reel_error err = {0};
        check_output(recording, w, &q, name, at);
        for (size_t v = 0; reel_views[v]; v++) {
            q.view = reel_views[v];
            if (reel_format_named(w->name) && w != reel_writer_named(".mcap", NULL, &err)) {
                continue; /* what a view adds has no place in other formats */
            }
            check_output(recording, w, &q, name, at);
        }
        q.view = NULL;
        q.start_ns = info->start_ns / 2 + info->end_ns / 2;
        q.state_at_cut = (w->needs & REEL_NEEDS_STATE_AT_CUT) != 0;
        q.last_per_topic = true;
        check_output(recording, w, &q, name, at);
    }
}

/* --- damage */

struct file {
    uint8_t *data;
    size_t size;
    const char *name;
};

/* `f` is damaged in [begin, end); of a cut file the end is the whole file's. */
static void check(const struct file *f, const struct list *before, const char *how, size_t begin, size_t end,
                  bool writers) {
    static struct list after;
    struct reel_error err = {0};
    checks++;
    AUTO(reel_recording_free) struct reel_recording *recording = scan(bytes_of(f->data, f->size), f->name, &err);
    after.count = 0;
    if (recording && !read_all(recording, &after, &err)) {
        print_message("%s\n", err.text);
        fault(f->name, how, begin, "a message is not read", err.code, 0);
    }
    size_t untouched = 0, missing = 0;
    for (size_t i = 0; i < before->count; i++) {
        const struct seen *s = &before->items[i];
        bool touched = s->begin < end && s->end > begin;
        untouched += !touched;
        missing += !touched && !holds(&after, s);
    }
    if (missing > 0 || (!recording && untouched > 0)) {
        fault(f->name, how, begin, "messages are missing", missing, untouched);
    }
    if (recording && writers) {
        check_writers(recording, f->name, begin);
    }
}

/* The message that the byte at `at` belongs to, or NULL. */
static const struct seen *message_at(const struct list *l, size_t at) {
    for (size_t i = 0; i < l->count; i++) {
        if (at >= l->items[i].begin && at < l->items[i].end) {
            return &l->items[i];
        }
    }
    return NULL;
}

static void damage(struct file *f, const struct list *before) {
    size_t step = f->size / PLACES + 1, n = 0;
    for (size_t at = 0; at < f->size; at += step) {
        const struct seen *hit = message_at(before, at);
        if (!hit) {
            continue;
        }
        n++;
        uint8_t kept[ZEROED];
        size_t length = hit->end - at < ZEROED ? hit->end - at : ZEROED, whole = f->size;
        memcpy(kept, f->data + at, length);
        f->data[at] ^= 0xff;
        check(f, before, "flipped", at, at + 1, n % WRITE_EVERY == 0);
        memset(f->data + at, 0, length);
        check(f, before, "zeroed", at, at + length, n % WRITE_EVERY == 4);
        memcpy(f->data + at, kept, length);
        f->size = at;
        if (at > 0 && n % 4 == 0) {
            check(f, before, "cut", at, whole, n % WRITE_EVERY == 8);
        }
        f->size = whole;
    }
}

static struct file file_of(const struct sample *sample) {
    struct file f = {.name = sample->name};
    char path[512] = "", where[400];
    snprintf(where, sizeof where, "%s/golden/%s/%s", REEL_TESTS, sample->format, sample->name);
    DIR *d = opendir(where);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, "input.", 6) == 0) {
            snprintf(path, sizeof path, "%s/%.100s", where, e->d_name);
        }
    }
    closedir(d);
    FILE *in = fopen(path, "rb");
    assert_true(in && fseek(in, 0, SEEK_END) == 0);
    f.size = (size_t)ftell(in);
    rewind(in);
    f.data = malloc(f.size);
    assert_true(f.data && fread(f.data, f.size, 1, in) == 1);
    fclose(in);
    return f;
}

static void what_is_not_damaged_is_read(void **state) {
    (void)state;
    static struct list before;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        if (strcmp(samples[i].format, format_wanted) != 0) {
            continue;
        }
        struct file f = file_of(&samples[i]);
        struct reel_error err = {0};
        struct reel_recording *whole = scan(bytes_of(f.data, f.size), f.name, &err);
        assert_true(whole && read_all(whole, &before, &err) && before.count > 0);
        if (samples[i].joined) {
            join_runs(&before, samples[i].run);
        }
        check_writers(whole, f.name, 0);
        reel_recording_free(whole);
        unsigned was = faults;
        damage(&f, &before);
        print_message("%s: %zu messages in %zu bytes, %u faults\n", f.name, before.count, f.size, faults - was);
        free(f.data);
    }
    print_message("%u damaged files, %u outputs, %u faults\n", checks, outputs, faults);
    assert_true(checks > 0 && outputs > 0);
    assert_int_equal(faults, 0);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        return 2;
    }
    format_wanted = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_damaged_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
