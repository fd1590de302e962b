/* See builder.h. Only the segment table (about 64 bytes per 4096 messages) grows with the number of messages. */
#include "index/builder.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "base/ownership.h"
#include "chunks/spool.h"
#include "index/index.h"

enum {
    LANE_FIRST = 8, /* so that REEL_BUILD_MEMORY_MAX is enough for the maximum number of channels */
    FILE_BUFFER = 1 << 20,
};

static bool write_bytes(struct reel_builder *b, const void *data, size_t size, struct reel_error *err) {
    if (size > 0 && fwrite(data, size, 1, b->file) != 1) {
        return reel_fail_errno(err, "could not write the index");
    }
    b->pos += size;
    return true;
}

static int create_beside(struct reel_builder *b, const char *pack_path, struct reel_error *err) {
    if (!(b->path = strdup(pack_path)) || !(b->temporary = disk_adjacent(pack_path, ".tmp-XXXXXX"))) {
        reel_fail_memory(err);
        return -1;
    }
    int fd = mkostemp(b->temporary, O_CLOEXEC);
    if (fd < 0) {
        free(TAKE(b->temporary));
        reel_fail_errno(err, "could not create the index");
        return -1;
    }
    reel_own_by_folder(fd, b->temporary);
    return fd;
}

static bool builder_open_file(struct reel_builder *b, const char *pack_path, struct reel_error *err) {
    int fd = pack_path ? create_beside(b, pack_path, err) : spool_open(NULL, err);
    if (fd < 0) {
        return false;
    }
    if (!(b->file = fdopen(fd, "w+"))) {
        close(fd);
        return reel_fail_errno(err, "could not open the index");
    }
    setvbuf(b->file, NULL, _IOFBF, FILE_BUFFER);
    uint8_t header[PACK_HEADER_BYTES] = PACK_MAGIC;
    store_u32le(header + 8, PACK_VERSION);
    return write_bytes(b, header, sizeof header, err);
}

struct reel_builder *builder_new(const char *pack_path, const char *format, uint32_t format_version,
                                 const uint64_t *part_sizes, uint32_t n_parts, struct reel_error *err) {
    AUTO(builder_free) struct reel_builder *b = calloc(1, sizeof *b);
    if (!b) {
        reel_fail_memory(err);
        return NULL;
    }
    b->first_raw = malloc(REEL_SEGMENT_ENTRIES * sizeof *b->first_raw);
    b->model.arena.max = REEL_MODEL_MAX;
    b->model.part_sizes = malloc((n_parts ? n_parts : 1) * sizeof *part_sizes);
    b->model.format = arena_text(&b->model.arena, format);
    if (!b->first_raw || !b->model.part_sizes || !b->model.format) {
        reel_fail_memory(err);
        return NULL;
    }
    b->model.format_version = format_version;
    b->model.container = b->model.clock_note = "";
    memcpy(b->model.part_sizes, part_sizes, n_parts * sizeof *part_sizes);
    b->model.n_parts = n_parts;
    if (!builder_open_file(b, pack_path, err)) {
        return NULL;
    }
    for (uint32_t i = 0; i < n_parts; i++) {
        uint32_t id;
        if (!builder_add_chunk(b, &(struct reel_chunk){.part = i, .stored = part_sizes[i], .raw = part_sizes[i]}, &id,
                               err)) {
            return NULL;
        }
    }
    return TAKE(b);
}

void builder_free(struct reel_builder *b) {
    if (!b) {
        return;
    }
    if (b->file) {
        fclose(b->file);
    }
    if (b->temporary) {
        unlink(b->temporary);
    }
    for (size_t i = 0; i < b->model.n_channels; i++) {
        free(b->lanes[i].entries);
    }
    free(b->lanes);
    free(b->chunks);
    free(b->before);
    free(b->first_raw);
    free(b->scratch);
    free(b->path);
    free(b->temporary);
    pack_model_free(&b->model);
    free(b);
}

bool builder_set_channel(struct reel_builder *b, uint32_t id, const struct reel_channel *c, struct reel_error *err) {
    struct pack_model *m = &b->model;
    if (c->n_schemas > REEL_SCHEMAS_PER_CHANNEL_MAX) {
        return reel_fail(err, REEL_LIMIT, "channel %s: more than %d schemas", c->name, REEL_SCHEMAS_PER_CHANNEL_MAX);
    }
    if (!pack_model_copy_channel(&m->arena, c, &m->channels[id])) {
        pack_model_full(&m->arena, err);
        return reel_error_at(err, "channel %.128s", c->name);
    }
    m->channels[id].id = id;
    return true;
}

