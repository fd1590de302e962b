/* Appends rows to a recorder (formats/rows/append.h). A batch is parsed whole before its first row is recorded. */
#include "formats/rows/row.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "index/format.h"
#include "stream/stream.h"
#include "syntax/json_scan.h"
#include "syntax/msgpack.h"

struct topic {
    struct topic *next;         /* list of all */
    struct topic *next_pending; /* list of those that the batch adds */
    char *name, *type, *encoding;
    const struct reel_channel *declared; /* by a row of the batch; NULL: made of its first message */
    uint32_t id;
    bool known; /* the recorder has it; else it stands for nothing, or is pending */
    bool pending;
};

struct reel_rows {
    struct reel_recorder *recorder;
    struct hash_table by_name; /* → struct topic */
    struct topic *topics;
};

struct reel_rows *reel_rows_new(struct reel_recorder *recorder, struct reel_error *err) {
    struct reel_rows *rows = calloc(1, sizeof *rows);
    if (!rows) {
        reel_fail_memory(err);
        return NULL;
    }
    rows->recorder = recorder;
    return rows;
}

void reel_rows_free(struct reel_rows *rows) {
    if (rows) {
        for (struct topic *t = rows->topics, *next; t; t = next) {
            next = t->next;
            free(t->name);
            free(t->type);
            free(t->encoding);
            free(t);
        }
        hash_table_free(&rows->by_name);
        free(rows);
    }
}

/* The topic of this name, made if there is none. */
static struct topic *rows_append_topic_named(struct reel_rows *rows, const char *name, struct reel_error *err) {
    struct topic *t = (struct topic *)hash_table_get(&rows->by_name, hash_key_bytes(bytes_text(name)));
    if (t) {
        return t;
    }
    t = calloc(1, sizeof *t);
    if (!t || !(t->name = strdup(name)) ||
        !hash_table_set(&rows->by_name, hash_key_bytes(bytes_text(t->name)), (uintptr_t)t, NULL)) {
        free(t ? t->name : NULL);
        free(t);
        reel_fail_memory(err);
        return NULL;
    }
    t->next = rows->topics;
    rows->topics = t;
    return t;
}

static bool rows_append_describe(struct topic *t, const char *type, const char *encoding, struct reel_error *err) {
    free(t->type);
    free(t->encoding);
    t->type = strdup(type);
    t->encoding = strdup(encoding);
    return (t->type && t->encoding) || reel_fail_memory(err);
}

bool reel_rows_know(struct reel_rows *rows, const struct reel_channel *channel, uint32_t id, struct reel_error *err) {
    struct topic *t = rows_append_topic_named(rows, channel->name, err);
    if (!t || t->known) {
        return t;
    }
    t->id = id;
    t->known = true;
    return rows_append_describe(t, channel->type, channel->encoding, err);
}

/* ---- batches */

struct message {
    struct topic *topic;
    int64_t log_ns, publish_ns;
    struct reel_bytes payload;
    uint32_t sequence;
};

struct batch {
    struct reel_rows *rows;
    struct arena arena;
    struct row_parser parser;
    struct message *messages;
    size_t n, capacity;
    struct topic *pending, **pending_end; /* in the order of their rows */
    uint64_t row;
};

static void rows_batch_done(struct batch *b) {
    for (struct topic *t = b->pending; t; t = t->next_pending) { /* those that were not added stand for nothing again */
        t->pending = false;
        t->declared = NULL;
    }
    row_parser_close(&b->parser);
    arena_free(&b->arena);
    free(b->messages);
}

/* The topic as a channel of this type and encoding, new in this batch or the same as before. */
static bool settle(struct batch *b, struct topic *t, const char *type, const char *encoding,
                   const struct reel_channel *declared, struct reel_error *err) {
    if (!t->known && !t->pending) {
        t->pending = true;
        t->declared = declared;
        t->next_pending = NULL;
        *b->pending_end = t;
        b->pending_end = &t->next_pending;
        return rows_append_describe(t, type, encoding, err);
    }
    if (strcmp(t->encoding, encoding) != 0) {
        return reel_fail(err, REEL_CONFLICT, "topic %.128s has the encoding \"%.40s\", not \"%.40s\"", t->name,
                         t->encoding, encoding);
    }
    return strcmp(t->type, type) == 0 ||
           reel_fail(err, REEL_CONFLICT, "topic %.128s has the type \"%.128s\", not \"%.128s\"", t->name, t->type,
                     type);
}

