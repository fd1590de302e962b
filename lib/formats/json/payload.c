/* Decodes JSON payloads, and lists the fields of a JSON Schema. Decoding never uses the schema. Of the schema only
 * properties, items and type are read; from one that is damaged or has other keywords, fewer fields are listed. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "decode/encoding.h"
#include "decode/fields.h"
#include "syntax/json_parse.h"

#include <stdio.h>

enum { TYPE_ROOM = 24, FIELDS_MEMORY_MAX = 16 << 20 };

struct json_state {
    struct arena arena;
    struct reel_field *fields;
    uint32_t n;
};

/* ---- the schema, decoded as values */

enum level_kind {
    LEVEL_OTHER,
    LEVEL_SCHEMA,     /* the schema of one value; its keys are "type", "properties", "items" … */
    LEVEL_PROPERTIES, /* its keys are field names */
    LEVEL_ITEMS,      /* the schema of the items of a list */
    LEVEL_TYPES,      /* a list of types: the first that is not null counts */
};
struct level {
    enum level_kind kind;
    bool has_properties;
    uint32_t length;      /* length of the path */
    char type[TYPE_ROOM]; /* "" = unknown; for a list with the type of its items: "number[]" */
};
struct schema_reader {
    struct reel_visitor visitor; /* must be first: it is cast to this struct */
    struct json_state *state;
    unsigned depth;
    enum level_kind next; /* kind of a map or list that begins here */
    bool type_key;
    struct level levels[REEL_DEPTH_MAX + 2]; /* with one more below the deepest level */
    char path[FIELD_PATH_MAX];
};

static struct schema_reader *json_self(struct reel_visitor *v) {
    return (struct schema_reader *)v;
}
static struct level *top(struct schema_reader *r) {
    return &r->levels[r->depth];
}
static bool is_schema(const struct level *l) {
    return l->kind == LEVEL_SCHEMA || l->kind == LEVEL_ITEMS;
}

/* Appends a property's name to its schema's path; 0: too long, and then it is left out. */
static uint32_t extend_path(struct schema_reader *r, const struct level *outer, struct reel_bytes name) {
    size_t dot = outer->length > 0;
    if (name.size == 0 || outer->length + dot + name.size >= FIELD_PATH_MAX || memchr(name.data, 0, name.size)) {
        return 0;
    }
    r->path[outer->length] = '.';
    memcpy(r->path + outer->length + dot, name.data, name.size);
    return (uint32_t)(outer->length + dot + name.size);
}

static bool schema_key(struct reel_visitor *v, struct reel_bytes name) {
    struct schema_reader *r = json_self(v);
    struct level *l = top(r);
    r->next = LEVEL_OTHER;
    r->type_key = is_schema(l) && bytes_is(name, "type");
    if (l->kind == LEVEL_PROPERTIES) {
        uint32_t length = extend_path(r, l, name);
        r->levels[r->depth + 1].length = length;
        r->next = length > 0 ? LEVEL_SCHEMA : LEVEL_OTHER;
    } else if (l->kind == LEVEL_SCHEMA && bytes_is(name, "properties")) {
        l->has_properties = true;
        r->levels[r->depth + 1].length = l->length;
        r->next = LEVEL_PROPERTIES;
    } else if (l->kind == LEVEL_SCHEMA && bytes_is(name, "items")) {
        r->next = LEVEL_ITEMS;
    }
    return true;
}

static void json_begin(struct schema_reader *r, enum level_kind kind) {
    uint32_t length = r->levels[++r->depth].length;
    *top(r) = (struct level){.kind = kind, .length = length};
    r->next = LEVEL_OTHER;
    r->type_key = false;
}
static bool schema_begin_map(struct reel_visitor *v) {
    struct schema_reader *r = json_self(v);
    json_begin(r, r->depth == 0 ? LEVEL_SCHEMA : r->next);
    return true;
}
static bool schema_begin_list(struct reel_visitor *v) {
    struct schema_reader *r = json_self(v);
    json_begin(r, r->type_key ? LEVEL_TYPES : LEVEL_OTHER);
    return true;
}

