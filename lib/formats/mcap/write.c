/* The MCAP writer: head and chunks. A group of messages becomes one chunk and its message indexes. Without compression,
 * planning reads no message; a chunk that is to be compressed is packed (reel_write_pack()). The plan's note of a chunk
 * holds the values of the fields before its messages. */
#include "formats/mcap/write.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "chunks/codec.h"

#include <libdeflate.h>

struct mcap_run {
    struct mcap_model *model; /* built when head or tail needs it */
    bool *described;          /* by source: its format has publish times or sequence numbers */
    uint32_t *classes;        /* by channel: messages of one class may share a chunk */
    struct mcap_positions positions;
    enum reel_codec codec;
    uint8_t *raw; /* records of a chunk to be compressed */
    size_t raw_capacity;
    struct grow packed;
};

/* The chunk being emitted. */
struct chunk {
    uint64_t records; /* size of the records in bytes */
    uint32_t class;
    bool gathered;        /* records go to `raw` to be compressed, else to the output */
    struct reel_sink raw; /* writes to run->raw */
};

void mcap_put_record(struct reel_sink *out, enum mcap_op op, uint64_t content_size) {
    reel_sink_u8(out, (uint8_t)op);
    reel_sink_u64le(out, content_size);
}

struct mcap_note mcap_note_of(const struct reel_group *group) {
    return (struct mcap_note){
        .start_ns = load_u64le(group->note),
        .end_ns = load_u64le(group->note + 8),
        .records = load_u64le(group->note + 16),
        .stored = load_u64le(group->note + 24),
        .rows = group->note + MCAP_NOTE_HEAD,
        .n_rows = (group->note_size - MCAP_NOTE_HEAD) / MCAP_NOTE_ROW,
    };
}

const char *mcap_compression(const struct reel_write *w, const struct mcap_note *note) {
    return note->stored < note->records ? w->options->compression : "";
}

struct mcap_model *mcap_model_of(struct reel_write *w, struct reel_error *err) {
    struct mcap_run *run = w->run;
    if (!run->model) {
        run->model = mcap_model_new(w->stream, (struct mcap_first){0}, err);
    }
    return run->model;
}

bool mcap_codec_named(const char *name, enum reel_codec *codec, struct reel_error *err) {
    name = name ? name : "";
    *codec = strcmp(name, "zstd") == 0 ? REEL_CODEC_ZSTD : strcmp(name, "lz4") == 0 ? REEL_CODEC_LZ4 : REEL_CODEC_NONE;
    return *codec != REEL_CODEC_NONE || name[0] == '\0' || strcmp(name, "none") == 0 ||
           reel_fail(err, REEL_UNSUPPORTED, "MCAP knows no compression \"%.32s\": zstd, lz4, or none is written", name);
}

static bool mcap_open(struct reel_write *w, struct reel_error *err) {
    struct mcap_run *run = w->run;
    const struct reel_stream *stream = w->stream;
    if (!mcap_codec_named(w->options->compression, &run->codec, err)) {
        return false;
    }
    if (stream->n_channels > MCAP_CHANNELS_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED, "%u channels: MCAP numbers at most %d", stream->n_channels,
                         MCAP_CHANNELS_MAX);
    }
    run->described = calloc((size_t)stream->n_sources + 1, sizeof *run->described);
    run->classes = calloc((size_t)stream->n_channels + 1, sizeof *run->classes);
    if (!run->described || !run->classes) {
        return reel_fail_memory(err);
    }
    if (!mcap_positions_open(&run->positions, stream->n_channels, err)) {
        return false;
    }
    mcap_classes(stream, run->classes);
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        run->described[i] =
            reel_index_info(reel_recording_index(reel_reader_recording(stream->readers[i])))->format->describe != NULL;
    }
    return true;
}

/* Creates the totals of the whole recording; called when planning begins. */
static bool keep_totals(struct reel_write *w, struct reel_error *err) {
    struct mcap_totals *totals = w->totals;
    size_t channels = w->stream->n_channels, attachments = (size_t)mcap_attachments(w->stream);
    totals->counts = reel_write_keep(w, channels * sizeof *totals->counts, err);
    totals->attached = totals->counts ? reel_write_keep(w, attachments * sizeof *totals->attached, err) : NULL;
    return totals->attached != NULL;
}

