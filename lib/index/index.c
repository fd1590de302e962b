/* See index/index.h. Opening reads only the directory: the cost depends on the number of channels and segments, not of
 * messages. */
#include "index/index.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "base/limits.h"
#include "reel/cleanup.h"

enum {
    OPENING_MEMORY = 3
}; /* times the size of a directory: itself, and the model, for small channels twice as large */

static bool read_at(int fd, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    return disk_read_at(fd, buffer, size, offset) ||
           (errno == 0 ? reel_fail(err, REEL_CHANGED, "the index file is too short")
                       : reel_fail_errno(err, "could not read the index"));
}

struct directory {
    uint64_t offset, length;
    uint32_t crc;
};

static bool find_directory(int fd, uint64_t size, struct directory *out, struct reel_error *err) {
    uint8_t header[PACK_HEADER_BYTES], footer[PACK_FOOTER_BYTES];
    if (size < PACK_HEADER_BYTES + PACK_FOOTER_BYTES) {
        return reel_fail(err, REEL_CHANGED, "the index file is too short");
    }
    if (!read_at(fd, 0, header, sizeof header, err) || !read_at(fd, size - sizeof footer, footer, sizeof footer, err)) {
        return false;
    }
    *out = (struct directory){
        .offset = load_u64le(footer), .length = load_u64le(footer + 8), .crc = load_u32le(footer + 16)};
    if (memcmp(header, PACK_MAGIC, 8) != 0 || load_u64le(header + 8) != PACK_VERSION ||
        memcmp(footer + 24, PACK_MAGIC, 8) != 0 || load_u32le(footer + 20) != PACK_VERSION) {
        return reel_fail(err, REEL_CHANGED, "the index is of another version");
    }
    return (out->length <= PACK_DIRECTORY_MAX && out->offset <= size - sizeof footer &&
            out->length == size - sizeof footer - out->offset) ||
           reel_fail(err, REEL_CHANGED, "the index directory does not hold together");
}

uint64_t index_opening_memory(int fd) {
    struct stat there;
    struct directory directory;
    return fstat(fd, &there) == 0 && find_directory(fd, (uint64_t)there.st_size, &directory, NULL)
               ? directory.length * OPENING_MEMORY
               : 0;
}

static bool read_directory(struct reel_index *index, uint64_t size, struct reel_error *err) {
    struct directory directory;
    if (!find_directory(index->fd, size, &directory, err)) {
        return false;
    }
    AUTO_MEM uint8_t *data = malloc(directory.length ? directory.length : 1);
    if (!data) {
        return reel_fail_memory(err);
    }
    if (!read_at(index->fd, directory.offset, data, directory.length, err)) {
        return false;
    }
    if (pack_crc(data, directory.length) != directory.crc) {
        return reel_fail(err, REEL_CHANGED, "the checksum of the index directory does not hold");
    }
    return pack_model_read(bytes_of(data, directory.length), &index->model, err);
}

static bool is_current_format(const struct pack_model *m, const struct reel_format **format) {
    *format = reel_format_named(m->format);
    return *format && (*format)->version == m->format_version;
}

bool index_is_of_another_version(int fd) {
    struct reel_index index = {.fd = fd};
    struct reel_error ignored = {0};
    const struct reel_format *format;
    uint8_t header[PACK_HEADER_BYTES];
    struct stat s;
    if (fstat(fd, &s) != 0 || !read_at(fd, 0, header, sizeof header, &ignored) || memcmp(header, PACK_MAGIC, 8) != 0) {
        return false;
    }
    bool other = load_u64le(header + 8) != PACK_VERSION ||
                 (read_directory(&index, (uint64_t)s.st_size, &ignored) && !is_current_format(&index.model, &format));
    pack_model_free(&index.model);
    return other;
}

static bool sort_out(struct reel_index *index, struct reel_error *err) {
    const struct pack_model *m = &index->model;
    size_t *first = calloc(m->n_channels + 1, sizeof *first);
    if (!(index->first_segment = first)) {
        return reel_fail_memory(err);
    }
    uint32_t channel = 0;
    for (size_t i = 0; i < m->n_segments; i++) {
        if (m->segments[i].channel < channel) {
            return reel_fail(err, REEL_CHANGED, "the index directory does not hold together");
        }
        while (channel < m->segments[i].channel) {
            first[++channel] = i;
        }
    }
    while (channel < m->n_channels) {
        first[++channel] = m->n_segments;
    }
    return true;
}

