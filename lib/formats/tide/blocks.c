/* Finds the beginning and end of the blocks of a TIDE log. In major 2 a block's Size decides. In majors 0 and 1, whose writers stored
 * wrong sizes in several ways, it decides if it leads to a block or to the end of the file; otherwise the content decides, if it can. */
#include "formats/tide/tide.h"
#include "wire/bytes.h"

enum {
    HOP_MIN = TIDE_ENTRY_HEAD,
    HOP_MAX = 64 << 10, /* what a hop out of the window costs, at most */
    LOOK = 64,          /* bytes by which a block is recognised while searching */
    SLACK = 255 * 3,    /* by which old recorders made a CHAN block too small: bytes of a name less its characters, and the like */
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

static bool size_rules(const struct tide *t) {
    return t->major >= 2;
}

/* *yes: a block begins at `at`, or the file ends there. With `known`, blocks with unknown tags do not count. */
static bool leads_on(struct tide *t, uint64_t at, bool known, bool *yes, struct reel_error *err) {
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

/* ---- what is inside ---- */

/* Pays for a hop; false: too many have been made. */
static bool hop(struct tide *t, uint64_t size) {
    uint64_t price = size < HOP_MIN ? HOP_MIN : size < HOP_MAX ? size : HOP_MAX;
    if (price > t->hops_left) {
        return false;
    }
    t->hops_left -= price;
    return true;
}

/* Where the entries that follow each other from `at` on stop: at a block, at `end`, or at what is no entry. */
static bool tide_chain(struct tide *t, uint64_t at, uint64_t end, uint64_t *stop, struct reel_error *err) {
    while (at < end && end - at >= TIDE_ENTRY_HEAD) {
        const uint8_t *p = window_at(&t->peek, at, TIDE_ENTRY_HEAD, err);
        if (!p) {
            return false;
        }
        uint64_t size = load_u32le(p + TIDE_ENTRY_SIZE_AT);
        if (tag_of(p) != TIDE_NO_BLOCK || size > end - at - TIDE_ENTRY_HEAD || !hop(t, TIDE_ENTRY_HEAD + size)) {
            break;
        }
        at += TIDE_ENTRY_HEAD + size;
    }
    *stop = at;
    return true;
}

/* Steps over a number of `bytes` bytes and, with `text`, as many bytes as it says. */
static bool step(struct tide *t, uint64_t *at, unsigned bytes, bool text, uint64_t *number, struct reel_error *err) {
    uint64_t file = t->source->size;
    *number = UINT64_MAX;
    if (*at > file || file - *at < bytes || !hop(t, 0)) {
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

/* Where the fields of a CHAN block end; 0: outside the file. */
static bool channel_end(struct tide *t, uint64_t at, bool is_new, uint64_t *end, struct reel_error *err) {
    static const unsigned old_fields[] = {4, 1, 4, 4, 4, 4}, new_fields[] = {4, 1, 4, 4, 1};
    const unsigned *fields = is_new ? new_fields : old_fields;
    size_t n = is_new ? 5 : 6;
    uint64_t number = 0;
    *end = 0;
    for (size_t i = 0; i < n; i++) {
        bool text = i > 0 && !(is_new && i == n - 1);
        if (!step(t, &at, fields[i], text, &number, err)) {
            return false;
        }
        if (number == UINT64_MAX) {
            return true;
        }
    }
    for (uint64_t hashes = is_new ? number : 0; hashes > 0; hashes--) {
        if (!step(t, &at, 2, true, &number, err)) {
            return false;
        }
        if (number == UINT64_MAX) {
            return true;
        }
    }
    *end = at;
    return true;
}

/* Where a block ends by its content; 0: unknown. For a chunk, *from is where its entries stop. */
static bool own_end(struct tide *t, const struct tide_block *b, uint64_t *end, uint64_t *from, struct reel_error *err) {
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
    if (yes && !size_rules(t)) {
        yes = printable(b->name);
        if (yes && !leads_on(t, b->end, false, &yes, err)) {
            return false;
        }
    }
    b->tag = yes ? TIDE_OTHER : TIDE_NO_BLOCK;
    return true;
}

/* Could the bytes at p, `n` of the `left` that the file has from there, be the head of a block? Looks at no others. */
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
        if (size > room) { /* cut: its first entry must look right */
            uint64_t time = n < TIDE_CHUNK_HEAD + TIDE_ENTRY_HEAD ? 0 : load_u64le(body + TIDE_CHUNK_HEAD + TIDE_ENTRY_TIME_AT);
            return body[TIDE_CHUNK_COMPRESSION_AT] == TIDE_PLAIN && start <= time && time <= end && time > 0;
        }
        return start <= end || load_u32le(body + TIDE_CHUNK_COUNT_AT) == 0;
    }
    case TIDE_INDX:
        rows = n < TIDE_INDEX_HEAD ? 0 : TIDE_INDEX_HEAD + (uint64_t)TIDE_INDEX_ROW * load_u32le(body + 4);
        return rows > 0 && rows <= size && size - rows <= (size_rules(t) ? REEL_TEXT_MAX : 4);
    case TIDE_CHAN:
        return n >= 5 && size >= 5 && size <= room && size <= TIDE_DESCRIPTION_MAX && 5U + body[4] <= size + SLACK;
    case TIDE_TYPE:
        return size >= 2 && size <= room && size <= TIDE_DESCRIPTION_MAX && 2U + load_u16le(body) <= size;
    case TIDE_META:
        return size >= 2 && size <= room && size <= TIDE_DESCRIPTION_MAX && 2U + 6U * load_u16le(body) <= size;
    default:
        return (size == TIDE_BODY_NEW || size == TIDE_BODY_OLD) && size <= room && body[0] <= TIDE_MAJOR_MAX;
    }
}

/* The first place from `from` on that looks like the head of a block; the size of the file when there is none. */
static bool tide_search(struct tide *t, uint64_t from, uint64_t *found, struct reel_error *err) {
    uint64_t file = t->source->size;
    *found = file;
    if (t->summary) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "the blocks do not follow each other up to the end, at %llu no more: only a scan tells what is there",
                         (unsigned long long)from);
    }
    while (from < file && file - from >= TIDE_BLOCK_HEAD) {
        uint64_t left = file - from;
        const uint8_t *p = window_at(&t->peek, from, left < LOOK ? (size_t)left : LOOK, err);
        if (!p) {
            return false;
        }
        size_t held = window_held(&t->peek, from), last = held == left ? held - TIDE_BLOCK_HEAD : held - LOOK;
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

/* The block at `at`; TIDE_NO_BLOCK when none begins there. */
static bool tide_block_at(struct tide *t, uint64_t at, struct tide_block *b, struct reel_error *err) {
    uint64_t left = t->source->size - at, own = 0, from = 0;
    *b = (struct tide_block){.at = at};
    if (t->summary && t->summary->blocks_left-- == 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "TIDE log of too many blocks for a summary: only a scan tells what is in it");
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
    bool fits = b->size <= left, good = fits && size_rules(t);
    b->end = fits ? at + TIDE_BLOCK_HEAD + b->size : 0;
    if (good || (fits && !leads_on(t, b->end, false, &good, err)) || good) {
        return good;
    }
    if (!own_end(t, b, &own, &from, err) || (own > 0 && !leads_on(t, own, true, &good, err))) {
        return false;
    }
    if (good) {
        b->mended = own != b->end;
        b->end = own;
        return true;
    }
    /* Size and count are filled in when a recorder closes its chunk (libtidelog): what follows an empty one that leads nowhere are its
     * entries. */
    bool open = fits && b->tag == TIDE_CHNK && b->size == TIDE_CHUNK_HEAD && from > b->end;
    b->cut = !fits || open;
    return !b->cut || tide_search(t, from, &b->end, err);
}

/* ---- the file ---- */

/* Majors and sizes of the TIDE block that disagree about the layout: the first CHAN block decides, when it fills one layout and not the
 * other. */
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
    t->is_new = size_rules(t);
    if (!size_rules(t)) {
        /* Size is often nonsense: the first of these that leads to a block, else one that is the whole file. */
        uint64_t bodies[] = {size <= room ? size : TIDE_BODY_OLD, TIDE_BODY_OLD, TIDE_BODY_NEW};
        size_t chosen = 3, whole = 3;
        for (size_t i = 0; i < 3 && chosen == 3; i++) {
            bool yes = false;
            if (bodies[i] < TIDE_BODY_NEW || bodies[i] > room) {
                continue;
            }
            if (!leads_on(t, TIDE_BLOCK_HEAD + bodies[i], true, &yes, err)) {
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
        reel_scan_finding(t->scan, size_rules(t) ? REEL_WARNING : REEL_NOTE, 0, 0, 0,
                          "block TIDE at 0: its Size is %llu, its body has %llu bytes", (unsigned long long)size,
                          (unsigned long long)(t->body_end - TIDE_BLOCK_HEAD));
    }
    bool looks_new = body == TIDE_BODY_NEW, looks_old = body == TIDE_BODY_OLD;
    t->hops_left = UINT32_MAX;
    return (t->is_new ? !looks_old : !looks_new) || detect_layout(t, err);
}

bool tide_walk(struct tide *t, bool tell, bool (*visit)(struct tide *t, const struct tide_block *b, struct reel_error *err),
               struct reel_error *err) {
    uint64_t file = t->source->size;
    t->hops_left = file < UINT64_MAX / 16 ? 8 * file + REEL_WINDOW_BYTES : file;
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
            if (tell) {
                tide_lost(t, at, b.end - at, "no block begins at %llu: %llu bytes are passed over", (unsigned long long)at,
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
