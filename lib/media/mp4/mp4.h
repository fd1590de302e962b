/* A video topic as an MP4 file: H.264 or H.265 as recorded, without transcoding. All boxes come before the pictures, so
 * that a player begins at once, and the length is known from one run over the messages.
 *
 *   ftyp
 *   moov  mvhd, trak  tkhd, edts (a cut: its pictures before the start are decoded and not shown), mdia  mdhd, hdlr,
 * minf  vmhd, dinf, stbl  stsd (the parameter sets), stsc, co64, stts, stss, stsz mdat  the samples, one after another:
 * units behind 4-byte lengths */
#ifndef REEL_MEDIA_MP4_MP4_H
#define REEL_MEDIA_MP4_MP4_H

#include "convert/writer.h"
#include "media/picture.h"
#include "syntax/nal.h"

enum { MP4_SETS_MAX = 16, MP4_MDAT_HEAD = 16 };

extern const struct reel_writer reel_writer_mp4;

struct mp4_sample { /* one a message; size 0: it is left out */
    int64_t time_ns;
    uint32_t size;
    bool key;
};

struct mp4_sets { /* the parameter sets of the first key frame */
    struct reel_bytes items[MP4_SETS_MAX];
    enum nal_role roles[MP4_SETS_MAX];
    unsigned n;
};

struct mp4_video {
    bool h265;
    struct mp4_sets sets;
    struct nal_size size;
    uint64_t changed; /* from this sample on there are other parameter sets: all of them stay in the samples;
                         UINT64_MAX: never */
    struct mp4_sample *samples;
    uint64_t n, room;
    uint64_t kept, keys, bytes; /* samples that are not left out, key frames among them, their bytes */
    uint64_t first, last;       /* of those kept */
    uint64_t durations;         /* entries of stts */
    uint32_t timescale;
    uint32_t fps;      /* samples are at k/fps exactly; 0: at their times */
    int64_t ended_ns;  /* of the last one */
    int64_t start_ns;  /* of the cut, or of the first sample */
    int64_t created_s; /* since 1904; 0: not known */
};

/* boxes.c: everything before the samples, or, of a file of images, before and behind them. */
bool mp4_put_head(const struct mp4_video *video, struct reel_sink *out, struct reel_error *err);
enum { MP4_OPEN_SIZE = 32 + MP4_MDAT_HEAD };
void mp4_put_open(uint64_t bytes, struct reel_sink *out); /* of all samples */
bool mp4_put_end(const struct mp4_video *video, struct reel_sink *out, struct reel_error *err);
/* Sets timescale and durations. */
void mp4_measure(struct mp4_video *video);

/* samples.c: the units of a picture as a sample; the sets in `known` (NULL: none) are left out. *size 0: no picture is
 * in it. */
bool mp4_put_sample(struct reel_bytes stream, bool h265, const struct mp4_sets *known, struct reel_sink *out,
                    uint32_t *size, bool *key);
/* drawn.c: the same of images, which are encoded. */
struct rows;
bool mp4_survey_images(struct mp4_video *video, struct rows *rows, struct reel_write *w, struct reel_error *err);
bool mp4_put_images(struct mp4_video *video, struct rows *rows, struct reel_write *w, struct reel_sink *out,
                    struct reel_error *err);
bool mp4_collect(struct mp4_video *video, struct reel_write *w, struct reel_error *err);

/* survey.c: runs over all messages once, or up to the first image that stands alone: then no sample is kept. */
bool mp4_survey(struct mp4_video *video, struct rows *rows, struct reel_write *w, struct reel_error *err);
/* Takes the parameter sets of a frame, and the sides of the pictures. *found = false: there are none, or too many. */
bool mp4_take_sets(struct mp4_video *video, struct reel_bytes stream, struct reel_write *w, bool *found,
                   struct reel_error *err);
void mp4_add(struct mp4_video *video, const struct mp4_sample *sample); /* `samples` has room for it */
/* All samples are there, and one is kept. False: of a stream with a rate, one is not. */
bool mp4_finish(struct mp4_video *video, struct reel_write *w, struct reel_error *err);
/* Reads a message; the caller is done with the image then. */
enum mp4_content { MP4_NOTHING, MP4_IMAGE /* that stands alone */, MP4_FRAME /* the image is a byte stream */ };
bool mp4_read(struct reel_write *w, struct rows *rows, const struct reel_message *m, struct reel_image *image,
              enum mp4_content *content, struct reel_error *err);

#endif
