/* See links.h. Keys never leave this file, and only the owner can read the file that stores them. */
#include "access/links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/link_text.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/hex.h"
#include "base/ownership.h"
#include "catalog/catalog.h"
#include "catalog/maintenance.h"
#include "syntax/base64.h"

enum { KEY_BYTES = 32, KEYS_MAX = 8, FILE_MAX = 1024 };
#define FILE_NAME "link-keys" /* each line: version, key in hex; the newest last */

struct key {
    uint64_t version;
    uint8_t bytes[KEY_BYTES];
};
struct keys {
    unsigned n;
    struct key items[KEYS_MAX];
};

struct links {
    pthread_mutex_t mutex;
    char path[PATH_MAX];
    struct stat seen; /* of the file when it was read */
    struct keys keys;
    struct catalog *catalog; /* NULL: the file is the only place */
    int64_t asked_ns;        /* when the catalog was asked */
};
#define MAINTENANCE_KEY "link-keys"
static const int64_t ASK_EVERY_NS = INT64_C(5000000000);

/* ---- the file */

static bool parse_keys(char *text, struct keys *out) {
    *out = (struct keys){0};
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        if (*line == '\0') {
            continue;
        }
        char *hex;
        struct key *key = &out->items[out->n];
        if (out->n == KEYS_MAX) {
            return false;
        }
        key->version = strtoull(line, &hex, 10);
        if (hex == line || *hex++ != ' ' || strlen(hex) != 2 * KEY_BYTES || !hex_read(hex, KEY_BYTES, key->bytes)) {
            return false;
        }
        out->n++;
    }
    return out->n > 0;
}

static bool read_keys(const char *path, struct keys *out, struct stat *st, struct reel_error *err) {
    char text[FILE_MAX + 1];
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, st) != 0) {
        return reel_fail_errno(err, "signing keys (" FILE_NAME " in the archive folder)");
    }
    if (!S_ISREG(st->st_mode) || (st->st_mode & 077)) {
        return reel_fail(
            err, REEL_IO,
            FILE_NAME
            " in the data folder may be read by others than its owner: chmod 600 it, or remove it for a new key");
    }
    ssize_t n = read(fd, text, FILE_MAX);
    text[n > 0 ? n : 0] = '\0';
    bool good = n > 0 && parse_keys(text, out);
    OPENSSL_cleanse(text, sizeof text);
    return good || reel_fail(err, REEL_DAMAGED,
                             FILE_NAME " in the data folder is not a list of keys; remove it to create a new key");
}

static size_t format_keys(const struct keys *keys, char text[FILE_MAX]) {
    size_t used = 0;
    for (unsigned i = 0; i < keys->n; i++) {
        used += (size_t)snprintf(text + used, FILE_MAX - used, "%llu ", (unsigned long long)keys->items[i].version);
        hex_write(keys->items[i].bytes, KEY_BYTES, text + used);
        used += 2 * KEY_BYTES;
        text[used++] = '\n';
    }
    text[used] = '\0';
    return used;
}

static bool links_write_text(int fd, const struct keys *keys) {
    char text[FILE_MAX];
    bool good = disk_write_all(fd, text, format_keys(keys, text)) && fsync(fd) == 0;
    OPENSSL_cleanse(text, sizeof text);
    return good;
}

/* Writes a temporary file and renames it. `first`: keeps a file that another process has created meanwhile. */
static bool write_keys(const char *data, const struct keys *keys, bool first, struct reel_error *err) {
    char path[PATH_MAX], temporary[PATH_MAX];
    if (!disk_join(path, data, FILE_NAME, err) || !disk_join(temporary, data, FILE_NAME ".XXXXXX", err)) {
        return false;
    }
    AUTO_FD int fd = mkostemp(temporary, O_CLOEXEC); /* 0600 */
    if (fd < 0) {
        return reel_fail_errno(err, "cannot write the signing keys (" FILE_NAME ")");
    }
    reel_own_by_folder(fd, temporary);
    bool good = links_write_text(fd, keys) &&
                (first ? link(temporary, path) == 0 || errno == EEXIST || rename(temporary, path) == 0
                       : rename(temporary, path) == 0);
    good = good || reel_fail_errno(err, "cannot write the signing keys (" FILE_NAME ")");
    if (!good || first) {
        unlink(temporary);
    }
    return good && disk_sync_folder(data, err);
}

