/* Files of this machine as recordings, with their index packs in the user's cache folder. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "cli/cli.h"
#include "definitions/files.h"
#include "reel/open.h"

/* $XDG_CACHE_HOME/reel or ~/.cache/reel; NULL when there is none that can be written. */
static const char *cache_folder(char path[PATH_MAX]) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool own = base && base[0] == '/';
    int n = own                      ? snprintf(path, PATH_MAX, "%s", base)
            : home && home[0] == '/' ? snprintf(path, PATH_MAX, "%s/.cache", home)
                                     : -1;
    if (n < 0 || n + (int)sizeof "/reel" > PATH_MAX || (mkdir(path, 0700) != 0 && errno != EEXIST)) {
        return NULL;
    }
    snprintf(path + n, (size_t)(PATH_MAX - n), "/reel");
    return (mkdir(path, 0700) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0 ? path : NULL;
}

struct option_list cli_definitions;

static bool load_definitions(struct reel_error *err) {
    AUTO_STRUCT(definition_files_done) struct definition_files files = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < cli_definitions.count; i++) {
        good = definition_files_of_folder(&files, cli_definitions.items[i], err);
    }
    for (size_t i = 0; i < files.n_skipped && i < DEFINITION_FILES_SKIPPED; i++) {
        fprintf(stderr, "reel: warning: %s: %s\n", files.skipped[i].path, files.skipped[i].why);
    }
    return good && own_definitions_set(files.items, files.n, err);
}

/* Reads the folders of --definitions once; false each time if that failed. */
static bool use_definitions(struct reel_error *err) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static bool is_done, is_good;
    static struct reel_error why;
    pthread_mutex_lock(&mutex);
    if (!is_done) {
        is_good = cli_definitions.count == 0 || load_definitions(&why);
        is_done = true;
    }
    pthread_mutex_unlock(&mutex);
    return is_good || reel_error_pass(err, &why);
}

struct reel_recording *cli_open_files(const struct cli_files *files, bool rescan, struct reel_error *err) {
    char folder[PATH_MAX];
    struct cli_progress progress;
    AUTO(reel_threads_free) struct reel_threads *threads = cli_threads(0, err);
    if (!threads || !use_definitions(err)) {
        return NULL;
    }
    cli_progress_start(&progress, "scanning", files->name ? files->name : cli_file_name(files->paths[0]));
    struct reel_open_options options = {.size = sizeof options,
                                        .cache_folder = cache_folder(folder),
                                        .rescan = rescan,
                                        .progress = &progress.report,
                                        .threads = threads};
    struct reel_recording *recording = reel_recording_open_files(files->paths, files->n, &options, err);
    cli_progress_end(&progress);
    return recording;
}

struct reel_index *cli_open_summary(const struct cli_files *files, struct reel_error *err) {
    char folder[PATH_MAX];
    struct cli_progress progress;
    if (!use_definitions(err)) {
        return NULL;
    }
    cli_progress_start(&progress, "scanning", files->name ? files->name : cli_file_name(files->paths[0]));
    struct reel_open_options options = {
        .size = sizeof options, .cache_folder = cache_folder(folder), .progress = &progress.report};
    struct reel_index *index = reel_summary_open(files->paths, files->n, &options, err);
    cli_progress_end(&progress);
    return index;
}

struct reel_recording *cli_open(const char *path, bool rescan, struct reel_error *err) {
    return cli_open_files(&(struct cli_files){.paths = &path, .n = 1}, rescan, err);
}

void cli_forget(const char *path, struct reel_error *err) {
    cli_forget_files(&(struct cli_files){.paths = &path, .n = 1}, err);
}

void cli_forget_files(const struct cli_files *files, struct reel_error *err) {
    static const char hint[] = " (its index was removed; run this again)";
    char folder[PATH_MAX];
    if (err->code == REEL_CHANGED && reel_recording_forget(files->paths, files->n, cache_folder(folder))) {
        size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof err->text - used, "%s", strstr(err->text, hint) ? "" : hint);
    }
}

/* ---- selecting */

bool cli_warn_matches(struct reel_recording *const *recordings, uint32_t n, const struct reel_selection *selection,
                      struct reel_error *err) {
    char why[REEL_MATCHES_TEXT];
    bool any;
    if (!reel_selection_matches(recordings, n, selection, &any, why, err)) {
        return false;
    }
    if (!any) {
        fprintf(stderr, "reel: warning: %s\n", why);
    }
    return true;
}

static bool read_channels(struct cli_select *s, struct reel_selection *out, struct reel_error *err) {
    free(s->channel_ids);
    s->channel_ids = calloc(s->channels.count + 1, sizeof *s->channel_ids);
    for (uint32_t i = 0; s->channel_ids && i < s->channels.count; i++) {
        uint64_t id;
        if (!number_u64(s->channels.items[i], &id) || id >= UINT32_MAX) {
            return reel_fail(err, REEL_ARGUMENT, "--channel %.100s: the id of a channel is expected, a number",
                             s->channels.items[i]);
        }
        s->channel_ids[i] = (uint32_t)id;
    }
    out->channels = s->channel_ids;
    out->n_channels = s->channels.count;
    return s->channel_ids || reel_fail_memory(err);
}

bool cli_selection(struct cli_select *s, struct reel_recording *const *recordings, uint32_t n,
                   const struct reel_source_option *sources, struct reel_selection *out, struct reel_error *err) {
    int64_t first, last;
    reel_merge_span(recordings, n, sources, &first, &last);
    *out = selection_all;
    out->sources = sources;
    out->topics = s->topics.items;
    out->n_topics = s->topics.count;
    out->exclude = s->exclude.items;
    out->n_exclude = s->exclude.count;
    if (!read_channels(s, out, err)) {
        return false;
    }
    out->where = s->where.items;
    out->n_where = s->where.count;
    out->renames = s->renames.items;
    out->n_renames = s->renames.count;
    for (uint32_t i = 0; i < out->n_renames; i++) {
        const char *colon = strrchr(out->renames[i], ':');
        if (!colon || colon == out->renames[i] || !colon[1]) {
            return reel_fail(err, REEL_ARGUMENT, "--rename %.200s: FROM:TO is expected", out->renames[i]);
        }
    }
    out->every_n = s->every.n;
    out->every_ns = s->every.ns;
    out->last_per_topic = s->last;
    if ((s->start.given && !reel_time_within(&s->start.time, first, last, &out->start_ns, err)) ||
        (s->end.given && !reel_time_within(&s->end.time, first, last, &out->end_ns, err))) {
        return false;
    }
    if (s->last && !s->start.given) {
        return reel_fail(err, REEL_ARGUMENT, "--last needs --start");
    }
    return out->start_ns <= out->end_ns || reel_fail(err, REEL_ARGUMENT, "--end is before --start");
}
