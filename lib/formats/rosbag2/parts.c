/* Decides which files form one bag, and their order. metadata.yaml lists them by name. Data files whose names differ
 * only in their number (run_0.db3, run_1.db3) are splits of one bag too: a recorder that crashed has left no
 * metadata.yaml. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/rosbag2/container.h"
#include "index/split_name.h"

enum { HEAD_BYTES = 4096 };

/* --- names --- */

static struct reel_bytes without(struct reel_bytes text, const char *ending) {
    size_t size = strlen(ending);
    bool ends = text.size > size && memcmp(text.data + text.size - size, ending, size) == 0;
    return bytes_of(text.data, text.size - (ends ? size : 0));
}

/* The name without the ending that compression adds; of a log, that of its database. */
static struct reel_bytes plain(const char *name) {
    struct reel_bytes text = bytes_text(rosbag2_last_part(name));
    return without(rosbag2_names_log(name) ? without(text, ROSBAG2_LOG_ENDING) : text, ".zstd");
}

static bool split_of(const char *name, struct split_name *out) {
    return (rosbag2_names_data(name) || rosbag2_names_log(name)) && split_name_of(plain(name), out);
}

static bool are_splits(const char *a, const char *b) {
    struct split_name x, y;
    return split_of(a, &x) && split_of(b, &y) && split_names_match(&x, &y);
}

/* Index of a file in metadata.yaml; n_paths when it is not listed. */
static size_t rosbag2_index_of(const struct rosbag2_meta *meta, const char *name) {
    size_t i = 0;
    while (i < meta->n_paths && !bytes_equal(plain(meta->paths[i]), plain(name))) {
        i++;
    }
    return i;
}

/* --- one bag? --- */

static bool is_data(enum rosbag2_kind kind) {
    return kind == ROSBAG2_DATABASE || kind == ROSBAG2_MCAP || kind == ROSBAG2_ZSTD || kind == ROSBAG2_LOG;
}

static bool ends_with(struct reel_bytes text, const char *ending) {
    return without(text, ending).size < text.size;
}

/* Whether the data file is stored as metadata.yaml says; as the files that it lists, where it does not say. */
static bool is_stored_so(const struct rosbag2_meta *meta, const char *name, enum rosbag2_kind kind) {
    const char *storage = meta->storage ? meta->storage : "";
    bool sqlite = strcmp(storage, "sqlite3") == 0, mcap = strcmp(storage, "mcap") == 0;
    if (!sqlite && !mcap && meta->n_paths > 0) {
        sqlite = ends_with(plain(meta->paths[0]), ".db3");
        mcap = ends_with(plain(meta->paths[0]), ".mcap");
    }
    bool is_mcap = kind == ROSBAG2_MCAP || (kind == ROSBAG2_ZSTD && ends_with(plain(name), ".mcap"));
    return is_mcap ? mcap || !sqlite : sqlite || !mcap;
}

/* A file that metadata.yaml lists, and a further split of one, is a part of the recording. So is one that it does not
 * list if those that it lists are not there: files are renamed. */
static enum reel_joins yaml_joins(const struct rosbag2_meta *meta, const char *name, enum rosbag2_kind kind) {
    bool listed = rosbag2_index_of(meta, name) < meta->n_paths;
    if (!is_data(kind)) { /* empty or damaged */
        return listed && rosbag2_names_data(name) ? REEL_JOINS : REEL_JOINS_NOT;
    }
    for (size_t i = 0; i < meta->n_paths && !listed; i++) {
        listed = are_splits(meta->paths[i], name);
    }
    return listed ? REEL_JOINS : is_stored_so(meta, name, kind) ? REEL_MAY_JOIN : REEL_JOINS_NOT;
}

static enum rosbag2_kind rosbag2_parts_kind_of(struct reel_source *source) {
    if (rosbag2_names_log(source->name)) {
        return ROSBAG2_LOG;
    }
    uint8_t head[HEAD_BYTES];
    size_t size = source->size < sizeof head ? (size_t)source->size : sizeof head;
    struct reel_error ignored;
    return reel_source_read(source, 0, head, size, &ignored) ? rosbag2_kind_of(bytes_of(head, size)) : ROSBAG2_OTHER;
}

