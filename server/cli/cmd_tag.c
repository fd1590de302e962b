/* reel tag, reel rm: change recordings of a server. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/client.h"

struct changing {
    struct client client;
    const struct cli_command *command;
    const char *search; /* instead of names */
    struct option_list unset;
    bool quiet, dry_run, purge;
    uint32_t done, failed;
};
static void changing_done(struct changing *c) {
    client_done(&c->client);
    reel_auto_option_list_done(&c->unset);
}

static bool changing_open(struct changing *c, const struct cli_option *options, int argc, char **argv, int *first,
                          int *code) {
    struct reel_error err = {0};
    if (!cli_options(c->command, options, 0, argc, argv, first, code)) {
        return false;
    }
    if (!client_open(&c->client, argv, argc, first, &err)) {
        *code = err.code == REEL_ARGUMENT ? cli_misused(c->command, "%s", err.text) : cli_fail(c->command, NULL, &err);
        return false;
    }
    return true;
}

static json_t *change_find(struct changing *c, const char *recording, struct reel_error *err) {
    AUTO_MEM char *path = client_recording(&c->client, recording, "", err);
    return path ? client_get(&c->client, path, err) : NULL;
}

/* ---- tag */

static bool tag_print(struct changing *c, const char *recording, struct reel_error *err) {
    json_auto_t *row = change_find(c, recording, err);
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(row, "tags"), key, value) {
        printf("%s=%s\n", key, json_string_value(value));
    }
    return row;
}

/* {"ids" or "q", "set", "unset"} for POST /tags:batch; NULL with err. */
static json_t *tag_body(struct changing *c, const char *recording, char **pairs, int n, struct reel_error *err) {
    json_auto_t *row = recording ? change_find(c, recording, err) : NULL;
    if (recording && !row) {
        return NULL;
    }
    json_auto_t *set = json_object(), *unset = json_array();
    bool is_text = true;
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(pairs[i], '=');
        if (!equals || equals == pairs[i]) {
            reel_fail(err, REEL_ARGUMENT, "a tag is KEY=VALUE, not \"%.100s\"", pairs[i]);
            return NULL;
        }
        is_text =
            json_object_setn_new(set, pairs[i], (size_t)(equals - pairs[i]), json_string(equals + 1)) == 0 && is_text;
    }
    for (uint32_t i = 0; i < c->unset.count; i++) {
        is_text = json_array_append_new(unset, json_string(c->unset.items[i])) == 0 && is_text;
    }
    json_t *body = !is_text ? NULL
                   : recording
                       ? json_pack("{s:[O], s:O, s:O}", "ids", json_object_get(row, "id"), "set", set, "unset", unset)
                       : json_pack("{s:s, s:O, s:O}", "q", c->search, "set", set, "unset", unset);
    if (!body) {
        reel_fail(err, REEL_ARGUMENT, "a tag is text in UTF-8");
    }
    return body;
}

static bool tag_change(struct changing *c, const char *recording, char **pairs, int n, struct reel_error *err) {
    json_auto_t *body = tag_body(c, recording, pairs, n, err);
    if (!body || !client_send(&c->client, "POST", "tags:batch", body, err)) {
        return false;
    }
    if (c->quiet || recording) {
        return c->quiet || tag_print(c, recording, err);
    }
    json_auto_t *answer = json_loads(c->client.answer.body, 0, NULL);
    printf("%lld found, %lld changed\n", (long long)json_integer_value(json_object_get(answer, "matched")),
           (long long)json_integer_value(json_object_get(answer, "changed")));
    return true;
}

static int run_tag(int argc, char **argv) {
    AUTO_STRUCT(changing_done) struct changing c = {.command = &cli_tag};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "unset", .kind = CLI_LIST, .to = &c.unset, .value = "KEY", .help = "remove this tag; may be repeated"},
        {.name = "search",
         .kind = CLI_TEXT,
         .to = &c.search,
         .value = "SEARCH",
         .help = "instead of one recording all that this search finds, at most 10000"},
        {.name = "quiet", .kind = CLI_FLAG, .to = &c.quiet, .help = "print errors only"},
        CLIENT_TOKEN_OPTION(c.client),
        {0},
    };
    if (!changing_open(&c, options, argc, argv, &first, &code)) {
        return code;
    }
    const char *recording = c.search ? NULL : first < argc ? argv[first++] : NULL;
    int n = argc - first;
    bool changes = n > 0 || c.unset.count > 0;
    if (c.search ? !*c.search || !changes : !recording) {
        return cli_misused(&cli_tag, c.search ? "--search needs words, and tags" : "name a recording: COLLECTION/NAME");
    }
    bool good = changes ? tag_change(&c, recording, argv + first, n, &err) : tag_print(&c, recording, &err);
    return good && cli_flush(&err) ? CLI_DONE : cli_fail(&cli_tag, recording, &err);
}

