/* Writes NanoVer recordings with exactly the layout of the official recorder (layout.h): messages first, stored, at
 * offset 66; then the index; then the other members of the source's archive. Sizes and CRCs come before the bytes they
 * describe and nothing is patched, so planning computes them. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "formats/nanover/container.h"
#include "formats/nanover/current_form.h"
#include "formats/nanover/legacy.h"
#include "syntax/zip_write.h"

#include <msgpack.h>

enum {
    GROUP_BYTES = 1 << 20,
    GROUP_MESSAGES = 8192,
    PIECE_BYTES = 4 << 20, /* of an extra member in one part of the tail */
};

struct extra { /* a member of the source's archive besides messages and index */
    const char *name;
    uint32_t chunk;
    uint64_t offset, size; /* position in that chunk */
    uint64_t first_piece;
    uint64_t header_at; /* position in the output */
    uint32_t crc;
};

struct totals {
    uint64_t messages; /* number of messages */
    uint64_t messages_size, index_size;
    uint32_t messages_crc, index_crc;
    struct extra *extras;
    size_t n_extras;
    uint64_t n_pieces;
};

/* --- head: the local header of the messages, and the list of what follows the index --- */

static const struct reel_attachment *source_extras(const struct reel_stream *stream, uint32_t source, size_t *count) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(stream->readers[source]));
    const struct reel_attachment *items = reel_index_attachments(index, count);
    *count = reel_index_info(index)->format == &reel_format_nanover ? *count : 0;
    return items;
}

/* Collects the extra members of the first recording only: those of several could have equal names. */
static bool collect_extras(struct reel_write *w, struct totals *t, struct reel_error *err) {
    size_t n = 0;
    const struct reel_attachment *items = w->stream->n_sources > 0 ? source_extras(w->stream, 0, &n) : NULL;
    t->extras = n > 0 ? reel_write_keep(w, n * sizeof *t->extras, err) : NULL;
    for (size_t i = 0; i < n && t->extras; i++) {
        size_t name_size = strlen(items[i].name);
        if (name_size > UINT16_MAX) { /* only an escaped name can be so long; no archive has room for it */
            continue;
        }
        char *name = reel_write_keep(w, name_size + 1, err);
        if (!name) {
            return false;
        }
        memcpy(name, items[i].name, name_size);
        t->extras[t->n_extras++] = (struct extra){.name = name,
                                                  .chunk = items[i].chunk,
                                                  .offset = items[i].offset,
                                                  .size = items[i].size,
                                                  .first_piece = t->n_pieces};
        t->n_pieces += items[i].size / PIECE_BYTES + 1;
    }
    return n == 0 || t->extras;
}

static bool write_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct totals *t = w->totals;
    if (w->planning && !collect_extras(w, t, err)) {
        return false;
    }
    zip_put_local(out, NANOVER_MESSAGES, t->messages_crc, t->messages_size, true);
    return true;
}

/* --- messages --- */

static bool write_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct totals *t = w->totals;
    struct zip_crc begin = zip_crc_begin(out);
    struct reel_message m;
    uint64_t bytes = 0, count = 0;
    enum reel_step step;
    while ((step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE) {
        if (w->planning && count > 0 && (count == GROUP_MESSAGES || bytes + m.size > GROUP_BYTES)) {
            reel_write_unget(w, &m);
            break;
        }
        if (!reel_write_payload(w, &m, out, err)) {
            return false;
        }
        bytes += m.size;
        count++;
    }
    if (w->planning) {
        t->messages += count;
        zip_crc_join(out, &begin, &t->messages_crc, &t->messages_size);
    }
    return step != REEL_STEP_ERROR;
}

/* --- index --- */

static int sink_write(void *out, const char *data, size_t size) {
    reel_sink_put(out, data, size);
    return 0;
}
static void pack_word(msgpack_packer *pk, const char *word) {
    msgpack_pack_str_with_body(pk, word, strlen(word));
}

/* Counts the other keys of the source's index entry, and writes them when `out` is not NULL. */
static bool own_metadata(struct reel_bytes map_bytes, struct reel_sink *out, size_t *count) {
    struct cursor c = cursor_of(map_bytes);
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(&c, &map);
    *count = 0;
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        const uint8_t *begin = c.at;
        struct reel_bytes key;
        r = msgpack_key(&c, &key, REEL_DEPTH_MAX, &faults);
        r = r == MSGPACK_OK ? msgpack_skip(&c, REEL_DEPTH_MAX, &faults) : r;
        if (r != MSGPACK_OK || bytes_is(key, "types") || bytes_is(key, "timestamp") ||
            bytes_is(key, NANOVER_FRAME_INDEX)) {
            continue;
        }
        ++*count;
        if (out) {
            reel_sink_put(out, begin, (size_t)(c.at - begin));
        }
    }
    return r == MSGPACK_OK;
}

