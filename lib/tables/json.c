/* Messages as rows of text: NDJSON, a JSON array, a JSON sequence (RFC 7464), server-sent events. One object a message:
 *   {"recording":…,"topic":…,"sequence":…,"log_time":…,"publish_time":…,"frame_id":…,"callerid":…,"before_start":true,"data":…}
 * "recording" with several recordings, "frame_id", "callerid" and "before_start" where there are such; "data" is the
 * decoded payload, or of the fields that were asked for those that it has, by their paths; or {"$base64":…} and then
 * also "encoding". Rule: a payload of any size goes through in pieces, and a group that is rendered again (for another
 * window on it) gives the same bytes.
 */
#include <stdio.h>

#include "base/bytes.h"
#include "convert/conversion.h"
#include "syntax/json_out.h"
#include "syntax/visitor.h"
#include "tables/rows.h"

enum { PIECE = 48 << 10 /* of a payload; a multiple of 3 */ };

struct rows_run {
    struct rows rows;
    struct rows_clock clock;
    struct field_set *fields; /* NULL: all fields */
    struct field_picker picker;
    struct json_out json;
    struct grow row;             /* the current row, up to the payload or complete */
    struct reel_position row_of; /* message of that row, so that another window on it does not decode it again */
    bool row_decoded;
    bool any;                    /* a channel has been written */
    bool ended;                  /* the tail has been written */
    char next[REEL_CURSOR_ROOM]; /* cursor to continue a limited stream, or empty */
    uint8_t piece[PIECE];
};

extern const struct reel_writer reel_writer_ndjson, reel_writer_json, reel_writer_json_seq, reel_writer_events;

static bool is_array(const struct reel_write *w) {
    return w->writer == &reel_writer_json;
}
static bool is_events(const struct reel_write *w) {
    return w->writer == &reel_writer_events;
}

static void json_put_text(struct reel_sink *out, const char *text) {
    reel_sink_put_bytes(out, bytes_text(text));
}
static void json_add_text(struct grow *row, const char *text) {
    grow_put(row, text, strlen(text));
}
/* key with punctuation: `,"topic":` */
static void json_add_member(struct grow *row, const char *key, const char *value) {
    json_add_text(row, key);
    json_put_string(row, bytes_text(value));
}

/* Pieces outside the sink's window are counted without being read. */
static bool json_put_payload(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                             struct reel_error *err) {
    struct rows_run *run = w->run;
    for (uint32_t done = 0; done < m->size;) {
        size_t size = m->size - done < PIECE ? m->size - done : PIECE, length = (size + 2) / 3 * 4;
        if (!out->hashing && (out->pos + length <= out->lo || out->pos >= out->hi)) {
            reel_sink_fill(out, 0, length);
        } else {
            if (!reel_stream_copy(w->stream, m, done, run->piece, size, err)) {
                return false;
            }
            run->row.size = 0;
            json_put_base64(&run->row, bytes_of(run->piece, size));
            if (run->row.failed) {
                return reel_fail_memory(err);
            }
            reel_sink_put_bytes(out, bytes_of(run->row.data, run->row.size));
        }
        done += (uint32_t)size;
    }
    return true;
}

/* ---- one row */

static struct reel_visitor *open_field(void *context, uint32_t column) {
    struct reel_write *w = context;
    struct rows_run *run = w->run;
    visit_key_text(&run->json.visitor, field_set_name(run->fields, column));
    return &run->json.visitor;
}
static bool close_field(void *context, uint32_t column) {
    (void)context;
    (void)column;
    return true;
}

/* Appends the payload's values to the row. *decoded false: the row is unchanged. */
static bool add_values(struct reel_write *w, const struct reel_message *m, bool *decoded, struct reel_error *err) {
    struct rows_run *run = w->run;
    size_t before = run->row.size;
    struct reel_visitor *v = &run->json.visitor;
    run->json = json_out_to(&run->row, ROWS_TEXT_MAX);
    if (run->fields) {
        run->picker.set = run->fields;
        run->picker.open = open_field;
        run->picker.close = close_field;
        run->picker.context = w;
        field_picker_start(&run->picker);
        visit_begin_map(v);
        v = &run->picker.visitor;
    }
    if (!rows_decode(&run->rows, w, m, v, decoded, err)) {
        return false;
    }
    if (run->fields) {
        visit_end_map(&run->json.visitor);
    }
    *decoded = *decoded && !run->json.too_long;
    run->row.size = *decoded ? run->row.size : before;
    return true;
}

