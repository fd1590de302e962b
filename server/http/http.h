/* HTTP for the rest of the server: requests that have been checked, replies that cannot be wrong. Only server/http/ knows libmicrohttpd.
 * One thread serves one connection (HTTP_NOTES.md), so a handler may block on SQLite or the disk. */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include <jansson.h>
#include <stdint.h>

#include "reel/error.h"
#include "reel/time.h"

struct app;
struct http_request;

enum http_role { ROLE_NONE, ROLE_READ, ROLE_UPLOAD, ROLE_EDIT, ROLE_ADMIN }; /* what a caller must be allowed; ROLE_NONE: open to all */

enum http_type { HTTP_TEXT, HTTP_GLOB, HTTP_UINT, HTTP_INT, HTTP_BOOL, HTTP_TIME, HTTP_TIME_MS, HTTP_DURATION, HTTP_CHOICE };

struct http_param { /* tables end with {0} */
    const char *name;
    enum http_type type; /* checked before the handler runs: 400 naming the parameter */
    bool repeats;
    const char *const *choices; /* HTTP_CHOICE, NULL-terminated */
    const char *help;           /* one line, for the OpenAPI document */
};

/* One row of THE table (server/api/routes.c). */
struct http_route {
    const char *method; /* "GET" also answers HEAD */
    const char *path;   /* "/api/v1/recordings/{id}/as/{name}"; a last "{name...}" takes the rest of the path (maybe empty) */
    enum http_role role;
    const struct http_param *params;
    const char *summary;
    void (*handle)(struct http_request *r); /* must reply exactly once; for requests with a body: after the last piece */
    /* Routes that take a body: begin() runs before the first byte and may refuse by replying (the client then never sends it); piece() gets
     * the bytes in order, false = it has replied or given up, the rest is drained; aborted() runs when the body never ends (free what begin
     * made). */
    void (*begin)(struct http_request *r);
    bool (*piece)(struct http_request *r, const void *data, size_t size);
    void (*aborted)(struct http_request *r);
};

struct http_server;

/* ---- who asks */

/* As the server's authorize() found. By the time a handler runs (begin() too) the route's role is granted; what is left to a handler is the
 * caller's collections, and what needs more than the route's role. */
struct http_caller {
    const char *name; /* for logs and the audit: of the token, or the user a proxy vouches for */
    const char *how;  /* "open" (no token is needed), "bearer", "basic", "link" or "proxy" */
    enum http_role role;
    const char *const *collections; /* globs of the collections it is limited to, NULL-terminated; NULL: all */
    int64_t token;                  /* its number; 0: none */
};
const struct http_caller *http_caller(const struct http_request *r);             /* never NULL; lives as long as the request */
bool http_caller_sees(const struct http_caller *caller, const char *collection); /* a NULL caller is the server itself, and sees all */

enum http_verdict { HTTP_GRANTED, HTTP_UNKNOWN, HTTP_FORBIDDEN, HTTP_TOO_OFTEN, HTTP_NOT_NOW }; /* otherwise 401, 403, 429, 503 */
struct http_grant {
    struct http_caller caller; /* also of a refused request, as far as it is known */
    void *memory;              /* what the caller's texts are in; freed with the request */
    char peer[64];             /* whom a proxy speaks for; "": the peer itself */
    const char *detail;        /* a literal: why it is refused */
    unsigned retry_after_s;
};

/* Percent escapes (and "+" of queries and forms), in place, NUL at the end; false: bad escape, NUL, no UTF-8. */
bool http_decode(char *text, size_t size, bool form, size_t *out_size);

/* ---- the request */
struct app *http_app(const struct http_request *r);
const struct http_server *http_server_of(const struct http_request *r); /* the one that serves it */
const char *http_id(const struct http_request *r);                      /* X-Request-Id, given or made */
const char *http_method(const struct http_request *r);
const char *http_peer(const struct http_request *r);           /* the client's address; behind a trusted proxy: what that says */
bool http_writes(const struct http_request *r);                /* by its method */
enum http_role http_role_needed(const struct http_request *r); /* of its route; ROLE_NONE while there is none */
unsigned http_status(const struct http_request *r);            /* of its answer; 0: none yet */
void http_path_for_logs(const struct http_request *r, char *out,
                        size_t size);            /* as sent, without the query, and without what looks like a token */