static void mcap_close(struct reel_write *w) {
    struct mcap_run *run = w->run;
    mcap_model_free(run->model);
    free(run->described);
    free(run->classes);
    mcap_positions_close(&run->positions);
    free(run->raw);
    free(run->packed.data);
}

static bool mcap_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    const struct mcap_model *model = mcap_model_of(w, err);
    if (!model || (w->planning && !keep_totals(w, err))) {
        return false;
    }
    struct reel_bytes profile = bytes_text(mcap_model_profile(model));
    struct reel_bytes library = bytes_text("reel " REEL_VERSION);
    reel_sink_put(out, MCAP_MAGIC, MCAP_MAGIC_SIZE);
    mcap_put_record(out, MCAP_HEADER, 4 + profile.size + 4 + library.size);
    reel_sink_string32(out, profile);
    reel_sink_string32(out, library);
    mcap_put_schemas(model, out);
    mcap_put_channels(model, out);
    return true;
}

static void put_chunk_head(const struct reel_write *w, struct reel_sink *out, const struct mcap_note *note,
                           uint32_t crc) {
    struct reel_bytes compression = bytes_text(mcap_compression(w, note));
    mcap_put_record(out, MCAP_CHUNK, MCAP_CHUNK_HEAD - MCAP_RECORD_HEAD + compression.size + note->stored);
    reel_sink_u64le(out, note->start_ns);
    reel_sink_u64le(out, note->end_ns);
    reel_sink_u64le(out, note->records);
    reel_sink_u32le(out, crc);
    reel_sink_string32(out, compression);
    reel_sink_u64le(out, note->stored);
}

static bool mcap_put_message(struct reel_write *w, const struct reel_message *m, uint64_t time_ns,
                             struct reel_sink *out, struct reel_error *err) {
    const struct mcap_run *run = w->run;
    struct reel_description d = {.publish_ns = (int64_t)time_ns};
    if (!m->owned && run->described[m->source]) {
        if (!stream_describe(w->stream, m, &d, err)) {
            return false;
        }
        d.publish_ns = d.publish_ns < 0 ? (int64_t)time_ns : d.publish_ns;
    }
    /* Writes the head in direct when the window has room for it: copying bytes just stored in small pieces stalls the
     * CPU, and there are millions of messages. */
    uint8_t aside[MCAP_MESSAGE_HEAD], *direct = reel_sink_at(out, out->pos, MCAP_MESSAGE_HEAD),
                                      *head = direct && !out->hashing ? direct : aside;
    head[0] = MCAP_MESSAGE;
    store_u64le(head + 1, MCAP_MESSAGE_HEAD - MCAP_RECORD_HEAD + (uint64_t)m->size);
    store_u16le(head + 9, mcap_id(m->channel));
    store_u32le(head + 11, d.sequence);
    store_u64le(head + 15, time_ns);
    store_u64le(head + 23, (uint64_t)d.publish_ns);
    if (head == aside) {
        reel_sink_put(out, head, sizeof aside);
    } else {
        out->pos += sizeof aside;
    }
    return reel_write_payload(w, m, out, err);
}

/* Counts a message in the chunk. False: its time cannot be stored in MCAP. */
static bool mcap_book(struct reel_write *w, struct chunk *chunk, const struct reel_message *m, uint64_t *time_ns,
                      struct reel_error *err) {
    struct mcap_run *run = w->run;
    int64_t time = reel_write_time(w, m);
    if (time < 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "channel %s: a message at %lld ns: MCAP holds no times before 0",
                         w->stream->channels[m->channel]->name, (long long)time);
    }
    *time_ns = (uint64_t)time;
    mcap_positions_add(&run->positions, m->channel, *time_ns, chunk->records);
    return true;
}

