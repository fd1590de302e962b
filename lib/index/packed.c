/* See packed.h. The bytes of each file that is inside become a chunk, and the format scans these chunks as its parts.
 */
#include "index/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/limits.h"
#include "base/mix.h"
#include "chunks/codec.h"
#include "chunks/spool.h"
#include "index/builder.h"
#include "index/collect.h"
#include "syntax/tar.h"
#include "syntax/zip.h"

enum {
    HEAD_BYTES = 64 << 10,
    PEEK_BYTES = 1 << 20,            /* of what is compressed, to see what it is */
    MEMBERS_MAX = COLLECT_PARTS_MAX, /* files of an archive that are named as recordings are */
    LEFT_OUT_MAX = 20,               /* findings about further recordings */
};

/* ---- what is inside */

struct member {
    const char *name, *path;
    struct reel_chunk chunk; /* in the archive; .part is set when it is added */
    const char *problem;
    uint8_t *head; /* its first bytes */
    size_t head_size;
};
struct archive {
    struct arena arena;
    struct member *items;
    struct collect_file *files;
    uint32_t n;
    size_t room;
    const char *what;      /* "ZIP" */
    uint64_t beyond;       /* files above MEMBERS_MAX */
    uint64_t end_at;       /* where the listing of a tar ends */
    struct reel_error end; /* why it ends there; REEL_OK: it is whole */
};
static void archive_done(struct archive *a) {
    for (uint32_t i = 0; i < a->n; i++) {
        free(a->items[i].head);
    }
    free(a->items);
    free(a->files);
    arena_free(&a->arena);
}

static const char *packed_last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The codec of a compressed file. */
static enum reel_codec stream_codec(struct reel_bytes head) {
    static const struct {
        struct reel_bytes magic;
        enum reel_codec codec;
    } known[] = {{{(const uint8_t *)"\x1f\x8b\x08", 3}, REEL_CODEC_GZIP},
                 {{(const uint8_t *)"\x28\xb5\x2f\xfd", 4}, REEL_CODEC_ZSTD},
                 {{(const uint8_t *)"\xfd"
                                    "7zXZ",
                   5},
                  REEL_CODEC_XZ},
                 {{(const uint8_t *)"BZh", 3}, REEL_CODEC_BZIP2}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (bytes_start(head, known[i].magic)) {
            return known[i].codec;
        }
    }
    return REEL_CODEC_NONE;
}

static bool is_zip(struct reel_bytes head) {
    return bytes_start(head, bytes_of("PK\x03\x04", 4));
}

/* The name without the ending that compression adds. */
static const char *unpacked_name(struct arena *arena, const char *name) {
    static const char *const ends[][2] = {{".tgz", ".tar"}, {".zstd", ""}, {".zst", ""},
                                          {".gz", ""},      {".xz", ""},   {".bz2", ""}};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i][0]);
        if (size > n && strcmp(name + size - n, ends[i][0]) == 0) {
            char *text = arena_alloc(arena, size + 2);
            return text ? strcat((char *)memcpy(memset(text, 0, size + 2), name, size - n), ends[i][1]) : NULL;
        }
    }
    return name;
}

/* ---- members */

/* The first bytes of a member; none where they cannot be decoded. */
static bool read_head(struct member *m, struct reel_source *source, struct reel_error *err) {
    size_t stored = m->chunk.stored < HEAD_BYTES ? (size_t)m->chunk.stored : HEAD_BYTES;
    AUTO_MEM uint8_t *data = malloc(HEAD_BYTES);
    if (!data || !(m->head = malloc(HEAD_BYTES))) {
        return reel_fail_memory(err);
    }
    if (m->problem || stored == 0) {
        return true;
    }
    if (m->chunk.codec == REEL_CODEC_NONE) {
        m->head_size = stored;
        return reel_source_read(source, m->chunk.offset, m->head, stored, err);
    }
    return reel_source_read(source, m->chunk.offset, data, stored, err) &&
           codec_peek(m->chunk.codec, bytes_of(data, stored), m->head, HEAD_BYTES, &m->head_size, err);
}

/* A file of the archive that is named as recordings are. */
static bool add_member(struct archive *a, struct reel_source *source, const char *path, const struct reel_chunk *chunk,
                       const char *problem, struct reel_error *err) {
    const char *name = packed_last_part(path);
    if (name[0] == '.' || !reel_format_names(name)) {
        return true;
    }
    if (a->n == MEMBERS_MAX) {
        a->beyond++;
        return true;
    }
    if (!GROW_ARRAY(a->items, a->n, a->room)) {
        return reel_fail_memory(err);
    }
    struct member *m = &a->items[a->n++];
    *m = (struct member){.name = name, .path = path, .chunk = *chunk, .problem = problem};
    return read_head(m, source, err);
}

