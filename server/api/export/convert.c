/* Recordings in another format: one, or several as one file (inputs.h). File formats are planned first, so they have a
 * length, an ETag and ranges; rows are streamed. Nothing is stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/export/conversion.h"
#include "api/export/export.h"
#include "api/export/plans.h"
#include "api/job_reply.h"
#include "api/recording.h"
#include "api/reserve.h"
#include "api/selection.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "base/text_stream.h"
#include "formats/nanover/question.h"
#include "stream/view.h"
#include "views/views.h"

static void conversion_done(struct conversion *c) {
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
static void set_initial_state(struct conversion *c) {
    c->q.selection.key_frames = c->q.has_start && !(c->writer->needs & REEL_STREAMED);
    c->q.selection.state_at_cut = c->q.has_start && (c->writer->needs & REEL_NEEDS_STATE_AT_CUT);
}

/* Writer, selection and options of the request. False: replied. */
static bool read_conversion(struct http_request *r, struct inputs *in, struct conversion *c) {
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
    set_initial_state(c);
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

/* The memory that the response takes. False: replied. */
static bool convert_reserve(struct http_request *r, const struct inputs *in, const struct conversion *c) {
    const struct reel_writer *writer = c->writer;
    uint64_t payloads = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        payloads += reel_index_info(reel_recording_index(in->recordings[i]))->payload_bytes;
    }
    uint64_t group = payloads < REEL_ROW_GROUP_BYTES ? payloads : REEL_ROW_GROUP_BYTES; /* its values, and as many
                                                                                           encoded bytes */
    bool table = (writer->needs & REEL_DECODES) && !(writer->needs & REEL_STREAMED);
    return api_reserve_stream(r, in->recordings, in->n, api_stream_use(writer, &c->q.selection), table ? 2 * group : 0);
}

/* ---- sources of replies */

static bool read_planned(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    return reel_planned_output_read(context, offset, buffer, size, err);
}
static void expect(void *context, uint64_t end) {
    reel_planned_output_expect(context, end);
}
static bool read_ahead(void *context, uint64_t offset, uint64_t end) {
    return reel_planned_output_read_ahead(context, offset, end);
}
static bool next_streamed(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    return reel_row_output_next(context, buffer, size, got, err);
}
static void free_planned(void *context) {
    reel_planned_output_free(context);
}
static void free_rows(void *context) {
    reel_row_output_free(context);
}

static struct reel_conversion *conversion_of(struct http_request *r, const struct conversion *c,
                                             struct reel_error *err) {
    return api_conversion(r, c->writer, c->in->recordings, c->in->n, &c->q.selection, &c->options, err);
}

static void reply_streamed(struct http_request *r, struct conversion *c, struct reel_conversion *conversion) {
    struct reel_error err = {0};
    struct reel_row_output *rows = reel_conversion_rows(conversion, &err);
    if (!rows) {
        http_reply_error(r, &err);
        return;
    }
    http_reply_stream(
        r, &(struct http_stream){
               .media_type = c->writer->media_type, .next = next_streamed, .free = free_rows, .context = rows});
}

static int64_t modified_ns(const struct inputs *in) {
    int64_t latest = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        latest = in->items[i].row.created_ns > latest ? in->items[i].row.created_ns : latest;
    }
    return latest;
}

static void reply_parts(struct http_request *r, struct conversion *c, const struct plan_request *q) {
    struct reel_error err = {0};
    char job[33] = "";
    AUTO(parts_free)
    struct parts *parts = parts_get(http_app(r)->derived, q, &c->rule, api_wait_ns(r, API_PLAN_WAIT_NS), job, &err);
    if (!parts && job[0]) {
        api_reply_busy(r, job, "this conversion is being planned; try again");
        return;
    }
    size_t stem = strlen(c->target), extension = strlen(c->writer->extension);
    if (stem > extension && ascii_casecmp(c->target + stem - extension, c->writer->extension) == 0) {
        c->target[stem - extension] = '\0';
    }
    struct parts_archive *archive = parts ? parts_archive_new(parts, q, c->target, modified_ns(c->in), &err) : NULL;
    if (!archive) {
        http_reply_error(r, &err);
        return;
    }
    http_reply_file(r, &(struct http_file){.length = parts_archive_length(archive),
                                           .etag = c->etag,
                                           .media_type = "application/x-tar",
                                           .file_name = c->in->name,
                                           .modified_ns = modified_ns(c->in),
                                           .fd = -1,
                                           .read = parts_archive_read,
                                           .free = parts_archive_free,
                                           .context = archive});
}

