/* See camera.h. */
#include "datasets/camera.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "datasets/walk.h"
#include "media/mp4/decode.h"
#include "media/mp4/encode.h"
#include "media/mp4/mp4.h"

struct dataset_camera {
    struct reel_view view; /* the first member */
    struct reel_recording *recording;
    char *topic;
    enum dataset_video video;
    uint32_t source, fps;
    uint64_t first, n, room;       /* frames of the episode */
    struct reel_message *messages; /* of each frame; `channel` is the id in the recording */
};

/* ---- the stream */

struct frames {
    struct reel_stream base;
    struct reel_stream *below;
    const struct dataset_camera *camera;
    uint64_t next;
};

static bool find_channel(const struct reel_stream *s, uint32_t id, uint32_t *position) {
    uint32_t i = 0;
    while (i < s->n_channels && s->channels[i]->id != id) {
        i++;
    }
    *position = i;
    return i < s->n_channels;
}

static enum reel_step next_message(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct frames *f = (struct frames *)base;
    if (f->next == f->camera->n) {
        return REEL_STEP_END;
    }
    *m = f->camera->messages[f->next];
    m->again = (uint32_t)f->next++;
    return find_channel(base, m->channel, &m->channel)
               ? REEL_STEP_MESSAGE
               : (reel_fail(err, REEL_CHANGED, "a message is not there any more"), REEL_STEP_ERROR);
}

static bool seek_message(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    struct frames *f = (struct frames *)base;
    (void)err;
    f->next = stream_is_start(mark) ? 0 : mark->again;
    return true;
}

static void free_frames(struct reel_stream *base) {
    reel_stream_free(((struct frames *)base)->below);
    free(base);
}

static struct reel_stream *open_frames(struct reel_stream *below, struct reel_recording *const *recordings, uint32_t n,
                                       const struct reel_selection *selection, struct reel_error *err) {
    static const struct reel_stream_ops ops = {.next = next_message, .seek = seek_message, .free = free_frames};
    struct frames *f = calloc(1, sizeof *f);
    (void)recordings, (void)n;
    if (!f) {
        reel_stream_free(below);
        reel_fail_memory(err);
        return NULL;
    }
    f->base = *below;
    f->base.ops = &ops;
    f->below = below;
    f->camera = (const struct dataset_camera *)selection->view;
    f->base.fps = f->camera->fps;
    return &f->base;
}

/* ---- opening */

void dataset_camera_free(struct dataset_camera *c) {
    if (c) {
        reel_recording_free(c->recording);
        free(c->messages);
        free(c->topic);
        free(c);
    }
}

static bool add_frame(void *context, struct walk *w, uint64_t frame, enum dataset_drop drop, struct reel_error *err) {
    struct dataset_camera *c = context;
    (void)frame, (void)drop, (void)err;
    if (c->n == c->room) {
        return false;
    }
    struct reel_message *m = &c->messages[c->n];
    *m = w->sources[c->source].latest;
    m->channel = w->stream->channels[m->channel]->id;
    m->time_ns = (int64_t)((unsigned __int128)c->n++ * 1000000000 / c->fps);
    return true;
}

static bool find_messages(struct dataset_camera *c, const struct dataset_spec *spec, int64_t start_ns,
                          struct reel_error *err) {
    AUTO_STRUCT(walk_done) struct walk w = {0};
    if (!walk_open(&w, c->recording, spec, WALK_READS_NOTHING, c->first, err) ||
        !walk_run(&w, NULL, add_frame, c, err)) {
        return false;
    }
    for (uint64_t i = 0; i < c->n; i++) {
        if (__builtin_add_overflow(c->messages[i].time_ns, start_ns, &c->messages[i].time_ns)) {
            return reel_fail(err, REEL_LIMIT, "a time of the video does not fit 64 bits");
        }
    }
    return (c->n == c->room || reel_fail(err, REEL_CHANGED, "there are fewer frames than planned")) &&
           ((c->topic = strdup(w.sources[c->source].topic)) || reel_fail_memory(err));
}

