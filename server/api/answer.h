/* Answers that take a while to tell: made step by step, sent as the client takes them, never whole in memory. */
#ifndef SERVER_API_ANSWER_H
#define SERVER_API_ANSWER_H

#include "http/http.h"
#include "reel/table.h"

/* What tells the rows. */
struct api_pass {
    void *pass;
    bool (*step)(void *pass, bool *done, struct reel_error *err);
    void (*free)(void *pass);
};

struct api_answer;
struct api_answer *api_answer_new(int form, struct reel_error *err); /* as of api_table_form() */
void api_answer_free(struct api_answer *answer);
REEL_DEFINE_AUTO(struct api_answer, api_answer_free);
/* Where the pass tells its rows (NULL: the form is API_TABLE_TEXT) or its text; alive as long as the answer. */
const struct reel_table *api_answer_rows(const struct api_answer *answer);
const struct reel_text_sink *api_answer_text(const struct api_answer *answer);
/* Replies; takes the answer and the pass over. What goes wrong before the first byte is a problem document. */
void api_answer_reply(struct http_request *r, struct api_answer *answer, const struct api_pass *pass, const char *media_type);

#endif
