/* Damaged ROS bags 2.0: crashed recorders, cut files, chunks that do not decode, lengths that lie, garbage – what is
 * whole is kept, what is lost is reported. */
#define BAG_FORMAT &reel_format_rosbag_v2
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/bag_scan.h"
#include "makers/rosbag2_0_maker.h"

#define BAG __attribute__((cleanup(make2_free))) struct make2
#define RECORDING AUTO(reel_recording_free) struct reel_recording

static const char all_ten[] = "m0|m1|m2|m3|m4|m5|m6|m7|m8|m9|";
static const char *const compressions[] = {"none", "bz2", "lz4"};
enum { COMPRESSIONS = 3 };

/* Ten messages whose recorder crashed: nothing at the end, and no places in the header. */
static void make_crashed(struct make2 *b, const char *compression) {
    make2_ten(b, compression);
    b->out.size -= b->conns.size + b->infos.size;
    make_patch(&b->out, b->index_pos_at, 0, 8);
    make_patch(&b->out, b->conn_count_at, 0, 4);
    make_patch(&b->out, b->chunk_count_at, 0, 4);
}

/* The chunks of make2_ten(). */
static size_t first_chunk(const struct make2 *b) {
    (void)b;
    return 4117;
}
static size_t position_of(const struct maker *m, const char *text) {
    uint8_t *p = memmem(m->data, m->size, text, strlen(text));
    assert_non_null(p);
    return (size_t)(p - m->data);
}

static void crashed_recorders_leave_all(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        BAG b;
        make_crashed(&b, compressions[i]);
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_payloads(r), all_ten);
        assert_false(bag_info(r)->damaged);
        bag_assert_finding(r, REEL_NOTE, "was not closed");
        assert_int_equal(bag_findings(r, REEL_WARNING, ""), 0);
    }
}

/* The recorder writes a chunk's lengths when it closes it. */
static void chunks_never_finished(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        BAG b;
        make_crashed(&b, compressions[i]);
        make_patch(&b.out, b.chunk_data - 4, 0, 4); /* data length */
        make_patch(&b.out, b.chunk_data - 8, 0, 4); /* the field `size` */
        if (i == 0) {
            b.out.size = position_of(&b.out, "m8") + 1; /* cut in the last but one message; index data come only after a
                                                           chunk is closed */
        }
        RECORDING *r = bag_scan(&b.out);
        if (i == 0) {
            assert_string_equal(bag_payloads(r), "m0|m1|m2|m3|m4|m5|m6|m7|");
            bag_assert_finding(r, REEL_NOTE, "was never finished");
        } else {
            assert_string_equal(bag_payloads(r), "m0|m1|m2|m3|m4|");
        }
        assert_true(bag_info(r)->damaged);
    }
}

/* Cut anywhere: no message that lies whole before the cut is lost, and no cut before the index goes untold. */
static void cut_anywhere(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "none");
    size_t ends[10], tail = b.out.size - b.conns.size - b.infos.size;
    for (unsigned i = 0; i < 10; i++) {
        const char text[] = {'m', (char)('0' + i), 0};
        ends[i] = position_of(&b.out, text) + 2;
    }
    for (size_t size = 14; size < b.out.size; size += size < 4000 ? 397 : 7) {
        uint64_t whole = 0;
        for (unsigned i = 0; i < 10; i++) {
            whole += ends[i] <= size;
        }
        AUTO_MEM uint8_t *cut = malloc(size);
        memcpy(cut, b.out.data, size);
        struct reel_error err = {0};
        RECORDING *r = bag_try(bytes_of(cut, size), &err);
        if (!r) { /* nothing is kept, which is an error only when nothing was there */
            assert_int_equal(whole, 0);
            assert_true(size < tail && err.code == REEL_DAMAGED);
            continue;
        }
        assert_int_equal(bag_info(r)->messages, whole);
        if (bag_info(r)->damaged != (size < tail)) {
            fail_msg("cut at %zu: %s", size, bag_info(r)->damaged ? "damaged" : "not damaged");
        }
    }
}

static void a_compressed_chunk_that_is_cut(void **state) {
    (void)state;
    for (unsigned i = 1; i < COMPRESSIONS; i++) {
        BAG b;
        make_crashed(&b, compressions[i]);
        b.out.size = b.chunk_data + 20;
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_payloads(r), "m0|m1|m2|m3|m4|");
        bag_assert_finding(r, REEL_LOSS, "truncated at byte");
    }
}

enum { ZEROS = 40 << 20 };

/* A chunk of bzip2 that holds these bytes; 40 MiB of zeros are some 100 bytes. */
static void add_packed(struct make2 *b, const struct maker *raw) {
    struct maker packed = make2_packed("bz2", raw);
    make2_chunk_record(&b->out, "bz2", raw->size, &packed);
    free(packed.data);
}
static struct maker zeros(void) {
    struct maker m = {0};
    uint8_t *none = calloc(1, ZEROS);
    make_bytes(&m, none, ZEROS);
    free(none);
    return m;
}

