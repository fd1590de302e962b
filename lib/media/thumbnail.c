/* Pictures of a recording at a glance. Small ones are made of what cameras record; an image that would cost more than
 * that is left out. */
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "media/image.h"
#include "media/video.h"
#include "stream/stream.h"

enum { CANDIDATES = 4, IMAGE_PIXELS_MAX = 32 << 20, PAYLOAD_MAX = 128 << 20 };

/* ---- which channel */

static bool has_pictures(const struct reel_channel *channel) {
    return video_is_image(channel) || (video_is_channel(channel) && !video_is_recorded(channel));
}

static bool is_measured(const struct reel_channel *channel) {
    return ascii_contains(channel->name, "depth") || ascii_contains(channel->name, "disparity") ||
           ascii_contains(channel->name, "mask");
}

/* Whether people rather look at a than at b: at what a camera sees, and at what has more images. */
static bool is_better(const struct reel_index *index, uint32_t a, uint32_t b) {
    bool x = is_measured(reel_index_channel(index, a)), y = is_measured(reel_index_channel(index, b));
    return x != y ? y : reel_index_stats(index, a)->count > reel_index_stats(index, b)->count;
}

/* The best ones, best first. */
static uint32_t find_candidates(const struct reel_index *index, uint32_t out[CANDIDATES]) {
    uint32_t n = 0;
    for (uint32_t id = 0; id < reel_index_info(index)->n_channels; id++) {
        if (reel_index_stats(index, id)->count == 0 || !has_pictures(reel_index_channel(index, id))) {
            continue;
        }
        uint32_t at = n < CANDIDATES ? n++ : CANDIDATES;
        for (; at > 0 && is_better(index, id, out[at - 1]); at--) {
            if (at < CANDIDATES) {
                out[at] = out[at - 1];
            }
        }
        if (at < CANDIDATES) {
            out[at] = id;
        }
    }
    return n;
}

bool reel_thumbnail_fits(const struct reel_index *index) {
    uint32_t candidates[CANDIDATES];
    return find_candidates(index, candidates) > 0;
}

/* ---- its frames */

struct strip {
    struct reel_recording *recording;
    const struct reel_thumbnail *options;
    struct pixels canvas;   /* of all tiles, side by side */
    uint32_t width, height; /* of a tile */
};

/* The width at which the image fits into a tile. */
static bool choose_width(const struct reel_image *image, const struct reel_thumbnail *options, uint32_t *width,
                         struct reel_error *err) {
    uint32_t w = 0, h = 0;
    if (!reel_image_size(image, &w, &h)) {
        return reel_fail(err, REEL_DAMAGED, "the head of this image cannot be read");
    }
    if (!picture_fits(w, h, err)) {
        return false;
    }
    if ((uint64_t)w * h > IMAGE_PIXELS_MAX) {
        return reel_fail(err, REEL_LIMIT, "an image of %u x %u pixels is too large for a thumbnail", w, h);
    }
    uint64_t by_height = (uint64_t)options->height * w / h;
    *width = by_height < options->width ? (uint32_t)by_height : options->width;
    *width = *width > 0 ? *width : 1;
    return true;
}

static bool thumbnail_read_frame(const struct strip *s, uint32_t channel, int64_t time_ns, struct reel_pixels *out,
                                 struct reel_error *err) {
    struct reel_selection q = selection_all;
    AUTO(reel_stream_free) struct reel_stream *stream = NULL;
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    struct reel_message m;
    struct reel_bytes payload;
    uint32_t width = 0;
    q.channels = &channel;
    q.n_channels = 1;
    if (!reel_message_at_time(s->recording, &q, time_ns, &stream, &m, err)) {
        return false;
    }
    if (m.size > PAYLOAD_MAX) {
        return reel_fail(err, REEL_LIMIT, "an image of %u bytes is too large for a thumbnail", m.size);
    }
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(stream->channels[m.channel], err);
    return decoder && reel_stream_payload(stream, &m, &payload, err) &&
           reel_image_read(decoder, payload, &image, err) && choose_width(&image, s->options, &width, err) &&
           (!s->options->reserve ||
            s->options->reserve(s->options->context,
                                payload.size + reel_picture_memory(&image, REEL_PICTURE_JPEG, width), err)) &&
           reel_picture_pixels(&image, width, out, err);
}

