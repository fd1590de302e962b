/* Scans ROS bags 2.0. One walk from front to back decides what is in the file and decodes every chunk once; index data,
 * chunk infos and counts are compared with it and help after damage. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/rosbag/v2.h"
#include "index/splits.h"

#include <stdlib.h>

enum { LINE_MAX_BYTES = 32, PEEK_BYTES = 4096 };

static const char line_start[] = "#ROSBAG V";

/* Bytes of the version line "#ROSBAG V2.x\n" with its newline; 0: it is none. Any minor version is read: only what is
 * known is used. */
static size_t line_size(struct reel_bytes head) {
    size_t n = head.size < LINE_MAX_BYTES ? head.size : LINE_MAX_BYTES;
    const uint8_t *end = bytes_start(head, bytes_text("#ROSBAG V2.")) ? memchr(head.data, '\n', n) : NULL;
    return end ? (size_t)(end - head.data) + 1 : 0;
}

/* Version 3 and later, which does not exist yet. */
static bool is_later(struct reel_bytes head) {
    size_t n = sizeof line_start - 1;
    return bytes_start(head, bytes_text(line_start)) && head.size > n && head.data[n] >= '3' && head.data[n] <= '9';
}

static int rosbag_v2_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    (void)source;
    return 8 * (int)(line_size(head) > 0 ? line_size(head) : is_later(head) ? sizeof line_start : 0);
}

void rosbag_v2_close(struct bag2 *bag) {
    scan_chunks_free(bag->packed);
    hash_table_free(&bag->by_id);
    window_close(&bag->ahead);
    window_close(&bag->window);
    window_close(&bag->raw);
    window_close(&bag->peek);
    window_close(&bag->tail.window);
    arena_free(&bag->arena);
}

static bool rosbag_v2_scan_begin(struct bag2 *bag, struct reel_scan *scan, size_t window, struct reel_error *err) {
    *bag = (struct bag2){.scan = scan, .source = scan->parts[0]};
    bag->arena.max = REEL_MODEL_MAX;
    bag->connections_end = &bag->connections;
    bag->file = (struct rosbag_v2_run){.window = &bag->window, .end = bag->source->size};
    bag->search_left =
        bag->source->size < UINT64_MAX / 8 ? 4 * bag->source->size + REEL_WINDOW_BYTES : bag->source->size;
    return window_open(&bag->window, bag->source, window, err) && window_open(&bag->peek, bag->source, PEEK_BYTES, err);
}

/* ---- the file header ---- */

/* Unknown fields become metadata of the recording. */
static bool keep_header_fields(struct bag2 *bag, struct reel_bytes header, struct reel_error *err) {
    static const char *const known[] = {"op", "index_pos", "conn_count", "chunk_count"};
    struct cursor c = cursor_of(header);
    struct reel_bytes name, value;
    for (unsigned kept = 0; kept < REEL_METADATA_MAX / 2 && rosrecord_field(&c, &name, &value);) {
        bool ours = name.size == 0 || name.size > REEL_TEXT_MAX;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            ours |= bytes_is(name, known[i]);
        }
        const char *key = ours ? NULL : reel_scan_text(bag->scan, name, err);
        if (!ours && !key) {
            return false;
        }
        if (key && !reel_scan_metadata(bag->scan, key, value, err)) {
            return false;
        }
        kept += !ours;
    }
    return true;
}

static bool take_file_header(struct bag2 *bag, const struct rosbag_v2_record *r, struct reel_error *err) {
    const struct rosbag_v2_fields *f = &r->fields;
    bag->has_header = true;
    bag->file.at = r->at + r->head + r->size;
    bag->conn_count = rosbag_v2_u32(f->conn_count, 0);
    bag->chunk_count = rosbag_v2_u32(f->chunk_count, 0);
    if (f->index_pos.size == 8) {
        bag->index_pos = load_u64le(f->index_pos.data);
    } else {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, r->at, 0, "the file header has no proper index_pos");
    }
    if (f->encryptor.size > 0 && !bytes_is(f->encryptor, "rosbag/NoEncryptor")) {
        struct reel_bytes name =
            bytes_of(f->encryptor.data, f->encryptor.size < REEL_TEXT_MAX ? f->encryptor.size : REEL_TEXT_MAX);
        if (!(bag->encryptor = reel_scan_text(bag->scan, name, err))) {
            return false;
        }
    }
    return keep_header_fields(bag, f->all, err);
}

