/* Scans rosbag2 recordings: .db3 databases, alone or with metadata.yaml, in an archive of the directory, compressed as
 * files or message by message; and directories of MCAP files, whose bytes the MCAP reader scans. All files are found
 * and get their chunks before any message is walked. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/mcap/message.h"
#include "formats/rosbag2/log.h"
#include "index/builder.h"

enum {
    PROBE_YAML_BITS = 8 * 28,
    PROBE_LOG_BITS = 1, /* its name only: a damaged log is reported, too */
    PROBE_ARCHIVE_BITS = 8 * 16,
    UNPACK_RATIO = 256, /* compressed messages of one recording may unpack to this multiple of its size while scanning,
                           … */
};
#define UNPACK_BASE (UINT64_C(4) << 30) /* … but at least to this */

static void free_nothing(void *node) {
    (void)node;
}
static void scan_close(struct rosbag2_scan *s) {
    tdestroy(s->channels, free_nothing);
    free(s->list);
    rosbag2_files_free(&s->files);
    rosbag2_meta_free(&s->meta);
    arena_free(&s->arena);
}

static void base_close(struct rosbag2_base *b) {
    rosbag2_close(&b->db);
    rosbag2_repair_free(b->repair);
    free(b->topics);
}
struct bases {
    struct rosbag2_base *items;
    size_t count;
};
static void bases_close(struct bases *all) {
    for (size_t i = 0; i < all->count; i++) {
        base_close(&all->items[i]);
    }
    free(all->items);
}

static size_t count_kind(const struct rosbag2_files *files, enum rosbag2_kind kind) {
    size_t n = 0;
    for (size_t i = 0; i < files->count; i++) {
        n += files->items[i].kind == kind;
    }
    return n;
}

/* --- metadata.yaml --- */

static bool read_yaml(struct rosbag2_scan *s, const struct rosbag2_file *file, struct reel_error *err) {
    struct reel_error why = {0};
    uint64_t size = file->source->size;
    if (s->meta.present) {
        reel_scan_finding(s->scan, REEL_NOTE, file->location.part, file->location.offset, size,
                          "%s: a further one, ignored", file->name);
        return true;
    }
    AUTO_MEM uint8_t *text = size <= ROSBAG2_YAML_MAX ? malloc((size_t)size + 1) : NULL;
    if (size <= ROSBAG2_YAML_MAX && !text) {
        return reel_fail_memory(err);
    }
    if (text && !reel_source_read(file->source, 0, text, (size_t)size, err)) {
        return false;
    }
    s->has_metadata_file = true;
    if (text ? rosbag2_meta_read(&s->meta, &s->arena, bytes_of(text, (size_t)size), &why)
             : reel_fail(&why, REEL_LIMIT, "%llu bytes, at most %d are taken", (unsigned long long)size,
                         ROSBAG2_YAML_MAX)) {
        return true;
    }
    if (why.code == REEL_NO_MEMORY) {
        return reel_error_pass(err, &why);
    }
    reel_scan_finding(s->scan, REEL_WARNING, file->location.part, file->location.offset, size, "%s cannot be read: %s",
                      file->name, why.text);
    return true;
}

static bool rosbag2_add_pair(struct rosbag2_scan *s, const char *key, const char *value, struct reel_error *err) {
    return !value || value[0] == '\0' || reel_scan_metadata(s->scan, key, bytes_text(value), err);
}

static bool add_metadata(struct rosbag2_scan *s, struct reel_error *err) {
    const struct rosbag2_meta *m = &s->meta;
    if (!rosbag2_add_pair(s, "metadata_version", m->version, err) ||
        !rosbag2_add_pair(s, "storage_identifier", m->storage, err) ||
        !rosbag2_add_pair(s, "ros_distro", s->distro && s->distro[0] ? s->distro : m->distro, err) ||
        !rosbag2_add_pair(s, "compression_mode", m->compression_mode, err) ||
        !rosbag2_add_pair(s, "compression_format", m->compression_format, err)) {
        return false;
    }
    for (size_t i = 0; i < m->custom.count; i++) {
        if (!reel_scan_metadata(s->scan, m->custom.items[i].key, bytes_text(m->custom.items[i].value), err)) {
            return false;
        }
    }
    return true;
}

