/* See scan_chunks.h. The scan asks for chunk after chunk; a pipeline decodes those that come next by the headers of
 * their records. What it decodes counts only if the scan asks for exactly that chunk, so a scan finds the same on any
 * number of threads, and errors are those of the scan's own thread. */
#include "index/scan_chunks.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/pipeline.h"
#include "chunks/codec.h"
#include "chunks/spool.h"
#include "index/scan.h"

enum {
    AHEAD_LEAST = 32 << 10, /* smaller chunks are decoded sooner than given to a thread */
};

struct ahead { /* a chunk that is decoded ahead */
    struct pipeline_piece piece;
    struct reel_chunk chunk;
    bool decoded;
    uint32_t crc; /* of its bytes; ops->hashes */
};

struct lent { /* raw bytes as a source */
    struct reel_source source;
    struct scan_chunks *chunks;
    const uint8_t *data;
};

struct scan_chunks {
    struct reel_scan *scan;
    struct reel_source *file;
    uint32_t part;
    const struct scan_chunks_ops *ops;
    void *context;
    struct codec_buffers buffers;
    uint8_t *own; /* for a chunk that was not decoded ahead */
    size_t own_room;
    struct lent lent;

    struct thread_client *client; /* NULL: nothing is decoded ahead */
    struct pipeline *pipeline;    /* NULL: it had no further chunk */
    struct ahead *first;          /* taken from it; NULL: none */
    uint64_t at;                  /* where next() goes on */
    uint64_t most;                /* the largest chunk that is decoded ahead */
};

/* ---- on any thread */

static void *ahead_open_worker(void *context, struct reel_error *err) {
    (void)context;
    struct codec_buffers *buffers = calloc(1, sizeof *buffers);
    if (!buffers) {
        reel_fail_memory(err);
    }
    return buffers;
}

static void ahead_close_worker(void *worker) {
    codec_buffers_free(worker);
    free(worker);
}

/* Does not fail: the scan decodes the chunk itself and finds the error. */
static bool ahead_render(void *context, void *worker, struct pipeline_piece *piece, struct reel_error *err) {
    struct scan_chunks *c = context;
    struct ahead *a = (struct ahead *)piece;
    (void)err;
    a->decoded = pipeline_reserve(piece, (size_t)a->chunk.raw, NULL) &&
                 codec_decode_chunk(&a->chunk, c->file, piece->data, worker, NULL);
    if (a->decoded && c->ops->hashes) {
        a->crc = libdeflate_crc32(0, piece->data, (size_t)a->chunk.raw);
    }
    return true;
}

/* ---- on the scan's thread */

static bool ahead_next(void *context, struct pipeline_piece *piece, struct reel_error *err) {
    (void)err;
    struct scan_chunks *c = context;
    struct ahead *a = (struct ahead *)piece;
    a->decoded = false;
    if (!c->ops->next(c->context, c->at, &a->chunk)) {
        return false;
    }
    c->at = a->chunk.offset + a->chunk.stored;
    piece->ready = a->chunk.raw > c->most || a->chunk.raw < AHEAD_LEAST ||
                   a->chunk.raw > reel_scan_expansion_max(a->chunk.codec, a->chunk.stored);
    return true;
}

/* With the chunk that follows the one at hand. */
static void ahead_begin(struct scan_chunks *c, uint64_t from) {
    static const struct pipeline_ops ops = {.piece_size = sizeof(struct ahead),
                                            .next = ahead_next,
                                            .render = ahead_render,
                                            .open_worker = ahead_open_worker,
                                            .close_worker = ahead_close_worker,
                                            .helps = true};
    c->at = from;
    c->first = NULL;
    c->pipeline = pipeline_new(c->client, reel_threads_count(c->scan->threads), &ops, c, NULL);
    if (c->pipeline) {
        pipeline_begin(c->pipeline);
    }
}

static void ahead_end(struct scan_chunks *c) {
    pipeline_free(TAKE(c->pipeline));
    c->first = NULL;
}

static void ahead_drop(struct scan_chunks *c) {
    c->first = NULL;
    pipeline_return(c->pipeline);
}

