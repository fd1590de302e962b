/* Messages as rows of text: NDJSON, a JSON array, a JSON sequence (RFC 7464). One object a message:
 *   {"recording":…,"topic":…,"sequence":…,"log_time":…,"publish_time":…,"frame_id":…,"callerid":…,"before_start":true,
 *    "data":{"$base64":…},"encoding":…}
 * "recording" with several recordings, "frame_id", "callerid" and "before_start" where there are such.
 * Rule: a payload of any size goes through in pieces, and a group that is rendered again (for another window on it) gives the same bytes.
 */
#include "formats/formats.h"

#include <time.h>

enum {
    GROUP_BYTES = 64 << 10,
    GROUP_MESSAGES = 512,
    PIECE = 48 << 10, /* of a payload; a multiple of 3 */
    DATE_ROOM = 20,
    NS_PER_S = 1000000000,
};

struct source_facts {
    bool relative;  /* its clock */
    bool described; /* its format has publish times, sequences, frame ids */
};

struct rows_run {
    struct source_facts *sources;
    const char **callerids;      /* by channel; NULL: none */
    uint64_t count;              /* rows given */
    uint64_t group, before;      /* the group under way, and the rows before it: where a second rendering takes up */
    bool began, ended;           /* a group was met; the tail was */
    int64_t date_second;         /* what `date` says: most rows share it with the row before */
    char date[DATE_ROOM];        /* "2010-05-10T21:14:03" or empty */
    char next[REEL_CURSOR_ROOM]; /* where a limited stream goes on, or empty */
    uint8_t piece[PIECE];
    char text[PIECE / 3 * 4];
};

static bool is_array(const struct reel_write *w) {
    return w->writer == &reel_writer_json;
}

static void put_text(struct reel_sink *out, const char *text) {
    reel_sink_put_bytes(out, bytes_text(text));
}

/* A JSON string of model text, which is valid UTF-8. */
static void put_string(struct reel_sink *out, const char *text) {
    static const char hex[] = "0123456789abcdef";
    reel_sink_u8(out, '"');
    for (;;) {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\') {
            plain++;
        }
        reel_sink_put_bytes(out, bytes_of(text, plain));
        text += plain;
        unsigned char c = (unsigned char)*text++;
        if (c == '\0') {
            break;
        }
        char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        bool short_form = c == '"' || c == '\\';
        escape[1] = short_form ? (char)c : 'u';
        reel_sink_put(out, escape, short_form ? 2 : sizeof escape);
    }
    reel_sink_u8(out, '"');
}

static void put_member(struct reel_sink *out, const char *key, const char *value) { /* key with its punctuation: `,"topic":` */
    put_text(out, key);
    put_string(out, value);
}

/* `value` in decimal, with a point `digits` places from the right when digits is not 0. */
static void put_decimal(struct reel_sink *out, bool negative, uint64_t value, int digits) {
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
    reel_sink_put(out, text + at, sizeof text - at);
}

/* time - zero, as units of 10^digits ns; the full range of both is fine. */
static void put_elapsed(struct reel_sink *out, int64_t time, int64_t zero, int digits) {
    bool negative = time < zero;
    put_decimal(out, negative, negative ? (uint64_t)zero - (uint64_t)time : (uint64_t)time - (uint64_t)zero, digits);
}

static void put_rfc3339(struct rows_run *run, struct reel_sink *out, int64_t time) {
    int64_t second = time / NS_PER_S, ns = time % NS_PER_S;
    if (ns < 0) {
        ns += NS_PER_S;
        second--;
    }
    if (run->date[0] == '\0' || run->date_second != second) {
        struct tm tm;
        time_t at = (time_t)second;
        gmtime_r(&at, &tm);
        strftime(run->date, sizeof run->date, "%Y-%m-%dT%H:%M:%S", &tm);
        run->date_second = second;
    }
    char fraction[] = ".000000000Z\"";
    for (int i = 9; i > 0; i--, ns /= 10) {
        fraction[i] = (char)('0' + ns % 10);
    }
    reel_sink_u8(out, '"');
    put_text(out, run->date);
    put_text(out, fraction);
}

