/* Summaries of ROS bags 2.0 equal the result of their scans, from the header and the end of the file alone; an index
 * that does not hold together is none. */
#include "base/bytes.h"
#include "makers/real_samples.h"
#include "makers/rosbag2_0_maker.h"
#include "makers/summary_check.h"

#define BAG __attribute__((cleanup(make2_free))) struct make2
#define FORMAT (&reel_format_rosbag_v2)

static struct reel_bytes bytes_made(const struct make2 *b) {
    return bytes_of(b->out.data, b->out.size);
}
static size_t index_pos_of(const struct make2 *b) {
    return (size_t)load_u64le(b->out.data + b->index_pos_at);
}

/* ---- like the scan ---- */

static void every_compression_is_summarized_as_scanned(void **state) {
    (void)state;
    static const char *const compressions[] = {"none", "bz2", "lz4"};
    for (unsigned i = 0; i < 3; i++) {
        BAG b;
        make2_ten(&b, compressions[i]);
        INDEX *o = summary_like_scan_of(bytes_made(&b), FORMAT);
        assert_int_equal(reel_index_info(o)->n_channels, 2);
        assert_int_equal(reel_index_info(o)->messages, 10);
        assert_string_equal(reel_index_channel(o, 1)->name, "/b");
        assert_int_equal(reel_index_stats(o, 1)->count, 5);
        assert_int_equal(reel_index_stats(o, 1)->first_ns, 1500000000000000000); /* its chunk's: /a began a second
                                                                                    before */
        assert_int_equal(reel_index_info(o)->end_ns, 1500000009000000000);
        assert_string_equal(reel_index_info(o)->container, "#ROSBAG V2.0");
    }
}

static void no_messages(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "none");
    make2_end(&b);
    INDEX *o = summary_like_scan_of(bytes_made(&b), FORMAT);
    assert_int_equal(reel_index_info(o)->n_channels, 0);
    make_patch(&b.out, b.chunk_count_at, 1, 4);
    summary_refused(bytes_made(&b), FORMAT, "counts 0 connections and 1 chunks");
}

/* Latching, callers, a connection without messages, one that was remapped, wrapped ones; numbers that are not dense. */
static void every_kind_of_connection(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "lz4");
    make2_connection(&b, 9, "/rosout", "/one", "1");
    make2_connection(&b, 4000000000u, "/rosout", "/two", "0");
    make2_connection(&b, 7, "/idle", NULL, NULL);
    struct maker inner = {0};
    make_field_text(&inner, "topic", "/before");
    make_field_text(&inner, "type", MAKE_TYPE);
    make_field_text(&inner, "my own", "field=value");
    make2_connection_of(&b, 256, "/after", &inner);
    free(inner.data);
    make2_message(&b, 4000000000u, 1500000001, "b");
    make2_message(&b, 9, 1500000000, "a");
    make2_close(&b);
    make2_close(&b); /* a chunk without a message */
    make2_message(&b, 256, 1400000002, "c");
    make2_message(&b, 9, 1400000003, "d");
    make2_close(&b);
    make2_end(&b);
    INDEX *o = summary_like_scan_of(bytes_made(&b), FORMAT);
    assert_int_equal(reel_index_info(o)->n_channels, 4);
    assert_string_equal(reel_index_channel(o, 3)->name, "/idle");
    assert_string_equal(reel_index_channel(o, 0)->metadata.items[0].value, "/two"); /* as the messages came */
    assert_true(reel_index_channel(o, 1)->latched);
    assert_int_equal(reel_index_info(o)->start_ns, 1400000002000000000); /* chunks not in the order of time */
    BAG f;
    make2_begin(&f, "none");
    make2_foreign(&f);
    make2_end(&f);
    INDEX *p = summary_like_scan_of(bytes_made(&f), FORMAT);
    assert_string_equal(reel_index_channel(p, 0)->encoding, "protobuf");
    assert_int_equal(reel_index_channel(p, 0)->n_topics, 2);
}

static void most_messages_determine_the_clock(void **state) {
    (void)state;
    for (uint32_t late = 0; late < 2; late++) {
        BAG b;
        make2_begin(&b, "none");
        make2_connection(&b, 0, "/a", NULL, NULL);
        make2_message(&b, 0, 3, "near zero");
        make2_message(&b, 0, late ? 1500000000 : 5, "or not");
        make2_close(&b);
        make2_end(&b);
        if (late) {
            summary_refused(bytes_made(&b), FORMAT, "the clock is unknown until a scan");
        } else {
            INDEX *o = summary_like_scan_of(bytes_made(&b), FORMAT);
            assert_int_equal(reel_index_info(o)->clock, REEL_CLOCK_RELATIVE);
        }
    }
}