static bool rows_take_message(struct batch *b, const struct row *row, const char *medium, struct reel_error *err) {
    struct topic *t = rows_append_topic_named(b->rows, row->topic, err);
    if (!t) {
        return false;
    }
    bool there = t->known || t->pending;
    if (!there && !settle(b, t, "", row->is_bytes ? "" : medium, NULL, err)) {
        return false;
    }
    if (!row->is_bytes && strcmp(t->encoding, medium) != 0) {
        return reel_fail(err, REEL_ARGUMENT,
                         "data: topic %.128s has the encoding \"%.40s\": its messages are bytes, %s", t->name,
                         t->encoding, strcmp(medium, "json") == 0 ? "{\"$base64\": …}" : "a bin");
    }
    if (row->log_ns < 0 || row->publish_ns < 0) {
        return reel_fail(err, REEL_ARGUMENT, "times before 1970 cannot be recorded");
    }
    if (!GROW_ARRAY(b->messages, b->n, b->capacity)) {
        return reel_fail_memory(err);
    }
    b->messages[b->n++] = (struct message){.topic = t,
                                           .log_ns = row->log_ns,
                                           .publish_ns = row->publish_ns,
                                           .payload = row->payload,
                                           .sequence = row->sequence};
    return true;
}

static bool rows_append_take_row(struct batch *b, struct reel_bytes text, enum reel_row_media media,
                                 struct reel_error *err) {
    struct row row;
    b->row++;
    bool good = media == REEL_ROWS_JSON ? row_parse_json(&b->parser, text, &row, err)
                                        : row_parse_msgpack(&b->parser, text, &row, err);
    if (good && row.kind == ROW_CHANNEL) {
        struct topic *t = rows_append_topic_named(b->rows, row.topic, err);
        good = t && settle(b, t, row.channel->type, row.channel->encoding, row.channel, err);
    } else if (good && row.kind == ROW_MESSAGE) {
        good = rows_take_message(b, &row, media == REEL_ROWS_JSON ? "json" : "msgpack", err);
    }
    return good || reel_error_at(err, "row %llu", (unsigned long long)b->row);
}

static bool take_lines(struct batch *b, struct reel_bytes body, struct reel_error *err) {
    for (size_t at = 0, end; at < body.size; at = end + 1) {
        const uint8_t *newline = memchr(body.data + at, '\n', body.size - at);
        end = newline ? (size_t)(newline - body.data) : body.size;
        size_t size = end - at, from = at + (size > 0 && body.data[at] == 0x1e); /* json-seq puts a record separator in
                                                                                    front */
        struct cursor line = cursor_of(bytes_of(body.data + from, end - from));
        json_space(&line);
        if (!cursor_done(&line) &&
            !rows_append_take_row(b, bytes_of(body.data + from, end - from), REEL_ROWS_JSON, err)) {
            return false;
        }
    }
    return true;
}

static bool take_array(struct batch *b, struct reel_bytes body, struct reel_error *err) {
    struct json_items s = json_items_of(body, '[', ']');
    struct reel_bytes row;
    while (json_next(&s, &row)) {
        if (!rows_append_take_row(b, row, REEL_ROWS_JSON, err)) {
            return false;
        }
    }
    return json_items_end(&s) ||
           reel_fail(err, REEL_ARGUMENT, "after row %llu: this is no JSON array of rows", (unsigned long long)b->row);
}

static bool take_maps(struct batch *b, struct reel_bytes body, struct reel_error *err) {
    struct msgpack_faults faults = {0};
    struct cursor c = cursor_of(body);
    while (!cursor_done(&c)) {
        const uint8_t *from = c.at;
        enum msgpack_result result = msgpack_skip(&c, REEL_DEPTH_MAX, &faults);
        if (result != MSGPACK_OK) {
            return reel_fail(err, REEL_ARGUMENT, "row %llu: %s", (unsigned long long)b->row + 1,
                             msgpack_result_text(result));
        }
        if (!rows_append_take_row(b, bytes_of(from, (size_t)(c.at - from)), REEL_ROWS_MSGPACK, err)) {
            return false;
        }
    }
    return true;
}

static bool add_topics(struct batch *b, struct reel_error *err) {
    for (struct topic *t = b->pending; t; t = t->next_pending) {
        const char *name = t->name;
        const struct reel_channel made = {
            .name = name, .topics = &name, .n_topics = 1, .type = "", .encoding = t->encoding};
        if (!reel_recorder_copy_channel(b->rows->recorder, t->declared ? t->declared : &made, &t->id, err)) {
            return false;
        }
        t->known = true;
    }
    return true;
}

static bool record_messages(struct batch *b, struct reel_rows_added *added, struct reel_error *err) {
    for (size_t i = 0; i < b->n; i++) {
        const struct message *m = &b->messages[i];
        const struct reel_record record = {.size = sizeof record,
                                           .channel = m->topic->id,
                                           .sequence = m->sequence,
                                           .log_time_ns = m->log_ns,
                                           .publish_time_ns = m->publish_ns,
                                           .payload = m->payload};
        if (!reel_recorder_message(b->rows->recorder, &record, err)) {
            return false;
        }
        added->last_ns = m->log_ns;
    }
    added->messages = b->n;
    return true;
}

