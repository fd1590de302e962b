/* Makes the inputs of golden/rosbag-1.2, one quirk each, and nothing else: `make_rosbag1 FOLDER` writes
 * FOLDER/CASE/input.*, `make_rosbag1 --check FOLDER` compares with what is there. README.md describes each case. Shares
 * no code with the reader. */
#include "golden/golden_maker.h"

#define T0 1250000000u /* 2009-08-11: when 1.2 was new */
#define TYPED(topic) topic "\n" MAKE_MD5 "\n" MAKE_TYPE "\n"
#define MD5_FLOAT "fdb28210bfa9d7c91146260178d9a584"
#define MD5_LOST "0123456789abcdef0123456789abcdef"
enum { PADDING = 4066 }; /* header_len 30 + data_len 4066 = 4096: what recorders wrote */

/* --- whole bags that several cases begin with --- */

static void bag_line(struct maker *m) {
    make_text(m, MAKE_LINE);
}
static void message(struct maker *m, const char *topic, uint32_t sec, const char *data) {
    make_message(m, topic, T0 + sec, sec * 1000, data);
}
/* Three messages on each of /a and /b, T0 … T0+5, as `struct entries` for an index. */
struct entries {
    struct make_entry a[3], b[3];
    size_t end[6]; /* where record i ends */
};
static struct entries six_messages(struct maker *m) {
    struct entries p;
    for (uint32_t i = 0; i < 6; i++) {
        const char *topic = i % 2 ? "/b" : "/a", text[] = {'m', (char)('0' + i), 0};
        size_t at = m->size;
        if (i < 2) {
            make_definition(m, topic);
        }
        message(m, topic, i, text);
        (i % 2 ? p.b : p.a)[i / 2] = (struct make_entry){T0 + i, i * 1000, at};
        p.end[i] = m->size;
    }
    return p;
}
static struct entries six_indexed(struct maker *m, size_t padding) {
    bag_line(m);
    size_t index_pos = make_file_header(m, 0, padding);
    struct entries p = six_messages(m);
    make_patch(m, index_pos, m->size, 8);
    make_index(m, "/a", 0, p.a, 3);
    make_index(m, "/b", 0, p.b, 3);
    return p;
}

/* --- text-header logs --- */

static void log_10(struct maker *m) {
    make_text(m, "#ROSLOG V1.0\n0003\n" TYPED("/scan") "odom\nstd_msgs/RobotBase2DOdom\n" MD5_FLOAT "\nany\n*\n*\n");
    make_log_record(m, "/scan\n", 4, 490000000, "s1");
    make_log_record(m, "odom\n", 4, 500000000, "o1");
    make_log_record(m, "any\n", 5, 0, "\nany line\n");
    make_log_record(m, "/scan\n", 6, 0, "s2");
}
static void log_11_rosrecord(struct maker *m) {
    make_text(m, "#ROSRECORD V1.1\n");
    make_log_record(m, TYPED("imu"), 1230660784, 350393000, "i1");
    make_log_record(m, "/odom\n" MAKE_TYPE "\n" MAKE_MD5 "\n", 1230660784, 400000000, "o1");
    make_log_record(m, TYPED("imu"), 1230660785, 0, "i2");
}
static void log_11_roslog(struct maker *m) {
    make_text(m, "#ROSLOG V1.1\n");
    make_log_record(m, "odom\n*\nstd_msgs/RobotBase2DOdom\n", 0, 250000000, "o1");
    make_log_record(m, "odom\n*\nstd_msgs/RobotBase2DOdom\n", 0, 500000000, "");
    make_log_record(m, "odom\n*\nstd_msgs/RobotBase2DOdom\n", 0, 750000000, "o3");
}
static void log_11_cut(struct maker *m) {
    log_11_roslog(m);
    m->size -= 1;
}
static void log_0(struct maker *m) {
    make_text(m, TYPED("/chatter"));
    make_log_record(m, "", 1, 0, "one");
    make_log_record(m, "", 2, 0, "two");
}
static void version_13(struct maker *m) {
    make_text(m, "#ROSBAG V1.3\n");
    make_file_header(m, 0, PADDING);
}

/* --- the frame of a 1.2 bag --- */

