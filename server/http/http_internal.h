/* Shared by the files of server/http; only they and their tests include it. One thread handles a request from its first
 * byte to its last, so a request needs no lock; values that the watchdog and the metrics read are atomic. */
#ifndef SERVER_HTTP_HTTP_INTERNAL_H
#define SERVER_HTTP_HTTP_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h> /* microhttpd.h needs it first */

#include <microhttpd.h>

#include "base/cancel.h"
#include "base/digest.h"
#include "http/http.h"
#include "http/tls.h"
#include "reel/bytes.h"
#include "reel/cleanup.h"

enum {
    HTTP_POOL_BYTES = 32 << 10,   /* of each connection; larger is slower: the library clears it after each request */
    HTTP_STACK_BYTES = 256 << 10, /* of each connection's thread */
    HTTP_ID_MAX = 64,             /* X-Request-Id */
    HTTP_METHOD_MAX = 15,
    HTTP_PATH_PARTS_MAX = 32,         /* segments of a request's path */
    HTTP_ROUTE_PARTS_MAX = 12,        /* segments of a route's template */
    HTTP_PARAMS_MAX = 256,            /* of one request */
    HTTP_DEPRECATED_MAX = 8,          /* of one request */
    HTTP_RANGES_MAX = 32,             /* of one request; with more the whole body is sent */
    HTTP_FILE_NAME_MAX = 512,         /* in Content-Disposition */
    HTTP_BODY_IGNORED_MAX = 64 << 10, /* sent to a route that accepts none */
    HTTP_BODY_DRAINED_MAX = 64 << 20, /* read and dropped after an early response, so that it arrives; above: cut off */
    HTTP_BLOCK_BYTES = 256 << 10,     /* one read() of a body of known length */
    HTTP_FILE_IN_MEMORY = 32 << 10,   /* a file's range up to this size is read before the response begins */
    HTTP_STREAM_BYTES = 128 << 10,    /* one next() of a stream */
    HTTP_GZIP_MIN = 1024,
    HTTP_LINGER_MS = 2000,            /* for a refused client to read the response before the connection is closed */
    HTTP_RATE_WINDOW_MS = 30000,      /* for measuring the rate of an upload */
    HTTP_READER_WINDOW_MS = 60000,    /* … and of a download */
    HTTP_CONNECTIONS_LEAVING = 256,   /* above the limit, for connections being closed to make room */
    HTTP_FILE_HEADERS = 6,            /* of http_set_file_header() */
    HTTP_GRANT_MS = 500,              /* interval of checks whether a stream that lasts is still granted */
    HTTP_WATCH_MS = 200,              /* interval of the watchdog */
    HTTP_MEMORY_WAIT_S = 10,          /* for memory that other responses hold */
    HTTP_MEMORY_SMALL = 1 << 20,      /* a request that holds no more may use the last eighth of the memory */
    HTTP_MEMORY_UNCOUNTED = 64 << 10, /* bodies up to this size are not reserved */
};

/* ---- connections, as the watchdog sees them (deadline.c) */
enum http_phase { PHASE_HEADERS, PHASE_IDLE, PHASE_BODY, PHASE_BUSY };

struct http_connection;

struct http_watch {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the list, and that every fd in it is still that connection's */
    pthread_cond_t wake;
    struct http_connection *first;
    bool running, stop;
    _Atomic int64_t rate_window_ms, reader_window_ms;
};

struct http_class_counters {
    _Atomic uint64_t status[6], buckets[HTTP_BUCKETS], ms;
};

struct http_counters {
    struct http_class_counters classes[HTTP_CLASSES];
    _Atomic uint64_t requests, connections, status[6], bytes_in, bytes_out, streams_cut, slow_writers, slow_readers,
        over_address;
};

/* The memory that responses hold together (memory.c). */
struct http_memory {
    pthread_mutex_t mutex;
    pthread_cond_t released;
    uint64_t max;                      /* bytes */
    _Atomic uint64_t held;             /* bytes; changed under the mutex, like these: */
    _Atomic uint64_t waiting, refused; /* requests; refused: since the start */
    uint64_t untrimmed;                /* bytes given back since memory was given back to the system */
    struct http_share *shares;         /* of clients */
    bool closed;                       /* the server is stopping: nothing waits */
};

