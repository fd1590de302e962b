/* See mp4.h: the run over all messages that finds sizes, key frames and parameter sets. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "media/mp4/decode.h"
#include "media/mp4/mp4.h"
#include "tables/rows.h"

enum { SET_MAX = 4096, PROGRESS_FRAMES = 256, DEFAULT_NS = 1000000000 / 30 };

bool mp4_read(struct reel_write *w, struct rows *rows, const struct reel_message *m, struct reel_image *image,
              enum mp4_content *content, struct reel_error *err) {
    struct reel_error why = {0};
    struct reel_bytes payload;
    const struct reel_decoder *decoder;
    *content = MP4_NOTHING;
    if (!rows_decoder(rows, w, m->channel, &decoder, err)) {
        return false;
    }
    if (!decoder || m->size > REEL_DECODED_MAX) {
        return true;
    }
    if (!reel_stream_payload(w->stream, m, &payload, err)) {
        return false;
    }
    if (reel_image_read(decoder, payload, image, &why)) {
        bool video = image->compressed && (image->form == REEL_PICTURE_H264 || image->form == REEL_PICTURE_H265);
        *content = video ? MP4_FRAME : MP4_IMAGE;
    }
    return reel_error_ignore(err, &why);
}

bool mp4_take_sets(struct mp4_video *v, struct reel_bytes stream, struct reel_write *w, bool *found,
                   struct reel_error *err) {
    struct reel_bytes unit;
    struct mp4_sets sets = {0};
    bool sps = false, pps = false;
    *found = false;
    while (nal_next(&stream, &unit)) {
        enum nal_role role = nal_role(unit, v->h265);
        if (role < NAL_VPS) {
            continue;
        }
        if (sets.n == MP4_SETS_MAX || unit.size > SET_MAX || unit.size < (role == NAL_SPS ? 4 : 2)) {
            return true;
        }
        uint8_t *copy = reel_write_keep(w, unit.size, err);
        if (!copy) {
            return false;
        }
        memcpy(copy, unit.data, unit.size);
        sps |= role == NAL_SPS && (sps || nal_read_sps(unit, v->h265, &v->size));
        pps |= role == NAL_PPS;
        sets.items[sets.n] = bytes_of(copy, unit.size);
        sets.roles[sets.n++] = role;
    }
    *found = sps && pps;
    v->sets = *found ? sets : v->sets;
    return true;
}

static bool has_other_sets(const struct mp4_video *v, struct reel_bytes stream) {
    struct reel_bytes unit;
    bool other = false;
    while (!other && nal_next(&stream, &unit)) {
        other = nal_role(unit, v->h265) >= NAL_VPS;
        for (unsigned i = 0; other && i < v->sets.n; i++) {
            other = !bytes_equal(v->sets.items[i], unit);
        }
    }
    return other;
}

void mp4_add(struct mp4_video *v, const struct mp4_sample *sample) {
    v->samples[v->n++] = *sample;
    if (sample->size > 0) {
        v->first = v->kept == 0 ? v->n - 1 : v->first;
        v->last = v->n - 1;
        v->kept++;
        v->keys += sample->key;
        v->bytes += sample->size;
    }
}

/* Room for one more. */
static bool grow_samples(struct mp4_video *v, struct reel_write *w, struct reel_error *err) {
    if (v->n == REEL_VIDEO_FRAMES_MAX) {
        return reel_fail(err, REEL_LIMIT, "an MP4 file has at most %d frames; take a shorter time range",
                         REEL_VIDEO_FRAMES_MAX);
    }
    if (v->n < v->room) {
        return true;
    }
    uint64_t room = v->room ? 2 * v->room : 1024;
    struct mp4_sample *samples = reel_write_keep(w, room * sizeof *samples, err);
    if (samples && v->n > 0) {
        memcpy(samples, v->samples, v->n * sizeof *samples);
    }
    v->samples = samples;
    v->room = room;
    return samples != NULL;
}

/* What was recorded as H.264 or H.265 stays so. */
static bool survey_is_whole(const struct reel_write *w, struct reel_error *err) {
    if (reel_write_option_u64(w, "width") > 0 || reel_write_option_u64(w, "fps") > 0 || w->stream->thinned) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "frames of H.264 and H.265 depend on those before them: none is left out or made smaller; "
                         "send neither width nor "
                         "fps nor every");
    }
    return true;
}

