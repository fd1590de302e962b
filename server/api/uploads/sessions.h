/* Shared by sessions.c and sessions_create.c. */
#ifndef SERVER_API_UPLOADS_SESSIONS_H
#define SERVER_API_UPLOADS_SESSIONS_H

#include "api/uploads/tus.h"
#include "api/uploads/upload.h"
#include "base/digest.h"

struct call {              /* one request */
    bool draft, completes; /* completes: Upload-Complete: ?1 of the draft */
    bool creates;
    struct session_writer *writer;
    struct catalog_upload now;    /* the session, before and after the bytes */
    struct tus_checksum checksum; /* of this request's bytes; size 0: it has none */
    struct digest hash;           /* of them so far, with a checksum */
    bool by_digest;               /* the checksum is from Content-Digest, not Upload-Checksum */
    struct tus_concat concat;
    struct reel_error failed; /* the first error; replied at the end of the body */
};

struct call *uploads_new_call(struct http_request *r); /* the request's state; NULL: replied */
bool uploads_has_body(struct http_request *r);
/* Read the protocol, and the same where it is required. False: replied. */
bool uploads_read_protocol(struct http_request *r, struct call *c);
bool uploads_read_sender(struct http_request *r, struct call *c);
bool uploads_read_checksum(struct http_request *r, struct call *c);
bool uploads_read_length(struct http_request *r, const struct call *c, uint64_t offset, int64_t *length); /* -1: not
                                                                                                             announced
                                                                                                           */
bool uploads_begin_bytes(struct http_request *r, struct call *c, const char *id, uint64_t offset);
/* All bytes of this request were received and are valid: replies. */
void uploads_finish(struct http_request *r, struct call *c);

void uploads_add_state(struct http_request *r, const struct call *c, const struct catalog_upload *u); /* headers */
void uploads_add_limits(struct http_request *r, int64_t expires_ns);

#endif
