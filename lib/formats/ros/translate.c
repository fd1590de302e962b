/* See translate.h: joins the texts of the types, as recorders do, and checks the result by reading it again. */
#include "formats/ros/translate.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/limits.h"
#include "formats/ros/definition.h"
#include "formats/ros/definition_link.h"
#include "formats/ros/definition_text.h"
#include "formats/ros/md5.h"
#include "formats/ros/names.h"
#include "formats/ros/rewrite.h"
#include "formats/ros/rihs01.h"
#include "formats/ros/write.h"

bool ros_texts_add(struct ros_translating *t, const char *name, struct reel_bytes text) {
    struct ros_texts *texts = &t->texts;
    char *kept = arena_alloc(t->arena, text.size + 1);
    if (!kept || !GROW_ARRAY(texts->items, texts->count, texts->room)) {
        return reel_fail_memory(t->err);
    }
    if (text.size > 0) {
        memcpy(kept, text.data, text.size);
    }
    texts->items[texts->count++] = (struct ros_standard_text){.name = name, .text = kept};
    return true;
}

/* ---- joining: after each text those of the types in it, sorted by name; each once */

struct joining {
    struct ros_translating *t;
    enum ros_dialect dialect;
    struct grow out;
    bool *joined; /* by text */
};

static const struct ros_standard_text *find_text(const struct ros_texts *texts, const char *name) {
    for (size_t i = 0; i < texts->count; i++) {
        if (strcmp(texts->items[i].name, name) == 0) {
            return &texts->items[i];
        }
    }
    return NULL;
}

/* The name of the type that a field's word names: with the package of its owner where it has none. */
static bool name_of_word(const struct joining *j, const char *owner, struct reel_bytes word,
                         char name[2 * ROS_NAME_ROOM]) {
    const char *slash = strchr(owner, '/');
    size_t size = 0, package = slash ? (size_t)(slash - owner) + 1 : 0;
    while (size < word.size && word.data[size] != '[' && word.data[size] != '<') {
        size++;
    }
    bool full = memchr(word.data, '/', size),
         header = j->dialect == ROS_1 && bytes_is(bytes_of(word.data, size), "Header");
    const char *prefix = header ? "std_msgs/" : owner;
    package = full ? 0 : header ? strlen(prefix) : package;
    if (size + package >= 2 * ROS_NAME_ROOM) {
        return false;
    }
    memcpy(name, prefix, package);
    memcpy(name + package, word.data, size);
    name[package + size] = '\0';
    return true;
}

static int compare_items(const void *a, const void *b) {
    return strcmp((*(const struct ros_standard_text *const *)a)->name,
                  (*(const struct ros_standard_text *const *)b)->name);
}

static bool join_types_of(struct joining *j, const struct ros_standard_text *owner, unsigned level) {
    AUTO_MEM const struct ros_standard_text **needed = NULL;
    const struct ros_texts *texts = &j->t->texts;
    size_t n = 0, room = 0;
    struct ros_line l;
    for (struct reel_bytes rest = bytes_text(owner->text); rest.size > 0;) {
        char name[2 * ROS_NAME_ROOM];
        const struct ros_standard_text *found = NULL;
        if (ros_line_read(ros_next_line(&rest), &l) && !l.is_constant && name_of_word(j, owner->name, l.word, name)) {
            found = find_text(texts, name);
        }
        if (found && !GROW_ARRAY(needed, n, room)) {
            return reel_fail_memory(j->t->err);
        }
        if (found) {
            needed[n++] = found;
        }
    }
    if (n > 1) {
        qsort(needed, n, sizeof *needed, compare_items);
    }
    for (size_t i = 0; i < n; i++) {
        bool *joined = &j->joined[needed[i] - texts->items];
        if (*joined) {
            continue;
        }
        *joined = true;
        grow_text(&j->out, "\n================================================================================\nMSG: ");
        grow_text(&j->out, needed[i]->name);
        grow_text(&j->out, "\n");
        grow_text(&j->out, needed[i]->text);
        if (level > REEL_DEPTH_MAX || j->out.size > REEL_SCHEMA_MAX) {
            return reel_fail(j->t->err, REEL_LIMIT, "the translated definition is too large");
        }
        if (!join_types_of(j, needed[i], level + 1)) {
            return false;
        }
    }
    return true;
}