/* A recording whose times count from its own start has no date: RFC 3339 would lie, so it gets a string of decimal seconds, "12.345678000".
 */
static void put_time(struct reel_write *w, const struct reel_message *m, int64_t time, struct reel_sink *out) {
    struct rows_run *run = w->run;
    switch (w->options->time_format) {
    case REEL_TIME_RFC3339:
        if (!run->sources[m->source].relative) {
            put_rfc3339(run, out, time);
            break;
        }
        reel_sink_u8(out, '"');
        put_elapsed(out, time, 0, 9);
        reel_sink_u8(out, '"');
        break;
    case REEL_TIME_SECONDS:
        put_elapsed(out, time, 0, 9);
        break;
    case REEL_TIME_MILLISECONDS:
        put_elapsed(out, time, 0, 6);
        break;
    case REEL_TIME_NANOSECONDS: /* a string: JavaScript's numbers end at 2^53 */
        reel_sink_u8(out, '"');
        put_elapsed(out, time, 0, 0);
        reel_sink_u8(out, '"');
        break;
    case REEL_TIME_RELATIVE:
        put_elapsed(out, time, w->options->start_ns, 9);
        break;
    }
}

/* Base64; `last_two` tells the alphabets apart: "+/" is the usual one, "-_" that of URLs. Returns the length; `out` has room for it. */
static size_t base64(const uint8_t *data, size_t size, const char *last_two, bool padded, char *out) {
    char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    memcpy(alphabet + 62, last_two, 3);
    char *to = out;
    size_t whole = size - size % 3;
    for (size_t i = 0; i < whole; i += 3, to += 4) {
        uint32_t v = (uint32_t)data[i] << 16 | (uint32_t)data[i + 1] << 8 | data[i + 2];
        to[0] = alphabet[v >> 18];
        to[1] = alphabet[v >> 12 & 63];
        to[2] = alphabet[v >> 6 & 63];
        to[3] = alphabet[v & 63];
    }
    if (whole < size) {
        bool two = size - whole == 2;
        uint32_t v = (uint32_t)data[whole] << 16 | (two ? (uint32_t)data[whole + 1] << 8 : 0);
        *to++ = alphabet[v >> 18];
        *to++ = alphabet[v >> 12 & 63];
        if (two) {
            *to++ = alphabet[v >> 6 & 63];
        }
        for (int missing = two ? 1 : 2; padded && missing > 0; missing--) {
            *to++ = '=';
        }
    }
    return (size_t)(to - out);
}

/* Pieces that fall outside the sink's window are counted, not read. */
static bool put_payload(struct reel_write *w, const struct reel_message *m, struct reel_sink *out, struct reel_error *err) {
    struct rows_run *run = w->run;
    for (uint32_t done = 0; done < m->size;) {
        size_t size = m->size - done < PIECE ? m->size - done : PIECE, length = (size + 2) / 3 * 4;
        if (!out->hashing && (out->pos + length <= out->lo || out->pos >= out->hi)) {
            reel_sink_zeros(out, 0, length);
        } else {
            if (!reel_stream_copy(w->stream, m, done, run->piece, size, err)) {
                return false;
            }
            reel_sink_put(out, run->text, base64(run->piece, size, "+/", true, run->text));
        }
        done += (uint32_t)size;
    }
    return true;
}

