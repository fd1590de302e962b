/* Converts recordings to nowhere and prints what that took, as JSON: the processor time of the calling thread and of
 * all threads. The first cannot be shared, the rest can, whatever the machine. The scans are not counted. "statistics"
 * makes the field statistics of the first recording instead. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "reel/convert.h"
#include "reel/values.h"

enum { FILES_MAX = 16 };

struct recordings {
    struct reel_recording *items[FILES_MAX];
    uint32_t n;
};
static void recordings_done(struct recordings *all) {
    for (uint32_t i = 0; i < all->n; i++) {
        reel_recording_free(all->items[i]);
    }
}

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool count(void *context, const void *data, size_t size, struct reel_error *err) {
    (void)data, (void)err;
    *(uint64_t *)context += size;
    return true;
}

/* A file on a disk takes both. */
static bool ignore(void *context, const void *data, size_t size, struct reel_error *err) {
    (void)context, (void)data, (void)size, (void)err;
    return true;
}

static bool statistics(const struct recordings *all, uint64_t *bytes, struct reel_error *err) {
    AUTO_MEM uint8_t *data = NULL;
    size_t size = 0;
    bool good = reel_statistics_make(all->items[0], NULL, &data, &size, err);
    *bytes = size;
    return good;
}

/* `target`: EXTENSION, EXTENSION:COMPRESSION or EXTENSION:COMPRESSION:VERSION. */
static bool convert(const struct recordings *all, const char *topic, char *target, unsigned threads, uint64_t *bytes,
                    struct reel_error *err) {
    const char *compression = NULL, *version = NULL;
    for (char *colon; (colon = strrchr(target, ':')); *colon = '\0') {
        version = compression;
        compression = colon[1] ? colon + 1 : NULL;
    }
    const struct reel_writer *writer = reel_writer_named(target, version, err);
    const struct reel_convert_options options = {
        .size = sizeof options, .compression = compression, .threads = threads};
    const struct reel_output output = {.write = count, .rewrite = ignore, .context = bytes};
    struct reel_selection selection = reel_select_all();
    selection.topics = &topic;
    selection.n_topics = strcmp(topic, "-") != 0;
    return writer && reel_convert_to(all->items, all->n, &selection, writer, &output, &options, NULL, err);
}

static bool measure(char **files, uint32_t n, const char *topic, char *target, unsigned threads,
                    struct reel_error *err) {
    AUTO_STRUCT(recordings_done) struct recordings all = {.n = 0};
    uint64_t bytes = 0;
    for (; all.n < n; all.n++) {
        if (!(all.items[all.n] = reel_recording_open(files[all.n], NULL, err))) {
            return false;
        }
    }
    double start = now(CLOCK_MONOTONIC), own = now(CLOCK_THREAD_CPUTIME_ID), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    if (!(strcmp(target, "statistics") == 0 ? statistics(&all, &bytes, err)
                                            : convert(&all, topic, target, threads, &bytes, err))) {
        return false;
    }
    printf("{\"seconds\": %.6f, \"own_cpu_seconds\": %.6f, \"cpu_seconds\": %.6f, \"bytes\": %" PRIu64 "}\n",
           now(CLOCK_MONOTONIC) - start, now(CLOCK_THREAD_CPUTIME_ID) - own, now(CLOCK_PROCESS_CPUTIME_ID) - cpu,
           bytes);
    return true;
}

int main(int argc, char **argv) {
    struct reel_error err = {0};
    if (argc < 5 || argc > 4 + FILES_MAX) {
        fputs("usage: bench_convert THREADS EXTENSION[:[COMPRESSION][:VERSION]]|statistics TOPIC|- FILE...\n", stderr);
        return 2;
    }
    if (!measure(argv + 4, (uint32_t)argc - 4, argv[3], argv[2], (unsigned)strtoul(argv[1], NULL, 10), &err)) {
        fprintf(stderr, "bench_convert: %s\n", err.text);
        return 1;
    }
    return 0;
}
