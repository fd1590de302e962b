/* See mp4.h: the boxes, by ISO/IEC 14496-12 and -15. All numbers are big-endian. */
#include "base/grow.h"
#include "media/mp4/mp4.h"

enum { SECOND = 1000000000, FRAME = 1000 /* ticks, with a rate */ };
enum { FULL = 12, ENTRY = 4 /* bytes of a table's entry count */ };

static void put_be(struct grow *g, uint64_t value, unsigned size) {
    for (unsigned i = size; i > 0; i--) {
        grow_u8(g, (uint8_t)(value >> (8 * (i - 1))));
    }
}
static void put_zeros(struct grow *g, unsigned size) {
    for (unsigned i = 0; i < size; i++) {
        grow_u8(g, 0);
    }
}

static size_t box_begin(struct grow *g, const char *type) {
    size_t at = g->size;
    put_be(g, 0, 4);
    grow_put(g, type, 4);
    return at;
}
static size_t full_begin(struct grow *g, const char *type, unsigned version, uint32_t flags) {
    size_t at = box_begin(g, type);
    put_be(g, (uint64_t)version << 24 | flags, 4);
    return at;
}
/* `more`: bytes of the box that are not in `g`. */
static void box_end(struct grow *g, size_t at, uint64_t more) {
    uint64_t size = g->size - at + more;
    for (unsigned i = 0; i < 4 && !g->failed; i++) {
        g->data[at + i] = (uint8_t)(size >> (24 - 8 * i));
    }
}

/* ---- times */

static uint64_t ticks(const struct mp4_video *v, int64_t time_ns) {
    uint64_t since = (uint64_t)time_ns - (uint64_t)v->samples[v->first].time_ns;
    return v->fps > 0 ? (since * v->fps + SECOND / 2) / SECOND * FRAME : since / (SECOND / v->timescale);
}

/* The next kept sample after `i`; v->n: none. */
static uint64_t next_kept(const struct mp4_video *v, uint64_t i) {
    do {
        i++;
    } while (i < v->n && v->samples[i].size == 0);
    return i;
}

static uint64_t duration_of(const struct mp4_video *v, uint64_t i, uint64_t next) {
    return ticks(v, next < v->n ? v->samples[next].time_ns : v->ended_ns) - ticks(v, v->samples[i].time_ns);
}

/* Emits, or counts, the runs of equal durations. */
static uint64_t each_duration(const struct mp4_video *v, struct reel_sink *out) {
    uint64_t runs = 0, count = 0, last = 0;
    for (uint64_t i = v->first; i < v->n;) {
        uint64_t next = next_kept(v, i), duration = duration_of(v, i, next);
        bool same = count > 0 && duration == last;
        if (!same && count > 0 && out) {
            reel_sink_u32le(out, __builtin_bswap32((uint32_t)count));
            reel_sink_u32le(out, __builtin_bswap32((uint32_t)last));
        }
        runs += !same;
        count = same ? count + 1 : 1;
        last = duration;
        i = next;
    }
    if (out) {
        reel_sink_u32le(out, __builtin_bswap32((uint32_t)count));
        reel_sink_u32le(out, __builtin_bswap32((uint32_t)last));
    }
    return runs;
}

/* With a rate, FRAME for each; else microseconds, unless two frames are so far apart that their distance needs more
 * than 31 bits. */
void mp4_measure(struct mp4_video *v) {
    uint64_t longest = 0;
    for (uint64_t i = v->first; i < v->n;) {
        uint64_t next = next_kept(v, i);
        uint64_t ns =
            (uint64_t)(next < v->n ? v->samples[next].time_ns : v->ended_ns) - (uint64_t)v->samples[i].time_ns;
        longest = ns > longest ? ns : longest;
        i = next;
    }
    v->timescale = v->fps > 0                      ? v->fps * FRAME
                   : longest / 1000 < INT32_MAX    ? 1000000
                   : longest / 1000000 < INT32_MAX ? 1000
                                                   : 1;
    v->durations = each_duration(v, NULL);
}

/* ---- the description of the video */

static unsigned count_sets(const struct mp4_video *v, enum nal_role role) {
    unsigned n = 0;
    for (unsigned i = 0; i < v->sets.n; i++) {
        n += v->sets.roles[i] == role;
    }
    return n;
}

