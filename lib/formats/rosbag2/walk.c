/* Walks the messages of a database in the order of their ids. A row counts when its columns have the right types, its
 * blob can be read to the end, and all rows together are not larger than the file. After damage the walk goes on at the
 * next readable id. */
#include <stdio.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "chunks/codec.h"
#include "formats/rosbag2/container.h"

/* The types are checked first, so that no value of another type is loaded; of a blob only the size is read. */
#define WALK_SQL                                                                                                       \
    "SELECT rowid, CASE typeof(topic_id) WHEN 'integer' THEN topic_id END, CASE typeof(timestamp) WHEN 'integer' "     \
    "THEN timestamp END, "                                                                                             \
    "CASE typeof(data) WHEN 'blob' THEN length(data) END FROM messages NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid"

enum {
    DAMAGED_MAX = 1000, /* the walk stops after more damaged positions */
    REPORT_ROWS = 1024, /* between two reports of progress */
    PACKED_HEAD = 18,   /* enough of a zstd frame for its header */
};

struct walk {
    struct rosbag2_base *b;
    sqlite3_stmt *rows;
    struct reel_source *source; /* of the rows */
    uint64_t taken, wrong, unreadable, excess, strange, unpacked, homeless;
    int64_t wrong_id, unreadable_id, excess_id, strange_id, unpacked_id;
    struct reel_error unreadable_why, unpacked_why;
};

static void note(uint64_t *count, int64_t *first, int64_t rowid) {
    *first = (*count)++ == 0 ? rowid : *first;
}

/* Keeps the first damage in `keep`; any other error ends the scan. */
static bool only_damage(const struct reel_error *why, struct reel_error *keep, struct reel_error *err) {
    if (why->code != REEL_DAMAGED && why->code != REEL_LIMIT && why->code != REEL_UNSUPPORTED) {
        return reel_error_pass(err, why);
    }
    if (keep->code == REEL_OK) {
        *keep = *why;
    }
    return true;
}

/* --- one message --- */

/* *packed: the message is a zstd frame. CDR begins with a zero byte, so the magic number is unambiguous; for other
 * encodings the metadata must state compression. */
static bool rosbag2_is_packed(struct walk *w, struct rosbag2_channel *c, const struct reel_entry *e,
                              uint8_t head[PACKED_HEAD], bool *packed, struct reel_error *err) {
    const struct rosbag2_meta *meta = &w->b->s->meta;
    bool stated = meta->compression_mode && ascii_casecmp(meta->compression_mode, "message") == 0;
    *packed = false;
    if (!stated && (c->payload == ROSBAG2_PLAIN || strcmp(c->encoding, ROSBAG2_ENCODING) != 0)) {
        return true;
    }
    size_t size = e->size < PACKED_HEAD ? e->size : PACKED_HEAD;
    if (size < 4) {
        return true;
    }
    if (!reel_source_read(w->source, e->offset, head, size, err)) {
        return false;
    }
    *packed = load_u32le(head) == ZSTD_MAGIC_LE;
    c->payload = *packed ? ROSBAG2_PACKED : c->payload == ROSBAG2_UNSEEN ? ROSBAG2_PLAIN : c->payload;
    return true;
}

/* Adds a chunk for the message, and unpacks it once to check it. */
static bool unpack(struct walk *w, struct reel_entry *e, struct reel_error *err) {
    struct rosbag2_scan *s = w->b->s;
    struct reel_chunk chunk = {
        .part = REEL_CHUNK_PART | w->b->rows, .codec = REEL_CODEC_ZSTD, .offset = e->offset, .stored = e->size};
    uint64_t max = s->unpack_left < REEL_MESSAGE_MEMORY_MAX ? s->unpack_left : REEL_MESSAGE_MEMORY_MAX;
    AUTO(reel_source_free) struct reel_source *frame = reel_source_slice(w->source, e->offset, e->size, err);
    if (!frame || !codec_measure(REEL_CODEC_ZSTD, frame, 0, e->size, max, &chunk.raw, err)) {
        return false;
    }
    s->unpack_left -= chunk.raw;
    *e = (struct reel_entry){.time_ns = e->time_ns, .channel = e->channel, .size = (uint32_t)chunk.raw};
    return reel_scan_chunk(s->scan, &chunk, &e->chunk, err);
}

