/* Tables at the end of a recording (record/record.h), of rows that were written to a temporary file while recording. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "record/record.h"

/* Copies the rows, without their keys, into `sorted`: those of key 0 first, then those of key 1 … */
static bool sort_rows(const struct recorder_tables *t, uint8_t *sorted, struct reel_error *err) {
    enum { PIECE = 4096 };
    size_t size = 4 + t->row_size;
    AUTO_MEM uint64_t *next = calloc(t->n_keys + 1, sizeof *next);
    AUTO_MEM uint8_t *piece = malloc(PIECE * size);
    if (!next || !piece) {
        return reel_fail_memory(err);
    }
    for (size_t k = 1; k < t->n_keys; k++) {
        next[k] = next[k - 1] + t->counts[k - 1];
    }
    rewind(t->spool);
    for (size_t n; (n = fread(piece, size, PIECE, t->spool)) > 0;) {
        for (size_t i = 0; i < n; i++) {
            const uint8_t *row = piece + i * size;
            memcpy(sorted + next[load_u32le(row)]++ * t->row_size, row + 4, t->row_size);
        }
    }
    return !ferror(t->spool) || reel_fail_errno(err, "the index could not be read back");
}

static bool put_sorted(struct reel_recorder *r, const struct recorder_tables *t, const uint8_t *sorted,
                       struct reel_error *err) {
    for (size_t k = 0; k < t->n_keys; k++) {
        size_t size = (size_t)t->counts[k] * t->row_size;
        if (size > 0 && (!t->head(r, k, err) || !recorder_put(r, sorted, size, err))) {
            return false;
        }
        sorted += size;
    }
    return true;
}

/* The rows are sorted in a mapped temporary file, so that memory does not grow with the recording. */
bool recorder_put_tables(struct reel_recorder *r, const struct recorder_tables *t, struct reel_error *err) {
    size_t size = 0;
    for (size_t k = 0; k < t->n_keys; k++) {
        size += (size_t)t->counts[k] * t->row_size;
    }
    if (size == 0) {
        return true;
    }
    FILE *file = recorder_spool(err);
    if (!file) {
        return false;
    }
    void *sorted = disk_allocate(fileno(file), size)
                       ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0)
                       : MAP_FAILED;
    bool good = sorted != MAP_FAILED ? sort_rows(t, sorted, err) && put_sorted(r, t, sorted, err)
                                     : reel_fail_errno(err, "no room to sort the index");
    if (sorted != MAP_FAILED) {
        munmap(sorted, size);
    }
    fclose(file);
    return good;
}
