/* The pages of a database that a repair must not take for lost messages: free pages hold what was deleted, and another
 * table may have rows of the same shape. */
#include "formats/rosbag2/pages.h"

enum {
    FREE_MAX = 8 << 20, /* pages of the list of free ones that are looked at */
    TABLES_MAX = 16,    /* other tables whose leaves are looked for; rosbag2 has five */
    TRUNK_HEAD = 8,
};

static bool add_trunk(struct rosbag2_pages *p, uint32_t trunk, struct rosbag2_page_list *out, uint32_t *next,
                      struct reel_error *err) {
    const uint8_t *page = rosbag2_page_at(p, trunk, err);
    *next = 0;
    if (!page) {
        return err->code == REEL_OK;
    }
    struct cursor c = cursor_of(bytes_of(page, p->usable));
    *next = (uint32_t)cursor_be(&c, 4);
    uint32_t n = (uint32_t)cursor_be(&c, 4);
    if (n > (p->usable - TRUNK_HEAD) / 4) { /* no trunk page */
        *next = 0;
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!rosbag2_page_add(out, (uint32_t)cursor_be(&c, 4), err)) {
            return false;
        }
    }
    return rosbag2_page_add(out, trunk, err);
}

static bool add_free(struct rosbag2_pages *p, struct rosbag2_page_list *out, struct reel_error *err) {
    const uint8_t *head = rosbag2_page_at(p, 1, err);
    if (!head) {
        return err->code == REEL_OK;
    }
    struct cursor c = cursor_of(bytes_of(head, p->usable));
    cursor_take(&c, SQLITE_FREE_AT);
    uint32_t trunk = (uint32_t)cursor_be(&c, 4), count = (uint32_t)cursor_be(&c, 4);
    count = count < FREE_MAX ? count : FREE_MAX;
    while (trunk > 1 && out->count < count) {
        if (!add_trunk(p, trunk, out, &trunk, err)) {
            return false;
        }
    }
    return true;
}

uint32_t rosbag2_root_of(sqlite3_stmt *row) {
    int64_t page = sqlite3_column_int64(row, 0);
    return page > 1 && page < UINT32_MAX ? (uint32_t)page : 0;
}

static bool add_table(struct rosbag2_pages *p, uint32_t root, struct rosbag2_page_list *out, struct reel_error *err) {
    bool whole, good = rosbag2_pages_check(p, root, true, &whole, err);
    for (size_t i = 0; good && i < p->count; i++) {
        good = rosbag2_page_add(out, p->leaves[i].page, err);
    }
    p->count = p->damaged.count = 0;
    return good;
}

bool rosbag2_other_pages(struct rosbag2 *db, struct rosbag2_pages *p, struct rosbag2_page_list *out,
                         struct reel_error *err) {
    AUTO(statement)
    sqlite3_stmt *rows =
        rosbag2_prepare(db, "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name <> 'messages'", err);
    if (!rows || !add_free(p, out, err)) {
        return false;
    }
    for (unsigned i = 0; i < TABLES_MAX && sqlite3_step(rows) == SQLITE_ROW; i++) {
        uint32_t root = rosbag2_root_of(rows);
        if (root > 0 && !add_table(p, root, out, err)) {
            return false;
        }
    }
    return true;
}
