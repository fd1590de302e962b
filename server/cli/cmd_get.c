/* reel get: downloads the original files of all recordings that a search of a server finds. Run again, it continues: a
 * file that is there with the right digest is skipped, and what was received of one is kept as NAME.part. */
#include <jansson.h>
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "cli/client.h"
#include "cli/download.h"
#include "recordings/names.h"

enum { JOBS_MAX = 16 };

struct get {
    struct client client;
    const char *folder;
    char *list; /* the path of the search */
    bool dry_run;
    pthread_mutex_t mutex; /* guards what follows */
    uint32_t received, skipped, failed;
    struct hash_table by_path; /* of the files of this run */
    char **paths;
    size_t n_paths, room_paths;
    json_t *page;
    size_t next; /* of the page */
    char *cursor;
    bool last, stopped; /* there are no more pages; nothing else can be received either */
    struct reel_error err;
};

/* A thread with a connection of its own. */
struct getting {
    struct get *get;
    struct download d;
};

static void get_done(struct get *g) {
    client_done(&g->client);
    json_decref(g->page);
    hash_table_free(&g->by_path);
    while (g->n_paths > 0) {
        free(g->paths[--g->n_paths]);
    }
    free(g->paths);
    free(g->list);
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
    if (asprintf(&path, "%s/%s/%s%s%s", g->folder, collection, name, several ? "/" : "",
                 several ? cli_file_name(part) : "") < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return path;
}

/* Parts "a/x" and "b/x" have one path, and so may two recordings: the second must not replace the first. */
static bool get_claim(struct get *g, const char *path, struct reel_error *err) {
    pthread_mutex_lock(&g->mutex);
    const struct hash_key key = hash_key_bytes(bytes_text(path));
    bool good = !hash_table_get(&g->by_path, key) ||
                reel_fail(err, REEL_CONFLICT, "another file of this run has the path %.200s", path);
    AUTO_MEM char *own = good ? strdup(path) : NULL;
    if (good && (!own || !GROW_ARRAY(g->paths, g->n_paths, g->room_paths))) {
        good = reel_fail_memory(err);
    }
    good = good && hash_table_set(&g->by_path, hash_key_bytes(bytes_text(own)), (uintptr_t)own, err);
    if (good) {
        g->paths[g->n_paths++] = TAKE(own);
    }
    pthread_mutex_unlock(&g->mutex);
    return good;
}

static bool get_part(struct getting *w, const json_t *recording, const json_t *part, bool several,
                     struct reel_error *err) {
    const char *id = json_string_value(json_object_get(recording, "id")),
               *collection = json_string_value(json_object_get(recording, "collection")),
               *name = json_string_value(json_object_get(recording, "name")),
               *file = json_string_value(json_object_get(part, "name")),
               *sha256 = json_string_value(json_object_get(part, "sha256"));
    json_int_t size = json_integer_value(json_object_get(part, "size"));
    if (!id || !collection || !name || !file || !sha256 || size < 0) {
        return reel_fail(err, REEL_DAMAGED, "it has no stored file");
    }
    AUTO_MEM char *path = get_path_of(w->get, collection, name, file, several, err);
    AUTO_MEM char *escaped = push_http_escape(w->d.http, file);
    AUTO_MEM char *url = NULL;
    if (!path || !escaped || asprintf(&url, "%s/recordings/%s/file/%s", w->d.api, id, escaped) < 0) {
        return path ? reel_fail_memory(err) : false;
    }
    return get_claim(w->get, path, err) && download_file(&w->d, path, url, sha256, (uint64_t)size, err);
}

/* False: nothing else can be received either. */
static bool get_recording(struct getting *w, const json_t *recording) {
    const json_t *parts = json_object_get(recording, "parts");
    size_t i;
    json_t *part;
    bool goes_on = true;
    json_array_foreach((json_t *)parts, i, part) {
        struct reel_error err = {0};
        if (!get_part(w, recording, part, json_array_size(parts) > 1, &err)) {
            const char *name = json_string_value(json_object_get(recording, "name"));
            cli_fail(&cli_get, name, &err);
            w->d.failed++;
            goes_on = err.code != REEL_CANCELLED && err.code != REEL_NO_SPACE;
        }
        if (!goes_on) {
            break;
        }
    }
    return goes_on;
}

/* The next recording, a new reference; NULL: there are no more. The thread that needs the next page fetches it while
 * the others wait. */
static json_t *get_next(struct getting *w) {
    struct get *g = w->get;
    json_t *found = NULL;
    pthread_mutex_lock(&g->mutex);
    while (!g->stopped && g->next == json_array_size(json_object_get(g->page, "items")) && !g->last) {
        bool more;
        json_decref(g->page);
        g->page = client_page(&g->client, w->d.http, g->list, &g->cursor, &more, &g->err);
        g->next = 0;
        g->stopped = !g->page;
        g->last = !more;
    }
    if (!g->stopped) {
        found = json_deep_copy(json_array_get(json_object_get(g->page, "items"), g->next));
        g->next += found != NULL;
    }
    pthread_mutex_unlock(&g->mutex);
    return found;
}

static bool get_open(struct getting *w, struct get *g, struct reel_error *err) {
    w->get = g;
    w->d.folder = g->folder;
    w->d.dry_run = g->dry_run;
    w->d.api = strdup(g->client.api);
    return (w->d.api || reel_fail_memory(err)) && (w->d.http = client_connect(&g->client, err));
}

static void *get_work(void *context) {
    struct get *g = context;
    AUTO_MEM struct getting *w = calloc(1, sizeof *w);
    struct reel_error err = {0};
    bool good = w ? get_open(w, g, &err) : reel_fail_memory(&err);
    for (json_t *recording; good && (recording = get_next(w));) {
        good = get_recording(w, recording) || reel_fail(&err, REEL_CANCELLED, "stopped; run it again to continue");
        json_decref(recording);
    }
    pthread_mutex_lock(&g->mutex);
    if (err.code != REEL_OK) {
        g->stopped = true;
        g->err = err;
    }
    if (w) {
        g->received += w->d.received;
        g->skipped += w->d.skipped;
        g->failed += w->d.failed;
        download_done(&w->d);
    }
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

static void get_all(struct get *g, unsigned jobs) {
    pthread_t threads[JOBS_MAX];
    unsigned n = 0;
    pthread_mutex_init(&g->mutex, NULL);
    while (n + 1 < jobs && pthread_create(&threads[n], NULL, get_work, g) == 0) {
        n++;
    }
    get_work(g);
    while (n > 0) {
        pthread_join(threads[--n], NULL);
    }
    pthread_mutex_destroy(&g->mutex);
}

static int run_get(int argc, char **argv) {
    AUTO_STRUCT(get_done) struct get g = {.folder = NULL};
    struct reel_error err = {0};
    bool quiet = false;
    uint64_t jobs;
    int first, code;
    const struct cli_option options[] = {
        {.name = "jobs",
         .letter = 'j',
         .kind = CLI_UINT,
         .to = &jobs,
         .value = "N",
         .least = 1,
         .most = JOBS_MAX,
         .initial = "2",
         .help = "recordings received at once"},
        {.name = "dry-run", .kind = CLI_FLAG, .to = &g.dry_run, .help = "only print what would be received, and where"},
        {.name = "quiet", .kind = CLI_FLAG, .to = &quiet, .help = "print errors only"},
        CLIENT_TOKEN_OPTION(g.client),
        {0},
    };
    if (!cli_options(&cli_get, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    if (!client_open(&g.client, argv, argc, &first, &err)) {
        return err.code == REEL_ARGUMENT ? cli_misused(&cli_get, "%s", err.text) : cli_fail(&cli_get, NULL, &err);
    }
    if (argc - first != 1) {
        return cli_misused(&cli_get, "give the address of a server and a folder");
    }
    g.folder = argv[first];
    size_t size = strlen(g.folder);
    argv[first][size > 1 && g.folder[size - 1] == '/' ? size - 1 : size] = '\0';
    g.list = strdup("recordings?sort=created&limit=200");
    client_add_query(&g.client, &g.list);
    bool good = (g.list || reel_fail_memory(&err)) &&
                (g.dry_run || download_folder(&(struct download){.folder = g.folder}, &err));
    if (good) {
        get_all(&g, (unsigned)jobs);
        good = g.err.code == REEL_OK || reel_error_pass(&err, &g.err);
    }
    if (!quiet && !g.dry_run) {
        fprintf(stderr, "%u received, %u skipped, %u failed\n", g.received, g.skipped, g.failed);
    }
    if (!good) {
        return cli_fail(&cli_get, NULL, &err);
    }
    return g.failed == 0 && cli_flush(&err) ? CLI_DONE : CLI_FAILED;
}

const struct cli_command cli_get = {
    .name = "get",
    .arguments = "[URL[?SEARCH]] FOLDER [OPTION]…",
    .summary = "download all recordings that a search finds",
    .details = "SEARCH has the parameters of the list of recordings: http://archive:8040?q=robot:r2. The original "
               "files are written as\n"
               "FOLDER/COLLECTION/NAME and checked by their SHA-256. Run it again to continue: what is there is "
               "skipped, and a file that was\n"
               "received in part goes on where it ended. Without URL it is that of the environment variable REEL_URL.",
    .run = run_get,
};
