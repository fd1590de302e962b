/* Finds the beginning and end of the blocks of a TIDE log. In major 2 a block's Size decides. In majors 0 and 1, whose
 * writers stored wrong sizes in several ways, it decides if it leads to a block or to the end of the file; otherwise
 * the content decides, if it can. */
#include "base/bytes.h"
#include "formats/tide/container.h"

enum {
    SKIP_COST_MIN = TIDE_ENTRY_HEAD,
    SKIP_COST_MAX = 64 << 10,     /* the most that a skip out of the window costs */
    HEAD_BYTES = 64,              /* needed to recognise a block while searching */
    CHANNEL_SIZE_ERROR = 255 * 3, /* Size of a CHAN block may be too small by this: old recorders counted characters
                                     instead of bytes */
};

static uint32_t tag_number(const char *tag) {
    return load_u32le((const uint8_t *)tag);
}

static enum tide_tag tag_of(const uint8_t *p) {
    static const struct {
        const char *name;
        enum tide_tag tag;
    } tags[] = {{"CHNK", TIDE_CHNK}, {"INDX", TIDE_INDX}, {"CHAN", TIDE_CHAN},
                {"TYPE", TIDE_TYPE}, {"META", TIDE_META}, {"TIDE", TIDE_TIDE}};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        if (load_u32le(p) == tag_number(tags[i].name)) {
            return tags[i].tag;
        }
    }
    return TIDE_NO_BLOCK;
}

static bool printable(const uint8_t *p) {
    for (int i = 0; i < 4; i++) {
        if (p[i] < 0x20 || p[i] > 0x7e) {
            return false;
        }
    }
    return true;
}

static bool size_decides(const struct tide *t) {
    return t->major >= 2;
}

/* *yes: a block begins at `at`, or the file ends there. With `known`, blocks with unknown tags do not count. */
static bool block_follows(struct tide *t, uint64_t at, bool known, bool *yes, struct reel_error *err) {
    uint64_t file = t->source->size;
    *yes = at == file;
    if (at >= file || file - at < TIDE_BLOCK_HEAD) {
        return true;
    }
    const uint8_t *p = window_at(&t->peek, at, TIDE_BLOCK_HEAD, err);
    if (!p) {
        return false;
    }
    *yes = tag_of(p) != TIDE_NO_BLOCK || (!known && printable(p) && load_u64le(p + 4) <= file - at - TIDE_BLOCK_HEAD);
    return true;
}

/* ---- content of blocks ---- */

/* Deducts a skip from the allowance; false: it is used up. */
static bool pay_for_skip(struct tide *t, uint64_t size) {
    uint64_t price = size < SKIP_COST_MIN ? SKIP_COST_MIN : size < SKIP_COST_MAX ? size : SKIP_COST_MAX;
    if (price > t->skips_left) {
        return false;
    }
    t->skips_left -= price;
    return true;
}

/* *stop: end of the consecutive entries from `at` on. They end at a block, at `end`, or at bytes that are not an entry.
 */
static bool tide_chain(struct tide *t, uint64_t at, uint64_t end, uint64_t *stop, struct reel_error *err) {
    while (at < end && end - at >= TIDE_ENTRY_HEAD) {
        const uint8_t *p = window_at(&t->peek, at, TIDE_ENTRY_HEAD, err);
        if (!p) {
            return false;
        }
        uint64_t size = load_u32le(p + TIDE_ENTRY_SIZE_AT);
        if (tag_of(p) != TIDE_NO_BLOCK || size > end - at - TIDE_ENTRY_HEAD ||
            !pay_for_skip(t, TIDE_ENTRY_HEAD + size)) {
            break;
        }
        at += TIDE_ENTRY_HEAD + size;
    }
    *stop = at;
    return true;
}

/* Reads a number of `bytes` bytes and skips it; with `text` it is a length, and that many bytes are skipped too. */
static bool tide_step(struct tide *t, uint64_t *at, unsigned bytes, bool text, uint64_t *number,
                      struct reel_error *err) {
    uint64_t file = t->source->size;
    *number = UINT64_MAX;
    if (*at > file || file - *at < bytes || !pay_for_skip(t, 0)) {
        return true;
    }
    const uint8_t *p = window_at(&t->peek, *at, bytes, err);
    if (!p) {
        return false;
    }
    *number = bytes == 1 ? p[0] : bytes == 2 ? load_u16le(p) : load_u32le(p);
    *at += bytes + (text ? *number : 0);
    if (*at > file) {
        *number = UINT64_MAX;
    }
    return true;
}

