/* What the parts of a conversion have in common (reel/convert.h): its opened selection, which hands out streams, and
 * its share of the threads. */
#ifndef REEL_CONVERT_CONVERSION_H
#define REEL_CONVERT_CONVERSION_H

#include "base/threads.h"
#include "reel/convert.h"

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
