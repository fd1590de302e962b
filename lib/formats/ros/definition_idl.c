/* Reads definitions in OMG IDL: modules, structs, unions, enums, bitmasks, bitsets and typedefs become types; constants
 * are read before (idl_constants.h). What has no values is passed over; anything else is refused. */
#include "formats/ros/definition_idl.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"
#include "formats/ros/idl_types.h"

enum { MODULES_MAX = 16 };

static void idl_done(struct idl *p) {
    idl_constants_free(&p->constants);
    arena_free(&p->arena);
    free(p->nameless);
    free(p->labels);
}

static bool idl_annotations(struct idl *p, struct idl_annotations *out, struct reel_error *err) {
    *out = (struct idl_annotations){0};
    return idl_annotations_read(&p->constants, &p->l, p->scope, out, err);
}

/* ---- structs */

/* Reads `name` or `name[5]` into a step of the last type. */
static bool idl_declarator(struct idl *p, struct idl_type type, const struct idl_annotations *notes,
                           struct reel_error *err) {
    struct reel_bytes name;
    if (!idl_need_name(&p->l, &name, err) || !idl_dimensions(p, &type, err) || !idl_add_member(p, &type, name, err)) {
        return false;
    }
    struct ros_definition *d = p->def;
    struct ros_definition_step *s = &d->steps[d->n_steps - 1];
    const char *unit = arena_utf8(&d->arena, notes->unit.data ? notes->unit : bytes_of("", 0));
    if (!unit) {
        return reel_fail_memory(err);
    }
    s->unit = unit;
    s->optional = notes->optional;
    /* the placeholder in a message without fields */
    s->hidden = s->kind == REEL_U8 && s->many == ROS_ONE && bytes_is(name, "structure_needs_at_least_one_member");
    s->id = notes->has_id ? notes->id
            : notes->hashed || notes->hashes_ids
                ? idl_hashed_id(notes->hashed_name.size > 0 ? notes->hashed_name : name)
                : ROS_NEXT_ID;
    if (notes->non_serialized) {
        d->n_steps--;
        d->types[d->n_types - 1].count--;
    }
    return true;
}

/* Reads `type name, name[5];`. */
static bool idl_member(struct idl *p, const struct idl_annotations *of_type, struct reel_error *err) {
    struct idl_annotations notes;
    struct idl_type type;
    if (!idl_annotations(p, &notes, err) || !idl_type_read(p, &type, err)) {
        return false;
    }
    notes.hashes_ids = of_type->hashes_ids;
    do {
        if (!idl_declarator(p, type, &notes, err)) {
            return false;
        }
    } while (idl_accept(&p->l, ","));
    return idl_need(&p->l, ";", err);
}

static bool idl_base(struct idl *p, struct ros_definition_type *t, struct reel_error *err) {
    char name[ROS_NAME_ROOM];
    if (!ros_type_name(p->l.token, true, name)) {
        return idl_refuse(&p->l, REEL_DAMAGED, "a type is missing", err);
    }
    idl_next(&p->l);
    t->base = arena_text(&p->def->arena, name);
    return t->base || reel_fail_memory(err);
}

static bool idl_struct(struct idl *p, const struct idl_annotations *notes, struct reel_error *err) {
    struct reel_bytes name;
    if (!idl_need_name(&p->l, &name, err)) {
        return false;
    }
    if (idl_is(&p->l, ";")) {
        return true; /* a forward declaration */
    }
    struct ros_definition_type *t = idl_add_type(p, name, ROS_STRUCT, err);
    if (!t) {
        return false;
    }
    t->extensibility = notes->extensibility;
    if ((idl_accept(&p->l, ":") && !idl_base(p, t, err)) || !idl_need(&p->l, "{", err)) {
        return false;
    }
    while (!idl_is(&p->l, "}")) {
        if (p->l.token.size == 0 || !idl_member(p, notes, err)) {
            return p->l.token.size == 0 ? idl_refuse(&p->l, REEL_DAMAGED, "a struct does not end", err) : false;
        }
    }
    idl_next(&p->l);
    return idl_add_nameless(p, err);
}

