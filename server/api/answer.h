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
struct api_answer *api_answer_new(enum reel_table_form form, struct reel_error *err);
void api_answer_free(struct api_answer *answer);
REEL_DEFINE_AUTO(struct api_answer, api_answer_free);
const struct reel_table *api_answer_rows(const struct api_answer *answer); /* where the pass tells them; alive as long as the answer */
/* Replies; takes the answer and the pass over. What goes wrong before the first byte is a problem document. */
void api_answer_reply(struct http_request *r, struct api_answer *answer, const struct api_pass *pass, const char *media_type);

#endif
