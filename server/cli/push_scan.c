/* See push_watch.h. inotify only says when to look: a scan lists the folders and compares, so that it also finds what
 * was written before the start and where inotify does not work. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/glob.h"
#include "base/grow.h"
#include "cli/push_watch.h"
#include "imports/folder_walk.h"

static const int64_t SECOND = 1000000000, DIRTY_NS = 1000000000;
static const uint64_t SMALL_BYTES = 16 << 20;
static const char TAGS[] = ".tags", METADATA[] = "metadata.yaml";
enum { METADATA_STILL_S = 2 }; /* `ros2 bag record` may also write it when it begins */

/* ---- events */

static void note_event(struct push_agent *a, const struct inotify_event *e) {
    char path[PATH_MAX];
    a->dirty = true;
    if (!(e->mask & IN_MOVED_TO) || (e->mask & IN_ISDIR) || e->len == 0 || e->wd < 0 || (size_t)e->wd >= a->n_watched ||
        !a->watched[e->wd] || folder_passes_name(e->name) || !disk_join(path, a->watched[e->wd], e->name, NULL)) {
        return;
    }
    struct push_item *item = push_state_item(&a->state, path, NULL);
    if (item) {
        item->moved = true;
    }
}

void push_scan_events(struct push_agent *a, int wait_ms) {
    _Alignas(struct inotify_event) char buffer[16 << 10];
    struct pollfd fd = {.fd = a->inotify, .events = POLLIN};
    if (poll(&fd, 1, wait_ms) <= 0) {
        return;
    }
    for (ssize_t n; (n = read(a->inotify, buffer, sizeof buffer)) > 0;) {
        for (char *at = buffer; at < buffer + n;) {
            const struct inotify_event *e = (const void *)at;
            note_event(a, e);
            at += sizeof *e + e->len;
        }
    }
}

static void watch_folder_events(struct push_agent *a, const char *folder) {
    const uint32_t mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_MODIFY | IN_DELETE | IN_ONLYDIR;
    int wd = a->inotify >= 0 ? inotify_add_watch(a->inotify, folder, mask) : -1;
    if (wd < 0 || ((size_t)wd < a->n_watched && a->watched[wd] && strcmp(a->watched[wd], folder) == 0)) {
        return; /* no more watches: the scans find it */
    }
    while (a->n_watched <= (size_t)wd) {
        char **more = realloc(a->watched, (a->n_watched + 1) * sizeof *more);
        if (!more) {
            return;
        }
        a->watched = more;
        a->watched[a->n_watched++] = NULL;
    }
    free(a->watched[wd]);
    a->watched[wd] = strdup(folder);
}

/* ---- files */

static struct push_print print_of(uint64_t size, uint64_t inode, int64_t mtime_ns) {
    return (struct push_print){.size = size, .inode = inode, .mtime_ns = mtime_ns};
}

bool push_print_of(const char *path, struct push_print *out) {
    struct stat st;
    bool good = lstat(path, &st) == 0 && S_ISREG(st.st_mode);
    if (good) {
        *out = print_of((uint64_t)st.st_size, (uint64_t)st.st_ino,
                        (int64_t)st.st_mtim.tv_sec * SECOND + st.st_mtim.tv_nsec);
    }
    return good;
}

static bool see_file(struct push_agent *a, const char *folder, const struct folder_file *f, struct reel_error *err) {
    char path[PATH_MAX];
    struct push_print now = print_of(f->size, f->inode, f->mtime_ns);
    if (!disk_join(path, folder, f->name, err)) {
        return false;
    }
    struct push_item *item = push_state_item(&a->state, path, err);
    if (!item) {
        return false;
    }
    if (!item->there || !push_print_is(&item->print, &now)) {
        item->moved = item->moved && !item->there;
        item->still_ns = clock_ns();
        item->passed = false;
        item->retry_ns = 0;
        item->failures = 0;
    }
    item->print = now;
    item->there = true;
    item->round = a->round;
    return true;
}

static enum folder_decision scan_enter(void *context, const char *folder, struct reel_error *err) {
    (void)err;
    watch_folder_events(context, folder);
    return cli_interrupted() ? FOLDER_PASS : FOLDER_ENTER;
}

static bool scan_files(void *context, const char *folder, int fd, struct folder_listing *l, struct reel_error *err) {
    (void)fd;
    bool good = true;
    for (uint32_t i = 0; i < l->n_files && good; i++) {
        good = see_file(context, folder, &l->files[i], err);
    }
    return good;
}

static void scan_refused(void *context, const char *folder, const struct reel_error *why) {
    (void)context;
    push_watch_fail(folder, why);
}

