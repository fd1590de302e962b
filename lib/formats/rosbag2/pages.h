/* Reads the b-tree of the table messages page by page (pages.c); repair.c builds pages that replace damaged ones. */
#ifndef REEL_FORMATS_ROSBAG2_PAGES_H
#define REEL_FORMATS_ROSBAG2_PAGES_H

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "base/window.h"
#include "formats/rosbag2/container.h"

enum { ROSBAG2_PAGE_INNER = 5, ROSBAG2_PAGE_LEAF = 13, ROSBAG2_INNER_HEAD = 12, ROSBAG2_LEAF_HEAD = 8 };

struct rosbag2_leaf {    /* or the root of a subtree of the new tree */
    int64_t first, last; /* ids in it */
    uint32_t page;
    bool in_place; /* the tree leads to it, and its ids are in the range that the tree states */
};
struct rosbag2_page_list {
    uint32_t *items;
    size_t count, capacity;
};
struct rosbag2_pages {
    struct window window;
    uint32_t page_size, usable;
    uint32_t stated; /* number of pages, from the header */
    uint64_t whole;  /* number of complete pages in the file */
    struct rosbag2_leaf *leaves;
    size_t count, capacity;
    struct rosbag2_page_list damaged; /* pages that the tree uses as leaves but that cannot be read as leaves */
};

/* --- other_pages.c --- */

/* Adds the pages that belong to something else than the messages: free pages, whose messages were deleted, and leaves
 * of other tables. Uses the lists of `p`, and leaves them empty. */
bool rosbag2_other_pages(struct rosbag2 *db, struct rosbag2_pages *p, struct rosbag2_page_list *out,
                         struct reel_error *err);
/* Page number of a table's root; 0: there is none that can be used. */
uint32_t rosbag2_root_of(sqlite3_stmt *row);

/* --- pages.c --- */

bool rosbag2_page_add(struct rosbag2_page_list *list, uint32_t page, struct reel_error *err);

/* *usable = false: the header's page size is invalid. Call rosbag2_pages_close() in any case. */
bool rosbag2_pages_open(struct rosbag2_pages *p, struct reel_source *source, bool *usable, struct reel_error *err);
void rosbag2_pages_close(struct rosbag2_pages *p);
/* *whole: all pages of the tree at `root` exist and their ids are in order. With `collect`, the leaves in place and the
 * damaged leaves are listed, whatever the result. */
bool rosbag2_pages_check(struct rosbag2_pages *p, uint32_t root, bool collect, bool *whole, struct reel_error *err);

/* Page `number`, counted from 1; valid until the next call. NULL with err: I/O error; NULL without: there is no such
 * page. */
const uint8_t *rosbag2_page_at(struct rosbag2_pages *p, uint64_t number, struct reel_error *err);
uint32_t rosbag2_cells(const struct rosbag2_pages *p, const uint8_t *page); /* number of cells that the page states */
/* A cursor from cell i of a page with a header of `head` bytes to the end of the page; failed when the cell is not
 * inside. */
struct cursor rosbag2_cell(const struct rosbag2_pages *p, const uint8_t *page, uint32_t head, uint32_t i, uint32_t *at);
/* True when the cell can only be a message: id (stored as the rowid), two integers, a blob. */
bool rosbag2_message_cell(const struct rosbag2_pages *p, struct cursor c, int64_t *id);
/* True when all cells of the leaf are messages in the order of their ids. */
bool rosbag2_message_leaf(const struct rosbag2_pages *p, const uint8_t *page, struct rosbag2_leaf *leaf);

#endif
