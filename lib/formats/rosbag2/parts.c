/* Decides which files form one bag, and their order. metadata.yaml lists them by name. Data files whose names differ
 * only in their number (run_0.db3, run_1.db3) are splits of one bag too: a recorder that crashed has left no
 * metadata.yaml. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/rosbag2/container.h"

enum { HEAD_BYTES = 4096, DIGITS_MAX = 3 }; /* digits of a split's number: more are a date or a time */

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

/* run_12.db3.zstd: "run", 12, ".db3". */
struct split {
    struct reel_bytes stem, ending;
    unsigned long number;
};
static bool split_of(const char *name, struct split *out) {
    struct reel_bytes text = plain(name);
    const uint8_t *line = memrchr(text.data, '_', text.size);
    if (!line || (!rosbag2_names_data(name) && !rosbag2_names_log(name))) {
        return false;
    }
    const char *digits = (const char *)line + 1;
    size_t n = strspn(digits, "0123456789");
    out->stem = bytes_of(text.data, (size_t)(line - text.data));
    out->ending = bytes_of(line + 1 + n, text.size - out->stem.size - 1 - n);
    out->number = strtoul(digits, NULL, 10);
    return n > 0 && n <= DIGITS_MAX && (n == 1 || digits[0] != '0') && digits[n] == '.';
}

static bool are_splits(const char *a, const char *b) {
    struct split x, y;
    return split_of(a, &x) && split_of(b, &y) && x.number != y.number && bytes_equal(x.stem, y.stem) &&
           bytes_equal(x.ending, y.ending);
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

static bool yaml_names(struct reel_source *yaml, const char *name) {
    struct rosbag2_meta meta = {0};
    struct arena arena = {.max = REEL_MODEL_MAX};
    AUTO_MEM uint8_t *text = yaml->size <= ROSBAG2_YAML_MAX ? malloc((size_t)yaml->size + 1) : NULL;
    struct reel_error ignored;
    if (!text || !reel_source_read(yaml, 0, text, (size_t)yaml->size, &ignored)) {
        return false;
    }
    rosbag2_meta_read(&meta, &arena, bytes_of(text, (size_t)yaml->size), &ignored); /* what was read before damage
                                                                                       counts */
    bool named = rosbag2_index_of(&meta, name) < meta.n_paths;
    rosbag2_meta_free(&meta);
    arena_free(&arena);
    return named;
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
static bool is_data(enum rosbag2_kind kind) {
    return kind == ROSBAG2_DATABASE || kind == ROSBAG2_MCAP || kind == ROSBAG2_ZSTD || kind == ROSBAG2_LOG;
}

static bool is_log_of(enum rosbag2_kind log, struct reel_source *a, enum rosbag2_kind base, struct reel_source *b) {
    return log == ROSBAG2_LOG && base == ROSBAG2_DATABASE && bytes_equal(plain(a->name), plain(b->name));
}

bool rosbag2_joins(struct reel_source *a, struct reel_source *b) {
    enum rosbag2_kind x = rosbag2_parts_kind_of(a), y = rosbag2_parts_kind_of(b);
    if (is_log_of(x, a, y, b) || is_log_of(y, b, x, a)) {
        return true;
    }
    return x == ROSBAG2_YAML   ? is_data(y) && yaml_names(a, b->name)
           : y == ROSBAG2_YAML ? is_data(x) && yaml_names(b, a->name)
                               : is_data(x) && is_data(y) && are_splits(a->name, b->name);
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
        struct split split = {.number = 0};
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
