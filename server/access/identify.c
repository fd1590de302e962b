/* Who calls: a token, a login, a signed link, or a user that a proxy names. */
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#include "access/access_internal.h"
#include "access/audit.h"
#include "access/credentials.h"
#include "access/limiter.h"
#include "access/s3_keys.h"
#include "app.h"
#include "base/cleanup.h"
#include "reel/time.h"

enum { USER_MAX = 128, LOGIN_S = 30 * 86400, COOKIE_NAME = 24 };

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

/* A failed log-in. Only failures are limited: 256 bits cannot be guessed, and others behind the same address must not
 * lock out a caller with a valid token. */
enum http_verdict access_failed(struct access *a, const struct address *peer, struct http_grant *out,
                                const char *detail) {
    if (out->again) {
        return access_refuse(out, HTTP_UNKNOWN, detail);
    }
    out->retry_after_s = limiter_take(a->failures, peer, reel_now_ns() / 1000000);
    return out->retry_after_s ? access_refuse(out, HTTP_TOO_OFTEN, "Too many failed log-ins from this address.")
                              : access_refuse(out, HTTP_UNKNOWN, detail);
}

static enum http_verdict by_token(const struct token *t, const char *how, struct http_grant *out) {
    return token_caller(t, how, &out->caller, &out->memory) ? HTTP_GRANTED
                                                            : access_refuse(out, HTTP_NOT_NOW, "Out of memory.");
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
        return access_failed(a, peer, out,
                             "Send the token as \"Authorization: Bearer TOKEN\", or as the password of any user name.");
    }
    token_hash(text, hash);
    if (!catalog_token_by_hash(a->catalog, hash, &token, &err)) {
        return err.code == REEL_NOT_FOUND ? access_failed(a, peer, out, unknown)
                                          : access_refuse(out, HTTP_NOT_NOW, "The catalog is not available.");
    }
    if (token_state(&token, reel_now_ns()) != TOKEN_GOOD) {
        return access_failed(a, peer, out, unknown);
    }
    audit_token_used(a->audit, token.row, token.used_ns);
    return by_token(&token, kind == CREDENTIALS_BASIC ? "basic" : "bearer", out);
}

/* SameSite keeps the cookie from other sites, http/guard.c refuses writes of other origins; a write without either
 * header comes from no browser of today. */
static enum http_verdict by_login(struct access *a, const struct http_request *r, const char *cookie,
                                  const struct address *peer, struct http_grant *out) {
    static const char ended[] = "The login has ended. Log in again.";
    struct reel_error err = {0};
    AUTO_STRUCT(token_done) struct token token = {0};
    uint8_t hash[TOKEN_HASH];
    if (http_writes(r) && !http_header(r, "Origin") && !http_header(r, "Sec-Fetch-Site")) {
        return access_refuse(out, HTTP_FORBIDDEN, "A login cookie is for browsers; send the token.");
    }
    token_hash(cookie, hash);
    if (!catalog_token_by_login(a->catalog, hash, &token, &err) && err.code != REEL_NOT_FOUND) {
        return access_refuse(out, HTTP_NOT_NOW, "The catalog is not available.");
    }
    if (err.code == REEL_NOT_FOUND) { /* or a guess */
        return access_failed(a, peer, out, ended);
    }
    if (token_state(&token, reel_now_ns()) != TOKEN_GOOD) {
        return access_refuse(out, HTTP_UNKNOWN, ended);
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
        return err.code == REEL_NOT_FOUND ? access_refuse(out, HTTP_UNKNOWN, link_ended)
                                          : access_refuse(out, HTTP_NOT_NOW, "The catalog is not available.");
    }
    if (token_state(&token, reel_now_ns()) != TOKEN_GOOD) {
        return access_refuse(out, HTTP_UNKNOWN, link_ended);
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
        return access_refuse(out, HTTP_UNKNOWN, link_ended);
    case LINK_NO_KEYS:
        return access_refuse(out, HTTP_NOT_NOW, "The keys of signed links cannot be read.");
    case LINK_WRONG:
        break;
    }
    return access_failed(a, peer, out, wrong);
}

static enum http_verdict by_link(struct access *a, const struct http_request *r, const struct address *peer,
                                 struct http_grant *out) {
    struct link_claim claim = {0};
    if (http_writes(r)) {
        return access_refuse(out, HTTP_UNKNOWN, "Signed links are for reading only.");
    }
    enum link_verdict verdict = links_verify(a->links, http_target(r), reel_now_ns() / ACCESS_SECOND_NS, &claim);
    return by_verdict(a, verdict, claim.token, "The signature does not match this path and its parameters.", peer, out);
}

