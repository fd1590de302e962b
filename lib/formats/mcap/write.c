/* The MCAP writer: head and chunks. A group of messages becomes one chunk and its message indexes. Without compression, planning reads no
 * message; with compression, planning compresses each chunk and keeps its size, and rendering compresses it again. The plan's note of a
 * chunk holds the values of the fields before its messages. */
#include "formats/mcap/write.h"
#include "core/codec.h"
#include "wire/bytes.h"
#include "wire/cleanup.h"

#include <libdeflate.h>

struct entry_position { /* index entry of one message of the chunk being rendered */
    uint64_t time_ns, offset;
    uint32_t channel;
};

struct mcap_run {
    struct mcap_model *model; /* built when head or tail needs it */
    bool *described;          /* by source: its format has publish times or sequence numbers */
    uint32_t *counts;         /* by channel: messages in the chunk; all 0 between chunks */
    uint32_t *touched;        /* the channels of the chunk, in order of their first message */
    uint32_t n_touched;
    uint32_t *classes; /* by channel: messages of one class may share a chunk */
    struct entry_position *positions;
    uint8_t *index; /* MessageIndex entries of the chunk */
    enum reel_codec codec;
    uint8_t *raw; /* records of a chunk to be compressed */
    size_t raw_capacity;
    struct grow packed;
};

/* The chunk being emitted. */
struct chunk {
    uint64_t records; /* size of the records in bytes */
    uint64_t start_ns, end_ns, last_ns;
    uint32_t count, class;
    bool disordered;
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
        run->model = mcap_model_new(w->stream, err);
    }
    return run->model;
}

static bool choose_codec(const struct reel_write *w, enum reel_codec *codec, struct reel_error *err) {
    const char *name = w->options->compression ? w->options->compression : "";
    *codec = strcmp(name, "zstd") == 0 ? REEL_CODEC_ZSTD : strcmp(name, "lz4") == 0 ? REEL_CODEC_LZ4 : REEL_CODEC_NONE;
    return *codec != REEL_CODEC_NONE || name[0] == '\0' || strcmp(name, "none") == 0 ||
           reel_fail(err, REEL_UNSUPPORTED, "MCAP knows no compression \"%.32s\": zstd, lz4, or none is written", name);
}

static bool mcap_open(struct reel_write *w, struct reel_error *err) {
    struct mcap_run *run = w->run;
    const struct reel_stream *stream = w->stream;
    size_t channels = (size_t)stream->n_channels + 1;
    if (!choose_codec(w, &run->codec, err)) {
        return false;
    }
    if (stream->n_channels > MCAP_CHANNELS_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED, "%u channels: MCAP numbers at most %d", stream->n_channels, MCAP_CHANNELS_MAX);
    }
    run->described = calloc((size_t)stream->n_sources + 1, sizeof *run->described);
    run->counts = calloc(channels, sizeof *run->counts);
    run->touched = calloc(channels, sizeof *run->touched);
    run->classes = calloc(channels, sizeof *run->classes);
    run->positions = malloc(MCAP_CHUNK_MESSAGES * sizeof *run->positions);
    run->index = malloc((size_t)MCAP_CHUNK_MESSAGES * MCAP_MESSAGE_INDEX_ENTRY);
    if (!run->described || !run->counts || !run->touched || !run->positions || !run->index || !run->classes) {
        return reel_fail_memory(err);
    }
    mcap_classes(stream, run->classes);
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        run->described[i] = reel_index_info(reel_recording_index(reel_reader_recording(stream->readers[i])))->format->describe != NULL;
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
    free(run->counts);
    free(run->classes);
    free(run->touched);
    free(run->positions);
    free(run->index);
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

static void put_chunk_head(const struct reel_write *w, struct reel_sink *out, const struct mcap_note *note, uint32_t crc) {
    struct reel_bytes compression = bytes_text(mcap_compression(w, note));
    mcap_put_record(out, MCAP_CHUNK, MCAP_CHUNK_HEAD - MCAP_RECORD_HEAD + compression.size + note->stored);
    reel_sink_u64le(out, note->start_ns);
    reel_sink_u64le(out, note->end_ns);
    reel_sink_u64le(out, note->records);
    reel_sink_u32le(out, crc);
    reel_sink_string32(out, compression);
    reel_sink_u64le(out, note->stored);
}

