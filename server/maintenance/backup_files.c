/* See backup_files.h. A file is complete under its name or absent; one of the same name and size is not copied again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/disk.h"
#include "base/hex.h"
#include "catalog/maintenance.h"
#include "json_whole.h"
#include "maintenance/backup_files.h"
#include "manifests/manifests.h"
#include "reel/cleanup.h"
#include "store/inspect.h"

/* ---- one file */

static bool link_file(const char *from, const char *to, bool *gone, struct reel_error *err) {
    unlink(to); /* one of an earlier backup */
    bool linked = link(from, to) == 0;
    *gone = !linked && errno == ENOENT;
    if (linked || *gone) {
        return true;
    }
    return errno == EXDEV ? reel_fail(err, REEL_ARGUMENT, "files cannot be linked to another disk: copy them")
                          : reel_fail_errno(err, "a file cannot be linked");
}

static bool copy_stored(struct backup_files *f, const char *hex, const char *suffix, bool *gone,
                        struct reel_error *err) {
    char from[PATH_MAX], to[PATH_MAX];
    uint64_t size, there;
    *gone = false;
    if (!store_file_path(f->from, hex, suffix, from, sizeof from) ||
        !store_file_path(f->to, hex, suffix, to, sizeof to)) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    if (!*suffix && store_file_size(f->to, hex, suffix, &there) && store_file_size(f->from, hex, suffix, &size) &&
        size == there) {
        return true;
    }
    return store_make_place(f->to, hex, err) &&
           (f->blobs == BACKUP_LINK_BLOBS ? link_file : disk_copy)(from, to, gone, err);
}

/* ---- all of them */

struct listing {
    FILE *file;
    struct digest hash;
};

static bool add_line(struct listing *l, const char *sha256, struct reel_error *err) {
    char line[192];
    int n = snprintf(line, sizeof line, "%s  blobs/%.2s/%s\n", sha256, sha256, sha256);
    digest_add(&l->hash, line, (size_t)n);
    return fputs(line, l->file) >= 0 || reel_fail_errno(err, "the list of files cannot be written");
}

static bool list_and_copy(struct backup_files *f, struct catalog *copied, struct listing *l, struct reel_error *err) {
    char sha256[SHA256_HEX] = "", next[SHA256_HEX];
    struct reel_error end = {0};
    uint64_t size, unused;
    while (catalog_part_after(copied, sha256, next, &size, &end)) {
        bool gone = false;
        memcpy(sha256, next, sizeof sha256);
        bool here = store_file_size(f->from, sha256, "", &unused),
             elsewhere = !here && store_file_size(f->from, sha256, ".ref", &unused);
        if (f->progress && f->progress->report && !f->progress->report(f->progress->context, f->count, 0)) {
            return reel_fail(err, REEL_CANCELLED, "cancelled");
        }
        if (f->blobs != BACKUP_NO_BLOBS && !copy_stored(f, sha256, elsewhere ? ".ref" : "", &gone, err)) {
            return false;
        }
        f->elsewhere += elsewhere;
        f->gone += gone || (!here && !elsewhere);
        f->count += here && !gone;
        f->bytes += here && !gone ? size : 0;
        if (here && !gone && !add_line(l, sha256, err)) {
            return false;
        }
    }
    return end.code == REEL_NOT_FOUND || reel_error_pass(err, &end);
}

static bool write_list(struct backup_files *f, struct catalog *copied, const char *folder, struct reel_error *err) {
    char path[PATH_MAX];
    if (!disk_join(path, folder, "blobs.txt", err)) {
        return false;
    }
    struct listing l = {.file = fopen(path, "we")};
    digest_start(&l.hash, DIGEST_SHA256);
    bool good =
        l.file ? list_and_copy(f, copied, &l, err) : reel_fail_errno(err, "the list of files cannot be written");
    if (l.file && fclose(l.file) != 0 && good) {
        good = reel_fail_errno(err, "the list of files cannot be written");
    }
    digest_end_hex(&l.hash, f->list_sha256);
    return good;
}

struct contents {
    struct backup_files *f;
    struct reel_error error;
};

static bool copy_content(void *context, const struct catalog_recording *r) {
    struct contents *c = context;
    bool gone; /* a recording that failed has no index */
    return copy_stored(c->f, r->content, ".json", &gone, &c->error) &&
           copy_stored(c->f, r->content, ".reel", &gone, &c->error);
}

