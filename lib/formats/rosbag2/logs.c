/* Which log belongs to which database: x.db3-wal in the folder of x.db3. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "formats/rosbag2/log.h"

/* Its number among the files; files->count: there is none. */
static size_t database_of(const struct rosbag2_files *files, const struct rosbag2_file *log) {
    size_t i = 0, size = strlen(log->path) - strlen(ROSBAG2_LOG_ENDING);
    for (; i < files->count; i++) {
        const struct rosbag2_file *file = &files->items[i];
        if (file->kind == ROSBAG2_DATABASE && !file->has_log && strlen(file->path) == size &&
            memcmp(file->path, log->path, size) == 0) {
            return i;
        }
    }
    return i;
}

__attribute__((format(printf, 6, 7))) static void report_log(struct reel_scan *scan, const struct rosbag2_file *log,
                                                             enum reel_severity severity, uint64_t from, uint64_t size,
                                                             const char *text, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(what, sizeof what, text, arguments);
    va_end(arguments);
    reel_scan_finding(scan, severity, log->location.part, log->location.offset + (log->location.packed ? 0 : from),
                      size, "%s: %s", log->name, what);
}

static void report_state(struct reel_scan *scan, const struct rosbag2_file *log, const struct rosbag2_log_state *s) {
    uint64_t rest = log->source->size - s->unread_at;
    if (s->problem) {
        report_log(scan, log, REEL_LOSS, 0, log->source->size, "the write-ahead log cannot be used: %s", s->problem);
    } else if (s->cut) {
        report_log(scan, log, REEL_LOSS, s->unread_at, rest, "only %u frames of the write-ahead log are read",
                   s->frames);
    } else if (s->damaged) {
        report_log(scan, log, REEL_LOSS, s->unread_at, rest,
                   "the write-ahead log is damaged after %u frames: what follows is not read", s->frames);
    }
}

/* A chunk of all bytes of the file. */
static struct reel_chunk whole_chunk(const struct reel_scan *scan, const struct rosbag2_file *file) {
    uint32_t chunk = file->location.chunk;
    return (struct reel_chunk){.part = chunk < scan->n_parts ? chunk : REEL_CHUNK_PART | chunk,
                               .stored = file->source->size,
                               .raw = file->source->size};
}

/* Appends the two together as a file. Takes ownership of `source`. */
static bool add_logged(struct rosbag2_files *files, struct reel_scan *scan, size_t base, const struct rosbag2_file *log,
                       struct reel_source *source, struct reel_error *err) {
    struct rosbag2_file both = files->items[base];
    struct reel_chunk changes = whole_chunk(scan, log), logged = whole_chunk(scan, &both);
    uint32_t id;
    logged.codec = REEL_CODEC_LOGGED;
    logged.raw = source->size;
    if (!GROW_ARRAY(files->items, files->count, files->capacity)) {
        reel_source_free(source);
        return reel_fail_memory(err);
    }
    files->items[base].kind = ROSBAG2_OTHER; /* not read without its log */
    both.source = source;
    both.own = true;
    both.location.packed = true;
    struct rosbag2_file *added = &files->items[files->count++];
    *added = both;
    return reel_scan_chunk(scan, &changes, &id, err) && reel_scan_chunk(scan, &logged, &added->location.chunk, err);
}

static bool join_log(struct rosbag2_files *files, struct reel_scan *scan, size_t i, struct reel_error *err) {
    const struct rosbag2_file log = files->items[i]; /* the table may move */
    size_t base = database_of(files, &log);
    struct reel_source *source = NULL;
    struct rosbag2_log_state state;
    if (base == files->count) {
        report_log(scan, &log, REEL_WARNING, 0, log.source->size, "the database of this write-ahead log is not here");
        return true;
    }
    files->items[base].has_log = true;
    if (!rosbag2_log_read(files->items[base].source, log.source, &source, &state, err)) {
        return false;
    }
    report_state(scan, &log, &state);
    return !source || add_logged(files, scan, base, &log, source, err);
}

bool rosbag2_logs_join(struct rosbag2_files *files, struct reel_scan *scan, struct reel_error *err) {
    for (size_t i = 0, n = files->count; i < n; i++) {
        if (files->items[i].kind == ROSBAG2_LOG && !join_log(files, scan, i, err)) {
            return false;
        }
    }
    return true;
}
