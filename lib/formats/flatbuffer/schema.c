/* See schema.h. All objects and enums have their place first, so that types may refer to each other in any order. Every
 * count is bounded by the bytes, and the memory of all tables has a limit: vectors may share their bytes. */
#include "formats/flatbuffer/schema.h"

#include "base/limits.h"

#include <math.h>
#include <stdlib.h>

#include "formats/flatbuffer/buffer.h"

/* Slots of reflection.fbs. */
#define SLOT(n) (4 + 2 * (n))
enum {
    SCHEMA_OBJECTS = SLOT(0),
    SCHEMA_ENUMS = SLOT(1),
    SCHEMA_ROOT = SLOT(4),
    OBJECT_NAME = SLOT(0),
    OBJECT_FIELDS = SLOT(1),
    OBJECT_IS_STRUCT = SLOT(2),
    OBJECT_SIZE = SLOT(4),
    FIELD_NAME = SLOT(0),
    FIELD_TYPE = SLOT(1),
    FIELD_ID = SLOT(2),
    FIELD_OFFSET = SLOT(3),
    FIELD_INTEGER = SLOT(4),
    FIELD_REAL = SLOT(5),
    FIELD_DEPRECATED = SLOT(6),
    FIELD_OPTIONAL = SLOT(11),
    FIELD_OFFSET64 = SLOT(13),
    TYPE_BASE = SLOT(0),
    TYPE_ELEMENT = SLOT(1),
    TYPE_INDEX = SLOT(2),
    TYPE_LENGTH = SLOT(3),
    ENUM_NAME = SLOT(0),
    ENUM_VALUES = SLOT(1),
    VALUE_NAME = SLOT(0),
    VALUE_NUMBER = SLOT(1),
    VALUE_TYPE = SLOT(3),

    OBJECTS_MAX = 1 << 16, /* and of enums */
    NAME_MAX = 512,        /* longest name with its namespace */
    STRUCT_MAX = 64 << 10, /* bytes; its fields are found by 16 bits */
};

struct fb_reading {
    struct fb_buffer b;
    struct fb_schema *schema;
    struct reel_error *err;
};

static bool fb_damaged(struct fb_reading *r, const char *what) {
    return reel_fail(r->err, REEL_DAMAGED, "the FlatBuffers schema is damaged: %s", what);
}
static bool no_room(struct fb_reading *r) {
    return r->schema->arena.no_memory ? reel_fail_memory(r->err)
                                      : reel_fail(r->err, REEL_LIMIT, "the FlatBuffers schema is too large");
}
static bool fb_fits(struct fb_reading *r) {
    return !r->b.failed || fb_damaged(r, "it refers to bytes that are not there");
}

/* ---- parts of a table */

static uint64_t slot_number(struct fb_reading *r, const struct fb_table *t, unsigned slot, unsigned size,
                            uint64_t absent) {
    size_t at = fb_field(&r->b, t, slot, size);
    return at > 0 ? fb_load(&r->b, at, size) : absent;
}
static struct reel_bytes slot_elements(struct fb_reading *r, const struct fb_table *t, unsigned slot, size_t size) {
    size_t at = fb_field(&r->b, t, slot, 4);
    return at > 0 ? fb_elements(&r->b, fb_follow(&r->b, at), size) : bytes_of("", 0);
}
/* Entry `i` of a vector of tables. */
static struct fb_table element_table(struct fb_reading *r, struct reel_bytes vector, size_t i) {
    return fb_table_at(&r->b, fb_follow(&r->b, (size_t)(vector.data - r->b.all.data) + i * 4));
}
static const char *slot_name(struct fb_reading *r, const struct fb_table *t, unsigned slot) {
    struct reel_bytes name = slot_elements(r, t, slot, 1);
    return name.size > 0 && name.size <= NAME_MAX ? arena_utf8(&r->schema->arena, name) : "";
}

/* ---- types */

