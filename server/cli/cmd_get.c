/* reel get: downloads the original files of all recordings that a search of a server finds. Run again, it continues: a
 * file that is there with the right digest is skipped, and what was received of one is kept as NAME.part. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/disk.h"
#include "base/hex.h"
#include "cli/client.h"
#include "cli/push_file.h"
#include "recordings/names.h"
#include "syntax/base64.h"

enum { PIECE = 1 << 20, ETAG_ROOM = 64, JOBS_MAX = 16 };

struct get {
    struct client client;
    const char *folder;
    char *list; /* the path of the search */
    bool dry_run;
    _Atomic uint32_t received, skipped, failed;
    pthread_mutex_t mutex; /* guards what follows */
    json_t *page;
    size_t next; /* of the page */
    char *cursor;
    bool last, stopped; /* there are no more pages; nothing else can be received either */
    struct reel_error err;
};

/* A thread with a connection of its own. */
struct getting {
    struct get *get;
    struct push_http *http;
    struct push_answer answer;
};

static void get_done(struct get *g) {
    client_done(&g->client);
    json_decref(g->page);
    free(g->list);
    free(g->cursor);
}

/* ---- files */

static bool get_go_on(void) {
    return !cli_interrupted();
}

/* Whether the file is there with this digest. */
static bool get_is_there(const char *path, const char *sha256, uint64_t size, struct reel_error *err) {
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char hex[65];
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size &&
           push_file_hash(fd, get_go_on, hex, err) && strcmp(hex, sha256) == 0;
}

/* The entity tag of originals is their digest. */
static bool etag_of(const char *sha256, char out[ETAG_ROOM]) {
    uint8_t digest[32];
    char base64[45];
    if (strlen(sha256) != 64 || !hex_read(sha256, 32, digest)) {
        return false;
    }
    base64_write(bytes_of(digest, 32), base64);
    snprintf(out, ETAG_ROOM, "\"sha256-%.44s\"", base64);
    return true;
}

static bool get_make_folders(char *path, size_t from, struct reel_error *err) {
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool good = mkdir(path, 0777) == 0 || errno == EEXIST || reel_fail_errno(err, "%s", path);
        *slash = '/';
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool receive(void *context, const void *data, size_t size, struct reel_error *err) {
    return disk_write_all(*(int *)context, data, size) || reel_fail_errno(err, "cannot be written");
}

/* The rest of the file, behind what is there. */
static bool receive_rest(struct getting *g, int fd, const char *url, const char *sha256, uint64_t size,
                         struct reel_error *err) {
    char range[48], if_range[ETAG_ROOM + 16], etag[ETAG_ROOM];
    struct stat st;
    if (fstat(fd, &st) != 0 || !etag_of(sha256, etag)) {
        return reel_fail(err, REEL_DAMAGED, "the server names no digest of it");
    }
    uint64_t have = (uint64_t)st.st_size < size ? (uint64_t)st.st_size : 0;
    if (ftruncate(fd, (off_t)have) != 0 || lseek(fd, (off_t)have, SEEK_SET) < 0) {
        return reel_fail_errno(err, "cannot be written");
    }
    snprintf(range, sizeof range, "Range: bytes=%llu-", (unsigned long long)have);
    snprintf(if_range, sizeof if_range, "If-Range: %s", etag);
    struct push_request q = {.method = "GET", .url = url, .write = receive, .context = &fd};
    if (have > 0) {
        q.headers[0] = range;
        q.headers[1] = if_range;
        q.wants_part = true;
    }
    return push_http_do(g->http, &q, &g->answer, err) &&
           (g->answer.status == (have > 0 ? 206 : 200) || push_http_refused(&g->answer, err));
}

/* Receives a file as NAME.part, checks its digest and gives it its name. */
static bool get_file(struct getting *w, char *path, const char *url, const char *sha256, uint64_t size,
                     struct reel_error *err) {
    AUTO_MEM char *part = disk_adjacent(path, ".part");
    struct get *g = w->get;
    char hex[65];
    if (get_is_there(path, sha256, size, err)) {
        g->skipped++;
        return true;
    }
    if (g->dry_run) {
        char text[16];
        printf("%s would be received (%s)\n", path, cli_size_text(size, text));
        return true;
    }
    if (!part) {
        return reel_fail_memory(err);
    }
    AUTO_FD int fd = get_make_folders(path, strlen(g->folder) + 1, err)
                         ? open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)
                         : -1;
    if (fd < 0) {
        return err->code != REEL_OK ? false : reel_fail_errno(err, "%s", part);
    }
    if ((size > 0 && !receive_rest(w, fd, url, sha256, size, err)) || !push_file_hash(fd, get_go_on, hex, err)) {
        return false;
    }
    if (strcmp(hex, sha256) != 0) {
        unlink(part);
        return reel_fail(err, REEL_CHANGED,
                         "what was received has another SHA-256 than the server says; it was removed");
    }
    if (fsync(fd) != 0 || rename(part, path) != 0) {
        return reel_fail_errno(err, "%s", path);
    }
    g->received++;
    return true;
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
    AUTO_MEM char *escaped = push_http_escape(w->http, file);
    AUTO_MEM char *url = NULL;
    if (!path || !escaped || asprintf(&url, "%s/recordings/%s/file/%s", w->get->client.api, id, escaped) < 0) {
        return path ? reel_fail_memory(err) : false;
    }
    return get_file(w, path, url, sha256, (uint64_t)size, err);
}

/* False: nothing else can be received either. */
static bool get_recording(struct getting *w, const json_t *recording) {
    const json_t *parts = json_object_get(recording, "parts");
    size_t i;
    json_t *part;
    json_array_foreach((json_t *)parts, i, part) {
        struct reel_error err = {0};
        if (!get_part(w, recording, part, json_array_size(parts) > 1, &err)) {
            const char *name = json_string_value(json_object_get(recording, "name"));
            cli_fail(&cli_get, name, &err);
            w->get->failed++;
            return err.code != REEL_CANCELLED && err.code != REEL_NO_SPACE;
        }
    }
    return true;
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
        g->page = client_page(&g->client, w->http, g->list, &g->cursor, &more, &g->err);
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

static void *get_work(void *context) {
    struct get *g = context;
    AUTO_MEM struct getting *w = calloc(1, sizeof *w);
    struct reel_error err = {0};
    bool good = w || reel_fail_memory(&err);
    if (good && (w->get = g, w->http = client_connect(&g->client, &err))) {
        for (json_t *recording; good && (recording = get_next(w));) {
            good = get_recording(w, recording) || reel_fail(&err, REEL_CANCELLED, "stopped; run it again to continue");
            json_decref(recording);
        }
        push_http_free(w->http);
    }
    if (err.code != REEL_OK) {
        pthread_mutex_lock(&g->mutex);
        g->stopped = true;
        g->err = err;
        pthread_mutex_unlock(&g->mutex);
    }
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
                (g.dry_run || mkdir(g.folder, 0777) == 0 || errno == EEXIST || reel_fail_errno(&err, "%s", g.folder));
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
