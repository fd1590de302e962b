/* See relay_fields.h. */
#include "formats/ros/relay_fields.h"

#include "base/bytes.h"
#include "formats/ros/names.h"
#include "formats/ros/standard.h"

enum { HEADER_FIELDS_MAX = 8 };

bool relay_list_fields(struct arena *arena, const struct ros_definition *def, uint32_t type, struct relay_fields *out,
                       struct reel_error *err) {
    const struct ros_definition_type *t = &def->types[type];
    if (t->count > ROS_TYPE_FIELDS_MAX) {
        return reel_fail(err, REEL_LIMIT, "%.128s has more than %d fields", t->name, ROS_TYPE_FIELDS_MAX);
    }
    const char *const *names = def->dialect == ROS_1 ? ros2_field_names(arena, def, type) : NULL;
    out->items = arena_alloc(arena, ((size_t)t->count + HEADER_FIELDS_MAX) * sizeof *out->items);
    out->count = t->count;
    if (!out->items || (def->dialect == ROS_1 && !names)) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const struct ros_definition_step *s = &def->steps[t->first + i];
        char *name = names ? NULL : arena_alloc(arena, s->key.size + 1);
        if (!names && !name) {
            return reel_fail_memory(err);
        }
        if (name) {
            memcpy(name, s->key.data, s->key.size);
        }
        out->items[i] = (struct relay_field){.step = s, .name = names ? names[i] : name};
    }
    return true;
}

struct relay_field *relay_find_field(const struct relay_fields *fields, const char *name) {
    for (uint32_t i = 0; i < fields->count; i++) {
        if (strcmp(fields->items[i].name, name) == 0) {
            return &fields->items[i];
        }
    }
    return NULL;
}

/* Replaces the header by its fields. */
static bool flatten_header(struct arena *arena, const struct ros_definition *def, struct relay_fields *fields,
                           struct reel_error *err) {
    struct relay_field *header = relay_find_field(fields, "header");
    struct relay_fields inner;
    if (!header || header->step->kind != ROS_VALUE_TYPE || header->step->many != ROS_ONE ||
        def->types[header->step->type].count > HEADER_FIELDS_MAX) {
        return true;
    }
    if (!relay_list_fields(arena, def, header->step->type, &inner, err)) {
        return false;
    }
    size_t at = (size_t)(header - fields->items);
    memmove(header + inner.count, header + 1, (fields->count - at - 1) * sizeof *header);
    memcpy(header, inner.items, inner.count * sizeof *header);
    fields->count += inner.count - 1;
    return true;
}

bool relay_rename_old(struct arena *arena, const char *type, const struct ros_definition *ros1,
                      struct relay_fields *old, const struct ros_definition *ros2, struct relay_fields *now,
                      struct reel_error *err) {
    /* before 13 August 2009 a transform named its parent in a field of its own and its child in the header */
    if (strcmp(type, "geometry_msgs/TransformStamped") == 0 && relay_find_field(old, "parent_id")) {
        if (!flatten_header(arena, ros1, old, err) || !flatten_header(arena, ros2, now, err)) {
            return false;
        }
        struct relay_field *child = relay_find_field(old, "frame_id"), *parent = relay_find_field(old, "parent_id");
        if (child && parent) {
            child->name = "child_frame_id";
            parent->name = "frame_id";
        }
    }
    for (uint32_t i = 0; i < now->count; i++) {
        const char *before = ros_old_field(type, bytes_text(now->items[i].name));
        struct relay_field *field =
            before && !relay_find_field(old, now->items[i].name) ? relay_find_field(old, before) : NULL;
        if (field) {
            field->name = now->items[i].name;
        }
    }
    return true;
}