size_t fb_type_size(enum fb_base base, const struct fb_object *object) {
    static const uint8_t sizes[FB_BASES] = {
        [FB_UNION_TYPE] = 1, [FB_BOOL] = 1,   [FB_BYTE] = 1,   [FB_UBYTE] = 1, [FB_SHORT] = 2, [FB_USHORT] = 2,
        [FB_INT] = 4,        [FB_UINT] = 4,   [FB_LONG] = 8,   [FB_ULONG] = 8, [FB_FLOAT] = 4, [FB_DOUBLE] = 8,
        [FB_STRING] = 4,     [FB_VECTOR] = 4, [FB_OBJECT] = 4, [FB_UNION] = 4,
    };
    return base == FB_OBJECT && object && object->is_struct ? object->size : sizes[base];
}

bool fb_number_of(enum fb_base base, enum reel_number *number) {
    static const uint8_t numbers[FB_BASES] = {
        [FB_UNION_TYPE] = REEL_U8, [FB_BOOL] = REEL_BOOL,  [FB_BYTE] = REEL_I8,   [FB_UBYTE] = REEL_U8,
        [FB_SHORT] = REEL_I16,     [FB_USHORT] = REEL_U16, [FB_INT] = REEL_I32,   [FB_UINT] = REEL_U32,
        [FB_LONG] = REEL_I64,      [FB_ULONG] = REEL_U64,  [FB_FLOAT] = REEL_F32, [FB_DOUBLE] = REEL_F64,
    };
    *number = (enum reel_number)numbers[base];
    return base >= FB_UNION_TYPE && base <= FB_DOUBLE;
}

static bool read_type(struct fb_reading *r, const struct fb_table *of, unsigned slot, struct fb_type *type) {
    *type = (struct fb_type){0};
    size_t at = fb_field(&r->b, of, slot, 4);
    if (at == 0) {
        return fb_fits(r);
    }
    struct fb_table t = fb_table_at(&r->b, fb_follow(&r->b, at));
    uint64_t base = slot_number(r, &t, TYPE_BASE, 1, 0), element = slot_number(r, &t, TYPE_ELEMENT, 1, 0);
    int32_t index = (int32_t)(uint32_t)slot_number(r, &t, TYPE_INDEX, 4, UINT32_MAX);
    if (!fb_fits(r)) {
        return false;
    }
    if (base >= FB_BASES || element >= FB_BASES) {
        return reel_fail(r->err, REEL_UNSUPPORTED, "FlatBuffers with types of 64 bits are not decoded");
    }
    *type = (struct fb_type){.base = (enum fb_base)base, .element = (enum fb_base)element};
    type->length = (uint16_t)slot_number(r, &t, TYPE_LENGTH, 2, 0);
    enum fb_base inner = base == FB_VECTOR || base == FB_ARRAY ? type->element : type->base;
    bool nested = base == FB_VECTOR || base == FB_ARRAY;
    if (nested && (inner == FB_VECTOR || inner == FB_ARRAY)) {
        return fb_damaged(r, "a vector of vectors");
    }
    if (inner == FB_OBJECT) {
        type->object = index >= 0 && (uint32_t)index < r->schema->n_objects ? &r->schema->objects[index] : NULL;
        return type->object || fb_damaged(r, "an object that is not there");
    }
    type->names = index >= 0 && (uint32_t)index < r->schema->n_enums ? &r->schema->enums[index] : NULL;
    return inner != FB_UNION || type->names || fb_damaged(r, "a union that is not there");
}

/* ---- enums */

static int by_value(const void *a, const void *b) {
    const struct fb_name *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->name.data > y->name.data) - (x->name.data < y->name.data);
}

static bool fb_read_enum(struct fb_reading *r, struct fb_table t, struct fb_enum *e) {
    struct reel_bytes vector = slot_elements(r, &t, ENUM_VALUES, 4);
    size_t n = vector.size / 4;
    struct fb_name *values = arena_alloc(&r->schema->arena, n * sizeof *values);
    if (!values) {
        return no_room(r);
    }
    for (size_t i = 0; i < n; i++) {
        struct fb_table value = element_table(r, vector, i);
        values[i].name = slot_elements(r, &value, VALUE_NAME, 1);
        values[i].number = (int64_t)slot_number(r, &value, VALUE_NUMBER, 8, 0);
        if (!read_type(r, &value, VALUE_TYPE, &values[i].type)) {
            return false;
        }
    }
    qsort(values, n, sizeof *values, by_value);
    e->values = values;
    e->n = (uint32_t)n;
    return fb_fits(r);
}