/* *end: end of the fields of a CHAN block; 0: beyond the file. */
static bool channel_end(struct tide *t, uint64_t at, bool is_new, uint64_t *end, struct reel_error *err) {
    static const unsigned old_fields[] = {4, 1, 4, 4, 4, 4}, new_fields[] = {4, 1, 4, 4, 1};
    const unsigned *fields = is_new ? new_fields : old_fields;
    size_t n = is_new ? 5 : 6;
    uint64_t number = 0;
    *end = 0;
    for (size_t i = 0; i < n; i++) {
        bool text = i > 0 && !(is_new && i == n - 1);
        if (!tide_step(t, &at, fields[i], text, &number, err)) {
            return false;
        }
        if (number == UINT64_MAX) {
            return true;
        }
    }
    for (uint64_t hashes = is_new ? number : 0; hashes > 0; hashes--) {
        if (!tide_step(t, &at, 2, true, &number, err)) {
            return false;
        }
        if (number == UINT64_MAX) {
            return true;
        }
    }
    *end = at;
    return true;
}

/* *end: end of a block according to its content; 0: unknown. For a chunk, *from is the end of its entries. */
static bool end_by_content(struct tide *t, const struct tide_block *b, uint64_t *end, uint64_t *from,
                           struct reel_error *err) {
    uint64_t body = b->at + TIDE_BLOCK_HEAD, left = t->source->size - body;
    *end = 0;
    *from = body;
    if (b->tag == TIDE_CHAN) {
        return channel_end(t, body, t->is_new, end, err);
    }
    if (b->tag == TIDE_INDX && left >= TIDE_INDEX_HEAD) {
        const uint8_t *p = window_at(&t->peek, body, TIDE_INDEX_HEAD, err);
        uint64_t size = p ? TIDE_INDEX_HEAD + (uint64_t)TIDE_INDEX_ROW * load_u32le(p + 4) : 0;
        *from = body + TIDE_INDEX_HEAD;
        *end = size <= left ? body + size : 0;
        return p != NULL;
    }
    if (b->tag == TIDE_CHNK && left >= TIDE_CHUNK_HEAD) {
        const uint8_t *p = window_at(&t->peek, body, TIDE_CHUNK_HEAD, err);
        *from = body + TIDE_CHUNK_HEAD;
        if (!p || p[TIDE_CHUNK_COMPRESSION_AT] != TIDE_PLAIN || t->summary) {
            return p != NULL;
        }
        bool good = tide_chain(t, *from, t->source->size, from, err);
        *end = *from;
        return good;
    }
    return true;
}

/* ---- blocks ---- */

static bool unknown_block(struct tide *t, struct tide_block *b, uint64_t left, struct reel_error *err) {
    bool yes = b->size <= left && memcmp(b->name, "\0\0\0", sizeof b->name) != 0;
    b->end = b->at + TIDE_BLOCK_HEAD + (yes ? b->size : 0);
    if (yes && !size_decides(t)) {
        yes = printable(b->name);
        if (yes && !block_follows(t, b->end, false, &yes, err)) {
            return false;
        }
    }
    b->tag = yes ? TIDE_OTHER : TIDE_NO_BLOCK;
    return true;
}

