/* The MCAP writer: what it writes is read back record by record and checked throughout (unit/mcap_reader.h). The
 * independent reader is tests/peers/mcap_check.mjs. */
#include "makers/toy_format.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "makers/mcap_reader.h"
#include "makers/tables.h"

/* --- helpers
 * ----------------------------------------------------------------------------------------------------------- */

static const struct reel_write_options plain = {0};

static uint8_t *convert(struct toy *toy, const struct reel_selection *selection, size_t step, uint64_t *size) {
    struct reel_error err = {0};
    struct reel_recording *recording = toy_open(toy);
    uint8_t *all = toy_render_planned(recording, &reel_writer_mcap, &plain, selection, step, size, &err);
    if (!all) {
        fail_msg("%s", err.text);
    }
    reel_recording_free(recording);
    return all;
}

static bool holds(struct reel_bytes where, const char *what, size_t size) {
    return memmem(where.data, where.size, what, size) != NULL;
}
#define HOLDS(where, what) holds(where, what, sizeof(what) - 1)

static void ros1_channel(struct toy *toy, const char *topic) {
    toy_channel(toy, &(struct reel_channel){
                         .name = topic,
                         .type = "std_msgs/String",
                         .encoding = "ros1",
                         .schemas = &(struct reel_schema){.name = "std_msgs/String",
                                                          .encoding = "ros1msg",
                                                          .hash = "992ce8a1687cec8c8bd883ec73ca41d1",
                                                          .data = bytes_text("string data\n")},
                         .n_schemas = 1,
                     });
}

/* Payload of which every byte is known by its place. */
static uint8_t *pattern(size_t size) {
    uint8_t *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    }
    return bytes;
}

/* --- tests
 * -------------------------------------------------------------------------------------------------------------- */

static void a_small_recording(void **state) {
    (void)state;
    struct toy toy = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    struct reel_pair pairs[] = {{"callerid", "/talker"}, {"latching", "1"}, {"x", "1"}, {"x", "2"}, {"x#2", "kept"}};
    struct reel_schema log = {.name = "roslib/Log",
                              .encoding = "ros1msg",
                              .hash = "00112233445566778899aabbccddeeff",
                              .data = bytes_text("Header header\nMSG: roslib/Header\n")};
    ros1_channel(&toy, "/a");
    ros1_channel(&toy, "/never");
    toy_channel(&toy, &(struct reel_channel){.name = "/rosout",
                                             .type = "roslib/Log",
                                             .encoding = "ros1",
                                             .schemas = &log,
                                             .n_schemas = 1,
                                             .latched = true,
                                             .metadata = {pairs, 5}});
    toy_message(&toy, 0, 1000, 7, "one", 3);
    toy_message(&toy, 2, 2000, 8, "", 0);
    toy_message(&toy, 0, 3000, 9, "three", 5);
    uint64_t size = 0;
    struct seen s = {0};
    uint8_t *file = convert(&toy, NULL, 1 << 20, &size);
    see_file(&s, file, size);
    assert_true(bytes_is(s.profile, "ros1"));
    assert_true(bytes_is(s.library, "reel " REEL_VERSION));
    assert_int_equal(s.channels, 3); /* also the one without messages */
    assert_int_equal(s.schemas, 2);  /* /a and /never share theirs */
    assert_int_equal(s.count[1], 2);
    assert_int_equal(s.count[2], 0);
    assert_int_equal(s.count[3], 1);
    assert_int_equal(s.payload, 8);
    assert_int_equal(s.chunks, 1);
    assert_int_not_equal(s.chunk[0].crc, 0);
    assert_int_equal(s.sequence, 9); /* from the source's record header */
    assert_int_equal(s.log_time, 3000);
    assert_int_equal(s.publish_time, 3001);
    assert_true(HOLDS(s.schema[2],
                      "\x11\0\0\0rosgraph_msgs/Log\x07\0\0\0ros1msg\x23\0\0\0Header header\nMSG: std_msgs/Header\n"));
    assert_true(HOLDS(s.channel[1], "\x02\0\0\0/a\x04\0\0\0ros1"));
    assert_true(HOLDS(s.channel[1], "\x08\0\0\0latching\x05\0\0\0false"));
    assert_true(HOLDS(s.channel[1], "\x06\0\0\0md5sum\x20\0\0\0"
                                    "992ce8a1687cec8c8bd883ec73ca41d1"));
    assert_true(HOLDS(s.channel[3], "\x08\0\0\0callerid\x07\0\0\0/talker"));
    assert_true(HOLDS(s.channel[3], "\x08\0\0\0latching\x04\0\0\0true"));
    assert_false(HOLDS(s.channel[3], "latching\x01\0\0\0"
                                     "1"));
    assert_true(HOLDS(s.channel[3], "\x09\0\0\0reel.type\x0a\0\0\0roslib/Log"));
    assert_true(HOLDS(s.channel[3], "\x01\0\0\0x\x01\0\0\0"
                                    "1"));
    assert_true(HOLDS(s.channel[3], "\x03\0\0\0x#3\x01\0\0\0"
                                    "2")); /* x#2 is taken */
    assert_true(HOLDS(s.channel[3], "\x03\0\0\0x#2\x04\0\0\0kept"));
    free(file);
    free(s.chunk);
    toy_free(&toy);
}

