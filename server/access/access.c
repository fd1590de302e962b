/* See access.h. Unauthenticated callers get 401 without details; for authenticated ones the 403 names what is missing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access_internal.h"
#include "access/audit.h"
#include "access/limiter.h"
#include "access/local.h"
#include "access/s3_keys.h"
#include "app.h"
#include "base/cleanup.h"
#include "reel/time.h"
#include "store/tokens_record.h"

enum {
    FAILURES_AT_ONCE = 10, /* failed log-ins of one address */
    FAILURES_EVERY_MS = 6000,
    DENIALS_AT_ONCE = 60, /* denied requests of one address in the audit log; a limit, so that they cannot displace
                             older rows */
    DENIALS_EVERY_MS = 1000,
    OPENINGS_AT_ONCE = 60, /* recordings opened by links; the same, as who has a link may be anybody */
    OPENINGS_EVERY_MS = 1000,
    PATH_MAX_KEPT = 512,
    /* validity of links in responses; it ends on a full hour, so that links stay the same for a while */
    LINK_HOURS = 12,
};
const struct http_param access_params[] = {
    {.name = "sig", .type = HTTP_TEXT, .help = "signature of a signed link (POST /links)"},
    {.name = "exp", .type = HTTP_TEXT, .help = "expiry of a signed link"},
    {.name = "link", .type = HTTP_TEXT, .help = "key of a signed link to a recording (POST /recordings/{id}/links)"},
    {0},
};

/* ---- open and close */

