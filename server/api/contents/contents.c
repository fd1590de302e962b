/* Contents of a recording: topics, schemas, scan report. */
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/paging.h"
#include "api/recording.h"
#include "api/rows.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "tables/table.h"
#include "views/views.h"

void api_topics(struct http_request *r) {
    static const char *const columns[] = {"name",          "type",   "encoding", "schema_id", "messages",
                                          "payload_bytes", "rate",   "max_gap",  "start",     "end",
                                          "start_ns",      "end_ns", "latched",  NULL};
    struct rows_form form;
    struct view_slice slice;
    struct api_recording a;
    if (!rows_form(r, &form) || !paging_slice(r, &slice) || !api_open_index(r, &a)) {
        return;
    }
    const struct reel_index *index = reel_recording_index(a.recording);
    bool empty = true;
    http_param_bool(r, "empty", &empty);
    slice.filled = !empty;
    if (form.form == REEL_TABLE_JSON) {
        char *text = paging_topics(r, NULL, index, &slice);
        if (text) {
            http_reply_json_text(r, 200, text);
        } else {
            http_reply_no_memory(r);
        }
    } else {
        json_t *topics = view_topics(index, &slice);
        json_decref(paging_next_link(r, &slice));
        rows_reply(r, &form, json_null(), topics, columns);
    }
    api_recording_done(&a);
}

/* The rows are the findings. */
void api_scan(struct http_request *r) {
    static const char *const columns[] = {"severity", "part", "offset", "length", "text", "start", "end", NULL};
    static const char *const plain[] = {"severity", "part", "offset", "length", "text", NULL};
    struct api_recording a;
    struct rows_form form;
    struct reel_error err = {0};
    bool wants = false;
    http_param_bool(r, "times", &wants);
    if (!rows_form(r, &form) || !api_open_index(r, &a)) {
        return;
    }
    const struct reel_index *index = reel_recording_index(a.recording);
    size_t n;
    (void)reel_index_findings(index, &n);
    AUTO_MEM struct reel_span *times = wants ? calloc(n + 1, sizeof *times) : NULL;
    if (wants && !times) {
        http_reply_no_memory(r);
    } else if (wants && !index_loss_times(index, times, &err)) {
        http_reply_error(r, &err);
    } else {
        json_t *report = view_scan(index, times);
        rows_reply(r, &form, report, json_incref(json_object_get(report, "findings")), wants ? columns : plain);
    }
    api_recording_done(&a);
}

/* "3" is channel 3's own schema, "3.1" the second of its schemas. */
static const struct reel_schema *find_schema(const struct reel_index *index, const char *sid) {
    uint64_t channel = 0, n = 0;
    const char *dot = strchrnul(sid, '.');
    if (!number_u64_of(sid, (size_t)(dot - sid), &channel) || (*dot && !number_u64(dot + 1, &n)) ||
        channel >= reel_index_info(index)->n_channels) {
        return NULL;
    }
    const struct reel_channel *c = reel_index_channel(index, (uint32_t)channel);
    if (!*dot) {
        return reel_channel_schema(c);
    }
    return n < c->n_schemas ? &c->schemas[n] : NULL;
}

static json_t *schema_text(struct reel_bytes data) {
    json_t *text = json_stringn((const char *)data.data, data.size);
    return text ? text : json_null(); /* not UTF-8: only available as application/octet-stream */
}

void api_schema(struct http_request *r) {
    static const char *const offers[] = {"text/plain", "application/json", "application/octet-stream", NULL};
    struct api_recording a;
    const char *media = http_negotiate(r, offers);
    if (!media) {
        http_reply_problem(r, 406, "not-acceptable",
                           "a schema is available as text/plain, application/json or application/octet-stream");
        return;
    }
    if (!api_open_index(r, &a)) {
        return;
    }
    const struct reel_schema *s = find_schema(reel_recording_index(a.recording), http_segment(r, "sid"));
    if (!s) {
        http_reply_problem(r, 404, "not-found", "there is no schema %s; see /topics", http_segment(r, "sid"));
    } else if (strcmp(media, "application/json") == 0) {
        http_reply_json(r, 200,
                        json_pack("{s:s, s:s, s:s, s:o}", "name", s->name, "encoding", s->encoding, "hash", s->hash,
                                  "data", schema_text(s->data)));
    } else {
        char *text = strndup(s->data.data ? (const char *)s->data.data : "", s->data.size);
        http_reply_text(r, 200, strcmp(media, "text/plain") == 0 ? "text/plain; charset=utf-8" : media,
                        text ? text : "");
        free(text);
    }
    api_recording_done(&a);
}
