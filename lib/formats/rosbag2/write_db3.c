/* Writes an SQLite database as rosbag2 does, front to back: page 1; the leaves of the table messages with their
 * overflow pages; the pages above them; the index of times; the small tables. A group of messages is some whole leaves.
 * The index has an entry of the same size for each message, so that its pages follow from their number; it is left out
 * when messages are not in the order of time. */
#include "formats/rosbag2/write_db3.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "formats/ros/write.h"
#include "formats/rosbag2/db3_tables.h"
#include "formats/rosbag2/pages.h"

enum {
    GROUP_BYTES = 1 << 20,
    GROUP_LEAVES = 256,
    NOTE_HEAD = 8, /* u64 number of leaves before the group; then for each leaf: */
    NOTE_LEAF = 8, /* u32 messages, u32 pages */
    PIECE = 64 << 10,
    VALUE_MAX = 1000000000, /* SQLite's default limit */
    RECORD_FIXED = 4 + 8,   /* topic, time */
    RECORD_HEAD_MAX = 4 + DB3_VARINT_MAX,
    INDEX_LEAF = 10,
    INDEX_INNER = 2,
    INDEX_RECORD = 3 + 8 + 4, /* head, time, rowid */
    INDEX_CELL = 1 + INDEX_RECORD,
    INDEX_ITEMS = (DB3_PAGE - ROSBAG2_LEAF_HEAD) / (2 + INDEX_CELL),
    INDEX_CHILDREN = (DB3_PAGE - ROSBAG2_INNER_HEAD) / (2 + 4 + INDEX_CELL) + 1,
    PART_PAGES = 512, /* of the tail */
    PART_LEAVES = 64, /* of the index */
    ROWS_MAX = INT32_MAX,
};

struct totals {
    uint64_t rows, leaves;
    struct db3_roots roots;
    int64_t last_ns, before_ns; /* of the last message, and of the one before it */
    int64_t *separators;        /* times of the items between the leaves of the index */
    uint64_t n_separators, cap_separators;
    bool disordered;
};
struct run {
    struct db3_leaf leaf;
    uint64_t leaf_messages;
    struct grow note;
    uint8_t piece[PIECE];
};

/* The page that is written at a position; behind the unused page, that is the one it stands before. */
static uint64_t page_at(const struct reel_write *w, uint64_t position) {
    uint64_t number = (position - w->base) / DB3_PAGE + 1;
    return number - (number > DB3_LOCK_PAGE);
}

static bool db3_open(struct reel_write *w, struct reel_error *err) {
    (void)w;
    (void)err;
    return true;
}

static void db3_close(struct reel_write *w) {
    free(((struct run *)w->run)->note.data);
}

static bool db3_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)err;
    db3_put_first_page(&((const struct totals *)w->totals)->roots, out);
    return true;
}

/* ---- messages */

/* What a record has before the payload; returns its size. */
static size_t record_head(const struct reel_message *m, int64_t time_ns, uint8_t out[RECORD_HEAD_MAX + RECORD_FIXED]) {
    size_t size = 4 + db3_varint(out + 4, 12 + 2 * (uint64_t)m->size);
    out[0] = (uint8_t)size;
    out[1] = 0; /* the id: the rowid */
    out[2] = 4; /* the topic: 32 bits */
    out[3] = 6; /* the time: 64 */
    db3_u32(out + size, m->channel + 1);
    db3_u64(out + size + 4, (uint64_t)time_ns);
    return size + RECORD_FIXED;
}

/* Payload bytes that are not shown are not read. */
static bool rosbag2_put_payload(struct reel_write *w, const struct reel_message *m, uint64_t at, uint64_t size,
                                struct reel_sink *out, struct reel_error *err) {
    struct run *run = w->run;
    for (uint64_t n; size > 0; at += n, size -= n) {
        n = size < PIECE ? size : PIECE;
        if (!out->hashing && !reel_sink_shows(out, out->pos, n)) {
            out->pos += n;
        } else if (reel_stream_copy(w->stream, m, at, run->piece, n, err)) {
            reel_sink_put(out, run->piece, n);
        } else {
            return false;
        }
    }
    return true;
}

