/* See merge_names.h. Whether a name clashes depends on the recordings alone, not on the selection, so a topic has the
 * same name in every cut of a merge. A topic's leading slash is ignored. */
#include "stream/merge_names.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "syntax/utf8.h"

struct named {
    const char *name;
    uint32_t source;
};

static const char *bare(const char *name) {
    return name[0] == '/' ? name + 1 : name;
}

static int merge_names_compare_names(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->source > y->source) - (x->source < y->source);
}

static bool merge_names_add_name(struct naming *n, const char *name, uint32_t source) {
    if (!GROW_ARRAY(n->names, n->count, n->capacity)) {
        return false;
    }
    n->names[n->count++] = (struct named){.name = bare(name), .source = source};
    return true;
}

bool naming_open(struct naming *n, struct reel_recording *const *recordings, uint32_t n_recordings,
                 const struct reel_selection *q, struct reel_error *err) {
    *n = (struct naming){.prefixing = q->sources ? q->prefixing : REEL_PREFIX_NEVER, .sources = q->sources};
    if (n->prefixing != REEL_PREFIX_CLASH || n_recordings < 2) {
        return true;
    }
    for (uint32_t source = 0; source < n_recordings; source++) {
        const struct reel_index *index = reel_recording_index(recordings[source]);
        for (uint32_t id = 0; id < reel_index_info(index)->n_channels; id++) {
            const struct reel_channel *c = reel_index_channel(index, id);
            bool good = merge_names_add_name(n, c->name, source);
            for (uint32_t t = 0; good && t < c->n_topics; t++) {
                good = merge_names_add_name(n, c->topics[t], source);
            }
            if (!good) {
                return reel_fail_memory(err);
            }
        }
    }
    if (n->count > 1) {
        qsort(n->names, n->count, sizeof *n->names, merge_names_compare_names);
    }
    return true;
}

void naming_close(struct naming *n) {
    free(TAKE(n->names));
    n->count = n->capacity = 0;
}

