/* Opens local files as recordings. Index packs are kept in the user's cache folder. A pack is named by a hash of its files' paths, devices,
 * inodes, sizes and modification times, so it is only used for unchanged files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/sha.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "wire/cleanup.h"
#include "wire/hex.h"

enum { NAME_BYTES = 20, KEPT_DAYS = 30 };

struct pack_location {
    char *folder, *pack;
    bool temporary; /* the folder is private, and removed once the pack is open */
};

static void reel_auto_pack_location_done(struct pack_location *p) {
    if (p->temporary && p->pack) {
        unlink(p->pack);
    }
    if (p->temporary && p->folder) {
        rmdir(p->folder);
    }
    free(p->folder);
    free(p->pack);
}

/* ---- the cache folder */

static bool make_folder(const char *path) {
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* $XDG_CACHE_HOME/reel or ~/.cache/reel; NULL: neither can be written. */
static char *cache_folder(void) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    AUTO_MEM char *above = NULL;
    char *folder = NULL;
    bool own = base && base[0] == '/';
    if ((!own && (!home || home[0] != '/')) || asprintf(&above, "%s%s", own ? base : home, own ? "" : "/.cache") < 0) {
        above = NULL;
        return NULL;
    }
    if (asprintf(&folder, "%s/reel", above) < 0) {
        return NULL;
    }
    if (!make_folder(above) || !make_folder(folder) || access(folder, W_OK | X_OK) != 0) {
        free(TAKE(folder));
    }
    return folder;
}

static char *temporary_folder(void) {
    const char *base = getenv("TMPDIR");
    char *folder = NULL;
    if (asprintf(&folder, "%s/reel-XXXXXX", base && base[0] == '/' ? base : "/tmp") < 0) {
        return NULL;
    }
    if (!mkdtemp(folder)) {
        free(TAKE(folder));
    }
    return folder;
}

/* Removes packs that have not been used for KEPT_DAYS. Called before a new one is created. */
static void sweep(const char *folder) {
    DIR *dir = opendir(folder);
    time_t oldest = time(NULL) - (time_t)KEPT_DAYS * 86400;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        bool ours = strstr(e->d_name, ".reel") != NULL;
        if (ours && fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_mtime < oldest) {
            unlinkat(dirfd(dir), e->d_name, 0);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static bool stat_all(const struct cli_files *files, struct stat *st, struct reel_error *err) {
    for (uint32_t i = 0; i < files->n; i++) {
        if (stat(files->paths[i], &st[i]) != 0) {
            return reel_fail_errno(err, "%s", cli_file_name(files->paths[i]));
        }
    }
    return true;
}

static bool pack_name(const struct cli_files *files, const struct stat *st, char out[2 * NAME_BYTES + 1]) {
    AUTO_MEM char *text = NULL;
    size_t size = 0;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return false;
    }
    for (uint32_t i = 0; i < files->n; i++) {
        AUTO_MEM char *whole = realpath(files->paths[i], NULL);
        fprintf(f, "%s%s\n%ju %ju %jd %jd.%09ld", i ? "\n" : "", whole ? whole : files->paths[i], (uintmax_t)st[i].st_dev,
                (uintmax_t)st[i].st_ino, (intmax_t)st[i].st_size, (intmax_t)st[i].st_mtim.tv_sec, st[i].st_mtim.tv_nsec);
    }
    if (fclose(f) != 0) {
        return false;
    }
    SHA256((const uint8_t *)text, size, digest);
    hex_write(digest, NAME_BYTES, out);
    return true;
}

static bool choose_location(const struct cli_files *files, const struct stat *st, struct pack_location *out, struct reel_error *err) {
    char name[2 * NAME_BYTES + 1];
    if (!(out->folder = cache_folder())) {
        out->folder = temporary_folder();
        out->temporary = true;
    }
    if (!out->folder) {
        return reel_fail_errno(err, "no folder for the index: neither $XDG_CACHE_HOME, ~/.cache nor $TMPDIR is writable");
    }
    if (!pack_name(files, st, name) || asprintf(&out->pack, "%s/%s.reel", out->folder, name) < 0) {
        out->pack = NULL;
        return reel_fail_memory(err);
    }
    return true;
}

/* ---- opening */

struct parts {
    struct reel_source *items[CLI_PARTS_MAX];
    uint32_t n;
};
static void reel_auto_parts_done(struct parts *p) {
    while (p->n > 0) {
        reel_source_free(p->items[--p->n]);
    }
}

static bool open_parts(const struct cli_files *files, struct parts *out, struct reel_error *err) {
    for (; out->n < files->n; out->n++) {
        if (!(out->items[out->n] = reel_source_open(files->paths[out->n], NULL, err))) {
            return false;
        }
    }
    return true;
}

static struct reel_recording *join(struct reel_index *index, struct parts *parts, struct reel_error *err) {
    static const struct reel_recording_options options;
    uint32_t n = parts->n;
    parts->n = 0; /* the recording owns them now */
    return reel_recording_open(index, parts->items, n, &options, err);
}

/* The kept pack, if it is valid and complete enough. */
static struct reel_index *known_index(const struct pack_location *location, bool summary_suffices) {
    AUTO(reel_index_free) struct reel_index *index = location->temporary ? NULL : reel_index_open(location->pack, NULL);
    if (!index || (reel_index_info(index)->shallow && !summary_suffices)) {
        return NULL;
    }
    utimensat(AT_FDCWD, location->pack, NULL, 0); /* marks it as used, for sweep() */
    return TAKE(index);
}

static struct reel_index *scan(const struct parts *parts, const struct pack_location *location, struct reel_error *err) {
    struct cli_progress progress;
    cli_progress_start(&progress, "scanning", parts->items[0]->name);
    bool good = reel_scan_run(parts->items, parts->n, NULL, location->pack, &progress.report, err);
    cli_progress_end(&progress);
    return good ? reel_index_open(location->pack, err) : NULL;
}

static bool same_files(const struct stat *a, const struct stat *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].st_size != b[i].st_size || a[i].st_mtim.tv_sec != b[i].st_mtim.tv_sec || a[i].st_mtim.tv_nsec != b[i].st_mtim.tv_nsec) {
            return false;
        }
    }
    return true;
}

