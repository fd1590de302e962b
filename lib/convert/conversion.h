/* A conversion, from its selection to its output. */
#ifndef REEL_CONVERT_CONVERSION_H
#define REEL_CONVERT_CONVERSION_H

#include "base/threads.h"
#include "convert/writer.h"

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

/* Writes the conversion. `losses`: NULL, or what only the conversion itself shows is added to it. */
bool conversion_write(struct reel_conversion *conversion, const struct reel_output *output, struct reel_loss *losses,
                      const struct reel_progress *progress, struct reel_error *err);

/* ---- for the files of this folder: the opened selection hands out streams; a share of the threads */

/* A stream at the first message: one that was returned, or a new one. `initial`: the initial state that an
 * earlier stream had; NULL: it is made, once, if the selection asks for it. On any thread. */
struct reel_stream *conversion_stream(struct reel_conversion *conversion, struct reel_initial_state *initial,
                                      struct reel_error *err);
/* Takes a stream back; `conversion` NULL: frees it. On any thread; NULL is fine. */
void conversion_return(struct reel_conversion *conversion, struct reel_stream *stream);

struct thread_client *conversion_client(const struct reel_conversion *conversion); /* NULL: no threads */
unsigned conversion_threads(const struct reel_conversion *conversion); /* that it may use, whatever its size */
/* Whether `bytes` are enough for threads. */
bool conversion_shares(const struct reel_conversion *conversion, uint64_t bytes);

#endif
