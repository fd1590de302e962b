/* index/scan_chunks.h: whatever threads decode ahead, a scan finds the same, in sound files and in damaged ones. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "index/index.h"
#include "index/scan.h"
#include "reel/record.h"

enum { MESSAGES = 200, LARGEST = 20000, CHUNK = 200 << 10, DAMAGES = 24 };

static struct reel_error err;
static uint64_t random_state;

static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(random_state >> 33) % n;
}

static struct grow read_file(const char *path) {
    struct grow out = {0};
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    size_t size = (size_t)lseek(fd, 0, SEEK_END);
    assert_int_equal(pread(fd, grow_take(&out, size), size, 0), size);
    return out;
}

/* A recording with ten chunks, half noise and half text. */
static struct grow make(const char *extension, const char *compression) {
    static uint8_t payload[LARGEST];
    char path[512];
    uint32_t id[3];
    snprintf(path, sizeof path, "%s/made%s", REEL_SCRATCH, extension);
    unlink(path);
    random_state = 1;
    const struct reel_recorder_options options = {
        .size = sizeof options, .compression = compression, .chunk_bytes = CHUNK};
    struct reel_recorder *r = reel_recorder_open(path, reel_writer_for_file(path, NULL, &err), &options, &err);
    assert_non_null(r);
    for (uint32_t i = 0; i < 3; i++) {
        const char *const topics[] = {"/a", "/b", "/c"};
        const struct reel_channel_options channel = {.size = sizeof channel,
                                                     .topic = topics[i],
                                                     .type = "std_msgs/UInt8",
                                                     .encoding = "ros1",
                                                     .schema_encoding = "ros1msg",
                                                     .schema = bytes_of("uint8 data\n", 11)};
        assert_true(reel_recorder_channel(r, &channel, &id[i], &err));
    }
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint32_t size = 100 + random_below(LARGEST - 100);
        for (uint32_t k = 0; k < size; k++) {
            payload[k] = k / 64 % 2 == 0 ? (uint8_t)random_below(256) : (uint8_t)("robot "[k % 6]);
        }
        const struct reel_record record = {.size = sizeof record,
                                           .channel = id[random_below(3)],
                                           .log_time_ns = 1700000000000000000 + (int64_t)i * 1000000,
                                           .payload = bytes_of(payload, size)};
        assert_true(reel_recorder_message(r, &record, &err));
    }
    assert_true(reel_recorder_close(r, &err));
    return read_file(path);
}

/* The pack of a scan, or what it failed with. */
struct result {
    struct grow pack;
    struct reel_error err;
};

static struct result scan(struct reel_bytes file, const char *name, unsigned n) {
    struct result result = {0};
    const struct reel_threads_options options = {.size = sizeof options, .threads = n, .from_bytes = 1};
    AUTO(reel_threads_free) struct reel_threads *threads = n > 0 ? reel_threads_new(&options, &err) : NULL;
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(file, name, &err);
    AUTO(reel_index_free)
    struct reel_index *index = reel_scan_index(&source, 1, NULL, NULL, false, threads, NULL, &result.err);
    if (index) {
        uint8_t *pack = grow_take(&result.pack, index->pack_bytes);
        assert_int_equal(pread(index->fd, pack, index->pack_bytes, 0), index->pack_bytes);
    }
    return result;
}

static void assert_same(struct reel_bytes file, const char *name, const char *what) {
    static const unsigned counts[] = {1, 2, 5};
    struct result alone = scan(file, name, 0);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct result r = scan(file, name, counts[i]);
        if (r.err.code != alone.err.code || strcmp(r.err.text, alone.err.text) != 0) {
            fail_msg("%s, %s, %u threads: \"%s\", alone \"%s\"", name, what, counts[i], r.err.text, alone.err.text);
        }
        if (r.pack.size != alone.pack.size ||
            (r.pack.size > 0 && memcmp(r.pack.data, alone.pack.data, r.pack.size) != 0)) {
            fail_msg("%s, %s, %u threads: another pack", name, what, counts[i]);
        }
        free(r.pack.data);
    }
    free(alone.pack.data);
}

static const char *const kinds[][2] = {{".bag", "lz4"}, {".bag", "bz2"}, {".mcap", "lz4"}, {".mcap", "zstd"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void sound_files(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        AUTO_STRUCT(grow_done) struct grow file = make(kinds[k][0], kinds[k][1]);
        struct result alone = scan(bytes_of(file.data, file.size), kinds[k][0], 0);
        assert_true(alone.pack.size > 0);
        free(alone.pack.data);
        assert_same(bytes_of(file.data, file.size), kinds[k][0], kinds[k][1]);
    }
}

/* A file of which this thread reads the first chunk only when another thread reads one. */
struct watched {
    struct reel_source source;
    struct reel_bytes bytes;
    pthread_t scan;
    _Atomic unsigned others;
};

static bool watched_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                         struct reel_error *why) {
    struct watched *w = (struct watched *)source;
    (void)why;
    memcpy(buffer, w->bytes.data + offset, size);
    if (!pthread_equal(pthread_self(), w->scan)) {
        atomic_fetch_add(&w->others, 1);
    }
    bool is_chunk = size > 64 << 10 && size < 2 * CHUNK && offset > 0; /* other reads are smaller or larger */
    for (unsigned i = 0; is_chunk && i < 60000 && atomic_load(&w->others) == 0; i++) {
        usleep(1000);
    }
    return true;
}

