/* The folders whose files may be imported, and how to open something in them: neither ".." nor a symbolic link leads
 * out of them. */
#ifndef SERVER_STORE_ROOTS_H
#define SERVER_STORE_ROOTS_H

#include <limits.h>

#include "reel/cleanup.h"
#include "reel/error.h"

struct roots;

/* `folders` ends with NULL; NULL: none. Each must be there. */
struct roots *roots_open(const char *const *folders, struct reel_error *err);
void roots_close(struct roots *roots);
REEL_DEFINE_AUTO(struct roots, roots_close);
bool roots_add(struct roots *roots, const char *folder, struct reel_error *err); /* before it is used; a root that is
                                                                                    known already is fine */
unsigned roots_count(const struct roots *roots);                                 /* NULL: 0 */
const char *roots_folder(const struct roots *roots, unsigned i);

/* What a path from outside means, absolute and tidied: itself when it is absolute, else below the first root that has
 * it. The result does not depend on what exists outside of the roots: REEL_ARGUMENT for "..", REEL_NOT_FOUND for what
 * is below no root. */
bool roots_resolve(const struct roots *roots, const char *path, char out[PATH_MAX], struct reel_error *err);
/* The part of such a path below its root, to show to users; "." for the root, NULL for what is below none. */
const char *roots_below(const struct roots *roots, const char *path);
/* Opens it, never waiting for a pipe; -1 with err: REEL_NOT_FOUND (nothing there, or no root above it), REEL_ARGUMENT
 * (a link is in the way). */
int roots_open_file(const struct roots *roots, const char *path, int flags, struct reel_error *err);
bool roots_unlink(const struct roots *roots, const char *path, struct reel_error *err);

/* For tests: as if the system had no openat2(). */
void roots_without_openat2(bool without);

#endif
