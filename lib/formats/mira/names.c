/* Channels and the frame ids of their messages. Names are compared as raw bytes. A foreign channel's properties
 * (write.c) are in its meta data and are restored. */
#include "base/bytes.h"
#include "formats/mira/container.h"
#include "formats/ros/bag_record.h"
#include "formats/ros/wrap.h"

#include <stdlib.h>

/* ---- the table ---- */

/* `owner` is 0 for the name of a channel, else 1 + the channel whose frame id it is. */
static struct hash_key mira_key_of(uint32_t owner, struct reel_bytes text) {
    return (struct hash_key){.number = owner, .bytes = text};
}

uint64_t mira_hash(const struct mira *t, uint32_t owner, struct reel_bytes key) {
    return hash_bytes(mix_pair(t->seed, owner), key);
}

uint32_t mira_table_get(const struct mira *t, uint32_t owner, struct reel_bytes key) {
    return (uint32_t)hash_table_get(&t->names, mira_key_of(owner, key));
}

static bool table_put(struct mira *t, uint32_t owner, struct reel_bytes key, uint32_t value, struct reel_error *err) {
    return hash_table_set(&t->names, mira_key_of(owner, key), value, err);
}

static void *mira_keep(struct mira *t, const void *data, size_t size, struct reel_error *err) {
    uint8_t *p = arena_alloc(&t->arena, size ? size : 1);
    if (!p) {
        arena_fail(&t->arena, err);
    } else if (size > 0 && data) {
        memcpy(p, data, size);
    }
    return p;
}

static bool mira_keep_bytes(struct mira *t, struct reel_bytes from, struct reel_bytes *out, struct reel_error *err) {
    *out = bytes_of(mira_keep(t, from.data, from.size, err), from.size);
    return out->data != NULL;
}

static const char *mira_text_of(struct mira *t, struct reel_bytes raw, struct reel_error *err) {
    return reel_scan_text(t->scan, raw, err);
}

/* ---- channels ---- */

struct mira_channel *mira_channel_of(struct mira *t, struct reel_bytes name, struct reel_error *err) {
    struct mira_channel *guess = t->last ? t->last->guess : NULL;
    if (guess && bytes_equal(guess->name, name)) {
        return guess;
    }
    uint32_t known = mira_table_get(t, 0, name);
    if (known > 0) {
        return t->channels[known - 1];
    }
    struct mira_channel *c = mira_keep(t, NULL, sizeof *c, err);
    if (!c || !mira_keep_bytes(t, name, &c->name, err)) {
        return NULL;
    }
    c->frames_end = &c->frames;
    c->last_frame = bytes_of("", 0);
    if (!GROW_ARRAY(t->channels, t->n_channels, t->cap_channels)) {
        reel_fail_memory(err);
        return NULL;
    }
    const struct reel_channel model = {.name = mira_text_of(t, name, err), .type = "", .encoding = MIRA_ENCODING};
    if (!model.name || !reel_scan_channel(t->scan, &model, &c->id, err) ||
        !table_put(t, 0, c->name, (uint32_t)t->n_channels + 1, err)) {
        return NULL;
    }
    t->channels[t->n_channels++] = c;
    return c;
}

static bool frame_add(struct mira *t, struct mira_channel *c, struct reel_bytes frame, struct reel_error *err) {
    struct reel_bytes key;
    struct mira_frame *f = mira_keep(t, NULL, sizeof *f, err);
    if (!f || !mira_keep_bytes(t, frame, &key, err) || !(f->text = mira_text_of(t, frame, err)) ||
        !table_put(t, c->id + 1, key, c->n_frames + 1, err)) {
        return false;
    }
    *c->frames_end = f;
    c->frames_end = &f->next;
    c->n_frames++;
    t->n_frames++;
    t->frame_bytes += frame.size;
    c->last_frame = key;
    c->last_frame_number = c->n_frames;
    return true;
}

bool mira_frame_number(struct mira *t, struct mira_channel *c, struct reel_bytes frame, uint64_t at, uint32_t *number,
                       struct reel_error *err) {
    *number = 0;
    if (frame.size == 0) {
        return true;
    }
    if (!bytes_equal(frame, c->last_frame)) {
        uint32_t known = mira_table_get(t, c->id + 1, frame);
        if (known > 0) {
            *number = known;
            return true;
        }
        if (c->n_frames == MIRA_FRAMES_MAX || t->n_frames == REEL_METADATA_MAX ||
            t->frame_bytes + frame.size > MIRA_FRAME_BYTES_MAX) {
            mira_count(&t->no_frame, at);
            return true;
        }
        if (!frame_add(t, c, frame, err)) {
            return false;
        }
    }
    *number = c->last_frame_number;
    return true;
}

/* ---- channel infos ---- */

/* The meta data of the first info of a channel. */
static bool take_meta(struct mira *t, struct mira_channel *c, const struct mira_field *f, struct reel_error *err) {
    if (f->info.meta_size > MIRA_META_MAX) {
        mira_count(&t->big_metas, f->at);
        return true;
    }
    const uint8_t *p = window_at(&t->window, f->info.meta_at, (size_t)f->info.meta_size, err);
    return p && mira_keep_bytes(t, bytes_of(p, (size_t)f->info.meta_size), &c->meta, err);
}

