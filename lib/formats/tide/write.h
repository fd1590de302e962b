/* What the parts of the TIDE writer share: tide_write (head, chunks, the tables) · tide_book (channels and types as they are written) ·
 * tide_accept. Rule: a channel that came from a TIDE log is written as it was there, where reading it gives it back; any other carries what
 * TIDE has no field for in its source config (tide_reel.c). */
#ifndef REEL_FORMATS_TIDE_WRITE_H
#define REEL_FORMATS_TIDE_WRITE_H

#include "core/codec.h"
#include "formats/tide/tide.h"
#include "reel/write.h"

extern const struct reel_writer reel_writer_tide;
extern const struct reel_writer reel_writer_tide0;
extern const struct reel_writer reel_writer_tide2;

enum {
    TIDE_CHUNK_BYTES = 1 << 20, /* entries in a chunk, unless one message alone is larger */
    TIDE_CHUNK_MESSAGES = 16384,
    TIDE_NAME_MAX = 255,
    TIDE_SYNTAX_MAX = 255,
    TIDE_TYPE_NAME_MAX = 65535,
    /* A group's note: u64 start, u64 end, u64 raw bytes of the entries, u64 stored bytes, u8 codec. */
    TIDE_NOTE = 33,
};

/* The number of every channel in the file, by position: that which it had, when no other one has it. NULL: no memory. */
uint32_t *tide_ids_new(const struct reel_stream *stream, struct reel_error *err);

/* Channels and types of a stream. */
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
