/* See tar.h. A header is valid when its checksum matches. */
#include "syntax/tar.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"

enum {
    BLOCK = 512,
    NAME_SIZE = 100,
    SIZE_AT = 124,
    SIZE_SIZE = 12,
    SUM_AT = 148,
    SUM_SIZE = 8,
    KIND_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX_SIZE = 155,
    EXTENSION_MAX = 64 << 10, /* pax fields or a long name */
};

struct extension { /* from pax or long-name headers before a member's own header */
    const char *name;
    bool sized;
    uint64_t size;
};

static uint64_t tar_number(const uint8_t *p, size_t size) {
    uint64_t v = 0;
    if (p[0] & 0x80) {
        v = p[0] & 0x3f;
        for (size_t i = 1; i < size; i++) {
            v = v >> 56 ? UINT64_MAX >> 1 : v << 8 | p[i];
        }
        return v;
    }
    size_t i = 0;
    while (i < size && p[i] == ' ') {
        i++;
    }
    for (; i < size && p[i] >= '0' && p[i] <= '7'; i++) {
        v = v << 3 | (uint64_t)(p[i] - '0');
    }
    return v;
}

static bool sum_holds(const uint8_t *header) {
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        sum += i >= SUM_AT && i < SUM_AT + SUM_SIZE ? ' ' : header[i];
    }
    return sum == tar_number(header + SUM_AT, SUM_SIZE);
}

bool tar_is(struct reel_bytes head) {
    return head.size >= BLOCK && memcmp(head.data + MAGIC_AT, "ustar", 5) == 0 && sum_holds(head.data);
}

static struct reel_bytes field(const uint8_t *p, size_t size) {
    return bytes_of(p, strnlen((const char *)p, size));
}

static const char *header_name(struct tar *tar, const uint8_t *header) {
    struct reel_bytes name = field(header, NAME_SIZE), prefix = field(header + PREFIX_AT, PREFIX_SIZE);
    uint8_t whole[PREFIX_SIZE + 1 + NAME_SIZE];
    size_t used = 0;
    if (prefix.size > 0 && memcmp(header + MAGIC_AT, "ustar\0", 6) == 0) { /* GNU tar uses these bytes differently */
        memcpy(whole, prefix.data, prefix.size);
        whole[prefix.size] = '/';
        used = prefix.size + 1;
    }
    memcpy(whole + used, name.data, name.size);
    return arena_utf8(tar->arena, bytes_of(whole, used + name.size));
}

/* Decimal digits; UINT64_MAX when they are too many. */
static uint64_t decimal(struct cursor *c) {
    uint64_t v = 0;
    for (; !cursor_done(c) && *c->at >= '0' && *c->at <= '9'; c->at++) {
        v = v > UINT64_MAX / 10 - 1 ? UINT64_MAX : v * 10 + (uint64_t)(*c->at - '0');
    }
    return v;
}

/* Repeated "27 path=bag/metadata.yaml
". */
static bool read_pax(struct tar *tar, struct reel_bytes text, struct extension *x, struct reel_error *err) {
    struct cursor c = cursor_of(text);
    while (!cursor_done(&c)) {
        const uint8_t *start = c.at;
        uint64_t length = decimal(&c), used = (uint64_t)(c.at - start);
        struct cursor record = cursor_sub(&c, length > used ? length - used : UINT64_MAX);
        if (record.failed || cursor_left(&record) < 2) {
            return true; /* malformed: use the header's own fields */
        }
        struct reel_bytes pair = bytes_of(record.at + 1, cursor_left(&record) - 2);
        if (bytes_start(pair, bytes_text("path="))) {
            x->name = arena_utf8(tar->arena, bytes_of(pair.data + 5, pair.size - 5));
            if (!x->name) {
                return arena_fail(tar->arena, err);
            }
        } else if (bytes_start(pair, bytes_text("size="))) {
            struct cursor digits = cursor_of(bytes_of(pair.data + 5, pair.size - 5));
            x->sized = true;
            x->size = decimal(&digits);
        }
    }
    return true;
}

static bool read_extension(struct tar *tar, uint8_t kind, uint64_t at, uint64_t size, struct extension *x,
                           struct reel_error *err) {
    if (at > tar->source->size || size > tar->source->size - at) {
        return reel_fail(err, REEL_DAMAGED, "tar header at %llu: the archive ends inside it", (unsigned long long)at);
    }
    if (size > EXTENSION_MAX) {
        return reel_fail(err, REEL_LIMIT, "tar header at %llu: %llu bytes of names, at most %d are taken",
                         (unsigned long long)at, (unsigned long long)size, EXTENSION_MAX);
    }
    AUTO_MEM uint8_t *text = malloc((size_t)size + 1);
    if (!text) {
        return reel_fail_memory(err);
    }
    if (!reel_source_read(tar->source, at, text, (size_t)size, err)) {
        return false;
    }
    if (kind == 'x') {
        return read_pax(tar, bytes_of(text, (size_t)size), x, err);
    }
    x->name = arena_utf8(tar->arena, field(text, (size_t)size));
    return x->name || arena_fail(tar->arena, err);
}

/* At less than a block before the end: false when that is the beginning of a header, or the header's file is missing.
 */
static bool ends_whole(struct tar *tar, const struct extension *x, struct reel_error *err) {
    uint8_t rest[BLOCK];
    uint64_t left = tar->at < tar->source->size ? tar->source->size - tar->at : 0;
    bool is_cut = x->name || x->sized;
    if (!reel_source_read(tar->source, tar->at, rest, (size_t)left, err)) {
        return false;
    }
    for (uint64_t i = 0; i < left && !is_cut; i++) {
        is_cut = rest[i] != 0;
    }
    return !is_cut ||
           reel_fail(err, REEL_DAMAGED, "tar header at %llu: the archive ends inside it", (unsigned long long)tar->at);
}

bool tar_next(struct tar *tar, struct tar_member *member, bool *more, struct reel_error *err) {
    struct extension x = {0};
    for (;;) {
        uint8_t header[BLOCK];
        uint64_t total = tar->source->size, at = tar->at;
        *more = at < total && total - at >= BLOCK;
        if (!*more) {
            return ends_whole(tar, &x, err);
        }
        if (!reel_source_read(tar->source, at, header, BLOCK, err)) {
            return false;
        }
        if (header[0] == 0) { /* blocks of zeros end it */
            *more = false;
            return true;
        }
        if (!sum_holds(header)) {
            return reel_fail(err, REEL_DAMAGED, "tar header at %llu: its checksum does not hold",
                             (unsigned long long)at);
        }
        uint8_t kind = header[KIND_AT];
        uint64_t size = x.sized ? x.size : tar_number(header + SIZE_AT, SIZE_SIZE), begin = at + BLOCK,
                 room = total - begin;
        uint64_t padded = size > room ? room : (size + BLOCK - 1) / BLOCK * BLOCK;
        tar->at = begin + (padded > room ? room : padded);
        if (kind == 'x' || kind == 'L') {
            if (!read_extension(tar, kind, begin, size, &x, err)) {
                return false;
            }
        } else if (kind == '0' || kind == '\0' || kind == '7') {
            uint64_t held = size > room ? room : size;
            *member = (struct tar_member){.name = x.name ? x.name : header_name(tar, header),
                                          .offset = begin,
                                          .size = held,
                                          .missing = size - held};
            return member->name || reel_fail_memory(err);
        } else if (kind != 'g') {
            x = (struct extension){0};
        }
    }
}
