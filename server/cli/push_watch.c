/* See push_watch.h. One thread: between the pieces of an upload it looks at the folders, and breaks the upload off if
 * something more urgent has come; the upload continues later where it ended. */
#include "cli/push_watch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/systemd.h"

static const int64_t SECOND = 1000000000, LINK_PAUSE_NS = 5000000000;
enum { BACKOFF_FIRST_S = 10, BACKOFF_LONGEST_S = 600, LINK_LONGEST_S = 20, RETRIES = 3, IDLE_MS = 500 };

int64_t push_boot_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec;
}

void push_watch_say(const struct push_agent *a, const char *path, const char *text) {
    if (!a->options->quiet) {
        printf("%s: %s\n", path, text);
        fflush(stdout);
    }
}

void push_watch_fail(const char *path, const struct reel_error *err) {
    cli_fail(&cli_push, path, err);
}

/* push_http and push_file ask without a context, and there is one agent in a program. */
static struct push_agent *running;

/* Something else is more urgent than what is being sent: to announce, to send a part, another file. */
static bool is_preempted(const struct push_agent *a, const struct push_units *units) {
    const struct push_unit *best = push_scan_best(a, units);
    return push_announce_next(a, units) || a->n_cuts > 0 ||
           (best && best->main != a->current->main && push_unit_before(best, a->current));
}

bool push_watch_go_on(void) {
    struct push_agent *a = running;
    if (cli_interrupted()) {
        return false;
    }
    push_scan_events(a, 0);
    if (push_scan_due(a)) {
        push_scan(a);
    }
    push_announce_poll(a);
    a->preempted = a->current && is_preempted(a, a->has_found ? &a->found : &a->units);
    return !a->preempted;
}

static bool sweep_go_on(void) {
    return !cli_interrupted();
}

/* ---- one recording */

void push_tags_read(struct push_agent *a, const struct push_unit *unit, struct push_tags *out) {
    AUTO_MEM char *path = push_tags_path(unit->files);
    FILE *f = path ? fopen(path, "re") : NULL;
    size_t n = 0, size = f ? fread(out->text, 1, PUSH_TAGS_BYTES - 1, f) : 0;
    struct reel_error err = {0};
    out->text[size] = '\0';
    if (f) {
        fclose(f);
    }
    for (const char *const *tag = a->options->push.tags; tag && *tag && n < PUSH_TAGS_MAX; tag++) {
        out->items[n++] = *tag;
    }
    for (char *rest = out->text, *line; n < PUSH_TAGS_MAX && (line = strsep(&rest, "\r\n"));) {
        const struct option_list one = {.items = (const char *[]){line}, .count = 1};
        if (*line == '\0' || *line == '#') {
            continue;
        }
        if (cli_tags(&one, NULL, &err)) {
            out->items[n++] = line;
        } else {
            push_watch_fail(path, &err);
            err = (struct reel_error){0};
        }
    }
    out->items[n] = NULL;
}

void push_note_failure(struct push_agent *a, struct push_item *main, const char *path, const struct reel_error *err) {
    int64_t s = BACKOFF_FIRST_S << (main->failures < 6 ? main->failures : 6);
    main->is_io = err->code == REEL_IO;
    int64_t longest = main->is_io ? LINK_LONGEST_S : BACKOFF_LONGEST_S; /* a link may be back at any time */
    main->failures++;
    main->retry_ns = clock_ns() + (s < longest ? s : longest) * SECOND;
    a->pause_ns = main->is_io ? clock_ns() + LINK_PAUSE_NS : 0;
    push_watch_fail(path, err);
}

/* The link works: what failed because of it need not wait. */
static void note_success(struct push_agent *a, struct push_item *main, const struct push_file *file) {
    for (size_t i = 0; i < a->state.n; i++) {
        struct push_item *item = a->state.items[i];
        item->retry_ns = item->is_io ? 0 : item->retry_ns;
        item->is_io = false;
    }
    main->failures = 0;
    if (file->verified_s > 0) {
        a->server_offset_s = file->verified_s - push_boot_s();
    }
}

/* What the server was seen to have. If the file has changed since, it is sent again when it is complete, as the next
 * revision. */
