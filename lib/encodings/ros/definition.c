/* See ros_definition.h: opening a channel's definition, its parts, its fields, and what can be wrong with a payload. */
#include "encodings/ros/definition.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "wire/bytes.h"
#include "wire/cleanup.h"
#include "wire/grow.h"
#include "wire/limits.h"

/* ---- parts */

bool ros_definition_name(struct reel_bytes name, bool whole, char out[MSGDEF_NAME_ROOM]) {
    size_t size = 0, first = 0, last = 0; /* ends of the first part, and where the last begins */
    for (size_t i = 0; i < name.size; i++) {
        char c = (char)name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        bool colons = c == ':' && i + 1 < name.size && name.data[i + 1] == ':';
        if (!letter && !colons && c != '/') {
            return false;
        }
        i += colons;
        if (!letter && size == 0) {
            continue; /* "/a/B" and "::a::B" begin at the root, like all others */
        }
        if (size >= MSGDEF_NAME_ROOM - 1) {
            return false;
        }
        if (!letter) {
            first = first ? first : size;
            last = size;
        }
        out[size++] = letter ? c : '/';
    }
    if (!whole && last > first) {
        memmove(out + first, out + last, size - last);
        size -= last - first;
    }
    out[size] = '\0';
    return size > 0 && out[size - 1] != '/';
}

struct ros_definition_type *ros_definition_add_type(struct ros_definition *d, struct reel_bytes name, struct reel_error *err) {
    if (d->n_types >= REEL_DEFINITION_TYPES_MAX) {
        reel_fail(err, REEL_LIMIT, "a definition of more than %d types", REEL_DEFINITION_TYPES_MAX);
        return NULL;
    }
    if (name.size >= MSGDEF_NAME_ROOM) {
        reel_fail(err, REEL_LIMIT, "the name of a type is %zu bytes long", name.size);
        return NULL;
    }
    char *text = arena_alloc(&d->arena, name.size + 1);
    if (!text || !GROW_ARRAY(d->types, d->n_types, d->types_room)) {
        reel_fail_memory(err);
        return NULL;
    }
    memcpy(text, name.data, name.size);
    d->types[d->n_types] = (struct ros_definition_type){.name = text, .first = (uint32_t)d->n_steps};
    return &d->types[d->n_types++];
}

struct ros_definition_step *ros_definition_add_step(struct ros_definition *d, struct reel_bytes name, struct reel_error *err) {
    if (d->n_steps >= REEL_DEFINITION_FIELDS_MAX) {
        reel_fail(err, REEL_LIMIT, "a definition of more than %d fields", REEL_DEFINITION_FIELDS_MAX);
        return NULL;
    }
    if (name.size >= MSGDEF_NAME_ROOM) {
        reel_fail(err, REEL_LIMIT, "the name of a field is %zu bytes long", name.size);
        return NULL;
    }
    const uint8_t *key = arena_copy(&d->arena, name.data, name.size);
    if (!key || !GROW_ARRAY(d->steps, d->n_steps, d->steps_room)) {
        reel_fail_memory(err);
        return NULL;
    }
    d->types[d->n_types - 1].count++;
    d->steps[d->n_steps] = (struct ros_definition_step){.key = bytes_of(key, name.size), .word = "", .unit = ""};
    return &d->steps[d->n_steps++];
}

bool ros_definition_set_word(struct ros_definition *d, struct ros_definition_step *step, struct reel_bytes word, struct reel_error *err) {
    static const struct {
        const char *word;
        uint8_t ros1, ros2;
    } known[] = {{"bool", REEL_BOOL, REEL_BOOL},
                 {"int8", REEL_I8, REEL_I8},
                 {"uint8", REEL_U8, REEL_U8},
                 {"int16", REEL_I16, REEL_I16},
                 {"uint16", REEL_U16, REEL_U16},
                 {"int32", REEL_I32, REEL_I32},
                 {"uint32", REEL_U32, REEL_U32},
                 {"int64", REEL_I64, REEL_I64},
                 {"uint64", REEL_U64, REEL_U64},
                 {"float32", REEL_F32, REEL_F32},
                 {"float64", REEL_F64, REEL_F64},
                 {"byte", REEL_I8, REEL_U8},
                 {"char", REEL_U8, REEL_U8},
                 {"string", MSGDEF_TEXT, MSGDEF_TEXT},
                 {"time", MSGDEF_TIME, MSGDEF_TYPE},
                 {"duration", MSGDEF_DURATION, MSGDEF_TYPE},
                 {"wstring", MSGDEF_TYPE, MSGDEF_WIDE_TEXT}};
    step->kind = MSGDEF_TYPE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (bytes_is(word, known[i].word)) {
            step->word = known[i].word;
            step->kind = d->dialect == MSGDEF_ROS1 ? known[i].ros1 : known[i].ros2;
        }
    }
    if (step->kind == MSGDEF_TYPE && d->dialect == MSGDEF_ROS2 && (bytes_is(word, "time") || bytes_is(word, "duration"))) {
        step->word = bytes_is(word, "time") ? "builtin_interfaces/Time" : "builtin_interfaces/Duration";
    } else if (step->kind == MSGDEF_TYPE) {
        char *text = arena_alloc(&d->arena, word.size + 1);
        if (!text) {
            return reel_fail_memory(err);
        }
        memcpy(text, word.data, word.size);
        step->word = text;
    }
    return true;
}