/* How the least certain of these files belongs to metadata.yaml; what was read before damage in it counts. */
static enum reel_joins join_yaml(struct reel_source *yaml, struct reel_source *const *files, uint32_t n) {
    struct rosbag2_meta meta = {0};
    struct arena arena = {.max = REEL_MODEL_MAX};
    AUTO_MEM uint8_t *text = yaml->size <= ROSBAG2_YAML_MAX ? malloc((size_t)yaml->size + 1) : NULL;
    enum reel_joins joins = REEL_JOINS;
    struct reel_error ignored;
    if (!text || !reel_source_read(yaml, 0, text, (size_t)yaml->size, &ignored)) {
        return REEL_JOINS_NOT;
    }
    rosbag2_meta_read(&meta, &arena, bytes_of(text, (size_t)yaml->size), &ignored);
    for (uint32_t i = 0; i < n; i++) {
        enum reel_joins one = yaml_joins(&meta, files[i]->name, rosbag2_parts_kind_of(files[i]));
        joins = one < joins ? one : joins;
    }
    rosbag2_meta_free(&meta);
    arena_free(&arena);
    return joins;
}

/* Without metadata.yaml: splits by their names, a log by that of its database. */
static bool rosbag2_are_parts(struct reel_source *a, struct reel_source *b) {
    enum rosbag2_kind x = rosbag2_parts_kind_of(a), y = rosbag2_parts_kind_of(b);
    bool is_log = (x == ROSBAG2_LOG && y == ROSBAG2_DATABASE) || (y == ROSBAG2_LOG && x == ROSBAG2_DATABASE);
    return (is_log && bytes_equal(plain(a->name), plain(b->name))) ||
           (is_data(x) && is_data(y) && are_splits(a->name, b->name));
}

enum reel_joins rosbag2_joins(struct reel_source *const *parts, uint32_t n, struct reel_source *other) {
    bool is_yaml = rosbag2_parts_kind_of(other) == ROSBAG2_YAML;
    for (uint32_t i = 0; i < n; i++) {
        if (rosbag2_parts_kind_of(parts[i]) == ROSBAG2_YAML) {
            return is_yaml ? REEL_JOINS_NOT : join_yaml(parts[i], &other, 1);
        }
    }
    if (is_yaml) {
        return join_yaml(other, parts, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!rosbag2_are_parts(parts[i], other)) {
            return REEL_JOINS_NOT;
        }
    }
    return REEL_JOINS;
}

/* --- in what order? --- */

struct ranked {
    const struct rosbag2_file *file;
    size_t position;
    unsigned long number;
};
static int by_rank(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    int by_position = (x->position > y->position) - (x->position < y->position),
        by_number = (x->number > y->number) - (x->number < y->number);
    return by_position ? by_position : by_number ? by_number : (x->file > y->file) - (x->file < y->file);
}

const struct rosbag2_file **rosbag2_in_order(const struct rosbag2_scan *s, enum rosbag2_kind kind, size_t *n,
                                             struct reel_error *err) {
    AUTO_MEM struct ranked *all = calloc(s->files.count + 1, sizeof *all);
    const struct rosbag2_file **out = calloc(s->files.count + 1, sizeof(const struct rosbag2_file *));
    *n = 0;
    if (!all || !out) {
        free(out);
        reel_fail_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < s->files.count; i++) {
        const struct rosbag2_file *file = &s->files.items[i];
        struct split_name split = {.number = 0};
        if (file->kind == kind) {
            split_of(file->name, &split);
            all[(*n)++] = (struct ranked){
                .file = file, .position = rosbag2_index_of(&s->meta, file->name), .number = split.number};
        }
    }
    qsort(all, *n, sizeof *all, by_rank);
    for (size_t i = 0; i < *n; i++) {
        out[i] = all[i].file;
    }
    return out;
}
