/* Writes TIDE logs: 0.0, which RSBag reads, and 2.0 of the later specification; only 2.0 can be compressed. A group of
 * messages is one CHNK block and the INDX blocks of its channels. Values that precede the entries (count, times, sizes)
 * come from the group's note, which planning or packing writes. A chunk is compressed twice, while planning and when
 * rendered; only its size is kept in between. */
#include "formats/tide/write.h"

#include "base/bytes.h"
#include "base/cleanup.h"

#include <stdlib.h>

/* The chunk being emitted. */
struct chunk {
    struct tide_chunk_note note;
    uint64_t last_ns;
    uint32_t count;
    bool disordered;
    bool gather; /* collect its entries in run->raw */
};

/* ---- a run ---- */

bool tide_codec_named(const char *name, enum reel_codec *codec, bool is_new, struct reel_error *err) {
    static const struct {
        const char *name;
        enum reel_codec codec;
    } known[] = {
        {"", REEL_CODEC_NONE}, {"none", REEL_CODEC_NONE}, {"gzip", REEL_CODEC_GZIP}, {"bz2", REEL_CODEC_BZIP2}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name ? name : "", known[i].name) == 0) {
            *codec = known[i].codec;
            return *codec == REEL_CODEC_NONE || is_new ||
                   reel_fail(err, REEL_UNSUPPORTED,
                             "TIDE 0.0 is always written uncompressed, because RSBag cannot read compressed logs; "
                             "version 2.0 supports %s",
                             name);
        }
    }
    return reel_fail(err, REEL_UNSUPPORTED, "TIDE logs are compressed with gzip or bz2, not \"%s\"", name);
}

static bool tide_open(struct reel_write *w, struct reel_error *err) {
    struct tide_run *run = w->run;
    size_t n = (size_t)w->stream->n_channels + 1;
    run->is_new = w->writer->variant && strcmp(w->writer->variant, "2.0") == 0;
    run->packed_group = UINT64_MAX;
    if (!tide_codec_named(w->options->compression, &run->codec, run->is_new, err) ||
        !(run->ids = tide_ids_new(w->stream, err))) {
        return false;
    }
    run->counts = calloc(n, sizeof *run->counts);
    run->touched = calloc(n, sizeof *run->touched);
    run->positions = malloc(TIDE_CHUNK_MESSAGES * sizeof *run->positions);
    run->rows = malloc((size_t)TIDE_CHUNK_MESSAGES * TIDE_INDEX_ROW);
    return (run->counts && run->touched && run->positions && run->rows) || reel_fail_memory(err);
}

static void tide_close(struct reel_write *w) {
    struct tide_run *run = w->run;
    free(run->ids);
    free(run->counts);
    free(run->touched);
    free(run->positions);
    free(run->rows);
    free(run->raw);
    free(run->packed.data);
}

static bool tide_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    const struct tide_run *run = w->run;
    AUTO(tide_book_free) struct tide_book *book = tide_book_new(w->stream, run->ids, run->is_new, err);
    if (!book) {
        return false;
    }
    tide_put_head(out, "TIDE", run->is_new ? TIDE_BODY_NEW : TIDE_BODY_OLD);
    reel_sink_u8(out, run->is_new ? 2 : 0);
    reel_sink_u8(out, 0);
    if (run->is_new) {
        if (!tide_put_metadata(w->stream, out, err)) {
            return false;
        }
        tide_put_types(book, out);
        if (!tide_put_kept_types(w->stream, out, err)) { /* last: of types with equal hashes the first one is used */
            return false;
        }
    } else {
        reel_sink_u32le(out, w->stream->n_channels);
        reel_sink_u32le(out, (uint32_t)reel_write_groups(w)); /* unknown while planning; the size is the same with any
                                                                 number */
    }
    tide_put_channels(book, out);
    return true;
}

/* ---- entries ---- */

static bool raw_room(struct tide_run *run, uint64_t size, struct reel_error *err) {
    if (size > run->raw_room) {
        size_t room = size < TIDE_CHUNK_BYTES ? TIDE_CHUNK_BYTES : (size_t)size;
        uint8_t *raw = realloc(run->raw, room);
        if (!raw) {
            return reel_fail_memory(err);
        }
        run->raw = raw;
        run->raw_room = room;
    }
    return true;
}

