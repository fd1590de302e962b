/* See mp4.h: an MP4 file of images. Its frames have no size until they are encoded, so their boxes come last; players
 * read the end first.
 */
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "media/mp4/encode.h"
#include "media/mp4/mp4.h"
#include "media/video.h"
#include "tables/rows.h"

struct note { /* of each frame of a group */
    int64_t time_ns;
    uint32_t size; /* 0: left out */
    uint32_t key;
};

struct pace {     /* of the frames so far */
    uint64_t fps; /* at most so many frames a second; 0: all */
    int64_t last_ns;
    bool begun;
};

static struct pace pace_of(const struct reel_write *w) {
    return (struct pace){.fps = reel_write_option_u64(w, "fps")};
}

/* Whether the frame comes sooner after the last one than fps allows. A group begins with one that is kept, so each can
 * be thinned alone. */
static bool comes_soon(struct pace *pace, int64_t time_ns) {
    if (pace->fps > 0 && pace->begun && (uint64_t)time_ns - (uint64_t)pace->last_ns < 1000000000 / pace->fps) {
        return true;
    }
    pace->last_ns = time_ns;
    pace->begun = true;
    return false;
}

struct drawn { /* a picture, and what it has of the room */
    struct reel_pixels pixels;
    const struct reel_room *room;
    uint64_t bytes;
};
static void drawn_done(struct drawn *d) {
    reel_pixels_done(&d->pixels);
    if (d->bytes > 0) {
        d->room->give(d->room->context, d->bytes);
    }
}

static bool take_room(const struct reel_write *w, const struct reel_image *image, uint32_t width, struct drawn *out,
                      struct reel_error *err) {
    const struct reel_room *room = &w->options->room;
    const uint64_t bytes = room->take ? reel_picture_memory(image, REEL_PICTURE_JPEG, width) : 0;
    if (bytes > 0 && !room->take(room->context, bytes, err)) {
        return false;
    }
    out->room = room;
    out->bytes = bytes;
    return true;
}

/* The picture in a message as pixels; *read false: there is none. */
static bool read_pixels(struct reel_write *w, struct rows *rows, const struct reel_message *m, struct drawn *out,
                        bool *read, struct reel_error *err) {
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    struct reel_error why = {0};
    enum mp4_content content;
    *read = false;
    if (!mp4_read(w, rows, m, &image, &content, err)) {
        return false;
    }
    uint32_t width = (uint32_t)reel_write_option_u64(w, "width");
    if (content != MP4_NOTHING && !take_room(w, &image, width, out, err)) {
        return false;
    }
    *read = content != MP4_NOTHING && reel_picture_pixels(&image, width, &out->pixels, &why);
    return why.code != REEL_NO_MEMORY || reel_fail_memory(err);
}

/* The parameter sets are those of any frame of this size. */
static bool take_sets(struct mp4_video *v, const struct reel_pixels *pixels, struct reel_write *w,
                      struct reel_error *err) {
    uint32_t width = pixels->width, height = pixels->height;
    struct reel_bytes stream;
    if (!encoder_accepts(&width, &height, err)) {
        return false;
    }
    AUTO(encoder_free) struct encoder *encoder = encoder_new(width, height, err);
    bool found;
    return encoder && encoder_put(encoder, pixels, &stream, err) && mp4_take_sets(v, stream, w, &found, err) &&
           (found || reel_fail(err, REEL_UNSUPPORTED, "the encoder gave no frame"));
}