/* Mostly both are the same. */
static void add_times(struct reel_write *w, const struct reel_message *m, int64_t log_ns, int64_t publish_ns) {
    struct rows_run *run = w->run;
    struct grow *row = &run->row;
    json_add_text(row, ",\"log_time\":");
    size_t at = row->size;
    rows_put_time(&run->clock, &run->rows, w, m, log_ns, row);
    size_t size = row->size - at;
    json_add_text(row, ",\"publish_time\":");
    if (publish_ns != log_ns) {
        rows_put_time(&run->clock, &run->rows, w, m, publish_ns, row);
        return;
    }
    uint8_t *same = grow_take(row, size);
    if (same) {
        memcpy(same, row->data + at, size);
    }
}

static bool json_make_row(struct reel_write *w, const struct reel_message *m, bool *decoded, struct reel_error *err) {
    struct rows_run *run = w->run;
    struct grow *row = &run->row;
    const struct reel_channel *channel = w->stream->channels[m->channel];
    int64_t time = reel_write_time(w, m);
    struct reel_description d;
    if (!rows_describe(&run->rows, w, m, &d, err)) {
        return false;
    }
    row->size = 0;
    json_add_text(row, "{");
    if (w->options->source_ids) {
        json_add_member(row, "\"recording\":", w->options->source_ids[m->source]);
        json_add_text(row, ",");
    }
    json_add_member(row, "\"topic\":", channel->name);
    json_add_text(row, ",\"sequence\":");
    json_put_natural(row, d.sequence);
    add_times(w, m, time, d.publish_ns);
    if (d.frame_id) { /* before the payload, because reading it invalidates the message */
        json_add_member(row, ",\"frame_id\":", d.frame_id);
    }
    if (run->rows.callerids[m->channel]) {
        json_add_member(row, ",\"callerid\":", run->rows.callerids[m->channel]);
    }
    json_add_text(row, m->before_start ? ",\"before_start\":true" : "");
    json_add_text(row, ",\"data\":");
    return add_values(w, m, decoded, err) && (!row->failed || reel_fail_memory(err));
}

static bool same_mark(const struct reel_position *a, const struct reel_position *b) {
    return a->time_ns == b->time_ns && a->offset == b->offset && a->source == b->source && a->chunk == b->chunk &&
           a->initial == b->initial && a->again == b->again;
}

static bool put_object(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                       struct reel_error *err) {
    struct rows_run *run = w->run;
    struct reel_position mark = reel_position_of(m);
    bool decoded = run->row_decoded && run->row.size > ROWS_KEPT && same_mark(&mark, &run->row_of);
    if (!decoded) {
        if (run->row.capacity > ROWS_KEPT) {
            free(run->row.data);
            run->row = (struct grow){0};
        }
        if (!json_make_row(w, m, &decoded, err)) {
            return false;
        }
        run->row_of = mark;
        run->row_decoded = decoded;
    }
    reel_sink_put_bytes(out, bytes_of(run->row.data, run->row.size));
    if (!decoded) {
        json_put_text(out, "{\"$base64\":\"");
        if (!json_put_payload(w, m, out, err)) {
            return false;
        }
        run->row.size = 0;
        json_add_member(&run->row, "\"},\"encoding\":", w->stream->channels[m->channel]->encoding);
        reel_sink_put_bytes(out, bytes_of(run->row.data, run->row.size));
    }
    json_put_text(out, "}");
    return true;
}

/* Text between the rows and around them. */
static void put_row_start(const struct reel_write *w, struct reel_sink *out, bool first) {
    if (is_array(w)) {
        json_put_text(out, first ? "\n" : ",\n");
    } else if (is_events(w)) {
        json_put_text(out, "data: ");
    } else if (w->writer == &reel_writer_json_seq) {
        json_put_text(out, "\x1e");
    }
}
static void put_row_end(const struct reel_write *w, struct reel_sink *out) {
    json_put_text(out, is_array(w) ? "" : is_events(w) ? "\n\n" : "\n");
}

static bool json_put_row(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                         struct reel_error *err) {
    struct rows_run *run = w->run;
    put_row_start(w, out, run->rows.count == 0 && !run->any);
    if (!put_object(w, m, out, err)) {
        return false;
    }
    put_row_end(w, out);
    return true;
}

static bool rows_write_open(struct reel_write *w, struct reel_error *err) {
    struct rows_run *run = w->run;
    return rows_open(&run->rows, w, err) && rows_fields(w, &run->fields, err);
}

static void rows_write_close(struct reel_write *w) {
    struct rows_run *run = w->run;
    rows_close(&run->rows);
    field_set_free(run->fields);
    free(run->row.data);
}

static bool json_put_channel(struct reel_write *w, const struct reel_channel *channel, struct reel_sink *out,
                             struct reel_error *err) {
    struct rows_run *run = w->run;
    run->row.size = 0;
    run->json = json_out_to(&run->row, ROWS_TEXT_MAX);
    struct reel_visitor *v = &run->json.visitor;
    visit_begin_map(v);
    visit_key_text(v, "$channel");
    rows_visit_channel(v, channel);
    visit_end_map(v);
    put_row_start(w, out, !run->any);
    reel_sink_put_bytes(out, bytes_of(run->row.data, run->row.size));
    put_row_end(w, out);
    run->any = true;
    return !run->row.failed || reel_fail_memory(err);
}

