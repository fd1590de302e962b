/* A malloc for a library that goes on when memory has run out: without it jansson leaves a member out of an object that
 * is built, and calls a text invalid that is read, or ends the process. Who depends on either compares heap_failures()
 * before and after. */
#ifndef REEL_BASE_HEAP_H
#define REEL_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When memory has run out, from a little that is set aside, so that the library comes to an end; it is a failure all
 * the same. */
void *heap_malloc(size_t size);
void heap_free(void *p);

/* Notes one of an own allocation. */
void heap_failed(void);

/* Of this thread, until now. */
uint64_t heap_failures(void);

/* Whether there was one on this thread since this was asked last. */
bool heap_lacks(void);

#endif
