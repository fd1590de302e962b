/* The memory that responses hold together. A request reserves what it is about to allocate, and waits while there is
 * not enough left. What the requests of one client hold together is limited, too: of a caller,
 * or of an address where no tokens are required. */
#include "base/cancel.h"
#include "base/thread.h"
#include "http/http_internal.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TRIM_BYTES = 64 << 20,      /* given back … */
    TRIM_BYTES_LARGE = 8 << 20, /* … by responses of so many */
    CANCEL_NS = 100000000,
    SERVER_WAIT_S = 60, /* of what may take its time */
};

/* A client with requests that hold memory or wait for it. */
struct http_share {
    struct http_share *next;
    uint64_t held, waiting; /* bytes of requests that do not wait, requests that do */
    uint64_t users;         /* requests */
    char client[HTTP_PRINCIPAL];
};

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

/* The share of the request's client, which has it until memory_release(). NULL: no memory. The mutex is held. */
static struct http_share *share_of(struct http_memory *m, struct http_request *r) {
    char client[HTTP_PRINCIPAL];
    if (r->share) {
        return r->share;
    }
    http_client(r, client);
    struct http_share *s = m->shares;
    while (s && strcmp(s->client, client) != 0) {
        s = s->next;
    }
    if (!s && (s = calloc(1, sizeof *s))) {
        memcpy(s->client, client, sizeof client);
        s->next = m->shares;
        m->shares = s;
    }
    if (s) {
        s->users++;
        r->share = s;
    }
    return s;
}

/* The mutex is held. */
static void leave_share(struct http_memory *m, struct http_request *r) {
    struct http_share **at = &m->shares, *s = r->share;
    r->share = NULL;
    if (!s || --s->users > 0) {
        return;
    }
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    free(s);
}

static uint64_t most_of_large(const struct http_memory *m) {
    return m->max - m->max / 8;
}

/* Small requests may use the last eighth as well: they are answered even while large ones hold all the rest. A client
 * may hold three quarters by several requests, and half while others wait; beside little one may hold what it needs.
 * `others`: what the client's other requests hold. */
static bool has_room(const struct http_memory *m, const struct http_request *r, uint64_t others, uint64_t bytes) {
    uint64_t large = most_of_large(m), mine = r->memory + bytes;
    if (mine <= HTTP_MEMORY_SMALL) {
        return m->held + bytes <= m->max;
    }
    uint64_t share = m->waiting > r->share->waiting ? large / 2 : large / 4 * 3;
    return m->held + bytes <= large && (others <= large / 8 || others + mine <= share);
}

/* What a client's requests hold while they wait does not count: they would wait for one another. The mutex is held. */
static bool wait_for_room(struct http_memory *m, struct http_request *r, uint64_t bytes) {
    struct timespec until = clock_deadline(INT64_C(1000000000) * HTTP_MEMORY_WAIT_S);
    struct http_share *share = r->share;
    bool in_time = true;
    if (has_room(m, r, share->held - r->memory, bytes)) {
        return true;
    }
    m->waiting++;
    share->waiting++;
    share->held -= r->memory;
    while (in_time && !m->closed && !has_room(m, r, share->held, bytes)) {
        in_time = condition_wait(&m->released, &m->mutex, until);
    }
    bool room = has_room(m, r, share->held, bytes);
    share->held += r->memory;
    share->waiting--;
    m->waiting--;
    pthread_cond_broadcast(&m->released); /* another client's share may be larger now */
    return room;
}

/* The mutex is held. */
static void grant(struct http_memory *m, struct http_request *r, uint64_t bytes) {
    m->held += bytes;
    r->share->held += bytes;
    r->memory += bytes;
}

bool http_reserve_now(struct http_request *r, uint64_t bytes) {
    struct http_memory *m = &r->server->memory;
    pthread_mutex_lock(&m->mutex);
    bool granted = share_of(m, r) && has_room(m, r, r->share->held - r->memory, bytes);
    if (granted) {
        grant(m, r, bytes);
    }
    pthread_mutex_unlock(&m->mutex);
    return granted;
}

