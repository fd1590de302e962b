/* The log line of a request, as logfmt. Its one rule: the query is never written, it may hold a signature. */
#include "http/private.h"

#include <stdio.h>
#include <string.h>

enum { LOG_PATH_MAX = 512, LOG_LINE_MAX = 4096 };

/* The path as sent; what would break the line or a terminal is percent-encoded. */
static void copy_path(const struct http_request *r, char *out, size_t size) {
    size_t path_size = request_raw_path_size(r), used = 0;
    for (size_t i = 0; i < path_size && used + 4 < size; i++) {
        unsigned char c = (unsigned char)r->target[i];
        if (c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '=') {
            out[used++] = (char)c;
        } else {
            used += (size_t)snprintf(out + used, size - used, "%%%02X", c);
        }
    }
    out[used] = '\0';
}

static void copy_quoted(const char *text, char *out, size_t size) {
    size_t used = 0;
    for (; *text && used + 3 < size; text++) {
        if (*text == '"' || *text == '\\') {
            out[used++] = '\\';
        }
        out[used++] = (unsigned char)*text < ' ' ? ' ' : *text;
    }
    out[used] = '\0';
}

void log_request(struct http_request *r, bool cut) {
    const struct http_options *options = &r->server->options;
    if (!options->log) {
        return;
    }
    char line[LOG_LINE_MAX], path[LOG_PATH_MAX], error[2 * sizeof r->error], when[REEL_TIME_TEXT];
    copy_path(r, path, sizeof path);
    copy_quoted(r->error, error, sizeof error);
    reel_time_rfc3339(reel_now_ns(), when);
    snprintf(line, sizeof line, "ts=%s id=%s method=%s path=%s status=%u bytes=%llu in=%llu ms=%lld remote=%s%s%s%s%s", when, r->id,
             r->method, path, r->status, (unsigned long long)r->sent_bytes, (unsigned long long)r->body_bytes,
             (long long)(http_clock_ms() - r->started_ms), r->connection->remote, cut ? " cut=true" : "", error[0] ? " error=\"" : "",
             error, error[0] ? "\"" : "");
    options->log(options->app, line);
}