static void no_header(struct maker *m) {
    bag_line(m);
    six_messages(m);
}
static void indexed(struct maker *m) {
    six_indexed(m, PADDING);
}
static void padding_4096(struct maker *m) {
    six_indexed(m, PADDING - 8); /* the wiki: 4096 for the whole record */
}
static void index_pos_0(struct maker *m) {
    bag_line(m);
    make_file_header(m, 0, PADDING);
    six_messages(m);
}
static void empty_indexed(struct maker *m) {
    bag_line(m);
    make_file_header(m, 16 + 4104, PADDING);
}
static void cut_in_header(struct maker *m) {
    index_pos_0(m);
    make_record(m);
    make_field_text(m, "md5", MAKE_MD5);
    make_patch(m, m->size - 44, 150, 4); /* the header should be longer */
}
static void cut_in_data(struct maker *m) {
    index_pos_0(m);
    m->size -= 1;
}
static void cut_in_index(struct maker *m) {
    six_indexed(m, PADDING);
    m->size -= 20; /* one entry and a bit */
}
static void cut_before_index(struct maker *m) {
    struct entries p = six_indexed(m, PADDING);
    m->size = p.end[3]; /* a copy that broke off between two records */
}
static void header_past_end(struct maker *m) {
    bag_line(m);
    six_messages(m);
    make_number(m, 5000, 4);
    make_text(m, "and then nothing");
}
static void huge_header(struct maker *m) {
    bag_line(m);
    six_messages(m);
    make_number(m, 0xfffffff0u, 4);
    make_text(m, "and then nothing");
}

/* --- the index --- */

static void first_pos_message(struct maker *m) {
    struct maker plain = {0};
    struct entries p = six_indexed(&plain, PADDING);
    struct maker definition = {0};
    make_definition(&definition, "/a");
    p.a[0].pos += definition.size;
    p.b[0].pos += definition.size;
    size_t index_pos;
    bag_line(m);
    index_pos = make_file_header(m, 0, PADDING);
    six_messages(m);
    make_patch(m, index_pos, m->size, 8);
    make_index(m, "/a", 0, p.a, 3);
    make_index(m, "/b", 0, p.b, 3);
    free(plain.data);
    free(definition.data);
}
static void index_no_type(struct maker *m) {
    bag_line(m);
    size_t index_pos = make_file_header(m, 0, PADDING);
    struct entries p = six_messages(m);
    make_patch(m, index_pos, m->size, 8);
    for (int t = 0; t < 2; t++) {
        struct maker data = {0};
        for (int i = 0; i < 3; i++) {
            const struct make_entry *entry = &(t ? p.b : p.a)[i];
            make_number(&data, entry->sec, 4);
            make_number(&data, entry->nsec, 4);
            make_number(&data, entry->pos, 8);
        }
        size_t record = make_record(m);
        make_field_number(m, "count", 3, 4);
        make_field_number(m, "op", 4, 1);
        make_field_text(m, "topic", t ? "/b" : "/a");
        make_field_number(m, "ver", 0, 4);
        make_data(m, record, data.data, data.size);
        free(data.data);
    }
}
/* A wrong index after the six messages. */
static void other_index(struct maker *m, uint32_t ver, void (*change)(struct entries *p), uint32_t count_a) {
    bag_line(m);
    size_t index_pos = make_file_header(m, 0, PADDING);
    struct entries p = six_messages(m);
    make_patch(m, index_pos, m->size, 8);
    if (change) {
        change(&p);
    }
    make_index(m, "/a", ver, p.a, count_a);
    make_index(m, "/b", ver, p.b, 3);
}
static void index_ver_1(struct maker *m) {
    other_index(m, 1, NULL, 3);
}
static void index_fewer(struct maker *m) {
    other_index(m, 0, NULL, 2);
}
static void move_place(struct entries *p) {
    p->a[1].pos += 3;
}
static void index_wrong_position(struct maker *m) {
    other_index(m, 0, move_place, 3);
}
static void index_wrong_count(struct maker *m) {
    other_index(m, 0, NULL, 3);
    for (size_t i = m->size - 400; i + 10 < m->size; i++) { /* the count field of /a says 7, its data hold 3 */
        if (memcmp(m->data + i, "count=\x03", 7) == 0) {
            m->data[i + 6] = 7;
            return;
        }
    }
    assert(false);
}

/* --- damage between records --- */

static void garbage_with_index(struct maker *m) {
    struct maker good = {0};
    struct entries p = six_indexed(&good, PADDING);
    make_bytes(m, good.data, good.size);
    memset(m->data + p.end[1], 0xee, 40); /* the head of m2's record */
    free(good.data);
}
static void garbage_without_index(struct maker *m) {
    struct maker good = {0};
    bag_line(&good);
    struct entries p = six_messages(&good);
    make_bytes(m, good.data, p.end[2]);
    make_text(m, "These are thirty-six bytes of rubble");
    make_bytes(m, good.data + p.end[2], good.size - p.end[2]);
    free(good.data);
}

/* --- definitions --- */

