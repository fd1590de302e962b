/* index/builder.h: bounded memory over any number of channels, any order of times compacted until few segments overlap,
 * nothing left behind by failure. */
#include "makers/toy.h"

#include <dirent.h>

#include "base/bytes.h"
#include "index/builder.h"
#include "index/index.h"

static struct reel_builder *begin(const char *path, uint64_t part_size) {
    struct reel_error err = {0};
    struct reel_builder *b = builder_new(path, "toy", toy_format.version, &part_size, 1, &err);
    assert_non_null(b);
    return b;
}
static void add_channels(struct reel_builder *b, uint32_t n) {
    struct reel_error err = {0};
    for (uint32_t i = 0, id; i < n; i++) {
        assert_true(builder_add_channel(b, &(struct reel_channel){.name = "/c"}, &id, &err));
        assert_int_equal(id, i);
    }
}
static void add(struct reel_builder *b, uint32_t channel, int64_t time_ns, uint64_t offset) {
    struct reel_error err = {0};
    assert_true(builder_add_entry(
        b, &(struct reel_entry){.channel = channel, .time_ns = time_ns, .offset = offset, .size = 1}, &err));
}
static struct reel_index *finish(struct reel_builder *b, const char *path) {
    struct reel_error err = {0};
    assert_true(builder_finish(b, &err));
    builder_free(b);
    struct reel_index *index = reel_index_open(path, &err);
    assert_non_null(index);
    return index;
}

/* All entries of all segments are there once, each segment is sorted, segments are sorted; returns how deep they
 * overlap at most. */
static unsigned check_segments(const struct reel_index *index, uint64_t n) {
    struct reel_error err = {0};
    uint8_t *seen = calloc(n, 1), *data = malloc(PACK_BOUND(REEL_SEGMENT_ENTRIES, PACK_ENTRY_COLUMNS));
    uint64_t total = 0;
    unsigned deepest = 0;
    for (size_t i = 0; i < index->model.n_segments; i++) {
        const struct pack_segment *s = &index->model.segments[i];
        assert_true(i == 0 || s[-1].channel < s->channel ||
                    (s[-1].channel == s->channel && pack_key_compare(&s[-1].first, &s->first) <= 0));
        assert_true(index_read_segment(index, s, data, &err));
        struct pack_cursor c;
        assert_true(pack_cursor_open(&c, bytes_of(data, s->size), s->count, s->channel));
        struct reel_entry e;
        struct pack_key last = s->first;
        for (; pack_cursor_next(&c, &e); total++) {
            struct pack_key key = pack_key_of(&e);
            assert_true(pack_key_compare(&last, &key) <= 0 && e.offset < n && !seen[e.offset]);
            seen[e.offset] = 1;
            last = key;
        }
        assert_true(pack_key_compare(&last, &s->last) == 0);
        unsigned deep = 0; /* segments of this channel open where this one begins */
        for (size_t k = index->first_segment[s->channel]; k <= i; k++) {
            deep += pack_key_compare(&index->model.segments[k].last, &s->first) >= 0;
        }
        deepest = deep > deepest ? deep : deepest;
    }
    assert_true(total == n);
    free(data);
    free(seen);
    return deepest;
}

static void every_order_of_times_ends_in_few_overlaps(void **state) {
    (void)state;
    enum { N = 300000 }; /* 74 segments: more than one merge takes */
    for (int order = 0; order < 4; order++) {
        const char *path = REEL_SCRATCH "/order.pack";
        struct reel_builder *b = begin(path, N);
        uint64_t seed = 1;
        add_channels(b, 1);
        for (uint64_t i = 0; i < N; i++) {
            int64_t time = order == 0   ? (int64_t)i
                           : order == 1 ? (int64_t)(N - i)
                           : order == 2 ? (int64_t)toy_next(&seed)
                                        : (int64_t)(i % 1000);
            add(b, 0, time, i);
        }
        struct reel_index *index = finish(b, path);
        assert_true(check_segments(index, N) <= REEL_OVERLAP_MAX);
        assert_true(index->model.n_segments <= N / REEL_SEGMENT_ENTRIES + 3);
        assert_true(index->info.messages == N);
        reel_index_free(index);
        remove(path);
    }
}

