/* reel push: uploads local files; running the command again resumes interrupted uploads. A file that fails is reported,
 * and the others are still uploaded. The files of one recording are uploaded one after another, beginning with the one
 * it is named after. */
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/glob.h"
#include "base/thread.h"
#include "cli/cli.h"
#include "cli/push_file.h"
#include "cli/push_http.h"
#include "imports/folder_walk.h"

enum { JOBS_MAX = 16, BAR_WIDTH = 24, STEP_MS = 200 };

struct pushing {
    struct push_options options;
    struct option_list globs; /* of the files in folders */
    bool dry_run, quiet;
    char **given; /* the arguments */
    uint32_t n_given;
    const char *token;
    const struct cli_recordings *all;
    _Atomic uint64_t sent;
    uint64_t total;
    bool on_terminal;
    pthread_mutex_t mutex; /* guards what follows, and what is printed */
    pthread_cond_t ended;
    uint32_t next, running, done, failed;
};

static void pushing_done(struct pushing *p) {
    reel_auto_option_list_done(&p->globs);
}

/* ---- one recording */

static void push_report(struct pushing *p, const struct push_file *file, bool good, const struct reel_error *err) {
    pthread_mutex_lock(&p->mutex);
    if (p->on_terminal) {
        fputs("\r\033[K", stderr);
    }
    if (good && !p->quiet) {
        printf("%s: %s\n", file->path, file->text);
        fflush(stdout);
    } else if (!good) {
        cli_fail(&cli_push, file->path, err);
        p->failed++;
    }
    pthread_mutex_unlock(&p->mutex);
}

static bool push_one(struct pushing *p, struct push_http *http, const struct cli_files *files, uint32_t k,
                     const char *part_of) {
    const char *own = cli_file_name(files->paths[k]);
    struct push_file file = {.path = files->paths[k], .name = part_of ? own : files->name, .part_of = part_of};
    struct reel_error err = {0};
    bool good = true;
    file.file_name = strcmp(own, cli_file_name(file.name)) == 0 ? NULL : own;
    if (p->dry_run) {
        snprintf(file.text, sizeof file.text, "would be uploaded as %.80s/%.120s", p->options.collection,
                 part_of ? part_of : file.name);
    } else {
        good = push_file(http, &p->options, &file, &p->sent, &err);
    }
    push_report(p, &file, good, &err);
    return good;
}

static void push_passed(void *context, const char *path) {
    struct push_file file = {.path = path, .text = "is no recording, passed over"};
    push_report(context, &file, true, NULL);
}

/* The file that names the recording first, then metadata.yaml: alone it is no recording, but it says what the others
 * are.
 */
static void push_recording(struct pushing *p, struct push_http *http, const struct cli_files *files) {
    if (!files->format && files->in_folder && access(files->paths[0], R_OK) == 0) {
        push_passed(p, files->paths[0]);
        return;
    }
    bool good = push_one(p, http, files, files->main, NULL);
    for (uint32_t k = 0; k < files->n && !cli_interrupted(); k++) {
        if (k == files->main) {
            continue;
        }
        struct push_file skipped = {.path = files->paths[k]};
        struct reel_error err = {0};
        if (good) {
            push_one(p, http, files, k, files->name);
        } else {
            reel_fail(&err, REEL_CANCELLED, "skipped: it is a part of %.200s, which failed", files->paths[files->main]);
            push_report(p, &skipped, false, &err);
        }
    }
}

/* ---- several at once */

static bool push_go_on(void) {
    return !cli_interrupted();
}

