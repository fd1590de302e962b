/* The methods of /dav: GET, PROPFIND with a depth of 0 or 1, OPTIONS (class 1 of RFC 4918, read-only). */
#include <stdlib.h>
#include <string.h>

#include "api/digests.h"
#include "api/export/export.h"
#include "api/job_reply.h"
#include "api/recording.h"
#include "api/tree/dav.h"
#include "api/tree/tree.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "catalog/folder.h"
#include "catalog/notes.h"
#include "recordings/names.h"

static const int64_t PLANS_WAIT_NS = 10000000000; /* for the sizes of all files of a folder NAME.as */

/* ---- entries */

/* The path of a node, or of `name` in it; malloc'd, NULL without memory. */
static char *dav_path_of(const struct app *app, const struct dav_node *node, const char *name, bool is_folder) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fprintf(out, "%s/dav/%s%s%s", app->prefix, node->collection, *node->path ? "/" : "", node->path);
    if (*name) {
        fprintf(out, "%s%s", *node->collection ? "/" : "", name);
    }
    fputs(is_folder && (*node->collection || *name) ? "/" : "", out);
    return text_stream_close(out, &text) ? text : NULL;
}

static void put_folder(FILE *out, const struct app *app, const struct dav_node *node, const char *name,
                       int64_t time_ns) {
    AUTO_MEM char *path = dav_path_of(app, node, name, true);
    if (path) {
        dav_put_entry(out, &(struct dav_entry){.path = path, .created_ns = time_ns, .modified_ns = time_ns});
    }
}

static void put_part(FILE *out, const struct app *app, const struct dav_node *node, const char *name,
                     const struct catalog_recording *row, const struct catalog_part *part) {
    AUTO_MEM char *path = dav_path_of(app, node, name, false);
    char etag[64], digest[72];
    api_digest_texts(part->sha256, etag, digest);
    if (path) {
        dav_put_entry(out, &(struct dav_entry){.path = path,
                                               .size = part->size,
                                               .created_ns = row->created_ns,
                                               .modified_ns = row->created_ns,
                                               .etag = etag,
                                               .media_type = "application/octet-stream"});
    }
}

/* ---- NAME.as */

/* "run" of lab/run.bag: without the suffix of its format, or what follows the last dot. */
static void stem_of(const struct catalog_recording *row, char out[NAME_BYTES_MAX + 1]) {
    const char *name = names_file(row->name), *dot = strrchr(name, '.');
    const struct reel_format *format = reel_format_named(row->format);
    size_t whole = strlen(name), size = dot && dot > name ? (size_t)(dot - name) : whole;
    for (size_t i = 0; format && format->suffixes[i]; i++) {
        size_t suffix = strlen(format->suffixes[i]);
        if (suffix < whole && ascii_casecmp(name + whole - suffix, format->suffixes[i]) == 0 && whole - suffix < size) {
            size = whole - suffix;
        }
    }
    snprintf(out, NAME_BYTES_MAX + 1, "%.*s", (int)size, name);
}

static void put_export(FILE *out, struct http_request *r, const struct dav_node *node, const struct api_recording *a,
                       const char *name, const struct reel_writer *writer, int64_t until_ns) {
    uint64_t size;
    char etag[64];
    int64_t now = reel_now_ns();
    AUTO_MEM char *path = dav_path_of(http_app(r), node, node->kind == DAV_EXPORT ? "" : name, false);
    if (path && api_export_size(r, a, name, until_ns > now ? until_ns - now : 0, &size, etag)) {
        dav_put_entry(out, &(struct dav_entry){.path = path,
                                               .size = size,
                                               .created_ns = a->row.created_ns,
                                               .modified_ns = a->row.created_ns,
                                               .etag = etag,
                                               .media_type = writer->media_type});
    }
}