/* The first frame decides the size of all; what is larger is cut, and what is smaller stands on black. */
static bool thumbnail_put(struct strip *s, uint32_t tile, const struct reel_pixels *frame, struct reel_error *err) {
    if (!s->canvas.data) {
        uint64_t width = (uint64_t)frame->width * s->options->frames;
        s->width = frame->width;
        s->height = frame->height;
        if (!picture_fits(width, s->height, err) || !pixels_new((uint32_t)width, s->height, 3, &s->canvas, err)) {
            return false;
        }
    }
    uint32_t columns = frame->width < s->width ? frame->width : s->width,
             rows = frame->height < s->height ? frame->height : s->height;
    for (uint32_t y = 0; y < rows; y++) {
        const uint8_t *from = frame->data + (size_t)y * frame->width * frame->values;
        uint8_t *to = s->canvas.data + ((size_t)y * s->canvas.width + (size_t)tile * s->width) * 3;
        for (uint32_t x = 0; x < columns; x++, to += 3, from += frame->values) {
            to[0] = from[0];
            to[1] = from[frame->values == 3 ? 1 : 0];
            to[2] = from[frame->values == 3 ? 2 : 0];
        }
    }
    return true;
}

/* Whether another frame may do, or another channel. */
static bool is_of_the_image(enum reel_code code) {
    return code == REEL_UNSUPPORTED || code == REEL_DAMAGED || code == REEL_LIMIT || code == REEL_NOT_FOUND;
}

/* Frames that cannot be drawn stay black; with the first one the channel is given up. */
static bool draw_channel(struct strip *s, uint32_t channel, struct reel_error *err) {
    const struct reel_channel_stats *stats = reel_index_stats(reel_recording_index(s->recording), channel);
    const uint64_t span = (uint64_t)stats->last_ns - (uint64_t)stats->first_ns, step = span / s->options->frames / 2;
    for (uint32_t i = 0; i < s->options->frames; i++) {
        AUTO_STRUCT(reel_pixels_done) struct reel_pixels frame = {0};
        struct reel_error why = {0};
        int64_t time_ns = (int64_t)((uint64_t)stats->first_ns + (2 * i + 1) * step);
        bool good = thumbnail_read_frame(s, channel, time_ns, &frame, &why);
        if (!good && (i == 0 || !is_of_the_image(why.code))) {
            return reel_error_pass(err, &why);
        }
        if (good && !thumbnail_put(s, i, &frame, err)) {
            return false;
        }
    }
    return true;
}

bool reel_thumbnail_make(struct reel_recording *recording, const struct reel_thumbnail *options,
                         struct reel_picture *out, struct reel_error *err) {
    uint32_t candidates[CANDIDATES], n = find_candidates(reel_recording_index(recording), candidates);
    struct reel_error why = {0};
    bool good = false;
    struct strip s = {.recording = recording, .options = options};
    *out = (struct reel_picture){0};
    if (options->frames == 0) {
        return reel_fail(err, REEL_ARGUMENT, "a thumbnail has one frame at least");
    }
    reel_fail(&why, REEL_NOT_FOUND, "the recording has no images");
    for (uint32_t i = 0; i < n && !good && is_of_the_image(why.code); i++) {
        why = (struct reel_error){0};
        good = draw_channel(&s, candidates[i], &why);
    }
    AUTO(pixels_done) struct pixels canvas = s.canvas;
    return good ? picture_write(&canvas, REEL_PICTURE_JPEG, out, err) : reel_error_pass(err, &why);
}