struct http_server {
    struct http_options options;
    struct http_memory memory;
    struct MHD_Daemon *daemon;
    struct http_router *router;
    struct tls *tls; /* NULL: plain HTTP */
    int fd;          /* the listening socket */
    char url[128];
    char address[64]; /* the listening address without port and brackets */
    bool any_address; /* listens on all addresses: accept any literal address in Host */
    bool any_origin;  /* may read */
    _Atomic bool draining, cutting;
    _Atomic uint64_t sockets; /* threads of WebSockets */
    struct cancel cancel;     /* of all requests: they go on until they are cut */
    _Atomic uint64_t running; /* requests whose headers have arrived and whose response is not complete */
    struct http_counters counters;
    struct http_watch watch;
    struct deprecations {
        struct http_deprecated_use uses[HTTP_DEPRECATED_USES_MAX];
        size_t n;
    } deprecations;
};

/* ---- one request */
struct http_text { /* NUL-terminated copy in the request's buffer */
    const char *name, *value;
};

struct http_query {
    struct http_text *values; /* in the order sent; from malloc */
    size_t count;
    const struct http_deprecation *deprecated[HTTP_DEPRECATED_MAX]; /* of the parameters that were sent */
    size_t n_deprecated;
};

struct http_path {
    char *text; /* decoded */
    size_t count;
    struct {
        size_t at, size;
    } parts[HTTP_PATH_PARTS_MAX];
};

struct http_extra_header {
    struct http_extra_header *next;
    const char *value; /* after `name` in the same allocation */
    char name[];
};

/* The Idempotency-Key of a request (key.c). */
struct key_state {
    char name[HTTP_KEY_TEXT]; /* "": none, or it is not needed */
    struct digest hash;       /* of the request */
    struct http_form *form; /* the body is a form, of which the fields are hashed: each client makes its own boundary */
    void *hold;             /* of http_keys.take(); NULL: not held */
    struct http_answer first; /* status 0: none; else it is the answer to this request, if the hash is the same */
};

struct http_request {
    uint64_t heap_failures; /* of its thread, when it began */
    struct http_server *server;
    struct http_connection *connection;
    struct MHD_Connection *mhd;
    const struct http_route *route;
    char *buffer;   /* one allocation: the target as sent, then the decoded texts */
    char *target;   /* without the prefix, which is before it */
    size_t claimed; /* bytes of the target that a protocol has put before what was sent */
    struct http_text file_headers[HTTP_FILE_HEADERS];
    struct http_path path;
    struct reel_bytes captured[HTTP_ROUTE_PARTS_MAX]; /* names in the route's template; values below */
    const char *captured_values[HTTP_ROUTE_PARTS_MAX];
    size_t captured_count;
    struct http_query query;
    struct http_grant grant;
    struct http_extra_header *extra_headers, **extra_headers_end;
    const struct http_deprecation *deprecated[HTTP_DEPRECATED_MAX]; /* what it uses */
    size_t n_deprecated;
    struct http_problem *caught;    /* the caller's, http_catch_problems() */
    const struct http_inner *inner; /* it is one inside of another request (inner.c); NULL: it is not */
    struct http_inner_answer *inner_answer;
    struct key_state key;
    char method[HTTP_METHOD_MAX + 1];
    char id[HTTP_ID_MAX + 1];
    void *state;
    void (*free_state)(void *);
    struct socket_reply *socket;   /* NULL: it opens none */
    struct MHD_Response *response; /* not yet passed to the library */
    unsigned status;
    bool started; /* the headers have arrived */
    bool has_body, body_known;
    bool began; /* route->begin() ran */
    bool body_ended;
    bool gave_up; /* piece() returned false */
    bool replied;
    bool refused;          /* answered before the body arrived */
    bool rejected;         /* rejected.c has sent the answer, in place of the library */
    bool audited;          /* http_audit() was called */
    bool forwarded;        /* by another server, which received it from `remote` */
    bool answered_by_peer; /* its answer is another server's */
    bool by_library;       /* the library sends the body itself; only its length is known */
    bool sends_fd;         /* … from a file's descriptor, which deadline.c watches */
    bool close;            /* close the connection after this response */
    bool revoked;          /* a stream that lasts is not granted any more, as of: */
    int64_t granted_ms;
    uint64_t body_length, body_bytes, dropped_bytes, reply_bytes, sent_bytes;
    uint64_t memory;          /* reserved */
    struct http_share *share; /* of its client, NULL: it has not reserved anything */
    int64_t started_ms, started_ns;
    int64_t elapsed_ns[HTTP_ELAPSED_MAX]; /* by this thread, before this request */
    const void *kept_body;                /* http_keep_body() */
    size_t kept_size;
    char remote[HTTP_REMOTE];
    char error[160]; /* the reason of a server-side failure, for the log */
};