static void other_encodings_stay_honest(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_schema unnamed = {.name = "T", .encoding = "", .hash = "abcd", .data = bytes_text("struct T;")};
    struct reel_schema two[] = {{.name = "Envelope", .encoding = "protobuf", .hash = "", .data = bytes_text("\1\2")},
                                {.name = "Inner", .encoding = "x", .hash = "", .data = bytes_text("y")}};
    toy_start(&toy, REEL_CLOCK_RELATIVE);
    toy_channel(&toy, &(struct reel_channel){.name = "frame", .type = "frame", .encoding = "nanover"});
    toy_channel(&toy, &(struct reel_channel){.name = "j", .type = "J", .encoding = "json"});
    toy_channel(&toy, &(struct reel_channel){.name = "blob", .type = "Blob", .encoding = "rsb"});
    toy_channel(&toy, &(struct reel_channel){
                          .name = "t", .type = "T", .encoding = "tide", .schemas = &unnamed, .n_schemas = 1});
    toy_channel(&toy,
                &(struct reel_channel){
                    .name = "p", .type = "P", .encoding = "protobuf", .schemas = two, .n_schemas = 2, .latched = true});
    toy_message(&toy, 0, 5, 0, "\x80", 1);
    uint64_t size = 0;
    struct seen s = {0};
    uint8_t *file = convert(&toy, NULL, 1 << 20, &size);
    see_file(&s, file, size);
    assert_int_equal(s.profile.size, 0);
    assert_int_equal(s.schemas, 6);
    assert_true(HOLDS(s.channel[1], "\x05\0\0\0frame\x07\0\0\0msgpack"));
    assert_true(HOLDS(s.channel[1], "\x0d\0\0\0reel.encoding\x07\0\0\0nanover"));
    assert_true(HOLDS(s.schema[1], "\x05\0\0\0frame\x0a\0\0\0jsonschema\x11\0\0\0{\"type\":\"object\"}"));
    assert_true(HOLDS(s.schema[2], "\x01\0\0\0J\x0a\0\0\0jsonschema\x11\0\0\0{\"type\":\"object\"}"));
    assert_true(HOLDS(s.schema[3], "\x04\0\0\0Blob\0\0\0\0\0\0\0\0"));
    assert_true(HOLDS(s.schema[4], "\x01\0\0\0T\x04\0\0\0tide\x09\0\0\0struct T;"));
    assert_true(HOLDS(s.channel[4], "\x09\0\0\0reel.hash\x04\0\0\0"
                                    "abcd"));
    assert_true(HOLDS(s.schema[5], "\x08\0\0\0Envelope\x08\0\0\0protobuf\x02\0\0\0\1\2"));
    assert_true(HOLDS(s.channel[5], "\x08\0\0\0latching\x04\0\0\0true"));
    assert_true(HOLDS(s.schema[6], "\x05\0\0\0Inner\x01\0\0\0x\x01\0\0\0y"));
    assert_true(HOLDS(s.channel[5], "\x0c\0\0\0reel.schemas\x03\0\0\0"
                                    "5 6"));
    assert_true(HOLDS(s.channel[5], "\x09\0\0\0reel.type\x01\0\0\0P")); /* the record is named Envelope */
    assert_true(HOLDS(s.channel[1], "\x0c\0\0\0reel.schemas\x04\0\0\0none"));
    assert_false(HOLDS(s.channel[3], "reel.schemas"));
    assert_int_equal(s.metadata, 1); /* that the clock is relative */
    free(file);
    free(s.chunk);
    toy_free(&toy);
}

