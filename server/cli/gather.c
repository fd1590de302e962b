/* Groups the files of a command line into recordings. A file that cannot be opened becomes a recording of its own;
 * opening it reports the error. */
#include "imports/collect.h"

#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cli/cli.h"

_Static_assert((int)CLI_PARTS_MAX == (int)COLLECT_PARTS_MAX, "both are the largest number of parts");

static struct reel_source *open_path(void *context, uint32_t i) {
    char *const *paths = context;
    return reel_source_open(paths[i], NULL, NULL);
}

static void find_folder(const char *path, uint64_t folder[2]) {
    struct stat st;
    size_t size = (size_t)(cli_file_name(path) - path);
    AUTO_MEM char *name = size > 0 ? strndup(path, size) : strdup(".");
    if (name && stat(name, &st) == 0) {
        folder[0] = (uint64_t)st.st_dev;
        folder[1] = (uint64_t)st.st_ino;
    }
}

/* Recordings in the order of their first file; in each, the leader (the file whose format reads all parts) comes first.
 */
static void arrange(char *const *paths, const struct collect_file *all, uint32_t n, bool *done,
                    struct cli_recordings *out) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t leader = all[i].leader;
        if (done[leader]) {
            continue;
        }
        struct cli_files *files = &out->items[out->n++];
        files->paths = &out->paths[at];
        files->format = all[leader].format;
        out->paths[at++] = paths[leader];
        for (uint32_t k = 0; k < n; k++) {
            if (k != leader && all[k].leader == leader) {
                out->paths[at++] = paths[k];
            }
        }
        files->n = (uint32_t)(&out->paths[at] - files->paths);
        done[leader] = true;
    }
}

bool cli_gather(char *const *paths, uint32_t n, struct cli_recordings *out, struct reel_error *err) {
    AUTO_MEM struct collect_file *all = calloc((size_t)n + 1, sizeof *all);
    AUTO_MEM bool *done = calloc((size_t)n + 1, sizeof *done);
    out->paths = calloc((size_t)n + 1, sizeof *out->paths);
    out->items = calloc((size_t)n + 1, sizeof *out->items);
    if (!all || !done || !out->paths || !out->items) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        find_folder(paths[i], all[i].folder);
    }
    collect_parts(all, n, open_path, (void *)paths);
    arrange(paths, all, n, done, out);
    return true;
}

void cli_recordings_done(struct cli_recordings *r) {
    free(r->paths);
    free(r->items);
}
