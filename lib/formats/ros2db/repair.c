/* Leads to messages whose way is lost: a table is a tree of pages, and when one of its inner pages is damaged, or lies behind the end of a
 * cut file, all leaves below it are out of SQLite's reach. Rule: only then, all pages are looked through for leaves that can only be those
 * of the table messages, and new inner pages are made in memory that stand in for the lost ones.
 *
 *   page of a table's tree, integers big-endian
 *   0   1   5 inner page, 13 leaf                  inner: 8  4  child right of all cells
 *   3   2   number of cells
 *   5   2   where the cells begin                  then 2 bytes a cell: where it lies
 *   cell of an inner page: u32 child, varint largest id in it
 *   cell of a leaf: varint size, varint id, record; a record: varint size of its header, a varint for each column, the values
 */
#include "formats/ros2db/ros2db.h"

#include <stdlib.h>

#include "core/window.h"
#include "wire/bytes.h"
#include "wire/cleanup.h"
#include "wire/cursor.h"
#include "wire/grow.h"

enum {
    PAGE_INNER = 5,
    PAGE_LEAF = 13,
    INNER_HEAD = 12,
    LEAF_HEAD = 8,
    CELL_MAX = 2 + 4 + 5, /* of an inner page, with its pointer: ids have at most 33 bits */
    COLUMNS = 4,          /* id, topic_id, timestamp, data */
    LEAVES_MAX = 2 << 20, /* what the inner pages of are held in memory */
    LEVELS_MAX = 20,
};

struct leaf {            /* or the root of a part of the new tree */
    int64_t first, last; /* ids in it */
    uint32_t page;
};
struct repair_run {
    struct window window;
    uint32_t page_size, usable;
    uint64_t whole; /* pages that the file has to the last byte */
    struct leaf *leaves;
    size_t count, capacity;
};

static uint32_t u16be(const uint8_t *p) {
    return (uint32_t)p[0] << 8 | p[1];
}
static uint32_t u32be(const uint8_t *p) {
    return u16be(p) << 16 | u16be(p + 2);
}
static void put_u16be(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}
static void put_u32be(uint8_t *p, uint32_t v) {
    put_u16be(p, v >> 16);
    put_u16be(p + 2, v);
}

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

/* Page `number`, from 1; valid until the next one is asked for. NULL with err: I/O; NULL without: it is not there. */
static const uint8_t *page_at(struct repair_run *r, uint64_t number, struct reel_error *err) {
    return number >= 1 && number <= r->whole ? window_at(&r->window, (number - 1) * r->page_size, r->page_size, err) : NULL;
}

/* --- is the tree whole? --- */

struct level {
    struct grow children; /* page numbers of an inner page, u32le */
    size_t at;
};

/* The children of an inner page; false when it is none. */
static bool list_children(struct repair_run *r, uint32_t number, struct grow *out, struct reel_error *err) {
    const uint8_t *page = page_at(r, number, err);
    out->size = 0;
    if (!page || number == 1 || page[0] != PAGE_INNER) {
        return false;
    }
    uint32_t n = u16be(page + 3);
    if (n == 0 || INNER_HEAD + 2 * n > r->usable) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t cell = u16be(page + INNER_HEAD + 2 * (size_t)i);
        if (cell < INNER_HEAD + 2 * n || cell + 4 > r->usable) {
            return false;
        }
        grow_u32(out, u32be(page + cell));
    }
    grow_u32(out, u32be(page + 8));
    return !out->failed || (err && reel_fail_memory(err));
}

/* How many levels of inner pages there are, by the leftmost child of each; 0: the root is a leaf. */
static bool count_levels(struct repair_run *r, uint32_t root, unsigned *levels, struct grow *children, struct reel_error *err) {
    for (*levels = 0; *levels < LEVELS_MAX; ++*levels) {
        const uint8_t *page = page_at(r, root, err);
        if (!page || page[0] == PAGE_LEAF) {
            return page != NULL;
        }
        if (!list_children(r, root, children, err)) {
            return false;
        }
        root = load_u32le(children->data);
    }
    return false;
}

/* Visits every inner page; leaves are only counted, and must lie in the file. */
static bool walk_tree(struct repair_run *r, uint32_t root, unsigned levels, struct level *stack, struct reel_error *err) {
    uint64_t visited = 0;
    unsigned depth = 0;
    stack[0].at = 0;
    if (levels == 0) {
        return true;
    }
    if (!list_children(r, root, &stack[0].children, err)) {
        return false;
    }
    for (;;) {
        struct level *l = &stack[depth];
        if (l->at == l->children.size) {
            if (depth == 0) {
                return true;
            }
            depth--;
            continue;
        }
        uint32_t child = load_u32le(l->children.data + l->at);
        l->at += 4;
        if (child < 2 || child > r->whole || ++visited > r->whole) {
            return false;
        }
        if (depth + 1 < levels) {
            if (!list_children(r, child, &stack[depth + 1].children, err)) {
                return false;
            }
            stack[++depth].at = 0;
        }
    }
}

