/* From entries to bytes. A recording = index + parts, shared between threads; a reader = one thread's window on it. */
#ifndef REEL_READ_READER_H
#define REEL_READ_READER_H

#include "base/source.h"
#include "chunks/cache.h"
#include "chunks/open_chunks.h"
#include "index/index.h"

struct reel_recording_options {
    struct reel_cache *cache; /* NULL: a private small one */
    /* where chunks over REEL_CHUNK_MEMORY_MAX are spooled; NULL: an unlinked temporary file */
    const char *derived_folder;
    const char *derived_name; /* names the spooled files there (the content's hash) */
};

/* Not for summarys. Takes over `index` and the `n_parts` sources (also when it fails). Refuses parts whose sizes are
 * not those of the index (REEL_CHANGED). */
struct reel_recording *reel_recording_from_index(struct reel_index *index, struct reel_source **parts, uint32_t n_parts,
                                                 const struct reel_recording_options *options, struct reel_error *err);

struct reel_recording {
    struct reel_index *index;
    struct reel_source **parts;
    uint32_t n_parts;
    uint64_t number; /* its key in the cache; never reused */
    struct reel_cache *cache;
    bool own_cache;
    char *derived_folder, *derived_name;
    _Atomic uint32_t references;
    struct open_chunks open_chunk;
};

/* What contains chunk `id`: a part, or an earlier chunk, which is pinned as *pinned. */
struct reel_source *recording_base(struct reel_recording *r, uint32_t id, const struct reel_chunk *row,
                                   struct open_chunk **pinned, struct reel_error *err);
/* Opens and pins the chunk as a source. */
struct open_chunk *recording_open_chunk(struct reel_recording *r, uint32_t id, const struct reel_chunk *row,
                                        struct reel_error *err);

/* Holds a reference on the recording. One thread at a time. */
struct reel_reader *reel_reader_new(struct reel_recording *recording, struct reel_error *err);
void reel_reader_free(struct reel_reader *reader);
struct reel_recording *reel_reader_recording(const struct reel_reader *reader);
REEL_DEFINE_AUTO(struct reel_reader, reel_reader_free);

/* Bytes [offset, offset + size) of the chunk, valid until the next call on this reader. size <=
 * REEL_MESSAGE_MEMORY_MAX. */
bool reel_reader_view(struct reel_reader *reader, uint32_t chunk, uint64_t offset, size_t size, struct reel_bytes *out,
                      struct reel_error *err);

/* The same into the caller's memory; any size. Large reads go straight to `buffer`. */
bool reel_reader_copy(struct reel_reader *reader, uint32_t chunk, uint64_t offset, void *buffer, size_t size,
                      struct reel_error *err);

/* The whole payload of a message, valid until the next call; REEL_LIMIT over REEL_MESSAGE_MEMORY_MAX. */
bool reel_reader_payload(struct reel_reader *reader, const struct reel_entry *entry, struct reel_bytes *out,
                         struct reel_error *err);

/* Publish time, sequence … by the format's describe(), or its presets. */
bool reel_reader_describe(struct reel_reader *reader, const struct reel_entry *entry, struct reel_description *out,
                          struct reel_error *err);

/* Entries of one channel with time < before_ns, newest first; for state_at(). Stops when visit() returns false. */
bool reel_reader_reverse(struct reel_reader *reader, uint32_t channel, int64_t before_ns,
                         bool (*visit)(void *context, const struct reel_entry *entry), void *context,
                         struct reel_error *err);

/* Of a stream of many recordings only the readers of the latest so many hold memory: what a message's payload is in
 * stays valid until others were read. */
enum { REEL_STREAM_AWAKE = 64 };

/* Readers that are used in turns: only the latest REEL_STREAM_AWAKE of them hold memory. Of one thread. What a reader
 * showed stays valid until so many others were used. */
struct reader_set {
    struct reel_reader *first, *last; /* the latest first */
    uint32_t awake;
};
void reader_join(struct reel_reader *reader, struct reader_set *set); /* the set must outlive it */
/* Gives back what a next read gets again; what it showed is no longer valid. */
void reader_rest(struct reel_reader *reader);

#endif
