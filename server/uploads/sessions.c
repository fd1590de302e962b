/* See sessions.h: which there are. Sessions in use, and a few more, stay open with their hash; the others are a row and
 * a file. */
#include <string.h>

#include "base/cleanup.h"
#include "reel/time.h"
#include "uploads/sessions_internal.h"
#include "work/jobs.h"

enum { SESSIONS_IDLE_MAX = 64, SWEEP_LONGEST_S = 60 };
static const int64_t SECOND_NS = 1000000000;

struct sessions {
    struct app *app;
    pthread_mutex_t mutex;
    struct session *first;
    uint64_t calls;
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
        return NULL;
    }
    pthread_mutex_lock(&s->mutex);
    return s;
}

void session_release(struct sessions *all, struct session *s) {
    pthread_mutex_unlock(&s->mutex);
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

/* Its bytes became a blob and no recording, and could not be moved back: out of memory, or a full disk. */
static bool take_back(struct app *app, struct session *s, const struct catalog_upload *row, struct reel_error *err) {
    bool used = true;
    ingest_undo(app, s->file, row->content);
    if (store_upload_is_here(s->file)) {
        return true;
    }
    if (!catalog_blob_used(app->catalog, row->content, &used, err)) {
        return false;
    }
    if (!used) {
        return reel_fail(err, REEL_IO, "the upload's file cannot be moved back");
    }
    struct reel_error ignored;
    catalog_upload_remove(app->catalog, s->id, &ignored);
    session_discard(app, s, row->note);
    return reel_fail(err, REEL_NOT_FOUND, "the upload has been removed");
}

bool session_open_file(struct app *app, struct session *s, const struct catalog_upload *row, struct reel_error *err) {
    if (s->removed) {
        return reel_fail(err, REEL_NOT_FOUND, "the upload has been removed");
    }
    if (s->file && s->turn != row->turn && store_notes_uploads(app->store)) {
        if (s->turn > row->turn) {
            return fail_stale(err);
        }
        s->writer = NULL;
        session_close_file(s);
    }
    if (s->file) {
        return store_upload_is_here(s->file) || take_back(app, s, row, err);
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

static bool sessions_make_row(struct app *app, const struct session_request *q, struct catalog_upload *u,
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
    bool created = sessions_make_row(app, q, out, err) && catalog_make_id(out->id, err);
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

/* The server that was about to end this session may have stopped in between. Without notes, that is noticed at the
 * start. */
static bool end_if_added(struct app *app, struct catalog_upload *u, struct reel_error *err) {
    bool found;
    if (u->done || !u->content[0] || !store_notes_uploads(app->store)) {
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
    session_close_file(s);
    session_release(app->sessions, s);
    u->done = true;
    u->offset = u->length >= 0 ? (uint64_t)u->length : u->offset;
    return catalog_upload_update(app->catalog, u, err);
}

bool session_find_row(struct app *app, const char *owner, const char *id, struct catalog_upload *out,
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
    if (!store_notes_uploads(app->store) && !sessions_reconcile(app, err)) {
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
