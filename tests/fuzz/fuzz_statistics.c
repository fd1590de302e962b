/* Fuzzes field statistics. Input: u32 size of the directory, the directory, then the bytes of sections; the file is
 * made of them, with checksums that hold. It is refused, or all in it can be read and asked. */
#include <zstd.h>

#include "base/cleanup.h"
#include "base/cursor.h"
#include "decode/encoding.h"
#include "fuzz_decode.h"
#include "fuzz_memory_file.h"
#include "values/statistics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 1 << 16, BLOCKS_MAX = 64, FIELDS_READ_MAX = 64 };

static size_t compress(uint8_t *to, size_t room, struct reel_bytes from) {
    static ZSTD_CCtx *context;
    context = context ? context : ZSTD_createCCtx();
    size_t n = ZSTD_compressCCtx(context, to, room, from.data, from.size, -5);
    fuzz_must(!ZSTD_isError(n), "it is compressed");
    return n;
}

/* Returns the size of the file. */
static size_t make_file(uint8_t *file, size_t room, struct reel_bytes directory) {
    size_t stored = compress(file + STATISTICS_HEADER, room - STATISTICS_HEADER, directory);
    memcpy(file, STATISTICS_MAGIC, 8);
    store_u32le(file + 8, STATISTICS_VERSION);
    store_u32le(file + 12, reel_encodings_version());
    store_u32le(file + 16, (uint32_t)stored);
    store_u32le(file + 20, (uint32_t)directory.size);
    store_u32le(file + 24, pack_crc(file + STATISTICS_HEADER, stored));
    store_u32le(file + 28, pack_crc(file, 28));
    return STATISTICS_HEADER + stored;
}

static void read_channel(struct reel_statistics *s, struct channel_statistics *c) {
    struct reel_error err = {0};
    static volatile double seen;
    if (!statistics_load(s, c, &err)) {
        fuzz_must(err.code != REEL_OK && err.text[0], "what is not read says why");
        return;
    }
    for (uint32_t i = 0; c->section && i < c->n_blocks && i < BLOCKS_MAX; i++) {
        seen = statistics_block(c, i).messages;
        for (uint32_t k = 0; k < c->n_fields && k < FIELDS_READ_MAX; k++) {
            seen = statistics_cell(c, k, i).min;
        }
    }
    (void)seen;
}

/* The file's sections are what the input has behind the directory: each channel that it is enough for gets as much. */
static void read_sections(struct reel_statistics *s, int fd, uint64_t at, struct reel_bytes rest) {
    for (uint32_t i = 0; i < s->n_channels; i++) {
        struct channel_statistics *c = &s->channels[i];
        uint8_t packed[2 * ROOM];
        if (c->raw > 0 && c->raw <= rest.size) {
            size_t n = compress(packed, sizeof packed, bytes_of(rest.data, c->raw));
            c->stored = (uint32_t)n;
            c->offset = at;
            c->crc = pack_crc(packed, n);
            fuzz_must(disk_write_at(fd, packed, n, at), "write a section");
        }
        read_channel(s, c);
    }
}

static struct reel_recording *no_recording(void *context, struct reel_error *err) {
    (void)context;
    reel_fail(err, REEL_NOT_FOUND, "there is no recording");
    return NULL;
}

static void ask(struct reel_statistics *s) {
    static const char *const where[] = {"/a.x>0.5 or /a.y.0<=3 or /b.name=\"n\""};
    struct reel_error err = {0};
    AUTO(reel_question_free) struct reel_question *q = reel_question_new(where, 1, 0, &err);
    fuzz_must(q, "a question");
    const struct reel_question_options options = {.size = sizeof options, .intervals_max = 4, .open = no_recording};
    AUTO(reel_answer_free) struct reel_answer *answer = reel_question_answer(q, s, &options, &err);
    fuzz_must(answer || err.code != REEL_OK, "what is not answered says why");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t file[2 * ROOM];
    struct cursor c = cursor_of(bytes_of(data, size));
    struct reel_bytes directory = cursor_string32(&c);
    if (c.failed || directory.size > ROOM || cursor_left(&c) > ROOM) {
        return 0;
    }
    AUTO_EXACT struct reel_bytes rest = exact_copy(bytes_of(c.at, cursor_left(&c)));
    struct reel_error err = {0};
    size_t n = make_file(file, sizeof file, directory);
    int fd = fuzz_memory_file(bytes_of(file, n));
    AUTO_FD int other = dup(fd);
    fuzz_must(ftruncate(fd, (off_t)(n + 2 * ROOM)) == 0, "room for sections");
    AUTO(reel_statistics_free) struct reel_statistics *s = reel_statistics_open(fd, &err);
    fuzz_must((s != NULL) == (err.code == REEL_OK), "what is not opened says why");
    if (s) {
        read_sections(s, other, n, rest);
        ask(s);
    }
    return 0;
}
