/* A malloc for a library that goes on when memory has run out: without it jansson leaves a member out of an object that
 * is built, and calls a text invalid that is read. Who depends on either compares heap_failures() before and after. */
#ifndef REEL_BASE_HEAP_H
#define REEL_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

void *heap_malloc(size_t size);

/* Notes one of an own allocation. */
void heap_failed(void);

/* Of this thread, until now. */
uint64_t heap_failures(void);

#endif
