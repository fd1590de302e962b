/* See location.h. No catalog is created while there is one in the other location. */
#include "catalog/location.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/ownership.h"
#include "catalog/catalog_internal.h"
#include "catalog/maintenance.h"
#include "reel/cleanup.h"
#include "store/store.h"

static const char MARK[] = "catalog-folder", FILE_NAME[] = "catalog.db";

/* The content of the mark without the line's end; "" when there is none. */
static bool read_mark(const char *data, char out[PATH_MAX], struct reel_error *err) {
    char path[PATH_MAX];
    out[0] = '\0';
    if (!disk_join(path, data, MARK, err)) {
        return false;
    }
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, out, PATH_MAX - 1);
    if ((fd < 0 && errno != ENOENT && errno != ENOTDIR) || n < 0) {
        return reel_fail_errno(err, "%s cannot be read", MARK);
    }
    out[n] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    return fd < 0 || out[0] == '/' || db_is_server(out) ||
           reel_fail(err, REEL_DAMAGED,
                     "%s in the data folder contains neither an absolute path nor the address of a server", MARK);
}

bool catalog_location(const char *data, char out[PATH_MAX], struct reel_error *err) {
    char folder[PATH_MAX];
    struct stat st;
    if (!read_mark(data, folder, err)) {
        return false;
    }
    if (db_is_server(folder)) {
        strcpy(out, folder);
        return true;
    }
    if (folder[0] && (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))) {
        return reel_fail(err, REEL_NOT_FOUND,
                         "the catalog folder %.200s (from %s in the data folder) does not exist: is its disk mounted?",
                         folder, MARK);
    }
    return disk_join(out, folder[0] ? folder : data, FILE_NAME, err);
}

static bool write_mark(const char *data, const char *folder, struct reel_error *err) {
    char path[PATH_MAX], fresh[PATH_MAX];
    if (!disk_join(path, data, MARK, err) || !disk_join(fresh, data, "catalog-folder.new", err)) {
        return false;
    }
    AUTO_FD int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    reel_own_by_folder(fd, fresh);
    bool good = (fd >= 0 && dprintf(fd, "%s\n", folder) > 0 && fsync(fd) == 0 && rename(fresh, path) == 0) ||
                reel_fail_errno(err, "%s cannot be written into the data folder", MARK);
    if (!good) {
        unlink(fresh);
    }
    return good && disk_sync_folder(data, err);
}

static bool same_folder(const char *a, const char *b) {
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

bool catalog_set_location(const char *data, const char *folder, struct reel_error *err) {
    char marked[PATH_MAX], own[PATH_MAX];
    bool server = folder && db_is_server(folder);
    if (!folder || (server && !db_check_address(folder, err))) {
        return !folder;
    }
    if ((mkdir(data, 0755) != 0 && errno != EEXIST) || (!server && mkdir(folder, 0755) != 0 && errno != EEXIST)) {
        return reel_fail_errno(err, "the folders for data and catalog cannot be created");
    }
    if (!read_mark(data, marked, err) || !disk_join(own, data, FILE_NAME, err)) {
        return false;
    }
    if (server ? strcmp(folder, marked) == 0 : same_folder(folder, marked[0] ? marked : data)) {
        return true;
    }
    if (marked[0] && (server || db_is_server(marked))) {
        return reel_fail(
            err, REEL_CONFLICT,
            "the catalog of this data folder is %.200s; a catalog in another place is not opened in its stead", marked);
    }
    if (marked[0]) {
        return reel_fail(err, REEL_CONFLICT,
                         "the catalog is in %.200s: move it with its -wal, and remove %s in the data folder", marked,
                         MARK);
    }
    if (access(own, F_OK) == 0 && server) {
        return reel_fail(err, REEL_CONFLICT,
                         "there is a catalog in the data folder, %s; one in PostgreSQL is not opened in its stead",
                         FILE_NAME);
    }
    if (access(own, F_OK) == 0) {
        return reel_fail(err, REEL_CONFLICT,
                         "there is a catalog in the data folder: move %s, and %s-wal where there is one, to %.200s",
                         FILE_NAME, FILE_NAME, folder);
    }
    AUTO_MEM char *whole = server ? strdup(folder) : realpath(folder, NULL);
    return whole ? write_mark(data, whole, err) : reel_fail_errno(err, "the catalog's folder cannot be named");
}

/* ---- after a move */

static const char *const side_files[] = {"-wal", "-shm"}; /* of a database that was not closed: the first may have the
                                                             newest rows */

/* Renames a database with its side files; those that are not there are left out. */
static bool rename_database(const char *from, const char *to, struct reel_error *err) {
    for (size_t i = 0; i < sizeof side_files / sizeof *side_files; i++) {
        char side[PATH_MAX], beside[PATH_MAX];
        if (snprintf(side, sizeof side, "%s%s", from, side_files[i]) >= PATH_MAX ||
            snprintf(beside, sizeof beside, "%s%s", to, side_files[i]) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return reel_fail_errno(err, "%s%s cannot be renamed", from, side_files[i]);
        }
        if (rename(side, beside) != 0 && errno != ENOENT) {
            return reel_fail_errno(err, "%s%s cannot be renamed", from, side_files[i]);
        }
    }
    return rename(from, to) == 0 || reel_fail_errno(err, "%s cannot be renamed", from);
}

static bool put_aside(const char *path, struct reel_error *err) {
    char to[PATH_MAX];
    for (unsigned i = 1; i < 1000; i++) {
        int n = snprintf(to, sizeof to, "%s.moved-%u", path, i);
        if (n > 0 && (size_t)n < sizeof to && access(to, F_OK) != 0) {
            return rename_database(path, to, err);
        }
    }
    return reel_fail(err, REEL_CONFLICT, "there are too many files named %s.moved-N", path);
}

bool catalog_switch(const char *data, const char *from, const char *to, const char *made, struct reel_error *err) {
    char own[PATH_MAX], mark[PATH_MAX];
    if (to) {
        return write_mark(data, to, err) && put_aside(from, err) && disk_sync_folder(data, err);
    }
    if (!disk_join(own, data, FILE_NAME, err) || !disk_join(mark, data, MARK, err)) {
        return false;
    }
    if (access(own, F_OK) == 0 && !put_aside(own, err)) { /* one that was left by a move that was interrupted */
        return false;
    }
    return rename_database(made, own, err) && disk_sync_folder(data, err) &&
           (unlink(mark) == 0 || errno == ENOENT || reel_fail_errno(err, "%s cannot be removed", MARK)) &&
           disk_sync_folder(data, err);
}

/* ---- the id of an archive whose catalog is elsewhere */

static bool location_read_id(const char *path, char id[RECORDING_ID_TEXT]) {
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, id, RECORDING_ID_TEXT - 1);
    id[n > 0 ? n : 0] = '\0';
    return n == RECORDING_ID_TEXT - 1;
}

