/* What files a bag is made of: the recording's own parts, what archives among them hold, what is packed as FILE.zstd. Rule: a file is told
 * by its first bytes, a member of an archive also by its name; each that is not a part gets a chunk, in which its own chunks and entries
 * lie. */
#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

#include "core/codec.h"
#include "core/spool.h"
#include "formats/nanover.h"
#include "formats/ros2db.h"
#include "formats/tar.h"

enum {
    FILES_MAX = 500, /* with a chunk for the member, one for what it unpacks to and one for the rows: all among the builder's first */
    HEAD_BYTES = 4096,
    NESTED_MAX = 2,    /* archive, packed file */
    PACKED_RATIO = 64, /* a large file that is packed better than this is refused */
    CRC_PIECE = 1 << 20,
    IN_MEMORY_MAX = 1 << 20, /* larger packed files are unpacked to temporary ones: there may be many */
};

struct finder {
    struct ros2db_files *files;
    struct reel_scan *scan;
    struct arena *arena;
    uint64_t others; /* members that are no files of a bag */
};

/* --- kinds --- */

enum ros2db_kind ros2db_kind_of(struct bytes head) {
    static const char mcap[] = "\x89MCAP", zip[] = "PK\x03\x04";
    struct bytes start = bytes_of(head.data, head.size < HEAD_BYTES ? head.size : HEAD_BYTES);
    if (bytes_start(head, bytes_of(SQLITE_MAGIC, SQLITE_MAGIC_SIZE))) {
        return ROS2DB_DATABASE;
    }
    if (bytes_start(head, bytes_text(mcap))) {
        return ROS2DB_MCAP;
    }
    if (bytes_start(head, bytes_text(zip))) {
        return ROS2DB_ZIP;
    }
    if (head.size >= 4 && load_u32le(head.data) == ZSTD_MAGIC_LE) {
        return ROS2DB_ZSTD;
    }
    if (tar_is(head)) {
        return ROS2DB_TAR;
    }
    return start.size > 0 && memmem(start.data, start.size, ROS2DB_YAML_ROOT ":", strlen(ROS2DB_YAML_ROOT ":")) ? ROS2DB_YAML
                                                                                                                : ROS2DB_OTHER;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}
/* Names of messages' files; of metadata. */
bool ros2db_names_data(const char *name) {
    return ends_with(name, ".db3") || ends_with(name, ".mcap") || ends_with(name, ".db3.zstd") || ends_with(name, ".mcap.zstd");
}
static bool names_yaml(const char *name) {
    return ends_with(name, ".yaml") || ends_with(name, ".yml");
}
const char *ros2db_last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool zstd_holds_bag(struct bytes head) {
    uint8_t raw[SQLITE_MAGIC_SIZE] = {0};
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {.src = head.data, .size = head.size};
    ZSTD_outBuffer out = {.dst = raw, .size = sizeof raw};
    while (stream && in.pos < in.size && out.pos < out.size && !ZSTD_isError(ZSTD_decompressStream(stream, &out, &in))) {
    }
    ZSTD_freeDStream(stream);
    enum ros2db_kind kind = ros2db_kind_of(bytes_of(raw, out.pos));
    return kind == ROS2DB_DATABASE || kind == ROS2DB_MCAP;
}

static bool zip_holds_bag(struct reel_source *source) {
    struct reel_error ignored;
    AUTO(nanover_archive_close) struct nanover_archive archive = {.count = 0};
    bool found = false;
    if (nanover_archive_list(&archive, source, &ignored)) {
        for (size_t i = 0; i < archive.count && !found; i++) {
            found = ros2db_names_data((const char *)archive.members[i].name.data);
        }
    }
    return found;
}

static bool tar_holds_bag(struct reel_source *source) {
    struct arena arena = {.max = REEL_MODEL_MAX};
    struct tar tar = {.source = source, .arena = &arena};
    struct tar_member member;
    struct reel_error ignored;
    bool more = true, found = false;
    for (unsigned i = 0; i < REEL_ATTACHMENTS_MAX && !found && tar_next(&tar, &member, &more, &ignored) && more; i++) {
        found = ros2db_names_data(member.name);
    }
    arena_free(&arena);
    return found;
}

bool ros2db_holds_bag(enum ros2db_kind kind, struct bytes head, struct reel_source *source) {
    return kind == ROS2DB_ZSTD  ? zstd_holds_bag(head)
           : kind == ROS2DB_ZIP ? zip_holds_bag(source)
                                : kind == ROS2DB_TAR && tar_holds_bag(source);
}

/* --- finding them --- */

static bool add_file(struct finder *f, const struct ros2db_file *file, unsigned depth, struct reel_error *err);

