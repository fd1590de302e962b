/* The files of the folders that `reel push --watch` watches: as they are on the disk, and what is known to be stored on
 * the server. The second is kept in one file, to which a line of JSON is appended for each change; the last line of a
 * path counts. Nothing is lost with that file: contents that the server has are then found there again. */
#ifndef SERVER_CLI_PUSH_STATE_H
#define SERVER_CLI_PUSH_STATE_H

#include "base/hash_table.h"
#include "reel/cleanup.h"

struct push_print { /* a file that has these unchanged is taken for the same content */
    uint64_t size, inode;
    int64_t mtime_ns;
};

struct push_item {
    char *path;
    /* on the disk */
    bool there;
    bool moved;  /* renamed to this name, so it is complete */
    bool passed; /* no recording, as it is now */
    bool needed; /* a file of its recording is still to be uploaded */
    struct push_print print;
    uint32_t round;    /* of the last scan that found it */
    int64_t still_ns;  /* unchanged since then, by the monotonic clock */
    int64_t retry_ns;  /* not before */
    unsigned failures; /* in a row */
    bool is_io;        /* the last one was the network's or the server's */
    /* of --announce */
    struct push_print announced; /* the file that was announced, or could not be */
    char announced_id[33];       /* its recording; "": it could not be announced */
    bool wanted;                 /* users ask for it */
    /* on the server */
    bool stored;
    bool gone;            /* deleted there meanwhile: it is neither uploaded again nor deleted here */
    struct push_print as; /* the file that was stored */
    char sha256[65], id[33];
    char *name;         /* the recording's in the collection */
    int64_t verified_s; /* by the server's clock, since 1970 */
};

struct push_state {
    char *path;
    int fd;
    char agent[33];
    struct hash_table by_path;
    struct push_item **items;
    size_t n, room;
    uint64_t size, lines; /* of the file */
};

/* REEL_CONFLICT: another process uses it. */
bool push_state_open(struct push_state *s, const char *path, struct reel_error *err);
void push_state_done(struct push_state *s);
/* NULL: no memory. */
struct push_item *push_state_item(struct push_state *s, const char *path, struct reel_error *err);
bool push_print_is(const struct push_print *a, const struct push_print *b);
/* Whether this content is stored. */
bool push_item_is_done(const struct push_item *item);
/* Whether the server has an announcement of this content. */
bool push_item_is_announced(const struct push_item *item);
/* Writes what is known of the item, durably. */
bool push_state_write(struct push_state *s, const struct push_item *item, struct reel_error *err);
/* Forgets files that are neither on the disk nor stored nor announced; no item may be in use. */
bool push_state_tidy(struct push_state *s, struct reel_error *err);
/* $STATE_DIRECTORY (systemd), $XDG_STATE_HOME/reel or ~/.local/state/reel, created if missing; malloc'd. */
char *push_state_folder(struct reel_error *err);

#endif
