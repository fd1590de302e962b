/* formats/rosbag2_meta.c: metadata.yaml of every version, and YAML that is none, or too much. */
#include <time.h>

#include "base/bytes.h"
#include "formats/rosbag2/container.h"
#include "makers/db3_scan.h"

static struct rosbag2_meta meta;
static struct arena arena;

static bool read_text(const char *yaml, struct reel_error *err) {
    rosbag2_meta_free(&meta);
    arena_free(&arena);
    meta = (struct rosbag2_meta){0};
    arena = (struct arena){.max = REEL_MODEL_MAX};
    *err = (struct reel_error){0};
    return rosbag2_meta_read(&meta, &arena, bytes_text(yaml), err);
}
static int done(void **state) {
    (void)state;
    rosbag2_meta_free(&meta);
    arena_free(&arena);
    return 0;
}

static void version_1_and_2(void **state) {
    (void)state;
    static const char *const keys[] = {"topic_and_type", "topic_metadata"};
    for (int i = 0; i < 2; i++) {
        char yaml[800];
        struct reel_error err;
        snprintf(
            yaml, sizeof yaml,
            "rosbag2_bagfile_information:\n  version: %d\n  storage_identifier: sqlite3\n  relative_file_paths: "
            "[bag/bag.db3]\n"
            "  duration:\n    nanoseconds: 70\n  starting_time:\n    nanoseconds_since_epoch: 5\n  message_count: 12\n"
            "  topics_with_message_count:\n    - %s:\n        name: /a\n        type: std_msgs/String\n        "
            "serialization_format: cdr\n"
            "      message_count: 5\n    - %s: {name: /b, type: std_msgs/Int8}\n      message_count: 7\n",
            i + 1, keys[i], keys[i]);
        assert_true(read_text(yaml, &err));
        assert_true(meta.present && meta.counted && meta.messages == 12);
        assert_string_equal(meta.storage, "sqlite3");
        assert_int_equal(meta.n_paths, 1);
        assert_string_equal(meta.paths[0], "bag/bag.db3");
        assert_int_equal(meta.n_topics, 2);
        assert_string_equal(meta.topics[0].name, "/a");
        assert_string_equal(meta.topics[0].type, "std_msgs/String");
        assert_string_equal(meta.topics[0].serialization, "cdr");
        assert_string_equal(meta.topics[1].name, "/b");
        assert_true(meta.topics[1].counted && meta.topics[1].count == 7);
    }
}

static void version_9(void **state) {
    (void)state;
    struct reel_error err;
    assert_true(read_text(
        "rosbag2_bagfile_information:\n  version: 9\n  storage_identifier: mcap\n  duration: {nanoseconds: 1}\n"
        "  message_count: 3\n  topics_with_message_count:\n    - topic_metadata:\n        name: /a\n        type: t\n"
        "        offered_qos_profiles:\n          - history: keep_last\n            durability: volatile\n"
        "        type_description_hash: RIHS01_0\n      message_count: 3\n  compression_format: \"\"\n  "
        "compression_mode: NONE\n"
        "  relative_file_paths:\n    - a.mcap\n    - b.mcap\n  files:\n    - path: a.mcap\n      message_count: 1\n"
        "  custom_data:\n    robot: r2\n    site: \"hall\\n3\"\n  ros_distro: jazzy\n",
        &err));
    assert_int_equal(meta.messages, 3); /* not that of one of the files */
    assert_int_equal(meta.n_paths, 2);
    assert_string_equal(meta.topics[0].hash, "RIHS01_0");
    assert_null(meta.topics[0].qos);
    assert_int_equal(meta.custom.count, 2);
    assert_string_equal(meta.custom.items[1].key, "site");
    assert_string_equal(meta.custom.items[1].value, "hall\n3");
    assert_string_equal(meta.distro, "jazzy");
    assert_string_equal(meta.compression_mode, "NONE");
}

static void of_the_table_metadata(void **state) {
    (void)state;
    struct reel_error err;
    assert_true(read_text("version: 7\nmessage_count: 4\ntopics_with_message_count:\n  []\ncustom_data: "
                          "~\nrelative_file_paths:\n  - x.db3\n",
                          &err));
    assert_true(meta.messages == 4 && meta.n_topics == 0 && meta.n_paths == 1 && meta.custom.count == 0);
}

static void is_no_metadata(void **state) {
    (void)state;
    static const char *const texts[] = {
        "", "a: 1\n", "- x\n", "just text", "\xff\xfe\x00", "rosbag2_bagfile_information: 3\n", "%YAML 9.9\n", "*x\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct reel_error err;
        assert_false(read_text(texts[i], &err));
        assert_int_equal(err.code, REEL_DAMAGED);
    }
}

static void damage_keeps_what_came_before(void **state) {
    (void)state;
    struct reel_error err;
    assert_false(read_text(
        "rosbag2_bagfile_information:\n  version: 5\n  message_count: 12\n  compression_mode: MESSAGE\n   x: [\n",
        &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_non_null(strstr(err.text, "line "));
    assert_true(meta.present);
    assert_int_equal(meta.messages, 12);
}

static void numbers_that_are_none(void **state) {
    (void)state;
    static const char *const counts[] = {"-3", "1e3", "99999999999999999999", "", "~", "[1]", "{a: 1}"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char yaml[200];
        struct reel_error err;
        snprintf(yaml, sizeof yaml, "rosbag2_bagfile_information:\n  version: 5\n  message_count: %s\n", counts[i]);
        assert_true(read_text(yaml, &err));
        assert_false(meta.counted);
    }
}

/* Aliases that would multiply, very deep nesting, very many values: done in no time. */
static void too_much(void **state) {
    (void)state;
    enum { SIZE = 3 << 20 };
    char *yaml = malloc(SIZE + 64);
    assert_non_null(yaml);
    struct reel_error err;
    clock_t begin = clock();
    assert_true(read_text("version: 1\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c "
                          "[*b,*b,*b,*b,*b,*b]\n*c : *c\nd: [*c,*c,*c,*c]\n"
                          "message_count: 4\n",
                          &err));
    assert_int_equal(meta.messages, 4);
    memset(yaml, '[', SIZE);
    yaml[SIZE] = '\0';
    assert_false(read_text(yaml, &err));
    strcpy(yaml, "rosbag2_bagfile_information: {relative_file_paths: [");
    for (size_t at = strlen(yaml); at < SIZE; at += 2) {
        memcpy(yaml + at, "a,", 3);
    }
    assert_false(read_text(yaml, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    memset(yaml, '[', 900); /* the scanner looks at every open list for each value */
    for (size_t at = 900; at < SIZE; at += 2) {
        memcpy(yaml + at, "a,", 3);
    }
    assert_false(read_text(yaml, &err));
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 60);
    print_message("%.1f s\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
    free(yaml);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1_and_2),
        cmocka_unit_test(version_9),
        cmocka_unit_test(of_the_table_metadata),
        cmocka_unit_test(is_no_metadata),
        cmocka_unit_test(damage_keeps_what_came_before),
        cmocka_unit_test(numbers_that_are_none),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}
