/* Every file the tests have (fuzz corpora, golden inputs, real samples where they are) cut at every record boundary and
 * with bytes flipped: always a result, never a crash; what a scan of the damaged bytes keeps can be read to the last
 * message, and a cut file keeps every message that is complete before the cut. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "index/scan.h"
#include "makers/real_samples.h"
#include "stream/stream.h"

#ifdef __SANITIZE_ADDRESS__
enum { CUTS_MAX = 16, FLIPS = 16 }; /* a scan takes ten times as long; the fuzz targets run long under it */
#else
enum { CUTS_MAX = 40, FLIPS = 40 };
#endif
enum { FILE_MAX = 4 << 20 };

struct file {
    uint8_t *data;
    size_t size;
    char name[256];
    const char *path;
};

static unsigned files_seen, scans_run;
static uint64_t seed = 88172645463325252u;

static uint64_t random_u64(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* Thousands of packs are made here, each with its fsync: in memory where there is a place for that. */
static const char *pack_path(void) {
    static char path[64];
    if (path[0] == '\0') {
        snprintf(path, sizeof path, "%s/reel-damaged-%ld.reel", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".",
                 (long)getpid());
    }
    return path;
}

/* Scans `size` bytes; NULL when refused, with a reason. */
static struct reel_recording *scan_bytes(const uint8_t *data, size_t size, const char *name,
                                         struct reel_source **keep) {
    struct reel_error err = {0};
    scans_run++;
    *keep = NULL;
    struct reel_source *source = reel_source_from_memory(bytes_of(data, size), name, &err);
    assert_non_null(source);
    if (!reel_scan_run(&source, 1, NULL, pack_path(), NULL, &err)) {
        assert_int_not_equal(err.code, REEL_OK);
        if (err.text[0] == '\0') {
            fail_msg("%s (%zu bytes): refused with code %d and without a word", name, size, (int)err.code);
        }
        reel_source_free(source);
        return NULL;
    }
    struct reel_index *index = reel_index_open(pack_path(), &err);
    if (!index) {
        fail_msg("%s: the index just made does not open: %s", name, err.text);
    }
    struct reel_recording *recording = reel_recording_from_index(index, &source, 1, NULL, &err);
    assert_non_null(recording);
    return recording;
}

/* Reads all; a compressed chunk that does not decode is an error with a text. Returns the messages with readable
 * payload. */
static uint64_t read_all(struct reel_recording *recording, const char *name) {
    struct reel_error err = {0};
    AUTO(reel_stream_free)
    struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, &err);
    assert_non_null(stream);
    struct reel_message m;
    uint64_t count = 0, readable = 0;
    enum reel_step step;
    while ((step = stream_next(stream, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        if (reel_stream_payload(stream, &m, &payload, &err)) {
            readable += payload.size == m.size;
        } else {
            assert_int_not_equal(err.code, REEL_OK);
        }
        count++;
    }
    if (step == REEL_STEP_ERROR) {
        fail_msg("%s: %s", name, err.text);
    }
    assert_int_equal(count, reel_index_info(reel_recording_index(recording))->messages);
    return readable;
}

/* Renders with every writer that accepts it, so that writers meet damaged recordings too. */
static void convert_all(struct reel_recording *recording) {
    for (size_t i = 0; reel_writers[i]; i++) {
        struct reel_error err = {0};
        const struct reel_writer *writer = reel_writers[i];
        struct reel_write_options options = {.compression = ""};
        struct reel_stream *stream = reel_writer_stream(writer, &recording, 1, &selection_all, &err);
        assert_non_null(stream);
        if (!reel_writer_accepts(writer, stream, NULL, &err) || (writer->needs & REEL_STREAMED)) {
            reel_stream_free(stream);
            continue;
        }
        AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(writer, &options, stream, NULL, &err);
        reel_stream_free(stream);
        if (!plan) {
            assert_int_not_equal(err.code, REEL_OK);
            continue;
        }
        struct reel_selection q = selection_all;
        q.initial = reel_plan_initial_state(plan);
        stream = reel_writer_stream(writer, &recording, 1, &q, &err);
        AUTO(reel_planned_output_free) struct reel_planned_output *render = reel_planned_output_new(plan, stream, &err);
        assert_non_null(render);
        uint8_t piece[65536];
        for (uint64_t at = 0, length = reel_plan_length(plan); at < length;) {
            size_t n = length - at < sizeof piece ? (size_t)(length - at) : sizeof piece;
            if (!reel_planned_output_read(render, at, piece, n, &err)) {
                assert_int_not_equal(err.code, REEL_OK);
                break;
            }
            at += n;
        }
    }
}

static uint64_t messages_of(const uint8_t *data, size_t size, const char *name, bool convert) {
    struct reel_source *source;
    AUTO(reel_recording_free) struct reel_recording *recording = scan_bytes(data, size, name, &source);
    if (!recording) {
        return 0;
    }
    uint64_t count = read_all(recording, name);
    if (convert) {
        convert_all(recording);
    }
    return count;
}

/* Where records begin and end, from the index of the undamaged file. *plain: none of them is in a compressed chunk,
 * where these are no offsets of the file. */
static size_t boundaries(struct reel_recording *recording, uint64_t **out, bool *plain) {
    struct reel_error err = {0};
    AUTO(reel_stream_free)
    struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, &err);
    uint64_t n = reel_index_info(reel_recording_index(recording))->messages * 3 + 1;
    uint64_t *at = malloc(n * sizeof *at);
    assert_true(stream && at);
    size_t count = 0;
    struct reel_message m;
    *plain = true;
    while (stream_next(stream, &m, &err) == REEL_STEP_MESSAGE) {
        *plain = *plain && m.entry.chunk < reel_index_info(reel_recording_index(recording))->n_parts;
        at[count++] = m.entry.offset;
        at[count++] = m.entry.offset + m.entry.head;
        at[count++] = m.entry.offset + m.entry.head + m.entry.size;
    }
    *out = at;
    return count;
}

/* Messages of the undamaged file that end before the cut; `at` holds three boundaries a message. */
static uint64_t whole_before(const uint64_t *at, size_t n, uint64_t size) {
    uint64_t count = 0;
    for (size_t i = 2; i < n; i += 3) {
        count += at[i] <= size;
    }
    return count;
}

/* Without its end, a file of these shapes has no positions of its messages: they are compressed, between other bytes,
 * or after others.
 */
static bool needs_its_end(const char *path) {
    static const char *const shapes[] = {
        "deflated",          "gaps_and_disorder", "overlapping_entries",
        "duplicate_members", "prefix_bytes",      "version_1_state"}; /* known by its second record */
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (strstr(path, shapes[i])) {
            return true;
        }
    }
    return false;
}

