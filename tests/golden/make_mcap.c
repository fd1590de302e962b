/* Makes the inputs of golden/mcap, one quirk each, and nothing else: `make_mcap FOLDER` writes FOLDER/CASE/input.mcap,
 * `make_mcap --check FOLDER` compares with what is there. README.md describes each case. Shares no code with the
 * reader. */
#include "golden/golden_maker.h"
#include "makers/mcap_maker.h"

static void begin(struct maker *m) {
    mcap_header(m, "", "");
    mcap_lab_definitions(m);
}

/* --- whole files --- */

static void plain(struct maker *m) {
    mcap_make_lab(m, "");
}
static void lz4(struct maker *m) {
    mcap_make_lab(m, "lz4");
}
static void zstd(struct maker *m) {
    mcap_make_lab(m, "zstd");
}
static void unchunked(struct maker *m) {
    begin(m);
    mcap_message(m, 1, MCAP_T, 0, "one");
    mcap_message(m, 2, MCAP_T + 5, 1, "{}");
    mcap_message(m, 1, MCAP_T + 3, 2, "before the last");
    mcap_close(m);
}
static void empty(struct maker *m) {
    mcap_header(m, "", "");
    mcap_close(m);
}
static void padded(struct maker *m) {
    static const char *const pairs[] = {"foo", "bar", NULL};
    mcap_header(m, "", "");
    for (unsigned i = 0; i < 4; i++) {
        size_t record = m->size;
        if (i == 0) {
            mcap_schema(m, 1, "T", "jsonschema", "{}");
        } else if (i == 1) {
            mcap_channel(m, 1, 1, "/t", "json", pairs);
        } else if (i == 2) {
            mcap_metadata(m, "notes", pairs);
        } else {
            mcap_attachment(m, "a.txt", "text/plain", MCAP_T, "hello");
        }
        make_text(m, "pad");
        mcap_end(m, record);
    }
    mcap_message(m, 1, MCAP_T, 0, "{}");
    mcap_close(m);
}
static void unknown_records(struct maker *m) {
    begin(m);
    for (unsigned op = 0x10; op <= 0x90; op += 0x80) {
        size_t record = mcap_begin(m, op);
        make_text(m, "of a later version, or somebody's own");
        mcap_end(m, record);
    }
    mcap_message(m, 1, MCAP_T, 0, "one");
    mcap_close(m);
}
static void padded_zstd(struct maker *m) { /* the frame ends before the records do */
    struct maker records = {0};
    begin(m);
    mcap_message(&records, 1, MCAP_T, 0, "one");
    size_t chunk = mcap_chunk(m, &records, MCAP_T, MCAP_T, "zstd");
    size_t stored = m->data[chunk + 45];
    make_number(m, 0, 4);
    make_patch(m, chunk + 45, stored + 4, 8);
    mcap_end(m, chunk);
    mcap_close(m);
    free(records.data);
}

/* --- definitions --- */