static bool has_file(const struct rosbag2_files *files, const char *name) {
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(rosbag2_last_part(files->items[i].name), name) == 0) {
            return true;
        }
    }
    return false;
}

/* Reports files that metadata.yaml lists but that are missing. */
static void compare_files(struct rosbag2_scan *s) {
    enum { SEARCHED_MAX = 1000 };
    for (size_t i = 0; s->has_metadata_file && i < s->meta.n_paths && i < SEARCHED_MAX; i++) {
        const char *name = rosbag2_last_part(s->meta.paths[i]);
        if (!has_file(&s->files, name)) {
            reel_scan_finding(s->scan, REEL_WARNING, 0, 0, 0, "metadata.yaml names %s, which is not here", name);
        }
    }
}

/* Compares the count of metadata.yaml with the files; the files count. A metadata.yaml inside a database is written
 * before its last messages, so it is not compared. */
static void compare_counts(struct rosbag2_scan *s) {
    const struct pack_model *found = &s->scan->builder->model;
    const struct rosbag2_meta *m = &s->meta;
    uint64_t messages = 0;
    for (size_t i = 0; i < found->n_channels; i++) {
        messages += found->stats[i].count;
    }
    if (s->has_metadata_file && m->counted && m->messages != messages) {
        reel_scan_finding(s->scan, REEL_WARNING, 0, 0, 0, "metadata.yaml counts %llu messages, here are %llu",
                          (unsigned long long)m->messages, (unsigned long long)messages);
    }
}

/* --- databases --- */

/* Reports a cut file and pages that do not lead to all messages, then opens the connection again with repaired pages.
 */
static bool repair(struct rosbag2_base *b, struct reel_error *err) {
    struct reel_source *source = b->file->source;
    uint64_t missing = b->db.view.size - source->size;
    if (missing > 0) {
        reel_scan_finding(b->s->scan, REEL_LOSS, b->file->location.part,
                          b->file->location.offset + (b->file->location.packed ? 0 : source->size), missing,
                          "%s is truncated: it has %llu of %llu bytes", b->file->name, (unsigned long long)source->size,
                          (unsigned long long)b->db.view.size);
    }
    if (!rosbag2_repair_new(&b->db, source, &b->repair, err)) {
        return false;
    }
    if (!b->repair) {
        return true;
    }
    if (b->repair->leaves > 0) {
        rosbag2_finding(
            b, REEL_WARNING,
            "pages that lead to the messages are damaged or missing: %llu pages with messages were found without them",
            (unsigned long long)b->repair->leaves);
    }
    if (b->repair->damaged > 0) {
        rosbag2_finding(b, REEL_LOSS, "%llu damaged page%s of messages: %llu messages there are readable",
                        (unsigned long long)b->repair->damaged, b->repair->damaged == 1 ? "" : "s",
                        (unsigned long long)b->repair->kept);
    }
    rosbag2_close(&b->db);
    return rosbag2_open(&b->db, source, b->repair, err);
}

static bool open_base(struct rosbag2_scan *s, struct rosbag2_base *b, const struct rosbag2_file *file,
                      struct reel_error *err) {
    b->s = s;
    b->file = file;
    uint8_t head[SQLITE_HEADER_SIZE];
    if (!rosbag2_open(&b->db, file->source, NULL, err) || !rosbag2_read_topics(b, err) ||
        !rosbag2_read_metadata(b, err) || !repair(b, err)) {
        return false;
    }
    if (!reel_source_read(file->source, 0, head, sizeof head, err)) {
        return false;
    }
    if (head[SQLITE_READ_VERSION_AT] == 2 && !file->has_log) {
        rosbag2_finding(b, REEL_NOTE,
                        "the database is in WAL mode: messages in a file %s-wal, if there was one, are missing",
                        file->name);
    }
    const struct reel_chunk rows = {
        .part = file->location.chunk < s->scan->n_parts ? file->location.chunk : REEL_CHUNK_PART | file->location.chunk,
        .codec = REEL_CODEC_ROWS,
        .stored = file->source->size,
        .raw = UINT64_MAX,
        .damaged = b->repair != NULL};
    return reel_scan_chunk(s->scan, &rows, &b->rows, err);
}

