/* convert() of the encodings of ROS (decode/encoding.h). */
#ifndef REEL_FORMATS_ROS_CONVERT_H
#define REEL_FORMATS_ROS_CONVERT_H

#include "decode/encoding.h"

struct reel_stream *ros_convert_to_ros1(struct reel_stream *source, struct reel_error *err);
struct reel_stream *ros_convert_to_ros2(struct reel_stream *source, struct reel_error *err);

#endif
