/* See threads.h. */
#include "base/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/options.h"

enum { THREADS_MAX = 256 };
static const uint64_t FROM_BYTES = 64 << 20;

struct thread_client {
    struct reel_threads *threads;
    char *name; /* NULL: not shared */
    unsigned references;
    struct thread_task *first, **last; /* its waiting tasks */
    struct thread_client *next_known;
    struct thread_client *next_turn; /* valid while `first` is set */
};

struct reel_threads {
    pthread_mutex_t mutex;
    pthread_cond_t work;
    unsigned wanted, started, idle; /* threads */
    uint64_t waiting;               /* tasks */
    uint64_t from_bytes;
    bool stop;
    struct thread_client *known;                /* those with a name */
    struct thread_client *turn, **last_in_turn; /* those with waiting tasks, the next one first */
    pthread_t ids[THREADS_MAX];
};

static unsigned cores(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

struct reel_threads *reel_threads_new(const struct reel_threads_options *options, struct reel_error *err) {
    struct reel_threads_options o;
    if (!options_copy(&o, sizeof o, options, "reel_threads_options", err)) {
        return NULL;
    }
    struct reel_threads *t = calloc(1, sizeof *t);
    if (!t) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->work, NULL);
    t->wanted = o.threads == 0 ? cores() : o.threads < THREADS_MAX ? o.threads : THREADS_MAX;
    t->from_bytes = o.from_bytes > 0 ? o.from_bytes : FROM_BYTES;
    t->last_in_turn = &t->turn;
    return t;
}

void reel_threads_free(struct reel_threads *t) {
    if (!t) {
        return;
    }
    pthread_mutex_lock(&t->mutex);
    t->stop = true;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->mutex);
    for (unsigned i = 0; i < t->started; i++) {
        pthread_join(t->ids[i], NULL);
    }
    pthread_cond_destroy(&t->work);
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

unsigned reel_threads_count(const struct reel_threads *t) {
    return t->wanted;
}
uint64_t reel_threads_from(const struct reel_threads *t) {
    return t->from_bytes;
}

/* ---- the mutex is held */

static void append_turn(struct reel_threads *t, struct thread_client *client) {
    client->next_turn = NULL;
    *t->last_in_turn = client;
    t->last_in_turn = &client->next_turn;
}

/* The next task of the client whose turn it is. */
static struct thread_task *take_task(struct reel_threads *t) {
    struct thread_client *client = t->turn;
    struct thread_task *task = client->first;
    t->turn = client->next_turn;
    t->last_in_turn = t->turn ? t->last_in_turn : &t->turn;
    client->first = task->next;
    client->last = client->first ? client->last : &client->first;
    if (client->first) {
        append_turn(t, client);
    }
    t->waiting--;
    return task;
}

static void remove_turn(struct reel_threads *t, struct thread_client *client) {
    struct thread_client **at = &t->turn;
    while (*at != client) {
        at = &(*at)->next_turn;
    }
    *at = client->next_turn;
    t->last_in_turn = *at ? t->last_in_turn : at;
}

/* ---- threads */

static void *threads_run(void *context) {
    struct reel_threads *t = context;
    pthread_mutex_lock(&t->mutex);
    for (;;) {
        while (!t->turn && !t->stop) {
            t->idle++;
            pthread_cond_wait(&t->work, &t->mutex);
            t->idle--;
        }
        if (!t->turn) {
            break;
        }
        struct thread_task *task = take_task(t);
        pthread_mutex_unlock(&t->mutex);
        task->run(task);
        pthread_mutex_lock(&t->mutex);
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

bool threads_submit(struct thread_client *client, struct thread_task *task) {
    struct reel_threads *t = client->threads;
    pthread_mutex_lock(&t->mutex);
    if (t->waiting >= t->idle && t->started < t->wanted &&
        pthread_create(&t->ids[t->started], NULL, threads_run, t) == 0) {
        t->started++;
    }
    bool good = t->started > 0;
    if (good) {
        if (!client->first) {
            append_turn(t, client);
        }
        task->next = NULL;
        *client->last = task;
        client->last = &task->next;
        t->waiting++;
        pthread_cond_signal(&t->work);
    }
    pthread_mutex_unlock(&t->mutex);
    return good;
}

bool threads_withdraw(struct thread_client *client, struct thread_task *task) {
    struct reel_threads *t = client->threads;
    pthread_mutex_lock(&t->mutex);
    struct thread_task **at = &client->first;
    while (*at && *at != task) {
        at = &(*at)->next;
    }
    bool waiting = *at;
    if (waiting) {
        *at = task->next;
        t->waiting--;
        client->last = *at ? client->last : at;
        if (!client->first) {
            remove_turn(t, client);
        }
    }
    pthread_mutex_unlock(&t->mutex);
    return waiting;
}

/* ---- clients */

static struct thread_client *client_new(struct reel_threads *t, const char *name) {
    struct thread_client *client = calloc(1, sizeof *client);
    if (client && name && !(client->name = strdup(name))) {
        free(TAKE(client));
    }
    if (client) {
        client->threads = t;
        client->references = 1;
        client->last = &client->first;
    }
    return client;
}

struct thread_client *threads_client(struct reel_threads *t, const char *name, struct reel_error *err) {
    pthread_mutex_lock(&t->mutex);
    struct thread_client *client = name ? t->known : NULL;
    while (client && strcmp(client->name, name) != 0) {
        client = client->next_known;
    }
    if (client) {
        client->references++;
    } else if ((client = client_new(t, name)) && name) {
        client->next_known = t->known;
        t->known = client;
    }
    pthread_mutex_unlock(&t->mutex);
    if (!client) {
        reel_fail_memory(err);
    }
    return client;
}

void threads_client_free(struct thread_client *client) {
    if (!client) {
        return;
    }
    struct reel_threads *t = client->threads;
    pthread_mutex_lock(&t->mutex);
    bool last = --client->references == 0;
    if (last && client->name) {
        struct thread_client **at = &t->known;
        while (*at != client) {
            at = &(*at)->next_known;
        }
        *at = client->next_known;
    }
    pthread_mutex_unlock(&t->mutex);
    if (last) {
        free(client->name);
        free(client);
    }
}
