/* See episode.h. Ages are counted in buckets, 64 for each power of two, so that any number of frames takes no memory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/episode.h"

enum { AGE_STEPS = 64, AGE_BUCKETS = AGE_STEPS * 59, SAMPLES_MAX = 1 << 16, SAMPLES_ALL_MAX = 1 << 22 };

const double dataset_quantiles[5] = {0.01, 0.10, 0.50, 0.90, 0.99};

/* Below 64 ns each has its own. */
static uint32_t bucket_of(int64_t age_ns) {
    uint64_t age = (uint64_t)age_ns;
    unsigned shift = age < AGE_STEPS ? 0 : 63 - (unsigned)__builtin_clzll(age) - 6;
    return shift == 0 && age < AGE_STEPS ? (uint32_t)age : (uint32_t)(shift * AGE_STEPS + (age >> shift));
}
/* The largest age of a bucket. */
static int64_t age_of(uint32_t bucket) {
    unsigned shift = bucket < 2 * AGE_STEPS ? 0 : bucket / AGE_STEPS - 1;
    uint64_t top = bucket - (uint64_t)shift * AGE_STEPS;
    return (int64_t)(((top + 1) << shift) - 1);
}

bool episode_sums_open(struct episode_sums *s, uint32_t n_sources, uint32_t n_numbers, uint64_t frames,
                       struct reel_error *err) {
    uint64_t most = SAMPLES_ALL_MAX / (n_numbers > 0 ? n_numbers : 1);
    most = most < SAMPLES_MAX ? most : SAMPLES_MAX;
    uint64_t step = frames / most + (frames % most > 0), room = step > 0 ? frames / step + 1 : 1;
    *s = (struct episode_sums){.n_sources = n_sources,
                               .n_numbers = n_numbers,
                               .frames = frames,
                               .step = step > 0 ? step : 1,
                               .room = room,
                               .ages = calloc((size_t)n_sources * AGE_BUCKETS + 1, sizeof *s->ages),
                               .oldest = calloc((size_t)n_sources + 1, sizeof *s->oldest),
                               .numbers = calloc((size_t)n_numbers + 1, sizeof *s->numbers),
                               .samples = calloc(room * n_numbers + 1, sizeof *s->samples)};
    return (s->ages && s->oldest && s->numbers && s->samples) || reel_fail_memory(err);
}

void episode_sums_done(struct episode_sums *s) {
    free(s->ages);
    free(s->oldest);
    free(s->numbers);
    free(s->samples);
    *s = (struct episode_sums){0};
}

/* Welford's method: exact enough for any number of frames. */
static void add_number(struct dataset_number *n, double value) {
    if (!isfinite(value)) {
        return;
    }
    n->count++;
    n->min = n->count == 1 || value < n->min ? value : n->min;
    n->max = n->count == 1 || value > n->max ? value : n->max;
    double delta = value - n->mean;
    n->mean += delta / (double)n->count;
    n->m2 += delta * (value - n->mean);
}

void episode_sums_add(struct episode_sums *s, const struct walk *w) {
    bool sampled = s->seen % s->step == 0 && s->n_samples < s->room;
    uint32_t at = 0;
    s->seen++;
    for (uint32_t i = 0; i < s->n_sources; i++) {
        s->ages[(size_t)i * AGE_BUCKETS + bucket_of(w->ages[i])]++;
        s->oldest[i] = w->ages[i] > s->oldest[i] ? w->ages[i] : s->oldest[i];
        for (uint32_t k = 0; k < w->sources[i].width; k++, at++) {
            float value = w->sources[i].values[k];
            add_number(&s->numbers[at], (double)value);
            if (sampled) {
                s->samples[at * s->room + s->n_samples] = value;
            }
        }
    }
    s->n_samples += sampled;
}

static int64_t age_at(const uint32_t *counts, uint64_t rank, int64_t oldest_ns) {
    uint64_t before = 0;
    uint32_t bucket = 0;
    while (bucket < AGE_BUCKETS - 1 && before + counts[bucket] <= rank) {
        before += counts[bucket++];
    }
    int64_t age = age_of(bucket);
    return age < oldest_ns ? age : oldest_ns;
}

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return isfinite(x) && isfinite(y) ? (x > y) - (x < y) : isfinite(y) - isfinite(x); /* those that are not come last
                                                                                        */
}

/* Between two samples in proportion, as numpy does. */
static double quantile(const float *sorted, uint64_t n, double q) {
    double at = q * (double)(n - 1);
    uint64_t low = (uint64_t)at, high = low + 1 < n ? low + 1 : low;
    double a = (double)sorted[low], b = (double)sorted[high];
    return low == high ? a : a + (b - a) * (at - (double)low);
}

void episode_sums_end(struct episode_sums *s, struct dataset_episode *out) {
    for (uint32_t i = 0; s->seen > 0 && i < s->n_sources; i++) {
        const uint32_t *counts = s->ages + (size_t)i * AGE_BUCKETS;
        out->ages[i] = (struct dataset_ages){.median_ns = age_at(counts, (s->seen - 1) / 2, s->oldest[i]),
                                             .p99_ns = age_at(counts, (s->seen - 1) * 99 / 100, s->oldest[i]),
                                             .max_ns = s->oldest[i]};
    }
    for (uint32_t i = 0; s->n_samples > 0 && i < s->n_numbers; i++) {
        float *samples = s->samples + i * s->room;
        qsort(samples, s->n_samples, sizeof *samples, compare_floats);
        uint64_t n = s->n_samples;
        while (n > 0 && !isfinite(samples[n - 1])) {
            n--;
        }
        for (unsigned q = 0; n > 0 && q < 5; q++) {
            s->numbers[i].quantiles[q] = quantile(samples, n, dataset_quantiles[q]);
        }
    }
    free(out->stats);
    out->stats = s->numbers;
    s->numbers = NULL;
}