/* False: a folder is not there, a disk that is not mounted. */
static bool scan_folder(struct push_agent *a, const char *folder) {
    const struct folder_visit visit = {.enter = scan_enter, .files = scan_files, .refused = scan_refused, .context = a};
    struct reel_error err = {0};
    AUTO_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 ? folder_walk(&visit, folder, fd, &err) : reel_fail_errno(&err, "cannot be opened");
    if (!good) {
        push_watch_fail(folder, &err);
    }
    return good;
}

/* One that cannot be looked at may be there. */
static bool is_gone(const char *path) {
    struct push_print now;
    errno = 0;
    return !push_print_of(path, &now) && (errno == 0 || errno == ENOENT || errno == ENOTDIR);
}

/* What was there and is gone. */
static void drop_missing(struct push_agent *a) {
    for (size_t i = 0; i < a->state.n; i++) {
        struct push_item *item = a->state.items[i];
        if (item->round == a->round || (!item->there && !item->stored && !item->announced_id[0]) ||
            !is_gone(item->path)) {
            continue;
        }
        item->there = item->moved = false;
        if (item->stored || item->announced_id[0]) {
            item->stored = item->wanted = false;
            item->announced_id[0] = '\0';
            push_state_write(&a->state, item, NULL);
        }
    }
}

/* ---- recordings */