static void attachments_and_metadata(void **state) {
    (void)state;
    struct toy toy = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_pair(&toy, "dc:Creator", "Ada");
    toy_pair(&toy, "dc:Creator", "Grace");
    toy_pair(&toy, "note", "");
    ros1_channel(&toy, "/a");
    uint8_t *big = pattern(200000);
    toy_attachment(&toy, "big.bin", "application/octet-stream", 77, bytes_of(big, 200000));
    toy_message(&toy, 0, 1, 0, "x", 1);
    toy_attachment(&toy, "empty.txt", "text/plain", -5, bytes_of("", 0));
    uint64_t size = 0;
    struct seen s = {0};
    uint8_t *file = convert(&toy, NULL, 1 << 20, &size);
    see_file(&s, file, size);
    assert_int_equal(s.attachments, 2);
    assert_int_equal(s.metadata, 1);
    struct reel_bytes record = bytes_of(file + s.attachment_at[0], (size_t)s.attachment_size[0]);
    assert_true(holds(record, (const char *)big, 200000));
    assert_true(HOLDS(record, "M\0\0\0\0\0\0\0M\0\0\0\0\0\0\0\x07\0\0\0big.bin\x18\0\0\0application/octet-stream"));
    record = bytes_of(file + s.metadata_at[0], (size_t)s.metadata_size[0]);
    assert_true(HOLDS(record, "\x04\0\0\0reel"));
    assert_true(HOLDS(record, "\x0a\0\0\0dc:Creator\x03\0\0\0Ada"));
    assert_true(HOLDS(record, "\x0c\0\0\0dc:Creator#2\x05\0\0\0Grace"));
    free(file);
    free(big);
    free(s.chunk);
    toy_free(&toy);
}

static void nothing_at_all_is_a_file(void **state) {
    (void)state;
    struct toy toy = {0};
    struct seen s = {0};
    for (int channels = 0; channels < 2; channels++) {
        toy_start(&toy, REEL_CLOCK_WALL);
        if (channels > 0) {
            ros1_channel(&toy, "/a");
        }
        uint64_t size = 0;
        uint8_t *file = convert(&toy, NULL, 1 << 20, &size);
        see_file(&s, file, size);
        assert_int_equal(s.channels, channels);
        assert_int_equal(s.schemas, channels);
        assert_int_equal(s.chunks, 0);
        free(file);
    }
    free(s.chunk);
    toy_free(&toy);
}

static void chunks_are_bounded(void **state) {
    (void)state;
    struct toy toy = {0};
    struct seen s = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    for (int i = 0; i < 40; i++) {
        char topic[16];
        snprintf(topic, sizeof topic, "/t%d", i);
        ros1_channel(&toy, topic);
    }
    uint8_t *payload = pattern(1000);
    for (uint32_t i = 0; i < 40000; i++) { /* 16384 of 8 bytes to a chunk */
        toy_message(&toy, i * 7 % 40, 1000000 + i, i, payload, 8);
    }
    for (uint32_t i = 0; i < 5000; i++) { /* a MiB of 1031 bytes each */
        toy_message(&toy, i % 3, 2000000 + i, i, payload, 1000);
    }
    uint64_t size = 0;
    uint8_t *file = convert(&toy, NULL, 1 << 20, &size);
    see_file(&s, file, size);
    assert_int_equal(s.messages, 45000);
    assert_int_equal(s.payload, 40000 * 8 + 5000 * 1000);
    assert_int_equal(s.chunk[0].messages, 16384);
    assert_int_equal(s.chunk[1].messages, 16384);
    assert_int_equal(s.chunk[0].indexes, 40);
    for (uint32_t i = 0; i < s.chunks; i++) {
        assert_in_range(s.chunk[i].records, 1, 1 << 20);
        assert_in_range(s.chunk[i].messages, 1, 16384);
        assert_int_not_equal(s.chunk[i].crc, 0);
        bool full = s.chunk[i].messages == 16384 || s.chunk[i].records + 1031 > 1 << 20;
        assert_true(full || i + 1 == s.chunks);
    }
    free(file);
    free(payload);
    free(s.chunk);
    toy_free(&toy);
}

/* 2100 chunks, a GB of output from a small file: the tail is read, and of the chunks only what their indexes point at.
 */
