/* Recordings: an index, its parts, and the chunks that contain other sources (members of archives, databases), which
 * are opened once per recording. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "chunks/spool.h"
#include "read/reader.h"

enum { OWN_CACHE = 48 << 20 }; /* for a recording opened without a cache */

static void release(struct reel_recording *r) {
    if (r->cache && !r->own_cache) {
        cache_drop_recording(r->cache, r->number);
    }
    if (r->own_cache) {
        reel_cache_free(r->cache);
    }
    open_chunks_done(&r->open_chunk);
    for (uint32_t i = 0; i < r->n_parts; i++) {
        reel_source_free(r->parts[i]);
    }
    free(r->parts);
    reel_index_free(r->index);
    free(r->derived_folder);
    free(r->derived_name);
    free(r);
}

static bool same_sizes(const struct reel_recording *r, struct reel_error *err) {
    if (r->n_parts != reel_index_info(r->index)->n_parts) {
        return reel_fail(err, REEL_CHANGED, "the recording has %u files, its index knows %u", r->n_parts,
                         reel_index_info(r->index)->n_parts);
    }
    for (uint32_t i = 0; i < r->n_parts; i++) {
        if (r->parts[i]->size != reel_index_part_size(r->index, i)) {
            return reel_fail(err, REEL_CHANGED, "%s has %llu bytes, its index knows %llu", r->parts[i]->name,
                             (unsigned long long)r->parts[i]->size,
                             (unsigned long long)reel_index_part_size(r->index, i));
        }
    }
    return true;
}

static bool set_options(struct reel_recording *r, const struct reel_recording_options *o, struct reel_error *err) {
    r->cache = o ? o->cache : NULL;
    if (!r->cache) {
        r->own_cache = true;
        if (!(r->cache = reel_cache_new(OWN_CACHE, err))) {
            return false;
        }
    }
    if (o && o->derived_folder && o->derived_name) {
        r->derived_folder = strdup(o->derived_folder);
        r->derived_name = strdup(o->derived_name);
        return (r->derived_folder && r->derived_name) || reel_fail_memory(err);
    }
    return true;
}

static bool has_entries(const struct reel_recording *r, struct reel_error *err) {
    return !reel_index_info(r->index)->is_summary ||
           reel_fail(err, REEL_ARGUMENT, "a summary has no messages: the recording is to be scanned first");
}

struct reel_recording *reel_recording_from_index(struct reel_index *index, struct reel_source **parts, uint32_t n_parts,
                                                 const struct reel_recording_options *options, struct reel_error *err) {
    static _Atomic uint64_t numbers;
    struct reel_recording *r = calloc(1, sizeof *r);
    struct reel_source **copy = malloc((n_parts ? n_parts : 1) * sizeof *copy);
    if (!r || !copy || !open_chunks_init(&r->open_chunk, NULL)) {
        free(r);
        free(copy);
        for (uint32_t i = 0; i < n_parts; i++) {
            reel_source_free(parts[i]);
        }
        reel_index_free(index);
        reel_fail_memory(err);
        return NULL;
    }
    memcpy(copy, parts, n_parts * sizeof *copy);
    r->index = index;
    r->parts = copy;
    r->n_parts = n_parts;
    r->number = atomic_fetch_add(&numbers, 1);
    atomic_init(&r->references, 1);
    if (!has_entries(r, err) || !set_options(r, options, err) || !same_sizes(r, err)) {
        release(r);
        return NULL;
    }
    return r;
}

struct reel_recording *reel_recording_ref(struct reel_recording *r) {
    atomic_fetch_add(&r->references, 1);
    return r;
}

void reel_recording_free(struct reel_recording *r) {
    if (r && atomic_fetch_sub(&r->references, 1) == 1) {
        release(r);
    }
}

const struct reel_index *reel_recording_index(const struct reel_recording *r) {
    return r->index;
}

/* ---- chunks as sources */

struct opening {
    struct reel_recording *recording;
    const struct reel_chunk *row;
};

static bool open_chunk(void *context, struct open_chunk *o, struct reel_error *err);

