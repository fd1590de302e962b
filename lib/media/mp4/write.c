/* See mp4.h: the writer. */
#include "base/cleanup.h"
#include "media/mp4/encode.h"
#include "media/mp4/mp4.h"
#include "media/video.h"
#include "tables/rows.h"

enum { GROUP_BYTES = 1 << 20, GROUP_FRAMES = 256 };

struct totals {
    struct mp4_video video;
    bool drawn; /* of images, which are encoded */
};
struct run {
    struct rows rows;
};

static bool write_accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    bool good = video_is_channel(channel) || video_is_image(channel);
    if (!good) {
        reel_loss_add(loss, REEL_REFUSES, channel,
                      "messages of the type \"%s\" are no video; select a topic with topic=", channel->type);
    }
    return good;
}

static bool write_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    if (stream->n_channels > 1) {
        reel_loss_add(loss, REEL_REFUSES, NULL,
                      "a video has one topic, not %u; select one with topic=", stream->n_channels);
    }
    return stream->n_channels <= 1;
}

/* Whether a compressed image is a frame is known only when it is read. */
static bool is_costly(const struct reel_stream *stream) {
    return stream->n_channels > 0 && !video_is_recorded(stream->channels[0]);
}

static bool write_open_run(struct reel_write *w, struct reel_error *err) {
    return rows_open(&((struct run *)w->run)->rows, w, err);
}
static void write_close_run(struct reel_write *w) {
    rows_close(&((struct run *)w->run)->rows);
}

/* The bytes depend on the encoder, too. */
static struct reel_stream *write_view(struct reel_stream *source, struct reel_error *err) {
    (void)err;
    source->view_version ^= encoder_version();
    return source;
}

static bool survey(struct reel_write *w, struct totals *t, struct reel_error *err) {
    struct run *run = w->run;
    if (!mp4_survey(&t->video, &run->rows, w, err)) {
        return false;
    }
    t->drawn = t->video.kept == 0;
    if (t->drawn) {
        t->video = (struct mp4_video){0};
    }
    return !t->drawn || mp4_survey_images(&t->video, &run->rows, w, err);
}

static bool head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct totals *t = w->totals;
    if (w->planning && !survey(w, t, err)) {
        return false;
    }
    if (!t->drawn) {
        return mp4_put_head(&t->video, out, err);
    }
    mp4_put_open(t->video.bytes, out);
    return true;
}

/* ---- samples */

static bool write_put_frame(struct reel_write *w, const struct reel_message *m, uint64_t number, struct reel_sink *out,
                            struct reel_error *err) {
    const struct mp4_video *v = &((struct totals *)w->totals)->video;
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    uint32_t size = 0;
    enum mp4_content content;
    bool key;
    if (v->samples[number].size == 0) {
        return true;
    }
    if (!mp4_read(w, &((struct run *)w->run)->rows, m, &image, &content, err)) {
        return false;
    }
    if (content == MP4_FRAME) {
        mp4_put_sample(image.data, v->h265, number < v->changed ? &v->sets : NULL, out, &size, &key);
    }
    return size == v->samples[number].size || reel_fail(err, REEL_CHANGED, "a frame has other bytes than were planned");
}

static bool put_recorded(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    const struct mp4_video *v = &((struct totals *)w->totals)->video;
    uint64_t group = w->group, from = out->pos, number = 0;
    if (!w->planning) {
        number = reel_write_group(w, group)->first;
    } else if (group > 0) {
        const struct reel_group *before = reel_write_group(w, group - 1);
        number = before->first + before->count;
    }
    struct reel_message m;
    enum reel_step step = REEL_STEP_END;
    for (uint64_t i = 0; (step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE; i++, number++) {
        bool full = i > 0 && (i == GROUP_FRAMES || out->pos - from + v->samples[number].size > GROUP_BYTES);
        if (w->planning && (number >= v->n || full)) {
            reel_write_unget(w, &m);
            return number < v->n ||
                   reel_fail(err, REEL_CHANGED, "the recording has other messages than when its frames were found");
        }
        if (w->planning) {
            reel_sink_fill(out, 0, v->samples[number].size);
        } else if (!write_put_frame(w, &m, number, out, err)) {
            return false;
        }
    }
    return step == REEL_STEP_END;
}

static bool mp4_write_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct totals *t = w->totals;
    return t->drawn ? mp4_put_images(&t->video, &((struct run *)w->run)->rows, w, out, err) : put_recorded(w, out, err);
}

static uint64_t write_tail_parts(struct reel_write *w) {
    return ((struct totals *)w->totals)->drawn;
}

static bool tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    struct mp4_video *v = &((struct totals *)w->totals)->video;
    (void)part;
    if (w->planning && (!mp4_collect(v, w, err) || !mp4_finish(v, w, err))) {
        return false;
    }
    return mp4_put_end(v, out, err);
}

static const struct reel_write_option options[] = {
    {.name = "width",
     .type = REEL_OPTION_UINT,
     .least = 16,
     .most = 3840,
     .help = "images are no wider than so many pixels"},
    {.name = "fps",
     .type = REEL_OPTION_UINT,
     .least = 1,
     .most = 1000,
     .help = "at most so many images a second; one that comes sooner after the last is left out"},
    {0},
};

const struct reel_writer reel_writer_mp4 = {
    .name = "mp4",
    .extension = ".mp4",
    .media_type = "video/mp4",
    .options = options,
    .needs = REEL_DECODES | REEL_HEAD_LAST,
    .leaves_out = "that cannot be decoded, have another size or come before the first key frame",
    .version = 16 * REEL_PICTURE_VERSION + 1,
    .totals_size = sizeof(struct totals),
    .run_size = sizeof(struct run),
    .view = write_view,
    .accepts = write_accepts,
    .accepts_all = write_accepts_all,
    .is_costly = is_costly,
    .open = write_open_run,
    .close = write_close_run,
    .head = head,
    .messages = mp4_write_messages,
    .tail_parts = write_tail_parts,
    .tail = tail,
};
