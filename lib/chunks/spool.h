/* A compressed chunk as a source of its raw bytes: in memory when small, in a file when not. Temporary files. */
#ifndef REEL_CHUNKS_SPOOL_H
#define REEL_CHUNKS_SPOOL_H

#include "base/source.h"
#include "chunks/chunk.h"

/* An unlinked file in `folder`, NULL: in that of temporary files. -1: it failed. */
int spool_open(const char *folder, struct reel_error *err);

/* The chunk's raw bytes decoded to a file: `path` (written under a temporary name and renamed; an existing file of the
 * right size is reused), or NULL: an unlinked temporary file. */
struct reel_source *spool_file(const struct reel_chunk *chunk, struct reel_source *part, const char *path,
                               struct reel_error *err);

/* The raw bytes of a chunk of unknown raw size, at most `max`, decoded once to an unlinked temporary file; sets
 * chunk->raw. */
struct reel_source *spool_unmeasured(struct reel_chunk *chunk, struct reel_source *part, uint64_t max,
                                     struct reel_error *err);

/* The same, or as spool_chunk() where chunk->raw is known; of a run that is damaged or ends early what comes before:
 * sets chunk->damaged and chunk->raw, and the reason in why[]. */
enum { SPOOL_WHY_ROOM = 200 };
struct reel_source *spool_recovered(struct reel_chunk *chunk, struct reel_source *part, uint64_t max,
                                    char why[SPOOL_WHY_ROOM], struct reel_error *err);
/* The most that a file of `stored` packed bytes may unpack to: a `max`. */
uint64_t spool_unpacked_max(uint64_t stored);

/* In memory up to REEL_CHUNK_MEMORY_MAX, else spool_file(); a plain chunk becomes a slice of `part`. */
struct reel_source *spool_chunk(const struct reel_chunk *chunk, struct reel_source *part, struct reel_error *err);

#endif
