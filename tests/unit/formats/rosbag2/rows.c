/* formats/rosbag2_source.c: pieces of rows, from many threads at once, and what is not there. */
#include <pthread.h>

#include "base/bytes.h"
#include "makers/db3_scan.h"

enum { ROWS = 40, SIZE_MAX_ROW = 30000, THREADS = 6, READS = 300 };

static struct reel_bytes make(struct db3 *m) {
    static uint8_t buffer[SIZE_MAX_ROW];
    db3_begin(m, 2, 1024);
    db3_topic(m, 1, "/a", "t", "", "");
    for (int id = 1; id <= ROWS; id++) {
        db3_message(m, id, 1, id, db3_payload(buffer, id, (size_t)id * SIZE_MAX_ROW / ROWS));
    }
    return db3_end(m);
}
static uint64_t address(int64_t id, uint64_t at) {
    return ((uint64_t)id << 31) + at;
}

static void *read_pieces(void *context) {
    struct reel_source *rows = context;
    uint8_t *want = malloc(SIZE_MAX_ROW), *got = malloc(SIZE_MAX_ROW);
    uint64_t x = (uint64_t)(uintptr_t)want | 1;
    bool good = want && got;
    for (unsigned i = 0; good && i < READS; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        int64_t id = (int64_t)(x >> 33) % ROWS + 1;
        size_t size = (size_t)id * SIZE_MAX_ROW / ROWS, at = (size_t)(x >> 13) % size,
               n = (size_t)(x >> 20) % (size - at) + 1;
        struct reel_error err = {0};
        db3_payload(want, id, size);
        good = reel_source_read(rows, address(id, at), got, n, &err) && memcmp(got, want + at, n) == 0;
    }
    free(want);
    free(got);
    return good ? rows : NULL;
}

static void many_threads(void **state) {
    (void)state;
    struct db3 m;
    struct reel_error err = {0};
    struct reel_source *base = reel_source_from_memory(make(&m), "x.db3", &err),
                       *rows = reel_format_rosbag2.open_rows(base, false, &err);
    pthread_t threads[THREADS];
    assert_non_null(rows);
    assert_true(rows->sparse && rows->size == UINT64_MAX);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_pieces, rows), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *good;
        pthread_join(threads[i], &good);
        assert_non_null(good);
    }
    reel_source_free(rows);
    reel_source_free(base);
    db3_free(&m);
}

static void what_is_not_there(void **state) {
    (void)state;
    struct db3 m;
    struct reel_error err = {0};
    struct reel_source *base = reel_source_from_memory(make(&m), "x.db3", &err),
                       *rows = reel_format_rosbag2.open_rows(base, false, &err);
    uint8_t byte;
    assert_false(reel_source_read(rows, address(ROWS + 1, 0), &byte, 1, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_non_null(strstr(err.text, "x.db3: message with id 41"));
    assert_false(reel_source_read(rows, address(1, SIZE_MAX_ROW / ROWS), &byte, 1, &err));
    assert_non_null(strstr(err.text, "exceed its 750"));
    assert_true(reel_source_read(rows, address(1, SIZE_MAX_ROW / ROWS - 1), &byte, 1, &err)); /* a failure leaves
                                                                                                 nothing behind */
    reel_source_free(rows);
    reel_source_free(base);
    base = reel_source_from_memory(bytes_text("nothing of the kind"), "x.db3", &err);
    assert_null(reel_format_rosbag2.open_rows(base, false, &err));
    reel_source_free(base);
    db3_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_threads), cmocka_unit_test(what_is_not_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
