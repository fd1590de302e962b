/* Messages as CSV (RFC 4180): log_time, publish_time, sequence, recording and topic where there are several, then a
 * column for each requested field, or for each field in the schemas of all channels. A field that is a list of variable
 * length, a map or bytes is one cell: JSON, or base64. A field that is a time is written as log_time is; a duration is
 * a number of seconds. Payloads without a schema go to the column "data": JSON, or base64 when they are not decoded;
 * column names are unique. The columns depend only on the selection, never on the messages; a payload that does not
 * match its schema is written as base64 in the column "data" if there is one, else as {"$base64":…} in its first cell.
 */
#include <stddef.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "syntax/csv.h"
#include "syntax/json_out.h"
#include "syntax/utf8.h"
#include "tables/rows.h"

struct cell {
    size_t start, size;
};
struct csv_run {
    struct rows rows;
    struct rows_clock clock;
    struct field_set *fields;
    struct field_picker picker;
    struct json_out json; /* of a cell */
    const struct reel_visitor_ops *base_ops;
    struct reel_visitor_ops ops; /* like json's, but a text or bytes alone in a cell are written without quotes */
    struct cell *cells;
    bool *schemas;           /* by channel: it has fields */
    struct grow values, row; /* contents of the cells; the line */
    bool topics, whole;      /* columns topic and data exist */
    struct reel_write *w;    /* of the cell, and its message */
    const struct reel_message *message;
};

/* ---- columns */

struct columns {
    struct field_set *set;
    bool any, failed; /* the channel has fields; a field could not be added */
    struct reel_error *err;
};

static bool add_column(void *context, const struct reel_field *field) {
    struct columns *c = context;
    c->any = true;
    c->failed = !cancel_check(c->err) || !field_set_add(c->set, field->path, c->err);
    return !c->failed;
}

/* Adds the fields of all channels; a channel without fields requires the column "data". */
static struct field_set *columns_of_schemas(struct reel_write *w, struct reel_error *err) {
    struct csv_run *run = w->run;
    AUTO(field_set_free) struct field_set *set = field_set_new(NULL, 0, err);
    for (uint32_t i = 0; set && i < w->stream->n_channels; i++) {
        struct columns c = {.set = set, .err = err};
        const struct reel_decoder *d;
        if (!rows_decoder(&run->rows, w, i, &d, err) || (d && !reel_decoder_fields(d, add_column, &c) && c.failed)) {
            return NULL;
        }
        run->schemas[i] = c.any;
        run->whole = run->whole || !c.any;
    }
    return TAKE(set);
}

/* ---- cells */

static struct csv_run *run_of(struct reel_visitor *v) {
    return (struct csv_run *)((char *)v - offsetof(struct csv_run, json));
}

static bool cell_text(struct reel_visitor *v, struct reel_bytes value) {
    struct csv_run *run = run_of(v);
    if (run->json.depth > 0) {
        return run->base_ops->text(v, value);
    }
    utf8_put(&run->values, value);
    return run->values.size <= ROWS_TEXT_MAX;
}
static bool cell_binary(struct reel_visitor *v, struct reel_bytes value) {
    struct csv_run *run = run_of(v);
    if (run->json.depth > 0) {
        return run->base_ops->binary(v, value);
    }
    json_put_base64(&run->values, value);
    return run->values.size <= ROWS_TEXT_MAX;
}
static bool cell_null(struct reel_visitor *v) {
    return run_of(v)->json.depth > 0 ? run_of(v)->base_ops->null(v) : true; /* an empty cell */
}
/* Numbers that are quoted in JSON need no quotes here. */
static bool bare(struct csv_run *run, size_t before, bool goes_on) {
    struct grow *g = &run->values;
    if (run->json.depth == 0 && !g->failed && g->size - before > 2 && g->data[before] == '"') {
        g->size -= 2;
        memmove(g->data + before, g->data + before + 1, g->size - before);
    }
    return goes_on;
}
static bool cell_integer(struct reel_visitor *v, int64_t value) {
    struct csv_run *run = run_of(v);
    size_t before = run->values.size;
    return bare(run, before, run->base_ops->integer(v, value));
}
static bool cell_natural(struct reel_visitor *v, uint64_t value) {
    struct csv_run *run = run_of(v);
    size_t before = run->values.size;
    return bare(run, before, run->base_ops->natural(v, value));
}
static bool cell_real(struct reel_visitor *v, double value) {
    struct csv_run *run = run_of(v);
    size_t before = run->values.size;
    return bare(run, before, run->base_ops->real(v, value));
}
static bool cell_real32(struct reel_visitor *v, float value) {
    struct csv_run *run = run_of(v);
    size_t before = run->values.size;
    return bare(run, before, run->base_ops->real32(v, value));
}

