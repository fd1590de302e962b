/* Shared by several routes: the recording in the path, the selection in the query, entity tags, jobs. */
#ifndef SERVER_API_COMMON_H
#define SERVER_API_COMMON_H

#include "app.h"
#include "convert/conversion.h"

/* A recording found and opened for one request. */
struct api_recording {
    struct catalog_recording row;
    struct reel_recording *recording; /* NULL when only the row was requested */
};
void api_recording_done(struct api_recording *a);

/* The row of path segment {id}; false: replied: 404, or it is a live recording of another server, and the request was
 * forwarded to that one. While that server is silent the row is as it was saved last. */
bool api_find(struct http_request *r, struct api_recording *out);
/* the same for what needs the file: 503 then */
bool api_find_growing(struct http_request *r, struct api_recording *out);
bool api_find_key(struct http_request *r, const char *key, struct api_recording *out); /* `key` as catalog_get() takes
                                                                                          it */
/* The recording of a row, as recordings_get(), also one that grows. */
struct reel_recording *api_recording_open(struct app *app, const struct catalog_recording *row, int64_t wait_ns,
                                          char job[33], struct reel_error *err);
/* The same, opened for its messages; replies 503, 410 or 422 when its state does not allow that. */
bool api_open(struct http_request *r, struct api_recording *out);
bool api_open_key(struct http_request *r, const char *key, struct api_recording *out); /* `key` as catalog_get() takes
                                                                                          it */
/* The same as api_open(), with the memory to decode its messages. */
bool api_open_messages(struct http_request *r, struct api_recording *out);
/* Reserves the memory of these open recordings. False: replied. */
bool api_reserve_open(struct http_request *r, struct reel_recording *const *recordings, uint32_t n);
/* Reserves the memory of a stream of these recordings (http_reserve()). False: replied. */
enum api_stream_use {
    API_AS_STORED = 0,
    API_DECODES = 1, /* also of their messages' values */
    API_CONVERTS = 2 /* also of the translation of each channel, by a view or to another encoding */
};
bool api_reserve_stream(struct http_request *r, struct reel_recording *const *recordings, uint32_t n, unsigned use);
/* What a writer and a selection need of these. */
unsigned api_stream_use(const struct reel_writer *writer, const struct reel_selection *selection);
/* Bytes of these that a stream of this recording does not use while it waits for messages; api_open_messages() has
 * reserved them. `whole`: when it is closed meanwhile. */
uint64_t api_idle_memory(const struct reel_recording *recording, bool whole);
/* A conversion on the server's threads, whose turns are those of the request's client. NULL with err. */
struct reel_conversion *api_conversion(struct http_request *r, const struct reel_writer *writer,
                                       struct reel_recording *const *recordings, uint32_t n,
                                       const struct reel_selection *selection, const struct reel_write_options *options,
                                       struct reel_error *err);
/* The memory of the threads that render it; where there is little, it is on fewer of them. False: replied. */
bool api_reserve_threads(struct http_request *r, struct reel_conversion *conversion);

enum { API_GLOBS_MAX = 64 };

/* Whether the caller may write to this collection, which need not exist. False: replied (403). Every route that reads a
 * collection's name from a request calls this before ingest_check(); lists use catalog_query.allowed. */
bool api_may_use(struct http_request *r, const char *collection);

/* A selection; its texts are owned by the request. */
struct api_selection {
    struct reel_selection selection;
    const char *topics[API_GLOBS_MAX], *exclude[API_GLOBS_MAX], *renames[API_GLOBS_MAX], *where[API_GLOBS_MAX];
    uint32_t channels[API_GLOBS_MAX];
    bool has_start;
};
/* topic, exclude_topic, channel, rename, where, start/from, end/to, every, last, lookback for a recording that spans
 * [first_ns, last_ns]. False: replied (400). */
bool api_select(struct http_request *r, int64_t first_ns, int64_t last_ns, struct api_selection *out);

/* The parameters of row writers: decode, fields, time_format, end_record. `out->fields` points into `*text`, which must
 * stay valid until the render is open. False: replied. */
enum { API_FIELDS_MAX = 256 };
struct api_text {
    const char *fields[API_FIELDS_MAX];
    char *memory;
};
bool api_read_text(struct http_request *r, struct api_text *text, struct reel_write_options *out);
/* channel, repeated. False: replied. */
bool api_read_channels(struct http_request *r, uint32_t out[API_GLOBS_MAX], uint32_t *n);
void api_text_done(struct api_text *text);

/* The ETag "sha256-<base64>" of a text that names everything the bytes depend on. `out` has room for 64. */
void api_etag(const char *text, char out[64]);
/* The ETag of original bytes and the value of Repr-Digest from a SHA-256 in hex. */
void api_digest_texts(const char *sha256_hex, char etag[64], char repr_digest[72]);
/* Base64 of 32 bytes (44 characters and NUL); and back: false when malformed. */
void api_base64_digest(const uint8_t digest[32], char out[45]);
bool api_digest_from_base64(const char *text, size_t size, uint8_t digest[32]);

/* X-Matched: 0, and X-Warning with the reason, when the selection has no message. False: replied. */
bool api_note_matches(struct http_request *r, struct reel_recording *const *recordings, uint32_t n,
                      const struct reel_selection *selection);
bool api_note_conversion(struct http_request *r, struct reel_conversion *conversion);
/* Adds Link: rel="next": the same request with another cursor. */
void api_add_next_link(struct http_request *r, const char *cursor);

/* How long the client waits for a job: Prefer: wait=N (seconds, at most a minute); respond-async: not at all; else
 * default_ns. */
int64_t api_wait_ns(const struct http_request *r, int64_t default_ns);

/* {"id", "href"} of a job, as every answer names one. */
json_t *api_view_job(const struct http_request *r, const char *id);
/* 202 with Location and {"job": {"id", "href"}}. */
void api_reply_job(struct http_request *r, const char *id);
/* 503 with Retry-After and the job. */
void api_reply_busy(struct http_request *r, const char *job, const char *what);

#endif
