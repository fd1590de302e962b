/* Watched folders: a file that appears in them becomes a recording once it is no longer written to. */
#ifndef SERVER_IMPORTS_WATCH_H
#define SERVER_IMPORTS_WATCH_H

#include "imports/import.h"

struct watches;

/* One thread for all of app->config.watches, as "DIR" or "DIR=COLLECTION", notices what happens in them; jobs inspect
 * and import it (kind "watched-folder", the key is its number). *out is NULL when no folder is configured. */
bool watches_start(struct app *app, struct watches **out, struct reel_error *err);
void watches_stop(struct watches *all); /* no new imports start any more; NULL is fine */
void watches_free(struct watches *all); /* after jobs_stop() */
bool watch_run(struct app *app, const struct job_call *call, struct reel_error *err);
/* The folder of such an option, malloc'd; *collection points into it or into `text`. */
char *watch_folder(const char *text, const char **collection);

enum watch_state { WATCH_STARTING, WATCH_SCANNING, WATCH_WATCHING, WATCH_POLLING, WATCH_UNREADABLE };
const char *watch_state_name(enum watch_state state);
struct watch_view {
    char name[256]; /* the last part of its path */
    char collection[256], note[384];
    enum import_mode mode;
    enum watch_state state;
    uint64_t folders;                       /* watched through inotify */
    uint64_t waiting;                       /* folders due for a check */
    uint64_t queue;                         /* recordings being imported or queued */
    int64_t scan_started_ns, scan_ended_ns; /* the last full scan; 0 = none yet */
    uint64_t scan_files, scan_folders;
    uint64_t outcomes[IMPORT_OUTCOMES]; /* since the server began */
};
/* The i-th; false: there is none. */
bool watches_view(struct watches *all, unsigned i, struct watch_view *out);

#endif
