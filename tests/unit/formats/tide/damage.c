/* Damaged TIDE logs: what is whole is kept, what is lost is reported with its offset. */
#include "base/bytes.h"
#include "makers/tide_scan.h"

/* How many messages of a log lie whole in its first `size` bytes: an oracle that knows where the maker put the entries.
 */
static unsigned whole_before(const size_t *ends, unsigned count, size_t size) {
    unsigned n = 0;
    while (n < count && ends[n] <= size) {
        n++;
    }
    return n;
}

static void cut_anywhere(unsigned major) {
    LOG l = {0};
    size_t ends[12];
    log_tide(&l, major, 0);
    for (unsigned i = 0; i < 2; i++) {
        if (major < 2) {
            log_channel(&l, i, i ? "/b" : "/a");
        } else {
            log_channel_new(&l, i, i ? "/b" : "/a", "", "", NULL);
        }
    }
    size_t described = l.size;
    for (unsigned k = 0; k < 2; k++) {
        size_t chunk = log_six(&l, k, LOG_PLAIN);
        for (unsigned i = 0; i < 6; i++) {
            ends[k * 6 + i] = chunk + 37 + (i + 1) * 18;
        }
        log_six_index(&l, major >= 2, major < 2 ? k : chunk);
    }
    for (size_t size = described; size < l.size; size++) {
        unsigned whole = whole_before(ends, 12, size);
        struct reel_error err = {0};
        RECORDING *r = log_try(bytes_of(l.data, size), NULL, &err);
        if (!r && whole == 0) {
            assert_int_equal(err.code, REEL_DAMAGED); /* nothing but channels */
            continue;
        }
        assert_non_null(r);
        if (log_info(r)->messages != whole) {
            fail_msg("major %u, cut at %zu: %u messages instead of %u", major, size, (unsigned)log_info(r)->messages,
                     whole);
        }
        assert_int_equal(log_info(r)->n_channels, 2);
        log_messages(r);
    }
}

static void every_whole_entry_of_a_cut_log_is_kept(void **state) {
    (void)state;
    cut_anywhere(0);
    cut_anywhere(2);
}

static void a_truncated_entry_is_reported(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    log_channel(&l, 1, "/b");
    size_t chunk = log_six(&l, 0, LOG_PLAIN);
    l.size -= 1;
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->messages, 5);
    assert_int_equal(log_info(r)->lost_bytes, 17);
    log_assert_finding(r, REEL_LOSS, "it is truncated; 17 bytes are lost");
    log_assert_finding(r, REEL_LOSS, "truncated, it has 5 of 6 entries");
    (void)chunk;
}

static size_t count_findings(const struct reel_recording *r, enum reel_severity severity, const char *text) {
    size_t n, found = 0;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &n);
    for (size_t i = 0; i < n; i++) {
        found += all[i].severity == severity && strstr(all[i].text, text);
    }
    return found;
}

enum { ZEROS = 40 << 20 };
/* 40 MiB of zeros as bzip2; as one entry, and as no entry at all. */
static void zeros_that_are_entries_are_decoded_and_others_not(void **state) {
    (void)state;
    for (int useful = 0; useful < 2; useful++) {
        LOG l = {0};
        uint8_t *none = calloc(1, ZEROS);
        log_tide(&l, 0, 0);
        log_channel(&l, 0, "/a");
        log_channel(&l, 1, "/b");
        log_six(&l, 0, LOG_PLAIN);
        for (uint32_t i = 1; i < 3; i++) {
            log_chunk(&l, i, 1, 0, 0);
            if (useful) {
                log_number(&l, 0, 4);
                log_number(&l, 1600000000000000000, 8);
                log_number(&l, ZEROS, 4);
            }
            log_bytes(&l, none, ZEROS);
            log_chunk_end(&l, LOG_BZIP2);
        }
        RECORDING *r = log_scan(&l);
        assert_int_equal(log_info(r)->messages, useful ? 8 : 6);
        assert_int_equal(count_findings(r, REEL_NOTE, "decodes to more than 1000 times its size"), useful);
        assert_int_equal(count_findings(r, REEL_LOSS, "no records begin in it: it is not decoded"), !useful);
        assert_int_equal(count_findings(r, REEL_LOSS, "an earlier such chunk held no records"), !useful);
        free(none);
    }
}

