/* Messages as MessagePack: one map per message, concatenated, with the keys of the JSON rows; integers of any size,
 * bytes and non-finite numbers keep their type. "data" is the decoded payload, or bytes together with "encoding". The
 * sizes of maps and lists are only known at their end, so each begins with a header of five bytes that is filled in
 * then. */
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/shortest_number.h"
#include "syntax/json_out.h"
#include "syntax/utf8.h"
#include "syntax/visitor.h"
#include "tables/rows.h"

enum { DEPTH_MAX = JSON_DEPTH_MAX };

struct pack_out {
    struct reel_visitor visitor; /* must be the first member */
    struct grow *to;
    uint32_t depth;
    bool too_long;
    size_t heads[DEPTH_MAX + 1];
    uint32_t counts[DEPTH_MAX + 1];
    bool maps[DEPTH_MAX + 1];
};

static struct pack_out *msgpack_self(struct reel_visitor *v) {
    return (struct pack_out *)v;
}
static bool msgpack_goes_on(struct pack_out *p) {
    p->too_long = p->too_long || p->to->size > ROWS_TEXT_MAX;
    return !p->too_long && !p->to->failed;
}

static void store_be(uint8_t *at, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) {
        at[i] = (uint8_t)(value >> 8 * (size - 1 - i));
    }
}
/* A type byte and a big-endian number. */
static void msgpack_put_head(struct grow *to, uint8_t type, uint64_t value, unsigned size) {
    uint8_t head[9] = {type};
    store_be(head + 1, value, size);
    grow_put(to, head, size + 1);
}

static void put_natural(struct grow *to, uint64_t v) {
    if (v < 128) {
        msgpack_put_head(to, (uint8_t)v, 0, 0);
    } else if (v <= UINT32_MAX) {
        msgpack_put_head(to, v < 256 ? 0xcc : v < 65536 ? 0xcd : 0xce, v, v < 256 ? 1 : v < 65536 ? 2 : 4);
    } else {
        msgpack_put_head(to, 0xcf, v, 8);
    }
}
static void put_integer(struct grow *to, int64_t v) {
    if (v >= 0) {
        put_natural(to, (uint64_t)v);
    } else if (v >= -32) {
        msgpack_put_head(to, (uint8_t)v, 0, 0);
    } else {
        unsigned size = v >= INT8_MIN ? 1 : v >= INT16_MIN ? 2 : v >= INT32_MIN ? 4 : 8;
        msgpack_put_head(to, size == 1 ? 0xd0 : size == 2 ? 0xd1 : size == 4 ? 0xd2 : 0xd3, (uint64_t)v, size);
    }
}
/* Text that is not valid UTF-8 is written as bytes, because readers would reject it as a str. */
static void msgpack_put_string(struct grow *to, struct reel_bytes s) {
    uint8_t one = s.size < 32 ? (uint8_t)(0xa0 | s.size) : 0;
    if (one) {
        msgpack_put_head(to, one, 0, 0);
    } else {
        msgpack_put_head(to,
                         s.size < 256     ? 0xd9
                         : s.size < 65536 ? 0xda
                                          : 0xdb,
                         s.size,
                         s.size < 256     ? 1
                         : s.size < 65536 ? 2
                                          : 4);
    }
    grow_put(to, s.data, s.size);
}
static void msgpack_put_bytes(struct grow *to, struct reel_bytes s) {
    msgpack_put_head(to,
                     s.size < 256     ? 0xc4
                     : s.size < 65536 ? 0xc5
                                      : 0xc6,
                     s.size,
                     s.size < 256     ? 1
                     : s.size < 65536 ? 2
                                      : 4);
    grow_put(to, s.data, s.size);
}
static void msgpack_put_text(struct grow *to, struct reel_bytes s) {
    if (utf8_valid(s)) {
        msgpack_put_string(to, s);
    } else {
        msgpack_put_bytes(to, s);
    }
}

/* ---- the visitor */

