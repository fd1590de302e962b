/* Fuzzes the reader of files of rows, and what appends rows that a client sends. */
#include "formats/rows/append.h"
#include "formats/rows/container.h"
#include "formats/rows/row.h"
#include "fuzz_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_rows(const struct row_parser *parser, struct reel_bytes text) {
    struct row row;
    for (size_t at = 0, end; at < text.size; at = end + 1) {
        struct reel_error err = {0};
        const uint8_t *newline = memchr(text.data + at, '\n', text.size - at);
        end = newline ? (size_t)(newline - text.data) : text.size;
        AUTO_EXACT struct reel_bytes line = exact_copy(bytes_of(text.data + at, end - at));
        bool good = row_parse_json(parser, line, &row, &err);
        fuzz_expect(good == (err.code == REEL_OK), "what is no row says why", &err);
    }
}

static void append_rows(struct reel_bytes body) {
    struct reel_error err = {0};
    char path[64];
    snprintf(path, sizeof path, "%s/reel-fuzz-%ld.mcap", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
    struct reel_rows_added added;
    const struct reel_writer *writer = reel_writer_named(".mcap", NULL, &err);
    AUTO(reel_recorder_free) struct reel_recorder *recorder = reel_recorder_open(path, writer, NULL, &err);
    AUTO(reel_rows_free) struct reel_rows *rows = recorder ? reel_rows_new(recorder, &err) : NULL;
    fuzz_expect(rows != NULL, "open the recorder", &err);
    for (int media = REEL_ROWS_JSON; media <= REEL_ROWS_MSGPACK; media++) {
        struct reel_error why = {0};
        bool good = reel_rows_append(rows, (enum reel_row_media)media, body, 1, &added, &why);
        fuzz_expect(good == (why.code == REEL_OK), "rows that are not recorded say why", &why);
        fuzz_expect(reel_rows_whole((enum reel_row_media)media, body) <= body.size, "whole rows", &why);
    }
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reel_error err = {0};
    struct arena arena = {0};
    struct row_parser parser;
    AUTO_EXACT struct reel_bytes text = exact_copy(bytes_of(data, size));
    fuzz_expect(row_parser_open(&parser, &arena, 1, &err), "open the parser", &err);
    parse_rows(&parser, text);
    row_parser_close(&parser);
    arena_free(&arena);
    append_rows(text);
    return fuzz_scan(data, size, &reel_format_rows);
}
