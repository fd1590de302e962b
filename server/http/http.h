/* The HTTP layer: validated requests, well-formed replies. Only server/http/ uses libmicrohttpd.
 * One thread serves one connection, so a handler may block on SQLite or the disk. */
#ifndef SERVER_HTTP_HTTP_H
#define SERVER_HTTP_HTTP_H

#include <jansson.h>
#include <stdint.h>

#include "reel/error.h"
#include "reel/time.h"

struct app;
struct http_request;

enum http_role {
    ROLE_NONE,
    ROLE_READ,
    ROLE_UPLOAD,
    ROLE_EDIT,
    ROLE_ADMIN
}; /* required by a route; ROLE_NONE: open to all */

enum http_type {
    HTTP_TEXT,
    HTTP_GLOB,
    HTTP_UINT,
    HTTP_INT,
    HTTP_BOOL,
    HTTP_TIME,
    HTTP_TIME_MS,
    HTTP_DURATION,
    HTTP_CHOICE
};

/* What will be removed; docs/compatibility.md says when it may be. Its answers have the headers Deprecation, Sunset and
 * Link, the OpenAPI document marks it, and its uses are logged and counted. A member of JSON has `deprecated: true` in
 * openapi.yaml; the handler that reads it from a body calls http_uses_deprecated(). */
struct http_deprecation {
    const char *what;           /* "GET /api/v1/old", "from of GET /api/v1/old" */
    const char *since, *sunset; /* dates such as "2027-01-31", at least a year apart */
    const char *link;           /* what is to be used instead: an address, or a path of this server */
};

struct http_param { /* tables end with {0} */
    const char *name;
    enum http_type type; /* checked before the handler runs: 400 naming the parameter */
    bool repeats;
    const char *const *choices; /* HTTP_CHOICE, NULL-terminated */
    bool required;
    uint64_t min, max;    /* of HTTP_UINT; max of a parameter that repeats: how often; max 0: no limit */
    const char *help;     /* a sentence */
    const char *fallback; /* the default value, which the handler assumes itself; NULL: none */
    const struct http_deprecation *deprecated; /* NULL: it stays */
    const struct http_param *(*more)(void);    /* of the last row, without a name: the table goes on with this one */
};
/* `param` if it has a name, else the first row of the table that follows. NULL: the table ends. */
const struct http_param *http_param_row(const struct http_param *param);

/* One row of the route table (server/api/routes.c). */
struct http_route {
    const char *method; /* "GET" also answers HEAD */
    const char *path;   /* "/api/v1/recordings/{id}/as/{name}"; a last "{name...}" takes the rest of the path (maybe
                           empty) */
    enum http_role role;
    const struct http_param *params;
    const char *summary;
    /* must reply exactly once; for requests with a body: after the last piece */
    void (*handle)(struct http_request *r);
    /* Routes that take a body: begin() runs before the first byte and may refuse by replying (the client then never
     * sends it); piece() gets the bytes in order, false = it has replied or given up, the rest is drained; aborted()
     * runs if the body is never completed (free what begin() allocated). */
    void (*begin)(struct http_request *r);
    bool (*piece)(struct http_request *r, const void *data, size_t size);
    void (*aborted)(struct http_request *r);
};

/* Whether a route stays, and what a write (POST, PUT, PATCH, DELETE) does with Idempotency-Key, If-Match and
 * If-None-Match; one without a row here has {0}. */
enum http_key {
    HTTP_KEY_STORED,   /* the answer is stored, and sent again to a repeated request */
    HTTP_KEY_RESOURCE, /* what the request changes stores the key: http_key() */
    HTTP_KEY_NATURAL,  /* nothing to do: repeating the request has no further effect */
    HTTP_KEY_REFUSED   /* 400: the answer contains a secret, which is not stored */
};
struct http_policy {
    enum http_key key;
    bool if_match;      /* the handler compares it with the entity tag of the resource; else 400 */
    bool if_none_match; /* "*": the handler creates the resource, or replies 412 if there is one; else 400 */
    const struct http_deprecation *deprecated; /* NULL: it stays */
};
bool http_changes(const char *method); /* whether it is one of the four */