static void garbage_between_blocks(void **state) {
    (void)state;
    for (unsigned major = 0; major < 3; major += 2) {
        LOG l = {0};
        log_tide(&l, major, 0);
        for (unsigned i = 0; i < 2; i++) {
            if (major < 2) {
                log_channel(&l, i, i ? "/b" : "/a");
            } else {
                log_channel_new(&l, i, i ? "/b" : "/a", "", "", NULL);
            }
        }
        log_six(&l, 0, LOG_PLAIN);
        size_t at = l.size;
        for (unsigned i = 0; i < 100; i++) {
            log_number(&l, i % 5 == 0 ? 0xffffffffffffffffu : 'C' + i, 8); /* no Size of a block that fits */
        }
        log_bytes(&l, "CHNK", 4); /* and what only looks like one */
        log_number(&l, UINT64_MAX, 8);
        size_t garbage = l.size - at;
        size_t second = log_six(&l, 1, LOG_PLAIN);
        assert_int_equal(second, at + garbage);
        RECORDING *r = log_scan(&l);
        assert_int_equal(log_info(r)->messages, 12);
        assert_true(log_info(r)->damaged);
        assert_in_range(log_info(r)->lost_bytes, 1, garbage);
    }
}

static void an_entry_with_a_wrong_size_loses_only_itself(void **state) {
    (void)state;
    LOG l = {0};
    log_default(&l);
    size_t chunk = 22 + 2 * (12 + 4 + 3 + 4 * 4 + 4); /* after TIDE and two channels */
    assert_memory_equal(l.data + chunk, "CHNK", 4);
    log_patch(&l, chunk + 37 + 18 * 2 + 12, 70000, 4); /* m2's */
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), "/a=m0|/b=m1|/b=m3|/a=m4|/b=m5|");
    assert_int_equal(log_info(r)->lost_bytes, 18);
    log_assert_finding(r, REEL_LOSS, "its size exceeds the chunk; 18 bytes are lost");
    log_assert_finding(r, REEL_WARNING, "does not match their messages: it has 3 of channel 0, which has 2");
}

static void a_wrong_size_of_a_chunk_is_survived(void **state) {
    (void)state;
    static const uint64_t sizes[] = {UINT64_MAX, 1 << 20, 144, 80, 25};
    for (unsigned major = 0; major < 3; major += 2) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            LOG l = {0};
            log_tide(&l, major, 0);
            if (major < 2) {
                log_channel(&l, 0, "/a");
                log_channel(&l, 1, "/b");
            } else {
                log_channel_new(&l, 0, "/a", "", "", NULL);
                log_channel_new(&l, 1, "/b", "", "", NULL);
            }
            size_t chunk = log_six(&l, 0, LOG_PLAIN);
            log_patch(&l, chunk + 4, sizes[i], 8);
            log_six(&l, 1, LOG_PLAIN);
            RECORDING *r = log_scan(&l);
            bool all = major < 2 || sizes[i] > l.size; /* in major 2 Size rules where it fits */
            unsigned kept = all ? 12 : sizes[i] == 144 ? 6 : sizes[i] == 80 ? 9 : 6;
            if (log_info(r)->messages != kept) {
                fail_msg("major %u, Size %llu: %u messages instead of %u", major, (unsigned long long)sizes[i],
                         (unsigned)log_info(r)->messages, kept);
            }
        }
    }
}

