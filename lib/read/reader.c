/* Maps (chunk, offset, size) to bytes. Plain chunks are read through a window that grows with sequential reads and
 * shrinks with jumps, so that a sparse selection does not read the bytes in between; compressed chunks come from the
 * shared cache, huge ones from a file they were decoded to once. */
#include "read/reader.h"

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "chunks/codec.h"

enum {
    AHEAD_MIN = 16 << 10,   /* bytes read for an isolated read */
    AHEAD_MAX = 1 << 20,    /* bytes read ahead for sequential reads */
    NEAR = 64 << 10,        /* a forward jump up to this counts as sequential */
    DIRECT = 64 << 10,      /* larger reads go directly to the caller's buffer */
    WINDOW_KEPT = 64 << 20, /* a window grown beyond this for one huge message is freed afterwards */
    CHECK_BYTES = 64 << 10, /* read between two looks whether the work was cancelled, … */
    CHECK_EACH = 1 << 10,   /* … where a message counts as so many more */
};

struct reel_reader {
    struct reel_recording *recording;
    struct reel_chunk *rows; /* REEL_SEGMENT_ENTRIES chunk rows around the last one used */
    uint32_t rows_first, rows_count;
    struct cache_block *block; /* pinned, of block->chunk */
    struct open_chunk *held;   /* pinned: the source of the last read */
    struct reel_source *window_source;
    uint8_t *window;
    uint64_t window_offset;
    size_t window_size, window_capacity, ahead;
    uint64_t unchecked;     /* bytes since the work was last seen not to be cancelled */
    struct reader_set *set; /* NULL: none */
    struct reel_reader *newer, *older;
    bool awake; /* in the set's list */
};

/* ---- readers */

struct reel_reader *reel_reader_new(struct reel_recording *recording, struct reel_error *err) {
    struct reel_reader *r = calloc(1, sizeof *r);
    if (!r) {
        reel_fail_memory(err);
        return NULL;
    }
    r->recording = reel_recording_ref(recording);
    r->ahead = AHEAD_MIN;
    return r;
}

void reader_join(struct reel_reader *r, struct reader_set *set) {
    r->set = set;
}

static void reader_leave(struct reel_reader *r) {
    *(r->newer ? &r->newer->older : &r->set->first) = r->older;
    *(r->older ? &r->older->newer : &r->set->last) = r->newer;
    r->newer = r->older = NULL;
    r->awake = false;
    r->set->awake--;
}

static void hold(struct reel_reader *r, struct open_chunk *o);

void reader_rest(struct reel_reader *r) {
    cache_unpin(r->recording->cache, TAKE(r->block));
    hold(r, NULL);
    free(TAKE(r->rows));
    free(TAKE(r->window));
    r->rows_count = 0;
    r->window_source = NULL;
    r->window_size = r->window_capacity = 0;
    if (r->awake) {
        reader_leave(r);
    }
}

static void wake(struct reel_reader *r) {
    struct reader_set *set = r->set;
    if (!set || set->first == r) {
        return;
    }
    if (r->awake) {
        reader_leave(r);
    } else if (set->awake == REEL_STREAM_AWAKE) {
        reader_rest(set->last);
    }
    r->older = set->first;
    *(set->first ? &set->first->newer : &set->last) = r;
    set->first = r;
    r->awake = true;
    set->awake++;
}

void reel_reader_free(struct reel_reader *r) {
    if (!r) {
        return;
    }
    reader_rest(r);
    reel_recording_free(r->recording);
    free(r);
}

struct reel_recording *reel_reader_recording(const struct reel_reader *r) {
    return r->recording;
}

static const struct reel_chunk *chunk_row(struct reel_reader *r, uint32_t id, struct reel_error *err) {
    wake(r);
    if (!r->rows && !(r->rows = malloc(index_chunk_rows(r->recording->index) * sizeof *r->rows))) {
        reel_fail_memory(err);
        return NULL;
    }
    if (id - r->rows_first >= r->rows_count &&
        !index_read_chunks(r->recording->index, id, r->rows, &r->rows_first, &r->rows_count, err)) {
        r->rows_count = 0;
        return NULL;
    }
    return &r->rows[id - r->rows_first];
}

/* Takes over the pin on `o` and drops the previous one. Also drops a window on the previous source, which may now be
 * closed. */