/* A database that cannot be used is left out when there are others. */
static bool open_or_report(struct rosbag2_scan *s, struct bases *all, const struct rosbag2_file *file, bool only,
                           struct reel_error *err) {
    struct reel_error why = {0};
    struct rosbag2_base *b = &all->items[all->count++];
    if (open_base(s, b, file, &why)) {
        return true;
    }
    if (only || (why.code != REEL_DAMAGED && why.code != REEL_NOT_MINE && why.code != REEL_UNSUPPORTED &&
                 why.code != REEL_LIMIT)) {
        return reel_error_pass(err, &why);
    }
    reel_scan_finding(s->scan, REEL_LOSS, file->location.part, file->location.offset, file->source->size, "%s: %s",
                      file->name, why.text);
    base_close(b);
    all->count--;
    return true;
}

static bool scan_databases(struct rosbag2_scan *s, struct reel_error *err) {
    size_t n;
    AUTO_MEM const struct rosbag2_file **files = rosbag2_in_order(s, ROSBAG2_DATABASE, &n, err);
    if (!files) {
        return false;
    }
    AUTO_STRUCT(bases_close) struct bases all = {.items = calloc(n + 1, sizeof *all.items)};
    if (!all.items) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        if (!open_or_report(s, &all, files[i], n == 1, err)) {
            return false;
        }
    }
    int newest = 0;
    for (size_t i = 0; i < all.count; i++) {
        newest = all.items[i].version > newest ? all.items[i].version : newest;
        if (!rosbag2_walk(&all.items[i], err)) {
            return false;
        }
    }
    char container[64];
    snprintf(container, sizeof container, "SQLite, schema version %d%s%s", newest, s->files.packed ? ", in " : "",
             s->files.packed ? s->files.packed : "");
    reel_scan_container(s->scan, container);
    return all.count > 0 || reel_fail(err, REEL_DAMAGED, "none of the bag's %zu databases can be read", n);
}

/* --- MCAP files --- */

static bool scan_mcaps(struct rosbag2_scan *s, struct reel_error *err) {
    size_t n;
    AUTO_MEM const struct rosbag2_file **files = rosbag2_in_order(s, ROSBAG2_MCAP, &n, err);
    if (!files) {
        return false;
    }
    const struct reel_format *mcap = reel_format_probe(files[0]->source, err);
    if (!mcap) {
        return false;
    }
    AUTO_MEM struct reel_source **parts = calloc(n, sizeof(struct reel_source *));
    AUTO_MEM struct reel_location *locations = calloc(n, sizeof *locations);
    if (!parts || !locations) {
        return reel_fail_memory(err);
    }
    struct reel_scan inner = {.parts = parts,
                              .n_parts = (uint32_t)n,
                              .builder = s->scan->builder,
                              .progress = s->scan->progress,
                              .threads = s->scan->threads,
                              .locations = locations};
    for (size_t i = 0; i < n; i++) {
        parts[i] = files[i]->source;
        locations[i] = files[i]->location;
    }
    if (!mcap->scan(&inner, err)) {
        return false;
    }
    char container[64];
    snprintf(container, sizeof container, "MCAP%s%s", s->files.packed ? ", in " : "",
             s->files.packed ? s->files.packed : "");
    reel_scan_container(s->scan, container);
    return true;
}

/* --- all of it --- */

