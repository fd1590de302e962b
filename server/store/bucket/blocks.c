/* What is cached. See blocks.h. */
#include "store/bucket/blocks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/hex.h"
#include "base/ownership.h"
#include "reel/time.h"
#include "store/bucket/blocks_internal.h"

enum { HEX = CONTENT_TEXT - 1 };
static const char map_suffix[] = ".map";

uint32_t block_size(const struct held *h, uint32_t block) {
    uint64_t at = (uint64_t)block * BLOCK_BYTES;
    return h->size - at < BLOCK_BYTES ? (uint32_t)(h->size - at) : BLOCK_BYTES;
}

uint32_t block_sum(const void *data, size_t size) {
    uint32_t sum = libdeflate_crc32(0, data, size);
    return sum ? sum : 1;
}

static bool blocks_path_of(const struct blocks *all, const char *content, const char *suffix, char out[PATH_MAX]) {
    int n = snprintf(out, PATH_MAX, "%s/%s%s", all->folder, content, suffix);
    return n > 0 && n < PATH_MAX;
}

/* ---- the table; blocks->mutex is held */

static unsigned blocks_bucket_of(const char *content) {
    unsigned bucket = 0;
    sscanf(content, "%3x", &bucket);
    return bucket % BUCKETS;
}

struct held **held_place(struct blocks *all, const char *content, bool beside) {
    struct held **at = &all->table[blocks_bucket_of(content)];
    while (*at && ((*at)->beside != beside || strcmp((*at)->content, content) != 0)) {
        at = &(*at)->next;
    }
    return at;
}

struct held *held_add(struct blocks *all, const char *content, bool beside) {
    struct held *h = calloc(1, sizeof *h), **at = held_place(all, content, beside);
    if (h) {
        snprintf(h->content, sizeof h->content, "%s", content);
        h->bucket = blocks_bucket_of(content);
        h->beside = beside;
        h->fd = -1;
        pthread_mutex_init(&h->mutex, NULL);
        pthread_cond_init(&h->changed, NULL);
        h->next = *at;
        *at = h;
    }
    return h;
}

static void close_files(struct held *h) {
    if (h->sums) {
        munmap(h->sums, (size_t)h->n_blocks * sizeof *h->sums);
        h->sums = NULL;
    }
    if (h->fd >= 0) {
        close(h->fd);
        h->fd = -1;
    }
}

void held_drop(struct blocks *all, struct held *h) {
    struct held **at = &all->table[h->bucket];
    while (*at != h) { /* by its content it may not be found: another object may have it since */
        at = &(*at)->next;
    }
    *at = h->next;
    all->bytes -= h->bytes;
    close_files(h);
    free(h->path);
    free(h->blocks);
    pthread_mutex_destroy(&h->mutex);
    pthread_cond_destroy(&h->changed);
    free(h);
}

void held_remove_files(struct blocks *all, const struct held *h) {
    char path[PATH_MAX];
    if (blocks_path_of(all, h->content, "", path)) {
        unlink(path);
    }
    if (blocks_path_of(all, h->content, map_suffix, path)) {
        unlink(path);
    }
}

/* ---- the files of one object */

