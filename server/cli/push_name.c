/* See push_file.h: what is hashed without an upload, and compared. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "cli/push_file.h"

enum { PIECE = 1 << 20 };

bool push_file_hash(int fd, bool (*go_on)(void), char hex[65], struct reel_error *err) {
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
        if (n < 0 || !go_on()) {
            return n < 0 ? reel_fail_errno(err, "cannot be read") : reel_fail(err, REEL_CANCELLED, "interrupted");
        }
        digest_add(&hash, piece, (size_t)n);
    }
    digest_end_hex(&hash, hex);
    return true;
}

char *push_file_other_name(const char *name, const char *path, bool (*go_on)(void), struct reel_error *err) {
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    char hex[65], *other = NULL;
    if (fd < 0) {
        reel_fail_errno(err, "cannot be opened");
        return NULL;
    }
    if (!push_file_hash(fd, go_on, hex, err)) {
        return NULL;
    }
    const char *slash = strrchr(name, '/'), *own = slash ? slash + 1 : name, *dot = strchr(own, '.');
    size_t stem = dot && dot > own ? (size_t)(dot - name) : strlen(name);
    if (asprintf(&other, "%.*s-%.8s%s", (int)stem, name, hex, name + stem) < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return other;
}

/* Whether one of the recording's files has this content. */
bool push_file_has_content(const json_t *recording, const char *sha256) {
    size_t i;
    json_t *part;
    json_array_foreach(json_object_get(recording, "parts"), i, part) {
        const char *its = json_string_value(json_object_get(part, "sha256"));
        if (its && strcmp(its, sha256) == 0) {
            return true;
        }
    }
    const char *content = json_string_value(json_object_get(recording, "content"));
    return content && strcmp(content + (strncmp(content, "sha256:", 7) == 0 ? 7 : 0), sha256) == 0;
}
