/* Multipart uploads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_stream.h"
#include "store/s3/s3_internal.h"
#include "store/s3/xml.h"
#include "syntax/xml_out.h"

enum { ANSWER_MAX = 64 << 10 };
static const struct s3_body nothing = {.data = ""};

struct beginning {
    char *upload;
    bool found;
};

static void on_begun(void *context, const char *path, const char *text) {
    struct beginning *b = context;
    if (strcmp(path, "UploadId") == 0 && text[0]) {
        b->found = snprintf(b->upload, S3_UPLOAD_MAX, "%s", text) < S3_UPLOAD_MAX;
    }
}

bool s3_begin(struct s3 *s3, struct s3_name name, char upload[S3_UPLOAD_MAX], struct reel_error *err) {
    struct s3_call call = {
        .method = S3_POST, .name = name, .query = "uploads=", .body = &nothing, .text_max = ANSWER_MAX};
    struct beginning b = {.upload = upload};
    bool good = s3_perform(s3, &call, err);
    good = good && ((call.text && s3_xml(call.text, call.text_size, on_begun, &b) && b.found) ||
                    reel_fail(err, REEL_IO, "the store at %s begins no multipart upload", s3->host));
    s3_call_done(&call);
    return good;
}

/* "NAME=VALUE" with the upload's id, which is escaped. */
static bool query_of(const char *before, const char *upload, char *out, size_t size, struct reel_error *err) {
    size_t used = (size_t)snprintf(out, size, "%suploadId=", before);
    return (used < size && s3_escape(upload, false, out + used, size - used)) ||
           reel_fail(err, REEL_LIMIT, "the id of a multipart upload is too long");
}

bool s3_part(struct s3 *s3, struct s3_name name, const char *upload, unsigned number, const struct s3_body *body,
             char etag[S3_ETAG_MAX], struct reel_error *err) {
    char before[32], query[3 * S3_UPLOAD_MAX + 64];
    snprintf(before, sizeof before, "partNumber=%u&", number);
    if (number < 1 || number > S3_PARTS_MAX) {
        return reel_fail(err, REEL_LIMIT, "an object has at most %d parts", S3_PARTS_MAX);
    }
    if (!query_of(before, upload, query, sizeof query, err)) {
        return false;
    }
    struct s3_call call = {.method = S3_PUT, .name = name, .query = query, .body = body};
    bool good = s3_perform(s3, &call, err);
    s3_call_done(&call);
    memcpy(etag, call.object.etag, S3_ETAG_MAX);
    return good && (etag[0] || reel_fail(err, REEL_IO, "the store at %s gave a part no ETag", s3->host));
}

static char *parts_text(const char (*etags)[S3_ETAG_MAX], unsigned n) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return NULL;
    }
    fputs("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">", f);
    for (unsigned i = 0; i < n; i++) {
        fprintf(f, "<Part><PartNumber>%u</PartNumber><ETag>", i + 1);
        xml_put_text(f, etags[i]);
        fputs("</ETag></Part>", f);
    }
    fputs("</CompleteMultipartUpload>", f);
    return text_stream_close(f, &text) ? text : NULL;
}

bool s3_complete(struct s3 *s3, struct s3_name name, const char *upload, const char (*etags)[S3_ETAG_MAX], unsigned n,
                 struct reel_error *err) {
    char query[3 * S3_UPLOAD_MAX + 64];
    AUTO_MEM char *text = parts_text(etags, n);
    if (!text) {
        return reel_fail_memory(err);
    }
    if (!query_of("", upload, query, sizeof query, err)) {
        return false;
    }
    const struct s3_body body = {.data = text, .size = strlen(text)};
    struct s3_call call = {.method = S3_POST, .name = name, .query = query, .body = &body, .text_max = ANSWER_MAX};
    struct s3_object there;
    struct reel_error ignored;
    bool good = s3_perform(s3, &call, err);
    s3_call_done(&call);
    /* An answer that was lost: the upload has ended because it is complete. The key is one that nobody else chooses. */
    return good || (strcmp(call.code, "NoSuchUpload") == 0 && s3_head(s3, name, &there, &ignored));
}

bool s3_abort(struct s3 *s3, struct s3_name name, const char *upload, struct reel_error *err) {
    char query[3 * S3_UPLOAD_MAX + 64];
    if (!query_of("", upload, query, sizeof query, err)) {
        return false;
    }
    struct s3_call call = {.method = S3_DELETE, .name = name, .query = query};
    bool good = s3_perform(s3, &call, err);
    s3_call_done(&call);
    return good || call.status == 404;
}
