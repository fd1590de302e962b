/* libreel: reads recordings of robots and simulators, and writes them in other formats. See libreel(3), example.c and
 * example.cc. What holds everywhere is said here once.
 *
 * Errors     Functions that can fail return false or NULL and describe the failure in the caller's struct reel_error,
 *            which may be NULL. REEL_NO_MEMORY, REEL_IO and, for what a damaged file can cause, REEL_DAMAGED and
 *            REEL_LIMIT are possible everywhere and are not listed at each function.
 * Text       UTF-8, NUL-terminated.
 * Times      int64_t nanoseconds: since 1970, or since the recording's own zero (reel_index_info.clock).
 * Ownership  What a function returns as a pointer to const belongs to the object it was got from and lives as long, or
 *            as the comment says. Other objects are the caller's, who frees them with the function named for that;
 *            those with a …_ref() function count references. What is passed in stays the caller's and is copied where
 *            it is needed longer, unless a comment says that it is taken over.
 * Threads    There is no global state. Recordings, indexes, columns, questions, formats, writers and struct
 * reel_threads are immutable or lock themselves: any number of threads may use one at the same time. Playback's
 * controls too. Streams, with their messages and struct reel_json, recorders, statistics and loss reports belong to one
 * thread at a time. Different objects are independent. Versions   The interface is that of the library's major and
 * minor version, which are its soname. Structs that a caller fills begin with their size, `{.size = sizeof options}`:
 * the library reads no more of them than the program was compiled with, and members that a program does not know have
 * the value 0. A struct whose size is not set is refused with REEL_ARGUMENT. Structs that the library returns may get
 * members at their end; elements of arrays, and structs of callbacks, keep their layout. */
#ifndef REEL_REEL_H
#define REEL_REEL_H

#include "reel/convert.h"
#include "reel/open.h"
#include "reel/play.h"
#include "reel/record.h"
#include "reel/stream.h"
#include "reel/threads.h"
#include "reel/time.h"
#include "reel/values.h"
#include "reel/version.h"

#endif
