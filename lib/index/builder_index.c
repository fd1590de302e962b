/* An index of what the builder has so far. Segments that are written stay in the builder's file; entries and chunk rows
 * that are still pending are packed into memory, which belongs to the index. */
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "index/builder.h"
#include "index/index.h"

struct snapshot {
    struct pack_model model; /* borrows all but the segments from the builder */
    struct grow recent;
};
static void snapshot_done(struct snapshot *s) {
    free(s->model.segments);
    free(s->model.chunk_segments);
    free(s->recent.data);
}

static bool copy_segments(struct snapshot *s, const struct pack_model *from, struct reel_error *err) {
    size_t n = from->n_segments + from->n_channels;
    s->model.segments = malloc((n + 1) * sizeof *s->model.segments);
    s->model.chunk_segments = malloc((from->n_chunk_segments + 1) * sizeof *s->model.chunk_segments);
    if (!s->model.segments || !s->model.chunk_segments) {
        return reel_fail_memory(err);
    }
    if (from->n_segments > 0) {
        memcpy(s->model.segments, from->segments, from->n_segments * sizeof *from->segments);
    }
    if (from->n_chunk_segments > 0) {
        memcpy(s->model.chunk_segments, from->chunk_segments, from->n_chunk_segments * sizeof *from->chunk_segments);
    }
    return true;
}

static bool add_lane(struct snapshot *s, const struct builder_lane *lane, struct reel_error *err) {
    if (lane->count == 0) {
        return true;
    }
    AUTO_MEM struct reel_entry *entries = malloc(lane->count * sizeof *entries);
    uint8_t *room = entries ? grow_room(&s->recent, PACK_BOUND(lane->count, PACK_ENTRY_COLUMNS)) : NULL;
    if (!room) {
        return reel_fail_memory(err);
    }
    memcpy(entries, lane->entries, lane->count * sizeof *entries);
    if (lane->unsorted) {
        builder_sort(entries, lane->count);
    }
    s->model.segments[s->model.n_segments++] = builder_pack(entries, lane->count, room, INDEX_RECENT + s->recent.size);
    s->recent.size += s->model.segments[s->model.n_segments - 1].size;
    return true;
}

static bool add_chunks(struct snapshot *s, const struct reel_builder *b, struct reel_error *err) {
    if (b->n_chunks == 0) {
        return true;
    }
    uint8_t *room = grow_room(&s->recent, PACK_BOUND(b->n_chunks, PACK_CHUNK_COLUMNS));
    if (!room) {
        return reel_fail_memory(err);
    }
    size_t size = pack_chunks(b->chunks, b->n_chunks, room);
    s->model.chunk_segments[s->model.n_chunk_segments++] =
        (struct pack_chunk_segment){.offset = INDEX_RECENT + s->recent.size,
                                    .count = (uint32_t)b->n_chunks,
                                    .size = (uint32_t)size,
                                    .crc = pack_crc(room, size)};
    s->recent.size += size;
    return true;
}

static int compare_segments(const void *a, const void *b) {
    const struct pack_segment *x = a, *y = b;
    return x->channel != y->channel ? (x->channel > y->channel) - (x->channel < y->channel)
                                    : pack_key_compare(&x->first, &y->first);
}

struct reel_index *builder_index(struct reel_builder *b, struct reel_error *err) {
    AUTO_STRUCT(snapshot_done) struct snapshot s = {.model = b->model};
    if (!builder_is_complete(b, err) || !builder_decide_clock(b, &s.model, err) || !copy_segments(&s, &b->model, err)) {
        return NULL;
    }
    for (size_t i = 0; i < b->model.n_channels; i++) {
        if (!add_lane(&s, &b->lanes[i], err)) {
            return NULL;
        }
    }
    if (!add_chunks(&s, b, err)) {
        return NULL;
    }
    qsort(s.model.segments, s.model.n_segments, sizeof *s.model.segments, compare_segments);
    if (fflush(b->file) != 0) {
        reel_fail_errno(err, "could not write the index");
        return NULL;
    }
    struct grow directory = {0};
    pack_model_write(&s.model, &directory);
    AUTO_MEM uint8_t *data = directory.data;
    int fd = directory.failed ? -1 : fcntl(fileno(b->file), F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        directory.failed ? reel_fail_memory(err) : reel_fail_errno(err, "could not open the index");
        return NULL;
    }
    return index_of_growing(fd, bytes_of(data, directory.size), TAKE(s.recent.data), s.recent.size, err);
}