static bool list_zip(struct archive *a, struct reel_source *source, struct reel_error *err) {
    struct reel_error why = {0};
    AUTO_STRUCT(zip_contents_free) struct zip_contents zip = {.count = 0};
    if (!zip_contents_read(&zip, source, &why)) {
        return reel_error_ignore(err, &why);
    }
    for (size_t i = 0; i < zip.count; i++) {
        const struct zip_member *z = &zip.members[i];
        const char *path = arena_utf8(&a->arena, z->name);
        const struct reel_chunk chunk = {.codec = z->codec, .offset = z->offset, .stored = z->stored, .raw = z->raw};
        if (!path) {
            return arena_fail(&a->arena, err);
        }
        if (!add_member(a, source, path, &chunk, z->problem, err)) {
            return false;
        }
    }
    return true;
}

static bool list_tar(struct archive *a, struct reel_source *source, struct reel_error *err) {
    struct tar tar = {.source = source, .arena = &a->arena};
    struct tar_member t;
    struct reel_error why = {0};
    bool more = true;
    while (tar_next(&tar, &t, &more, &why) && more) {
        const struct reel_chunk chunk = {.offset = t.offset, .stored = t.size, .raw = t.size};
        if (!add_member(a, source, t.name, &chunk, NULL, err)) {
            return false;
        }
        a->end_at = tar.at;
    }
    if (why.code == REEL_NO_MEMORY || why.code == REEL_IO) {
        return reel_error_pass(err, &why);
    }
    a->end = why;
    return true;
}

static struct reel_source *open_member(void *context, uint32_t i) {
    const struct member *m = &((const struct archive *)context)->items[i];
    return reel_source_from_memory(bytes_of(m->head, m->head_size), m->name, NULL);
}

static uint64_t hash_of(const char *text, size_t size) {
    uint64_t hash = 0;
    for (size_t i = 0; i < size; i++) {
        hash = mix_step(hash, (uint8_t)text[i]);
    }
    return hash;
}

/* Lists an archive, and finds which of its files are one recording. */
static bool list_archive(struct archive *a, struct reel_bytes head, struct reel_source *source,
                         struct reel_error *err) {
    a->arena.max = REEL_MODEL_MAX;
    a->what = is_zip(head) ? "ZIP" : "tar";
    if (!(is_zip(head) ? list_zip(a, source, err) : list_tar(a, source, err))) {
        return false;
    }
    if (!(a->files = calloc((size_t)a->n + 1, sizeof *a->files))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        size_t folder = (size_t)(a->items[i].name - a->items[i].path);
        a->files[i].folder[0] = hash_of(a->items[i].path, folder);
        a->files[i].folder[1] = folder;
    }
    collect_parts(a->files, a->n, open_member, a);
    return true;
}

/* The first recording; a->n: there is none. */
static uint32_t first_of(const struct archive *a) {
    uint32_t i = 0;
    while (i < a->n && (a->files[i].leader != i || !a->files[i].format)) {
        i++;
    }
    return i;
}

/* ---- probing */

static const struct reel_format *probe_archive(struct reel_bytes head, struct reel_source *source,
                                               struct reel_error *err) {
    AUTO_STRUCT(archive_done) struct archive a = {.n = 0};
    if (!list_archive(&a, head, source, err)) {
        return NULL;
    }
    uint32_t first = first_of(&a);
    for (uint32_t i = 0; i < a.n && first == a.n; i++) {
        if (a.items[i].problem) {
            reel_fail(err, REEL_UNSUPPORTED, "%s in the archive cannot be read: %s", a.items[i].name,
                      a.items[i].problem);
            return NULL;
        }
    }
    return first < a.n ? a.files[first].format : NULL;
}

static const struct reel_format *probe_stream(enum reel_codec codec, struct reel_bytes head, const char *name,
                                              struct reel_error *err) {
    struct arena arena = {.max = REEL_TEXT_MAX + 64};
    AUTO_MEM uint8_t *raw = malloc(PEEK_BYTES);
    size_t size = 0;
    const struct reel_format *format = NULL;
    struct reel_error why = {0};
    if (!raw || !codec_peek(codec, head, raw, PEEK_BYTES, &size, err)) {
        return raw ? NULL : (reel_fail_memory(err), NULL);
    }
    const char *inner = unpacked_name(&arena, name);
    AUTO(reel_source_free)
    struct reel_source *source = inner ? reel_source_from_memory(bytes_of(raw, size), inner, err) : NULL;
    if (source && tar_is(bytes_of(raw, size))) {
        format = probe_archive(bytes_of(raw, size), source, err);
    } else if (source && stream_codec(bytes_of(raw, size)) == REEL_CODEC_NONE && !is_zip(bytes_of(raw, size))) {
        format = reel_format_probe(source, &why);
        if (!format && why.code != REEL_NOT_MINE) {
            reel_error_ignore(err, &why);
        }
    }
    arena_free(&arena);
    return format;
}