const struct fb_name *fb_name_find(const struct fb_enum *e, int64_t number) {
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->values[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < e->n && e->values[low].number == number ? &e->values[low] : NULL;
}

/* ---- objects */

static int by_id(const void *a, const void *b) {
    return ((const struct fb_member *)a)->id - ((const struct fb_member *)b)->id;
}

static bool fb_read_member(struct fb_reading *r, struct fb_table t, struct fb_member *m) {
    m->name = slot_elements(r, &t, FIELD_NAME, 1);
    m->id = (uint16_t)slot_number(r, &t, FIELD_ID, 2, 0);
    m->offset = (uint16_t)slot_number(r, &t, FIELD_OFFSET, 2, 0);
    m->integer = (int64_t)slot_number(r, &t, FIELD_INTEGER, 8, 0);
    m->real = f64_of(slot_number(r, &t, FIELD_REAL, 8, 0));
    m->optional = slot_number(r, &t, FIELD_OPTIONAL, 1, 0) != 0 || slot_number(r, &t, FIELD_DEPRECATED, 1, 0) != 0;
    if (slot_number(r, &t, FIELD_OFFSET64, 1, 0) != 0) {
        return reel_fail(r->err, REEL_UNSUPPORTED, "FlatBuffers with types of 64 bits are not decoded");
    }
    if (!read_type(r, &t, FIELD_TYPE, &m->type)) {
        return false;
    }
    return (m->name.size > 0 && m->type.base != FB_NONE) || fb_damaged(r, "a field has no name or type");
}

/* Structs of seconds and nanoseconds. */
static enum fb_form form_of(const struct fb_object *o) {
    const char *dot = strrchr(o->name, '.'), *last = dot ? dot + 1 : o->name;
    bool named =
        o->is_struct && o->n == 2 && bytes_is(o->members[0].name, "sec") && bytes_is(o->members[1].name, "nsec");
    enum fb_base seconds = named ? o->members[0].type.base : FB_NONE;
    bool parts = (seconds == FB_INT || seconds == FB_UINT) && o->members[1].type.base == FB_UINT;
    return parts && strcmp(last, "Time") == 0       ? FB_TIME
           : parts && strcmp(last, "Duration") == 0 ? FB_DURATION
                                                    : FB_PLAIN;
}

static bool read_object(struct fb_reading *r, struct fb_table t, struct fb_object *o) {
    struct reel_bytes vector = slot_elements(r, &t, OBJECT_FIELDS, 4);
    size_t n = vector.size / 4;
    struct fb_member *members = arena_alloc(&r->schema->arena, n * sizeof *members);
    if (!members) {
        return no_room(r);
    }
    for (size_t i = 0; i < n; i++) {
        if (!fb_read_member(r, element_table(r, vector, i), &members[i])) {
            return reel_error_at(r->err, "%.128s", o->name);
        }
    }
    qsort(members, n, sizeof *members, by_id);
    for (size_t i = 1; i < n; i++) {
        if (members[i].id == members[i - 1].id) {
            return fb_damaged(r, "two fields of one object have one number");
        }
    }
    o->members = members;
    o->n = (uint32_t)n;
    return fb_fits(r);
}

/* Its fields lie inside it, each of them with a size: nothing in it is found by a reference. */
static bool check_struct(struct fb_reading *r, const struct fb_object *o) {
    for (uint32_t i = 0; i < o->n; i++) {
        const struct fb_type *t = &o->members[i].type;
        bool array = t->base == FB_ARRAY;
        enum fb_base base = array ? t->element : t->base;
        enum reel_number number;
        bool whole = fb_number_of(base, &number) || (base == FB_OBJECT && t->object->is_struct);
        uint64_t size = whole ? (uint64_t)fb_type_size(base, t->object) * (array ? t->length : 1) : 0;
        if (!whole || o->members[i].offset + size > o->size) {
            return fb_damaged(r, "a field does not fit into its struct");
        }
    }
    return true;
}
/* Only a struct has arrays. */
static bool check_table(struct fb_reading *r, const struct fb_object *o) {
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->members[i].type.base == FB_ARRAY) {
            return fb_damaged(r, "an array in a table");
        }
    }
    return true;
}

