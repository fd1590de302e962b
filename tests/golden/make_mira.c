/* Makes the inputs of golden/mira, one quirk each, and nothing else: `make_mira FOLDER` writes FOLDER/CASE/input.tape,
 * `make_mira --check FOLDER` compares with what is there. README.md describes each case. Shares no code with the
 * reader. */
#include "makers/mira_maker.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static void default_tape(struct tape *t) {
    tape_six(t, &tape_default);
    tape_finish(t);
}

/* --- what the documentation leaves open --- */

static void big_endian(struct tape *t) {
    struct tape_style style = tape_default;
    style.big = true;
    tape_six(t, &style);
    tape_finish(t);
}
static void size_with_header(struct tape *t) {
    struct tape_style style = tape_default;
    style.size_counts = true;
    tape_six(t, &style);
    tape_finish(t);
}
static void links_behind_header(struct tape *t) {
    struct tape_style style = tape_default;
    style.links_to_content = true;
    tape_six(t, &style);
    tape_finish(t);
}
static void block_size_with_fields(struct tape *t) {
    struct tape_style style = tape_default;
    style.block_counts = true;
    tape_six(t, &style);
    tape_finish(t);
}
static void places_behind_block(struct tape *t) {
    struct tape_style style = tape_default;
    style.origin = 29;
    tape_six(t, &style);
    tape_finish(t);
}
static void all_other(struct tape *t) {
    struct tape_style style = {
        .big = true, .size_counts = true, .links_to_content = true, .block_counts = true, .origin = 5};
    style.start = tape_default.start;
    style.utc = -5 * TAPE_HOUR;
    style.block_max = 100;
    tape_six(t, &style);
    tape_finish(t);
}

/* --- what a message has --- */

static void compressed(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_put(t, "/a", "T", 1, "", 0, TAPE_ZLIB, "zlib", 4);
    tape_put(t, "/a", "T", 1, "", 1, TAPE_PLAIN, "plain", 5);
    tape_put(t, "/a", "T", 1, "", 2, TAPE_GZIP, "gzip", 4);
    tape_put(t, "/a", "T", 2, "", 3, TAPE_ZLIB, "", 0);
    tape_finish(t);
}
/* As bzip2 1.0.8 packs "hello hello hello hello". */
static void bzip2(struct tape *t) {
    static const uint8_t packed[] = {0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x02, 0xf8,
                                     0xb0, 0xbd, 0x00, 0x00, 0x03, 0x91, 0x00, 0x40, 0x00, 0x02, 0x44, 0xa0,
                                     0x00, 0x30, 0xcd, 0x00, 0x54, 0x86, 0x96, 0x71, 0x9b, 0x38, 0xa3, 0xc5,
                                     0xdc, 0x91, 0x4e, 0x14, 0x24, 0x00, 0xbe, 0x2c, 0x2f, 0x40};
    tape_begin(t, &tape_default);
    size_t at = tape_put(t, "/a", "T", 1, "", 0, TAPE_UNKNOWN, packed + 4, sizeof packed - 4);
    memcpy(t->m.data + t->m.size - sizeof packed, packed, 4);
    tape_patch(t, at + 5 + 25 + 2, 23, 4);
    tape_finish(t);
}
static void unknown_codec(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_put(t, "/a", "T", 1, "/f", 3, TAPE_UNKNOWN, "data", 4);
    tape_put(t, "/b", "T", 2, "", 0, TAPE_PLAIN, "b", 1);
    tape_finish(t);
}
static void codec_broken(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_put(t, "/a", "T", 1, "", 0, TAPE_ZLIB, "broken", 6);
    t->m.data[t->m.size - 1] ^= 1;
    tape_put(t, "/a", "T", 2, "", 0, TAPE_ZLIB, "whole", 5);
    tape_finish(t);
}
static void codec_size(struct tape *t) {
    tape_begin(t, &tape_default);
    size_t at = tape_put(t, "/a", "T", 1, "", 0, TAPE_ZLIB, "fourteen bytes", 14);
    tape_patch(t, at + 5 + 25 + 2, 99, 4);
    tape_finish(t);
}
static void frames(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_put(t, "/a", "T", 1, "/base", 7, TAPE_PLAIN, "x", 1);
    tape_put(t, "/a", "T", 2, "", 8, TAPE_PLAIN, "y", 1);
    tape_put(t, "/a", "T", 3, "/laser", 9, TAPE_PLAIN, "z", 1);
    tape_put(t, "/a", "T", 4, "/base", 10, TAPE_PLAIN, "w", 1);
    tape_finish(t);
}
static void odd_times(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_text(t, "/x", -2000000, "a");
    tape_text(t, "/x", 5, "c");
    tape_text(t, "/x", 3, "b");
    tape_text(t, "/x", 5, "d");
    tape_text(t, "/x", INT64_MAX, "after 2262");
    tape_finish(t);
}
static void names_any_bytes(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_put(t, "/a\xff\n=", "mira::T<int, \xc3\xa4>", 1, "/\xfe", 0, TAPE_PLAIN, "", 0);
    tape_put(t, "", "", 2, "", 0, TAPE_PLAIN, "no name", 7);
    tape_finish(t);
}

