/* Who has how many live recordings on this server. A recording has a slot from before its creation until it is finished
 * or purged, so that those that a restart has not opened yet count, too. live/<id>.owner names who created it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/ownership.h"
#include "live/live_internal.h"

struct live_slot {
    struct live_slot *next;
    char id[RECORDING_ID_TEXT], owner[LIVE_OWNER_TEXT]; /* owner "": not known */
};

/* The list's mutex is held, as for all of these. */
static struct live_slot **slot_of(struct live *live, const char *id) {
    struct live_slot **at = &live->slots;
    while (*at && strcmp((*at)->id, id) != 0) {
        at = &(*at)->next;
    }
    return at;
}

static bool slots_allow(const struct live *live, const char *owner, struct reel_error *err) {
    unsigned all = 0, own = 0;
    for (const struct live_slot *s = live->slots; s; s = s->next) {
        all++;
        own += strcmp(s->owner, owner) == 0;
    }
    if (own >= LIVE_OWN_MAX) {
        return reel_fail(err, REEL_LIMIT, "%u live recordings of yours grow already, of at most %d: finish one of them",
                         own, LIVE_OWN_MAX);
    }
    return all < LIVE_MAX ||
           reel_fail(err, REEL_BUSY, "%u live recordings grow on this server already, of at most %d", all, LIVE_MAX);
}

static bool slot_add(struct live *live, const char *id, const char *owner, struct reel_error *err) {
    struct live_slot *slot = calloc(1, sizeof *slot);
    if (!slot) {
        return reel_fail_memory(err);
    }
    memcpy(slot->id, id, sizeof slot->id);
    memcpy(slot->owner, owner, strnlen(owner, sizeof slot->owner - 1));
    slot->next = live->slots;
    live->slots = slot;
    return true;
}

bool live_slot_take(struct live *live, const char *id, const char *owner, struct reel_error *err) {
    pthread_mutex_lock(&live->mutex);
    bool good = slots_allow(live, owner, err) && slot_add(live, id, owner, err);
    pthread_mutex_unlock(&live->mutex);
    return good;
}

bool live_slot_keep(struct live *live, const char *id, struct reel_error *err) {
    char path[PATH_MAX], owner[LIVE_OWNER_TEXT] = "";
    AUTO_FD int fd = live_path(live->app, id, LIVE_OWNER_SUFFIX, path, NULL) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, owner, sizeof owner - 1) : 0;
    owner[n > 0 ? n : 0] = '\0';
    pthread_mutex_lock(&live->mutex);
    bool good = *slot_of(live, id) || slot_add(live, id, owner, err);
    pthread_mutex_unlock(&live->mutex);
    return good;
}

void live_slot_release(struct live *live, const char *id) {
    pthread_mutex_lock(&live->mutex);
    struct live_slot **at = slot_of(live, id), *slot = *at;
    if (slot) {
        *at = slot->next;
        free(slot);
    }
    pthread_mutex_unlock(&live->mutex);
}

void live_slots_free(struct live *live) {
    while (live->slots) {
        struct live_slot *slot = live->slots;
        live->slots = slot->next;
        free(slot);
    }
}

/* A power failure may lose it: the recording then counts for nobody, but among all. */
bool live_owner_write(struct app *app, const char *id, const char *owner, struct reel_error *err) {
    char path[PATH_MAX];
    if (!live_path(app, id, LIVE_OWNER_SUFFIX, path, err)) {
        return false;
    }
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || !disk_write_all(fd, owner, strlen(owner))) {
        return reel_fail_errno(err, "who creates the live recording cannot be written");
    }
    reel_own_by_folder(fd, path);
    return true;
}
