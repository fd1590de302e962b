/* Definitions that Reel has of common packages, for recordings that hold none. They are those of standard.h, which also
 * says what ROS 1 and ROS 2 have in common, and of more packages. Names of types are "pkg/Type". */
#ifndef REEL_FORMATS_ROS_BUILTIN_H
#define REEL_FORMATS_ROS_BUILTIN_H

#include "base/arena.h"
#include "formats/ros/standard.h"

/* Distributions of ROS 2 between which the layout of a type has changed. Iron has the types of Jazzy, Galactic those of
 * Humble or Foxy. */
enum ros_distribution { ROS_JAZZY, ROS_HUMBLE, ROS_FOXY, ROS_DISTRIBUTIONS };

extern const struct ros_standard_text ros2_more_texts[], ros1_more_texts[]; /* builtin_texts.c; sorted by name */
extern const size_t ros2_more_texts_count, ros1_more_texts_count;
struct ros_older_text {
    const char *name, *text;
    enum ros_distribution newest; /* that has it */
};
extern const struct ros_older_text ros2_older_texts[];
extern const size_t ros2_older_texts_count;

/* The text of a type; NULL: it is not built in. `distribution` counts for ROS 2 only. *text is static or in the arena.
 * False: no memory. */
bool ros_builtin_text(struct arena *arena, enum ros_dialect dialect, enum ros_distribution distribution,
                      const char *name, const char **text, struct reel_error *err);

/* Whether a type of ROS 2 has had several layouts. */
bool ros_builtin_varies(const char *name);

#endif
