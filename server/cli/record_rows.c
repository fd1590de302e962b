/* See record_rows.h. */
#include "cli/record_rows.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reel/rows.h"
#include "reel/write.h"
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

static bool add_channel(struct grow *rows, const struct reel_channel *c, struct reel_error *err) {
    json_auto_t *row = view_channel(c);
    AUTO_MEM char *text = row ? json_dumps(row, JSON_COMPACT) : NULL;
    if (text) {
        grow_put(rows, text, strlen(text));
        grow_u8(rows, '\n');
    }
    return (text && !rows->failed) || reel_fail_memory(err);
}

bool record_rows_channels(struct record_remote *remote, const struct reel_stream *stream, uint32_t first, struct reel_error *err) {
    struct grow rows = {0};
    bool good = true;
    for (uint32_t i = first; i < stream->n_channels && good; i++) {
        bool free_one = stream->channels[i]->name[0] == '\0'; /* in a playback */
        good = free_one || add_channel(&rows, stream->channels[i], err);
        if (good && (rows.size > PIECE || (rows.size > 0 && i + 1 == stream->n_channels))) {
            good = record_remote_append(remote, bytes_of(rows.data, rows.size), err);
            rows.size = 0;
        }
    }
    free(rows.data);
    return good;
}

/* Sends the rows that are complete. */
static bool send_whole(struct record_remote *remote, struct grow *rows, struct reel_error *err) {
    size_t whole = reel_rows_whole(REEL_ROWS_JSON, bytes_of(rows->data, rows->size));
    if (whole == 0) {
        return rows->size < BATCH_MAX || reel_fail(err, REEL_LIMIT, "a message of more than %d MiB", BATCH_MAX >> 20);
    }
    if (!record_remote_append(remote, bytes_of(rows->data, whole), err)) {
        return false;
    }
    memmove(rows->data, rows->data + whole, rows->size - whole);
    rows->size -= whole;
    return true;
}

bool record_rows_send(struct record_remote *remote, struct reel_stream *stream, bool (*await)(struct reel_stream *stream),
                      struct reel_error *err) {
    const struct reel_write_options write = {.compression = "", .prompt = await != NULL, .raw = true};
    const struct reel_writer *writer = reel_writer_named(".ndjson", NULL, err);
    if (!writer) {
        reel_stream_free(stream);
        return false;
    }
    AUTO(reel_render_free) struct reel_render *render = reel_render_new(NULL, writer, &write, stream, err);
    struct grow rows = {0};
    size_t got = 1;
    bool good = render;
    while (good && got > 0) {
        uint8_t *room = grow_room(&rows, PIECE);
        good = room || reel_fail_memory(err);
        good = good && (!await || rows.size > 0 || await(stream) || reel_fail(err, REEL_CANCELLED, "interrupted"));
        good = good && reel_render_next(render, room, PIECE, &got, err);
        rows.size += good ? got : 0;
        good = good && (rows.size == 0 || send_whole(remote, &rows, err));
    }
    free(rows.data);
    return good;
}
