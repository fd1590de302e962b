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
    if (!conversion_read(r, in, &c) || !convert_reserve(r, in, &c)) {
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
    bool good = conversion_read(r, &w->in, &w->c);
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
    conversion_set_initial_state(c);
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
    if (!conversion_read(r, &in, &c)) {
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