/* The longest time without a message in a channel whose segments do not overlap. */
static void find_gap(struct reel_index *index, size_t channel) {
    const struct pack_model *m = &index->model;
    struct reel_channel_stats *s = &index->model.stats[channel];
    size_t from = index->first_segment[channel], end = index->first_segment[channel + 1];
    s->knows_gap = end > from;
    s->max_gap_ns = 0;
    for (size_t i = from; i < end; i++) {
        const struct pack_segment *segment = &m->segments[i];
        uint64_t between = i > from ? (uint64_t)segment->first.time_ns - (uint64_t)segment[-1].last.time_ns : 0;
        if (i > from && segment->first.time_ns < segment[-1].last.time_ns) {
            s->knows_gap = false;
            return;
        }
        s->max_gap_ns = between > s->max_gap_ns ? between : s->max_gap_ns;
        s->max_gap_ns = segment->gap > s->max_gap_ns ? segment->gap : s->max_gap_ns;
    }
}

static bool fill_info(struct reel_index *index, uint64_t size, bool any_reader, struct reel_error *err) {
    const struct pack_model *m = &index->model;
    struct reel_index_info *info = &index->info;
    bool is_current = is_current_format(m, &info->format);
    if (!info->format || (!is_current && !any_reader)) {
        return reel_fail(err, REEL_CHANGED, "the index was made by another version of the %s reader", m->format);
    }
    info->container = m->container;
    info->clock = m->clock;
    info->clock_note = m->clock_note;
    info->n_channels = (uint32_t)m->n_channels;
    info->n_parts = m->n_parts;
    info->n_chunks = m->n_chunks;
    index->pack_bytes = size;
    index->memory =
        m->arena.used + (m->n_segments * sizeof *m->segments) + (m->n_channels * sizeof *index->first_segment);
    info->is_summary = m->is_summary;
    info->damaged = m->losses > 0;
    info->lost_bytes = m->lost_bytes;
    info->n_findings_total = m->findings_total;
    for (size_t i = 0; i < m->n_channels; i++) {
        const struct reel_channel_stats *s = &m->stats[i];
        find_gap(index, i);
        if (s->count > 0) {
            info->start_ns = info->messages == 0 || s->first_ns < info->start_ns ? s->first_ns : info->start_ns;
            info->end_ns = info->messages == 0 || s->last_ns > info->end_ns ? s->last_ns : info->end_ns;
            info->messages += s->count;
            info->payload_bytes += s->bytes;
            info->largest_payload = s->largest > info->largest_payload ? s->largest : info->largest_payload;
        }
    }
    return true;
}

void reel_index_set_clock(struct reel_index *index, enum reel_clock clock) {
    index->info.clock = clock;
    index->info.clock_note = INDEX_CLOCK_SET;
}

static struct reel_index *new_index(const char *path, struct reel_error *err) {
    AUTO(reel_index_free) struct reel_index *index = calloc(1, sizeof *index);
    if (!index) {
        reel_fail_memory(err);
        return NULL;
    }
    index->fd = -1;
    if (!(index->path = strdup(path)) || !(index->corrupted = calloc(1, sizeof *index->corrupted))) {
        reel_fail_memory(err);
        return NULL;
    }
    return TAKE(index);
}

struct reel_index *index_of_growing(int fd, struct reel_bytes directory, uint8_t *recent, size_t recent_size,
                                    struct reel_error *err) {
    AUTO(reel_index_free) struct reel_index *index = new_index("", err);
    if (!index) {
        close(fd);
        free(recent);
        return NULL;
    }
    index->fd = fd;
    index->recent = recent;
    index->recent_size = recent_size;
    if (!pack_model_read(directory, &index->model, err) || !sort_out(index, err) ||
        !fill_info(index, directory.size, false, err)) {
        return NULL;
    }
    index->memory += recent_size;
    return TAKE(index);
}

struct reel_index *reel_index_open(const char *pack_path, struct reel_error *err) {
    int fd = open(pack_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        reel_fail(err, REEL_NOT_FOUND, "there is no index");
        return NULL;
    }
    if (fd < 0) {
        reel_fail_errno(err, "could not open the index");
        return NULL;
    }
    return index_of_pack(fd, pack_path, err);
}

static struct reel_index *index_of_file(int fd, const char *pack_path, bool any_reader, struct reel_error *err) {
    AUTO(reel_index_free) struct reel_index *index = new_index(pack_path ? pack_path : "", err);
    if (!index) {
        close(fd);
        return NULL;
    }
    index->fd = fd;
    struct stat there;
    if (fstat(fd, &there) != 0) {
        reel_fail_errno(err, "could not open the index");
        return NULL;
    }
    uint64_t size = (uint64_t)there.st_size;
    if (!read_directory(index, size, err) || !sort_out(index, err) || !fill_info(index, size, any_reader, err)) {
        return NULL;
    }
    return TAKE(index);
}