const struct reel_format *packed_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    enum reel_codec codec = stream_codec(head);
    return codec != REEL_CODEC_NONE       ? probe_stream(codec, head, source->name, err)
           : is_zip(head) || tar_is(head) ? probe_archive(head, source, err)
                                          : NULL;
}

/* ---- scanning */

struct unpacked { /* what the format scans */
    struct arena arena;
    struct reel_source *sources[COLLECT_PARTS_MAX];
    struct reel_location locations[COLLECT_PARTS_MAX];
    uint32_t n;
    struct reel_source *stream; /* of a compressed archive */
    char what[64];              /* "ZIP", "tar, gzip" */
};
static void unpacked_done(struct unpacked *u) {
    while (u->n > 0) {
        reel_source_free(u->sources[--u->n]);
    }
    reel_source_free(u->stream);
    arena_free(&u->arena);
}

/* Adds a file that is inside as a chunk. `in`: where the bytes around it are. */
static struct reel_source *unpack(struct reel_scan *scan, struct reel_source *outer, const struct reel_location *in,
                                  struct reel_chunk chunk, const char *name, struct reel_location *location,
                                  struct reel_error *err) {
    char why[SPOOL_WHY_ROOM] = "";
    chunk.part = in->chunk < scan->n_parts ? in->chunk : REEL_CHUNK_PART | in->chunk;
    if (chunk.raw != UINT64_MAX && chunk.codec != REEL_CODEC_NONE && chunk.raw > spool_unpacked_max(chunk.stored)) {
        reel_fail(err, REEL_LIMIT, "%s: %llu bytes unpack to %llu", name, (unsigned long long)chunk.stored,
                  (unsigned long long)chunk.raw);
        return NULL;
    }
    struct reel_source *source = spool_recovered(&chunk, outer, spool_unpacked_max(chunk.stored), why, err);
    if (!source) {
        return NULL;
    }
    source->name = name;
    *location = (struct reel_location){.part = in->part,
                                       .offset = in->offset + (in->packed ? 0 : chunk.offset),
                                       .packed = in->packed || chunk.codec != REEL_CODEC_NONE};
    if (why[0]) {
        reel_scan_finding(scan, REEL_LOSS, in->part, location->offset, 0,
                          "%s: the %s data is damaged or ends early: its first %llu bytes are recovered (%s)", name,
                          codec_name(chunk.codec), (unsigned long long)chunk.raw, why);
    }
    if (!reel_scan_chunk(scan, &chunk, &location->chunk, err)) {
        reel_source_free(source);
        return NULL;
    }
    return source;
}

static void report_left_out(struct reel_scan *scan, const struct archive *a, uint32_t first) {
    uint32_t more = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->files[i].leader == i && i != first && ++more <= LEFT_OUT_MAX) {
            reel_scan_finding(scan, REEL_WARNING, 0, a->items[i].chunk.offset, 0,
                              "%s is another recording and is left out: an archive is one recording", a->items[i].path);
        }
    }
}

/* What of the archive is not listed. */
static void report_unlisted(struct reel_scan *scan, const struct archive *a, const struct reel_location *in) {
    if (a->beyond > 0) {
        reel_scan_finding(scan, REEL_LOSS, in->part, in->offset, 0,
                          "the archive has %llu files more that are named as recordings: at most %d are read",
                          (unsigned long long)a->beyond, MEMBERS_MAX);
    }
    if (a->end.code != REEL_OK) {
        reel_scan_finding(scan, REEL_LOSS, in->part, in->offset + (in->packed ? 0 : a->end_at), 0,
                          "the archive is damaged: the files from here on are lost (%s)", a->end.text);
    }
}

static bool unpack_archive(struct reel_scan *scan, struct unpacked *u, const struct archive *a,
                           struct reel_source *source, const struct reel_location *in, struct reel_error *err) {
    uint32_t first = first_of(a);
    if (first == a->n) {
        return reel_fail(err, REEL_NOT_MINE, "no recording is in the archive");
    }
    for (uint32_t k = 0; k <= a->n && u->n < COLLECT_PARTS_MAX; k++) { /* the leader, then the others */
        uint32_t i = k == 0 ? first : k - 1;
        if (k > 0 && (i == first || a->files[i].leader != first)) {
            continue;
        }
        const char *name = arena_text(&u->arena, a->items[i].name);
        if (!name) {
            return arena_fail(&u->arena, err);
        }
        if (!(u->sources[u->n] = unpack(scan, source, in, a->items[i].chunk, name, &u->locations[u->n], err))) {
            return false;
        }
        u->n++;
    }
    report_left_out(scan, a, first);
    return true;
}

