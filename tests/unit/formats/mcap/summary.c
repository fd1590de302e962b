/* Summaries of MCAP files, read from the head and the summary section alone, equal the result of their scans; a file
 * without statistics, or with an inconsistent summary section, has none. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/mcap_maker.h"
#include "makers/real_samples.h"
#include "makers/summary_check.h"

#define FORMAT (&reel_format_mcap)

static struct reel_bytes made(const struct maker *m) {
    return bytes_of(m->data, m->size);
}
/* The footer without its CRC, so that the summary can be changed. */
static void forget_crc(struct maker *m) {
    make_patch(m, m->size - 12, 0, 4);
}

/* ---- like the scan ---- */

static void a_whole_file_of_every_compression(void **state) {
    (void)state;
    static const char *const compressions[] = {"", "lz4", "zstd"};
    for (unsigned c = 0; c < 3; c++) {
        struct maker m = {0};
        mcap_make_lab(&m, compressions[c]);
        INDEX *o = summary_like_scan_of(made(&m), FORMAT);
        size_t attachments;
        reel_index_attachments(o, &attachments);
        assert_int_equal(attachments, 1);
        assert_int_equal(reel_index_metadata(o)->count, 4);
        assert_int_equal(reel_index_info(o)->messages, 6);
        assert_int_equal(reel_index_stats(o, 0)->count, 3);
        assert_int_equal(reel_index_stats(o, 0)->last_ns, MCAP_T + 205); /* its chunk's: /b has the last message */
        free(m.data);
    }
}

/* A file being made: definitions, messages in chunks or not, and a summary with what the case leaves in. */
struct summary {
    uint64_t chunk_at[4], chunk_length[4], chunk_start[4], chunk_end[4], raw[4];
    uint16_t chunk_channel[4]; /* 0: its index has no message indexes */
    unsigned chunks, stated_chunks, channels, metadata, attachments;
    uint64_t messages, start, end, counts[4]; /* counts by id */
};
static void put_chunk(struct maker *m, struct summary *s, unsigned channel, uint64_t first, uint64_t last,
                      bool mapped) {
    struct maker records = {0};
    mcap_message(&records, channel, last, 0, "later");
    mcap_message(&records, channel, first, 0, "sooner");
    unsigned i = s->chunks++;
    s->chunk_at[i] = mcap_chunk(m, &records, first, last, "");
    s->chunk_length[i] = m->size - s->chunk_at[i];
    s->chunk_start[i] = first;
    s->chunk_end[i] = last;
    s->raw[i] = records.size;
    s->chunk_channel[i] = mapped ? (uint16_t)channel : 0;
    s->counts[channel] += 2;
    s->messages += 2;
    s->stated_chunks++;
    free(records.data);
}
static void put_statistics(struct maker *m, const struct summary *s) {
    size_t record = mcap_begin(m, 0x0B);
    make_number(m, s->messages, 8);
    make_number(m, 0, 2);
    make_number(m, s->channels, 4);
    make_number(m, s->attachments, 4);
    make_number(m, s->metadata, 4);
    make_number(m, s->stated_chunks, 4);
    make_number(m, s->start, 8);
    make_number(m, s->end, 8);
    make_number(m, 30, 4);
    for (unsigned id = 1; id <= 3; id++) {
        make_number(m, id, 2);
        make_number(m, s->counts[id], 8);
    }
    mcap_end(m, record);
}
static void put_chunk_index(struct maker *m, uint64_t start, uint64_t end, uint64_t at, uint64_t length, uint64_t raw,
                            const uint16_t *channels, unsigned n) {
    size_t record = mcap_begin(m, 8);
    make_number(m, start, 8);
    make_number(m, end, 8);
    make_number(m, at, 8);
    make_number(m, length, 8);
    make_number(m, 10 * n, 4);
    for (unsigned i = 0; i < n; i++) {
        make_number(m, channels[i], 2);
        make_number(m, at + length, 8);
    }
    make_number(m, 0, 8);
    mcap_text(m, "");
    make_number(m, raw, 8);
    make_number(m, raw, 8);
    mcap_end(m, record);
}
static void put_end(struct maker *m, const struct summary *s, size_t summary) {
    for (unsigned i = 0; i < s->chunks; i++) {
        put_chunk_index(m, s->chunk_start[i], s->chunk_end[i], s->chunk_at[i], s->chunk_length[i], s->raw[i],
                        &s->chunk_channel[i], s->chunk_channel[i] > 0);
    }
    mcap_footer(m, summary);
}