void http_keep_in_audit(struct http_request *r); /* though neither its role nor its answer says so */
bool http_is_kept_in_audit(const struct http_request *r);
const char *http_path(const struct http_request *r);   /* decoded, without the query */
const char *http_target(const struct http_request *r); /* path and query as sent */
const char *http_segment(const struct http_request *r,
                         const char *name); /* "{id}" of the route's path, decoded; never NULL for its own names */
const char *http_header(const struct http_request *r, const char *name); /* NULL when absent */
bool http_is_head(const struct http_request *r);
bool http_if_match(const struct http_request *r, const char *etag);        /* If-Match holds for this tag (strongly), or was not sent */
bool http_has_body_length(const struct http_request *r, uint64_t *length); /* Content-Length; false when chunked */
void http_set_state(struct http_request *r, void *state, void (*free_state)(void *)); /* the handler's own; freed when the request ends */
void *http_state(const struct http_request *r);

const char *http_param(const struct http_request *r, const char *name); /* first value, NULL when absent */
size_t http_params(const struct http_request *r, const char *name, const char **out,
                   size_t max);                                                     /* all values; returns how many there are */
bool http_param_u64(const struct http_request *r, const char *name, uint64_t *out); /* these: false when absent, *out untouched */
bool http_param_i64(const struct http_request *r, const char *name, int64_t *out);
bool http_param_bool(const struct http_request *r, const char *name, bool *out); /* true/false/1/0, and a bare ?report */
bool http_param_time(const struct http_request *r, const char *name, struct reel_time *out);
bool http_param_duration(const struct http_request *r, const char *name, int64_t *ns);

/* The best of `offers` (NULL-terminated media types, best first) for Accept with q-values; NULL = 406. */
const char *http_negotiate(const struct http_request *r, const char *const *offers);
bool http_accepts_coding(const struct http_request *r,
                         const char *coding); /* for bytes that are kept packed; JSON is packed by its reply */

/* A body of multipart/form-data, taken apart while it comes: piece() of the route feeds it. field() gets each field's bytes in order and in
 * pieces: `at` is where in the field they belong, so 0 begins a field. False from field() ends it. */
struct http_form;
typedef bool (*http_form_field)(void *context, const char *name, const char *file_name, uint64_t at, const void *data, size_t size);
struct http_form *http_form_new(struct http_request *r, http_form_field field,
                                void *context);                              /* NULL: no such body (or no boundary, or no memory) */
bool http_form_piece(struct http_form *form, const void *data, size_t size); /* false: it is none, or field() has ended it */
bool http_form_free(struct http_form *form);                                 /* false: it did not come to its end; NULL is fine */

/* ---- replies: each ends the handler's duty. All set X-Request-Id, CORS and security headers. */
void http_add_header(struct http_request *r, const char *name,
                     const char *value);                                     /* before the reply; CR/LF in value are refused (dropped) */
void http_add_date(struct http_request *r, const char *name, int64_t ns);    /* the same, a time as HTTP writes it */
void http_reply_json(struct http_request *r, unsigned status, json_t *body); /* takes the reference; newline at the end; gzip when asked */
void http_reply_text(struct http_request *r, unsigned status, const char *media_type, const char *text);
void http_reply_empty(struct http_request *r, unsigned status);
/* application/problem+json. `slug` names the problem's type: /problems/{slug}. */
__attribute__((format(printf, 4, 5))) void http_reply_problem(struct http_request *r, unsigned status, const char *slug, const char *detail,
                                                              ...);
/* The same with an errors list: takes the reference to `errors` ([{param, detail}] or what fits), may be NULL. */
void http_reply_problem_with(struct http_request *r, unsigned status, const char *slug, const char *detail, json_t *extra_members);
__attribute__((format(printf, 3, 4))) void http_reply_bad_param(struct http_request *r, const char *param, const char *detail, ...);
void http_reply_error(struct http_request *r,
                      const struct reel_error *err); /* by code: NOT_FOUND 404, ARGUMENT 400, CONFLICT 409, UNSUPPORTED 422, LIMIT 413,
                                                        DAMAGED 422, NO_SPACE 507, … else 500 */
