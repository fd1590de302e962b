/* What users save as a dataset: {"search": {"q", "start", "end"} or "recordings": [ids], "fps" or "clock" or both,
 * "features": {"NAME": "/topic.path" or [of them], or "/topic" of images}, "cuts": {"title", "before_s", "after_s"},
 * "max_age_s", "robot"}. */
#ifndef SERVER_DATASETS_DEFINITION_H
#define SERVER_DATASETS_DEFINITION_H

#include <jansson.h>

#include "catalog/catalog.h"
#include "datasets/dataset.h"

enum { DATASET_EPISODES_MAX = 1000 };

struct dataset_definition { /* texts belong to the JSON value */
    struct dataset_spec spec;
    bool has_fps; /* else with a clock: its mean rate */
    struct dataset_feature features[DATASET_FEATURES_MAX];
    const char *sources[DATASET_SOURCES_MAX];
    const char *robot;           /* NULL: not said */
    bool cuts;                   /* an episode for each event of a recording … */
    const char *title;           /* … whose title matches this glob; NULL: any … */
    int64_t before_ns, after_ns; /* … from so long before it to so long after it */
    const json_t *recordings;    /* an array of ids; NULL: what the search finds */
    struct catalog_query query;
};
/* REEL_ARGUMENT names the member. `out` points into itself, so it is not copied. */
bool dataset_definition_read(const json_t *value, struct dataset_definition *out, struct reel_error *err);

#endif
