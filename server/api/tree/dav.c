/* The methods of /dav: GET, PROPFIND with a depth of 0 or 1, OPTIONS (class 1 of RFC 4918, read-only). */
#include <stdlib.h>
#include <string.h>

#include "api/job_reply.h"
#include "api/tree/dav.h"
#include "api/tree/tree.h"
#include "base/cleanup.h"
#include "base/text_stream.h"

enum { PAGE = 100 };
static const int64_t PLANS_WAIT_NS = 10000000000; /* for the sizes of all files of a folder */

/* An entry of the tree; a folder's path ends with a slash. */
static bool put_entry(FILE *out, const struct app *app, const char *path, int64_t modified_ns,
                      const struct tree_properties *p, struct reel_error *err) {
    AUTO_MEM char *address = NULL;
    if (asprintf(&address, "%s/dav/%s", app->prefix, path) < 0) {
        address = NULL;
        return reel_fail_memory(err);
    }
    dav_put_entry(out, &(struct dav_entry){.path = address,
                                           .modified_ns = modified_ns,
                                           .size = p ? p->size : 0,
                                           .etag = p ? p->etag : NULL,
                                           .media_type = p ? p->media_type : NULL});
    return true;
}

/* ---- a folder, page by page */

struct listing {
    struct http_request *request;
    char *folder; /* its path with a slash at its end; "" is the root */
    int64_t modified_ns;
    char *after; /* the last entry that was written; "" before the first */
    enum { LIST_BEGINS, LIST_GOES_ON, LIST_ENDS } stage;
    char *text;
    size_t size, at;
};

static void listing_free(void *context) {
    struct listing *l = context;
    free(l->folder);
    free(l->after);
    free(l->text);
    free(l);
}

/* Writes what a page has. */
static bool put_page(FILE *out, struct listing *l, const struct tree_page *page, struct reel_error *err) {
    const struct app *app = http_app(l->request);
    bool good = true;
    if (l->stage == LIST_BEGINS) {
        dav_put_head(out);
        good = put_entry(out, app, l->folder, l->modified_ns, NULL, err);
    }
    for (uint32_t i = 0; good && i < page->n; i++) {
        const struct tree_entry *e = &page->items[i];
        good = put_entry(out, app, e->path, e->modified_ns, e->is_folder ? NULL : &e->p, err);
    }
    if (!good) {
        return false;
    }
    if (!page->more) {
        dav_put_tail(out);
        l->stage = LIST_ENDS;
        return true;
    }
    l->stage = LIST_GOES_ON;
    free(l->after);
    l->after = strdup(page->items[page->n - 1].path);
    return l->after || reel_fail_memory(err);
}

/* The next page as text. */
static bool write_page(struct listing *l, struct reel_error *err) {
    const struct tree_query q = {
        .prefix = l->folder, .after = l->after, .limit = PAGE, .wait_ns = api_wait_ns(l->request, PLANS_WAIT_NS)};
    AUTO_STRUCT(tree_page_done) struct tree_page page = {0};
    free(TAKE(l->text));
    l->at = l->size = 0;
    if (!tree_list(l->request, &q, &page, err)) {
        return false;
    }
    FILE *out = open_memstream(&l->text, &l->size);
    if (!out) {
        return reel_fail_memory(err);
    }
    bool good = put_page(out, l, &page, err);
    return (text_stream_close(out, &l->text) || reel_fail_memory(err)) && good;
}

static bool dav_next_piece(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct listing *l = context;
    *got = 0;
    if (l->at == l->size && l->stage != LIST_ENDS && !write_page(l, err)) {
        return false;
    }
    *got = l->size - l->at < size ? l->size - l->at : size;
    memcpy(buffer, l->text + l->at, *got);
    l->at += *got;
    return true;
}

/* "lab/2024/" of "lab/2024"; malloc'd, NULL without memory. */
static char *folder_of(const char *path) {
    size_t size = strlen(path);
    char *text = NULL;
    bool slash = size > 0 && path[size - 1] != '/';
    return asprintf(&text, "%s%s", path, slash ? "/" : "") < 0 ? NULL : text;
}