/* Position of the first name not less than (name, source). */
static size_t lower(const struct naming *n, const char *name, uint32_t source) {
    struct named key = {.name = name, .source = source};
    size_t low = 0, high = n->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (merge_names_compare_names(&n->names[middle], &key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* True when a recording other than `source` has that name too. */
static bool clashes(const struct naming *n, const char *name, uint32_t source) {
    name = bare(name);
    size_t first = lower(n, name, 0), after = source == UINT32_MAX ? n->count : lower(n, name, source + 1);
    bool before = first < n->count && strcmp(n->names[first].name, name) == 0 && n->names[first].source < source;
    return before || (after < n->count && strcmp(n->names[after].name, name) == 0);
}

const char *naming_prefix(const struct naming *n, const struct reel_channel *c, uint32_t source) {
    if (n->prefixing == REEL_PREFIX_NEVER) {
        return "";
    }
    bool prefixed = n->prefixing == REEL_PREFIX_ALWAYS || clashes(n, c->name, source);
    for (uint32_t t = 0; t < c->n_topics && !prefixed; t++) {
        prefixed = clashes(n, c->topics[t], source);
    }
    return prefixed ? n->sources[source].prefix : "";
}

bool naming_join(const char *prefix, const char *topic, char *out, size_t size) {
    int used = snprintf(out, size, "%s/%s", prefix, bare(topic));
    return used >= 0 && (size_t)used < size;
}

static const char *prefixed(struct arena *arena, const char *prefix, const char *topic) {
    size_t size = strlen(prefix) + strlen(topic) + 2;
    char *text = arena_alloc(arena, size);
    return text && naming_join(prefix, topic, text, size) ? text : NULL;
}

const struct reel_channel *naming_apply(const struct naming *n, struct arena *arena, const struct reel_channel *c,
                                        uint32_t source) {
    const char *prefix = naming_prefix(n, c, source);
    if (prefix[0] == '\0') {
        return c;
    }
    struct reel_channel *copy = arena_alloc(arena, sizeof *copy);
    const char **topics = arena_alloc(arena, (c->n_topics ? c->n_topics : 1) * sizeof *topics);
    if (!copy || !topics) {
        return NULL;
    }
    *copy = *c;
    for (uint32_t t = 0; t < c->n_topics; t++) {
        if (!(topics[t] = prefixed(arena, prefix, c->topics[t]))) {
            return NULL;
        }
    }
    copy->topics = topics;
    copy->name = prefixed(arena, prefix, c->name);
    return copy->name ? copy : NULL;
}

const struct reel_channel *naming_rename(const struct reel_selection *q, struct arena *arena,
                                         const struct reel_channel *c) {
    const char *to = NULL;
    size_t slash = c->name[0] == '/';
    for (uint32_t i = 0; i < q->n_renames && !to; i++) {
        const char *from = q->renames[i], *colon = strrchr(from, ':');
        from += from[0] == '/'; /* as in globs, one leading slash does not count */
        bool is = colon && (size_t)(colon - from) == strlen(c->name + slash) &&
                  memcmp(from, c->name + slash, (size_t)(colon - from)) == 0;
        to = is ? colon + 1 : NULL;
    }
    if (!to) {
        return c;
    }
    struct reel_channel *copy = arena_alloc(arena, sizeof *copy);
    const char **topics = arena_alloc(arena, sizeof *topics);
    if (!copy || !topics || !(topics[0] = arena_text(arena, to))) {
        return NULL;
    }
    *copy = *c;
    copy->name = topics[0];
    copy->topics = topics;
    copy->n_topics = 1;
    return copy;
}

/* ---- unique names */

enum { NUMBER_ROOM = 11 }; /* "#4294967295" */

struct unique { /* a name that is in use, or a base from which numbered names are derived */
    const char *name;
    uint32_t number; /* the last number used with this base */
    bool own, taken; /* a whole name, already assigned to a channel */
};

struct uniques {
    struct arena *arena;
    void *tree;
};
static void free_nothing(void *node) {
    (void)node;
}
static inline void reel_auto_uniques_done(struct uniques *u) {
    tdestroy(u->tree, free_nothing);
}

static int compare_unique(const void *a, const void *b) {
    return strcmp(((const struct unique *)a)->name, ((const struct unique *)b)->name);
}

/* Adds it when missing; NULL: no memory. */
static struct unique *unique_of(struct uniques *u, const char *name) {
    const struct unique key = {.name = name};
    struct unique **at = tfind(&key, &u->tree, compare_unique);
    if (at) {
        return *at;
    }
    struct unique *added = arena_alloc(u->arena, sizeof *added);
    if (!added) {
        return NULL;
    }
    *added = (struct unique){.name = name, .number = 1};
    return tsearch(added, &u->tree, compare_unique) ? added : NULL;
}

size_t naming_cut(const char *name, size_t max) {
    size_t size = strlen(name), at = 0;
    while (at < size && size > max) {
        size_t n = utf8_length((const uint8_t *)name + at, size - at);
        n = n ? n : 1;
        if (at + n > max) {
            return at;
        }
        at += n;
    }
    return size;
}

static const char *merge_names_cut(struct uniques *u, const char *name, size_t max) {
    size_t size = naming_cut(name, max);
    char *text = name[size] ? arena_alloc(u->arena, size + 1) : NULL;
    return !name[size] ? name : text ? memcpy(text, name, size) : NULL;
}

/* Finds the next free "/scan#2". The counter of the base makes sure that each taken name is tried only once. */
static const char *numbered(struct uniques *u, const char *name, size_t max) {
    const char *base = merge_names_cut(u, name, max - NUMBER_ROOM);
    struct unique *counter = base ? unique_of(u, base) : NULL;
    size_t room = base ? strlen(base) + NUMBER_ROOM + 1 : 0;
    char *text = counter ? arena_alloc(u->arena, room) : NULL;
    while (text) {
        snprintf(text, room, "%s#%u", base, ++counter->number);
        struct unique *other = unique_of(u, text);
        if (!other || (!other->own && !other->taken)) {
            return other ? (other->taken = true, text) : NULL;
        }
    }
    return NULL;
}

bool naming_unique(struct arena *arena, const struct reel_stream *stream, size_t max, const char **names,
                   struct reel_error *err) {
    AUTO(uniques_done) struct uniques u = {.arena = arena};
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        if (!cancel_check(err)) {
            return false;
        }
        const char *name = stream->channels[i]->name;
        struct unique *own = strlen(name) <= max ? unique_of(&u, name) : NULL;
        if (own) {
            own->own = true;
        } else if (strlen(name) <= max) {
            return reel_fail_memory(err);
        }
    }
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        if (!cancel_check(err)) {
            return false;
        }
        const char *name = stream->channels[i]->name, *kept = merge_names_cut(&u, name, max);
        struct unique *own = kept ? unique_of(&u, kept) : NULL;
        bool first = own && !own->taken && (kept == name || !own->own);
        names[i] = first ? kept : own ? numbered(&u, kept, max) : NULL;
        if (!names[i]) {
            return reel_fail_memory(err);
        }
        own->taken |= first;
    }
    return true;
}
