/* Converts a FileDescriptorSet to tables in two passes: the first collects the names of all messages and enums, the
 * second their fields, so that definitions may refer to each other in any order. Every count is bounded by the bytes,
 * and the memory of all tables has a limit. */
#include "formats/protobuf/payload.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"

#include <stdio.h>

enum { /* field numbers of descriptor.proto */
       SET_FILE = 1,
       FILE_PACKAGE = 2,
       FILE_MESSAGE = 4,
       FILE_ENUM = 5,
       FILE_EXTENSION = 7,
       FILE_OPTIONS = 8,
       FILE_SYNTAX = 12,
       FILE_FEATURES = 50, /* in the file's options */
       MESSAGE_NAME = 1,
       MESSAGE_FIELD = 2,
       MESSAGE_NESTED = 3,
       MESSAGE_ENUM = 4,
       MESSAGE_EXTENSION = 6,
       MESSAGE_OPTIONS = 7,
       OPTIONS_MAP_ENTRY = 7,
       FIELD_NAME = 1,
       FIELD_EXTENDEE = 2,
       FIELD_NUMBER = 3,
       FIELD_LABEL = 4,
       FIELD_TYPE = 5,
       FIELD_TYPE_NAME = 6,
       FIELD_OPTIONS = 8,
       FIELD_ONEOF = 9,
       FIELD_OPTIONAL = 17,
       FIELD_FEATURES = 21, /* in the field's options */
       LABEL_REPEATED = 3,
       FEATURES_PRESENCE = 1,
       PRESENCE_IMPLICIT = 2,
       ENUM_NAME = 1,
       ENUM_VALUE = 2,
       VALUE_NAME = 1,
       VALUE_NUMBER = 2,

       NESTED_MAX = 32,           /* deepest nesting of message definitions */
       NAME_MAX = 512,            /* longest name with its package */
       DEFINITIONS_MAX = 1 << 16, /* most messages, and most enums */
};

/* A message or enum whose name is known, or an extension under the name of the message that it is for. */
struct known {
    const char *name, *shown; /* an extension: in brackets */
    struct reel_bytes body;
    bool implicit; /* plain fields of its file have no presence */
    size_t position;
};
struct reading {
    struct pb_schema *schema;
    struct known *messages, *enums, *extensions;
    size_t n_messages, n_enums, n_extensions, cap_messages, cap_enums, cap_extensions;
    struct reel_error *err;
};
static inline void reel_auto_reading_done(struct reading *r) {
    free(r->messages);
    free(r->enums);
    free(r->extensions);
}

static bool no_room(struct reading *r) {
    return r->schema->arena.no_memory ? reel_fail_memory(r->err)
                                      : reel_fail(r->err, REEL_LIMIT, "the protobuf definition is too large");
}
static bool protobuf_damaged(struct reading *r, const char *what) {
    return reel_fail(r->err, REEL_DAMAGED, "the protobuf definition is damaged: %s", what);
}
static bool protobuf_walked(struct reading *r, const struct cursor *at) {
    return !at->failed || protobuf_damaged(r, "a field does not fit");
}

/* ---- the first walk: names */

struct scope {
    char name[NAME_MAX];
    size_t size;
    bool implicit;
};

static bool is_name(struct reel_bytes name) {
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) {
            return false;
        }
    }
    return name.size > 0;
}

static bool protobuf_schema_enter(struct reading *r, const struct scope *outer, struct reel_bytes name,
                                  struct scope *inner) {
    size_t dot = outer->size > 0;
    if (!is_name(name) || outer->size + dot + name.size >= NAME_MAX) {
        return protobuf_damaged(r, "a name that is none, or is too long");
    }
    memcpy(inner->name, outer->name, outer->size);
    inner->name[outer->size] = '.';
    memcpy(inner->name + outer->size + dot, name.data, name.size);
    inner->size = outer->size + dot + name.size;
    inner->name[inner->size] = '\0';
    inner->implicit = outer->implicit;
    return true;
}

