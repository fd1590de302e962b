/* Shared by the parts of layouts. made: what is made once of each episode of a dataset and stays in the store's folder
 * of derived files: a note of its plan, its videos, and a note of each. So when a recording comes, or after a restart,
 * the others are not read again. */
#ifndef SERVER_DATASETS_LAYOUT_INTERNAL_H
#define SERVER_DATASETS_LAYOUT_INTERNAL_H

#include "app.h"
#include "base/output_file.h"
#include "datasets/known.h"
#include "datasets/layout.h"

/* The recording's run of frames, found or made: fills e and sum of the episode. `checks` decides whether it
 * fits in the dataset, before its rows are written; false: err says why not. */
bool made_episode(struct app *app, struct dataset_layout *l, struct layout_episode *e,
                  bool (*checks)(struct dataset_layout *l, const struct dataset_episode *planned,
                                 struct reel_error *err),
                  const struct reel_progress *progress, struct reel_error *err);
/* The video of a source of images (video->source) in a planned episode: found, or made. */
bool made_video(struct app *app, const struct dataset_layout *l, const struct layout_episode *e,
                const struct reel_progress *progress, struct layout_video *video, struct reel_error *err);

/* The recording as it was planned: else REEL_BUSY, as the dataset is then another one. */
struct reel_recording *made_recording(struct app *app, const struct layout_episode *e, struct reel_error *err);
/* What the episode is made by; it points to `e`. */
struct dataset_spec made_spec(const struct dataset_layout *l, const struct layout_episode *e);
unsigned made_version(void); /* changes when any byte does that is made here or in lib/datasets */

/* A file's sum, while it is read or written. */
struct made_sum {
    struct digest digest;
    uint32_t crc;
};
struct made_sum made_sum_start(void);
void made_sum_add(struct made_sum *s, const void *data, size_t size);
void made_sum_end(const struct made_sum *s, struct layout_sum *out);

/* Files of what is made, by a key over all that their bytes depend on. */
enum { MADE_PATH = 4096 };
bool made_path(struct app *app, const struct layout_episode *e, const struct digest *key, const char *suffix,
               char out[MADE_PATH], struct reel_error *err);
/* One that is renamed to `path` when it is finished; several threads may make the same. */
bool made_begin_file(struct app *app, const char *path, struct output_file *o, struct reel_error *err);
bool made_write_note(struct app *app, const char *path, const void *data, size_t size, struct reel_error *err);
void *made_read_note(const char *path, size_t *size);   /* malloc'd; NULL: there is none */
void made_add_text(struct digest *d, const char *text); /* NULL is as "" */
void made_add_number(struct digest *d, int64_t number);
int made_clock(const struct catalog_recording *row);                              /* that a user set; -1: none */
struct known_key made_known_key(struct app *app, const struct layout_request *q); /* without a name: no memory */
void made_start_key(struct digest *d, const struct dataset_layout *l, const struct layout_episode *e);

/* meta.c: makes the files. */
bool layout_put_meta(struct dataset_layout *layout, struct reel_error *err);
/* Whether the files of the feature `f` are videos; *source: its first source. */
bool layout_is_video(const struct dataset_layout *layout, uint32_t f, uint32_t *source);

#endif