/* Reads the first record; if it is not a file header, the walk reads it as any other. */
static bool read_file_header(struct bag2 *bag, struct reel_error *err) {
    const struct rosrecord_bounds bounds = {bag->source->size, "the file"};
    struct rosbag_v2_record r;
    struct reel_error why = {0};
    bool read =
        bag->file.at < bag->source->size && rosbag_v2_record_read(&bag->window, bag->file.at, &bounds, &r, &why);
    if (!read && bag->file.at < bag->source->size && why.code != REEL_DAMAGED) {
        return reel_error_pass(err, &why);
    }
    if (read && r.op == ROSBAG_V2_FILE_HEADER) {
        return take_file_header(bag, &r, err);
    }
    reel_scan_finding(bag->scan, REEL_WARNING, 0, bag->file.at, 0, "the bag does not begin with a file header");
    return true;
}

/* ---- all of it ---- */

static void rosbag_v2_scan_report_counts(struct bag2 *bag) {
    if (bag->carried > 0) {
        reel_scan_finding(bag->scan, REEL_NOTE, 0, 0, 0,
                          "%llu stamps have 10^9 or more nanoseconds: carried over to the seconds", (ull)bag->carried);
    }
    if (bag->unwrapped > 0) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, bag->unwrapped_at, 0,
                          "%llu messages do not have the wrapper that their connection states: kept unchanged",
                          (ull)bag->unwrapped);
    }
    if (bag->odd_lengths > 0) {
        reel_scan_finding(
            bag->scan, REEL_NOTE, 0, bag->odd_lengths_at, 0,
            "%llu index records have a wrong data length, as recorders of early 2010 wrote it: their counts are used",
            (ull)bag->odd_lengths);
    }
    if (bag->unknown_ops > 0) {
        reel_scan_finding(bag->scan, REEL_NOTE, 0, bag->unknown_ops_at, 0,
                          "%llu records of an unknown kind are skipped, the first with op %u", (ull)bag->unknown_ops,
                          bag->unknown_op);
    }
    if (bag->unknown_fields > 0) {
        reel_scan_finding(bag->scan, REEL_NOTE, 0, bag->unknown_fields_at, 0,
                          "%llu unknown header fields are skipped, the first named %s", (ull)bag->unknown_fields,
                          bag->unknown_name);
    }
}

static bool rosbag_v2_run_all(struct bag2 *bag, struct reel_error *err) {
    if (bag->encryptor) {
        return rosbag_v2_sealed(bag, err);
    }
    if (!rosbag_v2_tail_open(bag, err) || !rosbag_v2_chunks_begin(bag, err) || !rosbag_v2_walk(bag, &bag->file, err) ||
        !rosbag_v2_chunk_close(bag, err) || !rosbag_v2_tail_prove(bag, err)) {
        return false;
    }
    if (!rosbag_v2_finish_connections(bag, err)) {
        return false;
    }
    rosbag_v2_scan_report_counts(bag);
    return true;
}

static bool read_version_line(struct bag2 *bag, struct reel_error *err) {
    size_t head_size = bag->source->size < LINE_MAX_BYTES ? (size_t)bag->source->size : LINE_MAX_BYTES;
    const uint8_t *p = window_at(&bag->window, 0, head_size, err);
    if (!p) {
        return false;
    }
    size_t line = line_size(bytes_of(p, head_size));
    if (line == 0 && is_later(bytes_of(p, head_size))) {
        return reel_fail(err, REEL_UNSUPPORTED, "\"%.*s\" is a later ROS bag version: 1.0 to 2.x are read",
                         (int)sizeof line_start, (const char *)p);
    }
    if (line == 0) {
        return reel_fail(err, REEL_NOT_MINE, "no ROS bag 2.0: it does not begin with its version line");
    }
    const char *container = reel_scan_text(bag->scan, bytes_of(p, line - 1), err);
    if (!container) {
        return false;
    }
    reel_scan_container(bag->scan, container);
    bag->file.at = line;
    return true;
}

