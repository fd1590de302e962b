/* What a folder holds: one recording (the files of `ros2 bag record`, a .traj with its .state, splits), or several. */
#ifndef REEL_READ_FOLDER_H
#define REEL_READ_FOLDER_H

#include "index/collect.h"

struct folder_recording {
    const char **paths;               /* its files; the first one's format reads all */
    uint32_t n, main;                 /* main: the file that names the recording in a folder of several */
    const struct reel_format *format; /* NULL: unknown, of a file that is named as recordings are */
};
struct folder {
    char **files; /* sorted by name: the regular files that are not hidden */
    const char **paths;
    struct folder_recording *items;
    char **folders; /* and the folders in it */
    uint32_t n_files, n, n_folders;
    size_t room_files, room_folders;
};
/* Of the files that `takes` accepts; NULL: all. */
typedef bool (*folder_takes)(void *context, const char *path);
bool folder_read(const char *path, folder_takes takes, void *context, struct folder *out, struct reel_error *err);
void folder_done(struct folder *folder);

/* The only recording in the folder; NULL: there are several, or none. One that cannot be read does not count beside one
 * that can. */
const struct folder_recording *folder_only(const struct folder *folder);
/* Whether the recording is named after the folder: it is the only one and has several files, or one that is named after
 * the folder (my_bag/my_bag_0.mcap). */
bool folder_names(const struct folder *folder, const char *folder_name);
bool folder_names_file(const char *folder_name, const char *file_name);

#endif
