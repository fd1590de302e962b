/* Makes the inputs of golden/rosbag-2.0, one quirk each, and nothing else: `make_rosbag2_0 FOLDER` writes
 * FOLDER/CASE/input.*, `make_rosbag2_0
 * --check FOLDER` compares with what is there. No line is shared with the reader. */
#include "golden/golden_maker.h"
#include "makers/rosbag2_0_maker.h"

#define T0 1300000000u /* 2011-03-13: when 2.0 was new */

static void message(struct make2 *b, uint32_t conn, uint32_t sec, const char *text) {
    make2_message(b, conn, T0 + sec, text);
}
/* Two chunks, three messages each on /a and /b. */
static void six(struct make2 *b, const char *compression) {
    make2_begin(b, compression);
    make2_connection(b, 0, "/a", "/one", NULL);
    make2_connection(b, 1, "/b", "/two", "1");
    for (uint32_t i = 0; i < 6; i++) {
        const char text[] = {'m', (char)('0' + i), 0};
        message(b, i % 2, i, text);
        if (i % 3 == 2) {
            make2_close(b);
        }
    }
}
static void six_closed(struct make2 *b, const char *compression) {
    six(b, compression);
    make2_end(b);
}
static size_t position_of(const struct make2 *b, const char *text) {
    uint8_t *p = (uint8_t *)memmem(b->out.data, b->out.size, text, strlen(text));
    assert(p);
    return (size_t)(p - b->out.data);
}

/* --- as recorders leave them --- */

static void plain(struct make2 *b) {
    six_closed(b, "none");
}
static void bz2(struct make2 *b) {
    six_closed(b, "bz2");
}
static void lz4(struct make2 *b) {
    six_closed(b, "lz4");
}
static void empty(struct make2 *b) {
    make2_begin(b, "none");
    make2_end(b);
}
static void connections_of_a_topic(struct make2 *b) {
    make2_begin(b, "none");
    make2_connection(b, 5, "/rosout", "/one", "1");
    make2_connection(b, 2, "/rosout", "/two", "0");
    make2_connection(b, 9, "/idle", NULL, NULL);
    message(b, 5, 0, "of one");
    message(b, 2, 1, "of two");
    message(b, 5, 2, "of one again");
    make2_close(b);
    make2_end(b);
}
static void remapped_topic(struct make2 *b) {
    struct maker inner = {0};
    make2_begin(b, "none");
    make_field_text(&inner, "topic", "/before");
    make_field_text(&inner, "type", MAKE_TYPE);
    make_field_text(&inner, "md5sum", MAKE_MD5);
    make_field_text(&inner, "message_definition", MAKE_DEF);
    make_field_text(&inner, "tcp_nodelay", "0");
    make2_connection_of(b, 0, "/after", &inner);
    free(inner.data);
    message(b, 0, 0, "one");
    make2_close(b);
    make2_end(b);
}
static void unsorted_overlapping_chunks(struct make2 *b) {
    make2_begin(b, "lz4");
    make2_connection(b, 0, "/a", NULL, NULL);
    static const uint32_t seconds[] = {20, 40, 10, 30, 0, 25};
    static const char *const texts[] = {"20", "40", "10", "30", "0", "25"};
    for (unsigned i = 0; i < 6; i++) {
        message(b, 0, seconds[i], texts[i]);
        if (i % 2) {
            make2_close(b);
        }
    }
    make2_end(b);
}
/* Recorders of 2010 to 2013 wrote the fields of a hash table as they came. */
static void fields_shuffled(struct make2 *b) {
    make2_begin(b, "none");
    make2_connection(b, 0, "/a", NULL, NULL);
    message(b, 0, 0, "sorted");
    b->entries[b->n_entries++] = (struct make2_entry){0, T0 + 1, 7, (uint32_t)b->raw.size};
    size_t record = make_record(&b->raw);
    make_field_number(&b->raw, "op", 2, 1);
    make_field_number(&b->raw, "time", make2_time(T0 + 1, 7), 8);
    make_field_number(&b->raw, "conn", 0, 4);
    make_data(&b->raw, record, "shuffled", 8);
    make2_close(b);
    make2_end(b);
}
static void simulated_time(struct make2 *b) {
    make2_begin(b, "none");
    make2_connection(b, 0, "/clock", NULL, NULL);
    make2_message_of(b, 0, 0, 0, "start", 5);
    make2_message_of(b, 0, 0, 1500000000, "nsec carried", 12);
    make2_close(b);
    make2_end(b);
}
static void minor_version_unknown_op_and_field(struct make2 *b) {
    make2_begin(b, "none");
    b->out.data[11] = '1'; /* #ROSBAG V2.1 */
    make2_connection(b, 0, "/a", NULL, NULL);
    b->entries[b->n_entries++] = (struct make2_entry){0, T0, 0, (uint32_t)b->raw.size};
    size_t record = make_record(&b->raw);
    make_field_number(&b->raw, "conn", 0, 4);
    make_field_text(&b->raw, "new", "field");
    make_field_number(&b->raw, "op", 2, 1);
    make_field_number(&b->raw, "time", make2_time(T0, 0), 8);
    make_data(&b->raw, record, "one", 3);
    make2_close(b);
    record = make_record(&b->out);
    make_field_number(&b->out, "op", 0x42, 1);
    make_data(&b->out, record, "of the future", 13);
    make2_end(b);
}
static void version_3(struct make2 *b) {
    make2_begin(b, "none");
    b->out.data[9] = '3';
}
static void encrypted(struct make2 *b) {
    make2_sealed(b);
}
static void foreign(struct make2 *b) {
    make2_begin(b, "none");
    make2_foreign(b);
    make2_end(b);
}

