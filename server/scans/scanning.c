/* See scanning.h. Files and rows of a content change only under its lock, so nothing is removed that another thread is
 * about to use. */
#include "scans/scanning.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/limits.h"
#include "base/order.h"
#include "base/threads.h"
#include "scans/open_recordings.h"
#include "scans/references.h"
#include "work/jobs.h"

bool content_locks_acquire(struct app *app, struct content_locks *l, const struct catalog_recording *r,
                           const char *also, struct reel_error *err) {
    uint32_t n = 0;
    AUTO_MEM const char **contents = calloc((size_t)r->n_parts + 2, sizeof *contents);
    l->items = calloc((size_t)r->n_parts + 2, sizeof *l->items);
    if (!contents || !l->items) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < r->n_parts; i++) {
        contents[n++] = r->parts[i].sha256;
    }
    contents[n++] = r->content;
    contents[n] = also;
    n += also != NULL;
    qsort(contents, n, sizeof *contents, order_texts);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(contents[i], contents[i - 1]) != 0) {
            lock_take(app->locks, &l->items[l->n++], CONTENT_LOCK, contents[i]);
        }
    }
    return true;
}

void content_locks_release(struct content_locks *l) {
    for (uint32_t i = 0; i < l->n; i++) {
        lock_release(&l->items[i]);
    }
    free(l->items);
}

/* ---- content */

bool content_of_parts(struct catalog_recording *r, struct reel_error *err) {
    if (r->n_parts == 1) {
        memcpy(r->content, r->parts[0].sha256, sizeof r->content);
        return true;
    }
    AUTO_MEM char *text = malloc((size_t)r->n_parts * SHA256_HEX);
    if (!text) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < r->n_parts; i++) {
        memcpy(text + (size_t)i * SHA256_HEX, r->parts[i].sha256, SHA256_HEX - 1);
        text[(size_t)(i + 1) * SHA256_HEX - 1] = '\n';
    }
    digest_hex(DIGEST_SHA256, bytes_of(text, (size_t)r->n_parts * SHA256_HEX), r->content);
    return true;
}

/* ---- scanning */

struct parts { /* opened for one scan */
    struct reel_source **items;
    uint32_t count;
};
static void parts_close(struct parts *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        reel_source_free(p->items[i]);
    }
    free(p->items);
}

static bool open_parts(struct app *app, const struct catalog_recording *r, struct parts *out, struct reel_error *err) {
    out->items = calloc((size_t)r->n_parts + 1, sizeof(struct reel_source *));
    if (!out->items) {
        return reel_fail_memory(err);
    }
    for (; out->count < r->n_parts; out->count++) {
        const struct catalog_part *part = &r->parts[out->count];
        out->items[out->count] = store_open_blob(app->store, part->sha256, part->file_name, err);
        if (!out->items[out->count]) {
            return false;
        }
    }
    return true;
}

/* The threads on which chunks are decoded ahead, with the memory for that. NULL: the file is small, or there is no
 * memory left, and the scan decodes them itself. */
static struct reel_threads *take_threads(struct app *app, const struct catalog_recording *r,
                                         struct http_server **lender) {
    *lender = app->http; /* NULL: a command, or the server has not begun to listen */
    bool small = !app->threads || r->size < reel_threads_from(app->threads);
    if (small || (*lender && !http_server_hold_spare(*lender, REEL_SCAN_AHEAD_MEMORY))) {
        *lender = NULL;
        return NULL;
    }
    return app->threads;
}

static bool scan_parts(struct app *app, const struct catalog_recording *r, const struct parts *parts,
                       const struct reel_format *format, const char *pack, const struct reel_progress *progress,
                       struct reel_error *err) {
    struct http_server *lender;
    struct reel_threads *threads = take_threads(app, r, &lender);
    bool good = reel_scan_run_on(parts->items, parts->count, format, pack, threads, progress, err);
    if (lender) {
        http_server_give_back(lender, REEL_SCAN_AHEAD_MEMORY);
    }
    return good;
}

