/* See heap.h. */
#include "base/heap.h"

#include <pthread.h>
#include <stdlib.h>

enum { SPARE_BYTES = 256 << 10, ALIGNMENT = 16 };

static _Thread_local uint64_t failures, asked;

static struct { /* given out from the front, and all of it again when all has come back */
    pthread_mutex_t mutex;
    size_t used, lent; /* bytes, pieces */
    _Alignas(ALIGNMENT) uint8_t bytes[SPARE_BYTES];
} spare = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *take_spare(size_t size) {
    size_t room = (size / ALIGNMENT + 1) * ALIGNMENT;
    void *p = NULL;
    pthread_mutex_lock(&spare.mutex);
    if (size < SPARE_BYTES && room <= SPARE_BYTES - spare.used) {
        p = spare.bytes + spare.used;
        spare.used += room;
        spare.lent++;
    }
    pthread_mutex_unlock(&spare.mutex);
    return p;
}

static bool give_spare(const void *p) {
    if ((uintptr_t)p < (uintptr_t)spare.bytes || (uintptr_t)p >= (uintptr_t)(spare.bytes + SPARE_BYTES)) {
        return false;
    }
    pthread_mutex_lock(&spare.mutex);
    spare.lent--;
    spare.used = spare.lent > 0 ? spare.used : 0;
    pthread_mutex_unlock(&spare.mutex);
    return true;
}

void *heap_malloc(size_t size) {
    void *p = malloc(size);
    failures += p == NULL;
    return p ? p : take_spare(size);
}

void heap_free(void *p) {
    if (!give_spare(p)) {
        free(p);
    }
}

void heap_failed(void) {
    failures++;
}

uint64_t heap_failures(void) {
    return failures;
}

bool heap_lacks(void) {
    bool lacks = failures != asked;
    asked = failures;
    return lacks;
}