/* --- quirks of 2010 --- */

static void index_length_wrong(struct make2 *b) {
    make2_begin(b, "none");
    b->index_length_off = 4;
    make2_connection(b, 0, "/a", NULL, NULL);
    make2_connection(b, 1, "/b", NULL, NULL);
    message(b, 0, 0, "a");
    message(b, 1, 1, "b");
    make2_close(b);
    message(b, 1, 2, "b again");
    make2_close(b);
    make2_end(b);
}
static void connections_only_at_end(struct make2 *b) {
    make2_begin(b, "bz2");
    b->conns_only_at_end = true;
    make2_connection(b, 0, "/a", NULL, NULL);
    message(b, 0, 0, "a");
    make2_close(b);
    make2_end(b);
}

/* --- damaged, or at odds with itself --- */

static void connection_late_and_unknown(struct make2 *b) {
    make2_begin(b, "none");
    message(b, 0, 0, "before its connection");
    message(b, 7, 1, "never described");
    make2_connection(b, 0, "/late", "/n", NULL);
    make2_close(b);
}
static void crashed(struct make2 *b) {
    six(b, "lz4");
}
static void crashed_in_a_chunk(struct make2 *b) {
    six(b, "none");
    make_patch(&b->out, b->chunk_data - 4, 0, 4);
    make_patch(&b->out, b->chunk_data - 8, 0, 4);
    b->out.size = position_of(b, "m5") + 1;
}
static void crashed_in_a_packed_chunk(struct make2 *b) {
    six(b, "bz2");
    make_patch(&b->out, b->chunk_data - 4, 0, 4);
    make_patch(&b->out, b->chunk_data - 8, 0, 4);
    b->out.size = b->chunk_data + 30;
}
static void cut_in_chunk(struct make2 *b) {
    six_closed(b, "none");
    b->out.size = position_of(b, "m4");
}
static void cut_in_index(struct make2 *b) {
    six_closed(b, "lz4");
    b->out.size -= 20;
}
static void chunk_does_not_decode(struct make2 *b) {
    six_closed(b, "bz2");
    b->out.data[position_of(b, "BZh9") + 40] ^= 0x10;
}
static void chunk_size_wrong(struct make2 *b) {
    make2_begin(b, "lz4");
    b->size_off = 100;
    make2_connection(b, 0, "/a", NULL, NULL);
    message(b, 0, 0, "one");
    make2_close(b);
    make2_end(b);
}
static void chunk_length_wrong(struct make2 *b) {
    six_closed(b, "none");
    make_patch(&b->out, b->chunk_data - 4, 500000, 4);
}
static void garbage_over_chunk_header(struct make2 *b) {
    six_closed(b, "none");
    memset(b->out.data + b->chunk_at, 0xa5, 20);
}
static void message_length_wrong(struct make2 *b) {
    six_closed(b, "none");
    make_patch(&b->out, position_of(b, "m1") - 4, 20, 4);
}
static void index_at_odds(struct make2 *b) {
    make2_begin(b, "none");
    make2_connection(b, 0, "/a", NULL, NULL);
    make2_connection(b, 1, "/b", NULL, NULL);
    message(b, 0, 0, "a");
    message(b, 1, 1, "b");
    b->entries[0].nsec = 1;
    b->entries[1].conn = 4;
    make2_close(b);
    make2_end(b);
    make_patch(&b->out, b->chunk_count_at, 7, 4);
}
static void index_pos_wrong(struct make2 *b) {
    six_closed(b, "none");
    make_patch(&b->out, b->index_pos_at, 4500, 8);
}

