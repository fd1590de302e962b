/* A recording as another file, in one call, and messages as JSON. */
#ifndef REEL_CONVERT_H
#define REEL_CONVERT_H

#include "reel/threads.h"
#include "reel/write.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_convert_options {
    size_t size;             /* sizeof(struct reel_convert_options) */
    const char *version;     /* of the target format: "1.2" for .bag; NULL: its default */
    const char *compression; /* "zstd", "lz4", "bz2", "zlib", "gzip" as the format knows them; NULL: none */
    bool replace;            /* an existing file; without it that is REEL_CONFLICT */
    struct reel_loss *loss;  /* NULL, or what the target cannot hold is added to it */
    unsigned threads;        /* that render a conversion of more than 64 MiB; 0: one for each core */
};

/* Writes the messages of `selection` (NULL: all) to `path`; its extension names the format (reel_writer_for_file()).
 * The file appears complete under its name or not at all; a pipe or device is written directly. Fails with
 * REEL_UNSUPPORTED when the format cannot hold the recording. `options` and `progress` may be NULL. */
bool reel_convert(struct reel_recording *recording, const struct reel_selection *selection, const char *path,
                  const struct reel_convert_options *options, const struct reel_progress *progress,
                  struct reel_error *err);

/* Everything that a conversion depends on, copied, so that each thread can open a stream of its own. Counted
 * references. */
struct reel_conversion {
    const struct reel_writer *writer;
    struct reel_write_options options;
    struct reel_recording **recordings; /* a reference to each */
    uint32_t n_recordings;
    struct reel_selection selection;
    struct reel_threads *threads; /* NULL: none but the caller's */
    unsigned max_threads;         /* at most so many of them at a time; 0: all. May be set before the first use */
};

/* Set selection.state_at_cut where the writer needs it (REEL_NEEDS_STATE_AT_CUT). `threads` must outlive it.
 * Conversions with the same `client` share its turns on them; NULL: it has its own. */
struct reel_conversion *reel_conversion_new(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                            uint32_t n, const struct reel_selection *selection,
                                            const struct reel_write_options *options, struct reel_threads *threads,
                                            const char *client, struct reel_error *err);
struct reel_conversion *reel_conversion_ref(struct reel_conversion *conversion);
void reel_conversion_free(struct reel_conversion *conversion); /* gives one reference back; NULL is fine */
REEL_DEFINE_AUTO(struct reel_conversion, reel_conversion_free);

/* How many threads it is rendered on besides the caller's: 0 when it is too small, by an estimate. */
unsigned reel_conversion_threads(const struct reel_conversion *conversion);
/* As reel_plan_new(), but groups that the writer packs are packed on the threads, and kept where `keep` (NULL: nowhere)
 * has room. */
struct reel_plan *reel_conversion_plan(struct reel_conversion *conversion, const struct reel_keep *keep,
                                       const struct reel_progress *progress, struct reel_error *err);
/* As reel_render_new(). What it is read of in order is rendered ahead on the threads: rows as soon as they are read, a
 * planned output after reel_render_ahead(). */
struct reel_render *reel_conversion_render(struct reel_conversion *conversion, struct reel_plan *plan,
                                           struct reel_error *err);
/* [offset, end) is going to be read in order. False: there is too little for threads, and nothing changes. */
bool reel_render_ahead(struct reel_render *render, uint64_t offset, uint64_t end);

/* Where a conversion goes, piece by piece and in order. */
struct reel_output {
    bool (*write)(void *context, const void *data, size_t size, struct reel_error *err);
    /* Optional, once all is written: replaces the first bytes. Compressed formats whose head depends on what follows
     * (ROS bags) then take one pass. */
    bool (*rewrite)(void *context, const void *data, size_t size, struct reel_error *err);
    void *context;
    struct reel_loss *loss; /* NULL, or what only the conversion itself shows is added to it */
};

/* What reel_convert() is built on: any conversion to any destination. */
bool reel_convert_to(struct reel_conversion *conversion, const struct reel_output *output,
                     const struct reel_progress *progress, struct reel_error *err);

/* Messages of one stream as JSON objects: {"topic":…,"log_time":…,"publish_time":…,"data":…}, as in rows of NDJSON. */
struct reel_json;
struct reel_json *reel_json_new(struct reel_stream *stream, struct reel_error *err); /* the stream must outlive it */
void reel_json_free(struct reel_json *json);                                         /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_json, reel_json_free);

/* `m` is the stream's latest message. *text ends with NUL, has `*length` bytes and is valid until the next call. A
 * payload that cannot be decoded is {"$base64":…} with its encoding. `length` may be NULL. */
bool reel_message_json(struct reel_json *json, const struct reel_message *m, const char **text, size_t *length,
                       struct reel_error *err);

#ifdef __cplusplus
}
#endif

#endif