static void an_encrypted_bag_has_the_same_report_as_in_a_scan(void **state) {
    (void)state;
    BAG b = {0};
    make2_sealed(&b);
    INDEX *o = summary_like_scan_of(bytes_made(&b), FORMAT);
    assert_int_equal(reel_index_metadata(o)->count, 4); /* encryptor, gpg_user, two chunks */
}

/* ---- refused ---- */

static void unfinished_bags_have_no_summary(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "none");
    make_patch(&b.out, b.index_pos_at, 0, 8);
    summary_refused(bytes_made(&b), FORMAT, "was not closed");
    make_patch(&b.out, b.index_pos_at, b.out.size + 1, 8);
    summary_refused(bytes_made(&b), FORMAT, "where it cannot");
    make_patch(&b.out, b.index_pos_at, 20, 8);
    summary_refused(bytes_made(&b), FORMAT, "where it cannot");
    make_patch(&b.out, b.index_pos_at, b.chunk_at, 8);
    summary_refused(bytes_made(&b), FORMAT, "not part of it");
}

/* One chunk with these rows, at `chunk_pos`. */
static void make_claim(struct make2 *b, uint64_t chunk_pos, uint32_t conn, uint32_t count, uint64_t start,
                       uint64_t end) {
    struct maker rows = {0};
    make2_begin(b, "none");
    make2_connection(b, 0, "/a", NULL, NULL);
    make2_message(b, 0, 1500000000, "one");
    make2_close(b);
    make_number(&rows, conn, 4);
    make_number(&rows, count, 4);
    b->infos.size = 0;
    make2_info_record(&b->infos, chunk_pos ? chunk_pos : b->chunk_at, start, end, 1, &rows);
    make2_end(b);
    free(rows.data);
}
static void claims_that_cannot_be(void **state) {
    (void)state;
    uint64_t t = make2_time(1500000000, 0);
    const struct {
        uint64_t chunk_pos, start, end;
        uint32_t conn, count;
        const char *words;
    } claims[] = {
        {0, t, t, 0, 1, NULL},
        {1 << 20, t, t, 0, 1, "where no chunk can be"},
        {40, t, t, 0, 1, "where no chunk can be"},
        {0, t, t, 5, 1, "connection 5, which"},
        {0, t, t, 0, UINT32_MAX, "cannot be"},
        {0, t, make2_time(1400000000, 0), 0, 1, "are not valid"},
        {0, make2_time(1500000000, 1000000000), make2_time(1500000001, 0), 0, 1, "are not valid"},
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        BAG b;
        make_claim(&b, claims[i].chunk_pos, claims[i].conn, claims[i].count, claims[i].start, claims[i].end);
        if (claims[i].words) {
            summary_refused(bytes_made(&b), FORMAT, claims[i].words);
        } else {
            INDEX *o = summary_like_scan_of(bytes_made(&b), FORMAT);
            assert_int_equal(reel_index_info(o)->messages, 1);
        }
    }
}

static void chunk_infos_twice_or_out_of_order(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "none");
    size_t half = b.infos.size / 2;
    uint8_t first[256];
    assert_true(half < sizeof first);
    uint8_t *infos = b.out.data + b.out.size - 2 * half;
    memcpy(first, infos, half);
    memmove(infos, infos + half, half);
    memcpy(infos + half, first, half);
    summary_refused(bytes_made(&b), FORMAT, "order of the chunks");
    memcpy(infos, first, half);
    summary_refused(bytes_made(&b), FORMAT, "order of the chunks");
    BAG c;
    make2_ten(&c, "none");
    make_bytes(&c.out, c.conns.data, c.conns.size); /* connections described twice */
    make_patch(&c.out, c.conn_count_at, 4, 4);
    summary_refused(bytes_made(&c), FORMAT, "the index has 2 and 2");
}

static void hurt_at_every_byte(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "lz4");
    assert_true(summary_hurt(bytes_made(&b), index_pos_of(&b), FORMAT).summarized > 0); /* a changed name or count is
                                                                                           the index's word */
    BAG s = {0};
    struct summary_answers all = {0};
    make2_sealed(&s);
    for (size_t i = 0; i < s.out.size; i++) {
        s.out.data[i] ^= 0xff;
        summary_any(bytes_made(&s), FORMAT, &all);
        s.out.data[i] ^= 0xff;
    }
}

static void can_be_cancelled(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "none");
    summary_cancelled(bytes_made(&b), FORMAT);
}

/* ---- files ---- */

static void golden_bags(void **state) {
    (void)state;
    struct summarized sum = {0};
    assert_true(
        summary_folder(REEL_TESTS "/golden/rosbag-2.0", "/input.bag", FORMAT, (const char *const[]){NULL}, &sum));
    assert_true(sum.same >= 15 && sum.refused >= 7);
}