static struct grow *value(struct reel_visitor *v) {
    struct pack_out *p = msgpack_self(v);
    p->counts[p->depth] += !p->maps[p->depth]; /* in a map only keys are counted */
    return p->to;
}
static bool msgpack_begin(struct reel_visitor *v, bool map) {
    struct pack_out *p = msgpack_self(v);
    struct grow *to = value(v);
    size_t at = to->size;
    msgpack_put_head(to, map ? 0xdf : 0xdd, 0, 4);
    if (p->depth == DEPTH_MAX) {
        p->too_long = true;
        return false;
    }
    p->depth++;
    p->heads[p->depth] = at;
    p->counts[p->depth] = 0;
    p->maps[p->depth] = map;
    return msgpack_goes_on(p);
}
static bool msgpack_end(struct reel_visitor *v) {
    struct pack_out *p = msgpack_self(v);
    if (!p->to->failed) {
        store_be(p->to->data + p->heads[p->depth] + 1, p->counts[p->depth], 4);
    }
    p->depth -= p->depth > 0;
    return msgpack_goes_on(p);
}
static bool msgpack_begin_map(struct reel_visitor *v) {
    return msgpack_begin(v, true);
}
static bool msgpack_begin_list(struct reel_visitor *v) {
    return msgpack_begin(v, false);
}
static bool tables_msgpack_key(struct reel_visitor *v, struct reel_bytes name) {
    struct pack_out *p = msgpack_self(v);
    p->counts[p->depth]++;
    msgpack_put_text(p->to, name);
    return msgpack_goes_on(p);
}
static bool msgpack_null(struct reel_visitor *v) {
    msgpack_put_head(value(v), 0xc0, 0, 0);
    return msgpack_goes_on(msgpack_self(v));
}
static bool msgpack_boolean(struct reel_visitor *v, bool yes) {
    msgpack_put_head(value(v), yes ? 0xc3 : 0xc2, 0, 0);
    return msgpack_goes_on(msgpack_self(v));
}
static bool msgpack_integer(struct reel_visitor *v, int64_t number) {
    put_integer(value(v), number);
    return msgpack_goes_on(msgpack_self(v));
}
static bool msgpack_natural(struct reel_visitor *v, uint64_t number) {
    put_natural(value(v), number);
    return msgpack_goes_on(msgpack_self(v));
}
static bool msgpack_real(struct reel_visitor *v, double number) {
    msgpack_put_head(value(v), 0xcb, f64_bits(number), 8);
    return msgpack_goes_on(msgpack_self(v));
}
static bool msgpack_real32(struct reel_visitor *v, float number) {
    msgpack_put_head(value(v), 0xca, f32_bits(number), 4);
    return msgpack_goes_on(msgpack_self(v));
}
static bool msgpack_text(struct reel_visitor *v, struct reel_bytes s) {
    msgpack_put_text(value(v), s);
    return msgpack_goes_on(msgpack_self(v));
}
static bool msgpack_binary(struct reel_visitor *v, struct reel_bytes s) {
    msgpack_put_bytes(value(v), s);
    return msgpack_goes_on(msgpack_self(v));
}

static const struct reel_visitor_ops ops = {
    .begin_map = msgpack_begin_map,
    .key = tables_msgpack_key,
    .end_map = msgpack_end,
    .begin_list = msgpack_begin_list,
    .end_list = msgpack_end,
    .null = msgpack_null,
    .boolean = msgpack_boolean,
    .integer = msgpack_integer,
    .natural = msgpack_natural,
    .real = msgpack_real,
    .real32 = msgpack_real32,
    .text = msgpack_text,
    .binary = msgpack_binary,
};

/* ---- the writer */

struct msgpack_run {
    struct rows rows;
    struct rows_clock clock;
    struct field_set *fields;
    struct field_picker picker;
    struct pack_out out;
    struct grow row, time;
};

static struct reel_visitor *open_field(void *context, uint32_t column) {
    struct msgpack_run *run = context;
    visit_key_text(&run->out.visitor, field_set_name(run->fields, column));
    return &run->out.visitor;
}
static bool close_field(void *context, uint32_t column) {
    (void)context;
    (void)column;
    return true;
}

/* Nanoseconds as integers, seconds and milliseconds as reals; text in JSON is text here too. */
static void msgpack_put_time(struct reel_write *w, const struct reel_message *m, int64_t time) {
    struct msgpack_run *run = w->run;
    struct reel_visitor *v = &run->out.visitor;
    if (w->options->time_format == REEL_TIME_NANOSECONDS) {
        visit_integer(v, time);
        return;
    }
    run->time.size = 0;
    rows_put_time(&run->clock, &run->rows, w, m, time, &run->time);
    grow_put(&run->time, "", 1);
    const char *text = run->time.failed ? "0" : (const char *)run->time.data;
    if (text[0] == '"') {
        visit_text(v, bytes_of(text + 1, strlen(text) - 2));
    } else {
        visit_real(v, shortest_read(text, strlen(text)));
    }
}

