/* See download.h. */
#include "cli/download.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "base/hex.h"
#include "base/size_text.h"
#include "cli/cli.h"
#include "cli/push_file.h"
#include "syntax/base64.h"

enum { ETAG_ROOM = 64 };

static bool go_on(void) {
    return !cli_interrupted();
}

bool download_open(struct download *d, const char *token_file, const char *address, struct reel_error *err) {
    char token[PUSH_TOKEN_MAX];
    return push_http_token(token_file, token, err) && ((d->api = push_http_api(address)) || reel_fail_memory(err)) &&
           (d->http = push_http_new(token[0] ? token : NULL, go_on, err));
}

bool download_folder(const struct download *d, struct reel_error *err) {
    return mkdir(d->folder, 0777) == 0 || errno == EEXIST || reel_fail_errno(err, "%s", d->folder);
}

void download_done(struct download *d) {
    push_http_free(d->http);
    free(d->api);
}

json_t *download_json(struct download *d, const char *url, const char *body, struct reel_error *err) {
    json_t *json = push_http_json(d->http, url, body, true, &d->answer, err);
    if (!json && err->code == REEL_OK) {
        push_http_refused(&d->answer, err);
    }
    return json;
}

/* ---- files */

/* Whether the file is there with this digest. */
static bool is_there(const char *path, const char *sha256, uint64_t size, struct reel_error *err) {
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char hex[65];
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size &&
           push_file_hash(fd, go_on, hex, err) && strcmp(hex, sha256) == 0;
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

static bool make_folders(char *path, size_t from, struct reel_error *err) {
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
static bool receive_rest(struct download *d, int fd, const char *url, const char *sha256, uint64_t size,
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
    return push_http_do(d->http, &q, &d->answer, err) &&
           (d->answer.status == (have > 0 ? 206 : 200) || push_http_refused(&d->answer, err));
}

bool download_file(struct download *d, char *path, const char *url, const char *sha256, uint64_t size,
                   struct reel_error *err) {
    AUTO_MEM char *part = disk_adjacent(path, ".part");
    char hex[65], text[16];
    if (is_there(path, sha256, size, err)) {
        d->skipped++;
        return true;
    }
    if (d->dry_run) {
        printf("%s would be received (%s)\n", path, size_text(size, text));
        return true;
    }
    if (!part) {
        return reel_fail_memory(err);
    }
    AUTO_FD int fd = make_folders(path, strlen(d->folder) + 1, err)
                         ? open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)
                         : -1;
    if (fd < 0) {
        return err->code != REEL_OK ? false : reel_fail_errno(err, "%s", part);
    }
    if ((size > 0 && !receive_rest(d, fd, url, sha256, size, err)) || !push_file_hash(fd, go_on, hex, err)) {
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
    d->received++;
    return true;
}
