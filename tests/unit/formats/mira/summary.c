/* Summarys of MIRA tapes: what infos and index tables tell is what a scan finds, or is refused; and little is read of
 * large tapes. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/mira_render.h"
#include "makers/summary_check.h"

#include <stdio.h>

static void assert_same(const struct tape *t) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(t->m.data, t->m.size));
    INDEX *summary = summary_like_scan(&source, 1, &reel_format_mira);
    assert_non_null(summary);
}
static void assert_refused(const struct tape *t, const char *text) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(t->m.data, t->m.size));
    summary_source_refused(source, &reel_format_mira, text);
}
static struct reel_index *summarized(const struct tape *t) {
    struct reel_error err;
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(t->m.data, t->m.size));
    struct reel_index *summary = summary_try(&source, 1, &reel_format_mira, &err);
    assert_non_null(summary);
    return summary;
}

static void every_layout_is_summarized_as_scanned(void **state) {
    (void)state;
    for (unsigned v = 0; v < 48; v++) {
        struct tape_style style = tape_default;
        style.big = v & 1;
        style.size_counts = v & 2;
        style.links_to_content = v & 4;
        style.block_counts = v & 8;
        style.origin = v / 16 == 0 ? 0 : v / 16 == 1 ? (style.links_to_content ? 5 : 0) : 29;
        TAPE t;
        tape_six(&t, &style);
        tape_finish(&t);
        assert_same(&t);
    }
}

static void contents_of_a_summary(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_block_begin(&t);
    tape_info(&t, "/a", "mira::Pose2", "META\0:Pose2", 11);
    for (int i = 0; i < 30; i++) {
        tape_put(&t, i % 3 ? "/a" : "/b", "T", 100 - i, i % 3 ? "" : "/base", 1, i % 2 ? TAPE_PLAIN : TAPE_ZLIB, "p",
                 1);
    }
    tape_finish(&t);
    assert_same(&t);
    INDEX *summary = summarized(&t);
    const struct reel_index_info *info = reel_index_info(summary);
    assert_string_equal(info->container, "MIRA tape, version 0x00010000");
    assert_int_equal(info->messages, 30);
    assert_int_equal(info->n_findings_total, 0);
    assert_int_equal(info->start_ns, TAPE_START + 71);
    assert_int_equal(info->end_ns, TAPE_START + 100);
    assert_string_equal(reel_index_channel(summary, 0)->name, "/a");
    assert_true(bytes_equal(reel_index_channel(summary, 0)->schemas[0].data, bytes_of("META\0:Pose2", 11)));
    assert_int_equal(reel_index_stats(summary, 0)->count, 20);
    assert_int_equal(reel_index_channel(summary, 1)->metadata.count, 1);
    assert_string_equal(reel_index_channel(summary, 1)->metadata.items[0].value, "/base");
    assert_string_equal(reel_index_metadata(summary)->items[1].value, "1330000000000000000");
}

/* Frame ids that change are all met; so are two that alternate; so is an unknown compression. */
static void what_stands_in_messages_only(void **state) {
    (void)state;
    for (int n = 3; n < 60; n += 11) {
        TAPE t;
        tape_begin(&t, &tape_default);
        for (int i = 0; i < n; i++) {
            char frame[16];
            snprintf(frame, sizeof frame, "/f%d", i / 2);
            tape_put(&t, "/all", "T", i, frame, 0, TAPE_PLAIN, "x", 1);
            tape_put(&t, "/two", "T", i, i % 2 ? "/left" : "/right", 0, TAPE_PLAIN, "x", 1);
            tape_put(&t, "/some", "T", i, i == n - 1 ? "/once" : "", 0, TAPE_GZIP, "x", 1);
            tape_put(&t, "/unknown", "T", i, "", 0, TAPE_UNKNOWN, "x", 1);
        }
        tape_finish(&t);
        assert_same(&t);
    }
}

static void times_and_clocks(void **state) {
    (void)state;
    struct tape_style style = tape_default;
    style.start = 0;
    TAPE zero, odd;
    tape_six(&zero, &style);
    tape_finish(&zero);
    assert_same(&zero);
    INDEX *summary = summarized(&zero);
    assert_int_equal(reel_index_info(summary)->clock, REEL_CLOCK_RELATIVE);
    tape_begin(&odd, &tape_default);
    tape_text(&odd, "/x", 5, "b");
    tape_text(&odd, "/x", -2000000, "a");
    tape_text(&odd, "/x", INT64_MAX, "z");
    tape_finish(&odd);
    assert_same(&odd);
}

