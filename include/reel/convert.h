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

/* A conversion: everything it depends on, copied, and its selection, which is opened once. Counted references. */
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

/* A stream of its selection, for the tables alone: reel_writer_accepts(), view_version. `with_initial_state`: with the
 * messages before the selection, which may take long to make. It belongs to the conversion, and is valid until that is
 * planned or written. */
struct reel_stream *reel_conversion_stream(struct reel_conversion *conversion, bool with_initial_state,
                                           struct reel_error *err);
/* As reel_selection_matches(). `with_initial_state`: the messages before the selection count, too. */
bool reel_conversion_matches(struct reel_conversion *conversion, bool with_initial_state, bool *any,
                             char why[REEL_MATCHES_TEXT], struct reel_error *err);
/* How many threads it is rendered on besides the caller's: 0 when it is too small, by an estimate. */
unsigned reel_conversion_threads(struct reel_conversion *conversion);
/* As reel_plan_new(), but groups that the writer packs are packed on the threads, and kept where `keep` (NULL: nowhere)
 * has room. */
struct reel_plan *reel_conversion_plan(struct reel_conversion *conversion, const struct reel_keep *keep,
                                       const struct reel_progress *progress, struct reel_error *err);
/* As reel_planned_output_new(). `plan` is of an equal conversion. */
struct reel_planned_output *reel_conversion_output(struct reel_conversion *conversion, struct reel_plan *plan,
                                                   struct reel_error *err);
/* [offset, end) is going to be read in order: it is rendered on the threads of the output's conversion. False: there
 * are none, or too few bytes, and nothing changes. */
bool reel_planned_output_read_ahead(struct reel_planned_output *output, uint64_t offset, uint64_t end);
/* As reel_row_output_new(), on the threads where that pays. */
struct reel_row_output *reel_conversion_rows(struct reel_conversion *conversion, struct reel_error *err);

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
