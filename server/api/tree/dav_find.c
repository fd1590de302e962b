/* What a path of /dav means. The longest that is a recording wins: a recording "a" hides what is in a folder "a". */
#include <stdlib.h>
#include <string.h>

#include "api/tree/dav.h"
#include "base/cleanup.h"
#include "catalog/folder.h"
#include "recordings/names.h"

enum { DEPTH_MAX = 32 }; /* segments of a path that are looked up */

void dav_node_done(struct dav_node *node) {
    catalog_recording_done(&node->row);
    free(node->memory);
}

bool dav_is_shown(const struct catalog_recording *row) {
    return row->n_parts > 0 && row->state != STATE_TRASHED && row->state != STATE_MISSING;
}

/* *found: there is such a recording, in out->row. */
static bool find_recording(struct app *app, struct dav_node *out, const char *path, size_t size, bool *found,
                           struct reel_error *err) {
    AUTO_MEM char *name = strndup(path, size);
    struct reel_error why = {0};
    *found = false;
    if (!name) {
        return reel_fail_memory(err);
    }
    if (!catalog_get_named(app->catalog, out->collection, name, &out->row, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    *found = dav_is_shown(&out->row);
    if (!*found) {
        catalog_recording_done(&out->row);
    }
    return true;
}

static const struct catalog_part *part_named(const struct catalog_recording *row, const char *name) {
    for (uint32_t i = 0; row->n_parts > 1 && i < row->n_parts; i++) {
        if (strcmp(names_file(row->parts[i].file_name), name) == 0) {
            return &row->parts[i];
        }
    }
    return NULL;
}

/* path[0, size) is "NAME.as"; `file`: what is behind its slash, NULL: nothing. */
static bool find_exports(struct app *app, struct dav_node *out, const char *path, size_t size, const char *file,
                         bool *found, struct reel_error *err) {
    *found = false;
    if (size < 4 || strncmp(path + size - 3, ".as", 3) != 0) {
        return true;
    }
    out->kind = file ? DAV_EXPORT : DAV_EXPORTS;
    out->name = file;
    return find_recording(app, out, path, size - 3, found, err);
}

/* A file in what path[0, size) is. */
static bool find_inside(struct app *app, struct dav_node *out, const char *path, size_t size, bool *found,
                        struct reel_error *err) {
    const char *file = path + size + 1;
    if (!find_exports(app, out, path, size, file, found, err) || *found) {
        return *found;
    }
    if (!find_recording(app, out, path, size, found, err)) {
        return false;
    }
    out->part = *found ? part_named(&out->row, file) : NULL;
    out->kind = DAV_PART;
    if (*found && !out->part) {
        catalog_recording_done(&out->row);
        *found = false;
    }
    return true;
}

static bool find_below(struct app *app, struct dav_node *out, bool *found, struct reel_error *err) {
    size_t size = strlen(out->path);
    if (!find_recording(app, out, out->path, size, found, err)) {
        return false;
    }
    if (*found) {
        out->kind = out->row.n_parts == 1 ? DAV_RECORDING : DAV_PARTS;
        return true;
    }
    const char *slash = strrchr(out->path, '/');
    return (!slash || find_inside(app, out, out->path, (size_t)(slash - out->path), found, err)) &&
           (*found || find_exports(app, out, out->path, size, NULL, found, err));
}

/* A folder is there if something is in it. */
static bool find_folder(struct app *app, struct dav_node *out, bool *found, struct reel_error *err) {
    struct catalog_folder *folder = calloc(1, sizeof *folder);
    if (!folder) {
        return reel_fail_memory(err);
    }
    bool good = catalog_folder_list(app->catalog, out->collection, out->path, NULL, folder, err);
    *found = good && folder->n > 0;
    out->kind = DAV_COLLECTION;
    catalog_folder_done(folder);
    free(folder);
    return good;
}

static bool is_too_deep(const char *path) {
    unsigned n = 0;
    for (; *path; path++) {
        n += *path == '/';
    }
    return n > DEPTH_MAX;
}

static bool dav_find_find(struct http_request *r, struct dav_node *out, bool *found, struct reel_error *err) {
    struct app *app = http_app(r);
    *found = out->kind == DAV_ROOT;
    if (*found || !http_caller_sees(http_caller(r), out->collection) || is_too_deep(out->path)) {
        return true;
    }
    if (*out->path && !find_below(app, out, found, err)) {
        return false;
    }
    return *found || find_folder(app, out, found, err);
}

/* The collection and the path in it: each ends where the other begins. */
static bool dav_find_split(struct dav_node *out, const char *path, struct reel_error *err) {
    *out = (struct dav_node){.kind = DAV_ROOT, .collection = "", .path = "", .memory = strdup(path)};
    if (!out->memory) {
        return reel_fail_memory(err);
    }
    size_t size = strlen(out->memory);
    if (size > 0 && out->memory[size - 1] == '/') {
        out->memory[size - 1] = '\0';
    }
    char *slash = strchr(out->memory, '/');
    if (slash) {
        *slash = '\0';
        out->path = slash + 1;
    }
    out->collection = out->memory;
    out->kind = *out->collection ? DAV_COLLECTION : DAV_ROOT;
    return true;
}

bool dav_find(struct http_request *r, struct dav_node *out) {
    struct reel_error err = {0};
    const char *path = http_segment(r, "path");
    bool found;
    if (!dav_find_split(out, path ? path : "", &err) || !dav_find_find(r, out, &found, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (!found) {
        http_reply_problem(r, 404, "not-found", "there is no such file or folder");
    }
    return found;
}
