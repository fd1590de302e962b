/* Every allocation of a whole journey (scan, index, stream, plan, render, lookup) fails once: each time an error,
 * REEL_NO_MEMORY, and nothing lost (the address sanitizer sees leaks). Linked with --wrap for malloc, calloc, realloc,
 * strdup and asprintf. */
#include "base/cleanup.h"
#include "index/builder.h"
#include "makers/toy_chunks.h"
#include "makers/toy_writer.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **out, const char *format, ...);

static long countdown = -1; /* allocations until one fails; negative: none does */

static bool fails(void) {
    return countdown >= 0 && countdown-- == 0;
}
void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t n, size_t size) {
    return fails() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t size) {
    return fails() ? NULL : __real_realloc(p, size);
}
char *__wrap_strdup(const char *text) {
    return fails() ? NULL : __real_strdup(text);
}
int __wrap_asprintf(char **out, const char *format, ...) {
    if (fails()) {
        return -1;
    }
    va_list arguments;
    va_start(arguments, format);
    int n = vasprintf(out, format, arguments);
    va_end(arguments);
    return n;
}

static const struct reel_write_options options;

static bool render_all(struct reel_recording *r, const struct reel_writer *writer, const struct reel_selection *q,
                       struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, q, err);
    AUTO(reel_plan_free) struct reel_plan *plan = s ? reel_plan_new(writer, &options, s, NULL, err) : NULL;
    if (!plan) {
        return false;
    }
    struct reel_selection again = *q;
    again.initial = reel_plan_initial_state(plan);
    struct reel_stream *second = reel_stream_open(&r, 1, &again, err);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *output = second ? reel_planned_output_new(plan, second, err) : NULL;
    uint8_t piece[512];
    for (uint64_t at = 0; output && at < reel_plan_length(plan); at += sizeof piece) {
        uint64_t back = reel_plan_length(plan) - at; /* from the end, so that it seeks */
        size_t size = back < sizeof piece ? (size_t)back : sizeof piece;
        if (!reel_planned_output_read(output, back - size, piece, size, err)) {
            return false;
        }
    }
    return output != NULL;
}

static bool stream_rows(struct reel_recording *r, const struct reel_selection *q, struct reel_error *err) {
    struct reel_stream *s = reel_stream_open(&r, 1, q, err);
    AUTO(reel_row_output_free)
    struct reel_row_output *rows = s ? reel_row_output_new(&toy_streamed, &options, s, err) : NULL;
    uint8_t piece[512];
    size_t got = 1;
    while (rows && got > 0) {
        if (!reel_row_output_next(rows, piece, sizeof piece, &got, err)) {
            return false;
        }
    }
    return rows != NULL;
}

static bool look_up(struct reel_recording *r, const struct reel_selection *q, struct reel_error *err) {
    struct reel_message m;
    struct reel_bytes payload;
    struct reel_description d;
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, q, err), *other = NULL;
    return s && reel_message_at_index(s, -3, &m, err) && reel_stream_payload(s, &m, &payload, err) &&
           stream_describe(s, &m, &d, err) && reel_message_at_time(r, q, 200, &other, &m, err);
}

static bool journey(struct toy *t, struct reel_error *err) {
    AUTO(reel_cache_free) struct reel_cache *cache = reel_cache_new(1 << 20, err);
    if (!cache) {
        return false;
    }
    AUTO(reel_recording_free)
    struct reel_recording *r = toy_try_open(
        t, &(struct reel_recording_options){.cache = cache, .derived_folder = REEL_SCRATCH, .derived_name = "d"}, err);
    if (!r) {
        return false;
    }
    struct reel_selection q = selection_all;
    if (!look_up(r, &q, err) || !render_all(r, &toy_planned, &q, err) || !stream_rows(r, &q, err)) {
        return false;
    }
    q.start_ns = 100;
    q.every_n = 2;
    q.every_ns = 3;
    q.last_per_topic = q.state_at_cut = toy_has_state = true;
    return look_up(r, &q, err) && render_all(r, &toy_hashed, &q, err) && stream_rows(r, &q, err);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_pair pairs[] = {{"k", "v"}};
    struct reel_schema schema = {.name = "S", .encoding = "e", .hash = "h", .data = {(const uint8_t *)"data", 4}};
    toy_with_chunks(&t, 1, 4, 20000, 150);
    toy_add_channel(&t, "/b");
    t.channels[0].schemas = &schema;
    t.channels[0].n_schemas = 1;
    t.channels[0].metadata = (struct reel_pairs){.items = pairs, .count = 1};
    for (size_t i = 0; i < t.n_entries; i++) {
        t.entries[i].channel = i % 3 == 0;
        t.entries[i].time_ns = (int64_t)((i * 7) % 200);
    }
    long n = 0;
    for (bool done = false; !done; n++) {
        struct reel_error err = {0};
        countdown = n;
        bool good = journey(&t, &err);
        done = countdown >= 0; /* none was left to fail */
        countdown = -1;
        if (!good && err.code != REEL_NO_MEMORY) {
            print_message("allocation %ld: code %d, %s\n", n, err.code, err.text);
        }
        assert_true(good ? err.code == REEL_OK : err.code == REEL_NO_MEMORY);
        assert_true(good || !done);
        assert_int_equal(toy_open_runs, 0);
    }
    print_message("%ld allocations\n", n);
    assert_true(n > 100);
    toy_free(&t);
}

/* Times at random: the segments must be merged at the end. */
static void compaction_may_fail_anywhere(void **state) {
    (void)state;
    enum { N = 20 * REEL_SEGMENT_ENTRIES };
    for (long n = 0;; n++) {
        struct reel_error err = {0};
        uint64_t seed = 5, size = N;
        uint32_t id;
        struct reel_builder *b = builder_new(REEL_SCRATCH "/compacted.pack", "toy", 3, &size, 1, &err);
        assert_true(b && builder_add_channel(b, &(struct reel_channel){.name = "/a"}, &id, &err));
        for (uint64_t i = 0; i < N; i++) {
            assert_true(
                builder_add_entry(b, &(struct reel_entry){.time_ns = (int64_t)toy_next(&seed), .offset = i}, &err));
        }
        countdown = n;
        bool good = builder_finish(b, &err), done = countdown >= 0;
        countdown = -1;
        builder_free(b);
        assert_true(good ? err.code == REEL_OK : err.code == REEL_NO_MEMORY);
        if (done) {
            assert_true(good && n > 30);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail),
                                       cmocka_unit_test(compaction_may_fail_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
