/* Makes messages readable that SQLite does not find. When an inner page of the table's tree is damaged, or lies beyond
 * the end of a cut file, SQLite loses all leaves below it; after a wrong id it takes all that follows for out of order.
 * The repair searches all pages for leaves that can only belong to the table messages, copies the readable cells of
 * damaged leaves, and builds new inner pages in memory that replace the old ones. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "formats/rosbag2/pages.h"

enum {
    CELL_MAX = 2 + 4 + 5,        /* bytes of a cell of an inner page, with its pointer: ids have at most 33 bits */
    LEAVES_MAX = 2 << 20,        /* limit for leaves: their inner pages are held in memory */
    COPIES_BYTES_MAX = 64 << 20, /* of damaged leaves */
};

struct repair_run {
    struct rosbag2_pages pages;
    struct rosbag2_page_list suspects; /* leaves that are damaged, or whose ids overlap those of others; those of the
                                          tree come first */
    size_t in_tree;                    /* how many of them the tree leads to */
    struct grow new_pages;             /* the pages of the repair: the root first */
};

static void put_u16be(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}
static void put_u32be(uint8_t *p, uint32_t v) {
    put_u16be(p, v >> 16);
    put_u16be(p + 2, v);
}

/* --- which leaves --- */

static int compare_leaves(const void *a, const void *b) {
    const struct rosbag2_leaf *x = a, *y = b;
    int order = (x->first > y->first) - (x->first < y->first);
    return order ? order : (x->page > y->page) - (x->page < y->page);
}
static int compare_ends(const void *a, const void *b) {
    const struct rosbag2_leaf *x = a, *y = b;
    int order = (x->last > y->last) - (x->last < y->last);
    return order ? order : compare_leaves(a, b);
}
static int compare_pages(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}
static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    if (count > 1) {
        qsort(items, count, size, compare);
    }
}

