/* The selection and the streams that a writer takes (reel_writer_stream()), in two steps: several streams share a
 * selection. */
#ifndef REEL_CONVERT_WRITER_H
#define REEL_CONVERT_WRITER_H

#include "reel/write.h"
#include "stream/selection.h"

struct opened_selection *writer_selection(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                          uint32_t n, const struct reel_selection *selection, struct reel_error *err);
/* `with_initial_state`: as for selection_stream(). */
struct reel_stream *writer_stream(const struct reel_writer *writer, struct opened_selection *opened,
                                  bool with_initial_state, struct reel_error *err);

#endif