/* The first page is there before the status, as its files may have to be planned first. */
static void reply_listing(struct http_request *r, const char *path, const struct tree_node *node) {
    struct reel_error err = {0};
    struct listing *l = calloc(1, sizeof *l);
    if (!l || !(l->folder = folder_of(path)) || !(l->after = strdup(""))) {
        if (l) {
            listing_free(l);
        }
        http_reply_no_memory(r);
        return;
    }
    l->request = r;
    l->modified_ns = node->modified_ns;
    if (!write_page(l, &err)) {
        http_reply_error(r, &err);
        listing_free(l);
        return;
    }
    http_reply_stream(r, &(struct http_stream){.status = 207,
                                               .media_type = "application/xml; charset=utf-8",
                                               .next = dav_next_piece,
                                               .free = listing_free,
                                               .context = l});
}

/* ---- methods */

/* The node itself; REEL_NOT_FOUND: nothing, as for a video that was not made yet. */
static bool put_node(FILE *out, struct http_request *r, const char *path, const struct tree_node *node,
                     struct reel_error *err) {
    struct tree_properties p;
    if (node->file && !node->file->properties(r, node, api_wait_ns(r, PLANS_WAIT_NS), &p, err)) {
        return false;
    }
    AUTO_MEM char *folder = node->file ? NULL : folder_of(path);
    return node->file ? put_entry(out, http_app(r), path, node->modified_ns, &p, err)
           : folder   ? put_entry(out, http_app(r), folder, node->modified_ns, NULL, err)
                      : reel_fail_memory(err);
}

static void reply_node(struct http_request *r, const char *path, const struct tree_node *node) {
    struct reel_error err = {0};
    AUTO_MEM char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        http_reply_no_memory(r);
        return;
    }
    dav_put_head(out);
    bool good = put_node(out, r, path, node, &err) || err.code == REEL_NOT_FOUND;
    dav_put_tail(out);
    if (!text_stream_close(out, &text)) {
        http_reply_no_memory(r);
    } else if (!good) {
        http_reply_error(r, &err);
    } else {
        http_reply_text(r, 207, "application/xml; charset=utf-8", text);
    }
}

/* The node of the request's path. False: replied. */
static bool find(struct http_request *r, const char **path, struct tree_node *out) {
    struct reel_error err = {0};
    bool found;
    *path = http_segment(r, "path") ? http_segment(r, "path") : "";
    if (!tree_find(r, *path, api_wait_ns(r, TREE_FIND_WAIT_NS), out, &found, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (!found) {
        http_reply_problem(r, 404, "not-found", "there is no such file or folder");
    }
    return found;
}

void api_dav_propfind(struct http_request *r) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    const char *depth = http_header(r, "Depth"), *path;
    bool deep = depth && strcmp(depth, "1") == 0;
    if (!deep && (!depth || strcmp(depth, "0") != 0)) {
        http_reply_problem(r, 403, "depth", "PROPFIND is answered with Depth: 0 or 1");
        return;
    }
    if (!find(r, &path, &node)) {
        return;
    }
    if (deep && !node.file) {
        reply_listing(r, path, &node);
    } else {
        reply_node(r, path, &node);
    }
}

void api_dav_get(struct http_request *r) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    const char *path;
    if (!find(r, &path, &node)) {
        return;
    }
    AUTO_MEM char *folder = node.file ? NULL : folder_of(path);
    if (node.file) {
        node.file->reply(r, &node);
    } else if (!http_param(r, "archive")) {
        http_reply_problem(
            r, 404, "not-found",
            "this is a folder, which WebDAV clients list with PROPFIND; archive=tar or archive=zip downloads it");
    } else if (folder) {
        dav_reply_archive(r, folder);
    } else {
        http_reply_no_memory(r);
    }
}

void api_dav_options(struct http_request *r) {
    http_add_header(r, "DAV", "1");
    http_add_header(r, "Allow", "OPTIONS, GET, HEAD, PROPFIND");
    http_reply_empty(r, 204);
}