/* What is below the recording, and the service document, which the page needs. */
static bool is_of_recording(const struct http_request *r, const char *recording) {
    const char *id = access_recording(r);
    return strcmp(http_path(r), "/api/v1") == 0 || (id && strcmp(id, recording) == 0);
}

static enum http_verdict by_link_key(struct access *a, const struct http_request *r, const char *key,
                                     const struct address *peer, struct http_grant *out) {
    struct link_claim claim = {0};
    char recording[LINK_RECORDING];
    enum link_verdict link = links_verify_recording(a->links, key, reel_now_ns() / ACCESS_SECOND_NS, recording, &claim);
    enum http_verdict verdict =
        by_verdict(a, link, claim.token, "The link is incomplete, or its key has been replaced.", peer, out);
    if (verdict != HTTP_GRANTED) {
        return verdict;
    }
    out->caller.expires_s = claim.expires_s;
    snprintf(out->caller.recording, sizeof out->caller.recording, "%s", recording);
    if (http_writes(r)) {
        return access_refuse(out, HTTP_FORBIDDEN, "Signed links are for reading only.");
    }
    return is_of_recording(r, recording) ? HTTP_GRANTED
                                         : access_refuse(out, HTTP_FORBIDDEN, "This link is for one recording only.");
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
        return access_refuse(out, HTTP_UNKNOWN, "The proxy sent an invalid user name.");
    }
    char *name = out->memory = strdup(user);
    if (!name) {
        return access_refuse(out, HTTP_NOT_NOW, "Out of memory.");
    }
    out->caller = (struct http_caller){.name = name, .how = "proxy", .role = a->proxy_role};
    return HTTP_GRANTED;
}

/* `reel token` may have created one since. */
static bool check_tokens(struct access *a) {
    struct reel_error err;
    bool exist;
    if (atomic_load(&a->closed) && !atomic_load(&a->lost)) {
        return true;
    }
    if (!catalog_tokens_exist(a->catalog, &exist, &err)) {
        return false;
    }
    if (exist) {
        atomic_store(&a->closed, true);
        atomic_store(&a->lost, false);
    }
    return true;
}

static enum http_verdict without_credentials(struct access *a, const struct http_request *r, struct http_grant *out) {
    if (!a->options.insecure_open && !check_tokens(a)) {
        return access_refuse(out, HTTP_NOT_NOW, "The catalog is not available.");
    }
    if (access_is_open(a, r)) {
        out->caller = (struct http_caller){.name = "anonymous", .how = "open", .role = ROLE_ADMIN};
        return HTTP_GRANTED;
    }
    if (atomic_load(&a->lost)) {
        return access_refuse(out, HTTP_NO_TOKENS,
                             "This archive requires a token, but its tokens were lost with its catalog. On the machine "
                             "of the server run: reel token create --role admin --name admin --data FOLDER");
    }
    if (!atomic_load(&a->closed)) {
        return access_refuse(out, HTTP_UNKNOWN,
                             "Without tokens this server is open to its own machine only, and a proxy says that the "
                             "request comes from another one. On the machine of the server run: reel token create "
                             "--role admin --name admin --data FOLDER");
    }
    return access_refuse(
        out, HTTP_UNKNOWN,
        "This server requires a token: send it as \"Authorization: Bearer TOKEN\", or as the password of "
        "any user name.");
}

enum http_verdict access_identify(struct access *a, const struct http_request *r, struct http_grant *out) {
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
            return access_failed(a, &peer, out,
                                 "The proxy passed on a user name of the client's; it must remove that header.");
        }
        if (user && *user) {
            return by_proxy(a, user, out);
        }
    }
    if (http_is_of_protocol(r) && s3_is_signed(r)) {
        /* an open archive does not ask who signed: many clients cannot be without keys */
        enum http_verdict open = without_credentials(a, r, out);
        return open == HTTP_GRANTED || open == HTTP_NOT_NOW ? open : access_by_s3(a, r, &peer, out);
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
    enum http_verdict verdict = without_credentials(a, r, out);
    return verdict == HTTP_UNKNOWN && cookie ? by_login(a, r, cookie, &peer, out) : verdict;
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
    bool good = catalog_login_add(a->catalog, hash, caller->token, reel_now_ns() + LOGIN_S * ACCESS_SECOND_NS, err);
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