static void *push_work(void *context) {
    struct pushing *p = context;
    struct reel_error err = {0};
    AUTO(push_http_free) struct push_http *http = push_http_new(p->token, push_go_on, &err);
    pthread_mutex_lock(&p->mutex);
    while (http && p->next < p->all->n && !cli_interrupted()) {
        const struct cli_files *files = &p->all->items[p->next++];
        pthread_mutex_unlock(&p->mutex);
        push_recording(p, http, files);
        pthread_mutex_lock(&p->mutex);
        p->done++;
    }
    p->failed += !http;
    p->running--;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

static void push_show(const struct pushing *p, int64_t started_ns) {
    char bar[BAR_WIDTH + 1], sent[16], total[16], rate[16];
    uint64_t bytes = atomic_load(&p->sent);
    double seconds = (double)(reel_now_ns() - started_ns) / 1e9,
           part = p->total > 0 ? (double)bytes / (double)p->total : 1;
    part = part < 1 ? part : 1;
    for (int i = 0; i < BAR_WIDTH; i++) {
        bar[i] = i < (int)(part * BAR_WIDTH) ? '#' : '.';
    }
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %3u %%  %s of %s  %s/s  %u of %u done", bar, (unsigned)(part * 100),
            cli_size_text(bytes, sent), cli_size_text(p->total, total),
            cli_size_text(seconds > 0 ? (uint64_t)((double)bytes / seconds) : 0, rate), p->done, p->all->n);
}

static void run_all(struct pushing *p, unsigned jobs) {
    pthread_t threads[JOBS_MAX];
    unsigned n = 0;
    int64_t started_ns = reel_now_ns();
    pthread_mutex_lock(&p->mutex);
    for (; n < jobs && n < p->all->n; n++) {
        p->running++;
        if (pthread_create(&threads[n], NULL, push_work, p) != 0) {
            p->running--;
            break;
        }
    }
    p->failed += n == 0 && p->all->n > 0;
    while (p->running > 0) {
        condition_wait(&p->ended, &p->mutex, clock_deadline((int64_t)STEP_MS * 1000000));
        if (p->on_terminal) {
            push_show(p, started_ns);
        }
    }
    if (p->on_terminal) {
        fputs("\r\033[K", stderr);
    }
    pthread_mutex_unlock(&p->mutex);
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---- which files */

/* Files that are still being written are left out, and those that no --glob matches, by their name or their path below
 * the folder. */
static bool push_takes(void *context, const char *path) {
    const struct pushing *p = context;
    bool matches = p->globs.count == 0;
    const char *below = path;
    for (uint32_t i = 0; i < p->n_given; i++) {
        size_t n = strlen(p->given[i]);
        n -= n > 0 && p->given[i][n - 1] == '/';
        below = strncmp(path, p->given[i], n) == 0 && path[n] == '/' ? path + n + strspn(path + n, "/") : below;
    }
    for (uint32_t i = 0; i < p->globs.count && !matches; i++) {
        matches = reel_glob_match(p->globs.items[i], cli_file_name(path)) || reel_glob_match(p->globs.items[i], below);
    }
    return matches && !folder_passes_name(cli_file_name(path));
}

static void push_refused(void *context, const char *folder, const struct reel_error *why) {
    struct pushing *p = context;
    p->failed += cli_fail(&cli_push, folder, why) != CLI_DONE;
}

/* Those that can be opened. */
static uint32_t push_check_paths(struct pushing *p, char **paths, uint32_t n) {
    uint32_t there = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct stat st;
        struct reel_error err = {0};
        if (stat(paths[i], &st) == 0) {
            paths[there++] = paths[i];
            continue;
        }
        reel_fail_errno(&err, "cannot be opened");
        p->failed += cli_fail(&cli_push, paths[i], &err) != CLI_DONE;
    }
    return there;
}

static uint64_t size_of_all(const struct cli_recordings *all) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        for (uint32_t k = 0; k < all->items[i].n; k++) {
            struct stat st;
            total += stat(all->items[i].paths[k], &st) == 0 ? (uint64_t)st.st_size : 0;
        }
    }
    return total;
}

/* ---- the command */

static int push_paths(struct pushing *p, char **paths, uint32_t n, bool recursive, uint64_t jobs) {
    struct reel_error err = {0};
    AUTO_STRUCT(cli_recordings_done) struct cli_recordings all = {.n = 0};
    const struct cli_gather_options gather = {.deep = recursive,
                                              .several = "use --recursive to upload all of them",
                                              .takes = push_takes,
                                              .passed = push_passed,
                                              .refused = push_refused,
                                              .context = p};
    p->given = paths;
    p->n_given = n = push_check_paths(p, paths, n);
    pthread_mutex_init(&p->mutex, NULL);
    condition_init(&p->ended);
    p->on_terminal = isatty(STDERR_FILENO) == 1 && !p->quiet;
    if (n > 0 && !cli_gather(paths, n, &gather, &all, &err)) {
        return cli_fail(&cli_push, NULL, &err);
    }
    p->all = &all;
    p->total = size_of_all(&all);
    run_all(p, (unsigned)jobs);
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->mutex);
    if (cli_interrupted()) {
        fputs("reel push: interrupted; run the same command again to resume\n", stderr);
    }
    return p->failed > 0 || cli_interrupted() ? CLI_FAILED : CLI_DONE;
}

