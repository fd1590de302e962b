/* The b-tree of the table messages, page by page: pages.c reads it, repair.c makes what stands in for damaged pages. */
#ifndef REEL_ROS2DB_PAGES_H
#define REEL_ROS2DB_PAGES_H

#include "wire/window.h"
#include "formats/ros2db/ros2db.h"
#include "wire/bytes.h"
#include "wire/cursor.h"
#include "wire/grow.h"

enum { ROS2DB_PAGE_INNER = 5, ROS2DB_PAGE_LEAF = 13, ROS2DB_INNER_HEAD = 12, ROS2DB_LEAF_HEAD = 8 };

struct ros2db_leaf {     /* or the root of a part of a new tree */
    int64_t first, last; /* ids in it */
    uint32_t page;
    bool in_place; /* the tree leads to it, and its ids are those that the tree says */
};
struct ros2db_page_list {
    uint32_t *items;
    size_t count, capacity;
};
struct ros2db_pages {
    struct window window;
    uint32_t page_size, usable;
    uint32_t stated; /* pages, by the header */
    uint64_t whole;  /* pages that the file has to the last byte */
    struct ros2db_leaf *leaves;
    size_t count, capacity;
    struct ros2db_page_list damaged; /* leaves by the tree, but not readable as such */
};

/* *usable = false: the header's page size is none. Close it in any case. */
bool ros2db_pages_open(struct ros2db_pages *p, struct reel_source *source, bool *usable, struct reel_error *err);
void ros2db_pages_close(struct ros2db_pages *p);
/* *whole: all pages of the tree at `root` are there and their ids are in order. With `collect` the leaves in place and the damaged ones
 * are listed, whatever is found. */
bool ros2db_pages_check(struct ros2db_pages *p, uint32_t root, bool collect, bool *whole, struct reel_error *err);

/* Page `number`, from 1; valid until the next one is asked for. NULL with err: I/O; NULL without: it is not there. */
const uint8_t *ros2db_page_at(struct ros2db_pages *p, uint64_t number, struct reel_error *err);
uint32_t ros2db_cells(const struct ros2db_pages *p, const uint8_t *page); /* how many, as the page states */
/* From cell i of a page with a header of `head` bytes to the page's end; failed when it is not inside. */
struct cursor ros2db_cell(const struct ros2db_pages *p, const uint8_t *page, uint32_t head, uint32_t i, uint32_t *at);
/* A cell that can only be a message: id (which is not stored), two integers, a blob. */
bool ros2db_message_cell(const struct ros2db_pages *p, struct cursor c, int64_t *id);
/* A leaf of such cells only, in the order of their ids. */
bool ros2db_message_leaf(const struct ros2db_pages *p, const uint8_t *page, struct ros2db_leaf *leaf);

#endif