static void reply_planned(struct http_request *r, struct conversion *c, struct reel_conversion *conversion) {
    struct reel_error err = {0};
    char job[33] = "";
    char owner[HTTP_PRINCIPAL];
    const struct plan_request q = {.key = c->etag, .owner = http_client(r, owner), .conversion = conversion};
    if (c->split) {
        reply_parts(r, c, &q);
        return;
    }
    AUTO(reel_plan_free)
    struct reel_plan *plan = plans_get(http_app(r)->derived, &q, api_wait_ns(r, API_PLAN_WAIT_NS), job, &err);
    if (!plan && job[0]) {
        api_reply_busy(r, job, "this conversion is being planned; try again");
        return;
    }
    struct reel_planned_output *output = plan ? reel_conversion_output(conversion, plan, &err) : NULL;
    if (!output) {
        http_reply_error(r, &err);
        return;
    }
    http_reply_file(r, &(struct http_file){.length = reel_plan_length(plan),
                                           .etag = c->etag,
                                           .media_type = c->writer->media_type,
                                           .file_name = c->in->name,
                                           .modified_ns = modified_ns(c->in),
                                           .fd = -1,
                                           .read = read_planned,
                                           .expect = expect,
                                           .ahead = read_ahead,
                                           .free = free_planned,
                                           .context = output});
}

/* Only the plan knows how many messages are left out. False: replied. */
static bool count_left_out(struct http_request *r, const struct plan_request *q, struct reel_loss *loss) {
    struct reel_error err = {0};
    char job[33] = "";
    AUTO(reel_plan_free)
    struct reel_plan *plan = plans_get(http_app(r)->derived, q, api_wait_ns(r, API_PLAN_WAIT_NS), job, &err);
    if (!plan && job[0]) {
        api_reply_busy(r, job, "the messages are being checked; try again");
    } else if (!plan) {
        http_reply_error(r, &err);
    } else {
        reel_plan_report(plan, loss);
    }
    return plan;
}

static void reply_report(struct http_request *r, const struct conversion *c, bool accepted,
                         const struct reel_loss *loss, const struct reel_error *err) {
    json_t *body = json_pack("{s:s, s:s, s:b, s:o}", "target", c->writer->name, "media_type", c->writer->media_type,
                             "accepted", accepted, "report", view_loss(loss));
    if (!accepted) {
        json_object_set_new(body, "reason", json_string(err->text));
    }
    http_reply_json(r, 200, body);
}

void api_convert_inputs(struct http_request *r, struct inputs *in) {
    AUTO_STRUCT(conversion_done) struct conversion c = {0};
    struct reel_error err = {0};
    char owner[HTTP_PRINCIPAL];
    bool report = false, check = false;
    if (!read_conversion(r, in, &c) || !convert_reserve(r, in, &c)) {
        return;
    }
    bool streamed = c.writer->needs & REEL_STREAMED;
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    AUTO(reel_conversion_free) struct reel_conversion *conversion = conversion_of(r, &c, &err);
    struct reel_stream *stream = conversion ? reel_conversion_stream(conversion, false, &err) : NULL;
    if (!stream || !loss || !conversion_tag(&c, stream->view_version)) {
        if (err.code == REEL_OK) {
            reel_fail_memory(&err);
        }
        http_reply_error(r, &err);
        return;
    }
    bool accepted = reel_writer_accepts(c.writer, stream, loss, &err);
    if (!accepted && reel_is_transient(err.code)) { /* the report is not complete */
        http_reply_error(r, &err);
        return;
    }
    if (http_param_bool(r, "report", &report) && report) {
        bool leaves_out = stream->left_out || c.writer->leaves_out;
        bool counts = http_param_bool(r, "check", &check) && check && leaves_out && !streamed && !c.split;
        if (accepted && counts &&
            !count_left_out(r, &(struct plan_request){c.etag, http_client(r, owner), conversion}, loss)) {
            return;
        }
        reply_report(r, &c, accepted, loss, &err);
    } else if (!accepted) {
        http_reply_problem_with(r, 422, "target-cannot-hold", err.text, json_pack("{s:o}", "report", view_loss(loss)));
    } else if (!api_note_conversion(r, conversion)) {
        return;
    } else if (streamed && c.split) {
        http_reply_bad_param(r, "split", "%s exports are not split: their length is not known before they are written",
                             c.writer->name);
    } else {
        api_reserve_threads(r, conversion);
        (streamed ? reply_streamed : reply_planned)(r, &c, conversion);
    }
}

/* A whole recording as a file, for requests without parameters of exports. */
struct whole {
    struct api_recording item; /* lent */
    struct inputs in;
    struct conversion c;
    struct reel_conversion *conversion;
    bool costly; /* to plan */
};

static void whole_done(struct whole *w) {
    reel_conversion_free(w->conversion);
    conversion_done(&w->c);
}

/* There is no such file, or the server could not say so, as memory or the catalog failed. */
static enum reel_code code_of_problem(const struct http_problem *problem) {
    return problem->status == 404 ? REEL_NOT_FOUND : problem->status >= 500 ? REEL_BUSY : REEL_UNSUPPORTED;
}