static bool keep_result(struct push_agent *a, struct push_item *item, const struct push_print *before,
                        const struct push_file *file, const char *name, struct reel_error *err) {
    struct reel_error why = {0};
    struct push_print now = *before;
    char *copy = file->sha256[0] && file->id[0] ? strdup(name) : NULL;
    if (!copy) {
        return reel_fail(err, REEL_IO, "the server does not say which content it has");
    }
    if (!push_print_of(item->path, &now) || !push_print_is(before, &now)) {
        a->dirty = true;
        item->retry_ns = clock_ns() + (int64_t)(a->options->still_s + 1) * SECOND;
        item->still_ns = clock_ns();
    }
    free(item->name);
    item->name = copy;
    item->stored = true;
    item->gone = item->wanted = false;
    item->announced_id[0] = '\0';
    item->as = *before;
    item->print = now;
    strcpy(item->sha256, file->sha256);
    strcpy(item->id, file->id);
    item->verified_s = file->verified_s;
    if (!push_state_write(&a->state, item, &why)) {
        push_watch_fail(item->path, &why);
    }
    return true;
}

/* A name that another robot's recording has is no reason to fail: this one gets a name of its own. */
static bool send_named(struct push_http *http, const struct push_options *options, struct push_file *file, char **other,
                       struct reel_error *err) {
    _Atomic uint64_t sent = 0;
    struct reel_error why = {0};
    if (push_file(http, options, file, &sent, &why)) {
        return true;
    }
    if (why.code != REEL_CONFLICT || file->part_of || *other) {
        return reel_error_pass(err, &why);
    }
    *other = push_file_other_name(file->name, file->path, push_watch_go_on, err);
    if (!*other) {
        return false;
    }
    const char *own = cli_file_name(file->path);
    *file = (struct push_file){.path = file->path, .name = *other, .file_name = own};
    return push_file(http, options, file, &sent, err);
}

/* The recording is no longer announced, so users cannot ask for its other files: they are sent, also by an agent that
 * begins anew. */
static void want_others(struct push_agent *a, const struct push_unit *unit) {
    struct reel_error err = {0};
    for (uint32_t i = 0; i < unit->files->n; i++) {
        struct push_item *item = push_state_item(&a->state, unit->files->paths[i], NULL);
        if (!item || item == unit->main || !item->announced_id[0]) {
            continue;
        }
        item->announced_id[0] = '\0';
        if (!push_state_write(&a->state, item, &err)) {
            push_watch_fail(item->path, &err);
            err = (struct reel_error){0};
        }
    }
}

static bool send_file(struct push_agent *a, struct push_http *http, const struct push_unit *unit, uint32_t k,
                      const struct push_options *options, char **name, struct reel_error *err) {
    const char *path = unit->files->paths[k], *own = cli_file_name(path);
    bool is_main = k == unit->files->main;
    struct push_item *item = push_state_item(&a->state, path, err);
    struct push_file file = {.path = path, .name = is_main ? *name : own, .part_of = is_main ? NULL : *name};
    struct push_print before;
    AUTO_MEM char *other = NULL;
    if (!item) {
        return false;
    }
    if (!push_print_of(path, &before)) {
        item->there = false;
        return !is_main || reel_fail(err, REEL_CHANGED, "is no longer there");
    }
    file.file_name = strcmp(own, cli_file_name(file.name)) == 0 ? NULL : own;
    if (!send_named(http, options, &file, &other, err)) {
        return false;
    }
    if (other) {
        free(*name);
        *name = TAKE(other);
    }
    push_watch_say(a, path, file.text);
    note_success(a, unit->main, &file);
    if (is_main) {
        want_others(a, unit);
    }
    return keep_result(a, item, &before, &file, *name, err);
}

