/* A database with the changes in its write-ahead log, as one source. A recorder that was killed leaves its last
 * messages in the log. As in SQLite, the frames up to the last commit count, as long as their salts are those of the
 * log's header and their checksums hold; what follows is left from an earlier use of the file, or was not complete.
 *
 *   log          u32 0x377f0682, or 0x377f0683: checksums of big-endian words; u32 3007000; u32 page size; u32 count of
 *                checkpoints; u32 salt, u32 salt; u32 checksum, u32 checksum of the 24 bytes before; then the frames
 *   frame        u32 page number; u32 pages of the database after a commit, otherwise 0; the salts; u32 checksum, u32
 *                checksum of the first 8 bytes and the page, which go on from those before; the page
 */
#include "formats/rosbag2/log.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/window.h"

enum {
    LOG_HEAD = 32,
    LOG_SUMMED = 24, /* bytes of the header before its checksum */
    LOG_FRAME = 24,
    FRAME_SUMMED = 8,
    LOG_VERSION = 3007000,
    PAGE_MAX = 65536,
    FRAMES_MAX = 2 << 20, /* frames of a log that are read */
    LOG_WINDOW = 256 << 10,
};
#define LOG_MAGIC UINT32_C(0x377f0682)

struct frame { /* the last one of its page */
    uint32_t page, number;
};
struct logged {
    struct reel_source source;
    struct reel_source *base, *log;
    uint32_t page_size;
    struct frame *frames; /* by page */
    size_t count, capacity;
};

static uint32_t be32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

struct sums {
    bool big;
    uint32_t a, b;
};
static void sum(struct sums *s, const uint8_t *data, size_t size) {
    for (size_t i = 0; i + 8 <= size; i += 8) {
        s->a += (s->big ? be32(data + i) : load_u32le(data + i)) + s->b;
        s->b += (s->big ? be32(data + i + 4) : load_u32le(data + i + 4)) + s->a;
    }
}

/* ---- reading the log */

struct reading {
    struct logged *logged;
    struct window window;
    struct sums sums;
    uint8_t salts[8];
    uint32_t frames;    /* complete ones in the file */
    uint32_t committed; /* frames up to the last commit */
    uint32_t pages;     /* of the database then */
    struct rosbag2_log_state *state;
};

static uint32_t page_size_of(const uint8_t *head) {
    uint32_t size = (uint32_t)head[SQLITE_PAGE_SIZE_AT] << 8 | head[SQLITE_PAGE_SIZE_AT + 1];
    return size == 1 ? PAGE_MAX : size;
}

/* Sets state->problem when the log cannot be used. */
static bool read_head(struct reading *r, uint32_t page_size, struct reel_error *err) {
    const struct reel_source *log = r->logged->log;
    if (log->size < LOG_HEAD) {
        r->state->problem = "it has no header";
        return true;
    }
    const uint8_t *head = window_at(&r->window, 0, LOG_HEAD, err);
    if (!head) {
        return false;
    }
    r->sums.big = be32(head) & 1;
    sum(&r->sums, head, LOG_SUMMED);
    memcpy(r->salts, head + 16, sizeof r->salts);
    bool intact = (be32(head) & ~UINT32_C(1)) == LOG_MAGIC && be32(head + 4) == LOG_VERSION &&
                  be32(head + 24) == r->sums.a && be32(head + 28) == r->sums.b;
    r->state->problem = !intact                       ? "its header is damaged"
                        : be32(head + 8) != page_size ? "its pages have another size than those of the database"
                                                      : NULL;
    uint64_t frames = (log->size - LOG_HEAD) / (LOG_FRAME + (uint64_t)page_size);
    r->frames = frames < FRAMES_MAX ? (uint32_t)frames : FRAMES_MAX;
    return true;
}

/* *valid = false: the frame is not one of this use of the file, or damaged. */
static bool read_frame(struct reading *r, uint32_t number, bool *valid, struct reel_error *err) {
    struct logged *l = r->logged;
    const size_t size = LOG_FRAME + l->page_size;
    const uint8_t *at = window_at(&r->window, LOG_HEAD + (uint64_t)number * size, size, err);
    if (!at) {
        return false;
    }
    bool own = memcmp(at + FRAME_SUMMED, r->salts, sizeof r->salts) == 0;
    sum(&r->sums, at, FRAME_SUMMED);
    sum(&r->sums, at + LOG_FRAME, l->page_size);
    *valid = own && be32(at) != 0 && be32(at + 16) == r->sums.a && be32(at + 20) == r->sums.b;
    r->state->damaged = own && !*valid;
    if (!*valid) {
        return true;
    }
    if (!GROW_ARRAY(l->frames, l->count, l->capacity)) {
        return reel_fail_memory(err);
    }
    l->frames[l->count++] = (struct frame){.page = be32(at), .number = number};
    if (be32(at + 4) != 0) {
        r->committed = number + 1;
        r->pages = be32(at + 4);
    }
    return true;
}

