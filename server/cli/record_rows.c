/* See record_rows.h. */
#include "cli/record_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "convert/writer.h"
#include "formats/rows/append.h"

enum { PIECE = 1 << 20, BATCH_MAX = 8 << 20 };

bool record_rows_whole(struct record_remote *remote, struct grow *rows, struct reel_error *err) {
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

bool record_rows_send(struct record_remote *remote, struct reel_stream *stream, bool channels,
                      bool (*await)(struct reel_stream *stream), struct reel_error *err) {
    const struct reel_write_options write = {
        .compression = "", .prompt = await != NULL, .channels = channels, .raw = true};
    const struct reel_writer *writer = reel_writer_named(".ndjson", NULL, err);
    if (!writer) {
        reel_stream_free(stream);
        return false;
    }
    AUTO(reel_row_output_free) struct reel_row_output *output = reel_row_output_new(writer, &write, stream, err);
    struct grow rows = {0};
    size_t got = 1;
    bool good = output;
    while (good && got > 0) {
        uint8_t *room = grow_room(&rows, PIECE);
        good = room || reel_fail_memory(err);
        good = good && (!await || rows.size > 0 || await(stream) || reel_fail(err, REEL_CANCELLED, "interrupted"));
        good = good && reel_row_output_next(output, room, PIECE, &got, err);
        rows.size += good ? got : 0;
        good = good && (rows.size == 0 || record_rows_whole(remote, &rows, err));
    }
    free(rows.data);
    return good;
}
