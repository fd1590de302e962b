/* The tables of a Cap'n Proto schema, read from a CodeGeneratorRequest of schema.capnp (`capnp compile -o-`). */
#ifndef REEL_FORMATS_CAPNPROTO_SCHEMA_H
#define REEL_FORMATS_CAPNPROTO_SCHEMA_H

#include "base/arena.h"
#include "decode/encoding.h"

enum cp_type_kind { /* numbers as in schema.capnp */
                    CP_TYPE_VOID,
                    CP_TYPE_BOOL,
                    CP_TYPE_INT8,
                    CP_TYPE_INT16,
                    CP_TYPE_INT32,
                    CP_TYPE_INT64,
                    CP_TYPE_UINT8,
                    CP_TYPE_UINT16,
                    CP_TYPE_UINT32,
                    CP_TYPE_UINT64,
                    CP_TYPE_FLOAT32,
                    CP_TYPE_FLOAT64,
                    CP_TYPE_TEXT,
                    CP_TYPE_DATA,
                    CP_TYPE_LIST,
                    CP_TYPE_ENUM,
                    CP_TYPE_STRUCT,
                    CP_TYPE_INTERFACE,
                    CP_TYPE_ANY,
                    CP_TYPES
};

struct cp_type {
    enum cp_type_kind kind;
    const struct cp_node *node;    /* of an enum or a struct; NULL: the schema lacks it */
    const struct cp_type *element; /* of a list */
};
enum { CP_NO_UNION = 0xffff };
struct cp_field {
    struct reel_bytes name;
    bool is_group;       /* its fields lie in the struct that has the group */
    uint16_t of_union;   /* the field is there if the struct's discriminant is this; CP_NO_UNION: always */
    uint32_t position;   /* in units of its size, or the number of a pointer */
    struct cp_type type; /* of a group: its node */
    uint64_t fallback;   /* what a number is mixed with: its default */
};
struct cp_node {
    uint64_t id;
    const char *name; /* without its file */
    const char *whole_name;
    bool is_struct, is_enum;
    uint32_t discriminant; /* its position, in units of 16 bits */
    bool has_union;
    const struct cp_field *fields;
    const struct reel_bytes *names; /* of an enum */
    uint32_t n;
};
struct cp_schema {
    struct arena arena;
    struct cp_node *nodes; /* sorted by id */
    uint32_t n;
    const struct cp_node *root;
};

/* `name`: displayName of the root struct, also without its file. The schema points into `data`, which must outlive it.
 */
bool cp_schema_read(struct cp_schema *schema, struct reel_bytes data, const char *name, struct reel_error *err);
unsigned cp_type_bits(enum cp_type_kind kind); /* in the data section; 0: it has no place there */
/* False: it is no number. An enum is none. */
bool cp_number_of(enum cp_type_kind kind, enum reel_number *number);

/* fields.c */
bool cp_fields(const void *schema, reel_field_visit visit, void *context);
bool cp_shape(const void *schema, reel_shape_visit visit, void *context);

#endif
