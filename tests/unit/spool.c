/* core/spool.h: a chunk's raw bytes as a source, in memory or in a file that appears whole or not at all. */
#include "unit/toy_chunks.h"

#include <dirent.h>

#include "core/spool.h"

#define FOLDER REEL_SCRATCH "/spool"

static unsigned files_in_folder(void) {
    unsigned n = 0;
    DIR *d = opendir(FOLDER);
    for (struct dirent *e; (e = readdir(d));) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

static void check_source(struct reel_source *s, uint32_t id, size_t size) {
    struct reel_error err = {0};
    uint8_t *raw = malloc(size + 1);
    assert_non_null(s);
    assert_true(s->size == size && reel_source_read(s, 0, raw, size, &err) && chunk_bytes_are(id, 0, raw, size));
    assert_false(reel_source_read(s, size, raw, 1, &err));
    assert_string_equal(s->name, "test.toy");
    free(raw);
    reel_source_free(s);
}

static void chunks_come_whole(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    struct reel_source *parts[TOY_PARTS_MAX];
    toy_with_chunks(&t, 1, 4, 50000, 0);
    assert_true(toy_sources(&t, parts, &err));
    assert_int_equal(system("rm -rf " FOLDER "; mkdir " FOLDER), 0);
    for (uint32_t i = 0; i < 4; i++) {
        const struct reel_chunk *c = &t.chunks[i];
        check_source(spool_chunk(c, parts[0], &err), 2 + i, 50000);
        check_source(spool_file(c, parts[0], NULL, &err), 2 + i, 50000);
        check_source(spool_file(c, parts[0], FOLDER "/x", &err), 2 + i, 50000);
        struct reel_source *kept = spool_file(c, parts[0], FOLDER "/x", &err); /* there already */
        assert_true(truncate(FOLDER "/x", 49999) == 0);
        reel_source_free(kept);
        check_source(spool_file(c, parts[0], FOLDER "/x", &err), 2 + i, 50000); /* of the wrong size: made again */
        assert_int_equal(files_in_folder(), 1);
        remove(FOLDER "/x");
    }
    reel_source_free(parts[0]);
    reel_source_free(parts[1]);
    toy_free(&t);
}

static void failure_leaves_no_file(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    struct reel_source *parts[TOY_PARTS_MAX];
    toy_with_chunks(&t, 1, 4, 50000, 0);
    assert_true(toy_sources(&t, parts, &err));
    for (uint32_t i = 0; i < 3; i++) {
        struct reel_chunk c = t.chunks[i];
        c.raw = i == 0 ? 49999 : 50001;
        assert_null(spool_chunk(&c, parts[0], &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        assert_null(spool_file(&c, parts[0], FOLDER "/x", &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        assert_null(spool_file(&c, parts[0], NULL, &err));
        assert_int_equal(files_in_folder(), 0);
    }
    assert_null(spool_file(&t.chunks[0], parts[0], FOLDER "/no/such/x", &err));
    assert_int_equal(err.code, REEL_IO);
    reel_source_free(parts[0]);
    reel_source_free(parts[1]);
    toy_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_come_whole), cmocka_unit_test(failure_leaves_no_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