/* The files whose length is known, or becomes known in time. False: replied. */
static bool put_exports(FILE *out, struct http_request *r, const struct dav_node *node) {
    AUTO_STRUCT(api_recording_done) struct api_recording a = {0};
    char stem[NAME_BYTES_MAX + 1], name[NAME_BYTES_MAX + 32];
    int64_t until_ns = reel_now_ns() + api_wait_ns(r, PLANS_WAIT_NS);
    if (!api_open_key(r, node->row.id, &a)) {
        return false;
    }
    stem_of(&node->row, stem);
    for (size_t i = 0; reel_writers[i]; i++) {
        const struct reel_writer *writer = reel_writers[i];
        if (!writer->variant && !(writer->needs & REEL_STREAMED)) {
            snprintf(name, sizeof name, "%s%s", stem, writer->extension);
            put_export(out, r, node, &a, name, writer, until_ns);
        }
    }
    return true;
}

static bool put_one_export(FILE *out, struct http_request *r, const struct dav_node *node) {
    AUTO_STRUCT(api_recording_done) struct api_recording a = {0};
    struct reel_error err = {0};
    const struct reel_writer *writer = reel_writer_for_file(node->name, NULL, &err);
    if (!writer) {
        http_reply_problem(r, 404, "not-found", "%s", err.text);
        return false;
    }
    if (!api_open_key(r, node->row.id, &a)) {
        return false;
    }
    put_export(out, r, node, &a, node->name, writer, reel_now_ns() + api_wait_ns(r, PLANS_WAIT_NS));
    return true;
}

/* ---- folders of any size, page by page */

struct listing {
    struct http_request *request;
    struct dav_node node;
    char *next; /* where the next page begins */
    enum { LIST_BEGINS, LIST_GOES_ON, LIST_ENDS } stage;
    char *text;
    size_t size, at;
};

static void listing_free(void *context) {
    struct listing *l = context;
    dav_node_done(&l->node);
    free(l->next);
    free(l->text);
    free(l);
}

static bool put_collections(FILE *out, struct listing *l, bool *more, struct reel_error *err) {
    struct app *app = http_app(l->request);
    struct catalog_collections page;
    if (!catalog_collections_list(app->catalog, l->next ? l->next : "", FOLDER_PAGE, &page, err)) {
        return false;
    }
    for (uint32_t i = 0; i < page.n; i++) {
        if (page.items[i].recordings > 0 && http_caller_sees(http_caller(l->request), page.items[i].name)) {
            put_folder(out, app, &l->node, page.items[i].name, 0);
        }
    }
    free(TAKE(l->next));
    *more = page.more && (l->next = strdup(page.items[page.n - 1].name));
    catalog_collections_done(&page);
    return true;
}

static void put_in_folder(FILE *out, const struct app *app, const struct dav_node *node,
                          const struct catalog_folder_entry *entry) {
    const struct catalog_recording *row = &entry->recording;
    const char *name = names_file(entry->folder ? entry->folder : row->name);
    char exports[NAME_BYTES_MAX + 4];
    if (entry->folder) {
        put_folder(out, app, node, name, 0);
        return;
    }
    if (!row->name || !dav_is_shown(row)) {
        return;
    }
    if (row->n_parts == 1) {
        put_part(out, app, node, name, row, &row->parts[0]);
    } else {
        put_folder(out, app, node, name, row->created_ns);
    }
    if (row->state == STATE_READY) {
        snprintf(exports, sizeof exports, "%s.as", name);
        put_folder(out, app, node, exports, row->created_ns);
    }
}

static bool put_page(FILE *out, struct listing *l, bool *more, struct reel_error *err) {
    struct app *app = http_app(l->request);
    AUTO_MEM struct catalog_folder *folder = malloc(sizeof *folder);
    if (!folder) {
        return reel_fail_memory(err);
    }
    if (!catalog_folder_list(app->catalog, l->node.collection, l->node.path, l->next, folder, err)) {
        return false;
    }
    for (uint32_t i = 0; i < folder->n; i++) {
        put_in_folder(out, app, &l->node, &folder->items[i]);
    }
    free(l->next);
    l->next = TAKE(folder->next);
    *more = l->next;
    catalog_folder_done(folder);
    return true;
}

