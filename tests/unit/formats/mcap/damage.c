/* The MCAP reader on files that are cut, damaged, or lie: what is whole is kept, what is broken stays out, and the
 * findings report it. */
#include "base/bytes.h"
#include "makers/mcap_scan.h"

/* ---- cut files ---- */

static void a_truncated_plain_chunk_yields_its_complete_records(void **state) {
    (void)state;
    struct maker m = {0};
    struct mcap_lab lab = mcap_make_lab(&m, "");
    m.size = lab.chunk[1] + 49 + 31 + 3 + 31 + 2; /* in the payload of its second message */
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "one|{\"n\":1}|two|");
    assert_true(bag_info(r)->damaged);
    bag_assert_finding(r, REEL_LOSS, "exceeds the file; whole records at its beginning are taken");
    bag_assert_finding(r, REEL_LOSS, "no record follows");
    bag_assert_finding(r, REEL_WARNING, "ends without a footer");
    done(r, &m);
}

/* cat a.mcap b.mcap: the footer at the end is that of the last one. */
static void files_one_after_the_other_are_all_read(void **state) {
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0}, all = {0};
        mcap_make_lab(&m, compressions[c]);
        struct reel_recording *alone = scanned(&m);
        uint64_t messages = bag_info(alone)->messages;
        for (unsigned i = 0; i < 3; i++) {
            make_bytes(&all, m.data, m.size);
        }
        struct reel_recording *r = scanned(&all);
        assert_int_equal(bag_info(r)->messages, 3 * messages);
        assert_int_equal(bag_info(r)->n_channels, bag_info(alone)->n_channels);
        assert_int_equal(bag_info(r)->n_findings_total, bag_info(alone)->n_findings_total * 3 + 2);
        assert_false(bag_info(r)->damaged);
        bag_payloads(r); /* all are where the index says */
        done(r, &all);
        done(alone, &m);
    }
}

static void a_cut_compressed_chunk_is_lost_alone(void **state) {
    (void)state;
    for (unsigned c = 1; c < 3; c++) {
        struct maker m = {0};
        struct mcap_lab lab = mcap_make_lab(&m, compressions[c]);
        m.size = lab.chunk[2] + 70;
        struct reel_recording *r = scanned(&m);
        assert_string_equal(bag_payloads(r), "one|{\"n\":1}|two|{\"n\":2}|");
        bag_assert_finding(r, REEL_LOSS, "its length");
        assert_int_equal(bag_info(r)->lost_bytes, 70);
        done(r, &m);
    }
}

static void a_cut_anywhere_keeps_what_is_whole(void **state) {
    (void)state;
    struct maker m = {0};
    struct mcap_lab lab = mcap_make_lab(&m, "zstd");
    for (size_t size = 8; size < m.size; size += 3) {
        struct reel_error err = {0};
        struct reel_recording *r = bag_try(bytes_of(m.data, size), &err);
        unsigned chunks = 0;
        for (unsigned i = 0; i < 3; i++) {
            chunks += size >= lab.chunk[i] + 9 + m.data[lab.chunk[i] + 1];
        }
        if (!r) {
            assert_int_equal(err.code, REEL_DAMAGED); /* nothing could be kept */
            assert_int_equal(chunks, 0);
            continue;
        }
        assert_int_equal(bag_info(r)->messages, 2 * chunks);
        assert_true(bag_info(r)->n_findings_total > 0);
        bag_payloads(r);
        reel_recording_free(r);
    }
    free(m.data);
}

/* ---- chunks that are wrong ---- */

static void a_chunk_whose_crc_fails_is_walked(void **state) {
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0};
        struct mcap_lab lab = mcap_make_lab(&m, compressions[c]);
        m.data[lab.chunk[1] + 33] ^= 1;
        struct reel_recording *r = scanned(&m);
        assert_string_equal(bag_payloads(r), "one|{\"n\":1}|two|{\"n\":2}|three|{\"n\":3}|");
        bag_assert_finding(r, REEL_LOSS, "2 messages of it are kept, and may be wrong");
        bag_assert_finding(r, REEL_WARNING, "the data section's CRC is");
        assert_int_equal(bag_findings(r, REEL_WARNING, "indexes of chunks"), 0);
        done(r, &m);
    }
}

