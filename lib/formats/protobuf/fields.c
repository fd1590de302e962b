/* Lists the fields of a message from its protobuf definition. Singular messages are listed field by field, but a
 * message inside itself is not; a repeated field is one field. */
#include "formats/protobuf/payload.h"

#include <stdio.h>

#include "decode/fields.h"

struct listing {
    reel_field_visit visit;
    void *context;
    uint32_t left; /* fields that may still be visited: nesting can multiply them exponentially */
    const struct pb_message *inside[FIELD_DEPTH_MAX];
    unsigned depth;
    char path[FIELD_PATH_MAX];
};

static const char *protobuf_type_of(const struct pb_field *s) {
    static const char *const names[PB_TYPES] = {
        [PB_DOUBLE] = "double", [PB_FLOAT] = "float",     [PB_INT64] = "int64",       [PB_UINT64] = "uint64",
        [PB_INT32] = "int32",   [PB_FIXED64] = "fixed64", [PB_FIXED32] = "fixed32",   [PB_BOOL] = "bool",
        [PB_STRING] = "string", [PB_GROUP] = "group",     [PB_MESSAGE] = "message",   [PB_BYTES] = "bytes",
        [PB_UINT32] = "uint32", [PB_ENUM] = "enum",       [PB_SFIXED32] = "sfixed32", [PB_SFIXED64] = "sfixed64",
        [PB_SINT32] = "sint32", [PB_SINT64] = "sint64",
    };
    static const char *const forms[] = {
        [PB_ENTRY] = "map",  [PB_TIME] = "time", [PB_DURATION] = "duration", [PB_OBJECT] = "map",
        [PB_LIST] = "any[]", [PB_VALUE] = "any", [PB_MASK] = "string",       [PB_ANY] = "any",
    };
    if (s->message && s->message->form == PB_WRAPPER) {
        return names[s->message->fields->type];
    }
    if (s->message && s->message->form != PB_PLAIN) {
        return forms[s->message->form];
    }
    return s->message ? s->message->name : s->names ? s->names->name : names[s->type];
}
static bool is_numeric(const struct pb_field *of) {
    const struct pb_field *s = of->message && of->message->form == PB_WRAPPER ? of->message->fields : of;
    bool number = s->type != PB_STRING && s->type != PB_BYTES && s->type != PB_MESSAGE && s->type != PB_GROUP &&
                  s->type != PB_ENUM;
    return number && !of->repeated;
}

static bool emit_one(struct listing *l, const struct pb_field *s) {
    char type[FIELD_PATH_MAX];
    bool list = s->repeated && !(s->message && s->message->form == PB_ENTRY);
    snprintf(type, sizeof type, "%s%s", protobuf_type_of(s), list ? "[]" : "");
    return l->visit(l->context,
                    &(struct reel_field){.path = l->path, .type = type, .unit = "", .numeric = is_numeric(s)});
}

static bool can_enter(const struct listing *l, const struct pb_field *s) {
    bool enters = s->message && s->message->form == PB_PLAIN && !s->repeated && l->depth < FIELD_DEPTH_MAX;
    for (unsigned i = 0; enters && i < l->depth; i++) {
        enters = l->inside[i] != s->message;
    }
    return enters;
}

static bool emit_fields(struct listing *l, const struct pb_message *m, size_t length) {
    bool goes_on = true;
    l->inside[l->depth++] = m;
    for (uint32_t i = 0; goes_on && i < m->n && l->left > 0; i++) {
        const struct pb_field *s = &m->fields[i];
        size_t dot = length > 0, size = length + dot + s->name.size;
        l->left--;
        if (size >= sizeof l->path) {
            continue;
        }
        l->path[length] = '.';
        memcpy(l->path + length + dot, s->name.data, s->name.size);
        l->path[size] = '\0';
        goes_on = can_enter(l, s) ? emit_fields(l, s->message, size) : emit_one(l, s);
    }
    l->depth--;
    return goes_on;
}

bool pb_fields(const void *p, reel_field_visit visit, void *context) {
    const struct pb_schema *schema = p;
    struct listing l = {.visit = visit, .context = context, .left = FIELDS_MAX};
    return emit_fields(&l, schema->root, 0);
}
