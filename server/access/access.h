/* Access control: who calls, what a caller may do, and the audit log. The HTTP layer calls it; handlers only use
 * http_caller(). */
#ifndef SERVER_ACCESS_ACCESS_H
#define SERVER_ACCESS_ACCESS_H

#include "access/link_text.h"
#include "access/token.h"
#include "catalog/catalog.h"
#include "http/http.h"

struct access;

struct access_options {
    const char *data;
    struct store *store;
    bool local;  /* the server is for this machine only (access/local.h): requests need no token until there is one */
    bool shared; /* other servers use this catalog, too */
    struct catalog *catalog;
    bool insecure_open;         /* everyone has the role admin, whatever the address */
    bool metrics_open;          /* /metrics needs no token */
    const char *const *trusted; /* addresses or networks of proxies that name the user, NULL-terminated; may be NULL */
    const char *user_header;    /* in this header */
    const char *role;           /* the role of these users; NULL: read */
};
struct access *access_open(const struct access_options *options, struct reel_error *err);
void access_close(struct access *a);
REEL_DEFINE_AUTO(struct access, access_close);

/* What the caller may not see is not found, so that its existence is not disclosed. A link does not reach a recording
 * in the trash. */
bool access_sees(const struct http_caller *caller, const struct catalog_recording *row);
/* The same of the contents of the recording `key` as it is now, which in the trash nobody reads; true also while the
 * catalog cannot be asked. */
bool access_still_sees(const struct http_request *r, const struct http_caller *caller, const char *key);

/* Creates an admin token for an archive that never had a token. */
bool access_first_token(const struct token_archive *archive, char text[TOKEN_TEXT], struct reel_error *err);

/* For struct http_options. */
extern const struct http_param access_params[];
enum http_verdict access_authorize(const struct http_request *r, enum http_role role, struct http_grant *out);
bool access_still_granted(const struct http_request *r);
bool access_is_proxy(const struct app *app, const char *address); /* of --trust-proxy */
void access_finished(const struct http_request *r);

/* links_mac() and links_mac_matches(). */
bool access_mac(struct access *a, const char *text, size_t size, char out[LINK_MAC_TEXT], struct reel_error *err);
bool access_mac_matches(struct access *a, const char *text, size_t size, const char *given);

/* The access key and the secret of a token for /s3 (access/s3_keys.h). */
struct s3_keys;
bool access_s3_keys(struct access *a, const struct token *token, struct s3_keys *out, struct reel_error *err);

/* Logs the browser in with the token of the request: sets a cookie that stands for it. REEL_CONFLICT: the caller has no
 * token. */
bool access_log_in(struct access *a, struct http_request *r, struct reel_error *err);
/* Ends the login and clears the cookie. Fine without one. */
bool access_log_out(struct access *a, struct http_request *r, struct reel_error *err);

/* `target` with a signature of the caller's that lasts until `expires_s` (since 1970); malloc'd. */
bool access_sign(struct access *a, const struct http_caller *caller, const char *target, int64_t expires_s, char **out,
                 struct reel_error *err);
/* The key of a link to a recording, by its id. */
bool access_sign_recording(struct access *a, const struct http_caller *caller, const char *recording, int64_t expires_s,
                           char out[LINK_KEY_TEXT], struct reel_error *err);
/* access_sign() for a link in a response, valid as long as such links are. `target` itself (a copy) when links need no
 * signature, or when the caller came by a signed link, whose rights must expire. NULL: no memory. */
char *access_link(const struct http_request *r, const char *target);

#endif
