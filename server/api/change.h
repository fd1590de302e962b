/* What changes of a recording have in common: its entity tag, and reading tags. */
#ifndef SERVER_API_CHANGE_H
#define SERVER_API_CHANGE_H

#include "api/common.h"

enum { CHANGE_ETAG = 64 };

/* Of the recording's JSON; the one with topics is another text. */
void change_etag(const struct catalog_recording *row, bool topics, char out[CHANGE_ETAG]);
/* Does If-Match hold for the row as it is, if it was sent? False: replied (412). */
bool change_if_match(struct http_request *r, const struct catalog_recording *row);
/* Which version of the row If-Match wants to be changed: the one it held for, or CATALOG_ANY_VERSION. */
int64_t change_version(const struct http_request *r, const struct catalog_recording *row);
/* As http_reply_error(), but REEL_CHANGED is a 412. */
void change_refuse(struct http_request *r, const struct reel_error *err);
/* {"key": "value" or null} into out; *n counts on. Texts are borrowed. False: replied. */
bool change_read_tags(struct http_request *r, const json_t *tags, struct catalog_tag *out, uint32_t max, uint32_t *n);

#endif
