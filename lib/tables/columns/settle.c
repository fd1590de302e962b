/* See tree.h: the types, names and numbers of the columns, once everything was seen. */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "tables/columns/tree.h"

/* An object with more keys than this, each in few of the values, is used as a map. */
enum { MAP_KEYS = 64, MAP_SHARE = 10, NAME_MORE = 16 };

/* ---- types */

struct width {
    uint8_t bits;
    bool is_signed;
};

/* The narrowest integer that holds all those seen; bits 0: there is none. */
static struct width settle_width_of(uint32_t seen) {
    static const uint32_t of_bits[] = {0x006, 0x018, 0x060, 0x180}; /* SEEN_NUMBERS of 8, 16, 32, 64 bits: signed, then
                                                                       unsigned */
    bool negative = seen & SEEN_NEGATIVE;
    uint8_t signed_bits = 0, unsigned_bits = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t low = of_bits[i] & ~(of_bits[i] << 1); /* the signed one is the lower bit of the two */
        signed_bits = seen & low ? (uint8_t)(8u << i) : signed_bits;
        unsigned_bits = seen & of_bits[i] & ~low ? (uint8_t)(8u << i) : unsigned_bits;
    }
    if (seen & SEEN_INTEGER) {
        if (seen & SEEN_HUGE) {
            unsigned_bits = 64;
        } else {
            signed_bits = 64;
        }
    }
    bool is_signed = signed_bits > 0 || negative;
    if (!is_signed) {
        return (struct width){.bits = unsigned_bits};
    }
    unsigned bits = unsigned_bits >= signed_bits ? unsigned_bits * 2u : signed_bits;
    return (struct width){.bits = bits > 64 ? 0 : (uint8_t)bits, .is_signed = true};
}

enum { REALS = (1 << REEL_F32) | (1 << REEL_F64), WIDE = (1 << REEL_I64) | (1 << REEL_U64) | SEEN_INEXACT };

static void settle_number(struct column *column, uint32_t seen) {
    if (seen == 1 << REEL_BOOL) {
        column->kind = COLUMN_BOOL;
    } else if (seen == 1 << REEL_F32) {
        column->kind = COLUMN_FLOAT;
    } else if ((seen & REALS) && !(seen & (WIDE | 1 << REEL_BOOL))) {
        column->kind = COLUMN_DOUBLE;
    } else if (!(seen & (REALS | 1 << REEL_BOOL))) {
        struct width width = settle_width_of(seen);
        column->kind = width.bits > 0 ? COLUMN_INTEGER : COLUMN_JSON;
        column->bits = width.bits;
        column->is_signed = width.is_signed;
    }
}

/* Does the struct name its members, rather than use them as keys of a map? */
static bool is_struct(const struct column *column) {
    if (column->n_children == 0 || column->n_children <= MAP_KEYS) {
        return column->n_children > 0 || column->declared;
    }
    for (uint32_t i = 0; i < column->n_children; i++) {
        if (column->declared || column->children[i]->count * MAP_SHARE >= column->count) {
            return true;
        }
    }
    return false;
}

static void settle_kind(struct column *column) {
    uint32_t seen = column->seen & ~(uint32_t)SEEN_NULL,
             numbers = SEEN_NUMBERS | SEEN_INTEGER | SEEN_NEGATIVE | SEEN_INEXACT | SEEN_HUGE;
    column->kind = COLUMN_JSON;
    if (seen == SEEN_MAP) {
        column->kind = is_struct(column) ? COLUMN_STRUCT : COLUMN_JSON;
    } else if (seen == SEEN_LIST) {
        bool known = column->n_children > 0 && (column->children[0]->seen & ~(uint32_t)SEEN_NULL) != 0;
        column->kind = known || column->declared ? COLUMN_LIST : COLUMN_JSON;
    } else if (seen == SEEN_TEXT) {
        column->kind = COLUMN_TEXT;
    } else if (seen == SEEN_BYTES) {
        column->kind = COLUMN_BYTES;
    } else if (seen == SEEN_TIME) {
        column->kind = COLUMN_TIME;
    } else if (seen == SEEN_DURATION) {
        column->kind = COLUMN_DURATION;
    } else if (seen != 0 && (seen & ~numbers) == 0) {
        settle_number(column, seen);
    }
    column->n_children = column_is_leaf(column) ? 0 : column->n_children;
}

/* ---- names */

