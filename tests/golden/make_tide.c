/* Makes the golden inputs of TIDE logs; README.md describes each case. Shares no code with the reader. */
#include "golden_maker.h"
#include "makers/tide_maker.h"

/* ---- old layout ---- */

static void channels(struct log *l) {
    log_channel(l, 0, "/a");
    log_channel(l, 1, "/b");
}
static void begin(struct log *l) {
    log_tide(l, 0, 0);
    channels(l);
}
static void default_log(struct log *l) {
    log_default(l);
}
static void empty(struct log *l) {
    log_tide(l, 0, 0);
}
static void channel_without_entries(struct log *l) {
    log_tide(l, 0, 0);
    log_channel_of(l, 0, "empty", "BLA", "", "", "");
}
static void index_before_chunk(struct log *l) {
    begin(l);
    log_six_index(l, false, 5);
    log_six(l, 5, LOG_PLAIN);
}
static void rsb(struct log *l) {
    static const char event[] = "x\x10\x82";
    log_tide(l, 0, 0);
    log_channel_of(l, 0, "/foo/bar/:.rst.vision.Image", "rsb-event-0.9:.rst.vision.Image",
                   "91A9A5AF-ECA0-4477-A86D-EB6E4A78EA94", "rsb:/#91A9A5AF-ECA0-4477-A86D-EB6E4A78EA94",
                   "// Notification.proto\nmessage Notification {\n  }\n:// Image.proto\nmessage Image {\n  }\n");
    log_channel_of(l, 1, "/n/:UINT64", "rsb-event:uint64", "", "", "");
    log_channel_of(l, 2, "/raw", "", "", "", "");
    log_chunk(l, 0, 3, LOG_T0, LOG_T0 + 2);
    for (unsigned i = 0; i < 3; i++) {
        log_entry(l, i, LOG_T0 + i, event);
    }
    log_chunk_end(l, LOG_PLAIN);
}
static void binary_config(struct log *l) {
    log_tide(l, 0, 0);
    log_begin(l, "CHAN");
    log_number(l, 0, 4);
    log_text(l, "/a\xff", 1);
    log_text(l, "", 4);
    log_text(l, "", 4);
    log_number(l, 4, 4);
    log_bytes(l, "\0\xff\x10z", 4);
    log_text(l, "", 4);
    log_end(l);
}
static void counts_of_bytes_and_padding(struct log *l) {
    log_tide(l, 0, 0);
    log_channel(l, 0, "/a");
    log_index(l, 0, false, 0, LOG_T0, 0);
    log_number(l, 0, 4);
    log_resize(l, 0);
    log_chunk(l, 0, 19, LOG_T0, LOG_T0);
    log_entry(l, 0, LOG_T0, "abc");
    log_number(l, 0, 4);
    log_end(l);
}
static void sizes_four_too_large(struct log *l) {
    begin(l);
    for (unsigned i = 0; i < 2; i++) {
        log_six(l, i, LOG_PLAIN);
        log_resize(l, 4);
    }
}
static void sizes_in_characters(struct log *l) {
    log_tide(l, 0, 0);
    log_channel(l, 0, "/m\xc3\xbc\xc3\xbc");
    log_resize(l, -2);
    log_channel(l, 1, "/b");
    log_six(l, 0, LOG_PLAIN);
}
static void tide_size_of_file(struct log *l) {
    log_default(l);
    log_patch(l, 4, l->size, 8);
}
static void tide_size_135(struct log *l) {
    log_default(l);
    log_patch(l, 4, 135, 8);
}
static void index_clipped(struct log *l) {
    log_tide(l, 0, 0);
    log_channel(l, 0, "/a");
    log_chunk(l, 0, 1, LOG_T0, LOG_T0);
    log_entry(l, 0, LOG_T0, "abc");
    log_end(l);
    log_index(l, 0, false, 0, LOG_T0, 0);
    log_resize(l, 8);
}
static void abandoned(struct log *l) {
    begin(l);
    log_six(l, 0, LOG_PLAIN);
    log_index(l, 0, false, 0, LOG_T0, 0);
    log_six(l, 1, LOG_PLAIN);
}
static void index_wrong(struct log *l) {
    log_default(l);
    log_patch(l, l->size - 8, 17, 8);
}
static void channel_none(struct log *l) {
    log_tide(l, 0, 0);
    log_channel(l, 0, "/a");
    log_six(l, 0, LOG_PLAIN);
    log_six_index(l, false, 0);
}
static void unordered(struct log *l) {
    static const unsigned seconds[] = {5, 3, 4, 3, 0};
    begin(l);
    log_chunk(l, 0, 5, LOG_T0, LOG_T0 + 5 * (uint64_t)LOG_S);
    for (unsigned i = 0; i < 5; i++) {
        char text[2] = {(char)('0' + i), 0};
        log_entry(l, 0, LOG_T0 + seconds[i] * (uint64_t)LOG_S, text);
    }
    log_end(l);
}
static void gzip_in_0_0(struct log *l) {
    begin(l);
    log_six(l, 0, LOG_GZIP);
    log_six_index(l, false, 0);
}
static void libtidelog(struct log *l) {
    log_tide(l, 1, 0);
    log_channel(l, 1, "position");
    log_chunk(l, 1, 2, 13030000000000000, 13030000010000000);
    log_entry(l, 1, 13030000000000000, "x");
    log_entry(l, 1, 13030000010000000, "y");
    log_end(l);
    log_patch(l, 4, l->size, 8);
}
static void libtidelog_crashed(struct log *l) {
    log_tide(l, 1, 0);
    log_channel(l, 1, "position");
    log_chunk(l, 1, 0, 0, 0);
    log_end(l);
    for (unsigned i = 0; i < 3; i++) {
        log_entry(l, 1, LOG_T0 + i, "xyz");
    }
    log_bytes(l, "\1\0\0", 3);
}
static void prototype(struct log *l) {
    log_begin(l, "TIDE");
    log_number(l, 1, 2);
    log_number(l, 1, 8);
    log_begin(l, "CHAN");
    log_number(l, 1, 4);
    log_text(l, "name", 1);
    log_text(l, "source", 1);
    log_text(l, "a format", 4);
}
static void reel_notes(struct log *l) {
    log_tide(l, 0, 0);
    log_channel_of(l, 0, "/tf#2", "tf/tfMessage", "",
                   "{\"reel\":{\"name\":\"/tf\",\"type\":\"tf/"
                   "tfMessage\",\"encoding\":\"ros1\",\"latched\":true,\"schemas\":[{\"name\":\"tf/tfMessage\","
                   "\"encoding\":\"ros1msg\",\"hash\":\"94810edda583a504dfda3829e70d7eec\",\"bytes\":5}],\"metadata\":["
                   "[\"callerid\",\"/"
                   "n\\\"\\u000a\"]]}}",
                   "def.\n");
}

