/* The md5 sum by which ROS 1 tells revisions of a type apart. It covers fields and constants, also of the types that it holds, but no
 * comments and no blanks. */
#ifndef REEL_CORE_ROS_MD5_H
#define REEL_CORE_ROS_MD5_H

#include "reel/error.h"
#include "reel/model.h"
#include "wire/md5.h"

/* Of the first type in `definition` (core/ros_text.h), which is called `type`. False: no memory, or REEL_UNSUPPORTED when a type is missing
 * or holds itself. */
bool ros_md5(const char *type, struct reel_bytes definition, char out[MD5_TEXT], struct reel_error *err);

#endif