static bool put_row(struct reel_write *w, const struct reel_message *m, struct reel_sink *out, struct reel_error *err) {
    struct rows_run *run = w->run;
    const struct reel_channel *channel = w->stream->channels[m->channel];
    int64_t time = reel_write_time(w, m);
    struct reel_description d = {.publish_ns = time};
    if (!m->owned && run->sources[m->source].described && !reel_stream_describe(w->stream, m, &d, err)) {
        return false;
    }
    put_text(out, "{");
    if (w->options->source_ids) {
        put_member(out, "\"recording\":", w->options->source_ids[m->source]);
        put_text(out, ",");
    }
    put_member(out, "\"topic\":", channel->name);
    put_text(out, ",\"sequence\":");
    put_decimal(out, false, d.sequence, 0);
    put_text(out, ",\"log_time\":");
    put_time(w, m, time, out);
    put_text(out, ",\"publish_time\":");
    put_time(w, m, d.publish_ns, out);
    if (d.frame_id) { /* before the payload, whose reading ends its life */
        put_member(out, ",\"frame_id\":", d.frame_id);
    }
    if (run->callerids[m->channel]) {
        put_member(out, ",\"callerid\":", run->callerids[m->channel]);
    }
    put_text(out, m->before_start ? ",\"before_start\":true" : "");
    put_text(out, ",\"data\":{\"$base64\":\"");
    if (!put_payload(w, m, out, err)) {
        return false;
    }
    put_member(out, "\"},\"encoding\":", channel->encoding);
    put_text(out, "}");
    return true;
}

/* What stands between the rows and what encloses one. */
static void put_row_start(const struct reel_write *w, struct reel_sink *out, bool first) {
    if (is_array(w)) {
        put_text(out, first ? "\n" : ",\n");
    } else if (w->writer == &reel_writer_json_seq) {
        put_text(out, "\x1e");
    }
}
static void put_row_end(const struct reel_write *w, struct reel_sink *out) {
    put_text(out, is_array(w) ? "" : "\n");
}

static bool rows_open(struct reel_write *w, struct reel_error *err) {
    struct rows_run *run = w->run;
    const struct reel_stream *stream = w->stream;
    if (w->options->compression && w->options->compression[0] != '\0') {
        return reel_fail(err, REEL_UNSUPPORTED, "text is not written with compression \"%s\"", w->options->compression);
    }
    run->sources = calloc((size_t)stream->n_sources + 1, sizeof *run->sources);
    run->callerids = calloc((size_t)stream->n_channels + 1, sizeof *run->callerids);
    if (!run->sources || !run->callerids) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        const struct reel_index_info *info = reel_index_info(reel_recording_index(reel_reader_recording(stream->readers[i])));
        run->sources[i] =
            (struct source_facts){.relative = stream->clocks[i] == REEL_CLOCK_RELATIVE, .described = info->format->describe != NULL};
    }
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        struct reel_pairs metadata = stream->channels[i]->metadata;
        for (size_t k = 0; k < metadata.count && !run->callerids[i]; k++) {
            run->callerids[i] = strcmp(metadata.items[k].key, "callerid") == 0 ? metadata.items[k].value : NULL;
        }
    }
    return true;
}

static void rows_close(struct reel_write *w) {
    struct rows_run *run = w->run;
    free(run->sources);
    free(run->callerids);
}

static bool rows_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)err;
    put_text(out, is_array(w) ? "[" : "");
    return true;
}

static bool limit_met(const struct reel_write *w, uint64_t count) {
    return w->options->limit > 0 && count >= w->options->limit;
}

static bool rows_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct rows_run *run = w->run;
    if (!run->began || run->group != w->group) {
        run->began = true;
        run->group = w->group;
        run->before = run->count;
    }
    run->count = run->before;
    uint64_t start = out->pos;
    while (!limit_met(w, run->count) && run->count - run->before < GROUP_MESSAGES && out->pos - start < GROUP_BYTES) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        put_row_start(w, out, run->count == 0);
        if (!put_row(w, &m, out, err)) {
            return false;
        }
        put_row_end(w, out);
        run->count++;
    }
    return true;
}

