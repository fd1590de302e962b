/* The walk over framed records: cut and damaged files, going on after damage, the in-file index proved, and templates
 * that never change a result. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/bag_scan.h"

#include <stdio.h>
#include <time.h>

static void free_maker(struct maker *m) {
    free(m->data);
}
#define MAKER __attribute__((cleanup(free_maker))) struct maker
#define RECORDING AUTO(reel_recording_free) struct reel_recording

static void cut_anywhere_keeps_what_is_whole(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    size_t record = records[3] - records[2], index = records[9] + record;
    for (size_t cut = strlen(MAKE_LINE); cut < m.size; cut += cut < 4000 ? 97 : 1) {
        struct reel_error err = {0};
        RECORDING *r = bag_try(bytes_of(m.data, cut), &err);
        size_t whole = 0;
        for (size_t i = 0; i < 10; i++) {
            whole += records[i] + record <= cut;
        }
        if (!r) { /* nothing to keep, and something lost: no recording */
            assert_int_equal(err.code, REEL_DAMAGED);
            assert_true(whole == 0 && cut > strlen(MAKE_LINE));
            continue;
        }
        assert_int_equal(bag_info(r)->messages, whole);
        assert_int_equal(bag_info(r)->damaged, cut > strlen(MAKE_LINE) && cut < index);
        bag_payloads(r);
    }
}

static void cut_names_the_byte(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/a");
    make_message(&m, "/a", 1500000000, 0, "whole");
    size_t last = make_message(&m, "/a", 1500000001, 0, "cut away");
    m.size -= 3;
    RECORDING *r = bag_scan(&m);
    char expected[64];
    snprintf(expected, sizeof expected, "truncated at byte %zu", last);
    bag_assert_finding(r, REEL_LOSS, expected);
    assert_int_equal(bag_info(r)->lost_bytes, m.size - last);
    assert_string_equal(bag_payloads(r), "whole|");
}

static void damage_in_the_index_loses_no_message(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    m.size -= 20;
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->messages, 10);
    assert_false(bag_info(r)->damaged);
    bag_assert_finding(r, REEL_WARNING, "index is damaged");
    bag_assert_finding(r, REEL_WARNING, "index lacks topic /b");
}

/* Message 4 has a header length that leads nowhere. */
static void damaged_record_is_stepped_over(void **state) {
    (void)state;
    for (int indexed = 0; indexed < 2; indexed++) {
        size_t records[10];
        MAKER m = make_ten(records);
        make_patch(&m, records[4], 0x7fffffff, 4);
        if (!indexed) {
            make_patch(&m, strlen(MAKE_LINE) + 18, 0, 8);
        }
        RECORDING *r = bag_scan(&m);
        assert_string_equal(bag_payloads(r), "m0|m1|m2|m3|m5|m6|m7|m8|m9|");
        assert_int_equal(bag_info(r)->lost_bytes, records[5] - records[4]);
        bag_assert_finding(r, REEL_LOSS, "header length 2147483647 is over the limit");
        bag_assert_finding(r, REEL_WARNING, "names 5 messages of topic /a, the file holds 4");
    }
}

/* Message 3 says it is longer than it is, and ends inside of message 5. */
static void a_message_too_long_takes_none_along(void **state) {
    (void)state;
    for (int indexed = 0; indexed < 2; indexed++) {
        size_t records[10];
        MAKER m = make_ten(records);
        size_t record = records[4] - records[3];
        make_patch(&m, records[4] - 6, 2 * record - 8, 4);
        if (!indexed) {
            make_patch(&m, strlen(MAKE_LINE) + 18, 0, 8);
        }
        RECORDING *r = bag_scan(&m);
        assert_int_equal(bag_info(r)->messages, 10);
        assert_true(bag_info(r)->damaged);
        assert_int_equal(bag_info(r)->lost_bytes, 0);
        bag_assert_finding(r, REEL_LOSS, "the length of the previous record is wrong");
        assert_int_equal(bag_stats(r, 0)->bytes, 5 * 2);
        assert_int_equal(bag_stats(r, 1)->bytes, 4 * 2 + 2 * record - 8);
    }
}

