/* See spool.h. */
#include "chunks/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/limits.h"
#include "base/ownership.h"
#include "chunks/codec.h"

enum {
    IN_MEMORY_MAX = 1 << 20,
    PACKED_RATIO = 64, /* the highest ratio of a large file */
};

uint64_t spool_unpacked_max(uint64_t stored) {
    uint64_t max = (uint64_t)REEL_CHUNK_RAW_MAX_MIB << 20;
    return stored > max / PACKED_RATIO ? stored * PACKED_RATIO : max;
}

struct memory_source {
    struct reel_source source;
    uint8_t *data;
};

static bool memory_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                        struct reel_error *err) {
    (void)err;
    memcpy(buffer, ((struct memory_source *)source)->data + offset, size);
    return true;
}

static const uint8_t *memory_bytes(struct reel_source *source) {
    return ((struct memory_source *)source)->data;
}

static void memory_free(struct reel_source *source) {
    free(((struct memory_source *)source)->data);
    free(source);
}

/* A source that owns `data` (malloc'd; freed on failure too). */
static struct reel_source *spool_memory(uint8_t *data, size_t size, const char *name, struct reel_error *err) {
    static const struct reel_source_ops ops = {.read = memory_read, .free = memory_free, .bytes = memory_bytes};
    struct memory_source *m = malloc(sizeof *m);
    if (!m) {
        free(data);
        reel_fail_memory(err);
        return NULL;
    }
    *m = (struct memory_source){.source = {.ops = &ops, .size = size, .name = name}, .data = data};
    return &m->source;
}

static int open_and_unlink(const char *folder) {
    AUTO_MEM char *path = NULL;
    if (asprintf(&path, "%s/reel-XXXXXX", folder) < 0) {
        path = NULL;
        errno = ENOMEM;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path);
    }
    return fd;
}

/* Errors of file systems without O_TMPFILE: NFS and some overlays. */
static bool no_tmpfile(int error) {
    return error == EOPNOTSUPP || error == EISDIR || error == ENOENT || error == EINVAL;
}

int spool_open(const char *folder, struct reel_error *err) {
    folder = folder ? folder : getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && no_tmpfile(errno)) {
        fd = open_and_unlink(folder);
    }
    if (fd < 0) {
        reel_fail_errno(err, "could not make a temporary file");
    }
    return fd;
}

/* owned by the source from here on */
static struct reel_source *source_of_fd(int *fd, const char *name, struct reel_error *err) {
    int taken = *fd;
    *fd = -1;
    return reel_source_from_fd(taken, name, err);
}

static struct reel_source *spool_unlinked(const struct reel_chunk *chunk, struct reel_source *part,
                                          struct reel_error *err) {
    AUTO_FD int fd = spool_open(NULL, err);
    if (fd < 0 || !codec_decode_chunk_to_fd(chunk, part, fd, err)) {
        return NULL;
    }
    return source_of_fd(&fd, part->name, err);
}

struct reel_source *spool_unmeasured(struct reel_chunk *chunk, struct reel_source *part, uint64_t max,
                                     struct reel_error *err) {
    AUTO_FD int fd = spool_open(NULL, err);
    if (fd < 0 || !codec_unpack_to_fd(chunk->codec, part, chunk->offset, chunk->stored, fd, max, &chunk->raw, err)) {
        return NULL;
    }
    return source_of_fd(&fd, part->name, err);
}

struct reel_source *spool_file(const struct reel_chunk *chunk, struct reel_source *part, const char *path,
                               struct reel_error *err) {
    if (!path) {
        return spool_unlinked(chunk, part, err);
    }
    struct stat st;
    AUTO_FD int there = open(path, O_RDONLY | O_CLOEXEC); /* a cleanup of the folder may remove it at any time */
    if (there >= 0 && fstat(there, &st) == 0 && (uint64_t)st.st_size == chunk->raw) {
        return source_of_fd(&there, part->name, err);
    }
    AUTO_MEM char *temporary = disk_adjacent(path, ".tmp-XXXXXX");
    if (!temporary) {
        reel_fail_memory(err);
        return NULL;
    }
    AUTO_FD int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        reel_fail_errno(err, "could not make a derived file");
        return NULL;
    }
    reel_own_by_folder(fd, temporary);
    if (!codec_decode_chunk_to_fd(chunk, part, fd, err)) {
        unlink(temporary);
        return NULL;
    }
    if (fdatasync(fd) != 0 || rename(temporary, path) != 0) { /* after a crash the name must not refer to a file of
                                                                 zeros */
        reel_fail_errno(err, "could not put a derived file in place");
        unlink(temporary);
        return NULL;
    }
    return source_of_fd(&fd, part->name, err);
}

/* There may be many such files: only small ones are in memory. */
static struct reel_source *spool_large(const struct reel_chunk *chunk, struct reel_source *part,
                                       struct reel_error *err) {
    return chunk->codec != REEL_CODEC_NONE && chunk->raw > IN_MEMORY_MAX ? spool_unlinked(chunk, part, err)
                                                                         : spool_chunk(chunk, part, err);
}

struct reel_source *spool_chunk(const struct reel_chunk *chunk, struct reel_source *part, struct reel_error *err) {
    if (chunk->codec == REEL_CODEC_NONE) {
        return reel_source_slice(part, chunk->offset, chunk->stored, err);
    }
    if (chunk->raw > REEL_CHUNK_MEMORY_MAX) {
        return spool_unlinked(chunk, part, err);
    }
    AUTO_MEM uint8_t *data = malloc(chunk->raw ? chunk->raw : 1);
    if (!data) {
        reel_fail_memory(err);
        return NULL;
    }
    if (!codec_decode_chunk(chunk, part, data, NULL, err)) {
        return NULL;
    }
    return spool_memory(TAKE(data), chunk->raw, part->name, err);
}

struct reel_source *spool_recovered(struct reel_chunk *chunk, struct reel_source *part, uint64_t max,
                                    char why[SPOOL_WHY_ROOM], struct reel_error *err) {
    struct reel_error own = {0};
    struct reel_source *source =
        chunk->raw == UINT64_MAX ? spool_unmeasured(chunk, part, max, &own) : spool_large(chunk, part, &own);
    if (source || own.code != REEL_DAMAGED || chunk->codec == REEL_CODEC_NONE) {
        return source ? source : (reel_error_pass(err, &own), NULL);
    }
    if (!codec_measure_damaged(chunk, part, max, err)) {
        return NULL;
    }
    if (chunk->raw == 0) {
        reel_error_pass(err, &own);
        return NULL;
    }
    snprintf(why, SPOOL_WHY_ROOM, "%.*s", SPOOL_WHY_ROOM - 1, own.text);
    return spool_large(chunk, part, err);
}