struct reel_source *recording_base(struct reel_recording *r, uint32_t id, const struct reel_chunk *row,
                                   struct open_chunk **pinned, struct reel_error *err) {
    *pinned = NULL;
    if (row->part < r->n_parts) {
        return r->parts[row->part];
    }
    uint32_t in = row->part & ~REEL_CHUNK_PART;
    if (row->part < REEL_CHUNK_PART || in >= id) {
        reel_fail(err, REEL_CHANGED, "the index knows no file %u", row->part);
        return NULL;
    }
    *pinned = open_chunk_pin(&r->open_chunk, in, open_chunk, &(struct opening){.recording = r}, err);
    return *pinned ? (*pinned)->source : NULL;
}

static struct reel_source *open_source(struct reel_recording *r, uint32_t id, const struct reel_chunk *row,
                                       struct reel_source *base, struct reel_error *err) {
    if (row->codec == REEL_CODEC_NONE) {
        return reel_source_slice(base, row->offset, row->stored, err);
    }
    if (row->codec == REEL_CODEC_ROWS) {
        const struct reel_format *format = reel_index_info(r->index)->format;
        if (format->open_rows && row->offset == 0 && row->stored == base->size) {
            return format->open_rows(base, row->damaged, err);
        }
        reel_fail(err, REEL_CHANGED, "the index knows no rows of %s", base->name);
        return NULL;
    }
    AUTO_MEM char *path = NULL;
    if (r->derived_folder && asprintf(&path, "%s/%s.%u.raw", r->derived_folder, r->derived_name, id) < 0) {
        path = NULL;
    }
    return spool_file(row, base, path, err);
}

/* Pins the log of a database as o->log. */
static struct reel_source *open_logged(struct reel_recording *r, struct open_chunk *o, const struct reel_chunk *row,
                                       struct reel_source *base, struct reel_error *err) {
    const struct reel_format *format = reel_index_info(r->index)->format;
    if (!format->open_logged || o->chunk == 0 || row->offset != 0 || row->stored != base->size) {
        reel_fail(err, REEL_CHANGED, "the index knows no log of %s", base->name);
        return NULL;
    }
    o->log = open_chunk_pin(&r->open_chunk, o->chunk - 1, open_chunk, &(struct opening){.recording = r}, err);
    struct reel_source *source = o->log ? format->open_logged(base, o->log->source, err) : NULL;
    if (source && source->size != row->raw) {
        reel_source_free(source);
        reel_fail(err, REEL_CHANGED, "the log of %s is another one", base->name);
        return NULL;
    }
    return source;
}

static bool is_spooled(enum reel_codec codec) {
    return codec != REEL_CODEC_NONE && codec != REEL_CODEC_ROWS && codec != REEL_CODEC_LOGGED;
}

/* For open_chunk_pin(). Reads the chunk's row when the caller does not have it. */
static bool open_chunk(void *context, struct open_chunk *o, struct reel_error *err) {
    struct reel_recording *r = ((struct opening *)context)->recording;
    const struct reel_chunk *row = ((struct opening *)context)->row;
    AUTO_MEM struct reel_chunk *rows = row ? NULL : malloc(index_chunk_rows(r->index) * sizeof *rows);
    uint32_t first, count;
    if (!row && !rows) {
        return reel_fail_memory(err);
    }
    if (!row && !index_read_chunks(r->index, o->chunk, rows, &first, &count, err)) {
        return false;
    }
    row = row ? row : &rows[o->chunk - first];
    struct reel_source *base = recording_base(r, o->chunk, row, &o->base, err);
    o->source = !base                             ? NULL
                : row->codec == REEL_CODEC_LOGGED ? open_logged(r, o, row, base, err)
                                                  : open_source(r, o->chunk, row, base, err);
    o->spooled = o->source && is_spooled(row->codec) ? row->raw : 0;
    return o->source != NULL;
}

struct open_chunk *recording_open_chunk(struct reel_recording *r, uint32_t id, const struct reel_chunk *row,
                                        struct reel_error *err) {
    const struct opening opening = {.recording = r, .row = row};
    return open_chunk_pin(&r->open_chunk, id, open_chunk, (void *)&opening, err);
}
