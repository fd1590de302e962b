/* Finds the files a bag is made of: the recording's own parts, the members of archives among them, and files packed as
 * FILE.zstd. A file's kind follows from its first bytes; a member of an archive is also selected by its name. Each file
 * that is not a part gets a chunk, and its own chunks and entries refer to that one. */
#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "chunks/codec.h"
#include "chunks/spool.h"
#include "formats/rosbag2/log.h"
#include "syntax/tar.h"
#include "syntax/zip.h"

enum {
    FILES_MAX = 500, /* each may need three chunks (member, unpacked file, rows), all within the builder's limit */
    HEAD_BYTES = 4096,
    NESTED_MAX = 3,       /* a packed file that unpacks to an archive that holds a packed file */
    PEEK_BYTES = 1 << 20, /* bytes unpacked to find out the kind of a packed file */
    CRC_PIECE = 1 << 20,
    LEFT_OUT_MAX = 20, /* findings about other recordings */
};

struct finder {
    struct rosbag2_files *files;
    struct reel_scan *scan;
    struct arena *arena;
    uint64_t others, left_out; /* members that do not belong to a bag; of these, other recordings */
    const char *problem;       /* of the first member that cannot be read */
    struct reel_bytes folder;  /* in the archive, of the bag: with "/" at its end; data NULL: not yet known */
    bool has_data;             /* a data file of it was found */
};

/* --- kinds --- */

enum rosbag2_kind rosbag2_kind_of(struct reel_bytes head) {
    static const char mcap[] = "\x89MCAP", zip[] = "PK\x03\x04";
    struct reel_bytes start = bytes_of(head.data, head.size < HEAD_BYTES ? head.size : HEAD_BYTES);
    if (bytes_start(head, bytes_of(SQLITE_MAGIC, SQLITE_MAGIC_SIZE))) {
        return ROSBAG2_DATABASE;
    }
    if (bytes_start(head, bytes_text(mcap))) {
        return ROSBAG2_MCAP;
    }
    if (bytes_start(head, bytes_text(zip))) {
        return ROSBAG2_ZIP;
    }
    if (head.size >= 4 && load_u32le(head.data) == ZSTD_MAGIC_LE) {
        return ROSBAG2_ZSTD;
    }
    if (bytes_start(head, bytes_of("\x1f\x8b\x08", 3))) {
        return ROSBAG2_GZIP;
    }
    if (tar_is(head)) {
        return ROSBAG2_TAR;
    }
    return start.size > 0 && memmem(start.data, start.size, ROSBAG2_YAML_ROOT ":", strlen(ROSBAG2_YAML_ROOT ":"))
               ? ROSBAG2_YAML
               : ROSBAG2_OTHER;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}
/* True when the name is that of a data file. */
bool rosbag2_names_data(const char *name) {
    return ends_with(name, ".db3") || ends_with(name, ".mcap") || ends_with(name, ".db3.zstd") ||
           ends_with(name, ".mcap.zstd");
}
bool rosbag2_names_log(const char *name) {
    return ends_with(name, ".db3" ROSBAG2_LOG_ENDING);
}
/* SQLite rebuilds it from the log. */
static bool names_log_index(const char *name) {
    return ends_with(name, ".db3-shm");
}
static bool names_yaml(const char *name) {
    return ends_with(name, ".yaml") || ends_with(name, ".yml");
}
static bool names_file_of_bag(const char *name) {
    return rosbag2_names_data(name) || rosbag2_names_log(name) || names_yaml(name);
}
const char *rosbag2_last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* In each of these *holds is false for what is damaged. */
static bool zip_holds_bag(struct reel_source *source, bool *holds, struct reel_error *err) {
    struct reel_error why = {0};
    AUTO_STRUCT(zip_contents_free) struct zip_contents zip = {.count = 0};
    if (!zip_contents_read(&zip, source, &why)) {
        return reel_error_ignore(err, &why);
    }
    for (size_t i = 0; i < zip.count && !*holds; i++) {
        *holds = rosbag2_names_data((const char *)zip.members[i].name.data);
    }
    return true;
}