/* A channel without messages; one whose info is not the first of the links; a tape without anything. */
static void channels_without_messages(void **state) {
    (void)state;
    TAPE unused, empty, linked;
    tape_begin(&unused, &tape_default);
    tape_text(&unused, "/x", 5, "b");
    tape_block_end(&unused);
    tape_info(&unused, "/none", "T", "", 0);
    tape_finish(&unused);
    assert_same(&unused);
    tape_begin(&empty, &tape_default);
    assert_same(&empty);
    tape_six(&linked, &tape_default);
    tape_finish(&linked);
    tape_patch(&linked, 24, linked.channels[1].info, 8);
    tape_patch(&linked, linked.channels[1].info + 5, linked.channels[0].info, 8);
    tape_patch(&linked, linked.channels[0].info + 5, 0, 8);
    assert_same(&linked);
}

/* What we write ourselves of another format's channels. */
static void tapes_of_foreign_channels(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    RECORDING *r = scan_bag(&m);
    const struct reel_write_options options = {.compression = ""};
    MAKER out = render(r, &selection_all, &options, 0);
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(out.data, out.size));
    INDEX *summary = summary_like_scan(&source, 1, &reel_format_mira);
    assert_non_null(summary);
}

static void what_does_not_hold_together_is_refused(void **state) {
    (void)state;
    TAPE open, time, loop, far, late, count, position;
    tape_six(&open, &tape_default);
    assert_refused(&open, "was not closed");
    tape_six(&time, &tape_default);
    time.messages[0].time += 3;
    tape_finish(&time);
    assert_refused(&time, "does not refer to a message of its channel");
    tape_six(&loop, &tape_default);
    tape_finish(&loop);
    tape_patch(&loop, loop.channels[1].info + 5, loop.channels[0].info, 8);
    assert_refused(&loop, "");
    tape_six(&far, &tape_default);
    tape_finish(&far);
    tape_patch(&far, far.channels[1].tail + 8, far.m.size + 9, 8);
    assert_refused(&far, "there is no index at");
    tape_begin(&late, &tape_default);
    tape_block_begin(&late);
    size_t at = tape_message_field(&late, "/a", 1, "", 0, TAPE_PLAIN, "x", 1);
    tape_info(&late, "/a", "T", "", 0);
    late.messages[late.n_messages++] = (struct tape_message){.at = at, .block = late.block, .time = 1};
    late.channels[0].count = 1;
    late.channels[0].first = late.channels[0].last = 1;
    tape_finish(&late);
    assert_refused(&late, "does not refer to a message of its channel");
    tape_six(&count, &tape_default);
    tape_finish(&count);
    tape_patch(&count, count.m.size - 3 * 24 - 4, UINT32_MAX, 4);
    assert_refused(&count, "there is no index at");
    tape_six(&position, &tape_default);
    tape_finish(&position);
    tape_patch(&position, position.m.size - 24, UINT64_MAX - 3, 8);
    assert_refused(&position, "does not refer to a message of its channel");
}

static void damaged_tapes(void **state) {
    (void)state;
    TAPE t, u;
    tape_six(&t, &tape_default);
    tape_finish(&t);
    summary_of_damaged(bytes_of(t.m.data, t.m.size), 33, &reel_format_mira);
    tape_begin(&u, &tape_default);
    for (int i = 0; i < 12; i++) { /* more than are sampled */
        tape_put(&u, "/a", "T", i, "/f", 0, TAPE_ZLIB, "x", 1);
    }
    tape_finish(&u);
    summary_of_damaged(bytes_of(u.m.data, u.m.size), 33, &reel_format_mira);
}

static void files_that_are_there(void **state) {
    (void)state;
    const char *const lying[] = {NULL}; /* their index says something else than their messages */
    struct summarized sum = {0};
    assert_true(summary_folder(REEL_TESTS "/golden/mira", "/input.tape", &reel_format_mira, lying, &sum));
    sum = (struct summarized){0};
    if (summary_folder(REEL_TESTS "/../../shared/samples/mira", ".tape", &reel_format_mira, lying, &sum)) {
        assert_int_equal(sum.same, 3); /* basic, bzip2, empty */
        assert_int_equal(sum.refused, 2);
        assert_int_equal(sum.damaged, 0);
    }
}

