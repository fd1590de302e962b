/* The caller of a request. This layer only knows roles and verdicts; tokens are the business of authorize(). */
#include "http/http_internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/glob.h"
#include "stream/stream.h"

static const struct http_caller anonymous = {.name = "anonymous", .how = "open", .role = ROLE_ADMIN};
static const struct http_caller unidentified = {.name = "", .how = "", .role = ROLE_NONE};

const struct http_caller *http_caller(const struct http_request *r) {
    if (!r->server->options.authorize) {
        return &anonymous;
    }
    return r->grant.caller.name ? &r->grant.caller : &unidentified;
}

const char *http_principal(const struct http_request *r, char out[HTTP_PRINCIPAL]) {
    const struct http_caller *caller = http_caller(r);
    if (caller->token) {
        snprintf(out, HTTP_PRINCIPAL, "token:%" PRId64, caller->token);
    } else {
        snprintf(out, HTTP_PRINCIPAL, "%s:%s", caller->how, caller->name ? caller->name : "");
    }
    return out;
}

const char *http_client(const struct http_request *r, char out[HTTP_PRINCIPAL]) {
    if (strcmp(http_caller(r)->how, "open") != 0) {
        return http_principal(r, out);
    }
    snprintf(out, HTTP_PRINCIPAL, "%s", http_peer(r));
    return out;
}

const char *http_peer(const struct http_request *r) {
    return r->grant.peer[0] ? r->grant.peer : http_remote(r);
}

bool http_caller_sees(const struct http_caller *caller, const char *collection) {
    if (!caller || !caller->collections) {
        return true;
    }
    for (const char *const *glob = caller->collections; *glob; glob++) {
        if (reel_glob_match(*glob, collection)) {
            return true;
        }
    }
    return false;
}

static void add_challenge(struct http_request *r) {
    http_add_header(r, "WWW-Authenticate", "Bearer realm=\"reel\"");
    if (!http_header(r, "X-Requested-With")) { /* a script's request: Basic would make the browser open its own login
                                                  prompt */
        http_add_header(r, "WWW-Authenticate", "Basic realm=\"reel\", charset=\"UTF-8\"");
    }
}

static void caller_refuse(struct http_request *r, enum http_verdict verdict) {
    const char *detail = r->grant.detail ? r->grant.detail : "";
    char seconds[16];
    switch (verdict) {
    case HTTP_UNKNOWN:
        add_challenge(r);
        http_reply_problem(r, 401, "unauthorized", "%s", detail);
        return;
    case HTTP_NO_TOKENS:
        add_challenge(r);
        http_reply_problem(r, 401, "no-tokens", "%s", detail);
        return;
    case HTTP_FORBIDDEN:
        http_reply_problem(r, 403, "forbidden", "%s", detail);
        return;
    case HTTP_TOO_OFTEN:
        snprintf(seconds, sizeof seconds, "%u", r->grant.retry_after_s);
        http_add_header(r, "Retry-After", seconds);
        http_reply_problem(r, 429, "too-many-failures", "%s", detail);
        return;
    case HTTP_NOT_NOW:
        http_add_header(r, "Retry-After", "5");
        http_reply_problem(r, 503, "not-ready", "%s", detail);
        return;
    case HTTP_GRANTED:
        return;
    }
}

bool caller_authorize(struct http_request *r) {
    if (!r->server->options.authorize) {
        return true;
    }
    enum http_verdict verdict = r->server->options.authorize(r, r->route->role, &r->grant);
    caller_refuse(r, verdict);
    return verdict == HTTP_GRANTED;
}
