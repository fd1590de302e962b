/* The numbered rules of TIDE's specification (RD 1), one test or more each. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/tide_scan.h"

#define SIX "/a=m0|/b=m1|/a=m2|/b=m3|/a=m4|/b=m5|"

static void two_channels(struct log *l) {
    log_channel_new(l, 0, "/a", "", "", NULL);
    log_channel_new(l, 1, "/b", "", "", NULL);
}

/* ---- 1 ---- */

static void rule_tide_01_blocks_may_be_longer(void **state) {
    (void)state;
    static const char *const meta[] = {"dc:Title", "t", NULL}, *const hashes[] = {"H", NULL};
    LOG l = {0};
    log_tide(&l, 2, 1);
    log_bytes(&l, "future", 6);
    log_resize(&l, 0);
    log_meta(&l, meta);
    log_bytes(&l, "future", 6);
    log_resize(&l, 0);
    log_type(&l, "H", "s", "n", "v", "d", NULL, NULL);
    log_bytes(&l, "future", 6);
    log_resize(&l, 0);
    log_channel_new(&l, 0, "/a", "", "", hashes);
    log_bytes(&l, "future", 6);
    log_resize(&l, 0);
    log_channel_new(&l, 1, "/b", "", "", NULL);
    size_t chunk = log_six(&l, 0, LOG_PLAIN);
    log_bytes(&l, "a field of a later version", 26);
    log_resize(&l, 0);
    log_six_index(&l, true, chunk);
    log_bytes(&l, "a field of a later version", 26);
    log_resize(&l, 0);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_info(r)->container, "TIDE 2.1");
    assert_string_equal(log_messages(r), SIX);
    log_assert_finding(r, REEL_NOTE, "5 blocks have bytes after their last field");
    log_assert_findings(r, 1);
}

static void rule_tide_01_size_alone_rules_in_major_2(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 2, 0);
    log_channel_new(&l, 0, "/a", "", "", NULL);
    log_bytes(&l, "CHAN", 4); /* what looks like a block stands inside one */
    log_number(&l, 0, 8);
    log_resize(&l, 0);
    log_channel_new(&l, 1, "/b", "", "", NULL);
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->n_channels, 2);
    assert_string_equal(log_messages(r), SIX);
    assert_false(log_info(r)->damaged);
}

static void rule_tide_01_channels_decide_the_layout_when_major_and_size_disagree(void **state) {
    (void)state;
    LOG l = {0}; /* major 2, but all else as in 0.0 */
    log_default(&l);
    log_patch(&l, 12, 2, 1);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), SIX);
    assert_string_equal(log_model(r, 0)->type, "TEXT");
    LOG m = {0}; /* major 2 with a TIDE block that is longer, as it may be */
    log_tide(&m, 2, 0);
    log_number(&m, 0, 8);
    log_resize(&m, 0);
    two_channels(&m);
    log_six(&m, 0, LOG_PLAIN);
    RECORDING *s = log_scan(&m);
    assert_string_equal(log_messages(s), SIX);
    assert_string_equal(log_model(s, 0)->type, "");
}

/* ---- 2, 3, 4 ---- */

static void rule_tide_02_any_unknown_tag_is_passed_over_by_its_size(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 2, 0);
    log_begin(&l, "\1\xff\0\2");
    log_bytes(&l, "CHANCHNK", 8);
    log_end(&l);
    two_channels(&l);
    log_begin(&l, "more");
    log_end(&l);
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), SIX);
    log_assert_finding(r, REEL_NOTE, "2 blocks of unknown kinds skipped, the first (01 ff 00 02) at 14");
}

