/* A cache on the local disk of objects in S3, in blocks of 1 MiB. An object is a sparse file and beside it the
 * checksums of the blocks that are there; it may be lost at any time. A block that is not there is fetched once,
 * however many ask; reading on in order fetches ahead. Above its limit, objects that nobody reads go first, the longest
 * unused before others; then blocks of those that are read.
 *
 * Files of others may lie beside the objects. They count, too, and go in the same order, but none that a process has
 * open.
 *
 * Sources may be read from any thread, and the cache is used by all. */
#ifndef SERVER_STORE_BUCKET_BLOCKS_H
#define SERVER_STORE_BUCKET_BLOCKS_H

#include "base/source.h"
#include "store/s3/s3.h"

struct blocks;
/* `folder` is made if it is not there. REEL_UNSUPPORTED: its file system cannot free the middle of a file. */
struct blocks *blocks_open(const char *folder, uint64_t max_bytes, struct s3 *s3, struct reel_error *err);
void blocks_close(struct blocks *blocks); /* after its sources */

struct blocks_object {   /* what a content is stored as; copied */
    const char *content; /* SHA-256 as hex */
    const char *bucket, *key;
    const char *etag; /* of an object that others may replace (REEL_CHANGED); NULL: nobody does */
    uint64_t size;
};
struct reel_source *blocks_source(struct blocks *blocks, const struct blocks_object *object, const char *name,
                                  struct reel_error *err);
/* Takes a file that has the bytes of this content from `from` on, by renaming it; false: it is still there. */
bool blocks_adopt(struct blocks *blocks, const char *content, uint64_t size, uint64_t from, const char *path);
void blocks_forget(struct blocks *blocks, const char *content);

/* A file beside, by its content: it was used now. With `stays` true it is not removed until a call with false; it need
 * not be there yet. */
void blocks_find_file(struct blocks *blocks, const char *content, const char *path, int64_t used_ns); /* it was used
                                                                                                         then */
void blocks_use_file(struct blocks *blocks, const char *content, const char *path);
void blocks_hold_file(struct blocks *blocks, const char *content, const char *path, bool stays);
void blocks_drop_file(struct blocks *blocks, const char *content); /* it is not there any more */

struct blocks_figures {
    uint64_t bytes, max_bytes, hits, misses; /* blocks read */
};
void blocks_count(struct blocks *blocks, struct blocks_figures *out);

#endif