static bool read_kept(struct reel_write *w, const struct reel_message *m, struct reel_bytes *kept, size_t *count,
                      struct reel_error *err) {
    uint32_t size = nanover_kept_size(&m->entry);
    *kept = bytes_of("", 0);
    if (size == 0) {
        return true;
    }
    struct reel_reader *reader = w->stream->readers[m->source];
    return reel_reader_view(reader, nanover_kept_chunk(&m->entry), nanover_kept_offset(&m->entry), size, kept, err) &&
           (own_metadata(*kept, NULL, count) ||
            reel_fail(err, REEL_CHANGED, "the index metadata of a message is not what was scanned"));
}

struct index_walk {
    struct reel_sink *out;
    uint64_t offset; /* offset of the next message in its member */
};

static bool put_entry(struct reel_write *w, const struct reel_message *m, void *context, struct reel_error *err) {
    struct index_walk *walk = context;
    const struct reel_channel *channel = w->stream->channels[m->channel];
    uint32_t n_types = nanover_channel_types(channel);
    uint64_t frame_index = nanover_frame_index_plus_1(&m->entry);
    struct reel_bytes kept;
    size_t n_kept = 0;
    if (!read_kept(w, m, &kept, &n_kept, err)) {
        return false;
    }
    msgpack_packer pk;
    msgpack_packer_init(&pk, walk->out, sink_write);
    msgpack_pack_map(&pk, 3);
    pack_word(&pk, "offset");
    msgpack_pack_uint64(&pk, walk->offset);
    pack_word(&pk, "length");
    msgpack_pack_uint64(&pk, m->size);
    pack_word(&pk, "metadata");
    msgpack_pack_map(&pk, 2 + (frame_index > 0) + n_kept);
    pack_word(&pk, "types");
    msgpack_pack_array(&pk, n_types);
    for (uint32_t i = 0; i < n_types; i++) {
        pack_word(&pk, channel->topics[i]);
    }
    if (frame_index > 0) {
        pack_word(&pk, NANOVER_FRAME_INDEX);
        msgpack_pack_uint64(&pk, frame_index - 1);
    }
    int64_t time_ns = reel_write_time(w, m);
    pack_word(&pk, "timestamp");
    msgpack_pack_int64(&pk, w->options->is_cut && time_ns < 0 ? 0 : time_ns / 1000);
    walk->offset += m->size;
    return n_kept == 0 || own_metadata(kept, walk->out, &n_kept);
}

static void write_index_head(struct reel_write *w, struct reel_sink *out) {
    struct totals *t = w->totals;
    zip_put_local(out, NANOVER_INDEX, t->index_crc, t->index_size, false);
    struct zip_crc begin = zip_crc_begin(out);
    msgpack_packer pk;
    msgpack_packer_init(&pk, out, sink_write);
    msgpack_pack_array(&pk, (size_t)t->messages);
    if (w->planning) {
        zip_crc_join(out, &begin, &t->index_crc, &t->index_size);
    }
}

static bool write_index_group(struct reel_write *w, uint64_t group, struct reel_sink *out, struct reel_error *err) {
    struct totals *t = w->totals;
    struct zip_crc begin = zip_crc_begin(out);
    struct index_walk walk = {.out = out, .offset = reel_write_group(w, group)->offset - NANOVER_DATA_START};
    if (!reel_write_walk(w, group, put_entry, &walk, err)) {
        return false;
    }
    if (w->planning) {
        zip_crc_join(out, &begin, &t->index_crc, &t->index_size);
        if (t->index_size > ZIP_PLAIN_MAX || t->messages > UINT32_MAX) {
            return reel_fail(err, REEL_UNSUPPORTED,
                             "the index of so many messages exceeds 2 GiB, the most that a NanoVer recording can have");
        }
    }
    return true;
}

/* --- extra members, directory --- */

