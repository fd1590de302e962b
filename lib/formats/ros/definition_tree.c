/* Implements definition_tree.h. */
#include "formats/ros/definition_tree.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/limits.h"

void ros_definition_free(struct ros_definition *d) {
    if (d) {
        arena_free(&d->arena);
        free(d->types);
        free(d->steps);
        free(d);
    }
}

struct ros_definition_type *ros_definition_add_type(struct ros_definition *d, struct reel_bytes name,
                                                    struct reel_error *err) {
    if (d->n_types >= REEL_DEFINITION_TYPES_MAX) {
        reel_fail(err, REEL_LIMIT, "a definition of more than %d types", REEL_DEFINITION_TYPES_MAX);
        return NULL;
    }
    if (name.size >= ROS_NAME_ROOM) {
        reel_fail(err, REEL_LIMIT, "the name of a type is %zu bytes long", name.size);
        return NULL;
    }
    char *text = arena_alloc(&d->arena, name.size + 1);
    if (!text || !GROW_ARRAY(d->types, d->n_types, d->types_room)) {
        reel_fail_memory(err);
        return NULL;
    }
    memcpy(text, name.data, name.size);
    d->types[d->n_types] =
        (struct ros_definition_type){.name = text, .first = (uint32_t)d->n_steps, .other = ROS_NO_STEP};
    return &d->types[d->n_types++];
}

struct ros_definition_step *ros_definition_add_step(struct ros_definition *d, struct reel_bytes name,
                                                    struct reel_error *err) {
    if (d->n_steps >= REEL_DEFINITION_FIELDS_MAX) {
        reel_fail(err, REEL_LIMIT, "a definition of more than %d fields", REEL_DEFINITION_FIELDS_MAX);
        return NULL;
    }
    if (name.size >= ROS_NAME_ROOM) {
        reel_fail(err, REEL_LIMIT, "the name of a field is %zu bytes long", name.size);
        return NULL;
    }
    const uint8_t *key = arena_copy(&d->arena, name.data, name.size);
    if (!key || !GROW_ARRAY(d->steps, d->n_steps, d->steps_room)) {
        reel_fail_memory(err);
        return NULL;
    }
    d->types[d->n_types - 1].count++;
    d->steps[d->n_steps] =
        (struct ros_definition_step){.key = bytes_of(key, name.size), .word = "", .unit = "", .id = ROS_NEXT_ID};
    return &d->steps[d->n_steps++];
}

bool ros_definition_copy_steps(struct ros_definition *d, uint32_t first, uint32_t count, struct reel_error *err) {
    if (count > REEL_DEFINITION_FIELDS_MAX - d->n_steps) {
        return reel_fail(err, REEL_LIMIT, "a definition of more than %d fields", REEL_DEFINITION_FIELDS_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!GROW_ARRAY(d->steps, d->n_steps, d->steps_room)) {
            return reel_fail_memory(err);
        }
        d->steps[d->n_steps++] = d->steps[first + i];
    }
    return true;
}

bool ros_definition_set_type(struct ros_definition *d, struct ros_definition_step *step, struct reel_bytes name,
                             struct reel_error *err) {
    char *text = arena_alloc(&d->arena, name.size + 1);
    if (!text) {
        return reel_fail_memory(err);
    }
    memcpy(text, name.data, name.size);
    step->kind = ROS_VALUE_TYPE;
    step->word = text;
    return true;
}

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
             {"string", ROS_VALUE_TEXT, ROS_VALUE_TEXT},
             {"time", ROS_VALUE_TIME, ROS_VALUE_TYPE},
             {"duration", ROS_VALUE_DURATION, ROS_VALUE_TYPE},
             {"wstring", ROS_VALUE_TYPE, ROS_VALUE_WIDE_TEXT}};

bool ros_definition_set_word(struct ros_definition *d, struct ros_definition_step *step, struct reel_bytes word,
                             struct reel_error *err) {
    step->kind = ROS_VALUE_TYPE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (bytes_is(word, known[i].word)) {
            step->word = known[i].word;
            step->kind = d->dialect == ROS_1 ? known[i].ros1 : known[i].ros2;
        }
    }
    if (step->kind == ROS_VALUE_TYPE && d->dialect == ROS_2 && (bytes_is(word, "time") || bytes_is(word, "duration"))) {
        step->word = bytes_is(word, "time") ? "builtin_interfaces/Time" : "builtin_interfaces/Duration";
    } else if (step->kind == ROS_VALUE_TYPE) {
        return ros_definition_set_type(d, step, word, err);
    }
    return true;
}
