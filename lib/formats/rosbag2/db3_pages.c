/* See db3_pages.h. Cells lie in the order of their pointers at the end of a page. */
#include "formats/rosbag2/db3_pages.h"

#include <string.h>

#include "formats/rosbag2/pages.h"

enum { POINTER = 2, PAGE_NUMBER = 4, INNER_KEY_MAX = 32, LOCAL_MIN = (DB3_PAGE - 12) * 32 / 255 - 23 };

size_t db3_varint(uint8_t out[DB3_VARINT_MAX], uint64_t value) {
    if (value >> 56) { /* nine bytes, of which the last has 8 bits */
        out[8] = (uint8_t)value;
        value >>= 8;
        for (int i = 7; i >= 0; i--, value >>= 7) {
            out[i] = (uint8_t)(value | 0x80);
        }
        return 9;
    }
    size_t size = 1;
    while (value >> 7 * size) {
        size++;
    }
    for (size_t i = size; i-- > 0; value >>= 7) {
        out[i] = (uint8_t)(value & 0x7f) | (i + 1 < size ? 0x80 : 0);
    }
    return size;
}

/* ---- leaves */

void db3_leaf_clear(struct db3_leaf *leaf) {
    leaf->room = DB3_PAGE;
    leaf->cells = leaf->used = 0;
}

bool db3_leaf_fits(const struct db3_leaf *leaf, size_t size) {
    return ROSBAG2_LEAF_HEAD + (leaf->cells + 1) * POINTER + leaf->used + size <= leaf->room;
}

uint8_t *db3_leaf_add(struct db3_leaf *leaf, size_t size) {
    uint8_t *cell = leaf->data + leaf->used;
    leaf->at[leaf->cells++] = (uint16_t)leaf->used;
    leaf->used += (uint32_t)size;
    return cell;
}

static void put_u32(struct reel_sink *out, uint64_t value) {
    uint8_t bytes[4];
    db3_u32(bytes, value);
    reel_sink_put(out, bytes, sizeof bytes);
}

static void put_page_head(struct reel_sink *out, uint8_t type, uint32_t cells, uint32_t content) {
    uint8_t head[ROSBAG2_LEAF_HEAD] = {type};
    db3_u16(head + 3, cells);
    db3_u16(head + 5, content);
    reel_sink_put(out, head, sizeof head);
}

/* `last`: the last child of an inner page; NULL: it is a leaf. */
static void put_cells(const struct db3_leaf *leaf, uint8_t type, const uint64_t *last, struct reel_sink *out) {
    uint32_t content = DB3_PAGE - leaf->used, pointers = leaf->cells * POINTER,
             head = last ? ROSBAG2_INNER_HEAD : ROSBAG2_LEAF_HEAD;
    uint8_t at[DB3_PAGE / 2];
    for (uint32_t i = 0; i < leaf->cells; i++) {
        db3_u16(at + (size_t)i * POINTER, content + leaf->at[i]);
    }
    put_page_head(out, type, leaf->cells, content);
    if (last) {
        put_u32(out, db3_number(*last));
    }
    reel_sink_put(out, at, pointers);
    reel_sink_fill(out, 0, leaf->room - head - pointers - leaf->used);
    reel_sink_put(out, leaf->data, leaf->used);
}

void db3_leaf_put(const struct db3_leaf *leaf, uint8_t type, struct reel_sink *out) {
    put_cells(leaf, type, NULL, out);
}

size_t db3_put_cell_head(uint8_t *cell, uint64_t record, uint64_t rowid) {
    size_t size = db3_varint(cell, record);
    return size + db3_varint(cell + size, rowid);
}

size_t db3_cell_size(uint64_t record, uint64_t rowid) {
    uint8_t head[2 * DB3_VARINT_MAX];
    return db3_put_cell_head(head, record, rowid) + (size_t)record;
}

struct db3_spill db3_spill(uint64_t record, uint64_t page) {
    uint64_t kept = LOCAL_MIN + (record - LOCAL_MIN) % DB3_OVERFLOW_BYTES; /* then the overflow pages are full */
    uint32_t local = kept <= DB3_LOCAL_MAX ? (uint32_t)kept : LOCAL_MIN;
    return (struct db3_spill){.left = record,
                              .local = local,
                              .first = page + 1,
                              .pages = (record - local + DB3_OVERFLOW_BYTES - 1) / DB3_OVERFLOW_BYTES};
}

