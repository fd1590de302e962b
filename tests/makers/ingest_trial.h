/* For tests of ingestion: an app without HTTP, and a format whose files determine the outcome of their scan. A test
 * program includes this once. A file: "TRIAL", then letters: 'd' = damaged beyond use, 'l' = something lost, 's' = the
 * scan waits until trial_gate is open, 'n' at the end = no index. One channel /trial, one message per letter. */
#ifndef REEL_TESTS_INGEST_TRIAL_H
#define REEL_TESTS_INGEST_TRIAL_H

#include <dirent.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "app.h"
#include "base/bytes.h"
#include "index/scan.h"
#include "job_kinds.h"
#include "recordings/ingest.h"
#include "scans/open_recordings.h"
#include "store/reference.h"
#include "store/roots.h"
#include "work/locks.h"

#define DATA REEL_SCRATCH "/data"

static atomic_bool trial_gate;
static atomic_int trial_scans, trial_waiting;

static bool trial_wait(struct reel_scan *scan, struct reel_error *err) {
    atomic_fetch_add(&trial_waiting, 1);
    bool ok = true;
    while (ok && !atomic_load(&trial_gate)) {
        usleep(500);
        ok = reel_scan_progress(scan, 1, 2, err);
    }
    return ok;
}

static bool trial_part(struct reel_scan *scan, uint32_t part, uint32_t channel, struct reel_error *err) {
    char text[256] = {0};
    struct reel_source *s = scan->parts[part];
    size_t size = s->size < sizeof text - 1 ? (size_t)s->size : sizeof text - 1;
    if (!reel_source_read(s, 0, text, size, err)) {
        return false;
    }
    for (size_t i = 5; i < size; i++) {
        struct reel_entry e = {.time_ns = (int64_t)i, .channel = channel, .chunk = part, .offset = i, .size = 1};
        if (text[i] == 'd') {
            return reel_fail(err, REEL_DAMAGED, "letter at %zu: damaged", i);
        }
        if (text[i] == 'l') {
            reel_scan_finding(scan, REEL_LOSS, part, i, 1, "a letter is lost");
        } else if ((text[i] == 's' && !trial_wait(scan, err)) || !reel_scan_entry(scan, &e, err)) {
            return false;
        }
    }
    return true;
}
static bool trial_scan(struct reel_scan *scan, struct reel_error *err) {
    uint32_t id;
    atomic_fetch_add(&trial_scans, 1);
    bool ok = reel_scan_channel(
        scan, &(struct reel_channel){.name = "/trial", .type = "trial/Letter", .encoding = "text"}, &id, err);
    for (uint32_t i = 0; ok && i < scan->n_parts; i++) {
        ok = trial_part(scan, i, id, err);
    }
    return ok;
}
/* Files that begin with the same letter are one recording. */
static enum reel_joins trial_joins(struct reel_source *const *parts, uint32_t n, struct reel_source *other) {
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i]->name[0] != other->name[0]) {
            return REEL_JOINS_NOT;
        }
    }
    return REEL_JOINS;
}
/* Says one message for each letter without looking at them; a file that ends in 'n' has no index. */
static bool trial_summary(struct reel_scan *scan, struct reel_error *err) {
    struct reel_source *s = scan->parts[0];
    uint8_t last;
    uint32_t id;
    if (!reel_source_read(s, s->size - 1, &last, 1, err)) {
        return false;
    }
    struct reel_channel_stats annotations = {.count = s->size - 5, .first_ns = 5, .last_ns = (int64_t)s->size - 1};
    return last == 'n'
               ? reel_fail(err, REEL_UNSUPPORTED, "no index")
               : reel_scan_channel(scan,
                                   &(struct reel_channel){.name = "/trial", .type = "trial/Letter", .encoding = "text"},
                                   &id, err) &&
                     reel_scan_count(scan, id, &annotations, err);
}

