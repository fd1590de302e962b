/* reel get: downloads the original files of all recordings that a search of a server finds. Run again, it continues: a
 * file that is there with the right digest is skipped, and what was received of one is kept as NAME.part. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/disk.h"
#include "base/grow.h"
#include "base/hex.h"
#include "cli/cli.h"
#include "cli/push_http.h"
#include "recordings/names.h"
#include "syntax/base64.h"

enum { PAGE_BYTES_MAX = 64 << 20, PIECE = 1 << 20, ETAG_ROOM = 64 };

struct get {
    const char *folder, *query; /* "q=robot:r2"; "" all */
    char *api, *cursor;         /* cursor: of the next page; NULL: none */
    struct push_http *http;
    struct push_answer answer;
    uint32_t received, skipped, failed;
    uint64_t bytes;
};

static void get_done(struct get *g) {
    push_http_free(g->http);
    free(g->api);
    free(g->cursor);
}

static bool get_go_on(void) {
    return !cli_interrupted();
}

static bool refuse_status(const struct push_answer *a, struct reel_error *err) {
    json_auto_t *problem = json_loads(a->body, 0, NULL);
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    return reel_fail(err, REEL_IO, "the server answers %ld%s%.300s", a->status, detail ? ": " : "",
                     detail ? detail : "");
}

/* ---- files */

static bool get_hash_file(int fd, char hex[65], struct reel_error *err) {
    AUTO_MEM uint8_t *piece = malloc(PIECE);
    struct digest hash;
    ssize_t n = piece ? 1 : -1;
    off_t at = 0;
    if (!piece) {
        return reel_fail_memory(err);
    }
    digest_start(&hash, DIGEST_SHA256);
    for (; n > 0; at += n) {
        n = pread(fd, piece, PIECE, at);
        if (n < 0 || cli_interrupted()) {
            return n < 0 ? reel_fail_errno(err, "cannot be read") : reel_fail(err, REEL_CANCELLED, "interrupted");
        }
        digest_add(&hash, piece, (size_t)n);
    }
    digest_end_hex(&hash, hex);
    return true;
}

/* Whether the file is there with this digest. */
static bool get_is_there(const char *path, const char *sha256, uint64_t size, struct reel_error *err) {
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char hex[65];
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size &&
           get_hash_file(fd, hex, err) && strcmp(hex, sha256) == 0;
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

struct receiving {
    int fd;
    struct get *get;
};

static bool receive(void *context, const void *data, size_t size, struct reel_error *err) {
    struct receiving *in = context;
    in->get->bytes += size;
    return disk_write_all(in->fd, data, size) || reel_fail_errno(err, "cannot be written");
}

/* The rest of the file, behind what is there. */
static bool receive_rest(struct get *g, int fd, const char *url, const char *sha256, uint64_t size,
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
    struct receiving in = {.fd = fd, .get = g};
    struct push_request q = {.method = "GET", .url = url, .write = receive, .context = &in};
    if (have > 0) {
        q.headers[0] = range;
        q.headers[1] = if_range;
        q.wants_part = true;
    }
    return push_http_do(g->http, &q, &g->answer, err) &&
           (g->answer.status == (have > 0 ? 206 : 200) || refuse_status(&g->answer, err));
}

/* Receives a file as NAME.part, checks its digest and gives it its name. */
static bool get_file(struct get *g, char *path, const char *url, const char *sha256, uint64_t size,
                     struct reel_error *err) {
    AUTO_MEM char *part = disk_adjacent(path, ".part");
    char hex[65];
    if (get_is_there(path, sha256, size, err)) {
        g->skipped++;
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
    if ((size > 0 && !receive_rest(g, fd, url, sha256, size, err)) || !get_hash_file(fd, hex, err)) {
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
    AUTO_MEM char *escaped = push_http_escape(g->http, file);
    AUTO_MEM char *url = NULL;
    if (!path || !escaped || asprintf(&url, "%s/recordings/%s/file/%s", g->api, id, escaped) < 0) {
        return path ? reel_fail_memory(err) : false;
    }
    return get_file(g, path, url, sha256, (uint64_t)size, err);
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
            g->failed++;
            return err.code != REEL_CANCELLED && err.code != REEL_NO_SPACE;
        }
    }
    return true;
}

static bool get_collect(void *context, const void *data, size_t size, struct reel_error *err) {
    struct grow *page = context;
    if (page->size + size > PAGE_BYTES_MAX) {
        return reel_fail(err, REEL_LIMIT, "a page of the list has more than %d MiB", PAGE_BYTES_MAX >> 20);
    }
    grow_put(page, data, size);
    return !page->failed || reel_fail_memory(err);
}

/* The next page of the list; a new reference, NULL with err. */
static json_t *next_page(struct get *g, struct reel_error *err) {
    struct grow page = {0};
    AUTO_MEM char *url = NULL;
    if (asprintf(&url, "%s/recordings?sort=created&limit=200%s%s%s%s", g->api, g->query[0] ? "&" : "", g->query,
                 g->cursor ? "&cursor=" : "", g->cursor ? g->cursor : "") < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    const struct push_request q = {
        .method = "GET", .url = url, .headers = {"Accept: application/json"}, .write = get_collect, .context = &page};
    bool good =
        push_http_do(g->http, &q, &g->answer, err) && (g->answer.status == 200 || refuse_status(&g->answer, err));
    json_t *body = good ? json_loadb((const char *)page.data, page.size, 0, NULL) : NULL;
    free(page.data);
    if (good && !json_is_array(json_object_get(body, "items"))) {
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
        if (!body || (next && !(g->cursor = push_http_escape(g->http, next)))) {
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
    char token[PUSH_TOKEN_MAX];
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
    g.folder = argv[first + 1];
    size_t size = strlen(g.folder);
    argv[first + 1][size > 1 && g.folder[size - 1] == '/' ? size - 1 : size] = '\0';
    cli_catch_interrupt();
    bool good =
        push_http_token(token_file, token, &err) && ((g.api = push_http_api(address)) || reel_fail_memory(&err)) &&
        (g.http = push_http_new(token[0] ? token : NULL, get_go_on, &err)) &&
        (mkdir(g.folder, 0777) == 0 || errno == EEXIST || reel_fail_errno(&err, "%s", g.folder)) && get_all(&g, &err);
    fprintf(stderr, "%u received, %u skipped, %u failed\n", g.received, g.skipped, g.failed);
    if (!good) {
        return cli_fail(&cli_get, NULL, &err);
    }
    return g.failed == 0 ? CLI_DONE : CLI_FAILED;
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