static bool put_entry(struct reel_write *w, const struct reel_message *m, uint64_t time_ns, struct reel_sink *out,
                      struct reel_error *err) {
    const struct tide_run *run = w->run;
    uint8_t head[TIDE_ENTRY_HEAD];
    store_u32le(head, run->ids[m->channel]);
    store_u64le(head + TIDE_ENTRY_TIME_AT, time_ns);
    store_u32le(head + TIDE_ENTRY_SIZE_AT, m->size);
    reel_sink_put(out, head, sizeof head);
    return reel_write_payload(w, m, out, err);
}

static void tide_write_book(struct tide_run *run, struct chunk *chunk, const struct reel_message *m, uint64_t time_ns) {
    if (run->counts[m->channel]++ == 0) {
        run->touched[run->n_touched++] = m->channel;
    }
    chunk->note.start_ns = chunk->count == 0 || time_ns < chunk->note.start_ns ? time_ns : chunk->note.start_ns;
    chunk->note.end_ns = chunk->count == 0 || time_ns > chunk->note.end_ns ? time_ns : chunk->note.end_ns;
    chunk->disordered |= time_ns < chunk->last_ns;
    chunk->last_ns = time_ns;
    run->positions[chunk->count++] =
        (struct tide_position){.time_ns = time_ns, .offset = chunk->note.raw, .channel = m->channel};
    chunk->note.raw += TIDE_ENTRY_HEAD + (uint64_t)m->size;
}

/* Adds one message to the chunk: to run->raw, to `out`, or only counted. */
static bool tide_write_add(struct reel_write *w, struct chunk *chunk, const struct reel_message *m,
                           struct reel_sink *out, struct reel_error *err) {
    struct tide_run *run = w->run;
    int64_t time = reel_write_time(w, m);
    uint64_t size = TIDE_ENTRY_HEAD + (uint64_t)m->size;
    if (time < 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "channel %s: a message at %lld ns: TIDE cannot store times before 0",
                         w->stream->channels[m->channel]->name, (long long)time);
    }
    if (chunk->count == 0 && size > REEL_CHUNK_MEMORY_MAX) { /* one huge message is stored uncompressed */
        chunk->note.codec = REEL_CODEC_NONE;
        chunk->gather = false;
    }
    struct reel_sink gathered = {0};
    if (chunk->gather) {
        if (!raw_room(run, chunk->note.raw + size, err)) {
            return false;
        }
        gathered = (struct reel_sink){.pos = chunk->note.raw, .hi = run->raw_room, .buffer = run->raw};
        out = &gathered;
    }
    bool unseen = !chunk->gather && (w->planning || chunk->note.codec != REEL_CODEC_NONE);
    if (!unseen && !put_entry(w, m, (uint64_t)time, out, err)) {
        return false;
    }
    tide_write_book(run, chunk, m, (uint64_t)time);
    return true;
}

static bool tide_take_messages(struct reel_write *w, struct chunk *chunk, struct reel_sink *out,
                               struct reel_error *err) {
    while (chunk->count < TIDE_CHUNK_MESSAGES) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        if (chunk->count > 0 && chunk->note.raw + TIDE_ENTRY_HEAD + m.size > TIDE_CHUNK_BYTES) {
            reel_write_unget(w, &m);
            return true;
        }
        if (!tide_write_add(w, chunk, &m, out, err)) {
            return false;
        }
    }
    return true;
}

/* ---- chunks ---- */

void tide_put_chunk_head(struct reel_sink *out, uint64_t number, uint32_t count, const struct tide_chunk_note *note) {
    uint8_t head[TIDE_CHUNK_HEAD];
    store_u32le(head, (uint32_t)number);
    store_u32le(head + TIDE_CHUNK_COUNT_AT, count);
    store_u64le(head + TIDE_CHUNK_START_AT, note->start_ns);
    store_u64le(head + TIDE_CHUNK_END_AT, note->end_ns);
    head[TIDE_CHUNK_COMPRESSION_AT] = note->codec == REEL_CODEC_NONE   ? TIDE_PLAIN
                                      : note->codec == REEL_CODEC_GZIP ? TIDE_GZIP
                                                                       : TIDE_BZIP2;
    tide_put_head(out, "CHNK", TIDE_CHUNK_HEAD + note->stored);
    reel_sink_put(out, head, sizeof head);
}

