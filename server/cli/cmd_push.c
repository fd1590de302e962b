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
#include "base/number.h"
#include "base/size_text.h"
#include "base/thread.h"
#include "cli/client.h"
#include "cli/push_watch.h"
#include "convert/split.h"
#include "imports/folder_walk.h"

enum { JOBS_MAX = 16, BAR_WIDTH = 24, STEP_MS = 200, DAY_S = 86400 };

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

static void *push_work(void *context) {
    struct pushing *p = context;
    struct reel_error err = {0};
    AUTO(push_http_free) struct push_http *http = push_http_new(p->token, p->options.go_on, &err);
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
            size_text(bytes, sent), size_text(p->total, total),
            size_text(seconds > 0 ? (uint64_t)((double)bytes / seconds) : 0, rate), p->done, p->all->n);
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

/* ---- watching */

static bool read_keep_free(const char *text, struct push_watch_options *w, struct reel_error *err) {
    size_t n = text ? strlen(text) : 0;
    w->keep_percent = n > 1 && text[n - 1] == '%';
    return !text ||
           (w->keep_percent ? number_u64_of(text, n - 1, &w->keep_free) && w->keep_free < 100
                            : split_parse_size(text, &w->keep_free)) ||
           reel_fail(err, REEL_ARGUMENT, "--keep-free %.40s: part of the disk, 20%%, or a size, 10GB, is expected",
                     text);
}

/* The folders of --watch and of the arguments; a slash at the end goes. */
static int push_watching(struct pushing *p, struct push_watch_options *w, struct option_list *folders, char **paths,
                         uint32_t n) {
    AUTO_MEM const char **all = calloc((size_t)folders->count + n + 1, sizeof *all);
    struct reel_error err = {0};
    char host[256] = "";
    for (uint32_t i = 0; all && i < folders->count + n; i++) {
        char *path = i < folders->count ? (char *)folders->items[i] : paths[i - folders->count];
        for (size_t size = strlen(path); size > 1 && path[size - 1] == '/'; size--) {
            path[size - 1] = '\0';
        }
        all[w->n_folders++] = path;
    }
    w->push = p->options;
    w->token = p->token;
    w->folders = all;
    w->globs = &p->globs;
    w->quiet = p->quiet;
    w->announces = w->announces || w->on_request;
    gethostname(host, sizeof host - 1);
    w->robot = w->robot && *w->robot ? w->robot : host[0] ? host : "robot";
    return (all || reel_fail_memory(&err)) && push_watch(w, &err) ? CLI_DONE : cli_fail(&cli_push, NULL, &err);
}

struct arguments { /* of the command line, beside those in struct pushing */
    const char *token_file, *url, *config, *rate, *rate_while, *keep_free;
    bool recursive;
    uint64_t jobs, retries;
    struct option_list tags, folders;
};
static void push_arguments_done(struct arguments *w) {
    reel_auto_option_list_done(&w->tags);
    reel_auto_option_list_done(&w->folders);
}

static bool push_go_on(void) {
    return !cli_interrupted();
}

static bool read_rates(const struct arguments *w, char *rate_while, struct push_rate *rate, struct reel_error *err) {
    return (!w->rate || push_rate_parse(w->rate, &rate->usual, err)) &&
           (!rate_while || push_rate_parse_while(rate_while, rate, err));
}

/* The server of the last argument, of --url or of REEL_URL; NULL: there is none. */
static const char *find_url(const struct arguments *w, char **argv, int first, int *argc) {
    const char *usual = getenv("REEL_URL");
    if (first < *argc && client_is_url(argv[*argc - 1])) {
        return argv[--*argc];
    }
    return w->url ? w->url : usual && *usual ? usual : NULL;
}