/* *whole: SQLite finds its way to every leaf. */
static bool check_tree(struct repair_run *r, uint32_t root, bool *whole, struct reel_error *err) {
    struct level stack[LEVELS_MAX + 1] = {0};
    struct reel_error why = {0};
    unsigned levels = 0;
    *whole = count_levels(r, root, &levels, &stack[0].children, &why) && walk_tree(r, root, levels, stack, &why);
    for (unsigned i = 0; i <= LEVELS_MAX; i++) {
        free(stack[i].children.data);
    }
    if (why.code != REEL_OK) {
        *err = why;
        return false;
    }
    return true;
}

/* --- the leaves --- */

/* Bytes of a value; SIZE_MAX: there is no such type. */
static uint64_t value_size(uint64_t type) {
    static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    return type >= 12 ? (type - 12) / 2 : type < sizeof sizes ? sizes[type] : SIZE_MAX;
}
static bool is_integer(uint64_t type) {
    return type >= 1 && type <= 9 && type != 7;
}

/* A cell that can only be a message: id (which is not stored), two integers, a blob. */
static bool read_cell(struct cursor c, int64_t *id) {
    uint64_t size = varint(&c), rowid = varint(&c);
    const uint8_t *start = c.at;
    uint64_t head = varint(&c), types[COLUMNS], sum = head;
    for (int i = 0; i < COLUMNS; i++) {
        types[i] = varint(&c);
        uint64_t bytes = value_size(types[i]);
        if (bytes > ROS2DB_PAYLOAD_MAX) {
            return false;
        }
        sum += bytes;
    }
    *id = (int64_t)rowid;
    return !c.failed && rowid <= (uint64_t)ROS2DB_ROW_MAX && head == (uint64_t)(c.at - start) && sum == size && types[0] == 0 &&
           is_integer(types[1]) && is_integer(types[2]) && types[3] >= 12 && types[3] % 2 == 0;
}

static bool read_leaf(const struct repair_run *r, const uint8_t *page, struct leaf *leaf) {
    uint32_t n = u16be(page + 3);
    if (page[0] != PAGE_LEAF || n == 0 || LEAF_HEAD + 2 * n > r->usable) {
        return false;
    }
    int64_t last = -1, id;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t cell = u16be(page + LEAF_HEAD + 2 * (size_t)i);
        if (cell < LEAF_HEAD + 2 * n || cell >= r->usable || !read_cell(cursor_of(bytes_of(page + cell, r->usable - cell)), &id) ||
            id <= last) {
            return false;
        }
        leaf->first = i == 0 ? id : leaf->first;
        last = leaf->last = id;
    }
    return true;
}

static int compare_leaves(const void *a, const void *b) {
    const struct leaf *x = a, *y = b;
    int order = (x->first > y->first) - (x->first < y->first);
    return order ? order : (x->page > y->page) - (x->page < y->page);
}

static bool find_leaves(struct repair_run *r, struct reel_error *err) {
    for (uint64_t number = 2; number <= r->whole; number++) {
        const uint8_t *page = page_at(r, number, err);
        struct leaf leaf = {.page = (uint32_t)number};
        if (!page) {
            return false;
        }
        if (!read_leaf(r, page, &leaf)) {
            continue;
        }
        if (r->count >= LEAVES_MAX) {
            r->count = 0; /* too many to be led to */
            return true;
        }
        if (!GROW_ARRAY(r->leaves, r->count, r->capacity)) {
            return reel_fail_memory(err);
        }
        r->leaves[r->count++] = leaf;
    }
    if (r->count > 0) {
        qsort(r->leaves, r->count, sizeof *r->leaves, compare_leaves);
    }
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++) { /* old copies of pages come between the others */
        if (kept == 0 || r->leaves[i].first > r->leaves[kept - 1].last) {
            r->leaves[kept++] = r->leaves[i];
        }
    }
    r->count = kept;
    return true;
}

/* --- the new inner pages --- */

static size_t put_varint(uint8_t *out, uint64_t v) {
    unsigned groups = 1;
    while (v >> (7 * groups)) {
        groups++;
    }
    for (unsigned i = 0; i < groups; i++) {
        out[i] = (uint8_t)((v >> (7 * (groups - 1 - i)) & 0x7f) | (i + 1 < groups ? 0x80 : 0));
    }
    return groups;
}

static void make_inner(const struct repair_run *r, const struct leaf *children, size_t n, uint8_t *page) {
    uint32_t at = r->usable;
    for (size_t i = 0; i + 1 < n; i++) {
        uint8_t cell[CELL_MAX];
        put_u32be(cell, children[i].page);
        size_t size = 4 + put_varint(cell + 4, (uint64_t)children[i].last);
        at -= (uint32_t)size;
        memcpy(page + at, cell, size);
        put_u16be(page + INNER_HEAD + 2 * i, at);
    }
    page[0] = PAGE_INNER;
    put_u16be(page + 3, (uint32_t)n - 1);
    put_u16be(page + 5, at);
    put_u32be(page + 8, children[n - 1].page);
}

