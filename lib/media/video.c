/* See video.h. Only as many payloads are read as there are frames since the key frame. */
#include "media/video.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/limits.h"
#include "decode/decoder.h"
#include "media/picture.h"
#include "stream/initial_state.h"
#include "stream/stream.h"
#include "syntax/nal.h"

/* Whether the name of the type is one of two; `other` may be NULL. */
static bool type_is(const struct reel_channel *channel, const char *one, const char *other) {
    const char *slash = strrchr(channel->type, '/'), *dot = strrchr(channel->type, '.');
    const char *name = slash ? slash + 1 : dot ? dot + 1 : channel->type;
    return strcmp(name, one) == 0 || (other && strcmp(name, other) == 0);
}

bool video_is_channel(const struct reel_channel *channel) {
    return type_is(channel, "CompressedVideo", "CompressedImage");
}
bool video_is_recorded(const struct reel_channel *channel) {
    return type_is(channel, "CompressedVideo", NULL);
}
bool video_is_image(const struct reel_channel *channel) {
    return type_is(channel, "Image", "RawImage") || type_is(channel, "EncodedImage", NULL);
}

struct before { /* the last entries before the cut, newest first */
    struct reel_entry *entries;
    size_t n, capacity;
    bool no_memory;
};

static bool video_collect(void *context, const struct reel_entry *entry) {
    struct before *b = context;
    b->no_memory = !GROW_ARRAY(b->entries, b->n, b->capacity);
    if (!b->no_memory) {
        b->entries[b->n++] = *entry;
    }
    return !b->no_memory && b->n < REEL_VIDEO_BEFORE_MAX;
}

enum frame { FRAME_NONE, FRAME, FRAME_KEY };

static bool video_read_frame(struct reel_reader *reader, const struct reel_decoder *decoder,
                             const struct reel_entry *entry, enum frame *frame, struct reel_error *err) {
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    struct reel_error why = {0};
    struct reel_bytes payload, unit;
    *frame = FRAME_NONE;
    if (entry->size > REEL_DECODED_MAX) {
        return true;
    }
    if (!reel_reader_payload(reader, entry, &payload, err)) {
        return false;
    }
    if (!reel_image_read(decoder, payload, &image, &why)) {
        return reel_error_ignore(err, &why);
    }
    bool h265 = image.form == REEL_PICTURE_H265;
    if (!image.compressed || (image.form != REEL_PICTURE_H264 && !h265)) {
        return true;
    }
    *frame = FRAME;
    while (*frame == FRAME && nal_next(&image.data, &unit)) {
        *frame = nal_role(unit, h265) == NAL_KEY_PICTURE ? FRAME_KEY : FRAME;
    }
    return true;
}

/* How many of the entries are needed; 0: there is no key frame, or this is no video. */
static bool find_key(struct reel_reader *reader, const struct reel_decoder *decoder, const struct before *b,
                     size_t *needed, struct reel_error *err) {
    *needed = 0;
    for (size_t i = 0; i < b->n; i++) {
        enum frame frame;
        if (!video_read_frame(reader, decoder, &b->entries[i], &frame, err)) {
            return false;
        }
        if (frame == FRAME_KEY) {
            *needed = i + 1;
        }
        if (frame != FRAME) {
            break;
        }
    }
    return true;
}

static bool frames_before(struct reel_reader *reader, const struct reel_channel *channel, int64_t start_ns,
                          struct reel_entry **entries, size_t *n, struct reel_error *err) {
    AUTO(reel_decoder_free) struct reel_decoder *decoder = NULL;
    struct before b = {0};
    *n = 0;
    *entries = NULL;
    if (!decoder_try(channel, &decoder, err)) {
        return false;
    }
    bool good = !decoder || reel_reader_reverse(reader, channel->id, start_ns, video_collect, &b, err);
    AUTO_MEM struct reel_entry *found = b.entries;
    good = good && (!b.no_memory || reel_fail_memory(err)) && (!decoder || find_key(reader, decoder, &b, n, err));
    *entries = good ? TAKE(found) : NULL;
    return good;
}

const struct reel_cut_rule reel_cut_rule_video = {video_is_channel, frames_before};
