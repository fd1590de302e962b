/* See play_remote.h. The channels are sent as rows first, then each message as a row of bytes. */
#include "cli/play_remote.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "wire/base64.h"
#include "wire/bytes.h"
#include "wire/cleanup.h"
#include "wire/grow.h"

enum { PIECE = 1 << 20, BATCH_MAX = 8 << 20 };

static json_t *base64(struct reel_bytes bytes) {
    char *text = malloc(BASE64_TEXT(bytes.size) + 1);
    if (!text) {
        return NULL;
    }
    base64_write(bytes, text);
    json_t *value = json_pack("{s:s%}", "$base64", text, BASE64_TEXT(bytes.size));
    free(text);
    return value;
}

static json_t *view_channel(const struct reel_channel *c) {
    const struct reel_schema *schema = reel_channel_schema(c);
    json_t *row = json_pack("{s:s, s:s, s:s, s:b}", "topic", c->name, "type", c->type, "encoding", c->encoding, "latched", c->latched);
    if (schema) {
        json_object_set_new(row, "schema", base64(schema->data));
        json_object_set_new(row, "schema_name", json_string(schema->name));
        json_object_set_new(row, "schema_encoding", json_string(schema->encoding));
    }
    json_t *metadata = json_object();
    for (size_t i = 0; i < c->metadata.count && i < 255; i++) {
        json_object_set_new(metadata, c->metadata.items[i].key, json_string(c->metadata.items[i].value));
    }
    json_object_set_new(row, "metadata", metadata);
    return json_pack("{s:o}", "$channel", row);
}

static bool send_channels(struct record_remote *remote, const struct reel_stream *stream, struct reel_error *err) {
    struct grow rows = {0};
    bool good = true;
    for (uint32_t i = 0; i < stream->n_channels && good; i++) {
        json_t *row = view_channel(stream->channels[i]);
        char *text = row ? json_dumps(row, JSON_COMPACT) : NULL;
        json_decref(row);
        if (text) {
            grow_put(&rows, text, strlen(text));
            grow_u8(&rows, '\n');
        }
        good = (text && !rows.failed) || reel_fail_memory(err);
        free(text);
        if (good && (rows.size > PIECE || i + 1 == stream->n_channels)) {
            good = record_remote_append(remote, bytes_of(rows.data, rows.size), err);
            rows.size = 0;
        }
    }
    free(rows.data);
    return good;
}

/* Sends each row when the stream gives it; a row that is larger than a piece waits for its end. */
static bool send_rows(struct record_remote *remote, struct reel_render *render, struct reel_error *err) {
    struct grow rows = {0};
    size_t got = 1;
    bool good = true;
    while (good && got > 0) {
        uint8_t *room = grow_room(&rows, PIECE);
        good = room ? reel_render_next(render, room, PIECE, &got, err) : reel_fail_memory(err);
        rows.size += good ? got : 0;
        bool whole = rows.size > 0 && rows.data[rows.size - 1] == '\n';
        if (good && (whole || got == 0) && rows.size > 0) {
            good = record_remote_append(remote, bytes_of(rows.data, rows.size), err);
            rows.size = 0;
        }
        good = good && (rows.size < BATCH_MAX || reel_fail(err, REEL_LIMIT, "a message of more than %d MiB", BATCH_MAX >> 20));
    }
    free(rows.data);
    return good;
}

bool play_remote(const struct record_remote_options *options, struct reel_stream *stream, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *own = stream;
    AUTO(record_remote_free) struct record_remote *remote = record_remote_open(options, err);
    const struct reel_write_options write = {.compression = "", .prompt = true, .raw = true};
    const struct reel_writer *writer = remote ? reel_writer_named(".ndjson", NULL, err) : NULL;
    if (!writer || !send_channels(remote, own, err)) {
        return false;
    }
    AUTO(reel_render_free) struct reel_render *render = reel_render_new(NULL, writer, &write, TAKE(own), err);
    struct reel_error why = {0};
    bool good = render && send_rows(remote, render, &why);
    if (!good && why.code != REEL_CANCELLED) { /* Ctrl-C ends the playback, and so the recording */
        return reel_error_pass(err, &why);
    }
    return record_remote_finish(remote, err);
}