struct http_server;

/* ---- the caller */

/* Set by the server's authorize(). When a handler runs (also begin()), the caller has the route's role. Handlers check
 * the caller's collections, and operations that need more than the route's role. */
struct http_caller {
    const char *name; /* for logs and the audit log: the token's name, or the user named by a proxy */
    const char *how;  /* "open" (no token is needed), "bearer", "basic", "link" or "proxy" */
    enum http_role role;
    const char *const *collections; /* globs of the collections it is limited to, NULL-terminated; NULL: all */
    int64_t token;                  /* its number; 0: none */
    char recording[40];             /* the only one that it may see; "": all of its collections */
    int64_t expires_s;              /* of the link to that recording, since 1970 */
};
const struct http_caller *http_caller(const struct http_request *r); /* never NULL; lives as long as the request */
bool http_caller_sees(const struct http_caller *caller, const char *collection); /* a NULL caller is the server itself,
                                                                                    and sees all */

/* Who owns upload sessions and idempotency keys: "token:7", "proxy:ann", "open:anonymous". A token's name may be given
 * again, its number not. */
enum { HTTP_PRINCIPAL = 160 };
const char *http_principal(const struct http_request *r, char out[HTTP_PRINCIPAL]);
/* Who has a share of memory, jobs and threads: the principal, or in an open archive the address. */
const char *http_client(const struct http_request *r, char out[HTTP_PRINCIPAL]);

enum { HTTP_REMOTE = 64 };
enum http_forwarding { HTTP_DIRECT, HTTP_FORWARDED, HTTP_FORGED };
enum http_verdict {
    HTTP_GRANTED,
    HTTP_UNKNOWN,
    HTTP_NO_TOKENS, /* the archive has lost its tokens */
    HTTP_FORBIDDEN,
    HTTP_TOO_OFTEN,
    HTTP_NOT_NOW
}; /* otherwise 401, 401, 403, 429, 503 */
struct http_grant {
    struct http_caller caller; /* also for a refused request, as far as known */
    void *memory;              /* holds the caller's texts; freed with the request */
    char peer[64];             /* the client behind a trusted proxy; "": the peer itself */
    const char *detail;        /* the reason for a refusal; a literal */
    const char *code;          /* the same as a code of struct http_protocol; a literal, NULL: none */
    unsigned retry_after_s;
    bool again; /* set by who asks: the request was granted before, so a refusal is no failed log-in */
};

/* Percent escapes (and "+" of queries and forms), in place, NUL at the end; false: invalid escape, NUL or invalid
 * UTF-8. */
bool http_decode(char *text, size_t size, bool form, size_t *out_size);

/* ---- the request */
struct app *http_app(const struct http_request *r);
struct http_server *http_server_of(const struct http_request *r); /* the server of this request */
const char *http_id(const struct http_request *r);                /* X-Request-Id, as sent or generated */
const char *http_method(const struct http_request *r);
const char *http_peer(const struct http_request *r); /* the client's address; behind a trusted proxy: as forwarded */
bool http_writes(const struct http_request *r);      /* by its method */
enum http_role http_role_needed(const struct http_request *r); /* of its route; ROLE_NONE if it has none */
unsigned http_status(const struct http_request *r);            /* of the response; 0: none yet */
void http_path_for_logs(const struct http_request *r, char *out, size_t size); /* as sent, without the query, tokens
                                                                                  masked */
void http_uses_deprecated(struct http_request *r, const struct http_deprecation *what); /* before the reply */
void http_audit(struct http_request *r); /* records the request whatever its role and status */
bool http_is_audited(const struct http_request *r);
const char *http_path(const struct http_request *r);        /* decoded, without the query */
const char *http_target(const struct http_request *r);      /* path and query as sent, without the prefix */
const char *http_target_sent(const struct http_request *r); /* the same without what struct http_protocol puts before */
enum { HTTP_HOST = 300 };
bool http_public_host(const struct http_request *r, char out[HTTP_HOST]); /* "lab.example:8040" of --public-url; false:
                                                                             none */