static void put_sets(struct grow *g, const struct mp4_video *v, enum nal_role role) {
    for (unsigned i = 0; i < v->sets.n; i++) {
        if (v->sets.roles[i] == role) {
            put_be(g, v->sets.items[i].size, 2);
            grow_put(g, v->sets.items[i].data, v->sets.items[i].size);
        }
    }
}

static const uint8_t *first_sps(const struct mp4_video *v) {
    unsigned i = 0;
    while (v->sets.roles[i] != NAL_SPS) {
        i++;
    }
    return v->sets.items[i].data;
}

static void put_avcc(struct grow *g, const struct mp4_video *v) {
    size_t at = box_begin(g, "avcC");
    const uint8_t *sps = first_sps(v);
    grow_u8(g, 1);
    grow_put(g, sps + 1, 3);
    grow_u8(g, 0xff); /* lengths have 4 bytes */
    grow_u8(g, (uint8_t)(0xe0 | count_sets(v, NAL_SPS)));
    put_sets(g, v, NAL_SPS);
    grow_u8(g, (uint8_t)count_sets(v, NAL_PPS));
    put_sets(g, v, NAL_PPS);
    if (sps[1] == 100 || sps[1] == 110 || sps[1] == 122 || sps[1] == 144 || sps[1] == 244) {
        grow_u8(g, (uint8_t)(0xfc | v->size.chroma));
        grow_u8(g, (uint8_t)(0xf8 | (v->size.luma_bits - 8)));
        grow_u8(g, (uint8_t)(0xf8 | (v->size.chroma_bits - 8)));
        grow_u8(g, 0);
    }
    box_end(g, at, 0);
}

static void put_hvcc(struct grow *g, const struct mp4_video *v) {
    static const struct {
        enum nal_role role;
        uint8_t type;
    } arrays[] = {{NAL_VPS, 32}, {NAL_SPS, 33}, {NAL_PPS, 34}};
    size_t at = box_begin(g, "hvcC");
    grow_u8(g, 1);
    grow_put(g, v->size.profile, sizeof v->size.profile);
    put_be(g, 0xf000, 2);
    grow_u8(g, 0xfc);
    grow_u8(g, (uint8_t)(0xfc | v->size.chroma));
    grow_u8(g, (uint8_t)(0xf8 | (v->size.luma_bits - 8)));
    grow_u8(g, (uint8_t)(0xf8 | (v->size.chroma_bits - 8)));
    put_be(g, 0, 2);
    grow_u8(g, (uint8_t)(v->size.layers << 3 | v->size.nested << 2 | 3));
    grow_u8(g, 3);
    for (unsigned i = 0; i < 3; i++) {
        grow_u8(g, (uint8_t)((v->changed == UINT64_MAX ? 0x80 : 0) | arrays[i].type));
        put_be(g, count_sets(v, arrays[i].role), 2);
        put_sets(g, v, arrays[i].role);
    }
    box_end(g, at, 0);
}

/* Parameter sets stand only here, unless they change. */
static void put_stsd(struct grow *g, const struct mp4_video *v) {
    bool changes = v->changed != UINT64_MAX;
    size_t at = full_begin(g, "stsd", 0, 0);
    put_be(g, 1, 4);
    size_t entry = box_begin(g, v->h265 ? (changes ? "hev1" : "hvc1") : changes ? "avc3" : "avc1");
    put_zeros(g, 6);
    put_be(g, 1, 2); /* data reference */
    put_zeros(g, 16);
    put_be(g, v->size.width, 2);
    put_be(g, v->size.height, 2);
    put_be(g, 72 << 16, 4); /* dots per inch */
    put_be(g, 72 << 16, 4);
    put_zeros(g, 4);
    put_be(g, 1, 2); /* frames in a sample */
    put_zeros(g, 32);
    put_be(g, 24, 2); /* depth */
    put_be(g, 0xffff, 2);
    (v->h265 ? put_hvcc : put_avcc)(g, v);
    box_end(g, entry, 0);
    box_end(g, at, 0);
}

/* ---- the file */

