/* Implements definition.h. */
#include "formats/ros/definition.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "formats/ros/assume.h"
#include "formats/ros/channel_definition.h"
#include "formats/ros/definition_idl.h"
#include "formats/ros/definition_link.h"
#include "formats/ros/definition_text.h"
#include "formats/ros/idl_complete.h"
#include "formats/ros/interfaces.h"

/* ---- opening */

/* Types that recorders may leave out of definitions. They are added last, so that the recording's own go first. */
static bool add_known(struct ros_definition *d, bool whole_names, struct reel_error *err) {
    static const char header[] = "uint32 seq\ntime stamp\nstring frame_id\n";
    static const char time[] = "int32 sec\nuint32 nanosec\n";
    if (d->dialect == ROS_1) {
        return ros_definition_read_text(d, "std_msgs/Header", false, bytes_text(header), err);
    }
    return ros_definition_read_text(d, "builtin_interfaces/msg/Time", whole_names, bytes_text(time), err) &&
           ros_definition_read_text(d, "builtin_interfaces/msg/Duration", whole_names, bytes_text(time), err);
}

struct ros_definition *ros_definition_read(enum ros_dialect dialect, const char *type, struct reel_bytes text,
                                           enum ros_language language, bool is_omg, struct reel_error *err) {
    AUTO(ros_definition_free) struct ros_definition *d = calloc(1, sizeof *d);
    if (!d) {
        reel_fail_memory(err);
        return NULL;
    }
    d->dialect = dialect;
    d->is_omg = is_omg;
    bool is_idl = language == ROS_LANGUAGE_IDL;
    bool good = is_idl ? ros_definition_read_idl(d, text, err) : ros_definition_read_text(d, type, false, text, err);
    return good && add_known(d, is_idl, err) && ros_definition_link(d, type, err) ? TAKE(d) : NULL;
}

/* The name of a message that the definition in a file has. */
static bool message_of_file(const char *name, char type[ROS_NAME_ROOM], bool *is_interface) {
    const char *ending = strstr(name, "/srv/") ? "_Event" : strstr(name, "/action/") ? "_FeedbackMessage" : "";
    *is_interface = ending[0];
    return snprintf(type, ROS_NAME_ROOM, "%s%s", name, ending) < ROS_NAME_ROOM;
}

bool ros_definition_check(const char *name, struct reel_bytes text, struct reel_error *err) {
    struct reel_bytes messages;
    char type[ROS_NAME_ROOM];
    bool is_interface;
    size_t size = strlen(name);
    AUTO(ros_definition_free) struct ros_definition *d = calloc(1, sizeof *d);
    if (!d) {
        return reel_fail_memory(err);
    }
    d->dialect = ROS_2;
    if (size > 4 && strcmp(name + size - 4, ".idl") == 0) {
        return ros_definition_read_idl(d, text, err);
    }
    if (!message_of_file(name, type, &is_interface)) {
        return reel_fail(err, REEL_LIMIT, "its name is too long");
    }
    struct reel_error why = {0};
    bool good = ros_interfaces_to_messages(&d->arena, type, text, &messages, &why);
    if (why.code == REEL_UNSUPPORTED || (good && is_interface != (messages.data != text.data))) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         is_interface ? "a service has two parts and an action three, separated by lines \"---\""
                                      : "a message has no lines \"---\"");
    }
    if (!good) {
        return reel_error_pass(err, &why);
    }
    return ros_definition_read_text(d, type, false, messages, err);
}

/* Finds the language of the channel's own schema; false when it is not supported. */
static bool find_language(const struct reel_channel *channel, const struct reel_schema *s, enum ros_language *language,
                          struct reel_error *err) {
    if (s->data.size > REEL_SCHEMA_MAX) {
        return reel_fail(err, REEL_LIMIT, "a definition of %zu bytes", s->data.size);
    }
    *language = ros_language_of(channel, s);
    return *language != ROS_LANGUAGE_OTHER ||
           reel_fail(err, REEL_UNSUPPORTED, "definitions in \"%.64s\" are not read for this encoding", s->encoding);
}

