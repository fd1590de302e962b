/* See access.h. Unauthenticated callers get 401 without details; for authenticated ones the 403 names what is missing.
 */
#include "access/access.h"

#include <openssl/crypto.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/audit.h"
#include "access/credentials.h"
#include "access/limiter.h"
#include "access/links.h"
#include "app.h"
#include "base/cleanup.h"
#include "reel/time.h"

enum {
    FAILURES_AT_ONCE = 10, /* failed log-ins of one address */
    FAILURES_EVERY_MS = 6000,
    DENIALS_AT_ONCE =
        60, /* denied requests of one address in the audit log; a limit, so that they cannot displace older rows */
    DENIALS_EVERY_MS = 1000,
    OPENINGS_AT_ONCE = 60, /* recordings opened by links; the same, as who has a link may be anybody */
    OPENINGS_EVERY_MS = 1000,
    TRUSTED_MAX = 64,
    USER_MAX = 128,
    PATH_MAX_KEPT = 512,
    LOGIN_S = 30 * 86400,
    COOKIE_NAME = 24,
    LINK_HOURS =
        12, /* validity of links in responses; it ends on a full hour, so that links stay the same for a while */
};
static const int64_t SECOND_NS = 1000000000;

struct access {
    struct access_options options;
    enum http_role proxy_role;
    struct network trusted[TRUSTED_MAX];
    size_t n_trusted;
    struct catalog *catalog;
    struct links *links;
    struct audit *audit;
    struct limiter *failures, *denials, *openings;
    atomic_bool closed; /* a token was created at some time: from then on one is required */
};

const struct http_param access_params[] = {
    {.name = "sig", .type = HTTP_TEXT, .help = "signature of a signed link (POST /links)"},
    {.name = "exp", .type = HTTP_TEXT, .help = "expiry of a signed link"},
    {.name = "link", .type = HTTP_TEXT, .help = "key of a signed link to a recording (POST /recordings/{id}/links)"},
    {0},
};

/* ---- open and close */

static bool read_options(struct access *a, struct reel_error *err) {
    const struct access_options *o = &a->options;
    for (const char *const *text = o->trusted; text && *text; text++) {
        if (a->n_trusted == TRUSTED_MAX) {
            return reel_fail(err, REEL_ARGUMENT, "at most %d proxies can be trusted", TRUSTED_MAX);
        }
        if (!network_parse(*text, &a->trusted[a->n_trusted++], err)) {
            return false;
        }
    }
    if (o->user_header && a->n_trusted == 0) {
        return reel_fail(err, REEL_ARGUMENT,
                         "--proxy-user-header needs --trust-proxy, the address of the proxy that sets it");
    }
    a->proxy_role = ROLE_READ;
    return !o->role || token_role_parse(o->role, &a->proxy_role) ||
           reel_fail(err, REEL_ARGUMENT, "--proxy-role must be read, upload, edit or admin");
}

struct access *access_open(const struct access_options *options, struct reel_error *err) {
    bool closed;
    AUTO(access_close) struct access *a = calloc(1, sizeof *a);
    if (!a) {
        reel_fail_memory(err);
        return NULL;
    }
    a->options = *options;
    a->catalog = options->catalog;
    if (!read_options(a, err) || !(a->links = links_open(options->data, err)) ||
        (options->shared && !links_share(a->links, a->catalog, err)) || !(a->audit = audit_open(a->catalog, err)) ||
        !(a->failures = limiter_new(FAILURES_AT_ONCE, FAILURES_EVERY_MS, err)) ||
        !(a->denials = limiter_new(DENIALS_AT_ONCE, DENIALS_EVERY_MS, err)) ||
        !(a->openings = limiter_new(OPENINGS_AT_ONCE, OPENINGS_EVERY_MS, err)) ||
        !catalog_tokens_exist(a->catalog, &closed, err)) {
        return NULL;
    }
    atomic_store(&a->closed, closed || options->user_header);
    return TAKE(a);
}

void access_close(struct access *a) {
    if (a) {
        audit_close(a->audit);
        links_close(a->links);
        limiter_free(a->failures);
        limiter_free(a->denials);
        limiter_free(a->openings);
        free(a);
    }
}

bool access_first_token(struct catalog *c, char text[TOKEN_TEXT], bool *created, struct reel_error *err) {
    struct token token;
    bool exist;
    *created = false;
    if (!catalog_tokens_exist(c, &exist, err)) {
        return false;
    }
    if (exist) {
        return true;
    }
    *created = token_create(c, &(struct token_options){.name = "first", .role = "admin"}, text, &token, err);
    token_done(&token);
    return *created;
}

