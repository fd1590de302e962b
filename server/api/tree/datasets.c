/* datasets/NAME/…: the files of a dataset. As all of them depend on each other, one is known when the dataset is
 * planned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/digests.h"
#include "api/job_reply.h"
#include "api/tree/tree.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "catalog/saved.h"
#include "datasets/layout.h"
#include "recordings/names.h"

enum { BELOW_MAX = 5 }; /* segments of a path below a dataset, and a slash at its end */

/* ---- files */

struct state { /* of a node */
    struct dataset_layout *layout;
    const struct layout_file *file;
};

static void state_free(void *context) {
    struct state *s = context;
    layout_free(s->layout);
    free(s);
}

static void describe(const struct state *s, struct tree_properties *out) {
    const struct layout_file *file = s->file;
    char digest[72];
    const char *dot = strrchr(file->path, '.');
    *out = (struct tree_properties){.size = file->sum.size,
                                    .is_digest = true,
                                    .has_crc = true,
                                    .crc = file->sum.crc,
                                    .media_type = file->video                 ? "video/mp4"
                                                  : strcmp(dot, ".json") == 0 ? "application/json"
                                                  : strcmp(dot, ".md") == 0   ? "text/markdown; charset=utf-8"
                                                                              : "application/vnd.apache.parquet",
                                    .layout = s->layout,
                                    .file = file};
    api_digest_texts(file->sum.sha256, out->etag, digest);
}

static bool file_properties(struct http_request *r, const struct tree_node *node, int64_t wait_ns,
                            struct tree_properties *out, struct reel_error *err) {
    (void)r, (void)wait_ns, (void)err;
    describe(node->state, out);
    return true;
}

struct content {
    struct dataset_layout *layout;
    const struct layout_file *file;
    int fd; /* of an episode */
};

static bool content_read(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    const struct content *c = context;
    if (c->file->episode) {
        return disk_read_at(c->fd, buffer, size, offset) || reel_fail_errno(err, "could not read a temporary file");
    }
    memcpy(buffer, c->file->data.data + offset, size);
    return true;
}
static void content_free(void *context) {
    struct content *c = context;
    if (c->fd >= 0) {
        close(c->fd);
    }
    layout_free(c->layout);
    free(c);
}

static struct content *content_open(struct http_request *r, const struct state *s, struct reel_error *err) {
    struct content *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    *c = (struct content){.layout = layout_ref(s->layout), .file = s->file, .fd = -1};
    if (s->file->video) {
        c->fd = layout_video_open(http_app(r), s->layout, s->file, api_wait_ns(r, TREE_FIND_WAIT_NS), err);
    } else if (s->file->episode) {
        c->fd = layout_episode_open(http_app(r), s->layout, s->file->episode, err);
    }
    if (s->file->episode && c->fd < 0) {
        content_free(c);
        return NULL;
    }
    return c;
}

bool tree_dataset_open(struct http_request *r, const struct tree_properties *p, struct tar_content *out,
                       struct reel_error *err) {
    struct content *c = content_open(r, &(struct state){p->layout, p->file}, err);
    *out = (struct tar_content){content_read, content_free, c};
    return c;
}

static bool file_open(struct http_request *r, const struct tree_node *node, struct tar_content *out, char etag[64],
                      struct reel_error *err) {
    struct tree_properties p;
    describe(node->state, &p);
    memcpy(etag, p.etag, 64);
    return tree_dataset_open(r, &p, out, err);
}

static void file_reply(struct http_request *r, const struct tree_node *node) {
    struct tree_properties p;
    struct reel_error err = {0};
    const struct state *s = node->state;
    bool head = strcmp(http_method(r), "HEAD") == 0;
    struct content *c = head ? calloc(1, sizeof *c) : content_open(r, s, &err);
    if (!c) {
        head ? http_reply_no_memory(r) : http_reply_error(r, &err);
        return;
    }
    if (head) {
        *c = (struct content){.layout = layout_ref(s->layout), .file = s->file, .fd = -1};
    }
    describe(s, &p);
    http_reply_file(r, &(struct http_file){.length = p.size,
                                           .etag = p.etag,
                                           .media_type = p.media_type,
                                           .modified_ns = node->modified_ns,
                                           .fd = -1,
                                           .read = content_read,
                                           .free = content_free,
                                           .context = c});
}

static const struct tree_file dataset_file = {file_properties, file_open, file_reply};

/* ---- datasets */

/* REEL_BUSY: it is being planned. */
static struct dataset_layout *plan(struct http_request *r, const struct saved *dataset, int64_t wait_ns,
                                   struct reel_error *err) {
    char job[33], owner[HTTP_PRINCIPAL];
    const struct layout_request q = {.value = dataset->value, .owner = http_client(r, owner), .wait_ns = wait_ns};
    struct dataset_layout *layout = layout_get(http_app(r), &q, job, err);
    if (!layout && job[0]) {
        reel_fail(err, REEL_BUSY, "a dataset is being planned; try again");
    }
    return layout;
}

static int compare_datasets(const void *a, const void *b) { /* as their paths: "a-b/" is before "a/" */
    const char *x = ((const struct saved *)a)->name, *y = ((const struct saved *)b)->name;
    while (*x && *x == *y) {
        x++;
        y++;
    }
    return (int)(unsigned char)(*x ? *x : '/') - (int)(unsigned char)(*y ? *y : '/');
}