/* Bytes of `outer` as a file of their own. */
static bool add_inner(struct finder *f, const struct ros2db_file *outer, const char *name, struct reel_chunk run, unsigned depth,
                      struct reel_error *err) {
    run.part = outer->place.chunk < f->scan->n_parts ? outer->place.chunk : REEL_INSIDE | outer->place.chunk;
    struct ros2db_file inner = {.own = true, .name = name, .place = outer->place};
    inner.place.offset += outer->place.packed ? 0 : run.offset;
    inner.place.packed |= run.codec != REEL_CODEC_NONE;
    if (run.raw > (uint64_t)REEL_CHUNK_RAW_MAX_MIB << 20 && run.raw / PACKED_RATIO > run.stored) {
        return reel_fail(err, REEL_LIMIT, "%s: %llu bytes unpack to %llu", name, (unsigned long long)run.stored,
                         (unsigned long long)run.raw);
    }
    bool on_disk = run.codec != REEL_CODEC_NONE && run.raw > IN_MEMORY_MAX;
    inner.source = on_disk ? spool_file(&run, outer->source, NULL, err) : spool_chunk(&run, outer->source, err);
    if (!inner.source) {
        return reel_error_at(err, "%s", name);
    }
    inner.source->name = name;
    bool good = reel_scan_chunk(f->scan, &run, &inner.place.chunk, err);
    if (!good) {
        reel_source_free(inner.source);
        return false;
    }
    return add_file(f, &inner, depth, err);
}

/* What cannot be opened is left out; the others are kept. */
static bool add_or_tell(struct finder *f, const struct ros2db_file *outer, const char *name, struct reel_chunk run, unsigned depth,
                        struct reel_error *err) {
    struct reel_error why = {0};
    if (add_inner(f, outer, name, run, depth, &why)) {
        return true;
    }
    if (why.code != REEL_DAMAGED && why.code != REEL_UNSUPPORTED && why.code != REEL_LIMIT) {
        *err = why;
        return false;
    }
    reel_scan_finding(f->scan, REEL_LOSS, outer->place.part, outer->place.offset + run.offset, run.stored, "%s", why.text);
    return true;
}

static bool add_unpacked(struct finder *f, const struct ros2db_file *outer, unsigned depth, struct reel_error *err) {
    struct reel_chunk run = {.codec = REEL_CODEC_ZSTD, .stored = outer->source->size};
    uint8_t head[32];
    size_t size = outer->source->size < sizeof head ? (size_t)outer->source->size : sizeof head;
    if (!reel_source_read(outer->source, 0, head, size, err)) {
        return false;
    }
    unsigned long long told = ZSTD_getFrameContentSize(head, size);
    uint64_t max = (uint64_t)REEL_CHUNK_RAW_MAX_MIB << 20;
    max = outer->source->size > max / PACKED_RATIO ? outer->source->size * PACKED_RATIO : max;
    run.raw = told;
    if ((told == ZSTD_CONTENTSIZE_UNKNOWN || told == ZSTD_CONTENTSIZE_ERROR || told > max) &&
        !codec_measure(REEL_CODEC_ZSTD, outer->source, 0, run.stored, max, &run.raw, err)) {
        return reel_error_at(err, "%s", outer->name);
    }
    size_t n = strlen(outer->name);
    n -= ends_with(outer->name, ".zstd") ? 5 : 0;
    char *name = arena_copy(f->arena, outer->name, n + 1);
    if (!name) {
        return reel_fail_memory(err);
    }
    name[n] = '\0';
    return add_or_tell(f, outer, name, run, depth + 1, err);
}

static bool check_crc(struct finder *f, const struct ros2db_file *outer, const char *name, const struct nanover_member *m,
                      struct reel_source *source, struct reel_error *err) {
    AUTO_MEM uint8_t *piece = malloc(CRC_PIECE);
    if (!piece) {
        return reel_fail_memory(err);
    }
    uint32_t crc = 0;
    for (uint64_t at = 0; at < source->size;) {
        size_t size = source->size - at < CRC_PIECE ? (size_t)(source->size - at) : CRC_PIECE;
        if (!reel_source_read(source, at, piece, size, err)) {
            return false;
        }
        crc = libdeflate_crc32(crc, piece, size);
        at += size;
    }
    if (crc != m->crc) {
        reel_scan_finding(f->scan, REEL_LOSS, outer->place.part, m->offset, 0, "member %s: its CRC-32 is %08x, the directory says %08x",
                          name, crc, m->crc);
    }
    return true;
}

