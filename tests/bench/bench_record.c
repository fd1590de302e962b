/* bench_record COUNT SIZE FILE: records COUNT messages of SIZE bytes into FILE by the library, then writes as many
 * records of the same size by fwrite. Prints both times in seconds; both end on the disk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "reel/record.h"

enum { HEAD = 31 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double with_recorder(const char *path, uint64_t count, const uint8_t *payload, size_t size) {
    struct reel_error err = {0};
    uint32_t id = 0;
    unlink(path);
    double began = now();
    struct reel_recorder *r = reel_recorder_open(path, reel_writer_named(".mcap", NULL, &err), NULL, &err);
    const char *name = "/a";
    const struct reel_channel c = {.name = name, .topics = &name, .n_topics = 1, .type = "", .encoding = "json"};
    bool good = r && reel_recorder_copy_channel(r, &c, &id, &err);
    for (uint64_t i = 0; good && i < count; i++) {
        const struct reel_record m = {.size = sizeof m,
                                      .channel = id,
                                      .sequence = (uint32_t)i,
                                      .log_time_ns = (int64_t)i * 1000,
                                      .payload = {.data = payload, .size = size}};
        good = reel_recorder_message(r, &m, &err);
    }
    if (!good || !reel_recorder_close(r, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return now() - began;
}

static double with_fwrite(const char *path, uint64_t count, const uint8_t *payload, size_t size) {
    uint8_t head[HEAD] = {0};
    unlink(path);
    double began = now();
    FILE *f = fopen(path, "wb");
    bool good = f;
    for (uint64_t i = 0; good && i < count; i++) {
        memcpy(head, &i, sizeof i);
        good = fwrite(head, sizeof head, 1, f) == 1 && fwrite(payload, size, 1, f) == 1;
    }
    if (!good || fflush(f) != 0 || fsync(fileno(f)) != 0 || fclose(f) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    return now() - began;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        return EXIT_FAILURE;
    }
    uint64_t count = strtoull(argv[1], NULL, 10);
    size_t size = strtoul(argv[2], NULL, 10);
    uint8_t *payload = malloc(size);
    if (!payload) {
        return EXIT_FAILURE;
    }
    memset(payload, 'x', size);
    printf("%.6f\n", with_recorder(argv[3], count, payload, size));
    printf("%.6f\n", with_fwrite(argv[3], count, payload, size));
    unlink(argv[3]);
    free(payload);
    return EXIT_SUCCESS;
}
