/* See token.h. The text of a token is returned once, to its creator, and stored nowhere. */
#include "access/token.h"

#include <jansson.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "json_whole.h"
#include "reel/time.h"
#include "store/tokens_record.h"
#include "syntax/base64.h"

#define PREFIX "reel_"
enum { PREFIX_SIZE = sizeof PREFIX - 1, SECRET_BYTES = 32, GLOB_MAX = 255 };

static const char *const role_names[] = {"none", "read", "upload", "edit", "admin"};

const char *token_role_name(int role) {
    return role >= ROLE_NONE && role <= ROLE_ADMIN ? role_names[role] : "none";
}

bool token_role_parse(const char *name, enum http_role *out) {
    for (int i = ROLE_READ; i <= ROLE_ADMIN; i++) {
        if (strcmp(role_names[i], name) == 0) {
            *out = (enum http_role)i;
            return true;
        }
    }
    return false;
}

bool token_well_formed(const char *text, size_t size) {
    return size == TOKEN_TEXT - 1 && memcmp(text, PREFIX, PREFIX_SIZE) == 0 &&
           base64url_only(text + PREFIX_SIZE, size - PREFIX_SIZE);
}

void token_hash(const char *text, uint8_t hash[TOKEN_HASH]) {
    digest_of(DIGEST_SHA256, bytes_of(text, TOKEN_TEXT - 1), hash);
}

/* ---- creating */

static bool token_is_plain(const char *text, size_t max) {
    size_t size = strnlen(text, max + 1);
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            return false;
        }
    }
    json_auto_t *string = json_string(text); /* NULL: invalid UTF-8 */
    return size >= 1 && size <= max && string;
}

/* Tokens can also be selected by number, so a name must not be a number. */
static bool check_name(const char *name, struct reel_error *err) {
    bool good = name && token_is_plain(name, TOKEN_NAME_MAX) && name[strspn(name, "0123456789")] != '\0' &&
                !strstr(name, PREFIX) && !strchr(name, '/');
    return good ||
           reel_fail(err, REEL_ARGUMENT, "a token needs a name of 1 to %d bytes that is not a number and has no \"/\"",
                     TOKEN_NAME_MAX);
}

static bool read_role(const char *text, int *role, struct reel_error *err) {
    enum http_role found;
    if (!text || !token_role_parse(text, &found)) {
        return reel_fail(err, REEL_ARGUMENT, "a token needs a role: read, upload, edit or admin");
    }
    *role = found;
    return true;
}

static bool read_expires(const char *text, int64_t now_ns, int64_t *out, struct reel_error *err) {
    int64_t ns;
    struct reel_time t;
    *out = 0;
    if (!text) {
        return true;
    }
    if (reel_duration_parse(text, &ns, NULL)) {
        *out = __builtin_add_overflow(now_ns, ns, out) ? INT64_MAX : *out;
        return true;
    }
    if (!reel_time_parse(text, 1, &t, NULL) || t.kind == REEL_TIME_FROM_START || t.kind == REEL_TIME_FROM_END) {
        return reel_fail(err, REEL_ARGUMENT,
                         "expires must be a duration such as 30d or a time such as 2030-01-01T00:00:00Z");
    }
    *out = reel_time_resolve(&t, 0, 0, now_ns);
    return *out > now_ns || reel_fail(err, REEL_ARGUMENT, "the expiry time has passed");
}

static bool write_collections(const struct token_options *options, char **out, struct reel_error *err) {
    json_auto_t *array = json_array();
    if (options->n_collections > TOKEN_COLLECTIONS_MAX) {
        return reel_fail(err, REEL_ARGUMENT,
                         "a token can be limited to at most %d collections; a glob can match several",
                         TOKEN_COLLECTIONS_MAX);
    }
    for (uint32_t i = 0; i < options->n_collections; i++) {
        if (!options->collections[i] || !token_is_plain(options->collections[i], GLOB_MAX)) {
            return reel_fail(err, REEL_ARGUMENT, "a collection glob has 1 to %d bytes", GLOB_MAX);
        }
        json_array_append_new(array, json_string(options->collections[i]));
    }
    *out = json_whole_text(array, JSON_COMPACT);
    return *out || reel_fail_memory(err);
}