bool http_is_of_protocol(const struct http_request *r);                   /* struct http_protocol */
/* The path of --public-url, which goes before each path in an answer: "/reel"; "": none. */
const char *http_prefix(const struct http_request *r);
/* a path from the body of a request */
const char *http_without_prefix(const struct http_request *r, const char *target);
const char *http_segment(const struct http_request *r, const char *name); /* "{id}" of the route's path, decoded; never
                                                                             NULL for its own names */
const char *http_header(const struct http_request *r, const char *name);  /* the first line of this name; NULL when
                                                                             absent */
const char *http_cookie(const struct http_request *r, const char *name);  /* NULL when absent */
char *http_header_lines(const struct http_request *r, const char *name);  /* all lines in order, joined by commas;
                                                                             malloc'd, NULL: none */
unsigned http_header_count(const struct http_request *r, const char *name);
bool http_is_secure(const struct http_request *r); /* over TLS: here or, by X-Forwarded-Proto, at a proxy */
bool http_is_head(const struct http_request *r);
bool http_if_absent(const struct http_request *r); /* If-None-Match: * was sent, on a route with if_none_match */
bool http_if_match(const struct http_request *r, const char *etag); /* If-Match holds for this tag (strongly), or was
                                                                       not sent */
bool http_has_body_length(const struct http_request *r, uint64_t *length); /* Content-Length; false when chunked */
void http_set_state(struct http_request *r, void *state, void (*free_state)(void *)); /* the handler's own; freed when
                                                                                         the request ends */
void *http_state(const struct http_request *r);

/* ---- Idempotency-Key (key.c) */
enum { HTTP_KEY_TEXT = 65 }; /* SHA-256 as hex digits */
/* On a route with HTTP_KEY_RESOURCE: the key, hashed with the principal, the method and the path; "": none was sent. */
const char *http_key(const struct http_request *r);
/* The hash of the request: its target, the headers that say what the body is, and the body as far as it has arrived.
 * Without a key zeros. */
void http_key_request(const struct http_request *r, char out[HTTP_KEY_TEXT]);
void http_reply_key_reused(struct http_request *r); /* 422: the key was used with another such hash */
void http_key_leave(struct http_request *r);        /* another server answers the request, and stores the answer */

struct http_answer { /* as it is stored; texts from malloc */
    char request[HTTP_KEY_TEXT];
    unsigned status; /* HTTP_ANSWER_LOST: it was too long */
    char *headers;   /* the media type, then lines "NAME: VALUE" */
    char *body;
};
enum { HTTP_ANSWER_LOST = 1, HTTP_ANSWER_MAX = 256 << 10 /* bytes of the body */ };
struct http_keys {
    /* Reserves the key for this request, and waits while another request holds it. If it was answered before, *out is
     * the answer, and nothing is reserved (*hold NULL). False: replied. */
    bool (*take)(struct http_request *r, const char *key, void **hold, struct http_answer *out);
    void (*store)(struct http_request *r, const char *key, const struct http_answer *answer);
    void (*release)(void *hold);
};

/* ---- requests that one server of an archive forwards to another (forwarded.c) */
/* The address that the connection came from; of a forwarded request, the one that the first server saw. */
const char *http_remote(const struct http_request *r);
bool http_is_forwarded(const struct http_request *r); /* another server forwarded it to this one */
/* All headers in order, but Host, those of the connection and of the body's framing, and the one named `but`. */
void http_each_header(const struct http_request *r, const char *but,
                      void (*visit)(void *context, const char *name, const char *value), void *context);
/* What the handler has collected of the body, so that it can be forwarded; it must live as long as the handler's state.
 */
void http_keep_body(struct http_request *r, const void *data, size_t size);
const void *http_kept_body(const struct http_request *r, size_t *size);

const char *http_param(const struct http_request *r, const char *name); /* first value, NULL when absent */
/* The first `max` values; returns how many there are of them. More than the row's `max` are refused before. */
size_t http_params(const struct http_request *r, const char *name, const char **out, size_t max);
/* From now on there are none, for what follows would take others by the same names; texts that were read stay valid. */
void http_forget_params(struct http_request *r);
bool http_param_u64(const struct http_request *r, const char *name, uint64_t *out); /* these: false when absent, *out
                                                                                       untouched */
