/* The MD5 sum by which ROS 1 identifies the revision of a type. It covers fields and constants, including those of
 * nested types, but no comments or blanks. */
#ifndef REEL_FORMATS_ROS_MD5_H
#define REEL_FORMATS_ROS_MD5_H

#include "base/digest.h"
#include "reel/error.h"
#include "reel/model.h"

/* The sum of the first type in `definition` (formats/ros/text.h), whose name is `type`. False: no memory, or
 * REEL_UNSUPPORTED when a type is missing or contains itself. */
bool ros_md5(const char *type, struct reel_bytes definition, char out[MD5_HEX], struct reel_error *err);

#endif