static bool refuse_metadata_alone(const struct rosbag2_meta *meta, struct reel_error *err) {
    return reel_fail(
        err, REEL_DAMAGED,
        "metadata.yaml alone: the messages are in the files it names (%.100s%s), which belong to one recording with it",
        meta->n_paths > 0 ? rosbag2_last_part(meta->paths[0]) : "none", meta->n_paths > 1 ? ", …" : "");
}

static bool rosbag2_scan(struct reel_scan *scan, struct reel_error *err) {
    AUTO_STRUCT(scan_close) struct rosbag2_scan s = {.scan = scan, .arena = {.max = REEL_MODEL_MAX}};
    if (!rosbag2_files_find(&s.files, scan, &s.arena, err)) {
        return false;
    }
    uint64_t stored = 0;
    for (size_t i = 0; i < s.files.count; i++) {
        const struct rosbag2_file *file = &s.files.items[i];
        if (file->kind == ROSBAG2_YAML && !read_yaml(&s, file, err)) {
            return false;
        }
        stored += file->kind == ROSBAG2_DATABASE ? file->source->size : 0;
    }
    s.total = stored;
    s.unpack_left = UNPACK_BASE + (stored < UINT64_MAX / 2 / UNPACK_RATIO ? stored * UNPACK_RATIO : 0);
    if (s.files.count == 1 && s.files.items[0].kind == ROSBAG2_LOG) {
        return reel_fail(err, REEL_DAMAGED, "a write-ahead log alone: it is read together with its database, %.*s",
                         (int)(strlen(s.files.items[0].name) - strlen(ROSBAG2_LOG_ENDING)), s.files.items[0].name);
    }
    size_t databases = count_kind(&s.files, ROSBAG2_DATABASE), mcaps = count_kind(&s.files, ROSBAG2_MCAP);
    if (databases + mcaps == 0) {
        return s.meta.present ? refuse_metadata_alone(&s.meta, err)
               : s.files.problem
                   ? reel_fail(err, REEL_UNSUPPORTED, "the files in the archive cannot be read: %s", s.files.problem)
                   : reel_fail(err, REEL_NOT_MINE, "no rosbag2: neither a database nor an MCAP file that can be read");
    }
    if ((databases > 0 && !scan_databases(&s, err)) || (mcaps > 0 && !scan_mcaps(&s, err))) {
        return false;
    }
    compare_files(&s);
    compare_counts(&s);
    return add_metadata(&s, err);
}

static int rosbag2_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    enum rosbag2_kind kind = rosbag2_names_log(source->name) ? ROSBAG2_LOG : rosbag2_kind_of(head);
    bool holds;
    switch (kind) {
    case ROSBAG2_DATABASE:
        return 8 * SQLITE_MAGIC_SIZE;
    case ROSBAG2_YAML:
        return PROBE_YAML_BITS;
    case ROSBAG2_LOG:
        return PROBE_LOG_BITS;
    case ROSBAG2_ZSTD:
    case ROSBAG2_GZIP:
    case ROSBAG2_ZIP:
    case ROSBAG2_TAR:
        return !rosbag2_holds_bag(kind, head, source, &holds, err) ? -1 : holds ? PROBE_ARCHIVE_BITS : 0;
    default:
        return 0;
    }
}

static const char *const suffixes[] = {".db3", ".db3.zstd", ".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", NULL};

const struct reel_format reel_format_rosbag2 = {
    .name = "rosbag2",
    .title = "ROS 2 bag (SQLite)",
    .media_type = "application/vnd.sqlite3",
    .suffixes = suffixes,
    .probe = rosbag2_probe,
    .scan = rosbag2_scan,
    .describe = mcap_describe, /* rows have no header */
    .open_rows = rosbag2_open_rows,
    .open_logged = rosbag2_open_logged,
    .beside = ROSBAG2_LOG_ENDING,
    .joins = rosbag2_joins,
    .is_folder = true,
    .version = 7 + MCAP_SCAN_VERSION,
};
