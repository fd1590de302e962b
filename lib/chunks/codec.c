/* Decompression. A single loop (decoder_run) feeds every codec from the source and bounds the output; decoding to
 * memory, to a descriptor and measuring differ only in where full buffers go. */
#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "chunks/codec_internal.h"

#include <inttypes.h>

enum {
    IN_BYTES = 256 << 10,
    OUT_BYTES = 256 << 10,
    PIECE = 64,
    WHOLE_MAX = 8 << 20,      /* a run up to this size is read at once, and decoded at once where its codec can, … */
    WHOLE_RAW_MAX = 16 << 20, /* … to this size: a longer step could not be cancelled */
};

struct decoder {
    const struct codec *codec;
    union codec_state state;
    struct codec_run run;

    struct reel_source *source;
    uint64_t offset, stored; /* of the whole run, for error messages */
    uint64_t next, unread;   /* bytes not yet read from the source */
    uint8_t *in;             /* the buffer that run.in points into */
    size_t in_size;

    uint8_t *out; /* output buffer; flushed when it holds `out_size` bytes */
    size_t out_size, out_used;
    size_t step_max;         /* codec_step_max() */
    int fd;                  /* descriptor for full buffers; -1 = none (measuring, or `out` holds everything) */
    uint64_t decoded, limit; /* bytes decoded so far, and the maximum */

    /* Decode only what comes before the damage: input is fed in pieces of fixed size, so that decoding always stops at
     * the same byte. */
    bool damaged;
    uint64_t sound; /* bytes decoded when the last complete piece had been consumed */
};

static bool decoder_fail(const struct decoder *d, enum reel_code code, const char *what, const char *why,
                         struct reel_error *err) {
    return reel_fail(err, code, "%s data of %" PRIu64 " bytes at %" PRIu64 " %s%s%s", d->codec->name, d->stored,
                     d->offset, what, why ? ": " : "", why ? why : "");
}

/* Reads more input, after what is left in the buffer. */
static bool decoder_fill(struct decoder *d, struct reel_error *err) {
    if (d->run.left > 0) {
        memmove(d->in, d->run.in, d->run.left);
    }
    size_t room = d->in_size - d->run.left;
    size_t size = d->unread < room ? (size_t)d->unread : room;
    if (!reel_source_read(d->source, d->next, d->in + d->run.left, size, err)) {
        return false;
    }
    d->run.in = d->in;
    d->run.left += size;
    d->next += size;
    d->unread -= size;
    return true;
}

/* Writes the output buffer to `fd`, if there is one, and empties it. */
static bool decoder_flush(struct decoder *d, struct reel_error *err) {
    if (d->fd >= 0 && !disk_write_all(d->fd, d->out, d->out_used)) {
        return reel_fail_errno(err, "writing decompressed data");
    }
    d->out_used = 0;
    return true;
}

/* One step into the buffer, or into one spare byte once the limit is reached: the codec still has to find its end (and
 * check its checksum), and any byte written to the spare one exceeds the limit. */
static enum codec_step decoder_step(struct decoder *d) {
    uint8_t spare = 0;
    uint64_t allowed = d->limit - d->decoded;
    size_t room = d->out_size - d->out_used;
    room = room < allowed ? room : (size_t)allowed;
    room = room < d->step_max ? room : d->step_max;
    d->run.out = allowed > 0 ? d->out + d->out_used : &spare;
    d->run.room = allowed > 0 ? room : 1;
    size_t before = d->run.room, hidden = 0;
    if (d->damaged) {
        size_t piece = PIECE - (size_t)((d->next - d->offset - d->run.left) % PIECE);
        hidden = d->run.left > piece ? d->run.left - piece : 0;
        d->run.left -= hidden;
    }
    enum codec_step step = d->codec->step(&d->state, &d->run);
    bool whole = d->run.left == 0;
    d->run.left += hidden;
    size_t written = before - d->run.room;
    d->decoded += written;
    d->out_used += allowed > 0 ? written : 0;
    if (whole && (step == STEP_MORE || step == STEP_END) && d->decoded <= d->limit) {
        d->sound = d->decoded;
    }
    return step;
}

/* After the end of a frame: sets *more when another one follows. */
static bool decoder_again(struct decoder *d, bool *more, struct reel_error *err) {
    *more = false;
    if (d->run.left < CODEC_MAGIC_MAX && d->unread > 0 && !decoder_fill(d, err)) {
        return false;
    }
    if (!d->codec->follows) {
        return d->run.left == 0 || decoder_fail(d, REEL_DAMAGED, "has bytes after its end", NULL, err);
    }
    *more = d->codec->follows(d->run.in, d->run.left);
    return !*more || !d->codec->reset || d->codec->reset(&d->state) || reel_fail_memory(err);
}