static void packed_chunks_that_do_not_decode(void **state) {
    (void)state;
    for (enum log_packing p = LOG_GZIP; p <= LOG_BZIP2; p++) {
        LOG l = {0};
        log_tide(&l, 2, 0);
        log_channel_new(&l, 0, "/a", "", "", NULL);
        log_channel_new(&l, 1, "/b", "", "", NULL);
        size_t chunk = log_six(&l, 0, p);
        log_six(&l, 1, p);
        struct log short_one = {.data = l.data, .size = l.size - 5};
        RECORDING *cut = log_scan(&short_one);
        /* of gzip only the checksum is cut */
        assert_in_range(log_info(cut)->messages, p == LOG_GZIP ? 12 : 6, 12);
        assert_int_equal(log_info(cut)->damaged, log_info(cut)->messages < 12);
        for (size_t i = chunk + 37 + 12; i < chunk + 37 + 24; i++) {
            l.data[i] ^= 0x5a;
        }
        RECORDING *r = log_scan(&l);
        log_messages(r);
        assert_true(log_info(r)->messages >= 6);
        if (p != LOG_DEFLATE) { /* which has no checksum */
            assert_int_equal(log_info(r)->messages, 6);
            log_assert_finding(r, REEL_LOSS, "chunk at");
        }
    }
}

static void what_a_cut_chunk_decodes_to_is_kept(void **state) {
    (void)state;
    enum { N = 3000 };
    LOG l = {0};
    uint64_t seed = 1;
    log_tide(&l, 2, 0);
    log_channel_new(&l, 0, "/a", "", "", NULL);
    log_chunk(&l, 0, N, LOG_T0, LOG_T0 + N - 1);
    for (unsigned i = 0; i < N; i++) {
        char text[9];
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        snprintf(text, sizeof text, "%08x", (unsigned)(seed >> 32));
        log_entry(&l, 0, LOG_T0 + i, text);
    }
    size_t chunk = log_chunk_end(&l, LOG_GZIP);
    struct log cut = {.data = l.data, .size = chunk + (l.size - chunk) * 6 / 10};
    RECORDING *r = log_scan(&cut);
    assert_in_range(log_info(r)->messages, N / 2, N - 1);
    log_assert_finding(r, REEL_LOSS, "truncated, it has");
    RECORDING *whole = log_scan(&l);
    char *all = strdup(log_messages(whole));
    const char *kept = log_messages(r); /* a beginning of them all */
    assert_memory_equal(kept, all, strlen(kept));
    free(all);
}

/* As a killed writer leaves it, which fills the head in at the end. */
static void a_chunk_that_was_not_closed_keeps_its_entries(void **state) {
    (void)state;
    for (unsigned major = 0; major < 3; major += 2) {
        for (unsigned closed = 0; closed < 2; closed++) {
            LOG l = {0};
            log_tide(&l, major, 0);
            for (unsigned i = 0; i < 2; i++) {
                if (major < 2) {
                    log_channel(&l, i, i ? "/b" : "/a");
                } else {
                    log_channel_new(&l, i, i ? "/b" : "/a", "", "", NULL);
                }
            }
            if (closed) {
                log_six(&l, 0, LOG_PLAIN);
            }
            size_t chunk = log_six(&l, closed, LOG_PLAIN);
            memset(l.data + chunk + 4, 0, 8);           /* Size */
            memset(l.data + chunk + 12 + 4, 0, 4 + 16); /* count, start, end */
            RECORDING *r = log_scan(&l);
            assert_int_equal(log_info(r)->messages, 6 + 6 * closed);
            assert_false(log_info(r)->damaged);
            log_assert_finding(r, REEL_WARNING, "not closed by their writer");
            struct log cut = {.data = l.data, .size = l.size - 3};
            RECORDING *shorter = log_scan(&cut);
            assert_int_equal(log_info(shorter)->messages, 5 + 6 * closed);
            assert_true(log_info(shorter)->damaged);
        }
    }
}

