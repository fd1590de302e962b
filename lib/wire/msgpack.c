/* MessagePack read item by item. Rule: never a tree; one object is stepped over with a small stack of counts, in time linear in its bytes,
 * so a count from outside only ever costs the bytes that are really there. */
#include "formats/nanover/nanover.h"

const char *pack_result_text(enum pack_result r) {
    switch (r) {
    case PACK_OK:
        return "is MessagePack";
    case PACK_SHORT:
        return "ends inside an object";
    case PACK_DEEP:
        return "is nested too deeply";
    case PACK_BAD:
        break;
    }
    return "is no MessagePack";
}

static bool utf8_valid(struct bytes text) {
    const uint8_t *p = text.data, *end = p + text.size;
    while (p < end) {
        if (*p < 0x80) {
            p++;
            continue;
        }
        unsigned more = *p >= 0xC2 && *p <= 0xDF ? 1 : *p >= 0xE0 && *p <= 0xEF ? 2 : *p >= 0xF0 && *p <= 0xF4 ? 3 : 0;
        if (more == 0 || (size_t)(end - p) <= more) {
            return false;
        }
        uint8_t low = *p == 0xE0 ? 0xA0 : *p == 0xF0 ? 0x90 : 0x80;
        uint8_t high = *p == 0xED ? 0x9F : *p == 0xF4 ? 0x8F : 0xBF;
        if (p[1] < low || p[1] > high) {
            return false;
        }
        for (unsigned i = 2; i <= more; i++) {
            if ((p[i] & 0xC0) != 0x80) {
                return false;
            }
        }
        p += more + 1;
    }
    return true;
}

static void item_unsigned(struct pack_item *item, uint64_t v) {
    item->kind = PACK_INT;
    item->over = v > INT64_MAX;
    item->integer = item->over ? INT64_MAX : (int64_t)v;
    item->natural = v;
    item->number = (double)v;
}
static void item_signed(struct pack_item *item, uint64_t v, unsigned size) {
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    item->kind = PACK_INT;
    item->integer = (int64_t)((v ^ sign) - sign);
    item->natural = item->integer < 0 ? 0 : v;
    item->number = (double)item->integer;
}
static void item_float(struct pack_item *item, uint64_t v, unsigned size) {
    item->kind = PACK_FLOAT;
    item->narrow = size == 4;
    if (size == 4) {
        uint32_t narrow = (uint32_t)v;
        float f;
        memcpy(&f, &narrow, sizeof f);
        item->number = (double)f;
    } else {
        memcpy(&item->number, &v, sizeof v);
    }
}
static void item_run(struct pack_item *item, enum pack_kind kind, struct cursor *c, uint64_t size) {
    item->kind = kind;
    item->bytes = cursor_bytes(c, size);
}
static void item_container(struct pack_item *item, enum pack_kind kind, uint64_t count) {
    item->kind = kind;
    item->count = count;
}

/* The codes 0xC0 … 0xDF. */
static bool item_coded(struct cursor *c, uint8_t code, struct pack_item *item) {
    switch (code) {
    case 0xC0:
        item->kind = PACK_NIL;
        return true;
    case 0xC2:
    case 0xC3:
        item->kind = PACK_BOOL;
        item->integer = code & 1;
        return true;
    case 0xC4:
    case 0xC5:
    case 0xC6:
        item_run(item, PACK_BIN, c, cursor_be(c, 1U << (code - 0xC4)));
        return true;
    case 0xC7:
    case 0xC8:
    case 0xC9:
        item_run(item, PACK_EXT, c, cursor_be(c, 1U << (code - 0xC7)) + 1);
        return true;
    case 0xCA:
    case 0xCB:
        item_float(item, cursor_be(c, 4U << (code - 0xCA)), 4U << (code - 0xCA));
        return true;
    case 0xCC:
    case 0xCD:
    case 0xCE:
    case 0xCF:
        item_unsigned(item, cursor_be(c, 1U << (code - 0xCC)));
        return true;
    case 0xD0:
    case 0xD1:
    case 0xD2:
    case 0xD3:
        item_signed(item, cursor_be(c, 1U << (code - 0xD0)), 1U << (code - 0xD0));
        return true;
    case 0xD4:
    case 0xD5:
    case 0xD6:
    case 0xD7:
    case 0xD8:
        item_run(item, PACK_EXT, c, (1U << (code - 0xD4)) + 1);
        return true;
    case 0xD9:
    case 0xDA:
    case 0xDB:
        item_run(item, PACK_STR, c, cursor_be(c, 1U << (code - 0xD9)));
        return true;
    case 0xDC:
    case 0xDD:
        item_container(item, PACK_ARRAY, cursor_be(c, 2U << (code - 0xDC)));
        return true;
    case 0xDE:
    case 0xDF:
        item_container(item, PACK_MAP, cursor_be(c, 2U << (code - 0xDE)));
        return true;
    default: /* 0xC1 is never used */
        return false;
    }
}