static int by_page(const void *a, const void *b) {
    const struct frame *x = a, *y = b;
    return x->page != y->page ? (x->page > y->page) - (x->page < y->page)
                              : (x->number > y->number) - (x->number < y->number);
}

/* Keeps the last committed frame of each page. */
static void keep_last(struct logged *l, uint32_t committed) {
    size_t kept = 0;
    qsort(l->frames, committed, sizeof *l->frames, by_page);
    for (size_t i = 0; i < committed; i++) {
        kept -= kept > 0 && l->frames[kept - 1].page == l->frames[i].page;
        l->frames[kept++] = l->frames[i];
    }
    l->count = kept;
}

static bool read_frames(struct reading *r, struct reel_error *err) {
    struct logged *l = r->logged;
    bool valid = true;
    for (uint32_t i = 0; i < r->frames && valid; i++) {
        if (!read_frame(r, i, &valid, err)) {
            return false;
        }
    }
    r->state->cut = valid && r->frames == FRAMES_MAX;
    r->state->unread_at = LOG_HEAD + (uint64_t)r->committed * (LOG_FRAME + l->page_size);
    r->state->frames = r->committed;
    if (r->committed > 0) {
        keep_last(l, r->committed);
    }
    return true;
}

/* ---- the source */

static const struct frame *find_frame(const struct logged *l, uint64_t page) {
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->frames[middle].page < page) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < l->count && l->frames[low].page == page ? &l->frames[low] : NULL;
}

/* Bytes of one page; zeros where neither file has it. */
static bool read_page(struct logged *l, uint64_t offset, uint8_t *out, size_t size, struct reel_error *err) {
    const struct frame *frame = find_frame(l, offset / l->page_size + 1);
    if (frame) {
        uint64_t at = LOG_HEAD + (uint64_t)frame->number * (LOG_FRAME + l->page_size) + LOG_FRAME;
        return reel_source_read(l->log, at + offset % l->page_size, out, size, err);
    }
    uint64_t left = offset < l->base->size ? l->base->size - offset : 0;
    size_t there = left < size ? (size_t)left : size;
    memset(out + there, 0, size - there);
    return there == 0 || reel_source_read(l->base, offset, out, there, err);
}

static bool logged_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                        struct reel_error *err) {
    struct logged *l = (struct logged *)source;
    uint8_t *out = buffer;
    for (size_t n; size > 0; offset += n, out += n, size -= n) {
        size_t left = l->page_size - (size_t)(offset % l->page_size);
        n = size < left ? size : left;
        if (!read_page(l, offset, out, n, err)) {
            return false;
        }
    }
    return true;
}

static void logged_free(struct reel_source *source) {
    free(((struct logged *)source)->frames);
    free(source);
}

/* A log adds at most its pages, and one that SQLite leaves out (the lock page): a larger size cannot be true. */
static uint64_t logged_size(const struct reading *r) {
    const struct logged *l = r->logged;
    uint64_t most = (l->base->size + l->page_size - 1) / l->page_size + l->count + 1;
    return (r->pages < most ? r->pages : most) * l->page_size;
}

static bool read_log(struct reading *r, struct reel_error *err) {
    struct logged *l = r->logged;
    uint8_t head[SQLITE_HEADER_SIZE];
    if (l->base->size < sizeof head || l->log->size == 0) {
        return true;
    }
    if (!reel_source_read(l->base, 0, head, sizeof head, err)) {
        return false;
    }
    uint32_t page_size = page_size_of(head);
    if (page_size < SQLITE_PAGE_MIN || (page_size & (page_size - 1)) != 0) {
        r->state->problem = "the page size in the database's header is invalid";
        return true;
    }
    l->page_size = page_size;
    return window_open(&r->window, l->log, LOG_WINDOW, err) && read_head(r, page_size, err) &&
           (r->state->problem || read_frames(r, err));
}

bool rosbag2_log_read(struct reel_source *base, struct reel_source *log, struct reel_source **out,
                      struct rosbag2_log_state *state, struct reel_error *err) {
    static const struct reel_source_ops ops = {.read = logged_read, .free = logged_free};
    *out = NULL;
    *state = (struct rosbag2_log_state){0};
    struct logged *l = calloc(1, sizeof *l);
    if (!l) {
        return reel_fail_memory(err);
    }
    l->base = base;
    l->log = log;
    struct reading r = {.logged = l, .state = state};
    bool good = read_log(&r, err);
    window_close(&r.window);
    if (!good || r.committed == 0) {
        logged_free(&l->source);
        return good;
    }
    l->source = (struct reel_source){.ops = &ops, .size = logged_size(&r), .name = base->name};
    *out = &l->source;
    return true;
}

struct reel_source *rosbag2_open_logged(struct reel_source *base, struct reel_source *log, struct reel_error *err) {
    struct rosbag2_log_state state;
    struct reel_source *out = NULL;
    if (rosbag2_log_read(base, log, &out, &state, err) && !out) {
        reel_fail(err, REEL_CHANGED, "%s: its log holds nothing now", base->name);
    }
    return out;
}
