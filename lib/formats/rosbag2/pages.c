/* Reads the b-tree of the table messages page by page: is every page where it should be, and if not, which pages hold
 * messages? All lengths are checked here; nothing of a page is believed because the one above leads to it.
 *
 *   page of a table's tree, integers big-endian
 *   0   1   5 inner page, 13 leaf                  inner: 8  4  child right of all cells
 *   3   2   number of cells
 *   5   2   where the cells begin                  then 2 bytes a cell: where it lies
 *   cell of an inner page: u32 child, varint largest id in it
 *   cell of a leaf: varint size, varint id, record (its end on overflow pages when it is long)
 *   record: varint size of its header, a varint for each column, the values
 */
#include "formats/rosbag2/pages.h"

#include "base/cursor.h"

enum {
    COLUMNS = 4,          /* id, topic_id, timestamp, data */
    LEAVES_MAX = 2 << 20, /* most pages with messages in a repair */
    LEVELS_MAX = 20,
};

static uint64_t varint(struct cursor *c) {
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) {
        uint8_t byte = cursor_u8(c);
        v = v << 7 | (byte & 0x7f);
        if (byte < 0x80) {
            return v;
        }
    }
    return v << 8 | cursor_u8(c);
}

const uint8_t *rosbag2_page_at(struct rosbag2_pages *p, uint64_t number, struct reel_error *err) {
    return number >= 1 && number <= p->whole ? window_at(&p->window, (number - 1) * p->page_size, p->page_size, err)
                                             : NULL;
}

static uint32_t u16_at(const struct rosbag2_pages *p, const uint8_t *page, size_t at) {
    struct cursor c = cursor_of(bytes_of(page, p->usable));
    cursor_take(&c, at);
    return (uint32_t)cursor_be(&c, 2);
}
uint32_t rosbag2_cells(const struct rosbag2_pages *p, const uint8_t *page) {
    return u16_at(p, page, 3);
}
struct cursor rosbag2_cell(const struct rosbag2_pages *p, const uint8_t *page, uint32_t head, uint32_t i,
                           uint32_t *at) {
    struct cursor c = cursor_of(bytes_of(page, p->usable));
    *at = u16_at(p, page, head + 2 * (size_t)i);
    cursor_take(&c, *at);
    c.failed |= *at < head + 2;
    return c;
}

/* --- cells of leaves --- */

/* How many bytes of a payload of `size` bytes lie in its leaf, including the number of the overflow page. */
static uint64_t local_size(uint64_t usable, uint64_t size) {
    if (size <= usable - 35) {
        return size;
    }
    uint64_t least = (usable - 12) * 32 / 255 - 23, local = least + (size - least) % (usable - 4);
    return (local <= usable - 35 ? local : least) + 4;
}

/* Checks that a cell lies inside its page, and reads its id. The content is not checked. */
static bool read_cell(const struct rosbag2_pages *p, struct cursor c, int64_t *id) {
    uint64_t size = varint(&c);
    *id = (int64_t)varint(&c);
    return !c.failed && size <= INT32_MAX && local_size(p->usable, size) <= cursor_left(&c);
}

/* Size of a value of this type in bytes; UINT64_MAX: no such type. */
static uint64_t value_size(uint64_t type) {
    static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    return type >= 12 ? (type - 12) / 2 : type < sizeof sizes ? sizes[type] : UINT64_MAX;
}
static bool is_integer(uint64_t type) {
    return type >= 1 && type <= 9 && type != 7;
}

bool rosbag2_message_cell(const struct rosbag2_pages *p, struct cursor c, int64_t *id) {
    if (!read_cell(p, c, id) || *id < 0 || *id > ROSBAG2_ROW_MAX) {
        return false;
    }
    uint64_t size = varint(&c);
    varint(&c);
    const uint8_t *start = c.at;
    uint64_t head = varint(&c), types[COLUMNS], sum = head;
    for (int i = 0; i < COLUMNS; i++) {
        types[i] = varint(&c);
        uint64_t bytes = value_size(types[i]);
        if (bytes > ROSBAG2_PAYLOAD_MAX) {
            return false;
        }
        sum += bytes;
    }
    return !c.failed && head == (uint64_t)(c.at - start) && sum == size && types[0] == 0 && is_integer(types[1]) &&
           is_integer(types[2]) && types[3] >= 12 && types[3] % 2 == 0;
}

/* --- leaves --- */

