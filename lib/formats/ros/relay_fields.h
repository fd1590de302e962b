/* The fields of a pair of types by the names that they have in ROS 2, so that those that belong together are found. */
#ifndef REEL_FORMATS_ROS_RELAY_FIELDS_H
#define REEL_FORMATS_ROS_RELAY_FIELDS_H

#include "formats/ros/definition_tree.h"

struct relay_field {
    const struct ros_definition_step *step;
    const char *name;
};
struct relay_fields {
    struct relay_field *items;
    uint32_t count;
};

/* Memory comes from the arena. False with err: no memory, or more than ROS_TYPE_FIELDS_MAX fields. */
bool relay_list_fields(struct arena *arena, const struct ros_definition *def, uint32_t type, struct relay_fields *out,
                       struct reel_error *err);
struct relay_field *relay_find_field(const struct relay_fields *fields, const char *name); /* NULL: none */

/* Gives the fields of an old definition of ROS 1 the names that they have got since; `type` is the name in ROS 2. */
bool relay_rename_old(struct arena *arena, const char *type, const struct ros_definition *ros1,
                      struct relay_fields *old, const struct ros_definition *ros2, struct relay_fields *now,
                      struct reel_error *err);

#endif