static bool tar_holds_bag(struct reel_source *source, bool *holds, struct reel_error *err) {
    struct arena arena = {.max = REEL_MODEL_MAX};
    struct tar tar = {.source = source, .arena = &arena};
    struct tar_member member;
    struct reel_error why = {0};
    bool more = true;
    for (unsigned i = 0; i < REEL_ATTACHMENTS_MAX && !*holds && tar_next(&tar, &member, &more, &why) && more; i++) {
        *holds = rosbag2_names_data(member.name);
    }
    arena_free(&arena);
    return reel_error_ignore(err, &why);
}

static enum reel_codec rosbag2_codec_of(enum rosbag2_kind kind) {
    return kind == ROSBAG2_ZSTD ? REEL_CODEC_ZSTD : kind == ROSBAG2_GZIP ? REEL_CODEC_GZIP : REEL_CODEC_NONE;
}

/* A packed data file, or a packed tar whose first bytes show a data file or metadata.yaml. */
static bool packed_holds_bag(enum rosbag2_kind packed, struct reel_bytes head, bool *holds, struct reel_error *err) {
    AUTO_MEM uint8_t *raw = malloc(PEEK_BYTES);
    size_t size;
    if (!raw) {
        return reel_fail_memory(err);
    }
    if (!codec_peek(rosbag2_codec_of(packed), head, raw, PEEK_BYTES, &size, err)) {
        return false;
    }
    struct reel_bytes seen = bytes_of(raw, size);
    enum rosbag2_kind kind = rosbag2_kind_of(seen);
    *holds = kind == ROSBAG2_DATABASE || kind == ROSBAG2_MCAP;
    if (kind != ROSBAG2_TAR) {
        return true;
    }
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(seen, NULL, err);
    if (!source || !tar_holds_bag(source, holds, err)) {
        return false;
    }
    *holds = *holds || memmem(seen.data, seen.size, ROSBAG2_YAML_ROOT ":", strlen(ROSBAG2_YAML_ROOT ":"));
    return true;
}

bool rosbag2_holds_bag(enum rosbag2_kind kind, struct reel_bytes head, struct reel_source *source, bool *holds,
                       struct reel_error *err) {
    *holds = false;
    return rosbag2_codec_of(kind) != REEL_CODEC_NONE ? packed_holds_bag(kind, head, holds, err)
           : kind == ROSBAG2_ZIP                     ? zip_holds_bag(source, holds, err)
                                                     : kind != ROSBAG2_TAR || tar_holds_bag(source, holds, err);
}

/* --- finding them --- */

static bool add_file(struct finder *f, const struct rosbag2_file *file, unsigned depth, struct reel_error *err);

/* Position of a finding about `offset` in the file. */
static uint64_t position_in(const struct rosbag2_file *outer, uint64_t offset) {
    return outer->location.offset + (outer->location.packed ? 0 : offset);
}

/* Adds bytes of `outer` as a file of their own. run.raw is UINT64_MAX when the unpacked size is unknown. */
static bool add_inner(struct finder *f, const struct rosbag2_file *outer, const char *path, struct reel_chunk run,
                      unsigned depth, struct reel_error *err) {
    const char *name = rosbag2_last_part(path);
    run.part =
        outer->location.chunk < f->scan->n_parts ? outer->location.chunk : REEL_CHUNK_PART | outer->location.chunk;
    struct rosbag2_file inner = {.own = true, .name = name, .path = path, .location = outer->location};
    inner.location.offset = position_in(outer, run.offset);
    inner.location.packed |= run.codec != REEL_CODEC_NONE;
    bool unmeasured = run.raw == UINT64_MAX;
    if (!unmeasured && run.codec != REEL_CODEC_NONE && run.raw > spool_unpacked_max(run.stored)) {
        return reel_fail(err, REEL_LIMIT, "%s: %llu bytes unpack to %llu", name, (unsigned long long)run.stored,
                         (unsigned long long)run.raw);
    }
    char why[SPOOL_WHY_ROOM] = "";
    inner.source = spool_recovered(&run, outer->source, spool_unpacked_max(run.stored), why, err);
    if (!inner.source) {
        return reel_error_at(err, "%s", name);
    }
    if (why[0]) {
        reel_scan_finding(f->scan, REEL_LOSS, inner.location.part, inner.location.offset, 0,
                          "%s: the %s data is damaged or ends early: its first %llu bytes are recovered (%s)", name,
                          codec_name(run.codec), (unsigned long long)run.raw, why);
    }
    inner.source->name = name;
    bool good = reel_scan_chunk(f->scan, &run, &inner.location.chunk, err);
    if (!good) {
        reel_source_free(inner.source);
        return false;
    }
    return add_file(f, &inner, depth, err);
}

