/* The tail of a written MCAP file. Its parts: one for each attachment; metadata, DataEnd and the beginning of the
 * summary; ChunkIndex records in thousands; attachment and metadata indexes, summary offsets, footer. While planning,
 * the summary is emitted twice, once into a hashing sink, so that every later run knows its CRC. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "formats/mcap/write.h"

/* An attachment and the recording it comes from. */
struct attached {
    const struct reel_attachment *a;
    struct reel_reader *reader;
};

static const struct reel_attachment *source_attachments(const struct reel_stream *stream, uint32_t source,
                                                        size_t *count) {
    return reel_index_attachments(reel_recording_index(reel_reader_recording(stream->readers[source])), count);
}

uint64_t mcap_attachments(const struct reel_stream *stream) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        size_t count = 0;
        source_attachments(stream, i, &count);
        total += count;
    }
    return total;
}

static struct attached attachment_at(const struct reel_stream *stream, uint64_t number) {
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        size_t count = 0;
        const struct reel_attachment *all = source_attachments(stream, i, &count);
        if (number < count) {
            return (struct attached){.a = &all[number], .reader = stream->readers[i]};
        }
        number -= count;
    }
    return (struct attached){0};
}

/* MCAP has no negative times; an attachment without a time gets 0. */
static uint64_t attachment_time(const struct reel_attachment *a) {
    return a->time_ns < 0 ? 0 : (uint64_t)a->time_ns;
}

static uint64_t attachment_content_size(const struct reel_attachment *a) {
    return 8 + 8 + 4 + strlen(a->name) + 4 + strlen(a->media_type) + 8 + a->size + 4;
}

/* Finds the creation time of an attachment. The model has no field for it, but its record in a source MCAP file has. */
static bool find_create_time(const struct attached *from, uint64_t *create_ns, struct reel_error *err) {
    const struct reel_attachment *a = from->a;
    size_t name = strlen(a->name), media_type = strlen(a->media_type), head = 8 + 8 + 4 + name + 4 + media_type + 8;
    const struct reel_index *index = reel_recording_index(reel_reader_recording(from->reader));
    *create_ns = attachment_time(a);
    if (reel_index_info(index)->format != &reel_format_mcap || a->offset < head) {
        return true;
    }
    struct reel_bytes b;
    if (!reel_reader_view(from->reader, a->chunk, a->offset - head, head, &b, err)) {
        return false;
    }
    struct cursor c = cursor_of(b);
    uint64_t log_ns = cursor_u64le(&c), stated = cursor_u64le(&c);
    bool same = bytes_is(cursor_string32(&c), a->name) && bytes_is(cursor_string32(&c), a->media_type) &&
                cursor_u64le(&c) == a->size;
    *create_ns = same && !c.failed && log_ns == *create_ns ? stated : *create_ns; /* a name that is not UTF-8 has
                                                                                     another length in the file */
    return true;
}

static void put_attachment_head(const struct reel_attachment *a, uint64_t create_ns, struct reel_sink *out) {
    reel_sink_u64le(out, attachment_time(a));
    reel_sink_u64le(out, create_ns);
    reel_sink_string32(out, bytes_text(a->name));
    reel_sink_string32(out, bytes_text(a->media_type));
    reel_sink_u64le(out, a->size);
}

static bool put_attachment(struct reel_write *w, uint64_t number, struct reel_sink *out, struct reel_error *err) {
    struct mcap_totals *totals = w->totals;
    struct mcap_attached *attached = &totals->attached[number];
    struct attached from = attachment_at(w->stream, number);
    if (w->planning) { /* read once for the CRC that follows the bytes */
        struct reel_sink hash = {.hashing = true};
        if (!find_create_time(&from, &attached->create_ns, err)) {
            return false;
        }
        put_attachment_head(from.a, attached->create_ns, &hash);
        if (!reel_write_attachment(from.reader, from.a, &hash, err)) {
            return false;
        }
        attached->crc = hash.crc;
    }
    mcap_put_record(out, MCAP_ATTACHMENT, attachment_content_size(from.a));
    put_attachment_head(from.a, attached->create_ns, out);
    if (!reel_write_attachment(from.reader, from.a, out, err)) {
        return false;
    }
    reel_sink_u32le(out, attached->crc);
    return true;
}

static uint64_t chunk_index_parts(const struct reel_write *w) {
    return (reel_write_groups(w) + MCAP_TAIL_CHUNKS - 1) / MCAP_TAIL_CHUNKS;
}

