/* Puts copies of one recording of a stopped server's catalog into it, each with its own id and name, through the catalog's own door. Rule:
 * for catalogs that are thrown away; nothing is synced to disk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "catalog/catalog.h"
#include "catalog/upkeep.h"

/* Stand in for libc's in this program, SQLite included: a hundred thousand transactions would wait for the disk as often. */
int fsync(int fd) {
    (void)fd;
    return 0;
}
int fdatasync(int fd) {
    (void)fd;
    return 0;
}

struct filling {
    struct catalog_adoption *into;
    struct catalog_recording common, rare; /* what most are copies of, and what one of 997 is */
    struct reel_index *common_index, *rare_index;
};

static bool add_copy(struct filling *f, uint32_t i, struct reel_error *err) {
    static const char *const robots[] = {"albatross", "buzzard", "condor", "dunlin", "egret", "falcon", "grebe", "heron"};
    static const char *const places[] = {"corridor", "garage", "kitchen", "yard", "lab", "stairs", "office"};
    bool rare = i % 997 == 996;
    struct catalog_recording copy = rare ? f->rare : f->common;
    char name[128], run[24];
    snprintf(name, sizeof name, "%s-%s-%06" PRIu32 ".bag", robots[i % 8], places[i % 7], i);
    snprintf(run, sizeof run, "run-%" PRIu32, i / 100);
    struct catalog_tag tags[] = {{(char *)"place", (char *)places[i % 7]}, {(char *)"robot", (char *)robots[i % 8]}, {(char *)"run", run}};
    copy.said = (struct catalog_said){.tags = tags, .n_tags = 3};
    copy.row = 0;
    copy.name = name;
    copy.revision = 1;
    copy.start_ns = f->common.start_ns + (int64_t)i * 60 * 1000000000;
    copy.end_ns = copy.start_ns + f->common.end_ns - f->common.start_ns;
    copy.clock = REEL_CLOCK_WALL;
    copy.created_ns = copy.updated_ns = 1000000000 + (int64_t)i;
    struct catalog_notes notes = {0};
    struct catalog_events events = {0};
    struct catalog_adopted one = {.r = &copy, .index = rare ? f->rare_index : f->common_index, .notes = &notes, .events = &events};
    return catalog_make_id(copy.id, err) && catalog_adopt(f->into, &one, err);
}

static bool fill(char **argv, struct filling *f, struct catalog *catalog, uint32_t count, struct reel_error *err) {
    bool good = catalog_get(catalog, argv[2], &f->common, err) && catalog_get(catalog, argv[4], &f->rare, err) &&
                (f->common_index = reel_index_open(argv[3], err)) && (f->rare_index = reel_index_open(argv[5], err)) &&
                (f->into = catalog_adopt_begin(catalog, err));
    for (uint32_t i = 0; i < count && good; i++) {
        good = add_copy(f, i, err);
    }
    good = catalog_adopt_end(f->into, good, err) && good;
    reel_index_free(f->common_index);
    reel_index_free(f->rare_index);
    catalog_recording_done(&f->common);
    catalog_recording_done(&f->rare);
    return good;
}

int main(int argc, char **argv) {
    struct reel_error err = {0};
    struct filling filling = {0};
    if (argc != 7) {
        fputs("usage: catalog_fill CATALOG COMMON PACK RARE PACK COUNT\n", stderr);
        return 2;
    }
    struct catalog *catalog = catalog_open(argv[1], &err);
    bool good = catalog && fill(argv, &filling, catalog, (uint32_t)strtoul(argv[6], NULL, 10), &err);
    if (catalog) {
        catalog_close(catalog);
    }
    if (!good) {
        fprintf(stderr, "catalog_fill: %s\n", err.text);
    }
    return good ? 0 : 1;
}