/* Notes a leaf that has been emitted. */
static bool note_leaf(struct reel_write *w, uint64_t messages, uint64_t pages, struct reel_error *err) {
    struct run *run = w->run;
    grow_u32(&run->note, (uint32_t)messages);
    grow_u32(&run->note, (uint32_t)pages);
    return !run->note.failed || reel_fail_memory(err);
}

static bool rosbag2_write_db3_put_leaf(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct run *run = w->run;
    uint64_t messages = run->leaf.cells;
    if (messages == 0) {
        return true;
    }
    db3_leaf_put(&run->leaf, ROSBAG2_PAGE_LEAF, out);
    db3_leaf_clear(&run->leaf);
    return note_leaf(w, messages, 1, err);
}

/* One that fits the leaf. */
static bool rosbag2_add_message(struct reel_write *w, const struct reel_message *m, uint64_t rowid, const uint8_t *head,
                                size_t head_size, struct reel_sink *out, struct reel_error *err) {
    struct run *run = w->run;
    uint64_t record = head_size + (uint64_t)m->size;
    size_t size = db3_cell_size(record, rowid);
    uint8_t *cell = db3_leaf_add(&run->leaf, size);
    size_t at = db3_put_cell_head(cell, record, rowid);
    memcpy(cell + at, head, head_size);
    bool wanted = out->hashing || reel_sink_shows(out, out->pos, DB3_PAGE);
    return !wanted || m->size == 0 || reel_stream_copy(w->stream, m, 0, cell + at + head_size, m->size, err);
}

static bool put_spilled(struct reel_write *w, const struct reel_message *m, uint64_t rowid, const uint8_t *head,
                        size_t head_size, struct reel_sink *out, struct reel_error *err) {
    struct db3_spill spill = db3_spill(head_size + (uint64_t)m->size, page_at(w, out->pos));
    db3_spill_begin(&spill, rowid, out);
    uint64_t run = db3_spill_next(&spill, out), at = run - head_size; /* a leaf holds more than the head */
    reel_sink_put(out, head, head_size);
    if (!rosbag2_put_payload(w, m, 0, at, out, err)) {
        return false;
    }
    for (; (run = db3_spill_next(&spill, out)) > 0; at += run) {
        if (!rosbag2_put_payload(w, m, at, run, out, err)) {
            return false;
        }
    }
    return note_leaf(w, 1, 1 + spill.pages, err);
}

/* Keeps the times that the pages of the index above its leaves need. */
static bool rosbag2_book(struct reel_write *w, int64_t time_ns, struct reel_error *err) {
    struct totals *t = w->totals;
    uint64_t item = t->rows++;
    t->disordered |= item > 0 && time_ns < t->last_ns;
    t->before_ns = t->last_ns;
    t->last_ns = time_ns;
    if (item % (INDEX_ITEMS + 1) != INDEX_ITEMS) {
        return t->rows <= ROWS_MAX ||
               reel_fail(err, REEL_UNSUPPORTED, "a database holds at most %d messages", ROWS_MAX);
    }
    if (t->n_separators == t->cap_separators) {
        uint64_t room = t->cap_separators > 0 ? 2 * t->cap_separators : 64;
        int64_t *more = reel_write_keep(w, room * sizeof *more, err);
        if (!more) {
            return false;
        }
        if (t->n_separators > 0) {
            memcpy(more, t->separators, t->n_separators * sizeof *more);
        }
        t->separators = more;
        t->cap_separators = room;
    }
    t->separators[t->n_separators++] = time_ns;
    return true;
}

static bool rosbag2_is_full(const struct run *run, uint64_t bytes) {
    return bytes >= GROUP_BYTES || run->note.size >= NOTE_HEAD + GROUP_LEAVES * NOTE_LEAF;
}

