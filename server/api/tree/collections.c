/* The paths of a collection. A recording of several files is a folder; where a recording has the name of such a file,
 * the recording counts.
 *
 * A list walks the names of the catalog in order. What belongs to a recording but is not beside it in that order
 * ("a.as/" comes after "a.aa", "a/part" after "a.as/") waits until its turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tree/tree.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "catalog/folder.h"
#include "convert/writer.h"
#include "recordings/names.h"

enum { DEPTH_MAX = 32 /* segments of a path that are looked up */, NAMES_FIRST = 16, WRITERS_MAX = 64 };

/* ---- finding */

/* *found: there is such a recording, in out->row. */
static bool find_recording(struct http_request *r, const char *collection, const char *path, size_t size,
                           struct tree_node *out, bool *found, struct reel_error *err) {
    AUTO_MEM char *name = strndup(path, size);
    struct reel_error why = {0};
    *found = false;
    if (!name) {
        return reel_fail_memory(err);
    }
    catalog_recording_done(&out->row);
    if (!catalog_get_named(http_app(r)->catalog, collection, name, &out->row, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    *found = tree_is_shown(&out->row);
    if (!*found) {
        catalog_recording_done(&out->row);
    }
    out->modified_ns = out->row.created_ns;
    return true;
}

static void set_original(struct tree_node *out, const struct catalog_part *part) {
    out->file = &tree_original;
    out->part = part;
}

static const struct catalog_part *part_named(const struct catalog_recording *row, const char *name) {
    for (uint32_t i = 0; row->n_parts > 1 && i < row->n_parts; i++) {
        if (strcmp(names_file(row->parts[i].file_name), name) == 0) {
            return &row->parts[i];
        }
    }
    return NULL;
}

static bool is_exports(const char *path, size_t size) {
    return size > 3 && strncmp(path + size - 3, ".as", 3) == 0;
}

/* path[0, size) is "NAME.as"; `file`: what follows its slash, NULL: nothing. */
static bool find_exports(struct http_request *r, const char *collection, const char *path, size_t size,
                         const char *file, struct tree_node *out, bool *found, struct reel_error *err) {
    struct reel_error why = {0};
    *found = false;
    if (!is_exports(path, size)) {
        return true;
    }
    if (!find_recording(r, collection, path, size - 3, out, found, err)) {
        return false;
    }
    if (*found && file) {
        *found = !strchr(file, '/') && reel_writer_for_file(file, NULL, &why);
        out->file = &tree_conversion;
        out->name = out->memory = strdup(file);
        return out->memory || reel_fail_memory(err);
    }
    return true;
}

/* A file in what path[0, size) is. */
static bool find_inside(struct http_request *r, const char *collection, const char *path, size_t size,
                        struct tree_node *out, bool *found, struct reel_error *err) {
    const char *file = path + size + 1;
    if (!find_exports(r, collection, path, size, file, out, found, err)) {
        return false;
    }
    if (*found) {
        return true;
    }
    tree_node_done(out);
    if (!find_recording(r, collection, path, size, out, found, err)) {
        return false;
    }
    const struct catalog_part *part = *found ? part_named(&out->row, file) : NULL;
    *found = part;
    set_original(out, part);
    return true;
}

static bool find_below(struct http_request *r, const char *collection, const char *path, struct tree_node *out,
                       bool *found, struct reel_error *err) {
    size_t size = strlen(path);
    const char *slash = strrchr(path, '/');
    if (!find_recording(r, collection, path, size, out, found, err)) {
        return false;
    }
    if (*found && out->row.n_parts == 1) {
        set_original(out, &out->row.parts[0]);
    }
    if (!*found && slash && !find_inside(r, collection, path, (size_t)(slash - path), out, found, err)) {
        return false;
    }
    if (*found) {
        return true;
    }
    tree_node_done(out);
    return find_exports(r, collection, path, size, NULL, out, found, err);
}

/* A folder is there if something is in it. */
static bool find_folder(struct http_request *r, const char *collection, const char *path, bool *found,
                        struct reel_error *err) {
    struct tree_page page = {0};
    AUTO_MEM char *prefix = NULL;
    if (asprintf(&prefix, "%s%s", path, *path ? "/" : "") < 0) {
        return reel_fail_memory(err);
    }
    const struct tree_query q = {.prefix = prefix, .after = "", .limit = 1};
    struct tree_lister l = {.r = r, .q = &q, .base = "", .out = &page};
    bool good = tree_collection_list(&l, collection, err);
    *found = good && page.n > 0;
    tree_page_done(&page);
    return good;
}

static bool is_too_deep(const char *path) {
    unsigned n = 0;
    for (; *path; path++) {
        n += *path == '/';
    }
    return n > DEPTH_MAX;
}

bool tree_collection_find(struct http_request *r, const char *collection, const char *path, struct tree_node *out,
                          bool *found, struct reel_error *err) {
    size_t size = strlen(path);
    AUTO_MEM char *name = strndup(path, size > 0 && path[size - 1] == '/' ? size - 1 : size);
    *found = false;
    if (!name) {
        return reel_fail_memory(err);
    }
    if (is_too_deep(name)) {
        return true;
    }
    if (*name && !find_below(r, collection, name, out, found, err)) {
        return false;
    }
    if (*found) {
        return true;
    }
    tree_node_done(out);
    return find_folder(r, collection, name, found, err);
}

/* ---- NAME.as */

/* "run" of lab/run.bag: without the suffix of its format, or what follows the last dot. */
static size_t stem_of(const struct catalog_recording *row, const char *name) {
    const char *dot = strrchr(name, '.');
    const struct reel_format *format = reel_format_named(row->format);
    size_t whole = strlen(name), size = dot && dot > name ? (size_t)(dot - name) : whole;
    for (size_t i = 0; format && format->suffixes[i]; i++) {
        size_t suffix = strlen(format->suffixes[i]);
        if (suffix < whole && ascii_casecmp(name + whole - suffix, format->suffixes[i]) == 0 && whole - suffix < size) {
            size = whole - suffix;
        }
    }
    return size;
}

static int compare_extensions(const void *a, const void *b) {
    return strcmp((*(const struct reel_writer *const *)a)->extension,
                  (*(const struct reel_writer *const *)b)->extension);
}

/* Those whose files have a length, by extension. */
static size_t planned_writers(const struct reel_writer *out[WRITERS_MAX]) {
    size_t n = 0;
    for (size_t i = 0; reel_writers[i] && n < WRITERS_MAX; i++) {
        if (!reel_writers[i]->variant && !(reel_writers[i]->needs & REEL_STREAMED)) {
            out[n++] = reel_writers[i];
        }
    }
    qsort(out, n, sizeof *out, compare_extensions);
    return n;
}

/* prefix[0, size) is the path of NAME.as of the node. */
static bool list_exports(struct tree_lister *l, struct tree_node *node, size_t size, struct reel_error *err) {
    const struct reel_writer *writers[WRITERS_MAX];
    const char *name = names_file(node->row.name);
    size_t stem = stem_of(&node->row, name), n = planned_writers(writers);
    node->file = &tree_conversion;
    for (size_t i = 0; i < n && !l->ended; i++) {
        AUTO_MEM char *path = NULL;
        if (asprintf(&path, "%.*s/%.*s%s", (int)size, l->q->prefix, (int)stem, name, writers[i]->extension) < 0) {
            return reel_fail_memory(err);
        }
        node->name = path + size + 1;
        if (!tree_add_planned(l, path, node, err)) {
            return false;
        }
    }
    return true;
}

/* If the prefix is in a folder NAME.as: lists it, *is. */
static bool list_inside(struct tree_lister *l, const char *collection, bool *is, struct reel_error *err) {
    const char *prefix = l->q->prefix;
    *is = false;
    for (const char *slash = strchr(prefix, '/'); slash && !*is; slash = strchr(slash + 1, '/')) {
        size_t size = (size_t)(slash - prefix);
        AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
        if (!find_exports(l->r, collection, prefix, size, NULL, &node, is, err)) {
            return false;
        }
        if (*is) {
            return node.row.state != STATE_READY || list_exports(l, &node, size, err);
        }
    }
    return true;
}

/* ---- walking */

struct waiting { /* "NAME.as/" or "NAME/": its turn has not come */
    struct waiting *next;
    int64_t row, created_ns;
    bool is_parts;
    char path[];
};
struct walk {
    struct tree_lister *l;
    const char *collection;
    struct waiting *waiting; /* by path */
};

static void walk_done(struct walk *w) {
    while (w->waiting) {
        struct waiting *next = w->waiting->next;
        free(w->waiting);
        w->waiting = next;
    }
}

static bool wait_for_turn(struct walk *w, const struct catalog_folder_file *file, bool is_parts,
                          struct reel_error *err) {
    size_t room = strlen(file->name) + sizeof ".as/";
    struct waiting *one = malloc(sizeof *one + room), **at = &w->waiting;
    if (!one) {
        return reel_fail_memory(err);
    }
    *one = (struct waiting){.row = file->row, .created_ns = file->created_ns, .is_parts = is_parts};
    snprintf(one->path, room, "%s%s", file->name, is_parts ? "/" : ".as/");
    while (*at && strcmp((*at)->path, one->path) < 0) {
        at = &(*at)->next;
    }
    one->next = *at;
    *at = one;
    return true;
}

static int compare_parts(const void *a, const void *b) {
    return strcmp(names_file(((const struct catalog_part *)a)->file_name),
                  names_file(((const struct catalog_part *)b)->file_name));
}

/* The files of a recording of several. */
static bool add_parts(struct tree_lister *l, const struct waiting *one, struct reel_error *err) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = {0};
    struct reel_error why = {0};
    if (!catalog_folder_recording(http_app(l->r)->catalog, one->row, &row, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    qsort(row.parts, row.n_parts, sizeof *row.parts, compare_parts);
    for (uint32_t i = 0; i < row.n_parts && !l->ended; i++) {
        AUTO_MEM char *path = NULL;
        struct tree_properties p;
        const struct tree_node node = {.part = &row.parts[i]};
        if (asprintf(&path, "%s%s", one->path, names_file(row.parts[i].file_name)) < 0) {
            return reel_fail_memory(err);
        }
        if (!tree_original.properties(l->r, &node, 0, &p, err) || !tree_add(l, path, row.created_ns, &p, err)) {
            return false;
        }
    }
    return true;
}

/* Adds what waits and comes before `name`; NULL: all. */
static bool add_waiting(struct walk *w, const char *name, struct reel_error *err) {
    bool good = true;
    while (good && w->waiting && !w->l->ended && (!name || strcmp(w->waiting->path, name) < 0)) {
        struct waiting *one = w->waiting;
        w->waiting = one->next;
        bool opens = one->is_parts && (w->l->q->deep || tree_enters(w->l, one->path));
        good = opens ? add_parts(w->l, one, err) : tree_add(w->l, one->path, one->created_ns, NULL, err);
        free(one);
    }
    return good;
}

/* What a recording has beside its own file. */
static bool add_beside(struct walk *w, const struct catalog_folder_file *file, struct reel_error *err) {
    return (!file->has_several || wait_for_turn(w, file, true, err)) &&
           (w->l->q->deep || file->state != STATE_READY || wait_for_turn(w, file, false, err));
}

static bool add_recording(struct walk *w, const struct catalog_folder_file *file, struct reel_error *err) {
    if (!add_waiting(w, file->name, err)) {
        return false;
    }
    if (file->is_empty || file->state == STATE_MISSING) {
        return true;
    }
    struct catalog_part part = {.size = file->size};
    struct tree_properties p;
    const struct tree_node node = {.part = &part};
    memcpy(part.sha256, file->sha256, sizeof part.sha256);
    return tree_original.properties(w->l->r, &node, 0, &p, err) && add_beside(w, file, err) &&
           (file->has_several || tree_add(w->l, file->name, file->created_ns, &p, err));
}

/* Recordings before the first name that the walk reads, of which something may come after it: their names are that one
 * without its end from a character on that is not greater than a slash. */
static bool add_before(struct walk *w, const char *from, struct reel_error *err) {
    for (size_t i = 1; from[0] && from[i] && i <= NAME_BYTES_MAX; i++) {
        AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
        bool found;
        if ((unsigned char)from[i] > '/') {
            continue;
        }
        if (!find_recording(w->l->r, w->collection, from, i, &node, &found, err)) {
            return false;
        }
        const struct catalog_folder_file file = {.name = node.row.name,
                                                 .state = node.row.state,
                                                 .row = node.row.row,
                                                 .created_ns = node.row.created_ns,
                                                 .has_several = node.row.n_parts > 1};
        if (found && !add_beside(w, &file, err)) {
            return false;
        }
    }
    return true;
}

/* Where the walk continues after a name: after the folder that it was listed as. */
static char *after_name(const struct tree_lister *l, const char *name) {
    const char *slash = l->q->deep ? NULL : strchr(name + strlen(l->q->prefix), '/');
    AUTO_MEM char *last = strndup(name, slash ? (size_t)(slash - name) + 1 : strlen(name));
    return last ? catalog_folder_after(last) : NULL;
}

/* Reads more at a time while it does not skip folders. */
static bool walk_names(struct walk *w, const char *from, struct reel_error *err) {
    AUTO_MEM char *at = strdup(from);
    uint32_t limit = NAMES_FIRST;
    while (at && !w->l->ended) {
        struct catalog_folder files;
        if (!catalog_folder_read(http_app(w->l->r)->catalog, w->collection, w->l->q->prefix, at, limit, &files, err)) {
            return false;
        }
        bool good = true, more = files.last;
        for (uint32_t i = 0; good && i < files.n && !w->l->ended; i++) {
            good = add_recording(w, &files.items[i], err);
        }
        free(at);
        at = more ? after_name(w->l, files.last) : NULL;
        bool skips = at && files.last && at[strlen(at) - 1] != '\x01';
        catalog_folder_done(&files);
        if (!good || !more) {
            return good;
        }
        limit = skips ? NAMES_FIRST : limit < TREE_PAGE_MAX / 4 ? 4 * limit : TREE_PAGE_MAX;
    }
    return w->l->ended || reel_fail_memory(err);
}

bool tree_collection_list(struct tree_lister *l, const char *collection, struct reel_error *err) {
    AUTO_STRUCT(walk_done) struct walk w = {.l = l, .collection = collection};
    const struct tree_query *q = l->q;
    bool is;
    if (is_too_deep(q->prefix)) {
        return true;
    }
    if (!list_inside(l, collection, &is, err)) {
        return false;
    }
    if (is) {
        return true;
    }
    AUTO_MEM char *skipped = NULL;
    const char *from = strcmp(q->after, q->prefix) > 0 ? q->after : q->prefix;
    size_t size = strlen(q->after);
    if (from == q->after && !q->deep && size > 0 && q->after[size - 1] == '/') {
        skipped = catalog_folder_after(q->after);
        from = skipped ? skipped : from;
    }
    return add_before(&w, from, err) && walk_names(&w, from, err) && (l->ended || add_waiting(&w, NULL, err));
}