static bool ends_with(const char *text, const char *tail) {
    size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

static bool is_named(const struct push_agent *a, const char *path) {
    const struct option_list *globs = a->options->globs;
    bool matches = globs->count == 0;
    for (uint32_t i = 0; i < globs->count && !matches; i++) {
        matches = reel_glob_match(globs->items[i], cli_file_name(path));
    }
    return matches && !ends_with(path, TAGS) && !folder_passes_name(cli_file_name(path));
}

/* Only files that were listed: others have appeared meanwhile, and the next scan takes them. */
static bool scan_takes(void *context, const char *path) {
    struct push_agent *a = context;
    struct push_item *item = is_named(a, path) ? push_state_item(&a->state, path, NULL) : NULL;
    return item && item->there && item->round == a->round;
}

static bool is_complete(struct push_agent *a, const struct cli_files *files, int64_t now) {
    bool metadata = false, complete = true;
    int64_t still_ns = (int64_t)a->options->still_s * SECOND;
    for (uint32_t i = 0; i < files->n; i++) {
        metadata = metadata || strcmp(cli_file_name(files->paths[i]), METADATA) == 0;
    }
    still_ns = metadata && still_ns > METADATA_STILL_S * SECOND ? METADATA_STILL_S * SECOND : still_ns;
    for (uint32_t i = 0; i < files->n && complete; i++) {
        const struct push_item *item = push_state_item(&a->state, files->paths[i], NULL);
        complete = item && (item->moved || push_item_is_done(item) || now - item->still_ns >= still_ns);
    }
    a->waiting = a->waiting || !complete;
    return complete;
}

char *push_tags_path(const struct cli_files *files) {
    const char *main = files->paths[files->main], *slash = strrchr(main, '/');
    bool by_folder = slash && slash > main && strcmp(cli_file_name(files->name), slash + 1) != 0;
    char *path = NULL;
    return asprintf(&path, "%.*s%s", by_folder ? (int)(slash - main) : (int)strlen(main), main, TAGS) < 0 ? NULL : path;
}

static void scan_passed(void *context, const char *path) {
    struct push_agent *a = context;
    struct push_item *item = push_state_item(&a->state, path, NULL);
    if (item) {
        item->passed = true; /* until it changes */
    }
}

/* Adds it if something of it is to be uploaded. */
static bool add_unit(struct push_agent *a, const struct cli_files *files, int64_t now) {
    struct push_units *units = &a->found;
    struct push_item *main = push_state_item(&a->state, files->paths[files->main], NULL);
    struct push_unit unit = {.files = files, .main = main};
    AUTO_MEM char *tags = push_tags_path(files);
    uint64_t size = 0;
    bool any = false;
    for (uint32_t i = 0; i < files->n && main; i++) {
        struct push_item *item = push_state_item(&a->state, files->paths[i], NULL);
        any = any || (item && !push_item_is_done(item));
        size += item ? item->print.size : 0;
    }
    if (!files->format && main) { /* named like a recording, and none */
        main->passed = true;
    }
    if (!any || !files->format || !is_complete(a, files, now)) {
        return true;
    }
    unit.tagged = tags && access(tags, F_OK) == 0;
    unit.small = size <= SMALL_BYTES;
    unit.mtime_ns = main->print.mtime_ns;
    if (!GROW_ARRAY(units->items, units->n, units->room)) {
        return false;
    }
    units->items[units->n++] = unit;
    return true;
}

/* Whether any file may have to be uploaded: then all are opened to see what belongs together. */
static bool has_work(const struct push_agent *a) {
    for (size_t i = 0; i < a->state.n; i++) {
        const struct push_item *item = a->state.items[i];
        bool unannounced =
            a->options->announces && !push_print_is(&item->announced, &item->print) && !push_item_is_done(item);
        if (item->there && !item->passed && (push_scan_is_rest(a, item) || unannounced) && is_named(a, item->path)) {
            return true;
        }
    }
    return false;
}

static void find_units(struct push_agent *a) {
    const struct cli_gather_options gather = {.deep = true,
                                              .own_names = true,
                                              .takes = scan_takes,
                                              .passed = scan_passed,
                                              .refused = scan_refused,
                                              .context = a};
    struct reel_error err = {0};
    int64_t now = clock_ns();
    push_units_done(&a->found);
    a->has_found = true;
    if (!has_work(a)) {
        return;
    }
    bool good =
        cli_gather((char *const *)a->options->folders, a->options->n_folders, &gather, &a->found.gathered, &err);
    for (uint32_t i = 0; i < a->found.gathered.n && good; i++) {
        good = add_unit(a, &a->found.gathered.items[i], now) || reel_fail_memory(&err);
    }
    if (!good && err.code != REEL_CANCELLED && err.code != REEL_NOT_FOUND) {
        push_watch_fail(NULL, &err);
    }
}

void push_units_done(struct push_units *units) {
    cli_recordings_done(&units->gathered);
    free(units->items);
    *units = (struct push_units){.n = 0};
}

void push_scan(struct push_agent *a) {
    bool whole = true;
    a->round++;
    a->dirty = a->waiting = false;
    int64_t began_ns = clock_ns();
    for (uint32_t i = 0; i < a->options->n_folders; i++) {
        whole = scan_folder(a, a->options->folders[i]) && whole;
    }
    if (whole && !cli_interrupted()) {
        drop_missing(a);
    }
    a->whole = whole;
    find_units(a);
    a->scanned_ns = clock_ns();
    a->took_ns = a->scanned_ns - began_ns;
}

bool push_scan_due(const struct push_agent *a) {
    int64_t passed = clock_ns() - a->scanned_ns, still = (int64_t)a->options->still_s * SECOND / 4;
    bool rested = passed >= DIRTY_NS && passed >= 10 * a->took_ns; /* of many files, it opens them all */
    return a->scanned_ns == 0 || (rested && (a->dirty || (a->waiting && passed >= still))) ||
           passed >= (int64_t)a->options->rescan_s * SECOND;
}

void push_scan_done(struct push_agent *a) {
    push_units_done(&a->units);
    push_units_done(&a->found);
    while (a->n_watched > 0) {
        free(a->watched[--a->n_watched]);
    }
    free(a->watched);
    if (a->inotify >= 0) {
        close(a->inotify);
    }
}

/* ---- order */

bool push_unit_before(const struct push_unit *a, const struct push_unit *b) {
    return a->main->wanted != b->main->wanted ? a->main->wanted
           : a->tagged != b->tagged           ? a->tagged
                                              : a->small && !b->small;
}

static bool is_first(const struct push_unit *a, const struct push_unit *b) {
    return push_unit_before(a, b) ||
           (!push_unit_before(b, a) &&
            (a->mtime_ns != b->mtime_ns ? a->mtime_ns < b->mtime_ns : strcmp(a->main->path, b->main->path) < 0));
}

bool push_scan_is_rest(const struct push_agent *a, const struct push_item *item) {
    bool rests = a->options->on_request && push_item_is_announced(item) && !item->stored && !item->wanted;
    return item->there && !push_item_is_done(item) && !rests;
}

/* `units` may be older than the last upload. */
bool push_scan_has_rest(const struct push_agent *a, const struct cli_files *files) {
    for (uint32_t i = 0; i < files->n; i++) {
        const struct push_item *item =
            (struct push_item *)hash_table_get(&a->state.by_path, hash_key_bytes(bytes_text(files->paths[i])));
        if (item && push_scan_is_rest(a, item)) {
            return true;
        }
    }
    return false;
}

const struct push_unit *push_scan_best(const struct push_agent *a, const struct push_units *units) {
    const struct push_unit *best = NULL;
    int64_t now = clock_ns();
    for (size_t i = 0; i < units->n; i++) {
        const struct push_unit *unit = &units->items[i];
        if (now >= unit->main->retry_ns && (!best || is_first(unit, best)) && push_scan_has_rest(a, unit->files)) {
            best = unit;
        }
    }
    return best;
}
