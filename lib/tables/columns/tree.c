/* See tree.h: how the tree grows. settle.c decides the types. */
#include "tables/columns/tree.h"

#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"

static void *tree_take(struct columns *c, size_t size) {
    void *p = c->no_memory ? NULL : c->alloc(c->owner, size);
    c->no_memory = c->no_memory || !p;
    return p;
}

static struct column *new_column(struct columns *c, struct column *parent, struct reel_bytes key) {
    struct column *column = tree_take(c, sizeof *column);
    uint8_t *copy = column ? tree_take(c, key.size + 1) : NULL;
    if (!copy) {
        return NULL;
    }
    if (key.size > 0) {
        memcpy(copy, key.data, key.size);
    }
    *column =
        (struct column){.key = bytes_of(copy, key.size), .parent = parent, .depth = parent ? parent->depth + 1 : 0};
    c->created++;
    return column;
}

bool columns_init(struct columns *c, void *(*alloc)(void *owner, size_t size), void *owner) {
    *c = (struct columns){.alloc = alloc, .owner = owner};
    c->payload = new_column(c, NULL, bytes_of("", 0));
    return c->payload != NULL;
}

void column_collapse(struct column *column) {
    column->seen |= SEEN_ANY;
    column->n_children = 0;
}

/* ---- children */

/* Where the key is in `sorted`, or belongs. */
static uint32_t tree_search(const struct column *parent, struct reel_bytes key, bool *found) {
    uint32_t low = 0, high = parent->n_children;
    *found = false;
    while (low < high && !*found) {
        uint32_t middle = low + (high - low) / 2;
        int order = bytes_compare(key, parent->sorted[middle]->key);
        *found = order == 0;
        low = order > 0 ? middle + 1 : *found ? middle : low;
        high = order < 0 ? middle : high;
    }
    return low;
}

/* Fields come in the order of the last message, mostly. */
struct column *column_find(const struct column *parent, struct reel_bytes key, uint32_t *hint) {
    uint32_t at = *hint;
    if (at < parent->n_children) {
        struct column *likely = parent->children[at];
        if (likely->key.size == key.size && memcmp(likely->key.data, key.data, key.size) == 0) {
            *hint = at + 1;
            return likely;
        }
    }
    bool found;
    uint32_t place = tree_search(parent, key, &found);
    if (!found) {
        return NULL;
    }
    for (at = 0; parent->children[at] != parent->sorted[place];) {
        at++;
    }
    *hint = at + 1;
    return parent->children[at];
}

static bool tree_make_room(struct columns *c, struct column *parent) {
    if (parent->n_children < parent->room) {
        return true;
    }
    uint32_t room = parent->room ? parent->room * 2 : 4;
    struct column **children = tree_take(c, room * sizeof *children), **sorted = tree_take(c, room * sizeof *sorted);
    if (!children || !sorted) {
        return false;
    }
    if (parent->n_children > 0) {
        memcpy(children, parent->children, parent->n_children * sizeof *children);
        memcpy(sorted, parent->sorted, parent->n_children * sizeof *sorted);
    }
    parent->children = children;
    parent->sorted = sorted;
    parent->room = room;
    return true;
}

/* A payload with more columns than the ceiling is one column of JSON, so that a table never depends on which of them
 * came first. */
static struct column *columns_tree_add(struct columns *c, struct column *parent, struct reel_bytes key) {
    if (c->created >= REEL_COLUMNS_MAX) {
        column_collapse(c->payload);
        return NULL;
    }
    if (parent->depth >= REEL_COLUMN_DEPTH_MAX || parent->n_children >= REEL_COLUMN_KEYS_MAX) {
        column_collapse(parent);
        return NULL;
    }
    struct column *column = tree_make_room(c, parent) ? new_column(c, parent, key) : NULL;
    if (!column) {
        column_collapse(parent);
        return NULL;
    }
    bool found;
    uint32_t place = tree_search(parent, key, &found);
    memmove(parent->sorted + place + 1, parent->sorted + place, (parent->n_children - place) * sizeof *parent->sorted);
    parent->sorted[place] = column;
    parent->children[parent->n_children++] = column;
    return column;
}

struct column *columns_child(struct columns *c, struct column *parent, struct reel_bytes key, uint32_t *hint) {
    struct column *column = column_find(parent, key, hint);
    if (!column && (column = columns_tree_add(c, parent, key))) {
        *hint = parent->n_children;
    }
    return column;
}

struct column *columns_element(struct columns *c, struct column *list) {
    return list->n_children > 0 ? list->children[0] : columns_tree_add(c, list, bytes_text("element"));
}

/* ---- from schemas */

struct shaping {
    struct columns *c;
    struct column *at[REEL_COLUMN_DEPTH_MAX + 2]; /* the structs and lists that are open */
    uint32_t depth;
};

static uint32_t seen_of(const struct reel_shape *part) {
    static const uint32_t seen[] = {
        [REEL_SHAPE_STRUCT] = SEEN_MAP,        [REEL_SHAPE_LIST] = SEEN_LIST, [REEL_SHAPE_TEXT] = SEEN_TEXT,
        [REEL_SHAPE_BYTES] = SEEN_BYTES,       [REEL_SHAPE_TIME] = SEEN_TIME, [REEL_SHAPE_ANY] = SEEN_ANY,
        [REEL_SHAPE_DURATION] = SEEN_DURATION, [REEL_SHAPE_NUMBER] = 0,       [REEL_SHAPE_END] = 0};
    return part->kind == REEL_SHAPE_NUMBER ? UINT32_C(1) << part->number : seen[part->kind];
}

/* A list is closed by its element. */
static void close_lists(struct shaping *s) {
    while (s->depth > 0 && (s->at[s->depth - 1]->seen & SEEN_LIST)) {
        s->depth--;
    }
}

/* The column of a part; NULL: it lies below one that is JSON. */
static struct column *column_of_part(struct shaping *s, const struct reel_shape *part) {
    struct column *outer = s->depth > 0 ? s->at[s->depth - 1] : NULL;
    uint32_t hint = outer ? outer->n_children : 0;
    struct column *column = !outer                      ? s->c->payload
                            : column_is_any(outer)      ? NULL
                            : (outer->seen & SEEN_LIST) ? columns_element(s->c, outer)
                                                        : columns_child(s->c, outer, part->name, &hint);
    return column && !column_is_any(column) ? column : NULL;
}

static enum reel_shape_next shape_part(void *context, const struct reel_shape *part) {
    struct shaping *s = context;
    if (++s->c->parts > REEL_SHAPE_PARTS_MAX) {
        column_collapse(s->c->payload);
    }
    if (column_is_any(s->c->payload)) {
        return REEL_SHAPE_STOP; /* beyond a ceiling: all of it is JSON */
    }
    if (part->kind == REEL_SHAPE_END) {
        s->depth--;
        close_lists(s);
        return REEL_SHAPE_ENTER;
    }
    struct column *column = column_of_part(s, part);
    if (!column) {
        close_lists(s);
        return REEL_SHAPE_SKIP;
    }
    column->seen |= seen_of(part);
    column->declared = true;
    column->absent = column->absent || part->optional;
    if (part->kind == REEL_SHAPE_STRUCT || part->kind == REEL_SHAPE_LIST) {
        s->at[s->depth++] = column;
    } else {
        close_lists(s);
    }
    return REEL_SHAPE_ENTER;
}

void columns_shape(struct columns *c, const struct reel_decoder *decoder, bool *exact) {
    struct shaping s = {.c = c};
    reel_decoder_shape(decoder, shape_part, &s, exact);
}