enum { ZEROS = 40 << 20 };
/* 40 MiB of zeros as zstd; as one message, and as no record at all. */
static void zeros_that_are_messages_are_decoded_and_others_not(void **state) {
    (void)state;
    for (int useful = 0; useful < 2; useful++) {
        struct maker m = {0}, records = {0};
        struct mcap_lab lab = mcap_make_lab(&m, "zstd");
        m.size = lab.chunk[2];
        uint8_t *none = calloc(1, ZEROS);
        if (useful) {
            uint8_t head[9 + 22] = {5, [9] = 1};
            store_u64le(head + 1, ZEROS + 22);
            make_bytes(&records, head, sizeof head);
        }
        make_bytes(&records, none, ZEROS);
        mcap_chunk(&m, &records, 0, 0, "zstd");
        if (!useful) {
            mcap_chunk(&m, &records, 0, 0, "zstd");
        }
        struct reel_recording *r = scanned(&m);
        assert_int_equal(bag_info(r)->messages, useful ? 5 : 4);
        assert_int_equal(bag_findings(r, REEL_NOTE, "decodes to more than 1000 times its size"), useful);
        assert_int_equal(bag_findings(r, REEL_LOSS, "no records begin in it: it is not decoded"), !useful);
        assert_int_equal(bag_findings(r, REEL_LOSS, "an earlier such chunk held no records"), !useful);
        free(none);
        free(records.data);
        done(r, &m);
    }
}

enum { MANY = 2000, LONG = 300 };
/* MANY messages in one chunk, with payloads that do not compress. */
static void make_long_chunk(struct maker *m, size_t *chunk, const char *compression) {
    struct maker records = {0};
    uint32_t x = 1;
    mcap_header(m, "", "");
    mcap_lab_definitions(m);
    for (unsigned i = 0; i < MANY; i++) {
        char text[LONG + 1];
        unsigned n = (unsigned)snprintf(text, sizeof text, "%u:", i);
        for (; n < LONG; n++) {
            x = x * 1664525 + 1013904223;
            text[n] = (char)('A' + (x >> 24) % 58);
        }
        text[LONG] = '\0';
        mcap_message(&records, 1, 1000 + i, i, text);
    }
    *chunk = mcap_chunk(m, &records, 1000, 1000 + MANY - 1, compression);
    mcap_close(m);
    free(records.data);
}

/* Reads all payloads; how many of them begin with their number, from 0 on without a gap. */
static unsigned read_numbers(struct reel_recording *r, unsigned *all) {
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    struct reel_message message;
    unsigned good = 0;
    assert_non_null(s);
    for (*all = 0; stream_next(s, &message, &err) == REEL_STEP_MESSAGE; ++*all) {
        struct reel_bytes payload;
        char number[16];
        if (!reel_stream_payload(s, &message, &payload, &err)) {
            fail_msg("%s", err.text);
        }
        int n = snprintf(number, sizeof number, "%u:", good);
        good += payload.size == LONG && memcmp(payload.data, number, (size_t)n) == 0;
    }
    assert_int_equal(err.code, REEL_OK);
    return good;
}

static void what_decodes_before_damage_is_kept(void **state) {
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0};
        size_t chunk;
        unsigned all;
        make_long_chunk(&m, &chunk, compressions[c]);
        size_t stored = (size_t)load_u64le(m.data + chunk + 1), cut = chunk + stored * 3 / 4;
        memset(m.data + cut, 0xff, 600);
        struct reel_recording *r = scanned(&m);
        unsigned good = read_numbers(r, &all);
        print_message("%s: %u of %u\n", compressions[c], good, MANY);
        assert_true(good > MANY / 4 && good < MANY);
        bag_assert_finding(r, REEL_LOSS, "are kept, and may be wrong");
        done(r, &m);
    }
}