/* Reports a file that cannot be opened as a finding and goes on with the others. */
static bool add_or_report(struct finder *f, const struct rosbag2_file *outer, const char *path, struct reel_chunk run,
                          unsigned depth, struct reel_error *err) {
    struct reel_error why = {0};
    if (add_inner(f, outer, path, run, depth, &why)) {
        return true;
    }
    if (why.code != REEL_DAMAGED && why.code != REEL_UNSUPPORTED && why.code != REEL_LIMIT) {
        return reel_error_pass(err, &why);
    }
    reel_scan_finding(f->scan, REEL_LOSS, outer->location.part, position_in(outer, run.offset), run.stored, "%s",
                      why.text);
    return true;
}

/* The file's name without the ending for compression. */
static const char *unpacked_name(struct arena *arena, const char *name) {
    static const char *const ends[][2] = {{".zstd", ""}, {".zst", ""}, {".tgz", ".tar"}, {".gz", ""}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (ends_with(name, ends[i][0])) {
            size_t size = strlen(name) - strlen(ends[i][0]);
            char *text = arena_alloc(arena, size + strlen(ends[i][1]) + 1);
            return text ? strcat(memcpy(text, name, size), ends[i][1]) : NULL;
        }
    }
    return name;
}

static bool add_unpacked(struct finder *f, const struct rosbag2_file *outer, unsigned depth, struct reel_error *err) {
    struct reel_chunk run = {.codec = rosbag2_codec_of(outer->kind), .stored = outer->source->size, .raw = UINT64_MAX};
    uint8_t head[32];
    size_t size = outer->source->size < sizeof head ? (size_t)outer->source->size : sizeof head;
    if (!reel_source_read(outer->source, 0, head, size, err)) {
        return false;
    }
    unsigned long long stated =
        outer->kind == ROSBAG2_ZSTD ? ZSTD_getFrameContentSize(head, size) : ZSTD_CONTENTSIZE_UNKNOWN;
    if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != ZSTD_CONTENTSIZE_ERROR &&
        stated <= spool_unpacked_max(run.stored)) {
        run.raw = stated;
    }
    const char *path = unpacked_name(f->arena, outer->path);
    return path ? add_or_report(f, outer, path, run, depth + 1, err) : arena_fail(f->arena, err);
}

static bool check_crc(struct finder *f, const struct rosbag2_file *outer, const char *name, const struct zip_member *m,
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
        reel_scan_finding(f->scan, REEL_LOSS, outer->location.part, m->offset, 0,
                          "member %s: its CRC-32 is %08x, the directory says %08x", name, crc, m->crc);
    }
    return true;
}

/* A member that is no file of a bag: another recording, which the user may miss, or any other file. */
static void pass_member(struct finder *f, const struct rosbag2_file *outer, const char *path, uint64_t offset) {
    const char *name = rosbag2_last_part(path);
    if (name[0] != '.' && reel_format_names(name) && f->left_out++ < LEFT_OUT_MAX) {
        reel_scan_finding(f->scan, REEL_WARNING, outer->location.part, position_in(outer, offset), 0,
                          "%s is another recording and is left out: an archive is one recording", path);
        return;
    }
    f->others += *name != '\0' && !names_log_index(name); /* folders have no name of their own */
}

