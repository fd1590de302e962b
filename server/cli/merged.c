/* The recordings of a command line as one (cli.h). */
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"

enum { INPUTS_MAX = 256 };

bool cli_merged_open(char *const *paths, uint32_t n, const struct cli_gather_options *gather, struct cli_merged *out,
                     struct reel_error *err) {
    if (!cli_gather(paths, n, gather, &out->files, err)) {
        return false;
    }
    if (out->files.n > INPUTS_MAX) {
        return reel_fail(err, REEL_LIMIT, "at most %d recordings can be merged", INPUTS_MAX);
    }
    out->recordings = calloc(out->files.n, sizeof(struct reel_recording *));
    if (!out->recordings) {
        return reel_fail_memory(err);
    }
    for (; out->n < out->files.n; out->n++) {
        const struct cli_files *files = &out->files.items[out->n];
        if (!(out->recordings[out->n] = cli_open_files(files, false, err))) {
            const char *name = files->name;
            return strncmp(err->text, name, strlen(name)) == 0 ? false : reel_error_at(err, "%s", name);
        }
    }
    return true;
}

bool cli_merged_align(struct cli_merged *m, const struct cli_merging *how, struct reel_error *err) {
    if (m->n < 2) {
        return how->shifts.count == 0 || reel_fail(err, REEL_ARGUMENT, "--shift needs several recordings");
    }
    AUTO_MEM const char **names = calloc(m->n, sizeof *names);
    m->sources = calloc(m->n, sizeof *m->sources);
    if (!names || !m->sources) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        names[i] = m->files.items[i].name;
    }
    const enum reel_align align = how->shifts.count > 0 ? REEL_ALIGN_NONE : (enum reel_align)how->align;
    return reel_merge_options(m->recordings, m->n, names, align, m->sources, err) &&
           (how->shifts.count == 0 ||
            reel_merge_shift(m->recordings, m->n, names, how->shifts.items, how->shifts.count, m->sources, err));
}

void cli_merged_forget(const struct cli_merged *m, struct reel_error *err) {
    for (uint32_t i = 0; i < m->files.n; i++) {
        cli_forget_files(&m->files.items[i], err);
    }
}

void cli_merged_done(struct cli_merged *m) {
    for (uint32_t i = 0; i < m->n; i++) {
        reel_recording_free(m->recordings[i]);
    }
    free(m->recordings);
    free(m->sources);
    cli_recordings_done(&m->files);
}