static void put_ftyp(struct grow *g, bool h265) {
    size_t at = box_begin(g, "ftyp");
    grow_put(g, "isom\0\0\2\0isomiso6mp41", 20);
    grow_put(g, h265 ? "hvc1" : "avc1", 4);
    box_end(g, at, 0);
}

static void put_matrix(struct grow *g) {
    static const uint32_t matrix[9] = {1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30};
    for (unsigned i = 0; i < 9; i++) {
        put_be(g, matrix[i], 4);
    }
}

/* What mvhd, tkhd and mdhd begin with, in their version of 64 bits. */
static void put_created(struct grow *g, const struct mp4_video *v) {
    put_be(g, (uint64_t)v->created_s, 8);
    put_be(g, (uint64_t)v->created_s, 8);
}

static void put_mvhd(struct grow *g, const struct mp4_video *v, uint64_t shown) {
    size_t at = full_begin(g, "mvhd", 1, 0);
    put_created(g, v);
    put_be(g, v->timescale, 4);
    put_be(g, shown, 8);
    put_be(g, 1 << 16, 4); /* rate */
    put_be(g, 1 << 8, 2);  /* volume */
    put_zeros(g, 10);
    put_matrix(g);
    put_zeros(g, 24);
    put_be(g, 2, 4); /* next track */
    box_end(g, at, 0);
}

static void put_tkhd(struct grow *g, const struct mp4_video *v, uint64_t shown) {
    size_t at = full_begin(g, "tkhd", 1, 3);
    put_created(g, v);
    put_be(g, 1, 4); /* track */
    put_zeros(g, 4);
    put_be(g, shown, 8);
    put_zeros(g, 16);
    put_matrix(g);
    put_be(g, (uint64_t)v->size.width << 16, 4);
    put_be(g, (uint64_t)v->size.height << 16, 4);
    box_end(g, at, 0);
}

static void put_edts(struct grow *g, uint64_t skipped, uint64_t shown) {
    size_t at = box_begin(g, "edts"), list = full_begin(g, "elst", 1, 0);
    put_be(g, 1, 4);
    put_be(g, shown, 8);
    put_be(g, skipped, 8);
    put_be(g, 1 << 16, 4); /* rate */
    box_end(g, list, 0);
    box_end(g, at, 0);
}

static void put_media(struct grow *g, const struct mp4_video *v, uint64_t duration) {
    size_t at = full_begin(g, "mdhd", 1, 0);
    put_created(g, v);
    put_be(g, v->timescale, 4);
    put_be(g, duration, 8);
    put_be(g, 0x55c4, 2); /* language: undetermined */
    put_zeros(g, 2);
    box_end(g, at, 0);
    at = full_begin(g, "hdlr", 0, 0);
    put_zeros(g, 4);
    grow_put(g, "vide", 4);
    put_zeros(g, 12);
    grow_put(g, "video", 6);
    box_end(g, at, 0);
}

static void put_information(struct grow *g) {
    size_t at = full_begin(g, "vmhd", 0, 1);
    put_zeros(g, 8);
    box_end(g, at, 0);
    at = box_begin(g, "dinf");
    size_t refs = full_begin(g, "dref", 0, 0);
    put_be(g, 1, 4);
    size_t url = full_begin(g, "url ", 0, 1); /* this file */
    box_end(g, url, 0);
    box_end(g, refs, 0);
    box_end(g, at, 0);
}

/* All samples are one chunk. */
static void boxes_put_chunk(struct grow *g, const struct mp4_video *v, size_t *offset_at) {
    size_t at = full_begin(g, "stsc", 0, 0);
    put_be(g, 1, 4);
    put_be(g, 1, 4); /* from the first chunk on */
    put_be(g, v->kept, 4);
    put_be(g, 1, 4);
    box_end(g, at, 0);
    at = full_begin(g, "co64", 0, 0);
    put_be(g, 1, 4);
    *offset_at = g->size;
    put_be(g, 0, 8);
    box_end(g, at, 0);
}

static uint64_t tables_size(const struct mp4_video *v) {
    return (FULL + ENTRY + 8 * v->durations) + (FULL + ENTRY + 4 * v->keys) +
           (FULL + 2 * (uint64_t)ENTRY + 4 * v->kept);
}

