/* See own_definitions.h. */
#include "decode/own_definitions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/limits.h"

static struct {
    pthread_rwlock_t lock;
    struct arena arena;
    struct own_definition *items; /* sorted by name */
    size_t count;
    uint32_t version;
} own = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* ---- names */

static bool is_name(struct reel_bytes part) {
    for (size_t i = 0; i < part.size; i++) {
        uint8_t c = part.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) {
            return false;
        }
    }
    return part.size > 0;
}

/* Removes the last component of a path and returns it. */
static struct reel_bytes take_last(struct reel_bytes *path) {
    size_t at = path->size;
    while (at > 0 && path->data[at - 1] != '/') {
        at--;
    }
    struct reel_bytes last = bytes_of(path->data + at, path->size - at);
    path->size = at > 0 ? at - 1 : 0;
    return last;
}

bool own_definition_name(const char *path, char out[OWN_DEFINITION_NAME_ROOM]) {
    struct {
        const char *suffix, *middle, *end;
    } kinds[] = {{".msg", "/", ""}, {".srv", "/srv/", ""}, {".action", "/action/", ""}, {".idl", "/msg/", ".idl"}};
    struct reel_bytes rest = bytes_text(path), type = take_last(&rest), package = take_last(&rest);
    bool is_srv = bytes_is(package, "srv"), is_action = bytes_is(package, "action");
    if (bytes_is(package, "msg") || is_srv || is_action) {
        package = take_last(&rest);
        kinds[3].middle = is_srv ? "/srv/" : is_action ? "/action/" : "/msg/"; /* the language does not tell */
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t suffix = strlen(kinds[i].suffix);
        if (type.size <= suffix || memcmp(type.data + type.size - suffix, kinds[i].suffix, suffix) != 0) {
            continue;
        }
        type.size -= suffix;
        return is_name(package) && is_name(type) &&
               snprintf(out, OWN_DEFINITION_NAME_ROOM, "%.*s%s%.*s%s", (int)package.size, (const char *)package.data,
                        kinds[i].middle, (int)type.size, (const char *)type.data,
                        kinds[i].end) < OWN_DEFINITION_NAME_ROOM;
    }
    return false;
}

/* ---- the set */

static int compare_names(const void *a, const void *b) {
    return strcmp(((const struct own_definition *)a)->name, ((const struct own_definition *)b)->name);
}
static int compare_items(const void *a, const void *b) {
    uint32_t x = ((const struct own_definition *)a)->order, y = ((const struct own_definition *)b)->order;
    int order = compare_names(a, b);
    return order ? order : (x > y) - (x < y);
}

/* Copies the items; NULL: no memory. */
static struct own_definition *copy_items(struct arena *arena, const struct own_definition *from, size_t n) {
    struct own_definition *items = arena_alloc(arena, (n + 1) * sizeof *items);
    bool good = items;
    for (size_t i = 0; good && i < n; i++) {
        items[i].order = (uint32_t)i;
        items[i].name = arena_text(arena, from[i].name);
        items[i].text = bytes_of(arena_copy(arena, from[i].text.data, from[i].text.size), from[i].text.size);
        good = items[i].name && (items[i].text.data || items[i].text.size == 0);
    }
    return good ? items : NULL;
}

/* Sorts the items, keeping the last of those with the same name. */
static size_t sort_items(struct own_definition *items, size_t n) {
    size_t count = 0;
    if (n > 1) {
        qsort(items, n, sizeof *items, compare_items);
    }
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n || strcmp(items[i].name, items[i + 1].name) != 0) {
            items[count++] = items[i];
        }
    }
    return count;
}

/* Of names and texts; not 0. */
static uint32_t version_of(const struct own_definition *items, size_t n) {
    uint32_t sum = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < n; i++) {
        for (const char *p = items[i].name; *p; p++) {
            sum = (sum ^ (uint8_t)*p) * 16777619u;
        }
        sum = (sum ^ 0xff) * 16777619u;
        for (size_t k = 0; k < items[i].text.size; k++) {
            sum = (sum ^ items[i].text.data[k]) * 16777619u;
        }
        sum = (sum ^ 0xfe) * 16777619u;
    }
    return n == 0 ? 0 : sum ? sum : 1;
}

static bool check_items(const struct own_definition *items, size_t n, struct reel_error *err) {
    size_t bytes = 0;
    if (n > REEL_OWN_DEFINITIONS_MAX) {
        return reel_fail(err, REEL_LIMIT, "%zu definitions, at most %d are taken", n, REEL_OWN_DEFINITIONS_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        if (items[i].text.size > REEL_OWN_DEFINITION_MAX) {
            return reel_fail(err, REEL_LIMIT, "the definition of %.128s has %zu bytes, at most %d are taken",
                             items[i].name, items[i].text.size, REEL_OWN_DEFINITION_MAX);
        }
        bytes += items[i].text.size;
    }
    return bytes <= REEL_OWN_DEFINITIONS_BYTES_MAX ||
           reel_fail(err, REEL_LIMIT, "definitions of %zu bytes, at most %d are taken", bytes,
                     REEL_OWN_DEFINITIONS_BYTES_MAX);
}

bool own_definitions_set(const struct own_definition *items, size_t n, struct reel_error *err) {
    struct arena arena = {0};
    if (!check_items(items, n, err)) {
        return false;
    }
    struct own_definition *copies = copy_items(&arena, items, n);
    if (!copies) {
        arena_free(&arena);
        return reel_fail_memory(err);
    }
    size_t count = sort_items(copies, n);
    pthread_rwlock_wrlock(&own.lock);
    struct arena before = own.arena;
    own.arena = arena;
    own.items = copies;
    own.count = count;
    own.version = version_of(copies, count);
    pthread_rwlock_unlock(&own.lock);
    arena_free(&before);
    return true;
}

bool own_definitions_find(struct arena *arena, const char *name, struct reel_bytes *out, struct reel_error *err) {
    const struct own_definition key = {.name = name};
    *out = bytes_of(NULL, 0);
    pthread_rwlock_rdlock(&own.lock);
    const struct own_definition *found =
        own.count > 0 ? bsearch(&key, own.items, own.count, sizeof *own.items, compare_names) : NULL;
    if (found) {
        *out = bytes_of(arena_copy(arena, found->text.size > 0 ? (const char *)found->text.data : "", found->text.size),
                        found->text.size);
    }
    pthread_rwlock_unlock(&own.lock);
    return !found || out->data || reel_fail_memory(err);
}

uint32_t own_definitions_version(void) {
    pthread_rwlock_rdlock(&own.lock);
    uint32_t version = own.version;
    pthread_rwlock_unlock(&own.lock);
    return version;
}