static void a_crc_of_0_is_none(void **state) {
    (void)state;
    struct maker m = {0}, records = {0};
    mcap_header(&m, "", "");
    mcap_lab_definitions(&m);
    mcap_message(&records, 1, 3, 0, "x");
    size_t chunk = mcap_chunk(&m, &records, 3, 3, "lz4");
    make_patch(&m, chunk + 33, 0, 4);
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    bag_assert_no_findings(r);
    assert_string_equal(bag_payloads(r), "x|");
    free(records.data);
    done(r, &m);
}

static void chunks_that_cannot_be_decoded_are_reported(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
        unsigned bytes;
        const char *text;
    } wrong[] = {
        {25, 66, 8, "gives more than the 66 bytes"},
        {25, 1000, 8, "gives less than the 1000 bytes"},
        {25, 1ull << 40, 8, "it would be 1099511627776 bytes decoded"},
        {41, 'x', 1, "unknown compression \"xstd\""},
        {45, 1ull << 30, 8, "its records exceed it"},
        {37, 200, 4, "its fields do not fit"},
        {53, 0, 4, "does not decode"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct maker m = {0};
        struct mcap_lab lab = mcap_make_lab(&m, "zstd");
        make_patch(&m, lab.chunk[0] + wrong[i].at, wrong[i].value, wrong[i].bytes);
        struct reel_recording *r = scanned(&m);
        bool kept = strstr(wrong[i].text, "gives less") != NULL; /* it can be decoded */
        assert_string_equal(bag_payloads(r),
                            kept ? "one|{\"n\":1}|two|{\"n\":2}|three|{\"n\":3}|" : "two|{\"n\":2}|three|{\"n\":3}|");
        bag_assert_finding(r, REEL_LOSS, wrong[i].text);
        done(r, &m);
    }
}

static void records_in_a_chunk_that_do_not_belong_there(void **state) {
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0}, records = {0};
        mcap_header(&m, "", "");
        mcap_schema(&records, 1, "T", "jsonschema", "{}");
        mcap_channel(&records, 1, 1, "/in", "json", NULL);
        mcap_metadata(&records, "odd", NULL);
        mcap_end(&records, mcap_begin(&records, 0x99));
        mcap_schema(&records, 0, "Zero", "", "");
        mcap_message(&records, 1, 4, 0, "x");
        size_t cut = mcap_message(&records, 1, 5, 0, "y");
        make_patch(&records, cut + 1, 99, 8);
        mcap_chunk(&m, &records, 4, 4, compressions[c]);
        mcap_close(&m);
        struct reel_recording *r = scanned(&m);
        assert_string_equal(bag_payloads(r), "x|");
        bag_assert_finding(r, REEL_WARNING, "1 records that do not belong into a chunk");
        bag_assert_finding(r, REEL_NOTE, "1 records of an unknown kind");
        bag_assert_finding(r, REEL_LOSS, "a schema with id 0");
        bag_assert_finding(r, REEL_LOSS, "of its bytes exceeds it");
        free(records.data);
        done(r, &m);
    }
}

static void a_chunk_too_large_for_memory_is_spooled(void **state) {
    (void)state;
    enum { SIZE = 70 << 20 };
    struct maker m = {0}, records = {0};
    mcap_header(&m, "", "");
    mcap_lab_definitions(&m);
    size_t record = mcap_message(&records, 1, 5, 0, "");
    char *zeros = calloc(1, SIZE);
    assert_non_null(zeros);
    make_bytes(&records, zeros, SIZE);
    free(zeros);
    mcap_end(&records, record);
    mcap_message(&records, 2, 6, 0, "after");
    mcap_chunk(&m, &records, 5, 6, "zstd");
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    bag_assert_finding(r, REEL_NOTE, "decodes to more than 1000 times its size");
    assert_int_equal(bag_info(r)->n_findings_total, 1);
    assert_int_equal(bag_info(r)->messages, 2);
    assert_int_equal(bag_stats(r, 0)->bytes, SIZE);
    assert_non_null(strstr(bag_payloads(r), "after|"));
    free(records.data);
    done(r, &m);
}