/* ---- opening */

/* What recorders leave out of definitions because everybody knows it. Behind the recording's own types, which are found first. */
static bool add_known(struct ros_definition *d, bool whole_names, struct reel_error *err) {
    static const char ros1[] = "uint32 seq\ntime stamp\nstring frame_id\n";
    static const char time[] = "int32 sec\nuint32 nanosec\n";
    if (d->dialect == MSGDEF_ROS1) {
        return ros_definition_read_text(d, "std_msgs/Header", false, bytes_text(ros1), err);
    }
    return ros_definition_read_text(d, "builtin_interfaces/msg/Time", whole_names, bytes_text(time), err) &&
           ros_definition_read_text(d, "builtin_interfaces/msg/Duration", whole_names, bytes_text(time), err);
}

/* A definition without a field and one that is missing look alike. */
static bool is_there(const struct reel_schema *s, const char *type) {
    static const char md5_of_nothing[] = "d41d8cd98f00b204e9800998ecf8427e";
    return s->data.size > 0 || strcmp(s->hash, md5_of_nothing) == 0 || strcmp(type, "std_msgs/Empty") == 0 ||
           strcmp(type, "std_msgs/msg/Empty") == 0;
}

/* The languages are told by the schema's encoding; TIDE files have it in words of their own. */
static bool choose(enum ros_definition_dialect dialect, const struct reel_schema *s, bool *idl, struct reel_error *err) {
    *idl = dialect == MSGDEF_ROS2 && (strcasestr(s->encoding, "idl") != NULL);
    bool ros2 = strncasecmp(s->encoding, "ros2", 4) == 0, ros = strncasecmp(s->encoding, "ros", 3) == 0;
    if (s->encoding[0] != '\0' && !*idl && (dialect == MSGDEF_ROS1 ? !ros || ros2 : !ros2)) {
        return reel_fail(err, REEL_UNSUPPORTED, "definitions in \"%.64s\" are not read for this encoding", s->encoding);
    }
    return true;
}

struct ros_definition *ros_definition_open(const struct reel_channel *channel, enum ros_definition_dialect dialect,
                                           struct reel_error *err) {
    const struct reel_schema *s = channel->n_schemas > 0 ? &channel->schemas[channel->n_schemas - 1] : NULL;
    const char *top = s && s->name[0] ? s->name : channel->type;
    bool idl;
    if (!s || !is_there(s, top)) {
        reel_fail(err, REEL_UNSUPPORTED, "the recording holds no definition of %.128s", top[0] ? top : "its messages");
        return NULL;
    }
    if (s->data.size > REEL_SCHEMA_MAX) {
        reel_fail(err, REEL_LIMIT, "a definition of %zu bytes", s->data.size);
        return NULL;
    }
    if (!choose(dialect, s, &idl, err)) {
        return NULL;
    }
    AUTO(ros_definition_free) struct ros_definition *d = calloc(1, sizeof *d);
    if (!d) {
        reel_fail_memory(err);
        return NULL;
    }
    d->dialect = dialect;
    bool read = idl ? ros_definition_read_idl(d, s->data, err) : ros_definition_read_text(d, top, false, s->data, err);
    if (!read || !add_known(d, idl, err) || !ros_definition_link(d, top, err)) {
        reel_error_at(err, "definition of %.128s", top);
        return NULL;
    }
    return TAKE(d);
}