static bool write_page(struct listing *l, struct reel_error *err) {
    bool more = false, root = l->node.kind == DAV_ROOT;
    free(TAKE(l->text));
    l->at = l->size = 0;
    FILE *out = open_memstream(&l->text, &l->size);
    if (!out) {
        return reel_fail_memory(err);
    }
    if (l->stage == LIST_BEGINS) {
        dav_put_head(out);
        put_folder(out, http_app(l->request), &l->node, "", 0);
    }
    bool good = root ? put_collections(out, l, &more, err) : put_page(out, l, &more, err);
    if (!more) {
        dav_put_tail(out);
    }
    l->stage = more ? LIST_GOES_ON : LIST_ENDS;
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

static void reply_listing(struct http_request *r, struct dav_node *node) {
    struct listing *l = calloc(1, sizeof *l);
    if (!l) {
        http_reply_no_memory(r);
        return;
    }
    l->request = r;
    l->node = *node; /* which it frees */
    *node = (struct dav_node){0};
    http_reply_stream(r, &(struct http_stream){.status = 207,
                                               .media_type = "application/xml; charset=utf-8",
                                               .next = dav_next_piece,
                                               .free = listing_free,
                                               .context = l});
}

/* ---- methods */

/* Everything but folders of any size. False: replied. */
static bool put_node(FILE *out, struct http_request *r, const struct dav_node *node, bool deep) {
    const struct app *app = http_app(r);
    switch (node->kind) {
    case DAV_RECORDING:
        put_part(out, app, node, "", &node->row, &node->row.parts[0]);
        return true;
    case DAV_PART:
        put_part(out, app, node, "", &node->row, node->part);
        return true;
    case DAV_EXPORT:
        return put_one_export(out, r, node);
    default:
        put_folder(out, app, node, "", node->row.created_ns);
        break;
    }
    for (uint32_t i = 0; deep && node->kind == DAV_PARTS && i < node->row.n_parts; i++) {
        put_part(out, app, node, names_file(node->row.parts[i].file_name), &node->row, &node->row.parts[i]);
    }
    return !deep || node->kind != DAV_EXPORTS || put_exports(out, r, node);
}

static void reply_node(struct http_request *r, const struct dav_node *node, bool deep) {
    AUTO_MEM char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        http_reply_no_memory(r);
        return;
    }
    dav_put_head(out);
    bool good = put_node(out, r, node, deep);
    dav_put_tail(out);
    if (text_stream_close(out, &text) && good) {
        http_reply_text(r, 207, "application/xml; charset=utf-8", text);
    } else if (good) {
        http_reply_no_memory(r);
    }
}

void api_dav_propfind(struct http_request *r) {
    AUTO_STRUCT(dav_node_done) struct dav_node node = {0};
    const char *depth = http_header(r, "Depth");
    bool deep = depth && strcmp(depth, "1") == 0;
    if (!deep && (!depth || strcmp(depth, "0") != 0)) {
        http_reply_problem(r, 403, "depth", "PROPFIND is answered with Depth: 0 or 1");
        return;
    }
    if (!dav_find(r, &node)) {
        return;
    }
    if (deep && (node.kind == DAV_ROOT || node.kind == DAV_COLLECTION)) {
        reply_listing(r, &node);
    } else {
        reply_node(r, &node, deep);
    }
}

void api_dav_get(struct http_request *r) {
    AUTO_STRUCT(dav_node_done) struct dav_node node = {0};
    if (!dav_find(r, &node)) {
        return;
    }
    if (node.kind == DAV_RECORDING || node.kind == DAV_PART) {
        api_reply_part(r, &node.row, node.part ? node.part : &node.row.parts[0]);
    } else if (node.kind == DAV_EXPORT) {
        api_export(r, node.row.id, node.name);
    } else {
        http_reply_problem(r, 404, "not-found", "this is a folder, which WebDAV clients list with PROPFIND");
    }
}

void api_dav_options(struct http_request *r) {
    http_add_header(r, "DAV", "1");
    http_add_header(r, "Allow", "OPTIONS, GET, HEAD, PROPFIND");
    http_reply_empty(r, 204);
}