/* Keeps the first type found: that of a list's items is not replaced. */
static void set_type(struct level *l, struct reel_bytes type) {
    if (l->type[0] == '\0' && type.size > 0 && type.size < TYPE_ROOM - 3 && !bytes_is(type, "null")) {
        memcpy(l->type, type.data, type.size);
    }
}
static bool schema_text(struct reel_visitor *v, struct reel_bytes text) {
    struct schema_reader *r = json_self(v);
    if (r->type_key) {
        set_type(top(r), text);
    } else if (top(r)->kind == LEVEL_TYPES) {
        set_type(&r->levels[r->depth - 1], text);
    }
    r->type_key = false;
    return true;
}
static bool schema_end_list(struct reel_visitor *v) {
    json_self(v)->depth--;
    return true;
}

static bool json_add_field(struct schema_reader *r, const struct level *l) {
    struct json_state *s = r->state;
    bool numeric = strcmp(l->type, "number") == 0 || strcmp(l->type, "integer") == 0 || strcmp(l->type, "boolean") == 0;
    const char *path = arena_utf8(&s->arena, bytes_of(r->path, l->length));
    const char *type = arena_utf8(&s->arena, bytes_text(l->type[0] ? l->type : "any"));
    if (s->n == FIELDS_MAX || !path || !type) {
        return false;
    }
    s->fields[s->n++] = (struct reel_field){.path = path, .type = type, .unit = "", .numeric = numeric};
    return true;
}

static bool schema_end_map(struct reel_visitor *v) {
    struct schema_reader *r = json_self(v);
    struct level *l = top(r), *outer = &r->levels[--r->depth];
    if (l->kind == LEVEL_ITEMS) {
        snprintf(outer->type, sizeof outer->type, "%.*s[]", TYPE_ROOM - 3, l->type[0] ? l->type : "any");
    }
    return l->kind != LEVEL_SCHEMA || l->length == 0 || l->has_properties || json_add_field(r, l);
}

static const struct reel_visitor_ops schema_ops = {
    .begin_map = schema_begin_map,
    .key = schema_key,
    .end_map = schema_end_map,
    .begin_list = schema_begin_list,
    .end_list = schema_end_list,
    .text = schema_text,
};

static bool json_read_schema(struct json_state *state, struct reel_bytes text, struct reel_error *err) {
    AUTO_MEM struct schema_reader *r = calloc(1, sizeof *r);
    state->arena.max = FIELDS_MEMORY_MAX;
    state->fields = calloc(FIELDS_MAX, sizeof *state->fields);
    if (!r || !state->fields) {
        return reel_fail_memory(err);
    }
    struct reel_error ignored = {0};
    r->visitor.ops = &schema_ops;
    r->state = state;
    json_parse(text, &r->visitor, &ignored);
    return (!state->arena.no_memory && ignored.code != REEL_NO_MEMORY) || reel_fail_memory(err);
}

/* ---- the encoding */

static void json_close(void *p) {
    struct json_state *state = p;
    if (state) {
        arena_free(&state->arena);
        free(state->fields);
        free(state);
    }
}

static bool json_open(const struct reel_channel *channel, void **out, struct reel_error *err) {
    struct json_state *state = calloc(1, sizeof *state);
    if (!state) {
        return reel_fail_memory(err);
    }
    const struct reel_schema *schema = reel_channel_schema(channel);
    if (schema && strcmp(schema->encoding, "jsonschema") == 0 && !json_read_schema(state, schema->data, err)) {
        json_close(state);
        return false;
    }
    *out = state;
    return true;
}

static bool json_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    (void)state;
    return json_parse(payload, v, err);
}

static bool json_fields(const void *p, reel_field_visit visit, void *context) {
    const struct json_state *state = p;
    for (uint32_t i = 0; i < state->n; i++) {
        if (!visit(context, &state->fields[i])) {
            return false;
        }
    }
    return true;
}

const struct reel_encoding reel_encoding_json = {
    .name = "json",
    .open = json_open,
    .close = json_close,
    .decode = json_decode,
    .fields = json_fields,
    .schema_encoding = "jsonschema",
    .languages = (const char *const[]){"json", NULL},
    .is_map = true,
    .is_viewable = true,
    .version = 2,
};
