/* Plans an output whose groups are packed on several threads. */
#ifndef REEL_CONVERT_PLAN_COMPRESSED_H
#define REEL_CONVERT_PLAN_COMPRESSED_H

#include "convert/conversion.h"

/* `output` NULL: only plans, as reel_conversion_plan(). Else it also gets the bytes, in one pass; the writer has
 * REEL_HEAD_FIRST, or REEL_HEAD_LAST and the output rewrite(). */
struct reel_plan *packing_plan(struct reel_conversion *conversion, const struct reel_keep *keep,
                               const struct reel_output *output, const struct reel_progress *progress,
                               struct reel_error *err);

#endif