static bool rosbag2_take_message(struct walk *w, struct rosbag2_channel *c, struct reel_entry *e, int64_t rowid,
                                 struct reel_error *err) {
    struct reel_error why = {0};
    uint8_t head[PACKED_HEAD], last;
    bool packed;
    if ((e->size > 0 && !reel_source_read(w->source, e->offset + e->size - 1, &last, 1, &why)) ||
        !rosbag2_is_packed(w, c, e, head, &packed, &why)) {
        note(&w->unreadable, &w->unreadable_id, rowid);
        return only_damage(&why, &w->unreadable_why, err);
    }
    if (packed && !unpack(w, e, &why)) {
        note(&w->unpacked, &w->unpacked_id, rowid);
        return only_damage(&why, &w->unpacked_why, err);
    }
    if (!reel_scan_entry(w->b->s->scan, e, err)) {
        return false;
    }
    w->taken++;
    c->count++;
    return true;
}

static bool rosbag2_take_row(struct walk *w, int64_t rowid, struct reel_error *err) {
    struct rosbag2_base *b = w->b;
    for (int i = 1; i <= 3; i++) {
        if (sqlite3_column_type(w->rows, i) != SQLITE_INTEGER) {
            note(&w->wrong, &w->wrong_id, rowid);
            return true;
        }
    }
    if (rowid > ROSBAG2_ROW_MAX) {
        note(&w->strange, &w->strange_id, rowid);
        return true;
    }
    int64_t size = sqlite3_column_int64(w->rows, 3);
    if (size < 0 || size > ROSBAG2_PAYLOAD_MAX || (uint64_t)size > b->db.bytes_left) {
        note(&w->excess, &w->excess_id, rowid);
        return true;
    }
    b->db.bytes_left -= (uint64_t)size;
    b->s->done += (uint64_t)size;
    struct rosbag2_channel *c;
    if (!rosbag2_channel_of(b, sqlite3_column_int64(w->rows, 1), &c, err)) {
        return false;
    }
    if (!c) {
        w->homeless++;
        return true;
    }
    struct reel_entry e = {.time_ns = sqlite3_column_int64(w->rows, 2),
                           .channel = c->id,
                           .chunk = b->rows,
                           .offset = rosbag2_address(rowid),
                           .size = (uint32_t)size};
    return rosbag2_take_message(w, c, &e, rowid, err);
}

/* --- the walk --- */

/* Steps to the first row with an id of at least `from`. */
static int seek(struct walk *w, int64_t from, int64_t *rowid) {
    sqlite3_reset(w->rows);
    sqlite3_bind_int64(w->rows, 1, from);
    int rc = sqlite3_step(w->rows);
    if (rc == SQLITE_ROW) {
        *rowid = sqlite3_column_int64(w->rows, 0);
        rc = *rowid < from ? SQLITE_CORRUPT : rc;
    }
    return rc;
}

static bool is_fatal(const struct walk *w, int rc) {
    return w->b->db.view.failure.code != REEL_OK || (rc != SQLITE_ROW && rc != SQLITE_DONE && !rosbag2_is_damage(rc));
}

/* Finds the smallest id above `from` from which rows are readable again, by doubling steps and then bisection, as if
 * all damage were in one position. *found is false when there is none. */
static bool rosbag2_find_next(struct walk *w, int64_t from, int64_t *next, bool *found, struct reel_error *err) {
    int64_t bad = from, good = 0, rowid;
    *found = false;
    for (int64_t leap = 1; !*found && bad < ROSBAG2_ROW_MAX; leap *= 2) {
        int64_t try = leap < ROSBAG2_ROW_MAX - bad ? bad + leap : ROSBAG2_ROW_MAX;
        int rc = seek(w, try, &rowid);
        if (is_fatal(w, rc)) {
            return rosbag2_fail(&w->b->db, rc, "table messages", err);
        }
        *found = rc == SQLITE_ROW || rc == SQLITE_DONE;
        good = *found ? try : good
            ;
        bad = *found ? bad : try;
    }
    while (*found && good - bad > 1) {
        int64_t middle = bad + (good - bad) / 2;
        int rc = seek(w, middle, &rowid);
        if (is_fatal(w, rc)) {
            return rosbag2_fail(&w->b->db, rc, "table messages", err);
        }
        bool fine = rc == SQLITE_ROW || rc == SQLITE_DONE;
        good = fine ? middle : good;
        bad = fine ? bad : middle;
    }
    *next = good;
    return true;
}