static void rule_tide_03_versions(void **state) {
    (void)state;
    for (unsigned major = 0; major <= 4; major++) {
        LOG l = {0};
        struct reel_error err = {0};
        if (major < 2) {
            log_default(&l);
            log_patch(&l, 12, major, 1);
            log_patch(&l, 13, 7, 1);
        } else {
            log_tide(&l, major, 7);
            two_channels(&l);
            log_six(&l, 0, LOG_PLAIN);
        }
        RECORDING *r = log_try(bytes_of(l.data, l.size), NULL, &err);
        if (major > 2) {
            assert_null(r);
            assert_int_equal(err.code, REEL_UNSUPPORTED);
            assert_non_null(strstr(err.text, major == 3 ? "3.7" : "4.7"));
        } else {
            assert_non_null(r);
            assert_string_equal(log_messages(r), SIX);
        }
    }
}

static void rule_tide_03_a_second_tide_block_is_reported(void **state) {
    (void)state;
    LOG l = {0};
    log_default(&l);
    size_t at = l.size;
    log_default(&l); /* as when files are joined */
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->messages, 12);
    log_assert_finding(r, REEL_WARNING, "1 further blocks TIDE skipped");
    (void)at;
}

static void rule_tide_04_little_endian_and_ns(void **state) {
    (void)state;
    static const uint8_t entry[] = {1, 0, 0, 0, 0x15, 0xcd, 0x5b, 0x07, 0x01, 0x8c, 0x6d, 0x13, 2, 0, 0, 0, 'h', 'i'};
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    log_channel(&l, 1, "/b");
    log_chunk(&l, 0, 1, 0, UINT64_MAX);
    log_bytes(&l, entry, sizeof entry);
    log_end(&l);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), "/b=hi|");
    assert_int_equal(log_info(r)->start_ns, 0x136d8c01075bcd15);
}

/* ---- 5 ---- */

static void rule_tide_05_all_metadata_is_kept(void **state) {
    (void)state;
    static const char *const first[] = {"dc:Title",
                                        "a log",
                                        "dc:Subject",
                                        "Pr\xc3\xbc"
                                        "fung",
                                        "dc:Subject",
                                        "second",
                                        NULL},
                             *const second[] = {"own:key", "", "dc:Subject", "third", NULL};
    LOG l = {0};
    log_tide(&l, 2, 0);
    log_meta(&l, first);
    two_channels(&l);
    log_six(&l, 0, LOG_PLAIN);
    log_meta(&l, second);
    RECORDING *r = log_scan(&l);
    LOG again = log_write(r, &reel_writer_tide2, "", &selection_all, 20);
    RECORDING *copy = log_scan(&again);
    for (int i = 0; i < 2; i++) {
        const struct reel_pairs *pairs = reel_index_metadata(reel_recording_index(i ? copy : r));
        assert_int_equal(pairs->count, 5);
        for (size_t k = 0; k < 5; k++) {
            assert_string_equal(pairs->items[k].key, k < 3 ? first[2 * k] : second[2 * k - 6]);
            assert_string_equal(pairs->items[k].value, k < 3 ? first[2 * k + 1] : second[2 * k - 5]);
        }
    }
}

/* Values that are not text, and such as look like their base64: shown, and written as they were; in MCAP in between,
 * too. */
static void rule_tide_05_binary_metadata_is_kept(void **state) {
    (void)state;
    static const struct {
        const char *key, *value, *shown_key, *shown;
    } pairs[] = {{"dc:Thumb", "\x89PNG\xff", "dc:Thumb.base64", "iVBORw=="},
                 {"own.base64", "aGVsbG8=", "own.base64", "aGVsbG8="},    /* of text: nothing is hidden in it */
                 {"own.base64", "/w==", "own.base64.base64", "L3c9PQ=="}, /* of a byte that is not text */
                 {".base64", "/w==", ".base64", "/w=="},                  /* no key would remain */
                 {"a.base64.base64", "L3c9PQ==", "a.base64.base64.base64", "TDNjOVBRPT0="}};
    LOG l = {0};
    log_tide(&l, 2, 0);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *const texts[] = {pairs[i].key, pairs[i].value, NULL};
        log_meta(&l, texts);
    }
    two_channels(&l);
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    const struct reel_pairs *read = reel_index_metadata(reel_recording_index(r));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_string_equal(read->items[i].key, pairs[i].shown_key);
        assert_true(i == 0 || strcmp(read->items[i].value, pairs[i].shown) == 0);
    }
    LOG mcap = log_write(r, &reel_writer_mcap, "", &selection_all, 10);
    RECORDING *middle = log_scan(&mcap);
    for (int through = 0; through < 2; through++) {
        LOG again = log_write(through ? middle : r, &reel_writer_tide2, "", &selection_all, 20);
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            LOG one = {0};
            log_text(&one, pairs[i].key, 2);
            log_text(&one, pairs[i].value, 4);
            assert_non_null(memmem(again.data, again.size, one.data, one.size));
        }
    }
}