static void cut(const struct file *f) {
    struct reel_source *source;
    AUTO(reel_recording_free) struct reel_recording *recording = scan_bytes(f->data, f->size, f->name, &source);
    if (!recording) {
        return;
    }
    bool plain;
    AUTO_MEM uint64_t *at = NULL;
    size_t n = boundaries(recording, &at, &plain), step = n / CUTS_MAX + 1;
    bool clean = plain && !reel_index_info(reel_recording_index(recording))->damaged && !needs_its_end(f->path);
    for (size_t i = 0; i < n; i += step) {
        for (int nudge = -1; nudge <= 1; nudge++) {
            uint64_t size = at[i] + (uint64_t)(int64_t)nudge;
            if (size > 0 && size < f->size) {
                uint64_t count = messages_of(f->data, size, f->name, i % 16 == 0);
                if (clean && count != whole_before(at, n, size)) {
                    fail_msg("%s cut at %llu: %llu messages kept, %llu end before the cut", f->path,
                             (unsigned long long)size, (unsigned long long)count,
                             (unsigned long long)whole_before(at, n, size));
                }
            }
        }
    }
}

static void flip(const struct file *f) {
    for (unsigned i = 0; i < FLIPS && f->size > 0; i++) {
        size_t at[4];
        uint8_t was[4];
        for (unsigned k = 0; k < 4; k++) {
            uint64_t r = random_u64();
            at[k] = (size_t)(i % 2 ? r % (f->size < 512 ? f->size : 512) : r % f->size); /* headers matter most */
            was[k] = f->data[at[k]];
            f->data[at[k]] ^= (uint8_t)(1u << (r >> 60 & 7)) | (uint8_t)(i % 3 == 0 ? 0xff : 0);
        }
        messages_of(f->data, f->size, f->name, i % 8 == 0);
        for (unsigned k = 4; k-- > 0;) {
            f->data[at[k]] = was[k];
        }
    }
}

static void check_file(const char *path, const char *name) {
    struct file f = {.path = path};
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    long size = ftell(in);
    rewind(in);
    if (size > 0 && size <= FILE_MAX) {
        f.size = (size_t)size;
        f.data = malloc(f.size);
        assert_non_null(f.data);
        assert_int_equal(fread(f.data, f.size, 1, in), 1);
        snprintf(f.name, sizeof f.name, "%s", name);
        files_seen++;
        messages_of(f.data, f.size, f.name, true);
        cut(&f);
        flip(&f);
        free(f.data);
    }
    fclose(in);
}

static void check_folder(const char *folder) {
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[4096];
        struct stat there;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || stat(path, &there) != 0) {
            continue;
        }
        if (S_ISDIR(there.st_mode)) {
            check_folder(path);
        } else if (!strstr(e->d_name, ".json") && !strstr(e->d_name, ".txt")) {
            check_file(path, e->d_name);
        }
    }
    if (d) {
        closedir(d);
    }
}

static char **folders;
static int n_folders;

static void every_damaged_file_has_an_answer(void **state) {
    (void)state;
    for (int i = 0; i < n_folders; i++) {
        check_folder(folders[i]);
    }
    if (files_seen == 0) {
        skip();
    }
    assert_true(scans_run > FLIPS * files_seen);
}

int main(int argc, char **argv) {
    folders = argv + 1;
    n_folders = argc - 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_damaged_file_has_an_answer)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(pack_path());
    return failed;
}
