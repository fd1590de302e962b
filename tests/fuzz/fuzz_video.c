/* Fuzzes videos as MP4. Input: u8 how (bit 0: H.265), then frames, each behind u16 its size. The frames become a
 * recording, which is planned, and written in one piece and in small ones (libFuzzer: of one input in two): both must
 * be the same bytes. */
#include "base/cursor.h"
#include "base/grow.h"
#include "convert/writer.h"
#include "formats/rows/container.h"
#include "fuzz_scan.h"
#include "syntax/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES_MAX = 16, PIECE = 97 };

/* As a file of rows. */
static void put_rows(struct grow *rows, struct cursor *c, bool h265) {
    static const char channel[] =
        "{\"$channel\": {\"topic\": \"/v\", \"type\": \"CompressedVideo\", \"encoding\": \"json\"}}\n";
    grow_put(rows, channel, sizeof channel - 1);
    for (unsigned i = 0; i < FRAMES_MAX && cursor_left(c) > 0; i++) {
        char head[128], *text;
        size_t left, want = cursor_u16le(c);
        left = cursor_left(c);
        struct reel_bytes frame = bytes_of(c->at, want < left ? want : left);
        cursor_take(c, frame.size);
        snprintf(head, sizeof head, "{\"topic\": \"/v\", \"log_time\": %u, \"data\": {\"format\": \"%s\", \"data\": \"",
                 1000 * i * i, h265 ? "h265" : "h264");
        grow_put(rows, head, strlen(head));
        text = malloc(BASE64_TEXT(frame.size) + 1);
        base64_write(frame, text);
        grow_put(rows, text, BASE64_TEXT(frame.size));
        free(text);
        grow_put(rows, "\"}}\n", 4);
    }
}

static void plan_and_write(struct reel_recording *recording, const struct reel_writer *writer, bool writes) {
    const struct reel_write_options options = {.compression = ""};
    struct reel_error err = {0};
    AUTO(reel_stream_free)
    struct reel_stream *stream = reel_writer_stream(writer, &recording, 1, &selection_all, &err);
    fuzz_expect(stream != NULL, "open the stream", &err);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(writer, &options, stream, NULL, &err);
    if (!plan) {
        fuzz_expect(err.text[0] != '\0', "what is not written says why", &err);
        return;
    }
    if (!writes) {
        return;
    }
    size_t length = (size_t)reel_plan_length(plan);
    AUTO_MEM uint8_t *whole = malloc(length), *pieces = malloc(length);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *render =
        reel_planned_output_new(plan, reel_writer_stream(writer, &recording, 1, &selection_all, &err), &err);
    fuzz_expect(render && reel_planned_output_read(render, 0, whole, length, &err), "read all of it", &err);
    for (size_t at = 0; at < length; at += PIECE) {
        size_t n = length - at < PIECE ? length - at : PIECE;
        fuzz_expect(reel_planned_output_read(render, at, pieces + at, n, &err), "read a piece", &err);
    }
    fuzz_expect(memcmp(whole, pieces, length) == 0, "pieces are as the whole", &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_of(bytes_of(data, size));
    struct grow rows = {0};
    struct reel_error err = {0};
    bool h265 = cursor_u8(&c) & 1;
    put_rows(&rows, &c, h265);
    AUTO(reel_recording_free)
    struct reel_recording *recording = fuzz_open(bytes_of(rows.data, rows.size), &reel_format_rows);
    if (recording) {
        struct fuzz_turns turns = fuzz_turns_of(bytes_of(data, size));
        plan_and_write(recording, reel_writer_for_file("v.mp4", NULL, &err), fuzz_turn(&turns, 2));
    }
    free(rows.data);
    return 0;
}