static void boxes_put_table_head(struct reel_sink *out, const char *type, uint64_t size, uint64_t count) {
    reel_sink_u32le(out, __builtin_bswap32((uint32_t)size));
    reel_sink_put(out, type, 4);
    reel_sink_u32le(out, 0);
    reel_sink_u32le(out, __builtin_bswap32((uint32_t)count));
}

static void boxes_put_tables(const struct mp4_video *v, struct reel_sink *out) {
    boxes_put_table_head(out, "stts", FULL + ENTRY + 8 * v->durations, v->durations);
    each_duration(v, out);
    boxes_put_table_head(out, "stss", FULL + ENTRY + 4 * v->keys, v->keys);
    uint32_t number = 0;
    for (uint64_t i = v->first; i < v->n; i++) {
        number += v->samples[i].size > 0;
        if (v->samples[i].key) {
            reel_sink_u32le(out, __builtin_bswap32(number));
        }
    }
    boxes_put_table_head(out, "stsz", FULL + 2 * ENTRY + 4 * v->kept, 0);
    reel_sink_u32le(out, __builtin_bswap32((uint32_t)v->kept));
    for (uint64_t i = v->first; i < v->n; i++) {
        if (v->samples[i].size > 0) {
            reel_sink_u32le(out, __builtin_bswap32(v->samples[i].size));
        }
    }
}

/* `offset` of the samples; 0: they follow. */
static void put_moov(struct grow *g, const struct mp4_video *v, uint64_t offset) {
    uint64_t more = tables_size(v), duration = ticks(v, v->ended_ns);
    uint64_t skipped = v->start_ns > v->samples[v->first].time_ns ? ticks(v, v->start_ns) : 0;
    skipped = skipped < duration ? skipped : 0;
    size_t offset_at = 0, moov = box_begin(g, "moov");
    put_mvhd(g, v, duration - skipped);
    size_t trak = box_begin(g, "trak");
    put_tkhd(g, v, duration - skipped);
    if (skipped > 0) {
        put_edts(g, skipped, duration - skipped);
    }
    size_t mdia = box_begin(g, "mdia");
    put_media(g, v, duration);
    size_t minf = box_begin(g, "minf");
    put_information(g);
    size_t stbl = box_begin(g, "stbl");
    put_stsd(g, v);
    boxes_put_chunk(g, v, &offset_at);
    const size_t open[] = {stbl, minf, mdia, trak, moov};
    for (unsigned i = 0; i < sizeof open / sizeof *open; i++) {
        box_end(g, open[i], more);
    }
    offset = offset > 0 ? offset : g->size + more + MP4_MDAT_HEAD;
    for (unsigned i = 0; i < 8 && !g->failed; i++) {
        g->data[offset_at + i] = (uint8_t)(offset >> (56 - 8 * i));
    }
}

static void put_mdat(uint64_t bytes, struct reel_sink *out) {
    reel_sink_put(out, "\0\0\0\1mdat", 8);
    reel_sink_u64le(out, __builtin_bswap64(bytes + MP4_MDAT_HEAD));
}

static bool put_boxes(const struct mp4_video *v, bool head, uint64_t offset, struct reel_sink *out,
                      struct reel_error *err) {
    struct grow g = {0};
    if (head) {
        put_ftyp(&g, v->h265);
    }
    put_moov(&g, v, offset);
    if (!g.failed) {
        reel_sink_put(out, g.data, g.size);
        boxes_put_tables(v, out);
    }
    free(g.data);
    return !g.failed || reel_fail_memory(err);
}

bool mp4_put_head(const struct mp4_video *v, struct reel_sink *out, struct reel_error *err) {
    bool good = put_boxes(v, true, 0, out, err);
    put_mdat(v->bytes, out);
    return good;
}

void mp4_put_open(uint64_t bytes, struct reel_sink *out) {
    struct grow g = {0};
    put_ftyp(&g, false);
    reel_sink_put(out, g.data, g.size);
    put_mdat(bytes, out);
    free(g.data);
}

bool mp4_put_end(const struct mp4_video *v, struct reel_sink *out, struct reel_error *err) {
    return put_boxes(v, false, MP4_OPEN_SIZE, out, err);
}
