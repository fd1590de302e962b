/* Repetition and definition levels: how the values of a leaf are nested. An entry is a value, or a null or empty list
 * on the way to one; its definition level is how many optional columns and lists on the way are there, its repetition
 * level the list that it continues. */
#include "tables/parquet/parquet.h"

#include <string.h>

static struct parquet_leaf leaf_of(const struct columns *columns, const struct column *column) {
    struct parquet_leaf leaf = {0};
    for (const struct column *c = column; c != columns->root; c = c->parent) {
        leaf.n++;
        leaf.max_definition += c->optional + (c->kind == COLUMN_LIST);
        leaf.max_repetition += c->kind == COLUMN_LIST;
    }
    unsigned at = leaf.n;
    for (const struct column *c = column; c != columns->root; c = c->parent) {
        leaf.path[--at] = c;
    }
    return leaf;
}

uint32_t parquet_leaves(const struct columns *columns, struct parquet_leaf *leaves) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < columns->n; i++) {
        if (column_is_leaf(columns->all[i])) {
            leaves[n++] = leaf_of(columns, columns->all[i]);
        }
    }
    return n;
}

void parquet_entries_free(struct parquet_entries *e) {
    free(e->repetition.data);
    free(e->definition.data);
    free(e->spans);
}

struct parquet_span parquet_slots(const struct parquet_leaf *leaf, const struct column_data *data, uint64_t from,
                                  uint64_t to) {
    for (unsigned i = 0; i < leaf->n; i++) {
        if (leaf->path[i]->kind == COLUMN_LIST) {
            const struct column_data *list = &data[leaf->path[i]->index];
            from = column_offset(list, from);
            to = column_offset(list, to);
        }
    }
    return (struct parquet_span){from, to};
}

/* ---- entries */

struct walk {
    const struct parquet_leaf *leaf;
    const struct column_data *data;
    struct parquet_entries *out;
};

/* `n` entries of a definition level; the first one has the repetition level `first`, the others `rest`. */
static void put_entries(const struct walk *w, uint64_t n, uint8_t first, uint8_t rest, uint8_t definition) {
    struct parquet_entries *out = w->out;
    uint8_t *room;
    out->entries += n;
    if (w->leaf->max_repetition > 0 && (room = grow_take(&out->repetition, n))) {
        memset(room, rest, n);
        room[0] = first;
    }
    if (w->leaf->max_definition > 0 && (room = grow_take(&out->definition, n))) {
        memset(room, definition, n);
    }
}

static void levels_put_values(struct parquet_entries *out, uint64_t from, uint64_t to) {
    out->values += to - from;
    if (out->n_spans > 0 && out->spans[out->n_spans - 1].to == from) {
        out->spans[out->n_spans - 1].to = to;
    } else if (GROW_ARRAY(out->spans, out->n_spans, out->room)) {
        out->spans[out->n_spans++] = (struct parquet_span){from, to};
    } else {
        out->failed = true;
    }
}

static void walk_present(const struct walk *w, unsigned at, struct parquet_span slots, uint8_t first, uint8_t rest,
                         uint8_t definition);

/* Slots of path[at], null ones too, in runs. */
static void walk_slots(const struct walk *w, unsigned at, struct parquet_span slots, uint8_t first, uint8_t rest,
                       uint8_t definition) {
    const struct column *column = w->leaf->path[at];
    const struct column_data *data = &w->data[column->index];
    if (!column->optional || data->nulls == 0) {
        walk_present(w, at, slots, first, rest, definition + column->optional);
        return;
    }
    for (uint64_t i = slots.from, end; i < slots.to; i = end, first = rest) {
        bool present = data->valid.data[i];
        for (end = i + 1; end < slots.to && data->valid.data[end] == present;) {
            end++;
        }
        if (present) {
            walk_present(w, at, (struct parquet_span){i, end}, first, rest, definition + 1);
        } else {
            put_entries(w, end - i, first, rest, definition);
        }
    }
}