/* A new revision has only the files that are sent to it. */
static bool send_unit(struct push_agent *a, struct push_http *http, const struct push_unit *unit, const char **failed,
                      struct reel_error *err) {
    AUTO_MEM struct push_tags *tags = malloc(sizeof *tags);
    struct push_options options = a->options->push;
    struct push_item *main = unit->main;
    bool renewed = !push_item_is_done(main), good = true;
    AUTO_MEM char *name = strdup(main->stored || push_item_is_announced(main) ? main->name : unit->files->name);
    AUTO_MEM char *collection = NULL;
    if (!tags || !name) {
        return reel_fail_memory(err);
    }
    push_tags_read(a, unit, tags);
    options.tags = tags->items;
    options.agent = a->state.agent;
    options.go_on = push_watch_go_on;
    options.retries = RETRIES;
    options.replace = options.replace || main->stored; /* its content has changed since */
    *failed = main->path;
    push_announce_names(a, main, &name, &collection);
    options.collection = collection ? collection : options.collection;
    good = !renewed || send_file(a, http, unit, unit->files->main, &options, &name, err);
    for (uint32_t k = 0; k < unit->files->n && good; k++) {
        const struct push_item *item = push_state_item(&a->state, unit->files->paths[k], NULL);
        if (k != unit->files->main && item && (renewed || !push_item_is_done(item))) {
            *failed = unit->files->paths[k];
            good = send_file(a, http, unit, k, &options, &name, err);
        }
    }
    return good;
}

static void upload(struct push_agent *a, struct push_http *http, const struct push_unit *unit) {
    struct reel_error err = {0};
    const char *failed = NULL;
    a->current = unit;
    a->preempted = false;
    bool good = send_unit(a, http, unit, &failed, &err);
    bool interrupted = err.code == REEL_CANCELLED && (cli_interrupted() || a->preempted);
    if (!good && !interrupted) {
        push_note_failure(a, unit->main, failed, &err);
        push_announce_failed(a, unit->main, &err);
    }
    a->current = NULL;
    a->preempted = false;
}

/* ---- all of them */

static void watch_round(struct push_agent *a, struct push_http *http, struct push_http *sweeper) {
    struct reel_error err = {0};
    if (push_scan_due(a)) {
        push_scan(a);
    }
    if (a->has_found) {
        push_units_done(&a->units);
        a->units = a->found;
        a->found = (struct push_units){.n = 0};
        a->has_found = false;
    }
    push_sweep(a, sweeper);
    push_announce_poll(a);
    bool paused = clock_ns() < a->pause_ns || (a->options->push.rate && push_rate_is_paused(a->options->push.rate));
    const struct push_unit *unannounced = paused ? NULL : push_announce_next(a, &a->units),
                           *unit = paused ? NULL : push_scan_best(a, &a->units);
    if (unannounced) {
        push_announce(a, http, unannounced);
        return;
    }
    if (!paused && a->n_cuts > 0) {
        push_cut(a, http);
        return;
    }
    if (unit) {
        upload(a, http, unit);
        return;
    }
    push_scan_events(a, IDLE_MS);
    if (a->units.n == 0 && !push_state_tidy(&a->state, &err)) {
        push_watch_fail(NULL, &err);
    }
}

static char *state_path(const struct push_watch_options *o, struct reel_error *err) {
    AUTO_MEM char *folder = o->state ? NULL : push_state_folder(err);
    char *path = NULL;
    if (!o->state && !folder) {
        return NULL;
    }
    if (o->state ? !(path = strdup(o->state)) : asprintf(&path, "%s/push", folder) < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return path;
}

static void push_agent_done(struct push_agent *a) {
    push_scan_done(a);
    push_state_done(&a->state);
}

bool push_watch(const struct push_watch_options *options, struct reel_error *err) {
    AUTO_MEM char *path = state_path(options, err);
    AUTO_STRUCT(push_agent_done)
    struct push_agent a = {.options = options, .inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), .state.fd = -1};
    AUTO(push_http_free) struct push_http *http = push_http_new(options->token, push_watch_go_on, err);
    AUTO(push_http_free) struct push_http *sweeper = push_http_new(options->token, sweep_go_on, err);
    if (!path || !http || !sweeper || !push_state_open(&a.state, path, err)) {
        return false;
    }
    a.other = sweeper;
    running = &a;
    systemd_ready();
    while (!cli_interrupted()) {
        watch_round(&a, http, sweeper);
    }
    systemd_stopping();
    running = NULL;
    return true;
}
