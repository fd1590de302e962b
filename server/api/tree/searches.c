/* searches/NAME/FORMAT/COLLECTION/NAME: what a saved search finds, as it is now: FORMAT "original" for the files as
 * they are, else the ending of a format ("mcap"), which the names then get. Only searches of the form that the page
 * saves are folders: q, start, end (and sort, which means nothing here). As on the page, they are for callers who may
 * see all collections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tree/tree.h"
#include "base/cleanup.h"
#include "catalog/saved.h"
#include "convert/writer.h"
#include "recordings/names.h"

enum { FOUND_MAX = 1000, FORMATS_MAX = 64 };
static const char original[] = "original";

static bool read_search(const json_t *value, struct catalog_query *out) {
    bool good = saved_search_read(value, out);
    out->limit = FOUND_MAX;
    return good;
}

/* ---- formats */

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The folders of a search: "bag", "mcap", "original" … */
static size_t formats(const char *out[FORMATS_MAX]) {
    size_t n = 0;
    out[n++] = original;
    for (size_t i = 0; reel_writers[i] && n < FORMATS_MAX; i++) {
        if (!reel_writers[i]->variant && !(reel_writers[i]->needs & REEL_STREAMED)) {
            out[n++] = reel_writers[i]->extension + 1;
        }
    }
    qsort(out, n, sizeof *out, compare_texts);
    return n;
}

/* ---- what is found */

struct found {
    char *path; /* COLLECTION/NAME below the folder of the format */
    struct catalog_recording *row;
    const struct catalog_part *part; /* NULL: a conversion */
};
struct list {
    struct catalog_page page;
    struct found *items;
    size_t n;
};

static void list_done(struct list *list) {
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].path);
    }
    free(list->items);
    catalog_page_done(&list->page);
}

/* The newest revision first, as a path means that. */
static int compare_found(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order ? order : (x->row->revision < y->row->revision) - (x->row->revision > y->row->revision);
}

static bool add_found(struct list *list, struct catalog_recording *row, const char *format) {
    bool is_original = strcmp(format, original) == 0;
    for (uint32_t i = 0; i < (is_original ? row->n_parts : 1); i++) {
        bool several = is_original && row->n_parts > 1;
        struct found *f = &list->items[list->n];
        *f = (struct found){.row = row, .part = is_original ? &row->parts[i] : NULL};
        if (asprintf(&f->path, "%s/%s%s%s", row->collection, row->name,
                     several       ? "/"
                     : is_original ? ""
                                   : ".",
                     several       ? names_file(row->parts[i].file_name)
                     : is_original ? ""
                                   : format) < 0) {
            return false;
        }
        list->n++;
    }
    return true;
}

static bool run_search(struct http_request *r, const json_t *value, const char *format, struct list *out,
                       struct reel_error *err) {
    struct catalog_query q;
    size_t n = 0;
    if (!read_search(value, &q) || !catalog_list(http_app(r)->catalog, &q, &out->page, err)) {
        return err->code == REEL_OK;
    }
    if (out->page.next) {
        return reel_fail(err, REEL_LIMIT, "the search finds more than %d recordings: narrow it", FOUND_MAX);
    }
    for (uint32_t i = 0; i < out->page.n_items; i++) {
        n += out->page.items[i].n_parts + 1;
    }
    bool good = (out->items = calloc(n + 1, sizeof *out->items));
    for (uint32_t i = 0; good && i < out->page.n_items; i++) {
        good = !tree_is_shown(&out->page.items[i]) || add_found(out, &out->page.items[i], format);
    }
    if (!good) {
        return reel_fail_memory(err);
    }
    qsort(out->items, out->n, sizeof *out->items, compare_found);
    return true;
}

/* A node that borrows the row. */
static struct tree_node node_of(const struct found *f, const char *format) {
    return (struct tree_node){.file = f->part ? &tree_original : &tree_conversion,
                              .row = *f->row,
                              .part = f->part,
                              .name = format,
                              .modified_ns = f->row->created_ns};
}

/* ---- listing */

/* "x.mcap", by which a format is found. */
static char *file_of(const char *format) {
    char *text = NULL;
    return asprintf(&text, "x.%s", format) < 0 ? NULL : text;
}

/* What is in NAME/FORMAT/, the key. */
static bool list_found(struct tree_lister *l, const char *key, const char *format, const json_t *value,
                       struct reel_error *err) {
    AUTO_STRUCT(list_done) struct list list = {0};
    AUTO_MEM char *file = file_of(format);
    if (!file) {
        return reel_fail_memory(err);
    }
    bool good = run_search(l->r, value, format, &list, err);
    for (size_t i = 0; good && i < list.n && !l->ended; i++) {
        AUTO_MEM char *path = NULL;
        const struct tree_node node = node_of(&list.items[i], file);
        if (asprintf(&path, "%s%s", key, list.items[i].path) < 0) {
            return reel_fail_memory(err);
        }
        good = tree_add_planned(l, path, &node, err);
    }
    return good;
}

