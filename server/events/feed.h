/* Waiting for changes: watchers sleep until there are some, and one thread polls for all of them: after each commit of
 * this process, and once a second for commits of others (`reel` next to the server). It polls only while a client
 * waits. */
#ifndef SERVER_EVENTS_FEED_H
#define SERVER_EVENTS_FEED_H

#include "catalog/changes.h"

struct feed;

enum { FEED_WATCHERS_MAX = 256 }; /* streams at once: each has a thread of its own */

struct feed *feed_open(struct catalog *c, struct reel_error *err);
void feed_stop(struct feed *feed); /* all waits end, from now on; NULL is fine */
void feed_free(struct feed *feed); /* after all watchers have left, while no thread writes to the catalog */

bool feed_join(struct feed *feed, unsigned max); /* registers a watcher; false: there are `max` */
void feed_leave(struct feed *feed);

enum feed_news { FEED_QUIET, FEED_NEWS, FEED_OVER }; /* OVER: the server stops */
/* Waits for a change after `seq` (INT64_MAX: for none). */
enum feed_news feed_wait(struct feed *feed, int64_t seq, int64_t timeout_ns);
/* Called after each commit of this process, on the committing thread; it must not block. Set before other threads
 * write. */
void feed_on_commit(struct feed *feed, void (*call)(void *context), void *context);

#endif
