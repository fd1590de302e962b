/* A dataset as the files of LeRobot v3, none of which is stored: planned once by a job, which reads each recording and
 * encodes its images, and kept in the derived cache. Files below meta/ are in memory, those of episodes are made when
 * they are read; videos stay in the folder of derived files while there is room. */
#ifndef SERVER_DATASETS_LAYOUT_H
#define SERVER_DATASETS_LAYOUT_H

#include <stdatomic.h>

#include "app.h"
#include "base/digest.h"
#include "base/grow.h"
#include "datasets/camera.h"
#include "datasets/definition.h"

enum { LAYOUT_PATH = 320, LAYOUT_META = 5 };

struct layout_sum { /* over the bytes of a file */
    uint64_t size;
    uint32_t crc; /* CRC-32 */
    char sha256[SHA256_HEX];
};
struct layout_video { /* of an episode and a feature of images */
    uint32_t source;
    struct layout_sum sum;
    struct dataset_number stats[CAMERA_COLOURS]; /* count 0: its frames cannot be decoded here */
};

struct layout_episode {
    char id[RECORDING_ID_TEXT], content[SHA256_HEX];
    int clock;  /* that a user set; -1: none */
    char *name; /* COLLECTION/NAME */
    char *task;
    bool is_cut; /* around an event: cut and event */
    struct dataset_cut cut;
    char *event;   /* its title; NULL: there is none */
    char *problem; /* why it is no episode of the dataset; NULL: it is one. A recording that is not there has no more
                      than id and name: what the definition says */
    struct dataset_episode e;
    struct dataset_place place;
    struct layout_video *videos; /* by feature of images; NULL without, or before they are made */
    struct layout_sum sum;       /* of its table */
};
struct layout_file {
    char path[LAYOUT_PATH];
    struct layout_sum sum;
    struct grow data;                     /* of meta/ */
    const struct layout_episode *episode; /* NULL: of meta/ */
    const struct layout_video *video;     /* NULL: not of videos/ */
};
struct dataset_layout {
    _Atomic uint32_t references;
    json_t *value;
    struct dataset_definition definition; /* of `value` */
    char sha[SHA1_HEX];                   /* changes when any of its bytes does */
    /* one for each recording or cut, in order; those with frames are numbered */
    struct layout_episode *episodes;
    uint32_t n_episodes, n_good, n_videos; /* n_videos: features of images */
    uint64_t frames;
    const char **tasks; /* of the episodes, each once */
    uint32_t n_tasks;
    struct layout_file *files; /* by path */
    uint32_t n_files;
};
struct dataset_layout *layout_ref(struct dataset_layout *layout);
void layout_free(struct dataset_layout *layout); /* gives a reference back; NULL is fine */
REEL_DEFINE_AUTO(struct dataset_layout, layout_free);

struct layout_request {
    const json_t *value;        /* the definition */
    const char *const *allowed; /* collections of the caller; NULL: all */
    const char *owner;          /* who asked */
    uint32_t max;               /* at most so many recordings and episodes; 0: all, and REEL_LIMIT if there are too
                                   many */
    bool reports;               /* for layout_report() alone: there are no files, and no video is made */
    int64_t wait_ns;
};
/* A reference. NULL with job[0] set: not ready yet. NULL with err: REEL_ARGUMENT: no definition; REEL_LIMIT. */
struct dataset_layout *layout_get(struct app *app, const struct layout_request *q, char job[33],
                                  struct reel_error *err);

const struct layout_file *layout_file(const struct dataset_layout *layout, const char *path); /* NULL: there is none */
/* The table of an episode as an unlinked temporary file; -1 with err: REEL_BUSY: the recording has just changed;
 * REEL_CHANGED: the table is not what was planned. */
int layout_episode_open(struct app *app, const struct dataset_layout *layout, const struct layout_episode *episode,
                        struct reel_error *err);

/* A video of an episode as a file; -1 with err: REEL_BUSY: it is made again, come again. */
int layout_video_open(struct app *app, struct dataset_layout *layout, const struct layout_file *file, int64_t wait_ns,
                      struct reel_error *err);

/* What was found, for the preview: features, episodes, ages, and what was dropped. */
json_t *layout_report(const struct dataset_layout *layout);

#endif
