/* What the makers of golden inputs share: write every case's file, or compare with what is there. */
#ifndef TESTS_GOLDEN_MAKER_H
#define TESTS_GOLDEN_MAKER_H

#include "makers/bag_maker.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

struct golden_input {
    const char *name, *file; /* the case's folder; its file, input.… */
};

static inline bool file_is(const char *path, const struct maker *m) {
    FILE *file = fopen(path, "rbe");
    char *there = (char *)malloc(m->size + 1);
    assert(there);
    bool same = file && fread(there, 1, m->size + 1, file) == m->size && memcmp(there, m->data, m->size) == 0;
    if (file) {
        fclose(file);
    }
    free(there);
    return same;
}
static inline bool file_write(const char *path, const struct maker *m) {
    FILE *file = fopen(path, "wbe");
    bool written = file && fwrite(m->data, 1, m->size, file) == m->size;
    return file && fclose(file) == 0 && written;
}

/* `make` gives case i and makes its bytes. */
static inline int golden_main(int argc, char **argv, size_t n, struct golden_input (*make)(size_t i, struct maker *m)) {
    bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
    int bad = 0;
    if (argc != 2 && !check) {
        fprintf(stderr, "usage: %s [--check] FOLDER\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < n; i++) {
        char path[1024];
        struct maker m = {0};
        struct golden_input input = make(i, &m);
        snprintf(path, sizeof path, "%s/%s", argv[argc - 1], input.name);
        if (!check && mkdir(path, 0777) != 0 && errno != EEXIST) {
            perror(path);
            return 1;
        }
        snprintf(path, sizeof path, "%s/%s/%s", argv[argc - 1], input.name, input.file);
        if (!(check ? file_is(path, &m) : file_write(path, &m))) {
            fprintf(stderr, "%s: %s\n", path, check ? "is not what is made now" : strerror(errno));
            bad = 1;
        }
        free(m.data);
    }
    return bad;
}

#endif
