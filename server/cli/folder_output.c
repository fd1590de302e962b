/* See folder_output.h. The archive is planned, and its members are read from it one after another. */
#include "cli/folder_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "syntax/tar.h"

enum { PIECE = 1 << 20, FILES_MAX = 2 };

struct planned { /* the output as a source */
    struct reel_source source;
    struct reel_planned_output *output;
};

static bool planned_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                         struct reel_error *err) {
    return reel_planned_output_read(((struct planned *)source)->output, offset, buffer, size, err);
}
static void planned_free(struct reel_source *source) {
    (void)source;
}

struct writing {
    const char *folder;
    bool replace;
    const struct reel_progress *progress;
    struct output_file files[FILES_MAX]; /* complete, but not yet under their names */
    char *paths[FILES_MAX];
    uint32_t n;
};
static void writing_done(struct writing *w) {
    for (uint32_t i = 0; i < w->n; i++) {
        reel_auto_output_file_done(&w->files[i]);
        free(w->paths[i]);
    }
}

static bool copy_member(struct writing *w, struct planned *p, const struct tar_member *m, struct output_file *out,
                        struct reel_error *err) {
    AUTO_MEM char *buffer = malloc(PIECE);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    for (uint64_t done = 0; done < m->size;) {
        size_t n = m->size - done < PIECE ? (size_t)(m->size - done) : PIECE;
        if (!reel_planned_output_read(p->output, m->offset + done, buffer, n, err) ||
            !cli_output_write(out, buffer, n, err)) {
            return false;
        }
        done += n;
        if (w->progress && !w->progress->report(w->progress->context, m->offset + done, p->source.size)) {
            return reel_fail(err, REEL_CANCELLED, "interrupted");
        }
    }
    return true;
}

static bool write_member(struct writing *w, struct planned *p, const struct tar_member *m, struct reel_error *err) {
    size_t size = strlen(w->folder);
    if (w->n == FILES_MAX) {
        return reel_fail(err, REEL_LIMIT, "%s has too many files", w->folder);
    }
    char **path = &w->paths[w->n];
    if (asprintf(path, "%s%s%s", w->folder, size > 0 && w->folder[size - 1] == '/' ? "" : "/", cli_file_name(m->name)) <
        0) {
        *path = NULL;
        return reel_fail_memory(err);
    }
    struct output_file *out = &w->files[w->n++];
    *out = (struct output_file){.fd = -1};
    return cli_output_open(out, *path, w->replace, err) && copy_member(w, p, m, out, err);
}

static bool write_members(struct writing *w, struct planned *p, struct reel_error *err) {
    struct arena arena = {.max = REEL_MODEL_MAX};
    struct tar tar = {.source = &p->source, .arena = &arena};
    struct tar_member m;
    bool more = true, good = true;
    while (good && (good = tar_next(&tar, &m, &more, err)) && more) {
        good = write_member(w, p, &m, err);
    }
    for (uint32_t i = 0; good && i < w->n; i++) {
        good = output_file_finish(&w->files[i], err);
    }
    arena_free(&arena);
    return good;
}

bool cli_write_folder(struct reel_conversion *conversion, const char *folder, bool replace, struct reel_loss *losses,
                      const struct reel_progress *progress, struct reel_error *err) {
    static const struct reel_source_ops ops = {.read = planned_read, .free = planned_free};
    AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(conversion, NULL, NULL, err);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *output = plan ? reel_conversion_output(conversion, plan, err) : NULL;
    if (!output) {
        return false;
    }
    reel_plan_report(plan, losses);
    struct planned p = {.source = {.ops = &ops, .size = reel_plan_length(plan), .name = folder}, .output = output};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return reel_fail_errno(err, "%s", folder);
    }
    reel_planned_output_read_ahead(output, 0, p.source.size);
    AUTO_STRUCT(writing_done) struct writing w = {.folder = folder, .replace = replace, .progress = progress};
    return write_members(&w, &p, err);
}
