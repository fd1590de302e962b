/* What `rosbag info` would print of made bags: what no sample shows. The real ones are compared with rosbag itself
 * (peers/peer_bag_info.py). */
#define BAG_FORMAT &reel_format_rosbag_v2
#include "makers/bag_scan.h"

#include "base/cleanup.h"
#include "formats/rosbag/info.h"
#include "makers/rosbag2_0_maker.h"

#include <stdlib.h>

#define RECORDING AUTO(reel_recording_free) struct reel_recording

static char *info_of(struct reel_recording *r, bool yaml, bool freq) {
    struct reel_error err = {0};
    char *text = reel_bag_info(r, &(struct reel_bag_question){.path = "made.bag", .yaml = yaml, .freq = freq}, &err);
    if (!text) {
        fail_msg("%s", err.text);
    }
    return text;
}
static void assert_info(const struct maker *m, bool freq, const char *want) {
    RECORDING *r = bag_scan(m);
    AUTO_MEM char *text = info_of(r, false, freq);
    assert_string_equal(text, want);
}

#define TAIL(a, b)                                                                                                     \
    "types:       std_msgs/String [992ce8a1687cec8c8bd883ec73ca41d1]\n"                                                \
    "topics:      /a   5 msgs" a ": std_msgs/String\n             /b   5 msgs" b ": std_msgs/String\n"

static void chunks_and_rates(void **state) {
    (void)state;
    struct make2 b;
    make2_ten(&b, "none");
    assert_info(&b.out, true,
                "path:        made.bag\nversion:     2.0\nduration:    9.0s\nstart:       Jul 14 2017 02:40:00.00 "
                "(1500000000.00)\n"
                "end:         Jul 14 2017 02:40:09.00 (1500000009.00)\nsize:        5.8 KB\nmessages:    "
                "10\ncompression: none [2/2 chunks]\n" TAIL(" @ 0.5 Hz ", " @ 0.5 Hz "));
    make2_free(&b);
}

/* Chunks of two kinds: the commoner first, and their sizes together. */
static void mixed_compression(void **state) {
    (void)state;
    struct make2 b;
    make2_begin(&b, "bz2");
    make2_connection(&b, 0, "/a", NULL, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        b.compression = i == 1 ? "none" : "bz2";
        make2_message(&b, 0, 1500000000 + 4000 * i, "0123456789012345678901234567890123456789");
        make2_close(&b);
    }
    make2_end(&b);
    RECORDING *r = bag_scan(&b.out);
    AUTO_MEM char *text = info_of(r, false, false), *yaml = info_of(r, true, false);
    assert_non_null(strstr(text, "\nduration:     2hr 13:20s (8000s)\n"));
    assert_non_null(strstr(text, "\ncompression:  bz2 [2/3 chunks; "));
    assert_non_null(strstr(text, "], none [1/3 chunks]\nuncompressed: "));
    assert_non_null(strstr(text, "\ncompressed:   "));
    assert_non_null(strstr(yaml, "\ncompression: bz2\nuncompressed: "));
    make2_free(&b);
}

/* Where the bag's own index is wrong, the figures are those of the scan. */
static void index_that_lies(void **state) {
    (void)state;
    const char *want = "duration:    9.0s\nstart:       Jul 14 2017 02:40:00.00 (1500000000.00)\nend:         Jul 14 "
                       "2017 02:40:09.00 (1500000009.00)\n";
    for (unsigned lie = 0; lie < 5; lie++) {
        struct make2 b;
        make2_ten(&b, "none");
        size_t info = b.out.size - b.infos.size; /* the first chunk info: u32 length, u32 length, "chunk_pos=", u64 … */
        const struct {
            size_t at;
            uint64_t value;
            unsigned bytes;
        } lies[] = {
            {b.index_pos_at, 0, 8},
            {b.index_pos_at, UINT64_MAX, 8},
            {b.chunk_count_at, UINT32_MAX, 4},
            {info + 18, UINT64_MAX - 1, 8},
            {info + 18, 0, 8},
        };
        make_patch(&b.out, lies[lie].at, lies[lie].value, lies[lie].bytes);
        RECORDING *r = bag_scan(&b.out);
        AUTO_MEM char *text = info_of(r, false, false);
        assert_non_null(strstr(text, want));
        assert_non_null(strstr(text, "messages:    10\ncompression: none\n"));
        make2_free(&b);
    }
}

static void nothing_in_it(void **state) {
    (void)state;
    struct make2 b;
    make2_begin(&b, "none");
    make2_end(&b);
    assert_info(&b.out, false, "path:    made.bag\nversion: 2.0\nsize:    4.0 KB\n");
    RECORDING *r = bag_scan(&b.out);
    AUTO_MEM char *yaml = info_of(r, true, false);
    assert_string_equal(yaml, "path: made.bag\nversion: 2.0\nsize: 4117\nindexed: False\n\n");
    make2_free(&b);
}

/* rosbag sees the wrapper of what is not ROS's. */
static void foreign_messages(void **state) {
    (void)state;
    struct make2 b;
    make2_begin(&b, "none");
    make2_foreign(&b);
    make2_end(&b);
    RECORDING *r = bag_scan(&b.out);
    AUTO_MEM char *text = info_of(r, false, false);
    assert_non_null(strstr(text, "types:       std_msgs/UInt8MultiArray [82373f1612381bb6ee473b5cd6f5d89c]\n"));
    make2_free(&b);
}

static int in_greenwich(void **state) {
    (void)state;
    return setenv("TZ", "UTC", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_and_rates), cmocka_unit_test(mixed_compression), cmocka_unit_test(index_that_lies),
        cmocka_unit_test(nothing_in_it),    cmocka_unit_test(foreign_messages),
    };
    return cmocka_run_group_tests(tests, in_greenwich, NULL);
}
