/* See scrub.h. Progress is stored before it is reported. */
#include "maintenance/scrub.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/hex.h"
#include "catalog/imports.h"
#include "catalog/maintenance.h"
#include "json_whole.h"
#include "manifests/manifests.h"
#include "reel/cleanup.h"
#include "reel/time.h"
#include "scans/open_recordings.h"
#include "scans/scan_job.h"
#include "scans/scanning.h"
#include "store/inspect.h"
#include "store/reference.h"

enum { READ_BYTES = 1 << 20 };
#define SAVE_NS (5 * INT64_C(1000000000))
#define NAP_NS (50 * INT64_C(1000000))

struct scrub {
    struct app *app;
    const struct scrub_options *options;
    const struct reel_progress *progress;
    struct scrub_result result;
    uint64_t files_total, bytes_total, read; /* read: of this run, for its rate */
    int64_t started_ns, began_ns, saved_ns;
    char position[SHA256_HEX]; /* the last file checked */
    uint8_t *buffer;
};

/* ---- saved position */

static bool save(struct scrub *s, const char *state, struct reel_error *err) {
    json_t *j = json_pack("{s:s, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "state", state, "started_ns",
                          (json_int_t)s->started_ns, "position", s->position, "files", (json_int_t)s->result.files,
                          "size", (json_int_t)s->result.bytes, "files_total", (json_int_t)s->files_total, "size_total",
                          (json_int_t)s->bytes_total, "corrupted", (json_int_t)s->result.corrupted, "missing",
                          (json_int_t)s->result.missing, "elsewhere", (json_int_t)s->result.elsewhere);
    json_object_set_new(j, "corrupted_packs", json_integer((json_int_t)s->result.corrupted_packs));
    json_object_set_new(j, "ended_ns", json_integer(reel_now_ns()));
    AUTO_MEM char *text = j ? json_whole_text(j, JSON_COMPACT) : NULL;
    json_decref(j);
    s->saved_ns = reel_now_ns();
    return text ? catalog_set_maintenance(s->app->catalog, "scrub", text, err) : reel_fail_memory(err);
}

static json_t *scrub_load(struct app *app, struct reel_error *err) {
    AUTO_MEM char *text = catalog_maintenance(app->catalog, "scrub", err);
    json_t *j = text && text[0] ? json_loads(text, 0, NULL) : NULL;
    return j ? j : text ? json_pack("{s:s}", "state", "none") : NULL;
}

static uint64_t scrub_number(const json_t *j, const char *key) {
    json_int_t n = json_integer_value(json_object_get(j, key));
    return n > 0 ? (uint64_t)n : 0;
}

/* The position where the last check stopped, unless it was complete. */
static bool find_position(struct scrub *s, struct reel_error *err) {
    json_t *last = scrub_load(s->app, err);
    const char *state = json_string_value(json_object_get(last, "state")),
               *position = json_string_value(json_object_get(last, "position"));
    bool going = state && position && strcmp(state, "none") != 0 && strcmp(state, "done") != 0 &&
                 strlen(position) == SHA256_HEX - 1 && !s->options->from_start;
    s->started_ns = reel_now_ns();
    if (going) {
        memcpy(s->position, position, sizeof s->position);
        s->started_ns = (int64_t)scrub_number(last, "started_ns");
        s->result = (struct scrub_result){.files = scrub_number(last, "files"),
                                          .bytes = scrub_number(last, "size"),
                                          .corrupted = scrub_number(last, "corrupted"),
                                          .missing = scrub_number(last, "missing"),
                                          .elsewhere = scrub_number(last, "elsewhere"),
                                          .corrupted_packs = scrub_number(last, "corrupted_packs"),
                                          .resumed = true};
    }
    json_decref(last);
    return last && catalog_parts_total(s->app->catalog, &s->files_total, &s->bytes_total, err) &&
           save(s, "running", err);
}

/* ---- one file */

static bool scrub_go_on(struct scrub *s, struct reel_error *err) {
    const struct reel_progress *p = s->progress;
    return !p || !p->report || p->report(p->context, s->result.bytes, s->bytes_total) ||
           reel_fail(err, REEL_CANCELLED, "stopped; the next check continues here");
}