static bool join_texts(struct ros_translating *t, enum ros_dialect dialect) {
    AUTO_MEM bool *joined = calloc(t->texts.count, sizeof *joined);
    struct joining j = {.t = t, .dialect = dialect, .joined = joined};
    if (!joined) {
        return reel_fail_memory(t->err);
    }
    joined[0] = true;
    grow_text(&j.out, t->texts.items[0].text);
    bool good = join_types_of(&j, &t->texts.items[0], 1);
    const uint8_t *kept = good && !j.out.failed ? arena_copy(t->arena, j.out.data, j.out.size) : NULL;
    t->out->type = t->texts.items[0].name;
    t->out->definition = bytes_of(kept, j.out.size);
    free(j.out.data);
    return kept || (good ? reel_fail_memory(t->err) : false);
}

/* ---- the result */

static struct ros_definition *read_result(struct ros_translating *t, enum ros_dialect dialect) {
    AUTO(ros_definition_free) struct ros_definition *d = calloc(1, sizeof *d);
    if (!d) {
        reel_fail_memory(t->err);
        return NULL;
    }
    d->dialect = dialect;
    bool good = ros_definition_read_text(d, t->out->type, false, t->out->definition, t->err) &&
                ros_definition_link(d, t->out->type, t->err);
    return good ? TAKE(d) : NULL;
}

static bool add_hash(struct ros_translating *t, const struct ros_definition *d) {
    char md5[MD5_HEX];
    if (d->dialect == ROS_2) {
        t->out->hash = ros_rihs01(t->arena, d, t->err);
        return t->out->hash;
    }
    t->out->hash = ros_md5(t->out->type, t->out->definition, md5, t->err) ? arena_text(t->arena, md5) : "";
    return t->out->hash ? t->out->hash[0] != '\0' : reel_fail_memory(t->err);
}

/* A relay for each layout that the payloads may have; earlier ones that cannot be translated are left out. */
static struct ros_relay *compile_relays(struct ros_translating *t, const struct ros_definition *d) {
    AUTO(ros_relay_free) struct ros_relay *relay = ros_relay_new(t->def, t->def->top, d, d->top, t->err);
    for (const struct ros_definition *from = t->def->older; relay && from; from = from->older) {
        struct reel_error why = {0};
        struct ros_relay *older = ros_relay_new(from, from->top, d, d->top, &why);
        if (older) {
            ros_relay_add_older(relay, older);
        } else if (!reel_error_ignore(t->err, &why)) {
            return NULL;
        }
    }
    return TAKE(relay);
}

/* Reads the translated definition, computes its hash and compiles the relay. */
static bool ros_finish(struct ros_translating *t, enum ros_dialect to) {
    AUTO(ros_definition_free) struct ros_definition *d = read_result(t, to);
    AUTO(ros_relay_free) struct ros_relay *relay = d ? compile_relays(t, d) : NULL;
    if (!relay || !add_hash(t, d)) {
        return false;
    }
    t->out->relay = TAKE(relay);
    return true;
}

/* The definition that the channel had in ROS 1. False: none, or its messages do not fit it; err only for no memory. */
static bool take_original(struct ros_translating *t, const struct reel_channel *c) {
    const char *type = ros_metadata_of(c, ROS1_TYPE_KEY), *text = ros_metadata_of(c, ROS1_DEFINITION_KEY);
    struct reel_error *err = t->err, why = {0};
    char name[ROS_NAME_ROOM];
    if (!type || !text || strlen(text) > REEL_SCHEMA_MAX || !ros_type_name(bytes_text(type), false, name)) {
        return false;
    }
    t->err = &why;
    t->out->type = type;
    t->out->definition = bytes_text(text);
    bool good = ros_finish(t, ROS_1);
    t->err = err;
    return good || (why.code == REEL_NO_MEMORY ? reel_fail_memory(err) : false);
}