struct reel_recording *cli_open_files(const struct cli_files *files, bool rescan, struct reel_error *err) {
    struct stat before[CLI_PARTS_MAX], after[CLI_PARTS_MAX];
    AUTO(pack_location_done) struct pack_location location = {0};
    AUTO(parts_done) struct parts parts = {.n = 0};
    if (!open_parts(files, &parts, err) || !stat_all(files, before, err) || !choose_location(files, before, &location, err)) {
        return NULL;
    }
    AUTO(reel_index_free) struct reel_index *index = rescan ? NULL : known_index(&location, false);
    if (!index) {
        if (!location.temporary) {
            sweep(location.folder);
        }
        if (!(index = scan(&parts, &location, err))) {
            return NULL;
        }
        if (!stat_all(files, after, NULL) || !same_files(before, after, files->n)) {
            unlink(location.pack); /* the files are being written: this pack must not be used again */
        }
    }
    return join(TAKE(index), &parts, err);
}

struct reel_index *cli_open_summary(const struct cli_files *files, struct reel_error *err) {
    struct stat st[CLI_PARTS_MAX];
    AUTO(pack_location_done) struct pack_location location = {0};
    AUTO(parts_done) struct parts parts = {.n = 0};
    if (!open_parts(files, &parts, err) || !stat_all(files, st, err) || !choose_location(files, st, &location, err)) {
        return NULL;
    }
    struct reel_index *index = known_index(&location, true);
    if (index) {
        return index;
    }
    if (reel_scan_summary(parts.items, parts.n, NULL, location.pack, NULL, err)) {
        return reel_index_open(location.pack, err);
    }
    return err->code == REEL_UNSUPPORTED ? scan(&parts, &location, err) : NULL;
}

struct reel_recording *cli_open(const char *path, bool rescan, struct reel_error *err) {
    return cli_open_files(&(struct cli_files){.paths = &path, .n = 1}, rescan, err);
}

void cli_forget(const char *path, struct reel_error *err) {
    cli_forget_files(&(struct cli_files){.paths = &path, .n = 1}, err);
}

void cli_forget_files(const struct cli_files *files, struct reel_error *err) {
    static const char hint[] = " (the kept index was removed; run this command again)";
    AUTO(pack_location_done) struct pack_location location = {0};
    struct stat st[CLI_PARTS_MAX];
    if (err->code == REEL_CHANGED && stat_all(files, st, NULL) && choose_location(files, st, &location, NULL) && !location.temporary &&
        unlink(location.pack) == 0) {
        size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof err->text - used, "%s", strstr(err->text, hint) ? "" : hint);
    }
}

/* ---- selecting */

bool cli_selection(const struct cli_select *s, struct reel_recording *const *recordings, uint32_t n,
                   const struct reel_source_option *sources, struct reel_selection *out, struct reel_error *err) {
    int64_t first, last;
    reel_merge_span(recordings, n, sources, &first, &last);
    *out = REEL_SELECT_ALL;
    out->sources = sources;
    out->topics = s->topics.items;
    out->n_topics = s->topics.count;
    out->exclude = s->exclude.items;
    out->n_exclude = s->exclude.count;
    out->every_n = s->every.n;
    out->every_ns = s->every.ns;
    out->last_per_topic = s->last;
    if (s->start.given) {
        out->start_ns = reel_time_resolve(&s->start.time, first, last, reel_now_ns());
    }
    if (s->end.given) {
        out->end_ns = reel_time_resolve(&s->end.time, first, last, reel_now_ns());
    }
    if (s->last && !s->start.given) {
        return reel_fail(err, REEL_ARGUMENT, "--last needs --start");
    }
    return out->start_ns <= out->end_ns || reel_fail(err, REEL_ARGUMENT, "--end is before --start");
}
