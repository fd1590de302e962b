/* See recording.h. */
#include "api/recording.h"
#include "access/access.h"
#include "catalog/announced.h"

#include "api/job_reply.h"
#include "api/reserve.h"
#include "definitions/set.h"
#include "live/live.h"
#include "peers/peers.h"
#include "scans/open_recordings.h"
#include "scans/references.h"
#include "scans/scanning.h"

static const int64_t PACK_WAIT_NS = 2000000000;

void api_recording_done(struct api_recording *a) {
    reel_recording_free(a->recording);
    catalog_recording_done(&a->row);
    *a = (struct api_recording){0};
}

/* `needs_file`: without the server that has the file of a live recording there is no answer. */
static bool find_key(struct http_request *r, const char *key, bool needs_file, struct api_recording *out) {
    struct reel_error err = {0};
    *out = (struct api_recording){0};
    if (!catalog_get(http_app(r)->catalog, key, &out->row, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (!access_sees(http_caller(r), &out->row)) {
        api_recording_done(out);
        http_reply_problem(r, 404, "not-found", "%s", catalog_not_found(key));
        return false;
    }
    bool elsewhere = out->row.state == STATE_RECORDING && peers_is_other(http_app(r), out->row.home);
    if (elsewhere && peers_forward(r, out->row.home, needs_file, api_wait_ns(r, 0))) {
        api_recording_done(out);
        return false;
    }
    references_observe(http_app(r), &out->row);
    definitions_refresh(http_app(r), NULL); /* before answers that are stored and entity tags */
    live_fill(http_app(r)->live, &out->row);
    return true;
}

bool api_may_use(struct http_request *r, const char *collection) {
    if (http_caller_sees(http_caller(r), collection)) {
        return true;
    }
    http_reply_problem(r, 403, "forbidden", "the collection %s is not one of those that %s is limited to", collection,
                       http_caller(r)->name);
    return false;
}

bool api_find_key(struct http_request *r, const char *key, struct api_recording *out) {
    return find_key(r, key, false, out);
}

bool api_find(struct http_request *r, struct api_recording *out) {
    return find_key(r, http_segment(r, "id"), false, out);
}

bool api_find_growing(struct http_request *r, struct api_recording *out) {
    return find_key(r, http_segment(r, "id"), true, out);
}

void api_reply_announced(struct http_request *r, const struct catalog_recording *row) {
    struct announced a;
    bool known = announced_read(row->announced, &a);
    http_reply_problem(r, 409, "announced",
                       "the file of this recording is still on the robot %s; POST /api/v1/recordings/%s/fetch asks the "
                       "robot to send it",
                       known ? a.robot : "", row->id);
}

static bool state_allows(struct http_request *r, const struct catalog_recording *row) {
    switch (row->state) {
    case STATE_READY:
    case STATE_RECORDING:
    case STATE_SCANNING: /* api_open() has waited already */
        return true;
    case STATE_FAILED:
        http_reply_problem(r, 422, "unreadable", "this recording could not be read: %s", row->problem);
        return false;
    case STATE_MISSING:
        http_reply_problem(r, 410, "missing", "%s",
                           row->n_parts == 0 ? row->problem
                                             : "the stored file of this recording is gone or changed; upload it again");
        return false;
    case STATE_CHANGED:
        http_reply_problem(r, 410, "missing", "the file that this recording refers to is not what it was");
        return false;
    case STATE_ANNOUNCED:
        api_reply_announced(r, row);
        return false;
    case STATE_TRASHED:
        http_reply_problem(r, 410, "trashed", "this recording is in the trash; POST …/restore brings it back");
        return false;
    }
    return false;
}

struct reel_recording *api_recording_open(struct app *app, const struct catalog_recording *row, int64_t wait_ns,
                                          char job[33], struct reel_error *err) {
    job[0] = '\0';
    return row->state == STATE_RECORDING ? live_get(app->live, row, err)
                                         : recordings_get(app->recordings, row, wait_ns, job, err);
}

/* The row that is found, opened. */
static bool open_found(struct http_request *r, struct api_recording *out) {
    if (!state_allows(r, &out->row)) {
        api_recording_done(out);
        return false;
    }
    struct reel_error err = {0};
    char job[33] = "";
    out->recording = api_recording_open(http_app(r), &out->row, api_wait_ns(r, PACK_WAIT_NS), job, &err);
    if (!out->recording) {
        if (job[0]) {
            api_reply_busy(r, job, err.text);
        } else {
            http_reply_error(r, &err);
        }
        api_recording_done(out);
        return false;
    }
    if (!api_reserve_open(r, &out->recording, 1)) {
        api_recording_done(out);
        return false;
    }
    return true;
}

bool api_open_key(struct http_request *r, const char *key, struct api_recording *out) {
    return find_key(r, key, true, out) && open_found(r, out);
}

bool api_open(struct http_request *r, struct api_recording *out) {
    return api_open_key(r, http_segment(r, "id"), out);
}

static bool open_announced(struct http_request *r, struct api_recording *out) {
    struct reel_error err = {0};
    if (http_reserve(r, scan_pack_memory(http_app(r), out->row.content)) &&
        !(out->recording = recordings_get_announced(http_app(r), &out->row, &err))) {
        http_reply_error(r, &err);
    }
    bool good = out->recording;
    if (!good) {
        api_recording_done(out);
    }
    return good;
}

bool api_open_index(struct http_request *r, struct api_recording *out) {
    if (!find_key(r, http_segment(r, "id"), true, out)) {
        return false;
    }
    return out->row.state == STATE_ANNOUNCED ? open_announced(r, out) : open_found(r, out);
}

bool api_open_messages(struct http_request *r, struct api_recording *out) {
    return api_open_messages_key(r, http_segment(r, "id"), out);
}

bool api_open_messages_key(struct http_request *r, const char *key, struct api_recording *out) {
    if (!api_open_key(r, key, out)) {
        return false;
    }
    bool good = api_reserve_stream(r, &out->recording, 1, API_DECODES, 0);
    if (!good) {
        api_recording_done(out);
    }
    return good;
}