static struct reel_bytes find_bytes(struct reel_bytes in, uint32_t number) {
    struct cursor at = cursor_of(in);
    struct proto_field f;
    struct reel_bytes found = bytes_of("", 0);
    while (pb_next(&at, &f)) {
        found = proto_is(&f, number, PROTO_BYTES) ? f.bytes : found;
    }
    return found;
}
static uint64_t find_number(struct reel_bytes in, uint32_t number) {
    struct cursor at = cursor_of(in);
    struct proto_field f;
    uint64_t found = 0;
    while (pb_next(&at, &f)) {
        found = proto_is(&f, number, PROTO_VARINT) ? f.value : found;
    }
    return found;
}

/* With a NUL; a leading dot is left out. NULL: it is no name. */
static const char *bare_name(struct reel_bytes raw, char room[NAME_MAX + 1]) {
    if (raw.size == 0 || raw.size > NAME_MAX || memchr(raw.data, 0, raw.size)) {
        return NULL;
    }
    memcpy(room, raw.data, raw.size);
    room[raw.size] = '\0';
    return room + (room[0] == '.');
}

static bool add_known(struct reading *r, const struct scope *scope, struct reel_bytes body, bool is_enum) {
    size_t *n = is_enum ? &r->n_enums : &r->n_messages;
    if (*n == DEFINITIONS_MAX) {
        return no_room(r);
    }
    if (!(is_enum ? GROW_ARRAY(r->enums, r->n_enums, r->cap_enums)
                  : GROW_ARRAY(r->messages, r->n_messages, r->cap_messages))) {
        return reel_fail_memory(r->err);
    }
    struct known *k = &(is_enum ? r->enums : r->messages)[*n];
    *k = (struct known){
        .name = arena_text(&r->schema->arena, scope->name), .body = body, .implicit = scope->implicit, .position = *n};
    ++*n;
    return k->name || no_room(r);
}

static bool collect_enum(struct reading *r, const struct scope *outer, struct reel_bytes body) {
    struct scope scope;
    return protobuf_schema_enter(r, outer, find_bytes(body, ENUM_NAME), &scope) && add_known(r, &scope, body, true);
}

static bool collect_extension(struct reading *r, const struct scope *outer, struct reel_bytes body) {
    struct scope scope;
    char shown[NAME_MAX + 2], room[NAME_MAX + 1];
    const char *extendee = bare_name(find_bytes(body, FIELD_EXTENDEE), room);
    if (!extendee || !protobuf_schema_enter(r, outer, find_bytes(body, FIELD_NAME), &scope)) {
        return extendee ? false : protobuf_damaged(r, "an extension of nothing");
    }
    if (r->n_extensions == DEFINITIONS_MAX) {
        return no_room(r);
    }
    if (!GROW_ARRAY(r->extensions, r->n_extensions, r->cap_extensions)) {
        return reel_fail_memory(r->err);
    }
    snprintf(shown, sizeof shown, "[%s]", scope.name);
    struct known *k = &r->extensions[r->n_extensions];
    *k = (struct known){.name = arena_text(&r->schema->arena, extendee),
                        .shown = arena_text(&r->schema->arena, shown),
                        .body = body,
                        .position = r->n_extensions++};
    return (k->name && k->shown) || no_room(r);
}

static bool collect_message(struct reading *r, const struct scope *outer, struct reel_bytes body, unsigned depth) {
    struct scope scope;
    struct cursor at = cursor_of(body);
    struct proto_field f;
    if (depth == 0) {
        return reel_fail(r->err, REEL_LIMIT, "the protobuf definition nests messages too deeply");
    }
    bool good =
        protobuf_schema_enter(r, outer, find_bytes(body, MESSAGE_NAME), &scope) && add_known(r, &scope, body, false);
    while (good && pb_next(&at, &f)) {
        if (proto_is(&f, MESSAGE_NESTED, PROTO_BYTES)) {
            good = collect_message(r, &scope, f.bytes, depth - 1);
        } else if (proto_is(&f, MESSAGE_ENUM, PROTO_BYTES)) {
            good = collect_enum(r, &scope, f.bytes);
        } else if (proto_is(&f, MESSAGE_EXTENSION, PROTO_BYTES)) {
            good = collect_extension(r, &scope, f.bytes);
        }
    }
    return good && protobuf_walked(r, &at);
}

