/* The numbered rules of MIRA tapes. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/mira_render.h"

static const struct reel_write_options plain = {.compression = ""};

static void rule_mira_01_lengths_and_sizes_lead_from_field_to_field(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_block_begin(&t);
    tape_info(&t, "", "", "", 0);                                               /* strings and meta data of no bytes */
    tape_message_field(&t, "/c=\n\"", 1, "", 0, TAPE_PLAIN, "\x0c\0\0\0\0", 5); /* data that look like a field */
    tape_info(&t, "/meta", "T", "\0\x0b\x0c", 3);
    tape_message_field(&t, "/meta", 2, "", 0, TAPE_PLAIN, "", 0);
    RECORDING *r = bag_scan(&t.m);
    assert_int_equal(bag_info(r)->messages, 2);
    assert_int_equal(bag_info(r)->payload_bytes, 5);
    assert_string_equal(bag_channel(r, 1)->name, "/c=\n\"");
    assert_int_equal(bag_channel(r, 2)->schemas[0].data.size, 3);
    assert_false(bag_info(r)->damaged);
}

/* ---- 02: reads ---- */

struct counting {
    struct reel_source source;
    struct maker *m;
    unsigned reads;
};
static bool counting_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                          struct reel_error *err) {
    (void)err;
    struct counting *c = (struct counting *)source;
    memcpy(buffer, c->m->data + offset, size);
    c->reads++;
    return true;
}
static void counting_free(struct reel_source *source) {
    (void)source; /* on the stack of its test */
}

static void rule_mira_02_reads_are_those_of_blocks_not_of_messages(void **state) {
    (void)state;
    enum { MESSAGES = 400, SIZE = 20000, BLOCKS = MESSAGES * SIZE / (256 << 10) };
    static const struct reel_source_ops ops = {.read = counting_read, .free = counting_free};
    static char data[SIZE];
    TAPE t;
    tape_begin(&t, &tape_default);
    for (unsigned i = 0; i < MESSAGES; i++) {
        tape_put(&t, i % 2 ? "/a" : "/b", "T", i, "/f", i, TAPE_PLAIN, data, SIZE);
    }
    tape_finish(&t);
    struct counting counting = {.source = {.ops = &ops, .size = t.m.size, .name = "counting.tape"}, .m = &t.m};
    struct reel_source *source = &counting.source;
    struct reel_error err = {0};
    assert_true(reel_scan_run(&source, 1, &reel_format_mira, BAG_PACK, NULL, &err));
    assert_true(counting.reads <= BLOCKS);
    struct reel_index *index = reel_index_open(BAG_PACK, &err);
    RECORDING *r = reel_recording_from_index(index, &source, 1, &(struct reel_recording_options){0}, &err);
    assert_non_null(r);
    counting.reads = 0;
    AUTO(reel_stream_free) struct reel_stream *s = stream_of(r, &selection_all);
    struct reel_message m;
    struct reel_bytes payload;
    struct reel_description d;
    for (unsigned i = 0; i < MESSAGES; i++) {
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
        assert_true(stream_describe(s, &m, &d, &err) && reel_stream_payload(s, &m, &payload, &err));
        assert_int_equal(d.sequence, i);
    }
    assert_true(counting.reads <= BLOCKS);
}

/* ---- 03, 04, 05: what we write ---- */

static void rule_mira_03_only_large_messages_are_compressed_and_without_loss(void **state) {
    (void)state;
    static char data[2000];
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_put(&t, "/large", "T", 1, "", 0, TAPE_PLAIN, data, 1024);
    tape_put(&t, "/small", "T", 2, "", 0, TAPE_PLAIN, data, 1023);
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    const struct reel_write_options zlib = {.compression = "zlib"};
    MAKER out = render(r, &selection_all, &zlib, 20);
    unsigned met = 0;
    for (struct field f = {0}; field_next(&out, &f);) {
        if (f.type == 0x0c) {
            /* after the channel, the empty frame id and the sequence */
            const uint8_t *p = f.content + 8 + 4 + 6 + 4 + 4;
            bool packed = p[4] == 1;
            assert_int_equal(packed, met == 0);
            assert_int_equal(packed ? load_u32le(p + 5) : load_u32le(p), met == 0 ? 1024 : 1023);
            met++;
        }
    }
    assert_int_equal(met, 2);
    RECORDING *again = bag_scan(&out);
    assert_int_equal(bag_info(again)->payload_bytes, 2047);
    bag_assert_no_findings(again);
}

