/* A conversion, from its selection to its output. */
#ifndef REEL_CONVERT_CONVERSION_H
#define REEL_CONVERT_CONVERSION_H

#include "base/threads.h"
#include "convert/writer.h"

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

/* ---- for the files of this folder */

struct thread_client *conversion_client(const struct reel_conversion *conversion); /* NULL: no threads */
/* Opens a stream of it. `initial`: that of an earlier stream, or NULL. */
struct reel_stream *conversion_stream(const struct reel_conversion *conversion, struct reel_initial_state *initial,
                                      struct reel_error *err);
unsigned conversion_threads(const struct reel_conversion *conversion); /* that it may use, whatever its size */
/* Whether `bytes` are enough for threads. */
bool conversion_shares(const struct reel_conversion *conversion, uint64_t bytes);

#endif