/* Sleeps, in short steps, while this run is faster than its rate. */
static bool limit_rate(struct scrub *s, struct reel_error *err) {
    if (!scrub_go_on(s, err)) {
        return false;
    }
    for (; s->options->bytes_per_s > 0;) {
        double due_s = (double)s->read / (double)s->options->bytes_per_s,
               at_s = (double)(reel_now_ns() - s->began_ns) / 1e9;
        if (at_s >= due_s || at_s < 0) {
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        if (!scrub_go_on(s, err)) {
            return false;
        }
    }
    return true;
}

/* False: it was stopped, or S3 does not answer. *unread: the disk failed. */
static bool scrub_hash_file(struct scrub *s, struct reel_source *source, char out[SHA256_HEX],
                            struct reel_error *unread, struct reel_error *err) {
    struct digest hash;
    uint64_t at = 0;
    bool stopped = false;
    digest_start(&hash, DIGEST_SHA256);
    while (!stopped && at < source->size) {
        size_t n = source->size - at < READ_BYTES ? (size_t)(source->size - at) : READ_BYTES;
        if (!reel_source_read(source, at, s->buffer, n, unread)) {
            break;
        }
        digest_add(&hash, s->buffer, n);
        if (reel_source_fd(source) >= 0) { /* so that the page cache keeps the data of requests */
            (void)posix_fadvise(reel_source_fd(source), (off_t)at, (off_t)n, POSIX_FADV_DONTNEED);
        }
        at += n;
        s->read += n;
        s->result.bytes += n;
        stopped = !limit_rate(s, err);
    }
    if (!stopped && unread->code == REEL_BUSY) {
        stopped = true;
        reel_error_pass(err, unread);
    }
    if (stopped) {
        s->result.bytes -= at; /* it is read again */
        return false;
    }
    digest_end_hex(&hash, out);
    return true;
}

static bool report_corruption(struct scrub *s, const char *sha256, const char *text, struct reel_error *err) {
    bool used = false;
    return catalog_blob_used(s->app->catalog, sha256, &used, err) &&
           (!used || catalog_corruption_found(s->app->catalog, sha256, text, err));
}

static bool report_missing(struct scrub *s, const char *sha256, struct reel_error *err) {
    bool used = false;
    if (!catalog_blob_used(s->app->catalog, sha256, &used, err)) {
        return false;
    }
    s->result.missing += used; /* else it was purged just now */
    return !used || report_corruption(s, sha256, "the stored file is gone", err);
}

static bool report_repaired(struct scrub *s, const char *sha256, struct reel_error *err) {
    bool corrupted = false;
    return catalog_is_corrupted(s->app->catalog, sha256, &corrupted, err) &&
           (!corrupted || catalog_corruption_cleared(s->app->catalog, sha256, err));
}

static bool check_file(struct scrub *s, const char *sha256, struct reel_error *err) {
    char is[SHA256_HEX], text[512];
    struct reel_error unread = {0};
    if (store_is_reference(s->app->store, sha256)) {
        s->result.elsewhere++; /* a referenced file, which is checked by size and time elsewhere */
        return true;
    }
    AUTO(reel_source_free) struct reel_source *source = store_open_stored(s->app->store, sha256, &unread);
    if (!source) {
        return unread.code == REEL_NOT_FOUND ? report_missing(s, sha256, err) : reel_error_pass(err, &unread);
    }
    if (!scrub_hash_file(s, source, is, &unread, err)) {
        return false;
    }
    if (unread.code == REEL_OK && strcmp(is, sha256) == 0) {
        return report_repaired(s, sha256, err);
    }
    s->result.corrupted++;
    if (unread.code != REEL_OK) {
        snprintf(text, sizeof text, "the stored file cannot be read: %.400s", unread.text);
    } else {
        snprintf(text, sizeof text, "the stored file is corrupted, its SHA-256 is %s; uploading it again repairs it",
                 is);
    }
    return report_corruption(s, sha256, text, err);
}

/* ---- one index pack */

static bool is_pack_whole(struct app *app, const char *content) {
    struct reel_error ignored;
    AUTO(reel_index_free) struct reel_index *index = scan_open_announced(app, content, &ignored);
    return index && reel_index_verify(index, &ignored);
}

/* A server rebuilds it at once; otherwise it is rebuilt when it is needed. That of an announced recording stays: the
 * file that it was made of is not here. */
static bool rebuild_pack(struct scrub *s, const char *content, struct reel_error *err) {
    char ids[1][RECORDING_ID_TEXT], job[JOB_ID_TEXT];
    uint32_t n = 0;
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording r = {0};
    if (!catalog_recordings_of_content(s->app->catalog, content, ids, 1, &n, err)) {
        return false;
    }
    if (n == 0 || !catalog_get(s->app->catalog, ids[0], &r, NULL)) {
        return true; /* it was deleted just now */
    }
    if (r.announced && r.announced[0]) {
        s->result.corrupted_packs += !is_pack_whole(s->app, content);
        return true;
    }
    s->result.corrupted_packs++;
    if (!store_remove_file(s->app->store, content, STORE_PACK, err)) {
        return false;
    }
    if (!s->app->jobs) {
        return true;
    }
    recordings_forget(s->app->recordings, content);
    return r.state != STATE_READY || scan_again(s->app, &r, job, err);
}

/* A pack of another version is rebuilt as well: the corrupted beginning of a pack cannot be told from that of another
 * version. */
static bool check_pack(struct scrub *s, const char *content, struct reel_error *err) {
    struct reel_error why = {0};
    AUTO(reel_index_free) struct reel_index *index = scan_open_summary(s->app, content, &why);
    bool verified = index && reel_index_verify(index, &why);
    if (index) {
        s->read += index->pack_bytes;
    }
    if (verified || why.code == REEL_NOT_FOUND) {
        return limit_rate(s, err);
    }
    return why.code == REEL_CHANGED ? rebuild_pack(s, content, err) : reel_error_pass(err, &why);
}

/* ---- all of them */

/* The next hash behind the position, which is that of a stored file, of a content with an index pack, or of both. */
static bool scrub_find_next(const struct scrub *s, char file[SHA256_HEX], char content[SHA256_HEX],
                            struct reel_error *err) {
    struct reel_error why = {0};
    uint64_t unused;
    file[0] = content[0] = '\0';
    if ((!catalog_part_after(s->app->catalog, s->position, file, &unused, &why) && why.code != REEL_NOT_FOUND) ||
        (!catalog_content_after(s->app->catalog, s->position, content, &why) && why.code != REEL_NOT_FOUND)) {
        return reel_error_pass(err, &why);
    }
    int order = !file[0] || !content[0] ? (content[0] != '\0') - (file[0] != '\0') : strcmp(file, content);
    if (order != 0) {
        (order < 0 ? content : file)[0] = '\0'; /* its turn comes */
    }
    return true;
}

static bool check_all(struct scrub *s, struct reel_error *err) {
    char file[SHA256_HEX], content[SHA256_HEX];
    for (;;) {
        if (!scrub_find_next(s, file, content, err)) {
            return false;
        }
        if (!file[0] && !content[0]) {
            return true;
        }
        if ((content[0] && !check_pack(s, content, err)) || (file[0] && !check_file(s, file, err)) ||
            !scrub_go_on(s, err)) {
            return false;
        }
        s->result.files += file[0] != '\0';
        memcpy(s->position, file[0] ? file : content, sizeof s->position);
        if (reel_now_ns() - s->saved_ns > SAVE_NS && !save(s, "running", err)) {
            return false;
        }
    }
}

bool scrub_run(struct app *app, const struct scrub_options *options, const struct reel_progress *progress,
               struct scrub_result *out, struct reel_error *err) {
    struct scrub s = {
        .app = app, .options = options, .progress = progress, .began_ns = reel_now_ns(), .buffer = malloc(READ_BYTES)};
    AUTO_MEM uint8_t *buffer = s.buffer;
    struct reel_error ignored;
    if (!buffer) {
        return reel_fail_memory(err);
    }
    bool good = find_position(&s, err), done = good && check_all(&s, err);
    if (good) {
        done = save(&s, done ? "done" : "stopped", done ? err : &ignored) && done;
    }
    *out = s.result;
    return done;
}

/* ---- the job */

bool scrub_job_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    json_auto_t *o = json_loads(call->options, 0, NULL);
    struct scrub_result result;
    const struct scrub_options options = {.bytes_per_s = scrub_number(o, "bytes_per_s"),
                                          .from_start =
                                              json_is_true(json_object_get(o, "from_start")) && call->attempts == 1};
    bool good = scrub_run(app, &options, call->progress, &result, err);
    manifests_changed(app);
    return good;
}