static const char *const of_two[] = {"k", "v", NULL};
static void put_channels(struct maker *m) {
    mcap_schema(m, 7, "T", "jsonschema", "{}");
    mcap_channel(m, 3, 7, "/three", "json", NULL);
    mcap_channel(m, 1, 0, "/one", "json", NULL);
    mcap_channel(m, 2, 7, "/two", "json", of_two);
}

static void times_are_those_of_the_chunks_of_a_channel(void **state) {
    (void)state;
    for (unsigned mapped = 0; mapped < 2; mapped++) {
        struct maker m = {0};
        struct summary s = {.channels = 3, .start = 10, .end = 90};
        mcap_header(&m, "", "");
        put_channels(&m);
        put_chunk(&m, &s, 1, 10, 20, true);
        put_chunk(&m, &s, 2, 30, 40, true);
        put_chunk(&m, &s, 1, 15, 60, mapped);
        put_chunk(&m, &s, 3, 70, 90, true);
        mcap_data_end(&m);
        size_t summary = m.size;
        put_channels(&m);
        put_statistics(&m, &s);
        put_end(&m, &s, summary);
        INDEX *o = summary_like_scan_of(made(&m), FORMAT);
        assert_string_equal(reel_index_channel(o, 0)->name, "/three");
        assert_int_equal(reel_index_stats(o, 0)->first_ns, mapped ? 70 : 15); /* it may be in the chunk that says
                                                                                 nothing */
        assert_int_equal(reel_index_stats(o, 1)->first_ns, 10);
        assert_int_equal(reel_index_stats(o, 1)->last_ns, 60);
        assert_int_equal(reel_index_stats(o, 2)->last_ns, mapped ? 40 : 60);
        free(m.data);
    }
}

static void times_are_the_recordings_where_there_is_no_better_word(void **state) {
    (void)state;
    for (unsigned way = 0; way < 3; way++) {
        struct maker m = {0};
        struct summary s = {.channels = 3, .start = 5, .end = 50};
        mcap_header(&m, "", "");
        put_channels(&m);
        if (way > 0) {
            put_chunk(&m, &s, 1, way == 1 ? 5 : 10, 50, true);
        }
        s.chunks = way == 1 ? 0 : s.chunks; /* indexed are none */
        if (way != 1) {
            mcap_message(&m, 2, 5, 0, "in no chunk");
            mcap_message(&m, 2, 50, 0, "in no chunk");
            s.counts[2] = 2;
            s.messages += 2;
        }
        mcap_data_end(&m);
        size_t summary = m.size;
        put_channels(&m);
        put_statistics(&m, &s);
        put_end(&m, &s, summary);
        INDEX *o = summary_like_scan_of(made(&m), FORMAT);
        assert_int_equal(reel_index_info(o)->messages, way == 2 ? 4 : 2);
        assert_int_equal(reel_index_stats(o, way == 1 ? 1 : 2)->first_ns, 5);
        free(m.data);
    }
}

static void channels_come_as_the_head_and_then_the_summary_have_them(void **state) {
    (void)state;
    struct maker m = {0};
    struct summary s = {.channels = 3};
    mcap_header(&m, "", "");
    mcap_schema(&m, 7, "T", "jsonschema", "{}");
    mcap_channel(&m, 2, 7, "/two", "json", of_two);
    mcap_data_end(&m);
    size_t summary = m.size;
    mcap_channel(&m, 2, 7, "/two", "json", of_two);
    mcap_channel(&m, 3, 7, "/three", "json", NULL);
    mcap_channel(&m, 1, 8, "/one", "json", NULL);
    size_t schema = m.size;
    mcap_schema(&m, 8, "U", "jsonschema", "{\"late\":1}");
    put_statistics(&m, &s);
    put_end(&m, &s, summary);
    INDEX *o = summary_like_scan_of(made(&m), FORMAT);
    assert_string_equal(reel_index_channel(o, 0)->name, "/two");
    assert_string_equal(reel_index_channel(o, 2)->schemas[0].name, "U");
    forget_crc(&m);
    make_patch(&m, schema + 9, 9, 2); /* another schema's number */
    summary_refused(made(&m), FORMAT, "schema 8 is not in the summary");
    free(m.data);
}