bool reel_rows_append(struct reel_rows *rows, enum reel_row_media media, struct reel_bytes body, int64_t now_ns,
                      struct reel_rows_added *added, struct reel_error *err) {
    enum { BATCH_MEMORY_MAX = 256 << 20 };
    AUTO_STRUCT(rows_batch_done) struct batch b = {.rows = rows, .arena.max = BATCH_MEMORY_MAX};
    b.pending_end = &b.pending;
    *added = (struct reel_rows_added){0};
    struct cursor c = cursor_of(body);
    json_space(&c);
    bool is_array = !cursor_done(&c) && *c.at == '[';
    return row_parser_open(&b.parser, &b.arena, now_ns, err) &&
           (media == REEL_ROWS_MSGPACK ? take_maps(&b, body, err)
            : is_array                 ? take_array(&b, body, err)
                                       : take_lines(&b, body, err)) &&
           add_topics(&b, err) && record_messages(&b, added, err);
}

size_t reel_rows_whole(enum reel_row_media media, struct reel_bytes text) {
    if (media == REEL_ROWS_JSON) {
        const uint8_t *newline = text.size > 0 ? memrchr(text.data, '\n', text.size) : NULL;
        return newline ? (size_t)(newline + 1 - text.data) : 0;
    }
    struct msgpack_faults faults = {0};
    struct cursor c = cursor_of(text);
    size_t whole = 0;
    while (!cursor_done(&c) && msgpack_skip(&c, REEL_DEPTH_MAX, &faults) == MSGPACK_OK) {
        whole = (size_t)(c.at - text.data);
    }
    return whole;
}

/* ---- recordings */

/* The topic of a channel, which it may be; NULL: err. */
static struct topic *rows_topic_of(struct reel_rows *rows, const struct reel_channel *c, struct reel_error *err) {
    struct topic *t = rows_append_topic_named(rows, c->name, err);
    if (t && t->known && (strcmp(t->encoding, c->encoding) != 0 || strcmp(t->type, c->type) != 0)) {
        reel_fail(err, REEL_CONFLICT,
                  "topic %.128s has the type \"%.128s\" and the encoding \"%.40s\", not \"%.128s\" and \"%.40s\"",
                  t->name, t->type, t->encoding, c->type, c->encoding);
        return NULL;
    }
    return t;
}

bool reel_rows_channel(struct reel_rows *rows, const struct reel_channel *channel, uint32_t *id,
                       struct reel_error *err) {
    struct topic *t = rows_topic_of(rows, channel, err);
    if (!t || (!t->known && (!reel_recorder_copy_channel(rows->recorder, channel, &t->id, err) ||
                             !rows_append_describe(t, channel->type, channel->encoding, err)))) {
        return false;
    }
    t->known = true;
    *id = t->id;
    return true;
}

static bool rows_add_channels(struct reel_rows *rows, const struct reel_stream *stream, uint32_t *ids,
                              struct reel_error *err) {
    bool good = true;
    for (uint32_t i = 0; i < stream->n_channels && good; i++) { /* all are compared before the first is added */
        good = rows_topic_of(rows, stream->channels[i], err);
    }
    for (uint32_t i = 0; i < stream->n_channels && good; i++) {
        good = reel_rows_channel(rows, stream->channels[i], &ids[i], err);
    }
    return good;
}

bool reel_rows_append_recording(struct reel_rows *rows, struct reel_recording *recording, struct reel_rows_added *added,
                                struct reel_error *err) {
    *added = (struct reel_rows_added){0};
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, err);
    AUTO_MEM uint32_t *ids = stream ? calloc((size_t)stream->n_channels + 1, sizeof *ids) : NULL;
    if (!stream) {
        return false;
    }
    if (!ids) {
        return reel_fail_memory(err);
    }
    if (!rows_add_channels(rows, stream, ids, err)) {
        return false;
    }
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    struct reel_message m;
    enum reel_step step;
    while ((step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE) {
        struct reel_description d = {.publish_ns = m.time_ns};
        struct reel_record record = {.size = sizeof record, .channel = ids[m.channel], .log_time_ns = m.time_ns};
        if ((info->format->describe && !stream_describe(stream, &m, &d, err)) ||
            !reel_stream_payload(stream, &m, &record.payload, err)) {
            return false;
        }
        record.sequence = d.sequence;
        record.publish_time_ns = d.publish_ns > 0 ? d.publish_ns : 0;
        if (!reel_recorder_message(rows->recorder, &record, err)) {
            return false;
        }
        added->messages++;
        added->last_ns = m.time_ns;
    }
    return step == REEL_STEP_END;
}