/* One message; *full: it does not belong to the group any more. */
static bool rosbag2_put_message(struct reel_write *w, const struct reel_message *m, uint64_t rowid, uint64_t begin,
                                bool *full, struct reel_sink *out, struct reel_error *err) {
    struct run *run = w->run;
    uint8_t head[RECORD_HEAD_MAX + RECORD_FIXED];
    int64_t time_ns = reel_write_time(w, m);
    size_t head_size = record_head(m, time_ns, head);
    uint64_t record = head_size + (uint64_t)m->size;
    bool spills = record > DB3_LOCAL_MAX;
    if (record > VALUE_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED, "topic %s: a message of %u bytes is larger than SQLite takes",
                         w->stream->channels[m->channel]->name, m->size);
    }
    if ((spills || !db3_leaf_fits(&run->leaf, db3_cell_size(record, rowid))) &&
        !rosbag2_write_db3_put_leaf(w, out, err)) {
        return false;
    }
    *full = run->leaf.cells == 0 && rosbag2_is_full(run, out->pos - begin);
    if (*full) {
        return true;
    }
    if (run->leaf.cells == 0 && out->pos - w->base == DB3_LOCK_BYTE) {
        reel_sink_fill(out, 0, DB3_PAGE);
    }
    bool good = spills ? put_spilled(w, m, rowid, head, head_size, out, err)
                       : rosbag2_add_message(w, m, rowid, head, head_size, out, err);
    return good && (!w->planning || rosbag2_book(w, time_ns, err));
}

static bool db3_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct run *run = w->run;
    struct totals *t = w->totals;
    struct reel_message m;
    enum reel_step step;
    uint64_t rowid = 1 + (w->planning ? t->rows : reel_write_group(w, w->group)->first), begin = out->pos;
    bool full = false;
    db3_leaf_clear(&run->leaf);
    run->note.size = 0;
    grow_u64(&run->note, t->leaves);
    for (; (step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE; rowid++) {
        if (!rosbag2_put_message(w, &m, rowid, begin, &full, out, err)) {
            return false;
        }
        if (full) {
            reel_write_unget(w, &m);
            break;
        }
    }
    if (step == REEL_STEP_ERROR || !rosbag2_write_db3_put_leaf(w, out, err)) {
        return false;
    }
    t->leaves += w->planning ? (run->note.size - NOTE_HEAD) / NOTE_LEAF : 0;
    return reel_write_note(w, run->note.data, run->note.size, err);
}

/* ---- above the messages */

