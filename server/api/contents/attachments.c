/* Attachments and metadata stored in a recording's file: /attachments, /attachments/{n}, /metadata. Attachments are
 * read from the file by range. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/digests.h"
#include "api/paging.h"
#include "api/recording.h"
#include "base/number.h"
#include "views/views.h"

/* ---- the lists */

static json_t *view_attachment(const struct http_request *r, const struct reel_attachment *a, size_t number,
                               const char *id, enum reel_clock clock) {
    return json_pack("{s:I, s:s, s:s, s:o, s:o, s:o, s:o}", "index", (json_int_t)number, "name", a->name, "media_type",
                     a->media_type, "size", view_u64(a->size), "time", view_time(a->time_ns, clock), "time_ns",
                     json_sprintf("%lld", (long long)a->time_ns), "url",
                     json_sprintf("%s/api/v1/recordings/%s/attachments/%zu", http_prefix(r), id, number));
}

void api_attachments_list(struct http_request *r) {
    static const char *const columns[] = {"index", "name", "media_type", "size", "time", "time_ns", "url", NULL};
    struct api_recording a;
    struct rows_form form;
    struct view_slice slice;
    if (!rows_form(r, &form) || !paging_slice(r, &slice) || !api_open_index(r, &a)) {
        return;
    }
    const struct reel_index *index = reel_recording_index(a.recording);
    size_t count, i = slice.from, text = 0;
    const struct reel_attachment *all = reel_index_attachments(index, &count);
    json_t *list = json_array();
    for (; i < count && i - slice.from < slice.limit && text < VIEW_TEXT_MAX; i++) {
        json_array_append_new(list, view_attachment(r, &all[i], i, a.row.id, reel_index_info(index)->clock));
        text += 300 + strlen(all[i].name) + strlen(all[i].media_type);
    }
    slice.next = i < count ? i : 0;
    paging_reply_slice(r, &form, list, &slice, columns);
    api_recording_done(&a);
}

/* Keys may repeat, so pairs are a list, in the order of the file. */
void api_metadata(struct http_request *r) {
    static const char *const columns[] = {"key", "value", NULL};
    struct api_recording a;
    struct rows_form form;
    struct view_slice slice;
    if (!rows_form(r, &form) || !paging_slice(r, &slice) || !api_open_index(r, &a)) {
        return;
    }
    const struct reel_pairs *pairs = reel_index_metadata(reel_recording_index(a.recording));
    size_t i = slice.from, text = 0;
    json_t *list = json_array();
    for (; i < pairs->count && i - slice.from < slice.limit && text < VIEW_TEXT_MAX; i++) {
        json_array_append_new(list,
                              json_pack("{s:s, s:s}", "key", pairs->items[i].key, "value", pairs->items[i].value));
        text += 30 + strlen(pairs->items[i].key) + strlen(pairs->items[i].value);
    }
    slice.next = i < pairs->count ? i : 0;
    paging_reply_slice(r, &form, list, &slice, columns);
    api_recording_done(&a);
}

/* ---- one attachment */

struct reading { /* source of a reply */
    struct reel_reader *reader;
    const struct reel_attachment *attachment;
};

static bool read_attachment(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    const struct reading *reading = context;
    const struct reel_attachment *a = reading->attachment;
    return reel_reader_copy(reading->reader, a->chunk, a->offset + offset, buffer, size, err);
}
static void free_reading(void *context) {
    struct reading *reading = context;
    reel_reader_free(reading->reader);
    free(reading);
}

/* The media type comes from the recording; it is sent only if it is valid in a header. */
static const char *media_type_of(const struct reel_attachment *a) {
    const char *slash = strchr(a->media_type, '/');
    bool good = slash && slash != a->media_type && slash[1] != '\0';
    for (const char *p = a->media_type; *p && good; p++) {
        good = (*p > ' ' && *p < 0x7f) || (*p == ' ' && p > slash);
    }
    return good ? a->media_type : "application/octet-stream";
}

static void reply_attachment(struct http_request *r, const struct api_recording *a,
                             const struct reel_attachment *attachment) {
    struct reel_error err = {0};
    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading || !(reading->reader = reel_reader_new(a->recording, &err))) {
        free(reading);
        http_reply_no_memory(r);
        return;
    }
    reading->attachment = attachment; /* owned by the recording */
    char text[256], etag[64];
    snprintf(text, sizeof text, "%s attachment %s", a->row.content, http_segment(r, "n"));
    api_etag(text, etag);
    const char *slash = strrchr(attachment->name, '/'), *name = slash ? slash + 1 : attachment->name;
    http_reply_file(r, &(struct http_file){.length = attachment->size,
                                           .etag = etag,
                                           .media_type = media_type_of(attachment),
                                           .file_name = name[0] ? name : "attachment",
                                           .modified_ns = a->row.created_ns,
                                           .fd = -1,
                                           .read = read_attachment,
                                           .free = free_reading,
                                           .context = reading});
}

void api_attachment(struct http_request *r) {
    struct api_recording a;
    if (!api_open(r, &a)) {
        return;
    }
    size_t count;
    const struct reel_attachment *all = reel_index_attachments(reel_recording_index(a.recording), &count);
    const char *number = http_segment(r, "n");
    uint64_t n;
    if (!number_u64(number, &n) || n >= count) {
        http_reply_problem(r, 404, "not-found", "this recording has no attachment %s; it has %zu, numbered from 0",
                           number, count);
    } else {
        reply_attachment(r, &a, &all[n]);
    }
    api_recording_done(&a);
}