bool http_hold(struct http_request *r, uint64_t bytes, struct reel_error *err) {
    struct http_memory *m = &r->server->memory;
    uint64_t left = most_of_large(m) - r->memory;
    bytes = bytes < left ? bytes : left;
    pthread_mutex_lock(&m->mutex);
    bool granted = share_of(m, r) && wait_for_room(m, r, bytes);
    if (granted) {
        grant(m, r, bytes);
    }
    m->refused += !granted;
    pthread_mutex_unlock(&m->mutex);
    return granted ||
           reel_fail(err, REEL_BUSY,
                     "responses to other requests take all of --memory-mb, or those to %s their share of it; try "
                     "again, or ask for less at a time",
                     http_caller(r)->name);
}

bool http_reserve(struct http_request *r, uint64_t bytes) {
    struct reel_error err = {0};
    if (http_hold(r, bytes, &err)) {
        return true;
    }
    http_add_header(r, "Retry-After", "10");
    http_reply_problem(r, 503, "busy", "%s", err.text);
    return false;
}

/* Gives freed memory of all threads back to the system; else they keep what each has had at most. */
static void trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* True: it is worth to trim. The mutex is held. */
static bool give_back(struct http_memory *m, uint64_t bytes) {
    m->held -= bytes;
    m->untrimmed += bytes >= TRIM_BYTES_LARGE ? bytes : 0;
    bool trims = m->untrimmed >= TRIM_BYTES;
    m->untrimmed = trims ? 0 : m->untrimmed;
    pthread_cond_broadcast(&m->released);
    return trims;
}

void http_give_back(struct http_request *r, uint64_t bytes) {
    bytes = bytes < r->memory ? bytes : r->memory;
    if (bytes > 0) {
        struct http_memory *m = &r->server->memory;
        pthread_mutex_lock(&m->mutex);
        r->memory -= bytes;
        r->share->held -= bytes;
        bool trims = give_back(m, bytes);
        pthread_mutex_unlock(&m->mutex);
        if (trims) {
            trim();
        }
    }
}

static bool is_free(const struct http_memory *m, uint64_t bytes) {
    return m->held + bytes <= most_of_large(m);
}

bool http_server_hold(struct http_server *server, uint64_t bytes, struct reel_error *err) {
    struct http_memory *m = &server->memory;
    const int64_t until_ns = clock_ns() + INT64_C(1000000000) * SERVER_WAIT_S;
    if (bytes > most_of_large(m)) {
        return reel_fail(err, REEL_LIMIT, "this takes %llu MiB, more than responses may hold (--memory-mb)",
                         (unsigned long long)(bytes >> 20));
    }
    pthread_mutex_lock(&m->mutex);
    bool goes_on = true;
    while (goes_on && !is_free(m, bytes) && !m->closed && clock_ns() < until_ns) {
        condition_wait(&m->released, &m->mutex, clock_deadline(CANCEL_NS));
        goes_on = cancel_check(err);
    }
    bool granted = goes_on && is_free(m, bytes);
    m->held += granted ? bytes : 0;
    m->refused += goes_on && !granted;
    pthread_mutex_unlock(&m->mutex);
    return granted || (goes_on && reel_fail(err, REEL_BUSY,
                                            "responses to requests take all of --memory-mb; try again, or ask for less "
                                            "at a time"));
}

bool http_server_hold_spare(struct http_server *server, uint64_t bytes) {
    struct http_memory *m = &server->memory;
    pthread_mutex_lock(&m->mutex);
    bool granted = !m->closed && m->held + bytes <= m->max / 2;
    m->held += granted ? bytes : 0;
    pthread_mutex_unlock(&m->mutex);
    return granted;
}

void http_server_give_back(struct http_server *server, uint64_t bytes) {
    pthread_mutex_lock(&server->memory.mutex);
    bool trims = give_back(&server->memory, bytes);
    pthread_mutex_unlock(&server->memory.mutex);
    if (trims) {
        trim();
    }
}

uint64_t http_held(const struct http_request *r) {
    return r->memory;
}

uint64_t http_memory_max(const struct http_request *r) {
    return most_of_large(&r->server->memory);
}

void memory_release(struct http_request *r) {
    http_give_back(r, r->memory);
    if (r->share) {
        struct http_memory *m = &r->server->memory;
        pthread_mutex_lock(&m->mutex);
        leave_share(m, r);
        pthread_mutex_unlock(&m->mutex);
    }
}
