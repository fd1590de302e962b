/* Which of what is cached goes when there is no more room. See blocks.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "reel/time.h"
#include "store/bucket/blocks_internal.h"

/* ---- room; blocks->mutex is held */

static int older_first(const void *a, const void *b) {
    int64_t x = (*(struct held *const *)a)->used_ns, y = (*(struct held *const *)b)->used_ns;
    return (x > y) - (x < y);
}

/* All that nobody uses, the longest unused first; NULL: there is no memory, or nothing. */
static struct held **list_unused(const struct blocks *all, size_t *count) {
    size_t n = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (const struct held *h = all->table[i]; h; h = h->next) {
            n += h->users == 0;
        }
    }
    struct held **list = n > 0 ? malloc(n * sizeof(struct held *)) : NULL;
    *count = 0;
    for (unsigned i = 0; list && i < BUCKETS; i++) {
        for (struct held *h = all->table[i]; h; h = h->next) {
            if (h->users == 0) {
                list[(*count)++] = h;
            }
        }
    }
    if (list) {
        qsort(list, n, sizeof(struct held *), older_first);
    }
    return list;
}

/* Unless a process has it open: then no lease is given. Who opens it meanwhile waits, and gets the file that has no
 * name any more; the signal of that is ignored. */
static bool remove_beside(const struct held *h) {
    AUTO_FD int fd = open(h->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_open =
        fd >= 0 && fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) != 0 && errno == EAGAIN;
    return !is_open && (unlink(h->path) == 0 || errno == ENOENT);
}

/* Frees blocks of an open object that were not read since the last call; true when there is room enough. */
static bool free_blocks(struct blocks *all, struct held *h, uint64_t wanted) {
    bool enough = false;
    pthread_mutex_lock(&h->mutex);
    for (uint32_t i = 0; !enough && h->lent == 0 && i < h->n_blocks; i++) {
        struct block *b = &h->blocks[i];
        if (h->sums[i] == 0 || b->pins > 0 || (b->flags & BLOCK_BUSY)) {
            continue;
        }
        if (b->flags & BLOCK_RECENT) {
            b->flags &= (uint8_t)~BLOCK_RECENT;
            continue;
        }
        uint32_t size = block_size(h, i);
        if (fallocate(h->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)i * BLOCK_BYTES, size) == 0) {
            h->sums[i] = 0;
            b->flags = 0;
            h->bytes -= size < h->bytes ? size : h->bytes;
            all->bytes -= size < all->bytes ? size : all->bytes;
        }
        enough = all->bytes <= wanted;
    }
    pthread_mutex_unlock(&h->mutex);
    return enough;
}

void blocks_make_room(struct blocks *all) {
    if (all->bytes <= all->max_bytes) {
        return;
    }
    uint64_t wanted = all->max_bytes - all->max_bytes / 20; /* a twentieth at once: finding the oldest looks at all */
    size_t n;
    AUTO_MEM struct held **unused = list_unused(all, &n);
    for (size_t i = 0; unused && i < n && all->bytes > wanted; i++) {
        if (!unused[i]->beside) {
            held_remove_files(all, unused[i]);
        } else if (!remove_beside(unused[i])) {
            unused[i]->used_ns = reel_now_ns();
            continue;
        }
        held_drop(all, unused[i]);
    }
    bool enough = all->bytes <= wanted;
    for (unsigned i = 0; !enough && i < 2 * BUCKETS; i++) {
        for (struct held *h = all->table[all->hand++ % BUCKETS]; !enough && h; h = h->next) {
            enough = h->users > 0 && free_blocks(all, h, wanted);
        }
    }
}

void blocks_take_room(struct blocks *all, struct held *h, uint32_t bytes) {
    pthread_mutex_lock(&all->mutex);
    h->bytes += bytes;
    all->bytes += bytes;
    blocks_make_room(all);
    pthread_mutex_unlock(&all->mutex);
}

void blocks_give_room(struct blocks *all, struct held *h, uint32_t bytes) {
    pthread_mutex_lock(&all->mutex);
    h->bytes -= bytes < h->bytes ? bytes : h->bytes;
    all->bytes -= bytes < all->bytes ? bytes : all->bytes;
    pthread_mutex_unlock(&all->mutex);
}

/* ---- files beside */

/* Its entry, with what it takes now; NULL: no memory. blocks->mutex is held. */
static struct held *count_file(struct blocks *all, const char *content, const char *path, int64_t used_ns) {
    struct stat st;
    struct held *h = *held_place(all, content, true);
    if (!h && (h = held_add(all, content, true)) && !(h->path = strdup(path))) {
        held_drop(all, h);
        h = NULL;
    }
    if (h) {
        all->bytes -= h->bytes;
        h->bytes = stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
        all->bytes += h->bytes;
        h->used_ns = used_ns;
    }
    return h;
}

void blocks_find_file(struct blocks *all, const char *content, const char *path, int64_t used_ns) {
    pthread_mutex_lock(&all->mutex);
    count_file(all, content, path, used_ns);
    blocks_make_room(all);
    pthread_mutex_unlock(&all->mutex);
}

void blocks_use_file(struct blocks *all, const char *content, const char *path) {
    blocks_find_file(all, content, path, reel_now_ns());
}

void blocks_hold_file(struct blocks *all, const char *content, const char *path, bool stays) {
    pthread_mutex_lock(&all->mutex);
    struct held *h = count_file(all, content, path, reel_now_ns());
    if (h) {
        h->users = stays;
    }
    blocks_make_room(all);
    pthread_mutex_unlock(&all->mutex);
}

void blocks_drop_file(struct blocks *all, const char *content) {
    pthread_mutex_lock(&all->mutex);
    struct held *h = *held_place(all, content, true);
    if (h) {
        held_drop(all, h);
    }
    pthread_mutex_unlock(&all->mutex);
}