static void more_chunks_than_one_part_of_the_tail(void **state) {
    (void)state;
    enum { MESSAGES = 2100, SIZE = 600000 };
    struct toy toy = {0};
    struct reel_error err = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    ros1_channel(&toy, "/a");
    uint8_t *payload = pattern(SIZE);
    toy_message(&toy, 0, 0, 0, payload, SIZE);
    uint64_t payload_at = toy.size - SIZE;
    for (uint32_t i = 1; i < MESSAGES; i++) {
        toy_message_again(&toy, 0, i, payload_at, SIZE);
    }
    struct reel_recording *recording = toy_open(&toy);
    struct reel_stream *stream = toy_stream(recording, NULL);
    struct reel_plan *plan = reel_plan_new(&reel_writer_mcap, &plain, stream, NULL, &err);
    struct reel_planned_output *render = reel_planned_output_new(plan, toy_stream(recording, NULL), &err);
    assert_non_null(render);
    uint64_t size = reel_plan_length(plan), summary_at = 0;
    uint8_t end[37];
    assert_true(reel_planned_output_read(render, size - sizeof end, end, sizeof end, &err));
    summary_at = load_u64le(end + MCAP_RECORD_HEAD);
    assert_in_range(summary_at, (uint64_t)MESSAGES * SIZE, size);
    size_t length = (size_t)(size - summary_at);
    uint8_t *summary = malloc(length);
    assert_true(reel_planned_output_read(render, summary_at, summary, length, &err));
    assert_int_equal(load_u32le(end + MCAP_RECORD_HEAD + 16), crc32(0, summary, (uInt)length - 12));
    uint32_t chunks = 0;
    for (struct cursor c = cursor_of(bytes_of(summary, length)); c.at[0] != MCAP_FOOTER;) {
        uint8_t op = 0, head[MCAP_CHUNK_HEAD];
        struct cursor r = next_record(&c, &op);
        if (op == MCAP_CHUNK_INDEX) {
            assert_int_equal(cursor_u64le(&r), chunks); /* times are 0, 1, 2 … */
            cursor_u64le(&r);
            uint64_t at = cursor_u64le(&r);
            if (chunks++ % 100 == 47) {
                assert_true(reel_planned_output_read(render, at, head, sizeof head, &err));
                assert_int_equal(head[0], MCAP_CHUNK);
                assert_int_equal(load_u64le(head + MCAP_RECORD_HEAD), chunks - 1);
            }
        }
    }
    assert_int_equal(chunks, MESSAGES);
    free(summary);
    free(payload);
    reel_planned_output_free(render);
    reel_plan_free(plan);
    reel_stream_free(stream);
    reel_recording_free(recording);
    toy_free(&toy);
}

static void a_huge_message_has_its_own_chunk_without_crc(void **state) {
    (void)state;
    struct toy toy = {0};
    struct seen s = {0};
    uint8_t *payload = pattern(9 << 20);
    toy_start(&toy, REEL_CLOCK_WALL);
    ros1_channel(&toy, "/a");
    toy_message(&toy, 0, 1, 0, payload, 10);
    toy_message(&toy, 0, 2, 0, payload, 9 << 20);
    toy_message(&toy, 0, 3, 0, payload, 10);
    toy_message(&toy, 0, 4, 0, payload, 4 << 20); /* larger than a chunk, not than a group that is rendered whole */
    uint64_t size = 0;
    uint8_t *file = convert(&toy, NULL, 777777, &size);
    see_file(&s, file, size);
    assert_int_equal(s.chunks, 4);
    assert_int_not_equal(s.chunk[0].crc, 0);
    assert_int_equal(s.chunk[1].crc, 0);
    assert_int_not_equal(s.chunk[2].crc, 0);
    assert_int_not_equal(s.chunk[3].crc, 0);
    assert_memory_equal(file + s.chunk[1].at + MCAP_CHUNK_HEAD + MCAP_MESSAGE_HEAD, payload, 9 << 20);
    free(file);
    free(payload);
    free(s.chunk);
    toy_free(&toy);
}

/* One renderer, asked here and there, gives what another gives from front to back. */
static void any_range_is_that_part_of_the_whole(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    uint8_t *payload = pattern(9 << 20);
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_pair(&toy, "a", "b");
    ros1_channel(&toy, "/a");
    ros1_channel(&toy, "/b");
    toy_attachment(&toy, "x", "", 0, bytes_of(payload, 100000));
    for (uint32_t i = 0; i < 30000; i++) {
        toy_message(&toy, i % 2, i, i, payload + i, i == 20000 ? 9 << 19 : i % 150);
    }
    uint64_t size = 0;
    struct reel_recording *recording = toy_open(&toy);
    uint8_t *whole = toy_render_planned(recording, &reel_writer_mcap, &plain, NULL, SIZE_MAX / 2, &size, &err);
    struct reel_stream *stream = toy_stream(recording, NULL);
    struct reel_plan *plan = reel_plan_new(&reel_writer_mcap, &plain, stream, NULL, &err);
    struct reel_planned_output *render = reel_planned_output_new(plan, toy_stream(recording, NULL), &err);
    assert_true(whole && render);
    assert_int_equal(reel_plan_length(plan), size);
    uint8_t *part = malloc(1 << 20);
    uint64_t random = 42;
    for (int i = 0; i < 200; i++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        uint64_t at = (random >> 16) % size, length = 1 + (random >> 40) % (i % 2 ? 300 : 1 << 20);
        length = length > size - at ? size - at : length;
        at = i % 5 == 4 ? size - length : at;
        assert_true(reel_planned_output_read(render, at, part, (size_t)length, &err));
        assert_memory_equal(part, whole + at, (size_t)length);
    }
    free(part);
    free(whole);
    free(payload);
    reel_planned_output_free(render);
    reel_plan_free(plan);
    reel_stream_free(stream);
    reel_recording_free(recording);
    toy_free(&toy);
}