/* What Reel writes: its own metadata tells the clock, and keys that MCAP has no field for. */
static void the_clock_is_in_the_metadata(void **state) {
    (void)state;
    static const char *const own[] = {"reel.clock", "relative", "by", "hand", NULL}, *const keys[] = {"reel.encoding",
                                                                                                      "odd", NULL};
    for (unsigned indexed = 0; indexed < 2; indexed++) {
        struct maker m = {0};
        struct summary s = {.channels = 1, .metadata = 1};
        mcap_header(&m, "", "reel 9");
        mcap_channel(&m, 1, 0, "/one", "json", keys);
        size_t metadata = mcap_metadata(&m, "reel", own), length = m.size - metadata;
        mcap_data_end(&m);
        size_t summary = m.size;
        mcap_channel(&m, 1, 0, "/one", "json", keys);
        put_statistics(&m, &s);
        if (indexed) {
            size_t record = mcap_begin(&m, 0x0D);
            make_number(&m, metadata, 8);
            make_number(&m, length, 8);
            mcap_text(&m, "reel");
            mcap_end(&m, record);
        }
        put_end(&m, &s, summary);
        if (indexed) {
            INDEX *o = summary_like_scan_of(made(&m), FORMAT);
            assert_int_equal(reel_index_info(o)->clock, REEL_CLOCK_RELATIVE);
            assert_string_equal(reel_index_channel(o, 0)->encoding, "odd");
            assert_int_equal(reel_index_metadata(o)->count, 1);
        } else {
            summary_refused(made(&m), FORMAT, "1 metadata records; indexed are 0, 0, 0");
        }
        free(m.data);
    }
}

static void attachments_without_index_are_left_out(void **state) {
    (void)state;
    struct maker m = {0};
    struct summary s = {.attachments = 1};
    mcap_header(&m, "", "");
    mcap_attachment(&m, "a", "text/plain", 5000, "data");
    mcap_data_end(&m);
    size_t summary = m.size, count;
    put_statistics(&m, &s);
    put_end(&m, &s, summary);
    AUTO(reel_source_free) struct reel_source *source = in_memory(made(&m));
    INDEX *o = summary_of(&source, 1, FORMAT);
    reel_index_attachments(o, &count);
    assert_int_equal(count, 0);
    free(m.data);
}

static void several_files_are_one_recording(void **state) {
    (void)state;
    struct maker m = {0}, n = {0};
    struct reel_source *parts[2];
    mcap_make_lab(&m, "lz4");
    mcap_make_lab(&n, "");
    parts[0] = in_memory(made(&m));
    parts[1] = in_memory(made(&n));
    INDEX *o = summary_like_scan(parts, 2, FORMAT);
    assert_int_equal(reel_index_info(o)->n_channels, 2);
    assert_int_equal(reel_index_info(o)->messages, 12);
    reel_source_free(parts[1]);
    parts[1] = in_memory(bytes_of(n.data, n.size - 1));
    struct reel_error err = {0};
    assert_false(reel_scan_summary(parts, 2, FORMAT, REEL_SCRATCH "/summary.pack", NULL, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "made: the file does not end with a footer"));
    reel_source_free(parts[0]);
    reel_source_free(parts[1]);
    free(m.data);
    free(n.data);
}

/* ---- refused ---- */

static void files_without_an_index_have_no_summary(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_header(&m, "", "");
    put_channels(&m);
    summary_refused(made(&m), FORMAT, "does not end with a footer");
    mcap_close(&m);
    summary_refused(made(&m), FORMAT, "has no summary");
    m.size = 0;
    mcap_header(&m, "", "");
    mcap_data_end(&m);
    size_t summary = m.size;
    put_channels(&m);
    mcap_footer(&m, summary);
    summary_refused(made(&m), FORMAT, "has no statistics");
    m.size = 0;
    mcap_magic(&m);
    mcap_close(&m);
    summary_refused(made(&m), FORMAT, "does not begin with a header");
    free(m.data);
}

