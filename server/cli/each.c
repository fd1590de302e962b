/* See each.h. */
#include "cli/each.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"

/* The folders above the file. */
static bool each_make_folders(char *path, struct reel_error *err) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool good = mkdir(path, 0777) == 0 || errno == EEXIST || reel_fail_errno(err, "%s", path);
        *slash = '/';
        if (!good) {
            return false;
        }
    }
    return true;
}

/* Whether the output is there: *stale if a file that it was made of is newer. */
static bool each_is_there(const char *out, const struct cli_files *files, bool *stale) {
    struct stat made, st;
    *stale = false;
    if (stat(out, &made) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < files->n; i++) {
        *stale = *stale || stat(files->paths[i], &st) != 0 || st.st_mtim.tv_sec > made.st_mtim.tv_sec ||
                 (st.st_mtim.tv_sec == made.st_mtim.tv_sec && st.st_mtim.tv_nsec > made.st_mtim.tv_nsec);
    }
    return true;
}

/* One of them, in a process of its own. */
static pid_t start_one(const struct cli_each *each, const struct cli_files *files, bool replace, char *out) {
    char *paths[CLI_PARTS_MAX + 1];
    struct reel_error err = {0};
    fflush(NULL);
    pid_t child = fork();
    if (child != 0) {
        return child;
    }
    for (uint32_t i = 0; i < files->n; i++) {
        paths[i] = (char *)files->paths[i];
    }
    paths[files->n] = out;
    bool good = each->run(each->context, paths, files->n + 1, replace, &err);
    int code = good ? CLI_DONE : (cli_forget_files(files, &err), cli_fail(each->command, NULL, &err));
    fflush(NULL);
    _exit(code);
}

/* How many of those that were waited for failed. */
static uint32_t each_wait_for(unsigned *running, unsigned most) {
    uint32_t failed = 0;
    for (int status; *running > most && wait(&status) > 0; --*running) {
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != CLI_DONE;
    }
    return failed;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool are_distinct(char *const *outs, uint32_t n, struct reel_error *err) {
    AUTO_MEM char **sorted = calloc((size_t)n + 1, sizeof *sorted);
    if (!sorted) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = outs[i];
    }
    qsort(sorted, n, sizeof *sorted, compare_texts);
    for (uint32_t i = 1; i < n; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) {
            return reel_fail(err, REEL_CONFLICT, "two recordings would become %s; convert them into different folders",
                             sorted[i]);
        }
    }
    return true;
}

struct outputs {
    struct cli_recordings all;
    char **outs; /* one each */
    uint32_t converted, skipped, failed;
};

static void outputs_done(struct outputs *e) {
    for (uint32_t i = 0; e->outs && i < e->all.n; i++) {
        free(e->outs[i]);
    }
    free(e->outs);
    cli_recordings_done(&e->all);
}

static bool list_each(const struct cli_each *each, struct outputs *e, char **paths, uint32_t n, const char *folder,
                      struct reel_error *err) {
    const struct cli_gather_options gather = {.deep = true, .except = folder};
    if (!cli_gather(paths, n, &gather, &e->all, err)) {
        return false;
    }
    if (!(e->outs = calloc((size_t)e->all.n + 1, sizeof *e->outs))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < e->all.n; i++) {
        if (!(e->outs[i] = each->path(each->context, folder, &e->all.items[i]))) {
            return reel_fail_memory(err);
        }
    }
    return are_distinct(e->outs, e->all.n, err);
}

/* One that is there already, and not older than its files, is done. */
static void run_one(const struct cli_each *each, struct outputs *e, uint32_t i, unsigned *running) {
    struct reel_error err = {0};
    bool stale;
    if (each_is_there(e->outs[i], &e->all.items[i], &stale) && !stale && !each->always) {
        e->skipped++;
        return;
    }
    e->failed += each_wait_for(running, each->processes - 1);
    bool started = each_make_folders(e->outs[i], &err) &&
                   (start_one(each, &e->all.items[i], stale, e->outs[i]) > 0 || reel_fail_errno(&err, "fork"));
    if (!started) {
        cli_fail(each->command, NULL, &err);
        e->failed++;
    }
    *running += started;
    e->converted += started;
}

int cli_run_each(const struct cli_each *each, char **paths, uint32_t n, const char *folder) {
    AUTO_STRUCT(outputs_done) struct outputs e = {.outs = NULL};
    struct reel_error err = {0};
    unsigned running = 0;
    if (!list_each(each, &e, paths, n, folder, &err)) {
        return cli_fail(each->command, NULL, &err);
    }
    for (uint32_t i = 0; i < e.all.n && !cli_interrupted(); i++) {
        run_one(each, &e, i, &running);
    }
    uint32_t started = e.converted;
    e.failed += each_wait_for(&running, 0);
    e.converted = started > e.failed ? started - e.failed : 0;
    if (!each->silent) {
        fprintf(stderr, "%u converted, %u skipped, %u failed\n", e.converted, e.skipped, e.failed);
    }
    return e.failed == 0 && !cli_interrupted() ? CLI_DONE : CLI_FAILED;
}
