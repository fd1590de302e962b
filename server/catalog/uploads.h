/* Upload sessions and first responses, as the catalog stores them. Texts belong to the struct; free with the …_done()
 * functions. */
#ifndef SERVER_CATALOG_UPLOADS_H
#define SERVER_CATALOG_UPLOADS_H

#include "catalog/catalog.h"

struct catalog_upload {
    char id[RECORDING_ID_TEXT];        /* 32 hex digits; also names the file of its bytes */
    char *owner, *key;                 /* the principal; Idempotency-Key, "" = none */
    char request[SHA256_HEX];          /* SHA-256 of the first request with that key */
    char *options, *metadata, *concat; /* see sql/migrations */
    bool draft, checked;
    int64_t length;  /* -1 = not known yet */
    uint64_t offset; /* confirmed by fsync */
    bool done;
    char content[SHA256_HEX];          /* "" = not hashed yet */
    char recording[RECORDING_ID_TEXT]; /* "" = none yet */
    int64_t created_ns, expires_ns, row;
    char *note;   /* of the store; "" = none */
    int64_t turn; /* counted up by each update */
};
void catalog_upload_done(struct catalog_upload *u); /* empties; fine on a zeroed one */

/* REEL_NO_SPACE: the owner has `most` unfinished ones, or `room` bytes do not suffice for it and for what the others
 * were promised. */
bool catalog_upload_add(struct catalog *c, const struct catalog_upload *u, unsigned most, uint64_t room,
                        struct reel_error *err);
/* REEL_NOT_FOUND */
bool catalog_upload_get(struct catalog *c, const char *id, struct catalog_upload *out, struct reel_error *err);
bool catalog_upload_by_key(struct catalog *c, const char *owner, const char *key, struct catalog_upload *out,
                           struct reel_error *err); /* the same */
/* The first one after `row`, to iterate over all; REEL_NOT_FOUND at the end. */
bool catalog_upload_after(struct catalog *c, int64_t row, struct catalog_upload *out, struct reel_error *err);
/* The one that expired first; REEL_NOT_FOUND when there is none. */
bool catalog_upload_expired(struct catalog *c, int64_t now_ns, struct catalog_upload *out, struct reel_error *err);
/* What changes while bytes arrive. REEL_CONFLICT: it was updated by another since it was read, or removed. */
bool catalog_upload_update(struct catalog *c, struct catalog_upload *u, struct reel_error *err);
/* Only its expiry. */
bool catalog_upload_extend(struct catalog *c, const char *id, int64_t expires_ns, struct reel_error *err);
bool catalog_upload_remove(struct catalog *c, const char *id, struct reel_error *err);
bool catalog_uploads_count(struct catalog *c, uint64_t *count, struct reel_error *err);

/* The first response to an Idempotency-Key; see sql/migrations. */
struct catalog_response {
    char request[SHA256_HEX];
    unsigned status;
    char *headers, *body;
};
bool catalog_response_get(struct catalog *c, const char *key, struct catalog_response *out,
                          struct reel_error *err); /* REEL_NOT_FOUND */
/* The owner's oldest beyond `most` are removed. */
bool catalog_response_put(struct catalog *c, const char *owner, const char *key, const struct catalog_response *a,
                          int64_t expires_ns, unsigned most, struct reel_error *err);
bool catalog_responses_expire(struct catalog *c, struct reel_error *err);

#endif