/* Makes room for the chunk's records before compression: a full chunk, or one message of `size` bytes. */
static bool mcap_gather(struct mcap_run *run, struct chunk *chunk, uint64_t size, struct reel_error *err) {
    size_t needed = size > MCAP_CHUNK_BYTES ? (size_t)size : MCAP_CHUNK_BYTES;
    if (needed > run->raw_capacity) {
        free(TAKE(run->raw));
        run->raw_capacity = 0;
        if (!(run->raw = malloc(needed))) {
            return reel_fail_memory(err);
        }
        run->raw_capacity = needed;
    }
    chunk->gathered = true;
    chunk->raw = (struct reel_sink){.hi = run->raw_capacity, .buffer = run->raw};
    return true;
}

/* While planning, bytes are needed only where they are hashed; those of a chunk are gathered then, for its CRC. A
 * message that is too large for that is alone in its chunk. */
static bool mcap_emit_message(struct reel_write *w, struct chunk *chunk, const struct reel_message *m, uint64_t time_ns,
                              struct reel_sink *out, struct reel_error *err) {
    uint64_t size = MCAP_MESSAGE_HEAD + (uint64_t)m->size;
    if (w->planning && !out->hashing) {
        return true;
    }
    if (w->planning && chunk->records == 0) {
        if (MCAP_CHUNK_HEAD + size + MCAP_MESSAGE_INDEX_HEAD + MCAP_MESSAGE_INDEX_ENTRY > REEL_GROUP_WHOLE_MAX) {
            put_chunk_head(w, out,
                           &(struct mcap_note){.start_ns = time_ns, .end_ns = time_ns, .records = size, .stored = size},
                           0);
        } else if (!mcap_gather(w->run, chunk, size, err)) {
            return false;
        }
    }
    return mcap_put_message(w, m, time_ns, chunk->gathered ? &chunk->raw : out, err);
}

static bool mcap_write_take_messages(struct reel_write *w, struct chunk *chunk, struct reel_sink *out,
                                     struct reel_error *err) {
    const struct mcap_run *run = w->run;
    while (run->positions.count < MCAP_CHUNK_MESSAGES) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        uint64_t size = MCAP_MESSAGE_HEAD + (uint64_t)m.size;
        uint32_t class = run->classes[m.channel];
        bool other = run->positions.count > 0 && class != chunk->class;
        chunk->class = class;
        if (other || (run->positions.count > 0 && chunk->records + size > MCAP_CHUNK_BYTES)) {
            reel_write_unget(w, &m);
            return true;
        }
        uint64_t time_ns = 0;
        if (!mcap_book(w, chunk, &m, &time_ns, err) || !mcap_emit_message(w, chunk, &m, time_ns, out, err)) {
            return false;
        }
        chunk->records += size;
    }
    return true;
}

static bool compress(struct mcap_run *run, const struct chunk *chunk, struct reel_error *err) {
    run->packed.size = 0;
    return codec_encode(run->codec, run->raw, (size_t)chunk->records, &run->packed, err);
}

static void count_chunk(struct reel_write *w) {
    const struct mcap_positions *p = &((const struct mcap_run *)w->run)->positions;
    struct mcap_totals *totals = w->totals;
    for (uint32_t i = 0; i < p->n_touched; i++) {
        totals->counts[p->touched[i]] += p->counts[p->touched[i]];
    }
    totals->start_ns = totals->messages == 0 || p->start_ns < totals->start_ns ? p->start_ns : totals->start_ns;
    totals->end_ns = p->end_ns > totals->end_ns ? p->end_ns : totals->end_ns;
    totals->messages += p->count;
}

static bool put_note(struct reel_write *w, const struct mcap_note *is, struct reel_error *err) {
    struct mcap_run *run = w->run;
    const struct mcap_positions *p = &run->positions;
    uint8_t *note = p->index; /* large enough: a row is smaller than an index entry, and the head than three entries */
    _Static_assert(MCAP_NOTE_HEAD + MCAP_CHUNK_MESSAGES * MCAP_NOTE_ROW <=
                       MCAP_CHUNK_MESSAGES * MCAP_MESSAGE_INDEX_ENTRY,
                   "a note fits");
    store_u64le(note, is->start_ns);
    store_u64le(note + 8, is->end_ns);
    store_u64le(note + 16, is->records);
    store_u64le(note + 24, is->stored);
    uint8_t *row = note + MCAP_NOTE_HEAD;
    for (uint32_t i = 0; i < p->n_touched; i++, row += MCAP_NOTE_ROW) {
        uint32_t channel = p->touched[i];
        store_u16le(row, (uint16_t)channel);
        store_u32le(row + 2, p->counts[channel]);
    }
    return reel_write_note(w, note, (size_t)(row - note), err);
}