bool builder_add_channel(struct reel_builder *b, const struct reel_channel *c, uint32_t *id, struct reel_error *err) {
    struct pack_model *m = &b->model;
    if (m->n_channels >= REEL_CHANNELS_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d channels", REEL_CHANNELS_MAX);
    }
    size_t n = m->n_channels;
    if (!GROW_ARRAY(m->channels, n, m->cap_channels) || !GROW_ARRAY(m->stats, n, m->cap_stats) ||
        !GROW_ARRAY(b->lanes, n, b->cap_lanes)) {
        return reel_fail_memory(err);
    }
    if (!builder_set_channel(b, (uint32_t)n, c, err)) {
        return false;
    }
    m->stats[n] = (struct reel_channel_stats){0};
    b->lanes[n] = (struct builder_lane){0};
    m->n_channels++;
    *id = (uint32_t)n;
    return true;
}

/* ---- chunks */

/* Makes `scratch` large enough for a packed segment of n rows and c columns. */
static bool room_to_pack(struct reel_builder *b, size_t n, size_t c, struct reel_error *err) {
    size_t size = PACK_BOUND(n, c);
    if (size > b->cap_scratch) {
        free(TAKE(b->scratch));
        b->scratch = malloc(size);
        b->cap_scratch = b->scratch ? size : 0;
    }
    return b->scratch || reel_fail_memory(err);
}

static bool flush_chunks(struct reel_builder *b, struct reel_error *err) {
    struct pack_model *m = &b->model;
    if (b->n_chunks == 0) {
        return true;
    }
    if (!GROW_ARRAY(m->chunk_segments, m->n_chunk_segments, m->cap_chunk_segments)) {
        return reel_fail_memory(err);
    }
    if (!room_to_pack(b, b->n_chunks, PACK_CHUNK_COLUMNS, err)) {
        return false;
    }
    size_t size = pack_chunks(b->chunks, b->n_chunks, b->scratch);
    m->chunk_segments[m->n_chunk_segments++] = (struct pack_chunk_segment){
        .offset = b->pos, .count = (uint32_t)b->n_chunks, .size = (uint32_t)size, .crc = pack_crc(b->scratch, size)};
    struct reel_chunk *filled = b->chunks;
    size_t cap_filled = b->cap_chunks;
    b->chunks = b->before;
    b->cap_chunks = b->cap_before;
    b->before = filled;
    b->cap_before = cap_filled;
    b->chunks_first += b->n_chunks;
    b->n_chunks = 0;
    return write_bytes(b, b->scratch, size, err);
}

/* Raw size of a chunk, which must be one of the first 4096 (these include all files of the recording) or still in
 * `chunks` or `before`. */
static bool chunk_raw(const struct reel_builder *b, uint32_t id, uint64_t *raw) {
    if (id >= b->chunks_first && id - b->chunks_first < b->n_chunks) {
        *raw = b->chunks[id - b->chunks_first].raw;
        return true;
    }
    if (id < REEL_SEGMENT_ENTRIES && id < b->model.n_chunks) {
        *raw = b->first_raw[id];
        return true;
    }
    if (id < b->chunks_first && b->chunks_first - id <= REEL_SEGMENT_ENTRIES) {
        *raw = b->before[REEL_SEGMENT_ENTRIES - (b->chunks_first - id)].raw;
        return true;
    }
    return false;
}

bool builder_add_chunk(struct reel_builder *b, const struct reel_chunk *c, uint32_t *id, struct reel_error *err) {
    uint64_t room = c->part < b->model.n_parts ? b->model.part_sizes[c->part] : 0;
    bool known = c->part < b->model.n_parts ||
                 ((c->part & REEL_CHUNK_PART) != 0 && chunk_raw(b, c->part & ~REEL_CHUNK_PART, &room));
    if (!known || (c->codec == REEL_CODEC_NONE && c->raw != c->stored)) {
        return reel_fail(err, REEL_ARGUMENT, "chunk at %llu: file %u, %llu plain bytes of %llu",
                         (unsigned long long)c->offset, c->part, (unsigned long long)c->raw,
                         (unsigned long long)c->stored);
    }
    if (c->offset > room || c->stored > room - c->offset) {
        return reel_fail(err, REEL_DAMAGED, "chunk at %llu: %llu bytes exceed the file", (unsigned long long)c->offset,
                         (unsigned long long)c->stored);
    }
    if (b->model.n_chunks >= UINT32_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %u chunks", UINT32_MAX);
    }
    if (b->n_chunks == REEL_SEGMENT_ENTRIES && !flush_chunks(b, err)) {
        return false;
    }
    if (!GROW_ARRAY(b->chunks, b->n_chunks, b->cap_chunks)) {
        return reel_fail_memory(err);
    }
    b->chunks[b->n_chunks++] = *c;
    if (b->model.n_chunks < REEL_SEGMENT_ENTRIES) {
        b->first_raw[b->model.n_chunks] = c->raw;
    }
    *id = (uint32_t)b->model.n_chunks++;
    return true;
}