static bool access_read_options(struct access *a, struct reel_error *err) {
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

/* An archive of an earlier version has no record of its tokens yet, and one whose store is another one now needs it
 * there. */
static void restore_record(const struct access_options *o) {
    struct reel_error err = {0};
    if (!tokens_record_restore(o->data, o->store, &err)) {
        fprintf(stderr, "reel: warning: that the archive has tokens cannot be recorded beside its data: %s\n",
                err.text);
    }
}

static bool read_state(struct access *a, struct reel_error *err) {
    const struct access_options *o = &a->options;
    const struct token_archive archive = {.data = o->data, .store = o->store, .catalog = o->catalog};
    enum tokens_state state;
    if (!tokens_state(&archive, &state, err)) {
        return false;
    }
    if (state != TOKENS_NEVER) {
        restore_record(o);
    }
    atomic_store(&a->closed, state != TOKENS_NEVER || o->user_header || !o->local);
    atomic_store(&a->lost, state == TOKENS_LOST);
    return true;
}

struct access *access_open(const struct access_options *options, struct reel_error *err) {
    AUTO(access_close) struct access *a = calloc(1, sizeof *a);
    if (!a) {
        reel_fail_memory(err);
        return NULL;
    }
    a->options = *options;
    a->catalog = options->catalog;
    if (!access_read_options(a, err) || !(a->links = links_open(options->data, err)) ||
        (options->shared && !links_share(a->links, a->catalog, err)) || !(a->audit = audit_open(a->catalog, err)) ||
        !(a->failures = limiter_new(FAILURES_AT_ONCE, FAILURES_EVERY_MS, err)) ||
        !(a->denials = limiter_new(DENIALS_AT_ONCE, DENIALS_EVERY_MS, err)) ||
        !(a->openings = limiter_new(OPENINGS_AT_ONCE, OPENINGS_EVERY_MS, err)) || !read_state(a, err)) {
        return NULL;
    }
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

bool access_first_token(const struct token_archive *archive, char text[TOKEN_TEXT], struct reel_error *err) {
    struct token token;
    bool good = token_create(archive, &(struct token_options){.name = "first", .role = "admin"}, text, &token, err);
    token_done(&token);
    return good;
}

bool access_is_open(struct access *a, const struct http_request *r) {
    return a->options.insecure_open || (!atomic_load(&a->closed) && local_is_request(r));
}

bool access_is_proxy(const struct app *app, const char *text) {
    struct address address;
    return app->access && address_parse(text, &address) &&
           network_holds(app->access->trusted, app->access->n_trusted, &address);
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
        return access_refuse(out, HTTP_FORBIDDEN, lacks[role]);
    }
    if (role == ROLE_ADMIN && caller->collections) {
        return access_refuse(out, HTTP_FORBIDDEN, "This requires a token that is not limited to collections.");
    }
    return HTTP_GRANTED;
}

enum http_verdict access_authorize(const struct http_request *r, enum http_role role, struct http_grant *out) {
    struct access *a = http_app(r)->access;
    bool open = role == ROLE_NONE || (a->options.metrics_open && strcmp(http_path(r), "/metrics") == 0);
    if (open) { /* without the catalog: health checks must work when it is unavailable */
        out->caller = access_is_open(a, r)
                          ? (struct http_caller){.name = "anonymous", .how = "open", .role = ROLE_ADMIN}
                          : (struct http_caller){.name = "", .how = "", .role = ROLE_NONE};
        return HTTP_GRANTED;
    }
    enum http_verdict verdict = access_identify(a, r, out);
    return verdict == HTTP_GRANTED ? check_role(&out->caller, role, out) : verdict;
}

const char *access_recording(const struct http_request *r) {
    static const char base[] = "/api/v1/recordings/", viewer[] = "/ws/recordings/";
    const char *path = http_path(r);
    bool has = strncmp(path, base, sizeof base - 1) == 0 || strncmp(path, viewer, sizeof viewer - 1) == 0;
    return has ? http_segment(r, "id") : NULL;
}

bool access_sees(const struct http_caller *caller, const struct catalog_recording *row) {
    bool linked = !caller->recording[0] || (strcmp(caller->recording, row->id) == 0 && row->state != STATE_TRASHED);
    return linked && http_caller_sees(caller, row->collection);
}

bool access_still_sees(const struct http_request *r, const struct http_caller *caller, const char *key) {
    struct catalog_recording row;
    struct reel_error err = {0};
    if (!catalog_get(http_app(r)->catalog, key, &row, &err)) {
        return err.code != REEL_NOT_FOUND;
    }
    bool sees = row.state != STATE_TRASHED && access_sees(caller, &row);
    catalog_recording_done(&row);
    return sees;
}

/* A recording may have left the collections of its caller, or the catalog: that of the path, or those of a merge. */
static bool still_sees(const struct http_request *r, const struct http_caller *caller) {
    enum { MERGED_MAX = 64 };
    static const char merge[] = "/api/v1/merge/";
    const char *own = access_recording(r), *keys[MERGED_MAX] = {own};
    bool merges = strncmp(http_path(r), merge, sizeof merge - 1) == 0, sees = true;
    size_t n = merges ? http_params(r, "recording", keys, MERGED_MAX) : own != NULL;
    for (size_t i = 0; i < n && i < MERGED_MAX && sees; i++) {
        sees = access_still_sees(r, caller, keys[i]);
    }
    return sees;
}

bool access_still_granted(const struct http_request *r) {
    struct http_grant grant = {.again = true};
    enum http_verdict verdict = access_authorize(r, http_role_needed(r), &grant);
    bool granted = verdict == HTTP_GRANTED ? still_sees(r, &grant.caller) : verdict == HTTP_NOT_NOW;
    free(grant.memory);
    return granted;
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
    int64_t hour = reel_now_ns() / ACCESS_SECOND_NS / 3600;
    return access_sign(a, caller, target, (hour + LINK_HOURS + 1) * 3600, &out, &err) ? out : strdup(target);
}

bool access_s3_keys(struct access *a, const struct token *token, struct s3_keys *out, struct reel_error *err) {
    return s3_keys_of(a->links, token, out, err);
}

/* ---- requests between servers */

bool access_mac(struct access *a, const char *text, size_t size, char out[LINK_MAC_TEXT], struct reel_error *err) {
    return links_mac(a->links, text, size, out, err);
}

bool access_mac_matches(struct access *a, const char *text, size_t size, const char *given) {
    return links_mac_matches(a->links, text, size, given);
}