/* Puts one level of inner pages above r->leaves, which then are those pages; until all fit below the root. */
static bool build(struct repair_run *r, struct ros2db_repair *repair, struct grow *pages, struct reel_error *err) {
    size_t most = (r->usable - INNER_HEAD) / CELL_MAX;
    while (r->count > most) {
        size_t groups = (r->count + most - 1) / most, from = 0;
        for (size_t g = 0; g < groups; g++) {
            size_t to = r->count * (g + 1) / groups;
            uint8_t *page = grow_take(pages, r->page_size);
            if (!page) {
                return reel_fail_memory(err);
            }
            memset(page, 0, r->page_size);
            make_inner(r, r->leaves + from, to - from, page);
            r->leaves[g] = (struct leaf){.last = r->leaves[to - 1].last, .page = repair->first + repair->count++};
            from = to;
        }
        r->count = groups;
    }
    return true;
}

static bool make_root(struct repair_run *r, struct grow *pages, struct reel_error *err) {
    if (r->count > 1) {
        make_inner(r, r->leaves, r->count, pages->data);
        return true;
    }
    const uint8_t *only = page_at(r, r->leaves[0].page, err);
    if (only) {
        memcpy(pages->data, only, r->page_size);
    }
    return only != NULL;
}

static struct ros2db_repair *make_pages(struct repair_run *r, uint32_t root, uint64_t believed, struct reel_error *err) {
    AUTO(ros2db_repair_free) struct ros2db_repair *repair = calloc(1, sizeof *repair);
    struct grow pages = {0};
    if (!repair || !grow_take(&pages, r->page_size)) {
        free(pages.data);
        reel_fail_memory(err);
        return NULL;
    }
    memset(pages.data, 0, r->page_size);
    enum { LOCK_BYTE = 1 << 30, ROOM = 1 << 20 };
    uint64_t first = (r->whole > believed ? r->whole : believed) + 2, lock = LOCK_BYTE / r->page_size + 1;
    first = first <= lock && first + ROOM > lock ? lock + 1 : first; /* SQLite never uses the page of that byte */
    repair->page_size = r->page_size;
    repair->root = root;
    repair->leaves = r->count;
    repair->first = (uint32_t)first;
    bool good = first + ROOM < UINT32_MAX ? build(r, repair, &pages, err) && make_root(r, &pages, err)
                                          : reel_fail(err, REEL_LIMIT, "the database has too many pages");
    repair->data = pages.data;
    return good ? TAKE(repair) : NULL;
}

static bool find_root(struct ros2db *db, uint32_t *root, struct reel_error *err) {
    AUTO(statement)
    sqlite3_stmt *rows = ros2db_prepare(db, "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'messages'", err);
    if (!rows) {
        return false;
    }
    int rc = sqlite3_step(rows);
    int64_t page = rc == SQLITE_ROW ? sqlite3_column_int64(rows, 0) : 0;
    *root = page > 1 && page < UINT32_MAX ? (uint32_t)page : 0;
    return rc == SQLITE_ROW || rc == SQLITE_DONE || ros2db_is_damage(rc) || ros2db_fail(db, rc, "the schema cannot be read", err);
}

static bool repair_with(struct repair_run *r, struct reel_source *source, uint32_t root, struct ros2db_repair **out,
                        struct reel_error *err) {
    uint8_t head[SQLITE_HEADER_SIZE];
    bool whole;
    if (!reel_source_read(source, 0, head, sizeof head, err)) {
        return false;
    }
    uint32_t size = u16be(head + SQLITE_PAGE_SIZE_AT);
    r->page_size = size == 1 ? 65536 : size;
    r->usable = r->page_size - head[SQLITE_RESERVED_AT];
    if (r->page_size < SQLITE_PAGE_MIN || r->usable < SQLITE_PAGE_MIN - 32 || !window_open(&r->window, source, REEL_WINDOW_BYTES, err)) {
        return r->page_size < SQLITE_PAGE_MIN || r->usable < SQLITE_PAGE_MIN - 32; /* SQLite refuses it */
    }
    r->whole = source->size / r->page_size;
    if (!check_tree(r, root, &whole, err) || whole || !find_leaves(r, err)) {
        return whole;
    }
    *out = r->count > 0 ? make_pages(r, root, u32be(head + SQLITE_PAGES_AT), err) : NULL;
    return *out || r->count == 0;
}

bool ros2db_repair_new(struct ros2db *db, struct reel_source *source, struct ros2db_repair **out, struct reel_error *err) {
    uint32_t root;
    *out = NULL;
    if (!find_root(db, &root, err)) {
        return false;
    }
    struct repair_run r = {0};
    bool good = root == 0 || repair_with(&r, source, root, out, err);
    window_close(&r.window);
    free(r.leaves);
    return good;
}

void ros2db_repair_free(struct ros2db_repair *repair) {
    if (repair) {
        free(repair->data);
        free(repair);
    }
}
