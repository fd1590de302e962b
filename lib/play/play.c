/* See reel/play.h. Two clocks: the recording's time, and tape time, which is the same without shortened silences and
 * with all rounds of a loop one after the other. A message is due when `anchor` plus its distance in tape time, divided
 * by the speed, is reached. */
#include "play/play.h"
#include "base/thread.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/channel.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/glob.h"
#include "base/options.h"
#include "index/pack_model.h"
#include "stream/initial_state.h"
#include "stream/selection.h"
#include "stream/view.h"

enum { CLOCK_BYTES = 8, STATE_CHANNELS_MAX = 8 /* of one recording, besides its own */ };
static const struct reel_channel unused = {.name = "", .type = "", .encoding = ""};
static const double NS_PER_S = 1e9, SPEED_MIN = 1e-3, SPEED_MAX = 1e6; /* no time in ns overflows */
static const int64_t SECOND_NS = 1000000000;

struct reel_play {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* on the monotonic clock */
    struct reel_play_options options;
    play_view view; /* NULL: none */
    uint32_t actor; /* of the view */
    struct reel_play_state state;
    int64_t tape_ns;                /* of the last message */
    int64_t anchor_ns, anchor_tape; /* this tape time is, or was, at this time of the monotonic clock */
    bool seeks;                     /* to state.position_ns */
    int wake;                       /* play_wake(), -1: none */
    struct arena arena;             /* of options.pause_topics */
    unsigned references;
};

struct player {
    struct reel_stream base;
    struct reel_stream_ops ops;
    struct reel_selection selection;
    struct reel_stream *below;            /* from the start */
    struct reel_stream *jumped;           /* from a new position, NULL: none */
    uint32_t *positions;                  /* of the channels of `jumped` among the player's */
    const struct reel_channel **channels; /* those of `below`, `spare` for states at new positions, /clock */
    uint32_t *sources;                    /* of the channels */
    uint32_t spare;
    struct reel_play *play;
    struct arena arena;
    struct reel_message next; /* of the current stream, not given yet */
    bool waits, began;
    bool at_once; /* the next message is given without waiting */
    bool due;     /* reel_play_wait() said so: also the end */
    bool stopped; /* it has paused before `next` */
    bool failed;  /* while it was waited for: `failure` */
    struct reel_error failure;
    bool any;          /* a message since the start of this round, or since the last new position */
    bool empty;        /* this round began at the start and has had no message */
    int64_t last_ns;   /* the recording's time of the last message */
    int64_t next_tape; /* of `next` */
    int64_t tick_tape; /* of the next tick of the clock */
    uint8_t clock[CLOCK_BYTES];
};

/* ---- controls */

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
static void anchor(struct reel_play *play, int64_t tape) {
    play->anchor_tape = tape;
    play->anchor_ns = clock_ns();
}