static void claims_that_cannot_be(void **state) {
    (void)state;
    struct maker m = {0};
    struct mcap_lab lab = mcap_make_lab(&m, "");
    size_t s = lab.statistics, c = lab.chunk_index, a = lab.attachment_index, d = lab.metadata_index;
    const struct {
        size_t at;
        uint64_t value;
        unsigned size;
        const char *words;
    } claims[] = {
        {s + 9, 7, 8, "do not agree with themselves"},
        {s + 9, UINT64_MAX, 8, "too small for"},
        {s + 19, 3, 4, "count 3 channels, the summary has 2"},
        {s + 23, 2, 4, "2 attachments"},
        {s + 27, 0, 4, "0 metadata records"},
        {s + 31, 4, 4, "count 4 chunks"},
        {s + 35, MCAP_T + 300, 8, "are not valid"},
        {s + 43, UINT64_MAX, 8, "are not valid"},
        {s + 55, 9, 2, "of channel 9"},
        {s + 57, 7, 8, "of channel 1"},
        {s + 57, UINT64_MAX, 8, "of channel 1"},
        {s + 51, 19, 4, "no sound statistics"},
        {c + 25, UINT64_MAX, 8, "not refer to a possible chunk"},
        {c + 33, UINT64_MAX, 8, "not refer to a possible chunk"},
        {c + 9, MCAP_T + 6, 8, "not refer to a possible chunk"},
        {c + 41, 19, 4, "not refer to a possible chunk"},
        {a + 9, UINT64_MAX, 8, "not refer to a possible attachment"},
        {a + 17, 40, 8, "has no room"},
        {a + 41, 1000, 8, "has no room"},
        {a + 41, UINT64_MAX, 8, "has no room"},
        {d + 9, lab.attachment, 8, "is not the metadata that its index lists"},
        {d + 17, 8, 8, "has 8 bytes"},
        {d + 25 + 4, 'x', 1, "is not the metadata that its index lists"},
        {d + 17, UINT64_MAX, 8, "not refer to a possible record"},
        {d + 1, UINT64_MAX, 8, "of the summary is none"},
    };
    summary_refused(bytes_of(m.data, m.size - 1), FORMAT, "does not end with a footer");
    make_patch(&m, s + 9, 7, 8);
    summary_refused(made(&m), FORMAT, "CRC does not hold");
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        m.size = 0;
        mcap_make_lab(&m, "");
        forget_crc(&m);
        INDEX *o = summary_like_scan_of(made(&m), FORMAT);
        make_patch(&m, claims[i].at, claims[i].value, claims[i].size);
        summary_refused(made(&m), FORMAT, claims[i].words);
    }
    free(m.data);
}

static void hurt_at_every_byte(void **state) {
    (void)state;
    struct maker m = {0};
    struct mcap_lab lab = mcap_make_lab(&m, "lz4");
    assert_int_equal(summary_hurt(made(&m), lab.summary, FORMAT).summarized, 0); /* its CRC knows */
    struct summary_answers all = {0};
    forget_crc(&m);
    assert_true(summary_hurt(made(&m), lab.summary, FORMAT).summarized > 0); /* a changed name is the summary's word */
    for (size_t i = 0; i < lab.chunk[0]; i++) {
        m.data[i] ^= 0xff;
        summary_any(made(&m), FORMAT, &all);
        m.data[i] ^= 0xff;
    }
    free(m.data);
}

static void can_be_cancelled(void **state) {
    (void)state;
    struct maker m = {0};
    mcap_make_lab(&m, "");
    summary_cancelled(made(&m), FORMAT);
    free(m.data);
}

/* ---- files ---- */

static void golden_files(void **state) {
    (void)state;
    struct summarized sum = {0};
    assert_true(summary_folder(REEL_TESTS "/golden/mcap", "/input.mcap", FORMAT, (const char *const[]){NULL}, &sum));
    assert_true(sum.same >= 3 && sum.refused >= 24); /* plain, zstd and lz4 have a whole summary */
}

static void real_samples(void **state) {
    (void)state;
    static const char *const none[] = {NULL};
    struct summarized sum = {0};
    if (!summary_folder(REEL_TESTS "/../../shared/samples/mcap", ".mcap", FORMAT, none, &sum) ||
        !summary_folder(REEL_TESTS "/../../shared/samples/rosbag2", ".mcap", FORMAT, none, &sum)) {
        SAMPLES_SKIPPED(177);
    }
    assert_int_equal(sum.same, 43);
    assert_int_equal(sum.damaged, 0);
    assert_int_equal(sum.refused, 134); /* conformance files without statistics, or whose summary lacks the channels or
                                           schemas */
}

/* ---- 20 GB ---- */

enum { BIG_CHUNKS = 20000, BIG_CHUNK = 1000000, BIG_CHANNELS = 20 };

