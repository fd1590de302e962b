/* Makes MIRA tapes in memory, byte by byte, in every layout that the documentation leaves open and with every defect
 * wanted. For tests and golden inputs; shares no line with the reader or the writer. Compressed messages are stored
 * blocks, made here too. */
#ifndef TESTS_MIRA_MAKER_H
#define TESTS_MIRA_MAKER_H

#include "makers/bag_maker.h"

#include <stdbool.h>

#define TAPE_START 1330000000000000000ull
#define TAPE_HOUR 3600000000000ll

enum tape_codec { TAPE_PLAIN, TAPE_ZLIB, TAPE_GZIP, TAPE_UNKNOWN };

struct tape_style {
    bool big;              /* big-endian */
    bool size_counts;      /* a field's size counts its header */
    bool links_to_content; /* links point to the content, after the field header */
    bool block_counts;     /* a block's size counts what is in it */
    unsigned origin; /* what a message's origin in an index is counted from: 0 the block's header, 5 its content, 29 its
                        first field */
    uint64_t start;
    int64_t utc;
    size_t block_max;
};
static const struct tape_style tape_default = {.start = TAPE_START, .utc = TAPE_HOUR, .block_max = 1 << 16};

enum { TAPE_CHANNELS = 8, TAPE_MESSAGES = 512 };
struct tape_channel {
    const char *name;
    size_t info, tail; /* where its info stands, and the last two fields of that */
    int64_t first, last;
    uint64_t stored;
    uint32_t count;
};
struct tape_message {
    size_t at, block;
    int64_t time;
    unsigned channel;
};
struct tape {
    struct maker m;
    struct tape_style style;
    struct tape_channel channels[TAPE_CHANNELS];
    struct tape_message messages[TAPE_MESSAGES];
    unsigned n_channels, n_messages, n_blocks;
    bool open;
    size_t block; /* where the open one stands */
    uint32_t block_messages;
    int64_t block_first, block_last;
};

static inline void tape_patch(struct tape *t, size_t at, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) {
        t->m.data[at + i] = (uint8_t)(v >> 8 * (t->style.big ? bytes - 1 - i : i));
    }
}
static inline void tape_number(struct tape *t, uint64_t v, unsigned bytes) {
    make_number(&t->m, 0, bytes);
    tape_patch(t, t->m.size - bytes, v, bytes);
}
static inline void tape_string(struct tape *t, const char *text) {
    tape_number(t, strlen(text), 4);
    make_text(&t->m, text);
}
static inline size_t tape_link(const struct tape *t, size_t at) {
    return at + (t->style.links_to_content ? 5 : 0);
}

static inline void tape_begin(struct tape *t, const struct tape_style *style) {
    *t = (struct tape){.style = *style};
    tape_number(t, 0x10000, 4);
    tape_number(t, style->start, 8);
    tape_number(t, (uint64_t)style->utc, 8);
    tape_number(t, 0, 4);
    tape_number(t, 0, 8);
}
static inline size_t tape_field(struct tape *t, uint8_t type) {
    make_number(&t->m, type, 1);
    make_number(&t->m, 0, 4);
    return t->m.size - 5;
}
static inline void tape_field_end(struct tape *t, size_t field) {
    tape_patch(t, field + 1, t->m.size - field - (t->style.size_counts ? 0 : 5), 4);
}

static inline void tape_block_begin(struct tape *t) {
    t->block = tape_field(t, 0x0a);
    tape_number(t, 0, 4);
    tape_number(t, 0, 4);
    tape_number(t, 0, 8);
    tape_number(t, 0, 8);
    tape_field_end(t, t->block);
    t->open = true;
    t->block_messages = 0;
    t->n_blocks++;
}
static inline void tape_block_end(struct tape *t) {
    if (t->open) {
        size_t bytes = t->m.size - t->block - 29;
        tape_patch(t, t->block + 5, t->block_messages, 4);
        tape_patch(t, t->block + 9, bytes, 4);
        tape_patch(t, t->block + 13, t->block_messages ? (uint64_t)t->block_first : 0, 8);
        tape_patch(t, t->block + 21, t->block_messages ? (uint64_t)t->block_last : 0, 8);
        if (t->style.block_counts) {
            tape_patch(t, t->block + 1, bytes + 24, 4);
        }
    }
    t->open = false;
}

static inline unsigned tape_channel_named(struct tape *t, const char *name) {
    unsigned c = 0;
    while (c < t->n_channels && strcmp(t->channels[c].name, name) != 0) {
        c++;
    }
    assert(c < TAPE_CHANNELS);
    if (c == t->n_channels) {
        t->channels[t->n_channels++] = (struct tape_channel){.name = name};
    }
    return c;
}
static inline void tape_info(struct tape *t, const char *name, const char *type, const void *meta, size_t meta_size) {
    struct tape_channel *c = &t->channels[tape_channel_named(t, name)];
    c->info = tape_field(t, 0x0b);
    tape_number(t, 0, 8);
    tape_number(t, 0, 8);
    tape_number(t, 0, 8);
    tape_string(t, name);
    tape_string(t, type);
    tape_number(t, meta_size, 8);
    make_bytes(&t->m, meta, meta_size);
    c->tail = t->m.size;
    tape_number(t, 0, 8);
    tape_number(t, 0, 8);
    tape_field_end(t, c->info);
}