/* A recording of `n` files with the same bytes. */
static void assert_others_read(struct reel_bytes file, const char *const *names, uint32_t n) {
    const struct reel_source_ops ops = {.read = watched_read};
    struct watched w[2];
    struct reel_source *sources[2];
    for (uint32_t i = 0; i < n; i++) {
        w[i] = (struct watched){
            .source = {.ops = &ops, .size = file.size, .name = names[i]}, .bytes = file, .scan = pthread_self()};
        sources[i] = &w[i].source;
    }
    const struct reel_threads_options options = {.size = sizeof options, .threads = 2, .from_bytes = 1};
    AUTO(reel_threads_free) struct reel_threads *threads = reel_threads_new(&options, &err);
    AUTO(reel_index_free)
    struct reel_index *index = reel_scan_index(sources, n, NULL, NULL, false, threads, NULL, &err);
    assert_non_null(index);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(atomic_load(&w[i].others) > 0);
    }
}

static void other_threads_decode(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        if (strcmp(kinds[k][1], "bz2") == 0) {
            continue; /* is read in pieces as small as those that the scan reads */
        }
        AUTO_STRUCT(grow_done) struct grow file = make(kinds[k][0], kinds[k][1]);
        assert_others_read(bytes_of(file.data, file.size), &kinds[k][0], 1);
    }
}

/* run_0.bag, run_1.bag: each file is scanned alone. */
static void other_threads_decode_splits(void **state) {
    (void)state;
    static const char *const names[] = {"run_0.bag", "run_1.bag"};
    AUTO_STRUCT(grow_done) struct grow file = make(".bag", "lz4");
    assert_others_read(bytes_of(file.data, file.size), names, 2);
}

/* Bytes that are changed, zeroed or missing, in headers and in compressed data. */
static void damaged_files(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        AUTO_STRUCT(grow_done) struct grow file = make(kinds[k][0], kinds[k][1]);
        AUTO_MEM uint8_t *changed = malloc(file.size);
        for (unsigned i = 0; i < DAMAGES; i++) {
            char what[64];
            size_t at = random_below((uint32_t)file.size - 6000) + 100, size = file.size;
            memcpy(changed, file.data, size);
            if (i % 4 == 0) {
                changed[at] ^= 0x55;
            } else if (i % 4 == 1) {
                memset(changed + at, 0, 5000);
            } else if (i % 4 == 2) {
                memmove(changed + at, changed + at + 777, size - at - 777);
                size -= 777;
            } else {
                size = at;
            }
            snprintf(what, sizeof what, "%s, damage %u at %zu", kinds[k][1], i, at);
            assert_same(bytes_of(changed, size), kinds[k][0], what);
        }
    }
}

/* A chunk that is too large to be decoded ahead, then one that is too large for memory: its checksum is its own. */
static void large_chunks(void **state) {
    (void)state;
    static const size_t sizes[] = {300 << 10, 40 << 20, 65 << 20, 300 << 10};
    static const char path[] = REEL_SCRATCH "/large.mcap";
    const size_t room = sizes[2];
    AUTO_MEM uint8_t *payload = calloc(1, room);
    assert_non_null(payload);
    for (size_t k = 0; k < room; k += 256) { /* else it expands too much to be read */
        store_u32le(payload + k, random_below(UINT32_MAX));
    }
    unlink(path);
    const struct reel_recorder_options options = {.size = sizeof options, .compression = "lz4", .chunk_bytes = CHUNK};
    struct reel_recorder *r = reel_recorder_open(path, reel_writer_for_file(path, NULL, &err), &options, &err);
    const struct reel_channel_options channel = {.size = sizeof channel, .topic = "/a", .encoding = "bytes"};
    uint32_t id;
    assert_true(r && reel_recorder_channel(r, &channel, &id, &err));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct reel_record record = {.size = sizeof record,
                                           .channel = id,
                                           .log_time_ns = 1700000000000000000 + (int64_t)i,
                                           .payload = bytes_of(payload, sizes[i])};
        assert_true(reel_recorder_message(r, &record, &err));
    }
    assert_true(reel_recorder_close(r, &err));
    AUTO_STRUCT(grow_done) struct grow file = read_file(path);
    unlink(path);
    assert_same(bytes_of(file.data, file.size), ".mcap", "large chunks");
}

/* `cat a.mcap b.mcap`: each part is read ahead for itself. */
static void joined_files(void **state) {
    (void)state;
    AUTO_STRUCT(grow_done) struct grow one = make(".mcap", "zstd"), two = make(".mcap", "lz4"), joined = {0};
    grow_put(&joined, one.data, one.size);
    grow_put(&joined, two.data, two.size);
    assert_same(bytes_of(joined.data, joined.size), ".mcap", "joined");
}

struct budget {
    _Atomic int left;
};
static bool goes_on(void *context) {
    return atomic_fetch_sub(&((struct budget *)context)->left, 1) > 0;
}

static void cancelled_anywhere(void **state) {
    (void)state;
    AUTO_STRUCT(grow_done) struct grow file = make(".mcap", "zstd");
    unsigned cancelled = 0;
    for (int left = 0; left < 40; left++) {
        struct budget budget = {left};
        const struct cancel cancel = {.goes_on = goes_on, .context = &budget};
        cancel_set(&cancel);
        struct result r = scan(bytes_of(file.data, file.size), ".mcap", 3);
        cancel_set(NULL);
        assert_true(r.err.code == REEL_OK || r.err.code == REEL_CANCELLED);
        cancelled += r.err.code == REEL_CANCELLED;
        free(r.pack.data);
    }
    assert_true(cancelled > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_files),
        cmocka_unit_test(other_threads_decode),
        cmocka_unit_test(other_threads_decode_splits),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(large_chunks),
        cmocka_unit_test(joined_files),
        cmocka_unit_test(cancelled_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