static bool list_search(struct tree_lister *l, const struct saved *search, struct reel_error *err) {
    const char *names[FORMATS_MAX];
    size_t n = formats(names), prefix = strlen(l->q->prefix);
    for (size_t i = 0; i < n && !l->ended; i++) {
        AUTO_MEM char *key = NULL;
        if (asprintf(&key, "%s/%s/", search->name, names[i]) < 0) {
            return reel_fail_memory(err);
        }
        size_t shared = strlen(key) < prefix ? strlen(key) : prefix;
        if (strncmp(key, l->q->prefix, shared) != 0) {
            continue;
        }
        bool opens = tree_enters(l, key) || (l->q->deep && strcmp(names[i], original) == 0);
        if (!(opens ? list_found(l, key, names[i], search->value, err) : tree_add(l, key, 0, NULL, err))) {
            return false;
        }
    }
    return true;
}

static int compare_searches(const void *a, const void *b) { /* as their paths: "a-b/" is before "a/" */
    const char *x = ((const struct saved *)a)->name, *y = ((const struct saved *)b)->name;
    while (*x && *x == *y) {
        x++;
        y++;
    }
    return (int)(unsigned char)(*x ? *x : '/') - (int)(unsigned char)(*y ? *y : '/');
}

static bool read_searches(struct http_request *r, struct saved_list *out, struct reel_error *err) {
    if (!catalog_saved_list(http_app(r)->catalog, "search", "", out, err)) {
        return false;
    }
    if (out->n > 1) {
        qsort(out->items, out->n, sizeof *out->items, compare_searches);
    }
    return true;
}

static bool searches_list(struct tree_lister *l, struct reel_error *err) {
    AUTO_STRUCT(saved_list_done) struct saved_list all = {0};
    struct catalog_query q;
    struct reel_error ignored;
    bool good = read_searches(l->r, &all, err);
    for (uint32_t i = 0; good && i < all.n && !l->ended; i++) {
        bool is_path = names_check("x", all.items[i].name, &ignored) && read_search(all.items[i].value, &q);
        good = !is_path || list_search(l, &all.items[i], err);
    }
    return good;
}

/* ---- finding */

/* The file of this path below NAME/FORMAT/. */
static bool find_file(struct http_request *r, const char *format, const json_t *value, const char *path,
                      struct tree_node *out, bool *found, struct reel_error *err) {
    AUTO_STRUCT(list_done) struct list list = {0};
    bool good = run_search(r, value, format, &list, err);
    for (size_t i = 0; good && i < list.n && !*found; i++) {
        if (strcmp(list.items[i].path, path) == 0) {
            *found = true;
            *out = node_of(&list.items[i], out->memory = file_of(format));
            out->memory = (char *)out->name;
            *list.items[i].row = (struct catalog_recording){0}; /* it is the node's */
            good = out->memory || reel_fail_memory(err);
        }
    }
    return good;
}

static bool find_in(struct http_request *r, const struct saved *search, const char *path, struct tree_node *out,
                    bool *found, struct reel_error *err) {
    const char *names[FORMATS_MAX];
    size_t n = formats(names);
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(names[i]);
        bool is_below = strncmp(path, names[i], size) == 0 && (path[size] == '/' || path[size] == '\0');
        if (is_below && (path[size] == '\0' || path[size + 1] == '\0')) { /* the folder, which may be empty */
            *found = true;
            return true;
        }
        if (is_below) {
            return find_file(r, names[i], search->value, path + size + 1, out, found, err);
        }
    }
    return true;
}

/* A folder is there if something is in it. */
static bool find_folder(struct http_request *r, const char *path, bool *found, struct reel_error *err) {
    AUTO_MEM char *prefix = NULL;
    AUTO_STRUCT(tree_page_done) struct tree_page page = {0};
    size_t size = strlen(path);
    if (asprintf(&prefix, "%s%s", path, size == 0 || path[size - 1] == '/' ? "" : "/") < 0) {
        return reel_fail_memory(err);
    }
    const struct tree_query q = {.prefix = prefix, .after = "", .limit = 1};
    struct tree_lister l = {.r = r, .q = &q, .base = "", .out = &page};
    bool good = searches_list(&l, err);
    *found = good && (page.n > 0 || l.unknown);
    return good;
}

static bool searches_find(struct http_request *r, const char *path, int64_t wait_ns, struct tree_node *out, bool *found,
                          struct reel_error *err) {
    (void)wait_ns;
    AUTO_STRUCT(saved_list_done) struct saved_list all = {0};
    *found = false;
    if (*path == '\0') {
        *found = true;
        return true;
    }
    bool good = read_searches(r, &all, err);
    for (uint32_t i = 0; good && i < all.n && !*found; i++) {
        size_t size = strlen(all.items[i].name);
        if (strncmp(path, all.items[i].name, size) == 0 && path[size] == '/') {
            good = find_in(r, &all.items[i], path + size + 1, out, found, err);
        }
    }
    return good && (*found || find_folder(r, path, found, err));
}

const struct tree_root tree_searches = {"searches", true, searches_find, searches_list};
