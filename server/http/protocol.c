/* A protocol of its own on some paths (struct http_protocol). */
#include "http/http_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_below(const char *base, const char *target) {
    size_t size = strlen(base);
    return strncmp(target, base, size) == 0 && strchr("/?", target[size]); /* also at its end */
}

const struct http_protocol *protocol_of(const struct http_request *r) {
    const struct http_protocol *p = r->server->options.protocol;
    return p && r->target && is_below(p->base, r->target) ? p : NULL;
}

bool http_is_of_protocol(const struct http_request *r) {
    return protocol_of(r);
}

bool protocol_claim(struct http_request *r) {
    const struct http_protocol *p = r->server->options.protocol;
    if (!p || is_below(p->base, r->target) || !p->claims(r)) {
        return true;
    }
    size_t base = strlen(p->base), size = strlen(r->target);
    char *buffer = malloc(4 * (base + size + 1)); /* as request_open() has it */
    if (!buffer) {
        http_reply_no_memory(r);
        return false;
    }
    memcpy(buffer, p->base, base);
    memcpy(buffer + base, r->target, size + 1);
    free(r->buffer);
    r->buffer = r->target = buffer;
    r->claimed = base;
    return true;
}

const char *http_target_sent(const struct http_request *r) {
    return r->target + r->claimed;
}

void http_set_file_header(struct http_request *r, const char *name, const char *value) {
    for (size_t i = 0; i < HTTP_FILE_HEADERS; i++) {
        struct http_text *header = &r->file_headers[i];
        if (!header->name || strcmp(header->name, name) == 0) {
            *header = (struct http_text){.name = name, .value = value};
            return;
        }
    }
}
