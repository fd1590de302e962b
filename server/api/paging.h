/* Paged lists: {"items": […], "next": cursor or null}, and a Link header to the next page. The cursor encodes a text or
 * a row number. */
#ifndef SERVER_API_PAGING_H
#define SERVER_API_PAGING_H

#include "api/rows.h"
#include "http/http.h"
#include "views/views.h"

/* Adds Link: rel="next": the same request with another cursor. */
void api_add_next_link(struct http_request *r, const char *cursor);
/* limit: 1 to 1000, default 100. */
uint32_t paging_limit(const struct http_request *r);
/* The `next` of the previous page, as paging_reply() got it; NULL on the first page; malloc'd. False: replied. */
bool paging_after(struct http_request *r, char **after);
/* The same for a cursor that is a row number; *after is unchanged on the first page. */
bool paging_after_row(struct http_request *r, int64_t *after);
/* The same for a part of a list that is held in memory: limit (default: the maximum) and cursor. */
bool paging_slice(struct http_request *r, struct view_slice *slice);
/* The cursor of the next part, or null. */
json_t *paging_next(const struct view_slice *slice);
/* The same, and a Link to it. */
json_t *paging_next_link(struct http_request *r, const struct view_slice *slice);
/* Replies with such a part. Takes the reference to `items`. */
void paging_reply_slice(struct http_request *r, const struct rows_form *form, json_t *items,
                        const struct view_slice *slice, const char *const *columns);
/* The JSON text, from malloc, of a page of topics with a Link to the next; or, if not NULL, of `recording` with the
 * members "topics" and "topics_next". NULL: no memory. */
char *paging_topics(struct http_request *r, json_t *recording, const struct reel_index *index,
                    struct view_slice *slice);
/* Replies. Takes the reference to `items`; `next` NULL: the last page. `columns` (NULL-terminated): the columns of CSV
 * (api/rows.h); NULL: JSON only. */
void paging_reply(struct http_request *r, json_t *items, const char *next, const char *const *columns);

/* The same with more members in the JSON document, which it takes (NULL: none), for a search. */
void paging_reply_found(struct http_request *r, json_t *items, const char *next, const char *const *columns,
                        json_t *members);

extern const char *const paging_outputs[];
#define PAGING_LIMIT_CURSOR                                                                                            \
    {.name = "limit",                                                                                                  \
     .type = HTTP_UINT,                                                                                                \
     .min = 1,                                                                                                         \
     .max = 1000,                                                                                                      \
     .fallback = "100",                                                                                                \
     .help = "The number of items of a page."},                                                                        \
    {                                                                                                                  \
        .name = "cursor", .type = HTTP_TEXT, .help = "The member next of the previous page."                           \
    }
#define PAGING_SLICE                                                                                                   \
    {.name = "limit",                                                                                                  \
     .type = HTTP_UINT,                                                                                                \
     .min = 1,                                                                                                         \
     .max = 1000,                                                                                                      \
     .fallback = "1000",                                                                                               \
     .help = "The maximum number of items; a page of long items has fewer."},                                          \
    {                                                                                                                  \
        .name = "cursor", .type = HTTP_TEXT, .help = "The member next of the previous page."                           \
    }
#define PAGING_PARAMS                                                                                                  \
    {.name = "output",                                                                                                 \
     .type = HTTP_CHOICE,                                                                                              \
     .choices = paging_outputs,                                                                                        \
     .help = "The output format; takes precedence over Accept."},                                                      \
        PAGING_LIMIT_CURSOR

#endif
