/* index/packed.c: what of an archive is not read is reported. */
#include "makers/archive_maker.h"
#include "makers/mcap_scan.h"

/* Split i of a recording, with a message a second. */
static void add_split(struct grow *tar, unsigned i) {
    struct maker m = {0};
    char name[32];
    mcap_header(&m, "", "test");
    mcap_channel(&m, 1, 0, "/a", "json", NULL);
    mcap_message(&m, 1, (i + 1) * UINT64_C(1000000000), 0, "{}");
    mcap_close(&m);
    snprintf(name, sizeof name, "run_%u.mcap", i);
    tar_add(tar, name, '0', bytes_of(m.data, m.size));
    free(m.data);
}

static struct reel_recording *scan_tar(struct reel_bytes tar) {
    struct reel_error err = {0};
    struct reel_recording *r = bag_try(tar, &err);
    if (!r) {
        fail_msg("%s", err.text);
    }
    return r;
}

static void many_splits(void **state) {
    (void)state;
    static const unsigned counts[] = {100, 512, 515};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct grow g = {0};
        for (unsigned i = 0; i < counts[k]; i++) {
            add_split(&g, i);
        }
        AUTO(reel_recording_free) struct reel_recording *r = scan_tar(tar_end(&g));
        assert_int_equal(bag_info(r)->messages, counts[k] < 512 ? counts[k] : 512);
        assert_int_equal(bag_findings(r, REEL_LOSS, ""), counts[k] > 512);
        assert_int_equal(bag_findings(r, REEL_LOSS, "3 files more that are named as recordings"), counts[k] > 512);
        reel_recording_free(TAKE(r));
        free(g.data);
    }
}

/* The header of the third of four files is damaged, or that of its long name has too many bytes. */
static void a_damaged_header(void **state) {
    (void)state;
    static const char *const reasons[] = {"its checksum does not hold", "bytes of names"};
    for (size_t k = 0; k < 2; k++) {
        struct grow g = {0};
        size_t third = 0;
        for (unsigned i = 0; i < 4; i++) {
            third = i == 2 ? g.size : third;
            if (i == 2 && k == 1) {
                AUTO_MEM uint8_t *names = calloc(1, 70000);
                tar_add(&g, "x", 'L', bytes_of(names, 70000));
            }
            add_split(&g, i);
        }
        if (k == 0) {
            g.data[third + 124] ^= 1;
        }
        AUTO(reel_recording_free) struct reel_recording *r = scan_tar(tar_end(&g));
        assert_int_equal(bag_info(r)->messages, 2);
        bag_assert_finding(r, REEL_LOSS, "the archive is damaged: the files from here on are lost");
        bag_assert_finding(r, REEL_LOSS, reasons[k]);
        size_t n;
        assert_int_equal(reel_index_findings(reel_recording_index(r), &n)[0].offset, third);
        reel_recording_free(TAKE(r));
        free(g.data);
    }
}

/* An archive that ends inside the header of its third file, or of that file's long name. */
static void a_cut_header(void **state) {
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct grow g = {0};
        size_t third = 0;
        for (unsigned i = 0; i < 3; i++) {
            third = i == 2 ? g.size : third;
            if (i == 2 && k >= 2) {
                tar_add(&g, "x", 'L', bytes_text("a/long/name/of/run_2.mcap"));
            }
            add_split(&g, i);
        }
        size_t cut = third + (k == 0 ? 1 : k == 1 ? 511 : k == 2 ? 512 + 7 : 1024);
        AUTO(reel_recording_free) struct reel_recording *r = scan_tar(bytes_of(g.data, cut));
        assert_int_equal(bag_info(r)->messages, 2);
        bag_assert_finding(r, REEL_LOSS, "the archive ends inside it");
        reel_recording_free(TAKE(r));
        free(g.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_splits),
        cmocka_unit_test(a_damaged_header),
        cmocka_unit_test(a_cut_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