static bool settle_is_taken(const struct column *parent, uint32_t before, const char *name) {
    for (uint32_t i = 0; i < before; i++) {
        if (ascii_casecmp(parent->children[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Readers refuse a name that is empty or that a sibling has in another case. */
static bool settle_name(struct columns *c, struct column *parent, uint32_t at) {
    struct column *column = parent->children[at];
    struct arena arena = {0};
    const char *text = arena_utf8(&arena, column->key);
    size_t size = text ? strlen(text) : 0;
    char *name = text ? c->alloc(c->owner, size + NAME_MORE) : NULL;
    if (name) {
        memcpy(name, size > 0 ? text : "_", size > 0 ? size : 1);
        size = size > 0 ? size : 1;
        for (unsigned i = 2; settle_is_taken(parent, at, name); i = i == 2 ? at + 2 : i + 1) { /* few tries, also for
                                                                                                  many equal names */
            snprintf(name + size, NAME_MORE - 1, "_%u", i);
        }
    }
    arena_free(&arena);
    column->name = name;
    return name != NULL;
}

/* ---- the whole */

static struct column *fixed_column(struct columns *c, const char *name, enum column_kind kind) {
    struct column *column = c->alloc(c->owner, sizeof *column);
    if (column) {
        *column = (struct column){.key = bytes_text(name), .kind = kind, .parent = c->root, .depth = 1, .bits = 32};
        c->root->children[c->root->n_children++] = column;
    }
    return column;
}

/* Readers refuse a struct without members. */
static bool fill_empty(struct columns *c, struct column *column) {
    if (column->n_children > 0) {
        return true;
    }
    struct column *child = c->alloc(c->owner, sizeof *child);
    column->children = c->alloc(c->owner, sizeof *column->children);
    column->sorted = c->alloc(c->owner, sizeof *column->sorted);
    if (!child || !column->children || !column->sorted) {
        return false;
    }
    *child = (struct column){.key = bytes_text("_empty"),
                             .parent = column,
                             .depth = column->depth + 1,
                             .seen = 1 << REEL_BOOL,
                             .declared = true};
    column->children[0] = column->sorted[0] = child;
    column->n_children = 1;
    child->count = column->count;
    return true;
}

/* `slots`: how many values there are at most. */
static bool settle_column(struct columns *c, struct column *column, uint64_t slots) {
    column->optional = (column->seen & SEEN_NULL) ||
                       (c->exact ? column->absent : column->count < slots || (column->absent && slots == 0));
    if (column != c->payload || column->seen != 0) { /* else nothing is known about it, and it has no columns */
        settle_kind(column);
    }
    if (column->kind == COLUMN_STRUCT && column != c->payload && !fill_empty(c, column)) {
        return false;
    }
    for (uint32_t i = 0; i < column->n_children; i++) {
        struct column *child = column->children[i];
        uint64_t all = column->kind == COLUMN_LIST ? child->count : column == c->payload ? c->rows : column->count;
        if (!settle_column(c, child, all) || !settle_name(c, column, i)) {
            return false;
        }
    }
    return true;
}

static void add_payload(struct columns *c) {
    struct column *payload = c->payload;
    if (payload->kind != COLUMN_STRUCT) {
        payload->key = bytes_text("value");
        payload->optional = payload->optional || c->raw > 0;
        payload->parent = c->root;
        c->root->children[c->root->n_children++] = payload;
        return;
    }
    for (uint32_t i = 0; i < payload->n_children; i++) {
        c->root->children[c->root->n_children++] = payload->children[i];
        payload->children[i]->optional = payload->children[i]->optional || c->raw > 0;
        payload->children[i]->parent = c->root;
    }
}

static bool settle_root(struct columns *c, const struct columns_fixed *fixed) {
    enum { FIXED = 7 };
    bool good = true;
    c->root = c->alloc(c->owner, sizeof *c->root);
    if (!c->root ||
        !(c->root->children = c->alloc(c->owner, (c->payload->n_children + FIXED) * sizeof *c->root->children))) {
        return false;
    }
    if (fixed->times) {
        good = (c->log_time = fixed_column(c, "log_time", COLUMN_TIME)) &&
               (c->publish_time = fixed_column(c, "publish_time", COLUMN_TIME)) &&
               (c->sequence = fixed_column(c, "sequence", COLUMN_INTEGER));
    }
    if (good && fixed->recording) {
        good = (c->recording = fixed_column(c, "recording", COLUMN_TEXT)) != NULL;
    }
    if (good && fixed->topic) {
        good = (c->topic = fixed_column(c, "topic", COLUMN_TEXT)) != NULL;
    }
    add_payload(c);
    if (good && c->raw > 0) {
        good = (c->data = fixed_column(c, "data", COLUMN_BYTES)) != NULL;
        if (good) {
            c->data->optional = c->raw < c->rows;
        }
    }
    for (uint32_t i = 0; good && i < c->root->n_children; i++) {
        good = settle_name(c, c->root, i);
    }
    return good;
}

static void columns_settle_number(struct columns *c, struct column *column) {
    for (uint32_t i = 0; i < column->n_children; i++) {
        struct column *child = column->children[i];
        child->index = c->n++;
        if (c->all) {
            c->all[child->index] = child;
        }
        columns_settle_number(c, child);
    }
}

bool columns_settle(struct columns *c, const struct columns_fixed *fixed) {
    if (c->no_memory || !settle_column(c, c->payload, c->rows) || !settle_root(c, fixed)) {
        return false;
    }
    columns_settle_number(c, c->root);
    c->all = c->alloc(c->owner, (c->n + 1) * sizeof *c->all);
    c->n = 0;
    if (c->all) {
        columns_settle_number(c, c->root);
    }
    return c->all != NULL;
}