static bool collect_file(struct reading *r, struct reel_bytes file) {
    struct reel_bytes syntax = find_bytes(file, FILE_SYNTAX),
                      features = find_bytes(find_bytes(file, FILE_OPTIONS), FILE_FEATURES);
    struct scope none = {.implicit = bytes_is(syntax, "proto3") ||
                                     find_number(features, FEATURES_PRESENCE) == PRESENCE_IMPLICIT},
                 scope = none;
    struct reel_bytes package = find_bytes(file, FILE_PACKAGE);
    bool good = package.size == 0 || protobuf_schema_enter(r, &none, package, &scope);
    struct cursor at = cursor_of(file);
    struct proto_field f;
    while (good && pb_next(&at, &f)) {
        if (proto_is(&f, FILE_MESSAGE, PROTO_BYTES)) {
            good = collect_message(r, &scope, f.bytes, NESTED_MAX);
        } else if (proto_is(&f, FILE_ENUM, PROTO_BYTES)) {
            good = collect_enum(r, &scope, f.bytes);
        } else if (proto_is(&f, FILE_EXTENSION, PROTO_BYTES)) {
            good = collect_extension(r, &scope, f.bytes);
        }
    }
    return good && protobuf_walked(r, &at);
}

/* ---- the second walk: fields and values */

static int protobuf_schema_by_name(const void *a, const void *b) {
    const struct known *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->position > y->position) - (x->position < y->position);
}
static int by_field_number(const void *a, const void *b) {
    const struct pb_field *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number) : x->extension - y->extension;
}
static int by_value(const void *a, const void *b) {
    const struct pb_value *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->name.data > y->name.data) - (x->name.data < y->name.data);
}

/* Sorts definitions and removes duplicates: the first of one name counts. Merged sets have them. */
static void sort_unique(struct known *known, size_t *n) {
    size_t kept = 0;
    if (*n > 0) {
        qsort(known, *n, sizeof *known, protobuf_schema_by_name);
    }
    for (size_t i = 0; i < *n; i++) {
        if (kept == 0 || strcmp(known[kept - 1].name, known[i].name) != 0) {
            known[kept++] = known[i];
        }
    }
    *n = kept;
}

static size_t protobuf_count_in(struct reel_bytes body, uint32_t number) {
    struct cursor at = cursor_of(body);
    struct proto_field f;
    size_t n = 0;
    while (pb_next(&at, &f)) {
        n += proto_is(&f, number, PROTO_BYTES);
    }
    return n;
}

static int compare_message(const void *name, const void *message) {
    return strcmp(name, ((const struct pb_message *)message)->name);
}
static int compare_enum(const void *name, const void *e) {
    return strcmp(name, ((const struct pb_enum *)e)->name);
}
static const struct pb_enum *find_enum(const struct pb_schema *s, const char *name) {
    return s->n_enums > 0 ? bsearch(name, s->enums, s->n_enums, sizeof *s->enums, compare_enum) : NULL;
}

const struct pb_message *pb_message_find(const struct pb_schema *s, struct reel_bytes name) {
    char room[NAME_MAX + 1];
    const char *bare = bare_name(name, room);
    return bare && s->n_messages > 0 ? bsearch(bare, s->messages, s->n_messages, sizeof *s->messages, compare_message)
                                     : NULL;
}

static void link_field(const struct pb_schema *s, struct pb_field *field, struct reel_bytes type_name) {
    char room[NAME_MAX + 1];
    const char *bare = bare_name(type_name, room);
    if (!bare) {
        return;
    }
    bool message = field->type == PB_MESSAGE || field->type == PB_GROUP || field->type == 0;
    field->message = message ? pb_message_find(s, type_name) : NULL;
    field->names = field->type == PB_ENUM || field->type == 0 ? find_enum(s, bare) : NULL;
    field->type = field->type != 0 ? field->type : field->message ? PB_MESSAGE : field->names ? PB_ENUM : 0;
}

