/* The end of a session: it is removed, its bytes become a recording, or several are concatenated first. Received bytes
 * are discarded only if their content is rejected. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "scans/scanning.h"
#include "uploads/sessions_internal.h"
#include "uploads/upload_options.h"

/* ---- removed */

/* Of an upload that is no more: what its note named may have become the object of its content. */
static void tidy(struct app *app, const char *content) {
    if (content[0] && store_notes_uploads(app->store)) {
        scan_tidy(app, content);
    }
}

/* The row may have changed before the mutex was taken: it is read again. */
static bool sweep_locked(struct app *app, struct session *s, int64_t expired_ns, struct reel_error *err) {
    AUTO_STRUCT(catalog_upload_done) struct catalog_upload u = {0};
    struct reel_error none = {0};
    if (!catalog_upload_get(app->catalog, s->id, &u, &none)) {
        return none.code == REEL_NOT_FOUND || reel_error_pass(err, &none);
    }
    if (expired_ns && u.expires_ns >= expired_ns) {
        return true;
    }
    if (expired_ns && s->writer) {
        return catalog_upload_extend(app->catalog, s->id, session_expires(app), err);
    }
    if (!catalog_upload_remove(app->catalog, s->id, err)) {
        return false;
    }
    session_discard(app, s, u.note);
    tidy(app, u.content);
    return true;
}

bool session_sweep_one(struct app *app, const char *id, int64_t expired_ns, struct reel_error *err) {
    struct session *s = session_acquire(app->sessions, id, err);
    if (!s) {
        return false;
    }
    bool ok = sweep_locked(app, s, expired_ns, err);
    session_release(app->sessions, s);
    return ok;
}

bool session_remove(struct app *app, const char *owner, const char *id, struct reel_error *err) {
    struct catalog_upload u;
    if (!session_get(app, owner, id, &u, err)) {
        return false;
    }
    catalog_upload_done(&u);
    return session_sweep_one(app, id, 0, err);
}

/* ---- a recording */

/* Hashes, records the hash (for recovery after a crash), ingests. */
static bool become_recording(struct app *app, struct session *s, struct catalog_upload *u, int64_t wait_ns,
                             struct session_result *out, struct reel_error *err) {
    AUTO_STRUCT(upload_options_done) struct upload_options options = {0};
    uint64_t size;
    if (!upload_options_parse(&options, u->options, err) || !store_upload_finish(s->file, u->content, &size, err)) {
        return false;
    }
    memcpy(out->sha256, u->content, sizeof out->sha256);
    u->offset = size;
    if (options.sha256[0] && strcmp(options.sha256, u->content) != 0) {
        return reel_fail(err, REEL_ARGUMENT,
                         "the bytes received have SHA-256 %s, announced was %s; nothing was kept, send it again",
                         u->content, options.sha256);
    }
    struct catalog_upload row = *u;
    row.offset = store_notes_uploads(app->store) ? s->sure : u->offset; /* what the note describes */
    if (!catalog_upload_update(app->catalog, &row, err)) {
        out->again = true;
        return false;
    }
    u->turn = row.turn;
    struct ingest_request q = upload_options_request(&options);
    q.owner = u->owner;
    ingest_upload(app, s->file, u->content, size, &q, wait_ns, &out->ingest, err);
    if (out->ingest.outcome == INGEST_REFUSED) {
        return false;
    }
    memcpy(u->recording, out->ingest.recording.id, sizeof u->recording);
    return true;
}

/* Removes the partial uploads that were concatenated. */
static void remove_parts(struct app *app, const char *concat) {
    struct reel_error ignored;
    const char *at = strncmp(concat, "final;", 6) == 0 ? concat + 6 : "";
    while (*at) {
        size_t n = strcspn(at, " ");
        char id[RECORDING_ID_TEXT];
        if (n >= sizeof id - 1) {
            snprintf(id, sizeof id, "%.*s", (int)sizeof id - 1, at + n - (sizeof id - 1));
            session_sweep_one(app, id, 0, &ignored);
        }
        at += n + strspn(at + n, " ");
    }
}

static bool finish_partial(struct session *s, struct catalog_upload *u, struct reel_error *err) {
    char *note;
    if (!store_upload_finish_partial(s->file, &note, err)) {
        return false;
    }
    if (note) {
        free(u->note);
        u->note = note;
    }
    return true;
}

