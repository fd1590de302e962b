/* Shared by the parts of layouts. made: what is made once of each episode of a dataset: its plan, which stays in the
 * derived cache, and its videos (videos.c), which stay in the store's folder of derived files. So when a recording
 * comes, the others are not read again. */
#ifndef SERVER_DATASETS_LAYOUT_INTERNAL_H
#define SERVER_DATASETS_LAYOUT_INTERNAL_H

#include "app.h"
#include "datasets/layout.h"

struct made_episode {
    _Atomic uint32_t references;
    struct dataset_episode e;
    uint64_t size; /* of its Parquet file */
    char sha256[SHA256_HEX];
};
void made_episode_free(struct made_episode *made); /* gives a reference back; NULL is fine */
REEL_DEFINE_AUTO(struct made_episode, made_episode_free);
/* The recording's run of frames, found or made. `checks` decides whether it fits in the dataset, before its rows are
 * written; false: err says why not. */
struct made_episode *made_episode_get(struct app *app, struct dataset_layout *l, struct layout_episode *e,
                                      bool (*checks)(struct dataset_layout *l, struct layout_episode *e,
                                                     const struct dataset_episode *planned, struct reel_error *err),
                                      const struct reel_progress *progress, struct reel_error *err);

/* The video of a source of images (video->source) in a planned episode: found, or made. */
bool made_video(struct app *app, const struct dataset_layout *l, const struct layout_episode *e,
                const struct reel_progress *progress, struct layout_video *video, struct reel_error *err);

/* The recording as it was planned: else REEL_CHANGED. */
struct reel_recording *made_recording(struct app *app, const struct layout_episode *e, struct reel_error *err);
/* What the episode is made by; it points to `e`. */
struct dataset_spec made_spec(const struct dataset_layout *l, const struct layout_episode *e);
unsigned made_version(void); /* changes when any byte does that is made here or in lib/datasets */

/* Keys of what is made. */
void made_add_text(struct digest *d, const char *text); /* NULL is as "" */
void made_add_number(struct digest *d, int64_t number);
void made_start_key(struct digest *d, const struct dataset_layout *l, const struct layout_episode *e);

/* meta.c: makes the files. */
bool layout_put_meta(struct dataset_layout *layout, struct reel_error *err);
/* Whether the files of the feature `f` are videos; *source: its first source. */
bool layout_is_video(const struct dataset_layout *layout, uint32_t f, uint32_t *source);

#endif
