/* index/pack.h and the pack file: columns come back as they were, stay within their bound, are small for regular
 * recordings, and no flipped bit passes. */
#include "makers/toy.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "index/index.h"

static struct reel_entry random_entry(uint64_t *seed, unsigned kind) {
    struct reel_entry e = {.channel = 3};
    uint64_t mask = kind == 0 ? UINT64_MAX : kind == 1 ? 0xff : (uint64_t)1 << toy_next(seed) % 64;
    e.time_ns = (int64_t)(toy_next(seed) & mask);
    e.offset = toy_next(seed) & mask;
    e.chunk = (uint32_t)(toy_next(seed) & mask);
    e.head = (uint32_t)(toy_next(seed) & mask);
    e.size = (uint32_t)(toy_next(seed) & mask);
    e.extra[0] = toy_next(seed) & mask;
    e.extra[1] = kind == 1 ? 42 : toy_next(seed);
    return e;
}

static void check_round(const struct reel_entry *entries, uint32_t n) {
    size_t bound = PACK_BOUND(n, PACK_ENTRY_COLUMNS);
    uint8_t *out = malloc(bound); /* exactly the bound: ASan sees what goes over */
    size_t size = pack_entries(entries, n, out);
    assert_true(size <= bound);
    uint8_t *exact = malloc(size);
    memcpy(exact, out, size);
    struct pack_cursor c;
    assert_true(pack_cursor_open(&c, bytes_of(exact, size), n, 3));
    struct reel_entry e;
    for (uint32_t i = 0; i < n; i++) {
        assert_true(pack_cursor_next(&c, &e));
        assert_memory_equal(&e, &entries[i], sizeof e);
    }
    assert_false(pack_cursor_next(&c, &e));
    for (size_t cut = size < 40 ? 0 : size - 40; cut < size; cut++) {
        assert_false(pack_cursor_open(&c, bytes_of(exact, cut), n, 3));
    }
    free(exact);
    free(out);
}

static void random_columns_come_back(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 100, 4095, REEL_SEGMENT_ENTRIES};
    uint64_t seed = 11;
    for (unsigned kind = 0; kind < 3; kind++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct reel_entry *entries = calloc(sizes[s], sizeof *entries);
            for (uint32_t i = 0; i < sizes[s]; i++) {
                entries[i] = random_entry(&seed, kind);
            }
            check_round(entries, sizes[s]);
            free(entries);
        }
    }
}

static void extremes_come_back(void **state) {
    (void)state;
    static const uint64_t extremes[] = {0, UINT64_MAX,     (uint64_t)INT64_MAX, (uint64_t)INT64_MIN,
                                        1, UINT64_MAX - 1, UINT32_MAX};
    enum { N = 500 };
    struct reel_entry entries[N];
    uint64_t seed = 5;
    for (size_t i = 0; i < N; i++) {
        uint64_t v = i % 2 ? extremes[toy_next(&seed) % 7] : extremes[i / 2 % 2 + 2];
        entries[i] = (struct reel_entry){.time_ns = (int64_t)v,
                                         .offset = ~v,
                                         .channel = 3,
                                         .chunk = (uint32_t)v,
                                         .head = (uint32_t)~v,
                                         .size = (uint32_t)v,
                                         .extra = {v, 0 - v}};
    }
    check_round(entries, N);
}

static void chunk_rows_come_back(void **state) {
    (void)state;
    enum { N = REEL_SEGMENT_ENTRIES };
    struct reel_chunk *chunks = calloc(N, sizeof *chunks), *back = malloc(N * sizeof *back);
    uint8_t *out = malloc(PACK_BOUND(N, PACK_CHUNK_COLUMNS));
    uint64_t seed = 9;
    for (size_t i = 0; i < N; i++) {
        chunks[i].part = (uint32_t)toy_next(&seed);
        chunks[i].codec = (enum reel_codec)(toy_next(&seed) % (REEL_CODEC_ZSTD + 1));
        chunks[i].offset = toy_next(&seed);
        chunks[i].stored = toy_next(&seed);
        chunks[i].raw = toy_next(&seed);
    }
    size_t size = pack_chunks(chunks, N, out);
    memset(back, 0, N * sizeof *back);
    assert_true(pack_unpack_chunks(bytes_of(out, size), N, back));
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(chunks[i].part, back[i].part);
        assert_int_equal(chunks[i].codec, back[i].codec);
        assert_true(chunks[i].offset == back[i].offset && chunks[i].stored == back[i].stored &&
                    chunks[i].raw == back[i].raw);
    }
    free(out);
    free(back);
    free(chunks);
}