bool http_param_i64(const struct http_request *r, const char *name, int64_t *out);
bool http_param_bool(const struct http_request *r, const char *name, bool *out); /* true/false/1/0; without a value:
                                                                                    true */
bool http_param_time(const struct http_request *r, const char *name, struct reel_time *out);
bool http_param_duration(const struct http_request *r, const char *name, int64_t *ns);

enum { HTTP_DATE_TEXT = 32 };
void http_date_text(int64_t ns, char out[HTTP_DATE_TEXT]); /* as HTTP writes a time; "" when it cannot */

/* The best of `offers` (NULL-terminated media types, best first) for Accept with q-values; NULL = 406. */
const char *http_negotiate(const struct http_request *r, const char *const *offers);
bool http_accepts_coding(const struct http_request *r, const char *coding); /* for content stored compressed; JSON
                                                                               replies are compressed automatically */

/* Parses multipart/form-data while it arrives: the route's piece() feeds it. field() gets each field's bytes in order,
 * in pieces; `at` is their position in the field, 0 begins a field. False from field() stops parsing. */
struct http_form;
typedef bool (*http_form_field)(void *context, const char *name, const char *file_name, uint64_t at, const void *data,
                                size_t size);
struct http_form *http_form_new(struct http_request *r, http_form_field field, void *context); /* NULL: another type of
                                                                                                  body, no boundary, or
                                                                                                  out of memory */
/* false: malformed, or stopped by field() */
bool http_form_piece(struct http_form *form, const void *data, size_t size);
bool http_form_free(struct http_form *form); /* false: incomplete; NULL is allowed */

/* Reserves memory of --memory-mb for this request, until its response is complete. Waits up to ten seconds for other
 * responses to end. False: replied (503 with Retry-After). More than there is in total counts as all of it. */
bool http_reserve(struct http_request *r, uint64_t bytes);
/* The same for what a response needs while it is sent. False: REEL_BUSY, nothing was replied. */
bool http_hold(struct http_request *r, uint64_t bytes, struct reel_error *err);
/* The same without a wait and without a reply. */
bool http_reserve_now(struct http_request *r, uint64_t bytes);
void http_give_back(struct http_request *r, uint64_t bytes); /* of what it has reserved; also before it ends */
/* The same for work that no request waits for, such as a job: until they are given back. Looks every 100 ms whether the
 * work was cancelled. False: also REEL_LIMIT, it is more than there is in total. */
bool http_server_hold(struct http_server *server, uint64_t bytes, struct reel_error *err);
/* The same for what work can do without: only while responses leave half of all memory, and without waiting. */
bool http_server_hold_spare(struct http_server *server, uint64_t bytes);
void http_server_give_back(struct http_server *server, uint64_t bytes);
uint64_t http_held(const struct http_request *r);       /* bytes that it has reserved */
uint64_t http_memory_max(const struct http_request *r); /* bytes that one request can reserve */

/* ---- replies: exactly one per request. All set X-Request-Id, CORS and security headers. */
void http_add_header(struct http_request *r, const char *name, const char *value); /* before the reply; CR/LF in value
                                                                                      are refused (dropped) */
/* the same, of the prefix and a path */
void http_add_address(struct http_request *r, const char *name, const char *path);
void http_add_date(struct http_request *r, const char *name, int64_t ns);    /* the same, a time as HTTP writes it */
void http_reply_json(struct http_request *r, unsigned status, json_t *body); /* takes the reference; newline at the end;
                                                                                gzip when asked */
/* the same; takes the text, from malloc */
void http_reply_json_text(struct http_request *r, unsigned status, char *text);
void http_reply_text(struct http_request *r, unsigned status, const char *media_type, const char *text);
void http_reply_bytes(struct http_request *r, unsigned status, const char *media_type, const void *data, size_t size);
void http_reply_empty(struct http_request *r, unsigned status);
/* application/problem+json. `slug` names the problem's type: /problems/{slug}. */
__attribute__((format(printf, 4, 5))) void http_reply_problem(struct http_request *r, unsigned status, const char *slug,
                                                              const char *detail, ...);
