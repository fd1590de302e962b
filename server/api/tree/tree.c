/* See tree.h: the root of the tree, and what all lists share. */
#include "api/tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/notes.h"
#include "datasets/layout.h"
#include "definitions/set.h"

enum { COLLECTIONS_READ = 100, PLANS_AT_ONCE = 64 /* begun for one list */ };

static const struct tree_root *const roots[] = {&tree_datasets, &tree_searches, &tree_tables, NULL}; /* by name */

void tree_node_done(struct tree_node *node) {
    if (node->free_state) {
        node->free_state(node->state);
    }
    catalog_recording_done(&node->row);
    free(node->memory);
    *node = (struct tree_node){0};
}

void tree_page_done(struct tree_page *page) {
    for (uint32_t i = 0; i < page->n; i++) {
        free(page->items[i].path);
        layout_free(page->items[i].p.layout);
    }
    free(page->items);
    *page = (struct tree_page){0};
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- adding */

/* Whether the query's `after` is before this path. */
static bool is_after(const struct tree_query *q, const char *path) {
    size_t size = strlen(q->after);
    bool in_folder = !q->deep && size > 0 && q->after[size - 1] == '/' && begins(path, q->after);
    return strcmp(path, q->after) > 0 && !in_folder;
}

bool tree_asks(const struct tree_lister *l, const char *path) {
    return begins(path, l->q->prefix) && is_after(l->q, path);
}

bool tree_enters(const struct tree_lister *l, const char *dir) {
    return begins(l->q->prefix, dir);
}

/* Whether the last entry is this folder. */
static bool is_last(const struct tree_lister *l, const char *key, size_t size) {
    const char *last = l->out->n > 0 ? l->out->items[l->out->n - 1].path + strlen(l->base) : NULL;
    return last && strlen(last) == size && strncmp(last, key, size) == 0;
}

static bool append(struct tree_lister *l, const char *key, size_t size, int64_t modified_ns,
                   const struct tree_properties *properties, struct reel_error *err) {
    struct tree_page *page = l->out;
    if (page->n == l->q->limit) {
        page->more = l->ended = true;
        return true;
    }
    if (!page->items && !(page->items = calloc(l->q->limit, sizeof *page->items))) {
        return reel_fail_memory(err);
    }
    struct tree_entry *entry = &page->items[page->n];
    *entry = (struct tree_entry){.is_folder = !properties, .modified_ns = modified_ns};
    if (asprintf(&entry->path, "%s%.*s", l->base, (int)size, key) < 0) {
        return reel_fail_memory(err);
    }
    if (properties) {
        entry->p = *properties;
        entry->p.layout = properties->layout ? layout_ref(properties->layout) : NULL;
    }
    page->n++;
    return true;
}

bool tree_add(struct tree_lister *l, const char *path, int64_t modified_ns, const struct tree_properties *properties,
              struct reel_error *err) {
    if (l->ended || !tree_asks(l, path)) {
        l->ended = l->ended || (!begins(path, l->q->prefix) && strcmp(path, l->q->prefix) > 0);
        return true;
    }
    const char *slash = l->q->deep ? NULL : strchr(path + strlen(l->q->prefix), '/');
    size_t size = slash ? (size_t)(slash - path) + 1 : strlen(path);
    if ((!slash && !properties) || is_last(l, path, size)) {
        return true;
    }
    return append(l, path, size, slash && slash[1] ? 0 : modified_ns, slash ? NULL : properties, err);
}

bool tree_add_planned(struct tree_lister *l, const char *path, const struct tree_node *node, struct reel_error *err) {
    struct reel_error why = {0};
    struct tree_properties properties;
    if (l->ended || !tree_asks(l, path) || (!l->q->deep && strchr(path + strlen(l->q->prefix), '/'))) {
        return tree_add(l, path, node->modified_ns, NULL, err);
    }
    if (l->out->n == l->q->limit) {
        l->out->more = l->ended = true;
        return true;
    }
    int64_t now = reel_now_ns();
    if (node->file->properties(l->r, node, l->until_ns > now ? l->until_ns - now : 0, &properties, &why)) {
        return tree_add(l, path, node->modified_ns, &properties, err);
    }
    if (why.code == REEL_BUSY) {
        l->unknown = true;
        l->ended = ++l->planned >= PLANS_AT_ONCE || l->out->n + l->planned >= l->q->limit;
        return true;
    }
    return !reel_is_transient(why.code) || reel_error_pass(err, &why);
}

/* ---- the first segment */

static bool is_allowed(const struct http_request *r, const struct tree_root *root) {
    return !root->is_whole || !http_caller(r)->collections;
}

static const struct tree_root *root_named(const struct http_request *r, const char *name, size_t size) {
    for (size_t i = 0; roots[i]; i++) {
        if (is_allowed(r, roots[i]) && strlen(roots[i]->name) == size && strncmp(roots[i]->name, name, size) == 0) {
            return roots[i];
        }
    }
    return NULL;
}

/* Whether there is a collection of this name with recordings that the caller may see. */
static bool has_collection(struct http_request *r, const char *name, bool *has, struct reel_error *err) {
    struct catalog_collection collection;
    struct reel_error why = {0};
    *has = false;
    if (!http_caller_sees(http_caller(r), name)) {
        return true;
    }
    if (!catalog_collection_get(http_app(r)->catalog, name, &collection, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    *has = collection.recordings > 0;
    catalog_collection_done(&collection);
    return true;
}

bool tree_find(struct http_request *r, const char *path, int64_t wait_ns, struct tree_node *out, bool *found,
               struct reel_error *err) {
    *out = (struct tree_node){0};
    *found = *path == '\0';
    size_t size = strcspn(path, "/");
    const char *below = path[size] ? path + size + 1 : "";
    AUTO_MEM char *name = strndup(path, size);
    bool has;
    if (*found || !name || !has_collection(r, name, &has, err)) {
        return *found || (!name && reel_fail_memory(err));
    }
    const struct tree_root *root = has ? NULL : root_named(r, path, size);
    return root  ? root->find(r, below, wait_ns, out, found, err)
           : has ? tree_collection_find(r, name, below, out, found, err)
                 : true;
}

/* ---- lists */

/* The part of the list that is below `name` "/". */
static bool list_root(struct tree_lister *l, const char *name, const struct tree_root *root, struct reel_error *err) {
    AUTO_MEM char *base = NULL;
    const struct tree_query *q = l->q;
    if (asprintf(&base, "%s/", name) < 0) {
        return reel_fail_memory(err);
    }
    size_t size = strlen(base);
    bool is_in = begins(q->prefix, base);
    if ((!is_in && !q->deep) || (!is_in && root)) { /* one folder; the deep list has nothing of it */
        return tree_add(l, base, 0, NULL, err);
    }
    if (!is_in && !begins(base, q->prefix)) {
        return true;
    }
    if (!begins(q->after, base) && strcmp(q->after, base) > 0) {
        return true; /* all of it is before */
    }
    struct tree_query below = *q;
    below.prefix = is_in ? q->prefix + size : "";
    below.after = begins(q->after, base) ? q->after + size : "";
    struct tree_lister in = {
        .r = l->r, .q = &below, .base = base, .out = l->out, .until_ns = l->until_ns, .planned = l->planned};
    bool good = root ? root->list(&in, err) : tree_collection_list(&in, name, err);
    l->unknown = l->unknown || in.unknown;
    l->planned = in.planned;
    l->ended = l->out->more || l->unknown;
    return good;
}

/* The roots whose name is before that of the next collection (NULL: all the others), and not that of a collection. */
static bool list_roots(struct tree_lister *l, size_t *at, const char *next, struct reel_error *err) {
    for (; roots[*at] && (!next || strcmp(roots[*at]->name, next) <= 0) && !l->ended; ++*at) {
        bool hidden = (next && strcmp(roots[*at]->name, next) == 0) || !is_allowed(l->r, roots[*at]);
        if (!hidden && !list_root(l, roots[*at]->name, roots[*at], err)) {
            return false;
        }
    }
    return true;
}

static bool list_all(struct tree_lister *l, struct reel_error *err) {
    struct catalog *catalog = http_app(l->r)->catalog;
    AUTO_MEM char *after = strdup("");
    size_t at = 0;
    bool good = after, more = true;
    while (good && more && !l->ended) {
        struct catalog_collections page;
        if (!catalog_collections_list(catalog, after, COLLECTIONS_READ, &page, err)) {
            return false;
        }
        for (uint32_t i = 0; good && i < page.n && !l->ended; i++) {
            const struct catalog_collection *c = &page.items[i];
            if (c->recordings > 0 && http_caller_sees(http_caller(l->r), c->name)) {
                good = list_roots(l, &at, c->name, err) && (l->ended || list_root(l, c->name, NULL, err));
            }
        }
        more = page.more;
        free(after);
        after = page.n > 0 ? strdup(page.items[page.n - 1].name) : strdup("");
        good = good && after;
        catalog_collections_done(&page);
    }
    return good && (l->ended || list_roots(l, &at, NULL, err));
}

/* A prefix that names the first segment needs no others. */
static bool list_one(struct tree_lister *l, size_t size, struct reel_error *err) {
    AUTO_MEM char *name = strndup(l->q->prefix, size);
    bool has;
    if (!name) {
        return reel_fail_memory(err);
    }
    if (!has_collection(l->r, name, &has, err)) {
        return false;
    }
    const struct tree_root *root = has ? NULL : root_named(l->r, name, size);
    return has || root ? list_root(l, name, root, err) : true;
}

static bool list_once(struct http_request *r, const struct tree_query *q, int64_t until_ns, struct tree_page *out,
                      bool *unknown, struct reel_error *err) {
    struct tree_lister l = {.r = r, .q = q, .base = "", .out = out, .until_ns = until_ns};
    size_t size = strcspn(q->prefix, "/");
    *out = (struct tree_page){0};
    bool good = q->prefix[size] ? list_one(&l, size, err) : list_all(&l, err);
    *unknown = l.unknown;
    if (!good || l.unknown) {
        tree_page_done(out);
    }
    return good;
}

/* The first time plans are begun and not waited for, so that they are made at the same time. */
bool tree_list(struct http_request *r, const struct tree_query *q, struct tree_page *out, struct reel_error *err) {
    int64_t until_ns = reel_now_ns() + q->wait_ns;
    bool unknown;
    definitions_refresh(http_app(r), NULL); /* on which entity tags depend */
    if (!list_once(r, q, 0, out, &unknown, err)) {
        return false;
    }
    while (unknown && reel_now_ns() < until_ns) {
        if (!list_once(r, q, until_ns, out, &unknown, err)) {
            return false;
        }
    }
    return !unknown || reel_fail(err, REEL_BUSY, "some of these files are being planned; try again");
}