static bool decoder_run(struct decoder *d, struct reel_error *err) {
    for (bool more = true; more;) {
        if (!cancel_check(err) || (d->run.left == 0 && d->unread > 0 && !decoder_fill(d, err)) ||
            (d->out_used == d->out_size && d->decoded < d->limit && !decoder_flush(d, err))) {
            return false;
        }
        if (d->damaged && d->decoded == d->limit) {
            break;
        }
        size_t left = d->run.left;
        uint64_t before = d->decoded;
        d->run.why = NULL;
        switch (decoder_step(d)) {
        case STEP_DAMAGED:
            return decoder_fail(d, REEL_DAMAGED, "does not decode", d->run.why, err);
        case STEP_UNSUPPORTED:
            return decoder_fail(d, REEL_UNSUPPORTED, "cannot be decoded", d->run.why, err);
        case STEP_MEMORY:
            return reel_fail_memory(err);
        case STEP_END:
            if (!decoder_again(d, &more, err)) {
                return false;
            }
            break;
        case STEP_MORE:
            if (d->run.left == left && d->decoded == before) { /* no progress */
                more = false;
                if (left > 0 || !d->codec->unframed) {
                    return decoder_fail(d, REEL_DAMAGED, left > 0 ? "does not decode" : "ends too early", NULL, err);
                }
            }
        }
        if (d->decoded > d->limit) {
            return true; /* too much output: callers report this with their own error */
        }
    }
    return decoder_flush(d, err);
}

/* Opens, runs and closes; d->decoded is then the number of decoded bytes, at most limit + 1. */
static bool decoder_decode(struct decoder *d, struct reel_error *err) {
    if (d->offset > d->source->size || d->stored > d->source->size - d->offset) {
        return decoder_fail(d, REEL_DAMAGED, "exceeds the file", NULL, err);
    }
    d->next = d->offset;
    d->unread = d->stored;
    d->in_size = d->stored < IN_BYTES ? (size_t)d->stored + CODEC_MAGIC_MAX : IN_BYTES;
    AUTO_MEM uint8_t *in = (uint8_t *)malloc(d->in_size);
    if (!in || (d->codec->open && d->codec->open(&d->state) != STEP_MORE)) {
        return reel_fail_memory(err);
    }
    d->in = in;
    d->run = (struct codec_run){.in = in, .stable = d->out_size == d->limit};
    bool ok = decoder_run(d, err);
    if (d->codec->close) {
        d->codec->close(&d->state);
    }
    return ok;
}

static bool decoder_exact(const struct decoder *d, struct reel_error *err) {
    if (d->decoded == d->limit) {
        return true;
    }
    return reel_fail(err, REEL_DAMAGED,
                     "%s data of %" PRIu64 " bytes at %" PRIu64 " gives %s than the %" PRIu64 " bytes it should",
                     d->codec->name, d->stored, d->offset, d->decoded > d->limit ? "more" : "less", d->limit);
}

/* The output of one step, which takes less than 100 ms: between two of them the work may be cancelled. */
static size_t codec_step_max(enum reel_codec codec) {
    enum { MIB = 1 << 20 };
    return codec == REEL_CODEC_BZIP2 ? MIB : codec == REEL_CODEC_XZ ? 4 * MIB : 16 * MIB;
}

static bool decoder_init(struct decoder *d, enum reel_codec codec, struct reel_source *source, uint64_t offset,
                         uint64_t stored, uint64_t limit, struct reel_error *err) {
    *d = (struct decoder){
        .codec = codec_of(codec), .source = source, .offset = offset, .stored = stored, .fd = -1, .limit = limit};
    d->step_max = codec_step_max(codec);
    return d->codec || reel_fail(err, REEL_ARGUMENT, "unknown codec %d", (int)codec);
}

/* Decodes through a buffer that is flushed whenever it is full. */
static bool decoder_spool(struct decoder *d, struct reel_error *err) {
    AUTO_MEM uint8_t *out = (uint8_t *)malloc(OUT_BYTES);
    if (!out) {
        return reel_fail_memory(err);
    }
    d->out = out;
    d->out_size = OUT_BYTES;
    return decoder_decode(d, err);
}

/* To `out`, or to a descriptor. */
static bool decode_chunk(const struct reel_chunk *chunk, struct reel_source *source, uint8_t *out, int fd,
                         struct reel_error *err) {
    struct decoder d;
    if (!decoder_init(&d, chunk->codec, source, chunk->offset, chunk->stored, chunk->raw, err)) {
        return false;
    }
    d.damaged = chunk->damaged;
    d.fd = fd;
    d.out = out;
    d.out_size = (size_t)chunk->raw;
    return (fd < 0 ? decoder_decode(&d, err) : decoder_spool(&d, err)) && decoder_exact(&d, err);
}