/* What the block at `f` says is what is in it; returns how many messages. */
static uint32_t check_block(const struct maker *m, const struct field *block) {
    uint32_t messages = 0;
    int64_t first = INT64_MAX, last = INT64_MIN;
    struct field f = *block;
    size_t end = block->end;
    while (field_next(m, &f) && (f.type == 0x0b || f.type == 0x0c)) {
        end = f.end;
        if (f.type == 0x0c) {
            int64_t time = (int64_t)load_u64le(f.content);
            first = time < first ? time : first;
            last = time > last ? time : last;
            messages++;
        }
    }
    assert_int_equal(load_u32le(block->content), messages);
    assert_int_equal(load_u32le(block->content + 4), end - block->end);
    assert_int_equal((int64_t)load_u64le(block->content + 8), first);
    assert_int_equal((int64_t)load_u64le(block->content + 16), last);
    return messages;
}

static void rule_mira_04_blocks_keep_their_size_and_say_what_is_true(void **state) {
    (void)state;
    static char data[3000];
    TAPE t;
    tape_begin(&t, &tape_default);
    for (int i = 0; i < 300; i++) {
        tape_put(&t, i % 3 ? "/a" : "/b", "T", i ^ 1, "/f", 0, TAPE_PLAIN, data, (size_t)(i * 10));
    }
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    static const uint64_t sizes[] = {0, 1, 4096, 100000};
    for (unsigned i = 0; i < 4; i++) {
        const struct reel_write_value size = {.name = "block_size", .text = "", .number = sizes[i]};
        const struct reel_write_options options = {.compression = "", .values = &size, .n_values = sizes[i] > 0};
        MAKER out = render(r, &selection_all, &options, 20);
        uint32_t blocks = 0, entries = 0;
        for (struct field f = {0}; field_next(&out, &f);) {
            if (f.type == 0x0a) {
                uint64_t most = sizes[i] ? sizes[i] : 256 << 10;
                blocks++;
                assert_true(check_block(&out, &f) == 1 || load_u32le(f.content + 4) <= most);
            }
            for (uint32_t k = 0; f.type == 0x0d && k < load_u32le(f.content); k++, entries++) {
                const uint8_t *e = f.content + 4 + 24 * (size_t)k;
                uint64_t block = load_u64le(e), at = block + load_u64le(e + 8);
                assert_true(block < out.size && out.data[block] == 0x0a);
                assert_true(at < out.size - 13 && out.data[at] == 0x0c);
                assert_true(load_u64le(out.data + at + 5) == load_u64le(e + 16));
            }
        }
        assert_int_equal(load_u32le(out.data + 20), blocks);
        assert_int_equal(entries, 300);
        assert_true(sizes[i] != 1 || blocks == 300);
    }
}

static void rule_mira_05_infos_stand_before_their_messages_and_are_linked(void **state) {
    (void)state;
    static const char *const names[] = {"/a", "/b", "/c"};
    TAPE t;
    tape_begin(&t, &tape_default);
    for (int i = 0; i < 9; i++) {
        tape_text(&t, names[i < 6 ? i % 2 : 2], i, "abc");
    }
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    const struct reel_write_value size = {.name = "block_size", .text = "", .number = 100};
    const struct reel_write_options options = {.compression = "", .values = &size, .n_values = 1};
    MAKER out = render(r, &selection_all, &options, 20);
    uint64_t link = load_u64le(out.data + 24);
    unsigned infos = 0, described[3] = {0};
    for (struct field f = {0}; field_next(&out, &f);) {
        if (f.type == 0x0b) {
            assert_int_equal(link, f.at);
            link = load_u64le(f.content);
            assert_memory_equal(f.content + 28, names[infos], 2);
            assert_int_equal(load_u64le(f.content + f.end - f.at - 5 - 16), 9); /* stored bytes of its three messages */
            described[infos++] = 1;
        } else if (f.type == 0x0c) {
            assert_true(described[f.content[13] - 'a']);
        }
    }
    assert_int_equal(infos, 3);
    assert_int_equal(link, 0);
}