static bool rows_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    ((struct rows_run *)w->run)->any = false; /* it may be written again, for another window */
    json_put_text(out, is_array(w) ? "[" : "");
    return rows_channels(w, json_put_channel, out, err);
}

static bool rows_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    return rows_group(w, &((struct rows_run *)w->run)->rows, json_put_row, out, err);
}

/* When the limit ended the rows early: the cursor of the next row. */
static bool json_find_next(struct reel_write *w, struct reel_error *err) {
    struct rows_run *run = w->run;
    struct reel_message m;
    if (run->ended || !rows_limit_met(w, w->before)) {
        return true;
    }
    run->ended = true;
    enum reel_step step = stream_next(w->stream, &m, err);
    if (step == REEL_STEP_MESSAGE) {
        struct reel_position mark = reel_position_of(&m);
        reel_cursor_encode(&mark, run->next, sizeof run->next);
    }
    return step != REEL_STEP_ERROR;
}

/* The last record, by which clients recognise a complete stream (requested by `separated`). */
static bool rows_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    (void)part;
    struct rows_run *run = w->run;
    /* an event-stream client reconnects unless it is informed of the end */
    if (w->options->separated || is_events(w)) {
        if (!json_find_next(w, err)) {
            return false;
        }
        char count[24];
        snprintf(count, sizeof count, "%llu", (unsigned long long)w->before);
        json_put_text(out, is_events(w) ? "event: end\n" : "");
        put_row_start(w, out, w->before == 0 && !run->any);
        json_put_text(out, "{\"$end\":{\"complete\":true,\"messages\":");
        json_put_text(out, count);
        json_put_text(out, ",\"next\":");
        json_put_text(out, run->next[0] ? "\"" : "null"); /* a cursor needs no escapes */
        json_put_text(out, run->next);
        json_put_text(out, run->next[0] ? "\"}}" : "}}");
        put_row_end(w, out);
    }
    json_put_text(out, is_array(w) ? "\n]\n" : "");
    return true;
}

#define ROWS_WRITER                                                                                                    \
    .needs = REEL_STREAMED, .takes = REEL_TAKES_VALUES | REEL_TAKES_CHANNELS | REEL_TAKES_END, .version = 4,           \
    .run_size = sizeof(struct rows_run), .accepts = rows_accept, .open = rows_write_open, .close = rows_write_close,   \
    .head = rows_head, .messages = rows_messages, .tail = rows_tail

const struct reel_writer reel_writer_ndjson = {
    .name = "ndjson", .extension = ".ndjson", .media_type = "application/x-ndjson", ROWS_WRITER};
const struct reel_writer reel_writer_json = {
    .name = "json", .extension = ".json", .media_type = "application/json", ROWS_WRITER};
const struct reel_writer reel_writer_json_seq = {
    .name = "json-seq", .extension = ".json-seq", .media_type = "application/json-seq", ROWS_WRITER};
const struct reel_writer reel_writer_events = {
    .name = "events", .extension = ".events", .media_type = "text/event-stream", ROWS_WRITER};

/* ---- one message at a time (reel/convert.h) */

struct reel_json {
    struct reel_write write;
    struct reel_write_options options;
    struct rows_run run;
    char *text;
    size_t capacity;
};

struct reel_json *reel_json_new(struct reel_stream *stream, struct reel_error *err) {
    struct reel_json *json = calloc(1, sizeof *json);
    if (!json) {
        reel_fail_memory(err);
        return NULL;
    }
    json->write = (struct reel_write){
        .writer = &reel_writer_ndjson, .options = &json->options, .stream = stream, .run = &json->run};
    if (!rows_write_open(&json->write, err)) {
        reel_json_free(json);
        return NULL;
    }
    return json;
}

void reel_json_free(struct reel_json *json) {
    if (json) {
        rows_write_close(&json->write);
        free(json->text);
        free(json);
    }
}

bool reel_message_json(struct reel_json *json, const struct reel_message *m, const char **text, size_t *length,
                       struct reel_error *err) {
    struct reel_sink count = {0};
    if (!put_object(&json->write, m, &count, err)) {
        return false;
    }
    size_t size = (size_t)count.pos;
    if (size >= json->capacity) {
        char *larger = realloc(json->text, size + 1);
        if (!larger) {
            return reel_fail_memory(err);
        }
        json->text = larger;
        json->capacity = size + 1;
    }
    struct reel_sink out = {.hi = size, .buffer = (uint8_t *)json->text};
    if (!put_object(&json->write, m, &out, err)) {
        return false;
    }
    json->text[size] = '\0';
    *text = json->text;
    if (length) {
        *length = size;
    }
    return true;
}