static bool write_piece(struct reel_write *w, uint64_t piece, struct reel_sink *out, struct reel_error *err) {
    struct totals *t = w->totals;
    size_t low = 0, high = t->n_extras;
    while (high - low > 1) { /* finds the last one that begins at or before it */
        size_t middle = low + (high - low) / 2;
        *(t->extras[middle].first_piece <= piece ? &low : &high) = middle;
    }
    struct extra *e = &t->extras[low];
    uint64_t at = (piece - e->first_piece) * PIECE_BYTES;
    size_t size = e->size - at < PIECE_BYTES ? (size_t)(e->size - at) : PIECE_BYTES;
    AUTO_MEM uint8_t *data = malloc(size + 1);
    if (!data) {
        return reel_fail_memory(err);
    }
    if (size > 0 && !reel_reader_copy(w->stream->readers[0], e->chunk, e->offset + at, data, size, err)) {
        return reel_error_at(err, "member %s", e->name);
    }
    if (at == 0) {
        if (w->planning) {
            e->header_at = out->pos;
        }
        zip_put_local(out, e->name, e->crc, e->size, e->size > ZIP_PLAIN_MAX);
    }
    struct zip_crc begin = zip_crc_begin(out);
    reel_sink_put(out, data, size);
    if (w->planning) {
        uint64_t added = 0;
        zip_crc_join(out, &begin, &e->crc, &added);
    }
    return true;
}

static void write_directory(const struct totals *t, uint64_t index_at, struct reel_sink *out) {
    uint64_t directory_at = out->pos;
    zip_put_central(out, NANOVER_MESSAGES, t->messages_crc, t->messages_size, 0, true);
    zip_put_central(out, NANOVER_INDEX, t->index_crc, t->index_size, index_at, false);
    for (size_t i = 0; i < t->n_extras; i++) {
        const struct extra *e = &t->extras[i];
        zip_put_central(out, e->name, e->crc, e->size, e->header_at, e->size > ZIP_PLAIN_MAX);
    }
    zip_put_end(out, directory_at, t->n_extras + 2);
}

/* Parts of the tail: the index's header, its entries by message group, pieces of extra members, the directory. */
static uint64_t nanover_tail_parts(struct reel_write *w) {
    const struct totals *t = w->totals;
    return 1 + reel_write_groups(w) + t->n_pieces + 1;
}

static bool write_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    const struct totals *t = w->totals;
    uint64_t groups = reel_write_groups(w);
    if (part == 0) {
        write_index_head(w, out);
        return true;
    }
    if (part <= groups) {
        return write_index_group(w, part - 1, out, err);
    }
    if (part <= groups + t->n_pieces) {
        return write_piece(w, part - groups - 1, out, err);
    }
    write_directory(t, NANOVER_DATA_START + t->messages_size, out);
    return true;
}

/* --- the writer --- */

static bool nanover_accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    if (strcmp(channel->encoding, NANOVER_ENCODING) != 0) {
        reel_loss_add(loss, REEL_REFUSES, channel, "a NanoVer recording holds NanoVer messages only, not %s",
                      channel->encoding[0] ? channel->encoding : "messages of no known encoding");
        return false;
    }
    return true;
}

static bool holds_legacy(const struct reel_index *index) {
    bool any = false;
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels && !any; i++) {
        any = legacy_channel_kind(reel_index_channel(index, i)) != LEGACY_NONE;
    }
    return any;
}

static bool nanover_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        if (holds_legacy(reel_recording_index(reel_reader_recording(stream->readers[i])))) {
            reel_loss_add(loss, REEL_CHANGES, NULL,
                          "protobuf messages become MessagePack, as the official converter makes them");
            break;
        }
    }
    if (stream->n_sources > 1) {
        reel_loss_add(loss, REEL_CHANGES, NULL,
                      "the messages of %u recordings become one run, in the order of their times", stream->n_sources);
    }
    return true;
}

const struct reel_writer reel_writer_nanover = {
    .name = "nanover",
    .extension = ".nanover.zip",
    .media_type = "application/zip",
    .needs = REEL_NEEDS_PAYLOAD_TO_PLAN | REEL_NEEDS_STATE_AT_CUT | REEL_REBASES_CUT | REEL_KEEPS_TOPICS,
    .version = 1,
    .totals_size = sizeof(struct totals),
    .view = nanover_view,
    .recorder = &nanover_recorder,
    .accepts = nanover_accepts,
    .accepts_all = nanover_accepts_all,
    .head = write_head,
    .messages = write_messages,
    .tail_parts = nanover_tail_parts,
    .tail = write_tail,
};
