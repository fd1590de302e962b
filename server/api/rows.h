/* Lists of JSON objects as JSON, NDJSON (a row per line) or CSV. */
#ifndef SERVER_API_ROWS_H
#define SERVER_API_ROWS_H

#include "http/http.h"

struct rows_form {
    int form; /* enum reel_table_form */
    const char *media_type;
};
/* By ?output=, or else by Accept. False: replied (406). */
bool rows_form(struct http_request *r, struct rows_form *out);
/* Replies. Takes the references to `body`, the JSON document, and `items`, its array of rows. `columns`
 * (NULL-terminated) are the members that CSV has; arrays and objects become JSON text there. */
void rows_reply(struct http_request *r, const struct rows_form *form, json_t *body, json_t *items,
                const char *const *columns);

#endif