enum pack_result pack_read(struct cursor *c, struct pack_item *item) {
    *item = (struct pack_item){.kind = PACK_NIL};
    uint8_t code = cursor_u8(c);
    if (c->failed) {
        return PACK_SHORT;
    }
    if (code < 0x80) {
        item_unsigned(item, code);
    } else if (code < 0x90) {
        item_container(item, PACK_MAP, code & 0x0F);
    } else if (code < 0xA0) {
        item_container(item, PACK_ARRAY, code & 0x0F);
    } else if (code < 0xC0) {
        item_run(item, PACK_STR, c, code & 0x1F);
    } else if (code >= 0xE0) {
        item_signed(item, code, 1);
    } else if (!item_coded(c, code, item)) {
        return PACK_BAD;
    }
    return c->failed ? PACK_SHORT : PACK_OK;
}

static bool is_container(const struct pack_item *item) {
    return item->kind == PACK_ARRAY || item->kind == PACK_MAP;
}
static void note_text(const struct pack_item *item, struct pack_faults *faults) {
    if (item->kind == PACK_STR && !utf8_valid(item->bytes)) {
        faults->text = true;
    }
}

/* What is in the container whose header was just read. */
static enum pack_result skip_inside(struct cursor *c, const struct pack_item *outer, unsigned depth, struct pack_faults *faults) {
    struct {
        uint64_t left; /* items still to come; those of a map are key, value, key … */
        bool map;
    } stack[REEL_DEPTH_MAX];
    unsigned level = 0;
    struct pack_item item = *outer;
    for (;;) {
        if (is_container(&item) && item.count > 0) {
            if (level >= depth || level >= REEL_DEPTH_MAX) {
                return PACK_DEEP;
            }
            stack[level].map = item.kind == PACK_MAP;
            stack[level].left = item.kind == PACK_MAP ? 2 * item.count : item.count; /* count < 2^32 */
            level++;
        }
        while (level > 0 && stack[level - 1].left == 0) {
            level--;
        }
        if (level == 0) {
            return PACK_OK;
        }
        bool is_key = stack[level - 1].map && stack[level - 1].left % 2 == 0;
        stack[level - 1].left--;
        enum pack_result r = pack_read(c, &item);
        if (r != PACK_OK) {
            return r;
        }
        faults->key |= is_key && item.kind != PACK_STR;
        note_text(&item, faults);
    }
}

enum pack_result pack_take(struct cursor *c, struct pack_item *item, unsigned depth, struct pack_faults *faults) {
    enum pack_result r = pack_read(c, item);
    if (r != PACK_OK) {
        return r;
    }
    note_text(item, faults);
    return is_container(item) ? skip_inside(c, item, depth, faults) : PACK_OK;
}

enum pack_result pack_skip(struct cursor *c, unsigned depth, struct pack_faults *faults) {
    struct pack_item item;
    return pack_take(c, &item, depth, faults);
}

enum pack_result pack_key(struct cursor *c, struct bytes *text, unsigned depth, struct pack_faults *faults) {
    struct pack_item item;
    enum pack_result r = pack_take(c, &item, depth, faults);
    bool is_text = r == PACK_OK && item.kind == PACK_STR;
    faults->key |= r == PACK_OK && !is_text;
    *text = is_text ? item.bytes : bytes_of("", 0);
    return r;
}