/* The recorded definition, completed where types are missing. */
static struct ros_definition *open_recorded(const struct reel_channel *channel, const struct reel_schema *s,
                                            enum ros_dialect dialect, const char *type, struct reel_error *err) {
    enum ros_language language = ROS_LANGUAGE_OTHER;
    struct arena arena = {0};
    struct reel_bytes text, messages;
    struct ros_definition *d = NULL;
    if (!find_language(channel, s, &language, err)) {
        return NULL;
    }
    bool good = channel_definition(&arena, channel, &text, err), is_idl = language == ROS_LANGUAGE_IDL;
    messages = good ? text : bytes_of("", 0);
    good = good && (is_idl || dialect == ROS_1 || ros_interfaces_to_messages(&arena, type, text, &messages, err));
    d = good ? ros_definition_read(dialect, type, messages, language, ascii_ncasecmp(s->encoding, "omg", 3) == 0, err)
             : NULL;
    if (good && !d && err->code == REEL_UNSUPPORTED) {
        struct reel_error why = {0};
        d = is_idl ? ros_idl_completed(type, text, ROS_RECORDED, &why)
                   : ros_definition_assume(channel, dialect, type, text, &why);
        if (!d && reel_is_transient(why.code)) {
            *err = why;
        }
    }
    arena_free(&arena);
    if (!d) {
        reel_error_at(err, "definition of %.128s", type);
    }
    return d;
}

struct ros_definition *ros_definition_open(const struct reel_channel *channel, enum ros_dialect dialect,
                                           struct reel_error *err) {
    const struct reel_schema *s = reel_channel_schema(channel);
    const char *type = s && s->name[0] ? s->name : channel->type;
    struct reel_error own = {0};
    if (!type[0]) {
        reel_fail(err, REEL_UNSUPPORTED, "the recording holds no definition of its messages");
        return NULL;
    }
    struct ros_definition *d = s && ros_is_defined(s, type)
                                   ? open_recorded(channel, s, dialect, type, &own)
                                   : ros_definition_assume(channel, dialect, type, bytes_of("", 0), &own);
    if (!d) {
        reel_error_pass(err, &own);
    }
    return d;
}

const char *ros_definition_source(const struct reel_channel *channel) {
    struct reel_error ignored = {0};
    bool is_ros1 = reel_channel_has_profile(channel, "ros1");
    AUTO(ros_definition_free)
    struct ros_definition *d = ros_definition_open(channel, is_ros1 ? ROS_1 : ROS_2, &ignored);
    return !d || d->source == ROS_RECORDED ? NULL
           : d->source == ROS_OWN          ? "supplied"
           : is_ros1                       ? "built-in noetic"
                                           : "built-in";
}

/* ---- fields */

enum {
    SPREAD_MAX = 64, /* arrays up to this length are listed item by item */
    PATH_ROOM = 1024,
};
struct listing {
    const struct ros_definition *def;
    reel_field_visit visit;
    void *context;
    uint32_t visited;
    char path[PATH_ROOM];
};

static bool list_type(struct listing *l, uint32_t type, size_t length);

static enum ros_stamp ros_definition_stamp_of(const struct listing *l, const struct ros_definition_step *s) {
    return s->kind == ROS_VALUE_TYPE ? (enum ros_stamp)l->def->types[s->type].stamp : ROS_NO_STAMP;
}

static bool has_form(const struct listing *l, const struct ros_definition_step *s, enum ros_form form) {
    return s->kind == ROS_VALUE_TYPE && l->def->types[s->type].form == form;
}

/* The step of a list's elements that are lists themselves; else NULL. */
static const struct ros_definition_step *inner_list(const struct listing *l, const struct ros_definition_step *s) {
    return has_form(l, s, ROS_ALIAS) ? &l->def->steps[l->def->types[s->type].first] : NULL;
}

/* "float64[3][]", the outermost list first; of one element of it without its own brackets. */
static void put_type_word(const struct listing *l, const struct ros_definition_step *s, bool element, char *word,
                          size_t room) {
    static const char *const stamps[] = {[ROS_TIME] = "time", [ROS_DURATION] = "duration"};
    char brackets[ROS_NAME_ROOM] = "";
    const struct ros_definition_step *last = s;
    size_t size = 0;
    for (const struct ros_definition_step *at = s; at && size + 16 < sizeof brackets; at = inner_list(l, at)) {
        bool own = !(element && at == s);
        size += own && at->many == ROS_ARRAY  ? (size_t)sprintf(brackets + size, "[%u]", at->count)
                : own && at->many == ROS_LIST ? (size_t)sprintf(brackets + size, "[]")
                                              : 0;
        last = at;
    }
    enum ros_stamp stamp = ros_definition_stamp_of(l, last);
    const char *type = stamp != ROS_NO_STAMP ? stamps[stamp] : has_form(l, last, ROS_MAP) ? "map" : last->word;
    snprintf(word, room, "%s%s", type, brackets);
}