/* Whether requests without credentials are admitted, as of the last check. */
static bool access_is_open(struct access *a) {
    return a->options.insecure_open || !atomic_load(&a->closed);
}

bool access_is_proxy(const struct app *app, const char *text) {
    struct address address;
    return app->access && address_parse(text, &address) &&
           network_holds(app->access->trusted, app->access->n_trusted, &address);
}

/* ---- authentication */

/* Cookies do not tell ports apart, so that of two servers on one machine each needs a name of its own. */
static void cookie_name(const struct http_request *r, char out[COOKIE_NAME]) {
    const char *host = http_header(r, "Host"), *port = host ? strrchr(host, ':') : NULL;
    bool numeric = port && port[1] && port[1 + strspn(port + 1, "0123456789")] == '\0';
    snprintf(out, COOKIE_NAME, "reel_login%s%.5s", numeric ? "_" : "", numeric ? port + 1 : "");
}

/* The cookie of a login; NULL: none. */
static const char *login_cookie(const struct http_request *r) {
    char name[COOKIE_NAME];
    cookie_name(r, name);
    const char *cookie = http_cookie(r, name);
    return cookie && token_well_formed(cookie, strlen(cookie)) ? cookie : NULL;
}

static enum http_verdict refuse(struct http_grant *out, enum http_verdict verdict, const char *detail) {
    out->detail = detail;
    return verdict;
}

/* A failed log-in. Only failures are limited: 256 bits cannot be guessed, and others behind the same address must not
 * lock out a caller with a valid token. */
static enum http_verdict failed(struct access *a, const struct address *peer, struct http_grant *out,
                                const char *detail) {
    out->retry_after_s = limiter_take(a->failures, peer, reel_now_ns() / 1000000);
    return out->retry_after_s ? refuse(out, HTTP_TOO_OFTEN, "Too many failed log-ins from this address.")
                              : refuse(out, HTTP_UNKNOWN, detail);
}

static enum http_verdict by_token(const struct token *t, const char *how, struct http_grant *out) {
    return token_caller(t, how, &out->caller, &out->memory) ? HTTP_GRANTED
                                                            : refuse(out, HTTP_NOT_NOW, "Out of memory.");
}

static enum http_verdict by_credentials(struct access *a, const char *header, const struct address *peer,
                                        struct http_grant *out) {
    static const char unknown[] = "The token is unknown, expired or revoked.";
    char text[TOKEN_TEXT];
    uint8_t hash[TOKEN_HASH];
    struct reel_error err = {0};
    AUTO_STRUCT(token_done) struct token token = {0};
    enum credentials kind = credentials_read(header, text);
    if (kind == CREDENTIALS_WRONG) {
        return failed(a, peer, out,
                      "Send the token as \"Authorization: Bearer TOKEN\", or as the password of any user name.");
    }
    token_hash(text, hash);
    if (!catalog_token_by_hash(a->catalog, hash, &token, &err)) {
        return err.code == REEL_NOT_FOUND ? failed(a, peer, out, unknown)
                                          : refuse(out, HTTP_NOT_NOW, "The catalog is not available.");
    }
    if (token_state(&token, reel_now_ns()) != TOKEN_GOOD) {
        return failed(a, peer, out, unknown);
    }
    audit_token_used(a->audit, token.row, token.used_ns);
    return by_token(&token, kind == CREDENTIALS_BASIC ? "basic" : "bearer", out);
}

/* SameSite keeps the cookie from other sites, http/guard.c refuses writes of other origins; a write without either
 * header comes from no browser of today. */
static enum http_verdict by_login(struct access *a, const struct http_request *r, const char *cookie,
                                  struct http_grant *out) {
    struct reel_error err = {0};
    AUTO_STRUCT(token_done) struct token token = {0};
    uint8_t hash[TOKEN_HASH];
    if (http_writes(r) && !http_header(r, "Origin") && !http_header(r, "Sec-Fetch-Site")) {
        return refuse(out, HTTP_FORBIDDEN, "A login cookie is for browsers; send the token.");
    }
    token_hash(cookie, hash);
    if (!catalog_token_by_login(a->catalog, hash, &token, &err) && err.code != REEL_NOT_FOUND) {
        return refuse(out, HTTP_NOT_NOW, "The catalog is not available.");
    }
    if (err.code == REEL_NOT_FOUND || token_state(&token, reel_now_ns()) != TOKEN_GOOD) {
        return refuse(out, HTTP_UNKNOWN, "The login has ended. Log in again.");
    }
    audit_token_used(a->audit, token.row, token.used_ns);
    return by_token(&token, "login", out);
}

