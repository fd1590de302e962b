/* Decodes every message of a real recording. For tests with cmocka, which define REEL_SCRATCH. */
#ifndef REEL_TESTS_DECODE_SAMPLE_H
#define REEL_TESTS_DECODE_SAMPLE_H

#include "base/cleanup.h"
#include "index/scan.h"
#include "makers/decode_text.h"
#include "makers/tables.h"
#include "stream/stream.h"

#include <unistd.h>

/* Told of every message in order of time: its JSON, or "error CODE: text". */
typedef void (*decode_seen)(void *context, const struct reel_channel *channel, const char *json);

/* False: the file is not there. */
static inline bool decode_sample(const char *path, const struct reel_format *format, decode_seen seen, void *context) {
    struct reel_error err = {0};
    if (access(path, R_OK) != 0) {
        return false;
    }
    struct reel_source *source = reel_source_open(path, "sample", &err);
    assert(source && reel_scan_run(&source, 1, format, REEL_SCRATCH "/sample.pack", NULL, &err));
    struct reel_index *index = reel_index_open(REEL_SCRATCH "/sample.pack", &err);
    assert(index);
    AUTO(reel_recording_free)
    struct reel_recording *recording =
        reel_recording_from_index(index, &source, 1, &(struct reel_recording_options){0}, &err);
    assert(recording);
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, &err);
    assert(stream);
    struct reel_message m;
    enum reel_step step;
    while ((step = stream_next(stream, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        bool read = reel_stream_payload(stream, &m, &payload, &err);
        assert(read);
        seen(context, stream->channels[m.channel], decode_text(stream->channels[m.channel], payload));
    }
    assert(step == REEL_STEP_END);
    return true;
}

#endif
