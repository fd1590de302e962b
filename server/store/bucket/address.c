/* A store in a bucket. The file store-bucket of the data folder remembers its address: without it a server that is
 * started without --store would open an empty archive. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/bucket/bucket.h"
#include "store/store_internal.h"

enum { ADDRESS_MAX = 1200 };

static bool read_mark(const struct store *store, char out[ADDRESS_MAX], struct reel_error *err) {
    char path[STORE_PATH];
    out[0] = '\0';
    AUTO_FD int fd = open(store_path(store, path, STORE_MARK), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT || reel_fail_errno(err, "the file %s cannot be read", STORE_MARK);
    }
    ssize_t n = read(fd, out, ADDRESS_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return n >= 0 || reel_fail_errno(err, "the file %s cannot be read", STORE_MARK);
}

static bool is_content(void *context, const char *hex, const char *suffix, int64_t written_ns) {
    (void)hex, (void)written_ns;
    *(bool *)context = *(bool *)context || strcmp(suffix, STORE_PACK) != 0;
    return !*(bool *)context;
}

bool store_mark_bucket(struct store *store, const char *address, struct reel_error *err) {
    char line[ADDRESS_MAX + 2];
    return ((size_t)snprintf(line, sizeof line, "%s\n", address) < sizeof line ||
            reel_fail(err, REEL_ARGUMENT, "the address is too long")) &&
           store_write_text(store, STORE_MARK, NULL, line, err);
}

static bool write_mark(struct store *store, const char *address, struct reel_error *err) {
    bool own = false;
    if (!store_each(store, is_content, &own, err)) {
        return false;
    }
    if (own) {
        return reel_fail(
            err, REEL_CONFLICT,
            "the data folder has recordings of its own; use an empty folder, or move them: reel migrate --help");
    }
    return store_mark_bucket(store, address, err);
}

/* What a server of this folder has fetched before. */
static bool count_pack(void *context, const char *hex, const char *suffix, int64_t written_ns) {
    const struct store *store = context;
    char path[STORE_PATH];
    if (strcmp(suffix, STORE_PACK) == 0 && store_content_path(store, hex, suffix, path, sizeof path, NULL)) {
        blocks_find_file(store->bucket->blocks, hex, path, written_ns);
    }
    return true;
}

bool store_use_bucket(struct store *store, const char *address, uint64_t cache_bytes, struct reel_error *err) {
    char known[ADDRESS_MAX], folder[STORE_PATH];
    if (!read_mark(store, known, err)) {
        return false;
    }
    if (!known[0] && !address) {
        return true;
    }
    if (known[0] && address && strcmp(known, address) != 0) {
        return reel_fail(err, REEL_CONFLICT, "the data folder belongs to the store %s, not to %s", known, address);
    }
    bool reads_only = store->lock < 0; /* a server may be using its cache */
    store_path(store, folder, reads_only ? "objects.command" : "objects");
    store->bucket = bucket_open(address ? address : known, reads_only, folder, cache_bytes, err);
    if (!store->bucket || (!known[0] && !write_mark(store, address, err)) ||
        (!reads_only && !store_each(store, count_pack, store, err))) {
        bucket_close(TAKE(store->bucket));
        return false;
    }
    store->directory = &store->bucket->directory;
    store->ops = &store_in_bucket;
    return reads_only || store_sweep_incoming(store, true, err); /* files of sessions, too: they are copies */
}

bool store_is_bucket(const struct store *store) {
    return store->bucket;
}

void store_set_directory(struct store *store, const struct store_directory *directory) {
    if (store->directory) {
        *store->directory = *directory;
    }
}

bool store_answers(struct store *store, struct reel_error *err) {
    return !store->bucket || bucket_answers(store->bucket, err);
}

char *store_archive_id(struct store *store, const char *id, struct reel_error *err) {
    return id ? bucket_first_text(store->bucket, "notes", "archive-id", id, err)
              : bucket_get_text(store->bucket, "notes", "archive-id", 4096, err);
}

bool store_count(struct store *store, struct s3_figures *requests, struct blocks_figures *cache) {
    if (store->bucket) {
        s3_count(store->bucket->s3, requests);
        blocks_count(store->bucket->blocks, cache);
    }
    return store->bucket;
}