/* --- channels --- */

static void meta(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_block_begin(t);
    tape_info(t, "/a", "mira::Pose2", "META\0:Pose2", 11);
    tape_text(t, "/a", 5, "p");
    tape_finish(t);
}
static void info_late(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_block_begin(t);
    tape_message_field(t, "/late", 1, "", 0, TAPE_PLAIN, "1", 1);
    tape_info(t, "/late", "T", "", 0);
}
static void info_none(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_block_begin(t);
    tape_message_field(t, "/none", 1, "", 0, TAPE_PLAIN, "1", 1);
}
static void info_twice(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_block_begin(t);
    tape_info(t, "/a", "T", "", 0);
    tape_message_field(t, "/a", 1, "", 0, TAPE_PLAIN, "1", 1);
    tape_info(t, "/a", "U", "", 0);
}
static void info_unused(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_text(t, "/a", 1, "1");
    tape_info(t, "/unused", "T", "", 0);
    tape_finish(t);
}

/* --- the header, infos and indexes --- */

static void empty(struct tape *t) {
    tape_begin(t, &tape_default);
}
static void start_zero(struct tape *t) {
    struct tape_style style = tape_default;
    style.start = 0;
    style.utc = 0;
    tape_six(t, &style);
    tape_finish(t);
}
static void unfinished(struct tape *t) {
    tape_six(t, &tape_default);
    tape_text(t, "/a", 60, "m6");
}
static void no_blocks(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_info(t, "/a", "T", "", 0);
    tape_message_field(t, "/a", 1, "", 0, TAPE_PLAIN, "1", 1);
}
static void counts_wrong(struct tape *t) {
    default_tape(t);
    tape_patch(t, t->messages[0].block + 5, 9, 4);
    tape_patch(t, t->channels[1].tail, 1234, 8);
    tape_patch(t, 20, 4, 4);
}
static void links_wrong(struct tape *t) {
    default_tape(t);
    tape_patch(t, t->channels[0].info + 5, 77, 8);
    tape_patch(t, t->channels[1].tail + 8, 78, 8);
}
static void links_loop(struct tape *t) {
    default_tape(t);
    tape_patch(t, t->channels[1].info + 5, t->channels[0].info, 8);
}
static void index_wrong(struct tape *t) {
    default_tape(t);
    tape_patch(t, t->m.size - 16, 3, 8); /* the position in the last entry */
}

/* --- damage --- */