static const char link_ended[] = "The link or the token that signed it has expired.";

/* Whom a link stands for: the token that signed it, reading. */
static enum http_verdict by_signer(struct access *a, int64_t number, struct http_grant *out) {
    struct reel_error err = {0};
    AUTO_STRUCT(token_done) struct token token = {0};
    if (number == 0) { /* signed by an admin whom a proxy has named */
        out->caller = (struct http_caller){.name = "link", .how = "link", .role = ROLE_READ};
        return HTTP_GRANTED;
    }
    if (!catalog_token_by_row(a->catalog, number, &token, &err)) {
        return err.code == REEL_NOT_FOUND ? refuse(out, HTTP_UNKNOWN, link_ended)
                                          : refuse(out, HTTP_NOT_NOW, "The catalog is not available.");
    }
    if (token_state(&token, reel_now_ns()) != TOKEN_GOOD) {
        return refuse(out, HTTP_UNKNOWN, link_ended);
    }
    token.role = ROLE_READ;
    return by_token(&token, "link", out);
}

static enum http_verdict by_verdict(struct access *a, enum link_verdict verdict, int64_t number, const char *wrong,
                                    const struct address *peer, struct http_grant *out) {
    switch (verdict) {
    case LINK_GOOD:
        return by_signer(a, number, out);
    case LINK_EXPIRED: /* the signature is valid: not a guess */
        return refuse(out, HTTP_UNKNOWN, link_ended);
    case LINK_NO_KEYS:
        return refuse(out, HTTP_NOT_NOW, "The keys of signed links cannot be read.");
    case LINK_WRONG:
        break;
    }
    return failed(a, peer, out, wrong);
}

static enum http_verdict by_link(struct access *a, const struct http_request *r, const struct address *peer,
                                 struct http_grant *out) {
    struct link_claim claim = {0};
    if (http_writes(r)) {
        return refuse(out, HTTP_UNKNOWN, "Signed links are for reading only.");
    }
    enum link_verdict verdict = links_verify(a->links, http_target(r), reel_now_ns() / SECOND_NS, &claim);
    return by_verdict(a, verdict, claim.token, "The signature does not match this path and its parameters.", peer, out);
}

/* What is below the recording, and the service document, which the page needs. */
static bool is_of_recording(const struct http_request *r, const char *recording) {
    static const char base[] = "/api/v1/recordings/";
    const char *path = http_path(r), *id = http_segment(r, "id");
    return strcmp(path, "/api/v1") == 0 ||
           (strncmp(path, base, sizeof base - 1) == 0 && id && strcmp(id, recording) == 0);
}

static enum http_verdict by_link_key(struct access *a, const struct http_request *r, const char *key,
                                     const struct address *peer, struct http_grant *out) {
    struct link_claim claim = {0};
    char recording[LINK_RECORDING];
    enum link_verdict link = links_verify_recording(a->links, key, reel_now_ns() / SECOND_NS, recording, &claim);
    enum http_verdict verdict =
        by_verdict(a, link, claim.token, "The link is incomplete, or its key has been replaced.", peer, out);
    if (verdict != HTTP_GRANTED) {
        return verdict;
    }
    out->caller.expires_s = claim.expires_s;
    snprintf(out->caller.recording, sizeof out->caller.recording, "%s", recording);
    if (http_writes(r)) {
        return refuse(out, HTTP_FORBIDDEN, "Signed links are for reading only.");
    }
    return is_of_recording(r, recording) ? HTTP_GRANTED
                                         : refuse(out, HTTP_FORBIDDEN, "This link is for one recording only.");
}

/* User names may contain any character except control characters, which would break the log. */
static enum http_verdict by_proxy(struct access *a, const char *user, struct http_grant *out) {
    size_t size = strnlen(user, USER_MAX + 1);
    json_auto_t *text = json_string(user); /* NULL: invalid UTF-8 */
    bool plain = text && size <= USER_MAX;
    for (size_t i = 0; plain && i < size; i++) {
        plain = (unsigned char)user[i] >= ' ' && user[i] != 0x7f;
    }
    if (!plain) {
        return refuse(out, HTTP_UNKNOWN, "The proxy sent an invalid user name.");
    }
    char *name = out->memory = strdup(user);
    if (!name) {
        return refuse(out, HTTP_NOT_NOW, "Out of memory.");
    }
    out->caller = (struct http_caller){.name = name, .how = "proxy", .role = a->proxy_role};
    return HTTP_GRANTED;
}

