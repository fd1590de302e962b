/* A ROS 2 bag as `ros2 bag record` leaves it: a folder. */
#ifndef SERVER_CLI_FOLDER_OUTPUT_H
#define SERVER_CLI_FOLDER_OUTPUT_H

#include "convert/conversion.h"

/* Writes the files of the tar archive that the conversion makes into the folder, which is created if missing. */
bool cli_write_folder(struct reel_conversion *conversion, const char *folder, bool replace, struct reel_loss *losses,
                      const struct reel_progress *progress, struct reel_error *err);

#endif
