/* Image messages as files that browsers show: one of them (/frame), or those of a range (/frames). */
#ifndef SERVER_API_CONTENTS_FRAME_H
#define SERVER_API_CONTENTS_FRAME_H

#include "api/recording.h"
#include "media/picture.h"

enum { FRAME_PAYLOAD_MAX = 272 << 20 /* 64 million pixels of 4 bytes, and the fields around them */ };

/* ?width; 0: none. */
uint32_t frame_width(const struct http_request *r);

/* Reserves the memory of the largest image of the stream's channels: its payload, and the file that is sent. False:
 * replied. */
bool frame_reserve(struct http_request *r, const struct api_recording *a, const struct reel_stream *stream);

/* Reserves, beyond that, what drawing takes: a small file may hold 64 million pixels. False: REEL_BUSY, or REEL_LIMIT
 * where it is more than --memory-mb. *bytes are given back by http_give_back(). */
bool frame_hold(struct http_request *r, const struct reel_image *image, enum reel_picture_form form, uint32_t width,
                uint64_t *bytes, struct reel_error *err);
/* The same for a number of bytes. */
bool frame_hold_bytes(struct http_request *r, uint64_t bytes, struct reel_error *err);
/* Replies with why an image is not drawn. */
void frame_reply_not_drawn(struct http_request *r, const struct reel_error *err);

/* Bytes as they are. */
bool frame_copy(struct reel_bytes from, struct reel_picture *out, struct reel_error *err);
/* An image file is passed on unchanged unless another form or a smaller size was requested; a PNG also where any size
 * was, because depths are stretched then. */
bool frame_make(const struct reel_image *image, enum reel_picture_form form, uint32_t width, struct reel_picture *out,
                struct reel_error *err);
/* Replies and takes what the picture holds. */
void frame_reply(struct http_request *r, struct reel_picture *picture, const char *media_type, const char *etag);

#endif
