/* The stream of a playback, which gives each message when it is due: see reel/play.h and play_state.h. */
#include "play/play_state.h"

#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/channel.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/glob.h"
#include "index/pack_model.h"
#include "stream/initial_state.h"
#include "stream/selection.h"
#include "stream/view.h"

enum { CLOCK_BYTES = 8, STATE_CHANNELS_MAX = 8 /* of one recording, besides its own */ };
static const struct reel_channel unused = {.name = "", .type = "", .encoding = ""};
static const double NS_PER_S = 1e9;
static const int64_t SECOND_NS = 1000000000;

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

struct reel_play *play_of(const struct reel_stream *played) {
    return ((const struct player *)played)->play;
}

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
    play_anchor(p->play, p->play->tape_ns);
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
    play_anchor(p->play, p->next_tape);
    p->play->state.paused = p->stopped = true;
}

/* Waits for the next message, or tick of the clock, until `limit_ns`. The mutex is held. */
static enum reel_step wait_locked(struct player *p, int64_t limit_ns, bool *due, struct reel_error *err) {
    if (!p->began) {
        p->began = true;
        play_anchor(p->play, 0);
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
    int64_t due = play_reached_at(p->play, ticks_first(p) ? p->tick_tape : p->next_tape);
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
            play_anchor(p->play, p->play->tape_ns); /* from here it goes on */
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
