/* The memory that responses hold together. A request reserves what it is about to allocate, and waits while there is
 * not enough left. */
#include "base/thread.h"
#include "http/http_internal.h"

#include <time.h>

void memory_open(struct http_memory *m, uint64_t max) {
    condition_init(&m->released);
    pthread_mutex_init(&m->mutex, NULL);
    m->max = max ? max : UINT64_MAX;
}

void memory_close(struct http_memory *m) {
    pthread_mutex_lock(&m->mutex);
    m->closed = true;
    pthread_cond_broadcast(&m->released);
    pthread_mutex_unlock(&m->mutex);
}

void memory_free(struct http_memory *m) {
    pthread_cond_destroy(&m->released);
    pthread_mutex_destroy(&m->mutex);
}

/* True when `bytes` fit into the first `most` bytes. The mutex is held. */
static bool wait_for_room(struct http_memory *m, uint64_t most, uint64_t bytes) {
    struct timespec until = clock_deadline(INT64_C(1000000000) * HTTP_MEMORY_WAIT_S);
    bool in_time = true;
    m->waiting++;
    while (in_time && !m->closed && m->held + bytes > most) {
        in_time = condition_wait(&m->released, &m->mutex, until);
    }
    m->waiting--;
    return m->held + bytes <= most;
}

/* Small requests may use the last eighth as well: they are answered even while large ones hold all the rest. */
static bool memory_reserve(struct http_memory *m, uint64_t held_by_request, uint64_t *bytes) {
    uint64_t most_of_large = m->max - m->max / 8, left = most_of_large - held_by_request;
    *bytes = *bytes < left ? *bytes : left;
    uint64_t most = held_by_request + *bytes <= HTTP_MEMORY_SMALL ? m->max : most_of_large;
    pthread_mutex_lock(&m->mutex);
    bool granted = wait_for_room(m, most, *bytes);
    m->held += granted ? *bytes : 0;
    m->refused += !granted;
    pthread_mutex_unlock(&m->mutex);
    return granted;
}

bool http_reserve(struct http_request *r, uint64_t bytes) {
    if (memory_reserve(&r->server->memory, r->memory, &bytes)) {
        r->memory += bytes;
        return true;
    }
    http_add_header(r, "Retry-After", "10");
    http_reply_problem(r, 503, "busy",
                       "responses to other requests take all of --memory-mb; try again, or ask for less at a time");
    return false;
}

void memory_release(struct http_request *r) {
    if (r->memory > 0) {
        struct http_memory *m = &r->server->memory;
        pthread_mutex_lock(&m->mutex);
        m->held -= r->memory;
        pthread_cond_broadcast(&m->released);
        pthread_mutex_unlock(&m->mutex);
        r->memory = 0;
    }
}
