/* Whose a file is that root makes. */
#ifndef REEL_CORE_OWNERSHIP_H
#define REEL_CORE_OWNERSHIP_H

/* A file or folder that was made as root in a folder of somebody else's is that one's from now on: whoever serves those files without
 * root's rights must be able to read, replace and remove what a command left there. `fd` is open on it (-1: it was not made), `path` names
 * it. Without root, and where it fails, nothing changes. */
void reel_own_by_folder(int fd, const char *path);

#endif
