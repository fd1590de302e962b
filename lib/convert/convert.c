/* A conversion from beginning to end (convert/conversion.h). */
#include "convert/conversion.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "base/output_file.h"
#include "convert/plan_compressed.h"

enum { PIECE = 4 << 20 };

static bool convert_report(const struct reel_progress *progress, uint64_t done, uint64_t total,
                           struct reel_error *err) {
    return !progress || !progress->report || progress->report(progress->context, done, total) ||
           reel_fail(err, REEL_CANCELLED, "interrupted");
}

static bool write_rows(struct reel_conversion *c, char *buffer, const struct reel_output *output,
                       struct reel_error *err) {
    AUTO(reel_row_output_free) struct reel_row_output *rows = reel_conversion_rows(c, err);
    if (!rows) {
        return false;
    }
    for (size_t got = 1; got > 0;) {
        if (!reel_row_output_next(rows, buffer, PIECE, &got, err) ||
            !output->write(output->context, buffer, got, err)) {
            return false;
        }
    }
    return true;
}

static bool write_planned(struct reel_conversion *c, char *buffer, const struct reel_output *output,
                          const struct reel_progress *progress, struct reel_error *err) {
    AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(c, NULL, progress, err);
    reel_plan_report(plan, output->loss);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *planned = plan ? reel_conversion_output(c, plan, err) : NULL;
    if (!planned) {
        return false;
    }
    uint64_t length = reel_plan_length(plan);
    reel_planned_output_read_ahead(planned, 0, length);
    for (uint64_t at = 0; at < length;) {
        size_t n = length - at < PIECE ? (size_t)(length - at) : PIECE;
        if (!reel_planned_output_read(planned, at, buffer, n, err) || !output->write(output->context, buffer, n, err)) {
            return false;
        }
        at += n;
        if (!convert_report(progress, at, length, err)) {
            return false;
        }
    }
    return true;
}

static bool write_compressed(struct reel_conversion *c, const struct reel_output *output,
                             const struct reel_progress *progress, struct reel_error *err) {
    AUTO(reel_plan_free) struct reel_plan *plan = plan_compressed(c, NULL, output, progress, err);
    reel_plan_report(plan, output->loss);
    return plan;
}

/* Whether planning may write the output: its groups are packed, and nothing before them depends on them, except a head
 * that can be replaced. */
static bool is_one_pass(const struct reel_conversion *c, const struct reel_output *output) {
    const char *compression = c->options.compression;
    bool compressed = compression[0] != '\0' && strcmp(compression, "none") != 0;
    return (c->writer->needs & (REEL_HEAD_FIRST | (output->rewrite ? REEL_HEAD_LAST : 0))) &&
           (compressed || (c->writer->needs & REEL_DECODES));
}

bool reel_convert_to(struct reel_conversion *c, const struct reel_output *output, const struct reel_progress *progress,
                     struct reel_error *err) {
    if (is_one_pass(c, output)) {
        return write_compressed(c, output, progress, err);
    }
    AUTO_MEM char *buffer = malloc(PIECE);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    return c->writer->needs & REEL_STREAMED ? write_rows(c, buffer, output, err)
                                            : write_planned(c, buffer, output, progress, err);
}

/* ---- to a file */

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
    AUTO(reel_threads_free)
    struct reel_threads *threads = reel_threads_new(
        &(struct reel_threads_options){.size = sizeof(struct reel_threads_options), .threads = o.threads}, err);
    AUTO(reel_conversion_free)
    struct reel_conversion *conversion =
        threads ? reel_conversion_new(writer, &recording, 1, &all, &write_options, threads, NULL, err) : NULL;
    struct reel_stream *stream = conversion ? reel_conversion_stream(conversion, true, err) : NULL;
    if (!stream || !reel_writer_accepts(writer, stream, o.loss, err) ||
        !output_file_open(&file, path, o.replace, err)) {
        return false;
    }
    output.rewrite = output_file_rewrites(&file) ? output_file_rewrite : NULL;
    return reel_convert_to(conversion, &output, progress, err) && output_file_finish(&file, err);
}
