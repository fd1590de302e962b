/* The tables of a FlatBuffers schema, read from its binary form, reflection.fbs (`flatc -b --schema`). */
#ifndef REEL_FORMATS_FLATBUFFER_SCHEMA_H
#define REEL_FORMATS_FLATBUFFER_SCHEMA_H

#include "base/arena.h"
#include "decode/encoding.h"

enum fb_base { /* numbers as in reflection.fbs */
               FB_NONE,
               FB_UNION_TYPE,
               FB_BOOL,
               FB_BYTE,
               FB_UBYTE,
               FB_SHORT,
               FB_USHORT,
               FB_INT,
               FB_UINT,
               FB_LONG,
               FB_ULONG,
               FB_FLOAT,
               FB_DOUBLE,
               FB_STRING,
               FB_VECTOR,
               FB_OBJECT, /* a table or a struct */
               FB_UNION,
               FB_ARRAY, /* of a fixed length, in a struct */
               FB_BASES
};

struct fb_type {
    enum fb_base base, element;     /* element: of a vector or array */
    const struct fb_object *object; /* of FB_OBJECT, also as element */
    const struct fb_enum *names;    /* of an enum and a union, also as element; NULL: none */
    uint16_t length;                /* of an array */
};
struct fb_member { /* a field */
    struct reel_bytes name;
    struct fb_type type;
    uint16_t id;
    uint16_t place;  /* in the vtable, or in the struct */
    bool optional;   /* no default */
    int64_t integer; /* the default */
    double real;
};
enum fb_form { FB_PLAIN, FB_TIME, FB_DURATION /* structs of seconds and nanoseconds, as Foxglove has them */ };
struct fb_object {
    const char *name;
    const struct fb_member *members; /* by id */
    uint32_t n;
    bool is_struct;
    uint32_t size; /* of a struct */
    enum fb_form form;
};
struct fb_name { /* of an enum, or a type of a union */
    int64_t number;
    struct reel_bytes name;
    struct fb_type type;
};
struct fb_enum {
    const char *name;
    const struct fb_name *values; /* by number */
    uint32_t n;
};
struct fb_schema {
    struct arena arena;
    struct fb_object *objects;
    struct fb_enum *enums;
    uint32_t n_objects, n_enums;
    const struct fb_object *root;
};

/* `name`: of the root table; empty: the schema's own. The schema points into `data`, which must outlive it. */
bool fb_schema_read(struct fb_schema *schema, struct reel_bytes data, const char *name, struct reel_error *err);

const struct fb_name *fb_name_find(const struct fb_enum *e, int64_t number); /* NULL: none */
/* Bytes of a value in a table, a struct or a vector: of strings, vectors, tables and unions those of the reference. */
size_t fb_type_size(enum fb_base base, const struct fb_object *object);
/* The type of a scalar; false: it is none. */
bool fb_number_of(enum fb_base base, enum reel_number *number);

/* fields.c */
bool fb_fields(const void *schema, reel_field_visit visit, void *context);
bool fb_shape(const void *schema, reel_shape_visit visit, void *context);

#endif