/* Could the `n` bytes at p be the head of a block? The file has `left` bytes from there. */
static bool plausible(const struct tide *t, const uint8_t *p, size_t n, uint64_t left) {
    enum tide_tag tag = tag_of(p);
    if (tag == TIDE_NO_BLOCK || n < TIDE_BLOCK_HEAD + 2) {
        return false;
    }
    uint64_t size = load_u64le(p + 4), room = left - TIDE_BLOCK_HEAD, rows;
    const uint8_t *body = p + TIDE_BLOCK_HEAD;
    n -= TIDE_BLOCK_HEAD;
    switch (tag) {
    case TIDE_CHNK: {
        if (n < TIDE_CHUNK_HEAD || size < TIDE_CHUNK_HEAD || body[TIDE_CHUNK_COMPRESSION_AT] > TIDE_BZIP2) {
            return false;
        }
        uint64_t start = load_u64le(body + TIDE_CHUNK_START_AT), end = load_u64le(body + TIDE_CHUNK_END_AT);
        if (size > room) { /* cut: its first entry must be plausible */
            uint64_t time =
                n < TIDE_CHUNK_HEAD + TIDE_ENTRY_HEAD ? 0 : load_u64le(body + TIDE_CHUNK_HEAD + TIDE_ENTRY_TIME_AT);
            return body[TIDE_CHUNK_COMPRESSION_AT] == TIDE_PLAIN && start <= time && time <= end && time > 0;
        }
        return start <= end || load_u32le(body + TIDE_CHUNK_COUNT_AT) == 0;
    }
    case TIDE_INDX:
        rows = n < TIDE_INDEX_HEAD ? 0 : TIDE_INDEX_HEAD + (uint64_t)TIDE_INDEX_ROW * load_u32le(body + 4);
        return rows > 0 && rows <= size && size - rows <= (size_decides(t) ? REEL_TEXT_MAX : 4);
    case TIDE_CHAN:
        return n >= 5 && size >= 5 && size <= room && size <= TIDE_DESCRIPTION_MAX &&
               5U + body[4] <= size + CHANNEL_SIZE_ERROR;
    case TIDE_TYPE:
        return size >= 2 && size <= room && size <= TIDE_DESCRIPTION_MAX && 2U + load_u16le(body) <= size;
    case TIDE_META:
        return size >= 2 && size <= room && size <= TIDE_DESCRIPTION_MAX && 2U + 6U * load_u16le(body) <= size;
    default:
        return (size == TIDE_BODY_NEW || size == TIDE_BODY_OLD) && size <= room && body[0] <= TIDE_MAJOR_MAX;
    }
}

/* *found: the first position from `from` on with a plausible head of a block; the size of the file if there is none. */
static bool tide_search(struct tide *t, uint64_t from, uint64_t *found, struct reel_error *err) {
    uint64_t file = t->source->size;
    *found = file;
    if (t->summary) {
        return reel_fail(err, REEL_UNSUPPORTED, "no block begins at %llu: the contents are unknown until a scan",
                         (unsigned long long)from);
    }
    while (from < file && file - from >= TIDE_BLOCK_HEAD) {
        uint64_t left = file - from;
        const uint8_t *p = window_at(&t->peek, from, left < HEAD_BYTES ? (size_t)left : HEAD_BYTES, err);
        if (!p) {
            return false;
        }
        size_t held = window_held(&t->peek, from), last = held == left ? held - TIDE_BLOCK_HEAD : held - HEAD_BYTES;
        for (size_t i = 0; i <= last; i++) {
            if (p[i] >= 'C' && p[i] <= 'T' && plausible(t, p + i, held - i, left - i)) {
                *found = from + i;
                return true;
            }
        }
        from += last + 1;
        if (!tide_progress(t, from, err)) {
            return false;
        }
    }
    return true;
}

/* Reads the head of the block at `at`; its tag is TIDE_NO_BLOCK if none begins there. */
static bool tide_block_at(struct tide *t, uint64_t at, struct tide_block *b, struct reel_error *err) {
    uint64_t left = t->source->size - at, content_end = 0, from = 0;
    *b = (struct tide_block){.at = at};
    if (t->summary && t->summary->blocks_left-- == 0) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "TIDE log has too many blocks for a summary: the contents are unknown until a scan");
    }
    if (left < TIDE_BLOCK_HEAD) {
        return true;
    }
    const uint8_t *p = window_at(&t->peek, at, TIDE_BLOCK_HEAD, err);
    if (!p) {
        return false;
    }
    memcpy(b->name, p, sizeof b->name);
    b->tag = tag_of(p);
    b->size = load_u64le(p + 4);
    left -= TIDE_BLOCK_HEAD;
    if (b->tag == TIDE_NO_BLOCK) {
        return unknown_block(t, b, left, err);
    }
    bool unfinished = b->tag == TIDE_CHNK && b->size < TIDE_CHUNK_HEAD; /* Size is filled in when a chunk is closed */
    if (unfinished) {
        bool empty;
        if (!block_follows(t, at + TIDE_BLOCK_HEAD + b->size, true, &empty, err)) {
            return false;
        }
        unfinished = !empty;
    }
    bool fits = b->size <= left && !unfinished, good = fits && size_decides(t);
    b->end = fits ? at + TIDE_BLOCK_HEAD + b->size : 0;
    if (good || (fits && !block_follows(t, b->end, false, &good, err)) || good) {
        return good;
    }
    if (!end_by_content(t, b, &content_end, &from, err) ||
        (content_end > 0 && !block_follows(t, content_end, true, &good, err))) {
        return false;
    }
    if (good) {
        b->resized = content_end != b->end;
        b->end = content_end;
        return true;
    }
    /* libtidelog fills in Size and count when it closes a chunk: if no block follows an empty chunk, its entries
     * follow. */
    bool open = fits && b->tag == TIDE_CHNK && b->size == TIDE_CHUNK_HEAD && from > b->end;
    b->cut = !fits || open;
    return !b->cut || tide_search(t, from, &b->end, err);
}

