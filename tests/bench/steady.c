/* libsteady.so: preloaded into a program whose instructions are counted (instructions.py), so that they are the same on
 * every machine and in every run: the program sees one core and starts the same threads, and its hash tables get the
 * same seeds, with which the same keys collide. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/random.h>
#include <unistd.h>

long sysconf(int name) {
    static long (*next)(int);
    if (name == _SC_NPROCESSORS_ONLN) {
        return 1;
    }
    if (!next) {
        *(void **)&next = dlsym(RTLD_NEXT, "sysconf");
    }
    return next(name);
}

ssize_t getrandom(void *to, size_t size, unsigned flags) {
    static uint64_t calls;
    uint64_t state = ++calls;
    (void)flags;
    for (size_t i = 0; i < size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        ((uint8_t *)to)[i] = (uint8_t)(state >> 56);
    }
    return (ssize_t)size;
}