/* The whole of a chunk whose records have been gathered. */
static void put_gathered(struct reel_write *w, const struct mcap_note *note, struct reel_sink *out) {
    struct mcap_run *run = w->run;
    put_chunk_head(w, out, note, libdeflate_crc32(0, run->raw, (size_t)note->records));
    if (note->stored < note->records) {
        reel_sink_put(out, run->packed.data, run->packed.size);
    } else {
        reel_sink_put(out, run->raw, (size_t)note->records);
    }
}

/* Emits the chunk as rendering will, and leaves its note. One that is not gathered stands in the output already. */
static bool put_planned(struct reel_write *w, const struct chunk *chunk, bool packs, struct reel_sink *out,
                        struct reel_error *err) {
    struct mcap_run *run = w->run;
    const struct mcap_positions *p = &run->positions;
    struct mcap_note is = {
        .start_ns = p->start_ns, .end_ns = p->end_ns, .records = chunk->records, .stored = chunk->records};
    if (packs) {
        if (!compress(run, chunk, err)) {
            return false;
        }
        is.stored = run->packed.size < chunk->records ? run->packed.size : chunk->records;
    }
    if (chunk->gathered) {
        put_gathered(w, &is, out);
    }
    bool good = put_note(w, &is, err); /* before the positions are put, which uses the same memory */
    mcap_positions_put(&run->positions, out);
    return good;
}

/* Counts the chunk and stores its note in the plan, unless it is to be compressed. */
static bool mcap_plan_chunk(struct reel_write *w, const struct chunk *chunk, struct reel_sink *out,
                            struct reel_error *err) {
    const struct mcap_run *run = w->run;
    const struct mcap_positions *p = &run->positions;
    const struct mcap_note is = {
        .start_ns = p->start_ns, .end_ns = p->end_ns, .records = chunk->records, .stored = chunk->records};
    bool compresses = run->codec != REEL_CODEC_NONE,
         packs = (compresses || w->packs_plain) && chunk->records <= MCAP_PACKED_MAX;
    count_chunk(w);
    if (out->hashing) {
        return put_planned(w, chunk, packs, out, err);
    }
    reel_sink_fill(out, 0,
                   MCAP_CHUNK_HEAD + (packs && compresses ? strlen(w->options->compression) : 0) + is.stored +
                       mcap_positions_size(p));
    if (packs) {
        reel_write_pack(w);
        return true;
    }
    return put_note(w, &is, err);
}

/* A chunk that is not compressed, straight into the output. */
static bool pack_plain(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct mcap_run *run = w->run;
    const struct mcap_positions *p = &run->positions;
    struct chunk chunk = {.records = 0};
    uint64_t at = out->pos;
    reel_sink_fill(out, 0, MCAP_CHUNK_HEAD);
    if (!mcap_write_take_messages(w, &chunk, out, err)) {
        return false;
    }
    const struct mcap_note note = {
        .start_ns = p->start_ns, .end_ns = p->end_ns, .records = chunk.records, .stored = chunk.records};
    uint8_t *whole = reel_sink_at(out, at, MCAP_CHUNK_HEAD + chunk.records);
    if (whole) { /* else it is packed again, with more room */
        struct reel_sink head = {.hi = MCAP_CHUNK_HEAD, .buffer = whole};
        put_chunk_head(w, &head, &note, libdeflate_crc32(0, whole + MCAP_CHUNK_HEAD, (size_t)chunk.records));
    }
    bool good = put_note(w, &note, err); /* before the positions are put, which uses the same memory */
    mcap_positions_put(&run->positions, out);
    return good;
}

static bool pack_chunk(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct chunk chunk = {.records = 0};
    return ((const struct mcap_run *)w->run)->codec == REEL_CODEC_NONE
               ? pack_plain(w, out, err)
               : mcap_gather(w->run, &chunk, MCAP_PACKED_MAX, err) && mcap_write_take_messages(w, &chunk, out, err) &&
                     put_planned(w, &chunk, true, out, err);
}