static uint64_t first_leaf(const struct reel_group *group) {
    return load_u64le(group->note);
}
static uint64_t first_message(const struct reel_group *group) {
    return group->first;
}
/* The last group whose first leaf or message is at or before `item`. */
static uint64_t group_of(struct reel_write *w, uint64_t (*first)(const struct reel_group *), uint64_t item) {
    uint64_t low = 0, high = reel_write_groups(w);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (first(reel_write_group(w, middle)) <= item) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The page of a leaf, and the last rowid in it. */
static void find_leaf(struct reel_write *w, uint64_t leaf, uint64_t *page, uint64_t *last) {
    const struct reel_group *group = reel_write_group(w, group_of(w, first_leaf, leaf));
    const uint8_t *note = group->note + NOTE_HEAD;
    *page = page_at(w, group->offset);
    *last = group->first;
    for (uint64_t i = first_leaf(group); i < leaf; i++, note += NOTE_LEAF) {
        *last += load_u32le(note);
        *page += load_u32le(note + 4);
    }
    *last += load_u32le(note);
}

static uint64_t messages_page(void *context, uint64_t leaf) {
    uint64_t page, last;
    find_leaf(context, leaf, &page, &last);
    return page;
}
static size_t messages_key(void *context, uint64_t leaf, uint8_t *out) {
    uint64_t page, last;
    find_leaf(context, leaf, &page, &last);
    return db3_varint(out, last);
}

/* ---- the index of times */

static void put_item(uint8_t cell[INDEX_CELL], int64_t time_ns, uint64_t rowid) {
    cell[0] = INDEX_RECORD;
    cell[1] = 3; /* bytes of the head */
    cell[2] = 6;
    cell[3] = 4;
    db3_u64(cell + 4, (uint64_t)time_ns);
    db3_u32(cell + 12, rowid);
}

/* Items of the index: each leaf has INDEX_ITEMS, and one stands between it and the next. The last leaf is never empty:
 * if it were, the item before it becomes its only one, and the one before that takes its place. */
static uint64_t index_leaves(const struct totals *t) {
    return t->disordered ? 0 : (t->rows + 1 + INDEX_ITEMS) / (INDEX_ITEMS + 1);
}
static bool is_short(const struct totals *t) {
    return t->rows > 0 && t->rows % (INDEX_ITEMS + 1) == 0;
}
static uint64_t first_item(const struct totals *t, uint64_t leaf) {
    return leaf * (INDEX_ITEMS + 1) - (is_short(t) && leaf + 1 == index_leaves(t));
}
static uint64_t items_end(const struct totals *t, uint64_t leaf) { /* the item after it is the one between */
    return leaf + 1 == index_leaves(t) ? t->rows : first_item(t, leaf + 1) - 1;
}

static size_t index_key(void *context, uint64_t leaf, uint8_t *out) {
    const struct totals *t = ((const struct reel_write *)context)->totals;
    bool moved = is_short(t) && leaf + 2 == index_leaves(t);
    put_item(out, moved ? t->before_ns : t->separators[leaf], items_end(t, leaf) + 1);
    return INDEX_CELL;
}

/* ---- the tail: pages above the messages; leaves of the index, pages above them; the small tables */

struct layout {
    struct db3_tree messages, index;
    uint64_t messages_inner, index_inner; /* pages above the leaves */
    uint64_t tables_first;                /* a page number */
};

static struct layout layout_of(struct reel_write *w) {
    const struct totals *t = w->totals;
    uint64_t groups = reel_write_groups(w);
    const struct reel_group *last = groups > 0 ? reel_write_group(w, groups - 1) : NULL;
    uint64_t first = last ? page_at(w, last->offset + last->size) : 2;
    struct layout l = {.messages = {.leaves = t->leaves > 0 ? t->leaves : 1,
                                    .children = DB3_TABLE_CHILDREN,
                                    .type = ROSBAG2_PAGE_INNER,
                                    .first = first + (t->leaves == 0), /* then its empty leaf is there */
                                    .first_leaf = t->leaves > 0 ? 2 : first,
                                    .page = messages_page,
                                    .key = messages_key,
                                    .context = w},
                       .index = {.leaves = index_leaves(t),
                                 .children = INDEX_CHILDREN,
                                 .type = INDEX_INNER,
                                 .key = index_key,
                                 .context = w}};
    l.messages_inner = db3_inner_pages(&l.messages);
    l.index_inner = db3_inner_pages(&l.index);
    l.index.first_leaf = l.messages.first + l.messages_inner;
    l.index.first = l.index.first_leaf + l.index.leaves;
    l.tables_first = l.index.first + l.index_inner;
    return l;
}

static uint64_t parts_of(uint64_t pages, uint64_t most) {
    return (pages + most - 1) / most;
}

static uint64_t db3_tail_parts(struct reel_write *w) {
    const struct layout l = layout_of(w);
    return parts_of(l.messages_inner, PART_PAGES) + parts_of(l.index.leaves, PART_LEAVES) +
           parts_of(l.index_inner, PART_PAGES) + 1;
}

static void put_inner(const struct db3_tree *tree, uint64_t part, uint64_t pages, struct reel_sink *out) {
    uint64_t from = part * PART_PAGES, to = from + PART_PAGES < pages ? from + PART_PAGES : pages;
    for (uint64_t i = from; i < to; i++) {
        db3_put_inner(tree, i, out);
    }
}

struct index_part { /* leaves being filled, from a walk through the messages */
    struct reel_sink *out;
    struct db3_leaf *cells;
    uint64_t item, leaf, end; /* the next item, the leaf being filled, the end of the leaves */
    uint64_t first;           /* page of the first leaf */
};

static bool rosbag2_visit(struct reel_write *w, const struct reel_message *m, void *context, struct reel_error *err) {
    struct index_part *p = context;
    const struct totals *t = w->totals;
    uint64_t item = p->item++;
    (void)err;
    if (p->leaf == p->end || item < first_item(t, p->leaf)) {
        return true;
    }
    if (item < items_end(t, p->leaf)) {
        put_item(db3_leaf_add(p->cells, INDEX_CELL), reel_write_time(w, m), item + 1);
    }
    if (item + 1 >= items_end(t, p->leaf) && p->cells->cells > 0) {
        db3_put_unused(p->first + p->leaf, p->out);
        db3_leaf_put(p->cells, INDEX_LEAF, p->out);
        db3_leaf_clear(p->cells);
        p->leaf++;
    }
    return true;
}

static bool put_index(struct reel_write *w, const struct layout *l, uint64_t part, struct reel_sink *out,
                      struct reel_error *err) {
    struct run *run = w->run;
    const struct totals *t = w->totals;
    uint64_t from = part * PART_LEAVES,
             to = from + PART_LEAVES < l->index.leaves ? from + PART_LEAVES : l->index.leaves;
    db3_leaf_clear(&run->leaf);
    if (t->rows == 0) {
        db3_leaf_put(&run->leaf, INDEX_LEAF, out);
        return true;
    }
    uint64_t group = group_of(w, first_message, first_item(t, from));
    struct index_part p = {.out = out,
                           .cells = &run->leaf,
                           .leaf = from,
                           .end = to,
                           .first = l->index.first_leaf,
                           .item = reel_write_group(w, group)->first};
    for (; p.leaf < p.end; group++) {
        if (!reel_write_walk(w, group, rosbag2_visit, &p, err)) {
            return false;
        }
    }
    return true;
}

static bool rosbag2_put_tables(struct reel_write *w, const struct layout *l, struct reel_sink *out,
                               struct reel_error *err) {
    struct totals *t = w->totals;
    struct db3_roots roots = {
        .of = {[DB3_MESSAGES] = db3_root(&l->messages), [DB3_TIMES] = l->index.leaves > 0 ? db3_root(&l->index) : 0}};
    if (!db3_put_tables(w->stream, l->tables_first, &roots, out, err)) {
        return false;
    }
    if (w->planning) {
        t->roots = roots;
    }
    return roots.pages <= UINT32_MAX - 1 || reel_fail(err, REEL_UNSUPPORTED, "a database of more than 2^32 pages");
}

static bool db3_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    const struct totals *t = w->totals;
    const struct layout l = layout_of(w);
    const uint64_t above = parts_of(l.messages_inner, PART_PAGES), leaves = parts_of(l.index.leaves, PART_LEAVES),
                   inner = parts_of(l.index_inner, PART_PAGES);
    if (part == 0 && t->leaves == 0) { /* the table is empty */
        struct run *run = w->run;
        db3_leaf_clear(&run->leaf);
        db3_leaf_put(&run->leaf, ROSBAG2_PAGE_LEAF, out);
    }
    if (part < above) {
        put_inner(&l.messages, part, l.messages_inner, out);
        return true;
    }
    part -= above;
    if (part < leaves) {
        return put_index(w, &l, part, out, err);
    }
    part -= leaves;
    if (part >= inner) {
        return rosbag2_put_tables(w, &l, out, err);
    }
    put_inner(&l.index, part, l.index_inner, out);
    return true;
}

/* ---- the writer */

const struct reel_writer rosbag2_db3_writer = {
    .name = "db3",
    .extension = ".db3",
    .needs = REEL_HEAD_LAST,
    .totals_size = sizeof(struct totals),
    .run_size = sizeof(struct run),
    .open = db3_open,
    .close = db3_close,
    .head = db3_head,
    .messages = db3_messages,
    .tail_parts = db3_tail_parts,
    .tail = db3_tail,
};