static void *map_sums(int fd, uint32_t n) {
    void *at = mmap(NULL, (size_t)n * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* What is known of the blocks holds while the files are the same. */
static bool keep_or_make_blocks(struct held *h, uint64_t size, const struct stat *data, const struct stat *map) {
    uint32_t n = (uint32_t)((size + BLOCK_BYTES - 1) / BLOCK_BYTES);
    if (!h->blocks || h->size != size || h->inodes[0] != data->st_ino || h->inodes[1] != map->st_ino ||
        data->st_size != (off_t)size) {
        free(h->blocks);
        h->blocks = calloc((size_t)n + 1, sizeof *h->blocks);
    }
    h->size = size;
    h->n_blocks = n;
    h->inodes[0] = data->st_ino;
    h->inodes[1] = map->st_ino;
    return h->blocks;
}

static bool open_files(struct blocks *all, struct held *h, uint64_t size, struct reel_error *err) {
    char data[PATH_MAX], map[PATH_MAX];
    struct stat st, map_st;
    if (!blocks_path_of(all, h->content, "", data) || !blocks_path_of(all, h->content, map_suffix, map)) {
        return reel_fail(err, REEL_ARGUMENT, "the path of the cache is too long");
    }
    if (size / BLOCK_BYTES >= UINT32_MAX) {
        return reel_fail(err, REEL_LIMIT, "the object is too large for the cache");
    }
    h->fd = open(data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    AUTO_FD int sums = open(map, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (h->fd < 0 || sums < 0 || fstat(h->fd, &st) != 0 || fstat(sums, &map_st) != 0) {
        return reel_fail_errno(err, "the cache cannot open a file");
    }
    if (!keep_or_make_blocks(h, size, &st, &map_st)) {
        return reel_fail_memory(err);
    }
    reel_own_by_folder(h->fd, data);
    reel_own_by_folder(sums, map);
    /* Allocated, not only as long: a mapped page without room would end the process. */
    off_t length = (off_t)h->n_blocks * (off_t)sizeof *h->sums;
    if ((map_st.st_size != length &&
         (ftruncate(sums, 0) != 0 || (length > 0 && !disk_allocate(sums, (uint64_t)length)))) ||
        ftruncate(h->fd, (off_t)size) != 0) {
        return reel_fail_errno(err, "the cache cannot make a file");
    }
    h->sums = h->n_blocks > 0 ? map_sums(sums, h->n_blocks) : NULL;
    return h->sums || h->n_blocks == 0 || reel_fail_errno(err, "the cache cannot map a file");
}

struct held *held_acquire(struct blocks *all, const char *content, uint64_t size, struct reel_error *err) {
    pthread_mutex_lock(&all->mutex);
    struct held *h = *held_place(all, content, false);
    h = h ? h : held_add(all, content, false);
    bool good = h || reel_fail_memory(err);
    if (h && h->users == 0) {
        good = open_files(all, h, size, err);
    } else if (h && h->size != size) {
        good = reel_fail(err, REEL_CHANGED, "the object has another size than before");
    }
    if (good) {
        h->users++;
    } else if (h && h->users == 0) {
        held_remove_files(all, h);
        held_drop(all, h);
    }
    pthread_mutex_unlock(&all->mutex);
    return good ? h : NULL;
}

void held_release(struct blocks *all, struct held *h) {
    pthread_mutex_lock(&all->mutex);
    h->used_ns = reel_now_ns();
    if (--h->users == 0) {
        char map[PATH_MAX];
        if (blocks_path_of(all, h->content, map_suffix, map)) {
            utimensat(AT_FDCWD, map, NULL, 0); /* the order of use, after a restart */
        }
        close_files(h);
        if (h->gone || h->bytes == 0) {
            if (!h->gone) {
                held_remove_files(all, h);
            }
            held_drop(all, h);
        }
    }
    pthread_mutex_unlock(&all->mutex);
}

/* ---- whole objects */

/* The checksums of the blocks that lie wholly at or after `from`; returns their bytes. */
static uint64_t sum_file(struct held *h, uint64_t from) {
    AUTO_MEM uint8_t *buffer = malloc(BLOCK_BYTES);
    uint64_t bytes = 0;
    for (uint32_t i = (uint32_t)((from + BLOCK_BYTES - 1) / BLOCK_BYTES); buffer && i < h->n_blocks; i++) {
        uint32_t size = block_size(h, i);
        if (pread(h->fd, buffer, size, (off_t)i * BLOCK_BYTES) != (ssize_t)size) {
            break;
        }
        pthread_mutex_lock(&h->mutex);
        if (h->sums[i] == 0 && !(h->blocks[i].flags & BLOCK_BUSY)) {
            h->sums[i] = block_sum(buffer, size);
            bytes += size;
        }
        pthread_mutex_unlock(&h->mutex);
    }
    return bytes;
}

bool blocks_adopt(struct blocks *all, const char *content, uint64_t size, uint64_t from, const char *path) {
    char data[PATH_MAX];
    struct reel_error ignored;
    if (size - from > all->max_bytes || !blocks_path_of(all, content, "", data)) {
        return false;
    }
    pthread_mutex_lock(&all->mutex);
    bool good = !*held_place(all, content, false) && rename(path, data) == 0;
    pthread_mutex_unlock(&all->mutex);
    struct held *h = good ? held_acquire(all, content, size, &ignored) : NULL;
    if (h) {
        uint64_t bytes = sum_file(h, from);
        pthread_mutex_lock(&all->mutex);
        h->bytes += bytes;
        all->bytes += bytes;
        if (all->bytes > all->max_bytes) {
            blocks_make_room(all);
        }
        pthread_mutex_unlock(&all->mutex);
        held_release(all, h);
    }
    return good;
}

void blocks_forget(struct blocks *all, const char *content) {
    pthread_mutex_lock(&all->mutex);
    struct held *h = *held_place(all, content, false);
    if (h && !h->gone) {
        held_remove_files(all, h);
        h->gone = true;
        if (h->users == 0) {
            held_drop(all, h);
        } else {
            h->content[0] = '\0'; /* the content may come again, as another object */
        }
    }
    pthread_mutex_unlock(&all->mutex);
}

void blocks_count(struct blocks *all, struct blocks_figures *out) {
    pthread_mutex_lock(&all->mutex);
    *out = (struct blocks_figures){
        .bytes = all->bytes, .max_bytes = all->max_bytes, .hits = all->hits, .misses = all->misses};
    pthread_mutex_unlock(&all->mutex);
}

/* ---- start and end */

static void remove_in(int folder, const char *name) {
    unlinkat(folder, name, 0);
}

/* A file with its checksums is an object; what has none goes. */
static void find_file(struct blocks *all, int folder, const char *name) {
    char map[HEX + sizeof map_suffix];
    struct stat st, times;
    bool is_map = strlen(name) == HEX + sizeof map_suffix - 1 && strcmp(name + HEX, map_suffix) == 0;
    if (hex_span(name) != HEX || (name[HEX] && !is_map)) {
        return; /* not ours */
    }
    snprintf(map, sizeof map, "%.*s%s", HEX, name, map_suffix);
    if (is_map) {
        char data[HEX + 1];
        snprintf(data, sizeof data, "%.*s", HEX, name);
        if (fstatat(folder, data, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            remove_in(folder, name);
        }
        return;
    }
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        fstatat(folder, map, &times, AT_SYMLINK_NOFOLLOW) != 0) {
        remove_in(folder, name);
        return;
    }
    struct held *h = held_add(all, name, false);
    if (h) {
        h->bytes = (uint64_t)st.st_blocks * 512;
        h->used_ns = (int64_t)times.st_mtim.tv_sec * 1000000000 + times.st_mtim.tv_nsec;
        all->bytes += h->bytes;
    }
}

static bool find_files(struct blocks *all, struct reel_error *err) {
    DIR *d = opendir(all->folder);
    if (!d) {
        return reel_fail_errno(err, "the folder of the cache cannot be read");
    }
    for (struct dirent *e; (e = readdir(d));) {
        find_file(all, dirfd(d), e->d_name);
    }
    closedir(d);
    blocks_make_room(all);
    return true;
}

static bool can_punch(const char *folder, struct reel_error *err) {
    char path[PATH_MAX];
    if (!disk_join(path, folder, "tryXXXXXX", err)) {
        return false;
    }
    AUTO_FD int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        return reel_fail_errno(err, "the cache cannot make a file");
    }
    unlink(path);
    bool good = ftruncate(fd, BLOCK_BYTES) == 0 &&
                fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BLOCK_BYTES) == 0;
    return good || reel_fail(err, REEL_UNSUPPORTED,
                             "the data folder's file system cannot free the middle of a file; use ext4, XFS, Btrfs or "
                             "tmpfs for --data");
}

static bool make_folder(const char *folder, struct reel_error *err) {
    if (mkdir(folder, 0755) != 0) {
        return errno == EEXIST || reel_fail_errno(err, "the folder of the cache cannot be made");
    }
    AUTO_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    reel_own_by_folder(fd, folder);
    return true;
}

struct blocks *blocks_open(const char *folder, uint64_t max_bytes, struct s3 *s3, struct reel_error *err) {
    struct blocks *all = calloc(1, sizeof *all);
    if (!all || !(all->folder = strdup(folder))) {
        free(all);
        reel_fail_memory(err);
        return NULL;
    }
    all->max_bytes = max_bytes;
    all->s3 = s3;
    pthread_mutex_init(&all->mutex, NULL);
    pthread_cond_init(&all->wake, NULL);
    pthread_cond_init(&all->idle, NULL);
    bool good = make_folder(folder, err) && can_punch(folder, err) && find_files(all, err);
    while (good && all->n_threads < BLOCK_FETCHERS) {
        int failed = pthread_create(&all->threads[all->n_threads], NULL, fetcher_run, all);
        all->n_threads += failed == 0;
        good = failed == 0 || (errno = failed, reel_fail_errno(err, "a thread cannot be started"));
    }
    if (!good) {
        blocks_close(all);
        return NULL;
    }
    return all;
}

void blocks_close(struct blocks *all) {
    if (!all) {
        return;
    }
    pthread_mutex_lock(&all->mutex);
    all->stopping = true;
    pthread_cond_broadcast(&all->wake);
    pthread_mutex_unlock(&all->mutex);
    for (unsigned i = 0; i < all->n_threads; i++) {
        pthread_join(all->threads[i], NULL);
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (all->table[i]) {
            held_drop(all, all->table[i]);
        }
    }
    pthread_mutex_destroy(&all->mutex);
    pthread_cond_destroy(&all->wake);
    pthread_cond_destroy(&all->idle);
    free(all->folder);
    free(all);
}
