/* formats/rosbag2: one damaged byte in a page of the table messages costs messages of that page, and no others. */
#include "makers/db3_scan.h"

enum { PAGE = 512, MESSAGES = 240, LARGE = 1500, OVERFLOWS = 8 };
#define T0 INT64_C(1700000000000000000)

struct home { /* the pages that hold a message */
    uint32_t leaf, overflow[OVERFLOWS];
    unsigned n;
};
static struct home homes[MESSAGES + 1];
static uint32_t tree[4096]; /* the pages of the table but overflow pages */
static unsigned n_tree;

static uint32_t be(const uint8_t *p, unsigned size) {
    uint32_t v = 0;
    for (unsigned i = 0; i < size; i++) {
        v = v << 8 | p[i];
    }
    return v;
}
static size_t varint(const uint8_t *p, uint64_t *v) {
    size_t n = 0;
    for (*v = 0; p[n] & 0x80; n++) {
        *v = *v << 7 | (p[n] & 0x7f);
    }
    *v = *v << 7 | p[n];
    return n + 1;
}

static void list_leaf(const uint8_t *data, const uint8_t *page, uint32_t number) {
    for (uint32_t i = 0; i < be(page + 3, 2); i++) {
        const uint8_t *cell = page + be(page + 8 + 2 * (size_t)i, 2);
        uint64_t size, id;
        cell += varint(cell, &size);
        cell += varint(cell, &id);
        struct home *home = &homes[id];
        *home = (struct home){.leaf = number};
        uint64_t least = (PAGE - 12) * 32 / 255 - 23, local = least + (size - least) % (PAGE - 4);
        if (size > PAGE - 35) {
            local = local <= PAGE - 35 ? local : least;
            for (uint32_t next = be(cell + local, 4); next; next = be(data + (size_t)(next - 1) * PAGE, 4)) {
                assert_true(home->n < OVERFLOWS);
                home->overflow[home->n++] = next;
            }
        }
    }
}
static void list_tree(const uint8_t *data, uint32_t number) {
    const uint8_t *page = data + (size_t)(number - 1) * PAGE;
    tree[n_tree++] = number;
    if (page[0] == 13) {
        list_leaf(data, page, number);
        return;
    }
    for (uint32_t i = 0; i < be(page + 3, 2); i++) {
        list_tree(data, be(page + be(page + 12 + 2 * (size_t)i, 2), 4));
    }
    list_tree(data, be(page + 8, 4));
}

static struct reel_bytes make(struct db3 *m) {
    static uint8_t buffer[LARGE];
    sqlite3_stmt *root;
    db3_begin(m, 2, PAGE);
    db3_topic(m, 1, "/odom", "nav_msgs/msg/Odometry", "", "");
    for (int id = 1; id <= MESSAGES; id++) {
        db3_message(m, id, 1, T0 + id, db3_payload(buffer, id, id % 20 == 0 ? LARGE : 30 + (size_t)id % 40));
    }
    assert_int_equal(
        sqlite3_prepare_v2(m->db, "SELECT rootpage FROM sqlite_schema WHERE name='messages'", -1, &root, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(root), SQLITE_ROW);
    uint32_t number = (uint32_t)sqlite3_column_int(root, 0);
    sqlite3_finalize(root);
    struct reel_bytes data = db3_end(m);
    n_tree = 0;
    list_tree(data.data, number);
    return data;
}

/* Marks the messages that are read with the right time and payload. */
static void read_what_is_there(struct reel_recording *r, bool *met) {
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    assert_non_null(s);
    struct reel_message message;
    while (stream_next(s, &message, &err) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        uint8_t expected[LARGE];
        int64_t id = message.time_ns - T0;
        size_t size = id % 20 == 0 ? LARGE : 30 + (size_t)id % 40;
        if (id >= 1 && id <= MESSAGES && message.size == size && reel_stream_payload(s, &message, &payload, &err) &&
            bytes_equal(payload, db3_payload(expected, id, size))) {
            met[id] = true;
        }
    }
}

static bool lies_on(const struct home *home, uint32_t page) {
    bool on = home->leaf == page;
    for (unsigned i = 0; i < home->n; i++) {
        on |= home->overflow[i] == page;
    }
    return on;
}

/* The byte at `at` of page `number` changed: what lies on other pages is read. The number of messages of the page that
 * are lost. */
static unsigned change(struct reel_bytes data, uint8_t *bytes, uint32_t number, unsigned at, uint8_t mask) {
    uint8_t *byte = bytes + (size_t)(number - 1) * PAGE + at;
    *byte ^= mask;
    struct reel_error err;
    AUTO(reel_recording_free)
    struct reel_recording *r = db3_try(&(struct db3_part){.name = "flip.db3", .data = data}, 1, &err);
    if (!r) {
        fail_msg("page %u, byte %u ^ %02x: %s", number, at, mask, err.text);
    }
    bool met[MESSAGES + 1] = {false};
    unsigned lost = 0;
    read_what_is_there(r, met);
    for (int id = 1; id <= MESSAGES; id++) {
        if (!met[id] && !lies_on(&homes[id], number)) {
            db3_print_findings(r);
            fail_msg("page %u, byte %u ^ %02x: message %d of page %u is lost", number, at, mask, id, homes[id].leaf);
        }
        lost += !met[id];
    }
    *byte ^= mask;
    return lost;
}

static void a_changed_byte_costs_its_own_page(void **state) {
    (void)state;
    struct db3 m;
    struct reel_bytes data = make(&m);
    unsigned inner = 0, changes = 0, lost = 0;
    assert_true(n_tree > 20);
    for (unsigned i = 0; i < n_tree; i++) {
        bool is_inner = m.data[(size_t)(tree[i] - 1) * PAGE] == 5;
        inner += is_inner;
        unsigned step = is_inner ? 3 : i == 5 || i + 1 == n_tree ? 1 : 61;
        for (unsigned at = i % step; at < PAGE; at += step) {
            static const uint8_t masks[] = {0x01, 0x10, 0x80, 0xff};
            lost += change(data, m.data, tree[i], at, masks[changes++ % 4]);
        }
    }
    assert_true(inner >= 1 && changes > 1000);
    assert_true(lost < 3 * changes); /* a page holds some eight */
    print_message("%u changes, %u messages lost\n", changes, lost);
    db3_free(&m);
}

/* One id that becomes a large one: SQLite takes all that follows for out of order. */
static void a_changed_id_costs_one_message(void **state) {
    (void)state;
    struct db3 m;
    struct reel_bytes data = make(&m);
    uint8_t *page = m.data + (size_t)(tree[6] - 1) * PAGE;
    assert_int_equal(page[0], 13);
    size_t cell = be(page + 8 + 2, 2); /* the second: payload size in one byte, then the id in one */
    assert_true(page[cell] < 0x80 && page[cell + 1] < 0x80);
    assert_true(change(data, m.data, tree[6], (unsigned)cell + 1, 0x40) <= 1);
    AUTO(reel_recording_free) struct reel_recording *whole = db3_scan(data);
    db3_assert_clean(whole);
    page[cell + 1] ^= 0x40;
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(data);
    db3_assert_finding(r, 1, REEL_LOSS, "1 damaged page of messages");
    reel_recording_free(TAKE(r));
    reel_recording_free(TAKE(whole));
    db3_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_byte_costs_its_own_page),
        cmocka_unit_test(a_changed_id_costs_one_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