/* ---- the file ---- */

/* If major version and size of the TIDE block contradict each other, the first CHAN block decides, if it fits exactly
 * one layout. */
static bool detect_layout(struct tide *t, struct reel_error *err) {
    for (uint64_t at = t->body_end; at < t->source->size;) {
        struct tide_block b;
        uint64_t as_new, as_old;
        if (!tide_block_at(t, at, &b, err)) {
            return false;
        }
        if (b.tag == TIDE_NO_BLOCK) {
            return true;
        }
        if (b.tag == TIDE_CHAN) {
            uint64_t body = at + TIDE_BLOCK_HEAD, stated = b.size <= t->source->size - body ? body + b.size : 0;
            if (!channel_end(t, body, true, &as_new, err) || !channel_end(t, body, false, &as_old, err)) {
                return false;
            }
            t->is_new = stated > 0 && (as_new == stated) != (as_old == stated) ? as_new == stated : t->is_new;
            return true;
        }
        at = b.end;
    }
    return true;
}

bool tide_begin(struct tide *t, uint64_t size, struct reel_error *err) {
    uint64_t file = t->source->size, room = file - TIDE_BLOCK_HEAD, body = size <= room ? size : TIDE_BODY_NEW;
    t->is_new = size_decides(t);
    if (!size_decides(t)) {
        /* Size is often wrong: use the first of these that a block follows, or else one that ends with the file. */
        uint64_t bodies[] = {size <= room ? size : TIDE_BODY_OLD, TIDE_BODY_OLD, TIDE_BODY_NEW};
        size_t chosen = 3, whole = 3;
        for (size_t i = 0; i < 3 && chosen == 3; i++) {
            bool yes = false;
            if (bodies[i] < TIDE_BODY_NEW || bodies[i] > room) {
                continue;
            }
            if (!block_follows(t, TIDE_BLOCK_HEAD + bodies[i], true, &yes, err)) {
                return false;
            }
            whole = yes && bodies[i] == room ? i : whole;
            chosen = yes && bodies[i] < room ? i : chosen;
        }
        chosen = chosen < 3 ? chosen : whole;
        body = chosen < 3 ? bodies[chosen] : room < TIDE_BODY_OLD ? TIDE_BODY_NEW : TIDE_BODY_OLD;
    }
    t->body_end = TIDE_BLOCK_HEAD + (body < TIDE_BODY_NEW ? TIDE_BODY_NEW : body);
    if (body != size) {
        reel_scan_finding(t->scan, size_decides(t) ? REEL_WARNING : REEL_NOTE, 0, 0, 0,
                          "block TIDE at 0: its Size is %llu, but its body has %llu bytes", (unsigned long long)size,
                          (unsigned long long)(t->body_end - TIDE_BLOCK_HEAD));
    }
    bool looks_new = body == TIDE_BODY_NEW, looks_old = body == TIDE_BODY_OLD;
    t->skips_left = UINT32_MAX;
    return (t->is_new ? !looks_old : !looks_new) || detect_layout(t, err);
}

bool tide_walk(struct tide *t, bool report,
               bool (*visit)(struct tide *t, const struct tide_block *b, struct reel_error *err),
               struct reel_error *err) {
    uint64_t file = t->source->size;
    t->skips_left = file < UINT64_MAX / 16 ? 8 * file + REEL_WINDOW_BYTES : file;
    t->report_at = 0;
    for (uint64_t at = t->body_end; at < file;) {
        struct tide_block b;
        if (!tide_block_at(t, at, &b, err)) {
            return false;
        }
        if (b.tag == TIDE_NO_BLOCK) {
            if (!tide_search(t, at + 1, &b.end, err)) {
                return false;
            }
            if (report) {
                tide_lost(t, at, b.end - at, "no block begins at %llu: %llu bytes skipped", (unsigned long long)at,
                          (unsigned long long)(b.end - at));
            }
        } else if (!visit(t, &b, err)) {
            return false;
        }
        at = b.end;
        if (!tide_progress(t, at, err)) {
            return false;
        }
    }
    return true;
}