static enum http_verdict without_credentials(struct access *a, struct http_grant *out) {
    struct reel_error err;
    bool exist = false;
    if (!a->options.insecure_open && !atomic_load(&a->closed)) { /* `reel token` may have created one since */
        if (!catalog_tokens_exist(a->catalog, &exist, &err)) {
            return refuse(out, HTTP_NOT_NOW, "The catalog is not available.");
        }
        if (exist) {
            atomic_store(&a->closed, true);
        }
    }
    if (!access_is_open(a)) {
        return refuse(out, HTTP_UNKNOWN,
                      "This server requires a token: send it as \"Authorization: Bearer TOKEN\", or as the password of "
                      "any user name.");
    }
    out->caller = (struct http_caller){.name = "anonymous", .how = "open", .role = ROLE_ADMIN};
    return HTTP_GRANTED;
}

static enum http_verdict identify(struct access *a, const struct http_request *r, struct http_grant *out) {
    struct address peer = {{0}};
    const char *header = http_header(r, "Authorization"), *user_header = a->options.user_header;
    bool known = address_parse(http_peer(r), &peer);
    if (known && network_holds(a->trusted, a->n_trusted, &peer)) {
        AUTO_MEM char *forwarded = http_header_lines(r, "X-Forwarded-For");
        const char *user = user_header ? http_header(r, user_header) : NULL;
        if (forwarded && forwarded_for(forwarded, a->trusted, a->n_trusted, out->peer)) {
            address_parse(out->peer, &peer);
        }
        if (user && http_header_count(r, user_header) > 1) { /* the proxy added its own after the client's */
            return failed(a, &peer, out,
                          "The proxy passed on a user name of the client's; it must remove that header.");
        }
        if (user && *user) {
            return by_proxy(a, user, out);
        }
    }
    const char *key = header ? credentials_link(header) : http_param(r, "link");
    if (key) {
        return by_link_key(a, r, key, &peer, out);
    }
    if (header) {
        return by_credentials(a, header, &peer, out);
    }
    if (http_param(r, "sig")) {
        return by_link(a, r, &peer, out);
    }
    const char *cookie = login_cookie(r);
    enum http_verdict verdict = without_credentials(a, out);
    return verdict == HTTP_UNKNOWN && cookie ? by_login(a, r, cookie, out) : verdict;
}

/* ---- authorization */

/* Server-wide operations (role admin) are not for callers limited to some collections. */
static enum http_verdict check_role(const struct http_caller *caller, enum http_role role, struct http_grant *out) {
    static const char *const lacks[] = {
        [ROLE_NONE] = "",
        [ROLE_READ] = "This requires the role read.",
        [ROLE_UPLOAD] = "This requires the role upload.",
        [ROLE_EDIT] = "This requires the role edit.",
        [ROLE_ADMIN] = "This requires the role admin.",
    };
    if (caller->role < role) {
        return refuse(out, HTTP_FORBIDDEN, lacks[role]);
    }
    if (role == ROLE_ADMIN && caller->collections) {
        return refuse(out, HTTP_FORBIDDEN, "This requires a token that is not limited to collections.");
    }
    return HTTP_GRANTED;
}

enum http_verdict access_authorize(const struct http_request *r, enum http_role role, struct http_grant *out) {
    struct access *a = http_app(r)->access;
    bool open = role == ROLE_NONE || (a->options.metrics_open && strcmp(http_path(r), "/metrics") == 0);
    if (open) { /* without the catalog: health checks must work when it is unavailable */
        out->caller = access_is_open(a) ? (struct http_caller){.name = "anonymous", .how = "open", .role = ROLE_ADMIN}
                                        : (struct http_caller){.name = "", .how = "", .role = ROLE_NONE};
        return HTTP_GRANTED;
    }
    enum http_verdict verdict = identify(a, r, out);
    return verdict == HTTP_GRANTED ? check_role(&out->caller, role, out) : verdict;
}

/* ---- audit log */