/* ---- all of it */

/* Places for objects, with what others need to know of them. */
static bool place_objects(struct fb_reading *r, struct reel_bytes vector) {
    struct fb_schema *s = r->schema;
    s->n_objects = (uint32_t)(vector.size / 4);
    s->objects = s->n_objects <= OBJECTS_MAX ? arena_alloc(&s->arena, s->n_objects * sizeof *s->objects) : NULL;
    for (uint32_t i = 0; s->objects && i < s->n_objects; i++) {
        struct fb_table t = element_table(r, vector, i);
        uint64_t size = slot_number(r, &t, OBJECT_SIZE, 4, 0);
        s->objects[i].is_struct = slot_number(r, &t, OBJECT_IS_STRUCT, 1, 0) != 0;
        s->objects[i].size = (uint32_t)size;
        if (!(s->objects[i].name = slot_name(r, &t, OBJECT_NAME))) {
            return no_room(r);
        }
        if (s->objects[i].is_struct && (size == 0 || size > STRUCT_MAX)) {
            return fb_damaged(r, "a struct without a size");
        }
    }
    return s->objects ? fb_fits(r) : no_room(r);
}
static bool place_enums(struct fb_reading *r, struct reel_bytes vector) {
    struct fb_schema *s = r->schema;
    s->n_enums = (uint32_t)(vector.size / 4);
    s->enums = s->n_enums <= OBJECTS_MAX ? arena_alloc(&s->arena, s->n_enums * sizeof *s->enums) : NULL;
    for (uint32_t i = 0; s->enums && i < s->n_enums; i++) {
        struct fb_table t = element_table(r, vector, i);
        if (!(s->enums[i].name = slot_name(r, &t, ENUM_NAME))) {
            return no_room(r);
        }
    }
    return s->enums ? fb_fits(r) : no_room(r);
}

static bool read_all(struct fb_reading *r, struct reel_bytes objects, struct reel_bytes enums) {
    struct fb_schema *s = r->schema;
    for (uint32_t i = 0; i < s->n_enums; i++) {
        if (!fb_read_enum(r, element_table(r, enums, i), &s->enums[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < s->n_objects; i++) {
        if (!read_object(r, element_table(r, objects, i), &s->objects[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < s->n_objects; i++) {
        struct fb_object *o = &s->objects[i];
        if (!(o->is_struct ? check_struct(r, o) : check_table(r, o))) {
            return reel_error_at(r->err, "%.128s", o->name);
        }
        o->form = form_of(o);
    }
    return true;
}

/* The table of that name; a schema has few. */
static const struct fb_object *find_root(const struct fb_schema *s, const char *name) {
    for (uint32_t i = 0; i < s->n_objects; i++) {
        if (!s->objects[i].is_struct && strcmp(s->objects[i].name, name) == 0) {
            return &s->objects[i];
        }
    }
    return NULL;
}

bool fb_schema_read(struct fb_schema *schema, struct reel_bytes data, const char *name, struct reel_error *err) {
    struct fb_reading r = {.b = {.all = data}, .schema = schema, .err = err};
    schema->arena.max = REEL_DEFINITION_TABLES_MAX;
    struct fb_table t = fb_table_at(&r.b, fb_follow(&r.b, 0));
    struct reel_bytes objects = slot_elements(&r, &t, SCHEMA_OBJECTS, 4),
                      enums = slot_elements(&r, &t, SCHEMA_ENUMS, 4);
    if (!fb_fits(&r) || !place_objects(&r, objects) || !place_enums(&r, enums) || !read_all(&r, objects, enums)) {
        return false;
    }
    size_t root = fb_field(&r.b, &t, SCHEMA_ROOT, 4);
    struct fb_table root_table = root > 0 ? fb_table_at(&r.b, fb_follow(&r.b, root)) : (struct fb_table){0};
    const char *own = root > 0 && name[0] == '\0' ? slot_name(&r, &root_table, OBJECT_NAME) : name;
    schema->root = own ? find_root(schema, own) : NULL;
    return schema->root || reel_fail(err, REEL_DAMAGED, "the FlatBuffers schema has no table \"%.128s\"", name);
}
