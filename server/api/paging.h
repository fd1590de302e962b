/* Pages of lists that go on by a text or a number: {"items": […], "next": cursor or null}, and a Link to the next. */
#ifndef SERVER_API_PAGING_H
#define SERVER_API_PAGING_H

#include "http/http.h"

/* limit: 1 to 1000, usually 100. False: replied. */
bool paging_limit(struct http_request *r, uint32_t *limit);
/* What paging_reply() was given as `next` for the page before; NULL on the first page; malloc'd. False: replied. */
bool paging_after(struct http_request *r, char **after);
/* The same of a list that goes on by a row; *after stays as it is on the first page. */
bool paging_after_row(struct http_request *r, int64_t *after);
/* Link: rel="next" alone, for answers of another shape. */
void paging_link(struct http_request *r, const char *next);
/* Takes the items; `next` NULL: the last page. `columns` (NULL-terminated): what CSV tells of, as the client wants it (api/rows.h); NULL:
 * only JSON. */
void paging_reply(struct http_request *r, json_t *items, const char *next, const char *const *columns);

/* The same with more members in the JSON document, which it takes (NULL: none), for a search. */
void paging_reply_found(struct http_request *r, json_t *items, const char *next, const char *const *columns, json_t *members);

extern const char *const paging_outputs[];
#define PAGING_PARAMS                                                                                                                      \
    {.name = "output", .type = HTTP_CHOICE, .choices = paging_outputs, .help = "instead of Accept"},                                       \
        {.name = "limit", .type = HTTP_UINT, .help = "rows of a page, 1 to 1000 (larger is taken as 1000), usually 100"}, {                \
        .name = "cursor", .type = HTTP_TEXT, .help = "the next of the page before"                                                         \
    }

#endif
