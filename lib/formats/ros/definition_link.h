#ifndef REEL_FORMATS_ROS_DEFINITION_LINK_H
#define REEL_FORMATS_ROS_DEFINITION_LINK_H

#include "formats/ros/definition_tree.h"

/* Resolves the names of types and computes the sizes of all steps, from the type `top` on. Types that `top` does not
 * need may be wrong. */
bool ros_definition_link(struct ros_definition *def, const char *top, struct reel_error *err);
/* Sorts the names, for the functions below; a definition that is linked is sorted. */
bool ros_definition_sort(struct ros_definition *def, struct reel_error *err);
/* The type of exactly this name; of equal ones the first. */
bool ros_definition_find(const struct ros_definition *def, const char *name, uint32_t *type);
/* a/b/NAME, a/NAME or NAME for a field of the type a/b/C. */
bool ros_definition_find_near(const struct ros_definition *def, const char *owner, const char *name, uint32_t *type);

#endif