/* A damaged message that holds a bag: the index knows better than its look-alikes. */
static void index_beats_records_inside_a_payload(void **state) {
    (void)state;
    MAKER inner = {0}, m = {0};
    make_definition(&inner, "/inner");
    make_message(&inner, "/inner", 1500000009, 0, "wrong");
    make_message(&inner, "/inner", 1500000009, 0, "wrong");
    make_text(&m, MAKE_LINE);
    size_t index_pos = make_file_header(&m, 0, 10);
    struct make_entry places[3];
    places[0] = (struct make_entry){1500000000, 0, make_definition(&m, "/a")};
    make_message(&m, "/a", 1500000000, 0, "0");
    places[1] = (struct make_entry){
        1500000001, 0, make_message_of(&m, "/a", MAKE_MD5, MAKE_TYPE, NULL, 1500000001, 0, inner.data, inner.size)};
    places[2] = (struct make_entry){1500000002, 0, make_message(&m, "/a", 1500000002, 0, "2")};
    make_patch(&m, index_pos, m.size, 8);
    make_index(&m, "/a", 0, places, 3);
    make_patch(&m, (size_t)places[1].pos + 4, 0xffffff, 4); /* its first field */
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_payloads(r), "0|2|");
    assert_int_equal(bag_info(r)->n_channels, 1);
    assert_int_equal(bag_info(r)->lost_bytes, places[2].pos - places[1].pos);
}