/* The data as deflate's stored block in a zlib or gzip wrapper, or in an unknown codec. */
static inline void tape_pack(struct tape *t, enum tape_codec codec, const uint8_t *data, size_t size) {
    struct maker *m = &t->m;
    uint32_t a = 1, b = 0, crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
        crc ^= data[i];
        for (int k = 0; k < 8; k++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
        }
    }
    assert(size < 65536);
    if (codec == TAPE_UNKNOWN) {
        make_text(m, "LZX?");
        make_bytes(m, data, size);
        return;
    }
    make_bytes(m, codec == TAPE_ZLIB ? "\x78\x01" : "\x1f\x8b\x08\0\0\0\0\0\0\xff", codec == TAPE_ZLIB ? 2 : 10);
    make_number(m, 1, 1);
    make_number(m, size, 2);
    make_number(m, ~size, 2);
    make_bytes(m, data, size);
    if (codec == TAPE_ZLIB) {
        uint32_t adler = b << 16 | a;
        for (int shift = 24; shift >= 0; shift -= 8) {
            make_number(m, adler >> shift, 1);
        }
    } else {
        make_number(m, ~crc, 4);
        make_number(m, size, 4);
    }
}

/* Only the message field. */
static inline size_t tape_message_field(struct tape *t, const char *name, int64_t time, const char *frame,
                                        uint32_t sequence, enum tape_codec codec, const void *data, size_t size) {
    size_t at = tape_field(t, 0x0c);
    tape_number(t, (uint64_t)time, 8);
    tape_string(t, name);
    tape_string(t, frame);
    tape_number(t, sequence, 4);
    size_t stored_at = t->m.size;
    tape_number(t, size, 4);
    tape_number(t, codec != TAPE_PLAIN, 1);
    if (codec == TAPE_PLAIN) {
        make_bytes(&t->m, data, size);
    } else {
        tape_number(t, size, 4);
        size_t from = t->m.size;
        tape_pack(t, codec, (const uint8_t *)data, size);
        tape_patch(t, stored_at, t->m.size - from, 4);
    }
    tape_field_end(t, at);
    return at;
}

/* A message with all that belongs to it: its block, its channel's info before the first, what is counted of it. */
static inline size_t tape_put(struct tape *t, const char *name, const char *type, int64_t time, const char *frame,
                              uint32_t sequence, enum tape_codec codec, const void *data, size_t size) {
    if (!t->open) {
        tape_block_begin(t);
    }
    unsigned number = tape_channel_named(t, name);
    struct tape_channel *c = &t->channels[number];
    if (c->info == 0) {
        tape_info(t, name, type, "", 0);
    }
    size_t at = tape_message_field(t, name, time, frame, sequence, codec, data, size),
           fixed = 5 + 25 + strlen(name) + strlen(frame) + (codec == TAPE_PLAIN ? 0 : 4);
    assert(t->n_messages < TAPE_MESSAGES);
    t->messages[t->n_messages++] = (struct tape_message){.at = at, .block = t->block, .time = time, .channel = number};
    c->first = c->count == 0 || time < c->first ? time : c->first;
    c->last = c->count == 0 || time > c->last ? time : c->last;
    c->count++;
    c->stored += t->m.size - at - fixed;
    t->block_first = t->block_messages == 0 || time < t->block_first ? time : t->block_first;
    t->block_last = t->block_messages == 0 || time > t->block_last ? time : t->block_last;
    t->block_messages++;
    if (t->m.size - t->block > t->style.block_max) {
        tape_block_end(t);
    }
    return at;
}
static inline size_t tape_text(struct tape *t, const char *name, int64_t time, const char *text) {
    return tape_put(t, name, "std::string", time, "", 0, TAPE_PLAIN, text, strlen(text));
}

static inline size_t tape_index(struct tape *t, unsigned channel) {
    size_t at = tape_field(t, 0x0d);
    tape_number(t, t->channels[channel].count, 4);
    for (unsigned i = 0; i < t->n_messages; i++) {
        const struct tape_message *e = &t->messages[i];
        if (e->channel == channel) {
            tape_number(t, tape_link(t, e->block), 8);
            tape_number(t, e->at - e->block - t->style.origin, 8);
            tape_number(t, (uint64_t)e->time, 8);
        }
    }
    tape_field_end(t, at);
    return at;
}
/* Index tables, links, counts. Without it the tape is one whose recorder died. */
static inline void tape_finish(struct tape *t) {
    tape_block_end(t);
    for (unsigned i = 0; i < t->n_channels; i++) {
        struct tape_channel *c = &t->channels[i];
        size_t index = tape_index(t, i), next = i + 1 < t->n_channels ? t->channels[i + 1].info : 0;
        tape_patch(t, c->info + 5, next ? tape_link(t, next) : 0, 8);
        tape_patch(t, c->info + 13, (uint64_t)c->first, 8);
        tape_patch(t, c->info + 21, (uint64_t)c->last, 8);
        tape_patch(t, c->tail, c->stored, 8);
        tape_patch(t, c->tail + 8, tape_link(t, index), 8);
    }
    tape_patch(t, 20, t->n_blocks, 4);
    tape_patch(t, 24, t->n_channels ? tape_link(t, t->channels[0].info) : 0, 8);
}

/* Six messages, in turn on /a and /b, 10 ns apart, in blocks of two. */
static inline void tape_six(struct tape *t, const struct tape_style *style) {
    tape_begin(t, style);
    for (int i = 0; i < 6; i++) {
        const char text[] = {'m', (char)('0' + i), 0};
        tape_text(t, i % 2 ? "/b" : "/a", 10 * i, text);
        if (i % 2) {
            tape_block_end(t);
        }
    }
}

#endif