bool token_generate(char text[TOKEN_TEXT], struct reel_error *err) {
    uint8_t secret[SECRET_BYTES];
    if (RAND_bytes(secret, sizeof secret) != 1) {
        return reel_fail(err, REEL_IO, "no random numbers available");
    }
    memcpy(text, PREFIX, PREFIX_SIZE);
    base64url_write(bytes_of(secret, sizeof secret), text + PREFIX_SIZE);
    OPENSSL_cleanse(secret, sizeof secret);
    return true;
}

bool tokens_state(const struct token_archive *archive, enum tokens_state *out, struct reel_error *err) {
    bool exist, recorded = false;
    if (!catalog_tokens_exist(archive->catalog, &exist, err) ||
        (!exist && !tokens_record_exists(archive->data, archive->store, &recorded, err))) {
        return false;
    }
    *out = exist ? TOKENS_EXIST : recorded ? TOKENS_LOST : TOKENS_NEVER;
    return true;
}

/* From the first token on every request needs one, so somebody must be able to create others. Tokens stay in the
 * catalog, also those that are revoked: once there is one, no other process makes another the first. */
static bool check_first(struct catalog *c, const struct token *t, struct reel_error *err) {
    bool exist;
    if (!catalog_tokens_exist(c, &exist, err)) {
        return false;
    }
    return exist || (t->role == ROLE_ADMIN && strcmp(t->collections, "[]") == 0) ||
           reel_fail(err, REEL_ARGUMENT,
                     "the first token must have the role admin, for all collections, because every request needs a "
                     "token from then on: create an admin token first (reel token create --role admin --name admin)");
}

bool token_create(const struct token_archive *archive, const struct token_options *options, char text[TOKEN_TEXT],
                  struct token *out, struct reel_error *err) {
    uint8_t hash[TOKEN_HASH];
    *out = (struct token){0};
    if (!check_name(options->name, err) || !read_role(options->role, &out->role, err) ||
        !read_expires(options->expires, reel_now_ns(), &out->expires_ns, err) ||
        !write_collections(options, &out->collections, err) || !check_first(archive->catalog, out, err) ||
        !token_generate(text, err) || !tokens_record_write(archive->data, archive->store, err)) {
        token_done(out);
        return false;
    }
    token_hash(text, hash);
    out->name = strdup(options->name);
    bool good = out->name ? catalog_token_add(archive->catalog, out, hash, err) : reel_fail_memory(err);
    if (!good) {
        OPENSSL_cleanse(text, TOKEN_TEXT);
        token_done(out);
    }
    return good;
}

/* ---- use */

enum token_state token_state(const struct token *t, int64_t now_ns) {
    return t->revoked_ns ? TOKEN_REVOKED : t->expires_ns && t->expires_ns <= now_ns ? TOKEN_EXPIRED : TOKEN_GOOD;
}

const char *token_state_name(enum token_state state) {
    static const char *const names[] = {
        [TOKEN_GOOD] = "good", [TOKEN_EXPIRED] = "expired", [TOKEN_REVOKED] = "revoked"};
    return names[state];
}

/* One allocation: the list, the name, the globs. An invalid list matches no collection. */
bool token_caller(const struct token *t, const char *how, struct http_caller *out, void **memory) {
    bool all = strcmp(t->collections, "[]") == 0; /* as most are: nothing is parsed at each request */
    json_auto_t *globs = all ? NULL : json_loads(t->collections, 0, NULL);
    all = all || (json_is_array(globs) && json_array_size(globs) == 0);
    size_t n = json_array_size(globs), size = (n + 1) * sizeof(char *) + strlen(t->name) + 1;
    for (size_t i = 0; i < n; i++) {
        size += json_string_length(json_array_get(globs, i)) + 1;
    }
    const char **list = calloc(1, size);
    if (!list) {
        return false;
    }
    char *at = (char *)(list + n + 1);
    *out = (struct http_caller){
        .name = at, .how = how, .role = (enum http_role)t->role, .collections = all ? NULL : list, .token = t->row};
    at = stpcpy(at, t->name) + 1;
    for (size_t i = 0; i < n; i++) {
        const char *glob = json_string_value(json_array_get(globs, i));
        list[i] = at;
        at = stpcpy(at, glob ? glob : "") + 1;
    }
    *memory = list;
    return true;
}
