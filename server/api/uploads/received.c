/* See received.h. What files are one recording is decided by their names and first bytes (index/collect.h). */
#include "api/uploads/received.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "index/collect.h"
#include "recordings/names.h"

enum { HEAD_BYTES = 16 << 10 };

void received_done(struct received *r) {
    for (uint32_t i = 0; i < r->n; i++) {
        store_upload_free(r->items[i].file);
        free((uint8_t *)r->items[i].head.data);
    }
    free(r->items);
    *r = (struct received){.n = 0};
}

/* "my_bag" of "recordings/my_bag/my_bag_0.mcap". */
static void note_folder(struct received *r, const char *name) {
    const char *slash = strrchr(name, '/'), *begin = slash;
    while (begin && begin > name && begin[-1] != '/') {
        begin--;
    }
    size_t size = slash ? (size_t)(slash - begin) : 0;
    if (size > 0 && size < sizeof r->folder) {
        memcpy(r->folder, begin, size);
        r->folder[size] = '\0';
    }
}

bool received_begin(struct received *r, struct store *store, const char *name, struct reel_error *err) {
    const char *own = names_file(name);
    if (r->n == COLLECT_PARTS_MAX) {
        return reel_fail(err, REEL_LIMIT, "a recording has at most %d files", COLLECT_PARTS_MAX);
    }
    if (!GROW_ARRAY(r->items, r->n, r->room)) {
        return reel_fail_memory(err);
    }
    if (r->n > 0 && !store_upload_flush(r->items[r->n - 1].file, err)) { /* gives its buffer back */
        return false;
    }
    struct received_file f = {.file = store_upload_begin(store, err)};
    if (!f.file) {
        return false;
    }
    snprintf(f.name, sizeof f.name, "%s", strlen(own) < sizeof f.name ? own : "");
    note_folder(r, name);
    r->items[r->n++] = f;
    return true;
}

static bool keep_head(struct received_file *f, const void *data, size_t size, struct reel_error *err) {
    size_t room = HEAD_BYTES - f->head.size, n = size < room ? size : room;
    uint8_t *head = f->head.data ? (uint8_t *)f->head.data : malloc(HEAD_BYTES);
    if (!head) {
        return reel_fail_memory(err);
    }
    memcpy(head + f->head.size, data, n);
    f->head = bytes_of(head, f->head.size + n);
    return true;
}

bool received_write(struct received *r, const void *data, size_t size, struct reel_error *err) {
    struct received_file *f = &r->items[r->n - 1];
    return (size == 0 || f->head.size == HEAD_BYTES || keep_head(f, data, size, err)) &&
           store_upload_write(f->file, data, size, err);
}

bool received_finish(struct received *r, struct reel_error *err) {
    for (uint32_t i = 0; i < r->n; i++) {
        if (!store_upload_finish(r->items[i].file, r->items[i].sha256, &r->items[i].size, err)) {
            return false;
        }
    }
    return true;
}

/* ---- the files of one recording */

static struct reel_source *open_head(void *context, uint32_t i) {
    const struct received_file *f = &((const struct received *)context)->items[i];
    return reel_source_from_memory(f->head, f->name, NULL);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct received_file *)a)->name, ((const struct received_file *)b)->name);
}

static bool check_names(const struct received *r, struct reel_error *err) {
    for (uint32_t i = 0; i < r->n; i++) {
        if (!r->items[i].name[0] || (i > 0 && strcmp(r->items[i - 1].name, r->items[i].name) == 0)) {
            return reel_fail(err, REEL_ARGUMENT,
                             r->items[i].name[0] ? "two of the files are named \"%.200s\""
                                                 : "each of several files needs a name%s",
                             r->items[i].name);
        }
    }
    return true;
}

static bool check_leaders(const struct received *r, const struct collect_file *all, struct reel_error *err) {
    for (uint32_t i = 1; i < r->n; i++) {
        if (all[i].leader != all[0].leader) {
            return reel_fail(
                err, REEL_UNSUPPORTED,
                "%.200s is not a further part of a recording with %.200s: the files of a form are those of "
                "one recording",
                r->items[i].name, r->items[0].name);
        }
    }
    return true;
}

bool received_arrange(struct received *r, uint32_t *main, struct reel_error *err) {
    AUTO_MEM struct collect_file *all = calloc((size_t)r->n + 1, sizeof *all);
    AUTO_MEM const char **names = calloc((size_t)r->n + 1, sizeof *names);
    if (!all || !names) {
        return reel_fail_memory(err);
    }
    qsort(r->items, r->n, sizeof *r->items, by_name);
    if (!check_names(r, err)) {
        return false;
    }
    collect_parts(all, r->n, open_head, r);
    if (!check_leaders(r, all, err)) {
        return false;
    }
    struct received_file first = r->items[all[0].leader];
    memmove(&r->items[1], &r->items[0], all[0].leader * sizeof *r->items);
    r->items[0] = first;
    for (uint32_t i = 0; i < r->n; i++) {
        names[i] = r->items[i].name;
    }
    *main = collect_main(names, r->n, all[all[0].leader].format);
    return true;
}