static void finish_locked(struct app *app, struct session *s, struct catalog_upload *u, int64_t wait_ns,
                          struct session_result *out, struct reel_error *err) {
    struct reel_error ignored;
    if (!session_open_file(app, s, u, err)) {
        return;
    }
    if (s->writer || store_upload_size(s->file) != u->offset) { /* another request has written since; the upload is not
                                                                   complete any more */
        out->again = true;
        reel_fail(err, REEL_CONFLICT, "another request has taken over this upload");
        return;
    }
    out->partial = strcmp(u->concat, "partial") == 0;
    bool ok = out->partial ? finish_partial(s, u, err) : become_recording(app, s, u, wait_ns, out, err);
    if (ok) {
        u->done = true;
        u->expires_ns = session_expires(app);
        if (!catalog_upload_update(app->catalog, u, err) && out->partial) {
            out->again = true;
        }
        if (!out->partial) {
            store_upload_drop(s->file); /* already stored as a blob; no second copy */
            session_close_file(s);
        }
        s->turn = u->turn;
        return;
    }
    out->ingest.outcome = INGEST_REFUSED;
    out->again = out->again || reel_is_transient(err->code); /* session_open_file() takes back what is a blob by now */
    if (!out->again) {
        catalog_upload_remove(app->catalog, u->id, &ignored);
        session_discard(app, s, u->note);
        tidy(app, u->content);
    } else if (store_notes_uploads(app->store)) {
        session_close_file(s); /* it may be an object already: the row and the directory know */
    }
}

void session_finish(struct app *app, const struct catalog_upload *u, int64_t wait_ns, struct session_result *out,
                    struct reel_error *err) {
    *out = (struct session_result){.ingest.outcome = INGEST_REFUSED};
    struct catalog_upload now = *u; /* borrows the caller's texts, but for the note */
    now.note = strdup(u->note);
    struct session *s = now.note ? session_acquire(app->sessions, u->id, err) : NULL;
    if (!s) {
        free(now.note);
        reel_fail_memory(err);
        return;
    }
    finish_locked(app, s, &now, wait_ns, out, err);
    session_release(app->sessions, s);
    free(now.note);
    if (out->ingest.outcome != INGEST_REFUSED) {
        remove_parts(app, u->concat);
    }
}

/* ---- concatenation */

static bool copy_part(struct app *app, const char *owner, const char *id, struct session_writer *w,
                      struct reel_error *err) {
    enum { COPY_BYTES = 1 << 20 };
    struct catalog_upload part;
    if (!session_get(app, owner, id, &part, err)) {
        return false;
    }
    bool whole = part.done && strcmp(part.concat, "partial") == 0;
    AUTO(reel_source_free)
    struct reel_source *source = whole ? store_open_partial(app->store, id, part.note, part.offset, err) : NULL;
    catalog_upload_done(&part);
    if (!whole) {
        return reel_fail(err, REEL_CONFLICT, "the upload %s is not a partial upload, or is not complete", id);
    }
    AUTO_MEM uint8_t *buffer = malloc(COPY_BYTES);
    if (!source || !buffer) {
        return source ? reel_fail_memory(err) : false;
    }
    for (uint64_t at = 0; at < source->size;) {
        size_t n = source->size - at < COPY_BYTES ? (size_t)(source->size - at) : COPY_BYTES;
        if (!reel_source_read(source, at, buffer, n, err) || !session_write(w, buffer, n, err)) {
            return false;
        }
        at += n;
    }
    return true;
}

bool session_concatenate(struct app *app, const struct catalog_upload *u, const char (*parts)[RECORDING_ID_TEXT],
                         uint32_t n, struct catalog_upload *now, struct reel_error *err) {
    struct session_writer *w;
    struct session_piece piece = {.length = -1};
    struct catalog_upload at = {0};
    if (session_begin(app, u->owner, u->id, &piece, &w, &at, err) != SESSION_OK) {
        catalog_upload_done(&at);
        return false;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = copy_part(app, u->owner, parts[i], w, err);
    }
    return session_end(w, now, ok ? err : &(struct reel_error){0}) && ok;
}
