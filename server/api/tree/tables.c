/* tables/NAME/recording=ID/part.parquet: the messages of a topic or type, a table for each recording that has it, as
 * programs read them that know Hive's partitions. NAME is the topic without its leading slash, or the type; "imu" and
 * "/imu" are one. Names that are no path (with an empty segment, "." or "..") are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "api/tree/tree.h"
#include "base/cleanup.h"
#include "catalog/notes.h"
#include "catalog/values.h"
#include "recordings/names.h"

enum { NAMES_MAX = 20000, RECORDINGS_MAX = 20000, NAMES_READ = 1000, WORDS_MAX = 3 * (2 * NAME_BYTES_MAX + 16) };
static const char partition[] = "/recording=", file_name[] = "part.parquet";

/* ---- names */

struct names { /* each with "/recording=" at its end, in order */
    char **items;
    size_t n;
    struct reel_error *err;
};

static void names_done(struct names *names) {
    for (size_t i = 0; i < names->n; i++) {
        free(names->items[i]);
    }
    free(names->items);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_name(struct names *names, const char *name) {
    struct reel_error ignored;
    name += name[0] == '/';
    if (!names_check("x", name, &ignored) || strstr(name, partition)) {
        return true;
    }
    if (names->n == NAMES_MAX) {
        return reel_fail(names->err, REEL_LIMIT, "there are more than %d topics and types: name one", NAMES_MAX);
    }
    if (!names->items && !(names->items = calloc(NAMES_MAX, sizeof *names->items))) {
        return reel_fail_memory(names->err);
    }
    if (asprintf(&names->items[names->n], "%s%s", name, partition) < 0) {
        return reel_fail_memory(names->err);
    }
    names->n++;
    return true;
}

/* Those of one field that begin with `prefix`, of recordings that the caller may see. */
static bool read_names(struct http_request *r, enum values_field field, const char *prefix, struct names *out) {
    const struct catalog_query allowed = {.allowed = http_caller(r)->collections, .limit = 1};
    AUTO_MEM char *after = NULL;
    bool good = true, more = true;
    while (good && more) {
        struct values_counts found;
        const struct values_query q = {.field = field,
                                       .prefix = prefix,
                                       .after = after,
                                       .limit = NAMES_READ,
                                       .within = allowed.allowed ? &allowed : NULL};
        if (!catalog_values(http_app(r)->catalog, &q, &found, out->err)) {
            return false;
        }
        for (uint32_t i = 0; good && i < found.counts.n; i++) {
            good = add_name(out, found.counts.items[i].name);
        }
        good =
            good && (!found.capped || reel_fail(out->err, REEL_LIMIT, "there are too many recordings: name a topic"));
        more = found.counts.more;
        free(after);
        after = more ? strdup(found.counts.items[found.counts.n - 1].name) : NULL;
        good = good && (!more || after || reel_fail_memory(out->err));
        catalog_counts_done(&found.counts);
    }
    return good;
}

/* All topics and types whose paths can begin with `prefix`. */
static bool find_names(struct http_request *r, const char *prefix, struct names *out) {
    const char *end = strstr(prefix, partition);
    size_t size = end ? (size_t)(end - prefix) : strlen(prefix);
    size -= size > 0 && prefix[size - 1] == '/'; /* "imu/" is imu and imu/raw */
    AUTO_MEM char *topic = NULL;
    if (asprintf(&topic, "/%.*s", (int)size, prefix) < 0) {
        return reel_fail_memory(out->err);
    }
    if (!read_names(r, VALUES_TOPIC, topic, out) || !read_names(r, VALUES_TOPIC, topic + 1, out) ||
        !read_names(r, VALUES_TYPE, topic + 1, out)) {
        return false;
    }
    if (out->n > 1) {
        qsort(out->items, out->n, sizeof *out->items, compare_texts);
    }
    return true;
}

/* ---- the recordings of a name */

static char *put_quoted(char *at, const char *before, const char *name, size_t size) {
    at = stpcpy(at, before);
    for (size_t i = 0; i < size; i++) {
        if (name[i] == '"' || name[i] == '\\') {
            *at++ = '\\';
        }
        *at++ = name[i];
    }
    return stpcpy(at, "\"");
}

/* The ids of those that are ready, in order. */
static bool find_recordings(struct http_request *r, const char *name, size_t size, char (**ids)[RECORDING_ID_TEXT],
                            size_t *n, struct reel_error *err) {
    char words[WORDS_MAX];
    struct catalog_query q = {.words = words,
                              .allowed = http_caller(r)->collections,
                              .has_state = true,
                              .state = STATE_READY,
                              .sort = "created",
                              .limit = 1000};
    AUTO_MEM char *cursor = NULL;
    bool good = (*ids = calloc(RECORDINGS_MAX, sizeof **ids)) || reel_fail_memory(err), more = good;
    put_quoted(put_quoted(put_quoted(words, "topic:\"/", name, size), " or topic:\"", name, size), " or type:\"", name,
               size);
    *n = 0;
    while (good && more) {
        struct catalog_page page;
        q.cursor = cursor;
        if (!catalog_list(http_app(r)->catalog, &q, &page, err)) {
            return false;
        }
        good = *n + page.n_items <= RECORDINGS_MAX ||
               reel_fail(err, REEL_LIMIT, "more than %d recordings have %.*s", RECORDINGS_MAX, (int)size, name);
        for (uint32_t i = 0; good && i < page.n_items; i++) {
            memcpy((*ids)[(*n)++], page.items[i].id, RECORDING_ID_TEXT);
        }
        free(cursor);
        cursor = TAKE(page.next);
        more = cursor;
        catalog_page_done(&page);
    }
    if (good) {
        qsort(*ids, *n, sizeof **ids, (int (*)(const void *, const void *))strcmp);
    }
    return good;
}

/* The table of a recording; *found false: there is none that the caller may see. */
static bool find_table(struct http_request *r, const char *name, size_t size, const char *id, struct tree_node *out,
                       bool *found, struct reel_error *err) {
    struct reel_error why = {0};
    *found = false;
    if (!catalog_get(http_app(r)->catalog, id, &out->row, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    *found = access_sees(http_caller(r), &out->row) && out->row.state == STATE_READY;
    out->file = &tree_conversion;
    out->name = file_name;
    out->channels = out->memory = strndup(name, size);
    out->modified_ns = out->row.created_ns;
    return out->memory || reel_fail_memory(err);
}

/* ---- listing */

/* A table, or in a list of folders the folder that it is in. `key`: NAME/recording= */
static bool add_table(struct tree_lister *l, const char *key, const char *id, struct reel_error *err) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    AUTO_MEM char *path = NULL;
    bool found;
    if (asprintf(&path, "%s%s/%s", key, id, file_name) < 0) {
        return reel_fail_memory(err);
    }
    if (!tree_asks(l, path)) {
        return true;
    }
    size_t size = strlen(key) - (sizeof partition - 1);
    return find_table(l->r, key, size, id, &node, &found, err) && (!found || tree_add_planned(l, path, &node, err));
}

static bool add_tables(struct tree_lister *l, const char *key, struct reel_error *err) {
    char(*ids)[RECORDING_ID_TEXT] = NULL;
    size_t n, size = strlen(key) - (sizeof partition - 1);
    bool good = find_recordings(l->r, key, size, &ids, &n, err);
    for (size_t i = 0; good && i < n && !l->ended; i++) {
        good = add_table(l, key, ids[i], err);
    }
    free(ids);
    return good;
}

static bool tables_list(struct tree_lister *l, struct reel_error *err) {
    AUTO_STRUCT(names_done) struct names names = {.err = err};
    size_t prefix = strlen(l->q->prefix);
    if (!find_names(l->r, l->q->prefix, &names)) {
        return false;
    }
    for (size_t i = 0; i < names.n && !l->ended; i++) {
        const char *key = names.items[i];
        size_t shared = strlen(key) < prefix ? strlen(key) : prefix;
        bool is_first = i == 0 || strcmp(key, names.items[i - 1]) != 0;
        if (!is_first || strncmp(key, l->q->prefix, shared) != 0) {
            continue;
        }
        bool is_folder = !l->q->deep && prefix < strlen(key) && strchr(key + prefix, '/');
        if (!(is_folder ? tree_add(l, key, 0, NULL, err) : add_tables(l, key, err))) {
            return false;
        }
    }
    return true;
}

static bool tables_find(struct http_request *r, const char *path, int64_t wait_ns, struct tree_node *out, bool *found,
                        struct reel_error *err) {
    (void)wait_ns;
    const char *at = strstr(path, partition), *id = at ? at + sizeof partition - 1 : "";
    size_t size = strlen(path);
    *found = size == 0;
    if (strlen(id) > RECORDING_ID_TEXT - 1 && strcmp(id + RECORDING_ID_TEXT - 1, "/part.parquet") == 0) {
        char text[RECORDING_ID_TEXT];
        snprintf(text, sizeof text, "%.*s", RECORDING_ID_TEXT - 1, id);
        return find_table(r, path, (size_t)(at - path), text, out, found, err);
    }
    if (*found) {
        return true;
    }
    AUTO_MEM char *prefix = NULL;
    AUTO_STRUCT(tree_page_done) struct tree_page page = {0};
    if (asprintf(&prefix, "%s%s", path, path[size - 1] == '/' ? "" : "/") < 0) {
        return reel_fail_memory(err);
    }
    const struct tree_query q = {.prefix = prefix, .after = "", .limit = 1};
    struct tree_lister l = {.r = r, .q = &q, .base = "", .out = &page};
    bool good = tables_list(&l, err);
    *found = good && (page.n > 0 || l.unknown);
    return good;
}

const struct tree_root tree_tables = {"tables", false, tables_find, tables_list};