/* *found: this chunk as it was decoded ahead; NULL: it was not. Those before it were not asked for, as after damage. */
static bool ahead_take(struct scan_chunks *c, const struct reel_chunk *chunk, const struct ahead **found,
                       struct reel_error *err) {
    struct reel_error why = {0};
    *found = NULL;
    if (!c->pipeline && c->client) {
        ahead_begin(c, chunk->offset + chunk->stored);
        return true;
    }
    while (c->pipeline) {
        if (!c->first && !(c->first = (struct ahead *)pipeline_take(c->pipeline, &why))) {
            ahead_end(c);
            return why.code == REEL_OK || reel_error_pass(err, &why);
        }
        const struct reel_chunk *a = &c->first->chunk;
        if (a->offset < chunk->offset) {
            ahead_drop(c);
            continue;
        }
        bool same = c->first->decoded && !chunk->damaged && a->offset == chunk->offset && a->stored == chunk->stored &&
                    a->raw == chunk->raw && a->codec == chunk->codec;
        *found = same ? c->first : NULL;
        break;
    }
    return true;
}

/* Makes room for the raw bytes of a chunk, with some more, because the next may be larger. */
static bool own_reserve(struct scan_chunks *c, size_t raw, struct reel_error *err) {
    if (c->own && raw <= c->own_room) {
        return true;
    }
    free(TAKE(c->own));
    c->own_room = raw + raw / 8 + 1;
    return (c->own = malloc(c->own_room)) || reel_fail_memory(err);
}

static bool lent_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    (void)err;
    memcpy(buffer, ((const struct lent *)source)->data + offset, size);
    return true;
}

static const uint8_t *lent_bytes(struct reel_source *source) {
    return ((const struct lent *)source)->data;
}

/* False where both are NULL: nothing is lent, and the first is one that no thread decodes. */
static bool lends_first(const struct scan_chunks *c) {
    return c->first && c->lent.data && c->lent.data == c->first->piece.data;
}

static void lent_free(struct reel_source *source) {
    struct scan_chunks *c = ((struct lent *)source)->chunks;
    if (lends_first(c)) {
        ahead_drop(c);
    }
    c->lent.data = NULL;
}

static struct reel_source *lend(struct scan_chunks *c, const uint8_t *data, uint64_t size) {
    static const struct reel_source_ops ops = {.read = lent_read, .free = lent_free, .bytes = lent_bytes};
    c->lent = (struct lent){.source = {.ops = &ops, .size = size, .name = c->file->name}, .chunks = c, .data = data};
    return &c->lent.source;
}

struct reel_source *scan_chunks_open(struct scan_chunks *c, const struct reel_chunk *chunk, struct reel_error *err) {
    const struct ahead *found;
    if (chunk->codec == REEL_CODEC_NONE || chunk->raw > REEL_CHUNK_MEMORY_MAX || c->lent.data) {
        return spool_chunk(chunk, c->file, err);
    }
    if (!ahead_take(c, chunk, &found, err)) {
        return NULL;
    }
    if (found) {
        return lend(c, found->piece.data, chunk->raw);
    }
    bool good = own_reserve(c, (size_t)chunk->raw, err) && codec_decode_chunk(chunk, c->file, c->own, &c->buffers, err);
    return good ? lend(c, c->own, chunk->raw) : NULL;
}

bool scan_chunks_crc(const struct scan_chunks *c, uint32_t *crc) {
    bool known = c && c->ops->hashes && lends_first(c);
    *crc = known ? c->first->crc : 0;
    return known;
}

uint32_t scan_chunks_part(const struct scan_chunks *c) {
    return c->part;
}

/* ---- */

struct scan_chunks *scan_chunks_new(struct reel_scan *scan, uint32_t part, const struct scan_chunks_ops *ops,
                                    void *context, struct reel_error *err) {
    struct scan_chunks *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    *c = (struct scan_chunks){.scan = scan, .file = scan->parts[part], .part = part, .ops = ops, .context = context};
    unsigned threads = scan->threads ? reel_threads_count(scan->threads) : 0;
    if (threads > 1 && c->file->size >= reel_threads_from(scan->threads)) {
        c->client = threads_client(scan->threads, "scan", NULL);
        c->most = REEL_SCAN_AHEAD_BYTES / (threads + 2);
    }
    scan->chunks = c;
    return c;
}

void scan_chunks_free(struct scan_chunks *c) {
    if (!c) {
        return;
    }
    ahead_end(c);
    threads_client_free(c->client);
    codec_buffers_free(&c->buffers);
    free(c->own);
    c->scan->chunks = NULL;
    free(c);
}