static bool info_add(struct mira *t, const struct mira_field *f, uint32_t channel, struct reel_error *err) {
    if (t->n_infos == MIRA_TABLES_MAX) {
        return true;
    }
    if (!GROW_ARRAY(t->infos, t->n_infos, t->cap_infos)) {
        return reel_fail_memory(err);
    }
    t->infos[t->n_infos++] = (struct mira_info){.at = f->at,
                                                .next = f->info.next,
                                                .data_size = f->info.data_size,
                                                .index = f->info.index,
                                                .first = f->info.first,
                                                .last = f->info.last,
                                                .channel = channel};
    return true;
}

bool mira_read_info(struct mira *t, const struct mira_field *f, struct reel_error *err) {
    struct mira_channel *c = mira_channel_of(t, f->info.name, err);
    if (!c || !info_add(t, f, c->id, err)) {
        return false;
    }
    if (c->described) {
        bool same = bytes_equal(c->type, f->info.type);
        mira_count(&t->again_infos, f->at);
        if (!same) {
            reel_scan_finding(t->scan, REEL_WARNING, 0, f->at, 0,
                              "channel info at %llu has another type for its channel: the first one is used",
                              (unsigned long long)f->at);
        }
        return true;
    }
    c->described = true;
    if (c->messages > 0) {
        mira_count(&t->late_infos, f->at);
    }
    return mira_keep_bytes(t, f->info.type, &c->type, err) && take_meta(t, c, f, err);
}

/* ---- channels for the builder ---- */

static bool is_foreign(struct reel_bytes meta) {
    return meta.size > 4 && bytes_start(bytes_of(meta.data + 4, meta.size - 4), bytes_text("reel.encoding="));
}

/* Name and latching of a foreign channel, which ros/wrap.h does not handle. */
static bool read_foreign(struct mira *t, struct mira_channel *c, struct reel_channel *model, struct reel_error *err) {
    struct cursor fields = cursor_of(c->meta);
    struct reel_bytes name, value;
    while (rosrecord_field(&fields, &name, &value)) {
        if (bytes_is(name, MIRA_NAME_FIELD) && !(model->name = mira_text_of(t, value, err))) {
            return false;
        }
        model->latched |= bytes_is(name, MIRA_LATCHED_FIELD) && bytes_is(value, "1");
    }
    return ros_wrap_read(t->scan, &t->arena, c->meta, model, err);
}

/* Frame ids come first, because messages refer to them by index; then the channel's own metadata; then the unknown
 * compression. */
static bool fill_metadata(struct mira *t, const struct mira_channel *c, struct reel_channel *model,
                          struct reel_error *err) {
    const struct reel_pairs had = model->metadata;
    struct reel_pair *pairs = mira_keep(t, NULL, (c->n_frames + had.count + 2) * sizeof *pairs, err);
    if (!pairs) {
        return false;
    }
    size_t n = 0;
    for (const struct mira_frame *f = c->frames; f; f = f->next) {
        pairs[n++] = (struct reel_pair){MIRA_FRAME_KEY, f->text};
    }
    for (size_t i = 0; i < had.count; i++) {
        pairs[n++] = had.items[i];
    }
    if (c->unknown > 0) {
        pairs[n++] = (struct reel_pair){MIRA_CODEC_KEY, "unknown"};
    }
    if (t->header.big && !is_foreign(c->meta)) {
        pairs[n++] = (struct reel_pair){MIRA_ORDER_KEY, "big"};
    }
    model->metadata = (struct reel_pairs){.items = pairs, .count = n};
    return true;
}

static bool finish_channel(struct mira *t, struct mira_channel *c, struct reel_error *err) {
    struct reel_channel model = {.encoding = MIRA_ENCODING};
    struct reel_schema schema = {.encoding = MIRA_ENCODING, .hash = "", .data = c->meta};
    if (!(model.name = mira_text_of(t, c->name, err)) || !(model.type = mira_text_of(t, c->type, err))) {
        return false;
    }
    if (is_foreign(c->meta)) {
        if (!read_foreign(t, c, &model, err)) {
            return false;
        }
    } else if (c->meta.size > 0) {
        schema.name = model.type;
        model.schemas = &schema;
        model.n_schemas = 1;
    }
    if (!c->described) {
        reel_scan_finding(t->scan, REEL_WARNING, 0, 0, 0, "channel %s has no channel info: its type is unknown",
                          model.name);
    }
    if (c->unknown > 0 && c->messages > 0) { /* a summary has not read all messages */
        reel_scan_finding(t->scan, REEL_WARNING, 0, 0, 0,
                          "channel %s: messages with unknown compression, delivered as stored: %llu", model.name,
                          (unsigned long long)c->unknown);
    }
    return fill_metadata(t, c, &model, err) && reel_scan_channel_update(t->scan, c->id, &model, err);
}

bool mira_finish_channels(struct mira *t, struct reel_error *err) {
    for (size_t i = 0; i < t->n_channels; i++) {
        if (!finish_channel(t, t->channels[i], err)) {
            return false;
        }
    }
    return true;
}
