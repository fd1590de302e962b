/* reel/play.h: states at new positions that have channels of their own; controls on another thread. */
#include <pthread.h>

#define TOY_OWN_TABLES
#include "makers/toy.h"

#include "base/cleanup.h"
#include "reel/play.h"

/* The state: one message on each of `n_states` channels. */
static unsigned n_states;

static bool own_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                         struct reel_initial_state *initial, struct reel_error *err) {
    const uint64_t extra[REEL_ENTRY_EXTRAS] = {0};
    (void)reader;
    (void)wanted;
    for (unsigned i = 0; i < n_states; i++) {
        char name[32];
        snprintf(name, sizeof name, "/state/%u", i);
        const struct reel_channel own = {.name = name, .type = "toy/State", .encoding = "toy"};
        uint8_t *data = calloc(1, 1);
        assert_non_null(data);
        if (!reel_initial_state_add(initial, &own, time_ns, data, 1, extra, err)) {
            return false;
        }
    }
    return true;
}
static const struct reel_encoding own_encoding = {.name = "toy", .state_at = own_state_at};
const struct reel_format *const reel_formats[] = {&toy_format, NULL};
const struct reel_writer *const reel_writers[] = {NULL};
const struct reel_encoding *const reel_encodings[] = {&own_encoding, NULL};

static struct reel_play *new_play(void) {
    const struct reel_play_options options = {.size = sizeof options}; /* as fast as possible */
    struct reel_play *play = reel_play_new(&options, NULL);
    assert_non_null(play);
    return play;
}

/* Plays from the middle of the recording. Counts messages of channels "/state/…"; false: err. */
static bool count_states(struct reel_recording *r, const struct toy *t, unsigned *count, struct reel_error *err) {
    AUTO(reel_play_free) struct reel_play *play = new_play();
    int64_t start = t->entries[0].time_ns, end = t->entries[t->n_entries - 1].time_ns;
    AUTO(reel_stream_free)
    struct reel_stream *s = reel_play_stream(play, &r, 1, &selection_all, start, end, err);
    assert_non_null(s);
    const struct reel_play_change change = {
        .size = sizeof change, .set = REEL_PLAY_POSITION, .position_ns = t->entries[50].time_ns};
    assert_true(reel_play_set(play, &change, err));
    struct reel_message m;
    enum reel_step step;
    while ((step = stream_next(s, &m, err)) == REEL_STEP_MESSAGE) {
        assert_true(m.channel < s->n_channels);
        *count += strncmp(s->channels[m.channel]->name, "/state/", 7) == 0;
    }
    return step == REEL_STEP_END;
}

static void no_state_is_dropped(void **state) {
    (void)state;
    struct toy t = {0};
    toy_random(&t, 1, 3, 100, TOY_REGULAR);
    struct reel_recording *r = toy_open(&t, NULL);
    for (n_states = 0; n_states < 20; n_states++) {
        struct reel_error err = {0};
        unsigned count = 0;
        if (count_states(r, &t, &count, &err)) {
            assert_int_equal(count, n_states);
        } else { /* or there is an error */
            assert_true(n_states > 8);
            assert_int_equal(err.code, REEL_LIMIT);
        }
    }
    reel_recording_free(r);
    toy_free(&t);
}

static void *read_state(void *play) {
    struct reel_play_state state = {.size = sizeof state};
    while (state.end_ns == 0) {
        reel_play_get(play, &state);
    }
    return NULL;
}

static void a_playback_is_opened_while_its_state_is_read(void **state) {
    (void)state;
    struct toy t = {0};
    struct reel_error err = {0};
    toy_random(&t, 1, 3, 100, TOY_REGULAR);
    struct reel_recording *r = toy_open(&t, NULL);
    AUTO(reel_play_free) struct reel_play *play = new_play();
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_state, play), 0);
    AUTO(reel_stream_free) struct reel_stream *s = reel_play_stream(play, &r, 1, &selection_all, 1, 2, &err);
    pthread_join(reader, NULL);
    assert_non_null(s);
    reel_recording_free(r);
    toy_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_state_is_dropped),
        cmocka_unit_test(a_playback_is_opened_while_its_state_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