static bool add_key(struct keys *keys, uint64_t version, struct reel_error *err) {
    struct key *key = &keys->items[keys->n++];
    key->version = version;
    return RAND_bytes(key->bytes, KEY_BYTES) == 1 || reel_fail(err, REEL_IO, "no random numbers available");
}

static bool make_first(const char *data, const char *path, struct reel_error *err) {
    struct keys keys = {0};
    if (access(path, F_OK) == 0) {
        return true;
    }
    bool good = add_key(&keys, 1, err) && write_keys(data, &keys, true, err);
    OPENSSL_cleanse(&keys, sizeof keys);
    return good;
}

bool links_rotate(const char *data, bool forget, struct reel_error *err) {
    char path[PATH_MAX];
    struct keys old, keys = {0};
    struct stat st;
    if (!disk_join(path, data, FILE_NAME, err) || !make_first(data, path, err) || !read_keys(path, &old, &st, err)) {
        return false;
    }
    if (!forget) {
        keys.items[keys.n++] = old.items[old.n - 1];
    }
    bool good = add_key(&keys, old.items[old.n - 1].version + 1, err) && write_keys(data, &keys, false, err);
    OPENSSL_cleanse(&keys, sizeof keys);
    OPENSSL_cleanse(&old, sizeof old);
    return good;
}

/* ---- among servers */

bool links_publish(const char *data, struct catalog *catalog, struct reel_error *err) {
    char path[PATH_MAX], text[FILE_MAX];
    struct keys keys;
    struct stat st;
    if (!disk_join(path, data, FILE_NAME, err) || !read_keys(path, &keys, &st, err)) {
        return false;
    }
    format_keys(&keys, text);
    bool good = catalog_set_maintenance(catalog, MAINTENANCE_KEY, text, err);
    OPENSSL_cleanse(text, sizeof text);
    OPENSSL_cleanse(&keys, sizeof keys);
    return good;
}

/* Makes the file what the catalog has; the other way round when that has none. The mutex is held. */
static bool follow_catalog(struct links *links, struct reel_error *err) {
    char data[PATH_MAX], have[FILE_MAX], its[FILE_MAX];
    struct keys keys;
    AUTO_MEM char *text = catalog_maintenance(links->catalog, MAINTENANCE_KEY, err);
    if (!text || !disk_folder_of(links->path, data)) {
        return false;
    }
    if (!text[0]) {
        return links_publish(data, links->catalog, err);
    }
    bool good =
        parse_keys(text, &keys) || reel_fail(err, REEL_CATALOG, "the signing keys in the catalog make no sense");
    if (good) {
        format_keys(&keys, its);
        format_keys(&links->keys, have);
        good = strcmp(its, have) == 0 || write_keys(data, &keys, false, err);
    }
    OPENSSL_cleanse(text, strlen(text));
    OPENSSL_cleanse(&keys, sizeof keys);
    OPENSSL_cleanse(its, sizeof its);
    OPENSSL_cleanse(have, sizeof have);
    return good;
}

bool links_share(struct links *links, struct catalog *catalog, struct reel_error *err) {
    links->catalog = catalog;
    pthread_mutex_lock(&links->mutex);
    links->asked_ns = clock_ns();
    bool good = follow_catalog(links, err);
    pthread_mutex_unlock(&links->mutex);
    return good;
}

/* ---- the keys in memory */