void access_finished(const struct http_request *r) {
    struct access *a = http_app(r)->access;
    unsigned status = http_status(r);
    char path[PATH_MAX_KEPT];
    struct address peer = {{0}};
    bool wrote = (http_writes(r) && http_role_needed(r) > ROLE_READ) || http_is_audited(r);
    bool denied = status == 401 || status == 403 || status == 421 || status == 429;
    if (http_is_answered_by_peer(r)) { /* the other server has written it */
        return;
    }
    if (denied || (wrote && http_caller(r)->recording[0])) {
        address_parse(http_peer(r), &peer);
        wrote = limiter_take(denied ? a->denials : a->openings, &peer, reel_now_ns() / 1000000) == 0;
    }
    if (wrote) {
        const struct http_caller *caller = http_caller(r);
        http_path_for_logs(r, path, sizeof path);
        audit_add(a->audit, &(struct audit_row){.caller = caller->name,
                                                .how = caller->how,
                                                .peer = http_peer(r),
                                                .method = http_method(r),
                                                .path = path,
                                                .request = http_id(r),
                                                .status = status});
    }
}

/* ---- logins */

static void set_cookie(struct http_request *r, const char *value, int64_t seconds) {
    char name[COOKIE_NAME], text[256];
    cookie_name(r, name);
    snprintf(text, sizeof text, "%s=%s; Path=%s/; Max-Age=%lld; HttpOnly; SameSite=Strict%s", name, value,
             http_prefix(r), (long long)seconds, http_is_secure(r) ? "; Secure" : "");
    http_add_header(r, "Set-Cookie", text);
    http_add_header(r, "Cache-Control", "no-store");
}

bool access_log_in(struct access *a, struct http_request *r, struct reel_error *err) {
    const struct http_caller *caller = http_caller(r);
    char text[TOKEN_TEXT];
    uint8_t hash[TOKEN_HASH];
    if (!caller->token || strcmp(caller->how, "link") == 0) {
        return reel_fail(err, REEL_CONFLICT, "there is nothing to log in to: send a token to log in");
    }
    if (!token_generate(text, err)) {
        return false;
    }
    token_hash(text, hash);
    bool good = catalog_login_add(a->catalog, hash, caller->token, reel_now_ns() + LOGIN_S * SECOND_NS, err);
    if (good) {
        set_cookie(r, text, LOGIN_S);
    }
    OPENSSL_cleanse(text, sizeof text);
    return good;
}

bool access_log_out(struct access *a, struct http_request *r, struct reel_error *err) {
    const char *cookie = login_cookie(r);
    uint8_t hash[TOKEN_HASH];
    if (cookie) {
        token_hash(cookie, hash);
        if (!catalog_login_remove(a->catalog, hash, err)) {
            return false;
        }
    }
    set_cookie(r, "", 0);
    return true;
}

/* ---- links */

/* A link signed without a token cannot be revoked with one, so it needs the role admin. */
static bool may_sign(const struct http_caller *caller, struct reel_error *err) {
    if (strcmp(caller->how, "open") == 0) {
        return reel_fail(
            err, REEL_CONFLICT,
            "signed links require tokens: without tokens this server answers every path without a signature");
    }
    return caller->token || caller->role == ROLE_ADMIN ||
           reel_fail(err, REEL_CONFLICT, "links are signed by a token, or by a user with the role admin; use a token");
}

bool access_sign(struct access *a, const struct http_caller *caller, const char *target, int64_t expires_s, char **out,
                 struct reel_error *err) {
    return may_sign(caller, err) && links_sign(a->links, target, caller->token, expires_s, out, err);
}

bool access_sign_recording(struct access *a, const struct http_caller *caller, const char *recording, int64_t expires_s,
                           char out[LINK_KEY_TEXT], struct reel_error *err) {
    return may_sign(caller, err) && links_sign_recording(a->links, recording, caller->token, expires_s, out, err);
}

char *access_link(const struct http_request *r, const char *target) {
    struct access *a = http_app(r)->access;
    const struct http_caller *caller = http_caller(r);
    struct reel_error err;
    char *out = NULL;
    if (!a || strcmp(caller->how, "open") == 0 || strcmp(caller->how, "link") == 0) {
        return strdup(target);
    }
    int64_t hour = reel_now_ns() / SECOND_NS / 3600;
    return access_sign(a, caller, target, (hour + LINK_HOURS + 1) * 3600, &out, &err) ? out : strdup(target);
}

/* ---- requests between servers */

bool access_mac(struct access *a, const char *text, size_t size, char out[LINK_MAC_TEXT], struct reel_error *err) {
    return links_mac(a->links, text, size, out, err);
}

bool access_mac_matches(struct access *a, const char *text, size_t size, const char *given) {
    return links_mac_matches(a->links, text, size, given);
}