/* What expands beyond 1000:1 and holds no records is not decoded: that is found out from its beginning. */
static void chunks_that_expand_to_nothing_are_not_decoded(void **state) {
    (void)state;
    BAG b;
    make_crashed(&b, "bz2");
    struct maker raw = zeros();
    for (int i = 0; i < 3; i++) {
        add_packed(&b, &raw);
        b.out.data[b.out.size - 2] ^= 0xff; /* its end does not decode */
    }
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), all_ten);
    assert_int_equal(
        bag_findings(r, REEL_LOSS,
                     "decode to more than 1000 times as many, and no records begin in it: it is not decoded"),
        1);
    assert_int_equal(bag_findings(r, REEL_LOSS, "an earlier such chunk held no records"), 2);
    free(raw.data);
}

/* A header that states less does not help. */
static void chunks_that_lie_about_their_expansion_are_bounded(void **state) {
    (void)state;
    BAG b;
    make_crashed(&b, "bz2");
    struct maker raw = zeros(), packed = make2_packed("bz2", &raw);
    make2_chunk_record(&b.out, "bz2", 1000, &packed);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), all_ten);
    assert_int_equal(bag_findings(r, REEL_LOSS, ""), 1);
    free(packed.data);
    free(raw.data);
}

/* A camera in the dark. */
static void recordings_of_zeros_are_read(void **state) {
    (void)state;
    BAG b;
    make_crashed(&b, "bz2");
    struct maker none = zeros(), raw = {0};
    for (uint32_t i = 0; i < 2; i++) {
        make2_message_record(&raw, 0, 100 + i, 0, none.data, none.size / 2);
    }
    add_packed(&b, &raw);
    add_packed(&b, &raw);
    RECORDING *r = bag_scan(&b.out);
    assert_int_equal(bag_info(r)->messages, 14);
    assert_int_equal(bag_findings(r, REEL_LOSS, ""), 0);
    assert_int_equal(bag_findings(r, REEL_NOTE, "decodes to more than 1000 times its size"), 1);
    free(none.data);
    free(raw.data);
}

static void a_chunk_that_does_not_decode_is_lost_alone(void **state) {
    (void)state;
    for (unsigned i = 1; i < COMPRESSIONS; i++) {
        BAG b;
        make2_ten(&b, compressions[i]);
        size_t at = position_of(&b.out, i == 1 ? "BZh9" : "\x04\x22\x4d\x18");
        b.out.data[at + 30] ^= 0x40;
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_payloads(r), "m5|m6|m7|m8|m9|");
        assert_string_equal(bag_channel(r, 0)->name, "/b"); /* from the end of the file */
        bag_assert_finding(r, REEL_LOSS,
                           i == 1 ? "its 5 messages are lost" : "0 messages of its first 550 bytes are kept");
        assert_int_equal(bag_findings(r, REEL_WARNING, ""), 0);
        assert_true(bag_info(r)->lost_bytes > 100);
    }
}

/* A chunk of several blocks; the last quarter of it is damaged. */
static void what_decodes_before_damage_is_kept(void **state) {
    (void)state;
    enum { MANY = 3000, LONG = 600 };
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        BAG b;
        make2_begin(&b, compressions[i]);
        make2_connection(&b, 0, "/a", NULL, NULL);
        uint32_t x = 1;
        for (uint32_t k = 0; k < MANY; k++) {
            char text[LONG + 1];
            for (unsigned n = 0; n < LONG; n++) {
                x = x * 1664525 + 1013904223;
                text[n] = (char)('A' + (x >> 24) % 58);
            }
            text[LONG] = '\0';
            make2_message(&b, 0, 1500000000 + k, text);
        }
        make2_close(&b);
        size_t end = b.out.size;
        make2_end(&b);
        memset(b.out.data + first_chunk(&b) + (end - first_chunk(&b)) * 3 / 4, 0xff, 700);
        RECORDING *r = bag_scan(&b.out);
        struct reel_error err = {0};
        AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
        assert_non_null(s);
        struct reel_message message;
        unsigned read = 0;
        while (stream_next(s, &message, &err) == REEL_STEP_MESSAGE) {
            struct reel_bytes payload;
            assert_true(reel_stream_payload(s, &message, &payload, &err));
            read += payload.size == LONG;
        }
        print_message("%s: %u of %d\n", compressions[i], read, MANY);
        assert_true(read > MANY / 3 && read < (i == 0 ? MANY + 1 : MANY)); /* one block of bz2 has half of them */
        if (i > 0) {
            bag_assert_finding(r, REEL_LOSS, "are kept, and may be wrong");
        }
    }
}