/* ---- 6, 7 ---- */

#define NEEDED "\x01\x02\x03"
static void typed_log(struct log *l, bool with_needed) {
    static const char *const point[] = {"PP", NULL}, *const event[] = {"NN", "PA", NULL}, *const path[] = {"PA", NULL};
    log_tide(l, 2, 0);
    log_channel_new(l, 4, "/point", "src", "", point);
    log_channel_new(l, 5, "/cmd/:.nav.Path", "", "rsb:/", event);
    log_type(l, "PP", "ros-msg-1.0", "geometry_msgs/Point", "1.0", "float64 x\n", "http://example.org/Point.msg", NULL);
    log_type(l, "NN", "protobuf-2", "rsb.protocol.Notification", "0.9", "message Notification {}", NULL, NULL);
    log_chunk(l, 0, 3, LOG_T0, LOG_T0 + 2);
    log_entry(l, 4, LOG_T0, "p");
    log_entry(l, 5, LOG_T0 + 1, "e");
    log_entry(l, 6, LOG_T0 + 2, "q");
    log_chunk_end(l, LOG_PLAIN);
    log_type(l, "PA", "protobuf-2", "nav.Path", "", "message Path {}", NULL, NEEDED);
    log_channel_new(l, 6, "/path", "", "", path);
    if (with_needed) {
        log_type(l, NEEDED, "protobuf-2", "nav.Pose", "2", "message Pose {}", NULL, "PA");
    }
}

static void rule_tide_06_types_by_hash(void **state) {
    (void)state;
    LOG l = {0};
    typed_log(&l, true);
    RECORDING *r = log_scan(&l);
    const struct reel_channel *c = log_model(r, 0);
    assert_string_equal(c->type, "geometry_msgs/Point");
    assert_string_equal(c->encoding, "ros1");
    assert_int_equal(c->n_schemas, 1);
    assert_string_equal(c->schemas[0].encoding, "ros-msg-1.0");
    assert_string_equal(c->schemas[0].hash, "5050");
    assert_true(bytes_is(c->schemas[0].data, "float64 x\n"));
    assert_string_equal(log_metadata(r, 0, "tide.schema.0.version"), "1.0");
    assert_string_equal(log_metadata(r, 0, "tide.schema.0.source"), "http://example.org/Point.msg");
    assert_string_equal(log_metadata(r, 0, "tide.source"), "src");
    c = log_model(r, 1); /* envelope, payload, then what that needs */
    assert_string_equal(c->encoding, "rsb");
    assert_string_equal(c->type, ".nav.Path");
    assert_int_equal(c->n_schemas, 3);
    assert_string_equal(c->schemas[0].name, "rsb.protocol.Notification");
    assert_string_equal(c->schemas[1].name, "nav.Path");
    assert_string_equal(c->schemas[2].name, "nav.Pose");
    assert_string_equal(log_metadata(r, 1, "tide.hashes"), "2");
    assert_string_equal(log_metadata(r, 1, "tide.schema.1.needs"), "010203");
    c = log_model(r, 2);
    assert_string_equal(c->encoding, "protobuf");
    assert_string_equal(c->type, "nav.Path");
    assert_string_equal(log_messages(r), "/point=p|/cmd/:.nav.Path=e|/path=q|");
    log_assert_finding(r, REEL_NOTE, "no index");
    log_assert_findings(r, 1);
}

