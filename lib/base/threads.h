/* Tasks on shared threads. Clients take turns, task by task, so that one with many tasks does not keep the others
 * waiting; the tasks of one client start in the order in which they were submitted. */
#ifndef REEL_BASE_THREADS_H
#define REEL_BASE_THREADS_H

#include "reel/threads.h"

unsigned reel_threads_count(const struct reel_threads *threads);
uint64_t reel_threads_from(const struct reel_threads *threads); /* options.from_bytes */

struct thread_task {
    void (*run)(struct thread_task *task); /* on a thread of the pool */
    struct thread_task *next;
};

struct thread_client;
/* The client of this name, shared by all who ask for it; NULL: a new one. NULL with err: no memory. */
struct thread_client *threads_client(struct reel_threads *threads, const char *name, struct reel_error *err);
void threads_client_free(struct thread_client *client); /* gives it back; NULL is fine */

/* False: no thread could be started. */
bool threads_submit(struct thread_client *client, struct thread_task *task);
/* True: the task was still waiting and will not run. */
bool threads_withdraw(struct thread_client *client, struct thread_task *task);

#endif
