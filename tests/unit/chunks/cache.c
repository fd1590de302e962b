/* chunks/cache.h: bounded by its budget but for what is in use, least recently used first, one block for many threads.
 */
#include "makers/toy.h"

#include <pthread.h>
#include <stdatomic.h>

#include "chunks/cache.h"

static struct cache_block *put(struct reel_cache *c, uint64_t recording, uint32_t chunk, size_t size) {
    struct reel_error err = {0};
    struct cache_block *b = cache_pin(c, recording, chunk, size, &err);
    assert_non_null(b);
    assert_int_equal(b->size, size);
    if (!b->ready) {
        memset(b->data, (int)(recording + chunk), size);
        cache_filled(c, b, true);
    }
    return b;
}
static bool holds(struct reel_cache *c, uint64_t recording, uint32_t chunk) {
    struct reel_error err = {0};
    struct cache_block *b = cache_pin(c, recording, chunk, 0, &err);
    bool ready = b->ready;
    if (ready) {
        assert_true(b->recording == recording && b->chunk == chunk && b->data[0] == (uint8_t)(recording + chunk));
        cache_unpin(c, b);
    } else {
        cache_filled(c, b, false);
    }
    return ready;
}

static void the_oldest_go_first(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_cache *c = reel_cache_new(1000, &err);
    for (uint32_t i = 0; i < 10; i++) {
        cache_unpin(c, put(c, 1, i, 100));
    }
    assert_true(reel_cache_used(c) == 1000);
    assert_true(holds(c, 1, 0)); /* used again: 1 is the oldest now */
    cache_unpin(c, put(c, 1, 10, 150));
    assert_true(reel_cache_used(c) == 950 && holds(c, 1, 0) && !holds(c, 1, 1) && !holds(c, 1, 2) && holds(c, 1, 3));
    assert_false(holds(c, 2, 0));
    cache_unpin(c, put(c, 2, 0, 5000)); /* larger than all: goes as soon as it is not in use */
    assert_true(reel_cache_used(c) == 0);
    reel_cache_free(c);
}

static void files_in_use_are_kept(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_cache *c = reel_cache_new(250, &err);
    struct cache_block *held[5];
    for (uint32_t i = 0; i < 5; i++) {
        held[i] = put(c, 1, i, 100);
    }
    assert_true(reel_cache_used(c) == 500);
    struct cache_block *same = put(c, 1, 3, 100); /* a second thread decoded it too */
    assert_ptr_equal(same, held[3]);
    assert_true(reel_cache_used(c) == 500);
    cache_drop_recording(c, 1);
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(held[i]->data[99] == (uint8_t)(1 + i));
        cache_unpin(c, held[i]);
    }
    assert_true(reel_cache_used(c) == 200 && holds(c, 1, 3));
    cache_unpin(c, same);
    cache_unpin(c, NULL);
    cache_unpin(c, put(c, 2, 3, 10));
    cache_drop_recording(c, 1);
    assert_true(reel_cache_used(c) == 10 && holds(c, 2, 3));
    reel_cache_free(c);
    reel_cache_free(NULL);
}

/* A block that has to go gives its memory to the one it goes for, unless that is much smaller or larger. */
static void memory_of_evicted_blocks_is_used_again(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_cache *c = reel_cache_new(3000, &err);
    uint8_t *first = NULL;
    for (uint32_t i = 0; i < 3; i++) {
        struct cache_block *b = put(c, 1, i, 1000);
        first = i == 0 ? b->data : first;
        cache_unpin(c, b);
    }
    struct cache_block *again = put(c, 1, 3, 900);
    assert_ptr_equal(again->data, first);
    assert_int_equal(again->size, 900);
    assert_true(reel_cache_used(c) == 3000 && holds(c, 1, 1));
    cache_unpin(c, again);
    cache_unpin(c, put(c, 1, 4, 100)); /* 2 goes, whose 1000 bytes are too many */
    assert_true(reel_cache_used(c) == 2100 && holds(c, 1, 3) && !holds(c, 1, 0) && !holds(c, 1, 2));
    struct cache_block *large = cache_pin(c, 1, 5, 2950, &err); /* all go before it is filled */
    assert_true(large && !large->ready && reel_cache_used(c) == 2950);
    cache_filled(c, large, false);
    assert_true(reel_cache_used(c) == 0 && !holds(c, 1, 5));
    reel_cache_free(c);
}

struct filling {
    struct reel_cache *cache;
    _Atomic int fills, bad; /* bad: how many of them fail */
};

static void *fill_one(void *context) {
    struct filling *f = context;
    struct reel_error err = {0};
    struct cache_block *b = cache_pin(f->cache, 1, 7, 64, &err);
    if (!b->ready) {
        bool good = atomic_fetch_add(&f->fills, 1) >= atomic_load(&f->bad);
        memset(b->data, 8, 64);
        cache_filled(f->cache, b, good);
        if (!good) {
            return NULL;
        }
    }
    assert_true(b->ready && b->data[63] == 8);
    cache_unpin(f->cache, b);
    return NULL;
}

/* Of threads that need the same block one fills it; after each that fails, another does. */
static void one_thread_fills_a_block(void **state) {
    (void)state;
    for (int bad = 0; bad < 4; bad++) {
        struct reel_error err = {0};
        struct filling f = {.cache = reel_cache_new(1000, &err), .bad = bad};
        pthread_t threads[8];
        for (int i = 0; i < 8; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, fill_one, &f), 0);
        }
        for (int i = 0; i < 8; i++) {
            pthread_join(threads[i], NULL);
        }
        assert_int_equal(atomic_load(&f.fills), bad + 1);
        assert_true(reel_cache_used(f.cache) == 64 && holds(f.cache, 1, 7));
        reel_cache_free(f.cache);
    }
}

static void *churn(void *context) {
    struct reel_cache *c = context;
    uint64_t seed = (uint64_t)(uintptr_t)&seed | 1;
    for (int i = 0; i < 5000; i++) {
        uint64_t recording = toy_next(&seed) % 3;
        uint32_t chunk = (uint32_t)(toy_next(&seed) % 20);
        struct cache_block *b = put(c, recording, chunk, 64);
        assert_true(b->chunk == chunk && b->recording == recording && b->data[63] == (uint8_t)(recording + chunk));
        cache_unpin(c, b);
        if (i % 500 == 0) {
            cache_drop_recording(c, recording);
        }
    }
    return NULL;
}

static void threads_share_it(void **state) {
    (void)state;
    struct reel_error err = {0};
    struct reel_cache *c = reel_cache_new(640, &err);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, churn, c), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(reel_cache_used(c) <= 640);
    reel_cache_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_go_first),
        cmocka_unit_test(files_in_use_are_kept),
        cmocka_unit_test(memory_of_evicted_blocks_is_used_again),
        cmocka_unit_test(one_thread_fills_a_block),
        cmocka_unit_test(threads_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