struct links *links_open(const char *data, struct reel_error *err) {
    AUTO(links_close) struct links *links = calloc(1, sizeof *links);
    if (!links) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&links->mutex, NULL);
    if (!disk_join(links->path, data, FILE_NAME, err) || !make_first(data, links->path, err) ||
        !read_keys(links->path, &links->keys, &links->seen, err)) {
        return NULL;
    }
    return TAKE(links);
}

void links_close(struct links *links) {
    if (links) {
        pthread_mutex_destroy(&links->mutex);
        OPENSSL_cleanse(links, sizeof *links);
        free(links);
    }
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_mode == b->st_mode;
}

/* A copy of the current keys; reads the file again if it changed. */
static bool current_keys(struct links *links, struct keys *out, struct reel_error *err) {
    struct stat st;
    bool good = true;
    pthread_mutex_lock(&links->mutex);
    if (links->catalog && clock_ns() - links->asked_ns > ASK_EVERY_NS) {
        struct reel_error ignored; /* the keys that are here stay good for now */
        links->asked_ns = clock_ns();
        follow_catalog(links, &ignored);
    }
    if (stat(links->path, &st) != 0 || !same_file(&st, &links->seen)) {
        good = read_keys(links->path, &links->keys, &links->seen, err);
        if (!good) {
            memset(&links->seen, 0, sizeof links->seen); /* to be read again */
        }
    }
    *out = links->keys;
    pthread_mutex_unlock(&links->mutex);
    return good;
}

/* ---- signing */

/* The head says what is signed, so that no signature is good for anything else. "": no memory. */
static void sign_text(const struct key *key, const char *head, const char *text, size_t size, char out[LINK_MAC_TEXT]) {
    uint8_t mac[LINK_MAC];
    unsigned n = sizeof mac;
    size_t used = strlen(head);
    AUTO_MEM uint8_t *whole = malloc(used + size);
    out[0] = '\0';
    if (whole) {
        memcpy(whole, head, used);
        memcpy(whole + used, text, size);
        HMAC(EVP_sha256(), key->bytes, KEY_BYTES, whole, used + size, mac, &n);
        base64url_write(bytes_of(mac, n), out);
    }
}

static const char of_path[] = "reel-link", of_recording[] = "reel-recording";

static void sign(const struct key *key, const char *what, const struct link_claim *claim, const char *text, size_t size,
                 char out[LINK_MAC_TEXT]) {
    char head[96];
    snprintf(head, sizeof head, "%s\n%llu\n%lld\n%lld\n", what, (unsigned long long)claim->version,
             (long long)claim->token, (long long)claim->expires_s);
    sign_text(key, head, text, size, out);
}

/* Signs with the newest key; *claim gets its version and the signature. */
static bool sign_newest(struct links *links, const char *what, const char *text, size_t size, struct link_claim *claim,
                        struct reel_error *err) {
    struct keys keys;
    if (!current_keys(links, &keys, err)) {
        return false;
    }
    const struct key *key = &keys.items[keys.n - 1];
    claim->version = key->version;
    sign(key, what, claim, text, size, claim->mac);
    OPENSSL_cleanse(&keys, sizeof keys);
    return claim->mac[0] || reel_fail_memory(err);
}

bool links_sign(struct links *links, const char *target, int64_t token, int64_t expires_s, char **out,
                struct reel_error *err) {
    struct link_claim claim = {.token = token, .expires_s = expires_s};
    AUTO_MEM char *text = NULL;
    size_t size;
    if (!link_text(target, NULL, &text, &size)) {
        return reel_fail(err, REEL_ARGUMENT,
                         "only a path of this server can be signed, with its parameters but without sig and exp, of at "
                         "most %d bytes",
                         LINK_TARGET_MAX);
    }
    if (!sign_newest(links, of_path, text, size, &claim, err)) {
        return false;
    }
    if (asprintf(out, "%s%cexp=%lld&sig=%llu.%lld.%s", target, strchr(target, '?') ? '&' : '?', (long long)expires_s,
                 (unsigned long long)claim.version, (long long)token, claim.mac) < 0) {
        *out = NULL;
        return reel_fail_memory(err);
    }
    return true;
}

