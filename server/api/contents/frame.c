/* /frame: one image message in a format that browsers show. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/contents/frame.h"
#include "api/digests.h"
#include "api/recording.h"
#include "api/reserve.h"
#include "base/cleanup.h"

enum {
    IMAGE_MEMORY = 3, /* times the size of a payload: it and a JPEG, or a PNG of a mosaic, which has three values for
                         each of its bytes */
};

static const char *const media_types[] = {[REEL_PICTURE_JPEG] = "image/jpeg", [REEL_PICTURE_PNG] = "image/png"};

/* The message: the last at or before ?at, or the topic's first. False: replied. */
static bool frame_find(struct http_request *r, const struct api_recording *a, struct reel_stream **stream,
                       struct reel_message *m) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a->recording));
    const char *topic = http_param(r, "topic");
    struct reel_selection q = selection_all;
    struct reel_time at;
    struct reel_error err = {0};
    q.topics = &topic;
    q.n_topics = 1;
    if (http_param_time(r, "at", &at)) {
        int64_t at_ns;
        if (reel_time_within(&at, info->start_ns, info->end_ns, &at_ns, &err) &&
            reel_message_at_time(a->recording, &q, at_ns, stream, m, &err)) {
            return true;
        }
    } else {
        *stream = reel_stream_open(&a->recording, 1, &q, &err);
        if (*stream && reel_message_at_index(*stream, 0, m, &err)) {
            return true;
        }
        reel_stream_free(*stream);
    }
    http_reply_error(r, &err);
    return false;
}

/* The media type the client prefers; without a preference the message's own, or JPEG for raw pixels. */
static bool choose_form(struct http_request *r, const struct reel_image *image, enum reel_picture_form *form) {
    static const char *const jpeg_first[] = {"image/jpeg", "image/png", NULL}, *const png_first[] = {
                                                                                   "image/png", "image/jpeg", NULL};
    const char *media =
        http_negotiate(r, image->compressed && image->form == REEL_PICTURE_PNG ? png_first : jpeg_first);
    if (!media) {
        http_reply_problem(r, 406, "not-acceptable", "a frame is available as image/jpeg or image/png");
        return false;
    }
    *form = strcmp(media, media_types[REEL_PICTURE_PNG]) == 0 ? REEL_PICTURE_PNG : REEL_PICTURE_JPEG;
    return true;
}

uint32_t frame_width(const struct http_request *r) {
    uint64_t value = 0;
    http_param_u64(r, "width", &value);
    return (uint32_t)value;
}

bool frame_reserve(struct http_request *r, const struct api_recording *a, const struct reel_stream *stream) {
    uint64_t largest = 0;
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        uint64_t size = reel_index_stats(reel_recording_index(a->recording), stream->channels[i]->id)->largest;
        largest = size > largest ? size : largest;
    }
    return http_reserve(r, IMAGE_MEMORY * (largest < FRAME_PAYLOAD_MAX ? largest : FRAME_PAYLOAD_MAX));
}

bool frame_hold_bytes(struct http_request *r, uint64_t bytes, struct reel_error *err) {
    return bytes > http_memory_max(r)
               ? reel_fail(err, REEL_LIMIT,
                           "drawing this image takes %llu MiB, more than responses may hold (--memory-mb)",
                           (unsigned long long)(bytes >> 20))
               : http_hold(r, bytes, err);
}

bool frame_hold(struct http_request *r, const struct reel_image *image, enum reel_picture_form form, uint32_t width,
                uint64_t *bytes, struct reel_error *err) {
    const uint64_t held = http_held(r);
    bool good = frame_hold_bytes(r, reel_picture_memory(image, form, width), err);
    *bytes = http_held(r) - held;
    return good;
}

static bool read_bytes(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    const struct reel_picture *p = context;
    (void)err;
    memcpy(buffer, p->data + offset, size);
    return true;
}
static void free_bytes(void *context) {
    reel_picture_done(context);
    free(context);
}