bool scan_content(struct app *app, const struct catalog_recording *r, const struct reel_format *format,
                  const struct reel_progress *progress, struct reel_error *err) {
    char pack[PATH_MAX];
    AUTO_STRUCT(parts_close) struct parts parts = {0};
    if (!store_place_file(app->store, r->content, STORE_PACK, pack, sizeof pack, err)) {
        return false;
    }
    if (!open_parts(app, r, &parts, err) || !scan_parts(app, r, &parts, format, pack, progress, err)) {
        return false;
    }
    if (!references_verify(app, r, err)) { /* modified during the scan: the index may match neither version */
        unlink(pack);
        return false;
    }
    return store_keep_file(app->store, r->content, STORE_PACK, err);
}

bool scan_summary(struct app *app, const struct catalog_recording *r, const struct reel_format *format,
                  struct reel_error *err) {
    char pack[PATH_MAX];
    AUTO_STRUCT(parts_close) struct parts parts = {0};
    return store_place_file(app->store, r->content, STORE_PACK, pack, sizeof pack, err) &&
           open_parts(app, r, &parts, err) && reel_scan_summary(parts.items, parts.count, format, pack, NULL, err) &&
           store_keep_file(app->store, r->content, STORE_PACK, err);
}

uint64_t scan_pack_memory(struct app *app, const char *content) {
    char pack[PATH_MAX];
    AUTO_FD int held = store_open_file(app->store, content, STORE_PACK, false, pack, sizeof pack, NULL);
    return held >= 0 ? index_opening_memory(held) : 0;
}

static struct reel_index *open_pack(struct app *app, const char *content, bool again, struct reel_error *err) {
    char pack[PATH_MAX];
    AUTO_FD int held = store_open_file(app->store, content, STORE_PACK, again, pack, sizeof pack, err);
    return held >= 0 ? reel_index_open(pack, err) : NULL;
}

struct reel_index *scan_open_known(struct app *app, const char *content, struct reel_error *err) {
    char pack[PATH_MAX];
    int fd = store_open_file(app->store, content, STORE_PACK, false, pack, sizeof pack, err);
    return fd >= 0 ? index_of_any_reader(fd, err) : NULL;
}

struct reel_index *scan_open_summary(struct app *app, const char *content, struct reel_error *err) {
    struct reel_error why = {0};
    struct reel_index *index = open_pack(app, content, false, &why);
    if (!index && why.code != REEL_NOT_FOUND) {
        return open_pack(app, content, true, err); /* a copy here may be of another version, or damaged */
    }
    return index ? index : (reel_error_pass(err, &why), NULL);
}

struct reel_index *scan_open_pack(struct app *app, const char *content, struct reel_error *err) {
    AUTO(reel_index_free) struct reel_index *index = scan_open_summary(app, content, err);
    if (index && reel_index_info(index)->is_summary) { /* another server may have the whole one by now */
        reel_index_free(TAKE(index));
        index = open_pack(app, content, true, err);
    }
    if (index && reel_index_info(index)->is_summary) {
        reel_fail(err, REEL_NOT_FOUND, "there is no index yet");
        return NULL;
    }
    return TAKE(index);
}

struct reel_index *scan_open_announced(struct app *app, const char *content, struct reel_error *err) {
    struct reel_error why = {0};
    struct reel_index *index = scan_open_pack(app, content, &why);
    if (!index && why.code == REEL_CHANGED) {
        return scan_open_known(app, content, err);
    }
    return index ? index : (reel_error_pass(err, &why), NULL);
}

enum { FILLED_TEXTS = 4 };

/* All of them or none: a row that is half filled would be taken for a whole one. */
static bool set_texts(char **const at[FILLED_TEXTS], const char *const texts[FILLED_TEXTS]) {
    char *made[FILLED_TEXTS];
    bool complete = true;
    for (uint32_t i = 0; i < FILLED_TEXTS; i++) {
        made[i] = strdup(texts[i] ? texts[i] : "");
        complete &= made[i] != NULL;
    }
    for (uint32_t i = 0; i < FILLED_TEXTS; i++) {
        free(complete ? *at[i] : made[i]);
        *at[i] = complete ? made[i] : *at[i];
    }
    return complete;
}

