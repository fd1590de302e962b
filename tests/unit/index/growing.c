/* index/growing.h: the index of a recording that is still being written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/growing.h"
#include "read/reader.h"
#include "reel/open.h"
#include "reel/record.h"
#include "stream/stream.h"

static struct reel_error err;
static char path[512], pack[512], other_pack[512];

static void good(bool is) {
    if (!is) {
        fail_msg("%s", err.text);
    }
}
static uint32_t add_channel(struct reel_recorder *r, const char *name) {
    uint32_t id;
    const struct reel_channel c = {.name = name, .topics = &name, .n_topics = 1, .type = "", .encoding = "json"};
    good(reel_recorder_copy_channel(r, &c, &id, &err));
    return id;
}
static int64_t time_of(uint32_t number) {
    return 1000 + (int64_t)number * 10 - (number % 11 == 5 ? 200 : 0);
}
static void put(struct reel_recorder *r, uint32_t channel, uint32_t number) {
    uint8_t payload[8];
    store_u64le(payload, number);
    const struct reel_record m = {.size = sizeof m,
                                  .channel = channel,
                                  .sequence = number,
                                  .log_time_ns = number < 30 ? 5000 : time_of(number),
                                  .payload = bytes_of(payload, 8)};
    good(reel_recorder_message(r, &m, &err));
}

static struct reel_recording *open_index(struct reel_index *index) {
    struct reel_source *source = reel_source_open(path, NULL, &err);
    good(source);
    source->size = reel_index_part_size(index, 0); /* it may have grown since */
    struct reel_recording *recording =
        reel_recording_from_index(index, &source, 1, &(struct reel_recording_options){0}, &err);
    good(recording);
    return recording;
}
/* Every one of the first `n` messages once, and no other. */
static void expect(struct reel_recording *recording, uint32_t n) {
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&recording, 1, &selection_all, &err);
    AUTO_MEM bool *seen = calloc(n + 1, sizeof *seen);
    struct reel_message m;
    struct reel_bytes payload;
    int64_t before = 0;
    uint32_t count = 0;
    enum reel_step step;
    while ((step = stream_next(s, &m, &err)) == REEL_STEP_MESSAGE) {
        good(reel_stream_payload(s, &m, &payload, &err));
        uint64_t number = load_u64le(payload.data);
        assert_true(number < n && !seen[number] && m.time_ns >= before);
        seen[number] = true;
        before = m.time_ns;
        count++;
    }
    assert_int_equal(step, REEL_STEP_END);
    assert_int_equal(count, n);
    assert_int_equal(reel_index_info(reel_recording_index(recording))->messages, n);
}

static struct reel_recorder *start(void) {
    unlink(path);
    unlink(pack);
    struct reel_recorder *r = reel_recorder_open(path, reel_writer_named(".mcap", NULL, &err), NULL, &err);
    good(r);
    return r;
}
static struct reel_growing *follow(void) {
    struct reel_growing *g = reel_growing_open(path, reel_format_named("mcap"), pack, &err);
    good(g);
    return g;
}
static uint8_t *load(const char *from, size_t *size) {
    FILE *f = fopen(from, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*size);
    assert_int_equal(fread(data, 1, *size, f), *size);
    fclose(f);
    return data;
}

static void an_index_shows_what_was_read_and_stays(void **state) {
    (void)state;
    enum { ROUNDS = 40, EACH = 25 };
    struct reel_recorder *r = start();
    AUTO(reel_growing_free) struct reel_growing *g = follow();
    struct reel_recording *shown[ROUNDS + 1] = {0};
    uint32_t n = 0, ids[ROUNDS];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        char name[16];
        snprintf(name, sizeof name, "/t%u", round);
        ids[round] = add_channel(r, name);
        for (uint32_t i = 0; i < EACH; i++, n++) {
            put(r, ids[n % (round + 1)], n);
        }
        good(reel_recorder_flush(r, &err));
        good(reel_growing_read(g, reel_recorder_bytes(r), NULL, &err));
        struct reel_index *index = reel_growing_index(g, &err);
        good(index);
        shown[round] = open_index(index);
        assert_int_equal(reel_index_info(reel_recording_index(shown[round]))->n_channels, round + 1);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) { /* each as it was then */
        expect(shown[round], (round + 1) * EACH);
        reel_recording_free(shown[round]);
    }
    uint64_t size = 0;
    good(reel_recorder_close(r, &err));
    struct reel_source *source = reel_source_open(path, NULL, &err);
    size = source->size;
    good(reel_growing_finish(g, size, &err));
    good(reel_scan_run(&source, 1, NULL, other_pack, NULL, &err));
    reel_source_free(source);
    size_t a, b;
    AUTO_MEM uint8_t *grown = load(pack, &a), *scanned = load(other_pack, &b);
    assert_int_equal(a, b);
    assert_memory_equal(grown, scanned, a);
}

/* More chunks and entries than one segment holds. */
static void segments_that_are_written_are_shown_too(void **state) {
    (void)state;
    enum { CHUNKS = 9000 };
    struct reel_recorder *r = start();
    AUTO(reel_growing_free) struct reel_growing *g = follow();
    uint32_t id = add_channel(r, "/a");
    struct reel_recording *middle = NULL;
    for (uint32_t n = 0; n < CHUNKS; n++) {
        put(r, id, n);
        good(reel_recorder_flush(r, &err));
        good(n % 7 || reel_growing_read(g, reel_recorder_bytes(r), NULL, &err));
        if (n == 4900) {
            middle = open_index(reel_growing_index(g, &err));
        }
    }
    expect(middle, 4901);
    reel_recording_free(middle);
    good(reel_growing_read(g, reel_recorder_bytes(r), NULL, &err));
    AUTO(reel_recording_free) struct reel_recording *all = open_index(reel_growing_index(g, &err));
    expect(all, CHUNKS);
    good(reel_recorder_close(r, &err));
    struct reel_source *source = reel_source_open(path, NULL, &err);
    good(reel_growing_finish(g, source->size, &err));
    reel_source_free(source);
    AUTO(reel_recording_free) struct reel_recording *whole = open_index(reel_index_open(pack, &err));
    expect(whole, CHUNKS);
    assert_int_equal(reel_index_info(reel_recording_index(whole))->n_findings_total, 0);
}

static void what_cannot_grow_is_refused(void **state) {
    (void)state;
    struct reel_recorder *r = start();
    assert_null(reel_growing_open(path, reel_format_named("tide"), pack, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    AUTO(reel_growing_free) struct reel_growing *g = follow();
    good(reel_growing_read(g, reel_recorder_bytes(r), NULL, &err));
    assert_false(reel_growing_read(g, reel_recorder_bytes(r) - 1, NULL, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    reel_recorder_free(r);
}

int main(void) {
    snprintf(path, sizeof path, "%s/grows.mcap", REEL_SCRATCH);
    snprintf(pack, sizeof pack, "%s/grows.reel", REEL_SCRATCH);
    snprintf(other_pack, sizeof other_pack, "%s/scanned.reel", REEL_SCRATCH);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_shows_what_was_read_and_stays),
        cmocka_unit_test(segments_that_are_written_are_shown_too),
        cmocka_unit_test(what_cannot_grow_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
