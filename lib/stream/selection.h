/* Copies a selection; opens it into channels, segments and clocks that any number of streams share. */
#ifndef REEL_STREAM_SELECTION_H
#define REEL_STREAM_SELECTION_H

#include "stream/merge.h"
#include "stream/merge_names.h"

/* The selection passed to a public function: `given` may come from a program built with an older struct; NULL selects
 * all. */
bool selection_read(struct reel_selection *out, const struct reel_selection *given, struct reel_error *err);

/* The copy has `initial` NULL. False: no memory. */
bool selection_copy(struct reel_selection *copy, const struct reel_selection *selection, uint32_t n_recordings,
                    struct arena *arena);

struct opened_selection {
    _Atomic uint32_t references;
    struct arena arena;
    struct reel_selection selection; /* without `initial` */
    struct reel_recording **recordings;
    uint32_t n_recordings;
    struct reel_rules *rules; /* a reference; NULL: none */
    struct naming naming;
    const struct reel_channel **selected; /* the selected channels before they are prefixed and renamed */
    uint32_t *selected_source, n_selected;
    size_t cap_selected, cap_sources;
    /* Tables of streams: the selected channels, then those that only the initial state has. */
    const struct reel_channel **channels;
    uint32_t *channel_source, n_channels;
    enum reel_clock *clocks;
    int64_t *shifts;
    struct merge_segments segments;
    int64_t origin_ns;                  /* of the every_ns intervals */
    bool has_initial_state;             /* selection_make_initial_state() has succeeded */
    struct reel_initial_state *initial; /* NULL: none */
};

/* The selection is copied, and each recording gets a reference. */
struct opened_selection *selection_open(struct reel_recording *const *recordings, uint32_t n,
                                        const struct reel_selection *selection, struct reel_error *err);
struct opened_selection *selection_ref(struct opened_selection *opened);
void selection_free(struct opened_selection *opened); /* returns one reference; NULL is fine */
REEL_DEFINE_AUTO(struct opened_selection, selection_free);

/* Adds the initial state: `initial`, or, if that is NULL, the one that the selection asks for. Does nothing after it
 * has succeeded once. While it runs, no other thread may call it or open a stream; streams without the initial state
 * may be in use. */
bool selection_make_initial_state(struct opened_selection *opened, struct reel_initial_state *initial,
                                  struct reel_error *err);
bool selection_wants_initial_state(const struct reel_selection *selection); /* it asks for one */

/* A stream of the selection, at its first message. `with_initial_state`: selection_make_initial_state() has succeeded.
 */
struct reel_stream *selection_stream(struct opened_selection *opened, bool with_initial_state, struct reel_error *err);
/* As reel_selection_matches(), by the first message that `stream` gives; it is one of this selection, at its start. */
bool selection_matches(const struct opened_selection *opened, struct reel_stream *stream, bool *any,
                       char why[REEL_MATCHES_TEXT], struct reel_error *err);

#endif
