/* A conversion from beginning to end (convert/conversion.h). */
#include "convert/conversion.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "base/output_file.h"
#include "convert/plan_compressed.h"

enum { PIECE = 4 << 20 };

static bool report(const struct reel_progress *progress, uint64_t done, uint64_t total, struct reel_error *err) {
    return !progress || !progress->report || progress->report(progress->context, done, total) ||
           reel_fail(err, REEL_CANCELLED, "interrupted");
}

static bool write_streamed(struct reel_render *render, char *buffer, const struct reel_output *output,
                           struct reel_error *err) {
    for (size_t got = 1; got > 0;) {
        if (!reel_render_next(render, buffer, PIECE, &got, err) || !output->write(output->context, buffer, got, err)) {
            return false;
        }
    }
    return true;
}

static bool write_planned(struct reel_render *render, uint64_t length, char *buffer, const struct reel_output *output,
                          const struct reel_progress *progress, struct reel_error *err) {
    reel_render_ahead(render, 0, length);
    for (uint64_t at = 0; at < length;) {
        size_t n = length - at < PIECE ? (size_t)(length - at) : PIECE;
        if (!reel_render_read(render, at, buffer, n, err) || !output->write(output->context, buffer, n, err)) {
            return false;
        }
        at += n;
        if (!report(progress, at, length, err)) {
            return false;
        }
    }
    return true;
}

/* Written in one pass: its groups are packed, and nothing that is written before them depends on them. */
static bool is_packed(const struct reel_conversion *c, const struct reel_output *output) {
    const char *compression = c->options.compression;
    bool compressed = compression[0] != '\0' && strcmp(compression, "none") != 0;
    return (c->writer->needs & (REEL_HEAD_FIRST | (output->rewrite ? REEL_HEAD_LAST : 0))) &&
           (compressed || (c->writer->needs & REEL_DECODES));
}

bool reel_convert_to(struct reel_conversion *c, const struct reel_output *output, const struct reel_progress *progress,
                     struct reel_error *err) {
    bool streamed = c->writer->needs & REEL_STREAMED;
    if (is_packed(c, output)) {
        AUTO(reel_plan_free) struct reel_plan *packed = packing_plan(c, NULL, output, progress, err);
        reel_plan_report(packed, output->loss);
        return packed;
    }
    AUTO(reel_plan_free) struct reel_plan *plan = streamed ? NULL : reel_conversion_plan(c, NULL, progress, err);
    reel_plan_report(plan, output->loss);
    AUTO(reel_render_free) struct reel_render *render = plan || streamed ? reel_conversion_render(c, plan, err) : NULL;
    AUTO_MEM char *buffer = malloc(PIECE);
    if (!render || !buffer) {
        return render ? reel_fail_memory(err) : false;
    }
    return streamed ? write_streamed(render, buffer, output, err)
                    : write_planned(render, reel_plan_length(plan), buffer, output, progress, err);
}

/* ---- to a file */

static bool is_accepted(const struct reel_writer *writer, struct reel_recording *recording,
                        const struct reel_selection *selection, struct reel_loss *loss, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *stream = reel_writer_stream(writer, &recording, 1, selection, err);
    return stream && reel_writer_accepts(writer, stream, loss, err);
}

bool reel_convert(struct reel_recording *recording, const struct reel_selection *selection, const char *path,
                  const struct reel_convert_options *options, const struct reel_progress *progress,
                  struct reel_error *err) {
    struct reel_convert_options o;
    struct reel_selection all = selection ? *selection : selection_all;
    AUTO(output_file_done) struct output_file file = {.fd = -1};
    if (!options_copy(&o, sizeof o, options, "reel_convert_options", err)) {
        return false;
    }
    const struct reel_writer *writer = reel_writer_for_file(path, o.version, err);
    if (!writer) {
        return false;
    }
    bool is_cut = all.start_ns != REEL_TIME_MIN;
    all.key_frames = is_cut && !(writer->needs & REEL_STREAMED);
    all.state_at_cut = is_cut && (writer->needs & REEL_NEEDS_STATE_AT_CUT) != 0;
    struct reel_write_options write_options = {
        .compression = o.compression ? o.compression : "", .is_cut = is_cut, .start_ns = is_cut ? all.start_ns : 0};
    struct reel_output output = {.write = output_file_write, .context = &file, .loss = o.loss};
    if (!is_accepted(writer, recording, &all, o.loss, err)) {
        return false;
    }
    AUTO(reel_threads_free)
    struct reel_threads *threads = reel_threads_new(
        &(struct reel_threads_options){.size = sizeof(struct reel_threads_options), .threads = o.threads}, err);
    AUTO(reel_conversion_free)
    struct reel_conversion *conversion =
        threads ? reel_conversion_new(writer, &recording, 1, &all, &write_options, threads, NULL, err) : NULL;
    if (!conversion || !output_file_open(&file, path, o.replace, err)) {
        return false;
    }
    output.rewrite = output_file_rewrites(&file) ? output_file_rewrite : NULL;
    return reel_convert_to(conversion, &output, progress, err) && output_file_finish(&file, err);
}
