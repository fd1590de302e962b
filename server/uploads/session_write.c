/* The bytes of a session: they are written only under its mutex, by the newest writer; an older writer fails at its
 * next byte. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "reel/time.h"
#include "uploads/sessions_internal.h"

enum { CONFIRM_BYTES = 256 << 20 };          /* of one request between two fsyncs */
static const int64_t SILENT_NS = 3000000000; /* after this long without a byte another writer may take over */

struct session_writer {
    struct app *app;
    struct session *session;
    struct catalog_upload u;
    struct session_piece piece;
    uint64_t confirmed;
    bool dropped;
};

/* fsync, recorded in the row. The session's mutex is held. */
static bool confirm(struct session_writer *w, struct reel_error *err) {
    struct session *s = w->session;
    char *note;
    uint64_t sure;
    w->u.offset = store_upload_size(s->file);
    if (!store_upload_sync(s->file, session_is_full(&w->u), &sure, &note, err)) {
        return false;
    }
    if (note) {
        free(w->u.note);
        w->u.note = note;
    }
    w->u.expires_ns = session_expires(w->app);
    struct catalog_upload row = w->u;
    row.offset = sure;
    if (!catalog_upload_update(w->app->catalog, &row, err)) {
        return false;
    }
    store_upload_noted(s->file);
    s->sure = sure;
    w->confirmed = w->u.offset;
    s->turn = w->u.turn = row.turn;
    return true;
}

/* What the client may rely on: all that this process has written, or with notes what is in the row, which other servers
 * see. */
static bool update_offset(struct app *app, struct session *s, struct catalog_upload *out, struct reel_error *err) {
    bool counts = !(s->writer && s->writer->piece.checked);
    if (!store_notes_uploads(app->store)) {
        bool ok = session_open_file(app, s, out, err) && store_upload_flush(s->file, err);
        out->offset = ok && counts ? store_upload_size(s->file) : out->offset;
        return ok;
    }
    if (counts && s->writer && s->turn == out->turn && store_upload_size(s->file) > s->sure) {
        if (!confirm(s->writer, err)) {
            return false;
        }
        out->offset = s->sure;
    }
    return true;
}

bool session_get(struct app *app, const char *owner, const char *id, struct catalog_upload *out,
                 struct reel_error *err) {
    if (!session_find_row(app, owner, id, out, err)) {
        return false;
    }
    if (out->done) {
        return true;
    }
    struct session *s = session_acquire(app->sessions, out->id, err);
    if (!s) {
        catalog_upload_done(out);
        return false;
    }
    bool ok = update_offset(app, s, out, err);
    session_release(app->sessions, s);
    if (!ok) {
        catalog_upload_done(out);
    }
    return ok;
}

/* ---- a request */

/* Ends a silent writer. Its bytes are kept unless they were to be verified by a checksum. */
static bool steal(struct session *s, struct reel_error *err) {
    struct session_writer *before = s->writer;
    s->writer = NULL;
    return !before || !before->piece.checked || store_upload_back(s->file, before->piece.offset, err);
}

uint64_t session_acknowledged_offset(const struct catalog_upload *u) {
    bool waits = !u->done && !u->draft && strcmp(u->concat, "partial") != 0 && u->length > 0 && session_is_full(u);
    return u->offset - waits;
}

static enum session_answer take_over(struct app *app, struct session *s, const struct session_piece *piece,
                                     struct catalog_upload *now, struct reel_error *err) {
    if (s->writer && reel_now_ns() - s->active_ns < SILENT_NS) {
        return SESSION_BUSY;
    }
    if (!steal(s, err) || !store_upload_flush(s->file, err)) {
        return SESSION_FAILED;
    }
    if (store_notes_uploads(app->store) && piece->offset == now->offset &&
        !store_upload_cut(s->file, now->offset, err)) {
        return SESSION_FAILED; /* another server has told the client what the row says */
    }
    now->offset = store_upload_size(s->file);
    if (now->offset != piece->offset && piece->offset == session_acknowledged_offset(now)) {
        if (!store_upload_cut(s->file, piece->offset, err)) {
            return SESSION_FAILED;
        }
        now->offset = piece->offset;
    }
    if (now->offset != piece->offset) {
        return SESSION_OFFSET;
    }
    if (piece->length >= 0 && now->length >= 0 && piece->length != now->length) {
        reel_fail(err, REEL_CONFLICT, "the upload was announced with %" PRId64 " bytes before, not %" PRId64,
                  now->length, piece->length);
        return SESSION_FAILED;
    }
    now->length = piece->length >= 0 ? piece->length : now->length;
    if (now->length >= 0 && now->offset > (uint64_t)now->length) {
        reel_fail(err, REEL_CONFLICT, "%" PRIu64 " bytes have been received already, the upload cannot have %" PRId64,
                  now->offset, now->length);
        return SESSION_FAILED;
    }
    return piece->checked && !store_upload_mark(s->file, err) ? SESSION_FAILED : SESSION_OK;
}

