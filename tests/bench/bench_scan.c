/* Scans one file into an index pack and prints what that took, as JSON. Its memory is that of scanning alone, which is
 * what the bench wants to know. */
#include <inttypes.h>
#include <stdio.h>
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

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool scan(const char *path, const char *pack, struct reel_error *err) {
    double start = now();
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, err);
    if (!source || !reel_scan_run(&source, 1, NULL, pack, NULL, err)) {
        return false;
    }
    double seconds = now() - start;
    uint64_t peak = peak_bytes();
    AUTO(reel_index_free) struct reel_index *index = reel_index_open(pack, err);
    if (!index) {
        return false;
    }
    const struct reel_index_info *info = reel_index_info(index);
    printf("{\"seconds\": %.6f, \"peak_bytes\": %" PRIu64 ", \"messages\": %" PRIu64 ", \"pack_bytes\": %" PRIu64
           ", \"damaged\": %s}\n",
           seconds, peak, info->messages, index->pack_bytes, info->damaged ? "true" : "false");
    return true;
}

int main(int argc, char **argv) {
    struct reel_error err = {0};
    if (argc != 3) {
        fputs("usage: bench_scan FILE PACK\n", stderr);
        return 2;
    }
    if (!scan(argv[1], argv[2], &err)) {
        fprintf(stderr, "bench_scan: %s\n", err.text);
        return 1;
    }
    return 0;
}