/* Walks from id *at to the end or to the next damage; *at is then the id after the last row read. */
static bool walk_run(struct walk *w, int64_t *at, int *rc, struct reel_error *err) {
    struct rosbag2_scan *s = w->b->s;
    int64_t rowid = 0;
    unsigned rows = 0;
    for (*rc = seek(w, *at, &rowid); *rc == SQLITE_ROW; *rc = sqlite3_step(w->rows)) {
        rowid = sqlite3_column_int64(w->rows, 0);
        if (rowid < *at || rowid == INT64_MAX) { /* ids that do not ascend: the pages form a circle */
            *rc = SQLITE_CORRUPT;
            return true;
        }
        if (!rosbag2_take_row(w, rowid, err) ||
            (++rows % REPORT_ROWS == 0 && !reel_scan_progress(s->scan, s->done, s->total, err))) {
            return false;
        }
        *at = rowid + 1;
    }
    return !is_fatal(w, *rc) || rosbag2_fail(&w->b->db, *rc, "table messages", err);
}

static bool walk_all(struct walk *w, struct reel_error *err) {
    int64_t at = 0;
    for (unsigned damaged = 0;; damaged++) {
        int rc = SQLITE_OK;
        int64_t next = at, rowid = 0;
        bool found;
        if (!walk_run(w, &at, &rc, err)) {
            return false;
        }
        if (rc == SQLITE_DONE) {
            return true;
        }
        char why[160];
        snprintf(why, sizeof why, "%s",
                 rc == SQLITE_CORRUPT ? "pages are damaged or missing" : sqlite3_errmsg(w->b->db.sqlite));
        if (damaged >= DAMAGED_MAX) {
            rosbag2_finding(w->b, REEL_LOSS, "messages from id %lld on are lost: more than %d damaged positions",
                            (long long)at, DAMAGED_MAX);
            return true;
        }
        if (!rosbag2_find_next(w, at, &next, &found, err)) {
            return false;
        }
        bool more = found && seek(w, next, &rowid) == SQLITE_ROW;
        if (!more) {
            rosbag2_finding(w->b, REEL_LOSS, "messages from id %lld on cannot be read: %s", (long long)at, why);
            return true;
        }
        rosbag2_finding(w->b, REEL_LOSS, "messages with ids %lld to %lld cannot be read: %s", (long long)at,
                        (long long)rowid - 1, why);
        at = rowid;
    }
}

static void rosbag2_report(const struct walk *w) {
    const struct rosbag2_base *b = w->b;
#define COUNT(count, id) (unsigned long long)w->count, (long long)w->id
    if (w->wrong > 0) {
        rosbag2_finding(b, REEL_LOSS, "%llu messages, the first with id %lld, are not a topic, a time and a blob",
                        COUNT(wrong, wrong_id));
    }
    if (w->strange > 0) {
        rosbag2_finding(b, REEL_LOSS, "%llu messages, the first with id %lld, have ids beyond 2^33",
                        COUNT(strange, strange_id));
    }
    if (w->excess > 0) {
        rosbag2_finding(b, REEL_LOSS, "%llu messages, the first with id %lld, are larger than the file has room for",
                        COUNT(excess, excess_id));
    }
    if (w->unreadable > 0) {
        rosbag2_finding(b, REEL_LOSS, "%llu messages cannot be read to their end, the first: %s",
                        (unsigned long long)w->unreadable, w->unreadable_why.text);
    }
    if (w->unpacked > 0) {
        rosbag2_finding(b, REEL_LOSS, "%llu compressed messages, the first with id %lld, do not unpack: %s",
                        COUNT(unpacked, unpacked_id), w->unpacked_why.text);
    }
    if (w->homeless > 0) {
        rosbag2_finding(b, REEL_LOSS, "%llu messages refer to further topics that are not there",
                        (unsigned long long)w->homeless);
    }
#undef COUNT
}

bool rosbag2_walk(struct rosbag2_base *b, struct reel_error *err) {
    struct walk w = {.b = b};
    AUTO(reel_source_free) struct reel_source *source = rosbag2_open_rows(b->file->source, b->repair != NULL, err);
    AUTO(statement) sqlite3_stmt *rows = source ? rosbag2_prepare(&b->db, WALK_SQL, err) : NULL;
    if (!rows) {
        return false;
    }
    w.rows = rows;
    w.source = source;
    for (size_t i = 0; i < b->n_topics; i++) {
        b->topics[i].channel->payload = ROSBAG2_UNSEEN; /* decided again for each database of the bag */
    }
    bool good = walk_all(&w, err);
    rosbag2_report(&w);
    b->s->messages += w.taken;
    return good;
}
