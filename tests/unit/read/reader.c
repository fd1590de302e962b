/* read/reader.h: any bytes of any chunk, however they are stored, through windows, the cache and spooled files, from
 * many threads. */
#include "makers/one_thread.h"
#include "makers/toy_chunks.h"

#include <dirent.h>
#include <pthread.h>
#include <time.h>

#include "base/bytes.h"
#include "base/limits.h"

static void windows_follow_and_jump(void **state) {
    (void)state;
    struct toy t = {.n_parts = 1};
    struct reel_error err = {0};
    uint64_t seed = 5, size = 5 << 20;
    uint8_t *p = grow_take(&t.parts[0], size);
    for (uint64_t i = 0; i < size; i++) {
        p[i] = chunk_byte(0, i);
    }
    struct reel_recording *r = toy_open(&t, NULL);
    struct reel_reader *reader = reel_reader_new(r, &err);
    uint64_t at = 0;
    static uint8_t buffer[300000];
    for (int i = 0; i < 20000; i++) {
        uint64_t kind = toy_next(&seed) % 100;
        at = kind < 80   ? at + toy_next(&seed) % 500
             : kind < 90 ? at - toy_next(&seed) % (at + 1)
                         : toy_next(&seed) % size;
        size_t n = (size_t)(toy_next(&seed) % (kind == 50 ? sizeof buffer : 2000));
        at = at > size ? size : at;
        n = n > size - at ? (size_t)(size - at) : n;
        struct reel_bytes view;
        if (i % 2) {
            assert_true(reel_reader_view(reader, 0, at, n, &view, &err));
            assert_true(view.size == n && view.data != NULL && chunk_bytes_are(0, at, view.data, n));
        } else {
            assert_true(reel_reader_copy(reader, 0, at, buffer, n, &err));
            assert_true(chunk_bytes_are(0, at, buffer, n));
        }
    }
    struct reel_bytes view;
    assert_false(reel_reader_view(reader, 0, size, 1, &view, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_false(reel_reader_copy(reader, 0, UINT64_MAX, buffer, 2, &err));
    assert_false(reel_reader_view(reader, 1, 0, 1, &view, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_false(reel_reader_view(reader, 0, 0, (size_t)REEL_MESSAGE_MEMORY_MAX + 1, &view, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_true(reel_reader_view(reader, 0, size - 1, 1, &view, &err) &&
                chunk_bytes_are(0, size - 1, view.data, 1)); /* errors do no harm */
    reel_reader_free(reader);
    reel_recording_free(r);
    toy_free(&t);
}

/* The first read of all, of no bytes, at the end of the file. */
static void nothing_can_be_read_anywhere(void **state) {
    (void)state;
    struct toy t = {.n_parts = 1};
    struct reel_error err = {0};
    toy_add_channel(&t, "/a");
    grow_put(&t.parts[0], "12345678", 8);
    toy_add_entry(&t, (struct reel_entry){.offset = 4, .head = TOY_HEAD});
    struct reel_recording *r = toy_open(&t, NULL);
    for (int i = 0; i < 3; i++) {
        struct reel_reader *reader = reel_reader_new(r, &err);
        struct reel_bytes view = {0};
        struct reel_description d;
        assert_true(i != 0 || reel_reader_payload(reader, &t.entries[0], &view, &err));
        assert_true(i != 0 || (view.size == 0 && view.data));
        assert_true(i != 1 || reel_reader_copy(reader, 0, 8, NULL, 0, &err));
        assert_true(i != 2 || (reel_reader_describe(reader, &t.entries[0], &d, &err) &&
                               d.sequence == load_u32le((const uint8_t *)"5678") && d.publish_ns == 0));
        reel_reader_free(reader);
    }
    reel_recording_free(r);
    toy_free(&t);
}

static void read_all(struct reel_recording *r, const struct toy *t, uint64_t seed, int rounds) {
    struct reel_error err = {0};
    struct reel_reader *reader = reel_reader_new(r, &err);
    assert_ptr_equal(reel_reader_recording(reader), r);
    for (int i = 0; i < rounds; i++) {
        const struct reel_entry *e = &t->entries[toy_next(&seed) % t->n_entries];
        struct reel_bytes payload;
        struct reel_description d;
        uint8_t copy[3000];
        assert_true(reel_reader_payload(reader, e, &payload, &err));
        assert_true(payload.size == e->size &&
                    chunk_bytes_are(e->chunk, e->offset + e->head, payload.data, payload.size));
        assert_true(reel_reader_copy(reader, e->chunk, e->offset + e->head, copy, e->size, &err) &&
                    chunk_bytes_are(e->chunk, e->offset + e->head, copy, e->size));
        assert_true(reel_reader_describe(reader, e, &d, &err) &&
                    (uint8_t)d.sequence == chunk_byte(e->chunk, e->offset));
    }
    reel_reader_free(reader);
}

static void compressed_chunks_come_through_any_budget(void **state) {
    (void)state;
    static const uint64_t budgets[] = {0, 1, 250000, 1 << 30};
    struct toy t = {0};
    toy_with_chunks(&t, 1, 12, 100000, 500);
    for (int i = 0; i < 4; i++) {
        struct reel_error err = {0};
        struct reel_cache *cache = reel_cache_new(budgets[i], &err);
        struct reel_recording *r = toy_open(&t, &(struct reel_recording_options){.cache = cache}),
                              *other = toy_open(&t, &(struct reel_recording_options){.cache = cache});
        read_all(r, &t, 9, 600);
        read_all(other, &t, 10, 600);
        assert_true(reel_cache_used(cache) <= budgets[i]);
        assert_true(i < 3 || reel_cache_used(cache) > 1500000); /* both keep their own */
        reel_recording_free(r);
        assert_true(i < 3 || reel_cache_used(cache) < 1000000);
        reel_recording_free(other);
        assert_true(reel_cache_used(cache) == 0);
        reel_cache_free(cache);
    }
    struct reel_recording *r = toy_open(&t, NULL); /* its own cache */
    read_all(r, &t, 11, 600);
    reel_recording_free(r);
    toy_free(&t);
}

static void a_damaged_chunk_is_reported_each_time(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_with_chunks(&t, 2, 4, 10000, 10);
    memset(t.parts[0].data + t.chunks[0].offset + t.chunks[0].stored / 2, 0xff, 20);
    struct reel_recording *r = toy_open(&t, NULL);
    struct reel_reader *reader = reel_reader_new(r, &err);
    struct reel_bytes view;
    for (int i = 0; i < 3; i++) {
        assert_false(reel_reader_view(reader, 2, 0, 10, &view, &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        assert_true(reel_reader_view(reader, 3, 0, 10, &view, &err) && chunk_bytes_are(3, 0, view.data, 10));
    }
    reel_reader_free(reader);
    reel_recording_free(r);
    toy_free(&t);
}

static void other_files_are_refused(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    char path[512];
    toy_with_chunks(&t, 3, 6, 1000, 0);
    toy_pack_path(&t, path);
    assert_true(toy_scan_to(&t, path, &err));
    for (int i = 0; i < 2; i++) {
        struct reel_source *parts[TOY_PARTS_MAX];
        assert_true(toy_sources(&t, parts, &err));
        if (i == 0) {
            reel_source_free(parts[1]);
        } else {
            struct reel_source *first = parts[0];
            parts[0] = parts[1];
            parts[1] = first;
        }
        assert_null(reel_recording_from_index(reel_index_open(path, &err), parts, i == 0 ? 1 : 2, NULL, &err));
        assert_int_equal(err.code, REEL_CHANGED);
    }
    remove(path);
    toy_free(&t);
}

/* 70 MiB in one zlib run: decoded once, into a file. */
static void toy_huge(struct toy *t) {
    t->n_parts = 1;
    toy_add_channel(t, "/huge");
    toy_compressed_chunk(t, 0, REEL_CODEC_ZLIB, 70 << 20);
    toy_add_entry(t, (struct reel_entry){.chunk = 1, .offset = (70 << 20) - 100, .head = TOY_HEAD, .size = 96});
}

static void check_huge(struct reel_recording *r, const struct toy *t) {
    struct reel_error err = {0};
    struct reel_reader *reader = reel_reader_new(r, &err);
    struct reel_bytes view;
    uint64_t seed = 4;
    for (int i = 0; i < 200; i++) {
        uint64_t at = toy_next(&seed) % (70 << 20);
        size_t n = (70 << 20) - at < 5000 ? (size_t)((70 << 20) - at) : 5000;
        assert_true(reel_reader_view(reader, 1, at, n, &view, &err) && chunk_bytes_are(1, at, view.data, n));
    }
    assert_true(reel_reader_payload(reader, &t->entries[0], &view, &err) && view.size == 96);
    uint8_t *all = malloc(70 << 20);
    assert_true(reel_reader_copy(reader, 1, 0, all, 70 << 20, &err) && chunk_bytes_are(1, 0, all, 70 << 20));
    assert_true(reel_reader_view(reader, 1, 0, 70 << 20, &view, &err)); /* the window grows … */
    assert_true(reel_reader_view(reader, 1, 69 << 20, 10, &view, &err));
    assert_true(reel_reader_view(reader, 1, 5, 10, &view, &err) && chunk_bytes_are(1, 5, view.data, 10)); /* … and
                                                                                                             shrinks */
    free(all);
    reel_reader_free(reader);
}

static void huge_chunks_are_spooled_once(void **state) {
    (void)state;
    SKIP_WITH_TSAN();
    struct toy t = {0};
    toy_huge(&t);
    struct reel_recording *r = toy_open(&t, NULL); /* an unlinked temporary file */
    check_huge(r, &t);
    reel_recording_free(r);
    const struct reel_recording_options derived = {.derived_folder = REEL_SCRATCH, .derived_name = "huge"};
    remove(REEL_SCRATCH "/huge.1.raw");
    r = toy_open(&t, &derived);
    check_huge(r, &t);
    reel_recording_free(r);
    struct reel_error err = {0};
    struct reel_source *made = reel_source_open(REEL_SCRATCH "/huge.1.raw", NULL, &err);
    assert_non_null(made);
    assert_true(made->size == 70 << 20);
    reel_source_free(made);
    memset(t.parts[0].data, 0, t.parts[0].size); /* the derived file is enough now */
    r = toy_open(&t, &derived);
    check_huge(r, &t);
    reel_recording_free(r);
    assert_int_equal(remove(REEL_SCRATCH "/huge.1.raw"), 0);
    r = toy_open(&t, &derived);
    struct reel_reader *reader = reel_reader_new(r, &err);
    struct reel_bytes view;
    for (int i = 0; i < 2; i++) {
        assert_false(reel_reader_view(reader, 1, 0, 1, &view, &err));
        assert_int_equal(err.code, REEL_DAMAGED);
    }
    assert_null(reel_source_open(REEL_SCRATCH "/huge.1.raw", NULL, &err));
    reel_reader_free(reader);
    reel_recording_free(r);
    toy_free(&t);
}

/* --- threads --- */

struct shared {
    struct reel_recording *recording;
    const struct toy *toy;
    uint64_t seed;
};

static void *read_in_thread(void *context) {
    const struct shared *s = context;
    read_all(s->recording, s->toy, s->seed, 400);
    reel_recording_free(s->recording);
    return NULL;
}

static void threads_share_a_recording_and_a_cache(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_with_chunks(&t, 4, 16, 60000, 300);
    struct reel_cache *cache = reel_cache_new(200000, &err); /* three or so */
    struct reel_recording *r = toy_open(&t, &(struct reel_recording_options){.cache = cache});
    pthread_t threads[4];
    struct shared shared[4];
    for (uint64_t i = 0; i < 4; i++) {
        shared[i] = (struct shared){.recording = reel_recording_ref(r), .toy = &t, .seed = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, &shared[i]), 0);
    }
    reel_recording_free(r); /* the threads hold it */
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(reel_cache_used(cache) == 0);
    reel_cache_free(cache);
    toy_free(&t);
}

static void *read_huge_in_thread(void *context) {
    const struct shared *s = context;
    struct reel_error err = {0};
    struct reel_bytes view;
    struct reel_reader *reader = reel_reader_new(s->recording, &err);
    assert_true(reel_reader_view(reader, 1, s->seed << 20, 1000, &view, &err) &&
                chunk_bytes_are(1, s->seed << 20, view.data, 1000));
    reel_reader_free(reader);
    return NULL;
}

static void threads_wait_for_one_spooling(void **state) {
    (void)state;
    struct toy t = {0};
    toy_huge(&t);
    struct reel_recording *r = toy_open(&t, NULL);
    pthread_t threads[4];
    struct shared shared[4];
    for (uint64_t i = 0; i < 4; i++) {
        shared[i] = (struct shared){.recording = r, .toy = &t, .seed = i * 20};
        assert_int_equal(pthread_create(&threads[i], NULL, read_huge_in_thread, &shared[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    reel_recording_free(r);
    toy_free(&t);
}

/* --- many huge chunks --- */

enum { HUGE_RAW = REEL_CHUNK_MEMORY_MAX + (1 << 20), MANY = REEL_OPENED_MAX + 8 };

/* `n` chunks of zeros; each has stored bytes of its own. */
static void toy_many_huge(struct toy *t, unsigned n) {
    t->n_parts = 1;
    toy_add_channel(t, "/huge");
    uint8_t *raw = calloc(1, HUGE_RAW);
    size_t room = ZSTD_compressBound(HUGE_RAW);
    uint8_t *out = malloc(room);
    assert_true(raw && out);
    size_t stored = ZSTD_compress(out, room, raw, HUGE_RAW, 1);
    for (unsigned i = 0; i < n; i++) {
        toy_add_chunk(t, (struct reel_chunk){
                             .codec = REEL_CODEC_ZSTD, .offset = t->parts[0].size, .stored = stored, .raw = HUGE_RAW});
        grow_put(&t->parts[0], out, stored);
    }
    free(raw);
    free(out);
}

static unsigned descriptors(void) {
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d)) {
        n++;
    }
    closedir(d);
    return n - 3; /* ".", ".." and the folder's own */
}

static bool is_zeros(struct reel_bytes b) {
    return b.size > 0 && b.data[0] == 0 && memcmp(b.data, b.data + 1, b.size - 1) == 0;
}

static void huge_chunks_are_closed_again(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* one thread alone, and 2 GB to write */
#endif
    struct toy t = {0};
    struct reel_error err = {0};
    struct reel_bytes view;
    toy_many_huge(&t, MANY);
    unsigned alone = descriptors();
    struct reel_recording *r = toy_open(&t, NULL);
    struct reel_reader *reader = reel_reader_new(r, &err), *other = reel_reader_new(r, &err);
    unsigned before = descriptors();
    assert_true(reel_reader_view(other, 1, 0, 100, &view, &err)); /* stands in the first */
    for (uint32_t i = 0; i < MANY; i++) {
        if (!reel_reader_view(reader, 1 + i, HUGE_RAW - 1000, 1000, &view, &err)) {
            fail_msg("chunk %u: %s", i, err.text);
        }
        assert_true(is_zeros(view));
        assert_in_range(descriptors(), before + 1, before + REEL_OPENED_MAX + 1);
    }
    assert_int_equal(descriptors(), before + REEL_OPENED_MAX);
    assert_true(reel_reader_view(other, 1, 1 << 20, 100000, &view, &err) && is_zeros(view)); /* it has stayed */
    assert_true(reel_reader_view(reader, 2, 5, 1000, &view, &err) && is_zeros(view)); /* closed, and opened again */
    reel_reader_free(reader);
    reel_reader_free(other);
    reel_recording_free(r);
    assert_int_equal(descriptors(), alone);
    toy_free(&t);
}

/* A part whose bytes before `end` cannot be read until the gate opens. */
struct gate {
    struct reel_source source;
    struct reel_source *below;
    uint64_t end;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned waiting, passed;
    bool is_open;
};

static bool gate_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    struct gate *g = (struct gate *)source;
    pthread_mutex_lock(&g->lock);
    g->waiting += offset < g->end;
    pthread_cond_broadcast(&g->changed);
    while (offset < g->end && !g->is_open) {
        pthread_cond_wait(&g->changed, &g->lock);
    }
    g->passed += offset < g->end;
    pthread_mutex_unlock(&g->lock);
    return reel_source_read(g->below, offset, buffer, size, err);
}
static void gate_free(struct reel_source *source) {
    reel_source_free(((struct gate *)source)->below);
}
static void gate_wait(struct gate *g) {
    pthread_mutex_lock(&g->lock);
    while (g->waiting == 0) {
        pthread_cond_wait(&g->changed, &g->lock);
    }
    pthread_mutex_unlock(&g->lock);
}
static void gate_open(struct gate *g) {
    pthread_mutex_lock(&g->lock);
    g->is_open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

struct view_one {
    struct reel_recording *recording;
    uint32_t chunk;
    bool good;
};
static void *view_in_thread(void *context) {
    struct view_one *v = context;
    struct reel_error err = {0};
    struct reel_bytes view;
    struct reel_reader *reader = reel_reader_new(v->recording, &err);
    v->good = reader && reel_reader_view(reader, v->chunk, 0, 1000, &view, &err) && is_zeros(view);
    reel_reader_free(reader);
    return NULL;
}

/* While chunk 1 is being decoded, who wants it waits, and who wants chunk 2 does not. */
static void a_huge_chunk_holds_up_only_its_own_readers(void **state) {
    (void)state;
    static const struct reel_source_ops ops = {.read = gate_read, .free = gate_free};
    struct toy t = {0};
    struct reel_error err = {0};
    char path[512];
    toy_many_huge(&t, 2);
    toy_pack_path(&t, path);
    struct reel_source *below;
    assert_true(toy_scan_to(&t, path, &err) && toy_sources(&t, &below, &err));
    struct gate g = {
        .source = {.ops = &ops, .size = below->size, .name = "gate"}, .below = below, .end = t.chunks[0].stored};
    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.changed, NULL);
    struct reel_source *part = &g.source;
    struct reel_recording *r = reel_recording_from_index(reel_index_open(path, &err), &part, 1, NULL, &err);
    assert_non_null(r);
    struct view_one views[] = {{r, 1, false}, {r, 1, false}, {r, 2, false}};
    pthread_t threads[3];
    assert_int_equal(pthread_create(&threads[0], NULL, view_in_thread, &views[0]), 0);
    gate_wait(&g);
    assert_int_equal(pthread_create(&threads[1], NULL, view_in_thread, &views[1]), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, view_in_thread, &views[2]), 0);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    bool held_up = pthread_timedjoin_np(threads[2], NULL, &until) != 0;
    gate_open(&g);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    if (held_up) {
        pthread_join(threads[2], NULL);
    }
    assert_false(held_up);
    assert_true(views[0].good && views[1].good && views[2].good);
    assert_int_equal(g.passed, 1); /* decoded once for both */
    reel_recording_free(r);
    remove(path);
    toy_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_follow_and_jump),
        cmocka_unit_test(nothing_can_be_read_anywhere),
        cmocka_unit_test(compressed_chunks_come_through_any_budget),
        cmocka_unit_test(a_damaged_chunk_is_reported_each_time),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(huge_chunks_are_spooled_once),
        cmocka_unit_test(threads_share_a_recording_and_a_cache),
        cmocka_unit_test(threads_wait_for_one_spooling),
        cmocka_unit_test(huge_chunks_are_closed_again),
        cmocka_unit_test(a_huge_chunk_holds_up_only_its_own_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