static bool add_zip(struct finder *f, const struct ros2db_file *outer, unsigned depth, struct reel_error *err) {
    AUTO(nanover_archive_close) struct nanover_archive archive = {.count = 0};
    if (!nanover_archive_list(&archive, outer->source, err)) {
        return false;
    }
    for (size_t i = 0; i < archive.count; i++) {
        const struct nanover_member *m = &archive.members[i];
        const char *path = arena_utf8(f->arena, m->name), *name = path ? ros2db_last_part(path) : NULL;
        if (!name) {
            return reel_fail_memory(err);
        }
        if (!ros2db_names_data(name) && !names_yaml(name)) {
            f->others += *name != '\0'; /* folders have no name of their own */
            continue;
        }
        if (m->problem) {
            reel_scan_finding(f->scan, REEL_LOSS, outer->place.part, m->offset, m->stored, "member %s: %s", name, m->problem);
            continue;
        }
        size_t before = f->files->count;
        struct reel_chunk run = {.codec = m->codec, .offset = m->offset, .stored = m->stored, .raw = m->raw};
        if (!add_or_tell(f, outer, name, run, depth + 1, err) ||
            (m->crc_known && f->files->count > before && !check_crc(f, outer, name, m, f->files->items[before].source, err))) {
            return false;
        }
    }
    return true;
}

static bool add_tar(struct finder *f, const struct ros2db_file *outer, unsigned depth, struct reel_error *err) {
    struct tar tar = {.source = outer->source, .arena = f->arena};
    struct tar_member m;
    struct reel_error why = {0};
    for (bool more = true; more;) {
        if (!tar_next(&tar, &m, &more, &why)) {
            if (why.code != REEL_DAMAGED && why.code != REEL_LIMIT) {
                *err = why;
                return false;
            }
            reel_scan_finding(f->scan, REEL_LOSS, outer->place.part, tar.at, outer->source->size - tar.at, "%s: what follows is not read",
                              why.text);
            return true;
        }
        if (!more) {
            return true;
        }
        const char *name = ros2db_last_part(m.name);
        if (m.missing > 0) {
            reel_scan_finding(f->scan, REEL_WARNING, outer->place.part, m.offset, m.missing,
                              "member %s: the archive is cut, %llu bytes are missing", name, (unsigned long long)m.missing);
        }
        if (!ros2db_names_data(name) && !names_yaml(name)) {
            f->others++;
        } else if (!add_or_tell(f, outer, name, (struct reel_chunk){.offset = m.offset, .stored = m.size, .raw = m.size}, depth + 1, err)) {
            return false;
        }
    }
    return true;
}

/* Takes over an own source, also on failure. */
static bool add_file(struct finder *f, const struct ros2db_file *file, unsigned depth, struct reel_error *err) {
    struct ros2db_files *files = f->files;
    uint8_t head[HEAD_BYTES];
    size_t size = file->source->size < sizeof head ? (size_t)file->source->size : sizeof head;
    bool full = files->count >= FILES_MAX;
    if (full || !GROW_ARRAY(files->items, files->count, files->capacity)) {
        if (file->own) {
            reel_source_free(file->source);
        }
        return full ? reel_fail(err, REEL_LIMIT, "more than %d files in one bag", FILES_MAX) : reel_fail_memory(err);
    }
    struct ros2db_file *kept = &files->items[files->count++];
    *kept = *file;
    if (!reel_source_read(kept->source, 0, head, size, err)) {
        return false;
    }
    kept->kind = ros2db_kind_of(bytes_of(head, size));
    const struct ros2db_file outer = *kept; /* the table may move */
    static const char *const packed[] = {[ROS2DB_ZSTD] = "zstd", [ROS2DB_ZIP] = "ZIP", [ROS2DB_TAR] = "tar"};
    if (outer.kind >= ROS2DB_ZSTD && depth < NESTED_MAX && !files->packed) {
        files->packed = packed[outer.kind];
    }
    if (outer.kind == ROS2DB_ZSTD && depth < NESTED_MAX) {
        return add_unpacked(f, &outer, depth, err);
    }
    if (outer.kind == ROS2DB_ZIP && depth == 0) {
        return add_zip(f, &outer, depth, err);
    }
    if (outer.kind == ROS2DB_TAR && depth == 0) {
        return add_tar(f, &outer, depth, err);
    }
    if (outer.kind == ROS2DB_OTHER || outer.kind >= ROS2DB_ZSTD) {
        reel_scan_finding(f->scan, REEL_NOTE, outer.place.part, outer.place.offset, 0, "%s is no file of a bag: left out", outer.name);
    }
    return true;
}

bool ros2db_files_find(struct ros2db_files *files, struct reel_scan *scan, struct arena *arena, struct reel_error *err) {
    struct finder f = {.files = files, .scan = scan, .arena = arena};
    for (uint32_t i = 0; i < scan->n_parts; i++) {
        const struct ros2db_file file = {.source = scan->parts[i], .name = scan->parts[i]->name, .place = {.chunk = i, .part = i}};
        if (!add_file(&f, &file, 0, err)) {
            return false;
        }
    }
    if (f.others > 0) {
        reel_scan_finding(scan, REEL_NOTE, 0, 0, 0, "%llu further members of the archive are no files of a bag: left out",
                          (unsigned long long)f.others);
    }
    return true;
}

void ros2db_files_free(struct ros2db_files *files) {
    for (size_t i = files->count; i-- > 0;) {
        if (files->items[i].own) {
            reel_source_free(files->items[i].source);
        }
    }
    free(files->items);
}