void http_reply_no_memory(struct http_request *r);   /* the same, where nothing else tells of it */

/* A body of known length: ranges (single, suffix, several), If-Range, If-None-Match, If-Match, HEAD, 206/304/412/416 are done by the layer.
 */
struct http_file {
    uint64_t length;
    const char *etag;        /* strong, with quotes; copied */
    const char *media_type;  /* copied */
    const char *file_name;   /* Content-Disposition (RFC 8187); NULL = none; copied */
    const char *repr_digest; /* value of Repr-Digest; NULL = none; copied */
    int64_t modified_ns;     /* 0 = no Last-Modified */
    int fd;                  /* >= 0: a plain file, sent by sendfile and closed by the layer; else read() */
    bool (*read)(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err); /* exactly size bytes */
    void (*free)(void *context); /* called once, also when nothing was sent */
    void *context;
};
void http_reply_file(struct http_request *r, const struct http_file *file);

/* A body of unknown length: chunked; next() gives *got bytes (0 = complete). An error mid-way cuts the connection, so that the stream is
 * never taken for complete. */
struct http_stream {
    const char *media_type;
    bool (*next)(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err);
    void (*free)(void *context);
    void *context;
};
void http_reply_stream(struct http_request *r, const struct http_stream *stream);
bool http_is_stopping(const struct http_request *r); /* the server takes no more requests: a stream that would go on for long ends */

/* ---- the server */
/* What this thread has spent on something so far; a list ends with a NULL name. */
enum { HTTP_SPENT_MAX = 4 };
struct http_spent {
    const char *name;
    int64_t (*ns)(void);
};

struct http_options {
    const char *listen;                  /* "127.0.0.1:8040", "[::1]:0" */
    int listen_fd;                       /* a socket that listens already, taken over; 0: none, `listen` says where */
    const struct http_route *routes;     /* ends with {0} */
    const struct http_param *everywhere; /* what every route takes besides its own; may be NULL */
    const char *const *hosts;   /* further Host names that are ours, NULL-terminated; addresses and localhost of the listener are always */
    const char *const *origins; /* CORS: origins that may read with credentials and write; "*" = any may read */
    unsigned connections_max, header_timeout_s, idle_timeout_s;
    uint64_t body_min_rate;                       /* bytes a second, measured over 30 s; slower uploads are cut */
    void (*log)(void *context, const char *line); /* one line per request */
    bool log_json;                                /* … as a JSON object, else as logfmt */
    const struct http_spent *spent;               /* for Server-Timing; may be NULL */
    /* Says who asks, and whether this role is theirs; runs before a body is taken. NULL: anybody may do anything. `out` comes zeroed. */
    enum http_verdict (*authorize)(const struct http_request *r, enum http_role role, struct http_grant *out);
    void (*finished)(const struct http_request *r); /* each request whose headers came, after its answer is out; may be NULL */
    struct app *app;
};
struct http_server *http_server_start(const struct http_options *options, struct reel_error *err);
const char *http_server_url(const struct http_server *server); /* "http://127.0.0.1:8040", with the real port */
/* Stops accepting, lets running requests end for at most drain_s seconds, then cuts them. Frees. */
void http_server_stop(struct http_server *server, unsigned drain_s);
/* By class of route: few and fixed. buckets[i]: requests no longer than http_bucket_bound(i) seconds and longer than the one before; the
 * last: all others. */
enum { HTTP_CLASSES = 10, HTTP_BUCKETS = 10 };
struct http_class_figures {
    uint64_t status[6], buckets[HTTP_BUCKETS], ms;
};
void http_server_classes(const struct http_server *server, struct http_class_figures out[HTTP_CLASSES]);
const char *http_class_name(unsigned class);
double http_bucket_bound(unsigned bucket);
struct http_figures {
    uint64_t requests, connections, status[6], bytes_in, bytes_out, streams_cut;
};
void http_server_figures(const struct http_server *server, struct http_figures *out); /* for /metrics */

#endif
