/* Plans an output whose groups are compressed, and may write it in the same pass. */
#ifndef REEL_CONVERT_PLAN_COMPRESSED_H
#define REEL_CONVERT_PLAN_COMPRESSED_H

#include "convert/conversion.h"

/* As reel_conversion_plan(). `output` (NULL: only plan) gets the bytes, in order and once; the writer has
 * REEL_HEAD_FIRST, or REEL_HEAD_LAST and the output has rewrite(). */
struct reel_plan *plan_compressed(struct reel_conversion *conversion, const struct reel_keep *keep,
                                  const struct reel_output *output, const struct reel_progress *progress,
                                  struct reel_error *err);

#endif