static void rule_tide_06_a_missing_type_is_reported_and_its_messages_served(void **state) {
    (void)state;
    LOG l = {0};
    typed_log(&l, false);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), "/point=p|/cmd/:.nav.Path=e|/path=q|");
    assert_int_equal(log_model(r, 1)->n_schemas, 3);
    assert_string_equal(log_model(r, 1)->schemas[2].hash, "010203");
    assert_int_equal(log_model(r, 1)->schemas[2].data.size, 0);
    log_assert_finding(r, REEL_WARNING, "refers to type 010203, which has no block TYPE"); /* once, although two
                                                                                              channels need it */
    size_t count;
    const struct reel_finding *findings = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        bool orphan = strstr(findings[i].text, "010203") != NULL;
        assert_true(!orphan || memcmp(l.data + findings[i].offset, "TYPE", 4) == 0);
    }
}

/* A hash that several channels have and no block defines: told once, at the first of them. */
static void rule_tide_06_an_orphan_hash_is_told_once_with_its_offset(void **state) {
    (void)state;
    static const char *const hashes[] = {"\x0a\xff", NULL};
    LOG l = {0};
    log_tide(&l, 2, 0);
    size_t first = log_channel_new(&l, 0, "/a", "", "", hashes);
    log_channel_new(&l, 1, "/b", "", "", hashes);
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    log_assert_finding(r, REEL_WARNING, "refers to type 0aff, which has no block TYPE");
    size_t count;
    const struct reel_finding *findings = reel_index_findings(reel_recording_index(r), &count);
    assert_int_equal(count, 2); /* and no index */
    assert_int_equal(findings[0].offset, first);
}

static void rule_tide_06_the_first_of_two_types_of_one_hash_counts(void **state) {
    (void)state;
    static const char *const hashes[] = {"H", NULL};
    LOG l = {0};
    log_tide(&l, 2, 0);
    log_type(&l, "H", "s", "first", "", "1", NULL, NULL);
    log_channel_new(&l, 0, "/a", "", "", hashes);
    log_type(&l, "H", "s", "second", "", "2", NULL, NULL);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_model(r, 0)->schemas[0].name, "first");
    log_assert_finding(r, REEL_WARNING, "1 blocks TYPE contradict another block TYPE");
}

static void rule_tide_07_hashes_and_dependencies_are_kept_on_copying(void **state) {
    (void)state;
    for (int with = 0; with < 2; with++) {
        LOG l = {0};
        typed_log(&l, with);
        RECORDING *r = log_scan(&l);
        LOG again = log_write(r, &reel_writer_tide2, "", &selection_all, 20);
        RECORDING *copy = log_scan(&again);
        log_assert_same(r, copy);
    }
}

static void rule_tide_07_foreign_types_get_sha1_and_this_is_reported(void **state) {
    (void)state;
    struct reel_schema s = {.name = "std_msgs/String", .encoding = "ros1msg", .hash = "", .data = bytes_text("abc")};
    struct reel_channel c = {
        .name = "/t", .type = "std_msgs/String", .encoding = "ros1", .schemas = &s, .n_schemas = 1};
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    size_t count;
    assert_true(reel_writer_tide2.accepts(&c, loss));
    const struct reel_loss_item *items = reel_loss_items(loss, &count);
    assert_int_equal(count, 2);
    assert_int_equal(items[1].kind, REEL_CHANGES);
    assert_non_null(strstr(items[1].text, "SHA-1"));
    assert_non_null(strstr(items[1].text, "RD 8"));
    assert_true(reel_writer_tide.accepts(&c, NULL));
}