static void index_is_proved(void **state) {
    (void)state;
    static const struct {
        size_t entry, at; /* from the end: which of the last index record's five entries, byte in it */
        const char *finding;
    } wrong[] = {
        {0, 8, "topic /b names other times or positions"},
        {4, 0, "topic /b names other times or positions"},
        {2, 12, "topic /b names other times or positions"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t records[10];
        MAKER m = make_ten(records);
        m.data[m.size - 80 + 16 * wrong[i].entry + wrong[i].at] ^= 1;
        RECORDING *r = bag_scan(&m);
        assert_int_equal(bag_info(r)->messages, 10);
        bag_assert_finding(r, REEL_WARNING, wrong[i].finding);
        assert_int_equal(bag_findings(r, REEL_WARNING, ""), 1);
    }
}

static void index_entries_may_stand_in_any_order(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    uint8_t entry[16], *first = m.data + m.size - 80;
    memcpy(entry, first, 16);
    memcpy(first, first + 48, 16);
    memcpy(first + 48, entry, 16);
    RECORDING *r = bag_scan(&m);
    bag_assert_no_findings(r);
}

static void index_pos_may_lie(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    static const uint64_t lies[] = {1, 4, 4120, 4500, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        make_patch(&m, strlen(MAKE_LINE) + 18, lies[i], 8);
        RECORDING *r = bag_scan(&m);
        assert_int_equal(bag_info(r)->messages, 10);
        bag_assert_finding(r, REEL_WARNING, "the file header says");
        assert_false(bag_info(r)->damaged);
    }
}

/* Whatever single byte is wrong: an answer, all payloads of the answer readable, never more messages than there were.
 */
static void any_flipped_byte_is_handled(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    for (size_t at = 0; at<m.size; at += at> 60 && at < 4100 ? 101 : 1) {
        for (unsigned bit = 0; bit < 8; bit += 7) {
            struct reel_error err = {0};
            m.data[at] ^= (uint8_t)(1u << bit);
            RECORDING *r = bag_try(bytes_of(m.data, m.size), &err);
            if (r) {
                assert_in_range(bag_info(r)->messages, at < 4120 ? 0 : 9, 10);
                bag_payloads(r);
            } else {
                assert_true(at < strlen(MAKE_LINE));
            }
            m.data[at] ^= (uint8_t)(1u << bit);
        }
    }
}

/* A text-header log of ten messages, of version 0, 1.0 or 1.1; records[i]: where message i begins. */
static struct maker make_log(unsigned version, size_t records[10]) {
    static const char *const heads[] = {"/a\n" MAKE_MD5 "\nstd_msgs/A\n",
                                        "#ROSLOG V1.0\n0002\n/a\n*\nstd_msgs/A\nb\n*\nstd_msgs/B\n", "#ROSLOG V1.1\n"};
    static const char *const texts[][2] = {{"", ""}, {"/a\n", "b\n"}, {"/a\n*\nstd_msgs/A\n", "b\n*\nstd_msgs/B\n"}};
    struct maker m = {0};
    make_text(&m, heads[version]);
    for (uint32_t i = 0; i < 10; i++) {
        const char text[] = {'m', (char)('0' + i), '\n', '\x01', 'b', 0};
        records[i] = m.size;
        make_log_record(&m, texts[version][i % 2], 5 + i, 0, text);
    }
    return m;
}

/* Are all messages but number `k` there? */
static bool all_but(struct reel_recording *r, unsigned k) {
    const char *payloads = bag_payloads(r);
    for (unsigned i = 0; i < 10; i++) {
        const char text[] = {'m', (char)('0' + i), '\n', '\x01', 'b', '|', 0};
        if (i != k && !strstr(payloads, text)) {
            return false;
        }
    }
    return true;
}

/* Everything after a damaged record of a text-header log is found; what is lost is in a finding. */
static void text_logs_go_on_after_a_damaged_header(void **state) {
    (void)state;
    for (unsigned version = 0; version < 3; version++) {
        for (unsigned k = 2; k < 9; k++) {
            size_t records[10];
            struct maker m = make_log(version, records);
            memset(m.data + records[k], k % 2 && version == 0 ? 0 : 0x02,
                   k % 3 ? (version ? 2 : 12) : records[k + 1] - records[k]);
            struct reel_recording *r = bag_scan(&m);
            if (bag_info(r)->messages != 9 || !all_but(r, k)) {
                fail_msg("version %u, record %u damaged: %s", version, k, bag_payloads(r));
            }
            assert_int_equal(bag_info(r)->lost_bytes, records[k + 1] - records[k]);
            bag_assert_finding(r, REEL_LOSS, "are lost");
            reel_recording_free(r);
            free_maker(&m);
        }
    }
}

/* A length that is too small or too large takes no other message along. (In 1.0, where any line may be a topic, it
 * may.) */
static void text_logs_go_on_after_a_wrong_length(void **state) {
    (void)state;
    for (unsigned version = 0; version < 3; version += 2) {
        for (unsigned k = 2; k < 9; k++) {
            size_t records[10];
            struct maker m = make_log(version, records);
            make_patch(&m, records[k + 1] - 5 - 4, k % 2 == 0 ? 1 : version == 0 ? 6 : 9, 4);
            struct reel_recording *r = bag_scan(&m);
            if (!all_but(r, k)) {
                fail_msg("version %u, record %u of a wrong length: %s", version, k, bag_payloads(r));
            }
            assert_true(bag_info(r)->damaged);
            reel_recording_free(r);
            free_maker(&m);
        }
    }
}

/* A wrong stamp costs nothing, and a clock may be set: records follow in both cases. */
static void version_0_keeps_messages_of_odd_stamps(void **state) {
    (void)state;
    for (unsigned set = 0; set < 2; set++) {
        size_t records[10];
        struct maker m = make_log(0, records);
        for (unsigned i = 4; i < (set ? 10 : 5); i++) {
            make_patch(&m, records[i], 1200000000 + i, 4);
        }
        struct reel_recording *r = bag_scan(&m);
        assert_int_equal(bag_info(r)->messages, 10);
        assert_int_equal(bag_info(r)->lost_bytes, 0);
        assert_true(all_but(r, 10));
        reel_recording_free(r);
        free_maker(&m);
    }
}

/* Topics, latching and sizes in random order over several windows: with templates as without, each message is itself.
 */
static void many_messages_keep_their_stamp_and_topic(void **state) {
    (void)state;
    static const char *const topics[] = {"/a", "/b", "/longer/name", "/b2", "tick"};
    enum { MESSAGES = 30000 };
    MAKER m = {0};
    uint64_t random = 1;
    uint64_t counts[5] = {0};
    char payload[300];
    memset(payload, '.', sizeof payload);
    make_text(&m, MAKE_LINE);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned topic = (unsigned)(random >> 33) % 5;
        size_t size = 8 + (random >> 40) % 280;
        snprintf(payload, 9, "%08u", i);
        payload[8] = '.';
        counts[topic]++;
        make_message_of(&m, topics[topic], MAKE_MD5, MAKE_TYPE, topic == 1 ? "/n" : NULL, 1500000000 + i / 100, i % 100,
                        payload, size);
    }
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->messages, MESSAGES);
    assert_int_equal(bag_info(r)->n_channels, 5);
    for (uint32_t c = 0; c < 5; c++) {
        for (unsigned t = 0; t < 5; t++) {
            if (strcmp(bag_channel(r, c)->name, topics[t]) == 0) {
                assert_int_equal(bag_stats(r, c)->count, counts[t]);
            }
        }
    }
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    struct reel_message message;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        struct reel_bytes got;
        assert_int_equal(stream_next(s, &message, &err), REEL_STEP_MESSAGE);
        assert_int_equal(message.time_ns, (1500000000 + i / 100) * 1000000000ll + i % 100);
        assert_true(reel_stream_payload(s, &message, &got, &err));
        assert_int_equal(
            strtoul((const char[9]){(char)got.data[0], (char)got.data[1], (char)got.data[2], (char)got.data[3],
                                    (char)got.data[4], (char)got.data[5], (char)got.data[6], (char)got.data[7], 0},
                    NULL, 10),
            i);
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Bytes made to look like a record everywhere, so that each search step asks for a closer look. */
static void searching_stays_linear(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    while (m.size < 4 << 20) {
        make_number(&m, 0x000f0000, 4); /* a header of 960 KiB with a field of 16 bytes, and so on */
        make_number(&m, 16, 4);
        make_text(&m, "a=bcdefghijklmno");
    }
    double begin = seconds();
    struct reel_error err = {0};
    RECORDING *r = bag_try(bytes_of(m.data, m.size), &err);
    assert_true(seconds() - begin < 120.0); /* seconds here; hours if it were quadratic */
    assert_null(r);
    assert_int_equal(err.code, REEL_DAMAGED);
}

