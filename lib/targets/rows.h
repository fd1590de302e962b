/* What the writers of text share: payloads of a stream as values. Decoders are opened when a channel's first message comes; what cannot be
 * decoded is left to the writer as bytes, never an error of the stream. */
#ifndef REEL_DECODE_ROWS_H
#define REEL_DECODE_ROWS_H

#include "core/fields.h"
#include "reel/write.h"
#include "wire/grow.h"

enum {
    ROWS_PAYLOAD_MAX = 64 << 20, /* larger ones are given as bytes, piece by piece */
    ROWS_TEXT_MAX = 256 << 20,   /* … and so are those of which more text would be made */
    ROWS_KEPT = 1 << 20,         /* memory kept from one row to the next */
};

struct rows_source { /* facts of one recording */
    bool relative;   /* its clock */
    bool described;  /* its format has publish times, sequences, frame ids */
};

struct rows {
    struct rows_source *sources;
    const char **callerids;         /* by channel; NULL: none */
    struct reel_decoder **decoders; /* by channel; NULL: not opened, or not decoded */
    bool *tried;
    uint32_t n_channels;
};

bool rows_open(struct rows *rows, const struct reel_write *w, struct reel_error *err);
void rows_close(struct rows *rows);

/* The channel's decoder, opened when it is first asked for; NULL: it is not decoded. */
const struct reel_decoder *rows_decoder(struct rows *rows, const struct reel_write *w, uint32_t channel);

/* Tells the payload of `m`. *told false: it is not decoded – no decoder, too large, decode=none, or it does not fit its schema (the visitor
 * may have been told a part) – and the writer gives its bytes. A visitor that wanted no more has been told. False: reading failed. */
bool rows_tell(struct rows *rows, struct reel_write *w, const struct reel_message *m, struct reel_visitor *v, bool *told,
               struct reel_error *err);

/* The set of options->fields; NULL when none are asked for. */
bool rows_fields(const struct reel_write *w, struct field_set **out, struct reel_error *err);

/* How far the rows have come. A group that is met again (rendered once more, for another window on it) begins where it began. */
struct rows_place {
    uint64_t group, before, count;
    bool began;
};
bool rows_limit_met(const struct reel_write *w, uint64_t count);
/* messages() of these writers: put() writes one, the `count`-th, which it may look at. */
bool rows_group(struct reel_write *w, struct rows_place *place,
                bool (*put)(struct reel_write *w, const struct reel_message *m, struct reel_sink *out, struct reel_error *err),
                struct reel_sink *out, struct reel_error *err);
/* accepts() and an empty head() and tail(). */
bool rows_accept(const struct reel_channel *channel, struct reel_loss *loss);
bool rows_no_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err);
bool rows_no_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err);

/* RFC 3339, or seconds for a relative clock, and the other forms of options->time_format, as they stand in JSON: with quotes where they are
 * text. */
struct rows_clock { /* most times share their second with the one before */
    int64_t second;
    char date[20];
};
void rows_put_time(struct rows_clock *clock, const struct rows *rows, const struct reel_write *w, const struct reel_message *m,
                   int64_t time, struct grow *out);

#endif