bool mp4_survey_images(struct mp4_video *v, struct rows *rows, struct reel_write *w, struct reel_error *err) {
    struct reel_message m;
    struct reel_position first = {0};
    enum reel_step step;
    struct pace pace = pace_of(w);
    bool found = false;
    uint64_t n = 0;
    while ((step = stream_next(w->stream, &m, err)) == REEL_STEP_MESSAGE) {
        AUTO_STRUCT(drawn_done) struct drawn drawn = {0};
        first = n == 0 ? reel_position_of(&m) : first;
        if (comes_soon(&pace, m.time_ns)) {
            continue;
        }
        if (!found && !read_pixels(w, rows, &m, &drawn, &found, err)) {
            return false;
        }
        if (drawn.pixels.data && !take_sets(v, &drawn.pixels, w, err)) {
            return false;
        }
        if (n++ == REEL_VIDEO_FRAMES_MAX) {
            return reel_fail(err, REEL_LIMIT, "an MP4 file has at most %d frames; take a shorter time range",
                             REEL_VIDEO_FRAMES_MAX);
        }
    }
    if (step == REEL_STEP_ERROR || (n > 0 && !stream_seek(w->stream, &first, err))) {
        return false;
    }
    v->changed = UINT64_MAX;
    return found ||
           reel_fail(err, REEL_UNSUPPORTED,
                     "neither an image nor a key frame of H.264 or H.265 is in %llu messages: there is nothing to play",
                     (unsigned long long)n);
}

/* ---- frames */

static bool lay(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct reel_message m;
    struct pace pace = pace_of(w);
    enum reel_step step;
    unsigned frames = 0;
    while ((step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE) {
        if (comes_soon(&pace, m.time_ns)) {
            continue;
        }
        if (frames++ == ENCODE_FRAMES) {
            reel_write_unget(w, &m);
            break;
        }
        reel_sink_fill(out, 0, m.size < (1 << 20) ? m.size : 1 << 20);
    }
    reel_write_pack(w);
    return step != REEL_STEP_ERROR;
}

static bool drawn_put_frame(struct mp4_video *v, struct encoder *encoder, const struct reel_pixels *pixels,
                            struct reel_sink *out, struct note *note, struct reel_error *err) {
    struct reel_bytes stream;
    bool key;
    if ((pixels->width & ~1U) != v->size.width || (pixels->height & ~1U) != v->size.height) {
        return true; /* it has another size than the first one */
    }
    if (!encoder_put(encoder, pixels, &stream, err)) {
        return false;
    }
    mp4_put_sample(stream, false, &v->sets, out, &note->size, &key);
    note->key = key;
    return true;
}

bool mp4_put_images(struct mp4_video *v, struct rows *rows, struct reel_write *w, struct reel_sink *out,
                    struct reel_error *err) {
    if (w->planning) {
        return lay(w, out, err);
    }
    AUTO(encoder_free) struct encoder *encoder = encoder_new(v->size.width, v->size.height, err);
    struct reel_message m;
    struct pace pace = pace_of(w);
    enum reel_step step = encoder ? reel_write_next(w, &m, err) : REEL_STEP_ERROR;
    for (; step == REEL_STEP_MESSAGE; step = reel_write_next(w, &m, err)) {
        AUTO_STRUCT(drawn_done) struct drawn drawn = {0};
        struct note note = {.time_ns = m.time_ns};
        bool read;
        if (comes_soon(&pace, m.time_ns)) {
            continue;
        }
        if (!cancel_check(err) || !read_pixels(w, rows, &m, &drawn, &read, err) ||
            (read && !drawn_put_frame(v, encoder, &drawn.pixels, out, &note, err)) ||
            !reel_write_note(w, &note, sizeof note, err)) {
            return false;
        }
    }
    return step == REEL_STEP_END;
}

/* ---- the boxes */

/* The samples, from the notes of all groups. */
bool mp4_collect(struct mp4_video *v, struct reel_write *w, struct reel_error *err) {
    uint64_t messages = reel_write_counts(w)->messages,
             room = messages < REEL_VIDEO_FRAMES_MAX ? messages : REEL_VIDEO_FRAMES_MAX;
    if (!(v->samples = reel_write_keep(w, room * sizeof *v->samples, err))) {
        return false;
    }
    for (uint64_t g = 0; g < reel_write_groups(w); g++) {
        const struct reel_group *group = reel_write_group(w, g);
        for (uint32_t i = 0; i < group->note_size / sizeof(struct note) && v->n < room; i++) {
            const struct note *note = (const struct note *)(const void *)group->note + i;
            mp4_add(v, &(struct mp4_sample){.time_ns = note->time_ns, .size = note->size, .key = note->key});
        }
    }
    return v->kept > 0 || reel_fail(err, REEL_UNSUPPORTED, "none of the images can be decoded");
}