bool rosbag_v2_open(struct bag2 *bag, struct reel_scan *scan, struct rosbag_v2_splits *splits, size_t window,
                    struct reel_error *err) {
    if (!rosbag_v2_scan_begin(bag, scan, window, err)) {
        return false;
    }
    bag->splits = splits;
    return read_version_line(bag, err) && read_file_header(bag, err);
}

/* ---- files ---- */

struct file_progress { /* of one of several files */
    const struct reel_progress *all;
    uint64_t before, total;
};

static bool report_progress(void *context, uint64_t done, uint64_t total) {
    const struct file_progress *p = context;
    (void)total;
    return p->all->report(p->all->context, p->before + done, p->total);
}

/* Each file is scanned like a member of an archive, which is all of its part. */
static bool run_files(struct reel_scan *scan, struct rosbag_v2_splits *splits, rosbag_v2_run_file run,
                      struct reel_error *err) {
    struct file_progress progress = {.all = scan->progress};
    const struct reel_progress reported = {.report = report_progress, .context = &progress};
    bool reports = scan->progress && scan->progress->report;
    for (uint32_t i = 0; i < scan->n_parts; i++) {
        progress.total += scan->parts[i]->size;
    }
    for (uint32_t i = 0; i < scan->n_parts; i++) {
        const struct reel_location whole = {.part = i, .chunk = i};
        struct reel_scan file = {.parts = &scan->parts[i],
                                 .n_parts = 1,
                                 .builder = scan->builder,
                                 .progress = reports ? &reported : NULL,
                                 .threads = scan->threads,
                                 .locations = scan->locations ? &scan->locations[i] : &whole};
        if (!run(&file, splits, err)) {
            return reel_error_at(err, "%s", scan->parts[i]->name);
        }
        progress.before += scan->parts[i]->size;
    }
    return true;
}

bool rosbag_v2_each_file(struct reel_scan *scan, rosbag_v2_run_file run, struct reel_error *err) {
    struct rosbag_v2_splits splits = {.arena.max = REEL_MODEL_MAX};
    if (scan->n_parts == 1) {
        return run(scan, NULL, err);
    }
    bool good = run_files(scan, &splits, run, err);
    hash_table_free(&splits.channels);
    arena_free(&splits.arena);
    return good;
}

static bool scan_file(struct reel_scan *scan, struct rosbag_v2_splits *splits, struct reel_error *err) {
    AUTO_STRUCT(rosbag_v2_close) struct bag2 bag = {0};
    return rosbag_v2_open(&bag, scan, splits, REEL_WINDOW_BYTES, err) && rosbag_v2_run_all(&bag, err);
}

static bool rosbag_v2_scan(struct reel_scan *scan, struct reel_error *err) {
    return rosbag_v2_each_file(scan, scan_file, err);
}

static enum reel_joins rosbag_v2_joins(struct reel_source *const *parts, uint32_t n, struct reel_source *other) {
    return splits_join(&reel_format_rosbag_v2, parts, n, other);
}

static const char *const suffixes[] = {".bag", ".bag.active", ".orig.bag", NULL};

const struct reel_format reel_format_rosbag_v2 = {
    .name = "rosbag-2.0",
    .title = "ROS 1 bag (2.0)",
    .media_type = "application/x-rosbag",
    .suffixes = suffixes,
    .probe = rosbag_v2_probe,
    .scan = rosbag_v2_scan,
    .summary = rosbag_v2_summary,
    .joins = rosbag_v2_joins,
    .version = 3,
};
