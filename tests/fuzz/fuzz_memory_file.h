/* Bytes as a file that is in memory, for what reads descriptors. */
#ifndef TESTS_FUZZ_MEMORY_FILE_H
#define TESTS_FUZZ_MEMORY_FILE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/disk.h"

static inline int fuzz_memory_file(struct reel_bytes bytes) {
    int fd = memfd_create("fuzzed", MFD_CLOEXEC);
    if (fd < 0 || !disk_write_at(fd, bytes.data, bytes.size, 0)) {
        abort();
    }
    return fd;
}

#endif
