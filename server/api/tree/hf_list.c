/* See hf.h: lists of files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/digests.h"
#include "api/tree/hf.h"
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "base/text_stream.h"
#include "views/addresses.h"

enum {
    ENTRY_MEMORY = 2048,    /* of an entry as JSON, with a name of usual length */
    SIBLINGS_MAX = 50000,   /* of info; clients that would list more ask for the tree */
    PATHS_MAX = 100,        /* of paths-info */
    LFS_POINTER_BYTES = 134 /* about */
};

/* ---- entries */

void hf_tag(const struct tree_properties *p, char out[SHA256_HEX]) {
    static const char before[] = "\"sha256-";
    uint8_t digest[32];
    if (p->is_digest && api_digest_from_base64(p->etag + sizeof before - 1, 44, digest)) {
        hex_write(digest, sizeof digest, out);
    } else {
        digest_hex(DIGEST_SHA1, bytes_text(p->etag), out);
    }
}

static json_t *time_of(int64_t ns) { /* with milliseconds, as all clients read it */
    char text[REEL_TIME_TEXT], cut[REEL_TIME_TEXT];
    reel_time_rfc3339(ns / 1000000000 * 1000000000, text);
    snprintf(cut, sizeof cut, "%.19s.000Z", text);
    return json_string(cut);
}

json_t *hf_commit(const struct hf_repository *repository) {
    return json_pack("{s:s, s:s, s:o}", "id", repository->sha, "title", "", "date", time_of(repository->modified_ns));
}

/* Git's digest of the path stands for that of a folder or file, which nobody can compare. */
static json_t *new_entry(const struct hf_repository *repository, const char *type, const char *path, size_t size,
                         bool expand) {
    char oid[SHA1_HEX];
    digest_hex(DIGEST_SHA1, bytes_of(path, size), oid);
    json_t *out = json_pack("{s:s, s:s, s:s%, s:i}", "type", type, "oid", oid, "path", path, size, "size", 0);
    if (expand) {
        json_object_set_new(out, "lastCommit", hf_commit(repository));
    }
    return out;
}

/* A file whose SHA-256 is known is one of Git LFS, which clients verify. `key`: what the answer calls the SHA-256. */
static void add_blob(json_t *entry, const char *key, const char *oid, const struct tree_properties *p) {
    char tag[SHA256_HEX], sha1[SHA1_HEX];
    hf_tag(p, tag);
    digest_hex(DIGEST_SHA1, bytes_text(tag), sha1);
    json_object_set_new(entry, oid, json_string(sha1));
    json_object_set_new(entry, "size", json_integer((json_int_t)p->size));
    if (p->is_digest) {
        json_object_set_new(
            entry, "lfs",
            json_pack("{s:s, s:I, s:i}", key, tag, "size", (json_int_t)p->size, "pointerSize", LFS_POINTER_BYTES));
    }
}

static json_t *file_entry(const struct hf_repository *repository, const char *path, const struct tree_properties *p,
                          bool expand) {
    json_t *out = new_entry(repository, "file", path, strlen(path), expand);
    add_blob(out, "oid", "oid", p);
    return out;
}

/* ---- siblings */

static bool add_siblings(json_t *out, const struct hf_repository *repository, const struct tree_page *page, bool blobs,
                         struct reel_error *err) {
    for (uint32_t i = 0; i < page->n; i++) {
        const struct tree_entry *e = &page->items[i];
        json_t *sibling = json_pack("{s:s}", "rfilename", e->path + strlen(repository->base));
        if (blobs && sibling) {
            add_blob(sibling, "sha256", "blobId", &e->p);
        }
        if (e->modified_ns > repository->newest_ns) {
            json_decref(sibling);
        } else if (json_array_append_new(out, sibling) != 0) {
            return reel_fail_memory(err);
        }
    }
    return json_array_size(out) <= SIBLINGS_MAX ||
           reel_fail(err, REEL_LIMIT, "there are more than %d files: use the tree, or /s3", SIBLINGS_MAX);
}

/* Whether the dataset is still of this revision. */
static bool is_current(struct http_request *r, const struct hf_repository *repository, struct reel_error *err) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    bool found;
    return !repository->is_dataset || hf_find(r, repository, "meta/info.json", &node, &found, err);
}

