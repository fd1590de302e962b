/* /tide/channels: what RSBag's own tools tell of a TIDE file. A table of at most 65535 rows: made whole, then sent. */
#include "api/common.h"
#include "api/routes.h"
#include "api/table.h"
#include "core/grow.h"
#include "reel/tide.h"

static bool keep(void *context, const char *text, size_t size) {
    grow_put(context, text, size);
    return true;
}

void api_tide_channels(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    struct grow out = {0};
    int form;
    const char *media = api_table_form(r, REEL_TABLE_JSON, REEL_TABLE_JSON, &form);
    if (!media || !api_open(r, &a)) {
        return;
    }
    const struct reel_text_sink sink = {.put = keep, .context = &out};
    AUTO(reel_table_text_free) struct reel_table_text *rows = reel_table_text_new((enum reel_table_form)form, &sink, &err);
    bool good = rows && reel_tide_channels(reel_recording_index(a.recording), reel_table_of_text(rows), &err);
    grow_put(&out, "", 1);
    if (good && !out.failed) {
        http_reply_text(r, 200, media, (const char *)out.data);
    } else if (good) {
        http_reply_problem(r, 500, "memory", "no memory");
    } else {
        http_reply_error(r, &err);
    }
    free(out.data);
    api_recording_done(&a);
}
