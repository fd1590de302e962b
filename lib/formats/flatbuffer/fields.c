/* Lists the fields of a table, and its nested shape (decode/encoding.h), from the schema. Tables and structs are listed
 * field by field, but one inside itself is not; a vector is one field. */
#include <stdio.h>

#include "decode/fields.h"
#include "formats/flatbuffer/schema.h"

static const char *base_name(enum fb_base base) {
    static const char *const names[FB_BASES] = {
        [FB_NONE] = "none",     [FB_UNION_TYPE] = "utype", [FB_BOOL] = "bool",     [FB_BYTE] = "byte",
        [FB_UBYTE] = "ubyte",   [FB_SHORT] = "short",      [FB_USHORT] = "ushort", [FB_INT] = "int",
        [FB_UINT] = "uint",     [FB_LONG] = "long",        [FB_ULONG] = "ulong",   [FB_FLOAT] = "float",
        [FB_DOUBLE] = "double", [FB_STRING] = "string",    [FB_VECTOR] = "vector", [FB_OBJECT] = "table",
        [FB_UNION] = "union",   [FB_ARRAY] = "array",
    };
    return names[base];
}
static enum fb_base base_of(const struct fb_type *t, bool *list) {
    *list = t->base == FB_VECTOR || t->base == FB_ARRAY;
    return *list ? t->element : t->base;
}

/* ---- fields */

struct listing {
    reel_field_visit visit;
    void *context;
    uint32_t left; /* fields that may still be visited: nesting can multiply them exponentially */
    const struct fb_object *inside[FIELD_DEPTH_MAX];
    unsigned depth;
    char path[FIELD_PATH_MAX];
};

static bool fb_list_one(struct listing *l, const struct fb_type *t) {
    char type[FIELD_PATH_MAX];
    enum reel_number number;
    bool list;
    enum fb_base base = base_of(t, &list);
    const char *form = !t->object || t->object->form == FB_PLAIN ? NULL
                       : t->object->form == FB_TIME              ? "time"
                                                                 : "duration";
    const char *name = form ? form : t->object ? t->object->name : t->names ? t->names->name : base_name(base);
    snprintf(type, sizeof type, "%s%s", name[0] ? name : base_name(base), list ? "[]" : "");
    bool numeric = fb_number_of(base, &number) && !list && !t->names;
    return l->visit(l->context, &(struct reel_field){.path = l->path, .type = type, .unit = "", .numeric = numeric});
}

static bool fb_can_enter(const struct listing *l, const struct fb_type *t) {
    bool enters = t->base == FB_OBJECT && t->object->form == FB_PLAIN && l->depth < FIELD_DEPTH_MAX;
    for (unsigned i = 0; enters && i < l->depth; i++) {
        enters = l->inside[i] != t->object;
    }
    return enters;
}

static bool fb_list_all(struct listing *l, const struct fb_object *o, size_t length) {
    bool goes_on = true;
    l->inside[l->depth++] = o;
    for (uint32_t i = 0; goes_on && i < o->n && l->left > 0; i++) {
        const struct fb_member *m = &o->members[i];
        size_t dot = length > 0, size = length + dot + m->name.size;
        l->left--;
        if (size >= sizeof l->path || memchr(m->name.data, 0, m->name.size)) {
            continue;
        }
        l->path[length] = '.';
        memcpy(l->path + length + dot, m->name.data, m->name.size);
        l->path[size] = '\0';
        goes_on = fb_can_enter(l, &m->type) ? fb_list_all(l, m->type.object, size) : fb_list_one(l, &m->type);
    }
    l->depth--;
    return goes_on;
}

bool fb_fields(const void *p, reel_field_visit visit, void *context) {
    const struct fb_schema *schema = p;
    struct listing l = {.visit = visit, .context = context, .left = FIELDS_MAX};
    return fb_list_all(&l, schema->root, 0);
}

/* ---- shape */

struct shaping {
    reel_shape_visit visit;
    void *context;
    const struct fb_object *inside[FIELD_DEPTH_MAX];
    unsigned depth;
};

static enum reel_shape_next fb_open_part(struct shaping *s, enum reel_shape_kind kind, struct reel_shape part) {
    part.kind = kind;
    return s->visit(s->context, &part);
}
static bool fb_put(struct shaping *s, enum reel_shape_kind kind, struct reel_shape part) {
    return fb_open_part(s, kind, part) != REEL_SHAPE_STOP;
}

static bool fb_put_object(struct shaping *s, const struct fb_object *o, struct reel_shape part);

static bool fb_put_value(struct shaping *s, const struct fb_type *t, enum fb_base base, struct reel_shape part) {
    if (base == FB_OBJECT) {
        return fb_put_object(s, t->object, part);
    }
    bool text = base == FB_STRING || (t->names && base != FB_UNION);
    return fb_put(s,
                  text                               ? REEL_SHAPE_TEXT
                  : fb_number_of(base, &part.number) ? REEL_SHAPE_NUMBER
                                                     : REEL_SHAPE_ANY,
                  part);
}

static bool fb_put_member(struct shaping *s, const struct fb_member *m, bool in_struct) {
    enum reel_number number;
    bool list,
        fixed = in_struct || (fb_number_of(m->type.base, &number) && !m->optional && m->type.base != FB_UNION_TYPE);
    enum fb_base base = base_of(&m->type, &list);
    struct reel_shape part = {.name = m->name, .optional = !fixed};
    if (!list) {
        return fb_put_value(s, &m->type, base, part);
    }
    if (base == FB_UBYTE && !m->type.names && m->type.base == FB_VECTOR) {
        return fb_put(s, REEL_SHAPE_BYTES, part);
    }
    enum reel_shape_next next = fb_open_part(s, REEL_SHAPE_LIST, part);
    return next == REEL_SHAPE_ENTER ? fb_put_value(s, &m->type, base, (struct reel_shape){0}) : next != REEL_SHAPE_STOP;
}

static bool fb_put_object(struct shaping *s, const struct fb_object *o, struct reel_shape part) {
    if (o->form != FB_PLAIN) {
        return fb_put(s, o->form == FB_TIME ? REEL_SHAPE_TIME : REEL_SHAPE_DURATION, part);
    }
    bool any = s->depth == FIELD_DEPTH_MAX;
    for (unsigned i = 0; i < s->depth && !any; i++) {
        any = s->inside[i] == o;
    }
    if (any) {
        return fb_put(s, REEL_SHAPE_ANY, part);
    }
    enum reel_shape_next next = fb_open_part(s, REEL_SHAPE_STRUCT, part);
    if (next != REEL_SHAPE_ENTER) {
        return next != REEL_SHAPE_STOP;
    }
    s->inside[s->depth++] = o;
    bool more = true;
    for (uint32_t i = 0; more && i < o->n; i++) {
        more = fb_put_member(s, &o->members[i], o->is_struct);
    }
    s->depth--;
    return more && fb_put(s, REEL_SHAPE_END, (struct reel_shape){.name = part.name});
}

bool fb_shape(const void *p, reel_shape_visit visit, void *context) {
    const struct fb_schema *schema = p;
    struct shaping s = {.visit = visit, .context = context};
    return fb_put_object(&s, schema->root, (struct reel_shape){0});
}
