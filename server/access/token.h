/* Tokens: 256 random bits as "reel_" and 43 characters, shown once; only the SHA-256 is stored. A token has a role,
 * limited to its collections, until it expires or is revoked. */
#ifndef SERVER_ACCESS_TOKEN_H
#define SERVER_ACCESS_TOKEN_H

#include "catalog/access.h"
#include "http/http.h"

struct store;

enum { TOKEN_TEXT = 49 }; /* with its NUL */

const char *token_role_name(int role); /* enum http_role: "none", "read" … */
bool token_role_parse(const char *name, enum http_role *out);

bool token_well_formed(const char *text, size_t size);
void token_hash(const char *text, uint8_t hash[TOKEN_HASH]); /* `text` is well formed */

bool token_generate(char text[TOKEN_TEXT], struct reel_error *err); /* a random text of a token's form */

struct token_options {
    const char *name;
    const char *role;
    const char *const *collections; /* globs; NULL or none: all */
    uint32_t n_collections;
    const char *expires; /* "30d", or a time; NULL: never */
};
struct token_archive {
    const char *data;
    struct store *store; /* with a bucket the record of tokens is also there; NULL: no store, or it is recorded */
    struct catalog *catalog;
};
/* Creates and stores a token; `text` is the only copy of the secret. The first one must be of an admin of all
 * collections, and is recorded beside the data before (store/tokens_record.h). REEL_ARGUMENT, REEL_CONFLICT,
 * REEL_LIMIT. */
bool token_create(const struct token_archive *archive, const struct token_options *options, char text[TOKEN_TEXT],
                  struct token *out, struct reel_error *err);

/* NEVER: the archive has had no token. LOST: it has had some, and its catalog has none. */
enum tokens_state { TOKENS_NEVER, TOKENS_EXIST, TOKENS_LOST };
bool tokens_state(const struct token_archive *archive, enum tokens_state *out, struct reel_error *err);

enum token_state { TOKEN_GOOD, TOKEN_EXPIRED, TOKEN_REVOKED };
enum token_state token_state(const struct token *t, int64_t now_ns);
const char *token_state_name(enum token_state state);

/* The caller that the token identifies. `memory` (malloc'd) holds the texts. False: out of memory. */
bool token_caller(const struct token *t, const char *how, struct http_caller *out, void **memory);

#endif
