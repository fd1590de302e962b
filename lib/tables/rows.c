/* See rows.h. */
#include "tables/rows.h"

#include <time.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/limits.h"
#include "decode/decoder.h"
#include "syntax/visitor.h"

enum { NS_PER_S = 1000000000 };

bool rows_open(struct rows *rows, const struct reel_write *w, struct reel_error *err) {
    if (w->options->compression && w->options->compression[0] != '\0') {
        return reel_fail(err, REEL_UNSUPPORTED, "text is not written with compression \"%s\"", w->options->compression);
    }
    return rows_open_packed(rows, w, err);
}

bool rows_open_packed(struct rows *rows, const struct reel_write *w, struct reel_error *err) {
    const struct reel_stream *stream = w->stream;
    rows->n_channels = stream->n_channels;
    rows->sources = calloc((size_t)stream->n_sources + 1, sizeof *rows->sources);
    rows->callerids = calloc((size_t)stream->n_channels + 1, sizeof *rows->callerids);
    rows->decoders = calloc((size_t)stream->n_channels + 1, sizeof *rows->decoders);
    rows->tried = calloc((size_t)stream->n_channels + 1, sizeof *rows->tried);
    if (!rows->sources || !rows->callerids || !rows->decoders || !rows->tried) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        const struct reel_index_info *info =
            reel_index_info(reel_recording_index(reel_reader_recording(stream->readers[i])));
        rows->sources[i] = (struct rows_source){.relative = stream->clocks[i] == REEL_CLOCK_RELATIVE,
                                                .described = info->format->describe != NULL};
    }
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        struct reel_pairs metadata = stream->channels[i]->metadata;
        for (size_t k = 0; k < metadata.count && !rows->callerids[i]; k++) {
            rows->callerids[i] = strcmp(metadata.items[k].key, "callerid") == 0 ? metadata.items[k].value : NULL;
        }
    }
    return true;
}

void rows_close(struct rows *rows) {
    decoder_set_free(&rows->opened);
    free(rows->sources);
    free(rows->callerids);
    free(rows->decoders);
    free(rows->tried);
}

bool rows_decoder(struct rows *rows, const struct reel_write *w, uint32_t channel, const struct reel_decoder **out,
                  struct reel_error *err) {
    bool good = rows->tried[channel] || w->options->raw ||
                decoder_set_try(&rows->opened, w->stream->channels[channel], &rows->decoders[channel], err);
    rows->tried[channel] = good;
    *out = rows->decoders[channel];
    return good;
}

bool rows_decode(struct rows *rows, struct reel_write *w, const struct reel_message *m, struct reel_visitor *v,
                 bool *decoded, struct reel_error *err) {
    const struct reel_decoder *decoder = NULL;
    struct reel_bytes payload;
    struct reel_error why;
    *decoded = false;
    if (m->size <= REEL_DECODED_MAX && !rows_decoder(rows, w, m->channel, &decoder, err)) {
        return false;
    }
    if (!decoder) {
        return true;
    }
    if (!reel_stream_payload(w->stream, m, &payload, err)) {
        return false;
    }
    *decoded = reel_decode(decoder, payload, v, &why) || why.code == REEL_OK;
    return *decoded || reel_error_ignore(err, &why);
}

bool rows_several_topics(const struct reel_stream *stream) {
    bool several = false;
    for (uint32_t i = 1; i < stream->n_channels && !several; i++) {
        several = strcmp(stream->channels[i]->name, stream->channels[0]->name) != 0;
    }
    return several;
}

bool rows_describe(const struct rows *rows, struct reel_write *w, const struct reel_message *m,
                   struct reel_description *out, struct reel_error *err) {
    *out = (struct reel_description){.publish_ns = reel_write_time(w, m)};
    return m->owned || !rows->sources[m->source].described || stream_describe(w->stream, m, out, err);
}

bool rows_fields(const struct reel_write *w, struct field_set **out, struct reel_error *err) {
    *out = NULL;
    return w->options->n_fields == 0 || (*out = field_set_new(w->options->fields, w->options->n_fields, err));
}

static void visit_member(struct reel_visitor *v, const char *name, const char *text) {
    visit_key_text(v, name);
    visit_text(v, bytes_text(text));
}

static void visit_schema(struct reel_visitor *v, const struct reel_schema *s) {
    visit_key_text(v, "schema");
    visit_binary(v, s->data);
    visit_member(v, "schema_name", s->name);
    visit_member(v, "schema_encoding", s->encoding);
    if (s->hash[0]) {
        visit_member(v, "schema_hash", s->hash);
    }
}

/* "schema" is the definition of the messages; "schemas" are all of them, where there are several. */
void rows_visit_channel(struct reel_visitor *v, const struct reel_channel *c) {
    const struct reel_schema *schema = reel_channel_schema(c);
    visit_begin_map(v);
    visit_member(v, "topic", c->name);
    visit_member(v, "type", c->type);
    visit_member(v, "encoding", c->encoding);
    visit_key_text(v, "latched");
    visit_boolean(v, c->latched);
    if (schema) {
        visit_schema(v, schema);
    }
    if (c->n_schemas > 1) {
        visit_key_text(v, "schemas");
        visit_begin_list(v);
        for (uint32_t i = 0; i < c->n_schemas; i++) {
            visit_begin_map(v);
            visit_schema(v, &c->schemas[i]);
            visit_end_map(v);
        }
        visit_end_list(v);
    }
    if (c->n_topics > 1) {
        visit_key_text(v, "topics");
        visit_begin_list(v);
        for (uint32_t i = 0; i < c->n_topics; i++) {
            visit_text(v, bytes_text(c->topics[i]));
        }
        visit_end_list(v);
    }
    visit_key_text(v, "metadata");
    visit_begin_map(v);
    for (size_t i = 0; i < c->metadata.count && i < REEL_ROW_METADATA_MAX; i++) {
        visit_member(v, c->metadata.items[i].key, c->metadata.items[i].value);
    }
    visit_end_map(v);
    visit_end_map(v);
}

