/* The watchdog: to the library, a client that sends a byte a second is not idle and could stay forever. The watchdog only shuts sockets
 * down; the connection's own thread then cleans up. */
#include "http/http_internal.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

static bool upload_too_slow(struct http_connection *c, int64_t now_ms) {
    int64_t window = atomic_load_explicit(&c->server->watch.rate_window_ms, memory_order_relaxed);
    int64_t elapsed = now_ms - atomic_load_explicit(&c->since_ms, memory_order_relaxed);
    if (elapsed < window) {
        return false;
    }
    uint64_t bytes = atomic_exchange_explicit(&c->window_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&c->since_ms, now_ms, memory_order_relaxed);
    return (double)bytes * 1000.0 < (double)c->server->options.body_min_rate * (double)elapsed;
}

/* Whether a connection in this state must be shut down. */
static bool deadline_passed(struct http_connection *c, int64_t now_ms) {
    const struct http_options *o = &c->server->options;
    int64_t elapsed = now_ms - atomic_load_explicit(&c->since_ms, memory_order_relaxed);
    switch ((enum http_phase)atomic_load_explicit(&c->phase, memory_order_acquire)) {
    case PHASE_HEADERS:
        return o->header_timeout_s && elapsed > (int64_t)o->header_timeout_s * 1000;
    case PHASE_IDLE: /* the library ends idle connections; this ends a slowly arriving next request */
        return o->header_timeout_s && o->idle_timeout_s && elapsed > ((int64_t)o->idle_timeout_s + o->header_timeout_s) * 1000;
    case PHASE_BODY:
        return o->body_min_rate && upload_too_slow(c, now_ms);
    case PHASE_BUSY:
        return false;
    }
    return false;
}

/* At the end of a file that became shorter, sendfile() returns 0 and the library tries again for ever. The mutex must be held. */
static bool file_is_short(struct http_connection *c) {
    struct stat st;
    bool is_short = c->file_fd >= 0 && (fstat(c->file_fd, &st) != 0 || (uint64_t)st.st_size < c->file_end);
    if (is_short) {
        atomic_store(&c->file_cut, true);
    }
    return is_short;
}

void deadline_file(struct http_connection *c, int fd, uint64_t end) {
    struct http_watch *watch = &c->server->watch;
    pthread_mutex_lock(&watch->mutex);
    c->file_fd = fd;
    c->file_end = end;
    pthread_mutex_unlock(&watch->mutex);
}

void deadline_phase(struct http_connection *c, enum http_phase phase) {
    atomic_store_explicit(&c->since_ms, http_clock_ms(), memory_order_relaxed);
    atomic_store_explicit(&c->window_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&c->phase, (int)phase, memory_order_release);
}

/* Above the connection limit: closes the connection that has waited longest for its client, so that idle ones lock no one out. The mutex
 * must be held. */
static void make_room(struct http_server *server) {
    struct http_connection *longest = NULL;
    int64_t since_ms = INT64_MAX;
    unsigned n_open = 0;
    for (struct http_connection *c = server->watch.first; c; c = c->next) {
        int phase = atomic_load_explicit(&c->phase, memory_order_acquire);
        int64_t waiting_since_ms = atomic_load_explicit(&c->since_ms, memory_order_relaxed);
        n_open += !c->closing;
        if (!c->closing && c != server->watch.first && waiting_since_ms <= since_ms && (phase == PHASE_IDLE || phase == PHASE_HEADERS)) {
            longest = c;
            since_ms = waiting_since_ms;
        }
    }
    if (longest && n_open > server->options.connections_max) {
        longest->closing = true;
        shutdown(longest->fd, SHUT_RDWR);
    }
}

void deadline_add(struct http_connection *c) {
    struct http_watch *watch = &c->server->watch;
    deadline_phase(c, PHASE_HEADERS);
    pthread_mutex_lock(&watch->mutex);
    c->next = watch->first;
    if (c->next) {
        c->next->previous = c;
    }
    watch->first = c;
    if (atomic_load_explicit(&c->server->counters.connections, memory_order_relaxed) >= c->server->options.connections_max) {
        make_room(c->server);
    }
    pthread_mutex_unlock(&watch->mutex);
}

void deadline_remove(struct http_connection *c) {
    struct http_watch *watch = &c->server->watch;
    pthread_mutex_lock(&watch->mutex);
    if (c->previous) {
        c->previous->next = c->next;
    } else {
        watch->first = c->next;
    }
    if (c->next) {
        c->next->previous = c->previous;
    }
    pthread_mutex_unlock(&watch->mutex);
}

static void *watch_run(void *context) {
    struct http_watch *watch = context;
    pthread_mutex_lock(&watch->mutex);
    while (!watch->stop) {
        int64_t now_ms = http_clock_ms();
        for (struct http_connection *c = watch->first; c; c = c->next) {
            if (deadline_passed(c, now_ms) || file_is_short(c)) {
                shutdown(c->fd, SHUT_RDWR);
            }
        }
        int64_t next_ms = now_ms + HTTP_WATCH_MS;
        struct timespec until = {.tv_sec = next_ms / 1000, .tv_nsec = next_ms % 1000 * 1000000};
        pthread_cond_timedwait(&watch->wake, &watch->mutex, &until);
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

bool deadline_start(struct http_server *server, struct reel_error *err) {
    struct http_watch *watch = &server->watch;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&watch->mutex, NULL);
    pthread_cond_init(&watch->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    atomic_store(&watch->rate_window_ms, HTTP_RATE_WINDOW_MS);
    watch->running = pthread_create(&watch->thread, NULL, watch_run, watch) == 0;
    return watch->running || reel_fail(err, REEL_NO_MEMORY, "cannot start the thread that watches connections");
}

void deadline_stop(struct http_server *server) {
    struct http_watch *watch = &server->watch;
    if (!watch->running) {
        return;
    }
    pthread_mutex_lock(&watch->mutex);
    watch->stop = true;
    pthread_cond_signal(&watch->wake);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->wake);
    pthread_mutex_destroy(&watch->mutex);
    watch->running = false;
}
