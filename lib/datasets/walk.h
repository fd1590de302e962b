/* The frames of a recording, one after another (dataset.h). */
#ifndef REEL_DATASETS_WALK_H
#define REEL_DATASETS_WALK_H

#include "datasets/dataset.h"
#include "decode/decoder_set.h"
#include "decode/fields.h"
#include "stream/stream.h"

enum walk_reads { WALK_READS_ALL, WALK_READS_NUMBERS, WALK_READS_NOTHING };

struct walk_source {
    const char *text; /* as the feature has it */
    const char *topic, *path;
    struct field_set *paths; /* of the numbers, and of their names; NULL: it has images */
    struct reel_message latest;
    bool any, is_read; /* there is a latest message; its numbers are in `values` */
    bool has_names;
    enum dataset_drop fault; /* of those numbers */
    uint32_t width;          /* 0: not known yet */
    float *values;           /* room for DATASET_WIDTH_MAX */
    struct grow names;       /* of the first message: texts, each with its NUL */
    uint32_t n_names;
    struct dataset_picture picture; /* of the first image */
    bool is_key;                    /* the latest image can be decoded without those before it */
    uint64_t since;                 /* messages since the last frame */
};
struct walk {
    const struct dataset_spec *spec;
    enum walk_reads reads;
    struct reel_stream *stream;
    struct decoder_set opened;
    const struct reel_decoder **decoders; /* by channel */
    struct walk_source *sources;
    uint32_t n_sources;
    bool *of;         /* [channel * n_sources + source]: the source reads the channel */
    bool *is_clock;   /* [channel] */
    uint32_t waiting; /* sources without a message */
    uint64_t frame;   /* the next one, or the one that is visited … */
    int64_t time_ns;  /* … and its time */
    uint64_t from;    /* frames before this one are passed over */
    int64_t start_ns; /* of frame 0, or with a clock at or before it */
    int64_t end_ns;   /* of the last frame at the latest */
    int64_t tick_ns;  /* of the clock's latest message … */
    bool ticks;       /* … for which there has been no frame */
    bool runs;        /* the last frame had all values */
    int64_t *ages;    /* of a frame, by source */
};
/* `from`: the first frame that is wanted. walk_done() in any case. */
bool walk_open(struct walk *w, struct reel_recording *recording, const struct dataset_spec *spec, enum walk_reads reads,
               uint64_t from, struct reel_error *err);
void walk_done(struct walk *w);

/* Calls `frame` with each one from w->from on; false without err->code: it wants no more. Values are in w->sources, and
 * ages in w->ages. */
typedef bool (*walk_frame)(void *context, struct walk *w, uint64_t frame, enum dataset_drop drop,
                           struct reel_error *err);
bool walk_run(struct walk *w, const struct reel_progress *progress, walk_frame frame, void *context,
              struct reel_error *err);

/* images.c: reads the head of the latest image. False: err. */
bool walk_read_image(struct walk *w, struct walk_source *s, struct reel_error *err);

#endif