static int cmd_push_run(int argc, char **argv) {
    AUTO_STRUCT(pushing_done) struct pushing p = {.options = {.collection = "default", .go_on = push_go_on}};
    AUTO_STRUCT(push_arguments_done) struct arguments w = {.config = NULL};
    struct push_watch_options watch = {.delete_after_s = UINT64_MAX};
    struct push_rate rate = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    AUTO_STRUCT(cli_sources_done) struct cli_sources sources = {.config = &w.config, .file_only = true};
    char token[PUSH_TOKEN_MAX];
    int first, code;
    /* clang-format off */
    const struct cli_option options[] = {
        {.name = "collection", .kind = CLI_TEXT, .to = &p.options.collection, .value = "NAME", .help = "collection of the recordings (default: \"default\")"},
        {.name = "group", .kind = CLI_TEXT, .to = &p.options.group, .value = "NAME", .help = "group of the recordings (parts of one run, split into several recordings)"},
        {.name = "tag", .kind = CLI_LIST, .to = &w.tags, .value = "KEY=VALUE", .help = "tag for each recording; may be repeated"},
        {.name = "replace", .kind = CLI_FLAG, .to = &p.options.replace, .help = "if a name is taken by other content, add a new revision"},
        {.name = "recursive", .kind = CLI_FLAG, .to = &w.recursive, .help = "upload all recordings in a folder and its subfolders, named by their paths below it; without it a folder is one recording, as `ros2 bag record` leaves it"},
        {.name = "glob", .kind = CLI_LIST, .to = &p.globs, .value = "GLOB", .help = "of the files in folders only those whose name or path matches; may be repeated"},
        {.name = "dry-run", .kind = CLI_FLAG, .to = &p.dry_run, .help = "only print what would be uploaded, and as what"},
        {.name = "quiet", .kind = CLI_FLAG, .to = &p.quiet, .help = "print errors only"},
        {.name = "jobs", .letter = 'j', .kind = CLI_UINT, .to = &w.jobs, .value = "N", .least = 1, .most = JOBS_MAX, .help = "recordings uploaded at once", .initial = "2"},
        {.name = "retries", .kind = CLI_UINT, .to = &w.retries, .value = "N", .most = 1000, .help = "attempts without progress before giving up, with increasing pauses", .initial = "8"},
        {.name = "rate", .kind = CLI_TEXT, .to = &w.rate, .value = "RATE", .help = "send at most so much: 10M (bytes a second), 80Mbit"},
        {.name = "rate-while", .kind = CLI_TEXT, .to = &w.rate_while, .value = "FILE=RATE", .help = "while this file exists, at most so much; 0: nothing"},
        {.name = "watch", .kind = CLI_LIST, .to = &w.folders, .value = "DIR", .help = "upload what appears in this folder and its subfolders, one recording after another, until the program is ended; may be repeated"},
        {.name = "still-time", .kind = CLI_DURATION, .to = &watch.still_s, .value = "DURATION", .initial = "10s", .most = DAY_S, .help = "with --watch: time without a write before a file is complete; one that is renamed is complete at once"},
        {.name = "rescan-interval", .kind = CLI_DURATION, .to = &watch.rescan_s, .value = "DURATION", .initial = "30s", .least = 1, .most = DAY_S, .help = "with --watch: time between scans of folders in which nothing happens"},
        {.name = "delete-after", .kind = CLI_DURATION, .to = &watch.delete_after_s, .value = "DURATION", .most = UINT64_C(36500) * DAY_S, .help = "with --watch: delete files that the server has had for so long, after it has confirmed their SHA-256; 0: at once (default: never)"},
        {.name = "keep-free", .kind = CLI_TEXT, .to = &w.keep_free, .value = "SIZE|N%", .help = "with --watch: delete such files earlier, the oldest first, while less than this is free on their disk"},
        {.name = "announce", .kind = CLI_FLAG, .to = &watch.announces, .help = "with --watch: send the index of each recording before its file, so that it is found on the server at once and users may ask for it; what they ask for is sent first"},
        {.name = "on-request", .kind = CLI_FLAG, .to = &watch.on_request, .help = "with --watch: announce all, and send only what users ask for"},
        {.name = "robot", .kind = CLI_TEXT, .to = &watch.robot, .value = "NAME", .help = "with --announce: name of this robot (default: the host's name)"},
        {.name = "state", .kind = CLI_TEXT, .to = &watch.state, .value = "FILE", .help = "with --watch: file that lists what is uploaded (default: $STATE_DIRECTORY/push or ~/.local/state/reel/push)"},
        {.name = "url", .kind = CLI_TEXT, .to = &w.url, .value = "URL", .help = "the server, where it is not the last argument (default: the environment variable REEL_URL)"},
        {.name = "config", .kind = CLI_TEXT, .to = &w.config, .value = "FILE", .help = "file with further options, a line each: delete-after = 7d"},
        {.name = "token-file", .kind = CLI_TEXT, .to = &w.token_file, .value = "FILE", .help = "file with the token (default: the environment variable REEL_TOKEN)"},
        {0},
    };
    /* clang-format on */
    struct reel_error err = {0};
    if (!cli_settings(&cli_push, options, &sources, argc, argv, &first, &code)) {
        return code;
    }
    const char *url = find_url(&w, argv, first, &argc);
    bool watches = w.folders.count > 0;
    AUTO_MEM char *rate_while = w.rate_while ? strdup(w.rate_while) : NULL;
    if (!url || !client_is_url(url)) {
        return cli_misused(&cli_push, "the last argument must be the server's address: http://… or https://…");
    }
    if (!watches && first == argc) {
        return cli_misused(&cli_push, "file argument missing");
    }
    if (watches && (p.dry_run || p.options.group)) {
        return cli_misused(&cli_push, "--watch goes without --dry-run and --group");
    }
    if (!watches && (watch.announces || watch.on_request || watch.robot)) {
        return cli_misused(&cli_push, "--announce, --on-request and --robot need --watch");
    }
    if (!cli_tags(&w.tags, NULL, &err) || !read_rates(&w, rate_while, &rate, &err) ||
        !read_keep_free(w.keep_free, &watch, &err)) {
        return cli_misused(&cli_push, "%s", err.text);
    }
    AUTO_MEM char *api = push_http_api(url);
    if (!api || !push_http_token(w.token_file, token, &err)) {
        return api ? cli_fail(&cli_push, NULL, &err) : CLI_FAILED;
    }
    p.options.api = api;
    p.options.tags = w.tags.items;
    p.options.retries = (unsigned)w.retries;
    p.options.rate = w.rate || w.rate_while ? &rate : NULL;
    p.token = token[0] ? token : NULL;
    watch.deletes = watch.delete_after_s != UINT64_MAX;
    cli_catch_interrupt();
    uint32_t n = (uint32_t)(argc - first);
    return watches ? push_watching(&p, &watch, &w.folders, argv + first, n)
                   : push_paths(&p, argv + first, n, w.recursive, w.jobs);
}

const struct cli_command cli_push = {
    .name = "push",
    .arguments = "FILE…|FOLDER… URL [OPTION]… | --watch DIR… URL [OPTION]…",
    .summary = "upload files to a server; run again to resume, or watch folders",
    .details = "URL is the server's address: http://host:8040. After any interruption, run the same command again: it "
               "resumes, and files that\n"
               "the server already has are not sent again, unless they are small. Files that belong together become "
               "one recording. Prints one\n"
               "line for each file. If a file fails, the others are still uploaded, and the exit status is 1.\n"
               "With --watch, files are uploaded as they are completed: those with tags (FILE.tags, a line KEY=VALUE "
               "each) first, then those up to\n"
               "16 MiB, then by age. Recordings are named by their paths below DIR.",
    .run = cmd_push_run,
};