static void hold(struct reel_reader *r, struct open_chunk *o) {
    if (r->held && r->window_source == r->held->source) {
        r->window_source = NULL;
        r->window_size = 0;
    }
    open_chunk_unpin(&r->recording->open_chunk, r->held);
    r->held = o;
}

static struct reel_source *hold_chunk(struct reel_reader *r, uint32_t id, const struct reel_chunk *row,
                                      struct reel_error *err) {
    if (!r->held || r->held->chunk != id) {
        struct open_chunk *o = recording_open_chunk(r->recording, id, row, err);
        if (!o) {
            return NULL;
        }
        hold(r, o);
    }
    return r->held->source;
}

/* The source that contains a plain chunk. */
static struct reel_source *hold_base(struct reel_reader *r, uint32_t id, const struct reel_chunk *row,
                                     struct reel_error *err) {
    if (r->held && row->part == (REEL_CHUNK_PART | r->held->chunk)) {
        return r->held->source;
    }
    struct open_chunk *pinned;
    struct reel_source *base = recording_base(r->recording, id, row, &pinned, err);
    if (pinned) {
        hold(r, pinned);
    }
    return base;
}

static bool decode_block(struct reel_reader *r, uint32_t id, const struct reel_chunk *row, uint8_t *data,
                         struct reel_error *err) {
    struct open_chunk *pinned;
    struct reel_source *base = recording_base(r->recording, id, row, &pinned, err);
    struct codec_buffers buffers = cache_take_buffers(r->recording->cache);
    bool good = base && (codec_decode_chunk(row, base, data, &buffers, err) ||
                         reel_error_at(err, "chunk at %llu", (unsigned long long)row->offset));
    cache_return_buffers(r->recording->cache, buffers);
    open_chunk_unpin(&r->recording->open_chunk, pinned);
    return good;
}

/* The decoded chunk, pinned as r->block. */
static bool pin_block(struct reel_reader *r, uint32_t id, const struct reel_chunk *row, struct reel_error *err) {
    if (r->block && r->block->chunk == id) {
        return true;
    }
    struct reel_recording *rec = r->recording;
    cache_unpin(rec->cache, TAKE(r->block));
    struct cache_block *block = cache_pin(rec->cache, rec->number, id, row->raw, err);
    bool good = block;
    if (block && !block->ready) {
        good = decode_block(r, id, row, block->data, err);
        cache_filled(rec->cache, block, good);
    }
    r->block = good ? block : NULL;
    return good;
}

/* Location of the bytes (chunk, offset, size): in a pinned block (*direct), or in a source at *at. */
static bool locate(struct reel_reader *r, uint32_t id, uint64_t offset, uint64_t size, const uint8_t **direct,
                   struct reel_source **source, uint64_t *at, struct reel_error *err) {
    const struct reel_chunk *row = chunk_row(r, id, err);
    if (!row) {
        return false;
    }
    if (offset > row->raw || size > row->raw - offset) {
        return reel_fail(err, REEL_CHANGED, "bytes at %llu do not lie in their chunk", (unsigned long long)offset);
    }
    *direct = NULL;
    if (row->codec == REEL_CODEC_NONE) {
        *at = row->offset + offset;
        return (*source = hold_base(r, id, row, err)) != NULL;
    }
    if (row->codec == REEL_CODEC_ROWS || row->raw > REEL_CHUNK_MEMORY_MAX) {
        *at = offset;
        return (*source = hold_chunk(r, id, row, err)) != NULL;
    }
    if (!pin_block(r, id, row, err)) {
        return false;
    }
    *direct = r->block->data + offset;
    return true;
}

