/* What a folder holds: one recording, several, or none, from the names and first bytes of its files. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/legacy_maker.h"
#include "read/folder.h"
#include "reel/convert.h"
#include "reel/open.h"

#define ROOT REEL_SCRATCH "/folder"

#define DATABASE "SQLite format 3\0 and more"
#define YAML(storage, files) "rosbag2_bagfile_information:\n  version: 5\n" storage "  relative_file_paths:\n" files

static char last_folder[300]; /* of check() */

struct file {
    const char *name, *content; /* content NULL: a small MCAP file or bag */
    int64_t start_s;            /* … of messages at this time */
};

static void put(const char *folder, const char *name, struct reel_bytes data) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, data.data, data.size), (ssize_t)data.size);
}

/* Two messages, five seconds apart, with a summary. */
static void put_mcap(const char *folder, const char *name, int64_t start_s) {
    char path[512], rows[256];
    struct reel_error err = {0};
    const struct reel_convert_options options = {.size = sizeof options};
    snprintf(rows, sizeof rows,
             "{\"topic\":\"/t\",\"log_time\":%lld000000000,\"data\":1}\n"
             "{\"topic\":\"/t\",\"log_time\":%lld000000000,\"data\":1}\n",
             1700000000 + (long long)start_s, 1700000005 + (long long)start_s);
    put(ROOT, "rows.ndjson", bytes_text(rows));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    AUTO(reel_recording_free)
    struct reel_recording *recording = reel_recording_open(ROOT "/rows.ndjson", NULL, &err);
    assert_non_null(recording);
    assert_true(reel_convert(recording, NULL, path, &options, NULL, &err));
}

/* A folder of its own with these files; the names of its recordings, "a.db3+b.db3 c.bag": each with its first file
 * first.
 */
static void check(const struct file *files, const char *expected, const char *named) {
    static const char own[] = "my_bag";
    static unsigned number;
    char above[256], *folder = last_folder, text[1024] = "";
    snprintf(above, sizeof above, "%s/%u", ROOT, number++);
    snprintf(folder, sizeof last_folder, "%s/%s", above, own);
    assert_int_equal(mkdir(above, 0700) || mkdir(folder, 0700), 0);
    for (; files->name; files++) {
        size_t size = !files->content                             ? 0
                      : strncmp(files->content, "SQLite", 6) == 0 ? sizeof DATABASE - 1
                                                                  : strlen(files->content);
        if (files->content) {
            put(folder, files->name, (struct reel_bytes){(const uint8_t *)files->content, size});
        } else {
            put_mcap(folder, files->name, files->start_s);
        }
    }
    struct folder f;
    struct reel_error err = {0};
    assert_true(folder_read(folder, NULL, NULL, &f, &err));
    for (uint32_t i = 0; i < f.n; i++) {
        for (uint32_t k = 0; k < f.items[i].n; k++) {
            strcat(strcat(text, k > 0 ? "+" : i > 0 ? " " : ""), strrchr(f.items[i].paths[k], '/') + 1);
        }
    }
    assert_string_equal(text, expected);
    const struct folder_recording *only = folder_only(&f);
    const char *name = !only ? "" : folder_names(&f, own) ? own : strrchr(only->paths[only->main], '/') + 1;
    assert_string_equal(name, named);
    folder_done(&f);
}
#define CHECK(expected, named, ...) check((const struct file[]){__VA_ARGS__, NO_MORE}, expected, named)
#define NO_MORE ((struct file){.name = NULL})
#define MCAP(name, start_s) ((struct file){name, NULL, start_s})
#define TEXT(name, content) ((struct file){name, content, 0})