static bool list_field(struct listing *l, const struct ros_definition_step *s, bool element) {
    char word[2 * ROS_NAME_ROOM];
    bool one = element || s->many == ROS_ONE, number = ros_definition_is_number(s) || s->kind == ROS_VALUE_LONG_DOUBLE;
    put_type_word(l, s, element, word, sizeof word);
    const struct reel_field f = {.path = l->path, .type = word, .unit = s->unit, .numeric = one && number};
    return l->visit(l->context, &f);
}

/* The values of the step, below the path of `length` bytes. */
static bool list_values(struct listing *l, const struct ros_definition_step *s, size_t length) {
    bool spread = s->many == ROS_ARRAY && s->count <= SPREAD_MAX && s->kind != REEL_U8,
         inside =
             s->kind == ROS_VALUE_TYPE && ros_definition_stamp_of(l, s) == ROS_NO_STAMP && !has_form(l, s, ROS_MAP);
    if (!spread) {
        return s->many == ROS_ONE && inside ? list_type(l, s->type, length) : list_field(l, s, false);
    }
    for (uint32_t i = 0; i < s->count && l->visited < REEL_FIELD_VISITS_MAX && length + 16 < PATH_ROOM; i++) {
        size_t end = length + (size_t)sprintf(l->path + length, ".%u", i);
        const struct ros_definition_step *inner = inner_list(l, s);
        l->visited++;
        if (!(inner ? list_values(l, inner, end) : inside ? list_type(l, s->type, end) : list_field(l, s, true))) {
            return false;
        }
    }
    return true;
}

/* A path that becomes too long is left out. */
static bool list_step(struct listing *l, const struct ros_definition_step *s, size_t length) {
    size_t dot = length > 0;
    if (length + dot + s->key.size + 16 >= PATH_ROOM) {
        return true;
    }
    if (dot) {
        l->path[length] = '.';
    }
    memcpy(l->path + length + dot, s->key.data, s->key.size);
    length += dot + s->key.size;
    l->path[length] = '\0';
    return list_values(l, s, length);
}

static bool list_type(struct listing *l, uint32_t type, size_t length) {
    const struct ros_definition_type *of = &l->def->types[type];
    for (uint32_t i = 0; i < of->count && l->visited < REEL_FIELD_VISITS_MAX; i++) {
        const struct ros_definition_step *s = &l->def->steps[of->first + i];
        l->visited++;
        if (!s->hidden && !list_step(l, s, length)) {
            return false;
        }
    }
    return true;
}

bool ros_definition_fields(const void *state, reel_field_visit visit, void *context) {
    const struct ros_definition *d = state;
    struct listing l = {.def = d, .visit = visit, .context = context};
    return list_type(&l, d->top, 0);
}

/* ---- errors in a payload */

static size_t ros_definition_position(const struct ros_definition_run *r) {
    return (size_t)(r->c.at - r->payload.data);
}

bool ros_definition_ends_early(const struct ros_definition_run *r, const struct ros_definition_step *s,
                               uint64_t needs) {
    return reel_fail(r->err, REEL_DAMAGED, "byte %zu of %zu: %.*s needs %llu bytes, %zu are left",
                     ros_definition_position(r), r->payload.size, (int)s->key.size, (const char *)s->key.data,
                     (unsigned long long)needs, cursor_left(&r->c));
}

bool ros_definition_too_long(const struct ros_definition_run *r) {
    return reel_fail(r->err, REEL_DAMAGED, "byte %zu of %zu: %zu bytes too many", ros_definition_position(r),
                     r->payload.size, cursor_left(&r->c));
}

bool ros_definition_afford(struct ros_definition_run *r, uint64_t count) {
    if (count > REEL_EMPTY_VALUES_MAX - r->empties) {
        return reel_fail(r->err, REEL_LIMIT, "byte %zu of %zu: more than %d values that take no bytes",
                         ros_definition_position(r), r->payload.size, REEL_EMPTY_VALUES_MAX);
    }
    r->empties += (uint32_t)count;
    return true;
}