static bool protobuf_read_field(struct reading *r, const struct known *of, struct reel_bytes body,
                                struct pb_field *field) {
    struct cursor at = cursor_of(body);
    struct proto_field f;
    struct reel_bytes type_name = bytes_of("", 0), options = type_name;
    uint64_t number = 0, type = 0, oneof = 0;
    bool alone = false; /* the only member of its oneof: that is how proto3 writes "optional" */
    *field = (struct pb_field){.name = type_name};
    while (pb_next(&at, &f)) {
        field->name = proto_is(&f, FIELD_NAME, PROTO_BYTES) ? f.bytes : field->name;
        type_name = proto_is(&f, FIELD_TYPE_NAME, PROTO_BYTES) ? f.bytes : type_name;
        options = proto_is(&f, FIELD_OPTIONS, PROTO_BYTES) ? f.bytes : options;
        number = proto_is(&f, FIELD_NUMBER, PROTO_VARINT) ? f.value : number;
        type = proto_is(&f, FIELD_TYPE, PROTO_VARINT) ? f.value : type;
        field->repeated |= proto_is(&f, FIELD_LABEL, PROTO_VARINT) && f.value == LABEL_REPEATED;
        oneof = proto_is(&f, FIELD_ONEOF, PROTO_VARINT) ? (f.value & INT32_MAX) + 1 : oneof;
        alone |= proto_is(&f, FIELD_OPTIONAL, PROTO_VARINT) && f.value != 0;
    }
    if (!protobuf_walked(r, &at)) {
        return false;
    }
    if (number == 0 || number > PROTO_NUMBER_MAX || type >= PB_TYPES || !is_name(field->name)) {
        return protobuf_damaged(r, "a field has no name, number or type");
    }
    field->number = (uint32_t)number;
    field->type = (enum pb_type)type;
    link_field(r->schema, field, type_name);
    uint64_t presence = find_number(find_bytes(options, FIELD_FEATURES), FEATURES_PRESENCE);
    bool implicit = presence != 0 ? presence == PRESENCE_IMPLICIT : of->implicit;
    field->oneof = alone || field->repeated ? 0 : (uint32_t)oneof;
    field->implicit =
        implicit && oneof == 0 && !field->repeated && field->type != PB_MESSAGE && field->type != PB_GROUP;
    return field->type != 0 || protobuf_damaged(r, "a field has no type");
}

/* The extensions of one message are adjacent. */
static const struct known *first_extension(const struct reading *r, const char *message) {
    size_t low = 0, high = r->n_extensions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(r->extensions[middle].name, message) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return r->extensions ? r->extensions + low : NULL;
}
static bool extends(const struct reading *r, const struct known *k, const char *message) {
    return k && k < r->extensions + r->n_extensions && strcmp(k->name, message) == 0;
}

/* Of the fields of one number the first stays; an extension may be there twice. */
static bool sort_fields(struct reading *r, struct pb_field *fields, size_t *n) {
    size_t kept = *n > 0;
    qsort(fields, *n, sizeof *fields, by_field_number);
    for (size_t i = 1; i < *n; i++) {
        if (fields[i].number != fields[kept - 1].number) {
            fields[kept++] = fields[i];
        } else if (!fields[i].extension) {
            return protobuf_damaged(r, "two fields of one message have one number");
        }
    }
    *n = kept;
    return true;
}

static bool protobuf_read_message(struct reading *r, const struct known *of, struct pb_message *m) {
    size_t own = protobuf_count_in(of->body, MESSAGE_FIELD), n = own, at_field = 0;
    const struct known *first = first_extension(r, of->name);
    for (const struct known *k = first; extends(r, k, of->name); k++) {
        n++;
    }
    struct pb_field *fields = arena_alloc(&r->schema->arena, n * sizeof *fields);
    struct cursor at = cursor_of(of->body);
    struct proto_field f;
    if (!fields) {
        return no_room(r);
    }
    while (at_field < own && pb_next(&at, &f)) {
        if (proto_is(&f, MESSAGE_FIELD, PROTO_BYTES) && !protobuf_read_field(r, of, f.bytes, &fields[at_field++])) {
            return reel_error_at(r->err, "%.128s", of->name);
        }
    }
    for (const struct known *k = first; at_field < n; k++, at_field++) {
        if (!protobuf_read_field(r, k, k->body, &fields[at_field])) {
            return reel_error_at(r->err, "%.128s", of->name);
        }
        fields[at_field].name = bytes_text(k->shown);
        fields[at_field].extension = true;
    }
    if (!sort_fields(r, fields, &n)) {
        return false;
    }
    m->fields = fields;
    m->n = (uint32_t)n;
    bool entry = find_number(find_bytes(of->body, MESSAGE_OPTIONS), OPTIONS_MAP_ENTRY) != 0;
    m->form = entry ? PB_ENTRY : pb_form_known(m);
    return true;
}

