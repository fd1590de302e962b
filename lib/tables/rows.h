/* Shared by the writers of rows: the payloads of a stream as values. Decoders are opened at a channel's first message;
 * payloads that cannot be decoded are written as bytes and are never an error of the stream. */
#ifndef REEL_TABLES_ROWS_H
#define REEL_TABLES_ROWS_H

#include "base/grow.h"
#include "convert/writer.h"
#include "decode/decoder_set.h"
#include "decode/fields.h"
#include "index/format.h"

enum {
    ROWS_TEXT_MAX = 256 << 20, /* payloads that decode to more text, or are over REEL_DECODED_MAX, are written as bytes,
                                  piece by piece */
    ROWS_KEPT = 1 << 20,       /* memory kept between rows */
};

struct rows_source { /* properties of one recording */
    bool relative;   /* its clock */
    bool described;  /* whether its format has publish times, sequences, frame ids */
};

struct rows {
    struct rows_source *sources;
    const char **callerids; /* by channel; NULL: none */
    struct decoder_set opened;
    const struct reel_decoder **decoders; /* by channel; NULL: not opened yet, or cannot be decoded */
    bool *tried;
    uint32_t n_channels;
    uint64_t count; /* messages before the one that is being written */
};

bool rows_open(struct rows *rows, const struct reel_write *w, struct reel_error *err);
/* also with a compression */
bool rows_open_packed(struct rows *rows, const struct reel_write *w, struct reel_error *err);
void rows_close(struct rows *rows);

/* The channel's decoder, opened on first use; *out NULL: the channel is not decoded. */
bool rows_decoder(struct rows *rows, const struct reel_write *w, uint32_t channel, const struct reel_decoder **out,
                  struct reel_error *err);

/* Reports the payload of `m` to a visitor. *decoded false: the writer must write its bytes instead, because there is no
 * decoder, it is too large, decode=none, or it does not match its schema (the visitor may have received a part). A
 * visitor that stopped the walk counts as decoded. False: reading failed, or this machine did. */
bool rows_decode(struct rows *rows, struct reel_write *w, const struct reel_message *m, struct reel_visitor *v,
                 bool *decoded, struct reel_error *err);

bool rows_several_topics(const struct reel_stream *stream);
/* Publish time and sequence of a message, as far as its recording has them. */
bool rows_describe(const struct rows *rows, struct reel_write *w, const struct reel_message *m,
                   struct reel_description *out, struct reel_error *err);

/* The set of options->fields; NULL when none are requested. */
bool rows_fields(const struct reel_write *w, struct field_set **out, struct reel_error *err);

/* The value of a row {"$channel": …}: how a channel is defined. */
void rows_visit_channel(struct reel_visitor *v, const struct reel_channel *channel);
/* Calls put() with each channel that has a name, if options->channels asks for them. */
bool rows_channels(struct reel_write *w,
                   bool (*put)(struct reel_write *w, const struct reel_channel *channel, struct reel_sink *out,
                               struct reel_error *err),
                   struct reel_sink *out, struct reel_error *err);
bool rows_limit_met(const struct reel_write *w, uint64_t count);
/* messages() of these writers: put() writes one message. */
bool rows_group(struct reel_write *w, struct rows *rows,
                bool (*put)(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                            struct reel_error *err),
                struct reel_sink *out, struct reel_error *err);
/* Default accepts(), and an empty head() and tail(). */
bool rows_accept(const struct reel_channel *channel, struct reel_loss *loss);
bool rows_no_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err);
bool rows_no_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err);

/* The time as it appears in JSON: RFC 3339, seconds for a relative clock, or another form of options->time_format;
 * quoted where it is text.
 */
struct rows_clock { /* most times are in the same second as the previous one */
    int64_t second;
    char date[20];
};
void rows_put_time(struct rows_clock *clock, const struct rows *rows, const struct reel_write *w,
                   const struct reel_message *m, int64_t time, struct grow *out);
void rows_put_seconds(int64_t ns, struct grow *out);

#endif