/* Makes the window hold [at, at + size), with read-ahead that depends on the recent pattern of reads. */
static bool fill_window(struct reel_reader *r, struct reel_source *source, uint64_t at, size_t size,
                        struct reel_error *err) {
    uint64_t end = r->window_offset + r->window_size;
    bool follows = source == r->window_source && at >= r->window_offset && at <= end + NEAR;
    r->ahead = follows ? (r->ahead * 2 < AHEAD_MAX ? r->ahead * 2 : AHEAD_MAX) : AHEAD_MIN;
    size_t length = size > r->ahead || source->sparse ? size : r->ahead;
    length = length > source->size - at ? (size_t)(source->size - at) : length;
    r->window_size = 0;
    if (length > r->window_capacity || (r->window_capacity > WINDOW_KEPT && length <= WINDOW_KEPT)) {
        free(TAKE(r->window));
        r->window_capacity = 0;
        size_t capacity = length > AHEAD_MAX ? length : follows ? AHEAD_MAX : length;
        if (!(r->window = malloc(capacity))) {
            return reel_fail_memory(err);
        }
        r->window_capacity = capacity;
    }
    r->window_source = source;
    if (!reel_source_read(source, at, r->window, length, err)) {
        return false;
    }
    r->window_offset = at;
    r->window_size = length;
    return true;
}

static bool in_window(const struct reel_reader *r, const struct reel_source *source, uint64_t at, size_t size) {
    return source == r->window_source && at >= r->window_offset && at - r->window_offset <= r->window_size &&
           size <= r->window_size - (size_t)(at - r->window_offset);
}

/* Reading is where work can be cancelled: looks after some messages, or one that is large. */
static inline bool may_read(struct reel_reader *r, size_t size, struct reel_error *err) {
    r->unchecked += size + CHECK_EACH;
    if (r->unchecked < CHECK_BYTES) {
        return true;
    }
    r->unchecked = 0;
    return cancel_check(err);
}

bool reel_reader_view(struct reel_reader *r, uint32_t chunk, uint64_t offset, size_t size, struct reel_bytes *out,
                      struct reel_error *err) {
    if (size > REEL_MESSAGE_MEMORY_MAX) {
        return reel_fail(err, REEL_LIMIT, "a message of %zu bytes exceeds the limit of %d", size,
                         REEL_MESSAGE_MEMORY_MAX);
    }
    const uint8_t *direct;
    struct reel_source *source;
    uint64_t at;
    if (!may_read(r, size, err) || !locate(r, chunk, offset, size, &direct, &source, &at, err)) {
        return false;
    }
    if (direct) {
        *out = bytes_of(direct, size);
        return true;
    }
    if (size == 0) {
        *out = bytes_of("", 0);
        return true;
    }
    if (!in_window(r, source, at, size) && !fill_window(r, source, at, size, err)) {
        return false;
    }
    *out = bytes_of(r->window + (at - r->window_offset), size);
    return true;
}

bool reel_reader_copy(struct reel_reader *r, uint32_t chunk, uint64_t offset, void *buffer, size_t size,
                      struct reel_error *err) {
    const uint8_t *direct;
    struct reel_source *source;
    uint64_t at;
    if (!may_read(r, size, err) || !locate(r, chunk, offset, size, &direct, &source, &at, err)) {
        return false;
    }
    if (size == 0) {
        return true;
    }
    if (direct) {
        memcpy(buffer, direct, size);
        return true;
    }
    if (!in_window(r, source, at, size)) {
        if (size >= DIRECT) {
            return reel_source_read(source, at, buffer, size, err);
        }
        if (!fill_window(r, source, at, size, err)) {
            return false;
        }
    }
    memcpy(buffer, r->window + (at - r->window_offset), size);
    return true;
}

bool reel_reader_payload(struct reel_reader *r, const struct reel_entry *e, struct reel_bytes *out,
                         struct reel_error *err) {
    return reel_reader_view(r, e->chunk, e->offset + e->head, e->size, out, err);
}

bool reel_reader_describe(struct reel_reader *r, const struct reel_entry *e, struct reel_description *out,
                          struct reel_error *err) {
    *out = (struct reel_description){.publish_ns = e->time_ns};
    const struct reel_index *index = r->recording->index;
    const struct reel_index_info *info = reel_index_info(index);
    struct reel_bytes head = bytes_of("", 0);
    if (!info->format->describe) {
        return true;
    }
    if (e->head > 0 && !reel_reader_view(r, e->chunk, e->offset, e->head, &head, err)) { /* an empty payload needs no
                                                                                            chunk */
        return false;
    }
    if (e->channel >= info->n_channels) {
        return reel_fail(err, REEL_CHANGED, "the index knows no channel %u", e->channel);
    }
    info->format->describe(head, e, reel_index_channel(index, e->channel), out);
    return true;
}