static bool unpack_members(struct reel_scan *scan, struct unpacked *u, struct reel_bytes head,
                           struct reel_source *source, const struct reel_location *in, struct reel_error *err) {
    AUTO_STRUCT(archive_done) struct archive a = {.n = 0};
    if (!list_archive(&a, head, source, err)) {
        return false;
    }
    size_t used = strlen(u->what);
    snprintf(u->what + used, sizeof u->what - used, "%s%s", used > 0 ? ", " : "", a.what);
    report_unlisted(scan, &a, in);
    return unpack_archive(scan, u, &a, source, in, err);
}

static bool unpack_stream(struct reel_scan *scan, struct unpacked *u, enum reel_codec codec, struct reel_error *err) {
    struct reel_source *part = scan->parts[0];
    const struct reel_location whole = {.chunk = 0};
    const struct reel_chunk chunk = {.codec = codec, .stored = part->size, .raw = UINT64_MAX};
    const char *name = unpacked_name(&u->arena, part->name);
    struct reel_location in;
    uint8_t head[1024];
    snprintf(u->what, sizeof u->what, "%s", codec_name(codec));
    if (!name) {
        return arena_fail(&u->arena, err);
    }
    struct reel_source *source = unpack(scan, part, &whole, chunk, name, &in, err);
    if (!source) {
        return false;
    }
    size_t size = source->size < sizeof head ? (size_t)source->size : sizeof head;
    if (!reel_source_read(source, 0, head, size, err) || !tar_is(bytes_of(head, size))) {
        u->sources[u->n] = source;
        u->locations[u->n++] = in;
        return err->code == REEL_OK;
    }
    u->stream = source;
    return unpack_members(scan, u, bytes_of(head, size), source, &in, err);
}

static bool unpack_part(struct reel_scan *scan, struct unpacked *u, struct reel_bytes head, struct reel_error *err) {
    enum reel_codec codec = stream_codec(head);
    const struct reel_location whole = {.chunk = 0};
    return codec != REEL_CODEC_NONE ? unpack_stream(scan, u, codec, err)
                                    : unpack_members(scan, u, head, scan->parts[0], &whole, err);
}

static bool scan_unpacked(struct reel_scan *scan, const struct reel_format *format, struct unpacked *u,
                          struct reel_error *err) {
    char container[256];
    struct reel_scan inner = {.parts = u->sources,
                              .n_parts = u->n,
                              .builder = scan->builder,
                              .progress = scan->progress,
                              .threads = scan->threads,
                              .locations = u->locations};
    if (!format->scan(&inner, err)) {
        return false;
    }
    const char *own = scan->builder->model.container;
    snprintf(container, sizeof container, "%s%sin %s", own ? own : "", own && own[0] ? ", " : "", u->what);
    reel_scan_container(scan, container);
    return true;
}

bool packed_scan(struct reel_scan *scan, const struct reel_format *format, bool *packed, struct reel_error *err) {
    struct reel_source *part = scan->parts[0];
    AUTO_MEM uint8_t *head = malloc(HEAD_BYTES);
    size_t size = part->size < HEAD_BYTES ? (size_t)part->size : HEAD_BYTES;
    struct reel_error none = {0};
    *packed = false;
    if (!head) {
        return reel_fail_memory(err);
    }
    if (scan->n_parts != 1) {
        return true;
    }
    if (!reel_source_read(part, 0, head, size, err)) {
        return false;
    }
    struct reel_bytes seen = bytes_of(head, size);
    if (stream_codec(seen) == REEL_CODEC_NONE && !is_zip(seen) && !tar_is(seen)) {
        return true;
    }
    int own = size > 0 ? format->probe(seen, part, &none) : 0;
    if (own != 0) { /* the format reads it itself */
        return own > 0 || reel_error_pass(err, &none);
    }
    if (packed_probe(seen, part, &none) != format) { /* it says itself what is wrong */
        return reel_error_ignore(err, &none);
    }
    *packed = true;
    AUTO_STRUCT(unpacked_done) struct unpacked u = {.arena = {.max = REEL_MODEL_MAX}};
    struct reel_error own_error = {0};
    return (unpack_part(scan, &u, seen, &own_error) || reel_error_pass(err, &own_error)) &&
           scan_unpacked(scan, format, &u, err);
}
