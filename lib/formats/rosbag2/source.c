/* The rows of a database as a source: the payload of row N is at address N << 31. A blob is spread over pages, so it is
 * read with SQLite's incremental blob I/O. One thread at a time uses a connection; idle connections are kept in a small
 * pool. */
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "formats/rosbag2/container.h"

enum { IDLE_MAX = 4, READ_STEPS = 1000 };

struct handle {
    struct rosbag2 db;
    sqlite3_blob *blob;
    int64_t rowid; /* the row that `blob` is open on */
};
struct rows_source {
    struct reel_source source;
    struct reel_source *base;
    struct rosbag2_repair *repair; /* NULL: not needed */
    pthread_mutex_t lock;          /* protects `idle` */
    struct handle *idle[IDLE_MAX];
    unsigned n_idle;
};

static void handle_free(struct handle *h) {
    if (h) {
        sqlite3_blob_close(h->blob);
        rosbag2_close(&h->db);
        free(h);
    }
}
REEL_DEFINE_AUTO(struct handle, handle_free);

static struct handle *handle_take(struct rows_source *rows, struct reel_error *err) {
    pthread_mutex_lock(&rows->lock);
    struct handle *h = rows->n_idle > 0 ? rows->idle[--rows->n_idle] : NULL;
    pthread_mutex_unlock(&rows->lock);
    if (h) {
        return h;
    }
    h = calloc(1, sizeof *h);
    if (!h) {
        reel_fail_memory(err);
        return NULL;
    }
    h->rowid = -1;
    if (!rosbag2_open(&h->db, rows->base, rows->repair, err)) {
        handle_free(h);
        return NULL;
    }
    return h;
}

static void handle_release(struct rows_source *rows, struct handle *h) {
    pthread_mutex_lock(&rows->lock);
    if (rows->n_idle < IDLE_MAX) {
        rows->idle[rows->n_idle++] = h;
        h = NULL;
    }
    pthread_mutex_unlock(&rows->lock);
    handle_free(h);
}

/* Takes the handle that last read this row, if it is idle: SQLite already knows its position in the row's pages. */
static void handle_prefer(struct rows_source *rows, int64_t rowid) {
    pthread_mutex_lock(&rows->lock);
    for (unsigned i = 0; i + 1 < rows->n_idle; i++) {
        if (rows->idle[i]->rowid == rowid) {
            struct handle *h = rows->idle[i];
            rows->idle[i] = rows->idle[rows->n_idle - 1];
            rows->idle[rows->n_idle - 1] = h;
        }
    }
    pthread_mutex_unlock(&rows->lock);
}

static int handle_seek(struct handle *h, int64_t rowid) {
    if (h->blob && h->rowid == rowid) {
        return SQLITE_OK;
    }
    h->db.ops_left = READ_STEPS;
    h->rowid = rowid;
    return h->blob ? sqlite3_blob_reopen(h->blob, rowid)
                   : sqlite3_blob_open(h->db.sqlite, "main", "messages", "data", rowid, 0, &h->blob);
}

static bool rows_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    struct rows_source *rows = (struct rows_source *)source;
    int64_t rowid = (int64_t)(offset >> ROSBAG2_ROW_BITS);
    uint64_t at = offset & (uint64_t)ROSBAG2_PAYLOAD_MAX;
    handle_prefer(rows, rowid);
    AUTO(handle_free) struct handle *h = handle_take(rows, err);
    if (!h) {
        return false;
    }
    int rc = handle_seek(h, rowid);
    if (rc != SQLITE_OK) {
        rosbag2_fail(&h->db, rc, "the row cannot be read", err);
        return reel_error_at(err, "%s: message with id %lld", rows->base->name, (long long)rowid);
    }
    uint64_t there = (uint64_t)sqlite3_blob_bytes(h->blob);
    if (at > there || size > there - at) {
        return reel_fail(err, REEL_DAMAGED, "%s: message with id %lld: %llu bytes at %llu exceed its %llu",
                         rows->base->name, (long long)rowid, (unsigned long long)size, (unsigned long long)at,
                         (unsigned long long)there);
    }
    if ((rc = sqlite3_blob_read(h->blob, buffer, (int)size, (int)at)) != SQLITE_OK) {
        rosbag2_fail(&h->db, rc, "its bytes cannot be read", err);
        return reel_error_at(err, "%s: message with id %lld", rows->base->name, (long long)rowid);
    }
    handle_release(rows, TAKE(h)); /* not reused after a failure */
    return true;
}

static void rows_free(struct reel_source *source) {
    struct rows_source *rows = (struct rows_source *)source;
    while (rows->n_idle > 0) {
        handle_free(rows->idle[--rows->n_idle]);
    }
    rosbag2_repair_free(rows->repair);
    pthread_mutex_destroy(&rows->lock);
    free(rows);
}

struct reel_source *rosbag2_open_rows(struct reel_source *base, bool damaged, struct reel_error *err) {
    static const struct reel_source_ops ops = {.read = rows_read, .free = rows_free};
    struct rosbag2 db;
    AUTO(rosbag2_repair_free) struct rosbag2_repair *repair = NULL;
    bool good = rosbag2_open(&db, base, NULL, err) && (!damaged || rosbag2_repair_new(&db, base, &repair, err));
    rosbag2_close(&db);
    struct rows_source *rows = good ? calloc(1, sizeof *rows) : NULL;
    if (!good) {
        return NULL;
    }
    if (!rows) {
        reel_fail_memory(err);
        return NULL;
    }
    rows->source = (struct reel_source){.ops = &ops, .size = UINT64_MAX, .name = base->name, .sparse = true};
    rows->base = base;
    rows->repair = TAKE(repair);
    pthread_mutex_init(&rows->lock, NULL);
    return &rows->source;
}