/* 5120 messages of 4 MiB on five channels, each in a block of its own. */
static void a_tape_of_20_gib(void **state) {
    (void)state;
    enum { CHANNELS = 5, COUNT = 1024, PAYLOAD = 4 << 20 };
    static struct tape_message messages[CHANNELS][COUNT];
    static const char *const names[CHANNELS] = {"/a", "/b", "/c", "/d", "/e"};
    const char *path = REEL_SCRATCH "/large.tape";
    uint64_t infos[CHANNELS], tables[CHANNELS];
    struct large l = {.file = fopen(path, "w"), .at = 32};
    for (int i = 0; i < CHANNELS * COUNT; i++) {
        unsigned c = (unsigned)i % CHANNELS;
        struct tape t = {.style = tape_default};
        tape_block_begin(&t);
        if (i < CHANNELS) {
            infos[c] = l.at + t.m.size;
            tape_info(&t, names[c], "T", "meta", 4);
        }
        messages[c][i / CHANNELS] = (struct tape_message){.at = l.at + t.m.size, .block = l.at, .time = i};
        size_t at = tape_message_field(&t, names[c], i, "/frame", 0, TAPE_PLAIN, "", 0);
        tape_patch(&t, at + 1, t.m.size - at - 5 + PAYLOAD, 4);
        tape_patch(&t, t.m.size - 5, PAYLOAD, 4);
        large_put(&l, t.m.data, t.m.size);
        l.at += PAYLOAD;
        free_tape(&t);
    }
    for (unsigned c = 0; c < CHANNELS; c++) {
        TAPE t = {.style = tape_default};
        tables[c] = l.at;
        size_t at = tape_field(&t, 0x0d);
        tape_number(&t, COUNT, 4);
        for (unsigned i = 0; i < COUNT; i++) {
            tape_number(&t, messages[c][i].block, 8);
            tape_number(&t, messages[c][i].at - messages[c][i].block, 8);
            tape_number(&t, (uint64_t)messages[c][i].time, 8);
        }
        tape_field_end(&t, at);
        large_put(&l, t.m.data, t.m.size);
    }
    for (unsigned c = 0; c < CHANNELS; c++) {
        TAPE t = {.style = tape_default};
        tape_info(&t, names[c], "T", "meta", 4);
        tape_patch(&t, 5, c + 1 < CHANNELS ? infos[c + 1] : 0, 8);
        tape_patch(&t, 13, c, 8);
        tape_patch(&t, 21, (uint64_t)(CHANNELS * (COUNT - 1)) + c, 8);
        tape_patch(&t, t.channels[0].tail, (uint64_t)COUNT * PAYLOAD, 8);
        tape_patch(&t, t.channels[0].tail + 8, tables[c], 8);
        l.at = infos[c];
        large_put(&l, t.m.data, t.m.size);
    }
    TAPE head;
    tape_begin(&head, &tape_default);
    tape_patch(&head, 20, CHANNELS * COUNT, 4);
    tape_patch(&head, 24, infos[0], 8);
    l.at = 0;
    large_put(&l, head.m.data, head.m.size);
    assert_int_equal(fclose(l.file), 0);
    /* a channel: its info twice, its index, 8 entries and messages, one of these twice, each a read of 4 KiB, and two
     * looks where the first entry leads */
    INDEX *summary = large_summary(path, &reel_format_mira, (1 << 16) + CHANNELS * 4096 * (4 + 2 * 9 + 4));
    const struct reel_index_info *info = reel_index_info(summary);
    assert_int_equal(info->messages, CHANNELS * COUNT);
    assert_int_equal(info->n_channels, CHANNELS);
    assert_int_equal(info->start_ns, TAPE_START);
    assert_int_equal(info->end_ns, TAPE_START + CHANNELS * COUNT - 1);
    assert_int_equal(reel_index_stats(summary, 3)->first_ns, TAPE_START + 3);
    assert_string_equal(reel_index_channel(summary, 3)->metadata.items[0].value, "/frame");
    assert_true(bytes_is(reel_index_channel(summary, 3)->schemas[0].data, "meta"));
    remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_is_summarized_as_scanned),
        cmocka_unit_test(contents_of_a_summary),
        cmocka_unit_test(what_stands_in_messages_only),
        cmocka_unit_test(times_and_clocks),
        cmocka_unit_test(channels_without_messages),
        cmocka_unit_test(tapes_of_foreign_channels),
        cmocka_unit_test(what_does_not_hold_together_is_refused),
        cmocka_unit_test(damaged_tapes),
        cmocka_unit_test(files_that_are_there),
        cmocka_unit_test(a_tape_of_20_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