uint64_t builder_part_size(const struct reel_builder *b) {
    return b->model.part_sizes[0];
}
void builder_grow_part(struct reel_builder *b, uint64_t size) {
    b->model.part_sizes[0] = b->first_raw[0] = size;
    if (b->chunks_first == 0) { /* later the row keeps an earlier size: index_read_chunks() */
        b->chunks[0].raw = b->chunks[0].stored = size;
    }
}

/* ---- entries */

static int compare_entries(const void *a, const void *b) {
    struct pack_key x = pack_key_of(a), y = pack_key_of(b);
    return pack_key_compare(&x, &y);
}

static uint64_t longest_gap(const struct reel_entry *entries, uint32_t count) {
    uint64_t gap = 0;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t between = (uint64_t)entries[i].time_ns - (uint64_t)entries[i - 1].time_ns;
        gap = between > gap ? between : gap;
    }
    return gap;
}

void builder_sort(struct reel_entry *entries, uint32_t count) {
    qsort(entries, count, sizeof *entries, compare_entries);
}

struct pack_segment builder_pack(const struct reel_entry *entries, uint32_t count, uint8_t *out, uint64_t offset) {
    size_t size = pack_entries(entries, count, out);
    return (struct pack_segment){.channel = entries[0].channel,
                                 .count = count,
                                 .first = pack_key_of(&entries[0]),
                                 .last = pack_key_of(&entries[count - 1]),
                                 .gap = longest_gap(entries, count),
                                 .offset = offset,
                                 .size = (uint32_t)size,
                                 .crc = pack_crc(out, size)};
}

bool builder_put_segment(struct reel_builder *b, const struct reel_entry *entries, uint32_t count,
                         struct reel_error *err) {
    struct pack_model *m = &b->model;
    if (!GROW_ARRAY(m->segments, m->n_segments, m->cap_segments)) {
        return reel_fail_memory(err);
    }
    if (!room_to_pack(b, count, PACK_ENTRY_COLUMNS, err)) {
        return false;
    }
    struct pack_segment *segment = &m->segments[m->n_segments++];
    *segment = builder_pack(entries, count, b->scratch, b->pos);
    return write_bytes(b, b->scratch, segment->size, err);
}

static bool flush_lane(struct reel_builder *b, struct builder_lane *lane, struct reel_error *err) {
    if (lane->unsorted) {
        builder_sort(lane->entries, lane->count);
    }
    uint32_t count = lane->count;
    lane->count = 0;
    lane->unsorted = false;
    return count == 0 || builder_put_segment(b, lane->entries, count, err);
}

/* Called when too many entries are pending over all channels: packs and frees the lanes that hold at least half their
 * share, which frees at least half of the memory. */
static bool relieve(struct reel_builder *b, struct reel_error *err) {
    size_t n = b->model.n_channels, share = b->lane_bytes / n / 2;
    for (size_t i = 0; i < n; i++) {
        struct builder_lane *lane = &b->lanes[i];
        size_t bytes = lane->capacity * sizeof *lane->entries;
        if (bytes >= share) {
            if (!flush_lane(b, lane, err)) {
                return false;
            }
            free(TAKE(lane->entries));
            lane->capacity = 0;
            b->lane_bytes -= bytes;
        }
    }
    return true;
}

/* Makes room in a full lane: doubles it up to the size of a segment, then packs it. */
static bool builder_widen(struct reel_builder *b, struct builder_lane *lane, struct reel_error *err) {
    if (lane->count == REEL_SEGMENT_ENTRIES) {
        return flush_lane(b, lane, err);
    }
    if (b->lane_bytes >= REEL_BUILD_MEMORY_MAX && !relieve(b, err)) {
        return false;
    }
    uint32_t new_capacity = lane->capacity ? lane->capacity * 2 : LANE_FIRST;
    struct reel_entry *p = realloc(lane->entries, new_capacity * sizeof *p);
    if (!p) {
        return reel_fail_memory(err);
    }
    b->lane_bytes += (new_capacity - lane->capacity) * sizeof *p;
    lane->entries = p;
    lane->capacity = new_capacity;
    return true;
}