static void a_compression_that_is_not_known(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "none");
    memcpy(b.out.data + position_of(&b.out, "=none") + 1, "zap\n", 4);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), "m5|m6|m7|m8|m9|");
    bag_assert_finding(r, REEL_LOSS, "unknown compression \"zap\n\"; its 5 messages are lost");
}

/* The messages that it seems to swallow are found in it. */
static void a_message_whose_length_lies(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        for (uint32_t length = 0; length < 140; length += i == 0 ? 1 : 17) {
            BAG b;
            make2_begin(&b, compressions[i]);
            make2_connection(&b, 0, "/a", NULL, NULL);
            make2_message(&b, 0, 1500000000, "one");
            size_t lies = make2_message(&b, 0, 1500000001, "two") + 42;
            make2_message(&b, 0, 1500000002, "three");
            make2_message(&b, 0, 1500000003, "four");
            make_patch(&b.raw, lies, length >= 136 ? 0xfffffff0 : length, 4);
            make2_close(&b);
            make2_end(&b);
            RECORDING *r = bag_scan(&b.out);
            bag_payloads(r);
            const uint32_t one_whole = 3 + 46 + 5, two_whole = one_whole + 46 + 4; /* records swallowed to their end:
                                                                                      only the index knows */
            bool right = length == 3, exact = length == one_whole || length == two_whole;
            unsigned kept = length == one_whole ? 3 : length == two_whole ? 2 : length > two_whole ? 3 : 4;
            if (bag_info(r)->messages != kept) {
                fail_msg("%s, length %u: %d messages", compressions[i], length, (int)bag_info(r)->messages);
            }
            assert_int_equal(bag_info(r)->damaged, !right && !exact);
            assert_int_equal(bag_findings(r, REEL_WARNING, "index data") > 0, exact);
        }
    }
}

static void chunk_lengths_that_lie_lose_nothing(void **state) {
    (void)state;
    const int32_t off[] = {-100, 60, 1000000};
    for (unsigned i = 0; i < 3; i++) {
        BAG b;
        make2_ten(&b, "none");
        size_t data = b.out.data + first_chunk(&b) - b.out.data + 4 + load_u32le(b.out.data + first_chunk(&b)) + 4;
        uint32_t size = load_u32le(b.out.data + data - 4);
        make_patch(&b.out, data - 4, (uint32_t)((int32_t)size + off[i]), 4);
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_payloads(r), all_ten);
        bag_assert_finding(r, REEL_WARNING, "its header says");
        assert_false(bag_info(r)->damaged);
    }
}

static void compressed_chunk_lengths_that_lie(void **state) {
    (void)state;
    const int32_t off[] = {-20, 60, 1000000};
    for (unsigned i = 0; i < 6; i++) {
        BAG b;
        make2_ten(&b, compressions[1 + i / 3]);
        size_t data = first_chunk(&b) + 4 + load_u32le(b.out.data + first_chunk(&b)) + 4;
        make_patch(&b.out, data - 4, (uint32_t)((int32_t)load_u32le(b.out.data + data - 4) + off[i % 3]), 4);
        RECORDING *r = bag_scan(&b.out);
        const char *kept = bag_payloads(r);
        assert_true(strcmp(kept, "m5|m6|m7|m8|m9|") == 0 || strcmp(kept, all_ten) == 0);
        assert_true(bag_info(r)->damaged);
    }
}

/* Garbage over a chunk's header: its messages stand in the open and are found; compressed ones go with it. */
static void garbage_over_a_chunk_header(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        for (unsigned closed = 0; closed < 2; closed++) {
            BAG b;
            closed ? make2_ten(&b, compressions[i]) : make_crashed(&b, compressions[i]);
            memset(b.out.data + first_chunk(&b), 0xa5, 30);
            RECORDING *r = bag_scan(&b.out);
            assert_string_equal(bag_payloads(r), i == 0 ? all_ten : "m5|m6|m7|m8|m9|");
            bag_assert_finding(r, REEL_LOSS, "are lost");
            if (closed || i == 0) {
                assert_string_equal(bag_channel(r, 0)->name, i == 0 ? "/a" : "/b");
            } else {
                /* it was described in the lost chunk only */
                assert_string_equal(bag_channel(r, 0)->name, "connection 1");
            }
        }
    }
}