/* ---- unions */

static bool idl_label(struct idl *p, const char *enum_word, uint32_t step, struct reel_error *err) {
    const struct idl_place place = {.scope = p->scope, .enum_word = enum_word};
    struct ros_label label = {.step = step};
    if (p->all_labels == REEL_DEFINITION_CONSTANTS_MAX) {
        return reel_fail(err, REEL_LIMIT, "a definition of more than %d cases of unions",
                         REEL_DEFINITION_CONSTANTS_MAX);
    }
    if (!idl_expression(&p->constants, &p->l, &place, &label.value, err) || !idl_need(&p->l, ":", err)) {
        return false;
    }
    if (!GROW_ARRAY(p->labels, p->n_labels, p->labels_room)) {
        return reel_fail_memory(err);
    }
    p->labels[p->n_labels++] = label;
    p->all_labels++;
    return true;
}

/* Reads `case A: case 2: default: type name;`. */
static bool idl_case(struct idl *p, const char *enum_word, struct reel_error *err) {
    struct ros_definition_type *t = &p->def->types[p->def->n_types - 1];
    struct idl_annotations notes;
    struct idl_type type;
    uint32_t step = t->count;
    for (bool more = true, first = true; more; first = false) {
        if (idl_accept(&p->l, "default")) {
            t->other = step;
            more = idl_need(&p->l, ":", err);
        } else if (idl_accept(&p->l, "case")) {
            more = idl_label(p, enum_word, step, err);
        } else if (first) {
            return idl_refuse(&p->l, REEL_DAMAGED, "\"case\" is missing", err);
        } else {
            break;
        }
        if (!more) {
            return false;
        }
    }
    if (!idl_annotations(p, &notes, err)) {
        return false;
    }
    if (notes.non_serialized) { /* its labels would select a step that is not there */
        return idl_refuse(&p->l, REEL_UNSUPPORTED, "a case of a union that is not serialized", err);
    }
    return idl_type_read(p, &type, err) && idl_declarator(p, type, &notes, err) && idl_need(&p->l, ";", err);
}

static int idl_by_value(const void *a, const void *b) {
    int64_t x = ((const struct ros_label *)a)->value, y = ((const struct ros_label *)b)->value;
    return (x > y) - (x < y);
}

static bool idl_put_labels(struct idl *p, struct ros_definition_type *t, struct reel_error *err) {
    if (p->n_labels > 1) {
        qsort(p->labels, p->n_labels, sizeof *p->labels, idl_by_value);
    }
    for (size_t i = 1; i < p->n_labels; i++) {
        if (p->labels[i].value == p->labels[i - 1].value) {
            return idl_refuse(&p->l, REEL_DAMAGED, "two cases of a union are equal", err);
        }
    }
    t->labels = arena_copy(&p->def->arena, p->labels, p->n_labels * sizeof *p->labels);
    t->n_labels = (uint32_t)p->n_labels;
    p->n_labels = 0;
    return t->labels || t->n_labels == 0 || reel_fail_memory(err);
}