static void real_samples(void **state) {
    (void)state;
    struct summarized sum = {0};
    if (!summary_folder(REEL_TESTS "/../../shared/samples/rosbag2.0", ".bag", FORMAT, (const char *const[]){NULL},
                        &sum)) {
        SAMPLES_SKIPPED(6);
    }
    assert_int_equal(sum.same, 6);
    assert_int_equal(sum.refused + sum.damaged, 0);
}

/* ---- 20 GB ---- */

enum { BIG_CHUNKS = 26000, BIG_CONNECTIONS = 20, BIG_CHUNK = 800000 };

/* The index of a bag of 26000 chunks with twenty connections in each. */
static void make_big_index(struct maker *m, uint64_t first_chunk) {
    struct maker rows = {0}, inner = {0};
    make_field_text(&inner, "md5sum", MAKE_MD5);
    make_field_text(&inner, "message_definition", MAKE_DEF);
    make_field_text(&inner, "type", MAKE_TYPE);
    for (uint32_t id = 0; id < BIG_CONNECTIONS; id++) {
        char topic[16];
        snprintf(topic, sizeof topic, "/topic%u", id);
        make2_connection_record(m, id, topic, &inner);
        make_number(&rows, id, 4);
        make_number(&rows, id + 1, 4);
    }
    for (uint32_t i = 0; i < BIG_CHUNKS; i++) {
        make2_info_record(m, first_chunk + (uint64_t)i * BIG_CHUNK, make2_time(1500000000 + i, 0),
                          make2_time(1500000000 + i, 999999999), BIG_CONNECTIONS, &rows);
    }
    free(rows.data);
    free(inner.data);
}

static void twenty_gigabytes_of_holes(void **state) {
    (void)state;
    const char *path = REEL_SCRATCH "/big.bag";
    BAG b;
    struct maker index = {0}, nothing = {0};
    make2_begin(&b, "none");
    uint64_t begin = b.out.size, index_pos = begin + (uint64_t)BIG_CHUNKS * BIG_CHUNK;
    make_big_index(&index, begin);
    make_patch(&b.out, b.index_pos_at, index_pos, 8);
    make_patch(&b.out, b.conn_count_at, BIG_CONNECTIONS, 4);
    make_patch(&b.out, b.chunk_count_at, BIG_CHUNKS, 4);
    assert_true(index_pos > UINT64_C(20) * 1000 * 1000 * 1000);
    struct large large = {.file = fopen(path, "we")};
    assert_non_null(large.file);
    large_put(&large, b.out.data, (size_t)begin);
    b.out.size = (size_t)begin;
    size_t chunk = make2_chunk_record(&b.out, "none", BIG_CHUNK, &nothing), head = b.out.size - chunk;
    make_patch(&b.out, b.out.size - 4, BIG_CHUNK - head, 4);
    for (uint32_t i = 0; i < BIG_CHUNKS; i += 1000) {
        large.at = begin + (uint64_t)i * BIG_CHUNK;
        large_put(&large, b.out.data + chunk, head);
    }
    large.at = index_pos;
    large_put(&large, index.data, index.size);
    assert_int_equal(fclose(large.file), 0);
    INDEX *o = large_summary(path, FORMAT, index.size + (128 << 10)); /* every byte of the index once, and the head */
    unlink(path);
    assert_int_equal(reel_index_info(o)->n_channels, BIG_CONNECTIONS);
    assert_int_equal(reel_index_info(o)->messages, (uint64_t)BIG_CHUNKS * BIG_CONNECTIONS * (BIG_CONNECTIONS + 1) / 2);
    assert_int_equal(reel_index_info(o)->start_ns, 1500000000000000000);
    assert_int_equal(reel_index_info(o)->end_ns, 1500000000999999999 + (BIG_CHUNKS - 1) * INT64_C(1000000000));
    assert_int_equal(reel_index_stats(o, 3)->count, 4 * BIG_CHUNKS);
    assert_string_equal(reel_index_channel(o, 3)->name, "/topic3");
    free(index.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_compression_is_summarized_as_scanned),
        cmocka_unit_test(no_messages),
        cmocka_unit_test(every_kind_of_connection),
        cmocka_unit_test(most_messages_determine_the_clock),
        cmocka_unit_test(an_encrypted_bag_has_the_same_report_as_in_a_scan),
        cmocka_unit_test(unfinished_bags_have_no_summary),
        cmocka_unit_test(claims_that_cannot_be),
        cmocka_unit_test(chunk_infos_twice_or_out_of_order),
        cmocka_unit_test(hurt_at_every_byte),
        cmocka_unit_test(can_be_cancelled),
        cmocka_unit_test(golden_bags),
        cmocka_unit_test(real_samples),
        cmocka_unit_test(twenty_gigabytes_of_holes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
