/* Fuzzes the reader of .traj and .state files, and what the NanoVer writer sees of them: whatever was scanned can be
 * converted. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "fuzz_scan.h"
#include "makers/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void convert_all(const uint8_t *data, size_t size) {
    struct reel_error err = {0};
    static char pack[64];
    if (pack[0] == '\0') {
        snprintf(pack, sizeof pack, "/tmp/reel-fuzz-view-%ld.pack", (long)getpid());
    }
    struct reel_source *source = reel_source_from_memory(bytes_of(data, size), "fuzzed.traj", &err);
    fuzz_expect(source != NULL, "make the source", &err);
    if (!reel_scan_run(&source, 1, &reel_format_nanover_legacy, pack, NULL, &err)) {
        reel_source_free(source);
        return;
    }
    const struct reel_recording_options options = {0};
    AUTO(reel_recording_free)
    struct reel_recording *recording =
        reel_recording_from_index(reel_index_open(pack, &err), &source, 1, &options, &err);
    unlink(pack);
    struct reel_selection q = selection_all;
    /* the last message, and all before it folded */
    q.start_ns = reel_index_info(reel_recording_index(recording))->end_ns;
    q.state_at_cut = true;
    for (int cut = 0; cut < 2; cut++) {
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    convert_all(data, size);
    return fuzz_scan(data, size, &reel_format_nanover_legacy);
}