/* Those whose names are paths. */
static bool read_datasets(struct http_request *r, struct saved_list *out, struct reel_error *err) {
    struct reel_error ignored;
    uint32_t n = 0;
    if (!catalog_saved_list(http_app(r)->catalog, "dataset", "", out, err)) {
        return false;
    }
    for (uint32_t i = 0; i < out->n; i++) {
        if (names_check("x", out->items[i].name, &ignored)) {
            out->items[n++] = out->items[i];
        } else {
            saved_done(&out->items[i]);
        }
    }
    out->n = n;
    if (n > 1) {
        qsort(out->items, n, sizeof *out->items, compare_datasets);
    }
    return true;
}

/* ---- listing */

static bool list_files(struct tree_lister *l, const struct saved *dataset, const char *key, struct reel_error *err) {
    struct reel_error why = {0};
    int64_t now = reel_now_ns();
    AUTO(layout_free)
    struct dataset_layout *layout = plan(l->r, dataset, l->until_ns > now ? l->until_ns - now : 0, &why);
    if (!layout && why.code == REEL_BUSY) {
        return l->unknown = l->ended = true;
    }
    if (!layout) { /* a list of several leaves out one that cannot be planned */
        return (!reel_is_transient(why.code) && !tree_enters(l, key)) || reel_error_pass(err, &why);
    }
    bool good = true;
    for (uint32_t i = 0; good && i < layout->n_files && !l->ended; i++) {
        AUTO_MEM char *path = NULL;
        struct tree_properties p;
        describe(&(struct state){layout, &layout->files[i]}, &p);
        if (asprintf(&path, "%s%s", key, layout->files[i].path) < 0) {
            return reel_fail_memory(err);
        }
        good = tree_add(l, path, dataset->updated_ns, &p, err);
    }
    return good;
}

static bool datasets_list(struct tree_lister *l, struct reel_error *err) {
    AUTO_STRUCT(saved_list_done) struct saved_list all = {0};
    size_t prefix = strlen(l->q->prefix);
    bool good = read_datasets(l->r, &all, err);
    for (uint32_t i = 0; good && i < all.n && !l->ended; i++) {
        AUTO_MEM char *key = NULL;
        if (asprintf(&key, "%s/", all.items[i].name) < 0) {
            return reel_fail_memory(err);
        }
        size_t shared = strlen(key) < prefix ? strlen(key) : prefix;
        if (strncmp(key, l->q->prefix, shared) == 0) {
            good = l->q->deep || tree_enters(l, key) ? list_files(l, &all.items[i], key, err)
                                                     : tree_add(l, key, all.items[i].updated_ns, NULL, err);
        }
    }
    return good;
}

/* ---- finding */

static bool is_folder(const struct dataset_layout *layout, const char *path) {
    size_t size = strlen(path);
    for (uint32_t i = 0; i < layout->n_files; i++) {
        const char *file = layout->files[i].path;
        if (size == 0 || (strncmp(file, path, size) == 0 && (path[size - 1] == '/' || file[size] == '/'))) {
            return true;
        }
    }
    return false;
}

/* `path` is below the dataset; "" is the dataset itself. */
static bool find_in(struct http_request *r, const struct saved *dataset, const char *path, int64_t wait_ns,
                    struct tree_node *out, bool *found, struct reel_error *err) {
    out->modified_ns = dataset->updated_ns;
    if (*path == '\0') {
        return *found = true;
    }
    AUTO(layout_free) struct dataset_layout *layout = plan(r, dataset, wait_ns, err);
    if (!layout) {
        return false;
    }
    const struct layout_file *file = layout_file(layout, path);
    *found = file || is_folder(layout, path);
    if (!file) {
        return true;
    }
    struct state *s = out->state = calloc(1, sizeof *s);
    if (!s) {
        return reel_fail_memory(err);
    }
    memcpy(out->sha, layout->sha, sizeof out->sha);
    *s = (struct state){TAKE(layout), file};
    out->free_state = state_free;
    out->file = &dataset_file;
    return true;
}

/* In the dataset that the first `size` bytes of the path name. */
static bool find_named(struct http_request *r, const char *path, size_t size, int64_t wait_ns, struct tree_node *out,
                       bool *found, struct reel_error *err) {
    AUTO_STRUCT(saved_done) struct saved one = {0};
    AUTO_MEM char *name = strndup(path, size);
    struct reel_error why = {0};
    const struct saved key = {.kind = (char *)"dataset", .collection = (char *)"", .name = name};
    if (!name) {
        return reel_fail_memory(err);
    }
    if (!names_check("x", name, &why)) {
        return true;
    }
    if (!catalog_saved_get(http_app(r)->catalog, &key, &one, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    return find_in(r, &one, path[size] ? path + size + 1 : "", wait_ns, out, found, err);
}

/* A folder of datasets. */
static bool find_above(struct http_request *r, const char *path, bool *found, struct reel_error *err) {
    AUTO_STRUCT(saved_list_done) struct saved_list all = {0};
    size_t length = strlen(path);
    bool good = read_datasets(r, &all, err);
    for (uint32_t i = 0; good && i < all.n && !*found; i++) {
        const char *name = all.items[i].name;
        *found = strlen(name) > length && strncmp(path, name, length) == 0 &&
                 (path[length - 1] == '/' || name[length] == '/');
    }
    return good;
}

/* Names are paths, and one may be in the folder of another: the longest comes first. */
static bool datasets_find(struct http_request *r, const char *path, int64_t wait_ns, struct tree_node *out, bool *found,
                          struct reel_error *err) {
    size_t size = strlen(path);
    *found = size == 0;
    for (unsigned i = 0; i <= BELOW_MAX && size > 0 && !*found; i++) {
        if (!find_named(r, path, size, wait_ns, out, found, err)) {
            return false;
        }
        while (size > 0 && path[--size] != '/') {
        }
    }
    return *found || find_above(r, path, found, err);
}

const struct tree_root tree_datasets = {"datasets", true, datasets_find, datasets_list};