static void rule_mira_06_times_are_relative_to_the_start(void **state) {
    (void)state;
    struct tape_style style = tape_default;
    for (unsigned zero = 0; zero < 2; zero++) {
        style.start = zero ? 0 : TAPE_START;
        TAPE t;
        tape_begin(&t, &style);
        tape_text(&t, "/a", 7, "x");
        tape_finish(&t);
        RECORDING *r = bag_scan(&t.m);
        assert_int_equal(bag_info(r)->start_ns, (int64_t)style.start + 7);
        assert_int_equal(bag_info(r)->clock, zero ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL);
        MAKER out = render(r, &selection_all, &plain, 5);
        assert_int_equal(load_u64le(out.data + 4), style.start);
        assert_memory_equal(out.data, t.m.data, t.m.size);
    }
}

static void rule_mira_07_frame_and_sequence_are_in_rows_and_kept(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    tape_put(&t, "/a", "T", 1, "/robot/LaserFrame", 41, TAPE_ZLIB, "x", 1);
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    struct reel_error err = {0};
    char row[512];
    size_t got;
    const struct reel_write_options rows = {.compression = "", .time_format = REEL_TIME_NANOSECONDS};
    AUTO(reel_row_output_free)
    struct reel_row_output *render_rows =
        reel_row_output_new(&reel_writer_ndjson, &rows, stream_of(r, &selection_all), &err);
    assert_non_null(render_rows);
    assert_true(reel_row_output_next(render_rows, row, sizeof row - 1, &got, &err));
    row[got] = '\0';
    assert_non_null(strstr(row, "\"sequence\":41"));
    assert_non_null(strstr(row, "/robot/LaserFrame"));
    MAKER out = render(r, &selection_all, &plain, 5);
    const uint8_t *frame = memmem(out.data, out.size, "/robot/LaserFrame", 17);
    assert_non_null(frame);
    assert_int_equal(load_u32le(frame + 17), 41);
}

/* What no document decides is read either way; MIRA's own order of bytes, sizes and links among them. */
static void rule_mira_08_no_single_guess_carries_the_result(void **state) {
    (void)state;
    for (unsigned v = 0; v < 16; v++) {
        struct tape_style style = tape_default;
        style.big = v & 1;
        style.size_counts = v & 2;
        style.links_to_content = v & 4;
        style.block_counts = v & 8;
        for (unsigned closed = 0; closed < 2; closed++) {
            TAPE t;
            tape_begin(&t, &style);
            tape_put(&t, "/a", "T", 1, "", 0, TAPE_GZIP, "one", 3);
            tape_put(&t, "/a", "T", 2, "", 0, TAPE_PLAIN, "two", 3);
            if (closed) {
                tape_finish(&t);
            }
            RECORDING *r = bag_scan(&t.m);
            assert_string_equal(bag_payloads(r), "one|two|");
            assert_int_equal(bag_findings(r, REEL_WARNING, ""), 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_mira_01_lengths_and_sizes_lead_from_field_to_field),
        cmocka_unit_test(rule_mira_02_reads_are_those_of_blocks_not_of_messages),
        cmocka_unit_test(rule_mira_03_only_large_messages_are_compressed_and_without_loss),
        cmocka_unit_test(rule_mira_04_blocks_keep_their_size_and_say_what_is_true),
        cmocka_unit_test(rule_mira_05_infos_stand_before_their_messages_and_are_linked),
        cmocka_unit_test(rule_mira_06_times_are_relative_to_the_start),
        cmocka_unit_test(rule_mira_07_frame_and_sequence_are_in_rows_and_kept),
        cmocka_unit_test(rule_mira_08_no_single_guess_carries_the_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
