/* Walks folders in a fixed order: the files of each by name, then its subfolders by name. Hidden and unfinished files
 * (.active, .part …) are skipped, as is everything that is neither file nor folder. */
#ifndef SERVER_IMPORTS_FOLDER_WALK_H
#define SERVER_IMPORTS_FOLDER_WALK_H

#include <limits.h>
#include <stdint.h>

#include "reel/cleanup.h"
#include "reel/error.h"

enum { FOLDER_DEPTH_MAX = 64 /* folders in folders */ };

struct folder_file {
    char *name;
    uint64_t device, inode, size;
    int64_t mtime_ns, ctime_ns;
};
struct folder_listing {
    struct folder_file *files;
    uint32_t n_files, files_room;
    char **folders;
    uint32_t n_folders, folders_room;
};
void folder_listing_done(struct folder_listing *l);

/* The entries of an open folder. */
bool folder_list(int fd, struct folder_listing *l, struct reel_error *err);
struct stat;
bool folder_listing_add(struct folder_listing *l, const char *name, const struct stat *st, struct reel_error *err);
bool folder_passes_name(const char *name);

enum folder_decision { FOLDER_ENTER, FOLDER_PASS, FOLDER_STOP };
struct folder_visit {
    enum folder_decision (*enter)(void *context, const char *folder, struct reel_error *err); /* FOLDER_STOP: why is in
                                                                                                 err */
    /* The files of a folder. May remove subfolders from the listing; the remaining ones are walked. False: stop. */
    bool (*files)(void *context, const char *folder, int fd, struct folder_listing *l, struct reel_error *err);
    void (*refused)(void *context, const char *folder, const struct reel_error *why); /* called for a folder that cannot
                                                                                         be opened; the walk continues
                                                                                       */
    void *context;
};
bool folder_walk(const struct folder_visit *visit, const char *folder, int fd, struct reel_error *err);

#endif
