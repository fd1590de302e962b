/* A file of this machine as a recording. The index pack lies in the user's cache folder. Its one rule: a pack is believed only for the very
 * file it was made of – same path, device, inode, size and time of change, all of which name it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/sha.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"

enum { NAME_BYTES = 20, KEPT_DAYS = 30 };

struct place {
    char *folder, *pack;
    bool temporary; /* the folder is ours alone, gone once the pack is open */
};

static void reel_auto_place_done(struct place *p) {
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

/* $XDG_CACHE_HOME/reel or ~/.cache/reel; NULL when there is none that can be written. */
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

/* Packs that nobody has opened for a month go; called when a new one is made, so the folder does not grow for ever. */
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

static bool pack_name(const char *path, const struct stat *st, char out[2 * NAME_BYTES + 1]) {
    AUTO_MEM char *whole = realpath(path, NULL);
    AUTO_MEM char *text = NULL;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    if (asprintf(&text, "%s\n%ju %ju %jd %jd.%09ld", whole ? whole : path, (uintmax_t)st->st_dev, (uintmax_t)st->st_ino,
                 (intmax_t)st->st_size, (intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec) < 0) {
        text = NULL;
        return false;
    }
    SHA256((const uint8_t *)text, strlen(text), digest);
    for (unsigned i = 0; i < NAME_BYTES; i++) {
        snprintf(out + (size_t)2 * i, 3, "%02x", digest[i]);
    }
    return true;
}

static bool choose_place(const char *path, const struct stat *st, struct place *out, struct reel_error *err) {
    char name[2 * NAME_BYTES + 1];
    if (!(out->folder = cache_folder())) {
        out->folder = temporary_folder();
        out->temporary = true;
    }
    if (!out->folder) {
        return reel_fail_errno(err, "no folder for the index: neither $XDG_CACHE_HOME, ~/.cache nor $TMPDIR can be written");
    }
    if (!pack_name(path, st, name) || asprintf(&out->pack, "%s/%s.reel", out->folder, name) < 0) {
        out->pack = NULL;
        return reel_fail_memory(err);
    }
    return true;
}

/* ---- opening */

static struct reel_recording *join(struct reel_index *index, struct reel_source *source, struct reel_error *err) {
    static const struct reel_recording_options options;
    return reel_recording_open(index, &source, 1, &options, err);
}

/* A pack of before, when it still holds. */
static struct reel_index *known_index(const struct place *place) {
    struct reel_index *index = place->temporary ? NULL : reel_index_open(place->pack, NULL);
    if (index) {
        utimensat(AT_FDCWD, place->pack, NULL, 0); /* used just now: sweep() looks at it */
    }
    return index;
}

static struct reel_index *scan(struct reel_source *source, const struct place *place, struct reel_error *err) {
    struct cli_progress progress;
    cli_progress_start(&progress, "scanning", source->name);
    bool good = reel_scan_run(&source, 1, NULL, place->pack, &progress.report, err);
    cli_progress_end(&progress);
    return good ? reel_index_open(place->pack, err) : NULL;
}

struct reel_recording *cli_open(const char *path, bool fresh, struct reel_error *err) {
    struct stat before, after;
    AUTO(place_done) struct place place = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, err);
    if (!source || (stat(path, &before) != 0 && !reel_fail_errno(err, "%s", source->name)) || !choose_place(path, &before, &place, err)) {
        return NULL;
    }
    AUTO(reel_index_free) struct reel_index *index = fresh ? NULL : known_index(&place);
    if (!index) {
        if (!place.temporary) {
            sweep(place.folder);
        }
        if (!(index = scan(source, &place, err))) {
            return NULL;
        }
        if (stat(path, &after) != 0 || after.st_size != before.st_size || after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
            after.st_mtim.tv_nsec != before.st_mtim.tv_nsec) {
            unlink(place.pack); /* it is being written to: good for now, not for later */
        }
    }
    return join(TAKE(index), TAKE(source), err);
}

void cli_forget(const char *path, struct reel_error *err) {
    static const char hint[] = " (the kept index is thrown away; run this again)";
    AUTO(place_done) struct place place = {0};
    struct stat st;
    if (err->code == REEL_CHANGED && stat(path, &st) == 0 && choose_place(path, &st, &place, NULL) && !place.temporary &&
        unlink(place.pack) == 0) {
        size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof err->text - used, "%s", strstr(err->text, hint) ? "" : hint);
    }
}

/* ---- selecting */

/* Times relative to several recordings count from the first start and the last end. */
static void span_of(struct reel_recording *const *recordings, uint32_t n, int64_t *first, int64_t *last) {
    bool any = false;
    *first = *last = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index_info *info = reel_index_info(reel_recording_index(recordings[i]));
        if (info->messages > 0) {
            *first = !any || info->start_ns < *first ? info->start_ns : *first;
            *last = !any || info->end_ns > *last ? info->end_ns : *last;
            any = true;
        }
    }
}

bool cli_selection(const struct cli_select *s, struct reel_recording *const *recordings, uint32_t n, struct reel_selection *out,
                   struct reel_error *err) {
    int64_t first, last;
    span_of(recordings, n, &first, &last);
    *out = REEL_SELECT_ALL;
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
    return out->start_ns <= out->end_ns || reel_fail(err, REEL_ARGUMENT, "--end lies before --start");
}
