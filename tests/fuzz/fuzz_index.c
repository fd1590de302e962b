/* Fuzzes index packs. Input: a pack, whose checksums are made right, as those of a pack that another program wrote. It
 * is refused, or all in it can be read: segments, rows of chunks, and the messages of a recording. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "fuzz_memory_file.h"
#include "fuzz_scan.h"
#include "index/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARTS_BYTES_MAX = 1 << 16, PARTS_MAX = 8, ROWS_MAX = 1 << 14, MESSAGES_MAX = 256, PAYLOAD_MAX = 1 << 16 };

/* The end of the pack: the directory is all from its offset on. */
static void seal(uint8_t *pack, size_t size) {
    if (size < PACK_HEADER_BYTES + PACK_FOOTER_BYTES) {
        return;
    }
    uint8_t *footer = pack + size - PACK_FOOTER_BYTES;
    uint64_t room = size - PACK_FOOTER_BYTES, offset = load_u64le(footer) % (room + 1);
    memcpy(pack, PACK_MAGIC, 8);
    memset(pack + 8, 0, 8);
    store_u32le(pack + 8, PACK_VERSION);
    store_u64le(footer, offset);
    store_u64le(footer + 8, room - offset);
    store_u32le(footer + 16, pack_crc(pack + offset, room - offset));
    store_u32le(footer + 20, PACK_VERSION);
    memcpy(footer + 24, PACK_MAGIC, 8);
}

/* The checksums in the directory. */
static void seal_segments(struct reel_index *index, struct reel_bytes pack) {
    struct pack_model *m = &index->model;
    for (size_t i = 0; i < m->n_segments; i++) {
        struct pack_segment *s = &m->segments[i];
        if (s->offset <= pack.size && s->size <= pack.size - s->offset) {
            s->crc = pack_crc(pack.data + s->offset, s->size);
        }
    }
    for (size_t i = 0; i < m->n_chunk_segments; i++) {
        struct pack_chunk_segment *s = &m->chunk_segments[i];
        if (s->offset <= pack.size && s->size <= pack.size - s->offset) {
            s->crc = pack_crc(pack.data + s->offset, s->size);
        }
    }
}

static void read_segments(const struct reel_index *index) {
    for (size_t i = 0; i < index->model.n_segments; i++) {
        const struct pack_segment *s = &index->model.segments[i];
        struct reel_error err = {0};
        struct pack_cursor cursor;
        struct reel_entry entry;
        AUTO_MEM uint8_t *bytes = malloc(s->size > 0 ? s->size : 1);
        fuzz_expect(bytes, "memory", &err);
        if (index_read_segment(index, s, bytes, &err) &&
            pack_cursor_open(&cursor, bytes_of(bytes, s->size), s->count, s->channel)) {
            for (uint32_t n = 0; n < ROWS_MAX && pack_cursor_next(&cursor, &entry); n++) {
            }
        }
    }
}

static bool chunk_seen(void *context, const struct reel_chunk *chunk) {
    uint32_t *seen = context;
    (void)chunk;
    return ++*seen < ROWS_MAX;
}

/* Whatever the index says of them, the parts are zeros. */
static struct reel_recording *open_recording(struct reel_index *index) {
    static const uint8_t zeros[PARTS_BYTES_MAX];
    struct reel_source *parts[PARTS_MAX] = {NULL};
    struct reel_error err = {0};
    const uint32_t n = reel_index_info(index)->n_parts;
    bool fits = n <= PARTS_MAX;
    for (uint32_t i = 0; fits && i < n; i++) {
        fits = reel_index_part_size(index, i) <= PARTS_BYTES_MAX;
    }
    if (!fits) {
        reel_index_free(index);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        parts[i] = reel_source_from_memory(bytes_of(zeros, reel_index_part_size(index, i)), "zeros", &err);
        fuzz_expect(parts[i], "make a source", &err);
    }
    return reel_recording_from_index(index, parts, n, &(struct reel_recording_options){0}, &err);
}

static void read_messages(struct reel_recording *recording) {
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, &err);
    struct reel_message m;
    for (unsigned i = 0; stream && i < MESSAGES_MAX && stream_next(stream, &m, &err) == REEL_STEP_MESSAGE; i++) {
        struct reel_description description;
        struct reel_bytes payload;
        fuzz_expect(m.channel < stream->n_channels, "a message is of a channel", &err);
        if (m.size <= PAYLOAD_MAX) {
            bool read = reel_stream_payload(stream, &m, &payload, &err);
            fuzz_expect(!read || payload.size == m.size, "a payload of the size that the index says", &err);
        }
        stream_describe(stream, &m, &description, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reel_error err = {0};
    AUTO_MEM uint8_t *pack = malloc(size > 0 ? size : 1);
    fuzz_expect(pack, "memory", &err);
    memcpy(pack, data, size);
    seal(pack, size);
    struct reel_index *index = index_of_pack(fuzz_memory_file(bytes_of(pack, size)), NULL, &err);
    fuzz_expect((index != NULL) == (err.code == REEL_OK), "what is not opened says why", &err);
    if (!index) {
        return 0;
    }
    uint32_t rows = 0;
    seal_segments(index, bytes_of(pack, size));
    reel_index_verify(index, &err);
    err = (struct reel_error){0};
    fuzz_expect(index_check_foreign(index, &err) == (err.code == REEL_OK), "what is refused says why", &err);
    read_segments(index);
    reel_index_chunks(index, chunk_seen, &rows, &err);
    AUTO(reel_recording_free) struct reel_recording *recording = open_recording(index);
    if (recording) {
        read_messages(recording);
    }
    return 0;
}