static int cmd_push_run(int argc, char **argv) {
    AUTO_STRUCT(pushing_done) struct pushing p = {.options.collection = "default"};
    AUTO(option_list_done) struct option_list tags = {0};
    const char *token_file = NULL;
    char token[PUSH_TOKEN_MAX];
    bool recursive = false;
    uint64_t jobs, retries;
    int first, code;
    /* clang-format off */
    const struct cli_option options[] = {
        {.name = "collection", .kind = CLI_TEXT, .to = &p.options.collection, .value = "NAME", .help = "collection of the recordings (default: \"default\")"},
        {.name = "group", .kind = CLI_TEXT, .to = &p.options.group, .value = "NAME", .help = "group of the recordings (parts of one run, split into several recordings)"},
        {.name = "tag", .kind = CLI_LIST, .to = &tags, .value = "KEY=VALUE", .help = "tag for each recording; may be repeated"},
        {.name = "replace", .kind = CLI_FLAG, .to = &p.options.replace, .help = "if a name is taken by other content, add a new revision"},
        {.name = "recursive", .kind = CLI_FLAG, .to = &recursive, .help = "upload all recordings in a folder and its subfolders, named by their paths below it; without it a folder is one recording, as `ros2 bag record` leaves it"},
        {.name = "glob", .kind = CLI_LIST, .to = &p.globs, .value = "GLOB", .help = "of the files in folders only those whose name or path matches; may be repeated"},
        {.name = "dry-run", .kind = CLI_FLAG, .to = &p.dry_run, .help = "only print what would be uploaded, and as what"},
        {.name = "quiet", .kind = CLI_FLAG, .to = &p.quiet, .help = "print errors only"},
        {.name = "jobs", .letter = 'j', .kind = CLI_UINT, .to = &jobs, .value = "N", .least = 1, .most = JOBS_MAX, .help = "recordings uploaded at once", .initial = "2"},
        {.name = "retries", .kind = CLI_UINT, .to = &retries, .value = "N", .most = 1000, .help = "attempts without progress before giving up, with increasing pauses", .initial = "8"},
        {.name = "token-file", .kind = CLI_TEXT, .to = &token_file, .value = "FILE", .help = "file with the token (default: the environment variable REEL_TOKEN)"},
        {0},
    };
    /* clang-format on */
    struct reel_error err = {0};
    if (!cli_options(&cli_push, options, 2, argc, argv, &first, &code)) {
        return code;
    }
    const char *url = argv[argc - 1];
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) {
        return cli_misused(&cli_push, "the last argument must be the server's address: http://… or https://…");
    }
    if (!cli_tags(&tags, NULL, &err)) {
        return cli_misused(&cli_push, "%s", err.text);
    }
    AUTO_MEM char *api = push_http_api(url);
    if (!api || !push_http_token(token_file, token, &err)) {
        return api ? cli_fail(&cli_push, NULL, &err) : CLI_FAILED;
    }
    p.options.api = api;
    p.options.tags = tags.items;
    p.options.retries = (unsigned)retries;
    p.token = token[0] ? token : NULL;
    cli_catch_interrupt();
    return push_paths(&p, argv + first, (uint32_t)(argc - 1 - first), recursive, jobs);
}

const struct cli_command cli_push = {
    .name = "push",
    .arguments = "FILE…|FOLDER… URL [OPTION]…",
    .summary = "upload files to a server; run again to resume",
    .details = "URL is the server's address: http://host:8040. After any interruption, run the same command again: it "
               "resumes, and files that\n"
               "the server already has are not sent again, unless they are small. Files that belong together become "
               "one recording. Prints one\n"
               "line for each file. If a file fails, the others are still uploaded, and the exit status is 1.",
    .run = cmd_push_run,
};
