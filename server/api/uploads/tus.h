/* Parses the headers of tus 1.0 and of the IETF's resumable uploads. */
#ifndef SERVER_API_UPLOADS_TUS_H
#define SERVER_API_UPLOADS_TUS_H

#include "uploads/sessions.h"
#include "uploads/upload_options.h"

#define TUS_VERSION "1.0.0"
#define TUS_EXTENSIONS                                                                                                 \
    "creation,creation-with-upload,creation-defer-length,termination,checksum,expiration,concatenation"
#define TUS_ALGORITHMS "sha1,sha256"

/* Digits, below 2^63. */
bool tus_number(const char *text, int64_t *out);
/* Upload-Metadata: "key base64,key base64,key". Sets the upload options among them; "filename" becomes the name if
 * there is no other. REEL_ARGUMENT. */
bool tus_metadata(const char *text, struct upload_options *w, struct reel_error *err);
/* Upload-Concat: "partial", or "final;" and the URLs of uploads. */
struct tus_concat {
    bool final;
    uint32_t n;
    char parts[SESSION_PARTS_MAX][RECORDING_ID_TEXT];
};
bool tus_concat(const char *text, struct tus_concat *out, struct reel_error *err);
/* Upload-Checksum: "sha256 base64". `algorithm` is one of TUS_ALGORITHMS. */
struct tus_checksum {
    char algorithm[8];
    uint8_t digest[32];
    size_t size;
};
bool tus_checksum(const char *text, struct tus_checksum *out, struct reel_error *err);
/* A structured field's boolean: "?1", "?0", parameters are ignored. */
bool tus_boolean(const char *text, bool *out);

#endif