bool links_sign_recording(struct links *links, const char *recording, int64_t token, int64_t expires_s,
                          char out[LINK_KEY_TEXT], struct reel_error *err) {
    struct link_claim claim = {.token = token, .expires_s = expires_s};
    if (!sign_newest(links, of_recording, recording, strlen(recording), &claim, err)) {
        return false;
    }
    snprintf(out, LINK_KEY_TEXT, "%s.%lld.%llu.%lld.%s", recording, (long long)expires_s,
             (unsigned long long)claim.version, (long long)token, claim.mac);
    return true;
}

static enum link_verdict verify(struct links *links, const char *what, const struct link_claim *claim, const char *text,
                                size_t size, int64_t now_s) {
    struct keys keys;
    struct reel_error ignored;
    char mac[LINK_MAC_TEXT];
    bool good = false;
    if (!current_keys(links, &keys, &ignored)) {
        return LINK_NO_KEYS;
    }
    for (unsigned i = 0; i < keys.n && !good; i++) {
        if (keys.items[i].version == claim->version) {
            sign(&keys.items[i], what, claim, text, size, mac);
            good = mac[0] && CRYPTO_memcmp(mac, claim->mac, LINK_MAC_TEXT - 1) == 0;
        }
    }
    OPENSSL_cleanse(&keys, sizeof keys);
    return !good ? LINK_WRONG : claim->expires_s <= now_s ? LINK_EXPIRED : LINK_GOOD;
}

enum link_verdict links_verify(struct links *links, const char *target, int64_t now_s, struct link_claim *claim) {
    AUTO_MEM char *text = NULL;
    size_t size;
    return link_text(target, claim, &text, &size) ? verify(links, of_path, claim, text, size, now_s) : LINK_WRONG;
}

enum link_verdict links_verify_recording(struct links *links, const char *key, int64_t now_s,
                                         char recording[LINK_RECORDING], struct link_claim *claim) {
    return link_key_read(key, recording, claim)
               ? verify(links, of_recording, claim, recording, strlen(recording), now_s)
               : LINK_WRONG;
}

/* ---- requests between servers */

static const char mac_prefix[] = "reel-passed\n";

bool links_mac(struct links *links, const char *text, size_t size, char out[LINK_MAC_TEXT], struct reel_error *err) {
    struct keys keys;
    if (!current_keys(links, &keys, err)) {
        return false;
    }
    /* the oldest, which the other servers have had for longest */
    sign_text(&keys.items[0], mac_prefix, text, size, out);
    OPENSSL_cleanse(&keys, sizeof keys);
    return out[0] || reel_fail_memory(err);
}

bool links_mac_matches(struct links *links, const char *text, size_t size, const char *given) {
    struct keys keys;
    struct reel_error ignored;
    char mac[LINK_MAC_TEXT];
    bool good = false;
    if (strlen(given) != LINK_MAC_TEXT - 1 || !current_keys(links, &keys, &ignored)) {
        return false;
    }
    for (unsigned i = 0; i < keys.n && !good; i++) {
        sign_text(&keys.items[i], mac_prefix, text, size, mac);
        good = mac[0] && CRYPTO_memcmp(mac, given, LINK_MAC_TEXT - 1) == 0;
    }
    OPENSSL_cleanse(&keys, sizeof keys);
    return good;
}

/* ---- S3 */

bool links_secret(struct links *links, const char *text, size_t size, unsigned i, char out[LINK_MAC_TEXT],
                  struct reel_error *err) {
    struct keys keys;
    out[0] = '\0';
    if (!current_keys(links, &keys, err)) {
        return false;
    }
    bool there = i < keys.n;
    if (there) {
        sign_text(&keys.items[keys.n - 1 - i], "reel-s3\n", text, size, out);
    }
    OPENSSL_cleanse(&keys, sizeof keys);
    return !there || out[0] || reel_fail_memory(err);
}
