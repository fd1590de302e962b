/* Internals of the TIDE writer. write.c: head, chunks and index · book.c: channels and types · accept.c: what a log cannot hold. A channel
 * that was read from a TIDE log is written with its original fields if reading them restores it; any other channel has the properties for
 * which TIDE has no field in its source config (reel.c). */
#ifndef REEL_FORMATS_TIDE_WRITE_H
#define REEL_FORMATS_TIDE_WRITE_H

#include "core/codec.h"
#include "formats/tide/tide.h"
#include "reel/write.h"

extern const struct reel_writer reel_writer_tide;
extern const struct reel_writer reel_writer_tide0;
extern const struct reel_writer reel_writer_tide2;

enum {
    TIDE_CHUNK_BYTES = 1 << 20, /* of entries in a chunk, unless one message alone is larger */
    TIDE_CHUNK_MESSAGES = 16384,
    TIDE_NAME_MAX = 255,
    TIDE_SYNTAX_MAX = 255,
    TIDE_TYPE_NAME_MAX = 65535,
    /* Size of a group's note: u64 start, u64 end, u64 raw bytes of the entries, u64 stored bytes, u8 codec. */
    TIDE_NOTE = 33,
};

/* The id of each channel in the output, by position in the stream: its original id if that is unique. NULL: no memory. */
uint32_t *tide_ids_new(const struct reel_stream *stream, struct reel_error *err);

/* The channels and types of a stream as they are written. */
struct tide_book;
struct tide_book *tide_book_new(const struct reel_stream *stream, const uint32_t *ids, bool is_new, struct reel_error *err);
void tide_book_free(struct tide_book *book);
REEL_DEFINE_AUTO(struct tide_book, tide_book_free);
void tide_put_types(const struct tide_book *book, struct reel_sink *out);
void tide_put_channels(const struct tide_book *book, struct reel_sink *out);
void tide_put_metadata(const struct reel_stream *stream, struct reel_sink *out);
void tide_put_head(struct reel_sink *out, const char *tag, uint64_t size);

bool tide_accepts_old(const struct reel_channel *c, struct reel_loss *loss);
bool tide_accepts_new(const struct reel_channel *c, struct reel_loss *loss);
bool tide_accepts_all_old(const struct reel_stream *stream, struct reel_loss *loss);
bool tide_accepts_all_new(const struct reel_stream *stream, struct reel_loss *loss);

#endif