/* ---- rm */

/* False: the rest would fail, too. */
static bool rm_one(struct changing *c, const char *recording, const char *shown) {
    struct reel_error err = {0};
    AUTO_MEM char *path = client_recording(&c->client, recording, c->purge ? "?purge=true" : "", &err);
    bool good = path;
    if (good && c->dry_run) {
        json_auto_t *row = change_find(c, recording, &err);
        good = row;
    } else if (good) {
        good = client_send(&c->client, "DELETE", path, NULL, &err);
    }
    c->done += good;
    if (!good) {
        cli_fail(&cli_rm, shown, &err);
        c->failed++;
    } else if (!c->quiet) {
        printf("%s: %s%s\n", shown, c->dry_run ? "would be " : "",
               c->purge ? "deleted permanently" : "moved to the trash");
    }
    return err.code != REEL_CANCELLED && err.code != REEL_NO_MEMORY;
}

static bool rm_found(void *context, const json_t *item, struct reel_error *err) {
    AUTO_MEM char *shown = NULL;
    const char *id = json_string_value(json_object_get(item, "id"));
    if (!id || asprintf(&shown, "%s/%s", json_string_value(json_object_get(item, "collection")),
                        json_string_value(json_object_get(item, "name"))) < 0) {
        return id ? reel_fail_memory(err) : reel_fail(err, REEL_DAMAGED, "the answer is no list of recordings");
    }
    return rm_one(context, id, shown) || reel_fail(err, REEL_CANCELLED, "interrupted");
}

static bool rm_search(struct changing *c, struct reel_error *err) {
    AUTO_MEM char *path = strdup("recordings?limit=200&sort=created");
    client_add_query(&c->client, &path);
    client_add(&c->client, &path, "q", c->search);
    return path ? client_list(&c->client, path, 0, rm_found, c, err) : reel_fail_memory(err);
}

static int run_rm(int argc, char **argv) {
    AUTO_STRUCT(changing_done) struct changing c = {.command = &cli_rm};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "search",
         .kind = CLI_TEXT,
         .to = &c.search,
         .value = "SEARCH",
         .help = "instead of named recordings all that this search finds"},
        {.name = "purge", .kind = CLI_FLAG, .to = &c.purge, .help = "delete permanently, which needs the role admin"},
        {.name = "dry-run", .kind = CLI_FLAG, .to = &c.dry_run, .help = "only print what would be deleted"},
        {.name = "quiet", .kind = CLI_FLAG, .to = &c.quiet, .help = "print errors only"},
        CLIENT_TOKEN_OPTION(c.client),
        {0},
    };
    if (!changing_open(&c, options, argc, argv, &first, &code)) {
        return code;
    }
    if (c.search ? !*c.search || first < argc : first == argc) {
        return cli_misused(&cli_rm, c.search ? "--search needs words, and goes without names"
                                             : "name recordings: COLLECTION/NAME");
    }
    bool good = !c.search || rm_search(&c, &err);
    for (int i = first; i < argc && good; i++) {
        good = rm_one(&c, argv[i], argv[i]);
    }
    if (err.code != REEL_OK) {
        cli_fail(&cli_rm, NULL, &err);
    }
    return good && c.failed == 0 && cli_flush(&err) ? CLI_DONE : CLI_FAILED;
}

const struct cli_command cli_tag = {
    .name = "tag",
    .arguments = "[URL] COLLECTION/NAME|ID [KEY=VALUE]… [OPTION]…",
    .summary = "set, remove and print the tags of a recording on a server",
    .details =
        "Prints all tags of the recording, after the changes if there are any. Without URL the server is that of "
        "the environment variable\n"
        "REEL_URL.",
    .run = run_tag,
};

const struct cli_command cli_rm = {
    .name = "rm",
    .arguments = "[URL] COLLECTION/NAME|ID… [OPTION]…",
    .summary = "move recordings of a server to the trash",
    .details = "A recording in the trash can be restored. Without URL the server is that of the environment variable "
               "REEL_URL.",
    .run = run_rm,
};
