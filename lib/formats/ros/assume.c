/* See assume.h. */
#include "formats/ros/assume.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "decode/own_definitions.h"
#include "formats/ros/complete.h"
#include "formats/ros/definition.h"
#include "formats/ros/idl_complete.h"
#include "formats/ros/md5.h"
#include "formats/ros/rihs01.h"
#include "formats/ros/write.h"

struct assuming {
    const struct reel_channel *channel;
    const struct reel_schema *schema; /* NULL: none */
    enum ros_dialect dialect;
    const char *type;
    struct reel_bytes recorded; /* empty: none */
    struct reel_bytes text;     /* of the first definition that was found */
    struct arena arena;
};

/* The hash that the recording has of the type; NULL: none that is understood. */
static const char *recorded_hash(const struct assuming *a) {
    char name[ROS_NAME_ROOM];
    const char *rihs01 = ros_metadata_of(a->channel, "topic_type_hash");
    if (a->dialect == ROS_1) {
        bool is_md5 = a->schema && strlen(a->schema->hash) == 32 && strspn(a->schema->hash, "0") < 32;
        return is_md5 ? a->schema->hash : NULL;
    }
    bool is_message = ros_type_name(bytes_text(a->type), true, name) && strstr(name, "/msg/");
    return is_message && rihs01 && strncmp(rihs01, "RIHS01_", 7) == 0 ? rihs01 : NULL;
}

/* Whether a definition has the hash that the recording has. False with err: it has another one, or no memory. */
static bool check_hash(struct assuming *a, const struct ros_definition *d, struct reel_bytes text,
                       struct reel_error *err) {
    const char *hash = recorded_hash(a), *is;
    char md5[MD5_HEX];
    if (!hash) {
        return true;
    }
    is = a->dialect == ROS_2 ? ros_rihs01(&a->arena, d, err) : ros_md5(a->type, text, md5, err) ? md5 : NULL;
    if (!is) {
        return false;
    }
    return strcmp(is, hash) == 0 ||
           reel_fail(err, REEL_UNSUPPORTED,
                     "the recording holds no definition of %.128s, and the %s one has another %s", a->type,
                     d->source == ROS_OWN ? "supplied" : "built-in", a->dialect == ROS_1 ? "MD5 sum" : "type hash");
}

/* With the types of one distribution. NULL with err. */
static struct ros_definition *assume_one(struct assuming *a, bool uses_own, enum ros_distribution distribution,
                                         struct ros_completion *completed, struct reel_error *err) {
    if (!ros_complete(&a->arena, a->dialect, distribution, uses_own, a->type, a->recorded, completed, err)) {
        return NULL;
    }
    AUTO(ros_definition_free)
    struct ros_definition *d = ros_definition_read(a->dialect, a->type, completed->text, ROS_LANGUAGE_MSG, false, err);
    if (d) {
        d->source = completed->source;
    }
    return d && check_hash(a, d, completed->text, err) ? TAKE(d) : NULL;
}

/* All layouts that the message may have; only the one with the recorded hash, where there is one. NULL with err: that
 * of the newest. */
static struct ros_definition *assume_any(struct assuming *a, bool uses_own, struct reel_error *err) {
    AUTO(ros_definition_free) struct ros_definition *first = NULL;
    struct ros_definition **next = &first;
    struct reel_bytes before = bytes_of(NULL, 0);
    struct ros_completion completed = {.varies = true};
    for (unsigned i = 0; i < ROS_DISTRIBUTIONS && completed.varies; i++) {
        struct reel_error why = {0};
        completed = (struct ros_completion){0};
        struct ros_definition *d = assume_one(a, uses_own, (enum ros_distribution)i, &completed, &why);
        bool repeats = before.data && completed.text.data && bytes_equal(before, completed.text);
        if (!d && reel_is_transient(why.code)) {
            reel_error_pass(err, &why);
            return NULL;
        }
        if (!d && i == 0) {
            *err = why;
        }
        if (d && (!repeats || !first)) {
            a->text = first ? a->text : completed.text;
            *next = d;
            next = &d->older;
        } else {
            ros_definition_free(d);
        }
        before = completed.text;
    }
    return TAKE(first);
}

/* As .idl files that no .msg can say have it. */
static struct ros_definition *assume_idl(const struct assuming *a, struct reel_error *err) {
    struct reel_error why = {0};
    struct ros_definition *d = a->dialect == ROS_2 && a->recorded.size == 0 && own_definitions_version() != 0
                                   ? ros_idl_supplied(a->type, &why)
                                   : NULL;
    if (!d && reel_is_transient(why.code)) {
        *err = why;
    }
    return d;
}

static struct ros_definition *assume(struct assuming *a, struct reel_error *err) {
    struct reel_error why = {0};
    struct ros_definition *d = assume_any(a, own_definitions_version() != 0, err);
    if (!d && !reel_is_transient(err->code)) {
        d = assume_idl(a, err);
    }
    if (!d && !reel_is_transient(err->code) && own_definitions_version() != 0) { /* the supplied one may not fit */
        d = assume_any(a, false, &why);
        if (!d && reel_is_transient(why.code)) {
            *err = why;
        }
    }
    return d;
}

struct ros_definition *ros_definition_assume(const struct reel_channel *channel, enum ros_dialect dialect,
                                             const char *type, struct reel_bytes recorded, struct reel_error *err) {
    struct assuming a = {.channel = channel,
                         .schema = reel_channel_schema(channel),
                         .dialect = dialect,
                         .type = type,
                         .recorded = recorded};
    struct ros_definition *d = assume(&a, err);
    arena_free(&a.arena);
    return d;
}

bool ros_assumed_text(struct arena *arena, const struct reel_channel *channel, struct reel_bytes *out,
                      struct reel_error *err) {
    const struct reel_schema *own = reel_channel_schema(channel);
    const char *type = own && own->name[0] ? own->name : channel->type;
    bool is_ros1 = reel_channel_has_profile(channel, "ros1"), is_ros2 = reel_channel_has_profile(channel, "ros2");
    struct reel_error why = {0};
    *out = bytes_of("", 0);
    if ((!is_ros1 && !is_ros2) || channel->n_schemas > 1 || !type[0] || (own && ros_is_defined(own, type))) {
        return true;
    }
    struct assuming a = {.channel = channel, .schema = own, .dialect = is_ros1 ? ROS_1 : ROS_2, .type = type};
    AUTO(ros_definition_free) struct ros_definition *d = assume(&a, &why);
    if (d && !d->older) {
        *out = bytes_of(arena_copy(arena, a.text.data, a.text.size), a.text.size);
    }
    arena_free(&a.arena);
    return d ? out->data || reel_fail_memory(err) : reel_error_ignore(err, &why);
}