static bool idl_union(struct idl *p, const struct idl_annotations *notes, struct reel_error *err) {
    struct reel_bytes name;
    struct idl_type on;
    if (!idl_need_name(&p->l, &name, err)) {
        return false;
    }
    if (idl_is(&p->l, ";")) {
        return true; /* a forward declaration */
    }
    struct ros_definition_type *t = idl_add_type(p, name, ROS_UNION, err);
    if (!t) {
        return false;
    }
    t->extensibility = notes->extensibility;
    if (!idl_need(&p->l, "switch", err) || !idl_need(&p->l, "(", err) || !idl_type_read(p, &on, err) ||
        !idl_need(&p->l, ")", err) || !idl_need(&p->l, "{", err) ||
        !idl_add_member(p, &on, bytes_text("discriminator"), err)) {
        return false;
    }
    p->def->steps[p->def->n_steps - 1].hidden = true;
    while (!idl_is(&p->l, "}")) {
        if (p->l.token.size == 0 || !idl_case(p, on.is_named ? on.word : NULL, err)) {
            return p->l.token.size == 0 ? idl_refuse(&p->l, REEL_DAMAGED, "a union does not end", err) : false;
        }
    }
    idl_next(&p->l);
    return idl_put_labels(p, t, err) && idl_add_nameless(p, err);
}

/* ---- aliases and numbers with names */

static bool idl_typedef(struct idl *p, struct reel_error *err) {
    struct idl_type type;
    if (!idl_type_read(p, &type, err)) {
        return false;
    }
    do {
        struct idl_type own = type;
        struct reel_bytes name;
        if (!idl_need_name(&p->l, &name, err) || !idl_add_type(p, name, ROS_ALIAS, err) ||
            !idl_dimensions(p, &own, err) || !idl_add_member(p, &own, name, err) || !idl_add_nameless(p, err)) {
            return false;
        }
    } while (idl_accept(&p->l, ","));
    return true;
}

static uint8_t idl_number_of_bits(uint32_t bits) {
    return bits <= 8 ? REEL_U8 : bits <= 16 ? REEL_U16 : bits <= 32 ? REEL_U32 : REEL_U64;
}

/* An enum or a bitmask: their values matter only if one is negative. */
static bool idl_enum(struct idl *p, const struct idl_annotations *notes, struct reel_error *err) {
    struct reel_bytes name;
    if (!idl_need_name(&p->l, &name, err) || !idl_need(&p->l, "{", err)) {
        return false;
    }
    struct ros_definition_type *t = idl_add_type(p, name, ROS_ENUM, err);
    bool negative = false;
    while (t && p->l.token.size > 0 && !idl_is(&p->l, "}")) {
        struct idl_annotations of_value;
        if (!idl_annotations(p, &of_value, err)) {
            return false;
        }
        negative = negative || of_value.value < 0;
        if (!idl_is(&p->l, "}")) {
            idl_next(&p->l);
        }
    }
    if (!t || !idl_need(&p->l, "}", err)) {
        return false;
    }
    t->number = idl_number_of_bits(notes->bits > 0 ? notes->bits : 32);
    t->number -= negative; /* each type with a sign comes before that without */
    return true;
}

/* Reads `bitfield<3> name;`, `bitfield<3, short>;`. */
static bool idl_bitfield(struct idl *p, uint32_t *bits, struct reel_error *err) {
    const struct idl_place place = {.scope = p->scope, .is_bound = true};
    struct idl_annotations notes;
    struct idl_type type;
    int64_t size = 0;
    if (!idl_annotations(p, &notes, err) || !idl_need(&p->l, "bitfield", err) || !idl_need(&p->l, "<", err) ||
        !idl_expression(&p->constants, &p->l, &place, &size, err) ||
        (idl_accept(&p->l, ",") && !idl_type_read(p, &type, err)) || !idl_need(&p->l, ">", err)) {
        return false;
    }
    if (size < 1 || size > 64 || (*bits += (uint32_t)size) > 64) {
        return idl_refuse(&p->l, REEL_DAMAGED, "a bitset of more than 64 bits", err);
    }
    while (idl_is_word(&p->l) || idl_is(&p->l, ",")) {
        idl_next(&p->l);
    }
    return idl_need(&p->l, ";", err);
}

