/* Converts channels of a stream to channels of a tape. In a tape a channel has a unique name, a type and meta data, so
 * the other properties of a channel are stored in the meta data, as fields of ros/wrap.h; Reel's reader restores them.
 */
#include "base/bytes.h"
#include "base/channel.h"
#include "base/cleanup.h"
#include "formats/mira/write.h"
#include "formats/ros/wrap.h"
#include "formats/ros/write.h"
#include "stream/merge_names.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_frame(const struct reel_pair *p) {
    return strcmp(p->key, MIRA_FRAME_KEY) == 0;
}

/* Metadata that a tape stores elsewhere. */
static bool is_derived(const struct reel_pair *p) {
    return is_frame(p) || strcmp(p->key, MIRA_CODEC_KEY) == 0;
}

/* A channel read from a tape: its meta data are kept. */
static bool is_native(const struct reel_channel *c) {
    const struct reel_schema *s = c->n_schemas == 1 ? c->schemas : NULL;
    bool plain = strcmp(c->encoding, MIRA_ENCODING) == 0 && !c->latched && channel_is_one_topic(c);
    for (size_t i = 0; plain && i < c->metadata.count; i++) {
        plain = is_derived(&c->metadata.items[i]);
    }
    return plain && (c->n_schemas == 0 ||
                     (s && strcmp(s->name, c->type) == 0 && s->hash[0] == '\0' &&
                      (strcmp(s->encoding, MIRA_ENCODING) == 0 || (s->encoding[0] == '\0' && s->data.size == 0))));
}

/* The meta data of a channel of another format. `name`: its original name, if it differs in the tape. */
static bool put_foreign(struct reel_sink *out, const struct reel_channel *c, const char *name) {
    struct reel_channel kept = *c;
    AUTO_MEM struct reel_pair *pairs = malloc((c->metadata.count + 1) * sizeof *pairs);
    if (!pairs) {
        return false;
    }
    kept.metadata = (struct reel_pairs){.items = pairs};
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (!is_frame(&c->metadata.items[i])) {
            pairs[kept.metadata.count++] = c->metadata.items[i];
        }
    }
    ros_wrap_put_fields(out, &kept);
    if (name) {
        ros_put_field(out, MIRA_NAME_FIELD, bytes_text(name));
    }
    if (c->latched) {
        ros_put_field(out, MIRA_LATCHED_FIELD, bytes_text("1"));
    }
    return true;
}

static bool make_meta(struct arena *arena, const struct reel_channel *c, bool renamed, struct reel_bytes *meta,
                      struct reel_error *err) {
    const char *name = renamed ? c->name : NULL;
    if (!renamed && is_native(c)) {
        *meta = c->n_schemas == 1 ? c->schemas[0].data : bytes_of("", 0);
        return true;
    }
    struct reel_sink count = {0};
    uint8_t *p = put_foreign(&count, c, name) ? arena_alloc(arena, (size_t)count.pos) : NULL;
    struct reel_sink sink = {.buffer = p, .hi = count.pos};
    *meta = bytes_of(p, (size_t)count.pos);
    return p && put_foreign(&sink, c, name) ? true : reel_fail_memory(err);
}

/* ---- channels ---- */

/* If messages have no frame id of their own, the only frame id of the channel applies to all. */
static struct reel_bytes only_frame(const struct reel_channel *c) {
    const char *found = NULL;
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (is_frame(&c->metadata.items[i])) {
            if (found) {
                return bytes_of("", 0);
            }
            found = c->metadata.items[i].value;
        }
    }
    return bytes_text(found ? found : "");
}

static const struct reel_format *mira_format_of(const struct reel_stream *stream, uint32_t source) {
    return reel_index_info(reel_recording_index(reel_reader_recording(stream->readers[source])))->format;
}

bool mira_out_channel(struct arena *arena, const struct reel_channel *c, const char *name, struct mira_out *out,
                      struct reel_error *err) {
    *out = (struct mira_out){.name = bytes_text(name), .type = bytes_text(c->type), .frame = only_frame(c)};
    return make_meta(arena, c, strcmp(name, c->name) != 0, &out->meta, err);
}