static void cut_in_data(struct tape *t) {
    default_tape(t);
    t->m.size = t->messages[5].at + 33;
}
static void cut_in_head(struct tape *t) {
    default_tape(t);
    t->m.size = t->messages[5].at + 3;
}
static void cut_in_index(struct tape *t) {
    default_tape(t);
    t->m.size -= 10;
}
static void garbage(struct tape *t) {
    default_tape(t);
    memset(t->m.data + t->messages[3].at, 0x0c, 20);
}
static void unknown_type(struct tape *t) {
    tape_begin(t, &tape_default);
    tape_text(t, "/a", 1, "one");
    size_t field = tape_field(t, 0x42);
    tape_message_field(t, "/inner", 9, "", 0, TAPE_PLAIN, "not to be found", 15);
    tape_field_end(t, field);
    tape_text(t, "/a", 2, "two");
}
static void size_wrong(struct tape *t) {
    default_tape(t);
    tape_patch(t, t->messages[1].at + 1, 3, 4);
}
static void length_wrong(struct tape *t) {
    default_tape(t);
    tape_patch(t, t->messages[2].at + 27, 40, 4); /* the stored size: more than there is before the next field */
}

static const struct {
    const char *name;
    void (*make)(struct tape *t);
} inputs[] = {
    {"usual", default_tape},
    {"big_endian", big_endian},
    {"size_with_header", size_with_header},
    {"links_behind_header", links_behind_header},
    {"block_size_with_fields", block_size_with_fields},
    {"places_behind_block", places_behind_block},
    {"all_other", all_other},
    {"compressed", compressed},
    {"bzip2", bzip2},
    {"unknown_codec", unknown_codec},
    {"codec_broken", codec_broken},
    {"codec_size", codec_size},
    {"frames", frames},
    {"odd_times", odd_times},
    {"names_any_bytes", names_any_bytes},
    {"meta", meta},
    {"info_late", info_late},
    {"info_none", info_none},
    {"info_twice", info_twice},
    {"info_unused", info_unused},
    {"empty", empty},
    {"start_zero", start_zero},
    {"unfinished", unfinished},
    {"no_blocks", no_blocks},
    {"counts_wrong", counts_wrong},
    {"links_wrong", links_wrong},
    {"links_loop", links_loop},
    {"index_wrong", index_wrong},
    {"cut_in_data", cut_in_data},
    {"cut_in_head", cut_in_head},
    {"cut_in_index", cut_in_index},
    {"garbage", garbage},
    {"unknown_type", unknown_type},
    {"size_wrong", size_wrong},
    {"length_wrong", length_wrong},
};

static bool file_is(const char *path, const struct maker *m) {
    FILE *file = fopen(path, "rbe");
    char *there = (char *)malloc(m->size + 1);
    assert(there);
    bool same = file && fread(there, 1, m->size + 1, file) == m->size && memcmp(there, m->data, m->size) == 0;
    if (file) {
        fclose(file);
    }
    free(there);
    return same;
}
static bool file_write(const char *path, const struct maker *m) {
    FILE *file = fopen(path, "wbe");
    bool written = file && fwrite(m->data, 1, m->size, file) == m->size;
    return file && fclose(file) == 0 && written;
}

int main(int argc, char **argv) {
    bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
    int bad = 0;
    if (argc != 2 && !check) {
        fprintf(stderr, "usage: %s [--check] FOLDER\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", argv[argc - 1], inputs[i].name);
        if (!check && mkdir(path, 0777) != 0 && errno != EEXIST) {
            perror(path);
            return 1;
        }
        snprintf(path, sizeof path, "%s/%s/input.tape", argv[argc - 1], inputs[i].name);
        struct tape t = {.n_channels = 0};
        inputs[i].make(&t);
        if (!(check ? file_is(path, &t.m) : file_write(path, &t.m))) {
            fprintf(stderr, "%s: %s\n", path, check ? "is not what is made now" : strerror(errno));
            bad = 1;
        }
        free(t.m.data);
    }
    return bad;
}