/* When the limit stopped the rows and there are more, the cursor of the next. */
static bool find_next(struct reel_write *w, struct reel_error *err) {
    struct rows_run *run = w->run;
    struct reel_message m;
    if (run->ended || !limit_met(w, run->count)) {
        return true;
    }
    run->ended = true;
    enum reel_step step = reel_stream_next(w->stream, &m, err);
    if (step == REEL_STEP_MESSAGE) {
        struct reel_mark mark = reel_mark_of(&m);
        reel_cursor_encode(&mark, run->next, sizeof run->next);
    }
    return step != REEL_STEP_ERROR;
}

/* The record without which a stream is not known to be complete (asked for with `separated`). */
static bool rows_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    (void)part;
    struct rows_run *run = w->run;
    if (w->options->separated) {
        if (!find_next(w, err)) {
            return false;
        }
        put_row_start(w, out, run->count == 0);
        put_text(out, "{\"$end\":{\"complete\":true,\"count\":");
        put_decimal(out, false, run->count, 0);
        put_text(out, ",\"next\":");
        if (run->next[0] != '\0') {
            put_string(out, run->next);
        } else {
            put_text(out, "null");
        }
        put_text(out, "}}");
        put_row_end(w, out);
    }
    put_text(out, is_array(w) ? "\n]\n" : "");
    return true;
}

static bool rows_accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    (void)channel;
    (void)loss;
    return true;
}

enum { MARK_BYTES = 8 + 8 + 4 * 4 };

/* The mark's fields in order, little-endian, as base64url without padding. */
bool reel_cursor_encode(const struct reel_mark *mark, char *out, size_t size) {
    uint8_t raw[MARK_BYTES];
    store_u64le(raw, (uint64_t)mark->time_ns);
    store_u64le(raw + 8, mark->offset);
    store_u32le(raw + 16, mark->source);
    store_u32le(raw + 20, mark->chunk);
    store_u32le(raw + 24, mark->front);
    store_u32le(raw + 28, mark->again);
    if (size < REEL_CURSOR_ROOM) {
        return false;
    }
    out[base64(raw, sizeof raw, "-_", false, out)] = '\0';
    return true;
}

static int sextet(char c) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *found = c ? strchr(alphabet, c) : NULL;
    return found ? (int)(found - alphabet) : -1;
}

bool reel_cursor_decode(const char *text, struct reel_mark *mark) {
    uint8_t raw[MARK_BYTES];
    uint32_t bits = 0, held = 0;
    size_t size = 0;
    for (; *text; text++) {
        int six = sextet(*text);
        if (six < 0) {
            return false;
        }
        bits = (bits << 6 | (uint32_t)six) & 0xFFF;
        held += 6;
        if (held >= 8) {
            held -= 8;
            if (size == sizeof raw) {
                return false;
            }
            raw[size++] = (uint8_t)(bits >> held);
        }
    }
    if (size != sizeof raw || held >= 6 || (bits & ((1U << held) - 1)) != 0) {
        return false;
    }
    *mark = (struct reel_mark){
        .time_ns = (int64_t)load_u64le(raw),
        .offset = load_u64le(raw + 8),
        .source = load_u32le(raw + 16),
        .chunk = load_u32le(raw + 20),
        .front = load_u32le(raw + 24),
        .again = load_u32le(raw + 28),
    };
    return true;
}

#define ROWS_WRITER                                                                                                                        \
    .needs = REEL_STREAMED, .version = 1, .run_size = sizeof(struct rows_run), .accepts = rows_accepts, .open = rows_open,                 \
    .close = rows_close, .head = rows_head, .messages = rows_messages, .tail = rows_tail

const struct reel_writer reel_writer_ndjson = {.name = "ndjson", .extension = ".ndjson", .media_type = "application/x-ndjson", ROWS_WRITER};
const struct reel_writer reel_writer_json = {.name = "json", .extension = ".json", .media_type = "application/json", ROWS_WRITER};
const struct reel_writer reel_writer_json_seq = {
    .name = "json-seq", .extension = ".json-seq", .media_type = "application/json-seq", ROWS_WRITER};
