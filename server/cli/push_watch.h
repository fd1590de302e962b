/* `reel push --watch`: uploads what appears in folders, and deletes it when the server has it. */
#ifndef SERVER_CLI_PUSH_WATCH_H
#define SERVER_CLI_PUSH_WATCH_H

#include "cli/cli.h"
#include "cli/push_file.h"
#include "cli/push_rate.h"
#include "cli/push_state.h"

struct push_watch_options {
    struct push_options push;
    const char *token;          /* NULL: none */
    const char *const *folders; /* without a slash at the end */
    uint32_t n_folders;
    const struct option_list *globs; /* of files; empty: all */
    const char *state;               /* the path of the state file; NULL: in push_state_folder() */
    uint64_t still_s, rescan_s;
    uint64_t delete_after_s; /* with deletes */
    bool deletes, quiet;
    bool announces, on_request; /* on_request: sends only what users ask for; announces, too */
    const char *robot;          /* its name */
    uint64_t keep_free;         /* bytes, or percent; 0: no matter */
    bool keep_percent;
};
/* Until Ctrl-C or SIGTERM; false with err if it cannot begin. */
bool push_watch(const struct push_watch_options *options, struct reel_error *err);

/* ---- push_scan.c: what there is to upload */

/* A recording that waits, as long as `units` of the agent live. */
struct push_unit {
    const struct cli_files *files;
    struct push_item *main;
    bool tagged, small;
    int64_t mtime_ns;
};
struct push_units {
    struct cli_recordings gathered;
    struct push_unit *items;
    size_t n, room;
};

/* A part of a file that users ask for. */
struct push_cut {
    int64_t id, start_ns, end_ns;
    char recording[33];
};
enum { PUSH_CUTS_MAX = 64 };

struct push_agent {
    const struct push_watch_options *options;
    struct push_state state;
    int inotify;    /* -1: none */
    char **watched; /* by watch descriptor; NULL: none */
    size_t n_watched;
    uint32_t round;
    bool dirty;                     /* something happened in a folder since the last scan */
    bool waiting;                   /* a file is not still yet */
    bool whole;                     /* the last scan saw every folder */
    int64_t scanned_ns, swept_ns;   /* monotonic */
    int64_t took_ns;                /* the last scan */
    struct push_units units, found; /* in use, and of a scan meanwhile */
    bool has_found;
    const struct push_unit *current;
    bool preempted;          /* another one is more urgent than `current` */
    int64_t server_offset_s; /* the server's clock less the monotonic one; 0: unknown */
    int64_t pause_ns;        /* nothing is sent before */
    bool low_space, was_low; /* fewer free bytes than wanted */
    struct push_http *other; /* for requests while another one runs, or between */
    int64_t asked_ns;        /* when the server was last asked what users want */
    bool is_deaf;            /* the server knows no announcements */
    struct push_cut cuts[PUSH_CUTS_MAX];
    uint32_t n_cuts;
};
/* Takes note of what inotify has to say; waits for at most so long. */
void push_scan_events(struct push_agent *a, int wait_ms);
bool push_scan_due(const struct push_agent *a);
/* Looks at all folders: `found` is what may be uploaded now. */
void push_scan(struct push_agent *a);
void push_scan_done(struct push_agent *a);
/* The first of `units` that may be tried now; NULL: none. */
const struct push_unit *push_scan_best(const struct push_agent *a, const struct push_units *units);
/* Whether the file is to be uploaded: with on_request only what users ask for, and what cannot be announced. */
bool push_scan_is_rest(const struct push_agent *a, const struct push_item *item);
/* Whether a file of the recording is still to be uploaded. */
bool push_scan_has_rest(const struct push_agent *a, const struct cli_files *files);
bool push_unit_before(const struct push_unit *a, const struct push_unit *b); /* by class, not by age */
void push_units_done(struct push_units *units);
/* What the file has now; false: it is gone or no regular file. */
bool push_print_of(const char *path, struct push_print *out);
/* "PATH.tags"; malloc'd. */
char *push_tags_path(const struct cli_files *files);

/* ---- push_announce.c: what users may ask for */

/* The first of `units` that is to be announced; NULL: none. */
const struct push_unit *push_announce_next(const struct push_agent *a, const struct push_units *units);
void push_announce(struct push_agent *a, struct push_http *http, const struct push_unit *unit);
/* Asks the server what users want, if it is time: `wanted` of items, and `cuts`. */
void push_announce_poll(struct push_agent *a);
/* Why a file that users ask for is not sent. */
void push_announce_failed(struct push_agent *a, const struct push_item *item, const struct reel_error *why);
/* The name and the collection of the announced recording now, if users have changed them; malloc'd, left alone where it
 * cannot be asked. */
void push_announce_names(struct push_agent *a, const struct push_item *item, char **name, char **collection);

/* ---- push_cut.c */

/* Sends the first of `cuts`, which it then removes: what cannot be sent now is asked for again. */
void push_cut(struct push_agent *a, struct push_http *http);
/* Answers a request for a part, or for a file: the recording that has it, or the problem. */
void push_cut_answer(struct push_agent *a, int64_t id, const char *recording, const char *problem);

/* ---- push_watch.c */

/* The tags of the command line and those of NAME.tags, a line each. */
enum { PUSH_TAGS_MAX = 64, PUSH_TAGS_BYTES = 16 << 10 };
struct push_tags {
    const char *items[PUSH_TAGS_MAX + 1];
    char text[PUSH_TAGS_BYTES];
};
void push_tags_read(struct push_agent *a, const struct push_unit *unit, struct push_tags *out);
void push_note_failure(struct push_agent *a, struct push_item *main, const char *path, const struct reel_error *err);
bool push_watch_go_on(void);

/* ---- push_sweep.c: what may be deleted */

/* Deletes what is stored for long enough, or as much as is needed for the free space that is wanted; each only after
 * the server has confirmed once more that it has the content. */
void push_sweep(struct push_agent *a, struct push_http *http);

/* A line on stdout or, of a failure, on stderr. */
void push_watch_say(const struct push_agent *a, const char *path, const char *text);
void push_watch_fail(const char *path, const struct reel_error *err);
int64_t push_boot_s(void); /* since the machine was started, suspended or not */

#endif
