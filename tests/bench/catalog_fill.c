/* Puts copies of one recording of a stopped server's catalog into it, each with its own id and name, through the catalog's own door. Rule:
 * for catalogs that are thrown away; nothing is synced to disk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "catalog/catalog.h"

/* Stand in for libc's in this program, SQLite included: a hundred thousand transactions would wait for the disk as often. */
int fsync(int fd) {
    (void)fd;
    return 0;
}
int fdatasync(int fd) {
    (void)fd;
    return 0;
}

static bool add_copies(struct catalog *catalog, const struct catalog_recording *model, const struct reel_index *index, uint32_t count,
                       struct reel_error *err) {
    static const char *const robots[] = {"albatross", "buzzard", "condor", "dunlin", "egret", "falcon", "grebe", "heron"};
    static const char *const places[] = {"corridor", "garage", "kitchen", "yard", "lab", "stairs", "office"};
    char name[128];
    for (uint32_t i = 0; i < count; i++) {
        struct catalog_recording copy = *model;
        copy.row = 0;
        copy.id[0] = '\0';
        snprintf(name, sizeof name, "%s-%s-%06" PRIu32 ".bag", robots[i % 8], places[i % 7], i);
        copy.name = name;
        copy.start_ns += (int64_t)i * 60 * 1000000000;
        copy.end_ns += (int64_t)i * 60 * 1000000000;
        copy.created_ns = 0;
        if (!catalog_add(catalog, &copy, index, false, err)) {
            return false;
        }
    }
    return true;
}

static bool fill(const char *catalog_path, const char *key, const char *pack_path, uint32_t count, struct reel_error *err) {
    struct catalog_recording model = {0};
    AUTO(reel_index_free) struct reel_index *index = reel_index_open(pack_path, err);
    struct catalog *catalog = index ? catalog_open(catalog_path, err) : NULL;
    bool done = catalog && catalog_get(catalog, key, &model, err) && add_copies(catalog, &model, index, count, err);
    catalog_recording_done(&model);
    if (catalog) {
        catalog_close(catalog);
    }
    return done;
}

int main(int argc, char **argv) {
    struct reel_error err = {0};
    if (argc != 5) {
        fputs("usage: catalog_fill CATALOG RECORDING PACK COUNT\n", stderr);
        return 2;
    }
    if (!fill(argv[1], argv[2], argv[3], (uint32_t)strtoul(argv[4], NULL, 10), &err)) {
        fprintf(stderr, "catalog_fill: %s\n", err.text);
        return 1;
    }
    return 0;
}