static void definitions_in_summary(struct maker *m) {
    mcap_header(m, "", "");
    mcap_message(m, 1, MCAP_T, 0, "one");
    mcap_data_end(m);
    size_t summary = m->size;
    mcap_lab_definitions(m);
    mcap_footer(m, summary);
}
static void definition_late(struct maker *m) {
    mcap_header(m, "", "");
    mcap_message(m, 1, MCAP_T, 0, "one");
    mcap_lab_definitions(m);
    mcap_close(m);
}
static void definition_none(struct maker *m) {
    mcap_header(m, "", "");
    mcap_message(m, 1, MCAP_T, 0, "one");
    mcap_message(m, 1, MCAP_T + 1, 1, "two");
    mcap_close(m);
}
static void definitions_in_every_chunk(struct maker *m) {
    mcap_header(m, "", "");
    for (unsigned i = 0; i < 2; i++) {
        struct maker records = {0};
        mcap_lab_definitions(&records);
        mcap_message(&records, 1, MCAP_T + i, i, i ? "two" : "one");
        mcap_chunk(m, &records, MCAP_T + i, MCAP_T + i, "lz4");
        free(records.data);
    }
    mcap_close(m);
}
static void id_again(struct maker *m) {
    mcap_header(m, "", "");
    mcap_channel(m, 1, 0, "/a", "json", NULL);
    mcap_message(m, 1, MCAP_T, 0, "a");
    mcap_channel(m, 1, 0, "/b", "json", NULL);
    mcap_message(m, 1, MCAP_T + 1, 1, "b");
    mcap_close(m);
}
static void schema_missing(struct maker *m) {
    mcap_header(m, "", "");
    mcap_channel(m, 1, 9, "/a", "json", NULL);
    mcap_message(m, 1, MCAP_T, 0, "a");
    mcap_close(m);
}
static void latched(struct maker *m) {
    static const char *const pairs[] = {"callerid", "/map_server", "latching", "true", "md5sum", MAKE_MD5, NULL};
    mcap_header(m, "ros1", "some writer");
    mcap_schema(m, 1, MAKE_TYPE, "ros1msg", MAKE_DEF);
    mcap_channel(m, 1, 1, "/map", "ros1", pairs);
    mcap_message(m, 1, MCAP_T, 0, "map");
    mcap_close(m);
}
static void ros2(struct maker *m) {
    static const char *const pairs[] = {"offered_qos_profiles", "- history: 3\n  depth: 10\n", "topic_type_hash",
                                        "RIHS01_00", NULL};
    static const char *const bag[] = {"serialized_metadata", "rosbag2_bagfile_information:\n  version: 9\n", NULL};
    mcap_header(m, "ros2", "libmcap 0.8.0");
    mcap_schema(m, 1, "std_msgs/msg/String", "ros2msg", MAKE_DEF);
    mcap_channel(m, 1, 1, "/chatter", "cdr", pairs);
    mcap_message(m, 1, MCAP_T, 0, "hi");
    mcap_metadata(m, "rosbag2", bag);
    mcap_close(m);
}

/* --- recorders that were killed, copies that broke off --- */

/* A message whose payload is written in hexadecimal digits. */
static void omgidl_message(struct maker *m, unsigned channel, const char *digits) {
    size_t record = mcap_message(m, channel, MCAP_T + channel, 0, "");
    for (const char *p = digits; *p; p += 2) {
        const char byte[] = {p[0], p[1], '\0'};
        make_number(m, strtoul(byte, NULL, 16), 1);
    }
    mcap_end(m, record);
}

/* Payloads as idl_writer.py of the end-to-end tests writes such types. */
static void omgidl(struct maker *m) {
    static const char idl[] = "module lab {\n  const long WHEELS = 1 << 1;\n  enum Mode { IDLE, @value(4) DRIVE };\n"
                              "  @appendable struct Point { double x; short y; };\n"
                              "  union Reading switch (Mode) { case IDLE: string note; default: Point at; };\n"
                              "  struct Plain { octet a; double b; octet grid[WHEELS][2]; Reading r; };\n"
                              "  @mutable struct State { @id(1) @key string name; @id(7) @optional float battery; "
                              "@id(3) sequence<Point> path;\n"
                              "    map<string, long> counts; };\n};\n";
    mcap_header(m, "", "test");
    mcap_schema(m, 1, "lab::Plain", "omgidl", idl);
    mcap_schema(m, 2, "lab::State", "omgidl", idl);
    mcap_channel(m, 1, 1, "/cdr", "cdr", NULL);
    mcap_channel(m, 2, 1, "/xcdr2", "cdr", NULL);
    mcap_channel(m, 3, 2, "/parameters", "cdr", NULL);
    omgidl_message(m, 1,
                   "00010000"
                   "0100000000000000"
                   "000000000000f83f"
                   "01020304"
                   "04000000"
                   "000000000000e03f"
                   "0700");
    omgidl_message(m, 2,
                   "00060000"
                   "01000000"
                   "3ff8000000000000"
                   "01020304"
                   "00000000"
                   "00000003"
                   "6f6b00");
    omgidl_message(m, 3,
                   "000b0000"
                   "50000000"
                   "01000050"
                   "030000007231000003000040"
                   "16000000"
                   "12000000"
                   "01000000"
                   "0a000000"
                   "000000000000f03f"
                   "0200"
                   "0000"
                   "07000020"
                   "0000003f"
                   "04000040"
                   "14000000"
                   "10000000"
                   "01000000"
                   "020000006100"
                   "0000"
                   "05000000");
    mcap_close(m);
}

