/* /as/{name}.EXT: the recording as another format. Planned targets behave like files (length, ETag, ranges); text targets are streamed. Nothing is stored. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/common.h"
#include "api/plans.h"
#include "api/routes.h"
#include "api/views.h"

static const int64_t PLAN_WAIT_NS = 2000000000; /* longer planning goes on as a job: 503 */

struct conversion {
    const struct reel_writer *writer;
    struct reel_write_options options;
    struct api_selection q;
    char etag[64];
};

/* Everything the bytes depend on, as text; hashed it is the ETag and the plan's key. */
static bool make_etag(const struct api_recording *a, struct conversion *c) {
    const struct reel_selection *s = &c->q.selection;
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a->recording));
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return false;
    }
    fprintf(f, "%s %s/%u %s/%u %s\n", a->row.content, info->format->name, info->format->version, c->writer->name, c->writer->version, c->options.compression);
    fprintf(f, "%lld %lld %llu %lld %d %lld %d\n", (long long)s->start_ns, (long long)s->end_ns, (unsigned long long)s->every_n, (long long)s->every_ns,
            s->last_per_topic, (long long)s->lookback_ns, s->state_at_cut);
    for (uint32_t i = 0; i < s->n_topics; i++) {
        fprintf(f, "+%zu:%s\n", strlen(s->topics[i]), s->topics[i]);
    }
    for (uint32_t i = 0; i < s->n_exclude; i++) {
        fprintf(f, "-%zu:%s\n", strlen(s->exclude[i]), s->exclude[i]);
    }
    bool good = fclose(f) == 0;
    if (good) {
        api_etag(text, c->etag);
    }
    free(text);
    return good;
}

/* Writer, selection and options of the request. False: replied. */
static bool read_conversion(struct http_request *r, struct api_recording *a, struct conversion *c) {
    struct reel_error err = {0};
    c->writer = reel_writer_for_file(http_segment(r, "name"), http_param(r, "version"), &err);
    if (!c->writer) {
        http_reply_problem(r, 406, "unknown-target", "%s", err.text);
        return false;
    }
    if (!api_select(r, reel_recording_index(a->recording), &c->q)) {
        return false;
    }
    c->q.selection.state_at_cut = c->q.has_start && (c->writer->needs & REEL_NEEDS_STATE_AT_CUT);
    const char *compression = http_param(r, "compression");
    c->options = (struct reel_write_options){.compression = compression ? compression : "",
                                             .is_cut = c->q.has_start,
                                             .start_ns = c->q.has_start ? c->q.selection.start_ns : reel_index_info(reel_recording_index(a->recording))->start_ns,
                                             .time_format = api_time_format(r)};
    http_param_bool(r, "end_record", &c->options.separated);
    if (!make_etag(a, c)) {
        http_reply_problem(r, 500, "memory", "no memory");
        return false;
    }
    return true;
}

/* ---- what a reply reads from */

static bool read_planned(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    return reel_render_read(context, offset, buffer, size, err);
}
static bool next_streamed(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    return reel_render_next(context, buffer, size, got, err);
}
static void free_render(void *context) {
    reel_render_free(context);
}

static void reply_streamed(struct http_request *r, struct conversion *c, struct reel_stream *stream) {
    struct reel_error err = {0};
    struct reel_render *render = reel_render_new(NULL, c->writer, &c->options, stream, &err);
    if (!render) {
        http_reply_error(r, &err);
        return;
    }
    http_reply_stream(r, &(struct http_stream){.media_type = c->writer->media_type, .next = next_streamed, .free = free_render, .context = render});
}

static void reply_planned(struct http_request *r, struct api_recording *a, struct conversion *c) {
    struct reel_error err = {0};
    char job[33] = "";
    struct plan_request q = {
        .key = c->etag, .writer = c->writer, .options = c->options, .recordings = &a->recording, .n_recordings = 1, .selection = c->q.selection};
    AUTO(reel_plan_free) struct reel_plan *plan = plans_get(http_app(r)->plans, &q, api_wait_ns(r, PLAN_WAIT_NS), job, &err);
    if (!plan && job[0]) {
        api_reply_busy(r, job, "this conversion is being planned; ask again");
        return;
    }
    c->q.selection.front = plan ? reel_plan_front(plan) : NULL;
    struct reel_stream *stream = plan ? reel_stream_open(&a->recording, 1, &c->q.selection, &err) : NULL;
    struct reel_render *render = stream ? reel_render_new(plan, c->writer, &c->options, stream, &err) : NULL;
    if (!render) {
        http_reply_error(r, &err);
        return;
    }
    http_reply_file(r, &(struct http_file){.length = reel_plan_length(plan),
                                           .etag = c->etag,
                                           .media_type = c->writer->media_type,
                                           .file_name = http_segment(r, "name"),
                                           .modified_ns = a->row.created_ns,
                                           .fd = -1,
                                           .read = read_planned,
                                           .free = free_render,
                                           .context = render});
}

static void reply_report(struct http_request *r, const struct conversion *c, bool accepted, const struct reel_loss *loss, const struct reel_error *err) {
    json_t *body = json_pack("{s:s, s:s, s:b, s:o}", "target", c->writer->name, "media_type", c->writer->media_type, "accepted", accepted, "report", view_loss(loss));
    if (!accepted) {
        json_object_set_new(body, "reason", json_string(err->text));
    }
    http_reply_json(r, 200, body);
}

static void reply(struct http_request *r, struct api_recording *a) {
    struct conversion c;
    struct reel_error err = {0};
    bool report = false;
    if (!read_conversion(r, a, &c)) {
        return;
    }
    struct reel_selection plain = c.q.selection;
    plain.state_at_cut = false; /* the front is made with the plan, once */
    plain.last_per_topic = c.writer->needs & REEL_STREAMED ? plain.last_per_topic : false;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&a->recording, 1, &plain, &err);
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    if (!stream || !loss) {
        http_reply_error(r, &err);
        return;
    }
    bool accepted = reel_writer_accepts(c.writer, stream, loss, &err);
    if (http_param_bool(r, "report", &report) && report) {
        reply_report(r, &c, accepted, loss, &err);
    } else if (!accepted) {
        http_reply_problem_with(r, 422, "target-cannot-hold", err.text, json_pack("{s:o}", "report", view_loss(loss)));
    } else if (c.writer->needs & REEL_STREAMED) {
        reply_streamed(r, &c, TAKE(stream));
    } else {
        reply_planned(r, a, &c);
    }
}

void api_convert(struct http_request *r) {
    struct api_recording a;
    if (api_open(r, &a)) {
        reply(r, &a);
        api_recording_done(&a);
    }
}