bool scan_fill(struct catalog_recording *r, const struct reel_index *index, struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(index);
    const bool has_clock = r->annotations.has_clock;
    if (!set_texts((char **const[]){&r->format, &r->container, &r->clock_note, &r->problem},
                   (const char *const[]){info->format->name, info->container,
                                         has_clock ? INDEX_CLOCK_SET : info->clock_note, NULL})) {
        return reel_fail_memory(err);
    }
    r->state = info->is_summary ? STATE_SCANNING : STATE_READY;
    r->clock = has_clock ? r->annotations.clock : info->clock;
    r->start_ns = info->start_ns;
    r->end_ns = info->end_ns;
    r->messages = info->messages;
    r->payload_bytes = info->payload_bytes;
    r->n_channels = info->n_channels;
    r->damaged = info->damaged;
    r->findings = info->n_findings_total;
    r->lost_bytes = info->lost_bytes;
    return true;
}

/* ---- end of a scan */

static bool finish_scanned(struct app *app, struct catalog_recording *r, struct reel_error *err) {
    AUTO(reel_index_free) struct reel_index *index = scan_open_pack(app, r->content, err);
    return index && scan_fill(r, index, err) && catalog_update_scan(app->catalog, r, index, err);
}

static void finish_failed(struct app *app, const struct catalog_recording *r, const struct reel_error *why) {
    struct reel_error ignored;
    bool stopping = why->code == REEL_CANCELLED && jobs_stopping(app->jobs); /* restarted at the next start */
    if (why->code == REEL_NOT_FOUND) {
        catalog_set_state(app->catalog, r->id, STATE_MISSING, why->text, &ignored);
    } else if (why->code == REEL_CHANGED && references_has(app, r)) {
        catalog_set_state(app->catalog, r->id, STATE_CHANGED, why->text, &ignored);
    } else if (!stopping && (r->state == STATE_SCANNING || !reel_is_transient(why->code))) {
        catalog_set_state(app->catalog, r->id, STATE_FAILED, why->text, &ignored);
    }
}

/* The row is locked. */
static bool finish_held(struct app *app, const char *id, const char *content, bool scanned, struct reel_error *err) {
    struct catalog_recording r;
    struct reel_error why;
    if (!catalog_get(app->catalog, id, &r, &why)) {
        if (err && scanned) {
            reel_error_pass(err, &why);
        }
        return false;
    }
    bool same = strcmp(r.content, content) == 0; /* else a part was added: another job scans them all */
    bool ok = scanned && (!same || finish_scanned(app, &r, err));
    if (!scanned && same && err) {
        finish_failed(app, &r, err);
    }
    catalog_recording_done(&r);
    return ok;
}

bool scan_finish(struct app *app, const char *id, const char *content, bool scanned, struct reel_error *err) {
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    lock_take(app->locks, &lock, ROW_LOCK, id);
    bool ok = finish_held(app, id, content, scanned, err);
    recordings_forget(app->recordings, content);
    return ok;
}

bool scan_drop_unused(struct app *app, const char *content, struct reel_error *err) {
    bool content_used, blob_used;
    if (!catalog_content_used(app->catalog, content, &content_used, err) ||
        !catalog_blob_used(app->catalog, content, &blob_used, err)) {
        return false;
    }
    /* What was sent into a bucket by an upload that did not end, and may go on at any server, is nowhere else. */
    bool needed = false;
    if (!blob_used && store_notes_uploads(app->store) && !catalog_upload_has(app->catalog, content, &needed, err)) {
        return false;
    }
    return (content_used || store_remove_content(app->store, content, err)) &&
           (blob_used || needed || store_remove_blob(app->store, content, err));
}

void scan_tidy(struct app *app, const char *content) {
    struct reel_error ignored;
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    if (lock_try(app->locks, &lock, CONTENT_LOCK, content)) {
        scan_drop_unused(app, content, &ignored);
    }
}
