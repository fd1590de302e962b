/* A folder of the tree as an archive: GET of the folder at /dav with archive=tar or zip. What is in it is what a deep
 * list has (tree.h), under the paths that it has there. A ZIP archive begins each file with its CRC-32, which is known
 * of datasets only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/job_reply.h"
#include "api/tree/dav.h"
#include "api/tree/tree.h"
#include "base/cleanup.h"
#include "datasets/layout.h"

struct contents {
    struct http_request *r;
    enum archive_form form;
    struct file {
        char *path; /* in the tree */
        struct tree_properties p;
    } * files; /* TAR_FILES_MAX */
    size_t n;
};

static void contents_free(void *context) {
    struct contents *c = context;
    for (size_t i = 0; i < c->n; i++) {
        free(c->files[i].path);
        layout_free(c->files[i].p.layout);
    }
    free(c->files);
    free(c);
}

/* A dataset is held: it may change, or lose its place in the cache, while the archive is sent. Other nodes are found
 * anew, because the recording may have changed since it was listed. */
static bool open_file(void *context, size_t i, struct tar_content *out, struct reel_error *err) {
    struct contents *c = context;
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    char etag[64];
    bool found;
    if (c->files[i].p.layout) {
        return tree_dataset_open(c->r, &c->files[i].p, out, err);
    }
    if (!tree_find(c->r, c->files[i].path, TREE_FIND_WAIT_NS, &node, &found, err)) {
        return false;
    }
    if (!found || !node.file) {
        return reel_fail(err, REEL_CHANGED, "%s is not there any more", c->files[i].path);
    }
    if (!node.file->open(c->r, &node, out, etag, err)) {
        return false;
    }
    if (strcmp(etag, c->files[i].p.etag) != 0) {
        out->free(out->context);
        return reel_fail(err, REEL_CHANGED, "%s is not what it was", c->files[i].path);
    }
    return true;
}

/* Where the last segment of a folder's path begins. */
static size_t last_segment(const char *folder) {
    size_t at = strlen(folder) > 0 ? strlen(folder) - 1 : 0;
    while (at > 0 && folder[at - 1] != '/') {
        at--;
    }
    return at;
}

/* Whether two files are of one dataset, which has changed between two pages of the list. */
static bool differ(const struct file *a, const struct tree_entry *b) {
    if (!a->p.layout || !b->p.layout || a->p.layout == b->p.layout) {
        return false;
    }
    size_t size = strlen(a->path) - strlen(a->p.file->path);
    return size == strlen(b->path) - strlen(b->p.file->path) && memcmp(a->path, b->path, size) == 0 &&
           strcmp(a->p.layout->sha, b->p.layout->sha) != 0;
}

/* `skip`: bytes of the path that are not in the names of the archive. */
static bool add(struct tar_archive *a, struct contents *c, struct tree_entry *e, size_t skip, struct reel_error *err) {
    char tag[TAR_TAG];
    snprintf(tag, sizeof tag, "%zu", c->n);
    if (c->form == ARCHIVE_ZIP && !e->p.has_crc) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "%s: only datasets can be had as ZIP archives, whose files begin with checksums; archive=tar "
                         "has every folder",
                         e->path);
    }
    if (c->n > 0 && differ(&c->files[c->n - 1], e)) {
        return reel_fail(err, REEL_BUSY, "%s has just changed; try again", e->path);
    }
    const struct tar_member member = {.name = strdup(e->path + skip),
                                      .tag = tag,
                                      .identity = e->p.etag,
                                      .size = e->p.size,
                                      .crc = e->p.crc,
                                      .modified_ns = e->modified_ns};
    if (!tar_archive_add(a, &member, err)) {
        return false;
    }
    struct file *file = &c->files[c->n++];
    *file = (struct file){.path = TAKE(e->path), .p = e->p};
    e->p.layout = NULL;
    return true;
}

static bool add_all(struct http_request *r, struct tar_archive *a, struct contents *c, const char *folder,
                    struct reel_error *err) {
    AUTO_MEM char *after = strdup("");
    size_t skip = last_segment(folder); /* the names begin with that of the folder */
    bool more = true;
    if (!http_hold(r, TREE_PAGE_MEMORY, err)) {
        return false;
    }
    while (after && more) {
        AUTO_STRUCT(tree_page_done) struct tree_page page = {0};
        const struct tree_query q = {.prefix = folder,
                                     .after = after,
                                     .deep = true,
                                     .limit = TREE_PAGE_MAX,
                                     .wait_ns = api_wait_ns(r, API_PLAN_WAIT_NS)};
        if (!tree_list(r, &q, &page, err)) {
            return false;
        }
        more = page.more;
        char *last = page.n > 0 ? strdup(page.items[page.n - 1].path) : NULL;
        free(after);
        after = last;
        for (uint32_t i = 0; i < page.n; i++) {
            if (!add(a, c, &page.items[i], skip, err)) {
                return false;
            }
        }
        more = more && last;
    }
    return !more || reel_fail_memory(err);
}

static struct tar_archive *archive_new(struct http_request *r, enum archive_form form, struct contents **contents,
                                       struct reel_error *err) {
    struct contents *c = *contents = calloc(1, sizeof *c);
    if (!c || !(c->files = calloc(TAR_FILES_MAX, sizeof *c->files))) {
        free(c);
        reel_fail_memory(err);
        return NULL;
    }
    c->r = r;
    c->form = form;
    return tar_archive_new(r, &(struct tar_owner){open_file, contents_free, c}, err);
}

void dav_reply_archive(struct http_request *r, const char *folder) {
    enum archive_form form = strcmp(http_param(r, "archive"), "zip") == 0 ? ARCHIVE_ZIP : ARCHIVE_TAR;
    struct reel_error err = {0};
    struct contents *c;
    AUTO_MEM char *name = NULL;
    AUTO(tar_archive_close) struct tar_archive *a = archive_new(r, form, &c, &err);
    if (!a || !add_all(r, a, c, folder, &err)) {
        http_reply_error(r, &err);
        return;
    }
    const char *last = *folder ? folder + last_segment(folder) : "archive/";
    if (asprintf(&name, "%.*s.%s", (int)strlen(last) - 1, last, form == ARCHIVE_ZIP ? "zip" : "tar") < 0) {
        name = NULL;
        http_reply_no_memory(r);
        return;
    }
    tar_archive_reply(r, TAKE(a), form, name);
}