/* The stored bytes: those of a source in memory, or read into the buffer. */
static bool read_whole(const struct reel_chunk *chunk, struct reel_source *source, struct codec_buffers *buffers,
                       struct reel_bytes *stored, struct reel_error *err) {
    const uint8_t *there = reel_source_bytes(source);
    if (there) {
        *stored = bytes_of(there + chunk->offset, (size_t)chunk->stored);
        return true;
    }
    if (buffers->in_room < chunk->stored) {
        free(TAKE(buffers->in));
        buffers->in_room = 0;
        if (!(buffers->in = malloc((size_t)chunk->stored))) {
            return reel_fail_memory(err);
        }
        buffers->in_room = (size_t)chunk->stored;
    }
    *stored = bytes_of(buffers->in, (size_t)chunk->stored);
    return reel_source_read(source, chunk->offset, buffers->in, (size_t)chunk->stored, err);
}

static bool suits_whole(const struct reel_chunk *chunk, const struct reel_source *source) {
    const struct codec *codec = codec_of(chunk->codec);
    return codec && codec->whole && !chunk->damaged && chunk->raw > 0 && chunk->raw <= WHOLE_RAW_MAX &&
           chunk->stored <= WHOLE_MAX && chunk->offset <= source->size && chunk->stored <= source->size - chunk->offset;
}

/* The fast way for a sound chunk of moderate size. *done false: decode_chunk() has to do it, or finds what is wrong. */
static bool decode_whole(const struct reel_chunk *chunk, struct reel_source *source, uint8_t *out,
                         struct codec_buffers *buffers, bool *done, struct reel_error *err) {
    struct reel_bytes stored;
    *done = false;
    if (!suits_whole(chunk, source)) {
        return true;
    }
    if (!cancel_check(err) || !read_whole(chunk, source, buffers, &stored, err)) {
        return false;
    }
    *done = codec_of(chunk->codec)->whole(buffers, stored, out, (size_t)chunk->raw);
    return true;
}

bool codec_decode_chunk(const struct reel_chunk *chunk, struct reel_source *source, uint8_t *out,
                        struct codec_buffers *buffers, struct reel_error *err) {
    AUTO_STRUCT(codec_buffers_free) struct codec_buffers own = {0};
    bool done;
    return decode_whole(chunk, source, out, buffers ? buffers : &own, &done, err) &&
           (done || decode_chunk(chunk, source, out, -1, err));
}

bool codec_decode_chunk_to_fd(const struct reel_chunk *chunk, struct reel_source *source, int fd,
                              struct reel_error *err) {
    return decode_chunk(chunk, source, NULL, fd, err);
}

bool codec_measure_damaged(struct reel_chunk *chunk, struct reel_source *source, uint64_t max, struct reel_error *err) {
    struct decoder d;
    struct reel_error why = {0};
    if (!decoder_init(&d, chunk->codec, source, chunk->offset, chunk->stored, max, err)) {
        return false;
    }
    d.damaged = true;
    if (!decoder_spool(&d, &why) && why.code != REEL_DAMAGED && why.code != REEL_UNSUPPORTED) {
        return reel_error_pass(err, &why);
    }
    chunk->raw = d.sound;
    chunk->damaged = true;
    return true;
}

bool codec_unpack_to_fd(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored, int fd,
                        uint64_t max, uint64_t *raw, struct reel_error *err) {
    struct decoder d;
    if (!decoder_init(&d, codec, source, offset, stored, max, err)) {
        return false;
    }
    d.fd = fd;
    if (!decoder_spool(&d, err)) {
        return false;
    }
    if (d.decoded > max) {
        return reel_fail(err, REEL_LIMIT,
                         "%s data of %" PRIu64 " bytes at %" PRIu64 " gives more than %" PRIu64 " bytes", d.codec->name,
                         stored, offset, max);
    }
    *raw = d.decoded;
    return true;
}

bool codec_peek(enum reel_codec codec, struct reel_bytes head, uint8_t *out, size_t room, size_t *size,
                struct reel_error *err) {
    struct decoder d;
    struct reel_error why = {0};
    *size = 0;
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(head, NULL, err);
    if (!source) {
        return false;
    }
    for (unsigned damaged = 0; damaged < 2 && *size == 0 && decoder_init(&d, codec, source, 0, head.size, room, &why);
         damaged++) {
        d.damaged = damaged; /* in small pieces: some codecs return nothing of a piece with damage in it */
        d.out = out;
        d.out_size = room;
        decoder_decode(&d, &why); /* the data may be cut off */
        *size = d.decoded < room ? (size_t)d.decoded : room;
    }
    return reel_error_ignore(err, &why);
}