void frame_reply(struct http_request *r, struct reel_picture *picture, const char *media_type, const char *etag) {
    struct reel_picture *own = malloc(sizeof *own);
    if (!own) {
        reel_picture_done(picture);
        http_reply_no_memory(r);
        return;
    }
    *own = *picture;
    *picture = (struct reel_picture){0};
    http_reply_file(r, &(struct http_file){.length = own->size,
                                           .etag = etag,
                                           .media_type = media_type,
                                           .fd = -1,
                                           .read = read_bytes,
                                           .free = free_bytes,
                                           .context = own});
}

bool frame_copy(struct reel_bytes from, struct reel_picture *out, struct reel_error *err) {
    *out = (struct reel_picture){.data = malloc(from.size + 1), .size = from.size};
    if (!out->data) {
        return reel_fail_memory(err);
    }
    memcpy(out->data, from.data, from.size);
    return true;
}

bool frame_make(const struct reel_image *image, enum reel_picture_form form, uint32_t width, struct reel_picture *out,
                struct reel_error *err) {
    uint32_t w, h;
    bool fits = width == 0 || (form == REEL_PICTURE_JPEG && reel_image_size(image, &w, &h) && w <= width);
    if (!image->compressed || image->form != form || !fits) {
        return reel_picture_make(image, form, width, out, err);
    }
    return frame_copy(image->data, out, err);
}

void frame_reply_not_drawn(struct http_request *r, const struct reel_error *err) {
    if (err->code == REEL_BUSY) {
        http_add_header(r, "Retry-After", "10");
    }
    http_reply_error(r, err);
}

static void contents_frame_reply(struct http_request *r, const struct api_recording *a, const struct reel_message *m,
                                 const struct reel_image *image, uint32_t width) {
    enum reel_picture_form form;
    struct reel_error err = {0};
    if (!choose_form(r, image, &form)) {
        return;
    }
    struct reel_picture picture;
    uint64_t held = 0;
    bool as_it_is = image->compressed && image->form == form && width == 0;
    bool drawn =
        (as_it_is || frame_hold(r, image, form, width, &held, &err)) && frame_make(image, form, width, &picture, &err);
    http_give_back(r, drawn && held > picture.size ? held - picture.size : held);
    if (!drawn) {
        frame_reply_not_drawn(r, &err);
        return;
    }
    char text[200], etag[64], time[REEL_TIME_TEXT];
    snprintf(text, sizeof text, "frame %u %u %s %u %llu %s %u", REEL_PICTURE_VERSION, reel_encodings_version(),
             a->row.content, m->entry.chunk, (unsigned long long)m->entry.offset, media_types[form], width);
    api_etag(text, etag);
    bool relative = reel_index_info(reel_recording_index(a->recording))->clock == REEL_CLOCK_RELATIVE;
    (relative ? reel_time_seconds : reel_time_rfc3339)(m->time_ns, time);
    http_add_header(r, "X-Log-Time", time);
    http_add_header(r, "Vary", "Accept");
    frame_reply(r, &picture, media_types[form], etag);
}

static void draw(struct http_request *r, const struct api_recording *a, struct reel_stream *stream,
                 const struct reel_message *m, uint32_t width) {
    struct reel_error err = {0};
    struct reel_bytes payload;
    struct reel_image image = {0};
    bool good =
        m->size <= FRAME_PAYLOAD_MAX ||
        reel_fail(&err, REEL_LIMIT, "this message has %u bytes: no more than %d are drawn", m->size, FRAME_PAYLOAD_MAX);
    AUTO(reel_decoder_free)
    struct reel_decoder *decoder = good ? reel_decoder_open(stream->channels[m->channel], &err) : NULL;
    if (decoder && reel_stream_payload(stream, m, &payload, &err) && reel_image_read(decoder, payload, &image, &err)) {
        contents_frame_reply(r, a, m, &image, width);
    } else {
        http_reply_error(r, &err);
    }
    reel_image_done(&image);
}

void api_frame(struct http_request *r) {
    struct api_recording a;
    struct reel_stream *stream;
    struct reel_message m;
    uint32_t width = frame_width(r);
    if (!api_open(r, &a)) {
        return;
    }
    if (api_reserve_stream(r, &a.recording, 1, API_AS_STORED, 0) && frame_find(r, &a, &stream, &m)) {
        if (frame_reserve(r, &a, stream)) {
            draw(r, &a, stream, &m, width);
        }
        reel_stream_free(stream);
    }
    api_recording_done(&a);
}