static bool put_message(struct reel_write *w, const struct reel_message *m, uint64_t time_ns, struct reel_sink *out,
                        struct reel_error *err) {
    const struct mcap_run *run = w->run;
    struct reel_description d = {.publish_ns = (int64_t)time_ns};
    if (!m->owned && run->described[m->source]) {
        if (!reel_stream_describe(w->stream, m, &d, err)) {
            return false;
        }
        d.publish_ns = d.publish_ns < 0 ? (int64_t)time_ns : d.publish_ns;
    }
    /* Writes the head in direct when the window has room for it: copying bytes just stored in small pieces stalls the CPU, and there are
     * millions of messages. */
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
static bool book(struct reel_write *w, struct chunk *chunk, const struct reel_message *m, uint64_t *time_ns, struct reel_error *err) {
    struct mcap_run *run = w->run;
    int64_t time = reel_write_time(w, m);
    if (time < 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "channel %s: a message at %lld ns: MCAP holds no times before 0",
                         w->stream->channels[m->channel]->name, (long long)time);
    }
    *time_ns = (uint64_t)time;
    if (run->counts[m->channel]++ == 0) {
        run->touched[run->n_touched++] = m->channel;
    }
    chunk->start_ns = chunk->count == 0 || *time_ns < chunk->start_ns ? *time_ns : chunk->start_ns;
    chunk->end_ns = *time_ns > chunk->end_ns ? *time_ns : chunk->end_ns;
    chunk->disordered |= *time_ns < chunk->last_ns;
    chunk->last_ns = *time_ns;
    run->positions[chunk->count++] = (struct entry_position){.time_ns = *time_ns, .offset = chunk->records, .channel = m->channel};
    return true;
}

