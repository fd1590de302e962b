/* Shared by live.c (the list, appending, reading), thread.c, open.c (files) and finish.c. */
#ifndef SERVER_LIVE_LIVE_INTERNAL_H
#define SERVER_LIVE_LIVE_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/bytes.h"
#include "base/hash_table.h"
#include "index/growing.h"
#include "live/live.h"

#define LIVE_LOCK "here-live" /* by id: while the files of a recording are opened or finished */
#define LIVE_MCAP_SUFFIX ".mcap"
#define LIVE_PACK_SUFFIX ".reel"
#define LIVE_KEYS_SUFFIX ".keys"
#define LIVE_NEW_KEYS_SUFFIX ".keys.new"
#define LIVE_OWNER_SUFFIX ".owner"

struct live_key {
    struct live_key *next;
    struct live_appended appended;
    char key[SHA256_HEX], request[SHA256_HEX];
};

struct live_keys {
    struct hash_table by_key;
    struct live_key *all;
    size_t n;
};

struct live_item {
    struct live_item *next;
    char id[RECORDING_ID_TEXT];
    unsigned users; /* the list counts as one */

    pthread_mutex_t mutex;          /* for what follows, up to `sync` */
    struct reel_recorder *recorder; /* NULL: finished */
    struct reel_rows *rows;
    struct reel_growing *growing;
    struct reel_recording *shown; /* as of shown_bytes; NULL: none yet */
    uint64_t shown_bytes;
    struct live_keys keys, older_keys; /* older: forgotten when there are enough newer ones */
    int keys_fd;                       /* -1: no key was used yet */
    uint64_t keys_bytes, keys_begun;   /* of the file; without the batch that is being written */
    bool finishing;
    int64_t appended_at_ns; /* by the monotonic clock */
    uint64_t saved_messages;
    int64_t saved_at_ns;

    pthread_mutex_t sync;           /* held while the disk is waited for */
    _Atomic uint64_t bytes, synced; /* of the file; synced: on the disk */
    _Atomic uint64_t messages;
};

struct live {
    struct app *app;
    pthread_mutex_t mutex; /* for the list */
    pthread_cond_t changed;
    struct live_item *items;
    unsigned n_items;
    struct live_slot *slots;
    pthread_t thread;
    bool has_thread, stopping;
};

/* live.c. A reference to a recording that is open; NULL: it is not. */
struct live_item *live_item_find(struct live *live, const char *id);
void live_item_release(struct live *live, struct live_item *item);
void live_item_add(struct live *live, struct live_item *item);
void live_item_remove(struct live *live, struct live_item *item); /* from the list; references stay valid */
void live_announce(struct live *live);
/* It is open, or has been opened now. REEL_BUSY: that takes longer. */
bool live_ready(struct live *live, const struct catalog_recording *r, struct reel_error *err);
/* What was appended is on the disk. */
bool live_sync(struct live_item *item, struct reel_error *err);
/* The recording as it is now; its mutex is held. */
struct reel_recording *live_item_show(struct live *live, struct live_item *item, struct reel_error *err);
/* The list's mutex is held. */
void live_wait_for_change(struct live *live, int64_t until_ns);

/* slots.c */
/* Within the limits. */
bool live_slot_take(struct live *live, const char *id, const char *owner, struct reel_error *err);
/* Of one that grows already. */
bool live_slot_keep(struct live *live, const char *id, struct reel_error *err);
/* Fine without one. */
void live_slot_release(struct live *live, const char *id);
void live_slots_free(struct live *live);
bool live_owner_write(struct app *app, const char *id, const char *owner, struct reel_error *err);

/* home.c */
bool live_home_start(struct live *live, struct reel_error *err); /* opens those of this server, by jobs */
/* The row of a recording that is open here; other servers may have given it up, or purged it. False: there is none now.
 */
bool live_home_check(struct live *live, const char *id, struct catalog_recording *r);

/* open.c */
/* Whether this server has its files: among several, only one writes a recording. */
bool live_is_here(struct app *app, const char *id);
bool live_path(struct app *app, const char *id, const char *suffix, char out[PATH_MAX], struct reel_error *err);
struct live_item *live_item_new(const char *id, struct reel_error *err);
void live_item_free(struct live_item *item);
/* Opens the files of an item: new ones, or with `resume` those of an earlier process. */
bool live_item_open(struct app *app, struct live_item *item, bool resume, const struct reel_progress *progress,
                    struct reel_error *err);
/* Keys of batches. The item's mutex is held. */
const struct live_key *live_key_find(const struct live_item *item, const char *key);
/* Before anything is written. */
bool live_key_begin(struct app *app, struct live_item *item, struct reel_error *err);
/* After it: `appended` NULL: nothing was. */
bool live_key_end(struct live_item *item, const struct live_batch *b, const struct live_appended *appended,
                  struct reel_error *err);
void live_remove_leftovers(struct app *app); /* at the start */
void live_remove_files(struct app *app, const char *id);

#endif