/* Index of the first of the sorted leaves that ends at or after `id`. */
static size_t find_leaf(const struct rosbag2_leaf *leaves, size_t count, int64_t id) {
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (leaves[middle].last < id) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

static bool suspect(struct repair_run *r, uint32_t page, struct reel_error *err) {
    return r->suspects.count >= LEAVES_MAX || rosbag2_page_add(&r->suspects, page, err);
}

/* Adds the leaves that no page leads to. The known pages are sorted by number. */
static bool find_others(struct repair_run *r, const struct rosbag2_page_list *known, struct reel_error *err) {
    struct rosbag2_pages *p = &r->pages;
    size_t at = 0;
    for (uint64_t number = 2; number <= p->whole; number++) {
        while (at < known->count && known->items[at] < number) {
            at++;
        }
        if (at < known->count && known->items[at] == number) {
            continue;
        }
        const uint8_t *page = rosbag2_page_at(p, number, err);
        struct rosbag2_leaf leaf = {.page = (uint32_t)number};
        if (!page) {
            return false;
        }
        if (page[0] != ROSBAG2_PAGE_LEAF) {
            continue;
        }
        if (!rosbag2_message_leaf(p, page, &leaf)) {
            if (!suspect(r, leaf.page, err)) {
                return false;
            }
            continue;
        }
        if (p->count >= LEAVES_MAX) {
            p->count = 0; /* too many leaves */
            return true;
        }
        if (!GROW_ARRAY(p->leaves, p->count, p->capacity)) {
            return reel_fail_memory(err);
        }
        p->leaves[p->count++] = leaf;
    }
    return true;
}

/* Removes overlaps: leaves in place stay, and as many of the others as possible. Old copies of pages and leaves with a
 * wrong id are dropped. */
static bool drop_overlaps(struct repair_run *r, struct reel_error *err) {
    struct rosbag2_pages *p = &r->pages;
    AUTO_MEM struct rosbag2_leaf *all = malloc((p->count + 1) * sizeof *all);
    if (!all) {
        return reel_fail_memory(err);
    }
    size_t fixed = 0, others = 0, taken;
    for (size_t i = 0; i < p->count; i++) {
        if (p->leaves[i].in_place) {
            p->leaves[fixed++] = p->leaves[i];
        } else {
            all[others++] = p->leaves[i];
        }
    }
    sort(p->leaves, fixed, sizeof *p->leaves, compare_leaves);
    sort(all, others, sizeof *all, compare_ends);
    int64_t last = -1;
    taken = fixed;
    for (size_t i = 0; i < others; i++) {
        size_t next = find_leaf(p->leaves, fixed, all[i].first);
        if (all[i].first > last && (next == fixed || p->leaves[next].first > all[i].last)) {
            last = all[i].last;
            p->leaves[taken++] = all[i];
        } else if (!suspect(r, all[i].page, err)) {
            return false;
        }
    }
    p->count = taken;
    sort(p->leaves, p->count, sizeof *p->leaves, compare_leaves);
    return true;
}

/* Adds the pages that the tree leads to. A damaged one that is a leaf of messages is complete, but not where the tree
 * states: find_others() finds it. */
static bool find_in_tree(struct repair_run *r, uint32_t root, struct rosbag2_page_list *known, struct reel_error *err) {
    struct rosbag2_pages *p = &r->pages;
    bool whole;
    if (!rosbag2_pages_check(p, root, true, &whole, err)) {
        return false;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (!rosbag2_page_add(known, p->leaves[i].page, err)) {
            return false;
        }
    }
    for (size_t i = 0; i < p->damaged.count; i++) {
        struct rosbag2_leaf leaf = {.page = p->damaged.items[i]};
        const uint8_t *page = rosbag2_page_at(p, leaf.page, err);
        if (!page || (!rosbag2_message_leaf(p, page, &leaf) &&
                      (!rosbag2_page_add(known, leaf.page, err) || !suspect(r, leaf.page, err)))) {
            return false;
        }
    }
    r->in_tree = r->suspects.count;
    return true;
}

static bool find_leaves(struct repair_run *r, struct rosbag2 *db, uint32_t root, struct reel_error *err) {
    struct rosbag2_pages *p = &r->pages;
    struct rosbag2_page_list known = {0};
    bool good = rosbag2_other_pages(db, p, &known, err) && find_in_tree(r, root, &known, err);
    sort(known.items, known.count, sizeof *known.items, compare_pages);
    good = good && find_others(r, &known, err) && (p->count == 0 || drop_overlaps(r, err));
    free(known.items);
    return good;
}

/* --- damaged leaves --- */

struct cell {
    int64_t id;
    uint32_t at;
};
static int compare_cells(const void *a, const void *b) {
    const struct cell *x = a, *y = b;
    int order = (x->id > y->id) - (x->id < y->id);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Collects the readable cells of a page, sorted. Their ids must lie in one gap between two neighbouring leaves; the gap
 * is the one that holds the middle id. */
static size_t usable_cells(const struct repair_run *r, const uint8_t *page, struct cell *cells, uint32_t room) {
    const struct rosbag2_pages *p = &r->pages;
    uint32_t n = rosbag2_cells(p, page);
    size_t found = 0, kept = 0;
    n = n < room ? n : room;
    for (uint32_t i = 0; i < n; i++) {
        struct cursor c = rosbag2_cell(p, page, ROSBAG2_LEAF_HEAD, i, &cells[found].at);
        found += rosbag2_message_cell(p, c, &cells[found].id);
    }
    if (found == 0) {
        return 0;
    }
    sort(cells, found, sizeof *cells, compare_cells);
    int64_t middle = cells[found / 2].id;
    size_t next = find_leaf(p->leaves, p->count, middle);
    int64_t above = next > 0 ? p->leaves[next - 1].last : -1,
            below = next < p->count ? p->leaves[next].first : INT64_MAX;
    for (size_t i = 0; i < found; i++) {
        if (cells[i].id > above && cells[i].id < below && (kept == 0 || cells[i].id > cells[kept - 1].id)) {
            cells[kept++] = cells[i];
        }
    }
    return kept;
}

/* Appends a copy of a page to the new pages; NULL: no memory. */
static uint8_t *copy_page(struct repair_run *r, struct rosbag2_repair *repair, const uint8_t *page, uint32_t *number) {
    uint8_t *copy = grow_take(&r->new_pages, r->pages.page_size);
    if (copy) {
        memcpy(copy, page, r->pages.page_size);
        *number = repair->first + repair->count++;
    }
    return copy;
}

/* Appends a copy of a damaged leaf that holds only its readable cells. */
static bool add_damaged(struct repair_run *r, struct rosbag2_repair *repair, uint32_t number, bool in_tree,
                        struct cell *cells, uint32_t room, struct reel_error *err) {
    struct rosbag2_pages *p = &r->pages;
    const uint8_t *page = rosbag2_page_at(p, number, err);
    if (!page) {
        return false;
    }
    size_t n = usable_cells(r, page, cells, room);
    repair->damaged += n > 0 || in_tree;
    if (n == 0) {
        return true;
    }
    struct rosbag2_leaf leaf = {.first = cells[0].id, .last = cells[n - 1].id};
    uint8_t *copy = copy_page(r, repair, page, &leaf.page);
    if (!copy || !GROW_ARRAY(p->leaves, p->count, p->capacity)) {
        return reel_fail_memory(err);
    }
    copy[0] = ROSBAG2_PAGE_LEAF;
    put_u16be(copy + 1, 0); /* no free blocks */
    put_u16be(copy + 3, (uint32_t)n);
    put_u16be(copy + 5, ROSBAG2_LEAF_HEAD + 2 * (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        put_u16be(copy + ROSBAG2_LEAF_HEAD + 2 * i, cells[i].at);
    }
    size_t index = find_leaf(p->leaves, p->count, leaf.first);
    memmove(p->leaves + index + 1, p->leaves + index, (p->count - index) * sizeof *p->leaves);
    p->leaves[index] = leaf;
    p->count++;
    repair->kept += n;
    return true;
}

static bool add_all_damaged(struct repair_run *r, struct rosbag2_repair *repair, struct reel_error *err) {
    uint32_t room = (r->pages.usable - ROSBAG2_LEAF_HEAD) / 2;
    AUTO_MEM struct cell *cells = malloc((room + 1) * sizeof *cells);
    if (!cells) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < r->suspects.count && r->new_pages.size < COPIES_BYTES_MAX; i++) {
        if (!add_damaged(r, repair, r->suspects.items[i], i < r->in_tree, cells, room, err)) {
            return false;
        }
    }
    return true;
}

/* --- the new inner pages --- */

static size_t rosbag2_put_varint(uint8_t *out, uint64_t v) {
    unsigned groups = 1;
    while (v >> (7 * groups)) {
        groups++;
    }
    for (unsigned i = 0; i < groups; i++) {
        out[i] = (uint8_t)((v >> (7 * (groups - 1 - i)) & 0x7f) | (i + 1 < groups ? 0x80 : 0));
    }
    return groups;
}

static void make_inner(const struct repair_run *r, const struct rosbag2_leaf *children, size_t n, uint8_t *page) {
    uint32_t at = r->pages.usable;
    for (size_t i = 0; i + 1 < n; i++) {
        uint8_t cell[CELL_MAX];
        put_u32be(cell, children[i].page);
        size_t size = 4 + rosbag2_put_varint(cell + 4, (uint64_t)children[i].last);
        at -= (uint32_t)size;
        memcpy(page + at, cell, size);
        put_u16be(page + ROSBAG2_INNER_HEAD + 2 * i, at);
    }
    page[0] = ROSBAG2_PAGE_INNER;
    put_u16be(page + 3, (uint32_t)n - 1);
    put_u16be(page + 5, at);
    put_u32be(page + 8, children[n - 1].page);
}

/* Builds levels of inner pages above the leaves until all fit below the root. `leaves` is then the list of pages of the
 * uppermost level. */
static bool rosbag2_build(struct repair_run *r, struct rosbag2_repair *repair, struct reel_error *err) {
    struct rosbag2_pages *p = &r->pages;
    size_t most = (p->usable - ROSBAG2_INNER_HEAD) / CELL_MAX;
    while (p->count > most) {
        size_t groups = (p->count + most - 1) / most, from = 0;
        for (size_t g = 0; g < groups; g++) {
            size_t to = p->count * (g + 1) / groups;
            uint8_t *page = grow_take(&r->new_pages, p->page_size);
            if (!page) {
                return reel_fail_memory(err);
            }
            memset(page, 0, p->page_size);
            make_inner(r, p->leaves + from, to - from, page);
            p->leaves[g] =
                (struct rosbag2_leaf){.last = p->leaves[to - 1].last, .page = repair->first + repair->count++};
            from = to;
        }
        p->count = groups;
    }
    return true;
}

static bool make_root(struct repair_run *r, const struct rosbag2_repair *repair, struct reel_error *err) {
    struct rosbag2_pages *p = &r->pages;
    if (p->count > 1) {
        make_inner(r, p->leaves, p->count, r->new_pages.data);
        return true;
    }
    uint32_t only = p->leaves[0].page;
    const uint8_t *page = only >= repair->first ? r->new_pages.data + (size_t)(only - repair->first + 1) * p->page_size
                                                : rosbag2_page_at(p, only, err);
    if (page) {
        memcpy(r->new_pages.data, page, p->page_size);
    }
    return page != NULL;
}

/* A root that was a leaf and now gets siblings moves to another page number. */
static bool move_root(struct repair_run *r, struct rosbag2_repair *repair, struct reel_error *err) {
    struct rosbag2_pages *p = &r->pages;
    for (size_t i = 0; p->count > 1 && i < p->count; i++) {
        if (p->leaves[i].page == repair->root) {
            const uint8_t *page = rosbag2_page_at(p, repair->root, err);
            return page && (copy_page(r, repair, page, &p->leaves[i].page) || reel_fail_memory(err));
        }
    }
    return true;
}

static struct rosbag2_repair *make_pages(struct repair_run *r, uint32_t root, struct reel_error *err) {
    struct rosbag2_pages *p = &r->pages;
    AUTO(rosbag2_repair_free) struct rosbag2_repair *repair = calloc(1, sizeof *repair);
    if (!repair || !grow_take(&r->new_pages, p->page_size)) {
        reel_fail_memory(err);
        return NULL;
    }
    memset(r->new_pages.data, 0, p->page_size);
    enum { LOCK_BYTE = 1 << 30, ROOM = 1 << 20 };
    uint64_t first = (p->whole > p->stated ? p->whole : p->stated) + 2, lock = LOCK_BYTE / p->page_size + 1;
    first = first <= lock && first + ROOM > lock ? lock + 1 : first; /* SQLite never uses the page of that byte */
    repair->page_size = p->page_size;
    repair->root = root;
    repair->first = (uint32_t)first;
    for (size_t i = 0; i < p->count; i++) {
        repair->leaves += !p->leaves[i].in_place;
    }
    bool good = first + ROOM < UINT32_MAX || reel_fail(err, REEL_LIMIT, "the database has too many pages");
    good = good && add_all_damaged(r, repair, err);
    if (!good || p->count == 0) {
        return NULL;
    }
    good = move_root(r, repair, err) && rosbag2_build(r, repair, err) && make_root(r, repair, err);
    repair->data = TAKE(r->new_pages.data);
    return good ? TAKE(repair) : NULL;
}

static bool find_root(struct rosbag2 *db, uint32_t *root, struct reel_error *err) {
    AUTO(statement)
    sqlite3_stmt *rows =
        rosbag2_prepare(db, "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'messages'", err);
    if (!rows) {
        return false;
    }
    int rc = sqlite3_step(rows);
    *root = rc == SQLITE_ROW ? rosbag2_root_of(rows) : 0;
    return rc == SQLITE_ROW || rc == SQLITE_DONE || rosbag2_is_damage(rc) ||
           rosbag2_fail(db, rc, "the schema cannot be read", err);
}

static bool repair_with(struct repair_run *r, struct rosbag2 *db, struct reel_source *source, uint32_t root,
                        struct rosbag2_repair **out, struct reel_error *err) {
    bool usable, whole = true;
    struct reel_error why = {0};
    bool good = rosbag2_pages_open(&r->pages, source, &usable, &why) &&
                (!usable || rosbag2_pages_check(&r->pages, root, false, &whole, &why)) &&
                (whole || find_leaves(r, db, root, &why));
    *out = good && !whole ? make_pages(r, root, &why) : NULL;
    return why.code == REEL_OK || reel_error_pass(err, &why);
}

bool rosbag2_repair_new(struct rosbag2 *db, struct reel_source *source, struct rosbag2_repair **out,
                        struct reel_error *err) {
    uint32_t root;
    *out = NULL;
    if (!find_root(db, &root, err)) {
        return false;
    }
    struct repair_run r = {0};
    bool good = root == 0 || repair_with(&r, db, source, root, out, err);
    rosbag2_pages_close(&r.pages);
    free(r.suspects.items);
    free(r.new_pages.data);
    return good;
}

void rosbag2_repair_free(struct rosbag2_repair *repair) {
    if (repair) {
        free(repair->data);
        free(repair);
    }
}
