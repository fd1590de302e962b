/* HTTP requests of `reel push` (libcurl): one connection for each worker, small responses. Only push_http.c uses the
 * library. */
#ifndef SERVER_CLI_PUSH_HTTP_H
#define SERVER_CLI_PUSH_HTTP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "reel/cleanup.h"
#include "reel/error.h"

struct push_http;
struct push_http *push_http_new(const char *token, bool (*go_on)(void), struct reel_error *err); /* token: Bearer, NULL
                                                                                                    = none; go_on is
                                                                                                    polled: false
                                                                                                    cancels */
void push_http_free(struct push_http *h);
REEL_DEFINE_AUTO(struct push_http, push_http_free);

enum { PUSH_HEADERS_MAX = 8, PUSH_BODY_MAX = 64 << 10 };

struct push_request {
    const char *method, *url;
    const char *headers[PUSH_HEADERS_MAX]; /* "Name: value"; NULL ends them */
    /* Reads the next piece of a body of `length` bytes; NULL: no body. False cancels the request. */
    bool (*read)(void *context, void *buffer, size_t size, size_t *got);
    /* Takes the body of a successful response, instead of `body` below; NULL: not wanted. False ends the request with
     * its error. */
    bool (*write)(void *context, const void *data, size_t size, struct reel_error *err);
    bool wants_part; /* for write(), a successful response is one of a range: 206 */
    void *context;
    uint64_t length;
};
struct push_answer {
    long status;
    int64_t offset;                              /* Upload-Offset; -1: absent */
    char location[1024], content_location[1024]; /* as absolute addresses; "": absent */
    char body[PUSH_BODY_MAX + 1];                /* truncated to this size */
    size_t body_size;
    int64_t date_s; /* Date, since 1970; 0: absent */
};
/* False: no response (REEL_IO), or read() or go_on() cancelled (REEL_CANCELLED). */
bool push_http_do(struct push_http *h, const struct push_request *q, struct push_answer *out, struct reel_error *err);
/* Whether a response to be asked for again later: the server, or a proxy, is busy or away. */
bool push_http_is_transient(long status);
/* "the server answered 404: …", with the detail of its answer; always false. */
bool push_http_refused(const struct push_answer *a, struct reel_error *err);
struct push_rate;
/* The answer of JSON, of at most 64 MiB, to GET, or with a body to POST; `waits`: also for what the server
 * has to work out first. NULL: `out` has the status of another answer than 200, or `err` is set (REEL_DAMAGED:
 * it is no JSON). */
json_t *push_http_json(struct push_http *h, const char *url, const char *body, bool waits, struct push_answer *out,
                       struct reel_error *err);
void push_http_limit(struct push_http *h, struct push_rate *rate); /* of the bodies it sends; must outlive it */
enum { PUSH_TOKEN_MAX = 4096 };
/* The token from a file, or from the environment (REEL_TOKEN): other users could see one on the command line. */
bool push_http_token(const char *file, char token[PUSH_TOKEN_MAX], struct reel_error *err);
/* The API's address from the server's: "http://host:8040", also with a path prefix, or already with /api/v1; malloc'd.
 */
char *push_http_api(const char *url);
/* Adds "&KEY=VALUE" to an address, unless the value is NULL; *url becomes NULL without memory. */
void push_http_add(struct push_http *h, char **url, const char *key, const char *value);
/* Escapes one segment of a path; malloc'd. */
char *push_http_escape(struct push_http *h, const char *text);

#endif
