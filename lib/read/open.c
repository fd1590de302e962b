/* Files of this machine as recordings (reel/open.h). A kept index pack is used only for the very files it was made of:
 * their paths, devices, inodes, sizes and times of change name it. */
#include "reel/open.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/hex.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/source.h"
#include "index/format.h"
#include "index/index.h"
#include "index/scan.h"
#include "read/folder.h"
#include "read/reader.h"

enum { KEPT_DAYS = 30, PACK_DIGITS = SHA1_HEX - 1 };
#define PACK_SUFFIX ".reel"

struct files {
    struct folder in;             /* of a folder that the caller names */
    const char **paths;           /* the caller's, then those in `beside` */
    uint32_t n, named;            /* files; of the caller */
    char **beside;                /* those found beside the caller's, one or none each */
    struct stat *st;              /* one each, from before the scan */
    struct reel_source **sources; /* one each; NULL: not opened yet, or taken over */
    const char *folder;           /* of packs; NULL: the pack is a temporary file, which goes with the index */
    char *pack;
};

static void reel_auto_files_done(struct files *f) {
    for (uint32_t i = 0; i < f->n && f->sources; i++) {
        reel_source_free(f->sources[i]);
    }
    for (uint32_t i = 0; i < f->named && f->beside; i++) {
        free(f->beside[i]);
    }
    free(f->beside);
    free(f->paths);
    free(f->sources);
    free(f->st);
    free(f->pack);
    folder_done(&f->in);
}

/* Of the files that were opened: another one may have their name by now. */
static bool stat_all(const struct files *f, struct stat *st, struct reel_error *err) {
    for (uint32_t i = 0; i < f->n; i++) {
        if (fstat(reel_source_fd(f->sources[i]), &st[i]) != 0) {
            return reel_fail_errno(err, "%s", f->sources[i]->name);
        }
    }
    return true;
}

