/* A conversion from beginning to end (reel/convert.h). */
#include "reel/convert.h"

#include <stdlib.h>

#include "core/options.h"
#include "core/output_file.h"
#include "wire/cleanup.h"

enum { PIECE = 4 << 20 };

static bool report(const struct reel_progress *progress, uint64_t done, uint64_t total, struct reel_error *err) {
    return !progress || !progress->report || progress->report(progress->context, done, total) ||
           reel_fail(err, REEL_CANCELLED, "interrupted");
}

static bool write_streamed(const struct reel_writer *writer, struct reel_stream *stream, const struct reel_write_options *options,
                           char *buffer, const struct reel_output *output, struct reel_error *err) {
    AUTO(reel_render_free) struct reel_render *render = reel_render_new(NULL, writer, options, stream, err);
    for (size_t got = 1; got > 0;) {
        if (!render || !reel_render_next(render, buffer, PIECE, &got, err) || !output->write(output->context, buffer, got, err)) {
            return false;
        }
    }
    return true;
}

static bool write_planned(struct reel_plan *plan, struct reel_render *render, char *buffer, const struct reel_output *output,
                          const struct reel_progress *progress, struct reel_error *err) {
    uint64_t length = reel_plan_length(plan);
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

bool reel_convert_to(const struct reel_writer *writer, struct reel_recording *const *recordings, uint32_t n,
                     const struct reel_selection *selection, const struct reel_write_options *options, const struct reel_output *output,
                     const struct reel_progress *progress, struct reel_error *err) {
    AUTO_MEM char *buffer = malloc(PIECE);
    struct reel_stream *stream = buffer ? reel_writer_stream(writer, recordings, n, selection, err) : NULL;
    if (!stream) {
        return buffer ? false : reel_fail_memory(err);
    }
    if (writer->needs & REEL_STREAMED) {
        return write_streamed(writer, stream, options, buffer, output, err); /* takes the stream over */
    }
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(writer, options, stream, progress, err);
    reel_stream_free(stream);
    if (!plan) {
        return false;
    }
    reel_loss_add_left_out(output->loss, reel_plan_left_out(plan));
    struct reel_selection again = *selection;
    again.front = reel_plan_front(plan);
    stream = reel_writer_stream(writer, recordings, n, &again, err);
    AUTO(reel_render_free) struct reel_render *render = stream ? reel_render_new(plan, writer, options, stream, err) : NULL;
    return render && write_planned(plan, render, buffer, output, progress, err);
}

/* ---- to a file */

static bool is_accepted(const struct reel_writer *writer, struct reel_recording *recording, const struct reel_selection *selection,
                        struct reel_loss *loss, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *stream = reel_writer_stream(writer, &recording, 1, selection, err);
    return stream && reel_writer_accepts(writer, stream, loss, err);
}

bool reel_convert(struct reel_recording *recording, const struct reel_selection *selection, const char *path,
                  const struct reel_convert_options *options, const struct reel_progress *progress, struct reel_error *err) {
    struct reel_convert_options o;
    struct reel_selection all = selection ? *selection : reel_select_all;
    AUTO(output_file_done) struct output_file file = {.fd = -1};
    if (!options_copy(&o, sizeof o, options, "reel_convert_options", err)) {
        return false;
    }
    const struct reel_writer *writer = reel_writer_for_file(path, o.version, err);
    if (!writer) {
        return false;
    }
    bool is_cut = all.start_ns != REEL_TIME_MIN;
    all.state_at_cut = is_cut && (writer->needs & REEL_NEEDS_STATE_AT_CUT) != 0;
    struct reel_write_options write_options = {
        .compression = o.compression ? o.compression : "", .is_cut = is_cut, .start_ns = is_cut ? all.start_ns : 0};
    struct reel_output output = {.write = output_file_write, .context = &file, .loss = o.loss};
    return is_accepted(writer, recording, &all, o.loss, err) && output_file_open(&file, path, o.replace, err) &&
           reel_convert_to(writer, &recording, 1, &all, &write_options, &output, progress, err) && output_file_finish(&file, err);
}
