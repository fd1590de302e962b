/* Shared by blocks.c (what is cached), block_room.c (what goes) and block_source.c (reading and fetching). Order of
 * locks: blocks, then one object. */
#ifndef SERVER_STORE_BUCKET_BLOCKS_INTERNAL_H
#define SERVER_STORE_BUCKET_BLOCKS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/bucket/blocks.h"

enum {
    BLOCK_BYTES = 1 << 20,
    BLOCK_FETCHERS = 8, /* threads that fetch ahead */
    BLOCK_WAITING = 64, /* blocks that wait for them; more are not fetched ahead */
    CONTENT_TEXT = 65,
    BUCKETS = 4096,
};

enum { BLOCK_GOOD = 1, BLOCK_BUSY = 2, BLOCK_RECENT = 4 }; /* GOOD: its checksum was compared in this process */
struct block {
    uint8_t flags;
    uint16_t pins; /* being read: it stays */
};

struct held { /* an object in the cache, or a file beside it */
    char content[CONTENT_TEXT];
    bool beside;
    char *path; /* of a file beside */
    unsigned bucket;
    /* bytes: on the disk; guarded by blocks->mutex, as are users, used_ns, gone, inodes and next */
    uint64_t size, bytes;
    unsigned users;
    int64_t used_ns;
    bool gone; /* its files have been removed */
    struct held *next;
    ino_t inodes[2]; /* of its files: `blocks` is about them */
    uint32_t n_blocks;
    struct block *blocks;
    /* While it has users: */
    int fd;
    uint32_t *sums;        /* mapped; 0: the block is not there */
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    unsigned lent;     /* sources that have lent the file: all blocks stay */
    uint64_t failures; /* of fetches, the last one's error: */
    struct reel_error failed;
};

struct block_source {
    struct reel_source source;
    struct blocks *all;
    struct held *held;
    char *bucket, *key, *etag;       /* etag NULL: any */
    atomic_uint_least32_t last, run; /* the block read last, and how many were read in order until then */
    bool lent;                       /* guarded by the object's mutex */
    char name[];
};

struct ahead { /* a block to be fetched; its source stays until then */
    struct block_source *source;
    uint32_t block;
};

struct blocks {
    char *folder;
    uint64_t max_bytes;
    struct s3 *s3;
    _Atomic uint64_t hits, misses, lent_bytes;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;   /* of the fetchers */
    pthread_cond_t idle;   /* a fetcher has ended a block */
    uint64_t bytes;
    struct held *table[BUCKETS];
    uint32_t hand; /* where the search for blocks to give up goes on */
    struct ahead waiting[BLOCK_WAITING], now[BLOCK_FETCHERS];
    unsigned n_waiting, n_threads;
    pthread_t threads[BLOCK_FETCHERS];
    bool stopping;
};

uint32_t block_size(const struct held *h, uint32_t block);
uint32_t block_sum(const void *data, size_t size); /* never 0 */
/* Uses the object's files; NULL with err. */
struct held *held_acquire(struct blocks *all, const char *content, uint64_t size, struct reel_error *err);
void held_release(struct blocks *all, struct held *h);
/* With blocks->mutex held: */
struct held **held_place(struct blocks *all, const char *content, bool beside); /* where it is, or would be */
struct held *held_add(struct blocks *all, const char *content, bool beside);
void held_drop(struct blocks *all, struct held *h);
void held_remove_files(struct blocks *all, const struct held *h);
void blocks_make_room(struct blocks *all);
/* Makes room for a block and counts it. */
void blocks_take_room(struct blocks *all, struct held *h, uint32_t bytes);
void blocks_give_room(struct blocks *all, struct held *h, uint32_t bytes);
void *fetcher_run(void *blocks);

#endif
