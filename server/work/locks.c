/* See locks.h. The locks that are held form a list: the contents under change and the files under import, some hundreds
 * at most. */
#include "work/locks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/hex.h"
#include "catalog/locks.h"

enum { PAUSE_MS = 2, PAUSE_MAX_MS = 100 };
static const int64_t PATIENCE_NS = INT64_C(12000000000);

struct locks {
    struct catalog *shared; /* NULL: this is the only server */
    pthread_mutex_t mutex;
    pthread_cond_t released;
    struct key_lock *held;
};

struct locks *locks_new(struct reel_error *err) {
    struct locks *locks = calloc(1, sizeof *locks);
    if (!locks) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&locks->mutex, NULL);
    pthread_cond_init(&locks->released, NULL);
    return locks;
}

void locks_free(struct locks *locks) {
    if (locks) {
        pthread_cond_destroy(&locks->released);
        pthread_mutex_destroy(&locks->mutex);
        free(locks);
    }
}

static void make_key(char key[LOCK_KEY], const char *what, const char *name) {
    char hex[SHA256_HEX];
    int n = snprintf(key, LOCK_KEY, "%s:%s", what, name);
    if (n >= LOCK_KEY) {
        digest_hex(DIGEST_SHA256, bytes_text(name), hex);
        snprintf(key, LOCK_KEY, "%.20s:%s", what, hex);
    }
}

void locks_share(struct locks *locks, struct catalog *catalog) {
    locks->shared = catalog;
}

/* ---- among servers; the lock of this process is held */

static bool is_shared(const struct locks *locks, const struct key_lock *lock) {
    return locks->shared && strncmp(lock->key, "here-", 5) != 0;
}

static int64_t locks_number_of(const char *key) {
    uint8_t digest[DIGEST_SHA256];
    int64_t number;
    digest_of(DIGEST_SHA256, bytes_text(key), digest);
    memcpy(&number, digest, sizeof number);
    return number;
}

static void sleep_ms(unsigned ms) {
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
}

static void take_shared(struct locks *locks, struct key_lock *lock) {
    struct reel_error ignored;
    int64_t failing_since_ns = 0;
    lock->number = locks_number_of(lock->key);
    for (unsigned pause = PAUSE_MS; !lock->shared; pause = pause < PAUSE_MAX_MS / 2 ? 2 * pause : PAUSE_MAX_MS) {
        int64_t begun_ns = clock_ns();
        bool answered = catalog_lock_try(locks->shared, lock->number, &lock->shared, &ignored);
        failing_since_ns = answered ? 0 : failing_since_ns ? failing_since_ns : begun_ns;
        if (!answered && clock_ns() - failing_since_ns > PATIENCE_NS) {
            lock->alone = true;
            catalog_lock_missing(true);
            return;
        }
        if (!lock->shared) {
            sleep_ms(pause);
        }
    }
}

static void give_shared(struct locks *locks, struct key_lock *lock) {
    if (lock->shared) {
        catalog_unlock(locks->shared, lock->number);
    }
    if (lock->alone) {
        catalog_lock_missing(false);
    }
    lock->shared = lock->alone = false;
}

/* ---- in this process */

/* The mutex is held. */
static bool is_held(const struct locks *locks, const char *key) {
    const struct key_lock *l = locks->held;
    while (l && strcmp(l->key, key) != 0) {
        l = l->next;
    }
    return l;
}

static void put_in(struct locks *locks, struct key_lock *lock) {
    lock->locks = locks;
    lock->next = locks->held;
    locks->held = lock;
}

void lock_take(struct locks *locks, struct key_lock *lock, const char *what, const char *name) {
    if (!locks) {
        return;
    }
    make_key(lock->key, what, name);
    pthread_mutex_lock(&locks->mutex);
    while (is_held(locks, lock->key)) {
        pthread_cond_wait(&locks->released, &locks->mutex);
    }
    put_in(locks, lock);
    pthread_mutex_unlock(&locks->mutex);
    if (is_shared(locks, lock)) {
        take_shared(locks, lock);
    }
}

bool lock_try(struct locks *locks, struct key_lock *lock, const char *what, const char *name) {
    if (!locks) {
        return true;
    }
    make_key(lock->key, what, name);
    pthread_mutex_lock(&locks->mutex);
    bool is_free = !is_held(locks, lock->key);
    if (is_free) {
        put_in(locks, lock);
    }
    pthread_mutex_unlock(&locks->mutex);
    if (is_free && is_shared(locks, lock)) {
        struct reel_error ignored;
        lock->number = locks_number_of(lock->key);
        if (!catalog_lock_try(locks->shared, lock->number, &lock->shared, &ignored) || !lock->shared) {
            lock_release(lock);
            return false;
        }
    }
    return is_free;
}

void lock_release(struct key_lock *lock) {
    struct locks *locks = lock->locks;
    if (!locks) {
        return;
    }
    give_shared(locks, lock);
    pthread_mutex_lock(&locks->mutex);
    struct key_lock **at = &locks->held;
    while (*at != lock) {
        at = &(*at)->next;
    }
    *at = lock->next;
    lock->locks = NULL;
    pthread_cond_broadcast(&locks->released);
    pthread_mutex_unlock(&locks->mutex);
}

bool lock_is_held(struct locks *locks, const char *what, const char *name) {
    char key[LOCK_KEY];
    make_key(key, what, name);
    pthread_mutex_lock(&locks->mutex);
    bool held = is_held(locks, key);
    pthread_mutex_unlock(&locks->mutex);
    return held;
}
