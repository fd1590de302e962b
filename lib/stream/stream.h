/* Core-internal functions of the basic stream (reel/iterate.h). */
#ifndef REEL_STREAM_STREAM_H
#define REEL_STREAM_STREAM_H

#include "stream/selection.h"

/* A stream of the selection, at its first message. `with_initial_state`: with the messages that precede the selection;
 * selection_make_initial_state() has succeeded. */
struct reel_stream *selection_stream(struct opened_selection *opened, bool with_initial_state, struct reel_error *err);
/* As reel_selection_matches(), by the first message that `stream` gives; it is one of this selection, at its start. */
bool selection_matches(const struct opened_selection *opened, struct reel_stream *stream, bool *any,
                       char why[REEL_MATCHES_TEXT], struct reel_error *err);
/* Back to the first message, wherever the stream is. */
bool stream_rewind(struct reel_stream *stream, struct reel_error *err);
/* Whether a position is that of stream_rewind(): no message has it. */
bool stream_is_start(const struct reel_position *position);

/* False for views and for conditions on payloads: what they give depends on more than the index. */
bool stream_is_plain(const struct reel_stream *stream);
/* False for views, sampled streams, streams of new messages (since_*) and streams with an initial state: their messages
 * cannot be counted without walking. */
bool stream_can_count(const struct reel_stream *stream);
/* Counts messages with time < before_ns (REEL_TIME_MAX: all) from the index, without walking. Requires
 * stream_can_count(). */
bool stream_count(struct reel_stream *stream, int64_t before_ns, uint64_t *count, struct reel_error *err);

/* Whether a message of the recording, within the selection's time range, is one of the stream's, a view's aside.
 * Sampling is not considered. */
bool stream_selects(struct reel_stream *stream, const struct reel_message *m, bool *selects, struct reel_error *err);

/* The whole payload, to be decoded to values; REEL_LIMIT over REEL_DECODED_MAX. Valid until the next call on the
 * stream. */
bool stream_decodable(struct reel_stream *stream, const struct reel_message *m, struct reel_bytes *out,
                      struct reel_error *err);
/* The check alone. */
bool stream_may_decode(uint64_t size, struct reel_error *err);

#endif
