/* The encodings of ROS 1 and ROS 2. */
#ifndef REEL_FORMATS_ROS_ROS_H
#define REEL_FORMATS_ROS_ROS_H

#include "decode/encoding.h"

extern const struct reel_encoding reel_encoding_ros1, reel_encoding_cdr;

#endif
