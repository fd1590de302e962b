/* See log_queue.h. */
#include "log_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "http/line.h"
#include "reel/time.h"

enum {
    RING_BYTES = 512 << 10,
    LINE_MAX_BYTES = PIPE_BUF, /* with its end: a pipe takes it whole or not at all */
    EXIT_PIPE_BYTES = 1 << 20, /* the most that Linux allows without privileges; more than the ring and a usual pipe */
    RETRY_MS = 1000
};

struct log_queue {
    int fd;
    bool json;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows; never held during write() */
    pthread_cond_t filled, finished;
    char *ring;        /* whole lines */
    size_t at, used;   /* bytes; `at`: of the oldest */
    uint64_t reported; /* of `dropped`, in the last line about it */
    bool stop, ended;
    _Atomic uint64_t dropped;
};

static bool ring_put(struct log_queue *q, const char *line) {
    size_t size = strnlen(line, LINE_MAX_BYTES - 1);
    if (q->used + size + 1 > RING_BYTES) {
        return false;
    }
    size_t to = (q->at + q->used) % RING_BYTES, first = size < RING_BYTES - to ? size : RING_BYTES - to;
    memcpy(q->ring + to, line, first);
    memcpy(q->ring, line + first, size - first);
    q->ring[(to + size) % RING_BYTES] = '\n';
    q->used += size + 1;
    return true;
}

/* Whole lines, as many as one write() to a pipe takes. */
static size_t ring_take(struct log_queue *q, char out[PIPE_BUF]) {
    size_t size = q->used < PIPE_BUF ? q->used : PIPE_BUF, first = RING_BYTES - q->at;
    first = size < first ? size : first;
    memcpy(out, q->ring + q->at, first);
    memcpy(out + first, q->ring, size - first);
    while (size > 0 && out[size - 1] != '\n') {
        size--;
    }
    q->at = (q->at + size) % RING_BYTES;
    q->used -= size;
    return size;
}

/* Says how many lines were dropped since the start, where that has grown; false: no room for it. */
static bool report_dropped(struct log_queue *q) {
    char line[256], when[REEL_TIME_TEXT];
    uint64_t dropped = atomic_load(&q->dropped);
    if (dropped == q->reported) {
        return true;
    }
    reel_time_rfc3339(reel_now_ns(), when);
    const struct line_field fields[] = {{.key = "ts", .text = when},
                                        {.key = "dropped_lines", .number = (int64_t)dropped},
                                        {.key = "error", .text = "the reader of the log stalled"}};
    line_write(q->json, fields, sizeof fields / sizeof *fields, line, sizeof line);
    if (!ring_put(q, line)) {
        return false;
    }
    q->reported = dropped;
    return true;
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EAGAIN) { /* another process made the pipe non-blocking */
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, RETRY_MS);
        } else if (n < 0 && errno != EINTR) {
            return false;
        }
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static uint64_t count_lines(const char *data, size_t size) {
    uint64_t n = 0;
    for (size_t i = 0; i < size; i++) {
        n += data[i] == '\n';
    }
    return n;
}

/* Writes until the ring is empty. The mutex is held, except during write(). */
static void write_ring(struct log_queue *q) {
    char lines[PIPE_BUF];
    while (q->used > 0) {
        size_t size = ring_take(q, lines);
        pthread_mutex_unlock(&q->mutex);
        bool written = write_all(q->fd, lines, size);
        pthread_mutex_lock(&q->mutex);
        if (!written) {
            atomic_fetch_add(&q->dropped, count_lines(lines, size));
        } else if (q->used == 0) {
            report_dropped(q);
        }
    }
}

static void *writer_run(void *context) {
    struct log_queue *q = context;
    pthread_mutex_lock(&q->mutex);
    while (!q->stop || q->used > 0) {
        write_ring(q);
        if (!q->stop) {
            pthread_cond_wait(&q->filled, &q->mutex);
        }
    }
    q->ended = true;
    pthread_cond_signal(&q->finished);
    pthread_mutex_unlock(&q->mutex);
    return NULL;
}

static void queue_free(struct log_queue *q) {
    pthread_cond_destroy(&q->filled);
    pthread_cond_destroy(&q->finished);
    pthread_mutex_destroy(&q->mutex);
    free(q->ring);
    free(q);
}

struct log_queue *log_queue_open(int fd, bool json, struct reel_error *err) {
    struct log_queue *q = calloc(1, sizeof *q);
    char *ring = malloc(RING_BYTES);
    if (!q || !ring) {
        free(q);
        free(ring);
        reel_fail_memory(err);
        return NULL;
    }
    q->fd = fd;
    q->json = json;
    q->ring = ring;
    pthread_mutex_init(&q->mutex, NULL);
    pthread_cond_init(&q->filled, NULL);
    condition_init(&q->finished);
    int failed = pthread_create(&q->thread, NULL, writer_run, q);
    if (failed) {
        queue_free(q);
        errno = failed;
        reel_fail_errno(err, "the thread that writes the log could not be started");
        return NULL;
    }
    return q;
}

/* A full pipe gets room for the whole ring, so that its reader finds all of it later. */
static void make_room(int fd) {
    if (poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 0) == 0) {
        (void)fcntl(fd, F_SETPIPE_SZ, EXIT_PIPE_BYTES); /* no pipe, or not allowed: the time limit holds */
    }
}

void log_queue_close(struct log_queue *q, int64_t wait_ns) {
    if (!q) {
        return;
    }
    const struct timespec until = clock_deadline(wait_ns);
    make_room(q->fd);
    pthread_mutex_lock(&q->mutex);
    q->stop = true;
    pthread_cond_signal(&q->filled);
    bool in_time = true;
    while (!q->ended && in_time) {
        in_time = condition_wait(&q->finished, &q->mutex, until);
    }
    bool ended = q->ended;
    pthread_mutex_unlock(&q->mutex);
    if (ended) {
        pthread_join(q->thread, NULL);
        queue_free(q);
    }
}

void log_queue_line(struct log_queue *q, const char *line) {
    if (!q) {
        fprintf(stderr, "%s\n", line);
        return;
    }
    pthread_mutex_lock(&q->mutex);
    if (!report_dropped(q) || !ring_put(q, line)) {
        atomic_fetch_add(&q->dropped, 1);
    }
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->mutex);
}

void log_queue_printf(struct log_queue *q, const char *format, ...) {
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log_queue_line(q, line);
}

uint64_t log_queue_dropped(const struct log_queue *q) {
    return q ? atomic_load(&q->dropped) : 0;
}