/* False: no memory. */
static bool pack_name(const struct files *f, char out[SHA1_HEX]) {
    AUTO_STRUCT(grow_done) struct grow text = {0};
    for (uint32_t i = 0; i < f->n; i++) {
        AUTO_MEM char *whole = realpath(f->paths[i], NULL);
        const struct stat *st = &f->st[i];
        char identity[128]; /* five numbers of 64 bits */
        snprintf(identity, sizeof identity, "\n%ju %ju %jd %jd.%09ld", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino,
                 (intmax_t)st->st_size, (intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
        grow_text(&text, i ? "\n" : "");
        grow_text(&text, whole ? whole : f->paths[i]);
        grow_text(&text, identity);
    }
    if (text.failed) {
        return false;
    }
    digest_hex(DIGEST_SHA1, bytes_of(text.data, text.size), out);
    return true;
}

static bool choose_pack(struct files *f, const char *cache_folder, struct reel_error *err) {
    char name[SHA1_HEX];
    if (!(f->folder = cache_folder)) {
        return true;
    }
    if (!pack_name(f, name) || asprintf(&f->pack, "%s/%s" PACK_SUFFIX, f->folder, name) < 0) {
        f->pack = NULL;
        return reel_fail_memory(err);
    }
    return true;
}

/* What the name of a part beside the file adds to its own; NULL: there is no such part. */
static const char *ending_beside(const char *path) {
    for (size_t i = 0; reel_formats[i]; i++) {
        size_t size = strlen(path), end = strlen(reel_formats[i]->suffixes[0]);
        if (reel_formats[i]->beside && size > end && strcmp(path + size - end, reel_formats[i]->suffixes[0]) == 0) {
            return reel_formats[i]->beside;
        }
    }
    return NULL;
}

static bool has_file(const struct files *f, const struct stat *file) {
    for (uint32_t i = 0; i < f->n; i++) {
        struct stat st;
        if (stat(f->paths[i], &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino) {
            return true;
        }
    }
    return false;
}

/* Adds the log that lies beside a database, unless the caller names it. */
static bool add_beside(struct files *f, struct reel_error *err) {
    for (uint32_t i = 0; i < f->named; i++) {
        const char *ending = ending_beside(f->paths[i]);
        char *path = NULL;
        struct stat st;
        if (ending && asprintf(&path, "%s%s", f->paths[i], ending) < 0) {
            return reel_fail_memory(err);
        }
        if (path && f->n < REEL_PARTS_MAX && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
            !has_file(f, &st)) {
            f->paths[f->n++] = f->beside[i] = path;
        } else {
            free(path);
        }
    }
    return true;
}

/* The files of the one recording in a folder. */
static bool open_folder(struct folder *in, const char *path, const char *const **paths, uint32_t *n,
                        struct reel_error *err) {
    if (!folder_read(path, NULL, NULL, in, err)) {
        return false;
    }
    const struct folder_recording *only = folder_only(in);
    if (!only) {
        return in->n > 0 ? reel_fail(err, REEL_ARGUMENT, "the folder holds %u recordings: name one of its files", in->n)
                         : reel_fail(err, REEL_NOT_MINE, "the folder holds no recording");
    }
    *paths = only->paths;
    *n = only->n;
    return true;
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool open_files(struct files *f, const char *const *paths, uint32_t n, const char *cache_folder,
                       struct reel_error *err) {
    *f = (struct files){.n = 0};
    if (n == 1 && is_folder(paths[0]) && !open_folder(&f->in, paths[0], &paths, &n, err)) {
        return false;
    }
    if (n == 0 || n > REEL_PARTS_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "a recording has 1 to %d files", REEL_PARTS_MAX);
    }
    f->n = f->named = n;
    f->paths = calloc(2 * (size_t)n, sizeof(const char *));
    f->beside = calloc(n, sizeof(char *));
    f->st = calloc(2 * (size_t)n, sizeof *f->st);
    f->sources = calloc(2 * (size_t)n, sizeof(struct reel_source *));
    if (!f->paths || !f->beside || !f->st || !f->sources) {
        return reel_fail_memory(err);
    }
    memcpy(f->paths, paths, n * sizeof *paths);
    if (!add_beside(f, err)) {
        return false;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        if (!(f->sources[i] = reel_source_open(f->paths[i], NULL, err))) {
            return false;
        }
    }
    return stat_all(f, f->st, err) && choose_pack(f, cache_folder, err);
}

/* A name that choose_pack() makes. The folder is the caller's and may contain other files. */
static bool is_pack_name(const char *name) {
    return hex_span(name) == PACK_DIGITS && strcmp(name + PACK_DIGITS, PACK_SUFFIX) == 0;
}

/* Packs that were not opened for a month are removed when a new one is made, so that the folder does not grow for ever.
 */
static void remove_old_packs(const char *folder) {
    DIR *dir = opendir(folder);
    time_t oldest = time(NULL) - (time_t)KEPT_DAYS * 86400;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (is_pack_name(e->d_name) && fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && st.st_mtime < oldest) {
            unlinkat(dirfd(dir), e->d_name, 0);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

/* A kept pack that can still be used. */
static struct reel_index *kept_index(const struct files *f, bool summary_is_enough) {
    AUTO(reel_index_free) struct reel_index *index = f->pack ? reel_index_open(f->pack, NULL) : NULL;
    if (!index || (reel_index_info(index)->is_summary && !summary_is_enough)) {
        return NULL;
    }
    utimensat(AT_FDCWD, f->pack, NULL, 0); /* for remove_old_packs() */
    return TAKE(index);
}

static bool unchanged(const struct files *f) {
    AUTO_MEM struct stat *now = calloc(f->n, sizeof *now);
    if (!now || !stat_all(f, now, NULL)) {
        return false;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const struct stat *a = &f->st[i], *b = &now[i];
        if (a->st_size != b->st_size || a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
            a->st_mtim.tv_nsec != b->st_mtim.tv_nsec) {
            return false;
        }
    }
    return true;
}

static struct reel_index *scan(const struct files *f, const struct reel_open_options *o, struct reel_error *err) {
    if (f->pack) {
        remove_old_packs(f->folder);
    }
    struct reel_index *index = reel_scan_index(f->sources, f->n, NULL, f->pack, false, o->threads, o->progress, err);
    if (index && f->pack && !unchanged(f)) {
        unlink(f->pack); /* a file that is being written: its pack is good now and not later */
    }
    return index;
}

struct reel_recording *reel_recording_open_files(const char *const *paths, uint32_t n,
                                                 const struct reel_open_options *options, struct reel_error *err) {
    static const struct reel_recording_options defaults;
    AUTO(files_done) struct files f = {0};
    struct reel_open_options o;
    if (!options_copy(&o, sizeof o, options, "reel_open_options", err) ||
        !open_files(&f, paths, n, o.cache_folder, err)) {
        return NULL;
    }
    struct reel_index *index = o.rescan ? NULL : kept_index(&f, false);
    if (!index && !(index = scan(&f, &o, err))) {
        return NULL;
    }
    struct reel_source **sources = TAKE(f.sources); /* taken over, also on failure */
    struct reel_recording *recording = reel_recording_from_index(index, sources, f.n, &defaults, err);
    free(sources);
    return recording;
}

struct reel_recording *reel_recording_open(const char *path, const char *cache_folder, struct reel_error *err) {
    return reel_recording_open_files(
        &path, 1, &(struct reel_open_options){.size = sizeof(struct reel_open_options), .cache_folder = cache_folder},
        err);
}

struct reel_index *reel_summary_open(const char *const *paths, uint32_t n, const struct reel_open_options *options,
                                     struct reel_error *err) {
    AUTO(files_done) struct files f = {0};
    struct reel_open_options o;
    struct reel_error own = {0};
    if (!options_copy(&o, sizeof o, options, "reel_open_options", err) ||
        !open_files(&f, paths, n, o.cache_folder, err)) {
        return NULL;
    }
    struct reel_index *index = o.rescan ? NULL : kept_index(&f, true);
    if (index) {
        return index;
    }
    if ((index = reel_scan_index(f.sources, f.n, NULL, f.pack, true, NULL, o.progress, &own))) {
        return index;
    }
    if (own.code == REEL_UNSUPPORTED) {
        return scan(&f, &o, err);
    }
    reel_error_pass(err, &own);
    return NULL;
}

bool reel_recording_forget(const char *const *paths, uint32_t n, const char *cache_folder) {
    AUTO(files_done) struct files f = {0};
    return cache_folder && open_files(&f, paths, n, cache_folder, NULL) && unlink(f.pack) == 0;
}

bool reel_attachment_read(struct reel_recording *recording, const struct reel_attachment *attachment, uint64_t offset,
                          void *buffer, size_t size, struct reel_error *err) {
    if (offset > attachment->size || size > attachment->size - offset) {
        return reel_fail(err, REEL_ARGUMENT, "these bytes are not all in the attachment, which has %llu",
                         (unsigned long long)attachment->size);
    }
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(recording, err);
    return reader && reel_reader_copy(reader, attachment->chunk, attachment->offset + offset, buffer, size, err);
}
