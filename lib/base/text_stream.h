/* Texts that are written as a file, by open_memstream(). */
#ifndef REEL_BASE_TEXT_STREAM_H
#define REEL_BASE_TEXT_STREAM_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"

/* Closes one (NULL: there is none). False: a part of the text had no memory, and the rest is freed. That fclose()
 * succeeds is not enough: glibc's gives NULL for a text that it could not make shorter. */
static inline bool text_stream_close(FILE *stream, char **text) {
    bool whole = stream && fclose(stream) == 0 && *text;
    if (stream && !whole) {
        heap_failed();
        free(*text);
        *text = NULL;
    }
    return whole;
}

/* Completes the text so far. False: a part of it had no memory. */
static inline bool text_stream_flush(FILE *stream) {
    return fflush(stream) == 0 && !ferror(stream);
}

#endif