static void no_footer(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "lz4");
    m->size = lab.chunk[2];
}
static void cut_in_plain_chunk(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "");
    m->size = lab.chunk[1] + 49 + 31 + 3 + 31 + 2;
}
static void cut_in_packed_chunk(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "zstd");
    m->size = lab.chunk[1] + 70;
}
static void cut_in_summary(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "");
    m->size = lab.chunk_index + 20;
}

/* --- damage --- */

static void chunk_crc(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "");
    m->data[lab.chunk[1] + 49 + 31] ^= 0x20; /* in the payload "two" */
}
static void chunk_does_not_decode(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "zstd");
    make_patch(m, lab.chunk[1] + 53, 0, 4);
}
static void chunk_unknown_compression(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "lz4");
    m->data[lab.chunk[0] + 43] = '5';
}
static void chunk_bomb(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "zstd");
    make_patch(m, lab.chunk[0] + 25, 1ull << 50, 8);
}
static void garbage(struct maker *m) {
    begin(m);
    mcap_message(m, 1, MCAP_T, 0, "one");
    make_text(m, "these bytes are no record");
    mcap_message(m, 1, MCAP_T + 1, 1, "two");
    mcap_close(m);
}
static void length_wrong(struct maker *m) {
    begin(m);
    size_t at = mcap_message(m, 1, MCAP_T, 0, "lost");
    make_patch(m, at + 1, 1ull << 40, 8);
    mcap_message(m, 1, MCAP_T + 1, 1, "two");
    mcap_close(m);
}
static void time_out_of_range(struct maker *m) {
    begin(m);
    mcap_message(m, 1, UINT64_MAX, 0, "never");
    mcap_message(m, 1, MCAP_T, 1, "one");
    mcap_close(m);
}
static void attachment_crc(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "");
    m->data[lab.metadata - 5] ^= 1; /* the last byte of its data */
}
static void statistics_wrong(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "");
    m->data[lab.statistics + 9] = 9;
    m->data[lab.statistics + 31] = 4;
}
static void indexes_wrong(struct maker *m) {
    struct mcap_lab lab = mcap_make_lab(m, "");
    m->data[lab.chunk_index + 25] ^= 1;
    m->data[lab.attachment_index + 9] ^= 1;
    m->data[lab.chunk[2] - 8] ^= 1;
}
static void data_crc(struct maker *m) {
    begin(m);
    size_t at = mcap_message(m, 1, MCAP_T, 0, "one");
    mcap_close(m);
    m->data[at + 31] = 'O';
}
static void version_1(struct maker *m) {
    empty(m);
    m->data[5] = '1';
}

static const struct {
    const char *name;
    void (*make)(struct maker *m);
} cases[] = {
    {"plain", plain},
    {"lz4", lz4},
    {"zstd", zstd},
    {"unchunked", unchunked},
    {"empty", empty},
    {"padded", padded},
    {"unknown_records", unknown_records},
    {"padded_zstd", padded_zstd},
    {"definitions_in_summary", definitions_in_summary},
    {"definition_late", definition_late},
    {"definition_none", definition_none},
    {"definitions_in_every_chunk", definitions_in_every_chunk},
    {"id_again", id_again},
    {"schema_missing", schema_missing},
    {"latched", latched},
    {"ros2", ros2},
    {"omgidl", omgidl},
    {"no_footer", no_footer},
    {"cut_in_plain_chunk", cut_in_plain_chunk},
    {"cut_in_packed_chunk", cut_in_packed_chunk},
    {"cut_in_summary", cut_in_summary},
    {"chunk_crc", chunk_crc},
    {"chunk_does_not_decode", chunk_does_not_decode},
    {"chunk_unknown_compression", chunk_unknown_compression},
    {"chunk_bomb", chunk_bomb},
    {"garbage", garbage},
    {"length_wrong", length_wrong},
    {"time_out_of_range", time_out_of_range},
    {"attachment_crc", attachment_crc},
    {"statistics_wrong", statistics_wrong},
    {"indexes_wrong", indexes_wrong},
    {"data_crc", data_crc},
    {"version_1", version_1},
};

static struct golden_input make_case(size_t i, struct maker *m) {
    cases[i].make(m);
    return (struct golden_input){cases[i].name, "input.mcap"};
}

int main(int argc, char **argv) {
    return golden_main(argc, argv, sizeof cases / sizeof *cases, make_case);
}