void db3_spill_begin(const struct db3_spill *s, uint64_t rowid, struct reel_sink *out) {
    uint8_t head[2 * DB3_VARINT_MAX], at[POINTER];
    size_t size = db3_put_cell_head(head, s->left, rowid);
    uint32_t content = (uint32_t)(DB3_PAGE - size - s->local - PAGE_NUMBER);
    put_page_head(out, ROSBAG2_PAGE_LEAF, 1, content);
    db3_u16(at, content);
    reel_sink_put(out, at, sizeof at);
    reel_sink_fill(out, 0, content - ROSBAG2_LEAF_HEAD - POINTER);
    reel_sink_put(out, head, size);
}

uint64_t db3_spill_next(struct db3_spill *s, struct reel_sink *out) {
    if (s->left == 0) {
        reel_sink_fill(out, 0, DB3_OVERFLOW_BYTES - s->run);
        return 0;
    }
    if (s->run == 0) {
        s->run = s->local;
    } else {
        if (s->begun == 0) {
            put_u32(out, db3_number(s->first));
        }
        db3_put_unused(s->first + s->begun, out);
        s->begun++;
        put_u32(out, s->begun < s->pages ? db3_number(s->first + s->begun) : 0);
        s->run = s->left < DB3_OVERFLOW_BYTES ? s->left : DB3_OVERFLOW_BYTES;
    }
    s->left -= s->run;
    return s->run;
}

/* ---- inner pages */

/* Nodes of a level above `children`; no node has a single child, so the last but one gives one away if the last would.
 */
static uint64_t nodes_over(uint64_t children, uint32_t most) {
    return (children + most - 1) / most;
}
static uint64_t first_child(uint64_t children, uint32_t most, uint64_t node) {
    uint64_t nodes = nodes_over(children, most), first = node * most;
    return node + 1 == nodes && nodes > 1 && children - first == 1 ? first - 1 : first < children ? first : children;
}

uint64_t db3_inner_pages(const struct db3_tree *t) {
    uint64_t pages = 0;
    for (uint64_t n = t->leaves; n > 1; pages += n) {
        n = nodes_over(n, t->children);
    }
    return pages;
}

uint64_t db3_root(const struct db3_tree *t) {
    return t->leaves > 1 ? t->first + db3_inner_pages(t) - 1 : t->first_leaf;
}

struct level {
    uint64_t nodes, children;
    uint64_t first, below; /* page numbers of its first node, and of the first one below it */
    unsigned height;       /* 1: above the leaves */
};

static struct level level_of(const struct db3_tree *t, uint64_t index) {
    struct level l = {.nodes = nodes_over(t->leaves, t->children),
                      .children = t->leaves,
                      .first = t->first,
                      .below = t->first_leaf,
                      .height = 1};
    while (index >= l.nodes) {
        index -= l.nodes;
        l = (struct level){.nodes = nodes_over(l.nodes, t->children),
                           .children = l.nodes,
                           .first = l.first + l.nodes,
                           .below = l.first,
                           .height = l.height + 1};
    }
    return l;
}

/* The last leaf below node `node` of the level at `height`; 0 are the leaves. */
static uint64_t last_leaf(const struct db3_tree *t, unsigned height, uint64_t node) {
    uint64_t counts[16] = {t->leaves}; /* by height; there are fewer than 2^64 leaves */
    for (unsigned h = 0; h < height; h++) {
        counts[h + 1] = nodes_over(counts[h], t->children);
    }
    for (; height > 0; height--) {
        node = first_child(counts[height - 1], t->children, node + 1) - 1;
    }
    return node;
}

void db3_put_inner(const struct db3_tree *t, uint64_t index, struct reel_sink *out) {
    const struct level l = level_of(t, index);
    uint64_t node = t->first + index - l.first, from = first_child(l.children, t->children, node);
    uint64_t to = first_child(l.children, t->children, node + 1), child = 0;
    struct db3_leaf cells;
    db3_leaf_clear(&cells);
    db3_put_unused(t->first + index, out);
    for (uint64_t i = from; i < to; i++) {
        child = l.height == 1 && t->page ? t->page(t->context, i) : l.below + i;
        if (i + 1 < to) {
            uint8_t key[INNER_KEY_MAX];
            size_t size = t->key(t->context, last_leaf(t, l.height - 1, i), key);
            uint8_t *cell = db3_leaf_add(&cells, PAGE_NUMBER + size);
            db3_u32(cell, db3_number(child));
            memcpy(cell + PAGE_NUMBER, key, size);
        }
    }
    put_cells(&cells, t->type, &child, out);
}