static void definition_per_type(struct maker *m) {
    bag_line(m);
    make_definition(m, "/a");
    message(m, "/a", 0, "a0");
    message(m, "/b", 1, "b1"); /* of the same type, not defined again */
    message(m, "/a", 2, "a2");
}
static void no_definition(struct maker *m) {
    bag_line(m);
    make_message_of(m, "/lost", MD5_LOST, "a/Lost", NULL, T0, 0, "x", 1);
}
static void definition_empty(struct maker *m) {
    bag_line(m);
    make_definition_of(m, "/old", MAKE_MD5, MAKE_TYPE, ""); /* recorded again from a log older than 1.2 */
    message(m, "/old", 0, "o0");
}
static void late_definition(struct maker *m) {
    bag_line(m);
    message(m, "/a", 0, "a0");
    make_definition(m, "/a");
    message(m, "/a", 1, "a1");
}
static void second_definition(struct maker *m) {
    bag_line(m);
    make_definition(m, "/a");
    message(m, "/a", 0, "text");
    make_definition_of(m, "/a", MD5_FLOAT, "std_msgs/Float64", "float64 data\n");
    make_message_of(m, "/a", MD5_FLOAT, "std_msgs/Float64", NULL, T0 + 1, 0, "8 bytes.", 8);
    message(m, "/a", 2, "more text");
    make_definition_of(m, "/a", MAKE_MD5, MAKE_TYPE, "string other\n");
}

/* --- header fields --- */

static void shuffled_fields(struct maker *m) {
    bag_line(m);
    size_t record = make_record(m);
    make_field_text(m, "topic", "/a");
    make_field_text(m, "type", MAKE_TYPE);
    make_field_number(m, "op", 1, 1);
    make_field_text(m, "md5", MAKE_MD5);
    make_field_text(m, "def", MAKE_DEF);
    make_data(m, record, "skip me", 7); /* a definition has no data; it is stepped over */
    for (uint32_t i = 0; i < 3; i++) {
        const char text[] = {'a', (char)('0' + i), 0};
        record = make_record(m);
        for (uint32_t f = 0; f < 6; f++) { /* another order each time */
            switch ((f + 2 * i) % 6) {
            case 0:
                make_field_number(m, "sec", T0 + i, 4);
                break;
            case 1:
                make_field_text(m, "type", MAKE_TYPE);
                break;
            case 2:
                make_field_number(m, "op", 2, 1);
                break;
            case 3:
                make_field_number(m, "nsec", i, 4);
                break;
            case 4:
                make_field_text(m, "topic", "/a");
                break;
            default:
                make_field_text(m, "md5", MAKE_MD5);
            }
        }
        make_data(m, record, text, 2);
    }
}
static void unknown_op_field(struct maker *m) {
    bag_line(m);
    make_definition(m, "/a");
    for (uint32_t i = 0; i < 2; i++) {
        size_t record = make_record(m);
        make_field_text(m, "colour", "red");
        make_field_number(m, "op", 0x77, 1);
        make_data(m, record, "skip me", 7);
        record = make_record(m);
        make_field_text(m, "md5", MAKE_MD5);
        make_field_number(m, "nsec", 0, 4);
        make_field_number(m, "op", 2, 1);
        make_field_number(m, "sec", T0 + i, 4);
        make_field_text(m, "shape", "round");
        make_field_text(m, "topic", "/a");
        make_field_text(m, "type", MAKE_TYPE);
        make_data(m, record, i ? "a1" : "a0", 2);
    }
}
static void any_bytes(struct maker *m) {
    static const char odd[] = "/a=b\0c\nd\xff";
    bag_line(m);
    for (uint32_t i = 0; i < 3; i++) {
        size_t record = make_record(m);
        if (i == 0) {
            make_field(m, "def", "# x = y\0\n", 9);
        }
        make_field_text(m, "md5", MAKE_MD5);
        if (i > 0) {
            make_field_number(m, "nsec", 0x0a003d0a, 4); /* newline, NUL, '=', newline */
            make_field_number(m, "sec", 0x3d3d3d3d, 4);  /* "====" */
        }
        make_field_number(m, "op", i ? 2 : 1, 1);
        make_field(m, "topic", odd, sizeof odd - 1);
        make_field_text(m, "type", MAKE_TYPE);
        make_data(m, record, "=\n", i);
    }
}
static void header_fields(struct maker *m) {
    bag_line(m);
    size_t record = make_record(m);
    make_field_number(m, "index_pos", 0, 8);
    make_field_number(m, "op", 3, 1);
    make_field_text(m, "recorder", "lab 7");
    make_data(m, record, "", 0);
    six_messages(m);
}

/* --- messages --- */