/* Whether a member belongs to the bag that is read: an archive of several folders has a bag in each. metadata.yaml may
 * be above the data files. */
static bool is_of_bag(struct finder *f, const char *path) {
    const char *name = rosbag2_last_part(path);
    struct reel_bytes in = bytes_of(path, (size_t)(name - path));
    if (name[0] == '.' || !names_file_of_bag(name)) {
        return false;
    }
    bool is_data = !names_yaml(name);
    if (!f->folder.data || (is_data && !f->has_data)) {
        f->folder = in;
        f->has_data = is_data;
    }
    return bytes_equal(in, f->folder) || (!is_data && bytes_start(f->folder, in));
}

static bool add_zip(struct finder *f, const struct rosbag2_file *outer, unsigned depth, struct reel_error *err) {
    AUTO_STRUCT(zip_contents_free) struct zip_contents zip = {.count = 0};
    if (!zip_contents_read(&zip, outer->source, err)) {
        return false;
    }
    for (size_t i = 0; i < zip.count; i++) {
        const struct zip_member *m = &zip.members[i];
        const char *path = arena_utf8(f->arena, m->name), *name = path ? rosbag2_last_part(path) : NULL;
        if (!name) {
            return arena_fail(f->arena, err);
        }
        if (!is_of_bag(f, path)) {
            pass_member(f, outer, path, m->offset);
            continue;
        }
        if (m->problem) {
            f->problem = f->problem ? f->problem : m->problem;
            reel_scan_finding(f->scan, REEL_LOSS, outer->location.part, m->offset, m->stored, "member %s: %s", name,
                              m->problem);
            continue;
        }
        size_t before = f->files->count;
        struct reel_chunk run = {.codec = m->codec, .offset = m->offset, .stored = m->stored, .raw = m->raw};
        if (!add_or_report(f, outer, path, run, depth + 1, err) ||
            (m->crc_known && f->files->count > before &&
             !check_crc(f, outer, name, m, f->files->items[before].source, err))) {
            return false;
        }
    }
    return true;
}

static bool add_tar(struct finder *f, const struct rosbag2_file *outer, unsigned depth, struct reel_error *err) {
    struct tar tar = {.source = outer->source, .arena = f->arena};
    struct tar_member m;
    struct reel_error why = {0};
    for (bool more = true; more;) {
        if (!tar_next(&tar, &m, &more, &why)) {
            if (why.code != REEL_DAMAGED && why.code != REEL_LIMIT) {
                return reel_error_pass(err, &why);
            }
            reel_scan_finding(f->scan, REEL_LOSS, outer->location.part, position_in(outer, tar.at),
                              outer->source->size - tar.at, "%s: what follows is not read", why.text);
            return true;
        }
        if (!more) {
            return true;
        }
        const char *name = rosbag2_last_part(m.name);
        if (m.missing > 0) {
            reel_scan_finding(f->scan, REEL_WARNING, outer->location.part, position_in(outer, m.offset), m.missing,
                              "member %s: the archive is truncated, %llu bytes are missing", name,
                              (unsigned long long)m.missing);
        }
        if (!is_of_bag(f, m.name)) {
            pass_member(f, outer, m.name, m.offset);
        } else if (!add_or_report(f, outer, m.name,
                                  (struct reel_chunk){.offset = m.offset, .stored = m.size, .raw = m.size}, depth + 1,
                                  err)) {
            return false;
        }
    }
    return true;
}

/* An archive in an archive has a folder of its own; the members that follow are those of the outer one again. */
static bool add_archive(struct finder *f, const struct rosbag2_file *outer, unsigned depth, struct reel_error *err) {
    const struct reel_bytes folder = f->folder;
    const bool has_data = f->has_data;
    f->folder = bytes_of(NULL, 0);
    f->has_data = false;
    bool good = (outer->kind == ROSBAG2_ZIP ? add_zip : add_tar)(f, outer, depth, err);
    f->folder = folder;
    f->has_data = has_data;
    return good;
}