static void make_big_summary(struct maker *m, uint64_t first_chunk) {
    static uint16_t ids[BIG_CHANNELS];
    mcap_schema(m, 7, "T", "jsonschema", "{}");
    for (unsigned i = 0; i < BIG_CHANNELS; i++) {
        char topic[16];
        snprintf(topic, sizeof topic, "/topic%u", i);
        mcap_channel(m, i, 7, topic, "json", NULL);
        ids[i] = (uint16_t)i;
    }
    size_t record = mcap_begin(m, 0x0B);
    make_number(m, BIG_CHUNKS * (uint64_t)BIG_CHANNELS, 8);
    make_number(m, 1, 2);
    make_number(m, BIG_CHANNELS, 4);
    make_number(m, 0, 4);
    make_number(m, 0, 4);
    make_number(m, BIG_CHUNKS, 4);
    make_number(m, MCAP_T, 8);
    make_number(m, MCAP_T + BIG_CHUNKS * 1000ull - 1, 8);
    make_number(m, 10 * BIG_CHANNELS, 4);
    for (unsigned i = 0; i < BIG_CHANNELS; i++) {
        make_number(m, i, 2);
        make_number(m, BIG_CHUNKS, 8);
    }
    mcap_end(m, record);
    for (uint64_t i = 0; i < BIG_CHUNKS; i++) {
        put_chunk_index(m, MCAP_T + 1000 * i, MCAP_T + 1000 * i + 999, first_chunk + i * BIG_CHUNK, BIG_CHUNK,
                        BIG_CHUNK - 49, ids, i % 2 ? BIG_CHANNELS : BIG_CHANNELS / 2);
    }
}

static void twenty_gigabytes_of_holes(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/big.mcap";
    struct maker head = {0}, tail = {0};
    mcap_header(&head, "", "holes");
    uint64_t begin = head.size, data_end = begin + (uint64_t)BIG_CHUNKS * BIG_CHUNK;
    assert_true(data_end >= UINT64_C(20) * 1000 * 1000 * 1000);
    size_t record = mcap_begin(&tail, 0x0F);
    make_number(&tail, 0, 4);
    mcap_end(&tail, record);
    size_t summary = tail.size;
    make_big_summary(&tail, begin);
    size_t size = tail.size - summary;
    record = mcap_begin(&tail, 2);
    make_number(&tail, data_end + summary, 8);
    make_number(&tail, 0, 8);
    make_patch(&tail, record + 1, 20, 8);
    make_number(&tail, crc32(0, tail.data + summary, (unsigned)(tail.size - summary)), 4);
    mcap_magic(&tail);
    struct large large = {.file = fopen(path, "we")};
    assert_non_null(large.file);
    large_put(&large, head.data, head.size);
    large.at = data_end;
    large_put(&large, tail.data, tail.size);
    assert_int_equal(fclose(large.file), 0);
    free(head.data);
    free(tail.data);
    INDEX *o = large_summary(path, FORMAT, size + (256 << 10)); /* every byte of the summary once, and the head */
    unlink(path);
    assert_int_equal(reel_index_info(o)->n_channels, BIG_CHANNELS);
    assert_int_equal(reel_index_info(o)->messages, BIG_CHUNKS * (uint64_t)BIG_CHANNELS);
    assert_int_equal(reel_index_info(o)->start_ns, MCAP_T);
    assert_int_equal(reel_index_info(o)->end_ns, MCAP_T + BIG_CHUNKS * 1000ull - 1);
    assert_string_equal(reel_index_channel(o, 19)->name, "/topic19");
    assert_int_equal(reel_index_stats(o, 19)->first_ns, MCAP_T + 1000); /* of the second chunk on */
    assert_int_equal(reel_index_stats(o, 19)->count, BIG_CHUNKS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_of_every_compression),
        cmocka_unit_test(times_are_those_of_the_chunks_of_a_channel),
        cmocka_unit_test(times_are_the_recordings_where_there_is_no_better_word),
        cmocka_unit_test(channels_come_as_the_head_and_then_the_summary_have_them),
        cmocka_unit_test(the_clock_is_in_the_metadata),
        cmocka_unit_test(attachments_without_index_are_left_out),
        cmocka_unit_test(several_files_are_one_recording),
        cmocka_unit_test(files_without_an_index_have_no_summary),
        cmocka_unit_test(claims_that_cannot_be),
        cmocka_unit_test(hurt_at_every_byte),
        cmocka_unit_test(can_be_cancelled),
        cmocka_unit_test(golden_files),
        cmocka_unit_test(real_samples),
        cmocka_unit_test(twenty_gigabytes_of_holes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