/* More than 1024 runs: two passes. */
static void over_a_thousand_runs_are_compacted(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* five million entries; the release build has them (tests/CMakeLists.txt), and one pass the test above */
#endif
    enum { N = 1200 * REEL_SEGMENT_ENTRIES };
    const char *path = REEL_SCRATCH "/runs.pack";
    struct reel_builder *b = begin(path, N);
    add_channels(b, 2);
    for (uint64_t i = 0; i < N; i++) {
        add(b, 0, (int64_t)(i % REEL_SEGMENT_ENTRIES), i);
    }
    struct reel_index *index = finish(b, path);
    assert_true(check_segments(index, N) <= REEL_OVERLAP_MAX);
    assert_true(index->model.n_segments <= 1220);
    reel_index_free(index);
    remove(path);
}

static void many_channels_need_little_memory(void **state) {
    (void)state;
    enum { N = 20 * REEL_CHANNELS_MAX };
    const char *path = REEL_SCRATCH "/many.pack";
    struct reel_builder *b = begin(path, N);
    struct reel_error err = {0};
    uint32_t id;
    add_channels(b, REEL_CHANNELS_MAX);
    assert_false(builder_add_channel(b, &(struct reel_channel){.name = "/c"}, &id, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    for (uint64_t i = 0; i < N; i++) { /* one message each in turn */
        add(b, (uint32_t)(i % REEL_CHANNELS_MAX), (int64_t)i, i);
        assert_true(b->lane_bytes <= REEL_BUILD_MEMORY_MAX + REEL_SEGMENT_ENTRIES * sizeof(struct reel_entry));
    }
    assert_true(b->model.n_segments <= N / 4); /* none was packed one by one */
    struct reel_index *index = finish(b, path);
    check_segments(index, N);
    reel_index_free(index);
    remove(path);
}

/* A channel that was packed a few entries at a time, because of its many neighbours, is put together at the end. */
static void scattered_segments_are_put_together(void **state) {
    (void)state;
    enum { CHANNELS = 60000, ROUNDS = 400 };
    const char *path = REEL_SCRATCH "/scattered.pack";
    struct reel_builder *b = begin(path, UINT32_MAX);
    uint64_t n = 0, own = 0;
    add_channels(b, CHANNELS);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 8; i++, own++) {
            add(b, 0, (int64_t)n, n);
            n++;
        }
        for (uint32_t i = 1; i < 2000; i++, n++) { /* others come and go */
            add(b, 1 + (uint32_t)((unsigned)round * 2000 + i) % (CHANNELS - 1), (int64_t)n, n);
        }
    }
    struct reel_index *index = finish(b, path);
    assert_true(index->first_segment[1] - index->first_segment[0] <= REEL_OVERLAP_MAX);
    assert_true(reel_index_stats(index, 0)->count == own);
    check_segments(index, n);
    reel_index_free(index);
    remove(path);
}

static void one_busy_channel_among_many_is_not_slow(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/busy.pack";
    struct reel_builder *b = begin(path, UINT32_MAX);
    uint64_t n = 0;
    add_channels(b, REEL_CHANNELS_MAX);
    for (uint32_t i = 0; i < REEL_CHANNELS_MAX - 20; i++, n++) {
        add(b, i, (int64_t)n, n);
    }
    for (int i = 0; i < 2000000; i++, n++) { /* each relief must free much, or this takes hours */
        add(b, REEL_CHANNELS_MAX - 1 - (uint32_t)i % 20, (int64_t)n, n);
    }
    struct reel_index *index = finish(b, path);
    assert_true(index->info.messages == n);
    reel_index_free(index);
    remove(path);
}

