/* See push_watch.h. A file is deleted only if it is as it was when it was uploaded, and its recording, asked for just
 * now, is ready and has a file of this SHA-256. Ages are by the server's clock: that of a robot may be wrong by years.
 */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/disk.h"
#include "cli/push_watch.h"

static const int64_t SWEEP_NS = 5000000000, RETRY_NS = 60000000000;

static int64_t server_now_s(const struct push_agent *a) {
    return a->server_offset_s + push_boot_s();
}

/* Whether the server has it at this moment; false with err if it cannot be asked. */
static bool confirm(struct push_agent *a, struct push_http *http, struct push_item *item, bool *good,
                    struct reel_error *err) {
    AUTO_MEM char *url = NULL;
    AUTO_MEM struct push_answer *answer = malloc(sizeof *answer);
    *good = false;
    if (!answer || asprintf(&url, "%s/recordings/%s", a->options->push.api, item->id) < 0) {
        return reel_fail_memory(err);
    }
    json_auto_t *recording = push_http_json(http, url, NULL, false, answer, err);
    if (err->code != REEL_OK) {
        return false;
    }
    if (answer->date_s > 0) {
        a->server_offset_s = answer->date_s - push_boot_s();
    }
    const char *state = json_string_value(json_object_get(recording, "state"));
    bool trashed = state && strcmp(state, "trashed") == 0;
    *good = state && strcmp(state, "ready") == 0 && push_file_has_content(recording, item->sha256);
    if (answer->status == 404 || trashed) {
        item->gone = true;
        push_state_write(&a->state, item, NULL);
        push_watch_say(a, item->path, "is no longer on the server; it stays here");
    } else if (!recording) {
        return push_http_refused(answer, err);
    }
    return true;
}

/* The folder of a recording that fills it, and what says which tags it has. */
static void delete_rest(struct push_agent *a, const struct push_item *item) {
    char folder[PATH_MAX], tags[PATH_MAX + 8];
    snprintf(tags, sizeof tags, "%s.tags", item->path);
    unlink(tags);
    if (!disk_folder_of(item->path, folder) || strcmp(cli_file_name(folder), cli_file_name(item->name)) != 0) {
        return;
    }
    for (uint32_t i = 0; i < a->options->n_folders; i++) {
        if (strcmp(folder, a->options->folders[i]) == 0) {
            return;
        }
    }
    if (rmdir(folder) == 0) {
        snprintf(tags, sizeof tags, "%s.tags", folder);
        unlink(tags);
    }
}

/* False: the server cannot be asked. */
static bool sweep_delete(struct push_agent *a, struct push_http *http, struct push_item *item) {
    struct reel_error err = {0};
    struct push_print now;
    char text[128];
    bool good;
    if (!confirm(a, http, item, &good, &err)) {
        item->retry_ns = clock_ns() + RETRY_NS;
        return false;
    }
    if (!good || !push_print_of(item->path, &now) || !push_print_is(&now, &item->as)) {
        item->retry_ns = clock_ns() + RETRY_NS;
        return true;
    }
    if (unlink(item->path) != 0) {
        reel_fail_errno(&err, "cannot be deleted");
        push_watch_fail(item->path, &err);
        item->retry_ns = clock_ns() + RETRY_NS;
        return true;
    }
    delete_rest(a, item);
    snprintf(text, sizeof text, "deleted; the server has it as id %.32s", item->id);
    push_watch_say(a, item->path, text);
    item->there = item->stored = false;
    push_state_write(&a->state, item, NULL);
    return true;
}

static bool may_be_deleted(const struct push_item *item, int64_t now) {
    return item->there && push_item_is_done(item) && !item->needed && !item->gone && item->sha256[0] &&
           now >= item->retry_ns;
}

/* A recording of several files goes as a whole: without one of them the rest would be another recording. */
static void note_needed(struct push_agent *a) {
    for (size_t i = 0; i < a->state.n; i++) {
        a->state.items[i]->needed = false;
    }
    for (uint32_t i = 0; i < a->units.gathered.n; i++) {
        const struct cli_files *files = &a->units.gathered.items[i];
        bool needed = push_scan_has_rest(a, files);
        for (uint32_t k = 0; needed && k < files->n; k++) {
            struct push_item *item = push_state_item(&a->state, files->paths[k], NULL);
            if (item) {
                item->needed = true;
            }
        }
    }
}

/* The one that has been on the server for longest; `folder`: only below it. */
static struct push_item *oldest(const struct push_agent *a, const char *folder) {
    struct push_item *found = NULL;
    size_t size = folder ? strlen(folder) : 0;
    int64_t now = clock_ns();
    for (size_t i = 0; i < a->state.n; i++) {
        struct push_item *item = a->state.items[i];
        bool below = !folder || (strncmp(item->path, folder, size) == 0 && item->path[size] == '/');
        if (below && may_be_deleted(item, now) && (!found || item->verified_s < found->verified_s)) {
            found = item;
        }
    }
    return found;
}

static bool lacks_space(const struct push_agent *a, const char *folder) {
    const struct push_watch_options *o = a->options;
    struct statvfs fs;
    if (o->keep_free == 0 || statvfs(folder, &fs) != 0 || fs.f_blocks == 0) {
        return false;
    }
    double free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
    return o->keep_percent ? (double)fs.f_bavail < (double)fs.f_blocks * (double)o->keep_free / 100
                           : free_bytes < (double)o->keep_free;
}

static bool sweep_space(struct push_agent *a, struct push_http *http, const char *folder) {
    bool reachable = true;
    while (reachable && lacks_space(a, folder) && !cli_interrupted()) {
        struct push_item *item = oldest(a, folder);
        if (!item) {
            a->low_space = true;
            return true;
        }
        reachable = sweep_delete(a, http, item);
    }
    return reachable;
}

static bool sweep_age(struct push_agent *a, struct push_http *http) {
    bool reachable = true;
    for (struct push_item *item; reachable && !cli_interrupted() && (item = oldest(a, NULL));) {
        struct reel_error err = {0};
        bool good;
        if (a->server_offset_s == 0 && !confirm(a, http, item, &good, &err)) { /* which says what time it is */
            return false;
        }
        if (a->server_offset_s == 0 || item->verified_s == 0 ||
            server_now_s(a) - item->verified_s < (int64_t)a->options->delete_after_s) {
            break;
        }
        reachable = item->gone || sweep_delete(a, http, item);
    }
    return reachable;
}

void push_sweep(struct push_agent *a, struct push_http *http) {
    int64_t now = clock_ns();
    bool reachable = true;
    if (a->swept_ns != 0 && now - a->swept_ns < SWEEP_NS) {
        return;
    }
    a->low_space = false;
    note_needed(a);
    for (uint32_t i = 0; i < a->options->n_folders && reachable; i++) {
        reachable = sweep_space(a, http, a->options->folders[i]);
    }
    if (reachable && a->options->deletes) {
        sweep_age(a, http);
    }
    if (a->low_space && !a->was_low) {
        fputs("reel push: there is less free space than --keep-free wants, and nothing that may be deleted\n", stderr);
    }
    a->was_low = a->low_space;
    a->swept_ns = clock_ns();
}
