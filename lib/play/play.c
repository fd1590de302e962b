/* The controls of a playback: see reel/play.h and play_state.h. */
#include "base/thread.h"
#include "play/play_state.h"

#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/options.h"

static const double SPEED_MIN = 1e-3, SPEED_MAX = 1e6; /* no time in ns overflows */
static const int64_t SECOND_NS = 1000000000;

static bool is_speed(double speed) {
    return speed == 0 || (speed >= SPEED_MIN && speed <= SPEED_MAX);
}

struct reel_play *reel_play_new(const struct reel_play_options *given, struct reel_error *err) {
    struct reel_play_options options, defaults = reel_play_defaults();
    if (!options_copy(&options, sizeof options, given ? given : &defaults, "reel_play_options", err)) {
        return NULL;
    }
    if (!is_speed(options.speed) || !is_speed(options.rate) || !is_speed(options.clock_hz) || options.max_gap_ns < 0) {
        reel_fail(err, REEL_ARGUMENT, "speeds and rates are 0 or numbers from 0.001 to 1000000");
        return NULL;
    }
    struct reel_play *play = calloc(1, sizeof *play);
    if (!play) {
        reel_fail_memory(err);
        return NULL;
    }
    condition_init(&play->changed);
    pthread_mutex_init(&play->mutex, NULL);
    play->references = 1;
    play->wake = -1;
    play->options = options;
    if (options.n_pause_topics > 0 &&
        !(play->options.pause_topics = arena_texts(&play->arena, options.pause_topics, options.n_pause_topics))) {
        reel_play_free(play);
        reel_fail_memory(err);
        return NULL;
    }
    play->state = (struct reel_play_state){.paused = options.paused, .loop = options.loop, .speed = options.speed};
    return play;
}

struct reel_play *reel_play_ref(struct reel_play *play) {
    pthread_mutex_lock(&play->mutex);
    play->references++;
    pthread_mutex_unlock(&play->mutex);
    return play;
}

void reel_play_free(struct reel_play *play) {
    if (!play) {
        return;
    }
    pthread_mutex_lock(&play->mutex);
    bool last = --play->references == 0;
    pthread_mutex_unlock(&play->mutex);
    if (last) {
        pthread_cond_destroy(&play->changed);
        pthread_mutex_destroy(&play->mutex);
        arena_free(&play->arena);
        free(play);
    }
}

/* Tape time now. Without a speed there is none between messages. */
static int64_t tape_now(const struct reel_play *play) {
    if (play->state.paused || play->state.speed == 0) {
        return play->anchor_tape;
    }
    return play->anchor_tape + (int64_t)((double)(clock_ns() - play->anchor_ns) * play->state.speed);
}
void play_anchor(struct reel_play *play, int64_t tape) {
    play->anchor_tape = tape;
    play->anchor_ns = clock_ns();
}

void play_through(struct reel_play *play, play_view view, uint32_t actor) {
    play->view = view;
    play->actor = actor;
}

void play_wake(struct reel_play *play, int fd) {
    pthread_mutex_lock(&play->mutex);
    play->wake = fd;
    pthread_mutex_unlock(&play->mutex);
}

bool reel_play_set(struct reel_play *play, const struct reel_play_change *given, struct reel_error *err) {
    struct reel_play_change own, *change = &own;
    if (!options_copy(&own, sizeof own, given, "reel_play_change", err)) {
        return false;
    }
    if ((change->set & REEL_PLAY_SPEED) && !is_speed(change->speed)) {
        return reel_fail(err, REEL_ARGUMENT, "speed: 0 (as fast as possible), or a number from 0.001 to 1000000");
    }
    pthread_mutex_lock(&play->mutex);
    struct reel_play_state *s = &play->state;
    bool good =
        !(change->set & REEL_PLAY_POSITION) || (change->position_ns >= s->start_ns && change->position_ns <= s->end_ns);
    if (good) {
        play_anchor(play, tape_now(play));
        s->paused = change->set & REEL_PLAY_PAUSED ? change->paused : s->paused;
        s->speed = change->set & REEL_PLAY_SPEED ? change->speed : s->speed;
        s->loop = change->set & REEL_PLAY_LOOP ? change->loop : s->loop;
        if (change->set & REEL_PLAY_POSITION) {
            s->position_ns = change->position_ns;
            play->seeks = true;
        }
        pthread_cond_broadcast(&play->changed);
        if (play->wake >= 0) {
            (void)eventfd_write(play->wake, 1);
        }
    }
    pthread_mutex_unlock(&play->mutex);
    return good || reel_fail(err, REEL_ARGUMENT, "the position lies outside of what is played");
}

void reel_play_get(struct reel_play *play, struct reel_play_state *out) {
    pthread_mutex_lock(&play->mutex);
    struct reel_play_state state = play->state;
    if (!play->seeks) {
        int64_t since = tape_now(play) - play->tape_ns, left = state.end_ns - state.position_ns;
        state.position_ns += since < 0 ? 0 : since < left ? since : left;
    }
    pthread_mutex_unlock(&play->mutex);
    options_fill(out, &state, sizeof state);
}

/* ---- waiting */

int64_t play_reached_at(const struct reel_play *play, int64_t tape) {
    if (play->state.paused) {
        return INT64_MAX;
    }
    double left = play->state.speed == 0 ? 0 : (double)(tape - play->anchor_tape) / play->state.speed;
    return left >= (double)(INT64_MAX / 2) ? INT64_MAX : play->anchor_ns + (int64_t)left;
}

enum due play_wait_for(struct reel_play *play, int64_t tape, int64_t limit_ns) {
    for (;;) {
        int64_t now = clock_ns(), until = limit_ns;
        if (play->seeks) {
            return SEEKS;
        }
        if (!play->state.paused) {
            int64_t due = play_reached_at(play, tape);
            if (play->state.speed == 0) {
                play_anchor(play, tape);
                due = now;
            }
            if (due <= now) {
                play->state.late_ns = (uint64_t)(now - due);
                return DUE;
            }
            until = due < until ? due : until;
        }
        if (now >= limit_ns) {
            return NOT_YET;
        }
        struct timespec at = {.tv_sec = until / SECOND_NS, .tv_nsec = until % SECOND_NS};
        condition_wait(&play->changed, &play->mutex, at);
    }
}