uint64_t mcap_tail_parts(struct reel_write *w) {
    return mcap_attachments(w->stream) + 1 + chunk_index_parts(w) + 1;
}

static void mcap_tail_put_statistics(struct reel_write *w, const struct mcap_model *model, struct reel_sink *out) {
    const struct mcap_totals *totals = w->totals;
    uint32_t channels = mcap_model_channels(model), used = 0, metadata;
    mcap_model_metadata(model, &metadata);
    for (uint32_t i = 0; i < channels; i++) {
        used += totals->counts[i] > 0;
    }
    uint32_t map = used * (2 + 8);
    mcap_put_record(out, MCAP_STATISTICS, 8 + 2 + 4 + 4 + 4 + 4 + 8 + 8 + 4 + map);
    reel_sink_u64le(out, totals->messages);
    reel_sink_u16le(out, (uint16_t)mcap_model_schemas(model));
    reel_sink_u32le(out, channels);
    reel_sink_u32le(out, (uint32_t)mcap_attachments(w->stream));
    reel_sink_u32le(out, metadata);
    reel_sink_u32le(out, (uint32_t)reel_write_groups(w));
    reel_sink_u64le(out, totals->start_ns);
    reel_sink_u64le(out, totals->end_ns);
    reel_sink_u32le(out, map);
    for (uint32_t i = 0; i < channels; i++) {
        if (totals->counts[i] > 0) {
            reel_sink_u16le(out, mcap_id(i));
            reel_sink_u64le(out, totals->counts[i]);
        }
    }
}

static void put_chunk_index(const struct reel_write *w, const struct reel_group *group, struct reel_sink *out) {
    struct mcap_note note = mcap_note_of(group);
    struct reel_bytes compression = bytes_text(mcap_compression(w, &note));
    uint64_t begin = group->offset - w->base, chunk = MCAP_CHUNK_HEAD + compression.size + note.stored,
             at = begin + chunk;
    mcap_put_record(out, MCAP_CHUNK_INDEX,
                    4 * 8 + 4 + (uint64_t)note.n_rows * (2 + 8) + 8 + 4 + compression.size + 8 + 8);
    reel_sink_u64le(out, note.start_ns);
    reel_sink_u64le(out, note.end_ns);
    reel_sink_u64le(out, begin);
    reel_sink_u64le(out, chunk);
    reel_sink_u32le(out, note.n_rows * (2 + 8));
    for (uint32_t i = 0; i < note.n_rows; i++) {
        reel_sink_u16le(out, mcap_id(mcap_row_channel(&note, i)));
        reel_sink_u64le(out, at);
        at += mcap_row_index_size(&note, i);
    }
    reel_sink_u64le(out, group->size - chunk);
    reel_sink_string32(out, compression);
    reel_sink_u64le(out, note.stored);
    reel_sink_u64le(out, note.records);
}

static void put_chunk_indexes(struct reel_write *w, uint64_t part, struct reel_sink *out) {
    uint64_t end = (part + 1) * MCAP_TAIL_CHUNKS, groups = reel_write_groups(w);
    for (uint64_t g = part * MCAP_TAIL_CHUNKS; g < end && g < groups; g++) {
        put_chunk_index(w, reel_write_group(w, g), out);
    }
}

static void put_attachment_indexes(struct reel_write *w, struct reel_sink *out) {
    const struct mcap_totals *totals = w->totals;
    uint64_t count = mcap_attachments(w->stream);
    for (uint64_t i = 0; i < count; i++) {
        const struct reel_attachment *a = attachment_at(w->stream, i).a;
        size_t name = strlen(a->name), media_type = strlen(a->media_type);
        mcap_put_record(out, MCAP_ATTACHMENT_INDEX, 5 * 8 + 4 + name + 4 + media_type);
        reel_sink_u64le(out, reel_write_tail_offset(w, i));
        reel_sink_u64le(out, MCAP_RECORD_HEAD + attachment_content_size(a));
        reel_sink_u64le(out, attachment_time(a));
        reel_sink_u64le(out, totals->attached[i].create_ns);
        reel_sink_u64le(out, a->size);
        reel_sink_string32(out, bytes_of(a->name, name));
        reel_sink_string32(out, bytes_of(a->media_type, media_type));
    }
}