struct http_connection {
    struct http_connection *next, *previous;
    struct http_server *server;
    int fd;
    char remote[64];
    uint8_t address[16];  /* for the limit per address: the IPv4 address (mapped), or the /64 of an IPv6 address */
    bool is_proxy;        /* no limit per address, nor is it counted; guarded by the watch's mutex once requests come */
    bool got_line;        /* a request line has arrived */
    bool closing;         /* being closed to make room; guarded by the watch's mutex */
    int file_fd;          /* of the file that the library is sending, -1: none; guarded by the watch's mutex */
    uint64_t file_end;    /* the file must be at least this long; guarded by the watch's mutex */
    atomic_bool file_cut; /* it became shorter, so the connection was shut down */
    uint64_t sent_before; /* body bytes of earlier requests */
    struct {
        int64_t request_ms, since_ms; /* since_ms of the request; since when unread bytes have been waiting, 0: there
                                         are none */
        uint64_t acknowledged;        /* bytes, at that time */
    } reader;                         /* used by the watchdog alone */
    _Atomic int phase;
    _Atomic int64_t since_ms;      /* of the phase; PHASE_BODY: begin of the rate's window */
    _Atomic uint64_t window_bytes; /* body bytes in the window */
    struct http_request request;
};

/* request.c */
int64_t http_clock_ms(void); /* monotonic */
bool request_open(struct http_request *r, struct http_connection *connection, struct MHD_Connection *mhd,
                  const char *target);
void request_take_id(struct http_request *r);
void prefix_take(struct http_request *r); /* moves r->target behind the prefix */
/* Puts the base of the server's protocol before the target if it is one of that. False: no memory, has replied. */
bool protocol_claim(struct http_request *r);
/* The protocol that the path of the request belongs to; NULL: HTTP itself. */
const struct http_protocol *protocol_of(const struct http_request *r);
bool request_split_target(struct http_request *r); /* path and query; false when it has replied */
void request_close(struct http_request *r);
void request_drop_headers(struct http_request *r); /* those of http_add_header() */
bool request_method_is(const struct http_request *r, const char *method);
bool request_writes(const struct http_request *r);
size_t request_raw_path_size(const struct http_request *r);

/* connection.c: callbacks of the library */
bool connection_acknowledged(const struct http_connection *c, uint64_t *bytes); /* by the client, in total */
void *connection_on_target(void *server, const char *target, struct MHD_Connection *mhd);
enum MHD_Result connection_on_request(void *server, struct MHD_Connection *mhd, const char *url, const char *method,
                                      const char *version, const char *data, size_t *size, void **request);
void connection_on_completed(void *server, struct MHD_Connection *mhd, void **request,
                             enum MHD_RequestTerminationCode code);
void connection_on_change(void *server, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code);
void connection_ended(struct http_request *r, bool cut);          /* counts and logs */
void connection_worked(struct http_request *r, int64_t begun_ms); /* the server's own work does not count as the client
                                                                     being idle */

/* Finds the route of a request inside of another one, and checks its caller and parameters. False: it has replied. */
bool connection_admit_inner(struct http_request *r);