bool builder_add_entry(struct reel_builder *b, const struct reel_entry *e, struct reel_error *err) {
    uint64_t raw;
    if (e->channel >= b->model.n_channels || !chunk_raw(b, e->chunk, &raw)) {
        return reel_fail(err, REEL_ARGUMENT, "message at %llu refers to an unknown channel or chunk",
                         (unsigned long long)e->offset);
    }
    if (e->offset > raw || (uint64_t)e->head + e->size > raw - e->offset) {
        return reel_fail(err, REEL_DAMAGED, "message at %llu: %llu bytes exceed its chunk",
                         (unsigned long long)e->offset, (unsigned long long)e->head + e->size);
    }
    struct builder_lane *lane = &b->lanes[e->channel];
    if (lane->count == lane->capacity && !builder_widen(b, lane, err)) {
        return false;
    }
    if (lane->count > 0 && !lane->unsorted) {
        struct pack_key last = pack_key_of(&lane->entries[lane->count - 1]), now = pack_key_of(e);
        lane->unsorted = pack_key_compare(&last, &now) > 0;
    }
    lane->entries[lane->count++] = *e;
    b->early += e->time_ns < REEL_DATE_MIN_NS;
    struct reel_channel_stats *s = &b->model.stats[e->channel];
    s->first_ns = s->count == 0 || e->time_ns < s->first_ns ? e->time_ns : s->first_ns;
    s->last_ns = s->count == 0 || e->time_ns > s->last_ns ? e->time_ns : s->last_ns;
    s->count++;
    s->bytes += e->size;
    s->largest = e->size > s->largest ? e->size : s->largest;
    return true;
}

/* ---- the end */

bool builder_decide_clock(const struct reel_builder *b, struct pack_model *m, struct reel_error *err) {
    uint64_t all = 0;
    for (size_t i = 0; i < m->n_channels; i++) {
        all += m->stats[i].count;
    }
    uint64_t half = all / 2;
    if (b->knows_clock || (b->early == 0 && b->unclear == 0)) {
        return true;
    }
    if (b->early <= half && b->early + b->unclear > half) {
        return reel_fail(err, REEL_UNSUPPORTED, "some times are near zero: the clock is unknown until a scan");
    }
    m->clock = b->early > half ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL;
    m->clock_note =
        b->early == all   ? "times start near zero: the clock of a simulation, or time since the recording began"
        : b->early > half ? "most times are near zero: the clock of a simulation, or time since the recording began"
                          : "most times are dates; those near zero are from before the clock was set";
    return true;
}

static bool write_directory(struct reel_builder *b, struct reel_error *err) {
    struct grow directory = {0};
    pack_model_write(&b->model, &directory);
    AUTO_MEM uint8_t *data = directory.data;
    if (directory.failed) {
        return reel_fail_memory(err);
    }
    if (directory.size > PACK_DIRECTORY_MAX) {
        return reel_fail(err, REEL_LIMIT, "the index directory exceeds %d bytes", PACK_DIRECTORY_MAX);
    }
    uint8_t footer[PACK_FOOTER_BYTES];
    store_u64le(footer, b->pos);
    store_u64le(footer + 8, directory.size);
    store_u32le(footer + 16, pack_crc(data, directory.size));
    store_u32le(footer + 20, PACK_VERSION);
    memcpy(footer + 24, PACK_MAGIC, 8);
    return write_bytes(b, data, directory.size, err) && write_bytes(b, footer, sizeof footer, err);
}

bool builder_is_complete(const struct reel_builder *b, struct reel_error *err) {
    return (!b->no_memory && !b->model.arena.no_memory) || reel_fail_memory(err);
}

bool builder_finish(struct reel_builder *b, struct reel_error *err) {
    if (!builder_is_complete(b, err) || !builder_decide_clock(b, &b->model, err)) {
        return false;
    }
    for (size_t i = 0; i < b->model.n_channels; i++) {
        if (!flush_lane(b, &b->lanes[i], err)) {
            return false;
        }
        free(TAKE(b->lanes[i].entries));
    }
    if (!flush_chunks(b, err) || !builder_compact(b, err) || !write_directory(b, err)) {
        return false;
    }
    if (fflush(b->file) != 0 || (b->path && fsync(fileno(b->file)) != 0)) {
        return reel_fail_errno(err, "could not write the index");
    }
    if (!b->path) {
        return true;
    }
    if (rename(b->temporary, b->path) != 0) {
        return reel_fail_errno(err, "could not put the index in place");
    }
    free(TAKE(b->temporary));
    return disk_sync_folder_of(b->path, err);
}

struct reel_index *builder_open(const struct reel_builder *b, struct reel_error *err) {
    int fd = fcntl(fileno(b->file), F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        reel_fail_errno(err, "could not open the index");
        return NULL;
    }
    return index_of_pack(fd, b->path, err);
}