static void metadata_yaml_is_a_hint(void **state) {
    (void)state;
    const char *two = YAML("  storage_identifier: mcap\n", "    - my_bag_0.mcap\n    - my_bag_1.mcap\n");
    CHECK("metadata.yaml+my_bag_0.mcap+my_bag_1.mcap", "my_bag", MCAP("my_bag_0.mcap", 0), MCAP("my_bag_1.mcap", 900),
          TEXT("metadata.yaml", two), TEXT("notes.txt", "none"));
    CHECK("metadata.yaml+a_0.mcap+a_1.mcap", "my_bag", MCAP("a_0.mcap", 0), MCAP("a_1.mcap", 0),
          TEXT("metadata.yaml", two));                                                                    /* renamed */
    CHECK("metadata.yaml+my_bag_0.mcap", "my_bag", MCAP("my_bag_0.mcap", 0), TEXT("metadata.yaml", two)); /* one is
                                                                                                             missing */
    CHECK("metadata.yaml+my_bag_0.mcap+my_bag_1.mcap+my_bag_2.mcap", "my_bag", MCAP("my_bag_0.mcap", 0),
          MCAP("my_bag_1.mcap", 0), MCAP("my_bag_2.mcap", 0), TEXT("metadata.yaml", two)); /* one more */
    CHECK("metadata.yaml+my_bag_0.mcap+my_bag_1.mcap", "my_bag", MCAP("my_bag_0.mcap", 0), TEXT("my_bag_1.mcap", ""),
          TEXT("metadata.yaml", two)); /* one is empty */
    CHECK("my_bag_0.mcap", "my_bag", MCAP("my_bag_0.mcap", 0), TEXT("metadata.yaml", ""));
    CHECK("metadata.yaml+x.mcap", "my_bag", MCAP("x.mcap", 0),
          TEXT("metadata.yaml", YAML("", "    - my_bag_0.mcap\n")));
    CHECK("metadata.yaml+my_bag_0.db3", "my_bag", TEXT("my_bag_0.db3", DATABASE),
          TEXT("metadata.yaml", YAML("  storage_identifier: \"\"\n", "    - my_bag/my_bag_0.db3\n")));
}

static void others_beside_a_bag(void **state) {
    (void)state;
    const char *yaml = YAML("  storage_identifier: sqlite3\n", "    - my_bag_0.db3\n");
    CHECK("another.mcap metadata.yaml+my_bag_0.db3", "", MCAP("another.mcap", 0), TEXT("my_bag_0.db3", DATABASE),
          TEXT("metadata.yaml", yaml));
    CHECK("a.db3 metadata.yaml+my_bag_0.db3", "", TEXT("a.db3", DATABASE), TEXT("my_bag_0.db3", DATABASE),
          TEXT("metadata.yaml", yaml));
    CHECK("my_bag_0.db3+my_bag_0.db3-wal", "my_bag", TEXT("my_bag_0.db3", DATABASE), TEXT("my_bag_0.db3-wal", "log"));
}

static void splits_continue_each_other(void **state) {
    (void)state;
    CHECK("run_0.mcap+run_1.mcap+run_2.mcap", "my_bag", MCAP("run_0.mcap", 0), MCAP("run_1.mcap", 6),
          MCAP("run_2.mcap", 12));
    CHECK("run_0000.mcap+run_0001.mcap", "my_bag", MCAP("run_0000.mcap", 0), MCAP("run_0001.mcap", 5));
    CHECK("run_0.mcap run_1.mcap", "", MCAP("run_0.mcap", 0), MCAP("run_1.mcap", 3600)); /* an hour later */
    CHECK("run_1.mcap run_2.mcap", "", MCAP("run_1.mcap", 0), MCAP("run_2.mcap", 6));    /* numbered by a person */
    CHECK("run_0.mcap", "run_0.mcap", MCAP("run_0.mcap", 0));
    CHECK("my_bag_0.mcap", "my_bag", MCAP("my_bag_0.mcap", 0));
    const struct file many[] = {MCAP("r_0.mcap", 0),  MCAP("r_1.mcap", 6),  MCAP("r_10.mcap", 60), MCAP("r_2.mcap", 12),
                                MCAP("r_3.mcap", 18), MCAP("r_4.mcap", 24), MCAP("r_5.mcap", 30),  MCAP("r_6.mcap", 36),
                                MCAP("r_7.mcap", 42), MCAP("r_8.mcap", 48), MCAP("r_9.mcap", 54),  NO_MORE};
    check(many, "r_0.mcap+r_1.mcap+r_10.mcap+r_2.mcap+r_3.mcap+r_4.mcap+r_5.mcap+r_6.mcap+r_7.mcap+r_8.mcap+r_9.mcap",
          "my_bag");
}

