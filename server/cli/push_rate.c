/* See push_rate.h. A token bucket that holds what 0.4 s bring, so that any ten seconds send at most
 * 4 % more than the limit. */
#include "cli/push_rate.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "convert/split.h"

static const double DEPTH_S = 0.4, PIECE_S = 0.02;            /* no piece is smaller than what PIECE_S brings */
static const int64_t STEP_NS = 20000000, LOOK_NS = 250000000; /* how often it waits, and looks for the file */

bool push_rate_parse(const char *text, uint64_t *out, struct reel_error *err) {
    static const char bit[] = "bit";
    char amount[32];
    size_t size = strlen(text), tail = sizeof bit - 1;
    bool bits = size > tail && ascii_casecmp(text + size - tail, bit) == 0;
    size -= bits ? tail : 0;
    bool good = size > 0 && size < sizeof amount;
    if (good) {
        memcpy(amount, text, size);
        amount[size] = '\0';
        good = split_parse_size(amount, out);
    }
    *out = good && bits ? *out / 8 : *out;
    return (good && *out > 0) ||
           reel_fail(err, REEL_ARGUMENT, "\"%.40s\" is no rate, such as 10M (bytes a second) or 80Mbit", text);
}

bool push_rate_parse_while(char *text, struct push_rate *rate, struct reel_error *err) {
    char *equals = strrchr(text, '=');
    if (!equals || equals == text) {
        return reel_fail(err, REEL_ARGUMENT, "\"%.100s\" is not FILE=RATE", text);
    }
    *equals = '\0';
    rate->file = text;
    rate->meanwhile = 0;
    return strcmp(equals + 1, "0") == 0 || push_rate_parse(equals + 1, &rate->meanwhile, err);
}

/* The mutex is held. */
static void push_rate_look(struct push_rate *r, int64_t now) {
    if (r->looked_ns == 0 || now - r->looked_ns >= LOOK_NS) {
        bool special = r->file && access(r->file, F_OK) == 0;
        r->limit = special ? r->meanwhile : r->usual > 0 ? r->usual : UINT64_MAX;
        r->looked_ns = now;
    }
}

/* The same. */
static size_t push_rate_draw(struct push_rate *r, size_t wanted) {
    int64_t now = clock_ns();
    push_rate_look(r, now);
    double rate = (double)r->limit, deepest = rate * DEPTH_S > 1 ? rate * DEPTH_S : 1;
    r->tokens += r->filled_ns > 0 ? rate * (double)(now - r->filled_ns) / 1e9 : 0;
    r->tokens = r->tokens < deepest ? r->tokens : deepest;
    r->filled_ns = now;
    double least = rate * PIECE_S < (double)wanted ? rate * PIECE_S : (double)wanted;
    size_t n = r->limit == UINT64_MAX || (double)wanted <= r->tokens ? wanted : (size_t)r->tokens;
    n = (double)n < least ? 0 : n;
    r->tokens -= r->limit == UINT64_MAX ? r->tokens : (double)n;
    return n;
}

size_t push_rate_take(struct push_rate *rate, size_t wanted, bool (*go_on)(void)) {
    size_t n = rate ? 0 : wanted;
    while (n == 0 && wanted > 0) {
        pthread_mutex_lock(&rate->mutex);
        n = push_rate_draw(rate, wanted);
        bool paused = n == 0 && rate->limit == 0;
        pthread_mutex_unlock(&rate->mutex);
        if (n == 0 && (paused || !go_on())) {
            return 0;
        }
        if (n == 0) {
            nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
        }
    }
    return n;
}

bool push_rate_is_paused(struct push_rate *rate) {
    pthread_mutex_lock(&rate->mutex);
    push_rate_look(rate, clock_ns());
    bool paused = rate->limit == 0;
    pthread_mutex_unlock(&rate->mutex);
    return paused;
}