/* A time as in JSON, without quotes. */
static void csv_put_time(struct csv_run *run, const struct reel_message *m, int64_t time, struct grow *out) {
    size_t before = out->size;
    rows_put_time(&run->clock, &run->rows, run->w, m, time, out);
    if (!out->failed && out->data[before] == '"') {
        out->size -= 2;
        memmove(out->data + before, out->data + before + 1, out->size - before);
    }
}
static bool cell_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    struct csv_run *run = run_of(v);
    int64_t ns;
    if (run->json.depth > 0 || __builtin_mul_overflow(value->seconds, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, value->nanoseconds, &ns)) {
        return reel_stamp_show(v, value);
    }
    if (value->is_duration) {
        rows_put_seconds(ns, &run->values);
    } else {
        csv_put_time(run, run->message, ns, &run->values);
    }
    return run->values.size <= ROWS_TEXT_MAX;
}

static struct reel_visitor *open_cell(void *context, uint32_t column) {
    struct csv_run *run = context;
    run->json = json_out_to(&run->values, ROWS_TEXT_MAX);
    run->json.visitor.ops = &run->ops;
    run->cells[column].start = run->values.size;
    return &run->json.visitor;
}
static bool close_cell(void *context, uint32_t column) {
    struct csv_run *run = context;
    struct cell *c = &run->cells[column];
    c->size = run->values.size - c->start;
    return !run->values.failed && !run->json.too_long;
}

/* ---- lines */

static bool put_facts(struct reel_write *w, const struct reel_message *m, struct reel_error *err) {
    struct csv_run *run = w->run;
    char sequence[16];
    struct reel_description d;
    if (!rows_describe(&run->rows, w, m, &d, err)) {
        return false;
    }
    csv_put_time(run, m, reel_write_time(w, m), &run->row);
    grow_text(&run->row, ",");
    csv_put_time(run, m, d.publish_ns, &run->row);
    snprintf(sequence, sizeof sequence, ",%u", d.sequence);
    grow_text(&run->row, sequence);
    if (w->options->source_ids) {
        grow_text(&run->row, ",");
        csv_put(&run->row, bytes_text(w->options->source_ids[m->source]));
    }
    if (run->topics) {
        grow_text(&run->row, ",");
        csv_put(&run->row, bytes_text(w->stream->channels[m->channel]->name));
    }
    return true;
}

/* Writes the payload as base64, to the cell of `data` or wrapped in the first cell. */
static bool raw_cell(struct reel_write *w, const struct reel_message *m, struct cell *c, bool framed,
                     struct reel_error *err) {
    struct csv_run *run = w->run;
    struct reel_bytes payload;
    if (m->size > REEL_DECODED_MAX) {
        return reel_fail(err, REEL_LIMIT, "a message of %u bytes is too large for a cell; take it as NDJSON or raw",
                         m->size);
    }
    if (!reel_stream_payload(w->stream, m, &payload, err)) {
        return false;
    }
    run->values.size = 0;
    grow_text(&run->values, framed ? "{\"$base64\":\"" : "");
    json_put_base64(&run->values, payload);
    grow_text(&run->values, framed ? "\"}" : "");
    *c = (struct cell){.start = 0, .size = run->values.size};
    return true;
}

/* Fills the cells; the cell after the last field is `data`. */
static bool fill_cells(struct reel_write *w, const struct reel_message *m, struct reel_error *err) {
    struct csv_run *run = w->run;
    uint32_t n = field_set_count(run->fields);
    bool decoded = false, fields = w->options->n_fields > 0 || run->schemas[m->channel];
    memset(run->cells, 0, ((size_t)n + 1) * sizeof *run->cells);
    run->values.size = 0;
    if (fields) {
        run->picker.set = run->fields;
        run->picker.open = open_cell;
        run->picker.close = close_cell;
        run->picker.context = run;
        field_picker_start(&run->picker);
        if (!rows_decode(&run->rows, w, m, &run->picker.visitor, &decoded, err)) {
            return false;
        }
        decoded = decoded && !run->json.too_long;
    } else {
        if (!rows_decode(&run->rows, w, m, open_cell(run, n), &decoded, err)) {
            return false;
        }
        decoded = close_cell(run, n) && decoded;
    }
    if (decoded) {
        return true;
    }
    memset(run->cells, 0, ((size_t)n + 1) * sizeof *run->cells);
    return raw_cell(w, m, &run->cells[run->whole ? n : 0], !run->whole, err);
}