/* ---- damage ---- */

static void cut_in_entry(struct log *l) {
    begin(l);
    log_six(l, 0, LOG_PLAIN);
    l->size -= 1;
}
static void cut_in_block_head(struct log *l) {
    log_default(l);
    log_bytes(l, "CHNK\1\0", 6);
}
static void entry_size_wrong(struct log *l) {
    begin(l);
    size_t chunk = log_six(l, 0, LOG_PLAIN);
    log_patch(l, chunk + 37 + 2 * 18 + 12, 70000, 4);
    log_six_index(l, false, 0);
}
static void chunk_size_wrong(struct log *l) {
    begin(l);
    size_t chunk = log_six(l, 0, LOG_PLAIN);
    log_patch(l, chunk + 4, UINT64_MAX, 8);
    log_six(l, 1, LOG_PLAIN);
}
static void garbage(struct log *l) {
    begin(l);
    log_six(l, 0, LOG_PLAIN);
    for (unsigned i = 0; i < 5; i++) {
        log_number(l, 0x0c0c0c0c0c0c0c0c, 8);
    }
    log_six(l, 1, LOG_PLAIN);
}
static void compression_7(struct log *l) {
    begin(l);
    size_t chunk = log_six(l, 0, LOG_PLAIN);
    log_patch(l, chunk + 36, 7, 1);
    log_six(l, 1, LOG_PLAIN);
}
static void gzip_broken(struct log *l) {
    begin(l);
    size_t chunk = log_six(l, 0, LOG_GZIP);
    l->data[chunk + 37 + 30] ^= 1;
    log_six(l, 1, LOG_BZIP2);
}

/* ---- new layout ---- */