struct reel_index *index_of_pack(int fd, const char *pack_path, struct reel_error *err) {
    return index_of_file(fd, pack_path, false, err);
}

struct reel_index *index_of_any_reader(int fd, struct reel_error *err) {
    return index_of_file(fd, NULL, true, err);
}

void reel_index_free(struct reel_index *index) {
    if (!index) {
        return;
    }
    if (index->fd >= 0) {
        close(index->fd);
    }
    free(index->recent);
    free(index->first_segment);
    free(index->path);
    free(index->corrupted);
    if (index->remake.done) {
        index->remake.done(index->remake.context);
    }
    pack_model_free(&index->model);
    free(index);
}

void reel_index_rest(struct reel_index *index) {
    if (index->fd >= 0) {
        close(index->fd);
        index->fd = -1;
    }
}

const struct reel_index_info *reel_index_info(const struct reel_index *index) {
    return &index->info;
}
const struct reel_channel *reel_index_channel(const struct reel_index *index, uint32_t id) {
    return &index->model.channels[id];
}
const struct reel_channel_stats *reel_index_stats(const struct reel_index *index, uint32_t channel_id) {
    return &index->model.stats[channel_id];
}
const struct reel_attachment *reel_index_attachments(const struct reel_index *index, size_t *count) {
    *count = index->model.n_attachments;
    return index->model.attachments;
}
const struct reel_finding *reel_index_findings(const struct reel_index *index, size_t *count) {
    *count = index->model.n_findings;
    return index->model.findings;
}
const struct reel_attachment *reel_index_attachment(const struct reel_index *index, size_t i) {
    return i < index->model.n_attachments ? &index->model.attachments[i] : NULL;
}
const struct reel_finding *reel_index_finding(const struct reel_index *index, size_t i) {
    return i < index->model.n_findings ? &index->model.findings[i] : NULL;
}
const struct reel_pairs *reel_index_metadata(const struct reel_index *index) {
    return &index->model.metadata;
}
uint64_t reel_index_part_size(const struct reel_index *index, uint32_t part) {
    return part < index->model.n_parts ? index->model.part_sizes[part] : 0;
}

static bool read_pack(const struct reel_index *index, uint64_t offset, uint32_t size, uint8_t *buffer,
                      struct reel_error *err) {
    if (offset < INDEX_RECENT && index->fd >= 0) {
        return read_at(index->fd, offset, buffer, size, err);
    }
    if (offset < INDEX_RECENT) {
        AUTO_FD int fd = open(index->path, O_RDONLY | O_CLOEXEC);
        return fd >= 0 ? read_at(fd, offset, buffer, size, err) : reel_fail_errno(err, "could not open the index");
    }
    offset -= INDEX_RECENT;
    if (offset > index->recent_size || size > index->recent_size - offset) {
        return reel_fail(err, REEL_CHANGED, "the index file is too short");
    }
    memcpy(buffer, index->recent + offset, size);
    return true;
}

/* From the file that has the pack's name now. What fails its checksum goes, unless another has replaced it. */
static bool read_by_name(const struct reel_index *index, uint64_t offset, uint32_t size, uint32_t crc,
                         uint8_t *buffer) {
    AUTO_FD int fd = open(index->path, O_RDONLY | O_CLOEXEC);
    struct stat own, there;
    if (fd < 0) {
        return false;
    }
    if (disk_read_at(fd, buffer, size, offset) && pack_crc(buffer, size) == crc) {
        return true;
    }
    if (fstat(fd, &own) == 0 && stat(index->path, &there) == 0 && own.st_dev == there.st_dev &&
        own.st_ino == there.st_ino) {
        unlink(index->path);
    }
    return false;
}

/* The same files give the same pack, so that what was made again has the wanted bytes where they were. */
static bool read_remade(const struct reel_index *index, uint64_t offset, uint32_t size, uint32_t crc, uint8_t *buffer) {
    const struct index_remake *remake = &index->remake;
    struct reel_error why; /* the caller's is clearer */
    return remake->make && offset < INDEX_RECENT &&
           (read_by_name(index, offset, size, crc, buffer) ||
            (remake->make(remake->context, &why) && read_by_name(index, offset, size, crc, buffer)));
}

static bool read_checked(const struct reel_index *index, uint64_t offset, uint32_t size, uint32_t crc, uint8_t *buffer,
                         struct reel_error *err) {
    struct reel_error why = {0};
    if (read_pack(index, offset, size, buffer, &why) && pack_crc(buffer, size) == crc) {
        return true;
    }
    if (why.code != REEL_OK && why.code != REEL_CHANGED && why.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &why);
    }
    atomic_store(index->corrupted, true);
    if (read_remade(index, offset, size, crc, buffer)) {
        return true;
    }
    if (why.code == REEL_NOT_FOUND) { /* another thread has removed it */
        return reel_error_pass(err, &why);
    }
    return reel_fail(err, REEL_CHANGED, "the index is corrupted: its checksum does not match at %llu",
                     (unsigned long long)offset);
}