static bool csv_put_line(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                         struct reel_error *err) {
    struct csv_run *run = w->run;
    run->row.size = 0;
    run->w = w;
    run->message = m;
    if (!put_facts(w, m, err) || !fill_cells(w, m, err)) {
        return false;
    }
    for (uint32_t i = 0; i < field_set_count(run->fields) + run->whole; i++) {
        grow_text(&run->row, ",");
        csv_put(&run->row, bytes_of(run->values.data + run->cells[i].start, run->cells[i].size));
    }
    grow_text(&run->row, "\r\n");
    if (run->row.failed || run->values.failed) {
        return reel_fail_memory(err);
    }
    reel_sink_put_bytes(out, bytes_of(run->row.data, run->row.size));
    if (run->row.capacity > ROWS_KEPT || run->values.capacity > ROWS_KEPT) {
        free(run->row.data);
        free(run->values.data);
        run->row = run->values = (struct grow){0};
    }
    return true;
}

/* ---- the writer */

static bool csv_open(struct reel_write *w, struct reel_error *err) {
    struct csv_run *run = w->run;
    if (!rows_open(&run->rows, w, err)) {
        return false;
    }
    run->topics = rows_several_topics(w->stream);
    if (!(run->schemas = calloc((size_t)w->stream->n_channels + 1, sizeof *run->schemas))) {
        return reel_fail_memory(err);
    }
    if (!rows_fields(w, &run->fields, err) || (!run->fields && !(run->fields = columns_of_schemas(w, err)))) {
        return false;
    }
    run->cells = calloc((size_t)field_set_count(run->fields) + 1, sizeof *run->cells);
    run->base_ops = json_out_to(&run->values, 0).visitor.ops;
    run->ops = *run->base_ops;
    run->ops.text = cell_text;
    run->ops.binary = cell_binary;
    run->ops.null = cell_null;
    run->ops.integer = cell_integer;
    run->ops.natural = cell_natural;
    run->ops.real = cell_real;
    run->ops.real32 = cell_real32;
    run->ops.stamp = cell_stamp;
    return run->cells || reel_fail_memory(err);
}

static void csv_close(struct reel_write *w) {
    struct csv_run *run = w->run;
    rows_close(&run->rows);
    field_set_free(run->fields);
    free(run->cells);
    free(run->schemas);
    free(run->values.data);
    free(run->row.data);
}

/* A field with the name of a fixed column is renamed to its JSON path: "data.topic". */
static void put_field_name(struct csv_run *run, const char *name) {
    static const char *const ours[] = {"log_time", "publish_time", "sequence", "recording", "topic"};
    bool taken = run->whole && strcmp(name, "data") == 0;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        taken = taken || strcmp(name, ours[i]) == 0;
    }
    grow_text(&run->row, taken ? ",data." : ",");
    csv_put(&run->row, bytes_text(name[0] ? name : "value"));
}

static bool csv_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct csv_run *run = w->run;
    run->row.size = 0;
    grow_text(&run->row, "log_time,publish_time,sequence");
    grow_text(&run->row, w->options->source_ids ? ",recording" : "");
    grow_text(&run->row, run->topics ? ",topic" : "");
    for (uint32_t i = 0; i < field_set_count(run->fields); i++) {
        put_field_name(run, field_set_name(run->fields, i));
    }
    grow_text(&run->row, run->whole ? ",data\r\n" : "\r\n");
    if (run->row.failed) {
        return reel_fail_memory(err);
    }
    reel_sink_put_bytes(out, bytes_of(run->row.data, run->row.size));
    return true;
}

static bool csv_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    return rows_group(w, &((struct csv_run *)w->run)->rows, csv_put_line, out, err);
}

const struct reel_writer reel_writer_csv = {
    .name = "csv",
    .extension = ".csv",
    .media_type = "text/csv",
    .needs = REEL_STREAMED,
    .takes = REEL_TAKES_VALUES,
    .version = 2,
    .run_size = sizeof(struct csv_run),
    .accepts = rows_accept,
    .open = csv_open,
    .close = csv_close,
    .head = csv_head,
    .messages = csv_messages,
    .tail = rows_no_tail,
};