json_t *hf_siblings(struct http_request *r, const struct hf_repository *repository, bool blobs,
                    struct reel_error *err) {
    json_auto_t *out = json_array();
    AUTO_MEM char *after = strdup("");
    bool more = true;
    while (more) {
        AUTO_STRUCT(tree_page_done) struct tree_page page = {0};
        const struct tree_query q = {.prefix = repository->base,
                                     .after = after,
                                     .deep = true,
                                     .limit = TREE_PAGE_MAX,
                                     .wait_ns = hf_left_ns(repository->until_ns)};
        if (!after || !out) {
            reel_fail_memory(err);
            return NULL;
        }
        if (!http_hold(r, TREE_PAGE_MAX * (uint64_t)ENTRY_MEMORY / (blobs ? 1 : 4), err) ||
            !tree_list(r, &q, &page, err) || !add_siblings(out, repository, &page, blobs, err)) {
            return NULL;
        }
        more = page.more;
        free(after);
        after = strdup(page.n > 0 ? page.items[page.n - 1].path : "");
    }
    return is_current(r, repository, err) ? json_incref(out) : NULL;
}

/* ---- the tree */

static bool is_true(const char *text) { /* Python's True, too */
    return text && (ascii_casecmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

struct listing {
    struct http_request *r;
    const struct hf_repository *repository;
    const struct hf_path *path;
    bool recursive, expand;
    uint32_t limit;
    char *prefix, *after; /* in the tree */
};

static void listing_done(struct listing *l) {
    free(l->prefix);
    free(l->after);
}

/* The parameters, which are forgotten. False: replied. */
static bool read_listing(struct listing *l) {
    uint64_t limit = TREE_PAGE_MAX;
    const char *cursor = http_param(l->r, "cursor"), *base = l->repository->base;
    http_param_u64(l->r, "limit", &limit);
    l->limit = (uint32_t)limit;
    l->recursive = is_true(http_param(l->r, "recursive"));
    l->expand = is_true(http_param(l->r, "expand"));
    if (asprintf(&l->prefix, "%s%s%s", base, l->path->path, l->path->path[0] ? "/" : "") < 0) {
        l->prefix = NULL;
    }
    if (asprintf(&l->after, "%s%s", cursor ? base : "", cursor ? cursor : "") < 0) {
        l->after = NULL;
    }
    http_forget_params(l->r);
    if (!l->prefix || !l->after) {
        http_reply_no_memory(l->r);
    }
    return l->prefix && l->after && http_reserve(l->r, (uint64_t)l->limit * ENTRY_MEMORY);
}

/* The folders of a path that are not those of the path before it: recursive lists have them, too. */
static void add_folders(const struct listing *l, json_t *out, const char *path, const char *before) {
    size_t base = strlen(l->repository->base);
    const char *slash = path + strlen(l->prefix);
    while ((slash = strchr(slash, '/'))) {
        size_t size = (size_t)(slash++ - path);
        if (strncmp(path, before, size + 1) != 0) {
            json_array_append_new(out, new_entry(l->repository, "directory", path + base, size - base, l->expand));
        }
    }
}

static json_t *page_json(const struct listing *l, const struct tree_page *page) {
    size_t base = strlen(l->repository->base);
    const char *before = l->after;
    json_t *out = json_array();
    for (uint32_t i = 0; i < page->n; i++) {
        const struct tree_entry *e = &page->items[i];
        add_folders(l, out, e->path, before);
        if (!e->is_folder && e->modified_ns <= l->repository->newest_ns) {
            json_array_append_new(out, file_entry(l->repository, e->path + base, &e->p, l->expand));
        }
        before = e->path;
    }
    return out;
}

/* The address of the next page, of this revision. False: no memory. */
static bool add_link(const struct listing *l, const struct tree_page *page) {
    AUTO_MEM char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return false;
    }
    fputc('<', out);
    address_put_base(out, l->r);
    fputs("/hf/api/datasets/", out);
    address_put_path(out, l->path->id);
    fprintf(out, "/tree/%s%s", l->repository->sha, l->path->path[0] ? "/" : "");
    address_put_path(out, l->path->path);
    fprintf(out, "?recursive=%s&expand=%s&limit=%u&cursor=", l->recursive ? "true" : "false",
            l->expand ? "true" : "false", (unsigned)l->limit);
    address_put_escaped(out, page->items[page->n - 1].path + strlen(l->repository->base));
    fputs(">; rel=\"next\"", out);
    if (!text_stream_close(out, &text)) {
        return false;
    }
    http_add_header(l->r, "Link", text);
    return true;
}

/* An empty page is that of a folder, or there is none. */
static bool is_there(const struct listing *l, const struct tree_page *page, bool *there, struct reel_error *err) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    *there = page->n > 0 || !l->path->path[0] || l->after[0];
    if (*there) {
        return true;
    }
    return hf_find(l->r, l->repository, l->path->path, &node, there, err) && ((*there = *there && !node.file), true);
}

