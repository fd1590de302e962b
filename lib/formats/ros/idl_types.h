/* The type of a member in IDL, and the types that are made for those inside others: a list in a list, a map. */
#ifndef REEL_FORMATS_ROS_IDL_TYPES_H
#define REEL_FORMATS_ROS_IDL_TYPES_H

#include "formats/ros/definition_tree.h"
#include "formats/ros/idl_annotations.h"

struct idl_type {
    const char *word; /* a ROS type or the name of another */
    bool is_named;    /* of another type */
    bool inner;       /* ros_definition_step.inner */
    uint8_t many;     /* ros_many */
    uint32_t count;
    uint32_t bound; /* of a text; 0: any */
};
/* A type without a name in the definition. It gets a number as its name, which no other type has, and is added when the
 * declaration that needs it is complete: steps are added to the last type only. */
struct idl_nameless {
    struct idl_type types[2]; /* of an alias; of a map, whose form has two steps: key and value */
    bool is_map;
};

struct idl {
    struct idl_lexer l;
    struct ros_definition *def;
    struct idl_constants constants;
    struct arena arena;        /* while reading */
    char scope[ROS_NAME_ROOM]; /* "geometry_msgs/msg", "" outside of modules */
    struct idl_nameless *nameless;
    size_t n_nameless, nameless_room, n_added;
    struct ros_label *labels; /* of the union being read */
    size_t n_labels, labels_room, all_labels;
};

bool idl_type_read(struct idl *p, struct idl_type *out, struct reel_error *err);
/* Reads the dimensions of an array behind a name: `[5][2]`. */
bool idl_dimensions(struct idl *p, struct idl_type *type, struct reel_error *err);
/* Adds a step of this type to the last type. */
bool idl_add_member(struct idl *p, const struct idl_type *type, struct reel_bytes name, struct reel_error *err);
/* The type `name` in the current modules, without steps so far. */
struct ros_definition_type *idl_add_type(struct idl *p, struct reel_bytes name, enum ros_form form,
                                         struct reel_error *err);
bool idl_add_nameless(struct idl *p, struct reel_error *err); /* those that were needed since the last call */

#endif