/* True when all cells lie inside the leaf and their ids ascend and lie in (above, upto]. */
static bool leaf_fits(const struct rosbag2_pages *p, const uint8_t *page, int64_t above, int64_t upto,
                      struct rosbag2_leaf *leaf) {
    uint32_t n = rosbag2_cells(p, page), at;
    if (page[0] != ROSBAG2_PAGE_LEAF || n == 0 || ROSBAG2_LEAF_HEAD + 2 * n > p->usable) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        int64_t id;
        struct cursor c = rosbag2_cell(p, page, ROSBAG2_LEAF_HEAD, i, &at);
        if (at < ROSBAG2_LEAF_HEAD + 2 * n || !read_cell(p, c, &id) ||
            (i > 0 ? id <= leaf->last : id <= above && above != INT64_MIN) || id > upto) {
            return false;
        }
        leaf->first = i == 0 ? id : leaf->first;
        leaf->last = id;
    }
    return true;
}

bool rosbag2_message_leaf(const struct rosbag2_pages *p, const uint8_t *page, struct rosbag2_leaf *leaf) {
    bool good = leaf_fits(p, page, -1, ROSBAG2_ROW_MAX, leaf);
    for (uint32_t i = 0; good && i < rosbag2_cells(p, page); i++) {
        int64_t id;
        uint32_t at;
        good = rosbag2_message_cell(p, rosbag2_cell(p, page, ROSBAG2_LEAF_HEAD, i, &at), &id);
    }
    return good;
}

/* --- the tree --- */

struct child {
    int64_t upto; /* the largest id below it */
    uint32_t page;
};
struct level {
    struct child *children; /* of an inner page */
    size_t count, capacity, at;
};
struct tree_walk {
    struct rosbag2_pages *pages;
    struct level stack[LEVELS_MAX + 1];
    int64_t above; /* ids up to this one lie to the left */
    uint64_t visited;
    unsigned levels;
    bool collect, whole;
};

/* Lists the children of an inner page. False when it is not an inner page. */
static bool list_children(struct tree_walk *w, uint32_t number, int64_t upto, struct level *out,
                          struct reel_error *err) {
    const struct rosbag2_pages *p = w->pages;
    const uint8_t *page = rosbag2_page_at(w->pages, number, err);
    out->count = out->at = 0;
    if (!page || number == 1 || page[0] != ROSBAG2_PAGE_INNER) {
        return false;
    }
    uint32_t n = rosbag2_cells(p, page), at;
    if (n == 0 || ROSBAG2_INNER_HEAD + 2 * n > p->usable) {
        return false;
    }
    for (uint32_t i = 0; i <= n; i++) {
        struct cursor c = cursor_of(bytes_of(page, p->usable));
        if (i == n) {
            cursor_take(&c, 8);
        } else {
            c = rosbag2_cell(p, page, ROSBAG2_INNER_HEAD, i, &at);
            c.failed |= at < ROSBAG2_INNER_HEAD + 2 * n;
        }
        struct child child;
        child.page = (uint32_t)cursor_be(&c, 4);
        child.upto = i < n ? (int64_t)varint(&c) : upto;
        if (c.failed) {
            return false;
        }
        if (!GROW_ARRAY(out->children, out->count, out->capacity)) {
            return reel_fail_memory(err);
        }
        out->children[out->count++] = child;
    }
    return true;
}

/* Counts the levels of inner pages, along the leftmost readable child of each; 0: the root is a leaf. */
static bool count_levels(struct tree_walk *w, uint32_t root, struct reel_error *err) {
    for (w->levels = 0; w->levels < LEVELS_MAX; w->levels++) {
        const uint8_t *page = rosbag2_page_at(w->pages, root, err);
        if (!page || page[0] == ROSBAG2_PAGE_LEAF) {
            return page != NULL;
        }
        if (!list_children(w, root, INT64_MAX, &w->stack[0], err)) {
            return false;
        }
        root = w->stack[0].children[0].page;
    }
    return false;
}

bool rosbag2_page_add(struct rosbag2_page_list *list, uint32_t page, struct reel_error *err) {
    if (!GROW_ARRAY(list->items, list->count, list->capacity)) {
        return reel_fail_memory(err);
    }
    list->items[list->count++] = page;
    return true;
}

