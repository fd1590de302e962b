/* Recordings as episodes of a training set (LeRobot v3): numbers and images of several topics, paired at the frames of
 * a clock.
 *
 * Frame k is at k/fps from the first time at which every source has had a message; with a clock, the frames from that
 * time on are at the times of its messages. A frame has the latest message of each source at or before it; the time
 * between the two is the value's age. An episode is the longest run of frames that have all values, none of them older
 * than max_age_ns, up to the time at which the first source ends. The recording is streamed twice: to find the run, and
 * to read its numbers; only those of one row group are in memory. Images are a video for each source (camera.h). */
#ifndef REEL_DATASETS_DATASET_H
#define REEL_DATASETS_DATASET_H

#include "reel/open.h"
#include "tables/table.h"

enum {
    DATASET_FEATURES_MAX = 64,
    DATASET_SOURCES_MAX = 128, /* of all features */
    DATASET_WIDTH_MAX = 4096,  /* numbers of a frame */
    DATASET_FPS_MAX = 1000,
    DATASET_FRAMES_MAX = 1 << 24, /* of an episode: 6 days at 30 Hz */
};

struct dataset_feature {
    const char *name;           /* "observation.state" */
    const char *const *sources; /* "/joint_states.position": a number, a list, or an object of numbers; one after
                                   another. Of images: one topic */
    uint32_t n_sources;
};
struct dataset_cut { /* of the recording's clock; both ends are in */
    int64_t start_ns, end_ns;
};
struct dataset_spec {
    const struct dataset_feature *features;
    uint32_t n_features;
    uint32_t fps;                  /* with a clock, 0 until the mean rate of its messages is known */
    const char *clock;             /* a topic; NULL: frames are at k/fps */
    int64_t max_age_ns;            /* 0: any */
    const struct dataset_cut *cut; /* frames are within it; NULL: anywhere */
};
/* By its name, as LeRobot has it: "observation.image" and "observation.images.NAME". */
bool dataset_feature_is_video(const struct dataset_feature *feature);
/* REEL_ARGUMENT: names that LeRobot does not allow, or that are the same; no source, no clock, too many. */
bool dataset_spec_check(const struct dataset_spec *spec, struct reel_error *err);

/* Why a frame is not in the episode. */
enum dataset_drop {
    DATASET_KEPT,
    DATASET_TOO_OLD,    /* a value is older than max_age_ns */
    DATASET_UNREADABLE, /* a message has no such numbers or no image, or cannot be decoded */
    DATASET_OTHER_SIZE, /* a message has more or fewer numbers, or an image of another size, than the first one */
    DATASET_OFF_GRID,   /* of H.264 or H.265: the frames since the last key frame do not follow each other one by one */
    DATASET_OTHER_RUN,  /* it has all values, but the run that it is in is not the longest */
    DATASET_DROPS
};
extern const char *const dataset_drop_names[DATASET_DROPS];

struct dataset_ages { /* of the values of a source; the median and p99 are at most 1.6 % too large */
    int64_t median_ns, p99_ns, max_ns;
};
struct dataset_number { /* of one number, over the frames of an episode in which it is finite */
    uint64_t count;
    double min, max, mean, m2; /* m2: sum of the squares of the differences from the mean */
    double quantiles[5];       /* dataset_quantiles; of at most 65,536 frames at equal distances */
};
extern const double dataset_quantiles[5];

enum dataset_video { DATASET_NO_VIDEO, DATASET_ENCODED /* from images */, DATASET_H264, DATASET_H265 };
struct dataset_picture { /* of a source */
    enum dataset_video video;
    uint32_t width, height; /* of the video's frames */
    uint8_t chroma, bits;   /* as in H.264: 0 grey, 1 4:2:0, 2 4:2:2, 3 4:4:4; of a luma sample */
};

struct dataset_episode {
    int64_t grid_ns;          /* time of frame 0, in the recording's clock … */
    int64_t start_ns, end_ns; /* … and of the first and the last one of the episode */
    uint64_t first;           /* the first frame's number */
    uint64_t frames;          /* 0: there is no frame that has all values */
    uint64_t dropped[DATASET_DROPS];
    int64_t lead_ns, tail_ns; /* of the recording, before every source has begun and after the first one has ended */
    uint32_t n_sources, n_numbers;
    uint32_t *widths;                 /* by source; 0: of images */
    struct dataset_picture *pictures; /* by source */
    char **names;                     /* by number: those that the messages have in `name`, else the source's and [i] */
    struct dataset_ages *ages;        /* by source */
    struct dataset_number *stats;     /* by number; NULL until dataset_episode_write() */
};
void dataset_episode_done(struct dataset_episode *e);
void dataset_episode_forget_names(struct dataset_episode *e); /* names is NULL then */

/* Finds the run. REEL_NOT_FOUND: the recording has not the topic of a source. `progress` may be NULL. */
bool dataset_episode_plan(struct reel_recording *recording, const struct dataset_spec *spec,
                          const struct reel_progress *progress, struct dataset_episode *out, struct reel_error *err);

/* Where the episode is in its dataset. */
struct dataset_place {
    int64_t episode, first_row, task;
};
/* Writes the Parquet file of a planned episode: a row for each frame, its columns the features and then timestamp,
 * frame_index, episode_index, index and task_index. `sums` gets ages and stats: NULL, or the episode. */
bool dataset_episode_write(struct reel_recording *recording, const struct dataset_spec *spec,
                           const struct dataset_place *place, const struct reel_text_sink *sink,
                           const struct dataset_episode *e, struct dataset_episode *sums, struct reel_error *err);

#endif