/* An index far larger than what is kept of it at a time, and damage at many places. */
static void many_damages_with_a_large_index(void **state) {
    (void)state;
    enum { MESSAGES = 150000 };
    MAKER m = {0};
    struct make_entry *places = malloc(MESSAGES * sizeof *places);
    assert_non_null(places);
    make_text(&m, MAKE_LINE);
    size_t index_pos = make_file_header(&m, 0, 10);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        places[i] = (struct make_entry){1500000000 + i, 0, make_message(&m, "/a", 1500000000 + i, 0, "x")};
    }
    make_patch(&m, index_pos, m.size, 8);
    make_index(&m, "/a", 0, places, MESSAGES);
    unsigned damaged = 0;
    for (uint32_t i = 10; i < MESSAGES; i += 150) {
        make_patch(&m, places[i].pos + 4, 0, 4); /* an empty first field */
        damaged++;
    }
    free(places);
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->messages, MESSAGES - damaged);
    assert_true(bag_info(r)->damaged);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_anywhere_keeps_what_is_whole),
        cmocka_unit_test(cut_names_the_byte),
        cmocka_unit_test(damage_in_the_index_loses_no_message),
        cmocka_unit_test(damaged_record_is_stepped_over),
        cmocka_unit_test(a_message_too_long_takes_none_along),
        cmocka_unit_test(index_beats_records_inside_a_payload),
        cmocka_unit_test(index_is_proved),
        cmocka_unit_test(index_entries_may_stand_in_any_order),
        cmocka_unit_test(index_pos_may_lie),
        cmocka_unit_test(any_flipped_byte_is_handled),
        cmocka_unit_test(text_logs_go_on_after_a_damaged_header),
        cmocka_unit_test(text_logs_go_on_after_a_wrong_length),
        cmocka_unit_test(version_0_keeps_messages_of_odd_stamps),
        cmocka_unit_test(many_messages_keep_their_stamp_and_topic),
        cmocka_unit_test(searching_stays_linear),
        cmocka_unit_test(many_damages_with_a_large_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