/* Makes room for the chunk's records before compression: a full chunk, or one message of `size` bytes. */
static bool gather(struct mcap_run *run, struct chunk *chunk, uint64_t size, struct reel_error *err) {
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

/* Planning emits only what is compressed, rendering emits everything. */
static bool emit_message(struct reel_write *w, struct chunk *chunk, const struct reel_message *m, uint64_t time_ns, struct reel_sink *out,
                         struct reel_error *err) {
    struct mcap_run *run = w->run;
    uint64_t size = MCAP_MESSAGE_HEAD + (uint64_t)m->size;
    if (w->planning && run->codec != REEL_CODEC_NONE && chunk->records == 0 && size <= MCAP_PACKED_MAX && !gather(run, chunk, size, err)) {
        return false;
    }
    return (w->planning && !chunk->gathered) || put_message(w, m, time_ns, chunk->gathered ? &chunk->raw : out, err);
}

static bool take_messages(struct reel_write *w, struct chunk *chunk, struct reel_sink *out, struct reel_error *err) {
    while (chunk->count < MCAP_CHUNK_MESSAGES) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        uint64_t size = MCAP_MESSAGE_HEAD + (uint64_t)m.size;
        uint32_t class = ((const struct mcap_run *)w->run)->classes[m.channel];
        bool other = chunk->count > 0 && class != chunk->class;
        chunk->class = class;
        if (other || (chunk->count > 0 && chunk->records + size > MCAP_CHUNK_BYTES)) {
            reel_write_unget(w, &m);
            return true;
        }
        uint64_t time_ns = 0;
        if (!book(w, chunk, &m, &time_ns, err) || !emit_message(w, chunk, &m, time_ns, out, err)) {
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

static void count_chunk(struct reel_write *w, const struct chunk *chunk) {
    const struct mcap_run *run = w->run;
    struct mcap_totals *totals = w->totals;
    for (uint32_t i = 0; i < run->n_touched; i++) {
        totals->counts[run->touched[i]] += run->counts[run->touched[i]];
    }
    totals->start_ns = totals->messages == 0 || chunk->start_ns < totals->start_ns ? chunk->start_ns : totals->start_ns;
    totals->end_ns = chunk->end_ns > totals->end_ns ? chunk->end_ns : totals->end_ns;
    totals->messages += chunk->count;
}

/* Counts the chunk and stores its note in the plan. */
static bool plan_chunk(struct reel_write *w, const struct chunk *chunk, struct reel_sink *out, struct reel_error *err) {
    struct mcap_run *run = w->run;
    uint8_t *note = run->index; /* large enough: a row is smaller than an index entry, and the head than three entries */
    _Static_assert(MCAP_NOTE_HEAD + MCAP_CHUNK_MESSAGES * MCAP_NOTE_ROW <= MCAP_CHUNK_MESSAGES * MCAP_MESSAGE_INDEX_ENTRY, "a note fits");
    if (chunk->gathered && !compress(run, chunk, err)) {
        return false;
    }
    struct mcap_note is = {.records = chunk->records, .stored = chunk->records};
    is.stored = chunk->gathered && run->packed.size < chunk->records ? run->packed.size : chunk->records;
    store_u64le(note, chunk->start_ns);
    store_u64le(note + 8, chunk->end_ns);
    store_u64le(note + 16, is.records);
    store_u64le(note + 24, is.stored);
    uint8_t *row = note + MCAP_NOTE_HEAD;
    for (uint32_t i = 0; i < run->n_touched; i++, row += MCAP_NOTE_ROW) {
        uint32_t channel = run->touched[i];
        store_u16le(row, (uint16_t)channel);
        store_u32le(row + 2, run->counts[channel]);
    }
    count_chunk(w, chunk);
    uint64_t indexes = (uint64_t)run->n_touched * MCAP_MESSAGE_INDEX_HEAD + (uint64_t)chunk->count * MCAP_MESSAGE_INDEX_ENTRY;
    reel_sink_zeros(out, 0, MCAP_CHUNK_HEAD + strlen(mcap_compression(w, &is)) + is.stored + indexes);
    return reel_write_note(w, note, (size_t)(row - note), err);
}

static int compare_index_entries(const void *a, const void *b) {
    const uint8_t *l = a, *r = b;
    uint64_t l_time = load_u64le(l), r_time = load_u64le(r), l_at = load_u64le(l + 8), r_at = load_u64le(r + 8);
    return l_time != r_time ? (l_time > r_time) - (l_time < r_time) : (l_at > r_at) - (l_at < r_at);
}

/* One pass sorts the messages by channel into runs; the runs are then written one after another. */
static void put_message_indexes(struct mcap_run *run, const struct chunk *chunk, struct reel_sink *out) {
    uint32_t begin = 0;
    for (uint32_t i = 0; i < run->n_touched; i++) { /* counts become the index of the channel's first entry, which then moves to its end */
        uint32_t *count = &run->counts[run->touched[i]], messages = *count;
        *count = begin;
        begin += messages;
    }
    for (uint32_t i = 0; i < chunk->count; i++) {
        const struct entry_position *p = &run->positions[i];
        uint8_t *entry = run->index + (size_t)run->counts[p->channel]++ * MCAP_MESSAGE_INDEX_ENTRY;
        store_u64le(entry, p->time_ns);
        store_u64le(entry + 8, p->offset);
    }
    begin = 0;
    for (uint32_t i = 0; i < run->n_touched; i++) {
        uint32_t end = run->counts[run->touched[i]], size = (end - begin) * MCAP_MESSAGE_INDEX_ENTRY;
        uint8_t *entries = run->index + (size_t)begin * MCAP_MESSAGE_INDEX_ENTRY;
        if (chunk->disordered) { /* messages inserted before the selection, or a view's */
            qsort(entries, end - begin, MCAP_MESSAGE_INDEX_ENTRY, compare_index_entries);
        }
        mcap_put_record(out, MCAP_MESSAGE_INDEX, MCAP_MESSAGE_INDEX_HEAD - MCAP_RECORD_HEAD + (uint64_t)size);
        reel_sink_u16le(out, mcap_id(run->touched[i]));
        reel_sink_u32le(out, size);
        reel_sink_put(out, entries, size);
        begin = end;
    }
}

/* A chunk with one huge message is rendered in pieces and has CRC 0, "not computed"; the plan decides which chunks those are. */
static bool patch_crc(const struct reel_group *group, uint64_t chunk_at, uint64_t records, struct reel_sink *out, struct reel_error *err) {
    if (group->size > REEL_GROUP_WHOLE_MAX) {
        return true;
    }
    uint8_t *chunk = reel_sink_at(out, chunk_at, MCAP_CHUNK_HEAD + records);
    if (!chunk) {
        return reel_fail(err, REEL_ARGUMENT, "a chunk of %llu bytes must be rendered whole", (unsigned long long)group->size);
    }
    store_u32le(chunk + MCAP_CHUNK_CRC_AT, libdeflate_crc32(0, chunk + MCAP_CHUNK_HEAD, records));
    return true;
}

static void forget_chunk(struct mcap_run *run) {
    for (uint32_t i = 0; i < run->n_touched; i++) {
        run->counts[run->touched[i]] = 0;
    }
    run->n_touched = 0;
}

static bool as_planned(const struct reel_write *w, const char *what, uint64_t is, uint64_t planned, struct reel_error *err) {
    return is == planned || reel_fail(err, REEL_CHANGED, "chunk %llu: %llu %s where %llu were planned", (unsigned long long)w->group,
                                      (unsigned long long)is, what, (unsigned long long)planned);
}

/* Here the chunk's messages are rendered first: its CRC and compressed bytes depend on them. */
static bool render_packed(struct reel_write *w, struct chunk *chunk, const struct mcap_note *note, struct reel_sink *out,
                          struct reel_error *err) {
    struct mcap_run *run = w->run;
    if (!gather(run, chunk, note->records, err) || !take_messages(w, chunk, out, err) ||
        !as_planned(w, "bytes of messages", chunk->records, note->records, err) || !compress(run, chunk, err) ||
        !as_planned(w, "compressed bytes", run->packed.size, note->stored, err)) {
        return false;
    }
    put_chunk_head(w, out, note, libdeflate_crc32(0, run->raw, (size_t)chunk->records));
    reel_sink_put(out, run->packed.data, run->packed.size);
    return true;
}

static bool render_plain(struct reel_write *w, struct chunk *chunk, const struct mcap_note *note, struct reel_sink *out,
                         struct reel_error *err) {
    uint64_t chunk_at = out->pos;
    put_chunk_head(w, out, note, 0);
    return take_messages(w, chunk, out, err) && as_planned(w, "bytes of messages", chunk->records, note->records, err) &&
           patch_crc(reel_write_group(w, w->group), chunk_at, chunk->records, out, err);
}

static bool render_chunk(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct mcap_run *run = w->run;
    struct mcap_note note = mcap_note_of(reel_write_group(w, w->group));
    struct chunk chunk = {0};
    bool packed = note.stored < note.records;
    if (!(packed ? render_packed(w, &chunk, &note, out, err) : render_plain(w, &chunk, &note, out, err)) ||
        !as_planned(w, "channels", run->n_touched, note.n_rows, err)) {
        return false;
    }
    put_message_indexes(run, &chunk, out);
    return true;
}

static bool mcap_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct chunk chunk = {0};
    forget_chunk(w->run); /* left over from a chunk that failed */
    bool good = w->planning ? take_messages(w, &chunk, out, err) && plan_chunk(w, &chunk, out, err) : render_chunk(w, out, err);
    forget_chunk(w->run);
    return good;
}

const struct reel_writer reel_writer_mcap = {
    .name = "mcap",
    .extension = ".mcap",
    .media_type = "application/vnd.mcap",
    .compressions = "zstd lz4",
    .needs = REEL_COMPRESSES,
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
};