bool scrub_start(struct app *app, const struct scrub_options *options, char id[JOB_ID_TEXT], struct reel_error *err) {
    char text[96];
    snprintf(text, sizeof text, "{\"bytes_per_s\":%llu,\"from_start\":%s}", (unsigned long long)options->bytes_per_s,
             options->from_start ? "true" : "false");
    return jobs_add(app->jobs,
                    &(struct job_spec){.kind = "scrub", .subject = "stored files", .options = text, .alone = true}, id,
                    err);
}

static bool is_running(struct app *app) {
    char id[JOB_ID_TEXT];
    struct reel_error ignored;
    return catalog_job_by_key(app->catalog, "scrub", "", id, &ignored);
}

json_t *scrub_last(struct app *app, bool (*sees)(const void *context, const char *collection), const void *context,
                   struct reel_error *err) {
    char when[REEL_TIME_TEXT];
    json_t *last = scrub_load(app, err),
           *corrupted_files = last ? catalog_corruption_list(app->catalog, sees, context, err) : NULL;
    if (!corrupted_files) {
        json_decref(last);
        return NULL;
    }
    const char *state = json_string_value(json_object_get(last, "state"));
    if (state && strcmp(state, "none") != 0) {
        reel_time_rfc3339((int64_t)scrub_number(last, "started_ns"), when);
        json_object_set_new(last, "started", json_string(when));
        reel_time_rfc3339((int64_t)scrub_number(last, "ended_ns"), when);
        json_object_set_new(last, strcmp(state, "done") == 0 ? "ended" : "last_seen", json_string(when));
    }
    if (state && strcmp(state, "running") == 0 && !is_running(app)) { /* it was a command that was killed */
        json_object_set_new(last, "state", json_string("stopped"));
    }
    json_object_del(last, "started_ns");
    json_object_del(last, "ended_ns");
    json_object_set_new(last, "corrupted_files", corrupted_files);
    return last;
}