/* Frames before the first key frame, and messages without a picture, are left out. */
static bool mp4_survey_measure(struct mp4_video *v, const struct reel_image *image, struct mp4_sample *s,
                               struct reel_write *w, struct reel_error *err) {
    bool h265 = image->form == REEL_PICTURE_H265;
    if (v->kept > 0 && v->h265 != h265) {
        return true;
    }
    v->h265 = h265;
    bool found = true;
    if (v->kept == 0 && !mp4_take_sets(v, image->data, w, &found, err)) {
        return false;
    }
    if (!found) {
        return true;
    }
    if (v->changed == UINT64_MAX && has_other_sets(v, image->data)) {
        v->changed = v->n;
    }
    struct reel_sink count = {.pos = 0};
    mp4_put_sample(image->data, v->h265, v->changed == UINT64_MAX ? &v->sets : NULL, &count, &s->size, &s->key);
    s->size = v->kept > 0 || s->key ? s->size : 0;
    s->key &= s->size > 0;
    return v->kept > 0 || !s->key || survey_is_whole(w, err);
}

static bool survey_message(struct mp4_video *v, struct rows *rows, struct reel_write *w, const struct reel_message *m,
                           bool *ends, struct reel_error *err) {
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    struct mp4_sample sample = {.time_ns = m->time_ns};
    enum mp4_content content;
    if (!grow_samples(v, w, err) || !mp4_read(w, rows, m, &image, &content, err) ||
        (content == MP4_FRAME && !mp4_survey_measure(v, &image, &sample, w, err))) {
        return false;
    }
    mp4_add(v, &sample);
    *ends = v->kept == 0 && content == MP4_IMAGE;
    return true;
}

/* The last frame stays as long as the one before it. */
static void find_end(struct mp4_video *v) {
    const struct mp4_sample *last = &v->samples[v->last];
    int64_t length = 0;
    for (uint64_t i = v->last; length == 0 && i > v->first; i--) {
        length =
            v->samples[i - 1].size > 0 ? (int64_t)((uint64_t)last->time_ns - (uint64_t)v->samples[i - 1].time_ns) : 0;
    }
    length = length > 0 ? length : v->fps > 0 ? 1000000000 / v->fps : DEFAULT_NS;
    v->ended_ns = last->time_ns > INT64_MAX - length ? INT64_MAX : last->time_ns + length;
}

bool mp4_finish(struct mp4_video *v, struct reel_write *w, struct reel_error *err) {
    enum { SINCE_1904 = 2082844800 };
    v->fps = w->stream->fps;
    if (v->fps > 0 && v->kept < v->n) {
        return reel_fail(err, REEL_UNSUPPORTED, "%llu of the %llu images cannot be decoded, or have another size",
                         (unsigned long long)(v->n - v->kept), (unsigned long long)v->n);
    }
    int64_t seconds = v->samples[v->first].time_ns / 1000000000;
    v->created_s = w->stream->clocks[0] == REEL_CLOCK_WALL && seconds >= 0 ? seconds + SINCE_1904 : 0;
    v->start_ns = w->options->is_cut ? w->options->start_ns : v->samples[v->first].time_ns;
    find_end(v);
    mp4_measure(v);
    reel_write_leave_out(w, v->n - v->kept);
    return true;
}

bool mp4_survey(struct mp4_video *v, struct rows *rows, struct reel_write *w, struct reel_error *err) {
    struct reel_message m;
    struct reel_position first = {0};
    enum reel_step step = REEL_STEP_END;
    bool ends = false;
    v->changed = UINT64_MAX;
    while (!ends && (step = stream_next(w->stream, &m, err)) == REEL_STEP_MESSAGE) {
        first = v->n == 0 ? reel_position_of(&m) : first;
        if (!survey_message(v, rows, w, &m, &ends, err) ||
            (v->n % PROGRESS_FRAMES == 0 && !reel_write_progress(w, v->n, err))) {
            return false;
        }
    }
    if (step == REEL_STEP_ERROR || (v->n > 0 && !stream_seek(w->stream, &first, err))) {
        return false;
    }
    return v->kept == 0 || mp4_finish(v, w, err);
}

/* Parameter sets are of type 7, those of extensions of 15. */
bool h264_fits(struct reel_bytes stream) {
    struct reel_bytes unit;
    struct nal_size size;
    while (nal_next(&stream, &unit)) {
        unsigned type = unit.data[0] & 31;
        if ((type == 7 || type == 15) && (!nal_read_sps(unit, false, &size) ||
                                          (uint64_t)size.coded_width * size.coded_height > REEL_H264_PIXELS_MAX)) {
            return false;
        }
    }
    return true;
}
