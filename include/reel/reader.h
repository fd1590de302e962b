/* From entries to bytes. A recording = index + parts, shared between threads; a reader = one thread's window on it. */
#ifndef REEL_READER_H
#define REEL_READER_H

#include "reel/index.h"
#include "reel/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A bounded store of decompressed chunks, shared by all recordings of a process; least recently used go first. */
struct reel_cache;
struct reel_cache *reel_cache_new(uint64_t budget_bytes, struct reel_error *err);
void reel_cache_free(struct reel_cache *cache);
void reel_cache_lookups(struct reel_cache *cache, uint64_t *found, uint64_t *missed); /* since reel_cache_new() */
uint64_t reel_cache_used(struct reel_cache *cache);                                   /* bytes held now */
REEL_DEFINE_AUTO(struct reel_cache, reel_cache_free);

struct reel_recording_options {
    struct reel_cache *cache; /* NULL: a private small one */
    const char
        *derived_folder; /* where chunks over REEL_CHUNK_MEMORY_MAX are spooled; NULL: an unlinked temporary file */
    const char *derived_name; /* names the spooled files there (the content's hash) */
};

struct reel_recording;

/* Not for summarys. Takes over `index` and the `n_parts` sources (also when it fails). Refuses parts whose sizes are
 * not those of the index (REEL_CHANGED). */
struct reel_recording *reel_recording_from_index(struct reel_index *index, struct reel_source **parts, uint32_t n_parts,
                                                 const struct reel_recording_options *options, struct reel_error *err);
struct reel_recording *reel_recording_ref(struct reel_recording *recording); /* thread-safe count */
void reel_recording_free(struct reel_recording *recording); /* gives one reference back; NULL is fine */
const struct reel_index *reel_recording_index(const struct reel_recording *recording);
REEL_DEFINE_AUTO(struct reel_recording, reel_recording_free);

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

#ifdef __cplusplus
}
#endif

#endif
