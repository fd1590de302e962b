/* Locks by name, allocated on the caller's stack. A key is "<what>:<name>". The order in which one thread takes
 * several: live > content (several of them sorted) > row > quota > manifest, opening. A lock other than of a content is
 * held for one short write only, or to open one index; jobs only try to take a content, because its holder may be
 * waiting for them. */
#ifndef SERVER_WORK_LOCKS_H
#define SERVER_WORK_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "reel/error.h"

struct locks; /* of one process */
struct catalog;
struct locks *locks_new(struct reel_error *err);
void locks_free(struct locks *locks); /* no lock is held; NULL is fine */
/* From now on each lock is also taken among all servers of this catalog, but those whose `what` begins with "here-". A
 * server that cannot be asked for PATIENCE seconds lets the work go on, whose transactions fail then. */
void locks_share(struct locks *locks, struct catalog *catalog);

enum { LOCK_KEY = 96 }; /* longer keys are hashed */
struct key_lock {
    struct locks *locks; /* NULL: not held */
    char key[LOCK_KEY];
    int64_t number;     /* of the key, among servers */
    bool shared, alone; /* shared: it is held among servers; alone: it could not be had there */
    struct key_lock *next;
};
/* `locks` NULL: the process has one thread, as some commands, and nothing is locked. */
void lock_take(struct locks *locks, struct key_lock *lock, const char *what, const char *name); /* waits */
/* false: another has it */
bool lock_try(struct locks *locks, struct key_lock *lock, const char *what, const char *name);
void lock_release(struct key_lock *lock);                                   /* also for one that is not held */
bool lock_is_held(struct locks *locks, const char *what, const char *name); /* by anybody */
#define AUTO_LOCK __attribute__((cleanup(lock_release)))

#endif
