/* Fuzzes the reader of .traj and .state files, and what the NanoVer writer sees of them: whatever was scanned can be
 * converted. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "fuzz_scan.h"
#include "makers/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void convert_all(const uint8_t *data, size_t size, bool cut) {
    struct reel_error err = {0};
    AUTO(reel_recording_free)
    struct reel_recording *recording = fuzz_open(bytes_of(data, size), &reel_format_nanover_legacy);
    if (!recording) {
        return;
    }
    struct reel_selection q = selection_all;
    /* the last message, and all before it folded */
    q.start_ns = reel_index_info(reel_recording_index(recording))->end_ns;
    q.state_at_cut = true;
    AUTO(reel_stream_free)
    struct reel_stream *stream =
        reel_writer_stream(&reel_writer_nanover, &recording, 1, cut ? &q : &selection_all, &err);
    fuzz_expect(stream != NULL, "open the view", &err);
    struct reel_message m;
    enum reel_step step;
    while ((step = stream_next(stream, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        fuzz_expect(reel_stream_payload(stream, &m, &payload, &err) && payload.size == m.size, "convert a message",
                    &err);
    }
    fuzz_expect(step == REEL_STEP_END, "walk the view", &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_turns turns = fuzz_turns_of(bytes_of(data, size));
    for (int cut = 0; cut < 2; cut++) {
        if (fuzz_turn(&turns, 3)) {
            convert_all(data, size, cut);
        }
    }
    return fuzz_turn(&turns, 3) ? fuzz_scan(data, size, &reel_format_nanover_legacy) : 0;
}