static uint64_t pack_bytes_of(struct toy *t) {
    struct reel_recording *r = toy_open(t, NULL);
    uint64_t bytes = reel_recording_index(r)->pack_bytes;
    reel_recording_free(r);
    return bytes;
}

static void regular_recordings_need_at_most_8_bytes_a_message(void **state) {
    (void)state;
    enum { N = 200000 };
    struct toy t = {.n_parts = 1}; /* a camera at 30 Hz, an IMU at 1 kHz with jitter, a scan of changing size */
    uint64_t seed = 77, offset = 0;
    uint8_t *p = grow_take(&t.parts[0], 40u * N);
    assert_non_null(p);
    memset(p, 0, 40u * N);
    for (int i = 0; i < 3; i++) {
        toy_add_channel(&t, i == 0 ? "/camera" : i == 1 ? "/imu" : "/scan");
    }
    for (uint64_t i = 0; i < N; i++) {
        uint32_t channel = i % 33 == 0 ? 0 : i % 7 == 0 ? 2 : 1;
        struct reel_entry e = {.channel = channel,
                               .head = 8,
                               .offset = offset,
                               .time_ns = (int64_t)(1600000000000000000 + i * 1000000 + toy_next(&seed) % 50000)};
        e.size = channel == 2 ? 10 + (uint32_t)(toy_next(&seed) % 20) : 20;
        offset += e.head + e.size;
        toy_add_entry(&t, e);
    }
    uint64_t bytes = pack_bytes_of(&t);
    print_message("%.2f bytes a message\n", (double)bytes / N);
    assert_true(bytes <= 8 * (uint64_t)N);
    toy_free(&t);
}

/* --- damage --- */

static uint8_t *read_whole(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*size);
    assert_int_equal(fread(data, 1, *size, f), *size);
    fclose(f);
    return data;
}

static void write_at(const char *path, const uint8_t *data, size_t size, uint64_t offset) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0 && pwrite(fd, data, size, (off_t)offset) == (ssize_t)size);
    close(fd);
}

/* Opens, reads all entries and chunk rows; REEL_OK when all went well. */
static uint64_t used; /* a hash of what was read */
static enum reel_code use_pack(struct toy *t, const char *path) {
    used = 0;
    struct reel_error err = {0};
    struct reel_source *parts[TOY_PARTS_MAX];
    struct reel_index *index = reel_index_open(path, &err);
    if (!index) {
        return err.code;
    }
    assert_true(toy_sources(t, parts, &err));
    struct reel_recording *r = reel_recording_from_index(index, parts, t->n_parts, NULL, &err);
    if (!r) {
        return err.code;
    }
    struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    assert_non_null(s);
    struct reel_message m;
    enum reel_step step;
    uint8_t byte[1];
    while ((step = stream_next(s, &m, &err)) == REEL_STEP_MESSAGE) {
        used = (used ^ (uint64_t)m.time_ns ^ m.entry.offset ^ (uint64_t)m.channel << 56 ^ m.size) * 0x9e3779b97f4a7c15u;
        if (m.size > 0 && !reel_stream_copy(s, &m, 0, byte, 1, &err)) {
            step = REEL_STEP_ERROR;
            break;
        }
    }
    assert_true((step == REEL_STEP_ERROR) == (err.code != REEL_OK));
    reel_stream_free(s);
    reel_recording_free(r);
    return err.code;
}

/* As fsck and the integrity check do. A pack that a read has found corrupted is discarded, and no other. */
static enum reel_code verify_pack(const char *path) {
    struct reel_error err = {0};
    struct reel_index *index = reel_index_open(path, &err);
    bool opened = index, good = opened && reel_index_verify(index, &err);
    assert_true(good == (err.code == REEL_OK));
    assert_true(!opened || reel_index_is_corrupted(index) == !good);
    reel_index_free(index);
    return err.code;
}

static void every_flipped_bit_is_reported(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_random(&t, 3, 4, 300, TOY_JITTER);
    t.channels[1].schemas =
        &(const struct reel_schema){.name = "S", .encoding = "e", .hash = "h", .data = {(const uint8_t *)"data", 4}};
    t.channels[1].n_schemas = 1;
    char path[512];
    toy_pack_path(&t, path);
    assert_true(toy_scan_to(&t, path, &err));
    assert_int_equal(use_pack(&t, path), REEL_OK);
    assert_int_equal(verify_pack(path), REEL_OK);
    size_t size;
    uint8_t *data = read_whole(path, &size);
    for (size_t i = 0; i < size; i++) {
        uint8_t flipped = data[i] ^ (uint8_t)(1 << i % 8);
        write_at(path, &flipped, 1, i);
        enum reel_code code = use_pack(&t, path);
        if (code != REEL_CHANGED && code != REEL_IO) {
            print_message("byte %zu of %zu: code %d\n", i, size, code);
        }
        assert_true(code == REEL_CHANGED || code == REEL_IO);
        assert_int_equal(verify_pack(path), REEL_CHANGED);
        write_at(path, &data[i], 1, i);
    }
    for (size_t cut = 0; cut < size; cut += cut < 100 || size - cut < 100 ? 1 : 37) {
        assert_int_equal(truncate(path, (off_t)cut), 0);
        assert_int_equal(use_pack(&t, path), REEL_CHANGED);
        assert_int_equal(truncate(path, (off_t)size), 0);
        write_at(path, data, size, 0);
    }
    free(data);
    remove(path);
    toy_free(&t);
}

