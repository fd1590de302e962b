/* Tokens and the audit log as rows. What a token is and may do is decided in access/. */
#ifndef SERVER_CATALOG_ACCESS_H
#define SERVER_CATALOG_ACCESS_H

#include "catalog/catalog.h"

enum {
    TOKEN_HASH = 32,
    TOKEN_NAME_MAX = 128,
    TOKEN_COLLECTIONS_MAX = 64, /* globs of one token */
    TOKENS_MAX = 10000,         /* the oldest of those that are revoked make room */
    LOGINS_MAX = 100,           /* of one token; the oldest makes room */
    AUDIT_ROWS_MAX = 100000,    /* the newest are kept */
};

struct token {
    int64_t row; /* its number, never given out twice */
    uint8_t hash[TOKEN_HASH];
    char *name;
    int role;                                            /* enum http_role */
    char *collections;                                   /* a JSON array of globs; empty: all */
    int64_t created_ns, expires_ns, used_ns, revoked_ns; /* 0: never */
};
void token_done(struct token *t); /* empties; fine on a zeroed one */

/* Sets row and created_ns. REEL_CONFLICT: a token of that name is there; REEL_LIMIT: TOKENS_MAX. */
bool catalog_token_add(struct catalog *c, struct token *t, const uint8_t hash[TOKEN_HASH], struct reel_error *err);
/* REEL_NOT_FOUND; revoked and expired ones are found too. Sees at once what another process has done. */
bool catalog_token_by_hash(struct catalog *c, const uint8_t hash[TOKEN_HASH], struct token *out,
                           struct reel_error *err);
bool catalog_token_by_row(struct catalog *c, int64_t row, struct token *out, struct reel_error *err);
bool catalog_token_by_key(struct catalog *c, const char *key, struct token *out, struct reel_error *err); /* a name that
                                                                                                             is not
                                                                                                             revoked, or
                                                                                                             a number */
bool catalog_tokens_exist(struct catalog *c, bool *exist, struct reel_error *err); /* whatever their state */
bool catalog_token_used(struct catalog *c, int64_t row, int64_t now_ns, struct reel_error *err);
bool catalog_token_revoke(struct catalog *c, int64_t row, struct reel_error *err); /* REEL_NOT_FOUND: it is revoked
                                                                                      already */
/* At most `max` after the number `after`, in order. */
bool catalog_tokens(struct catalog *c, int64_t after, struct token *out, uint32_t max, uint32_t *n,
                    struct reel_error *err);

/* Browsers that are logged in with a token. `hash` is that of their cookie. */
bool catalog_login_add(struct catalog *c, const uint8_t hash[TOKEN_HASH], int64_t token, int64_t expires_ns,
                       struct reel_error *err);
bool catalog_login_remove(struct catalog *c, const uint8_t hash[TOKEN_HASH], struct reel_error *err); /* also if there
                                                                                                         is none */
/* REEL_NOT_FOUND: no such login. expires_ns is the token's or the login's, whichever is earlier. */
bool catalog_token_by_login(struct catalog *c, const uint8_t hash[TOKEN_HASH], struct token *out,
                            struct reel_error *err);

struct audit_row { /* texts belong to the struct where it is read, to the caller where it is written */
    int64_t row, time_ns;
    const char *caller, *how, *peer, *method, *path, *request;
    unsigned status;
    void *memory;
};
/* All in one transaction; the oldest above AUDIT_ROWS_MAX go. */
bool catalog_audit_add(struct catalog *c, const struct audit_row *rows, uint32_t n, struct reel_error *err);
struct audit_filter {                   /* "": any */
    const char *caller, *method, *path; /* path: a part of it */
    uint32_t status_min, status_max;
    int64_t start_ns, end_ns; /* [start, end) */
};
/* At most `max` of them, newest first, older than the row `before` (INT64_MAX: from the newest on). */
bool catalog_audit(struct catalog *c, const struct audit_filter *filter, int64_t before, struct audit_row *out,
                   uint32_t max, uint32_t *n, struct reel_error *err);
void audit_rows_done(struct audit_row *rows, uint32_t n);

#endif
