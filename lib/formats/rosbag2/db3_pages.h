/* Pages of an SQLite database that is written from front to back: leaves of tables with the pages that their values
 * overflow to, and above the leaves of a table or an index the inner pages, whose number and places follow from the
 * number of leaves.
 *
 *   page         type (13 leaf, 5 inner of a table; 10, 2 of an index), u16 first free block, u16 cells, u16 content
 * begins, u8 fragments, inner: u32 the last child; then u16 for each cell: where it is; numbers are big-endian cell
 * leaf of a table: varint size, varint rowid, record, u32 first overflow page inner of a table: u32 child, varint the
 * largest rowid in it leaf of an index: varint size, record; inner: u32 child before it */
#ifndef REEL_FORMATS_ROSBAG2_DB3_PAGES_H
#define REEL_FORMATS_ROSBAG2_DB3_PAGES_H

#include "base/grow.h"
#include "base/sink.h"

enum {
    DB3_PAGE = 4096,
    DB3_HEADER = 100, /* of the file, in page 1 */
    DB3_VARINT_MAX = 9,
    DB3_LOCAL_MAX = DB3_PAGE - 35,     /* largest record that does not overflow */
    DB3_OVERFLOW_BYTES = DB3_PAGE - 4, /* of a record, in each overflow page */
    DB3_TABLE_CHILDREN = (DB3_PAGE - 12) / (2 + 4 + DB3_VARINT_MAX) + 1,
};

/* SQLite locks byte 2^30 of a file and never uses the page with it. Pages are counted without that one; the number that
 * stands in the file for page `page` of this count: */
#ifndef DB3_LOCK_BYTE /* a test has it earlier */
#define DB3_LOCK_BYTE (UINT64_C(1) << 30)
#endif
#define DB3_LOCK_PAGE (DB3_LOCK_BYTE / DB3_PAGE + 1)
static inline uint64_t db3_number(uint64_t page) {
    return page + (page >= DB3_LOCK_PAGE);
}
/* Appends the unused page if it comes before `page`. */
static inline void db3_put_unused(uint64_t page, struct reel_sink *out) {
    if (page == DB3_LOCK_PAGE) {
        reel_sink_fill(out, 0, DB3_PAGE);
    }
}

size_t db3_varint(uint8_t out[DB3_VARINT_MAX], uint64_t value); /* the size */
static inline void db3_u16(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}
static inline void db3_u32(uint8_t *p, uint64_t v) {
    db3_u16(p, (uint32_t)(v >> 16) & 0xffff);
    db3_u16(p + 2, (uint32_t)v & 0xffff);
}
static inline void db3_u64(uint8_t *p, uint64_t v) {
    db3_u32(p, v >> 32);
    db3_u32(p + 4, v & UINT32_MAX);
}

/* ---- leaves */

struct db3_leaf {  /* of cells that do not overflow; the cells are put when all are known */
    uint32_t room; /* bytes of the page that it may use: DB3_PAGE, less in page 1 */
    uint32_t cells, used;
    uint16_t at[DB3_PAGE / 4]; /* of each cell in `data` */
    uint8_t data[DB3_PAGE];
};
void db3_leaf_clear(struct db3_leaf *leaf);
bool db3_leaf_fits(const struct db3_leaf *leaf, size_t size);
uint8_t *db3_leaf_add(struct db3_leaf *leaf, size_t size); /* a cell, which must fit; the caller fills it */
void db3_leaf_put(const struct db3_leaf *leaf, uint8_t type, struct reel_sink *out);

/* The size of a cell with a record of that size, which does not overflow. */
size_t db3_cell_size(uint64_t record, uint64_t rowid);
size_t db3_put_cell_head(uint8_t *cell, uint64_t record, uint64_t rowid);

/* A record that overflows has a leaf to itself, which the overflow pages follow. db3_spill_begin() appends the leaf up
 * to the record. `page`: its page. */
struct db3_spill {
    uint64_t left;         /* bytes of the record that are still to come */
    uint64_t run;          /* bytes that came last */
    uint64_t first, pages; /* number of the first overflow page, and how many there are */
    uint64_t begun;        /* of them */
    uint32_t local;        /* bytes of the record in the leaf */
};
struct db3_spill db3_spill(uint64_t record, uint64_t page);
void db3_spill_begin(const struct db3_spill *spill, uint64_t rowid, struct reel_sink *out);
/* Appends what stands before the next bytes of the record, and says how many of them the caller has to append; 0: the
 * record is complete.
 */
uint64_t db3_spill_next(struct db3_spill *spill, struct reel_sink *out);

/* ---- inner pages */

struct db3_tree {
    uint64_t leaves;
    uint32_t children;   /* of an inner page, at most */
    uint8_t type;        /* of its inner pages */
    uint64_t first;      /* number of its first inner page: they follow each other, level by level */
    uint64_t first_leaf; /* number of the first leaf */
    uint64_t (*page)(void *context, uint64_t leaf); /* the number of a leaf; NULL: leaves follow each other */
    /* What a cell has after the number of the child that ends with this leaf; returns its size. */
    size_t (*key)(void *context, uint64_t leaf, uint8_t *out);
    void *context;
};
uint64_t db3_inner_pages(const struct db3_tree *tree);
uint64_t db3_root(const struct db3_tree *tree);
/* Appends inner page `index`, counted from the first. */
void db3_put_inner(const struct db3_tree *tree, uint64_t index, struct reel_sink *out);

#endif