static int trial_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    (void)source;
    return bytes_start(head, bytes_text("TRIAL")) ? 40 : 0;
}
static const char *const trial_suffixes[] = {".trial", NULL};
static struct reel_format trial_format = {.name = "trial",
                                          .title = "Trial",
                                          .media_type = "application/x-trial",
                                          .suffixes = trial_suffixes,
                                          .probe = trial_probe,
                                          .scan = trial_scan,
                                          .summary = trial_summary,
                                          .joins = trial_joins,
                                          .version = 1};
const struct reel_format *const reel_formats[] = {&trial_format, NULL};
const struct reel_writer *const reel_writers[] = {NULL};

/* ---- the app, as app_open() makes it, without plans and HTTP */

static struct app app;
static struct reel_error err;

static void app_up(void) {
    app = (struct app){.started_ns = reel_now_ns()};
    app.store = store_open(DATA, &err);
    app.roots = roots_open((const char *const[]){"/", NULL}, &err);
    store_set_roots(app.store, app.roots);
    app.catalog = app.store ? catalog_open(DATA "/catalog.db", &err) : NULL;
    app.cache = reel_cache_new(1 << 20, &err);
    app.locks = locks_new(&err);
    app.jobs = jobs_open(
        &(struct jobs_options){.app = &app, .catalog = app.catalog, .scan_threads = 2, .kinds = job_kinds}, &err);
    app.recordings = recordings_new(&app, &err);
    if (!app.catalog || !app.cache || !app.jobs || !app.recordings) {
        fprintf(stderr, "app: %s\n", err.text);
        abort();
    }
    jobs_start(app.jobs);
}
static void app_down(void) {
    jobs_stop(app.jobs, INT64_C(60000000000));
    jobs_free(app.jobs);
    recordings_free(app.recordings);
    locks_free(app.locks);
    reel_cache_free(app.cache);
    catalog_close(app.catalog);
    store_close(app.store);
    roots_close(app.roots);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *where) {
    (void)st;
    (void)flag;
    (void)where;
    return remove(path);
}
static inline int set_up(void **state) {
    (void)state;
    nftw(DATA, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    atomic_store(&trial_gate, false);
    atomic_store(&trial_scans, 0);
    atomic_store(&trial_waiting, 0);
    app_up();
    return 0;
}
static inline int tear_down(void **state) {
    (void)state;
    app_down();
    return 0;
}

/* Files under blobs/, and what is left in incoming/. */
static int n_files;
static int count_one(const char *path, const struct stat *st, int flag, struct FTW *where) {
    (void)path;
    (void)st;
    (void)where;
    n_files += flag == FTW_F;
    return 0;
}
static inline int stored_files(void) {
    n_files = 0;
    nftw(DATA "/blobs", count_one, 16, FTW_PHYS);
    nftw(DATA "/incoming", count_one, 16, FTW_PHYS);
    return n_files;
}

static inline enum job_state job_state(const char *id) {
    struct catalog_job job;
    if (!jobs_find(app.jobs, id, &job, &err)) {
        fprintf(stderr, "job %s: %s\n", id, err.text);
        abort();
    }
    enum job_state state = job.state;
    catalog_job_done(&job);
    return state;
}

static inline void wait_until_idle(void) {
    uint64_t queued = 1, running = 0;
    while (queued + running > 0) {
        usleep(500);
        jobs_count(app.jobs, &queued, &running);
    }
}

/* Uploads `text`; `q` gives name and wishes. */
static enum ingest_outcome send_with(const struct ingest_request *q, const char *text, int64_t wait_ns,
                                     struct ingest_result *out, struct reel_error *problem) {
    char sha256[65];
    uint64_t size;
    struct store_upload *u = store_upload_begin(app.store, problem);
    if (!u || !store_upload_write(u, text, strlen(text), problem) || !store_upload_finish(u, sha256, &size, problem)) {
        abort();
    }
    ingest_upload(&app, u, sha256, size, q, wait_ns, out, problem);
    store_upload_free(u);
    return out->outcome;
}

static inline enum ingest_outcome send_text(const char *name, const char *text, struct ingest_result *out) {
    return send_with(&(struct ingest_request){.collection = "lab", .name = name}, text, INT64_MAX, out, &err);
}

#endif
