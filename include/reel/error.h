/* Errors: every function that can fail returns bool (or a pointer) and takes the caller's `struct reel_error *` last.
 * The error is described once, where it happens; callers add the location with reel_error_at(). No allocation, no
 * globals. */
#ifndef REEL_ERROR_H
#define REEL_ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum reel_code {
    REEL_OK = 0,
    REEL_NOT_MINE,    /* the bytes are no recording of this format */
    REEL_DAMAGED,     /* recognised, but the bytes break the format's rules */
    REEL_UNSUPPORTED, /* understood, and deliberately not done (encrypted, future version, target cannot hold it) */
    REEL_LIMIT,       /* a ceiling of the library was met, which the text names */
    REEL_ARGUMENT,    /* the caller's request makes no sense */
    REEL_NOT_FOUND,
    REEL_CONFLICT, /* it exists already, or is in another state */
    REEL_IO,       /* the system failed: err->sys holds errno */
    REEL_NO_SPACE, /* ENOSPC, EDQUOT, or a quota of the server */
    REEL_NO_MEMORY,
    REEL_CANCELLED,
    REEL_CHANGED,   /* a file is not what it was when it was indexed, or an index is not what was written */
    REEL_READ_ONLY, /* EROFS */
    REEL_CATALOG,   /* of the server: its catalog is damaged, or cannot be read */
    REEL_BUSY,      /* another process holds what is needed; try again soon */
};

struct reel_error { /* the layout stays */
    enum reel_code code;
    int sys;        /* errno of the failing call, 0 when no system call was involved */
    char text[384]; /* one line, no final newline, no path of the server's own */
};

/* Fills `err` (which may be NULL) and returns false, so that a check is `return reel_fail(err, …)`. */
__attribute__((format(printf, 3, 4))) bool reel_fail(struct reel_error *err, enum reel_code code, const char *format,
                                                     ...);

/* The same for a failed system call: appends strerror(errno), and turns ENOSPC/EDQUOT into REEL_NO_SPACE, EROFS into
 * REEL_READ_ONLY. */
__attribute__((format(printf, 2, 3))) bool reel_fail_errno(struct reel_error *err, const char *format, ...);

/* Prepends "where: " to an error. Returns false. */
__attribute__((format(printf, 2, 3))) bool reel_error_at(struct reel_error *err, const char *where, ...);

/* Passes on an error that another call has filled, with its code, errno and text. Returns false. */
bool reel_error_pass(struct reel_error *err, const struct reel_error *own);

bool reel_fail_memory(struct reel_error *err); /* REEL_NO_MEMORY */

/* The cause is the state of this machine (no memory, I/O, disk full), not the file: a retry may succeed. */
bool reel_is_transient(enum reel_code code);

#ifdef __cplusplus
}
#endif

#endif