static void latched(struct maker *m) {
    bag_line(m);
    make_definition(m, "/map");
    make_message_of(m, "/map", MAKE_MD5, MAKE_TYPE, "/map_server", T0, 0, "m0", 2);
    message(m, "/map", 1, "m1");
    make_message_of(m, "/map", MAKE_MD5, MAKE_TYPE, "/other", T0 + 2, 0, "m2", 2);
    make_message_of(m, "/map", MAKE_MD5, MAKE_TYPE, "/map_server", T0 + 3, 0, "m3", 2);
}
static void out_of_order(struct maker *m) {
    bag_line(m);
    size_t index_pos = make_file_header(m, 0, PADDING);
    static const uint32_t seconds[] = {5, 3, 4, 3, 0};
    struct make_entry entries[5];
    for (uint32_t i = 0; i < 5; i++) {
        const char text[] = {'m', (char)('0' + i), 0};
        entries[i] = (struct make_entry){T0 + seconds[i], seconds[i] * 1000, m->size};
        if (i == 0) {
            make_definition(m, "/a");
        }
        message(m, "/a", seconds[i], text);
    }
    make_patch(m, index_pos, m->size, 8);
    make_index(m, "/a", 0, entries, 5);
}
static void nsec_carry(struct maker *m) {
    bag_line(m);
    make_definition(m, "/a");
    make_message(m, "/a", T0, 3000000007u, "three seconds on");
    make_message(m, "/a", T0 + 1, 999999999, "nearly two");
    make_message(m, "/a", T0 + 2, 1000000000, "three");
}
static void zero_length(struct maker *m) {
    bag_line(m);
    make_definition(m, "/empty");
    message(m, "/empty", 0, "");
    message(m, "/empty", 1, "");
    message(m, "/empty", 1, "");
}
static void sim_time(struct maker *m) {
    bag_line(m);
    make_definition(m, "/clock");
    make_message(m, "/clock", 0, 0, "zero");
    make_message(m, "/clock", 0, 1, "a nanosecond");
    make_message(m, "/clock", 12, 0, "twelve");
}

/* --- writing --- */

static const struct {
    const char *name, *file;
    void (*make)(struct maker *m);
} inputs[] = {
    {"log_1.0_orders_wildcard_elapsed", "input.log", log_10},
    {"log_1.1_rosrecord_absolute", "input.log", log_11_rosrecord},
    {"log_1.1_roslog_elapsed", "input.log", log_11_roslog},
    {"log_1.1_cut", "input.log", log_11_cut},
    {"log_0", "input.log", log_0},
    {"version_1.3", "input.bag", version_13},
    {"no_header", "input.bag", no_header},
    {"indexed", "input.bag", indexed},
    {"padding_4096", "input.bag", padding_4096},
    {"index_pos_0", "input.bag", index_pos_0},
    {"empty_indexed", "input.bag", empty_indexed},
    {"header_fields", "input.bag", header_fields},
    {"cut_in_header", "input.bag", cut_in_header},
    {"cut_in_data", "input.bag", cut_in_data},
    {"cut_in_index", "input.bag", cut_in_index},
    {"cut_before_index", "input.bag", cut_before_index},
    {"header_past_end", "input.bag", header_past_end},
    {"huge_header", "input.bag", huge_header},
    {"first_pos_is_message", "input.bag", first_pos_message},
    {"index_without_type", "input.bag", index_no_type},
    {"index_ver_1", "input.bag", index_ver_1},
    {"index_fewer_entries", "input.bag", index_fewer},
    {"index_wrong_count", "input.bag", index_wrong_count},
    {"index_wrong_position", "input.bag", index_wrong_position},
    {"garbage_with_index", "input.bag", garbage_with_index},
    {"garbage_without_index", "input.bag", garbage_without_index},
    {"definition_per_type", "input.bag", definition_per_type},
    {"definition_none", "input.bag", no_definition},
    {"definition_empty", "input.bag", definition_empty},
    {"definition_late", "input.bag", late_definition},
    {"definition_second", "input.bag", second_definition},
    {"fields_shuffled", "input.bag", shuffled_fields},
    {"fields_any_bytes", "input.bag", any_bytes},
    {"unknown_op_and_field", "input.bag", unknown_op_field},
    {"latched", "input.bag", latched},
    {"out_of_order", "input.bag", out_of_order},
    {"nsec_carry", "input.bag", nsec_carry},
    {"zero_length", "input.bag", zero_length},
    {"simulated_time", "input.bag", sim_time},
};

static struct golden_input make_input(size_t i, struct maker *m) {
    inputs[i].make(m);
    return (struct golden_input){inputs[i].name, inputs[i].file};
}

int main(int argc, char **argv) {
    return golden_main(argc, argv, sizeof inputs / sizeof *inputs, make_input);
}