/* The same with an errors list: takes the reference to `errors` ([{param, detail}] or what fits), may be NULL. */
void http_reply_problem_with(struct http_request *r, unsigned status, const char *slug, const char *detail,
                             json_t *extra_members);
__attribute__((format(printf, 3, 4))) void http_reply_bad_param(struct http_request *r, const char *param,
                                                                const char *detail, ...);
void http_reply_error(struct http_request *r, const struct reel_error *err); /* by code: NOT_FOUND 404, ARGUMENT 400,
                                                                                CONFLICT 409, UNSUPPORTED 422, LIMIT
                                                                                413, DAMAGED 422, NO_SPACE 507, … else
                                                                                500 */
void http_reply_no_memory(struct http_request *r);                           /* the same, for out of memory */

/* A protocol that has its own paths and documents of errors. */
struct http_protocol {
    const char *base; /* of its paths: "/s3" */
    /* Whether a request to another path is one of this protocol, so that its path counts from the base. */
    bool (*claims)(const struct http_request *r);
    const char *media_type; /* of a problem */
    /* A problem as this protocol says it, which may have another status; `code`: of struct http_grant, or NULL.
     * malloc'd, NULL: no memory. */
    char *(*problem)(const struct http_request *r, unsigned *status, const char *slug, const char *code,
                     const char *detail);
};
/* What http_reply_file() sends in place of the file's own header, if it sends the file: Content-Type,
 * Content-Disposition, Content-Language, Content-Encoding, Cache-Control, Expires. The value lives as long as the
 * request. */
void http_set_file_header(struct http_request *r, const char *name, const char *value);

/* For a request of several questions, of which one may fail without the others: until it is called with NULL, a problem
 * of this request goes to *out instead of to the client, without the headers that were added for it. */
struct http_problem {
    unsigned status; /* 0: there was none */
    char detail[1024];
};
void http_catch_problems(struct http_request *r, struct http_problem *out);
bool http_catches_problems(const struct http_request *r);

/* A request inside of another one (inner.c): the handler of a GET route answers it, on this thread, with the rights of
 * the outer request's caller and the checks of a request of its own. */
struct http_inner {
    const char *target; /* path and query, without the prefix */
    const char *accept; /* its Accept */
    const char *prefer; /* its Prefer; NULL: none */
    const char *header; /* a header of the answer that is wanted; NULL: none */
    size_t max;         /* bytes of the body that are read; 0: the handler does not run, only route, rights and
                           parameters are checked */
};
struct http_inner_answer {
    unsigned status;
    char media_type[128];
    char *body; /* with a NUL after it; NULL: none */
    size_t size;
    char *header; /* NULL: it has none */
    bool cut;     /* the body is longer, or could not be read to its end */
};
/* False: no memory, nothing was replied. The caller frees the answer. */
bool http_ask_inner(struct http_request *outer, const struct http_inner *inner, struct http_inner_answer *out);
void http_inner_answer_done(struct http_inner_answer *answer);

/* A body of known length: ranges (single, suffix, several), If-Range, If-None-Match, If-Match, HEAD, 206/304/412/416
 * are handled here.
 */
struct http_file {
    uint64_t length;
    const char *etag;        /* strong, with quotes; copied */
    const char *media_type;  /* copied */
    const char *file_name;   /* Content-Disposition (RFC 8187); NULL = none; copied */
    const char *repr_digest; /* value of Repr-Digest; NULL = none; copied */
    int64_t modified_ns;     /* 0 = no Last-Modified */
    int fd;                  /* >= 0: a plain file, sent by sendfile and closed afterwards; else read() */
    bool (*read)(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err); /* exactly size
                                                                                                        bytes */
    void (*expect)(void *context, uint64_t end); /* optional: what is read next ends there */
    /* Optional: [offset, end) is going to be read in order. True: read() itself works ahead, so that no thread has to
     * read for it. */
    bool (*ahead)(void *context, uint64_t offset, uint64_t end);
    void (*free)(void *context); /* called once, also when nothing was sent */
    void *context;
};
void http_reply_file(struct http_request *r, const struct http_file *file);