/* ---- messages that are wrong ---- */

static void impossible_times_are_damage(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    mcap_lab_definitions(&m);
    mcap_message(&m, 1, 1ull << 63, 0, "far");
    size_t publish = mcap_message(&m, 1, INT64_MAX, 0, "last");
    make_patch(&m, publish + 23, UINT64_MAX, 8);
    mcap_message(&m, 1, 0, 0, "first");
    mcap_end(&m, mcap_begin(&m, 0x90));
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "first|last|");
    bag_assert_finding(r, REEL_LOSS, "its log_time is after the year 2262");
    done(r, &m);
}

static void damage_between_records_costs_only_itself(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    mcap_lab_definitions(&m);
    for (unsigned i = 0; i < 10; i++) {
        char payload[8];
        snprintf(payload, sizeof payload, "m%u", i);
        size_t at = mcap_message(&m, 1, 10 + i, i, payload);
        if (i == 3) {
            make_text(&m, "garbage that is no record at all");
            make_number(&m, 0, 8);
        } else if (i == 6) {
            make_patch(&m, at + 1, 1ull << 40, 8); /* its length */
        }
    }
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), "m0|m1|m2|m3|m4|m5|m7|m8|m9|");
    assert_int_equal(bag_findings(r, REEL_LOSS, "continued after it"), 2);
    assert_int_equal(bag_info(r)->lost_bytes, 40 + 33);
    done(r, &m);
}

/* ---- what the file says of itself ---- */

