/* Shared by the routes that change a recording: entity tags, and tags read from JSON. */
#ifndef SERVER_API_CHANGE_H
#define SERVER_API_CHANGE_H

#include "app.h"
#include "catalog/notes.h"

enum { CHANGE_ETAG = 64 };

/* The entity tag of the recording's JSON, which differs with and without topics; with them it has the version of the
 * definitions that they were made with (own_definitions_version()). */
void change_etag(const struct catalog_recording *row, bool topics, uint32_t definitions, char out[CHANGE_ETAG]);
/* Whether If-Match, if sent, matches the row, whatever the definitions. False: replied (412). */
bool change_if_match(struct http_request *r, const struct catalog_recording *row);
/* The version of the row that If-Match names, or CATALOG_ANY_VERSION without it. */
int64_t change_version(const struct http_request *r, const struct catalog_recording *row);
/* The same of a row that is known by its version alone: `version` is its updated_ns, CATALOG_ABSENT if there is none.
 */
void change_version_etag(int64_t version, char out[CHANGE_ETAG]);
/* The version that If-Match or If-None-Match: * expects of such a row. False: replied (412). */
bool change_expected(struct http_request *r, int64_t now, int64_t *version);
/* As http_reply_error(), but REEL_CHANGED is a 412. */
void change_refuse(struct http_request *r, const struct reel_error *err);
/* The member epoch, NULL: none. False: replied. */
bool change_read_epoch(struct http_request *r, const json_t *value, struct catalog_change *out);
/* Appends {"key": "value" or null} to out and increases *n. Texts are borrowed. False: replied. */
bool change_read_tags(struct http_request *r, const json_t *tags, struct catalog_tag *out, uint32_t max, uint32_t *n);

#endif
