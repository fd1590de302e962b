/* What the core adds to a conversion (reel/convert.h). */
#ifndef REEL_CONVERT_CONVERSION_H
#define REEL_CONVERT_CONVERSION_H

#include "base/threads.h"
#include "reel/convert.h"

struct thread_client *conversion_client(const struct reel_conversion *conversion); /* NULL: no threads */
/* Opens a stream of it. `initial`: that of an earlier stream, or NULL. */
struct reel_stream *conversion_stream(const struct reel_conversion *conversion, struct reel_initial_state *initial,
                                      struct reel_error *err);
unsigned conversion_threads(const struct reel_conversion *conversion); /* that it may use, whatever its size */
/* Whether `bytes` are enough for threads. */
bool conversion_shares(const struct reel_conversion *conversion, uint64_t bytes);

#endif
