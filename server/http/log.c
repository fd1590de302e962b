/* The log line of a request. The query is never logged: it may contain a signature. */
#include "http/http_internal.h"

#include "http/line.h"

#include <stdio.h>
#include <string.h>

enum { LOG_PATH_MAX = 512, LOG_LINE_MAX = 4096 };

/* A token sent as X-Request-Id or in the path by mistake must not get into the log. */
static void hide_tokens(char *path) {
    enum { SECRET_MIN = 40 };
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (char *at = path; (at = strstr(at, "reel_")); at += 5) {
        size_t size = strspn(at + 5, word);
        if (size >= SECRET_MIN) {
            memset(at + 5, '*', size);
        }
    }
}

/* Percent-encodes characters that would break the line or affect a terminal. */
void http_path_for_logs(const struct http_request *r, char *out, size_t size) {
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
    hide_tokens(out);
}

void log_request(struct http_request *r, bool cut) {
    const struct http_options *options = &r->server->options;
    if (!options->log) {
        return;
    }
    char line[LOG_LINE_MAX], path[LOG_PATH_MAX], when[REEL_TIME_TEXT], deprecated[256];
    deprecation_names(r, deprecated, sizeof deprecated);
    http_path_for_logs(r, path, sizeof path);
    reel_time_rfc3339(reel_now_ns(), when);
    const struct line_field fields[] = {{.key = "ts", .text = when},
                                        {.key = "id", .text = r->id},
                                        {.key = "method", .text = r->method},
                                        {.key = "path", .text = path},
                                        {.key = "status", .number = r->status},
                                        {.key = "sent_bytes", .number = (int64_t)r->sent_bytes},
                                        {.key = "in", .number = (int64_t)r->body_bytes},
                                        {.key = "ms", .number = http_clock_ms() - r->started_ms},
                                        {.key = "remote", .text = http_peer(r)},
                                        {.key = "caller", .text = options->authorize ? http_caller(r)->name : ""},
                                        {.key = "deprecated", .text = deprecated},
                                        {.key = "cut", .text = cut ? "true" : ""},
                                        {.key = "error", .text = r->error}};
    line_write(options->log_json, fields, sizeof fields / sizeof *fields, line, sizeof line);
    options->log(options->app, line);
}