static bool translate_to_ros1(struct ros_translating *t, const struct reel_channel *c) {
    const struct ros_definition_type *top = &t->def->types[t->def->top];
    if (top->beyond) {
        return reel_fail(t->err, REEL_UNSUPPORTED, "%.128s: ROS 1 has no %s", top->name, top->beyond);
    }
    if (take_original(t, c)) {
        return true;
    }
    for (int originals = 1; originals >= 0 && t->err->code == REEL_OK; originals--) {
        struct reel_error why = {0}, *err = t->err;
        t->texts.count = 0;
        t->err = originals ? &why : err;
        bool good = ros_texts_to_ros1(t, originals) && join_texts(t, ROS_1) && ros_finish(t, ROS_1);
        t->err = err;
        if (good || why.code == REEL_NO_MEMORY) {
            return good || reel_fail_memory(err);
        }
    }
    return false;
}

bool ros_translate(struct arena *arena, const struct reel_channel *channel, enum ros_dialect to,
                   const struct ros_definition *standard, struct ros_translation *out, struct reel_error *err) {
    struct reel_error own = {0};
    AUTO(ros_definition_free)
    struct ros_definition *def = ros_definition_open(channel, to == ROS_2 ? ROS_1 : ROS_2, &own);
    *out = (struct ros_translation){.type = "", .hash = ""};
    struct ros_translating t = {.arena = arena, .def = def, .standard = standard, .out = out, .err = &own};
    bool good = def && (to == ROS_2 ? ros_texts_to_ros2(&t) && join_texts(&t, ROS_2) && ros_finish(&t, ROS_2)
                                    : translate_to_ros1(&t, channel));
    free(t.texts.items);
    return good || reel_error_pass(err, &own);
}

/* ---- by rules */

/* The hash of ROS 2 is not computed of texts and lists with a greatest length. */
static bool has_bounds(const struct ros_definition *d) {
    for (size_t i = 0; i < d->n_steps; i++) {
        const struct ros_definition_step *s = &d->steps[i];
        if (s->bound > 0 || (s->many == ROS_LIST && s->count != UINT32_MAX)) {
            return true;
        }
    }
    return false;
}

/* Takes t->def over. */
static bool finish_by_rules(struct ros_translating *t, struct ros_definition *def, const struct ros_rules *rules) {
    AUTO(ros_definition_free) struct ros_definition *from = def;
    enum ros_dialect dialect = def->dialect;
    AUTO(ros_definition_free) struct ros_definition *d = join_texts(t, dialect) ? read_result(t, dialect) : NULL;
    if (!d || (!(dialect == ROS_2 && has_bounds(d)) && !add_hash(t, d))) {
        return false;
    }
    AUTO(ros_rewrite_free) struct ros_rewrite *rewrite = ros_rewrite_new(TAKE(from), TAKE(d), rules, t->err);
    return rewrite && (t->out->relay = ros_relay_of_rewrite(TAKE(rewrite), t->err));
}

static bool check_interface(const struct reel_channel *channel, struct reel_error *err) {
    bool is_interface = strstr(channel->type, "/srv/") || strstr(channel->type, "/action/");
    return !is_interface || reel_fail(err, REEL_UNSUPPORTED, "rules are for messages, not for services and actions");
}

bool ros_translate_by_rules(struct arena *arena, const struct reel_channel *channel, enum ros_dialect dialect,
                            const struct ros_rules *rules, bool *used, struct ros_translation *out,
                            struct reel_error *err) {
    struct reel_error own = {0};
    bool any = false;
    AUTO(ros_definition_free) struct ros_definition *def = ros_definition_open(channel, dialect, &own);
    *out = (struct ros_translation){.type = "", .hash = ""};
    struct ros_translating t = {.arena = arena, .def = def, .out = out, .err = &own};
    bool good = def && ros_rules_texts(&t, rules, used, &any) && (!any || check_interface(channel, &own)) &&
                (!any || finish_by_rules(&t, TAKE(def), rules));
    free(t.texts.items);
    return good || reel_error_pass(err, &own);
}
