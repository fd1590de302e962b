/* Long answers, computed step by step and sent at the client's pace; the whole is never in memory. */
#ifndef SERVER_API_ANSWER_H
#define SERVER_API_ANSWER_H

#include "http/http.h"
#include "reel/open.h"
#include "tables/table.h"

/* The pass that produces the rows. */
struct api_pass {
    void *pass;
    bool (*step)(void *pass, bool *done, struct reel_error *err);
    void (*free)(void *pass);
};

struct api_answer;
struct api_answer *api_answer_new(int form, struct reel_error *err); /* as of api_table_form() */
void api_answer_free(struct api_answer *answer);
REEL_DEFINE_AUTO(struct api_answer, api_answer_free);
/* Where the pass writes its rows (NULL: the form is API_TABLE_TEXT) or its text; valid as long as the answer. */
const struct reel_table *api_answer_rows(const struct api_answer *answer);
const struct reel_text_sink *api_answer_text(const struct api_answer *answer);
/* Replies with a table that `run` writes in one go. */
void api_answer_once(struct http_request *r, struct reel_recording *recording, int form, const char *media_type,
                     bool (*run)(struct reel_recording *recording, const struct reel_table *to,
                                 struct reel_error *err));
/* Replies; owns the answer and the pass from then on. An error before the first byte becomes a problem document. */
void api_answer_reply(struct http_request *r, struct api_answer *answer, const struct api_pass *pass,
                      const char *media_type);

#endif
