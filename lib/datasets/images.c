/* See walk.h. Of an image only the head of its file is looked at: it is decoded when its video is made. */
#include "base/error.h"
#include "datasets/walk.h"
#include "media/mp4/encode.h"
#include "media/picture.h"
#include "syntax/nal.h"

static bool is_h265(const struct reel_image *image) {
    return image->form == REEL_PICTURE_H265;
}

/* A frame of H.264 or H.265: whether it is a key frame, and the size of its pictures if it says so. False: there is no
 * picture in it. */
static bool read_frame_head(const struct reel_image *image, struct walk_source *s, struct dataset_picture *out) {
    struct reel_bytes stream = image->data, unit;
    struct nal_size size;
    bool picture = false;
    s->is_key = false;
    while (nal_next(&stream, &unit)) {
        enum nal_role role = nal_role(unit, is_h265(image));
        s->is_key |= role == NAL_KEY_PICTURE;
        picture |= role == NAL_KEY_PICTURE || role == NAL_PICTURE;
        if (role == NAL_SPS && nal_read_sps(unit, is_h265(image), &size)) {
            out->width = size.width;
            out->height = size.height;
            out->chroma = size.chroma;
            out->bits = size.luma_bits;
        }
    }
    return picture;
}

/* Compares the image with the first one. */
static enum dataset_drop take_picture(struct walk_source *s, const struct reel_image *image, struct reel_error *err) {
    struct reel_error why = {0};
    bool video = image->compressed && (image->form == REEL_PICTURE_H264 || is_h265(image));
    struct dataset_picture one = {.chroma = 1,
                                  .bits = 8,
                                  .video = !video           ? DATASET_ENCODED
                                           : is_h265(image) ? DATASET_H265
                                                            : DATASET_H264};
    if (video ? !read_frame_head(image, s, &one) : !reel_image_size(image, &one.width, &one.height)) {
        return DATASET_UNREADABLE;
    }
    if (one.width == 0) { /* a frame without parameter sets */
        return s->picture.video == one.video ? DATASET_KEPT : DATASET_UNREADABLE;
    }
    bool first = s->picture.video == DATASET_NO_VIDEO, fits = video || encoder_accepts(&one.width, &one.height, &why);
    if (first && !fits) {
        reel_error_pass(err, &why);
        return DATASET_UNREADABLE;
    }
    s->picture = first ? one : s->picture;
    return s->picture.video == one.video && s->picture.width == one.width && s->picture.height == one.height
               ? DATASET_KEPT
               : DATASET_OTHER_SIZE;
}

bool walk_read_image(struct walk *w, struct walk_source *s, struct reel_error *err) {
    struct reel_image image = {0};
    struct reel_error why = {0};
    struct reel_bytes payload;
    if (!reel_stream_payload(w->stream, &s->latest, &payload, err)) {
        return false;
    }
    if (reel_image_read(w->decoders[s->latest.channel], payload, &image, &why)) {
        s->fault = take_picture(s, &image, err);
    }
    reel_image_done(&image);
    return err->code == REEL_OK && reel_error_ignore(err, &why);
}