/* TYPE blocks that no channel uses: attachments, so that they are seen, and blocks again in a log, also by way of an
 * MCAP file. */
static void rule_tide_07_types_that_nobody_uses_are_kept(void **state) {
    (void)state;
    static const char *const hashes[] = {"PP", NULL};
    LOG l = {0}, blocks = {0};
    log_tide(&l, 2, 0);
    log_type(&l, "PP", "ros-msg-1.0", "Point", "1.0", "float64 x\n", NULL, NULL);
    log_channel_new(&l, 0, "/a", "", "", hashes);
    log_channel_new(&l, 1, "/b", "", "", NULL);
    size_t at = l.size;
    log_type(&l, "UU", "ros-msg-1.0", "Unused", "2", "float64 y\n", "http://example.org/u", "UV");
    log_type(&l, "PP", "ros-msg-1.0", "Second", "1.0", "float64 z\n", NULL, NULL);
    log_bytes(&blocks, l.data + at, l.size - at);
    log_type(&l, "PP", "ros-msg-1.0", "Second", "1.0", "float64 z\n", NULL, NULL); /* a copy is not kept */
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    size_t count;
    const struct reel_attachment *all = reel_index_attachments(reel_recording_index(r), &count);
    assert_int_equal(count, 2);
    assert_string_equal(all[0].name, "TYPE Second");
    assert_string_equal(all[1].name, "TYPE Unused");
    LOG mcap = log_write(r, &reel_writer_mcap, "", &selection_all, 10);
    RECORDING *middle = log_scan(&mcap);
    for (int through = 0; through < 2; through++) {
        LOG again = log_write(through ? middle : r, &reel_writer_tide2, "", &selection_all, 50);
        RECORDING *copy = log_scan(&again);
        if (!through) { /* MCAP names a language in its own way */
            log_assert_same(r, copy);
        }
        for (size_t begin = 0; begin < blocks.size; begin += 12 + load_u64le(blocks.data + begin + 4)) {
            assert_non_null(
                memmem(again.data, again.size, blocks.data + begin, 12 + load_u64le(blocks.data + begin + 4)));
        }
        assert_string_equal(log_model(copy, 0)->schemas[0].name, "Point");
    }
    for (int old = 0; old < 2; old++) { /* only 0.0 loses them, and this is told */
        struct reel_error err = {0};
        struct reel_stream *s = log_stream(r, &selection_all);
        AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
        assert_true(reel_writer_accepts(old ? &reel_writer_tide : &reel_writer_tide2, s, loss, &err));
        reel_stream_free(s);
        size_t lost = 0;
        const struct reel_loss_item *items = reel_loss_items(loss, &count);
        for (size_t i = 0; i < count; i++) {
            lost += items[i].kind == REEL_LOSES && strstr(items[i].text, "2 attachments") != NULL;
        }
        assert_int_equal(lost, old);
    }
}

/* ---- 8 ---- */

