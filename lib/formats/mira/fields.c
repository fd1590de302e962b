/* Reads the header of a tape and single fields. A field is read by the lengths inside it, each checked against the file
 * first; the caller compares the result with the size in its header. */
#include "base/ascii.h"
#include "base/bytes.h"
#include "formats/mira/container.h"

enum {
    PEEK = 4096, /* nearly every field without its data fits */
    HEAD_MAX = MIRA_FIELD_HEAD + MIRA_INFO_FIXED + 2 * REEL_TEXT_MAX + 16, /* the longest beginning of a field */
};

/* ---- the header ---- */

static struct mira_header header_of(struct reel_bytes head, bool big) {
    struct cursor c = cursor_of(head);
    struct mira_header h = {.big = big};
    h.version = mira_u32(&c, big);
    h.start_ns = mira_u64(&c, big);
    h.utc_ns = (int64_t)mira_u64(&c, big);
    h.blocks = mira_u32(&c, big);
    h.first_info = mira_u64(&c, big);
    return h;
}

static bool is_type(uint8_t type) {
    return type >= MIRA_BLOCK && type <= MIRA_INDEX;
}

/* Does a field begin at 32? *bits: how much that adds to the confidence. */
static bool has_first_field(struct reel_bytes head, uint64_t file_size, bool big, int *bits) {
    *bits = 0;
    if (head.size <= MIRA_HEADER) {
        return true;
    }
    if (!is_type(head.data[MIRA_HEADER]) || head.data[MIRA_HEADER] == MIRA_MESSAGE) {
        return false;
    }
    *bits = 6;
    struct cursor c = cursor_of(bytes_of(head.data + MIRA_HEADER + 1, head.size - MIRA_HEADER - 1));
    uint32_t size = mira_u32(&c, big);
    *bits += c.failed ? 0 : 8;
    return c.failed || size <= file_size;
}

static bool has_suffix(const char *name) {
    size_t n = strlen(name);
    return n >= 5 && ascii_casecmp(name + n - 5, ".tape") == 0;
}

static int header_bits(struct reel_bytes head, const struct reel_source *source, const struct mira_header *h) {
    int bits, hint = has_suffix(source->name) ? 4 : 0;
    bool field = has_first_field(head, source->size, h->big, &bits), link = h->first_info <= source->size;
    if (h->version == 0 || h->version >= 1 << 24 || h->utc_ns > MIRA_UTC_MAX_NS || h->utc_ns < -MIRA_UTC_MAX_NS ||
        h->start_ns >= MIRA_WALL_MAX_NS) {
        return 0;
    }
    if (h->start_ns >= MIRA_WALL_MIN_NS) {
        return field && link ? 27 + bits + hint : hint > 0 && (field || link) ? 16 + hint : 0;
    }
    /* A simulated clock: zeros are common in other files, so every other check must pass. */
    return field && link && (hint > 0 || (bits > 6 && h->first_info >= MIRA_HEADER)) ? 11 + bits + hint : 0;
}

int mira_header_read(struct reel_bytes head, const struct reel_source *source, struct mira_header *h) {
    if (head.size < MIRA_HEADER) {
        return 0;
    }
    struct mira_header little = header_of(head, false), big = header_of(head, true);
    int bits = header_bits(head, source, &little), big_bits = header_bits(head, source, &big);
    *h = big_bits > bits ? big : little;
    return big_bits > bits ? big_bits : bits;
}

/* ---- fields ---- */

static bool fail_cut(struct mira_field *f, const struct mira *t, const char *what, struct reel_error *err) {
    f->cut = true;
    return reel_fail(err, REEL_DAMAGED, "field of type %02x at %llu: %s exceeds the file of %llu bytes", f->type,
                     (unsigned long long)f->at, what, (unsigned long long)t->source->size);
}

/* Reads a string at the beginning of a field. If `c` ends too early, *need is the number of bytes needed so far. */
static struct reel_bytes read_string(struct cursor *c, bool big, uint64_t *need) {
    uint32_t size = mira_u32(c, big);
    *need += size <= REEL_TEXT_MAX ? size : HEAD_MAX;
    return cursor_bytes(c, size);
}

static void mira_read_message(struct cursor *c, const struct mira *t, struct mira_field *f, uint64_t *need) {
    bool big = t->header.big;
    *need = MIRA_FIELD_HEAD + MIRA_MESSAGE_FIXED;
    f->message.time = (int64_t)mira_u64(c, big);
    f->message.channel = read_string(c, big, need);
    f->message.frame = read_string(c, big, need);
    f->message.sequence = mira_u32(c, big);
    f->message.raw = f->message.stored = mira_u32(c, big);
    uint8_t flag = cursor_u8(c);
    f->message.compressed = flag != 0;
    if (flag != 0) {
        *need += 4;
        f->message.raw = mira_u32(c, big);
    }
    f->message.data_at = f->at + *need;
    f->end = f->message.data_at + f->message.stored;
}