/* Sets how the recording is packed: the outermost packing counts. */
static void set_packed(struct rosbag2_files *files, enum rosbag2_kind kind, unsigned depth) {
    static const char *const packed[] = {
        [ROSBAG2_ZSTD] = "zstd", [ROSBAG2_GZIP] = "gzip", [ROSBAG2_ZIP] = "ZIP", [ROSBAG2_TAR] = "tar"};
    if (kind == ROSBAG2_TAR && depth == 1 && files->packed) {
        files->packed = strcmp(files->packed, packed[ROSBAG2_GZIP]) == 0 ? "tar.gz" : "tar.zst";
    } else if (kind >= ROSBAG2_ZSTD && !files->packed) {
        files->packed = packed[kind];
    }
}

/* Takes ownership of file->source if file->own, also on failure. */
static bool add_file(struct finder *f, const struct rosbag2_file *file, unsigned depth, struct reel_error *err) {
    struct rosbag2_files *files = f->files;
    uint8_t head[HEAD_BYTES];
    size_t size = file->source->size < sizeof head ? (size_t)file->source->size : sizeof head;
    bool full = files->count >= FILES_MAX;
    if (full || !GROW_ARRAY(files->items, files->count, files->capacity)) {
        if (file->own) {
            reel_source_free(file->source);
        }
        return full ? reel_fail(err, REEL_LIMIT, "more than %d files in one bag", FILES_MAX) : reel_fail_memory(err);
    }
    struct rosbag2_file *kept = &files->items[files->count++];
    *kept = *file;
    if (!reel_source_read(kept->source, 0, head, size, err)) {
        return false;
    }
    kept->kind = rosbag2_names_log(kept->name) ? ROSBAG2_LOG : rosbag2_kind_of(bytes_of(head, size));
    const struct rosbag2_file outer = *kept; /* the table may move */
    set_packed(files, outer.kind, depth);
    if (rosbag2_codec_of(outer.kind) != REEL_CODEC_NONE && depth < NESTED_MAX) {
        return add_unpacked(f, &outer, depth, err);
    }
    if ((outer.kind == ROSBAG2_ZIP && depth == 0) || (outer.kind == ROSBAG2_TAR && depth <= 1)) {
        return add_archive(f, &outer, depth, err);
    }
    if (outer.kind == ROSBAG2_OTHER && rosbag2_names_data(outer.name)) {
        reel_scan_finding(f->scan, REEL_LOSS, outer.location.part, outer.location.offset, outer.source->size,
                          "%s is %s: nothing of it is read", outer.name,
                          outer.source->size == 0 ? "empty" : "neither a database nor an MCAP file");
        return true;
    }
    if (outer.kind == ROSBAG2_OTHER || outer.kind >= ROSBAG2_ZSTD) {
        reel_scan_finding(f->scan, REEL_NOTE, outer.location.part, outer.location.offset, 0,
                          "%s is not a file of a bag: ignored", outer.name);
    }
    return true;
}

bool rosbag2_files_find(struct rosbag2_files *files, struct reel_scan *scan, struct arena *arena,
                        struct reel_error *err) {
    struct finder f = {.files = files, .scan = scan, .arena = arena};
    for (uint32_t i = 0; i < scan->n_parts; i++) {
        const struct rosbag2_file file = {.source = scan->parts[i],
                                          .name = scan->parts[i]->name,
                                          .path = scan->parts[i]->name,
                                          .location = {.chunk = i, .part = i}};
        if (!add_file(&f, &file, 0, err)) {
            return false;
        }
    }
    if (f.others > 0) {
        reel_scan_finding(scan, REEL_NOTE, 0, 0, 0,
                          "%llu further members of the archive are not files of a bag: ignored",
                          (unsigned long long)f.others);
    }
    files->problem = f.problem;
    return rosbag2_logs_join(files, scan, err);
}

void rosbag2_files_free(struct rosbag2_files *files) {
    for (size_t i = files->count; i-- > 0;) {
        if (files->items[i].own) {
            reel_source_free(files->items[i].source);
        }
    }
    free(files->items);
}
