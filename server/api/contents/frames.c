/* /frames: the images of a range as one response, multipart/mixed, so that a player needs one request for a second of
 * them and not one for each. One image is in memory at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/contents/frame.h"
#include "api/recording.h"
#include "api/reserve.h"
#include "api/selection.h"
#include "base/bytes.h"
#include "base/cleanup.h"

#define BOUNDARY "reel-frame"

enum { LINE_END = 2 };

struct frames {
    struct http_request *r;
    struct reel_stream *stream;
    struct reel_decoder *decoder; /* of the channel it was opened for */
    uint32_t channel;
    bool relative; /* the recording's clock */
    uint32_t width;
    char head[256]; /* of the part that is being sent; then its body, then a line end */
    struct reel_picture body;
    size_t head_size, at;
    uint64_t held; /* bytes reserved for the body */
    bool ended;    /* the part that is being sent is the last line */
};

static void frames_free(void *context) {
    struct frames *f = context;
    reel_stream_free(f->stream);
    reel_decoder_free(f->decoder);
    reel_picture_done(&f->body);
    free(f);
}

/* The message as a file: `*type` is its media type, `size` the header with the sides of the whole image. */
static bool make_body(struct frames *f, const struct reel_message *m, const char **type, char size[48],
                      struct reel_error *err) {
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    struct reel_bytes payload;
    uint32_t width, height;
    if (m->size > FRAME_PAYLOAD_MAX) {
        return reel_fail(err, REEL_LIMIT, "this message has %u bytes: no more than %d are drawn", m->size,
                         FRAME_PAYLOAD_MAX);
    }
    if (!f->decoder || f->channel != m->channel) {
        reel_decoder_free(TAKE(f->decoder));
        f->decoder = reel_decoder_open(f->stream->channels[m->channel], err);
        f->channel = m->channel;
    }
    if (!f->decoder || !reel_stream_payload(f->stream, m, &payload, err) ||
        !reel_image_read(f->decoder, payload, &image, err)) {
        return false;
    }
    if (image.compressed && (image.form == REEL_PICTURE_H264 || image.form == REEL_PICTURE_H265)) {
        *type = image.form == REEL_PICTURE_H264 ? "video/h264" : "video/h265";
        return frame_copy(image.data, &f->body, err);
    }
    if (reel_image_size(&image, &width, &height)) {
        snprintf(size, 48, "X-Image-Size: %ux%u\r\n", width, height);
    }
    bool png = image.compressed && image.form == REEL_PICTURE_PNG && f->width == 0;
    bool as_it_is = png || (image.compressed && image.form == REEL_PICTURE_JPEG && f->width == 0);
    enum reel_picture_form form = png ? REEL_PICTURE_PNG : REEL_PICTURE_JPEG;
    *type = png ? "image/png" : "image/jpeg";
    if (!as_it_is && !frame_hold(f->r, &image, form, f->width, &f->held, err)) {
        return false;
    }
    return frame_make(&image, form, f->width, &f->body, err);
}

/* An image that cannot be shown does not end the response: its part says why. */
static bool make_part(struct frames *f, const struct reel_message *m, struct reel_error *err) {
    const char *type = "text/plain; charset=utf-8";
    struct reel_error why = {0};
    char time[REEL_TIME_TEXT], size[48] = "";
    bool good = make_body(f, m, &type, size, &why);
    http_give_back(f->r, f->held > f->body.size ? f->held - f->body.size : f->held);
    f->held = f->held > f->body.size ? f->body.size : 0;
    if (!good) {
        type = "text/plain; charset=utf-8";
        if (why.code == REEL_NO_MEMORY || !frame_copy(bytes_of(why.text, strlen(why.text)), &f->body, &why)) {
            return reel_fail_memory(err);
        }
    }
    (f->relative ? reel_time_seconds : reel_time_rfc3339)(m->time_ns, time);
    f->head_size =
        (size_t)snprintf(f->head, sizeof f->head,
                         "--" BOUNDARY "\r\nContent-Type: %s\r\nContent-Length: %zu\r\nX-Log-Time: %s\r\n%s\r\n", type,
                         f->body.size, time, size);
    return true;
}

static bool next_part(struct frames *f, struct reel_error *err) {
    struct reel_message m;
    reel_picture_done(&f->body);
    http_give_back(f->r, f->held);
    f->at = f->head_size = f->held = 0;
    switch (stream_next(f->stream, &m, err)) {
    case REEL_STEP_MESSAGE:
        return make_part(f, &m, err);
    case REEL_STEP_END:
        f->ended = true;
        f->head_size = (size_t)snprintf(f->head, sizeof f->head, "--" BOUNDARY "--");
        return true;
    default:
        return false;
    }
}

/* Bytes from `at` on of what lies at [begin, begin + size) of the part, as many as fit. */
static size_t frames_take(const struct frames *f, size_t begin, const void *from, size_t size, char *buffer,
                          size_t room) {
    if (f->at < begin || f->at >= begin + size) {
        return 0;
    }
    size_t n = begin + size - f->at < room ? begin + size - f->at : room;
    memcpy(buffer, (const char *)from + (f->at - begin), n);
    return n;
}

static bool next_bytes(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct frames *f = context;
    *got = 0;
    if (f->at == f->head_size + f->body.size + LINE_END) {
        if (f->ended) {
            return true;
        }
        if (!next_part(f, err)) {
            return false;
        }
    }
    const struct {
        size_t begin, size;
        const void *data;
    } pieces[] = {{0, f->head_size, f->head},
                  {f->head_size, f->body.size, f->body.data},
                  {f->head_size + f->body.size, LINE_END, "\r\n"}};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t n = frames_take(f, pieces[i].begin, pieces[i].data, pieces[i].size, (char *)buffer + *got, size - *got);
        f->at += n;
        *got += n;
    }
    return true;
}

static bool frames_open_stream(struct http_request *r, const struct api_recording *a, struct frames *f,
                               struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a->recording));
    struct api_selection q;
    bool latch = false;
    if (!api_reserve_stream(r, &a->recording, 1, API_AS_STORED, 0) || !api_select(r, info->start_ns, info->end_ns, &q) ||
        !api_note_matches(r, &a->recording, 1, &q.selection)) {
        return false;
    }
    http_param_bool(r, "latch", &latch);
    q.selection.last_per_topic = q.selection.key_frames = latch && q.has_start;
    f->relative = info->clock == REEL_CLOCK_RELATIVE;
    f->stream = reel_stream_open(&a->recording, 1, &q.selection, err);
    if (!f->stream) {
        http_reply_error(r, err);
    }
    return f->stream && frame_reserve(r, a, f->stream);
}

void api_frames(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    struct frames *f = calloc(1, sizeof *f);
    if (!f) {
        http_reply_no_memory(r);
        return;
    }
    f->width = frame_width(r);
    if (!api_open(r, &a)) {
        frames_free(f);
        return;
    }
    f->r = r;
    f->at = LINE_END; /* behind an empty part */
    if (frames_open_stream(r, &a, f, &err)) {
        http_reply_stream(r, &(struct http_stream){.media_type = "multipart/mixed; boundary=" BOUNDARY,
                                                   .next = next_bytes,
                                                   .free = frames_free,
                                                   .context = f});
    } else {
        frames_free(f);
    }
    api_recording_done(&a);
}
