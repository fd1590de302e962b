/* See push_watch.h. A part that users ask for is cut out here and sent as a recording of its own, with the tag
 * cut_of=ID of the announced one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "cli/push_watch.h"
#include "reel/convert.h"
#include "reel/stream.h"

void push_cut_answer(struct push_agent *a, int64_t id, const char *recording, const char *problem) {
    AUTO_MEM char *url = NULL, *escaped = push_http_escape(a->other, recording ? recording : problem);
    AUTO_MEM struct push_answer *answer = malloc(sizeof *answer);
    struct reel_error err = {0};
    if (!escaped || !answer ||
        asprintf(&url, "%s/fetches/%" PRId64 "?agent=%s&%s=%s", a->options->push.api, id, a->state.agent,
                 recording ? "recording" : "problem", escaped) < 0) {
        url = NULL;
        return;
    }
    const struct push_request q = {.method = "POST", .url = url};
    if (push_http_do(a->other, &q, answer, &err) && answer->status >= 400 && answer->status != 404) {
        push_http_refused(answer, &err);
    }
    if (err.code != REEL_OK) { /* it is asked for again */
        push_watch_fail(NULL, &err);
    }
}

/* ---- the part */

/* The files of the announced recording, as they are there. */
static char **files_of(const struct push_agent *a, const char *recording, uint32_t *n, struct push_item **main) {
    char **paths = calloc(a->state.n + 1, sizeof *paths);
    *n = 0;
    *main = NULL;
    for (size_t i = 0; paths && i < a->state.n; i++) {
        struct push_item *item = a->state.items[i];
        if (item->there && push_item_is_announced(item) && strcmp(item->announced_id, recording) == 0) {
            paths[(*n)++] = item->path;
            *main = item;
        }
    }
    return paths;
}

static int64_t tenths_of(int64_t ns) {
    return ns > 0 ? (ns + 50000000) / 100000000 : 0;
}

/* "drive_2.0-4.5s.bag" of "drive.bag": in its format where that can be written, else as MCAP. */
static char *part_name(const char *name, const struct push_cut *cut, int64_t begin_ns, struct reel_error *err) {
    const char *dot = strrchr(cli_file_name(name), '.');
    struct reel_error none = {0};
    bool same = dot && reel_writer_for_file(cli_file_name(name), NULL, &none);
    int stem = dot ? (int)(dot - name) : (int)strlen(name);
    char *part = NULL;
    const int64_t from = tenths_of(cut->start_ns - begin_ns), to = tenths_of(cut->end_ns - begin_ns);
    if (asprintf(&part, "%.*s_%" PRId64 ".%d-%" PRId64 ".%ds%s", stem, name, from / 10, (int)(from % 10), to / 10,
                 (int)(to % 10), same ? dot : ".mcap") < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return part;
}

static struct reel_recording *open_whole(char **paths, uint32_t n, struct reel_error *err) {
    AUTO_STRUCT(cli_recordings_done) struct cli_recordings all = {.n = 0};
    return cli_gather_one(paths, n, &all, err)
               ? reel_recording_open_files(all.items[0].paths, all.items[0].n, NULL, err)
               : NULL;
}

static bool write_part(const struct push_cut *cut, struct reel_recording *recording, const char *out,
                       struct reel_error *err) {
    const struct reel_convert_options options = {.size = sizeof options, .replace = true, .threads = 1};
    struct reel_selection selection = reel_select_all();
    selection.start_ns = cut->start_ns;
    selection.end_ns = cut->end_ns;
    return reel_convert(recording, &selection, out, &options, NULL, err);
}

static bool send_part(struct push_agent *a, struct push_http *http, const struct push_cut *cut, const char *path,
                      const char *name, char id[33], struct reel_error *err) {
    char tag[64];
    const char *tags[] = {tag, NULL};
    struct push_options options = a->options->push;
    struct push_file file = {.path = path, .name = name};
    _Atomic uint64_t sent = 0;
    snprintf(tag, sizeof tag, "cut_of=%s", cut->recording);
    options.tags = tags;
    options.agent = a->state.agent;
    options.go_on = push_watch_go_on;
    options.replace = true; /* one that was cut before the robot was ended */
    options.retries = 3;
    file.file_name = strcmp(cli_file_name(path), cli_file_name(name)) == 0 ? NULL : cli_file_name(path);
    bool good = push_file(http, &options, &file, &sent, err);
    memcpy(id, file.id, 33);
    if (good) {
        push_watch_say(a, name, file.text);
    }
    return good && (id[0] || reel_fail(err, REEL_IO, "the server does not say which content it has"));
}

static bool cut_and_send(struct push_agent *a, struct push_http *http, const struct push_cut *cut, char id[33],
                         struct push_item **main, struct reel_error *err) {
    uint32_t n;
    AUTO_MEM char **paths = files_of(a, cut->recording, &n, main);
    if (!paths || n == 0) {
        return paths ? reel_fail(err, REEL_CANCELLED, "the file has just changed") : reel_fail_memory(err);
    }
    AUTO(reel_recording_free) struct reel_recording *recording = open_whole(paths, n, err);
    AUTO_MEM char *name =
        recording ? part_name((*main)->name, cut, reel_index_info(reel_recording_index(recording))->start_ns, err)
                  : NULL;
    char folder[PATH_MAX], path[PATH_MAX];
    if (!name || !disk_folder_of(a->state.path, folder) || !disk_join(path, folder, cli_file_name(name), err)) {
        return name ? reel_fail(err, REEL_ARGUMENT, "the folder of the state has a path that is too long") : false;
    }
    bool good = write_part(cut, recording, path, err) && send_part(a, http, cut, path, name, id, err);
    unlink(path);
    return good;
}

void push_cut(struct push_agent *a, struct push_http *http) {
    const struct push_cut cut = a->cuts[0];
    struct reel_error err = {0};
    struct push_item *main = NULL;
    char id[33];
    if (cut_and_send(a, http, &cut, id, &main, &err)) {
        main->failures = 0;
        push_cut_answer(a, cut.id, id, NULL);
    } else if (err.code == REEL_IO && main) {
        push_note_failure(a, main, main->path, &err);
    } else if (err.code != REEL_IO && err.code != REEL_CANCELLED) {
        push_cut_answer(a, cut.id, NULL, err.text);
    }
    a->n_cuts--; /* only now: while a part is being sent, what is still waiting is not asked for once more */
    memmove(a->cuts, a->cuts + 1, a->n_cuts * sizeof *a->cuts);
}
