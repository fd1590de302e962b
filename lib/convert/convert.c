/* A conversion from beginning to end (convert/conversion.h). */
#include "convert/conversion.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "base/output_file.h"
#include "convert/plan_compressed.h"
#include "convert/writer_run.h"
#include "stream/selection.h"

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
                          struct reel_loss *losses, const struct reel_progress *progress, struct reel_error *err) {
    AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(c, NULL, progress, err);
    reel_plan_report(plan, losses);
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

static bool write_compressed(struct reel_conversion *c, const struct reel_output *output, struct reel_loss *losses,
                             const struct reel_progress *progress, struct reel_error *err) {
    AUTO(reel_plan_free) struct reel_plan *plan = plan_compressed(c, NULL, output, progress, err);
    reel_plan_report(plan, losses);
    return plan;
}

/* Planning may write the output: its groups are packed, and nothing before them depends on them, except a head that can
 * be replaced. */
static bool is_one_pass(const struct reel_conversion *c, const struct reel_output *output) {
    unsigned needs = c->writer->needs;
    bool head = needs & (REEL_HEAD_FIRST | (output->rewrite ? REEL_HEAD_LAST : 0));
    return head && (writer_compresses(&c->options) || (needs & (REEL_DECODES | REEL_PACKS_PLAIN)));
}

bool conversion_write(struct reel_conversion *c, const struct reel_output *output, struct reel_loss *losses,
                      const struct reel_progress *progress, struct reel_error *err) {
    if (is_one_pass(c, output)) {
        return write_compressed(c, output, losses, progress, err);
    }
    AUTO_MEM char *buffer = malloc(PIECE);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    return c->writer->needs & REEL_STREAMED ? write_rows(c, buffer, output, err)
                                            : write_planned(c, buffer, output, losses, progress, err);
}

/* ---- for programs */

static bool set_values(const struct reel_writer *writer, const struct reel_convert_options *o,
                       struct reel_write_values *values, struct reel_error *err) {
    for (size_t i = 0; i < o->n_settings; i++) {
        const struct reel_pair *setting = &o->settings[i];
        if (!reel_writer_set_option(writer, setting->key, setting->value, false, values, err)) {
            return reel_error_at(err, "%s", setting->key);
        }
    }
    return true;
}

/* The conversion, when the writer accepts it; a cut gets what its messages build on. */
static struct reel_conversion *open_conversion(struct reel_recording *const *recordings, uint32_t n,
                                               const struct reel_selection *selection, const struct reel_writer *writer,
                                               const struct reel_convert_options *o, struct reel_threads *threads,
                                               struct reel_error *err) {
    struct reel_selection q;
    struct reel_write_values values = {.n = 0};
    if (!threads || !selection_read(&q, selection, err) || !set_values(writer, o, &values, err)) {
        return NULL;
    }
    bool is_cut = q.start_ns != REEL_TIME_MIN;
    q.key_frames = is_cut && !(writer->needs & REEL_STREAMED);
    q.state_at_cut = is_cut && (writer->needs & REEL_NEEDS_STATE_AT_CUT) != 0;
    const struct reel_write_options options = {.compression = o->compression ? o->compression : "",
                                               .is_cut = is_cut,
                                               .start_ns = is_cut ? q.start_ns : 0,
                                               .values = values.items,
                                               .n_values = values.n};
    AUTO(reel_conversion_free)
    struct reel_conversion *conversion = reel_conversion_new(writer, recordings, n, &q, &options, threads, NULL, err);
    struct reel_stream *stream = conversion ? reel_conversion_stream(conversion, true, err) : NULL;
    return stream && reel_writer_accepts(writer, stream, o->loss, err) ? TAKE(conversion) : NULL;
}

/* NULL where the options have a pool, or on failure. */
static struct reel_threads *own_threads(const struct reel_convert_options *o, struct reel_error *err) {
    const struct reel_threads_options options = {.size = sizeof options, .threads = o->threads};
    return o->pool ? NULL : reel_threads_new(&options, err);
}

bool reel_convert_to(struct reel_recording *const *recordings, uint32_t n, const struct reel_selection *selection,
                     const struct reel_writer *writer, const struct reel_output *output,
                     const struct reel_convert_options *options, const struct reel_progress *progress,
                     struct reel_error *err) {
    struct reel_convert_options o;
    if (!options_copy(&o, sizeof o, options, "reel_convert_options", err)) {
        return false;
    }
    AUTO(reel_threads_free) struct reel_threads *own = own_threads(&o, err);
    AUTO(reel_conversion_free)
    struct reel_conversion *conversion =
        open_conversion(recordings, n, selection, writer, &o, o.pool ? o.pool : own, err);
    return conversion && conversion_write(conversion, output, o.loss, progress, err);
}

bool reel_convert(struct reel_recording *recording, const struct reel_selection *selection, const char *path,
                  const struct reel_convert_options *options, const struct reel_progress *progress,
                  struct reel_error *err) {
    struct reel_convert_options o;
    AUTO(output_file_done) struct output_file file = {.fd = -1};
    if (!options_copy(&o, sizeof o, options, "reel_convert_options", err)) {
        return false;
    }
    const struct reel_writer *writer = reel_writer_for_file(path, o.version, err);
    AUTO(reel_threads_free) struct reel_threads *own = writer ? own_threads(&o, err) : NULL;
    AUTO(reel_conversion_free)
    struct reel_conversion *conversion =
        writer ? open_conversion(&recording, 1, selection, writer, &o, o.pool ? o.pool : own, err) : NULL;
    if (!conversion || !output_file_open(&file, path, o.replace, err)) {
        return false;
    }
    const struct reel_output output = {.write = output_file_write,
                                       .rewrite = output_file_rewrites(&file) ? output_file_rewrite : NULL,
                                       .context = &file};
    return conversion_write(conversion, &output, o.loss, progress, err) && output_file_finish(&file, err);
}