bool index_read_segment(const struct reel_index *index, const struct pack_segment *segment, uint8_t *buffer,
                        struct reel_error *err) {
    return read_checked(index, segment->offset, segment->size, segment->crc, buffer, err);
}

size_t index_chunk_rows(const struct reel_index *index) {
    const struct pack_model *m = &index->model;
    size_t rows = m->n_chunk_segments == 1 ? m->chunk_segments[0].count : REEL_SEGMENT_ENTRIES; /* all but the last are
                                                                                                   full */
    return rows == 0 ? 1 : rows < REEL_SEGMENT_ENTRIES ? rows : REEL_SEGMENT_ENTRIES;
}

bool index_read_chunks(const struct reel_index *index, uint32_t id, struct reel_chunk *rows, uint32_t *first,
                       uint32_t *count, struct reel_error *err) {
    size_t n = id / REEL_SEGMENT_ENTRIES; /* all segments of chunk rows are full, except the last */
    if (n >= index->model.n_chunk_segments) {
        return reel_fail(err, REEL_CHANGED, "the index knows no chunk %u", id);
    }
    const struct pack_chunk_segment *s = &index->model.chunk_segments[n];
    if (id % REEL_SEGMENT_ENTRIES >= s->count || s->count > REEL_SEGMENT_ENTRIES) {
        return reel_fail(err, REEL_CHANGED, "the index knows no chunk %u", id);
    }
    AUTO_MEM uint8_t *data = malloc(s->size ? s->size : 1);
    if (!data) {
        return reel_fail_memory(err);
    }
    if (!read_checked(index, s->offset, s->size, s->crc, data, err)) {
        return false;
    }
    if (!pack_unpack_chunks(bytes_of(data, s->size), s->count, rows)) {
        return reel_fail(err, REEL_CHANGED, "the chunk rows of the index do not hold together");
    }
    *first = (uint32_t)(n * REEL_SEGMENT_ENTRIES);
    *count = s->count;
    for (uint32_t i = 0; n == 0 && i < s->count && i < index->model.n_parts; i++) { /* a part may have grown since its
                                                                                       row was written */
        rows[i].raw = rows[i].stored = index->model.part_sizes[i];
    }
    return true;
}

/* ---- verification */

bool reel_index_verify(const struct reel_index *index, struct reel_error *err) {
    const struct pack_model *m = &index->model;
    AUTO_MEM uint8_t *data = malloc(PACK_BOUND(REEL_SEGMENT_ENTRIES, PACK_ENTRY_COLUMNS)); /* the largest segment */
    if (!data) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < m->n_segments; i++) {
        if (!cancel_check(err) || !index_read_segment(index, &m->segments[i], data, err)) {
            return false;
        }
    }
    for (size_t i = 0; i < m->n_chunk_segments; i++) {
        const struct pack_chunk_segment *s = &m->chunk_segments[i];
        if (!read_checked(index, s->offset, s->size, s->crc, data, err)) {
            return false;
        }
    }
    return true;
}

void index_set_remake(struct reel_index *index, struct index_remake remake) {
    index->remake = remake;
}

bool reel_index_is_corrupted(const struct reel_index *index) {
    return atomic_load(index->corrupted);
}

void reel_index_discard(const struct reel_index *index) {
    struct stat own, there;
    if (reel_index_is_corrupted(index) && fstat(index->fd, &own) == 0 && stat(index->path, &there) == 0 &&
        own.st_dev == there.st_dev && own.st_ino == there.st_ino) {
        unlink(index->path);
    }
}

bool reel_index_chunks(const struct reel_index *index, bool (*visit)(void *context, const struct reel_chunk *chunk),
                       void *context, struct reel_error *err) {
    AUTO_MEM struct reel_chunk *rows = malloc(REEL_SEGMENT_ENTRIES * sizeof *rows);
    if (!rows) {
        return reel_fail_memory(err);
    }
    uint32_t first = 0, count = 0;
    for (uint64_t id = 0; id < index->info.n_chunks; id = (uint64_t)first + count) {
        if (!index_read_chunks(index, (uint32_t)id, rows, &first, &count, err)) {
            return false;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (first + i >= index->info.n_parts && !visit(context, &rows[i])) {
                return true;
            }
        }
    }
    return true;
}