/* inner.c */
bool inner_hides(const char *name); /* whether a header of the outer request does not count for the inner one */
const char *inner_header(const struct http_request *r, const char *name);
/* These put the body into the answer, and return what reply_take() takes. */
struct MHD_Response *inner_bytes(struct http_request *r, const char *media_type, const void *data, size_t size);
struct MHD_Response *inner_stream(struct http_request *r, const struct http_stream *stream); /* takes the stream */
struct MHD_Response *inner_file(struct http_request *r, const char *media_type, uint64_t length,
                                bool (*read)(const void *context, char *buffer, size_t size, struct reel_error *err),
                                const void *context);

/* key.c */
struct http_policy key_policy(const struct http_request *r); /* of its route */
bool key_admit(struct http_request *r); /* checks and applies Idempotency-Key and If-Match; false: replied */
void key_piece(struct http_request *r, const void *data, size_t size); /* of the body */
void key_repeat(struct http_request *r);                               /* replies with the stored answer, or 422 */
/* Stores the answer before it is sent. media_type "": it has no body. */
void key_answered(struct http_request *r, unsigned status, const char *media_type, const void *data, size_t size);
void key_close(struct http_request *r);

/* caller.c */
bool caller_authorize(struct http_request *r); /* calls authorize(); false: replied 401, 403, 429 or 503 */

/* library.c */
bool library_parses_in_place(void);                    /* version 0.9.75 */
bool library_strictness(struct MHD_OptionItem *out);   /* the option for MHD_start_daemon(); false: it has none */
void library_report(const struct http_server *server); /* logs what is off with this version */

/* rejected.c */
void rejected_watch(struct http_connection *c); /* the one that the calling thread reads from; NULL: none */
/* For MHD_OPTION_EXTERNAL_LOGGER. All other messages are about clients that disconnected; log.c logs requests. */
__attribute__((format(printf, 2, 0))) void rejected_on_message(void *context, const char *format, va_list args);

/* deprecation.c */
void deprecation_of_route(struct http_request *r); /* its route and parameters, once the caller is known */
void deprecation_headers(const struct http_request *r, struct MHD_Response *response);
void deprecation_names(const struct http_request *r, char *out, size_t size); /* for the log */

/* metrics.c */
void metrics_count(struct http_request *r);

/* log.c */
void log_request(struct http_request *r, bool cut);

/* memory.c */
void memory_open(struct http_memory *m, uint64_t max);
void memory_close(struct http_memory *m); /* waiting requests are refused */
void memory_free(struct http_memory *m);
void memory_release(struct http_request *r);

/* deadline.c */
bool deadline_start(struct http_server *server, struct reel_error *err);
void deadline_stop(struct http_server *server);
void deadline_add(struct http_connection *connection); /* may close another connection to make room */
void deadline_remove(struct http_connection *connection);
void deadline_exempt(struct http_connection *connection); /* from the limit per address: another server's */
void deadline_phase(struct http_connection *connection, enum http_phase phase);
/* From now until fd is -1, the connection is shut down when the file is shorter than `end`. */
void deadline_file(struct http_connection *connection, int fd, uint64_t end);

/* forwarded.c */
bool forwarded_check(struct http_request *r); /* whether another server forwarded it; false: replied 421, it only seems
                                                 so */

/* stream_reply.c */
struct MHD_Response *stream_response(struct http_request *r, uint64_t length,
                                     const struct http_stream *stream); /* NULL:
                                                                           no
                                                                           memory
                                                                         */

/* socket_reply.c */
bool socket_runs(const struct http_request *r); /* its thread ends the request, not the library */
void socket_free(struct socket_reply *socket);  /* NULL is fine */

/* guard.c */
bool guard_request(struct http_request *r, const char *method, const char *version); /* 400 for ambiguous requests;
                                                                                        false: has replied */
/* Whether the raw header section, which begins at `method`, contains nothing but what the library parsed (head.c). */
bool head_is_whole(struct MHD_Connection *mhd, const char *method, const char *target, const char *version);
bool guard_host(struct http_request *r);   /* 421 */
bool guard_origin(struct http_request *r); /* 403 */
bool guard_socket(struct http_request *r); /* the same for a request that opens a WebSocket */
bool guard_host_is_ours(const struct http_server *server, const char *host);
bool guard_token(const char *text);