static const struct {
    const char *name, *file;
    void (*make)(struct make2 *b);
} cases[] = {
    {"bz2", "input.bag", bz2},
    {"chunk_does_not_decode", "input.bag", chunk_does_not_decode},
    {"chunk_length_wrong", "input.bag", chunk_length_wrong},
    {"chunk_size_wrong", "input.bag", chunk_size_wrong},
    {"connection_late_and_unknown", "input.bag", connection_late_and_unknown},
    {"connections_of_a_topic", "input.bag", connections_of_a_topic},
    {"connections_only_at_end", "input.bag", connections_only_at_end},
    {"crashed", "input.bag.active", crashed},
    {"crashed_in_a_chunk", "input.bag.active", crashed_in_a_chunk},
    {"crashed_in_a_packed_chunk", "input.bag.active", crashed_in_a_packed_chunk},
    {"cut_in_chunk", "input.bag", cut_in_chunk},
    {"cut_in_index", "input.bag", cut_in_index},
    {"empty", "input.bag", empty},
    {"encrypted", "input.bag", encrypted},
    {"fields_shuffled", "input.bag", fields_shuffled},
    {"foreign", "input.bag", foreign},
    {"garbage_over_chunk_header", "input.bag", garbage_over_chunk_header},
    {"index_at_odds", "input.bag", index_at_odds},
    {"index_length_wrong", "input.bag", index_length_wrong},
    {"index_pos_wrong", "input.bag", index_pos_wrong},
    {"lz4", "input.bag", lz4},
    {"message_length_wrong", "input.bag", message_length_wrong},
    {"minor_version_unknown_op_and_field", "input.bag", minor_version_unknown_op_and_field},
    {"plain", "input.bag", plain},
    {"remapped_topic", "input.bag", remapped_topic},
    {"simulated_time", "input.bag", simulated_time},
    {"unsorted_overlapping_chunks", "input.bag", unsorted_overlapping_chunks},
    {"version_3", "input.bag", version_3},
};

static struct golden_input make_case(size_t i, struct maker *m) {
    struct make2 b = {0};
    cases[i].make(&b);
    *m = b.out;
    b.out.data = NULL;
    make2_free(&b);
    return (struct golden_input){cases[i].name, cases[i].file};
}

int main(int argc, char **argv) {
    return golden_main(argc, argv, sizeof cases / sizeof *cases, make_case);
}
