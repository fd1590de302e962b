/* A heap whose n-th allocation fails, also for the libraries: what a program defines, they use. And a source whose n-th
 * read fails. */
#ifndef REEL_TESTS_FAILING_H
#define REEL_TESTS_FAILING_H

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "heap.h"

/* `at` counts down; the call that finds it 0 fails. Negative: none does. */
struct countdown {
    long at, seen;
};
static struct countdown allocations = {.at = -1}, reads = {.at = -1};
static long blocks; /* allocated and not freed */

static void *failed_caller; /* who called it */

/* Set a breakpoint here to see which call fails. */
__attribute__((noinline)) static bool fails_now(void *caller) {
    failed_caller = caller;
    return true;
}
static inline bool counts_down(struct countdown *c, void *caller) {
    c->seen++;
    return c->at >= 0 && c->at-- == 0 && fails_now(caller);
}

/* Does this library leak when it meets the failure? libzip's zip_fopen_index() does. */
static bool failed_in(const char *library) {
    Dl_info info;
    return dladdr(failed_caller, &info) && strstr(info.dli_fname, library);
}

void *malloc(size_t size) {
    void *p = counts_down(&allocations, __builtin_return_address(0)) ? NULL : HEAP(malloc)(size);
    errno = p ? errno : ENOMEM;
    blocks += p != NULL;
    return p;
}
void *calloc(size_t n, size_t size) {
    void *p = counts_down(&allocations, __builtin_return_address(0)) ? NULL : HEAP(calloc)(n, size);
    errno = p ? errno : ENOMEM;
    blocks += p != NULL;
    return p;
}
void *realloc(void *old, size_t size) {
    void *p = counts_down(&allocations, __builtin_return_address(0)) ? NULL : HEAP(realloc)(old, size);
    errno = p ? errno : ENOMEM;
    blocks += p != NULL && old == NULL;
    return p;
}
#ifndef HEAP_SANITIZED /* else leaks are the sanitizer's to find */
void free(void *p) {
    blocks -= p != NULL;
    HEAP(free)(p);
}
#endif

struct failing_source {
    struct reel_source source;
    struct reel_source *below;
};

static bool failing_read(struct reel_source *s, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    if (counts_down(&reads, __builtin_return_address(0))) {
        errno = EIO;
        return reel_fail_errno(err, "%s: reading at %llu", s->name, (unsigned long long)offset);
    }
    return reel_source_read(((struct failing_source *)s)->below, offset, buffer, size, err);
}
static void failing_free(struct reel_source *s) {
    reel_source_free(((struct failing_source *)s)->below);
    free(s);
}

/* Takes `below` over. */
static struct reel_source *failing_source(struct reel_source *below) {
    static const struct reel_source_ops ops = {.read = failing_read, .free = failing_free};
    struct failing_source *s = calloc(1, sizeof *s);
    if (!s) {
        reel_source_free(below);
        return NULL;
    }
    *s = (struct failing_source){.source = {.ops = &ops, .size = below->size, .name = below->name}, .below = below};
    return &s->source;
}

#endif