static bool idl_bitset(struct idl *p, struct reel_error *err) {
    struct reel_bytes name;
    uint32_t bits = 0;
    if (!idl_need_name(&p->l, &name, err) || !idl_need(&p->l, "{", err)) {
        return false;
    }
    struct ros_definition_type *t = idl_add_type(p, name, ROS_ENUM, err);
    while (t && !idl_is(&p->l, "}")) {
        if (!idl_bitfield(p, &bits, err)) {
            return false;
        }
    }
    idl_next(&p->l);
    if (t) {
        t->number = idl_number_of_bits(bits);
    }
    return t;
}

/* ---- declarations */

static bool idl_pass_declaration(struct idl *p) {
    while (p->l.token.size > 0 && !idl_is(&p->l, ";")) {
        if (!idl_is(&p->l, "{")) {
            idl_next(&p->l);
        } else if (!idl_skip_brackets(&p->l)) {
            return true;
        }
    }
    return true;
}

static bool idl_open_module(struct idl *p, struct reel_error *err) {
    struct reel_bytes name;
    if (!idl_need_name(&p->l, &name, err) || !idl_need(&p->l, "{", err)) {
        return false;
    }
    size_t size = strlen(p->scope);
    if (size + 1 + name.size >= sizeof p->scope) {
        return idl_refuse(&p->l, REEL_LIMIT, "the names of modules are too long", err);
    }
    snprintf(p->scope + size, sizeof p->scope - size, "%s%.*s", size > 0 ? "/" : "", (int)name.size,
             (const char *)name.data);
    return true;
}
static void idl_close_module(struct idl *p) {
    char *slash = strrchr(p->scope, '/');
    *(slash ? slash : p->scope) = '\0';
}

/* What begins with a word that is read so far. */
static bool idl_definition(struct idl *p, const struct idl_annotations *notes, struct reel_error *err) {
    static const char *const passed[] = {"const",    "interface", "exception", "native", "valuetype",
                                         "abstract", "local",     "custom",    "typeid", "typeprefix",
                                         "import",   "eventtype", "component"};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        if (idl_is(&p->l, passed[i])) {
            return idl_pass_declaration(p);
        }
    }
    return idl_accept(&p->l, "struct")                                 ? idl_struct(p, notes, err)
           : idl_accept(&p->l, "union")                                ? idl_union(p, notes, err)
           : idl_accept(&p->l, "typedef")                              ? idl_typedef(p, err)
           : idl_accept(&p->l, "enum") || idl_accept(&p->l, "bitmask") ? idl_enum(p, notes, err)
           : idl_accept(&p->l, "bitset")                               ? idl_bitset(p, err)
                                         : idl_refuse(&p->l, REEL_UNSUPPORTED, "this is not read", err);
}

/* Reads one declaration in a file or module; *modules: number of open modules. */
static bool idl_declaration(struct idl *p, uint32_t *modules, struct reel_error *err) {
    struct idl_annotations notes;
    if (!idl_annotations(p, &notes, err)) {
        return false;
    }
    if (idl_accept(&p->l, "module")) {
        return ++*modules > MODULES_MAX ? idl_refuse(&p->l, REEL_LIMIT, "modules nest too deep", err)
                                        : idl_open_module(p, err);
    }
    if (*modules > 0 && idl_accept(&p->l, "}")) {
        --*modules;
        idl_close_module(p);
        return true;
    }
    return idl_accept(&p->l, ";") || p->l.token.size == 0 || idl_definition(p, &notes, err);
}

bool ros_definition_read_idl(struct ros_definition *d, struct reel_bytes text, struct reel_error *err) {
    AUTO_STRUCT(idl_done) struct idl p = {.def = d};
    uint32_t modules = 0;
    p.constants.arena = &p.arena;
    if (!idl_constants_collect(&p.constants, text, err)) {
        return false;
    }
    p.l = idl_lexer_of(text, 1);
    while (p.l.token.size > 0) {
        if (!idl_declaration(&p, &modules, err)) {
            return false;
        }
    }
    return modules == 0 || idl_refuse(&p.l, REEL_DAMAGED, "a module does not end", err);
}
