/* Reads what a request for an export asks for. */
#include <stdlib.h>
#include <string.h>

#include "api/export/conversion.h"
#include "api/export/export.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "formats/nanover/question.h"
#include "stream/view.h"
#include "views/views.h"

void conversion_done(struct conversion *c) {
    rules_free(c->rules);
    free(c->renames);
    api_text_done(&c->text);
}

/* ?run= of a NanoVer recording. False: replied. */
static bool convert_read_run(struct http_request *r, struct conversion *c) {
    struct reel_error err = {0};
    uint64_t run;
    if (c->in->merged || !http_param_u64(r, "run", &run)) {
        return true;
    }
    if (c->q.has_start || c->q.selection.end_ns != REEL_TIME_MAX) {
        http_reply_bad_param(r, "run", "a run has its own start and end; send no times with it");
        return false;
    }
    if (!reel_nanover_run(c->in->recordings[0], run, &c->q.selection, &c->options, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    return true;
}

/* split, and the name of the file or of the archive of its parts. False: replied. */
static bool read_split(struct http_request *r, struct conversion *c) {
    struct reel_error err = {0};
    const char *name = c->in->name;
    size_t size = strlen(name), tar = size > 4 && strcmp(name + size - 4, ".tar") == 0 ? 4 : 0;
    c->split = http_param(r, "split");
    if (c->split && !reel_split_parse(c->split, &c->rule, &err)) {
        http_reply_bad_param(r, "split", "%s", err.text);
        return false;
    }
    if (c->split && tar == 0) {
        http_reply_bad_param(r, "split", "the parts are in an archive: its name ends with .tar, as in run.mcap.tar");
        return false;
    }
    if (reel_split_is_nanover(&c->rule) && c->in->merged) {
        http_reply_bad_param(r, "split", "reset and key: runs are those of one recording");
        return false;
    }
    tar = c->split ? tar : 0;
    snprintf(c->target, sizeof c->target, "%.*s", (int)(size - tar < NAME_ROOM ? size - tar : NAME_ROOM - 1), name);
    return true;
}

/* Options of the writer, and the folder in an archive: it is called as the file. False: replied. */
static bool convert_read_options(struct http_request *r, struct conversion *c) {
    size_t stem = strlen(c->target), extension = strlen(c->writer->extension);
    snprintf(c->folder, sizeof c->folder, "%.*s", (int)(stem > extension ? stem - extension : 0), c->target);
    c->options.name = c->folder;
    if (!api_read_write_options(r, c->writer, &c->values)) {
        return false;
    }
    c->options.values = c->values.items;
    c->options.n_values = c->values.n;
    return true;
}

/* ros and wrap. False: replied. */
static bool read_encoding(struct http_request *r, const struct reel_writer *writer, struct reel_selection *s) {
    const char *ros = http_param(r, "ros");
    bool wrap = false;
    if (http_param_bool(r, "wrap", &wrap) && wrap && ros) {
        http_reply_bad_param(r, "wrap", "with ros the messages are converted, not wrapped");
        return false;
    }
    if (wrap && !writer->encoding) {
        http_reply_bad_param(r, "wrap", "means nothing for %s files", writer->name);
        return false;
    }
    s->encoding = ros ? (strcmp(ros, "2") == 0 ? "cdr" : "ros1") : wrap ? "" : NULL;
    return true;
}

/* rules: types that change, and topics that are renamed, too. False: replied. */
static bool read_rules(struct http_request *r, struct conversion *c) {
    const char *text = http_param(r, "rules");
    struct reel_error err = {0};
    if (!text) {
        return true;
    }
    if (!(c->rules = rules_parse(text, strlen(text), &err))) {
        if (err.code == REEL_ARGUMENT) {
            http_reply_bad_param(r, "rules", "%s", err.text);
        } else {
            http_reply_error(r, &err);
        }
        return false;
    }
    c->q.selection.rules = &c->rules->ros.base;
    if (!rules_add_renames(c->rules, &c->q.selection, &c->renames, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    return true;
}

/* at: the selection becomes the last message at or before that time. False: replied. */
static bool read_at(struct http_request *r, const struct inputs *in, struct conversion *c) {
    struct reel_selection *s = &c->q.selection;
    const struct reel_index_info *info = reel_index_info(reel_recording_index(in->recordings[0]));
    struct reel_time at;
    struct reel_error err = {0};
    struct reel_stream *stream;
    struct reel_message m;
    int64_t at_ns;
    if (!http_param(r, "at")) {
        return true;
    }
    if (c->q.has_start || in->merged) {
        http_reply_bad_param(r, "at", "takes one message of one recording: it goes without start and /merge");
        return false;
    }
    if (!http_param_time(r, "at", &at) || !reel_time_within(&at, info->start_ns, info->end_ns, &at_ns, &err) ||
        !reel_message_at_time(in->recordings[0], s, at_ns, &stream, &m, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    reel_stream_free(stream);
    s->start_ns = m.time_ns;
    s->end_ns = m.time_ns < INT64_MAX ? m.time_ns + 1 : INT64_MAX;
    return true;
}

static bool is_called(const struct reel_channel *c, const char *name) {
    bool is = strcmp(c->type, name) == 0;
    for (uint32_t i = 0; i < c->n_topics && !is; i++) {
        const char *topic = c->topics[i];
        is = strcmp(topic[0] == '/' ? topic + 1 : topic, name) == 0 || strcmp(topic, name) == 0;
    }
    return is;
}

/* The channels of struct api_export_file, of the one recording. */
static bool select_channels(const struct inputs *in, struct api_selection *q, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(in->recordings[0]);
    uint32_t n = reel_index_info(index)->n_channels;
    struct reel_selection *s = &q->selection;
    for (uint32_t i = 0; in->channels && i < n; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        if (!is_called(c, in->channels)) {
            continue;
        }
        if (s->n_channels == API_GLOBS_MAX) {
            return reel_fail(err, REEL_LIMIT, "more than %d channels are called %s", API_GLOBS_MAX, in->channels);
        }
        q->channels[s->n_channels++] = c->id;
    }
    return !in->channels || s->n_channels > 0 ||
           reel_fail(err, REEL_NOT_FOUND, "no topic or type of the recording is called %s", in->channels);
}

/* What a cut has in front of its messages. */
void conversion_set_initial_state(struct conversion *c) {
    c->q.selection.key_frames = c->q.has_start && !(c->writer->needs & REEL_STREAMED);
    c->q.selection.state_at_cut = c->q.has_start && (c->writer->needs & REEL_NEEDS_STATE_AT_CUT);
}

bool conversion_read(struct http_request *r, struct inputs *in, struct conversion *c) {
    struct reel_error err = {0};
    int64_t first, last;
    c->in = in;
    if (!read_split(r, c)) {
        return false;
    }
    const char *version = http_param(r, "version");
    c->writer = reel_writer_for_file(c->target, version ? version : api_write_variant(r), &err);
    if (!c->writer) {
        http_reply_problem(r, 406, "unknown-target", "%s", err.text);
        return false;
    }
    const struct reel_source_option *sources = in->merged ? in->sources : NULL;
    reel_merge_span(in->recordings, in->n, sources, &first, &last);
    if (!api_select(r, first, last, &c->q)) {
        return false;
    }
    if (!select_channels(in, &c->q, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (!read_at(r, in, c)) {
        return false;
    }
    c->q.selection.sources = sources;
    c->q.selection.prefixing = inputs_prefixing(r, in);
    conversion_set_initial_state(c);
    const char *compression = http_param(r, "compression"), *view = http_param(r, "view");
    bool raw = false;
    http_param_bool(r, "raw", &raw);
    if (raw && !(view && strcmp(view, "raw") != 0)) {
        http_reply_bad_param(r, "raw", "goes with view=foxglove");
        return false;
    }
    c->q.selection.view = view && strcmp(view, "raw") != 0 ? view_named(view, raw, &err) : NULL;
    if (!read_encoding(r, c->writer, &c->q.selection) || !read_rules(r, c)) {
        return false;
    }
    c->options = (struct reel_write_options){.compression = compression ? compression : "",
                                             .is_cut = c->q.has_start,
                                             .start_ns = c->q.has_start ? c->q.selection.start_ns : first};
    c->options.source_ids = in->merged ? in->ids : NULL;
    return convert_read_options(r, c) && convert_read_run(r, c) && api_read_text(r, c->writer, &c->text, &c->options);
}