static void rule_tide_08_channels_are_distinguished_by_id(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/same");
    log_channel(&l, 1, "/same");
    log_channel(&l, 1, "/same");  /* again: as if two recorders had written it */
    log_channel(&l, 0, "/other"); /* says something else: the first counts */
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_int_equal(log_info(r)->n_channels, 2);
    assert_string_equal(log_messages(r), "/same=m0|/same=m1|/same=m2|/same=m3|/same=m4|/same=m5|");
    const uint32_t ids[] = {1, 7};
    struct reel_selection one = selection_all;
    one.channels = ids;
    one.n_channels = 2; /* there is no 7 */
    LOG out = log_write(r, &reel_writer_mcap, "", &one, 10);
    RECORDING *half = log_scan(&out);
    assert_string_equal(log_messages(half), "/same=m1|/same=m3|/same=m5|");
    assert_int_equal(log_info(half)->n_channels, 1);
    struct reel_recording *const both[] = {r, half};
    struct reel_error err = {0};
    assert_null(reel_stream_open(both, 2, &one, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    log_assert_finding(r, REEL_WARNING, "several channels are named /same");
    log_assert_finding(r, REEL_WARNING, "contradicts an earlier block CHAN of channel 0");
}

/* ---- 9 ---- */

static void rule_tide_09_every_compression(void **state) {
    (void)state;
    for (unsigned major = 0; major < 3; major += 2) {
        for (enum log_packing p = LOG_PLAIN; p <= LOG_BZIP2; p++) {
            LOG l = {0};
            log_tide(&l, major, 0);
            if (major < 2) {
                log_channel(&l, 0, "/a");
                log_channel(&l, 1, "/b");
            } else {
                two_channels(&l);
            }
            size_t chunk = log_six(&l, 9, p);
            log_six_index(&l, major >= 2, major < 2 ? 9 : chunk); /* offsets count in the decoded entries */
            RECORDING *r = log_scan(&l);
            assert_string_equal(log_messages(r), SIX);
            log_assert_findings(r, 0);
        }
    }
}

static void rule_tide_09_another_compression_is_damage_of_that_chunk(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 2, 0);
    two_channels(&l);
    size_t chunk = log_six(&l, 0, LOG_PLAIN);
    log_patch(&l, chunk + 36, 3, 1);
    log_six(&l, 1, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_string_equal(log_messages(r), SIX);
    log_assert_finding(r, REEL_LOSS, "unknown compression 3");
}

static void rule_tide_09_what_index_rows_link_to(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) { /* the block, its body, its id */
        LOG l = {0};
        log_tide(&l, 2, 0);
        two_channels(&l);
        size_t before = l.size;
        log_six_index(&l, true, how == 2 ? 77 : before + 2 * (12 + 8 + 60) + (how == 1 ? 12 : 0)); /* an index may stand
                                                                                                      before its chunk
                                                                                                    */
        log_six(&l, 77, LOG_PLAIN);
        RECORDING *r = log_scan(&l);
        assert_string_equal(log_messages(r), SIX);
        log_assert_findings(r, 0);
    }
}

/* ---- 10 ---- */

static const char *const order_meta[] = {"dc:Title", "t", NULL}, *const order_hashes[] = {"PP", NULL};

static void put_block(struct log *l, unsigned which) {
    switch (which) {
    case 0:
        log_six(l, 0, LOG_GZIP);
        break;
    case 1:
        log_channel_new(l, 0, "/a", "", "", order_hashes);
        break;
    case 2:
        log_channel_new(l, 1, "/b", "", "", NULL);
        break;
    case 3:
        log_type(l, "PP", "ros-msg-1.0", "Point", "1", "float64 x", NULL, NULL);
        break;
    default:
        log_meta(l, order_meta);
        break;
    }
}

/* All 120 orders of five blocks. */
static void rule_tide_10_no_order_of_blocks(void **state) {
    (void)state;
    enum { BLOCKS = 5, ORDERS = 120 };
    for (unsigned order = 0; order < ORDERS; order++) {
        LOG l = {0};
        unsigned left[BLOCKS] = {0, 1, 2, 3, 4}, n = BLOCKS, rest = order;
        log_tide(&l, 2, 0);
        for (; n > 0; n--) {
            unsigned pick = rest % n;
            rest /= n;
            put_block(&l, left[pick]);
            memmove(left + pick, left + pick + 1, (n - pick - 1) * sizeof *left);
        }
        RECORDING *r = log_scan(&l);
        assert_string_equal(log_messages(r), SIX);
        assert_int_equal(log_info(r)->n_channels, 2);
        const struct reel_channel *a = log_model(r, strcmp(log_model(r, 0)->name, "/a") != 0);
        assert_string_equal(a->type, "Point");
        assert_int_equal(a->n_schemas, 1);
        assert_true(bytes_is(a->schemas[0].data, "float64 x"));
        assert_string_equal(log_value(reel_index_metadata(reel_recording_index(r)), "dc:Title"), "t");
        log_assert_findings(r, 1); /* that no index */
    }
}

/* ---- 11 ---- */

/* Counts the bytes that are read of a large file. */
struct counting {
    struct reel_source source;
    const struct log *log;
    uint64_t hole, read;
};
static bool counting_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                          struct reel_error *err) {
    struct counting *c = (struct counting *)source;
    (void)err;
    c->read += size;
    memset(buffer, 0, size);                                      /* the payload is a hole */
    uint64_t begin = offset, end = offset + size, last = c->hole; /* bytes before the hole are the log's */
    if (begin < last) {
        memcpy(buffer, c->log->data + begin, (size_t)((end < last ? end : last) - begin));
    }
    return true;
}
static void counting_free(struct reel_source *source) {
    (void)source;
}