static void read_info(struct cursor *c, const struct mira *t, struct mira_field *f, uint64_t *need) {
    bool big = t->header.big;
    *need = MIRA_FIELD_HEAD + MIRA_INFO_LINKS + 4 + 4 + 8;
    f->info.next = mira_u64(c, big);
    f->info.first = (int64_t)mira_u64(c, big);
    f->info.last = (int64_t)mira_u64(c, big);
    f->info.name = read_string(c, big, need);
    f->info.type = read_string(c, big, need);
    f->info.meta_size = mira_u64(c, big);
    f->info.meta_at = f->at + *need;
    f->end = f->info.meta_at + MIRA_INFO_END;
}

static void read_block(struct cursor *c, const struct mira *t, struct mira_field *f) {
    bool big = t->header.big;
    f->block.messages = mira_u32(c, big);
    f->block.bytes = mira_u32(c, big);
    f->block.first = (int64_t)mira_u64(c, big);
    f->block.last = (int64_t)mira_u64(c, big);
    f->end = f->at + MIRA_FIELD_HEAD + MIRA_BLOCK_HEAD;
}

static void mira_fields_read_index(struct cursor *c, const struct mira *t, struct mira_field *f) {
    f->index.count = mira_u32(c, t->header.big);
    f->index.entries_at = f->at + MIRA_FIELD_HEAD + 4;
    f->end = f->index.entries_at + (uint64_t)f->index.count * MIRA_INDEX_ENTRY;
}

/* Reads a field up to its data, meta data or entries; c->failed: more bytes are needed. */
static void mira_read_head(struct cursor *c, const struct mira *t, struct mira_field *f, uint64_t *need) {
    f->type = cursor_u8(c);
    f->size = mira_u32(c, t->header.big);
    *need = MIRA_FIELD_HEAD + 4;
    switch (f->type) {
    case MIRA_BLOCK:
        *need = MIRA_FIELD_HEAD + MIRA_BLOCK_HEAD;
        read_block(c, t, f);
        break;
    case MIRA_INFO:
        read_info(c, t, f, need);
        break;
    case MIRA_MESSAGE:
        mira_read_message(c, t, f, need);
        break;
    case MIRA_INDEX:
        mira_fields_read_index(c, t, f);
        break;
    default:
        *need = MIRA_FIELD_HEAD;
    }
}

/* Reads data size and index link of an info, which follow its meta data, and then its texts again, whose window this
 * has moved. */
static bool read_info_end(const struct mira *t, struct window *w, struct mira_field *f, size_t head,
                          struct reel_error *err) {
    uint64_t size = t->source->size, left = size - f->info.meta_at;
    if (left < MIRA_INFO_END || f->info.meta_size > left - MIRA_INFO_END) {
        return fail_cut(f, t, "its meta data", err);
    }
    f->end += f->info.meta_size;
    const uint8_t *p = window_at(w, f->end - MIRA_INFO_END, MIRA_INFO_END, err);
    if (!p) {
        return false;
    }
    struct cursor c = cursor_of(bytes_of(p, MIRA_INFO_END));
    f->info.data_size = mira_u64(&c, t->header.big);
    f->info.index = mira_u64(&c, t->header.big);
    if (!(p = window_at(w, f->at, head, err))) {
        return false;
    }
    const uint8_t *name = p + MIRA_FIELD_HEAD + MIRA_INFO_LINKS + 4;
    f->info.name.data = name;
    f->info.type.data = name + f->info.name.size + 4;
    return true;
}

bool mira_field_read(const struct mira *t, struct window *w, uint64_t at, struct mira_field *f,
                     struct reel_error *err) {
    uint64_t left = t->source->size - at, need = 0;
    f->at = at;
    f->cut = false;
    for (size_t look = PEEK;; look = HEAD_MAX) {
        size_t size = left < look ? (size_t)left : look;
        const uint8_t *p = window_at(w, at, size, err);
        if (!p) {
            return false;
        }
        struct cursor c = cursor_of(bytes_of(p, size));
        mira_read_head(&c, t, f, &need);
        if (!is_type(f->type)) {
            return reel_fail(err, REEL_DAMAGED, "byte %02x at %llu is not the type of a field", f->type,
                             (unsigned long long)at);
        }
        if (need > HEAD_MAX) {
            return reel_fail(err, REEL_DAMAGED, "field of type %02x at %llu: its names are too long", f->type,
                             (unsigned long long)at);
        }
        if (!c.failed) {
            break;
        }
        if (size == left) {
            return fail_cut(f, t, "its beginning", err);
        }
    }
    if (f->type == MIRA_INFO) {
        return read_info_end(t, w, f, (size_t)need, err);
    }
    return f->end <= t->source->size || fail_cut(f, t, f->type == MIRA_INDEX ? "its table" : "its data", err);
}
