/* For tests of the catalog: a fresh one for every test, and recordings to put in. A test program includes this once. */
#ifndef REEL_TESTS_CATALOG_FIXTURE_H
#define REEL_TESTS_CATALOG_FIXTURE_H

#include <sqlite3.h>
#include <stdio.h>

#include "catalog/catalog.h"
#include "catalog/catalog_internal.h"
#include "catalog/sql.h"
#include "makers/toy_format.h"

#define DB_FILE REEL_SCRATCH "/catalog.db"

static struct catalog *c;
static struct reel_error err;

static inline int set_up(void **state) {
    (void)state;
    remove(DB_FILE);
    remove(DB_FILE "-wal");
    remove(DB_FILE "-shm");
    err = (struct reel_error){0};
    c = catalog_open(DB_FILE, &err);
    return c ? 0 : -1;
}
static inline int tear_down(void **state) {
    (void)state;
    catalog_close(c);
    return 0;
}

/* A recording whose content is 64 times the digit; the caller's texts are literals, so nothing is to be freed. */
static inline struct catalog_recording describe(struct catalog_part *part, const char *collection, const char *name,
                                                char digit) {
    struct catalog_recording r = {.collection = (char *)collection,
                                  .name = (char *)name,
                                  .state = STATE_READY,
                                  .size = 10,
                                  .format = (char *)"toy",
                                  .messages = 1};
    memset(r.content, digit, SHA256_HEX - 1);
    memset(part->sha256, digit, SHA256_HEX - 1);
    part->sha256[SHA256_HEX - 1] = '\0';
    part->size = 10;
    part->file_name = name;
    r.parts = part;
    r.n_parts = 1;
    return r;
}

static inline bool put(const char *collection, const char *name, char digit, bool replace, char id[RECORDING_ID_TEXT]) {
    struct catalog_part part;
    struct catalog_recording r = describe(&part, collection, name, digit);
    bool ok = catalog_add(c, &r, NULL, replace, &err);
    if (ok && id) {
        memcpy(id, r.id, sizeof r.id);
    }
    return ok;
}

static inline uint32_t count(const struct catalog_query *q) {
    struct catalog_query asked = *q;
    struct catalog_page page;
    asked.limit = 1000;
    asked.count = true;
    assert_true(catalog_list(c, &asked, &page, &err));
    uint32_t n = page.n_items;
    assert_int_equal(page.total, n);
    catalog_page_done(&page);
    return n;
}

static inline uint32_t find(const char *words) {
    return count(&(struct catalog_query){.words = words});
}

enum { MANY = 37 };
/* Values with ties; every fifth in the trash, every seventh failed. */
static inline void put_many(void) {
    for (int i = 0; i < MANY; i++) {
        char name[16];
        struct catalog_part part;
        snprintf(name, sizeof name, "n%02d", i * 17 % MANY);
        struct catalog_recording r = describe(&part, i % 2 ? "odd" : "even", name, (char)('a' + i % 6));
        r.size = (uint64_t)(i % 4);
        r.messages = (uint64_t)(i % 3);
        r.start_ns = i * 31 % 11;
        r.end_ns = r.start_ns + i % 5;
        r.state = i % 7 == 0 ? STATE_FAILED : STATE_READY;
        r.damaged = i % 9 == 0;
        r.format = (char *)(i % 3 ? "toy" : "doll");
        assert_true(catalog_add(c, &r, NULL, false, &err));
        if (i % 5 == 0) {
            assert_true(catalog_trash(c, r.id, &err));
        }
    }
}

static inline sqlite3 *open_raw(void) {
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(DB_FILE, &raw), SQLITE_OK);
    return raw;
}

#endif