static void rule_tide_11_payloads_are_not_loaded(void **state) {
    (void)state;
    static const struct reel_source_ops ops = {.read = counting_read, .free = counting_free};
    const uint64_t payload = 3ull << 30;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/a");
    log_chunk(&l, 0, 1, LOG_T0, LOG_T0);
    log_entry(&l, 0, LOG_T0, "");
    log_patch(&l, l.size - 4, payload, 4);
    log_end(&l);
    log_resize(&l, (int64_t)payload);
    struct counting c = {
        .source = {.ops = &ops, .size = l.size + payload, .name = "huge.tide"}, .log = &l, .hole = l.size};
    struct reel_source *part = &c.source;
    struct reel_error err = {0};
    if (!reel_scan_run(&part, 1, NULL, REEL_SCRATCH "/huge.pack", NULL, &err)) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_index_free) struct reel_index *index = reel_index_open(REEL_SCRATCH "/huge.pack", &err);
    assert_non_null(index);
    assert_int_equal(reel_index_info(index)->messages, 1);
    assert_int_equal(reel_index_info(index)->payload_bytes, payload);
    assert_in_range(c.read, 1, 1 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_tide_01_blocks_may_be_longer),
        cmocka_unit_test(rule_tide_01_size_alone_rules_in_major_2),
        cmocka_unit_test(rule_tide_01_channels_decide_the_layout_when_major_and_size_disagree),
        cmocka_unit_test(rule_tide_02_any_unknown_tag_is_passed_over_by_its_size),
        cmocka_unit_test(rule_tide_03_versions),
        cmocka_unit_test(rule_tide_03_a_second_tide_block_is_reported),
        cmocka_unit_test(rule_tide_04_little_endian_and_ns),
        cmocka_unit_test(rule_tide_05_all_metadata_is_kept),
        cmocka_unit_test(rule_tide_06_types_by_hash),
        cmocka_unit_test(rule_tide_06_a_missing_type_is_reported_and_its_messages_served),
        cmocka_unit_test(rule_tide_05_binary_metadata_is_kept),
        cmocka_unit_test(rule_tide_06_an_orphan_hash_is_told_once_with_its_offset),
        cmocka_unit_test(rule_tide_07_types_that_nobody_uses_are_kept),
        cmocka_unit_test(rule_tide_06_the_first_of_two_types_of_one_hash_counts),
        cmocka_unit_test(rule_tide_07_hashes_and_dependencies_are_kept_on_copying),
        cmocka_unit_test(rule_tide_07_foreign_types_get_sha1_and_this_is_reported),
        cmocka_unit_test(rule_tide_08_channels_are_distinguished_by_id),
        cmocka_unit_test(rule_tide_09_every_compression),
        cmocka_unit_test(rule_tide_09_another_compression_is_damage_of_that_chunk),
        cmocka_unit_test(rule_tide_09_what_index_rows_link_to),
        cmocka_unit_test(rule_tide_10_no_order_of_blocks),
        cmocka_unit_test(rule_tide_11_payloads_are_not_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
