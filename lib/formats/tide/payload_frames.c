/* Messages of several frames back to back, each of a type of its own (TIDE 2.0): the channel has as many types of its
 * own as its metadata "tide.hashes" says, which are its first schemas. A message is a list of the frames' values. */
#include "base/bytes.h"
#include "base/limits.h"
#include "decode/encoding.h"
#include "decode/fields.h"
#include "formats/tide/rsb_names.h"
#include "syntax/visitor.h"

#include <stdio.h>
#include <stdlib.h>

struct frames {
    struct reel_channel inner[REEL_SCHEMAS_PER_CHANNEL_MAX]; /* one a frame */
    struct reel_decoder *decoders[REEL_SCHEMAS_PER_CHANNEL_MAX];
    uint32_t count;
};

static void close_frames(void *state) {
    struct frames *f = state;
    for (uint32_t i = 0; i < f->count; i++) {
        reel_decoder_free(f->decoders[i]);
    }
    free(f);
}

static uint32_t count_of(const struct reel_channel *channel) {
    unsigned long count = 0;
    for (size_t i = 0; i < channel->metadata.count; i++) {
        if (strcmp(channel->metadata.items[i].key, "tide.hashes") == 0) {
            count = strtoul(channel->metadata.items[i].value, NULL, 10);
        }
    }
    return count <= channel->n_schemas && count <= REEL_SCHEMAS_PER_CHANNEL_MAX ? (uint32_t)count : 0;
}

static bool open_frames(const struct reel_channel *channel, void **state, struct reel_error *err) {
    uint32_t count = count_of(channel);
    if (count < 2) {
        return reel_fail(err, REEL_UNSUPPORTED, "the types of the frames are not known");
    }
    struct frames *f = calloc(1, sizeof *f);
    if (!f) {
        return reel_fail_memory(err);
    }
    for (; f->count < count; f->count++) {
        const char *language = channel->schemas[f->count].encoding,
                   *encoding = reel_language_encoding(bytes_text(language));
        f->inner[f->count] = *channel;
        f->inner[f->count].type = channel->schemas[f->count].name;
        f->inner[f->count].encoding = encoding ? encoding : "";
        if (!(f->decoders[f->count] = reel_decoder_open(&f->inner[f->count], err))) {
            reel_error_at(err, "frame %u", f->count);
            close_frames(f);
            return false;
        }
    }
    *state = f;
    return true;
}

static bool tide_payload_frames_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v,
                                       struct reel_error *err) {
    const struct frames *f = state;
    if (!visit_begin_list(v)) {
        return false;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        size_t size = payload.size; /* of the last one: all that is left */
        if ((i + 1 < f->count && !reel_decode_extent(f->decoders[i], payload, &size, err)) ||
            !reel_decode(f->decoders[i], bytes_of(payload.data, size), v, err)) {
            return err->code != REEL_OK && reel_error_at(err, "frame %u", i);
        }
        payload = bytes_of(payload.data + size, payload.size - size);
    }
    return visit_end_list(v);
}

struct inner_fields {
    reel_field_visit visit;
    void *context;
    uint32_t frame;
};

static bool inner_field(void *context, const struct reel_field *field) {
    const struct inner_fields *inner = context;
    char path[FIELD_PATH_MAX];
    int length = snprintf(path, sizeof path, "%u.%s", inner->frame, field->path);
    struct reel_field outer = *field;
    outer.path = path;
    return length >= (int)sizeof path || inner->visit(inner->context, &outer);
}

static bool tide_payload_frames_fields(const void *state, reel_field_visit visit, void *context) {
    const struct frames *f = state;
    bool more = true;
    for (uint32_t i = 0; i < f->count && more; i++) {
        struct inner_fields inner = {visit, context, i};
        more = reel_decoder_fields(f->decoders[i], inner_field, &inner);
    }
    return more;
}

const struct reel_encoding reel_encoding_frames = {
    .name = FRAMES_ENCODING,
    .open = open_frames,
    .close = close_frames,
    .decode = tide_payload_frames_decode,
    .fields = tide_payload_frames_fields,
    .is_envelope = true,
    .version = 1,
};