static void types(struct log *l) {
    log_type(l, "\xd6\xdc", "ros-msg-1.0", "geometry_msgs/Point", "1.0", "float64 x\n", "http://example.org/Point.msg",
             NULL);
    log_type(l, "PA", "protobuf-2", "nav.Path", "0.1", "message Path {}", NULL, "PO");
    log_type(l, "PO", "protobuf-2", "nav.Pose", "", "message Pose {}", NULL, NULL);
    log_type(l, "NO", "protobuf-2", "rsb.protocol.Notification", "0.9", "message Notification {}", NULL, NULL);
}
static void new_channels(struct log *l) {
    static const char *const point[] = {"\xd6\xdc", NULL}, *const event[] = {"NO", "PA", NULL};
    log_channel_new(l, 0, "/a", "arm joint", "port=1", point);
    log_channel_new(l, 1, "/b", "", "", NULL);
    log_channel_new(l, 2, "/cmd/:.nav.Path", "rsb", "rsb:/", event);
}
static void meta(struct log *l) {
    static const char *const texts[] = {"dc:Title",
                                        "made",
                                        "dc:Subject",
                                        "Pr\xc3\xbc"
                                        "fung",
                                        "dc:Subject",
                                        "second",
                                        NULL};
    log_meta(l, texts);
}
static void new_default(struct log *l) {
    log_tide(l, 2, 0);
    meta(l);
    types(l);
    new_channels(l);
    size_t chunk = log_six(l, 0, LOG_PLAIN);
    log_six_index(l, true, chunk);
}
static void new_backwards(struct log *l) {
    log_tide(l, 2, 0);
    log_six_index(l, true, 14 + 2 * (12 + 8 + 60));
    log_six(l, 0, LOG_PLAIN);
    new_channels(l);
    types(l);
    meta(l);
}
static void new_packed(struct log *l) {
    log_tide(l, 2, 0);
    new_channels(l);
    types(l);
    for (enum log_packing p = LOG_GZIP; p <= LOG_BZIP2; p++) {
        size_t chunk = log_six(l, p, p);
        log_six_index(l, true, chunk + 12); /* the body, not the tag */
    }
}
static void new_extended(struct log *l) {
    log_tide(l, 2, 1);
    log_bytes(l, "future", 6);
    log_resize(l, 0);
    new_channels(l);
    log_bytes(l, "future", 6);
    log_resize(l, 0);
    log_begin(l, "\1\xff\0\2");
    log_bytes(l, "CHANCHNK", 8);
    log_end(l);
    types(l);
    log_six(l, 0, LOG_PLAIN);
    log_bytes(l, "a field of a later version", 26);
    log_resize(l, 0);
}
static void new_types_missing(struct log *l) {
    log_tide(l, 2, 0);
    log_type(l, "PA", "protobuf-2", "nav.Path", "0.1", "message Path {}", NULL, "PO");
    new_channels(l);
    log_six(l, 0, LOG_PLAIN);
}
static void new_with_old_layout(struct log *l) {
    log_default(l);
    log_patch(l, 12, 2, 1);
}
static void version_3(struct log *l) {
    new_default(l);
    log_patch(l, 12, 3, 1);
}

static const struct {
    const char *name;
    void (*make)(struct log *l);
} inputs[] = {
    {"usual", default_log},
    {"empty", empty},
    {"channel_without_entries", channel_without_entries},
    {"index_before_chunk", index_before_chunk},
    {"rsb", rsb},
    {"binary_config", binary_config},
    {"counts_of_bytes_and_padding", counts_of_bytes_and_padding},
    {"sizes_four_too_large", sizes_four_too_large},
    {"sizes_in_characters", sizes_in_characters},
    {"tide_size_of_file", tide_size_of_file},
    {"tide_size_135", tide_size_135},
    {"index_clipped", index_clipped},
    {"abandoned", abandoned},
    {"index_wrong", index_wrong},
    {"channel_none", channel_none},
    {"unordered", unordered},
    {"gzip_in_0.0", gzip_in_0_0},
    {"libtidelog", libtidelog},
    {"libtidelog_crashed", libtidelog_crashed},
    {"prototype", prototype},
    {"reel_notes", reel_notes},
    {"cut_in_entry", cut_in_entry},
    {"cut_in_block_head", cut_in_block_head},
    {"entry_size_wrong", entry_size_wrong},
    {"chunk_size_wrong", chunk_size_wrong},
    {"garbage", garbage},
    {"compression_7", compression_7},
    {"gzip_broken", gzip_broken},
    {"new_usual", new_default},
    {"new_backwards", new_backwards},
    {"new_packed", new_packed},
    {"new_extended", new_extended},
    {"new_types_missing", new_types_missing},
    {"new_with_old_layout", new_with_old_layout},
    {"version_3", version_3},
};

static struct golden_input make_input(size_t i, struct maker *m) {
    struct log l = {0};
    log_level = 0;
    inputs[i].make(&l);
    make_bytes(m, l.data, l.size);
    free(l.data);
    return (struct golden_input){inputs[i].name, "input.tide"};
}

int main(int argc, char **argv) {
    return golden_main(argc, argv, sizeof inputs / sizeof *inputs, make_input);
}
