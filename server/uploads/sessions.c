/* See sessions.h. A session's bytes are written only under its own mutex, by the newest writer; an older writer fails
 * at its next byte. Sessions in use, and a few more, stay open with their hash; the others are a row and a file. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "reel/time.h"
#include "uploads/sessions_internal.h"
#include "work/jobs.h"

enum {
    SESSIONS_IDLE_MAX = 64,
    CONFIRM_BYTES = 256 << 20, /* of one request between two fsyncs */
    SWEEP_LONGEST_S = 60,
};
static const int64_t SILENT_NS = 3000000000,
                     SECOND_NS = 1000000000; /* after this long without a byte another writer may take over */

struct sessions {
    struct app *app;
    pthread_mutex_t mutex;
    struct session *first;
    uint64_t calls;
};

struct session_writer {
    struct app *app;
    struct session *session;
    struct catalog_upload u;
    struct session_piece piece;
    uint64_t confirmed;
    bool dropped;
};

/* ---- open sessions */

static void session_free(struct session *s) {
    if (!s) {
        return;
    }
    store_upload_free(s->file);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

/* Closes the least recently used one when too many idle sessions are open. The table's mutex is held. */
static void close_oldest(struct sessions *all) {
    struct session **oldest = NULL;
    unsigned idle = 0;
    for (struct session **at = &all->first; *at; at = &(*at)->next) {
        if ((*at)->users == 0) {
            idle++;
            oldest = !oldest || (*at)->used < (*oldest)->used ? at : oldest;
        }
    }
    if (idle > SESSIONS_IDLE_MAX) {
        struct session *gone = *oldest;
        *oldest = gone->next;
        session_free(gone);
    }
}

struct session *session_acquire(struct sessions *all, const char *id, struct reel_error *err) {
    pthread_mutex_lock(&all->mutex);
    struct session *s = all->first;
    while (s && strcmp(s->id, id) != 0) {
        s = s->next;
    }
    if (!s && (s = calloc(1, sizeof *s))) {
        memcpy(s->id, id, sizeof s->id);
        pthread_mutex_init(&s->mutex, NULL);
        s->next = all->first;
        all->first = s;
    }
    if (s) {
        s->users++;
        s->used = ++all->calls;
    }
    close_oldest(all);
    pthread_mutex_unlock(&all->mutex);
    if (!s) {
        reel_fail_memory(err);
    }
    return s;
}

void session_release(struct sessions *all, struct session *s) {
    pthread_mutex_lock(&all->mutex);
    if (--s->users == 0 && s->removed) {
        struct session **at = &all->first;
        while (*at != s) {
            at = &(*at)->next;
        }
        *at = s->next;
        session_free(s);
    }
    pthread_mutex_unlock(&all->mutex);
}

void session_close_file(struct session *s) {
    store_upload_free(TAKE(s->file));
}

/* What another server has written since counts. */
static bool open_again(struct app *app, struct session *s, const struct catalog_upload *row, struct reel_error *err) {
    struct reel_error none = {0};
    bool hashed = row->content[0] && row->length >= 0;
    if (hashed && (s->file = store_upload_known(app->store, row->content, row->note, (uint64_t)row->length, &none))) {
        return true;
    }
    return !hashed || none.code == REEL_NOT_FOUND
               ? (s->file = store_upload_open(app->store, s->id, false, row->note, err)) != NULL
               : reel_error_pass(err, &none);
}

static bool fail_stale(struct reel_error *err) {
    return reel_fail(err, REEL_CONFLICT, "another request has written to this upload meanwhile; ask for its offset");
}

/* The row was read before its session was locked: what it says may be gone by now. */
static bool is_stale(struct app *app, const struct catalog_upload *row) {
    AUTO_STRUCT(catalog_upload_done) struct catalog_upload now = {0};
    struct reel_error ignored;
    return catalog_upload_get(app->catalog, row->id, &now, &ignored) && now.turn != row->turn;
}

bool session_open_file(struct app *app, struct session *s, const struct catalog_upload *row, struct reel_error *err) {
    if (s->removed) {
        return reel_fail(err, REEL_NOT_FOUND, "the upload has been removed");
    }
    if (s->file && s->turn != row->turn && store_is_bucket(app->store)) {
        if (s->turn > row->turn) {
            return fail_stale(err);
        }
        s->writer = NULL;
        session_close_file(s);
    }
    if (s->file) {
        return true;
    }
    struct reel_error why = {0};
    s->turn = row->turn;
    s->sure = row->offset;
    return open_again(app, s, row, &why) ||
           (why.code == REEL_NOT_FOUND && is_stale(app, row) ? fail_stale(err) : reel_error_pass(err, &why));
}

void session_discard(struct app *app, struct session *s, const char *note) {
    if (s->file) {
        store_upload_drop(s->file);
        session_close_file(s);
    }
    store_remove_partial(app->store, s->id, note);
    s->writer = NULL;
    s->removed = true;
}

int64_t session_expires(const struct app *app) {
    return reel_now_ns() + (int64_t)app->config.upload_expiry_s * SECOND_NS;
}

/* ---- creating and reading */

/* The session that was created with this key. */
static bool find_again(struct app *app, const struct session_request *q, struct catalog_upload *out, bool *again,
                       struct reel_error *err) {
    struct reel_error none = {0};
    *again = false;
    if (!q->key[0] || !catalog_upload_by_key(app->catalog, q->owner, q->key, out, &none)) {
        return !q->key[0] || none.code == REEL_NOT_FOUND || reel_error_pass(err, &none);
    }
    *again = strcmp(out->request, q->request) == 0;
    if (!*again) {
        catalog_upload_done(out);
        return reel_fail(err, REEL_CONFLICT, "this Idempotency-Key was used for another upload");
    }
    char id[RECORDING_ID_TEXT];
    memcpy(id, out->id, sizeof id);
    catalog_upload_done(out);
    return session_get(app, NULL, id, out, err);
}

static bool make_row(struct app *app, const struct session_request *q, struct catalog_upload *u,
                     struct reel_error *err) {
    u->owner = strdup(q->owner);
    u->key = strdup(q->key);
    u->options = strdup(q->options);
    u->metadata = strdup(q->metadata);
    u->concat = strdup(q->concat);
    u->note = strdup("");
    u->draft = q->draft;
    u->length = q->length;
    u->created_ns = reel_now_ns();
    u->expires_ns = session_expires(app);
    memcpy(u->request, q->request, sizeof u->request);
    return (u->owner && u->key && u->options && u->metadata && u->concat && u->note) || reel_fail_memory(err);
}

bool session_create(struct app *app, const struct session_request *q, struct catalog_upload *out, bool *again,
                    struct reel_error *err) {
    *out = (struct catalog_upload){0};
    if (!find_again(app, q, out, again, err)) {
        return false;
    }
    if (*again) {
        return true;
    }
    uint64_t open;
    if (!catalog_uploads_count(app->catalog, &open, err)) {
        return false;
    }
    if (open >= SESSIONS_MAX) {
        return reel_fail(err, REEL_NO_SPACE, "%d uploads are open already: end some, or wait until they expire",
                         SESSIONS_MAX);
    }
    bool created = make_row(app, q, out, err) && catalog_make_id(out->id, err);
    struct store_upload *file = created ? store_upload_open(app->store, out->id, true, "", err)
                                        : NULL; /* before the row, so that no row is without a file */
    created = file && catalog_upload_add(app->catalog, out, SESSIONS_OF_ONE_MAX, store_room(app->store), err);
    if (file && !created) {
        store_upload_drop(file);
    }
    store_upload_free(file);
    if (created) {
        return true;
    }
    struct reel_error why = *err;
    catalog_upload_done(out);
    /* Another request with this key may have been faster. */
    return find_again(app, q, out, again, err) && (*again || reel_error_pass(err, &why));
}

/* With a bucket: the server that was about to end this session may have stopped in between. With a folder, that is
 * noticed at the start. */
static bool end_if_added(struct app *app, struct catalog_upload *u, struct reel_error *err) {
    bool found;
    if (u->done || !u->content[0] || !store_is_bucket(app->store)) {
        return true;
    }
    if (!session_find_recording(app, u, &found, err)) {
        return false;
    }
    if (!found) {
        return true;
    }
    struct session *s = session_acquire(app->sessions, u->id, err);
    if (!s) {
        return false;
    }
    pthread_mutex_lock(&s->mutex);
    session_close_file(s);
    pthread_mutex_unlock(&s->mutex);
    session_release(app->sessions, s);
    u->done = true;
    u->offset = u->length >= 0 ? (uint64_t)u->length : u->offset;
    return catalog_upload_update(app->catalog, u, err);
}

/* As in the catalog: offset is the confirmed one. */
static bool find_row(struct app *app, const char *owner, const char *id, struct catalog_upload *out,
                     struct reel_error *err) {
    if (!catalog_upload_get(app->catalog, id, out, err)) {
        return false;
    }
    if (owner && strcmp(owner, out->owner) != 0) {
        catalog_upload_done(out);
        return reel_fail(err, REEL_NOT_FOUND, "there is no such upload; it may have ended, or expired");
    }
    if (!end_if_added(app, out, err)) {
        catalog_upload_done(out);
        return false;
    }
    return true;
}

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

/* What the client may rely on: with a folder, all that this process has written; with a bucket, what is in the row,
 * which other servers see. */
static bool update_offset(struct app *app, struct session *s, struct catalog_upload *out, struct reel_error *err) {
    bool counts = !(s->writer && s->writer->piece.checked);
    if (!store_is_bucket(app->store)) {
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
    if (!find_row(app, owner, id, out, err)) {
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
    pthread_mutex_lock(&s->mutex);
    bool ok = update_offset(app, s, out, err);
    pthread_mutex_unlock(&s->mutex);
    session_release(app->sessions, s);
    if (!ok) {
        catalog_upload_done(out);
    }
    return ok;
}

/* ---- one request's bytes */

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
    if (store_is_bucket(app->store) && piece->offset == now->offset && !store_upload_cut(s->file, now->offset, err)) {
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
                   store_is_bucket(app->store); /* another server's turn ends */
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
    if (!find_row(app, owner, id, now, err)) {
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
    pthread_mutex_lock(&s->mutex);
    enum session_answer answer =
        find_row_again(app, now, err) ? begin_locked(app, s, piece, w, now, err) : SESSION_FAILED;
    pthread_mutex_unlock(&s->mutex);
    if (answer != SESSION_OK) {
        session_release(app->sessions, s);
        return answer;
    }
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
    pthread_mutex_unlock(&s->mutex);
    session_release(app->sessions, s);
    if (now) {
        *now = w->u;
    } else {
        catalog_upload_done(&w->u);
    }
    free(w);
    return ok;
}

/* ---- start, expiry, stop */

bool sessions_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    struct reel_error none = {0};
    struct catalog_upload u;
    int64_t now = reel_now_ns();
    bool ok = true;
    while (ok && catalog_upload_expired(app->catalog, now, &u, &none)) {
        ok = session_sweep_one(app, u.id, now, err); /* removed, unless it expires later by now */
        catalog_upload_done(&u);
        ok = ok &&
             (call->progress->report(call->progress->context, 0, 0) || reel_fail(err, REEL_CANCELLED, "cancelled"));
    }
    return ok && (none.code == REEL_NOT_FOUND || reel_error_pass(err, &none)) &&
           catalog_responses_expire(app->catalog, err) &&
           store_trim_derived(app->store, app->config.derived_bytes - app_kept_bytes(&app->config), err);
}

int64_t sessions_every_ns(struct app *app) {
    int64_t pause = (int64_t)app->config.upload_expiry_s * SECOND_NS / 4;
    return pause <= 0 || pause > SWEEP_LONGEST_S * SECOND_NS ? SWEEP_LONGEST_S * SECOND_NS : pause;
}

struct sessions *sessions_open(struct app *app, struct reel_error *err) {
    struct sessions *all = calloc(1, sizeof *all);
    if (!all) {
        reel_fail_memory(err);
        return NULL;
    }
    all->app = app;
    pthread_mutex_init(&all->mutex, NULL);
    if (!store_is_bucket(app->store) && !sessions_reconcile(app, err)) {
        sessions_close(all);
        return NULL;
    }
    return all;
}

void sessions_close(struct sessions *all) {
    if (!all) {
        return;
    }
    while (all->first) {
        struct session *next = all->first->next;
        session_free(all->first);
        all->first = next;
    }
    pthread_mutex_destroy(&all->mutex);
    free(all);
}