struct dataset_camera *dataset_camera_new(struct reel_recording *recording, const struct dataset_spec *spec,
                                          const struct dataset_episode *e, uint32_t source, struct reel_error *err) {
    if (e->frames > REEL_VIDEO_FRAMES_MAX) {
        reel_fail(err, REEL_LIMIT, "a video has at most %d frames", REEL_VIDEO_FRAMES_MAX);
        return NULL;
    }
    AUTO(dataset_camera_free) struct dataset_camera *c = calloc(1, sizeof *c);
    if (!c || !(c->messages = calloc(e->frames + 1, sizeof *c->messages))) {
        reel_fail_memory(err);
        return NULL;
    }
    c->view = (struct reel_view){.name = "frames", .open = open_frames};
    c->recording = reel_recording_ref(recording);
    c->video = e->pictures[source].video;
    c->source = source;
    c->fps = spec->fps;
    c->first = e->first;
    c->room = e->frames;
    return find_messages(c, spec, e->start_ns, err) ? TAKE(c) : NULL;
}

static struct reel_selection selection_of(struct dataset_camera *c) {
    struct reel_selection q = selection_all;
    q.topics = (const char *const *)&c->topic;
    q.n_topics = 1;
    q.encoding = ""; /* messages as they are */
    q.view = &c->view;
    return q;
}

struct reel_conversion *dataset_camera_video(struct dataset_camera *c, const struct reel_room *room,
                                             struct reel_threads *threads, const char *client, struct reel_error *err) {
    const struct reel_write_options options = {.compression = "", .room = *room};
    const struct reel_selection q = selection_of(c);
    return reel_conversion_new(&reel_writer_mp4, &c->recording, 1, &q, &options, threads, client, err);
}

uint64_t dataset_camera_memory(const struct dataset_episode *e) {
    return (e->frames < REEL_VIDEO_FRAMES_MAX ? e->frames : REEL_VIDEO_FRAMES_MAX) * sizeof(struct reel_message);
}

uint32_t dataset_camera_version(void) {
    enum { STATISTICS_VERSION = 1 };
    return encoder_version() ^ (reel_writer_mp4.version << 8 | STATISTICS_VERSION);
}

/* ---- statistics */

enum { SAMPLES_MIN = 100, SAMPLES_MAX = 10000, SIDE = 150, SIDE_LARGE = 300, VALUES = 256 };

struct histogram {
    uint64_t images, pixels;
    uint64_t counts[CAMERA_COLOURS][VALUES];
};

static void count_pixels(struct histogram *h, const struct reel_pixels *p) {
    uint32_t longer = p->width > p->height ? p->width : p->height, step = longer < SIDE_LARGE ? 1 : longer / SIDE;
    for (uint32_t y = 0; y < p->height; y += step) {
        for (uint32_t x = 0; x < p->width; x += step) {
            const uint8_t *at = p->data + ((size_t)y * p->width + x) * p->values;
            for (unsigned i = 0; i < CAMERA_COLOURS; i++) {
                h->counts[i][at[p->values == CAMERA_COLOURS ? i : 0]]++;
            }
            h->pixels++;
        }
    }
    h->images++;
}

/* The value with this rank among all that were counted. */
static unsigned value_at(const uint64_t counts[VALUES], uint64_t rank) {
    unsigned value = 0;
    for (uint64_t before = 0; value < VALUES - 1 && (before += counts[value]) <= rank; value++) {
    }
    return value;
}

static struct dataset_number sum_up(const uint64_t counts[VALUES], uint64_t n) {
    struct dataset_number out = {.min = value_at(counts, 0) / 255.0, .max = value_at(counts, n - 1) / 255.0};
    double squares = 0;
    for (unsigned v = 0; v < VALUES; v++) {
        out.mean += (double)counts[v] * v / 255 / (double)n;
    }
    for (unsigned v = 0; v < VALUES; v++) {
        double from = v / 255.0 - out.mean;
        squares += (double)counts[v] * from * from;
    }
    for (unsigned q = 0; q < 5; q++) {
        double at = dataset_quantiles[q] * (double)(n - 1);
        uint64_t low = (uint64_t)at;
        unsigned a = value_at(counts, low), b = value_at(counts, low + 1 < n ? low + 1 : low);
        out.quantiles[q] = (a + (b - a) * (at - (double)low)) / 255;
    }
    out.m2 = squares / (double)n; /* of one image */
    return out;
}

