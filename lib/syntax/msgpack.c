/* MessagePack read item by item, without building a tree: an object is skipped with a small stack of counts, in time
 * linear in its bytes, so a huge count costs no more than the bytes that exist. */
#include "syntax/msgpack.h"
#include "base/bytes.h"
#include "syntax/utf8.h"

const char *msgpack_result_text(enum msgpack_result r) {
    switch (r) {
    case MSGPACK_OK:
        return "is MessagePack";
    case MSGPACK_SHORT:
        return "ends inside an object";
    case MSGPACK_DEEP:
        return "is nested too deeply";
    case MSGPACK_BAD:
        break;
    }
    return "is no MessagePack";
}

static void item_unsigned(struct msgpack_item *item, uint64_t v) {
    item->kind = MSGPACK_INT;
    item->over = v > INT64_MAX;
    item->integer = item->over ? INT64_MAX : (int64_t)v;
    item->natural = v;
    item->number = (double)v;
}
static void item_signed(struct msgpack_item *item, uint64_t v, unsigned size) {
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    item->kind = MSGPACK_INT;
    item->integer = (int64_t)((v ^ sign) - sign);
    item->natural = item->integer < 0 ? 0 : v;
    item->number = (double)item->integer;
}
static void item_float(struct msgpack_item *item, uint64_t v, unsigned size) {
    item->kind = MSGPACK_FLOAT;
    item->narrow = size == 4;
    item->number = size == 4 ? (double)f32_of((uint32_t)v) : f64_of(v);
}
static void item_run(struct msgpack_item *item, enum msgpack_kind kind, struct cursor *c, uint64_t size) {
    item->kind = kind;
    item->bytes = cursor_bytes(c, size);
}
static void item_container(struct msgpack_item *item, enum msgpack_kind kind, uint64_t count) {
    item->kind = kind;
    item->count = count;
}

/* The codes 0xC0 … 0xDF. */
static bool item_coded(struct cursor *c, uint8_t code, struct msgpack_item *item) {
    switch (code) {
    case 0xC0:
        item->kind = MSGPACK_NIL;
        return true;
    case 0xC2:
    case 0xC3:
        item->kind = MSGPACK_BOOL;
        item->integer = code & 1;
        return true;
    case 0xC4:
    case 0xC5:
    case 0xC6:
        item_run(item, MSGPACK_BIN, c, cursor_be(c, 1U << (code - 0xC4)));
        return true;
    case 0xC7:
    case 0xC8:
    case 0xC9:
        item_run(item, MSGPACK_EXT, c, cursor_be(c, 1U << (code - 0xC7)) + 1);
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
        item_run(item, MSGPACK_EXT, c, (1U << (code - 0xD4)) + 1);
        return true;
    case 0xD9:
    case 0xDA:
    case 0xDB:
        item_run(item, MSGPACK_STR, c, cursor_be(c, 1U << (code - 0xD9)));
        return true;
    case 0xDC:
    case 0xDD:
        item_container(item, MSGPACK_ARRAY, cursor_be(c, 2U << (code - 0xDC)));
        return true;
    case 0xDE:
    case 0xDF:
        item_container(item, MSGPACK_MAP, cursor_be(c, 2U << (code - 0xDE)));
        return true;
    default: /* 0xC1 is never used */
        return false;
    }
}

enum msgpack_result msgpack_read(struct cursor *c, struct msgpack_item *item) {
    *item = (struct msgpack_item){.kind = MSGPACK_NIL};
    uint8_t code = cursor_u8(c);
    if (c->failed) {
        return MSGPACK_SHORT;
    }
    if (code < 0x80) {
        item_unsigned(item, code);
    } else if (code < 0x90) {
        item_container(item, MSGPACK_MAP, code & 0x0F);
    } else if (code < 0xA0) {
        item_container(item, MSGPACK_ARRAY, code & 0x0F);
    } else if (code < 0xC0) {
        item_run(item, MSGPACK_STR, c, code & 0x1F);
    } else if (code >= 0xE0) {
        item_signed(item, code, 1);
    } else if (!item_coded(c, code, item)) {
        return MSGPACK_BAD;
    }
    return c->failed ? MSGPACK_SHORT : MSGPACK_OK;
}

static void note_text(const struct msgpack_item *item, struct msgpack_faults *faults) {
    if (item->kind == MSGPACK_STR && !utf8_valid(item->bytes)) {
        faults->text = true;
    }
}

/* Skips the contents of the container whose header was just read. */
static enum msgpack_result skip_inside(struct cursor *c, const struct msgpack_item *outer, unsigned depth,
                                       struct msgpack_faults *faults) {
    struct {
        uint64_t left; /* remaining items; those of a map are key, value, key … */
        bool map;
    } stack[REEL_DEPTH_MAX];
    unsigned level = 0;
    struct msgpack_item item = *outer;
    for (;;) {
        if (msgpack_is_container(&item) && item.count > 0) {
            if (level >= depth || level >= REEL_DEPTH_MAX) {
                return MSGPACK_DEEP;
            }
            stack[level].map = item.kind == MSGPACK_MAP;
            stack[level].left = item.kind == MSGPACK_MAP ? 2 * item.count : item.count; /* count < 2^32 */
            level++;
        }
        while (level > 0 && stack[level - 1].left == 0) {
            level--;
        }
        if (level == 0) {
            return MSGPACK_OK;
        }
        bool is_key = stack[level - 1].map && stack[level - 1].left % 2 == 0;
        stack[level - 1].left--;
        enum msgpack_result r = msgpack_read(c, &item);
        if (r != MSGPACK_OK) {
            return r;
        }
        faults->key |= is_key && item.kind != MSGPACK_STR;
        note_text(&item, faults);
    }
}

enum msgpack_result msgpack_take(struct cursor *c, struct msgpack_item *item, unsigned depth,
                                 struct msgpack_faults *faults) {
    enum msgpack_result r = msgpack_read(c, item);
    if (r != MSGPACK_OK) {
        return r;
    }
    note_text(item, faults);
    return msgpack_is_container(item) ? skip_inside(c, item, depth, faults) : MSGPACK_OK;
}

enum msgpack_result msgpack_skip(struct cursor *c, unsigned depth, struct msgpack_faults *faults) {
    struct msgpack_item item;
    return msgpack_take(c, &item, depth, faults);
}

enum msgpack_result msgpack_key(struct cursor *c, struct reel_bytes *text, unsigned depth,
                                struct msgpack_faults *faults) {
    struct msgpack_item item;
    enum msgpack_result r = msgpack_take(c, &item, depth, faults);
    bool is_text = r == MSGPACK_OK && item.kind == MSGPACK_STR;
    faults->key |= r == MSGPACK_OK && !is_text;
    *text = is_text ? item.bytes : bytes_of("", 0);
    return r;
}