static void entries_are_checked(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/checked.pack";
    struct reel_builder *b = begin(path, 100);
    struct reel_error err = {0};
    add_channels(b, 1);
    assert_true(builder_add_entry(b, &(struct reel_entry){.offset = 100}, &err));
    assert_true(builder_add_entry(b, &(struct reel_entry){.offset = 90, .head = 4, .size = 6}, &err));
    assert_false(builder_add_entry(b, &(struct reel_entry){.offset = 90, .head = 4, .size = 7}, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_false(
        builder_add_entry(b, &(struct reel_entry){.offset = UINT64_MAX, .head = UINT32_MAX, .size = UINT32_MAX}, &err));
    assert_false(builder_add_entry(b, &(struct reel_entry){.offset = 0, .head = UINT32_MAX, .size = UINT32_MAX}, &err));
    assert_false(builder_add_entry(b, &(struct reel_entry){.channel = 1}, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_false(builder_add_entry(b, &(struct reel_entry){.chunk = 1}, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    builder_free(b);
}

static void chunks_are_checked_and_the_old_are_forgotten(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/chunks.pack";
    struct reel_builder *b = begin(path, 100);
    struct reel_error err = {0};
    uint32_t id;
    add_channels(b, 1);
    assert_false(
        builder_add_chunk(b, &(struct reel_chunk){.codec = REEL_CODEC_ZSTD, .offset = 90, .stored = 11}, &id, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_false(builder_add_chunk(b, &(struct reel_chunk){.codec = REEL_CODEC_ZSTD, .offset = UINT64_MAX, .stored = 2},
                                   &id, &err));
    assert_false(builder_add_chunk(b, &(struct reel_chunk){.part = 1}, &id, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_false(builder_add_chunk(b, &(struct reel_chunk){.stored = 10, .raw = 11}, &id, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    for (uint32_t i = 1; i <= 3 * REEL_SEGMENT_ENTRIES; i++) {
        assert_true(
            builder_add_chunk(b, &(struct reel_chunk){.codec = REEL_CODEC_ZSTD, .stored = 10, .raw = i}, &id, &err));
        assert_int_equal(id, i);
        uint32_t old = id > REEL_SEGMENT_ENTRIES ? id - REEL_SEGMENT_ENTRIES : 1;
        assert_true(builder_add_entry(b, &(struct reel_entry){.chunk = id, .size = i}, &err));
        assert_true(builder_add_entry(b, &(struct reel_entry){.chunk = old, .size = old}, &err));
        assert_false(builder_add_entry(b, &(struct reel_entry){.chunk = old, .size = old + 1}, &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        /* the part, however old */
        assert_true(builder_add_entry(b, &(struct reel_entry){.chunk = 0, .size = 100}, &err));
    }
    uint32_t kept = REEL_SEGMENT_ENTRIES - 1; /* the first ones stay known: parts, and what holds further chunks */
    assert_true(builder_add_entry(b, &(struct reel_entry){.chunk = kept, .size = kept}, &err));
    assert_false(builder_add_entry(b, &(struct reel_entry){.chunk = kept, .size = kept + 1}, &err));
    assert_false(builder_add_entry(b, &(struct reel_entry){.chunk = kept + 1}, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    struct reel_index *index = finish(b, path);
    struct reel_chunk *rows = malloc(REEL_SEGMENT_ENTRIES * sizeof *rows);
    uint32_t first, count;
    for (id = 1; id <= 3 * REEL_SEGMENT_ENTRIES; id += 997) {
        assert_true(index_read_chunks(index, id, rows, &first, &count, &err));
        assert_true(id - first < count && rows[id - first].raw == id);
    }
    assert_false(index_read_chunks(index, 3 * REEL_SEGMENT_ENTRIES + 1, rows, &first, &count, &err));
    free(rows);
    reel_index_free(index);
    remove(path);
}

static void chunks_lie_in_chunks(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/inside.pack";
    struct reel_builder *b = begin(path, 100);
    struct reel_error err = {0};
    uint32_t member, rows, row, id;
    struct reel_chunk c = {.codec = REEL_CODEC_DEFLATE, .offset = 10, .stored = 90, .raw = 500};
    add_channels(b, 1);
    assert_true(builder_add_chunk(b, &c, &member, &err));
    c = (struct reel_chunk){
        .part = REEL_CHUNK_PART | member, .codec = REEL_CODEC_ROWS, .stored = 500, .raw = UINT64_MAX};
    assert_true(builder_add_chunk(b, &c, &rows, &err));
    c.stored = 501;
    assert_false(builder_add_chunk(b, &c, &id, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    c = (struct reel_chunk){
        .part = REEL_CHUNK_PART | rows, .codec = REEL_CODEC_ZSTD, .offset = UINT64_MAX - 20, .stored = 20, .raw = 40};
    assert_true(builder_add_chunk(b, &c, &row, &err));
    c.part = REEL_CHUNK_PART | (row + 1);
    assert_false(builder_add_chunk(b, &c, &id, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_true(builder_add_entry(b, &(struct reel_entry){.chunk = rows, .offset = UINT64_MAX - 7, .size = 7}, &err));
    assert_true(builder_add_entry(b, &(struct reel_entry){.chunk = row, .size = 40}, &err));
    assert_false(builder_add_entry(b, &(struct reel_entry){.chunk = row, .size = 41}, &err));
    struct reel_index *index = finish(b, path);
    struct reel_chunk *all = malloc(REEL_SEGMENT_ENTRIES * sizeof *all);
    uint32_t first, count;
    assert_true(index_read_chunks(index, 0, all, &first, &count, &err));
    assert_int_equal(count, 4);
    assert_true(all[rows].part == (REEL_CHUNK_PART | member) && all[rows].codec == REEL_CODEC_ROWS &&
                all[rows].raw == UINT64_MAX);
    assert_true(all[row].part == (REEL_CHUNK_PART | rows) && all[row].offset == UINT64_MAX - 20);
    free(all);
    reel_index_free(index);
    remove(path);
}

static void an_unfinished_pack_leaves_nothing(void **state) {
    (void)state;
    struct toy t = {.cancel = true};
    struct reel_error err = {0};
    toy_random(&t, 1, 2, 10, TOY_REGULAR);
    const char *path = REEL_SCRATCH "/cancelled/x.pack";
    assert_int_equal(system("rm -rf '" REEL_SCRATCH "/cancelled'; mkdir '" REEL_SCRATCH "/cancelled'"), 0);
    assert_false(toy_scan_to(&t, path, &err));
    assert_int_equal(err.code, REEL_CANCELLED);
    DIR *folder = opendir(REEL_SCRATCH "/cancelled");
    for (struct dirent *d; (d = readdir(folder));) {
        assert_int_equal(d->d_name[0], '.');
    }
    closedir(folder);
    t.cancel = false;
    assert_false(toy_scan_to(&t, REEL_SCRATCH "/no/such/folder.pack", &err));
    assert_int_equal(err.code, REEL_IO);
    toy_free(&t);
}

static void texts_have_a_ceiling(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/texts.pack";
    struct reel_builder *b = begin(path, 10);
    struct reel_error err = {0};
    uint8_t *data = calloc(1, 16 << 20);
    struct reel_schema schemas[REEL_SCHEMAS_PER_CHANNEL_MAX + 1] = {{.data = {data, 16 << 20}}};
    struct reel_channel c = {.name = "/c", .schemas = schemas, .n_schemas = REEL_SCHEMAS_PER_CHANNEL_MAX + 1};
    uint32_t id;
    assert_false(builder_add_channel(b, &c, &id, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    c.n_schemas = 1;
    int n = 0;
    for (err = (struct reel_error){0}; builder_add_channel(b, &c, &id, &err); n++) {
        assert_true(n < 17);
    }
    assert_int_equal(err.code, REEL_LIMIT);
    assert_true(n >= 14);
    free(data);
    builder_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_of_times_ends_in_few_overlaps),
        cmocka_unit_test(over_a_thousand_runs_are_compacted),
        cmocka_unit_test(many_channels_need_little_memory),
        cmocka_unit_test(scattered_segments_are_put_together),
        cmocka_unit_test(one_busy_channel_among_many_is_not_slow),
        cmocka_unit_test(entries_are_checked),
        cmocka_unit_test(chunks_are_checked_and_the_old_are_forgotten),
        cmocka_unit_test(chunks_lie_in_chunks),
        cmocka_unit_test(an_unfinished_pack_leaves_nothing),
        cmocka_unit_test(texts_have_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