/* `at`: position of the first Metadata record. */
static void put_metadata_indexes(const struct mcap_model *model, uint64_t at, struct reel_sink *out) {
    uint32_t count;
    const struct mcap_metadata *all = mcap_model_metadata(model, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = mcap_metadata_size(&all[i]);
        mcap_put_record(out, MCAP_METADATA_INDEX, 8 + 8 + 4 + strlen(all[i].name));
        reel_sink_u64le(out, at);
        reel_sink_u64le(out, size);
        reel_sink_string32(out, bytes_text(all[i].name));
        at += size;
    }
}

static void put_summary_front(struct reel_write *w, const struct mcap_model *model, struct reel_sink *out) {
    mcap_put_schemas(model, out);
    mcap_put_channels(model, out);
    mcap_tail_put_statistics(w, model, out);
}

static void put_metadata(const struct mcap_model *model, struct reel_sink *out) {
    uint32_t count;
    const struct mcap_metadata *all = mcap_model_metadata(model, &count);
    for (uint32_t i = 0; i < count; i++) {
        mcap_put_metadata(&all[i], out);
    }
    mcap_put_record(out, MCAP_DATA_END, 4);
    reel_sink_u32le(out, 0);
}

/* Emits the SummaryOffset of a group at [*at, end), unless it is empty, and sets *at to its end. */
static void put_summary_offset(struct reel_sink *out, enum mcap_op op, uint64_t *at, uint64_t end) {
    if (end > *at) {
        mcap_put_record(out, MCAP_SUMMARY_OFFSET, 1 + 8 + 8);
        reel_sink_u8(out, (uint8_t)op);
        reel_sink_u64le(out, *at);
        reel_sink_u64le(out, end - *at);
    }
    *at = end;
}

/* Emits the end of the summary, its offsets, and the footer without the CRC. `first` is the part with the metadata,
 * `last` this one. */
static void put_summary_back(struct reel_write *w, const struct mcap_model *model, uint64_t first, uint64_t last,
                             struct reel_sink *out) {
    struct reel_sink count = {0};
    put_metadata(model, &count);
    uint64_t metadata_at = reel_write_tail_offset(w, first), summary_at = metadata_at + count.pos, at = summary_at;
    uint64_t last_at = reel_write_tail_offset(w, last), emitted = out->pos;
    put_attachment_indexes(w, out);
    uint64_t attachments_end = last_at + (out->pos - emitted);
    put_metadata_indexes(model, metadata_at, out);
    uint64_t offsets_at = last_at + (out->pos - emitted);

    count.pos = 0;
    mcap_put_schemas(model, &count);
    put_summary_offset(out, MCAP_SCHEMA, &at, summary_at + count.pos);
    mcap_put_channels(model, &count);
    put_summary_offset(out, MCAP_CHANNEL, &at, summary_at + count.pos);
    put_summary_offset(out, MCAP_STATISTICS, &at, reel_write_tail_offset(w, first + 1));
    put_summary_offset(out, MCAP_CHUNK_INDEX, &at, last_at);
    put_summary_offset(out, MCAP_ATTACHMENT_INDEX, &at, attachments_end);
    put_summary_offset(out, MCAP_METADATA_INDEX, &at, offsets_at);

    mcap_put_record(out, MCAP_FOOTER, 8 + 8 + 4);
    reel_sink_u64le(out, summary_at);
    reel_sink_u64le(out, offsets_at);
}

static void put_summary(struct reel_write *w, const struct mcap_model *model, uint64_t part, uint64_t first,
                        uint64_t last, struct reel_sink *out) {
    if (part == first) {
        put_summary_front(w, model, out);
    } else if (part == last) {
        put_summary_back(w, model, first, last, out);
    } else {
        put_chunk_indexes(w, part - first - 1, out);
    }
}

bool mcap_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    struct mcap_totals *totals = w->totals;
    uint64_t first = mcap_attachments(w->stream), last = mcap_tail_parts(w) - 1;
    if (part < first) {
        return put_attachment(w, part, out, err);
    }
    const struct mcap_model *model = mcap_model_of(w, err);
    if (!model) {
        return false;
    }
    if (w->planning) {
        struct reel_sink hash = {.hashing = true, .crc = totals->summary_crc};
        put_summary(w, model, part, first, last, &hash);
        totals->summary_crc = hash.crc;
    }
    if (part == first) {
        put_metadata(model, out);
    }
    put_summary(w, model, part, first, last, out);
    if (part == last) {
        reel_sink_u32le(out, totals->summary_crc);
        reel_sink_put(out, MCAP_MAGIC, MCAP_MAGIC_SIZE);
    }
    return true;
}