/* A larger pack, whose segments were compacted: every flip is found, or lies where nothing is read. */
static void a_flip_in_a_large_pack_is_found_or_harmless(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    uint64_t seed = 8;
    toy_random(&t, 5, 1, 80000, TOY_RANDOM);
    char path[512];
    toy_pack_path(&t, path);
    assert_true(toy_scan_to(&t, path, &err));
    assert_int_equal(use_pack(&t, path), REEL_OK);
    const uint64_t whole = used;
    size_t size, found = 0, harmless = 0;
    uint8_t *data = read_whole(path, &size);
    for (int i = 0; i < 200; i++) {
        uint64_t at = toy_next(&seed) % size;
        uint8_t flipped = data[at] ^ (uint8_t)(1 << toy_next(&seed) % 8);
        write_at(path, &flipped, 1, at);
        enum reel_code code = verify_pack(path);
        if (code == REEL_OK ? harmless++ % 8 == 0 : found++ % 8 == 0) {
            assert_int_equal(use_pack(&t, path), code);
            assert_true(code == REEL_CHANGED || used == whole);
        }
        write_at(path, &data[at], 1, at);
    }
    assert_true(found > 40);
    free(data);
    remove(path);
    toy_free(&t);
}

static void only_a_corrupted_pack_is_discarded(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_random(&t, 3, 4, 300, TOY_JITTER);
    char path[512];
    toy_pack_path(&t, path);
    assert_true(toy_scan_to(&t, path, &err));
    struct reel_index *index = reel_index_open(path, &err);
    assert_true(reel_index_verify(index, &err));
    reel_index_discard(index);
    assert_int_equal(access(path, F_OK), 0);
    write_at(path, (const uint8_t *)"\xff", 1, PACK_HEADER_BYTES);
    assert_false(reel_index_verify(index, &err));
    assert_true(toy_scan_to(&t, path, &err)); /* another pack has taken its place */
    reel_index_discard(index);
    assert_int_equal(access(path, F_OK), 0);
    reel_index_free(index);
    write_at(path, (const uint8_t *)"\xff", 1, PACK_HEADER_BYTES);
    index = reel_index_open(path, &err);
    assert_non_null(index);
    assert_false(reel_index_verify(index, &err));
    reel_index_discard(index);
    assert_int_not_equal(access(path, F_OK), 0);
    reel_index_free(index);
    toy_free(&t);
}

/* With checksums that hold: what a wrong program or an attacker would write. Any answer is allowed, a crash is not. */
static void directories_of_others_do_no_harm(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_random(&t, 4, 3, 50, TOY_JITTER);
    char path[512];
    toy_pack_path(&t, path);
    assert_true(toy_scan_to(&t, path, &err));
    size_t size;
    uint8_t *data = read_whole(path, &size), *copy = malloc(size);
    uint64_t directory = load_u64le(data + size - 32), length = load_u64le(data + size - 24), seed = 6;
    for (int round = 0; round < 20000; round++) {
        memcpy(copy, data, size);
        for (uint64_t flips = 1 + toy_next(&seed) % 3; flips > 0; flips--) {
            uint64_t at = directory + toy_next(&seed) % length;
            copy[at] = toy_next(&seed) % 2 ? (uint8_t)toy_next(&seed) : (uint8_t)(copy[at] ^ 1 << toy_next(&seed) % 8);
        }
        store_u32le(copy + size - 16, pack_crc(copy + directory, length));
        write_at(path, copy + directory, size - directory, directory);
        use_pack(&t, path);
    }
    free(copy);
    free(data);
    remove(path);
    toy_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_columns_come_back),
        cmocka_unit_test(extremes_come_back),
        cmocka_unit_test(chunk_rows_come_back),
        cmocka_unit_test(regular_recordings_need_at_most_8_bytes_a_message),
        cmocka_unit_test(every_flipped_bit_is_reported),
        cmocka_unit_test(a_flip_in_a_large_pack_is_found_or_harmless),
        cmocka_unit_test(only_a_corrupted_pack_is_discarded),
        cmocka_unit_test(directories_of_others_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