bool rows_channels(struct reel_write *w,
                   bool (*put)(struct reel_write *w, const struct reel_channel *channel, struct reel_sink *out,
                               struct reel_error *err),
                   struct reel_sink *out, struct reel_error *err) {
    for (uint32_t i = 0; w->options->channels && i < w->stream->n_channels; i++) {
        const struct reel_channel *c = w->stream->channels[i];
        if (c->name[0] != '\0' && !put(w, c, out, err)) { /* without: free for the states of a playback */
            return false;
        }
    }
    return true;
}

bool rows_limit_met(const struct reel_write *w, uint64_t count) {
    return w->options->limit > 0 && count >= w->options->limit;
}

bool rows_group(struct reel_write *w, struct rows *rows,
                bool (*put)(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                            struct reel_error *err),
                struct reel_sink *out, struct reel_error *err) {
    enum { GROUP_BYTES = 64 << 10, GROUP_MESSAGES = 512 };
    uint64_t start = out->pos, end = w->before + (w->options->prompt ? 1 : GROUP_MESSAGES);
    for (rows->count = w->before;
         !rows_limit_met(w, rows->count) && rows->count < end && out->pos - start < GROUP_BYTES; rows->count++) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        if (!put(w, &m, out, err)) {
            return false;
        }
    }
    return true;
}

bool rows_accept(const struct reel_channel *channel, struct reel_loss *loss) {
    (void)channel;
    (void)loss;
    return true;
}
bool rows_no_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)w;
    (void)out;
    (void)err;
    return true;
}
bool rows_no_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    (void)part;
    return rows_no_head(w, out, err);
}

/* ---- times */

/* `value` in decimal, with a point `digits` places from the right unless digits is 0. */
static void put_decimal(struct grow *out, bool negative, uint64_t value, int digits) {
    char text[32];
    size_t at = sizeof text;
    int placed = 0;
    do {
        if (digits > 0 && placed == digits) {
            text[--at] = '.';
        }
        text[--at] = (char)('0' + value % 10);
        value /= 10;
        placed++;
    } while (value > 0 || placed <= digits);
    if (negative) {
        text[--at] = '-';
    }
    grow_put(out, text + at, sizeof text - at);
}

/* time - zero, as units of 10^digits ns; the full range of both is fine. */
static void put_elapsed(struct grow *out, int64_t time, int64_t zero, int digits) {
    bool negative = time < zero;
    put_decimal(out, negative, negative ? (uint64_t)zero - (uint64_t)time : (uint64_t)time - (uint64_t)zero, digits);
}

void rows_put_seconds(int64_t ns, struct grow *out) {
    put_elapsed(out, ns, 0, 9);
}

static void put_rfc3339(struct rows_clock *clock, struct grow *out, int64_t time) {
    int64_t second = time / NS_PER_S, ns = time % NS_PER_S;
    if (ns < 0) {
        ns += NS_PER_S;
        second--;
    }
    if (clock->date[0] == '\0' || clock->second != second) {
        struct tm tm;
        time_t at = (time_t)second;
        gmtime_r(&at, &tm);
        strftime(clock->date, sizeof clock->date, "%Y-%m-%dT%H:%M:%S", &tm);
        clock->second = second;
    }
    char fraction[] = ".000000000Z\"";
    for (int i = 9; i > 0; i--, ns /= 10) {
        fraction[i] = (char)('0' + ns % 10);
    }
    grow_put(out, "\"", 1);
    grow_put(out, clock->date, strlen(clock->date));
    grow_put(out, fraction, sizeof fraction - 1);
}

static void put_quoted(struct grow *out, int64_t time, int digits) {
    grow_put(out, "\"", 1);
    put_elapsed(out, time, 0, digits);
    grow_put(out, "\"", 1);
}

/* A recording with a relative clock has no dates, so RFC 3339 is replaced by a string of decimal seconds,
 * "12.345678000". */
void rows_put_time(struct rows_clock *clock, const struct rows *rows, const struct reel_write *w,
                   const struct reel_message *m, int64_t time, struct grow *out) {
    switch (w->options->time_format) {
    case REEL_TIME_RFC3339:
        if (rows->sources[m->source].relative) {
            put_quoted(out, time, 9);
        } else {
            put_rfc3339(clock, out, time);
        }
        break;
    case REEL_TIME_SECONDS:
        put_elapsed(out, time, 0, 9);
        break;
    case REEL_TIME_MILLISECONDS:
        put_elapsed(out, time, 0, 6);
        break;
    case REEL_TIME_NANOSECONDS: /* a string, because JavaScript integers are exact only up to 2^53 */
        put_quoted(out, time, 0);
        break;
    case REEL_TIME_RELATIVE:
        put_elapsed(out, time, w->options->start_ns, 9);
        break;
    }
}
