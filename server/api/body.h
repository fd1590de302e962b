/* What clients send that is no file: small JSON and texts, read whole and bounded before anybody looks at them. A route gives body_begin
 * and body_piece; its handler asks. */
#ifndef SERVER_API_BODY_H
#define SERVER_API_BODY_H

#include "http/http.h"

enum {
    BODY_BYTES_MAX = 1 << 20,
    BODY_DEPTH_MAX = 32, /* of JSON: whoever reads or writes it goes down as deep on the stack */
};

void body_begin(struct http_request *r);
bool body_piece(struct http_request *r, const void *data, size_t size);

/* The JSON object that came; nothing at all is {}. NULL: replied (400). Belongs to the request. */
json_t *body_json(struct http_request *r);
/* The bytes that came, ended by a NUL that is not counted; never NULL. */
const char *body_text(struct http_request *r, size_t *size);
/* 400 that names a member. */
__attribute__((format(printf, 3, 4))) void body_refuse(struct http_request *r, const char *member, const char *detail, ...);
/* Are all members of the object among `known` (NULL-terminated)? False: replied, naming the first that is not. */
bool body_knows(struct http_request *r, const json_t *object, const char *const *known);

#endif
