/* The watchdog: to the library, a client that sends a byte a second is not idle and could stay forever. The watchdog
 * only shuts sockets down; the connection's own thread then cleans up. */
#include "base/thread.h"
#include "http/http_internal.h"

#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
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
    bool slow = (double)bytes * 1000.0 < (double)c->server->options.body_min_rate * (double)elapsed;
    c->server->counters.slow_writers += slow;
    return slow;
}

/* Only while sent bytes wait for the client: otherwise it is our own work, or an event, that is waited for. */
static bool download_too_slow(struct http_connection *c, int64_t now_ms) {
    int64_t request_ms = atomic_load_explicit(&c->since_ms, memory_order_relaxed);
    uint64_t bytes;
    int waiting = 0;
    if (ioctl(c->fd, SIOCOUTQ, &waiting) != 0 || waiting == 0 || c->reader.request_ms != request_ms) {
        c->reader.since_ms = 0;
        c->reader.request_ms = request_ms;
    }
    int64_t elapsed = now_ms - c->reader.since_ms;
    bool begins = c->reader.since_ms == 0,
         ends = elapsed >= atomic_load_explicit(&c->server->watch.reader_window_ms, memory_order_relaxed);
    if (waiting == 0 || !(begins || ends) || !connection_acknowledged(c, &bytes)) {
        return false;
    }
    bool slow = !begins && (double)(bytes - c->reader.acknowledged) * 1000.0 <
                               (double)c->server->options.reader_min_rate * (double)elapsed;
    c->reader.since_ms = now_ms;
    c->reader.acknowledged = bytes;
    c->server->counters.slow_readers += slow;
    return slow;
}

/* Whether a connection in this state must be shut down. */
static bool deadline_passed(struct http_connection *c, int64_t now_ms) {
    const struct http_options *o = &c->server->options;
    int64_t elapsed = now_ms - atomic_load_explicit(&c->since_ms, memory_order_relaxed);
    switch ((enum http_phase)atomic_load_explicit(&c->phase, memory_order_acquire)) {
    case PHASE_HEADERS:
        return o->header_timeout_s && elapsed > (int64_t)o->header_timeout_s * 1000;
    case PHASE_IDLE: /* the library ends idle connections; this ends a slowly arriving next request */
        return o->header_timeout_s && o->idle_timeout_s &&
               elapsed > ((int64_t)o->idle_timeout_s + o->header_timeout_s) * 1000;
    case PHASE_BODY:
        return o->body_min_rate && upload_too_slow(c, now_ms);
    case PHASE_BUSY:
        return o->reader_min_rate && download_too_slow(c, now_ms);
    }
    return false;
}

/* At the end of a file that became shorter, sendfile() returns 0 and the library tries again for ever. The mutex must
 * be held. */
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

/* The connection that has waited longest for its client, of one address or (NULL) of all; not the newest. The mutex
 * must be held. */
static struct http_connection *longest_waiting(struct http_server *server, const uint8_t *address, unsigned *n_open) {
    struct http_connection *longest = NULL;
    int64_t since_ms = INT64_MAX;
    *n_open = 0;
    for (struct http_connection *c = server->watch.first; c; c = c->next) {
        if (c->closing || (address && (c->is_proxy || memcmp(c->address, address, sizeof c->address) != 0))) {
            continue;
        }
        int phase = atomic_load_explicit(&c->phase, memory_order_acquire);
        int64_t waiting_since_ms = atomic_load_explicit(&c->since_ms, memory_order_relaxed);
        ++*n_open;
        if (c != server->watch.first && waiting_since_ms <= since_ms &&
            (phase == PHASE_IDLE || phase == PHASE_HEADERS)) {
            longest = c;
            since_ms = waiting_since_ms;
        }
    }
    return longest;
}

/* Above a limit: closes the connection that has waited longest, so that idle ones lock no one out. When none of the new
 * connection's address is idle, the new one goes. The mutex must be held. */
static void deadline_make_room(struct http_connection *added, uint64_t n_all) {
    struct http_server *server = added->server;
    const struct http_options *o = &server->options;
    struct http_connection *closes = NULL;
    unsigned n_open;
    if (!added->is_proxy && n_all >= o->connections_per_address) {
        struct http_connection *longest = longest_waiting(server, added->address, &n_open);
        bool over = n_open > o->connections_per_address;
        closes = !over ? NULL : longest ? longest : added;
        server->counters.over_address += over;
    }
    if (!closes && n_all >= o->connections_max) {
        struct http_connection *longest = longest_waiting(server, NULL, &n_open);
        closes = n_open > o->connections_max ? longest : NULL;
    }
    if (closes) {
        closes->closing = true;
        shutdown(closes->fd, SHUT_RDWR);
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
    deadline_make_room(c, atomic_load_explicit(&c->server->counters.connections, memory_order_relaxed));
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

void deadline_exempt(struct http_connection *c) {
    struct http_watch *watch = &c->server->watch;
    pthread_mutex_lock(&watch->mutex);
    c->is_proxy = true;
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
        condition_wait(&watch->wake, &watch->mutex, until);
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

bool deadline_start(struct http_server *server, struct reel_error *err) {
    struct http_watch *watch = &server->watch;
    pthread_mutex_init(&watch->mutex, NULL);
    condition_init(&watch->wake);
    atomic_store(&watch->rate_window_ms, HTTP_RATE_WINDOW_MS);
    atomic_store(&watch->reader_window_ms, HTTP_READER_WINDOW_MS);
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
