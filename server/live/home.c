/* Which server a live recording belongs to, where several share the catalog: the one that has its file. Rows say so
 * (home), so that the others forward requests to it; but the file decides. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "catalog/servers.h"
#include "live/live_internal.h"
#include "manifests/manifests.h"
#include "peers/peers.h"
#include "work/jobs.h"

enum { ABANDONED_AT_ONCE = 64 };

/* It grows, or would if it had not been given up: a finished one has a stored file. */
static bool may_grow(const struct catalog_recording *r) {
    return r->n_parts == 0 && (r->state == STATE_RECORDING || r->state == STATE_MISSING);
}

static bool take_back(struct app *app, const char *id, struct reel_error *err) {
    struct catalog_recording r;
    struct reel_error why = {0};
    if (!catalog_get(app->catalog, id, &r, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    bool lost = may_grow(&r) && (r.state != STATE_RECORDING || strcmp(r.home, app->id) != 0);
    catalog_recording_done(&r);
    if (!lost) {
        return true;
    }
    manifests_changed(app);
    return catalog_take_home(app->catalog, id, app->id, &why) || why.code == REEL_NOT_FOUND ||
           reel_error_pass(err, &why);
}

/* What this data folder has belongs to this server: it was given up, or its row was made again from a manifest. */
static bool take_all_back(struct app *app, struct reel_error *err) {
    char folder[PATH_MAX], id[RECORDING_ID_TEXT];
    bool good = store_live_folder(app->store, folder, sizeof folder, err);
    DIR *d = good ? opendir(folder) : NULL;
    for (struct dirent *e; d && good && (e = readdir(d));) {
        int end = 0;
        bool live =
            sscanf(e->d_name, "%32[0-9a-f]" LIVE_MCAP_SUFFIX "%n", id, &end) == 1 && end == (int)strlen(e->d_name);
        good = !live || strlen(id) != RECORDING_ID_TEXT - 1 || take_back(app, id, err);
    }
    if (d) {
        closedir(d);
    }
    return good;
}

static bool open_again(void *context, const struct catalog_recording *r) {
    struct live *live = context;
    struct reel_error ignored;
    if (!live->app->shared || strcmp(r->home, live->app->id) == 0) {
        live_slot_keep(live, r->id, &ignored);
        jobs_add(live->app->jobs,
                 &(struct job_spec){.kind = "live", .key = r->id, .collection = r->collection, .subject = r->name},
                 NULL, &ignored);
    }
    return true;
}

bool live_home_start(struct live *live, struct reel_error *err) {
    return take_all_back(live->app, err) &&
           catalog_each_in_state(live->app->catalog, STATE_RECORDING, open_again, live, err);
}

bool live_home_check(struct live *live, const char *id, struct catalog_recording *r) {
    struct reel_error why = {0};
    if (!catalog_get(live->app->catalog, id, r, &why)) {
        if (why.code == REEL_NOT_FOUND) {
            live_drop(live, id);
        }
        return false;
    }
    if (r->state == STATE_MISSING && may_grow(r) && catalog_take_home(live->app->catalog, id, live->app->id, &why)) {
        r->state = STATE_RECORDING;
    }
    return true;
}

static bool give_up(struct app *app, const struct catalog_unattended *lost, int64_t since, struct reel_error *err) {
    struct catalog_server server;
    char text[256 + SERVER_ADDRESS_MAX];
    struct reel_error ignored;
    catalog_server_find(app->catalog, lost->home, &server, &ignored);
    const char *address = server.address;
    snprintf(text, sizeof text,
             "the server %s%s%s%s, which has its file, has shown no sign of life for an hour; it is live again when "
             "that server is back",
             lost->home, address[0] ? " (" : "", address, address[0] ? ")" : "");
    return catalog_abandon(app->catalog, lost->id, since, text, err);
}

bool live_unattended_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    struct catalog_unattended found[ABANDONED_AT_ONCE];
    uint32_t n;
    const int64_t since = peers_gone_since();
    (void)call;
    do {
        if (!catalog_unattended(app->catalog, since, found, ABANDONED_AT_ONCE, &n, err)) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            if (!cancel_check(err) || !give_up(app, &found[i], since, err)) {
                return false;
            }
        }
        manifests_changed(app);
    } while (n == ABANDONED_AT_ONCE);
    return true;
}
