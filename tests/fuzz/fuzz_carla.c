/* Fuzzes the reader of CARLA logs, and the writer with the state of cuts: whatever a scan accepts can be cut anywhere,
 * and the cut is a log. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "fuzz_scan.h"
#include "makers/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct reel_recording *open_bytes(const uint8_t *data, size_t size) {
    return fuzz_open(bytes_of(data, size), &reel_format_carla);
}

/* Plans and renders; the result is scanned again. Whole recordings come out as they were. */
static void write_and_read(struct reel_recording *r, const struct reel_selection *q, struct reel_bytes original) {
    enum { OUTPUT_MAX = 8 << 20 };
    struct reel_error err = {0};
    const struct reel_write_options options = {
        .compression = "", .is_cut = q->start_ns != REEL_TIME_MIN, .start_ns = q->start_ns};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, q, &err);
    AUTO(reel_plan_free) struct reel_plan *plan = s ? reel_plan_new(&reel_writer_carla, &options, s, NULL, &err) : NULL;
    if (!plan) {
        fuzz_expect(err.code == REEL_LIMIT, "only a limit stops a plan", &err);
        return;
    }
    size_t length = (size_t)reel_plan_length(plan);
    if (length > OUTPUT_MAX) {
        return;
    }
    AUTO_MEM uint8_t *out = malloc(length + 1);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *render = reel_planned_output_new(plan, reel_stream_open(&r, 1, q, &err), &err);
    fuzz_expect(out && render && reel_planned_output_read(render, 0, out, length, &err), "render what was planned",
                &err);
    if (original.data) {
        fuzz_expect(length <= original.size && memcmp(out, original.data, length) == 0, "a whole recording as it was",
                    &err);
    }
    AUTO(reel_recording_free) struct reel_recording *again = open_bytes(out, length);
    fuzz_expect(again != NULL, "read what was written", &err);
}

/* Of three cuts one, or for 0 all of it. */
static void write_part(const uint8_t *data, size_t size, int64_t cut) {
    AUTO(reel_recording_free) struct reel_recording *r = open_bytes(data, size);
    const struct reel_index_info *info = r ? reel_index_info(reel_recording_index(r)) : NULL;
    if (info && cut == 0) {
        write_and_read(r, &selection_all, info->lost_bytes == 0 ? bytes_of(data, size) : bytes_of(NULL, 0));
    } else if (info && info->messages > 0) {
        const struct reel_selection q = {.size = sizeof q,
                                         .start_ns = info->start_ns + (info->end_ns - info->start_ns) / 3 * cut,
                                         .end_ns = REEL_TIME_MAX,
                                         .state_at_cut = true};
        write_and_read(r, &q, bytes_of(NULL, 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { OF = 9 }; /* reading finds most: it has the other five */
    struct fuzz_turns turns = fuzz_turns_of(bytes_of(data, size));
    bool written = false;
    for (int64_t cut = 0; cut <= 3; cut++) {
        if (fuzz_turn(&turns, OF)) {
            write_part(data, size, cut);
            written = true;
        }
    }
    return FUZZ_ONE && written ? 0 : fuzz_scan(data, size, &reel_format_carla);
}