static int tide_compare_positions(const void *a, const void *b) {
    const struct tide_position *x = a, *y = b;
    int order = (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
    return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

uint64_t tide_indexes_size(const struct tide_run *run, uint32_t count) {
    return (uint64_t)run->n_touched * (TIDE_BLOCK_HEAD + TIDE_INDEX_HEAD) + (uint64_t)count * TIDE_INDEX_ROW;
}

/* Sorts the entries into the rows of their channels, in order of time, in one pass. */
void tide_put_indexes(struct tide_run *run, const struct tide_indexed *chunk, struct reel_sink *out) {
    if (chunk->disordered) { /* as messages placed before a selection, and those of a view, may be */
        qsort(run->positions, chunk->count, sizeof *run->positions, tide_compare_positions);
    }
    uint32_t begin = 0;
    for (uint32_t i = 0; i < run->n_touched; i++) { /* turns the count into the index of the channel's first row; it
                                                       then advances to its end */
        uint32_t *count = &run->counts[run->touched[i]], rows = *count;
        *count = begin;
        begin += rows;
    }
    for (uint32_t i = 0; i < chunk->count; i++) {
        const struct tide_position *p = &run->positions[i];
        uint8_t *row = run->rows + (size_t)run->counts[p->channel]++ * TIDE_INDEX_ROW;
        if (run->is_new) {
            store_u64le(row, chunk->at);
            store_u64le(row + 8, p->time_ns);
            store_u32le(row + 16, (uint32_t)p->offset);
        } else {
            store_u32le(row, (uint32_t)chunk->number);
            store_u64le(row + 4, p->time_ns);
            store_u64le(row + 12, p->offset);
        }
    }
    begin = 0;
    for (uint32_t i = 0; i < run->n_touched; i++) {
        uint32_t end = run->counts[run->touched[i]], rows = end - begin;
        tide_put_head(out, "INDX", TIDE_INDEX_HEAD + (uint64_t)rows * TIDE_INDEX_ROW);
        reel_sink_u32le(out, run->ids[run->touched[i]]);
        reel_sink_u32le(out, rows);
        reel_sink_put(out, run->rows + (size_t)begin * TIDE_INDEX_ROW, (size_t)rows * TIDE_INDEX_ROW);
        begin = end;
    }
}

static bool tide_write_pack(struct reel_write *w, const struct chunk *chunk, struct reel_error *err) {
    struct tide_run *run = w->run;
    run->packed.size = 0;
    run->packed_group = UINT64_MAX;
    if (!codec_encode(chunk->note.codec, run->raw, (size_t)chunk->note.raw, &run->packed, err)) {
        return false;
    }
    run->packed_group = w->group;
    return true;
}

static bool leave_note(struct reel_write *w, const struct tide_chunk_note *is, struct reel_error *err) {
    uint8_t note[TIDE_NOTE];
    store_u64le(note, is->start_ns);
    store_u64le(note + 8, is->end_ns);
    store_u64le(note + 16, is->raw);
    store_u64le(note + 24, is->stored);
    note[32] = (uint8_t)is->codec;
    return reel_write_note(w, note, sizeof note, err);
}

/* Counts the chunk and writes its note, unless it is packed. */
static bool tide_plan_chunk(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct tide_run *run = w->run;
    struct chunk chunk = {.note.codec = run->codec, .gather = run->codec != REEL_CODEC_NONE};
    if (!tide_take_messages(w, &chunk, out, err) || (chunk.gather && !tide_write_pack(w, &chunk, err))) {
        return false;
    }
    if (w->group > UINT32_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED, "more than %u chunks", UINT32_MAX);
    }
    chunk.note.stored = chunk.gather ? run->packed.size : chunk.note.raw;
    reel_sink_fill(out, 0, TIDE_BLOCK_HEAD + TIDE_CHUNK_HEAD + chunk.note.stored + tide_indexes_size(run, chunk.count));
    if (w->packs_plain && chunk.note.raw <= TIDE_PACKED_MAX) {
        reel_write_pack(w);
        return true;
    }
    return leave_note(w, &chunk.note, err);
}

/* A chunk of a log of version 0.0, whose index does not depend on where it is. */
static bool pack_chunk(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    enum { HEADS = TIDE_BLOCK_HEAD + TIDE_CHUNK_HEAD };
    struct chunk chunk = {.note.codec = REEL_CODEC_NONE};
    uint64_t at = out->pos;
    reel_sink_fill(out, 0, HEADS);
    if (!tide_take_messages(w, &chunk, out, err)) {
        return false;
    }
    chunk.note.stored = chunk.note.raw;
    struct reel_sink heads = {.hi = HEADS, .buffer = reel_sink_at(out, at, HEADS)};
    if (heads.buffer) { /* else it is packed again, with more room */
        tide_put_chunk_head(&heads, w->group, chunk.count, &chunk.note);
    }
    const struct tide_indexed indexed = {.number = w->group, .count = chunk.count, .disordered = chunk.disordered};
    tide_put_indexes(w->run, &indexed, out);
    return leave_note(w, &chunk.note, err);
}

static bool tide_render_chunk(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct tide_run *run = w->run;
    const struct reel_group *group = reel_write_group(w, w->group);
    const struct tide_chunk_note note = {.start_ns = load_u64le(group->note),
                                         .end_ns = load_u64le(group->note + 8),
                                         .raw = load_u64le(group->note + 16),
                                         .stored = load_u64le(group->note + 24),
                                         .codec = (enum reel_codec)group->note[32]};
    bool packed = note.codec != REEL_CODEC_NONE, held = packed && run->packed_group == w->group;
    struct chunk chunk = {.note.codec = note.codec, .gather = packed && !held};
    tide_put_chunk_head(out, w->group, group->count, &note);
    if (!tide_take_messages(w, &chunk, out, err) || (chunk.gather && !tide_write_pack(w, &chunk, err))) {
        return false;
    }
    if (chunk.note.raw != note.raw || chunk.note.start_ns != note.start_ns || chunk.note.end_ns != note.end_ns ||
        (packed && run->packed.size != note.stored)) {
        return reel_fail(err, REEL_CHANGED, "chunk %llu: %llu bytes of entries where %llu were planned",
                         (unsigned long long)w->group, (unsigned long long)chunk.note.raw,
                         (unsigned long long)note.raw);
    }
    if (packed) {
        reel_sink_put(out, run->packed.data, run->packed.size);
    }
    const struct tide_indexed indexed = {
        .number = w->group, .at = group->offset, .count = chunk.count, .disordered = chunk.disordered};
    tide_put_indexes(run, &indexed, out);
    return true;
}

static void tide_forget_chunk(struct tide_run *run) {
    for (uint32_t i = 0; i < run->n_touched; i++) {
        run->counts[run->touched[i]] = 0;
    }
    run->n_touched = 0;
}

static bool tide_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    tide_forget_chunk(w->run); /* of a chunk that failed */
    bool good = w->planning  ? tide_plan_chunk(w, out, err)
                : w->packing ? pack_chunk(w, out, err)
                             : tide_render_chunk(w, out, err);
    tide_forget_chunk(w->run);
    return good;
}

#define TIDE_NEEDS_old (REEL_COMPRESSES | REEL_HEAD_LAST | REEL_PACKS_PLAIN)
#define TIDE_NEEDS_new REEL_COMPRESSES
#define TIDE_COMPRESSIONS_old NULL
#define TIDE_COMPRESSIONS_new "gzip bz2"
#define TIDE_WRITER(variant_text, layout)                                                                              \
    {                                                                                                                  \
        .name = "tide", .extension = ".tide", .variant = variant_text, .media_type = "application/x-tide",             \
        .version = 3, .needs = TIDE_NEEDS_##layout, .run_size = sizeof(struct tide_run),                               \
        .accepts = tide_accepts_##layout, .accepts_all = tide_accepts_all_##layout,                                    \
        .compressions = TIDE_COMPRESSIONS_##layout, .open = tide_open, .close = tide_close, .head = tide_head,         \
        .messages = tide_messages, .recorder = &tide_recorder                                                          \
    }
const struct reel_writer reel_writer_tide = TIDE_WRITER(NULL, old);
const struct reel_writer reel_writer_tide0 = TIDE_WRITER("0.0", old); /* the same, selected by its version */
const struct reel_writer reel_writer_tide2 = TIDE_WRITER("2.0", new);
