/* Scans one file into an index pack and prints what that took, as JSON. Its memory is that of scanning alone, which is
 * what the bench wants to know. With a number of threads it also counts the processor time of the scan's own thread and
 * of all: what cannot be shared and what can, whatever the machine. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "index/index.h"
#include "index/scan.h"

/* VmHWM and not getrusage's ru_maxrss, which remembers what the program was before it became this one. */
static uint64_t peak_bytes(void) {
    char line[256];
    uint64_t kib = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "VmHWM: %" SCNu64, &kib) == 1) {
            break;
        }
    }
    if (f) {
        fclose(f);
    }
    return kib << 10;
}

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool scan(const char *path, const char *pack, unsigned n, struct reel_error *err) {
    const struct reel_threads_options options = {.size = sizeof options, .threads = n, .from_bytes = 1};
    double start = now(CLOCK_MONOTONIC);
    AUTO(reel_threads_free) struct reel_threads *threads = reel_threads_new(&options, err);
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, err);
    if (!threads || !source || !reel_scan_run_on(&source, 1, NULL, pack, threads, NULL, err)) {
        return false;
    }
    double seconds = now(CLOCK_MONOTONIC) - start, own = now(CLOCK_THREAD_CPUTIME_ID),
           all = now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t peak = peak_bytes();
    AUTO(reel_index_free) struct reel_index *index = reel_index_open(pack, err);
    if (!index) {
        return false;
    }
    const struct reel_index_info *info = reel_index_info(index);
    printf("{\"seconds\": %.6f, \"own_cpu_seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %" PRIu64
           ", \"messages\": %" PRIu64 ", \"pack_bytes\": %" PRIu64 ", \"damaged\": %s}\n",
           seconds, own, all, peak, info->messages, index->pack_bytes, info->damaged ? "true" : "false");
    return true;
}

int main(int argc, char **argv) {
    struct reel_error err = {0};
    if (argc != 3 && argc != 4) {
        fputs("usage: bench_scan FILE PACK [THREADS]\n", stderr);
        return 2;
    }
    if (!scan(argv[1], argv[2], argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 1, &err)) {
        fprintf(stderr, "bench_scan: %s\n", err.text);
        return 1;
    }
    return 0;
}