static bool make_id(const char *data, const char *path, char id[RECORDING_ID_TEXT], struct reel_error *err) {
    if (!catalog_make_id(id, err)) {
        return false;
    }
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    reel_own_by_folder(fd, path);
    return ((fd >= 0 && dprintf(fd, "%s\n", id) > 0 && fsync(fd) == 0) ||
            reel_fail_errno(err, "the archive's id cannot be written")) &&
           disk_sync_folder(data, err);
}

bool catalog_folder_id(const char *data, char out[RECORDING_ID_TEXT], struct reel_error *err) {
    char path[PATH_MAX];
    return disk_join(path, data, "server-id", err) && (location_read_id(path, out) || make_id(data, path, out, err));
}

static bool note_manifest(void *context, const char *hex, const char *suffix, int64_t written_ns) {
    (void)hex, (void)suffix, (void)written_ns;
    *(bool *)context = true;
    return false;
}

/* A bucket with recordings is never taken over by a catalog that does not know them: it would sweep them. */
static bool claim_bucket(struct catalog *c, struct store *store, const char *known, struct reel_error *err) {
    char id[RECORDING_ID_TEXT];
    bool used = false;
    if (!known[0] && !catalog_make_id(id, err)) {
        return false;
    }
    struct reel_error why = {0};
    AUTO_MEM char *its = store_archive_id(store, known[0] ? NULL : id, &why);
    if (!its) {
        return why.code == REEL_NOT_FOUND
                   ? reel_fail(err, REEL_CONFLICT,
                               "the files of this catalog are in another bucket, or under another prefix")
                   : reel_error_pass(err, &why);
    }
    if (known[0]) {
        return strcmp(its, known) == 0 || reel_fail(err, REEL_CONFLICT, "the bucket is the store of another catalog");
    }
    if (strcmp(its, id) != 0 && !store_each(store, note_manifest, &used, err)) {
        return false;
    }
    return used ? reel_fail(err, REEL_CONFLICT,
                            "the bucket has recordings that this catalog does not know: restore the catalog from a "
                            "backup, or make "
                            "it again from the bucket by reel rebuild")
                : catalog_set_maintenance(c, "archive", its, err);
}

bool catalog_claim_again(struct catalog *c, struct store *store, struct reel_error *err) {
    char id[RECORDING_ID_TEXT];
    if (!store_is_bucket(store)) {
        return true;
    }
    AUTO_MEM char *its = catalog_make_id(id, err) ? store_archive_id(store, id, err) : NULL;
    return its && catalog_set_maintenance(c, "archive", its, err);
}

bool catalog_claim(struct catalog *c, struct store *store, const char *data, struct reel_error *err) {
    char path[PATH_MAX], id[RECORDING_ID_TEXT];
    bool lies_with_data = !db_is_remote(c->db) && !store_is_bucket(store);
    AUTO_MEM char *known = lies_with_data ? strdup("") : catalog_maintenance(c, "archive", err);
    if (!known || lies_with_data) {
        return known;
    }
    if (store_is_bucket(store)) {
        return claim_bucket(c, store, known, err);
    }
    if (!disk_join(path, data, "archive-id", err) || (!location_read_id(path, id) && !make_id(data, path, id, err))) {
        return false;
    }
    return known[0] ? strcmp(known, id) == 0 ||
                          reel_fail(err, REEL_CONFLICT, "the database is the catalog of another data folder")
                    : catalog_set_maintenance(c, "archive", id, err);
}