static bool visit_leaf(struct tree_walk *w, const struct child *child, struct reel_error *err) {
    struct rosbag2_pages *p = w->pages;
    const uint8_t *page = rosbag2_page_at(p, child->page, err);
    if (!page) {
        w->whole = false;
        return err->code == REEL_OK;
    }
    struct rosbag2_leaf leaf = {.page = child->page, .in_place = true};
    bool empty = w->levels == 0 && page[0] == ROSBAG2_PAGE_LEAF && rosbag2_cells(p, page) == 0; /* only a root may be
                                                                                                   empty */
    bool fits = empty || leaf_fits(p, page, w->above, child->upto, &leaf);
    w->whole &= fits;
    if (!w->collect || (fits && p->count >= LEAVES_MAX)) {
        return true;
    }
    if (!fits) {
        return p->damaged.count >= LEAVES_MAX || rosbag2_page_add(&p->damaged, child->page, err);
    }
    w->above = leaf.last > w->above ? leaf.last : w->above;
    if (!GROW_ARRAY(p->leaves, p->count, p->capacity)) {
        return reel_fail_memory(err);
    }
    p->leaves[p->count++] = leaf;
    return true;
}

/* One child of the page at `depth`: lists the children of an inner page, visits a leaf. *down: it is an inner page. */
static bool visit_child(struct tree_walk *w, const struct child *child, unsigned depth, bool *down,
                        struct reel_error *err) {
    bool there = child->page >= 2 && child->page <= w->pages->whole && ++w->visited <= w->pages->whole;
    *down = there && depth + 1 < w->levels;
    w->whole &= there;
    if (*down) {
        w->whole &= list_children(w, child->page, child->upto, &w->stack[depth + 1], err);
        return err->code == REEL_OK;
    }
    return !there || visit_leaf(w, child, err);
}

/* The child of the level that was visited last is done: what lies to its right has larger ids. */
static void child_done(struct tree_walk *w, const struct level *l) {
    int64_t upto = l->children[l->at - 1].upto;
    w->above = upto > w->above ? upto : w->above;
}

/* Visits every inner page and every leaf in the order of ids. Without `collect` it stops at the first damage. */
static bool walk_tree(struct tree_walk *w, uint32_t root, struct reel_error *err) {
    const struct child top = {.upto = INT64_MAX, .page = root};
    unsigned depth = 0;
    w->above = INT64_MIN;
    if (w->levels == 0) {
        return visit_leaf(w, &top, err);
    }
    w->whole &= list_children(w, root, INT64_MAX, &w->stack[0], err);
    while (err->code == REEL_OK && (w->whole || w->collect)) {
        struct level *l = &w->stack[depth];
        bool down;
        if (l->at == l->count) {
            if (depth == 0) {
                return true;
            }
            child_done(w, &w->stack[--depth]);
            continue;
        }
        if (!visit_child(w, &l->children[l->at++], depth, &down, err)) {
            return false;
        }
        depth += down;
        if (!down) {
            child_done(w, l);
        }
    }
    return err->code == REEL_OK;
}

bool rosbag2_pages_check(struct rosbag2_pages *p, uint32_t root, bool collect, bool *whole, struct reel_error *err) {
    struct tree_walk w = {.pages = p, .collect = collect, .whole = true};
    struct reel_error why = {0};
    bool counted = count_levels(&w, root, &why);
    if (counted) {
        walk_tree(&w, root, &why);
    }
    *whole = counted && w.whole;
    for (unsigned i = 0; i <= LEVELS_MAX; i++) {
        free(w.stack[i].children);
    }
    return why.code == REEL_OK || reel_error_pass(err, &why);
}

bool rosbag2_pages_open(struct rosbag2_pages *p, struct reel_source *source, bool *usable, struct reel_error *err) {
    uint8_t head[SQLITE_HEADER_SIZE];
    *p = (struct rosbag2_pages){0};
    if (!reel_source_read(source, 0, head, sizeof head, err)) {
        return false;
    }
    struct cursor c = cursor_of(bytes_of(head, sizeof head));
    cursor_take(&c, SQLITE_PAGE_SIZE_AT);
    p->page_size = (uint32_t)cursor_be(&c, 2);
    p->page_size = p->page_size == 1 ? 65536 : p->page_size;
    p->usable = p->page_size - head[SQLITE_RESERVED_AT];
    c = cursor_of(bytes_of(head, sizeof head));
    cursor_take(&c, SQLITE_PAGES_AT);
    p->stated = (uint32_t)cursor_be(&c, 4);
    *usable = p->page_size >= SQLITE_PAGE_MIN && p->usable >= SQLITE_PAGE_MIN - 32; /* SQLite refuses any other page
                                                                                       size */
    p->whole = source->size / (p->page_size ? p->page_size : 1);
    enum { WINDOW = 128 << 10 }; /* leaves may be far apart */
    return !*usable || window_open(&p->window, source, WINDOW, err);
}

void rosbag2_pages_close(struct rosbag2_pages *p) {
    window_close(&p->window);
    free(p->leaves);
    free(p->damaged.items);
}