static void wrong_figures_are_reported(void **state) {
    (void)state;
    struct mcap_lab lab;
    struct maker first = {0};
    lab = mcap_make_lab(&first, "");
    free(first.data);
    const struct {
        size_t at;
        unsigned bytes;
        enum reel_severity severity;
        const char *text;
    } wrong[] = {
        {lab.statistics + 9, 8, REEL_LOSS, "the statistics say 7 messages, 6 were found: 1 are lost"},
        {lab.statistics + 17, 2, REEL_WARNING, "the statistics say 0 schemas, there are 1"},
        {lab.statistics + 19, 4, REEL_WARNING, "the statistics say 3 channels, there are 2"},
        {lab.statistics + 23, 4, REEL_WARNING, "the statistics say 0 attachments, there are 1"},
        {lab.statistics + 27, 4, REEL_WARNING, "the statistics say 0 metadata records, there are 1"},
        {lab.statistics + 31, 4, REEL_WARNING, "the statistics say 2 chunks, there are 3"},
        {lab.statistics + 35, 8, REEL_WARNING, "the statistics say times"},
        {lab.statistics + 57, 8, REEL_WARNING, "have a wrong number of messages for 1 channels"},
        {lab.chunk_index + 25, 8, REEL_WARNING, "the indexes of chunks in the summary do not match"},
        {lab.chunk_index + 47, 8, REEL_WARNING, "the indexes of chunks in the summary do not match"}, /* the position of
                                                                                                         a message index
                                                                                                       */
        {lab.attachment_index + 9, 8, REEL_WARNING, "the indexes of attachments in the summary"},
        {lab.metadata_index + 9, 8, REEL_WARNING, "the indexes of metadata in the summary"},
        {lab.chunk[1] + 9, 8, REEL_WARNING, "it states times"},
        {lab.chunk[1] + 25, 8, REEL_WARNING, "bytes of records, and has"},
        {lab.chunk[2] - 8, 8, REEL_WARNING, "its message indexes do not name its messages"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct maker m = {0};
        lab = mcap_make_lab(&m, "");
        m.data[wrong[i].at] ^= 1;
        struct reel_recording *r = scanned(&m);
        assert_string_equal(bag_payloads(r), ALL_PAYLOADS);
        bag_assert_finding(r, wrong[i].severity, wrong[i].text);
        bag_assert_finding(r, REEL_WARNING, wrong[i].at > lab.summary ? "the summary's CRC" : "the data section's CRC");
        done(r, &m);
    }
}

static void wrong_ends_are_reported(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_make_lab(&m, "lz4");
    size_t whole = m.size;
    make_text(&m, "trailing");
    struct reel_recording *r = scanned(&m);
    assert_string_equal(bag_payloads(r), ALL_PAYLOADS);
    bag_assert_finding(r, REEL_WARNING, "8 bytes after the file's end");
    reel_recording_free(r);
    m.size = whole - 3;
    r = scanned(&m);
    bag_assert_finding(r, REEL_WARNING, "does not end with the magic");
    reel_recording_free(r);
    m.size = whole;
    make_patch(&m, whole - 8 - 20, 1ull << 50, 8);
    r = scanned(&m);
    assert_string_equal(bag_payloads(r), ALL_PAYLOADS);
    bag_assert_finding(r, REEL_WARNING, "the summary begins where it cannot");
    done(r, &m);
}

static void an_attachment_whose_crc_fails_is_left_out(void **state) {
    (void)state;
    struct maker m = {0};
    size_t count;
    mcap_header(&m, "", "");
    size_t bad = mcap_attachment(&m, "bad.bin", "", 5, "abc");
    mcap_attachment(&m, "good.bin", "", 6, "abc");
    size_t unchecked = mcap_attachment(&m, "unchecked.bin", "", UINT64_MAX, "abc");
    size_t broken = mcap_attachment(&m, "broken.bin", "", 6, "abc");
    m.data[bad + 9 + 16] ^= 0; /* the name's length stays */
    m.data[bad + 9 + 20] = 'B';
    make_patch(&m, m.size - (m.size - broken) - 4, 0, 4);  /* CRC 0 */
    make_patch(&m, broken + 9 + 16 + 4 + 10 + 4, 1000, 8); /* data longer than the record */
    (void)unchecked;
    mcap_close(&m);
    struct reel_recording *r = scanned(&m);
    const struct reel_attachment *all = attachments_of(r, &count);
    assert_int_equal(count, 2);
    assert_string_equal(all[0].name, "good.bin");
    assert_string_equal(all[1].name, "unchecked.bin");
    assert_int_equal(all[1].time_ns, INT64_MAX);
    bag_assert_finding(r, REEL_LOSS, "attachment \"Bad.bin\": its CRC is");
    bag_assert_finding(r, REEL_LOSS, "an attachment whose fields do not fit");
    done(r, &m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_truncated_plain_chunk_yields_its_complete_records),
        cmocka_unit_test(files_one_after_the_other_are_all_read),
        cmocka_unit_test(a_cut_compressed_chunk_is_lost_alone),
        cmocka_unit_test(a_cut_anywhere_keeps_what_is_whole),
        cmocka_unit_test(a_chunk_whose_crc_fails_is_walked),
        cmocka_unit_test(zeros_that_are_messages_are_decoded_and_others_not),
        cmocka_unit_test(what_decodes_before_damage_is_kept),
        cmocka_unit_test(a_crc_of_0_is_none),
        cmocka_unit_test(chunks_that_cannot_be_decoded_are_reported),
        cmocka_unit_test(records_in_a_chunk_that_do_not_belong_there),
        cmocka_unit_test(a_chunk_too_large_for_memory_is_spooled),
        cmocka_unit_test(impossible_times_are_damage),
        cmocka_unit_test(damage_between_records_costs_only_itself),
        cmocka_unit_test(wrong_figures_are_reported),
        cmocka_unit_test(wrong_ends_are_reported),
        cmocka_unit_test(an_attachment_whose_crc_fails_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