static uint64_t samples_of(uint64_t frames) {
    double n = floor(pow((double)frames, 0.75));
    n = n < SAMPLES_MIN ? SAMPLES_MIN : n > SAMPLES_MAX ? SAMPLES_MAX : n;
    return n < (double)frames ? (uint64_t)n : frames;
}

struct viewing {
    struct reel_stream *stream;
    struct decoder_set opened;
    struct h264_decoder *h264; /* NULL: of images */
    struct histogram h;
};

static void viewing_done(struct viewing *v) {
    decoder_set_free(&v->opened);
    h264_decoder_free(v->h264);
    reel_stream_free(v->stream);
}

/* The image of a message; its bytes are valid until the next call. */
static bool view_image(struct viewing *v, struct reel_message m, struct reel_image *image, struct reel_error *err) {
    const struct reel_decoder *decoder;
    struct reel_bytes payload;
    if (!find_channel(v->stream, m.channel, &m.channel)) {
        return reel_fail(err, REEL_CHANGED, "a message is not there any more");
    }
    return decoder_set_try(&v->opened, v->stream->channels[m.channel], &decoder, err) &&
           reel_stream_payload(v->stream, &m, &payload, err) && reel_image_read(decoder, payload, image, err);
}

/* Counts a frame; of H.264 all frames have to be decoded. */
static bool view_frame(struct viewing *v, const struct reel_message *m, bool counts, struct reel_error *err) {
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    AUTO_STRUCT(reel_pixels_done) struct reel_pixels pixels = {0};
    if (!counts && !v->h264) {
        return true;
    }
    if (!view_image(v, *m, &image, err) ||
        !(v->h264 ? h264_decoder_put(v->h264, image.data, counts ? &pixels : NULL, err)
                  : reel_picture_pixels(&image, 0, &pixels, err))) {
        return false;
    }
    if (pixels.data) {
        count_pixels(&v->h, &pixels);
    }
    return true;
}

static bool view_frames(struct viewing *v, const struct dataset_camera *c, struct reel_error *err) {
    uint64_t n = samples_of(c->n), sample = 0;
    for (uint64_t i = 0; i < c->n; i++) {
        uint64_t next = n > 1 ? (uint64_t)llrint((double)sample * (double)(c->n - 1) / (double)(n - 1)) : 0;
        bool counts = sample < n && i == next;
        sample += counts;
        if (!cancel_check(err) || !view_frame(v, &c->messages[i], counts, err)) {
            return false;
        }
    }
    return v->h.images > 0 || reel_fail(err, REEL_UNSUPPORTED, "none of the frames can be decoded");
}

bool dataset_camera_statistics(struct dataset_camera *c, struct dataset_number out[CAMERA_COLOURS],
                               struct reel_error *err) {
    AUTO_STRUCT(viewing_done) struct viewing v = {0};
    struct reel_error why = {0};
    struct reel_selection q = selection_of(c);
    q.view = NULL;
    memset(out, 0, CAMERA_COLOURS * sizeof *out);
    if (c->video == DATASET_H265) {
        return true;
    }
    if (!(v.stream = reel_stream_open(&c->recording, 1, &q, err))) {
        return false;
    }
    if ((c->video == DATASET_H264 && !(v.h264 = h264_decoder_new(&why))) || !view_frames(&v, c, &why)) {
        return c->video == DATASET_H264 ? reel_error_ignore(err, &why) : reel_error_pass(err, &why);
    }
    for (unsigned i = 0; i < CAMERA_COLOURS; i++) {
        out[i] = sum_up(v.h.counts[i], v.h.pixels);
        out[i].count = v.h.images;
        out[i].m2 *= (double)v.h.images;
    }
    return true;
}