void ros_definition_free(struct ros_definition *d) {
    if (d) {
        arena_free(&d->arena);
        free(d->types);
        free(d->steps);
        free(d);
    }
}

/* ---- fields */

enum {
    SPREAD_MAX = 64,     /* arrays up to this length are told place by place */
    LOOKS_MAX = 1 << 16, /* fields, and types on the way to them */
    PATH_ROOM = 1024,
};
struct telling {
    const struct ros_definition *def;
    reel_field_visit visit;
    void *context;
    uint32_t looks;
    char path[PATH_ROOM];
};

static bool tell_type(struct telling *t, uint32_t type, size_t length);

static bool tell_field(struct telling *t, const struct ros_definition_step *s, bool one) {
    char word[MSGDEF_NAME_ROOM + 16];
    if (one || s->many == MSGDEF_ONE) {
        snprintf(word, sizeof word, "%s", s->word);
    } else if (s->many == MSGDEF_ARRAY) {
        snprintf(word, sizeof word, "%s[%u]", s->word, s->count);
    } else {
        snprintf(word, sizeof word, "%s[]", s->word);
    }
    const struct reel_field f = {
        .path = t->path, .type = word, .unit = s->unit, .numeric = (one || s->many == MSGDEF_ONE) && ros_definition_is_number(s)};
    return t->visit(t->context, &f);
}

/* A path that gets too long is left out. */
static bool tell_step(struct telling *t, const struct ros_definition_step *s, size_t length) {
    size_t dot = length > 0;
    if (length + dot + s->key.size + 16 >= PATH_ROOM) {
        return true;
    }
    if (dot) {
        t->path[length] = '.';
    }
    memcpy(t->path + length + dot, s->key.data, s->key.size);
    length += dot + s->key.size;
    t->path[length] = '\0';
    bool spread = s->many == MSGDEF_ARRAY && s->count <= SPREAD_MAX && s->kind != REEL_U8, inside = s->kind == MSGDEF_TYPE;
    if (!spread) {
        return s->many == MSGDEF_ONE && inside ? tell_type(t, s->type, length) : tell_field(t, s, false);
    }
    for (uint32_t i = 0; i < s->count && t->looks < LOOKS_MAX; i++) {
        size_t place = length + (size_t)sprintf(t->path + length, ".%u", i);
        t->looks++;
        if (!(inside ? tell_type(t, s->type, place) : tell_field(t, s, true))) {
            return false;
        }
    }
    return true;
}

static bool tell_type(struct telling *t, uint32_t type, size_t length) {
    const struct ros_definition_type *of = &t->def->types[type];
    for (uint32_t i = 0; i < of->count && t->looks < LOOKS_MAX; i++) {
        const struct ros_definition_step *s = &t->def->steps[of->first + i];
        t->looks++;
        if (!s->hidden && !tell_step(t, s, length)) {
            return false;
        }
    }
    return true;
}

bool ros_definition_fields(const void *state, reel_field_visit visit, void *context) {
    const struct ros_definition *d = state;
    struct telling t = {.def = d, .visit = visit, .context = context};
    return tell_type(&t, d->top, 0);
}

/* ---- what is wrong with a payload */

static size_t place(const struct ros_definition_run *r) {
    return r->payload.size - cursor_left(&r->c);
}

bool ros_definition_ends_early(const struct ros_definition_run *r, const struct ros_definition_step *s, uint64_t needs) {
    return reel_fail(r->err, REEL_DAMAGED, "byte %zu of %zu: %.*s needs %llu bytes, %zu are left", place(r), r->payload.size,
                     (int)s->key.size, (const char *)s->key.data, (unsigned long long)needs, cursor_left(&r->c));
}

bool ros_definition_too_long(const struct ros_definition_run *r) {
    return reel_fail(r->err, REEL_DAMAGED, "byte %zu of %zu: %zu bytes too many", place(r), r->payload.size, cursor_left(&r->c));
}

bool ros_definition_afford(struct ros_definition_run *r, uint64_t count) {
    if (count > REEL_EMPTY_VALUES_MAX - r->empties) {
        return reel_fail(r->err, REEL_LIMIT, "byte %zu of %zu: more than %d values that take no bytes", place(r), r->payload.size,
                         REEL_EMPTY_VALUES_MAX);
    }
    r->empties += (uint32_t)count;
    return true;
}
