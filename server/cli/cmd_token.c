/* reel token: creates, lists and revokes tokens of an archive. A running server sees the change with the next request.
 */
#include <limits.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/stat.h>

#include "access/links.h"
#include "access/s3_keys.h"
#include "access/token.h"
#include "base/cleanup.h"
#include "catalog/attach.h"
#include "catalog/db.h"
#include "catalog/location.h"
#include "cli/cli.h"
#include "reel/cleanup.h"
#include "store/inspect.h"
#include "store/tokens_record.h"

struct arguments {
    const char *data, *role, *name, *expires;
    struct option_list collections;
    bool forget, s3;
};
static inline void reel_auto_arguments_done(struct arguments *w) {
    reel_auto_option_list_done(&w->collections);
}
REEL_DEFINE_AUTO(struct catalog, catalog_close);
REEL_DEFINE_AUTO(struct store, store_close);

static struct catalog *open_archive(const char *data, bool create, struct reel_error *err) {
    char path[PATH_MAX];
    struct stat st;
    if (!catalog_location(data, path, err)) {
        return NULL;
    }
    if (!create && !db_is_server(path) && stat(path, &st) != 0) {
        reel_fail_errno(err, "no archive in %s", data);
        return NULL;
    }
    mkdir(data, 0755); /* tokens may be created before the first start; catalog_open() reports other problems of the
                          folder */
    return catalog_open(path, err);
}

/* With a bucket, the record that the archive has tokens is in it before the first one is given out. */
static bool open_bucket(const char *data, struct catalog *c, struct store **store, struct reel_error *err) {
    bool recorded = false, alone;
    struct reel_error why = {0};
    if (!tokens_record_exists(data, NULL, &recorded, err) || recorded) {
        return recorded;
    }
    *store = store_open_readonly(data, &alone, &why);
    return *store ? catalog_attach(c, *store, err) : why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
}

/* The token as S3's two texts. */
static bool print_s3(const struct arguments *w, struct catalog *c, const struct token *token, struct reel_error *err) {
    char path[PATH_MAX];
    struct s3_keys keys = {0};
    AUTO(links_close) struct links *links = links_open(w->data, err);
    bool good = links && catalog_location(w->data, path, err) && (!db_is_server(path) || links_share(links, c, err)) &&
                s3_keys_of(links, token, &keys, err);
    if (good) {
        printf("access key: %s\nsecret key: %s\n", keys.access, keys.secret);
    }
    OPENSSL_cleanse(&keys, sizeof keys);
    return good;
}

static bool cmd_token_create(const struct arguments *w, struct reel_error *err) {
    char text[TOKEN_TEXT];
    AUTO_STRUCT(token_done) struct token token = {0};
    const struct token_options options = {.name = w->name,
                                          .role = w->role,
                                          .expires = w->expires,
                                          .collections = w->collections.items,
                                          .n_collections = w->collections.count};
    AUTO(catalog_close) struct catalog *c = open_archive(w->data, true, err);
    AUTO(store_close) struct store *store = NULL;
    if (!c || !open_bucket(w->data, c, &store, err) ||
        !token_create(&(struct token_archive){.data = w->data, .store = store, .catalog = c}, &options, text, &token,
                      err)) {
        return false;
    }
    bool good = !w->s3 || print_s3(w, c, &token, err);
    if (good && !w->s3) {
        puts(text);
    }
    OPENSSL_cleanse(text, sizeof text);
    return good && cli_flush(err);
}

static void print_time(int64_t ns, const char *none) {
    char text[REEL_TIME_TEXT];
    if (ns) {
        reel_time_rfc3339(ns, text);
        text[strlen("2010-05-10T14:29:17")] = '\0';
    }
    printf("  %-20s", ns ? text : none);
}

