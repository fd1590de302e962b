/* The owner of files that root creates. */
#ifndef REEL_BASE_OWNERSHIP_H
#define REEL_BASE_OWNERSHIP_H

/* Gives a file or folder that root has created to the owner of the folder it is in: a server that runs as that user
 * must be able to read, replace and remove what a command created there. `fd` is open on it (-1: it was not created),
 * `path` names it. Does nothing without root; if it fails, the owner stays as it is. */
void reel_own_by_folder(int fd, const char *path);

#endif