static enum session_answer begin_locked(struct app *app, struct session *s, const struct session_piece *piece,
                                        struct session_writer *w, struct catalog_upload *now, struct reel_error *err) {
    uint64_t confirmed = now->offset;
    enum session_answer answer =
        session_open_file(app, s, now, err) ? take_over(app, s, piece, now, err) : SESSION_FAILED;
    if (answer != SESSION_OK) {
        return answer;
    }
    bool changed = (piece->checked && !now->checked) || piece->length >= 0 ||
                   store_notes_uploads(app->store); /* another server's turn ends */
    now->checked = now->checked || piece->checked;
    if (changed) {
        struct catalog_upload row = *now;
        row.offset = confirmed;
        if (!catalog_upload_update(app->catalog, &row, err)) {
            return SESSION_FAILED;
        }
        s->turn = now->turn = row.turn;
    }
    *w = (struct session_writer){.app = app, .session = s, .u = *now, .piece = *piece, .confirmed = now->offset};
    *now = (struct catalog_upload){0};
    s->writer = w;
    s->active_ns = reel_now_ns();
    return SESSION_OK;
}

/* Another request may have changed it before the mutex was taken. */
static bool find_row_again(struct app *app, struct catalog_upload *now, struct reel_error *err) {
    struct catalog_upload again;
    if (!catalog_upload_get(app->catalog, now->id, &again, err)) {
        return false;
    }
    catalog_upload_done(now);
    *now = again;
    return true;
}

enum session_answer session_begin(struct app *app, const char *owner, const char *id, const struct session_piece *piece,
                                  struct session_writer **out, struct catalog_upload *now, struct reel_error *err) {
    *out = NULL;
    if (!session_find_row(app, owner, id, now, err)) {
        return SESSION_FAILED;
    }
    if (now->done) {
        return SESSION_ENDED;
    }
    AUTO_MEM struct session_writer *w = calloc(1, sizeof *w);
    struct session *s = w ? session_acquire(app->sessions, now->id, err) : NULL;
    if (!s) {
        if (!w) {
            reel_fail_memory(err);
        }
        return SESSION_FAILED;
    }
    enum session_answer answer =
        find_row_again(app, now, err) ? begin_locked(app, s, piece, w, now, err) : SESSION_FAILED;
    if (answer != SESSION_OK) {
        session_release(app->sessions, s);
        return answer;
    }
    pthread_mutex_unlock(&s->mutex);
    *out = TAKE(w);
    return SESSION_OK;
}

static bool is_mine(const struct session_writer *w, struct reel_error *err) {
    return w->session->writer == w ||
           reel_fail(err, REEL_CONFLICT, "another request has taken over this upload, or it was removed");
}

bool session_write(struct session_writer *w, const void *data, size_t size, struct reel_error *err) {
    struct session *s = w->session;
    uint64_t max = w->app->config.upload_max_bytes;
    pthread_mutex_lock(&s->mutex);
    bool ok = is_mine(w, err);
    if (ok) {
        uint64_t after = store_upload_size(s->file) + size;
        s->active_ns = reel_now_ns();
        if (w->u.length >= 0 && after > (uint64_t)w->u.length) {
            ok = reel_fail(err, REEL_LIMIT, "these are more bytes than the %" PRId64 " that were announced",
                           w->u.length);
        } else if (max > 0 && after > max) {
            ok = reel_fail(err, REEL_LIMIT, "an upload has at most %" PRIu64 " bytes", max);
        } else {
            ok = store_upload_write(s->file, data, size, err) &&
                 (w->piece.checked || after - w->confirmed < CONFIRM_BYTES || confirm(w, err));
        }
    }
    pthread_mutex_unlock(&s->mutex);
    return ok;
}

void session_drop(struct session_writer *w) {
    w->dropped = true;
}

bool session_end(struct session_writer *w, struct catalog_upload *now, struct reel_error *err) {
    struct session *s = w->session;
    struct app *app = w->app;
    pthread_mutex_lock(&s->mutex);
    bool ok = is_mine(w, err);
    if (ok) {
        ok = (!w->dropped || store_upload_back(s->file, w->piece.offset, err)) && confirm(w, err);
        s->writer = NULL;
    }
    session_release(app->sessions, s);
    if (now) {
        *now = w->u;
    } else {
        catalog_upload_done(&w->u);
    }
    free(w);
    return ok;
}