static bool list(const struct arguments *w, struct reel_error *err) {
    enum { PAGE = 64 };
    struct token page[PAGE];
    uint32_t n;
    int64_t after = 0;
    AUTO(catalog_close) struct catalog *c = open_archive(w->data, false, err);
    if (!c) {
        return false;
    }
    printf("%4s  %-20s  %-6s  %-7s  %-20s  %-20s  %s\n", "id", "name", "role", "state", "expires", "last used",
           "collections");
    do {
        if (!catalog_tokens(c, after, page, PAGE, &n, err)) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            struct token *t = &page[i];
            printf("%4lld  %-20s  %-6s  %-7s", (long long)t->row, t->name, token_role_name(t->role),
                   token_state_name(token_state(t, reel_now_ns())));
            print_time(t->expires_ns, "never");
            print_time(t->used_ns, "never");
            printf("  %s\n", strcmp(t->collections, "[]") == 0 ? "all" : t->collections);
            after = t->row;
            token_done(t);
        }
    } while (n == PAGE);
    return cli_flush(err);
}

static bool revoke_token(const struct arguments *w, const char *key, struct reel_error *err) {
    AUTO_STRUCT(token_done) struct token token = {0};
    AUTO(catalog_close) struct catalog *c = open_archive(w->data, false, err);
    return c && catalog_token_by_key(c, key, &token, err) && catalog_token_revoke(c, token.row, err);
}

/* Where several servers share the catalog, they take the keys from there. */
static bool publish(const char *data, struct reel_error *err) {
    char path[PATH_MAX];
    if (!catalog_location(data, path, err)) {
        return false;
    }
    if (!db_is_server(path)) {
        return true;
    }
    struct catalog *c = catalog_open(path, err);
    bool good = c && links_publish(data, c, err);
    catalog_close(c);
    return good;
}

static int run_token(int argc, char **argv) {
    AUTO(arguments_done) struct arguments w = {0};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "data",
         .kind = CLI_TEXT,
         .to = &w.data,
         .value = "DIR",
         .initial = "./data",
         .help = "archive folder"},
        {.name = "role",
         .kind = CLI_TEXT,
         .to = &w.role,
         .value = "ROLE",
         .help = "create: read, upload, edit or admin"},
        {.name = "name", .kind = CLI_TEXT, .to = &w.name, .value = "NAME", .help = "create: name, for logs"},
        {.name = "collection",
         .kind = CLI_LIST,
         .to = &w.collections,
         .value = "GLOB",
         .help = "create: only for collections that match; may be repeated"},
        {.name = "expires",
         .kind = CLI_TEXT,
         .to = &w.expires,
         .value = "WHEN",
         .help = "create: expiry, as 30d or 2030-01-01T00:00:00Z (default: never)"},
        {.name = "s3",
         .kind = CLI_FLAG,
         .to = &w.s3,
         .help = "create: print the access key and secret key for /s3 instead"},
        {.name = "forget",
         .kind = CLI_FLAG,
         .to = &w.forget,
         .help = "rotate: existing signed links stop working at once"},
        {0},
    };
    if (!cli_options(&cli_token, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    const char *what = argv[first];
    bool revoke = strcmp(what, "revoke") == 0, good;
    if (argc - first != 1 + revoke) {
        return cli_misused(&cli_token, "%s",
                           revoke ? "revoke needs the token's name or number" : "unexpected argument");
    }
    if (strcmp(what, "create") == 0) {
        good = cmd_token_create(&w, &err);
    } else if (strcmp(what, "list") == 0) {
        good = list(&w, &err);
    } else if (revoke) {
        good = revoke_token(&w, argv[first + 1], &err);
    } else if (strcmp(what, "rotate") == 0) {
        good = links_rotate(w.data, w.forget, &err) && publish(w.data, &err);
    } else {
        return cli_misused(&cli_token, "\"%s\" is not create, list, revoke or rotate", what);
    }
    if (!good) {
        bool misused = strcmp(what, "create") == 0 && err.code == REEL_ARGUMENT;
        return misused ? cli_misused(&cli_token, "%s", err.text) : cli_fail(&cli_token, NULL, &err);
    }
    return CLI_DONE;
}

const struct cli_command cli_token = {
    .name = "token",
    .arguments = "create | list | revoke NAME|ID | rotate [OPTION]…",
    .summary = "create, list and revoke access tokens",
    .details = "create prints the token, which is stored nowhere. Roles: read; upload: also add recordings; edit: also "
               "change them and move them "
               "to\n"
               "the trash; admin: also delete permanently, and manage tokens and the server. rotate creates a new key "
               "for signed links and for\n"
               "secret keys of S3; those of the previous key stay valid. Changes take effect at once, also for a "
               "running server.",
    .run = run_token,
};