static bool read_enum(struct reading *r, const struct known *of, struct pb_enum *e) {
    size_t n = protobuf_count_in(of->body, ENUM_VALUE), at_value = 0;
    struct pb_value *values = arena_alloc(&r->schema->arena, n * sizeof *values);
    struct cursor at = cursor_of(of->body);
    struct proto_field f;
    if (!values) {
        return no_room(r);
    }
    while (at_value < n && pb_next(&at, &f)) {
        if (proto_is(&f, ENUM_VALUE, PROTO_BYTES)) {
            values[at_value++] = (struct pb_value){.number = (int32_t)find_number(f.bytes, VALUE_NUMBER),
                                                   .name = find_bytes(f.bytes, VALUE_NAME)};
        }
    }
    qsort(values, n, sizeof *values, by_value);
    e->values = values;
    e->n = (uint32_t)n;
    return true;
}

static bool read_tables(struct reading *r) {
    struct pb_schema *s = r->schema;
    sort_unique(r->messages, &r->n_messages);
    sort_unique(r->enums, &r->n_enums);
    if (r->n_extensions > 0) {
        qsort(r->extensions, r->n_extensions, sizeof *r->extensions, protobuf_schema_by_name);
    }
    s->messages = arena_alloc(&s->arena, r->n_messages * sizeof *s->messages);
    s->enums = arena_alloc(&s->arena, r->n_enums * sizeof *s->enums);
    if (!s->messages || !s->enums) {
        return no_room(r);
    }
    for (; s->n_messages < r->n_messages; s->n_messages++) {
        s->messages[s->n_messages].name = r->messages[s->n_messages].name;
    }
    for (; s->n_enums < r->n_enums; s->n_enums++) {
        s->enums[s->n_enums].name = r->enums[s->n_enums].name;
    }
    for (size_t i = 0; i < r->n_enums; i++) {
        if (!read_enum(r, &r->enums[i], &s->enums[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < r->n_messages; i++) {
        if (!protobuf_read_message(r, &r->messages[i], &s->messages[i])) {
            return false;
        }
    }
    return true;
}

bool pb_schema_read(struct pb_schema *schema, struct reel_bytes set, const char *name, struct reel_error *err) {
    AUTO(reading_done) struct reading r = {.schema = schema, .err = err};
    schema->arena.max = REEL_DEFINITION_TABLES_MAX;
    struct cursor at = cursor_of(set);
    struct proto_field f;
    while (pb_next(&at, &f)) {
        if (proto_is(&f, SET_FILE, PROTO_BYTES) && !collect_file(&r, f.bytes)) {
            return false;
        }
    }
    if (!protobuf_walked(&r, &at) || !read_tables(&r)) {
        return false;
    }
    schema->root = pb_message_find(schema, bytes_text(name));
    return schema->root || reel_fail(err, REEL_DAMAGED, "the protobuf definition has no message \"%.128s\"", name);
}

/* ---- finding */

static int by_number(const void *key, const void *field) {
    uint32_t x = *(const uint32_t *)key, y = ((const struct pb_field *)field)->number;
    return (x > y) - (x < y);
}

const struct pb_field *pb_field_find(const struct pb_message *m, uint32_t number) {
    return m->n > 0 ? bsearch(&number, m->fields, m->n, sizeof *m->fields, by_number) : NULL;
}

const char *pb_enum_name(const struct pb_enum *e, int32_t number, size_t *size) {
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->values[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == e->n || e->values[low].number != number) {
        return NULL;
    }
    *size = e->values[low].name.size;
    return (const char *)e->values[low].name.data;
}
