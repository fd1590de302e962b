/* Members of a fixed size, put into their columns in one call. Where each belongs is found once for a table of members
 * and a struct of columns; tables whose members are not simply the columns are put one by one. */
#include "base/hash_table.h"
#include "syntax/visitor.h"
#include "tables/columns/fill.h"

enum { TABLES_MAX = 64 };

enum how {
    PUT_NOTHING, /* the end of a struct */
    PUT_SLOT,    /* of a struct */
    PUT_COPY,    /* a number, as it is */
    PUT_BOOL,
    PUT_STAMP,
    PUT_NUMBERS, /* a list of them */
    PUT_BYTES,
};
struct fill_target {
    struct column_data *data, *items; /* items: of a list */
    uint32_t width;
    uint8_t how;
    bool top; /* a member of the outer struct itself */
    bool optional, items_optional;
};
struct fill_table {
    const struct reel_members *members;
    const struct column *outer;
    struct fill_target *targets; /* NULL: they are put one by one */
    uint32_t tops;
    uint64_t bytes;
};

void columns_fill_forget_tables(struct columns_fill *f) {
    for (size_t i = 0; i < f->n_tables; i++) {
        free(f->tables[i].targets);
    }
    free(f->tables);
}

/* ---- where members belong */

static enum how how_of(const struct column *column, const struct reel_member *m) {
    bool integer = m->number != REEL_BOOL && m->number < REEL_F32;
    bool same = column->kind == COLUMN_DOUBLE    ? m->number == REEL_F64
                : column->kind == COLUMN_FLOAT   ? m->number == REEL_F32
                : column->kind == COLUMN_INTEGER ? integer && column_width(column) == reel_number_size(m->number)
                                                 : false;
    switch ((enum reel_member_kind)m->kind) {
    case REEL_MEMBER_NUMBER:
        return same ? PUT_COPY : column->kind == COLUMN_BOOL && m->number == REEL_BOOL ? PUT_BOOL : PUT_NOTHING;
    case REEL_MEMBER_NUMBERS:
        return column->kind == COLUMN_LIST && columns_fill_is_packed(column->children[0], m->number) ? PUT_NUMBERS
                                                                                                     : PUT_NOTHING;
    case REEL_MEMBER_BYTES:
        return column->kind == COLUMN_BYTES ? PUT_BYTES : PUT_NOTHING;
    case REEL_MEMBER_TIME:
    case REEL_MEMBER_DURATION:
        return column->kind == COLUMN_TIME || column->kind == COLUMN_DURATION ? PUT_STAMP : PUT_NOTHING;
    case REEL_MEMBER_MAP:
        return column->kind == COLUMN_STRUCT ? PUT_SLOT : PUT_NOTHING;
    case REEL_MEMBER_END:
        break;
    }
    return PUT_NOTHING;
}

static bool set_target(struct columns_fill *f, struct fill_target *t, const struct column *column,
                       const struct reel_member *m) {
    *t = (struct fill_target){.data = &f->data[column->index], .how = how_of(column, m), .optional = column->optional};
    if (t->how == PUT_NUMBERS) {
        t->items = &f->data[column->children[0]->index];
        t->items_optional = column->children[0]->optional;
    }
    t->width = m->count * reel_number_size(m->number);
    return t->how != PUT_NOTHING;
}

struct finding {
    struct columns_fill *f;
    struct fill_table *table;
    struct hash_table taken; /* columns */
    uint32_t depth;
    struct {
        const struct column *column;
        uint32_t hint, seen;
    } at[REEL_COLUMN_DEPTH_MAX + 2];
};

static bool find_member(struct finding *s, const struct reel_member *m, struct fill_target *t) {
    const struct column *child = column_find(s->at[s->depth].column, m->key, &s->at[s->depth].hint);
    if (!child || !set_target(s->f, t, child, m) || hash_table_get(&s->taken, hash_key_number(child->index)) ||
        !hash_table_set(&s->taken, hash_key_number(child->index), 1, NULL)) {
        return false;
    }
    bool slot = t->how == PUT_SLOT, list = t->how == PUT_NUMBERS || t->how == PUT_BYTES;
    t->top = s->depth == 0;
    s->at[s->depth].seen++;
    s->table->bytes += child->optional +
                       (slot                  ? 0
                        : t->how == PUT_STAMP ? sizeof(int64_t)
                                              : t->width) +
                       (list ? sizeof(uint32_t) : 0);
    if (slot) {
        s->at[++s->depth].column = child;
        s->at[s->depth].hint = s->at[s->depth].seen = 0;
    }
    return true;
}

