/* See own.h. */
#include "reel/own.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void reel_own_by_folder(int fd, const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int size = slash ? (int)(slash - path) : 1;
    struct stat st;
    if (geteuid() != 0 || snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : size, slash ? path : ".") >= (int)sizeof folder) {
        return;
    }
    if (stat(folder, &st) == 0 && st.st_uid != 0 && fchown(fd, st.st_uid, st.st_gid) != 0) {
        return; /* it stays root's, who can still use it */
    }
}