/* A chunk with one huge message is rendered in pieces and has CRC 0, "not computed"; the plan decides which chunks
 * those are. */
static void patch_crc(const struct reel_group *group, uint64_t chunk_at, uint64_t records, struct reel_sink *out) {
    if (group->size > REEL_GROUP_WHOLE_MAX || !reel_sink_shows(out, chunk_at + MCAP_CHUNK_CRC_AT, sizeof(uint32_t))) {
        return;
    }
    uint8_t *chunk = reel_sink_at(out, chunk_at, MCAP_CHUNK_HEAD + records);
    out->lacking = !chunk;
    if (chunk) {
        store_u32le(chunk + MCAP_CHUNK_CRC_AT, libdeflate_crc32(0, chunk + MCAP_CHUNK_HEAD, records));
    }
}

static bool as_planned(const struct reel_write *w, const char *what, uint64_t is, uint64_t planned,
                       struct reel_error *err) {
    return is == planned ||
           reel_fail(err, REEL_CHANGED, "chunk %llu: %llu %s where %llu were planned", (unsigned long long)w->group,
                     (unsigned long long)is, what, (unsigned long long)planned);
}

/* Here the chunk's messages are rendered first: its CRC and compressed bytes depend on them. */
static bool render_packed(struct reel_write *w, struct chunk *chunk, const struct mcap_note *note,
                          struct reel_sink *out, struct reel_error *err) {
    struct mcap_run *run = w->run;
    if (!mcap_gather(run, chunk, note->records, err) || !mcap_write_take_messages(w, chunk, out, err) ||
        !as_planned(w, "bytes of messages", chunk->records, note->records, err) || !compress(run, chunk, err) ||
        !as_planned(w, "compressed bytes", run->packed.size, note->stored, err)) {
        return false;
    }
    put_gathered(w, note, out);
    return true;
}

static bool render_plain(struct reel_write *w, struct chunk *chunk, const struct mcap_note *note, struct reel_sink *out,
                         struct reel_error *err) {
    uint64_t chunk_at = out->pos;
    put_chunk_head(w, out, note, 0);
    if (!mcap_write_take_messages(w, chunk, out, err) ||
        !as_planned(w, "bytes of messages", chunk->records, note->records, err)) {
        return false;
    }
    patch_crc(reel_write_group(w, w->group), chunk_at, chunk->records, out);
    return true;
}

static bool mcap_render_chunk(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct mcap_run *run = w->run;
    struct mcap_note note = mcap_note_of(reel_write_group(w, w->group));
    struct chunk chunk = {0};
    bool packed = note.stored < note.records;
    if (!(packed ? render_packed(w, &chunk, &note, out, err) : render_plain(w, &chunk, &note, out, err)) ||
        !as_planned(w, "channels", run->positions.n_touched, note.n_rows, err)) {
        return false;
    }
    mcap_positions_put(&run->positions, out);
    return true;
}

static bool mcap_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct mcap_run *run = w->run;
    struct chunk chunk = {0};
    mcap_positions_forget(&run->positions); /* left over from a chunk that failed */
    bool good = w->planning  ? mcap_write_take_messages(w, &chunk, out, err) && mcap_plan_chunk(w, &chunk, out, err)
                : w->packing ? pack_chunk(w, out, err)
                             : mcap_render_chunk(w, out, err);
    mcap_positions_forget(&run->positions);
    return good;
}

const struct reel_writer reel_writer_mcap = {
    .name = "mcap",
    .extension = ".mcap",
    .media_type = "application/vnd.mcap",
    .compressions = "zstd lz4",
    .needs = REEL_COMPRESSES | REEL_HEAD_FIRST | REEL_PACKS_PLAIN,
    .version = 4,
    .view = mcap_grouped,
    .totals_size = sizeof(struct mcap_totals),
    .run_size = sizeof(struct mcap_run),
    .accepts = mcap_accepts,
    .accepts_all = mcap_accepts_all,
    .open = mcap_open,
    .close = mcap_close,
    .head = mcap_head,
    .messages = mcap_messages,
    .tail_parts = mcap_tail_parts,
    .tail = mcap_tail,
    .recorder = &mcap_recorder,
};
