/* The codecs as steps, which codec_steps.c implements with the libraries and codec.c runs. */
#ifndef REEL_CHUNKS_CODEC_INTERNAL_H
#define REEL_CHUNKS_CODEC_INTERNAL_H

#include "chunks/codec.h"
#include "chunks/json_bytes.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

enum { CODEC_MAGIC_MAX = 4 };
#define LZ4_MAGIC UINT32_C(0x184d2204)

enum codec_step {
    STEP_MORE,        /* made progress */
    STEP_END,         /* the end of a frame (stream, member) */
    STEP_DAMAGED,     /* run->why may hold details */
    STEP_UNSUPPORTED, /* run->why holds the reason */
    STEP_MEMORY,
};

/* Input and output of one step, which advances both. Neither pointer is NULL and `room` is never 0. */
struct codec_run {
    const uint8_t *in;
    size_t left;
    uint8_t *out;
    size_t room;
    bool stable; /* earlier output must stay at its address until the end */
    const char *why;
};

union codec_state {
    struct json_bytes json;
    z_stream z;
    bz_stream bz;
    LZ4F_dctx *lz4;
    ZSTD_DStream *zstd;
    lzma_stream xz;
};

struct codec {
    const char *name;
    enum codec_step (*open)(union codec_state *state); /* STEP_MORE on success; may be NULL, and so may close() */
    enum codec_step (*step)(union codec_state *state, struct codec_run *run);
    bool (*reset)(union codec_state *state); /* called before a following frame; may be NULL */
    void (*close)(union codec_state *state);
    /* Do these at most CODEC_MAGIC_MAX bytes begin another frame? Otherwise they are ignored as padding. NULL: nothing
     * may follow the end. */
    bool (*follows)(const uint8_t *p, size_t size);
    bool unframed; /* the compressed data have no end marker: they end with the stored bytes */
    /* Optional: decodes all of `stored` to exactly `raw` bytes, with the checksums it has. False: step() has to, or
     * finds out what is wrong. */
    bool (*whole)(struct codec_buffers *buffers, struct reel_bytes stored, uint8_t *out, size_t raw);
};

bool lz4_frame_decode(struct reel_bytes stored, uint8_t *out, size_t raw);

const struct codec *codec_of(enum reel_codec codec); /* NULL: unknown */

#endif