static void garbage_between_and_in_chunks(void **state) {
    (void)state;
    BAG b = {0}, with = {0};
    make2_ten(&b, "none");
    size_t between = b.chunk_at;
    make_bytes(&with.out, b.out.data, between);
    for (unsigned i = 0; i < 300; i++) {
        make_number(&with.out, i * 2654435761u, 4);
    }
    make_bytes(&with.out, b.out.data + between, b.out.size - between);
    RECORDING *r = bag_scan(&with.out);
    assert_string_equal(bag_payloads(r), all_ten);
    bag_assert_finding(r, REEL_LOSS, "are lost");
    memset(b.out.data + position_of(&b.out, "m6") - 46, 0, 20);
    RECORDING *inside = bag_scan(&b.out);
    assert_string_equal(bag_payloads(inside), "m0|m1|m2|m3|m4|m5|m7|m8|m9|");
    bag_assert_finding(inside, REEL_LOSS, "are lost");
    assert_int_equal(bag_info(inside)->lost_bytes, 48);
    assert_int_equal(bag_findings(inside, REEL_WARNING, ""), 0); /* a broken chunk is not compared */
}

static void garbage_in_a_compressed_chunk(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "lz4");
    make2_connection(&b, 0, "/a", NULL, NULL);
    make2_message(&b, 0, 1500000000, "one");
    make_text(&b.raw, "\xff\xff\xff\xff no record at all");
    make2_message(&b, 0, 1500000001, "two");
    make2_message(&b, 0, 1500000002, "three");
    make_text(&b.raw, "\xff\xff");
    make2_close(&b);
    make2_end(&b);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), "one|two|three|");
    bag_assert_finding(r, REEL_LOSS, "continued at its raw byte 225");
    bag_assert_finding(r, REEL_LOSS, "it has only 2 of its bytes");
}

static void an_index_that_breaks_off_loses_nothing(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "none");
    size_t infos = b.out.size - b.infos.size;
    memset(b.out.data + infos + b.infos.size / 2, 0xee, 8);
    RECORDING *r = bag_scan(&b.out);
    assert_string_equal(bag_payloads(r), all_ten);
    assert_false(bag_info(r)->damaged);
    bag_assert_finding(r, REEL_WARNING, "the index is damaged");
}

static void index_pos_that_points_elsewhere(void **state) {
    (void)state;
    const size_t places[] = {20, 4117, 4117 + 60, 5000};
    for (unsigned i = 0; i < 4; i++) {
        BAG b;
        make2_ten(&b, "none");
        make_patch(&b.out, b.index_pos_at, places[i] == 60 ? position_of(&b.out, "m3") : places[i], 8);
        RECORDING *r = bag_scan(&b.out);
        assert_string_equal(bag_payloads(r), all_ten);
        assert_false(bag_info(r)->damaged);
        assert_true(bag_findings(r, REEL_WARNING, "") >= 1);
    }
}

static void no_file_header_at_all(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "bz2");
    struct maker bare = {0};
    make_text(&bare, "#ROSBAG V2.0\n");
    make_bytes(&bare, b.out.data + 4117, b.out.size - 4117);
    RECORDING *r = bag_scan(&bare);
    assert_string_equal(bag_payloads(r), all_ten);
    bag_assert_finding(r, REEL_WARNING, "does not begin with a file header");
    free(TAKE(bare.data));
}

/* Every byte changed, one after the other: always an answer, and never less than the other chunk. */
static void every_byte_changed(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        BAG b;
        make2_ten(&b, compressions[i]);
        for (size_t at = 13; at < b.out.size; at += at == 65 ? 4000 : 13) {
            b.out.data[at] ^= 0xff;
            RECORDING *r = bag_scan(&b.out);
            bag_payloads(r);
            if (bag_info(r)->messages < 5) {
                fail_msg("byte %zu of %s: %d messages", at, compressions[i], (int)bag_info(r)->messages);
            }
            b.out.data[at] ^= 0xff;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashed_recorders_leave_all),
        cmocka_unit_test(chunks_never_finished),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(a_compressed_chunk_that_is_cut),
        cmocka_unit_test(chunks_that_expand_to_nothing_are_not_decoded),
        cmocka_unit_test(chunks_that_lie_about_their_expansion_are_bounded),
        cmocka_unit_test(recordings_of_zeros_are_read),
        cmocka_unit_test(a_chunk_that_does_not_decode_is_lost_alone),
        cmocka_unit_test(what_decodes_before_damage_is_kept),
        cmocka_unit_test(a_compression_that_is_not_known),
        cmocka_unit_test(a_message_whose_length_lies),
        cmocka_unit_test(chunk_lengths_that_lie_lose_nothing),
        cmocka_unit_test(compressed_chunk_lengths_that_lie),
        cmocka_unit_test(garbage_over_a_chunk_header),
        cmocka_unit_test(garbage_between_and_in_chunks),
        cmocka_unit_test(garbage_in_a_compressed_chunk),
        cmocka_unit_test(an_index_that_breaks_off_loses_nothing),
        cmocka_unit_test(index_pos_that_points_elsewhere),
        cmocka_unit_test(no_file_header_at_all),
        cmocka_unit_test(every_byte_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
