/* reel ls, reel search: collections and recordings of a server. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/size_text.h"
#include "cli/client.h"
#include "json_whole.h"

struct listing {
    struct client client;
    const struct cli_command *command;
    bool json, quiet;
    uint64_t limit;
};
static void listing_done(struct listing *l) {
    client_done(&l->client);
}

static uint64_t list_number(const json_t *item, const char *name) {
    const json_t *value = json_object_get(item, name);
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : (uint64_t)json_integer_value(value);
}

static const char *list_text(const json_t *item, const char *name) {
    const char *text = json_string_value(json_object_get(item, name));
    return text ? text : "";
}

/* A terminal shows a name as it is, without its control characters. */
static void list_print_name(const char *text) {
    for (const char *c = text; *c; c++) {
        putchar((unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
    }
}

static bool list_print_json(const json_t *item, struct reel_error *err) {
    AUTO_MEM char *text = json_whole_text(item, JSON_COMPACT);
    return text ? puts(text) >= 0 : reel_fail_memory(err);
}

static bool list_collection(void *context, const json_t *item, struct reel_error *err) {
    const struct listing *l = context;
    char size[16];
    if (l->json) {
        return list_print_json(item, err);
    }
    if (!l->quiet) {
        printf("%9" PRIu64 "  %9s  ", list_number(item, "recordings"), size_text(list_number(item, "size"), size));
    }
    list_print_name(list_text(item, "name"));
    putchar('\n');
    return true;
}

/* "2024-05-01 10:00:00", or what there is instead of a date; "-" without messages. */
static const char *list_start(const json_t *item, char out[REEL_TIME_TEXT]) {
    const char *start = list_text(item, "start"), *t = strchr(start, 'T');
    snprintf(out, REEL_TIME_TEXT, "%.19s", *start ? start : "-");
    if (t && t - start == 10) {
        out[10] = ' ';
    }
    return out;
}

static const char *list_duration(const json_t *item, char out[REEL_TIME_TEXT]) {
    uint64_t tenths = list_number(item, "duration_ns") / 100000000, s = tenths / 10;
    if (s < 60) {
        snprintf(out, REEL_TIME_TEXT, "%" PRIu64 ".%" PRIu64 "s", s, tenths % 10);
    } else if (s < 3600) {
        snprintf(out, REEL_TIME_TEXT, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
    } else {
        snprintf(out, REEL_TIME_TEXT, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
    }
    return out;
}

static bool list_recording(void *context, const json_t *item, struct reel_error *err) {
    const struct listing *l = context;
    char size[16], start[REEL_TIME_TEXT], duration[REEL_TIME_TEXT];
    if (l->json) {
        return list_print_json(item, err);
    }
    if (!l->quiet) {
        printf("%-19s  %8s  %9s  %-9s  ", list_start(item, start), list_duration(item, duration),
               size_text(list_number(item, "size"), size), list_text(item, "state"));
    }
    list_print_name(list_text(item, "collection"));
    putchar('/');
    list_print_name(list_text(item, "name"));
    putchar('\n');
    return true;
}

static bool list_recordings(struct listing *l, const char *collection, const char *q, struct reel_error *err) {
    AUTO_MEM char *path = strdup(collection ? "recordings?limit=200&sort=name" : "recordings?limit=200");
    client_add_query(&l->client, &path);
    if (collection) {
        client_add(&l->client, &path, "collection", collection);
    }
    if (q) {
        client_add(&l->client, &path, "q", q);
    }
    return path ? client_list(&l->client, path, l->limit, list_recording, l, err) : reel_fail_memory(err);
}

static bool list_open(struct listing *l, int argc, char **argv, int *first, int *code) {
    const struct cli_option options[] = {
        {.name = "json",
         .kind = CLI_FLAG,
         .to = &l->json,
         .help = "print JSON as the API returns it, one line for each"},
        {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .to = &l->quiet, .help = "print names only"},
        {.name = "limit", .kind = CLI_UINT, .to = &l->limit, .value = "N", .least = 1, .help = "the first N only"},
        CLIENT_TOKEN_OPTION(l->client),
        {0},
    };
    struct reel_error err = {0};
    if (!cli_options(l->command, options, 0, argc, argv, first, code)) {
        return false;
    }
    if (!client_open(&l->client, argv, argc, first, &err)) {
        *code = err.code == REEL_ARGUMENT ? cli_misused(l->command, "%s", err.text) : cli_fail(l->command, NULL, &err);
        return false;
    }
    return true;
}

static int list_end(const struct listing *l, bool good, struct reel_error *err) {
    return good && cli_flush(err) ? CLI_DONE : cli_fail(l->command, NULL, err);
}

static int run_ls(int argc, char **argv) {
    AUTO_STRUCT(listing_done) struct listing l = {.command = &cli_ls};
    struct reel_error err = {0};
    int first, code;
    if (!list_open(&l, argc, argv, &first, &code)) {
        return code;
    }
    if (argc - first > 1) {
        return cli_misused(&cli_ls, "expected one collection");
    }
    bool good = first < argc ? list_recordings(&l, argv[first], NULL, &err)
                             : client_list(&l.client, "collections?limit=200", l.limit, list_collection, &l, &err);
    return list_end(&l, good, &err);
}

/* The words as one search. */
static char *joined(char **words, int n) {
    char *text = strdup(n > 0 ? words[0] : "");
    for (int i = 1; i < n && text; i++) {
        AUTO_MEM char *before = text;
        text = asprintf(&text, "%s %s", before, words[i]) < 0 ? NULL : text;
    }
    return text;
}

static int run_search(int argc, char **argv) {
    AUTO_STRUCT(listing_done) struct listing l = {.command = &cli_search};
    struct reel_error err = {0};
    int first, code;
    if (!list_open(&l, argc, argv, &first, &code)) {
        return code;
    }
    AUTO_MEM char *q = joined(argv + first, argc - first);
    bool good = q ? list_recordings(&l, NULL, *q ? q : NULL, &err) : reel_fail_memory(&err);
    return list_end(&l, good, &err);
}

const struct cli_command cli_ls = {
    .name = "ls",
    .arguments = "[URL] [COLLECTION] [OPTION]…",
    .summary = "list the collections of a server, or the recordings of one",
    .details = "Without URL the server is that of the environment variable REEL_URL. Columns: recordings and size of a "
               "collection;\n"
               "start, duration, size and state of a recording.",
    .run = run_ls,
};

const struct cli_command cli_search = {
    .name = "search",
    .arguments = "[URL[?PARAMETERS]] [WORD]… [OPTION]…",
    .summary = "list the recordings of a server that a search finds, the newest first",
    .details =
        "The words are those of the search box: robot:r2 type:sensor_msgs/* duration:>1m -broken. Write -- before "
        "one that begins with -.\n"
        "PARAMETERS are those of the list of recordings: http://archive:8040?state=trashed. Without URL the "
        "server is that of the environment\n"
        "variable REEL_URL.",
    .run = run_search,
};
