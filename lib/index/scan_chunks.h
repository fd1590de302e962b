/* The compressed chunks of a scan: decoded into memory that is used again and, where the scan has threads, ahead of it.
 */
#ifndef REEL_INDEX_SCAN_CHUNKS_H
#define REEL_INDEX_SCAN_CHUNKS_H

#include "base/source.h"
#include "chunks/chunk.h"

struct reel_scan;

struct scan_chunks;
struct scan_chunks_ops {
    /* Sets the first compressed chunk of the part that begins at `from` or later, as its header says; it reads little
     * more than headers. False: there is none, or none is found. A wrong one does no harm. */
    bool (*next)(void *context, uint64_t from, struct reel_chunk *chunk);
    bool hashes; /* chunks have a CRC-32 of their raw bytes, which the threads that decode them make */
};

/* From now on reel_scan_open_chunk() opens chunks of this part by this, until scan_chunks_free(). NULL: no memory. */
struct scan_chunks *scan_chunks_new(struct reel_scan *scan, uint32_t part, const struct scan_chunks_ops *ops,
                                    void *context, struct reel_error *err);
void scan_chunks_free(struct scan_chunks *chunks); /* NULL is fine; after the sources it has opened */

/* The raw bytes of a chunk; one at a time. NULL with err. */
struct reel_source *scan_chunks_open(struct scan_chunks *chunks, const struct reel_chunk *chunk,
                                     struct reel_error *err);
/* The CRC-32 of the source that is open; false: it was not decoded ahead. `chunks` may be NULL. */
bool scan_chunks_crc(const struct scan_chunks *chunks, uint32_t *crc);
uint32_t scan_chunks_part(const struct scan_chunks *chunks);

#endif