/* As rosbag record --split names them; the last one is still being written. */
static void splits_of_ros1(void **state) {
    (void)state;
    struct reel_error err = {0};
    CHECK("run_2026-01-01_0.bag run_2026-01-01_1.bag", "", MCAP("run_2026-01-01_0.bag", 0),
          MCAP("run_2026-01-01_1.bag", 3600));
    CHECK("run_0.bag+run_1.bag+run_2.bag.active", "my_bag", MCAP("run_0.bag", 0), MCAP("run_1.bag", 6),
          TEXT("run_2.bag.active", "#ROSBAG V2.0\n"));
    AUTO(reel_recording_free) struct reel_recording *r = reel_recording_open(last_folder, NULL, &err);
    assert_string_equal(err.text, "");
    assert_non_null(r);
    const struct reel_index_info *info = reel_index_info(reel_recording_index(r));
    assert_int_equal(info->messages, 4);
    assert_int_equal(info->n_channels, 1);
    assert_int_equal(info->end_ns - info->start_ns, INT64_C(11000000000));
    char out[512];
    const struct reel_convert_options options = {.size = sizeof options};
    snprintf(out, sizeof out, "%s/whole.mcap", ROOT);
    assert_true(reel_convert(r, NULL, out, &options, NULL, &err));
    AUTO(reel_recording_free) struct reel_recording *whole = reel_recording_open(out, NULL, &err);
    assert_int_equal(reel_index_info(reel_recording_index(whole))->messages, 4);
}

static void no_or_other_recordings(void **state) {
    (void)state;
    CHECK("", "", TEXT("notes.txt", "none"));
    CHECK("a.bag b.bag", "", TEXT("a.bag", "#ROSBAG V2.0\n"), TEXT("b.bag", "#ROSBAG V2.0\n"));
    CHECK("a.bag", "a.bag", TEXT("a.bag", "#ROSBAG V2.0\n"), TEXT(".hidden.bag", "#ROSBAG V2.0\n"));
    CHECK("a.bag b.bag", "a.bag", TEXT("a.bag", "#ROSBAG V2.0\n"), TEXT("b.bag", "no bag")); /* the other cannot be read
                                                                                              */
    struct folder f;
    struct reel_error err = {0};
    assert_false(folder_read("/no such folder", NULL, NULL, &f, &err));
    assert_non_null(strstr(err.text, "/no such folder"));
}

static void a_pair_is_named_as_its_folder(void **state) {
    (void)state;
    LEGACY traj = {0};
    LEGACY states = {0};
    char folder[256];
    struct folder f;
    struct reel_error err = {0};
    legacy_frame(&traj, 1, 0, "energy", 1);
    legacy_state(&states, 1, "a", 1);
    snprintf(folder, sizeof folder, "%s/pair", ROOT);
    mkdir(folder, 0700);
    put(folder, "run.traj", legacy_bytes(&traj));
    put(folder, "run.state", legacy_bytes(&states));
    assert_true(folder_read(folder, NULL, NULL, &f, &err));
    assert_int_equal(f.n, 1);
    assert_int_equal(f.items[0].n, 2);
    assert_string_equal(strrchr(f.items[0].paths[f.items[0].main], '/'), "/run.traj");
    assert_true(folder_names(&f, "pair"));
    folder_done(&f);
}

static int set_up(void **state) {
    (void)state;
    return system("rm -rf " ROOT " && mkdir -p " ROOT);
}

static void folders_are_opened(void **state) {
    (void)state;
    struct reel_error err = {0};
    const char *yaml = YAML("  message_count: 7\n", "    - my_bag_0.mcap\n    - my_bag_1.mcap\n");
    CHECK("metadata.yaml+my_bag_0.mcap+my_bag_1.mcap", "my_bag", MCAP("my_bag_0.mcap", 0), TEXT("my_bag_1.mcap", ""),
          TEXT("metadata.yaml", yaml));
    AUTO(reel_recording_free) struct reel_recording *r = reel_recording_open(last_folder, NULL, &err);
    assert_non_null(r);
    const struct reel_index *index = reel_recording_index(r);
    assert_int_equal(reel_index_info(index)->messages, 2);
    assert_string_equal(reel_index_finding(index, 0)->text, "my_bag_1.mcap is empty: nothing of it is read");
    assert_string_equal(reel_index_finding(index, 1)->text, "metadata.yaml counts 7 messages, here are 2");
    CHECK("a.bag b.bag", "", TEXT("a.bag", "#ROSBAG V2.0\n"), TEXT("b.bag", "#ROSBAG V2.0\n"));
    assert_null(reel_recording_open(last_folder, NULL, &err));
    assert_non_null(strstr(err.text, "holds 2 recordings"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_yaml_is_a_hint),    cmocka_unit_test(others_beside_a_bag),
        cmocka_unit_test(splits_continue_each_other), cmocka_unit_test(splits_of_ros1),
        cmocka_unit_test(no_or_other_recordings),     cmocka_unit_test(a_pair_is_named_as_its_folder),
        cmocka_unit_test(folders_are_opened),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
