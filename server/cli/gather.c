/* Which of the files of a command line are one recording: a .traj and its .state, the files of a rosbag2 folder. Its one rule: formats say it, of
 * files that lie in one folder; what cannot be opened stands alone, and whoever opens it next tells why. */
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

struct candidate {
    const char *path;
    const struct reel_format *format; /* NULL: none, or it cannot be read */
    dev_t dev;                        /* of its folder */
    ino_t ino;
    uint32_t leader; /* the first part of its recording; its own number: itself */
};

struct parts { /* of one recording, opened */
    struct reel_source *items[CLI_PARTS_MAX];
    uint32_t n;
};
static void reel_auto_parts_done(struct parts *p) {
    while (p->n > 0) {
        reel_source_free(p->items[--p->n]);
    }
}

static void look_at(struct candidate *c, const char *path, uint32_t number) {
    struct stat st;
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, NULL);
    size_t folder = (size_t)(cli_file_name(path) - path);
    AUTO_MEM char *name = folder > 0 ? strndup(path, folder) : strdup(".");
    *c = (struct candidate){.path = path, .leader = number};
    if (source && name && stat(name, &st) == 0) {
        c->format = reel_format_probe(source, NULL);
        c->dev = st.st_dev;
        c->ino = st.st_ino;
    }
}

static bool has_parts(const struct candidate *c) {
    return c->format && c->format->joins;
}

static bool joins_all(const struct reel_format *format, const struct parts *parts, struct reel_source *other) {
    for (uint32_t i = 0; i < parts->n; i++) {
        if (!format->joins(parts->items[i], other)) {
            return false;
        }
    }
    return true;
}

/* Puts what belongs to `first` behind it. Files before it whose format knows of parts have been asked already. */
static void collect(struct candidate *all, uint32_t n, uint32_t first) {
    AUTO(parts_done) struct parts parts = {.n = 0};
    if (!(parts.items[0] = reel_source_open(all[first].path, NULL, NULL))) {
        return;
    }
    parts.n = 1;
    for (uint32_t i = 0; i < n && parts.n < CLI_PARTS_MAX; i++) {
        struct candidate *c = &all[i];
        bool asked = i == first || (i < first && has_parts(c));
        if (asked || c->leader != i || !c->format || c->dev != all[first].dev || c->ino != all[first].ino) {
            continue;
        }
        AUTO(reel_source_free) struct reel_source *other = reel_source_open(c->path, NULL, NULL);
        if (other && joins_all(all[first].format, &parts, other)) {
            c->leader = first;
            parts.items[parts.n++] = TAKE(other);
        }
    }
}

/* Recordings in the order of their earliest file, each with its leader in front: that is the file whose format reads them all. */
static void arrange(const struct candidate *all, uint32_t n, bool *done, struct cli_recordings *out) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t leader = all[i].leader;
        if (done[leader]) {
            continue;
        }
        struct cli_files *files = &out->items[out->n++];
        files->paths = &out->paths[at];
        files->format = all[leader].format;
        out->paths[at++] = all[leader].path;
        for (uint32_t k = 0; k < n; k++) {
            if (k != leader && all[k].leader == leader) {
                out->paths[at++] = all[k].path;
            }
        }
        files->n = (uint32_t)(&out->paths[at] - files->paths);
        done[leader] = true;
    }
}

bool cli_gather(char *const *paths, uint32_t n, struct cli_recordings *out, struct reel_error *err) {
    AUTO_MEM struct candidate *all = calloc((size_t)n + 1, sizeof *all);
    AUTO_MEM bool *done = calloc((size_t)n + 1, sizeof *done);
    out->paths = calloc((size_t)n + 1, sizeof *out->paths);
    out->items = calloc((size_t)n + 1, sizeof *out->items);
    if (!all || !done || !out->paths || !out->items) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        look_at(&all[i], paths[i], i);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (all[i].leader == i && has_parts(&all[i])) {
            collect(all, n, i);
        }
    }
    arrange(all, n, done, out);
    return true;
}

void cli_recordings_done(struct cli_recordings *r) {
    free(r->paths);
    free(r->items);
}
