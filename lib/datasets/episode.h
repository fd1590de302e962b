/* Rows of an episode as a Parquet file, and sums over its numbers. */
#ifndef REEL_DATASETS_EPISODE_H
#define REEL_DATASETS_EPISODE_H

#include "datasets/walk.h"

/* ---- statistics.c */

/* Of the frames of an episode, which are as many as were planned. */
struct episode_sums {
    uint32_t n_sources, n_numbers;
    uint64_t frames, seen, step; /* each step-th frame is a sample */
    uint32_t *ages;              /* counts by source and bucket */
    int64_t *oldest;             /* by source */
    struct dataset_number *numbers;
    float *samples; /* by number, then by sample */
    uint64_t n_samples, room;
};
bool episode_sums_open(struct episode_sums *s, uint32_t n_sources, uint32_t n_numbers, uint64_t frames,
                       struct reel_error *err);
void episode_sums_add(struct episode_sums *s, const struct walk *w);
/* Moves the results to `out`. */
void episode_sums_end(struct episode_sums *s, struct dataset_episode *out);
void episode_sums_done(struct episode_sums *s);

#endif
