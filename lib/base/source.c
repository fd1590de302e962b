/* Positional reads of files, memory and slices. reel_source_read() checks every range, so the implementations below do
 * not. */
#include "base/source.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct file_source {
    struct reel_source source;
    int fd;
    char name[];
};
struct memory_source {
    struct reel_source source;
    const uint8_t *data;
    char name[];
};
struct slice_source {
    struct reel_source source;
    struct reel_source *base;
    uint64_t offset;
};

static bool source_file_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                             struct reel_error *err) {
    const struct file_source *file = (const struct file_source *)source;
    uint8_t *at = (uint8_t *)buffer;
    while (size > 0) {
        ssize_t got = pread(file->fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return reel_fail_errno(err, "%s: reading %zu bytes at %" PRIu64, source->name, size, offset);
        }
        if (got == 0) {
            return reel_fail(err, REEL_CHANGED,
                             "%s: file became shorter while it was read: it had %" PRIu64
                             " bytes and now ends at or before %" PRIu64,
                             source->name, source->size, offset);
        }
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}
static void file_free(struct reel_source *source) {
    close(((struct file_source *)source)->fd);
    free(source);
}
static int file_fd(struct reel_source *source) {
    return ((const struct file_source *)source)->fd;
}
static const struct reel_source_ops file_ops = {.read = source_file_read, .free = file_free, .fd = file_fd};

static bool memory_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                        struct reel_error *err) {
    (void)err;
    memcpy(buffer, ((const struct memory_source *)source)->data + offset, size);
    return true;
}
static void memory_free(struct reel_source *source) {
    free(source);
}
static const uint8_t *memory_bytes(struct reel_source *source) {
    return ((const struct memory_source *)source)->data;
}
static const struct reel_source_ops memory_ops = {.read = memory_read, .free = memory_free, .bytes = memory_bytes};

static bool slice_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    const struct slice_source *slice = (const struct slice_source *)source;
    return reel_source_read(slice->base, slice->offset + offset, buffer, size, err);
}
static const uint8_t *slice_bytes(struct reel_source *source) {
    const struct slice_source *slice = (const struct slice_source *)source;
    const uint8_t *bytes = reel_source_bytes(slice->base);
    return bytes ? bytes + slice->offset : NULL;
}
static const struct reel_source_ops slice_ops = {.read = slice_read, .free = memory_free, .bytes = slice_bytes};

struct reel_source *reel_source_open(const char *path, const char *name, struct reel_error *err) {
    if (!name) {
        const char *slash = strrchr(path, '/');
        name = slash ? slash + 1 : path;
    }
    /* O_NONBLOCK: opening a pipe must not wait for its other end; no effect on regular files. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        reel_fail_errno(err, "%s: cannot be opened", name);
        return NULL;
    }
    return reel_source_from_fd(fd, name, err);
}

struct reel_source *reel_source_from_fd(int fd, const char *name, struct reel_error *err) {
    AUTO_FD int owned = fd;
    name = name ? name : "file";
    struct stat st;
    if (fstat(fd, &st) != 0) {
        reel_fail_errno(err, "%s: cannot be examined", name);
        return NULL;
    }
    if (!S_ISREG(st.st_mode)) {
        reel_fail(err, REEL_ARGUMENT, "%s: not a regular file", name);
        return NULL;
    }
    size_t name_size = strlen(name) + 1;
    struct file_source *file = (struct file_source *)malloc(sizeof *file + name_size);
    if (!file) {
        reel_fail_memory(err);
        return NULL;
    }
    memcpy(file->name, name, name_size);
    file->source = (struct reel_source){.ops = &file_ops, .size = (uint64_t)st.st_size, .name = file->name};
    file->fd = owned;
    owned = -1;
    return &file->source;
}

struct reel_source *reel_source_from_memory(struct reel_bytes data, const char *name, struct reel_error *err) {
    name = name ? name : "memory";
    size_t name_size = strlen(name) + 1;
    struct memory_source *memory = (struct memory_source *)malloc(sizeof *memory + name_size);
    if (!memory) {
        reel_fail_memory(err);
        return NULL;
    }
    memcpy(memory->name, name, name_size);
    memory->source = (struct reel_source){.ops = &memory_ops, .size = data.size, .name = memory->name};
    memory->data = data.data;
    return &memory->source;
}

/* offset + size may overflow, because both may come from a file; so compare without adding. */
static bool source_holds(const struct reel_source *source, uint64_t offset, uint64_t size, struct reel_error *err) {
    if (offset <= source->size && size <= source->size - offset) {
        return true;
    }
    return reel_fail(err, REEL_DAMAGED, "%s: %" PRIu64 " bytes at %" PRIu64 " exceeds the file of %" PRIu64 " bytes",
                     source->name, size, offset, source->size);
}

struct reel_source *reel_source_slice(struct reel_source *base, uint64_t offset, uint64_t size,
                                      struct reel_error *err) {
    if (!source_holds(base, offset, size, err)) {
        return NULL;
    }
    struct slice_source *slice = (struct slice_source *)malloc(sizeof *slice);
    if (!slice) {
        reel_fail_memory(err);
        return NULL;
    }
    slice->source = (struct reel_source){.ops = &slice_ops, .size = size, .name = base->name};
    slice->base = base;
    slice->offset = offset;
    return &slice->source;
}

bool reel_source_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    return source_holds(source, offset, size, err) &&
           (size == 0 || source->ops->read(source, offset, buffer, size, err));
}

int reel_source_fd(struct reel_source *source) {
    return source->ops->fd ? source->ops->fd(source) : -1;
}

const uint8_t *reel_source_bytes(struct reel_source *source) {
    return source->ops->bytes ? source->ops->bytes(source) : NULL;
}

void reel_source_free(struct reel_source *source) {
    if (source) {
        source->ops->free(source);
    }
}
