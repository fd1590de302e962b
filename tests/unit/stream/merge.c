/* stream/merge.h: segments are opened when they are reached and closed at their end; counting reads only what it must.
 * (Order, ranges and seeking over recordings are proven in stream.c.) */
#include "makers/toy_oracle.h"

#include "read/reader.h"
#include "stream/merge.h"

static struct merge_segments all;

static struct merge *merge_of(struct reel_recording *const *recordings, uint32_t n) {
    struct reel_error err = {0};
    all = (struct merge_segments){.items = malloc(10000 * sizeof *all.items)};
    for (uint32_t s = 0; s < n; s++) {
        const struct reel_index *index = reel_recording_index(recordings[s]);
        for (size_t i = 0; i < index->model.n_segments; i++) {
            const struct pack_segment *segment = &index->model.segments[i];
            all.items[all.n++] =
                (struct merge_segment){.segment = segment, .index = index, .source = s, .channel = segment->channel};
        }
    }
    assert_true(merge_segments_sort(&all, &err));
    struct merge *m = merge_new(&all, &err);
    assert_non_null(m);
    return m;
}

static void free_merge(struct merge *m) {
    merge_free(m);
    merge_segments_done(&all);
}

static struct merge_position position_of(const struct wanted *w) {
    return (struct merge_position){
        .key = {.time_ns = w->entry.time_ns, .offset = w->entry.offset, .chunk = w->entry.chunk}, .source = w->source};
}

static void counts_are_those_of_a_walk(void **state) {
    (void)state;
    static const enum toy_order orders[] = {TOY_REGULAR, TOY_TIES, TOY_REVERSED, TOY_RANDOM};
    for (int o = 0; o < 4; o++) {
        struct toy a = {0}, b = {0};
        struct reel_error err = {0};
        toy_random(&a, 1, 3, 30000, orders[o]);
        toy_random(&b, 2, 3, 5000, orders[o]);
        const struct toy *toys[] = {&a, &b};
        struct reel_recording *recordings[] = {toy_open(&a, NULL), toy_open(&b, NULL)};
        struct wanted *w;
        size_t n = oracle_stream(toys, 2, &selection_all, &w);
        struct merge *m = merge_of(recordings, 2);
        uint64_t seed = 3;
        for (int round = 0; round < 50; round++) {
            size_t from = toy_next(&seed) % n, to = toy_next(&seed) % n;
            uint64_t counts[3] = {0}, truth[3] = {0};
            struct merge_position first = position_of(&w[from]), last = position_of(&w[to]);
            assert_true(merge_count(m, &first, &last, counts, &err));
            for (size_t i = from; i < to; i++) {
                truth[w[i].entry.channel]++;
            }
            assert_memory_equal(counts, truth, sizeof truth);
            merge_seek(m, &first); /* counting and walking do not disturb each other */
            struct reel_entry e;
            uint32_t source, channel;
            for (size_t i = from; i < n && i < from + 100; i++) {
                assert_int_equal(merge_next(m, &e, &source, &channel, &err), REEL_STEP_MESSAGE);
                assert_true(e.offset == w[i].entry.offset && source == w[i].source && channel == w[i].entry.channel);
                if (i == from + 50) {
                    memset(counts, 0, sizeof counts);
                    assert_true(merge_count(m, &first, &last, counts, &err));
                    assert_memory_equal(counts, truth, sizeof truth);
                }
            }
        }
        free_merge(m);
        free(w);
        reel_recording_free(recordings[0]);
        reel_recording_free(recordings[1]);
        toy_free(&a);
        toy_free(&b);
    }
}

static void an_empty_merge_ends(void **state) {
    (void)state;
    struct reel_error err = {0};
    all = (struct merge_segments){.n = 0};
    assert_true(merge_segments_sort(&all, &err));
    struct merge *m = merge_new(&all, &err);
    struct merge_position from = {0};
    struct reel_entry e;
    uint32_t source, channel;
    assert_int_equal(merge_next(m, &e, &source, &channel, &err), REEL_STEP_END);
    merge_seek(m, &from);
    assert_int_equal(merge_next(m, &e, &source, &channel, &err), REEL_STEP_END);
    free_merge(m);
}

/* A pack that went bad under an open index is an error in the middle of the walk, not an end. */
static void a_segment_gone_bad_is_an_error(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    char path[512];
    toy_random(&t, 5, 2, 20000, TOY_REGULAR);
    toy_pack_path(&t, path);
    assert_true(toy_scan_to(&t, path, &err));
    struct reel_source *parts[1];
    assert_true(toy_sources(&t, parts, &err));
    struct reel_recording *r = reel_recording_from_index(reel_index_open(path, &err), parts, 1, NULL, &err);
    struct merge *m = merge_of(&r, 1);
    const struct pack_segment *bad = &reel_recording_index(r)->model.segments[2];
    FILE *f = fopen(path, "r+b");
    assert_int_equal(fseek(f, (long)bad->offset + 5, SEEK_SET), 0);
    assert_true(fputs("spoiled", f) >= 0);
    fclose(f);
    struct reel_entry e;
    uint32_t source, channel;
    enum reel_step step;
    size_t n = 0;
    while ((step = merge_next(m, &e, &source, &channel, &err)) == REEL_STEP_MESSAGE) {
        n++;
    }
    assert_int_equal(step, REEL_STEP_ERROR);
    assert_int_equal(err.code, REEL_CHANGED);
    assert_true(n > 0 && n < 20000);
    free_merge(m);
    reel_recording_free(r);
    remove(path);
    toy_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_a_walk),
        cmocka_unit_test(an_empty_merge_ends),
        cmocka_unit_test(a_segment_gone_bad_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
