/* See video.h. Only as many payloads are read as there are frames since the key frame. */
#include "core/video.h"

#include "core/merge.h"
#include "reel/picture.h"
#include "wire/cleanup.h"
#include "wire/limits.h"
#include "wire/nal.h"

bool video_is_channel(const struct reel_channel *channel) {
    const char *slash = strrchr(channel->type, '/'), *dot = strrchr(channel->type, '.');
    const char *name = slash ? slash + 1 : dot ? dot + 1 : channel->type;
    return strcmp(name, "CompressedVideo") == 0 || strcmp(name, "CompressedImage") == 0;
}

struct before { /* the last entries before the cut, newest first */
    struct reel_entry *entries;
    size_t n, capacity;
    bool no_memory;
};

static bool collect(void *context, const struct reel_entry *entry) {
    struct before *b = context;
    b->no_memory = !GROW_ARRAY(b->entries, b->n, b->capacity);
    if (!b->no_memory) {
        b->entries[b->n++] = *entry;
    }
    return !b->no_memory && b->n < REEL_VIDEO_BEFORE_MAX;
}

enum frame { FRAME_NONE, FRAME, FRAME_KEY };

static bool read_frame(struct reel_reader *reader, const struct reel_decoder *decoder, const struct reel_entry *entry, enum frame *frame,
                       struct reel_error *err) {
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
        return why.code != REEL_NO_MEMORY || reel_fail_memory(err);
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
static bool find_key(struct reel_reader *reader, const struct reel_decoder *decoder, const struct before *b, size_t *needed,
                     struct reel_error *err) {
    *needed = 0;
    for (size_t i = 0; i < b->n; i++) {
        enum frame frame;
        if (!read_frame(reader, decoder, &b->entries[i], &frame, err)) {
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

/* The last message of a topic may be there already. */
static bool has_entry(const struct reel_front *f, uint32_t position, const struct reel_entry *entry) {
    bool found = false;
    for (size_t i = 0; i < f->n_messages && !found; i++) {
        const struct reel_message *m = &f->messages[i];
        found = !m->owned && m->channel == position && m->entry.chunk == entry->chunk && m->entry.offset == entry->offset;
    }
    return found;
}

static bool add_entry(struct reel_front *f, uint32_t position, struct reel_entry entry, struct reel_error *err) {
    uint32_t source = f->stream->channel_source[position];
    if (!GROW_ARRAY(f->messages, f->n_messages, f->cap_messages)) {
        return reel_fail_memory(err);
    }
    entry.time_ns = merge_shifted(entry.time_ns, f->stream->shifts[source]);
    f->messages[f->n_messages++] = (struct reel_message){
        .time_ns = entry.time_ns, .channel = position, .source = source, .size = entry.size, .before_start = true, .entry = entry};
    return true;
}

bool video_add_front(struct reel_front *f, uint32_t position, int64_t start_ns, struct reel_error *err) {
    const struct reel_stream *s = f->stream;
    struct reel_reader *reader = s->readers[s->channel_source[position]];
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(s->channels[position], NULL);
    struct before b = {0};
    size_t needed = 0, last = f->n_messages;
    bool good = !decoder || reel_reader_back(reader, s->channels[position]->id, start_ns, collect, &b, err);
    AUTO_MEM struct reel_entry *entries = b.entries;
    good = good && (!b.no_memory || reel_fail_memory(err)) && (!decoder || find_key(reader, decoder, &b, &needed, err));
    for (size_t i = 0; good && i < needed; i++) {
        bool there = i == 0 && last > 0 && has_entry(f, position, &entries[i]);
        good = there || add_entry(f, position, entries[i], err);
    }
    return good;
}
