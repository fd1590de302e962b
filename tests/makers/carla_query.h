/* Asks a CARLA recording a question and keeps the answer as text. For tests with cmocka. */
#ifndef TESTS_CARLA_QUERY_H
#define TESTS_CARLA_QUERY_H

#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/carla/question.h"

#include <stdio.h>

static inline bool carla_query_put(void *context, const char *text, size_t size) {
    grow_put(context, text, size);
    return true;
}

/* The whole answer with a NUL, valid until the next call; "error CODE: text" when there is none. form < 0: CARLA's
 * text, else enum reel_table_form. */
static inline const char *carla_query(struct reel_recording *r, const struct reel_carla_question *question, int form) {
    static struct grow out;
    struct reel_error err = {0};
    char problem[512];
    bool done = false, good = true;
    out.size = 0;
    const struct reel_text_sink sink = {.put = carla_query_put, .context = &out};
    AUTO(reel_table_text_free)
    struct reel_table_text *rows = form < 0 ? NULL : reel_table_text_new((enum reel_table_form)form, &sink, &err);
    AUTO(reel_carla_free)
    struct reel_carla *pass =
        reel_carla_open(r, question, form < 0 ? &sink : NULL, rows ? reel_table_of_text(rows) : NULL, &err);
    while (pass && good && !done) {
        good = reel_carla_step(pass, &done, &err);
    }
    if (!pass || !good) {
        int n = snprintf(problem, sizeof problem, "error %d: %s", err.code, err.text);
        out.size = 0;
        grow_put(&out, problem, (size_t)n);
    }
    grow_put(&out, "", 1);
    return (const char *)out.data;
}

#endif
