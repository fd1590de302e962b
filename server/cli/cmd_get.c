/* reel get: downloads the original files of all recordings that a search of a server finds. Run again, it continues: a
 * file that is there with the right digest is skipped, and what was received of one is kept as NAME.part. */
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/download.h"
#include "recordings/names.h"

struct get {
    struct download d;
    const char *query; /* "q=robot:r2"; "" all */
    char *cursor;      /* of the next page; NULL: none */
};

static void get_done(struct get *g) {
    download_done(&g->d);
    free(g->cursor);
}

/* ---- recordings */

/* DEST/COLLECTION/NAME, or in a folder of that name for several parts. NULL: the names lead elsewhere, or no memory. */
static char *get_path_of(const struct get *g, const char *collection, const char *name, const char *part, bool several,
                         struct reel_error *err) {
    char *path = NULL;
    if (!names_check(collection, name, err) || strcmp(collection, ".") == 0 || strcmp(collection, "..") == 0 ||
        (several && !names_check(collection, cli_file_name(part), err))) {
        reel_fail(err, REEL_ARGUMENT, "a name that cannot be a path: %.80s/%.200s", collection, name);
        return NULL;
    }
    if (asprintf(&path, "%s/%s/%s%s%s", g->d.folder, collection, name, several ? "/" : "",
                 several ? cli_file_name(part) : "") < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return path;
}

static bool get_part(struct get *g, const json_t *recording, const json_t *part, bool several, struct reel_error *err) {
    const char *id = json_string_value(json_object_get(recording, "id")),
               *collection = json_string_value(json_object_get(recording, "collection")),
               *name = json_string_value(json_object_get(recording, "name")),
               *file = json_string_value(json_object_get(part, "name")),
               *sha256 = json_string_value(json_object_get(part, "sha256"));
    json_int_t size = json_integer_value(json_object_get(part, "size"));
    if (!id || !collection || !name || !file || !sha256 || size < 0) {
        return reel_fail(err, REEL_DAMAGED, "it has no stored file");
    }
    AUTO_MEM char *path = get_path_of(g, collection, name, file, several, err);
    AUTO_MEM char *escaped = push_http_escape(g->d.http, file);
    AUTO_MEM char *url = NULL;
    if (!path || !escaped || asprintf(&url, "%s/recordings/%s/file/%s", g->d.api, id, escaped) < 0) {
        return path ? reel_fail_memory(err) : false;
    }
    return download_file(&g->d, path, url, sha256, (uint64_t)size, err);
}

/* False: nothing else can be received either. */
static bool get_recording(struct get *g, const json_t *recording) {
    const json_t *parts = json_object_get(recording, "parts");
    size_t i;
    json_t *part;
    json_array_foreach((json_t *)parts, i, part) {
        struct reel_error err = {0};
        if (!get_part(g, recording, part, json_array_size(parts) > 1, &err)) {
            const char *name = json_string_value(json_object_get(recording, "name"));
            cli_fail(&cli_get, name, &err);
            g->d.failed++;
            return err.code != REEL_CANCELLED && err.code != REEL_NO_SPACE;
        }
    }
    return true;
}

/* The next page of the list; a new reference, NULL with err. */
static json_t *next_page(struct get *g, struct reel_error *err) {
    AUTO_MEM char *url = NULL;
    if (asprintf(&url, "%s/recordings?sort=created&limit=200%s%s%s%s", g->d.api, g->query[0] ? "&" : "", g->query,
                 g->cursor ? "&cursor=" : "", g->cursor ? g->cursor : "") < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    json_t *body = download_json(&g->d, url, NULL, err);
    if (body && !json_is_array(json_object_get(body, "items"))) {
        reel_fail(err, REEL_DAMAGED, "the answer is no list of recordings");
        json_decref(body);
        return NULL;
    }
    return body;
}

static bool get_all(struct get *g, struct reel_error *err) {
    do {
        json_auto_t *body = next_page(g, err);
        const char *next = json_string_value(json_object_get(body, "next"));
        size_t i;
        json_t *recording;
        free(TAKE(g->cursor));
        if (!body || (next && !(g->cursor = push_http_escape(g->d.http, next)))) {
            return body ? reel_fail_memory(err) : false;
        }
        json_array_foreach(json_object_get(body, "items"), i, recording) {
            if (!get_recording(g, recording)) {
                return reel_fail(err, REEL_CANCELLED, "stopped; run it again to continue");
            }
        }
    } while (g->cursor);
    return true;
}

static int run_get(int argc, char **argv) {
    AUTO_STRUCT(get_done) struct get g = {.query = ""};
    struct reel_error err = {0};
    const char *token_file = NULL;
    int first, code;
    const struct cli_option options[] = {
        {.name = "token-file",
         .kind = CLI_TEXT,
         .to = &token_file,
         .value = "FILE",
         .help = "file with the token; without it, REEL_TOKEN"},
        {0},
    };
    if (!cli_options(&cli_get, options, 2, argc, argv, &first, &code)) {
        return code;
    }
    if (argc - first != 2) {
        return cli_misused(&cli_get, "give the address of a server and a folder");
    }
    char *address = argv[first], *query = strchr(address, '?');
    if (query) {
        *query = '\0';
        g.query = query + 1;
    }
    char *folder = argv[first + 1];
    size_t size = strlen(folder);
    folder[size > 1 && folder[size - 1] == '/' ? size - 1 : size] = '\0';
    g.d.folder = folder;
    cli_catch_interrupt();
    bool good = download_open(&g.d, token_file, address, &err) && download_folder(&g.d, &err) && get_all(&g, &err);
    fprintf(stderr, "%u received, %u skipped, %u failed\n", g.d.received, g.d.skipped, g.d.failed);
    if (!good) {
        return cli_fail(&cli_get, NULL, &err);
    }
    return g.d.failed == 0 ? CLI_DONE : CLI_FAILED;
}

const struct cli_command cli_get = {
    .name = "get",
    .arguments = "URL[?SEARCH] FOLDER [OPTION]…",
    .summary = "download all recordings that a search finds",
    .details = "SEARCH has the parameters of the list of recordings: http://archive:8040?q=robot:r2. The original "
               "files are written as\n"
               "FOLDER/COLLECTION/NAME and checked by their SHA-256. Run it again to continue: what is there is "
               "skipped, and a file that was\n"
               "received in part goes on where it ended. The token is in the environment variable REEL_TOKEN.",
    .run = run_get,
};