bool mira_out_channels(struct arena *arena, const struct reel_stream *stream, struct mira_out **out,
                       struct reel_error *err) {
    uint32_t n = stream->n_channels;
    struct mira_out *all = arena_alloc(arena, ((size_t)n + 1) * sizeof *all);
    const char **names = arena_alloc(arena, ((size_t)n + 1) * sizeof *names);
    if (!all || !names) {
        return reel_fail_memory(err);
    }
    if (!naming_unique(arena, stream, SIZE_MAX, names, err)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_channel *c = stream->channels[i];
        const struct reel_format *format = mira_format_of(stream, stream->channel_source[i]);
        if (!mira_out_channel(arena, c, names[i], &all[i], err)) {
            return false;
        }
        all[i].native = format == &reel_format_mira;
        all[i].described = !all[i].native && format->describe != NULL;
    }
    *out = all;
    return true;
}

const char *mira_metadata(const struct reel_stream *stream, const char *key) {
    if (stream->n_sources == 0) {
        return NULL;
    }
    const struct reel_pairs *pairs =
        reel_index_metadata(reel_recording_index(reel_reader_recording(stream->readers[0])));
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->items[i].key, key) == 0) {
            return pairs->items[i].value;
        }
    }
    return NULL;
}

/* ---- what is lost ---- */

bool mira_accepts(const struct reel_channel *c, struct reel_loss *loss) {
    if (is_native(c)) {
        return true;
    }
    struct reel_sink count = {0};
    struct reel_error why = {0};
    if (!put_foreign(&count, c, c->name)) {
        reel_fail_memory(&why);
        reel_loss_fail(loss, &why);
        return false;
    }
    if (count.pos > MIRA_OUT_META_MAX) {
        reel_loss_add(loss, REEL_REFUSES, c, "its meta data (%llu bytes, mostly schemas) exceed %d MiB",
                      (unsigned long long)count.pos, MIRA_OUT_META_MAX >> 20);
        return false;
    }
    reel_loss_add(loss, REEL_CHANGES, c,
                  "messages keep their bytes and type; encoding (%s), schemas and metadata are stored in the channel's "
                  "meta data, "
                  "which only Reel reads",
                  c->encoding[0] ? c->encoding : "an unknown");
    return true;
}

static void report_recording(const struct reel_stream *stream, uint32_t source, struct reel_loss *loss) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(stream->readers[source]));
    const struct reel_pairs *pairs = reel_index_metadata(index);
    const struct reel_format *format = mira_format_of(stream, source);
    size_t attachments = 0, lost = 0;
    reel_index_attachments(index, &attachments);
    for (size_t i = 0; i < pairs->count; i++) {
        lost += !bytes_start(bytes_text(pairs->items[i].key), bytes_text("mira."));
    }
    if (attachments > 0) {
        reel_loss_add(loss, REEL_LOSES, NULL, "%zu attachments", attachments);
    }
    if (lost > 0) {
        reel_loss_add(loss, REEL_LOSES, NULL, "%zu metadata values of the recording", lost);
    }
    if (format == &reel_format_mira && strstr(reel_index_info(index)->container, "big-endian")) {
        reel_loss_add(loss, REEL_CHANGES, NULL, "the tape becomes little-endian; payloads are unchanged");
    }
    if (format != &reel_format_mira && format->describe) {
        reel_loss_add(loss, REEL_LOSES, NULL, "publish times that differ from the log times");
    }
}

static void report_channel(const struct reel_stream *stream, uint32_t i, const char *name, struct reel_loss *loss) {
    const struct reel_channel *c = stream->channels[i];
    size_t frames = 0;
    for (size_t k = 0; k < c->metadata.count; k++) {
        frames += is_frame(&c->metadata.items[k]);
    }
    if (name != c->name) {
        reel_loss_add(loss, REEL_CHANGES, c, "channel names must be unique in a tape: written as \"%s\"", name);
    }
    if (frames > 1 && mira_format_of(stream, stream->channel_source[i]) != &reel_format_mira) {
        reel_loss_add(loss, REEL_LOSES, c, "its %zu frame ids: it is unknown which message has which", frames);
    }
}

bool mira_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    struct arena arena = {0};
    const char **names = arena_alloc(&arena, ((size_t)stream->n_channels + 1) * sizeof *names);
    struct reel_error why = {0};
    bool named = (names || reel_fail_memory(&why)) && naming_unique(&arena, stream, SIZE_MAX, names, &why);
    reel_loss_fail(loss, &why);
    for (uint32_t i = 0; named && i < stream->n_channels; i++) {
        report_channel(stream, i, names[i], loss);
    }
    arena_free(&arena);
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        report_recording(stream, i, loss);
    }
    if (stream->n_sources > 1) {
        reel_loss_add(loss, REEL_CHANGES, NULL, "%u recordings become one", stream->n_sources);
    }
    return true;
}
