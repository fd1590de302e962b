/* See answer.h. */
#include "api/answer.h"

#include "api/table.h"
#include "base/cleanup.h"
#include "base/grow.h"

struct api_answer {
    struct api_pass pass;
    struct reel_text_sink sink;
    struct reel_table_text *rows; /* NULL: the pass writes text */
    struct grow text;             /* written; not yet sent from `at` on */
    size_t at;
    bool done;
};

void api_answer_free(struct api_answer *a) {
    if (!a) {
        return;
    }
    if (a->pass.pass) {
        a->pass.free(a->pass.pass);
    }
    reel_table_text_free(a->rows);
    free(a->text.data);
    free(a);
}

static bool answer_keep(void *context, const char *text, size_t size) {
    struct api_answer *a = context;
    grow_put(&a->text, text, size);
    return !a->text.failed;
}

struct api_answer *api_answer_new(int form, struct reel_error *err) {
    AUTO(api_answer_free) struct api_answer *a = calloc(1, sizeof *a);
    if (!a) {
        reel_fail_memory(err);
        return NULL;
    }
    a->sink = (struct reel_text_sink){.put = answer_keep, .context = a};
    bool good = form == API_TABLE_TEXT || (a->rows = reel_table_text_new((enum reel_table_form)form, &a->sink, err));
    return good ? TAKE(a) : NULL;
}

const struct reel_table *api_answer_rows(const struct api_answer *a) {
    return a->rows ? reel_table_of_text(a->rows) : NULL;
}
const struct reel_text_sink *api_answer_text(const struct api_answer *a) {
    return &a->sink;
}

static bool answer_step(struct api_answer *a, struct reel_error *err) {
    return a->pass.step(a->pass.pass, &a->done, err) || (a->text.failed && reel_fail_memory(err));
}

/* Runs the pass until there is something to send or it has ended. */
static bool answer_advance(struct api_answer *a, struct reel_error *err) {
    while (a->at == a->text.size && !a->done) {
        a->at = a->text.size = 0;
        if (!answer_step(a, err)) {
            return false;
        }
    }
    return true;
}

static bool answer_next(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct api_answer *a = context;
    if (!answer_advance(a, err)) {
        return false;
    }
    *got = a->text.size - a->at < size ? a->text.size - a->at : size;
    if (*got > 0) {
        memcpy(buffer, a->text.data + a->at, *got);
    }
    a->at += *got;
    return true;
}
static void free_answer(void *context) {
    api_answer_free(context);
}

struct once {
    struct reel_recording *recording;
    const struct reel_table *to;
    bool (*run)(struct reel_recording *recording, const struct reel_table *to, struct reel_error *err);
};
static bool once_step(void *context, bool *done, struct reel_error *err) {
    const struct once *o = context;
    *done = true;
    return o->run(o->recording, o->to, err);
}
static void once_free(void *context) {
    struct once *o = context;
    reel_recording_free(o->recording);
    free(o);
}

void api_answer_once(struct http_request *r, struct reel_recording *recording, int form, const char *media_type,
                     bool (*run)(struct reel_recording *recording, const struct reel_table *to,
                                 struct reel_error *err)) {
    struct reel_error err = {0};
    struct api_answer *answer = api_answer_new(form, &err);
    struct once *o = answer ? malloc(sizeof *o) : NULL;
    if (!o) {
        api_answer_free(answer);
        http_reply_no_memory(r);
        return;
    }
    *o = (struct once){.recording = reel_recording_ref(recording), .to = api_answer_rows(answer), .run = run};
    api_answer_reply(r, answer, &(struct api_pass){.pass = o, .step = once_step, .free = once_free}, media_type);
}

void api_answer_reply(struct http_request *r, struct api_answer *a, const struct api_pass *pass,
                      const char *media_type) {
    struct reel_error err = {0};
    a->pass = *pass;
    /* One step more than the names of the columns take, so that what fails at the first row is answered with its
     * status. */
    if (!answer_advance(a, &err) || (!a->done && !answer_step(a, &err))) {
        api_answer_free(a);
        http_reply_error(r, &err);
        return;
    }
    http_reply_stream(
        r, &(struct http_stream){.media_type = media_type, .next = answer_next, .free = free_answer, .context = a});
}