static void walk_lists(const struct walk *w, unsigned at, struct parquet_span slots, uint8_t first, uint8_t rest,
                       uint8_t definition) {
    const struct column_data *list = &w->data[w->leaf->path[at]->index];
    uint8_t inner = 1;
    for (unsigned i = 0; i < at; i++) {
        inner += w->leaf->path[i]->kind == COLUMN_LIST;
    }
    uint64_t from = column_offset(list, slots.from);
    for (uint64_t i = slots.from; i < slots.to; i++, first = rest) {
        uint64_t to = load_u32le(list->offsets.data + i * 4);
        if (to == from) {
            put_entries(w, 1, first, rest, definition);
        } else {
            walk_slots(w, at + 1, (struct parquet_span){from, to}, first, inner, definition + 1);
        }
        from = to;
    }
}

/* Slots that are not null. */
static void walk_present(const struct walk *w, unsigned at, struct parquet_span slots, uint8_t first, uint8_t rest,
                         uint8_t definition) {
    if (at + 1 == w->leaf->n) {
        put_entries(w, slots.to - slots.from, first, rest, definition);
        levels_put_values(w->out, slots.from, slots.to);
    } else if (w->leaf->path[at]->kind == COLUMN_LIST) {
        walk_lists(w, at, slots, first, rest, definition);
    } else {
        walk_slots(w, at + 1, slots, first, rest, definition);
    }
}

void parquet_entries_of(const struct parquet_leaf *leaf, const struct column_data *data, uint64_t from, uint64_t to,
                        struct parquet_entries *out) {
    const struct walk w = {.leaf = leaf, .data = data, .out = out};
    out->repetition.size = out->definition.size = out->n_spans = 0;
    out->entries = out->values = 0;
    if (to > from) {
        walk_slots(&w, 0, (struct parquet_span){from, to}, 0, 0, 0);
    }
    out->failed = out->failed || out->repetition.failed || out->definition.failed;
}

/* ---- runs and packed groups */

/* Eight numbers at a time, the lowest bits first. */
static void put_packed(const uint32_t *values, size_t n, unsigned width, struct grow *out) {
    uint64_t bits = 0;
    unsigned held = 0;
    parquet_put_varint(out, (n + 7) / 8 << 1 | 1);
    for (size_t i = 0; i < (n + 7) / 8 * 8; i++) {
        bits |= (uint64_t)(i < n ? values[i] : 0) << held;
        for (held += width; held >= 8; held -= 8, bits >>= 8) {
            grow_u8(out, (uint8_t)bits);
        }
    }
}

struct runs {
    struct grow *out;
    unsigned width;
    uint32_t packed[512]; /* numbers that wait to be packed */
    size_t n;
};

static void levels_flush(struct runs *r) {
    if (r->n > 0) {
        put_packed(r->packed, r->n, r->width, r->out);
    }
    r->n = 0;
}

/* `n` times the same number. Packed groups are full except the last of all, so the first ones of a run fill up the
 * group before it. */
static void put_run(struct runs *r, uint32_t value, uint64_t n) {
    while (n > 0 && (r->n % 8 != 0 || n < 8)) {
        if (r->n == sizeof r->packed / sizeof *r->packed) {
            levels_flush(r);
        }
        r->packed[r->n++] = value;
        n--;
    }
    if (n == 0) {
        return;
    }
    levels_flush(r);
    parquet_put_varint(r->out, n << 1);
    for (unsigned i = 0; i < (r->width + 7) / 8; i++) {
        grow_u8(r->out, (uint8_t)(value >> 8 * i));
    }
}

void parquet_put_levels(const uint8_t *levels, uint64_t n, unsigned width, struct grow *out) {
    struct runs r = {.out = out, .width = width};
    for (uint64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && levels[end] == levels[i];) {
            end++;
        }
        put_run(&r, levels[i], end - i);
    }
    levels_flush(&r);
}

void parquet_put_indexes(const uint32_t *indexes, uint64_t n, unsigned width, struct grow *out) {
    struct runs r = {.out = out, .width = width};
    for (uint64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && indexes[end] == indexes[i];) {
            end++;
        }
        put_run(&r, indexes[i], end - i);
    }
    levels_flush(&r);
}