struct newer_manifests {
    struct backup_files *f;
    struct app copy; /* the backup */
    struct reel_error error;
};

/* A manifest was copied after the catalog: that of a row which was changed meanwhile is newer, and written as the row
 * was. */
static bool write_older(void *context, const struct catalog_recording *r) {
    struct newer_manifests *m = context;
    struct catalog_recording now;
    struct reel_error why = {0};
    if (!catalog_get(m->f->now, r->id, &now, &why)) {
        return why.code == REEL_NOT_FOUND ? manifests_write_row(&m->copy, r, &m->error)
                                          : reel_error_pass(&m->error, &why);
    }
    bool same = now.updated_ns == r->updated_ns;
    catalog_recording_done(&now);
    return same || manifests_write_row(&m->copy, r, &m->error);
}

static bool write_older_manifests(struct backup_files *f, struct catalog *copied, struct reel_error *err) {
    struct newer_manifests m = {.f = f, .copy = {.store = f->to, .catalog = copied}};
    return catalog_each(copied, write_older, &m, err) && (m.error.code == REEL_OK || reel_error_pass(err, &m.error));
}

/* A file of the data folder itself, which need not be there. */
static bool copy_side_files(const struct backup_files *f, const char *folder, const char *name,
                            struct reel_error *err) {
    char from[PATH_MAX], to[PATH_MAX];
    bool gone;
    return disk_join(from, store_folder(f->from), name, err) && disk_join(to, folder, name, err) &&
           disk_copy(from, to, &gone, err);
}

static bool copy_contents(struct backup_files *f, struct catalog *copied, const char *folder, struct reel_error *err) {
    struct contents c = {.f = f};
    return catalog_each(copied, copy_content, &c, err) &&
           (c.error.code == REEL_OK || reel_fail(err, c.error.code, "%s", c.error.text)) &&
           write_older_manifests(f, copied, err) && copy_side_files(f, folder, "collections.json", err);
}

/* ---- files of an earlier backup */

struct pruning {
    struct backup_files *f;
    struct catalog *copied;
    struct reel_error error;
};

static bool prune_one(void *context, const char *hex, const char *suffix, int64_t written_ns) {
    struct pruning *p = context;
    char path[PATH_MAX];
    bool blob = !*suffix || strcmp(suffix, ".ref") == 0, used = false;
    (void)written_ns;
    if (!cancel_check(&p->error) ||
        !(blob ? catalog_blob_used : catalog_content_used)(p->copied, hex, &used, &p->error)) {
        return false;
    }
    if (!used && store_file_path(p->f->to, hex, suffix, path, sizeof path)) {
        unlink(path);
    }
    return true;
}

static bool sync_all(const char *folder, struct reel_error *err) {
    return disk_sync_all(folder) || reel_fail_errno(err, "the backup cannot be written to disk");
}

bool backup_files(struct backup_files *f, struct catalog *copied, const char *folder, struct reel_error *err) {
    struct pruning p = {.f = f, .copied = copied};
    return write_list(f, copied, folder, err) &&
           (f->blobs == BACKUP_NO_BLOBS ||
            (copy_contents(f, copied, folder, err) && backup_live(f, copied, folder, err))) &&
           copy_side_files(f, folder, "settings.json", err) && store_each(f->to, prune_one, &p, err) &&
           (p.error.code == REEL_OK || reel_fail(err, p.error.code, "%s", p.error.text)) && sync_all(folder, err);
}

/* Converted to text first, as json_dumpfd() does not report every failed write. */
bool backup_write_json(const char *folder, const json_t *manifest, struct reel_error *err) {
    char part[PATH_MAX], path[PATH_MAX];
    AUTO_MEM char *text = json_whole_text(manifest, JSON_INDENT(1));
    if (!text) {
        return reel_fail_memory(err);
    }
    if (!disk_join(part, folder, "backup.json.part", err) || !disk_join(path, folder, "backup.json", err)) {
        return false;
    }
    AUTO_FD int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good =
        (fd >= 0 && disk_write_all(fd, text, strlen(text)) && sync_all(folder, NULL) && rename(part, path) == 0) ||
        reel_fail_errno(err, "backup.json cannot be written");
    if (!good) {
        unlink(part);
    }
    return good && sync_all(folder, err);
}