static void messages_put_in_front_keep_the_index_sorted(void **state) {
    (void)state;
    struct toy toy = {0};
    struct seen s = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    ros1_channel(&toy, "/a");
    ros1_channel(&toy, "/b");
    toy_message(&toy, 1, 100, 1, "b", 1);
    for (uint32_t i = 0; i < 100; i++) {
        toy_message(&toy, 0, 200 + i, i, "a", 1);
    }
    struct reel_selection cut = selection_all;
    cut.start_ns = 250;
    cut.last_per_topic = true;
    uint64_t size = 0;
    uint8_t *file = convert(&toy, &cut, 1 << 20, &size);
    see_file(&s, file, size);
    assert_int_equal(s.count[1], 51);
    assert_int_equal(s.count[2], 1);
    free(file);
    free(s.chunk);
    toy_free(&toy);
}

static void what_mcap_cannot_hold_is_refused(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    uint64_t size = 0;
    toy_start(&toy, REEL_CLOCK_RELATIVE);
    ros1_channel(&toy, "/early");
    toy_message(&toy, 0, -5, 0, "x", 1);
    struct reel_recording *recording = toy_open(&toy);
    assert_null(toy_render_planned(recording, &reel_writer_mcap, &plain, NULL, 4096, &size, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "/early"));
    assert_non_null(strstr(err.text, "-5 ns"));
    struct reel_write_options unknown = {.compression = "brotli"};
    assert_null(toy_render_planned(recording, &reel_writer_mcap, &unknown, NULL, 4096, &size, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "brotli"));
    reel_recording_free(recording);
    toy_free(&toy);
}

static void losses_are_reported(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0};
    struct reel_schema two[] = {{.name = "A", .encoding = "x", .hash = "", .data = bytes_text("1")},
                                {.name = "B", .encoding = "x", .hash = "", .data = bytes_text("2")}};
    toy_start(&toy, REEL_CLOCK_RELATIVE);
    ros1_channel(&toy, "/fine");
    toy_channel(&toy, &(struct reel_channel){.name = "/log", .type = "roslib/Log", .encoding = "ros1"});
    toy_channel(&toy,
                &(struct reel_channel){.name = "/two", .type = "A", .encoding = "x", .schemas = two, .n_schemas = 2});
    struct reel_recording *recording = toy_open(&toy);
    struct reel_stream *stream = toy_stream(recording, NULL);
    struct reel_loss *loss = reel_loss_new();
    assert_true(reel_writer_accepts(&reel_writer_mcap, stream, loss, &err));
    size_t count = 0, changes = 0, losses = 0;
    const struct reel_loss_item *items = reel_loss_items(loss, &count);
    for (size_t i = 0; i < count; i++) {
        changes += items[i].kind == REEL_CHANGES;
        losses += items[i].kind == REEL_LOSES;
        assert_true(!items[i].channel || strcmp(items[i].channel, "/fine") != 0);
    }
    assert_int_equal(changes, 2); /* the renamed type, the relative clock */
    assert_int_equal(losses, 1);  /* no definition of /log; the second schema of /two is a record, too */
    reel_loss_free(loss);
    reel_stream_free(stream);
    reel_recording_free(recording);
    toy_free(&toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_recording),
        cmocka_unit_test(other_encodings_stay_honest),
        cmocka_unit_test(attachments_and_metadata),
        cmocka_unit_test(nothing_at_all_is_a_file),
        cmocka_unit_test(chunks_are_bounded),
        cmocka_unit_test(more_chunks_than_one_part_of_the_tail),
        cmocka_unit_test(a_huge_message_has_its_own_chunk_without_crc),
        cmocka_unit_test(any_range_is_that_part_of_the_whole),
        cmocka_unit_test(messages_put_in_front_keep_the_index_sorted),
        cmocka_unit_test(what_mcap_cannot_hold_is_refused),
        cmocka_unit_test(losses_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