static void a_damaged_entry_in_a_packed_chunk(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 2, 0);
    log_channel_new(&l, 0, "/a", "", "", NULL);
    log_channel_new(&l, 1, "/b", "", "", NULL);
    log_chunk(&l, 0, 3, LOG_T0, LOG_T0 + 2);
    log_entry(&l, 0, LOG_T0, "m0");
    size_t wrong = l.size;
    log_entry(&l, 1, LOG_T0 + 1, "m1");
    log_entry(&l, 0, LOG_T0 + 2, "m2");
    log_patch(&l, wrong + 12, 5000, 4);
    size_t chunk = log_chunk_end(&l, LOG_GZIP);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), "/a=m0|/a=m2|");
    log_assert_finding(r, REEL_LOSS, "entry at 18 of it: its size exceeds the chunk; 18 bytes are lost");
    (void)chunk;
}

static void a_time_after_2262(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    log_chunk(&l, 0, 2, LOG_T0, UINT64_MAX);
    log_entry(&l, 0, UINT64_MAX, "x");
    log_entry(&l, 0, LOG_T0, "y");
    log_chunk_end(&l, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), "/a=y|/a=x|");
    assert_int_equal(log_info(r)->end_ns, INT64_MAX);
    log_assert_finding(r, REEL_WARNING, "1 messages have times after the year 2262");
}

static void descriptions_that_exceed_their_block(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 2, 0);
    log_begin(&l, "CHAN");
    log_number(&l, 0, 4);
    log_text(&l, "/a", 1);
    log_number(&l, 4000, 4);
    log_end(&l);
    log_begin(&l, "TYPE");
    log_number(&l, 60000, 2);
    log_end(&l);
    log_begin(&l, "META");
    log_number(&l, 1, 2);
    log_text(&l, "dc:Title", 2);
    log_number(&l, UINT32_MAX, 4);
    log_end(&l);
    log_channel_new(&l, 1, "/b", "", "", NULL);
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->messages, 6);
    log_assert_finding(r, REEL_LOSS, "block CHAN at 14: its fields exceed it");
    log_assert_finding(r, REEL_LOSS, "block TYPE");
    log_assert_finding(r, REEL_LOSS, "block META");
    log_assert_finding(r, REEL_WARNING, "channel 0 has no block CHAN");
}

/* Many ids that no CHAN block describes are damage, not channels. */
static void made_up_channels_have_an_end(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_chunk(&l, 0, 3000, LOG_T0, LOG_T0);
    for (uint32_t i = 0; i < 3000; i++) {
        log_entry(&l, i * 7919, LOG_T0, "");
    }
    log_chunk_end(&l, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->n_channels, 1000);
    assert_int_equal(log_info(r)->messages, 1000);
    assert_true(log_info(r)->damaged);
}

/* Blocks whose ends must be looked for, each by entries that reach to the end of the file: the looking is bounded. */
static void looking_for_ends_is_linear(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    for (unsigned i = 0; i < 100000; i++) {
        log_chunk(&l, i, 0, 0, 0);
        log_end(&l);
        log_bytes(&l, "\1\2\3\4", 4); /* not followed by a block */
        log_number(&l, LOG_T0, 8);
        log_number(&l, 37, 4);
    }
    log_bytes(&l, "\1\2\3", 3);
    RECORDING *r = log_scan(&l);
    assert_true(log_info(r)->n_channels >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_whole_entry_of_a_cut_log_is_kept),
        cmocka_unit_test(a_truncated_entry_is_reported),
        cmocka_unit_test(zeros_that_are_entries_are_decoded_and_others_not),
        cmocka_unit_test(garbage_between_blocks),
        cmocka_unit_test(an_entry_with_a_wrong_size_loses_only_itself),
        cmocka_unit_test(a_wrong_size_of_a_chunk_is_survived),
        cmocka_unit_test(packed_chunks_that_do_not_decode),
        cmocka_unit_test(what_a_cut_chunk_decodes_to_is_kept),
        cmocka_unit_test(a_chunk_that_was_not_closed_keeps_its_entries),
        cmocka_unit_test(a_damaged_entry_in_a_packed_chunk),
        cmocka_unit_test(a_time_after_2262),
        cmocka_unit_test(descriptions_that_exceed_their_block),
        cmocka_unit_test(made_up_channels_have_an_end),
        cmocka_unit_test(looking_for_ends_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
