/* See keys.h. A server that stops releases its locks; a request that it has carried out without having stored the
 * answer is carried out again when it is repeated. */
#include "work/keys.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "base/clock.h"
#include "catalog/uploads.h"
#include "work/locks.h"

enum { PAUSE_MS = 20, KEYS_OF_ONE_MAX = 10000 /* of a principal */ };
static const int64_t WAIT_NS = INT64_C(10000000000), ANSWER_LIVES_NS = INT64_C(86400) * 1000000000;

/* False: replied. out->status 0: there is none. */
static bool find(struct http_request *r, const char *key, struct http_answer *out) {
    struct catalog_response first;
    struct reel_error err = {0};
    if (!catalog_response_get(http_app(r)->catalog, key, &first, &err)) {
        if (err.code != REEL_NOT_FOUND) {
            http_reply_error(r, &err);
        }
        return err.code == REEL_NOT_FOUND;
    }
    *out = (struct http_answer){.status = first.status, .headers = first.headers, .body = first.body};
    memcpy(out->request, first.request, sizeof out->request);
    return true;
}

/* NULL: replied. */
static struct key_lock *reserve(struct http_request *r, const char *key) {
    struct key_lock *lock = calloc(1, sizeof *lock);
    int64_t until_ns = clock_ns() + WAIT_NS;
    if (!lock) {
        http_reply_no_memory(r);
        return NULL;
    }
    while (!lock_try(http_app(r)->locks, lock, "key", key)) {
        if (clock_ns() >= until_ns || http_is_stopping(r)) {
            free(lock);
            http_add_header(r, "Retry-After", "5");
            http_reply_problem(r, 409, "key-in-use", "A request with this Idempotency-Key is being carried out.");
            return NULL;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
    return lock;
}

static void keys_release(void *hold) {
    lock_release(hold);
    free(hold);
}

static bool keys_take(struct http_request *r, const char *key, void **hold, struct http_answer *out) {
    if (!find(r, key, out)) {
        return false;
    }
    struct key_lock *lock = out->status ? NULL : reserve(r, key);
    bool good = out->status || (lock && find(r, key, out)); /* it may have been answered meanwhile */
    if (lock && (!good || out->status)) {
        keys_release(lock);
        lock = NULL;
    }
    *hold = lock;
    return good;
}

/* A failure is ignored, as the request has succeeded. */
static void keys_store(struct http_request *r, const char *key, const struct http_answer *answer) {
    struct reel_error ignored;
    char principal[HTTP_PRINCIPAL];
    struct catalog_response first = {.status = answer->status, .headers = answer->headers, .body = answer->body};
    memcpy(first.request, answer->request, sizeof first.request);
    catalog_response_put(http_app(r)->catalog, http_principal(r, principal), key, &first,
                         reel_now_ns() + ANSWER_LIVES_NS, KEYS_OF_ONE_MAX, &ignored);
}

const struct http_keys key_store = {.take = keys_take, .store = keys_store, .release = keys_release};