/* A body of unknown length: chunked; next() returns *got bytes (0 = complete). On an error the connection is cut, so
 * that the client can tell the stream is incomplete. */
struct http_stream {
    unsigned status; /* 0: 200 */
    const char *media_type;
    bool (*next)(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err);
    void (*free)(void *context);
    void *context;
    /* It goes on for as long as the client stays: it ends when the caller may no longer read it, which is checked
     * before each next() and by http_stream_ending(). */
    bool lasts;
    /* What it then ends with; NULL: the connection is cut. */
    size_t (*revoked)(void *context, void *buffer, size_t size);
};
/* Why a stream that lasts has to end. What waits inside next() checks at least twice a second, and returns without
 * bytes. Whether the caller may still read is looked up twice a second, or `now`. */
enum http_ending { HTTP_GOES_ON, HTTP_REVOKED, HTTP_STOPPING, HTTP_GONE };
enum http_ending http_stream_ending(struct http_request *r, bool now);
void http_reply_stream(struct http_request *r, const struct http_stream *stream);
/* The answer of another server, which has set its headers by http_add_header(): those that each answer gets are set
 * here, and the ones added for them ignored. media_type NULL: it has none. `length`: of the body; UINT64_MAX: not
 * known. */
void http_reply_from_peer(struct http_request *r, unsigned status, uint64_t length, const struct http_stream *stream);
bool http_is_answered_by_peer(const struct http_request *r); /* http_reply_from_peer() was called */
bool http_is_gone(const struct http_request *r);             /* the client has closed the connection */
bool http_is_stopping(const struct http_request *r);         /* the server is shutting down: long streams must end */

/* ---- WebSocket (socket_reply.c, websocket.h) */
struct websocket;
struct http_socket {
    /* The whole conversation, on a thread of its own; the connection is closed when it returns, and before that the
     * functions of websocket.h say that it is over when the caller may no longer read or the server stops. False: it is
     * closed with the failure. */
    bool (*run)(void *context, struct websocket *ws, struct reel_error *err);
    /* A message cannot be sent at once: gives back memory that only the next one needs. NULL: there is none. */
    void (*waits)(void *context);
    void (*free)(void *context); /* called once, also when nothing ran */
    void *context;
    size_t message_max;   /* bytes of a message that is received */
    const char *protocol; /* that was chosen; a literal, NULL: none */
};
/* Whether the request opens a WebSocket, from a page that may: one of --origin, and without a cookie also one that may
 * read. False: replied. */
bool http_opens_socket(struct http_request *r);
void http_reply_socket(struct http_request *r, const struct http_socket *socket); /* after http_opens_socket() */

/* ---- the server */
/* Time that the calling thread has spent on one kind of work, in total; lists end with a NULL name. */
enum { HTTP_ELAPSED_MAX = 4 };
struct http_elapsed {
    const char *name;
    int64_t (*ns)(void);
};

