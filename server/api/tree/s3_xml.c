/* Documents of S3. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "access/s3_keys.h"
#include "api/tree/s3.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "syntax/xml_out.h"
#include "views/addresses.h"

void s3_put_text(FILE *out, const char *element, const char *text) {
    fprintf(out, "<%s>", element);
    xml_put_text(out, text);
    fprintf(out, "</%s>", element);
}

void s3_put_key(FILE *out, const char *element, const char *text) {
    fprintf(out, "<%s>", element);
    address_put_path(out, text);
    fprintf(out, "</%s>", element);
}

void s3_put_time(FILE *out, const char *element, int64_t ns) {
    char text[REEL_TIME_TEXT];
    reel_time_rfc3339(ns / 1000000000 * 1000000000, text);
    fprintf(out, "<%s>%.19s.000Z</%s>", element, text, element);
}

void s3_put_number(FILE *out, const char *element, uint64_t number) {
    fprintf(out, "<%s>%" PRIu64 "</%s>", element, number, element);
}

/* ---- errors */

static char *error_text(const struct http_request *r, const char *code, const char *message) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fputs(S3_HEAD "<Error>", out);
    s3_put_text(out, "Code", code);
    s3_put_text(out, "Message", message);
    s3_put_text(out, "Resource", http_path(r));
    s3_put_text(out, "RequestId", http_id(r));
    fputs("</Error>\n", out);
    return text_stream_close(out, &text) ? text : NULL;
}

void s3_reply_error(struct http_request *r, unsigned status, const char *code, const char *message) {
    AUTO_MEM char *text = error_text(r, code, message);
    if (text) {
        http_reply_text(r, status, S3_XML, text);
    } else {
        http_reply_no_memory(r);
    }
}

/* How S3 says what the server says. */
static const struct {
    unsigned status, says;
    const char *code;
} codes[] = {
    {400, 400, "InvalidArgument"},    {401, 403, "AccessDenied"},   {403, 403, "AccessDenied"}, {404, 404, "NoSuchKey"},
    {405, 405, "MethodNotAllowed"},   {406, 404, "NoSuchKey"},      {409, 404, "NoSuchKey"},    {410, 404, "NoSuchKey"},
    {412, 412, "PreconditionFailed"}, {413, 400, "InvalidRequest"}, {416, 416, "InvalidRange"}, {422, 404, "NoSuchKey"},
    {429, 503, "SlowDown"},           {501, 501, "NotImplemented"}, {503, 503, "SlowDown"},
};

static char *s3_problem(const struct http_request *r, unsigned *status, const char *slug, const char *code,
                        const char *detail) {
    if (*status == 405 && http_changes(http_method(r))) {
        *status = 403;
        return error_text(r, "AccessDenied", "This archive is read-only by S3.");
    }
    if (code) { /* why the caller was refused */
        bool malformed = strncmp(code, "Authorization", strlen("Authorization")) == 0;
        *status = malformed || strcmp(code, "InvalidRequest") == 0 ? 400 : *status;
        return error_text(r, code, detail);
    }
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i].status == *status) {
            *status = codes[i].says;
            return error_text(r, strcmp(slug, "bad-request") == 0 ? "InvalidRequest" : codes[i].code, detail);
        }
    }
    return error_text(r, *status < 500 ? "InvalidRequest" : "InternalError", detail);
}

void s3_reply_failure(struct http_request *r, const struct reel_error *err) {
    http_reply_error(r, err); /* by s3_problem() */
}

const struct http_protocol api_s3 = {
    .base = S3_BASE, .claims = s3_is_signed, .media_type = S3_XML, .problem = s3_problem};
