/* Small request bodies (JSON or text), collected up to a limit before the handler runs. A route names body_begin and
 * body_piece; its handler then calls body_json() or body_text(). */
#ifndef SERVER_API_BODY_H
#define SERVER_API_BODY_H

#include "http/http.h"

enum {
    BODY_BYTES_MAX = 1 << 20,
    BODY_ARCHIVE_MAX = 8 << 20,
    BODY_DEPTH_MAX = 32, /* of JSON, as reading and writing it recurse */
};

void body_begin(struct http_request *r);
bool body_piece(struct http_request *r, const void *data, size_t size);
bool body_archive_piece(struct http_request *r, const void *data, size_t size); /* of at most BODY_ARCHIVE_MAX */

unsigned body_depth(const char *text, size_t size); /* of the JSON text, to compare with BODY_DEPTH_MAX */
/* The JSON object of the body; an empty body is {}. NULL: replied (400). Owned by the request. */
json_t *body_json(struct http_request *r);
/* The body, with a terminating NUL that `size` does not count; never NULL. */
const char *body_text(struct http_request *r, size_t *size);
/* Replies 400 and names the member. */
__attribute__((format(printf, 3, 4))) void body_refuse(struct http_request *r, const char *member, const char *detail,
                                                       ...);
/* Whether all members of the object are among `known` (NULL-terminated). False: replied (400), naming the first that is
 * not. */
bool body_knows(struct http_request *r, const json_t *object, const char *const *known);

#endif
