/* reel token: tokens of an archive, made and revoked in its folder. A server that runs on the folder goes by it from the next request on.
 */
#include <limits.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/stat.h>

#include "access/links.h"
#include "access/token.h"
#include "catalog/location.h"
#include "cli/cli.h"
#include "reel/cleanup.h"
#include "wire/cleanup.h"

struct upload_options {
    const char *data, *role, *name, *expires;
    struct cli_list collections;
    bool forget;
};
static inline void reel_auto_upload_options_done(struct upload_options *w) {
    reel_auto_cli_list_done(&w->collections);
}
REEL_DEFINE_AUTO(struct catalog, catalog_close);

static struct catalog *open_archive(const char *data, bool make, struct reel_error *err) {
    char path[PATH_MAX];
    struct stat st;
    if (!catalog_location(data, path, err)) {
        return NULL;
    }
    if (!make && stat(path, &st) != 0) {
        reel_fail_errno(err, "there is no archive in %s", data);
        return NULL;
    }
    mkdir(data, 0755); /* a token may be made before the first start; what else is wrong with the folder, the catalog says */
    return catalog_open(path, err);
}

static bool create(const struct upload_options *w, struct reel_error *err) {
    char text[TOKEN_TEXT];
    AUTO(token_done) struct token token = {0};
    const struct token_options options = {.name = w->name,
                                          .role = w->role,
                                          .expires = w->expires,
                                          .collections = w->collections.items,
                                          .n_collections = w->collections.count};
    AUTO(catalog_close) struct catalog *c = open_archive(w->data, true, err);
    if (!c || !token_make(c, &options, text, &token, err)) {
        return false;
    }
    puts(text);
    OPENSSL_cleanse(text, sizeof text);
    return cli_flush(err);
}

static void print_time(int64_t ns, const char *none) {
    char text[REEL_TIME_TEXT];
    if (ns) {
        reel_time_rfc3339(ns, text);
        text[strlen("2010-05-10T14:29:17")] = '\0';
    }
    printf("  %-20s", ns ? text : none);
}

static bool list(const struct upload_options *w, struct reel_error *err) {
    enum { PAGE = 64 };
    struct token page[PAGE];
    uint32_t n;
    int64_t after = 0;
    AUTO(catalog_close) struct catalog *c = open_archive(w->data, false, err);
    if (!c) {
        return false;
    }
    printf("%4s  %-20s  %-6s  %-7s  %-20s  %-20s  %s\n", "id", "name", "role", "state", "expires", "last used", "collections");
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

static bool revoke_token(const struct upload_options *w, const char *key, struct reel_error *err) {
    AUTO(token_done) struct token token = {0};
    AUTO(catalog_close) struct catalog *c = open_archive(w->data, false, err);
    return c && catalog_token_by_key(c, key, &token, err) && catalog_token_revoke(c, token.row, err);
}

static int run(int argc, char **argv) {
    AUTO(upload_options_done) struct upload_options w = {.data = "./data"};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &w.data, .value = "DIR", .help = "folder of the archive (./data)"},
        {.name = "role", .kind = CLI_TEXT, .to = &w.role, .value = "ROLE", .help = "create: read, upload, edit or admin"},
        {.name = "name", .kind = CLI_TEXT, .to = &w.name, .value = "NAME", .help = "create: what logs call it"},
        {.name = "collection",
         .kind = CLI_LIST,
         .to = &w.collections,
         .value = "GLOB",
         .help = "create: only this collection; may be repeated"},
        {.name = "expires",
         .kind = CLI_TEXT,
         .to = &w.expires,
         .value = "WHEN",
         .help = "create: after 30d, or at 2030-01-01T00:00:00Z (never)"},
        {.name = "forget", .kind = CLI_FLAG, .to = &w.forget, .help = "rotate: links that are signed already end at once"},
        {0},
    };
    if (!cli_options(&cli_token, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    const char *what = argv[first];
    bool wants_key = strcmp(what, "revoke") == 0, good;
    if (argc - first != 1 + wants_key) {
        return cli_misused(&cli_token, "%s", wants_key ? "revoke takes the token's name or number" : "one thing at a time");
    }
    if (strcmp(what, "create") == 0) {
        good = create(&w, &err);
    } else if (strcmp(what, "list") == 0) {
        good = list(&w, &err);
    } else if (wants_key) {
        good = revoke_token(&w, argv[first + 1], &err);
    } else if (strcmp(what, "rotate") == 0) {
        good = links_rotate(w.data, w.forget, &err);
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
    .summary = "who may do what on a server",
    .details =
        "create prints the token, which is kept nowhere else. Roles: read; upload also adds recordings; edit also changes and trashes\n"
        "them; admin also purges, and manages tokens and the server. rotate makes a new key that signs links; those signed with the\n"
        "one before stay good. All of it counts at once, also for a server that runs.",
    .run = run,
};