struct reel_play *play_of(const struct reel_stream *played) {
    return ((const struct player *)played)->play;
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
        anchor(play, tape_now(play));
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

enum due { DUE, SEEKS, NOT_YET };

/* When this tape time is reached, on the monotonic clock; INT64_MAX: not as things are. */
static int64_t reached_at(const struct reel_play *play, int64_t tape) {
    if (play->state.paused) {
        return INT64_MAX;
    }
    double left = play->state.speed == 0 ? 0 : (double)(tape - play->anchor_tape) / play->state.speed;
    return left >= (double)(INT64_MAX / 2) ? INT64_MAX : play->anchor_ns + (int64_t)left;
}

/* Waits until `tape` is reached or a new position is wanted, but not beyond `limit_ns` of the monotonic clock. */
static enum due play_wait_for(struct reel_play *play, int64_t tape, int64_t limit_ns) {
    for (;;) {
        int64_t now = clock_ns(), until = limit_ns;
        if (play->seeks) {
            return SEEKS;
        }
        if (!play->state.paused) {
            int64_t due = reached_at(play, tape);
            if (play->state.speed == 0) {
                anchor(play, tape);
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

/* ---- the stream */

/* The distance in tape time between the last message and the one at `time_ns`. */
static int64_t play_distance(const struct player *p, int64_t time_ns) {
    const struct reel_play_options *o = &p->play->options;
    int64_t gap = time_ns > p->last_ns ? time_ns - p->last_ns : 0;
    if (o->rate > 0) {
        return p->any ? (int64_t)(NS_PER_S / o->rate) : 0;
    }
    return o->max_gap_ns > 0 && gap > o->max_gap_ns ? o->max_gap_ns : gap;
}

static struct reel_stream *current(const struct player *p) {
    return p->jumped ? p->jumped : p->below;
}

/* The state at a position may be in a channel of its own. */
static bool find_position(struct player *p, const struct reel_channel *c, uint32_t source, uint32_t *position,
                          struct reel_error *err) {
    uint32_t n = p->below->n_channels + p->spare;
    for (*position = 0; *position < n && p->channels[*position] != &unused; ++*position) {
        if (p->sources[*position] == source && channel_same(p->channels[*position], c)) {
            return true;
        }
    }
    if (*position == n) {
        return reel_fail(err, REEL_LIMIT, "states at new positions have more than %u channels of their own", p->spare);
    }
    struct reel_channel *copy = arena_alloc(&p->arena, sizeof *copy);
    if (!copy || !pack_model_copy_channel(&p->arena, c, copy)) {
        return reel_fail_memory(err);
    }
    p->channels[*position] = copy;
    p->sources[*position] = source;
    return true;
}

static bool note_positions(struct player *p, struct reel_error *err) {
    if (!(p->positions = malloc(((size_t)p->jumped->n_channels + 1) * sizeof *p->positions))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < p->jumped->n_channels; i++) {
        const struct reel_channel *c = p->jumped->channels[i];
        p->positions[i] = i;
        if ((i >= p->below->n_channels || !channel_same(p->below->channels[i], c)) &&
            !find_position(p, c, p->jumped->channel_source[i], &p->positions[i], err)) {
            return false;
        }
    }
    return true;
}

static struct reel_stream *open_below(const struct reel_play *play, struct reel_recording *const *recordings,
                                      uint32_t n, const struct reel_selection *selection, struct reel_error *err) {
    struct reel_stream *stream = reel_stream_open(recordings, n, selection, err);
    if (stream && selection->view) {
        stream = selection->view->open(stream, recordings, n, selection, err);
    }
    return stream && play->view ? play->view(stream, play->actor, err) : stream;
}

/* Opens a stream that begins with the state at the position. */
static bool jump(struct player *p, int64_t position_ns, struct reel_error *err) {
    struct reel_selection selection = p->selection;
    uint32_t n = p->below->n_sources;
    AUTO_MEM struct reel_recording **recordings = malloc((n + 1) * sizeof(struct reel_recording *));
    if (!recordings) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        recordings[i] = reel_reader_recording(p->below->readers[i]);
    }
    selection.start_ns = position_ns;
    selection.initial = NULL;
    selection.state_at_cut = true;
    selection.last_per_topic = selection.last_per_topic || p->play->options.latch;
    p->jumped = open_below(p->play, recordings, n, &selection, err);
    return p->jumped && note_positions(p, err);
}

/* Goes on at a position; at the start as the first time. */
static bool go_to(struct player *p, int64_t position_ns, struct reel_error *err) {
    const struct reel_initial_state *initial = p->below->initial;
    struct reel_position start = {.time_ns = position_ns, .initial = initial && initial->n_messages > 0};
    p->waits = p->any = p->stopped = false;
    p->last_ns = position_ns;
    reel_stream_free(TAKE(p->jumped));
    free(TAKE(p->positions));
    return position_ns == p->play->state.start_ns ? stream_seek(p->below, &start, err) : jump(p, position_ns, err);
}

/* Makes `next` the next message, from the start again in a loop. */
static enum reel_step play_fetch(struct player *p, struct reel_error *err) {
    while (!p->waits) {
        enum reel_step step = stream_next(current(p), &p->next, err);
        if (step == REEL_STEP_ERROR) {
            return step;
        }
        if (step == REEL_STEP_MESSAGE) {
            p->next_tape = p->play->tape_ns + (p->next.before_start ? 0 : play_distance(p, p->next.time_ns));
            p->next.channel = p->jumped ? p->positions[p->next.channel] : p->next.channel;
            p->waits = true;
        } else if (!p->play->state.loop || p->empty) {
            return REEL_STEP_END;
        } else {
            p->empty = true;
            if (!go_to(p, p->play->state.start_ns, err)) {
                return REEL_STEP_ERROR;
            }
        }
    }
    return REEL_STEP_MESSAGE;
}

static bool go_to_position(struct player *p, struct reel_error *err) {
    p->play->seeks = p->empty = false;
    anchor(p->play, p->play->tape_ns);
    p->tick_tape = p->play->tape_ns;
    return go_to(p, p->play->state.position_ns, err);
}

static void give_clock(struct player *p, struct reel_message *m) {
    int64_t time_ns = p->last_ns + (p->tick_tape - p->play->tape_ns), second = time_ns / SECOND_NS;
    store_u32le(p->clock, (uint32_t)second);
    store_u32le(p->clock + 4, (uint32_t)(time_ns - second * SECOND_NS));
    *m = (struct reel_message){
        .time_ns = time_ns, .channel = p->base.n_channels - 1, .size = CLOCK_BYTES, .owned = p->clock};
    double speed = p->play->state.speed > 0 ? p->play->state.speed : 1;
    p->tick_tape += (int64_t)(NS_PER_S / p->play->options.clock_hz * speed);
}

static void give_message(struct player *p, struct reel_message *m) {
    *m = p->next;
    p->waits = p->stopped = false;
    p->any = true;
    p->empty = false;
    p->play->tape_ns = p->next_tape;
    p->play->state.messages++;
    if (!m->before_start) {
        p->last_ns = m->time_ns;
        p->play->state.position_ns = m->time_ns;
    }
}

static bool ticks_first(const struct player *p) {
    return p->play->options.clock_hz > 0 && p->tick_tape <= p->next_tape && !p->next.before_start;
}

/* Whether it pauses before the next message, which is due. */
static bool stops_before_next(const struct player *p) {
    const struct reel_play_options *o = &p->play->options;
    const char *topic = p->channels[p->next.channel]->name;
    bool matches = false;
    for (uint32_t i = 0; i < o->n_pause_topics && !matches; i++) {
        matches = reel_topic_match(o->pause_topics[i], topic);
    }
    return matches && !p->stopped && !p->next.before_start && !ticks_first(p);
}

static void stop_before_next(struct player *p) {
    anchor(p->play, p->next_tape);
    p->play->state.paused = p->stopped = true;
}

/* Waits for the next message, or tick of the clock, until `limit_ns`. The mutex is held. */
static enum reel_step wait_locked(struct player *p, int64_t limit_ns, bool *due, struct reel_error *err) {
    if (!p->began) {
        p->began = true;
        anchor(p->play, 0);
    }
    for (;;) {
        if (p->play->seeks && !p->at_once && !go_to_position(p, err)) {
            return REEL_STEP_ERROR;
        }
        enum reel_step step = play_fetch(p, err);
        bool shown = p->play->wake >= 0 && p->waits && p->next.before_start; /* also while it is paused */
        if (step != REEL_STEP_MESSAGE || p->at_once || shown) {
            *due = true;
            return step;
        }
        enum due result = play_wait_for(p->play, ticks_first(p) ? p->tick_tape : p->next_tape, limit_ns);
        if (result == DUE && stops_before_next(p)) {
            stop_before_next(p);
            return step; /* so that whoever waits learns of the pause */
        }
        if (result != SEEKS) {
            *due = result == DUE;
            return step;
        }
    }
}

bool reel_play_wait(struct reel_stream *played, int64_t timeout_ns) {
    struct player *p = (struct player *)played;
    bool due = false;
    pthread_mutex_lock(&p->play->mutex);
    p->failed = p->failed || wait_locked(p, clock_ns() + timeout_ns, &due, &p->failure) == REEL_STEP_ERROR;
    p->due = due;
    pthread_mutex_unlock(&p->play->mutex);
    return due || p->failed;
}

int64_t play_due(struct reel_stream *played) {
    struct player *p = (struct player *)played;
    if (reel_play_wait(played, 0)) {
        return 0;
    }
    pthread_mutex_lock(&p->play->mutex);
    int64_t due = reached_at(p->play, ticks_first(p) ? p->tick_tape : p->next_tape);
    pthread_mutex_unlock(&p->play->mutex);
    return due;
}

void play_step(struct reel_stream *played) {
    struct player *p = (struct player *)played;
    p->at_once = true;
    p->due = false;
}

void play_rest(struct reel_stream *played) {
    const struct reel_stream *now = current((struct player *)played);
    for (uint32_t i = 0; i < now->n_sources; i++) {
        reader_rest(now->readers[i]);
    }
}

/* The mutex is held. */
static enum reel_step next_locked(struct player *p, struct reel_message *m, struct reel_error *err) {
    bool due = p->due;
    enum reel_step step = REEL_STEP_MESSAGE;
    if (p->failed) {
        reel_error_pass(err, &p->failure);
        return REEL_STEP_ERROR;
    }
    while (!due && step == REEL_STEP_MESSAGE) {
        step = wait_locked(p, clock_ns() + SECOND_NS, &due, err);
    }
    p->due = false;
    if (step == REEL_STEP_MESSAGE && !p->waits) { /* reel_play_wait() has come to the end */
        step = REEL_STEP_END;
    }
    if (step == REEL_STEP_MESSAGE && ticks_first(p) && !p->at_once) {
        give_clock(p, m);
    } else if (step == REEL_STEP_MESSAGE) {
        give_message(p, m);
        if (p->at_once && p->play->state.paused) {
            anchor(p->play, p->play->tape_ns); /* from here it goes on */
        }
    }
    p->at_once = false;
    return step;
}

static enum reel_step play_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct player *p = (struct player *)base;
    pthread_mutex_lock(&p->play->mutex);
    enum reel_step step = next_locked(p, m, err);
    pthread_mutex_unlock(&p->play->mutex);
    return step;
}

/* Only to read a message again: it is given at once. */
static bool play_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    struct player *p = (struct player *)base;
    p->waits = p->due = false;
    p->at_once = true;
    return stream_seek(current(p), mark, err);
}

static bool play_payload(struct reel_stream *base, const struct reel_message *m, struct reel_bytes *out,
                         struct reel_error *err) {
    return reel_stream_payload(current((struct player *)base), m, out, err);
}

static void play_free(struct reel_stream *base) {
    struct player *p = (struct player *)base;
    free(p->positions);
    reel_stream_free(p->jumped);
    reel_stream_free(p->below);
    reel_play_free(p->play);
    arena_free(&p->arena);
    free(p);
}

static const struct reel_channel *clock_channel(void) {
    static const struct reel_schema schema = {.name = "rosgraph_msgs/Clock",
                                              .encoding = "ros1msg",
                                              .hash = "a9c97c1d230cfc112e270351a944ee47",
                                              .data = {(const uint8_t *)"time clock\n", 11}};
    static const char *const topics[] = {"/clock"};
    static const struct reel_channel channel = {.name = "/clock",
                                                .topics = topics,
                                                .n_topics = 1,
                                                .type = "rosgraph_msgs/Clock",
                                                .encoding = "ros1",
                                                .schemas = &schema,
                                                .n_schemas = 1};
    return &channel;
}

static bool make_channels(struct player *p) {
    p->spare = STATE_CHANNELS_MAX * p->below->n_sources;
    uint32_t n = p->below->n_channels, all = n + p->spare + (p->play->options.clock_hz > 0);
    p->base.channels = p->channels = arena_alloc(&p->arena, ((size_t)all + 1) * sizeof *p->channels);
    p->base.channel_source = p->sources = arena_alloc(&p->arena, ((size_t)all + 1) * sizeof *p->sources);
    if (!p->channels || !p->sources) {
        return false;
    }
    for (uint32_t i = 0; i < all; i++) {
        p->channels[i] = i < n ? p->below->channels[i] : i < n + p->spare ? &unused : clock_channel();
        p->sources[i] = i < n ? p->below->channel_source[i] : 0;
    }
    p->base.n_channels = all;
    return true;
}

struct reel_stream *reel_play_stream(struct reel_play *play, struct reel_recording *const *recordings, uint32_t n,
                                     const struct reel_selection *selection, int64_t start_ns, int64_t end_ns,
                                     struct reel_error *err) {
    struct reel_selection own;
    if (!selection_read(&own, selection, err)) {
        return NULL;
    }
    struct reel_stream *below = open_below(play, recordings, n, &own, err);
    struct player *p = below ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        reel_stream_free(below);
        below ? reel_fail_memory(err) : false;
        return NULL;
    }
    p->base = *below;
    p->ops = (struct reel_stream_ops){
        .next = play_next, .seek = play_seek, .free = play_free, .payload = below->ops->payload ? play_payload : NULL};
    p->base.ops = &p->ops;
    p->below = below;
    p->play = reel_play_ref(play);
    p->last_ns = start_ns;
    p->empty = true;
    pthread_mutex_lock(&play->mutex);
    play->state.start_ns = play->state.position_ns = start_ns;
    play->state.end_ns = end_ns;
    pthread_mutex_unlock(&play->mutex);
    if (!selection_copy(&p->selection, &own, n, &p->arena) || !make_channels(p)) {
        reel_stream_free(&p->base);
        reel_fail_memory(err);
        return NULL;
    }
    return &p->base;
}