static bool read_whole(struct http_request *r, const struct api_recording *a, const struct api_export_file *file,
                       struct whole *w, struct reel_error *err) {
    struct http_problem problem;
    w->item = *a;
    w->in = (struct inputs){
        .items = &w->item, .recordings = &w->item.recording, .n = 1, .name = file->name, .channels = file->channels};
    http_catch_problems(r, &problem);
    bool good = read_conversion(r, &w->in, &w->c);
    http_catch_problems(r, NULL);
    if (!good) {
        return reel_fail(err, code_of_problem(&problem), "%s", problem.detail);
    }
    if (w->c.writer->needs & REEL_STREAMED) {
        return reel_fail(err, REEL_UNSUPPORTED, "its length is not known before it is written");
    }
    w->conversion = conversion_of(r, &w->c, err);
    struct reel_stream *stream = w->conversion ? reel_conversion_stream(w->conversion, false, err) : NULL;
    if (!stream || !reel_writer_accepts(w->c.writer, stream, NULL, err)) {
        return false;
    }
    w->costly = w->c.writer->is_costly && w->c.writer->is_costly(stream);
    return conversion_tag(&w->c, stream->view_version) || reel_fail_memory(err);
}

/* NULL with REEL_BUSY: not in time. `begins`: it is made if it is not there. */
static struct reel_plan *plan_whole(struct http_request *r, const struct whole *w, bool begins, int64_t wait_ns,
                                    struct reel_error *err) {
    struct derived_cache *cache = http_app(r)->derived;
    char job[33] = "", owner[HTTP_PRINCIPAL];
    const struct plan_request q = {.key = w->c.etag, .owner = http_client(r, owner), .conversion = w->conversion};
    struct reel_plan *plan = begins ? plans_get(cache, &q, wait_ns, job, err) : plans_find(cache, w->c.etag);
    if (!plan && (job[0] || !begins)) {
        reel_fail(err, REEL_BUSY, "a conversion is being planned; try again");
    }
    return plan;
}

bool api_export_size(struct http_request *r, const struct api_recording *a, const struct api_export_file *file,
                     int64_t wait_ns, uint64_t *size, char etag[64], bool *costly, struct reel_error *err) {
    AUTO_STRUCT(whole_done) struct whole w = {.conversion = NULL};
    *costly = false;
    if (!read_whole(r, a, file, &w, err)) {
        return false;
    }
    memcpy(etag, w.c.etag, sizeof w.c.etag);
    *costly = w.costly;
    if (plans_length(etag, size)) {
        return true;
    }
    AUTO(reel_plan_free) struct reel_plan *plan = plan_whole(r, &w, !w.costly, wait_ns, err);
    *size = plan ? reel_plan_length(plan) : 0;
    return plan;
}

struct reel_planned_output *api_export_open(struct http_request *r, const struct api_recording *a,
                                            const struct api_export_file *file, char etag[64], struct reel_error *err) {
    AUTO_STRUCT(whole_done) struct whole w = {.conversion = NULL};
    if (!read_whole(r, a, file, &w, err)) {
        return NULL;
    }
    memcpy(etag, w.c.etag, sizeof w.c.etag);
    w.conversion->max_threads = 1; /* what is read with others, one after the other, reserves the memory of one */
    AUTO(reel_plan_free) struct reel_plan *plan = plan_whole(r, &w, true, API_PLAN_WAIT_NS, err);
    return plan ? reel_conversion_output(w.conversion, plan, err) : NULL;
}

/* The selection is this cut of the recording's own time. */
static void set_cut(struct conversion *c, const int64_t cut[2]) {
    c->q.selection.start_ns = cut[0];
    c->q.selection.end_ns = cut[1];
    c->q.has_start = c->options.is_cut = true;
    set_initial_state(c);
    c->options.start_ns = cut[0];
}

struct reel_conversion *api_member(struct http_request *r, const struct api_recording *a, const char *name,
                                   const int64_t *cut, char etag[64], struct reel_error *err) {
    struct api_recording item = *a; /* lent */
    struct inputs in = {.items = &item, .recordings = &item.recording, .n = 1, .name = name};
    AUTO_STRUCT(conversion_done) struct conversion c = {0};
    if (!cut && a->row.clock == REEL_CLOCK_RELATIVE && (http_param(r, "start") || http_param(r, "end"))) {
        reel_fail(err, REEL_ARGUMENT, "its times are relative, start and end are not");
        return NULL;
    }
    if (!read_conversion(r, &in, &c)) {
        return NULL;
    }
    if (c.writer->needs & REEL_STREAMED) {
        http_reply_bad_param(r, "as", "%s has no length before it is written; ask for a file format, for example mcap",
                             c.writer->name);
        return NULL;
    }
    if (cut) {
        set_cut(&c, cut);
    }
    AUTO(reel_conversion_free) struct reel_conversion *conversion = conversion_of(r, &c, err);
    struct reel_stream *stream = conversion ? reel_conversion_stream(conversion, false, err) : NULL;
    if (!stream || !reel_writer_accepts(c.writer, stream, NULL, err)) {
        return NULL;
    }
    if (!conversion_tag(&c, stream->view_version)) {
        http_reply_no_memory(r);
        return NULL;
    }
    memcpy(etag, c.etag, sizeof c.etag);
    conversion->max_threads = 1; /* the archive reads one member after the other, and reserves the memory of one */
    return TAKE(conversion);
}