void hf_reply_tree(struct http_request *r, const struct hf_repository *repository, const struct hf_path *p) {
    AUTO_STRUCT(listing_done) struct listing l = {.r = r, .repository = repository, .path = p};
    AUTO_STRUCT(tree_page_done) struct tree_page page = {0};
    struct reel_error err = {0};
    bool there;
    if (!read_listing(&l)) {
        return;
    }
    const struct tree_query q = {.prefix = l.prefix,
                                 .after = l.after,
                                 .deep = l.recursive,
                                 .limit = l.limit,
                                 .wait_ns = hf_left_ns(repository->until_ns)};
    if (!tree_list(r, &q, &page, &err) || !is_current(r, repository, &err) || !is_there(&l, &page, &there, &err)) {
        http_reply_error(r, &err);
    } else if (!there) {
        hf_reply_missing(r, "EntryNotFound", "there is no such folder in this revision");
    } else if (page.more && !add_link(&l, &page)) {
        http_reply_no_memory(r);
    } else {
        http_reply_json(r, 200, page_json(&l, &page));
    }
}

/* ---- some paths */

/* paths=a&paths=b&expand=True as the members of an object; NULL: it is malformed, or no memory. */
static json_t *read_form(const char *text) {
    json_auto_t *out = json_pack("{s:[], s:b}", "paths", "expand", 0);
    AUTO_MEM char *form = strdup(text);
    char *rest = form, *pair;
    while (form && (pair = strsep(&rest, "&"))) {
        char *value = pair + strcspn(pair, "=");
        size_t size;
        *value ? *value++ = '\0' : 0;
        if (!http_decode(value, strlen(value), true, &size)) {
            return NULL;
        }
        if (strcmp(pair, "paths") == 0) {
            json_array_append_new(json_object_get(out, "paths"), json_string(value));
        } else if (strcmp(pair, "expand") == 0) {
            json_object_set_new(out, "expand", json_boolean(is_true(value)));
        }
    }
    return form ? json_incref(out) : NULL;
}

/* A new reference; NULL: replied. */
static json_t *read_paths(struct http_request *r) {
    const char *type = http_header(r, "Content-Type");
    size_t size;
    bool is_json = type && ascii_ncasecmp(type, "application/json", strlen("application/json")) == 0;
    json_auto_t *out = is_json ? json_incref(body_json(r)) : read_form(body_text(r, &size));
    const json_t *paths = json_object_get(out, "paths");
    if (is_json && !out) {
        return NULL;
    }
    if (!json_is_array(paths) || json_array_size(paths) > PATHS_MAX) {
        body_refuse(r, "paths", "is a list of at most %d paths", PATHS_MAX);
        return NULL;
    }
    return json_incref(out);
}

static bool add_path(struct http_request *r, const struct hf_repository *repository, const char *path, bool expand,
                     json_t *out, struct reel_error *err) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    struct tree_properties properties;
    struct reel_error why = {0};
    bool found;
    if (!hf_find(r, repository, path, &node, &found, err)) {
        return false;
    }
    if (!found) {
        return true;
    }
    if (!node.file) {
        size_t size = strlen(path);
        size -= size > 0 && path[size - 1] == '/';
        return json_array_append_new(out, new_entry(repository, "directory", path, size, expand)) == 0 ||
               reel_fail_memory(err);
    }
    if (!node.file->properties(r, &node, hf_left_ns(repository->until_ns), &properties, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    return json_array_append_new(out, file_entry(repository, path, &properties, expand)) == 0 || reel_fail_memory(err);
}

void hf_reply_paths(struct http_request *r, const struct hf_repository *repository) {
    struct reel_error err = {0};
    json_auto_t *body = read_paths(r), *out = json_array();
    const json_t *paths = json_object_get(body, "paths");
    bool good = true, expand = json_is_true(json_object_get(body, "expand"));
    if (!body) {
        return;
    }
    for (size_t i = 0; good && i < json_array_size(paths); i++) {
        const char *path = json_string_value(json_array_get(paths, i));
        good = !path || !*path || *path == '/' || add_path(r, repository, path, expand, out, &err);
    }
    if (good) {
        http_reply_json(r, 200, json_incref(out));
    } else {
        http_reply_error(r, &err);
    }
}
