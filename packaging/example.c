/* What is in a recording, and the same as another file: example IN OUT.EXT. Build: cc example.c $(pkg-config --cflags --libs libreel) */
#include <stdio.h>
#include <string.h>

#include <reel/write.h>

#include "wire/cleanup.h"

static bool run(const char *in, const char *out, struct reel_error *err) {
    /* open and scan: the index pack holds all that is known of the file, and is kept for the next time */
    AUTO(reel_source_free) struct reel_source *file = reel_source_open(in, NULL, err);
    if (!file || !reel_scan_run(&file, 1, NULL, "example.reel", NULL, err)) {
        return false;
    }
    struct reel_index *index = reel_index_open("example.reel", err);
    struct reel_source *parts[] = {TAKE(file)};
    AUTO(reel_recording_free)
    struct reel_recording *recording = index ? reel_recording_open(index, parts, 1, &(struct reel_recording_options){0}, err) : NULL;
    /* iterate: every message, in time order; a payload is read when it is asked for (reel_stream_payload) */
    struct reel_selection all = REEL_SELECT_ALL;
    AUTO(reel_stream_free) struct reel_stream *stream = recording ? reel_stream_open(&recording, 1, &all, err) : NULL;
    struct reel_message m;
    while (stream && reel_stream_next(stream, &m, err) == REEL_STEP_MESSAGE) {
        printf("%lld %s %u bytes\n", (long long)m.time_ns, stream->channels[m.channel]->name, m.size);
    }
    /* convert: a plan knows the length and place of everything, and renders any part of it */
    const struct reel_writer *writer = stream && !err->code ? reel_writer_for_file(out, NULL, err) : NULL;
    struct reel_write_options options = {.compression = ""};
    AUTO(reel_stream_free) struct reel_stream *planned = writer ? reel_writer_stream(writer, &recording, 1, &all, err) : NULL;
    AUTO(reel_plan_free) struct reel_plan *plan = planned ? reel_plan_new(writer, &options, planned, NULL, err) : NULL;
    AUTO(reel_render_free)
    struct reel_render *render =
        plan ? reel_render_new(plan, writer, &options, reel_writer_stream(writer, &recording, 1, &all, err), err) : NULL;
    AUTO_MEM char *bytes = render ? malloc(reel_plan_length(plan)) : NULL; /* small ones; large ones piece by piece */
    FILE *to = bytes && reel_render_read(render, 0, bytes, reel_plan_length(plan), err) ? fopen(out, "wb") : NULL;
    return to && fwrite(bytes, 1, reel_plan_length(plan), to) == reel_plan_length(plan) && fclose(to) == 0;
}

int main(int argc, char **argv) {
    struct reel_error err = {0};
    return argc == 3 && run(argv[1], argv[2], &err) ? 0 : (fprintf(stderr, "example: %s\n", argc == 3 ? err.text : "IN OUT.EXT"), 1);
}
