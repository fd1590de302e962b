/* See heap.h. */
#include "base/heap.h"

#include <stdlib.h>

static _Thread_local uint64_t failures;

void *heap_malloc(size_t size) {
    void *p = malloc(size);
    failures += p == NULL;
    return p;
}

void heap_failed(void) {
    failures++;
}

uint64_t heap_failures(void) {
    return failures;
}
