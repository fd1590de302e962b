/* /tide/channels and /tide/introspection: the queries of RSBag's own tools. */
#include "reel/tide.h"
#include "api/answer.h"
#include "api/common.h"
#include "api/routes.h"
#include "api/table.h"

struct channels {
    struct reel_recording *recording;
    const struct reel_table *to;
};

static bool step(void *context, bool *done, struct reel_error *err) {
    const struct channels *c = context;
    *done = true;
    return reel_tide_channels(reel_recording_index(c->recording), c->to, err);
}
static void free_channels(void *context) {
    struct channels *c = context;
    reel_recording_free(c->recording);
    free(c);
}

void api_tide_channels(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    int form;
    const char *media = api_table_form(r, REEL_TABLE_JSON, REEL_TABLE_JSON, &form);
    if (!media || !api_open(r, &a)) {
        return;
    }
    struct api_answer *answer = api_answer_new((enum reel_table_form)form, &err);
    struct channels *c = answer ? malloc(sizeof *c) : NULL;
    if (c) {
        *c = (struct channels){.recording = reel_recording_ref(a.recording), .to = api_answer_rows(answer)};
        api_answer_reply(r, answer, &(struct api_pass){.pass = c, .step = step, .free = free_channels}, media);
    } else {
        api_answer_free(answer);
        http_reply_no_memory(r);
    }
    api_recording_done(&a);
}

void api_tide_introspection(struct http_request *r) {
    struct api_recording a;
    struct api_selection selection;
    struct reel_error err = {0};
    if (!api_open(r, &a)) {
        return;
    }
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a.recording));
    if (api_select(r, info->start_ns, info->end_ns, &selection)) {
        char *text = reel_tide_introspection(a.recording, &selection.selection, &err);
        if (text) {
            http_reply_text(r, 200, "application/json", text);
        } else {
            http_reply_error(r, &err);
        }
        free(text);
    }
    api_recording_done(&a);
}