/* router.c */
struct http_router;
struct http_router *router_new(const struct http_route *routes, struct reel_error *err);
void router_free(struct http_router *router);
REEL_DEFINE_AUTO(struct http_router, router_free);
/* Splits and decodes "/a/b%20c" into `path`; `buffer` has room for size + 1. False: invalid escape, NUL, invalid UTF-8,
 * "." or "..", too many parts.
 */
bool router_split(const char *raw, size_t size, char *buffer, struct http_path *path);
enum http_match { MATCH_NONE, MATCH_METHOD, MATCH_FOUND }; /* MATCH_METHOD: the path is known, the method not */
enum http_match router_match(const struct http_router *router, const char *method, const struct http_path *path,
                             const struct http_route **route);
/* The methods of this path: "GET, HEAD, OPTIONS"; "" if unknown. */
void router_allow(const struct http_router *router, const struct http_path *path, char *out, size_t size);
/* Names and values of the route's "{…}"; `buffer` has room for the path + 1. */
size_t router_capture(const struct http_route *route, const struct http_path *path, char *buffer,
                      struct reel_bytes *names, const char **values);

/* params.c */
size_t params_count(const char *raw);
/* Decodes into `buffer` (room for the query + 1) and checks against `table` and the parameters of every route (NULL =
 * none). Problems are added to `errors` as {param, detail}. */
bool params_parse(const char *raw, char *buffer, const struct http_param *table, const struct http_param *everywhere,
                  struct http_query *out, json_t *errors);

/* accept.c */
const char *accept_best(const char *header, const char *const *offers); /* header may be NULL */
bool accept_coding(const char *header, const char *coding);

/* range.c */
struct http_range {
    uint64_t first, last; /* inclusive */
};
struct http_ranges {
    size_t count;
    struct http_range items[HTTP_RANGES_MAX];
};
enum http_range_answer { RANGE_WHOLE, RANGE_PARTS, RANGE_UNSATISFIABLE };
enum http_range_answer range_parse(const char *header, uint64_t length, struct http_ranges *out);

/* conditional.c */
struct http_validators {
    const char *etag;    /* with quotes, may be NULL */
    int64_t modified_ns; /* 0 = unknown */
};
unsigned conditional_status(const struct http_request *r, const struct http_validators *v); /* 0 = go on, 304, 412 */
bool conditional_if_range(const struct http_request *r, const struct http_validators *v);   /* whether Range counts */
bool conditional_etag_listed(const char *list, const char *etag, bool weak);
enum { HTTP_ETAG_TEXT = 128 };
bool conditional_packed_etag(const char *etag, char out[HTTP_ETAG_TEXT]); /* the tag of the gzip form: "x-gzip" for "x";
                                                                             false: too long */
bool conditional_parse_date(const char *text, int64_t *seconds);
void conditional_format_date(int64_t seconds, char out[HTTP_DATE_TEXT]);

/* reply.c */
/* Every reply ends here: adds the common headers and stores the response until the library accepts it. Takes `response`
 * (NULL = no memory).
 */
void reply_take(struct http_request *r, unsigned status, struct MHD_Response *response, uint64_t length);
void reply_header(struct MHD_Response *response, const char *name, const char *value);
void reply_not_modified(struct http_request *r, uint64_t length);
void reply_note_error(struct http_request *r, const char *text); /* for the log */
/* Problem with errors: [{param, detail}]; takes the list. */
void reply_bad_params(struct http_request *r, json_t *errors);
json_t *reply_problem_json(const struct http_request *r, unsigned status, const char *slug, const char *detail);

/* cors.c */
void cors_headers(const struct http_request *r, struct MHD_Response *response);
bool cors_is_preflight(const struct http_request *r);
void cors_preflight(struct http_request *r, const char *allow);
bool cors_origin_listed(const struct http_server *server, const char *origin);
bool cors_origin_reads(const struct http_server *server, const char *origin); /* without credentials */

#endif