struct http_options {
    const char *listen;                  /* "127.0.0.1:8040", "[::1]:0" */
    int listen_fd;                       /* a listening socket, taken over; 0: none, `listen` is used */
    const char *tls_cert, *tls_key;      /* PEM files: TLS instead of plain HTTP; NULL: none */
    const struct http_route *routes;     /* ends with {0} */
    const struct http_policy *policies;  /* of the route with the same index; NULL: {0} for all */
    const struct http_keys *keys;        /* NULL: Idempotency-Key is ignored */
    const struct http_param *everywhere; /* parameters of every route; may be NULL */
    const char *const *hosts;   /* further Host names to serve, NULL-terminated; the listener's addresses and localhost
                                   always are */
    const char *const *origins; /* CORS: origins that may read with credentials and write; "*" = any may read */
    const char *public_url;     /* its host is one of the server's; NULL: none */
    const char *prefix;         /* http_prefix_read() of it; NULL: none */
    const char *viewers[2];     /* addresses of viewers, whose origins may read without credentials; may be NULL */
    unsigned connections_max, header_timeout_s, idle_timeout_s;
    unsigned connections_per_address;             /* 0: a quarter of connections_max */
    uint64_t body_min_rate;                       /* bytes per second, measured over 30 s; slower uploads are cut off */
    uint64_t memory_max;                          /* bytes that responses may hold together; 0: no limit */
    uint64_t reader_min_rate;                     /* the same for downloads, over a minute; 0: none */
    void (*log)(void *context, const char *line); /* one line per request */
    bool log_json;                                /* … as a JSON object, else as logfmt */
    const struct http_elapsed *elapsed;           /* for Server-Timing; may be NULL */
    /* Whether another server of the archive forwarded this request; `remote`: the address that it came from there.
     * NULL: none ever does. */
    enum http_forwarding (*forwarded)(const struct http_request *r, char remote[HTTP_REMOTE]);
    /* Identifies the caller and checks the role, before the body is read. NULL: everyone may do everything. `out` is
     * zeroed. */
    enum http_verdict (*authorize)(const struct http_request *r, enum http_role role, struct http_grant *out);
    /* Whether a request that was granted would be again, as of now; NULL: always. */
    bool (*still_granted)(const struct http_request *r);
    /* What a request to an unknown path, or by a method that it has not, was meant to be: "…", a sentence; NULL: not
     * known. */
    const char *(*hint)(const struct http_request *r);
    /* Replies to a request for a path that no route has; false: it has not, and the client gets a problem document. May
     * be NULL. */
    bool (*unknown)(struct http_request *r);
    const struct http_protocol *protocol;                         /* NULL: none */
    bool (*is_proxy)(const struct app *app, const char *address); /* trusted, speaks for many clients; may be NULL */
    void (*finished)(const struct http_request *r); /* called for each request with complete headers, after its
                                                       response; may be NULL */
    struct app *app;
};
/* The path of an address without the slash at its end, under which a proxy offers the server: "/reel"; "" without one.
 */
enum { HTTP_PREFIX = 128 };
bool http_prefix_read(const char *public_url, const struct http_route *routes, char out[HTTP_PREFIX],
                      struct reel_error *err);
struct http_server *http_server_start(const struct http_options *options, struct reel_error *err);
const char *http_server_url(const struct http_server *server);         /* "http://127.0.0.1:8040", with the real port */
bool http_server_listens_everywhere(const struct http_server *server); /* on all addresses of the machine */
bool http_server_is_tls(const struct http_server *server);
bool http_server_reload(struct http_server *server, struct reel_error *err); /* reads the certificate again; false: the
                                                                                old one stays */
/* Stops accepting, lets running requests end for at most drain_s seconds, then cuts them. */
void http_server_stop(struct http_server *server, unsigned drain_s);
void http_server_free(struct http_server *server); /* once nothing holds memory of it; NULL is fine */
/* By class of route; the classes are fixed. buckets[i]: requests of at most http_bucket_bound(i) seconds that exceed
 * the previous bound; the last: all others. */
enum { HTTP_CLASSES = 10, HTTP_BUCKETS = 10 };
struct http_class_metrics {
    uint64_t status[6], buckets[HTTP_BUCKETS], ms;
};
void http_server_classes(const struct http_server *server, struct http_class_metrics out[HTTP_CLASSES]);
const char *http_class_name(unsigned class);
double http_bucket_bound(unsigned bucket);
/* Requests that used what is deprecated, by who sent them: "token:7", or for others how they are authenticated. Returns
 * how many there are. */
enum { HTTP_DEPRECATED_USES_MAX = 256, HTTP_DEPRECATED_CALLER = 32 };
struct http_deprecated_use {
    const char *what;
    char caller[HTTP_DEPRECATED_CALLER];
    uint64_t requests;
};
size_t http_server_deprecated(const struct http_server *server,
                              struct http_deprecated_use out[HTTP_DEPRECATED_USES_MAX]);
struct http_metrics {
    uint64_t requests, connections, status[6], bytes_in, bytes_out, streams_cut, slow_writers, slow_readers,
        over_address;
    uint64_t memory_held, memory_waiting, memory_refused; /* http_reserve(): bytes, requests, requests in total */
};
void http_server_metrics(const struct http_server *server, struct http_metrics *out); /* for /metrics */

#endif