/* True when each member is a column of its own, and the structs inside have no others. */
static bool find_members(struct finding *s) {
    s->at[0].column = s->table->outer;
    for (uint32_t i = 0; i < s->table->members->n; i++) {
        const struct reel_member *m = &s->table->members->items[i];
        bool ends = m->kind == REEL_MEMBER_END;
        if (ends ? s->at[s->depth].seen != s->at[s->depth].column->n_children
                 : !find_member(s, m, &s->table->targets[i])) {
            return false;
        }
        s->depth -= ends;
    }
    s->table->tops = s->at[0].seen;
    return true;
}

static const struct fill_table *table_of(struct columns_fill *f, const struct reel_members *members,
                                         const struct column *outer) {
    for (size_t i = 0; i < f->n_tables; i++) {
        if (f->tables[i].members == members && f->tables[i].outer == outer) {
            return &f->tables[i];
        }
    }
    if (f->n_tables == TABLES_MAX || !GROW_ARRAY(f->tables, f->n_tables, f->tables_room)) {
        return NULL;
    }
    struct fill_table *table = &f->tables[f->n_tables++];
    *table = (struct fill_table){.members = members, .outer = outer};
    table->targets = calloc(members->n, sizeof *table->targets);
    struct finding s = {.f = f, .table = table};
    if (table->targets && !find_members(&s)) {
        free(table->targets);
        table->targets = NULL;
    }
    hash_table_free(&s.taken);
    return table;
}

/* ---- values */

static void put_value(struct column_data *data, const uint8_t *value, uint32_t width) {
    uint8_t *room = grow_take(&data->values, width);
    if (!room) {
        return;
    }
    if (width == 8) { /* most are */
        memcpy(room, value, 8);
    } else if (width == 4) {
        memcpy(room, value, 4);
    } else {
        memcpy(room, value, width);
    }
}

static void put_numbers(const struct fill_target *t, const struct reel_member *m, const uint8_t *value) {
    put_value(t->items, value, t->width);
    uint8_t *valid = t->items_optional ? grow_take(&t->items->valid, m->count) : NULL;
    if (valid) {
        memset(valid, 1, m->count);
    }
    t->items->length += m->count;
    grow_u32(&t->data->offsets, (uint32_t)t->items->length);
}

static void put_target(const struct fill_target *t, const struct reel_members *members, const struct reel_member *m,
                       const uint8_t *at) {
    const uint8_t *value = at + m->offset;
    uint8_t made[8];
    t->data->length++;
    if (t->optional) {
        grow_u8(&t->data->valid, 1);
    }
    switch ((enum how)t->how) {
    case PUT_COPY:
        put_value(t->data, value, t->width);
        return;
    case PUT_BOOL:
        made[0] = *value != 0;
        put_value(t->data, made, 1);
        return;
    case PUT_STAMP:
        store_u64le(made, (uint64_t)columns_fill_stamp(reel_member_stamp(members, m, at)));
        put_value(t->data, made, 8);
        return;
    case PUT_NUMBERS:
        put_numbers(t, m, value);
        return;
    case PUT_BYTES:
        put_value(t->data, value, t->width);
        grow_u32(&t->data->offsets, (uint32_t)t->data->values.size);
        return;
    case PUT_SLOT:
    case PUT_NOTHING:
        return;
    }
}

/* Of equal keys the first counts: had one been there before, that would be found by putting them one by one. */
static bool are_new(const struct fill_table *table, uint64_t slots) {
    for (uint32_t i = 0; i < table->members->n; i++) {
        const struct fill_target *t = &table->targets[i];
        if (t->top && t->data->length >= slots) {
            return false;
        }
    }
    return true;
}

bool columns_fill_members(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at) {
    struct columns_fill *f = (struct columns_fill *)v;
    struct fill_level *level = f->depth > 0 && f->skipped == 0 && !f->json ? &f->levels[f->depth - 1] : NULL;
    const struct fill_table *table = level && !level->is_list ? table_of(f, members, level->column) : NULL;
    if (!table || !table->targets ||
        !are_new(table, level->column->parent ? f->data[level->column->index].length : f->rows + 1)) {
        return reel_members_expand(v, members, at);
    }
    for (uint32_t i = 0; i < members->n; i++) {
        if (members->items[i].kind != REEL_MEMBER_END) {
            put_target(&table->targets[i], members, &members->items[i], at);
        }
    }
    level->seen += table->tops;
    f->bytes += table->bytes;
    return true;
}
