/* Internals of the protobuf decoder: schema.c (a FileDescriptorSet → these tables), groups.c, payload.c
 * and known.c (payloads), fields.c, shape.c. */
#ifndef REEL_FORMATS_PROTOBUF_PAYLOAD_H
#define REEL_FORMATS_PROTOBUF_PAYLOAD_H

#include "base/arena.h"
#include "decode/encoding.h"
#include "syntax/protobuf.h"

enum pb_type { /* numbers as in descriptor.proto */
               PB_DOUBLE = 1,
               PB_FLOAT,
               PB_INT64,
               PB_UINT64,
               PB_INT32,
               PB_FIXED64,
               PB_FIXED32,
               PB_BOOL,
               PB_STRING,
               PB_GROUP,
               PB_MESSAGE,
               PB_BYTES,
               PB_UINT32,
               PB_ENUM,
               PB_SFIXED32,
               PB_SFIXED64,
               PB_SINT32,
               PB_SINT64,
               PB_TYPES,
};

struct pb_value { /* of an enum */
    int32_t number;
    struct reel_bytes name;
};
struct pb_enum {
    const char *name;
    const struct pb_value *values; /* sorted by number, then by position: the first of equal numbers counts */
    uint32_t n;
};

struct pb_field {
    uint32_t number;
    enum pb_type type;
    bool repeated, extension;
    uint32_t oneof; /* its number in the message, from 1; 0: in none that has others */
    bool implicit;  /* absent means the default value: proto3's plain fields */
    struct reel_bytes name;
    const struct pb_message *message; /* NULL: the type is not PB_MESSAGE or PB_GROUP, or the definition lacks the
                                         message; then the field is emitted as bytes */
    const struct pb_enum *names; /* NULL: the type is not PB_ENUM, or the definition lacks the enum; then the field is
                                    emitted as a number */
};

enum pb_form {
    PB_PLAIN,
    PB_ENTRY /* of a map: 1 key, 2 value */,
    /* of google.protobuf, shown as ProtoJSON does: */
    PB_TIME /* Timestamp */,
    PB_DURATION,
    PB_WRAPPER /* DoubleValue …: one single value */,
    PB_OBJECT /* Struct: a map */,
    PB_LIST /* ListValue */,
    PB_VALUE /* one of several fields, or null */,
    PB_MASK /* FieldMask */,
    PB_ANY
};
struct pb_message {
    const char *name; /* with its package */
    enum pb_form form;
    const struct pb_field *fields; /* sorted by number, each number once */
    uint32_t n;
};

struct pb_schema {
    struct arena arena;
    struct pb_message *messages; /* sorted by name */
    struct pb_enum *enums;
    size_t n_messages, n_enums;
    const struct pb_message *root;
};

/* `name` is that of the root message. The schema points into `set`, which must outlive it. */
bool pb_schema_read(struct pb_schema *schema, struct reel_bytes set, const char *name, struct reel_error *err);

/* Name with its package, without a dot before it; NULL: not in the definition. */
const struct pb_message *pb_message_find(const struct pb_schema *schema, struct reel_bytes name);
const struct pb_field *pb_field_find(const struct pb_message *m, uint32_t number);
const char *pb_enum_name(const struct pb_enum *e, int32_t number, size_t *size); /* NULL: the number has no name */

/* Reads the next field, with groups: wire type PROTO_GROUP, bytes = the group's content. Returns false as proto_next()
 * does. */
enum { PROTO_GROUP = 3, PROTO_GROUP_END = 4 };
bool pb_next(struct cursor *c, struct proto_field *f);

/* known.c: the form of a message whose fields are known; PB_PLAIN: it is no well-known type. */
enum pb_form pb_form_known(const struct pb_message *m);
/* fields.c */
bool pb_fields(const void *schema, reel_field_visit visit, void *context);
/* shape.c */
bool pb_shape(const void *schema, reel_shape_visit visit, void *context);

#endif