static bool put_data(struct reel_write *w, const struct reel_message *m, struct reel_error *err) {
    struct msgpack_run *run = w->run;
    struct pack_out before = run->out;
    size_t size = run->row.size;
    struct reel_visitor *v = &run->out.visitor;
    bool decoded;
    if (run->fields) {
        run->picker.set = run->fields;
        run->picker.open = open_field;
        run->picker.close = close_field;
        run->picker.context = run;
        field_picker_start(&run->picker);
        visit_begin_map(v);
        v = &run->picker.visitor;
    }
    if (!rows_decode(&run->rows, w, m, v, &decoded, err)) {
        return false;
    }
    if (decoded && !run->out.too_long && !run->row.failed) {
        return !run->fields || visit_end_map(&run->out.visitor) || reel_fail_memory(err);
    }
    struct reel_bytes payload;
    run->out = before;
    run->row.size = size;
    if (m->size > REEL_DECODED_MAX) {
        return reel_fail(err, REEL_LIMIT,
                         "a message of %u bytes is too large for MessagePack; take it as NDJSON or raw", m->size);
    }
    if (!reel_stream_payload(w->stream, m, &payload, err)) {
        return false;
    }
    visit_binary(&run->out.visitor, payload);
    visit_key_text(&run->out.visitor, "encoding");
    visit_text(&run->out.visitor, bytes_text(w->stream->channels[m->channel]->encoding));
    return true;
}

static void msgpack_put_member(struct reel_visitor *v, const char *name, const char *text) {
    visit_key_text(v, name);
    visit_text(v, bytes_text(text));
}

static bool msgpack_put_row(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                            struct reel_error *err) {
    struct msgpack_run *run = w->run;
    const struct reel_channel *channel = w->stream->channels[m->channel];
    int64_t time = reel_write_time(w, m);
    struct reel_description d;
    if (!rows_describe(&run->rows, w, m, &d, err)) {
        return false;
    }
    run->row.size = 0;
    run->out = (struct pack_out){.visitor.ops = &ops, .to = &run->row};
    struct reel_visitor *v = &run->out.visitor;
    visit_begin_map(v);
    if (w->options->source_ids) {
        msgpack_put_member(v, "recording", w->options->source_ids[m->source]);
    }
    msgpack_put_member(v, "topic", channel->name);
    visit_key_text(v, "sequence");
    visit_natural(v, d.sequence);
    visit_key_text(v, "log_time");
    msgpack_put_time(w, m, time);
    visit_key_text(v, "publish_time");
    msgpack_put_time(w, m, d.publish_ns);
    if (d.frame_id) {
        msgpack_put_member(v, "frame_id", d.frame_id);
    }
    if (run->rows.callerids[m->channel]) {
        msgpack_put_member(v, "callerid", run->rows.callerids[m->channel]);
    }
    if (m->before_start) {
        visit_key_text(v, "before_start");
        visit_boolean(v, true);
    }
    visit_key_text(v, "data");
    if (!put_data(w, m, err)) {
        return false;
    }
    visit_end_map(v);
    if (run->row.failed || run->time.failed) {
        return reel_fail_memory(err);
    }
    reel_sink_put_bytes(out, bytes_of(run->row.data, run->row.size));
    if (run->row.capacity > ROWS_KEPT) {
        free(run->row.data);
        run->row = (struct grow){0};
    }
    return true;
}

static bool msgpack_put_channel(struct reel_write *w, const struct reel_channel *channel, struct reel_sink *out,
                                struct reel_error *err) {
    struct msgpack_run *run = w->run;
    run->row.size = 0;
    run->out = (struct pack_out){.visitor.ops = &ops, .to = &run->row};
    struct reel_visitor *v = &run->out.visitor;
    visit_begin_map(v);
    visit_key_text(v, "$channel");
    rows_visit_channel(v, channel);
    visit_end_map(v);
    reel_sink_put_bytes(out, bytes_of(run->row.data, run->row.size));
    return !run->row.failed || reel_fail_memory(err);
}
static bool msgpack_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    return rows_channels(w, msgpack_put_channel, out, err);
}

static bool msgpack_open(struct reel_write *w, struct reel_error *err) {
    struct msgpack_run *run = w->run;
    return rows_open(&run->rows, w, err) && rows_fields(w, &run->fields, err);
}
static void msgpack_close(struct reel_write *w) {
    struct msgpack_run *run = w->run;
    rows_close(&run->rows);
    field_set_free(run->fields);
    free(run->row.data);
    free(run->time.data);
}
static bool msgpack_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    return rows_group(w, &((struct msgpack_run *)w->run)->rows, msgpack_put_row, out, err);
}

const struct reel_writer reel_writer_msgpack = {
    .name = "msgpack",
    .extension = ".msgpack",
    .media_type = "application/msgpack",
    .needs = REEL_STREAMED,
    .takes = REEL_TAKES_VALUES | REEL_TAKES_CHANNELS,
    .version = 1,
    .run_size = sizeof(struct msgpack_run),
    .accepts = rows_accept,
    .open = msgpack_open,
    .close = msgpack_close,
    .head = msgpack_head,
    .messages = msgpack_messages,
    .tail = rows_no_tail,
};
