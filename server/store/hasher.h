/* A thread that hashes bytes while the caller writes them to the disk. */
#ifndef SERVER_STORE_HASHER_H
#define SERVER_STORE_HASHER_H

#include "base/digest.h"
#include "reel/cleanup.h"

struct hasher;

struct hasher *hasher_new(void); /* NULL: there is no second core, or no thread to be had: who has none hashes itself */
void hasher_free(struct hasher *h); /* NULL is fine */
/* Adds the bytes to the digest. Both are the thread's until hasher_wait(), which follows. */
void hasher_start(struct hasher *h, struct digest *digest, const void *data, size_t size);
void hasher_wait(struct hasher *h);

#endif
