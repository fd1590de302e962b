/* The writer of the .db3 file of a ROS 2 bag, for the writer of the folder (write.c). */
#ifndef REEL_FORMATS_ROSBAG2_WRITE_DB3_H
#define REEL_FORMATS_ROSBAG2_WRITE_DB3_H

#include "convert/writer.h"

/* head() and its checksum depend on what follows; the size does not */
extern const struct reel_writer rosbag2_db3_writer;

#endif
