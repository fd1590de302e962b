/* The message in front of a cut: the frame and state of that instant. */
#include "base/cleanup.h"
#include "makers/nanover_maker.h"

static struct reel_selection cut_at(int64_t start_ns, const char *const *topic) {
    struct reel_selection selection = selection_all;
    selection.start_ns = start_ns;
    selection.state_at_cut = true;
    selection.topics = topic;
    selection.n_topics = topic ? 1 : 0;
    return selection;
}

/* What is put in front at `start_ns`; picture NULL: nothing. */
static void assert_front(struct reel_recording *r, int64_t start_ns, const char *const *topic, const char *channel,
                         const char *text) {
    struct reel_selection selection = cut_at(start_ns, topic);
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection);
    struct reel_message m = {.before_start = false};
    struct reel_bytes payload = next_payload(s, &m);
    if (!text) {
        assert_false(m.before_start);
        return;
    }
    assert_true(m.before_start);
    assert_int_equal(m.time_ns, start_ns);
    assert_string_equal(s->channels[m.channel]->name, channel);
    assert_picture(payload, text);
    assert_non_null(payload.data);
    bool frame = strncmp(channel, "frame", 5) == 0;
    assert_int_equal(m.entry.extra[0], frame);
    assert_int_equal(m.entry.extra[1], frame);
}

static void frames_fold_since_the_reset_and_states_since_the_beginning(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_front(r, 5000, NULL, NULL, NULL);
    assert_front(r, 5001, NULL, "frame",
                 "{'frame' {'frame.index' 0 'particle.count' 1 'particle.positions' " ORIGIN
                 " 'system.simulation.name' 'one'}}");
    assert_front(r, 2500000, NULL, "frame+state",
                 "{'frame' {'frame.index' 0 'particle.positions' " ASIDE
                 " 'particle.count' 1 'system.simulation.name' 'one'}"
                 " 'state' {'updates' {'scene' [1 2] 'gone' n} 'removals' []}}");
    assert_front(r, 3500000, NULL, "frame+state",
                 "{'frame' {'frame.index' 0 'particle.positions' " ASIDE
                 " 'particle.count' 1 'system.simulation.name' 'one'}"
                 " 'state' {'updates' {'user' 'x' 'scene' [1 2]} 'removals' []}}");
    assert_front(r, 9000000, NULL, "frame+state",
                 "{'frame' {'frame.index' 0 'particle.positions' " ASIDE " 'energy.potential' 1.5 'particle.count' 1}"
                 " 'state' {'updates' {'user' 'y' 'scene' [1 2]} 'removals' []}}");
}

static void only_wanted_channels_contribute(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    const char *frame = "frame", *states = "state", *none = "nothing";
    assert_front(r, 3500000, &frame, "frame",
                 "{'frame' {'frame.index' 0 'particle.positions' " ASIDE
                 " 'particle.count' 1 'system.simulation.name' 'one'}}");
    assert_front(r, 3500000, &states, "state", "{'state' {'updates' {'user' 'x' 'scene' [1 2]} 'removals' []}}");
    assert_front(r, 3500000, &none, NULL, NULL);
}

/* Backwards, a removal hides what came before it, and a later update hides the removal. */
static void updates_come_before_removals(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m, "{'state' {'updates' {'a' 1 'b' 1} 'removals' []}}", "{'types' ['state'] 'timestamp' 1}");
    maker_add(&m, "{'state' {'updates' {'a' 2} 'removals' ['a']}}", "{'types' ['state'] 'timestamp' 2}");
    maker_add(&m, "{'state' {'updates' {'c' 3}}}", "{'types' ['state'] 'timestamp' 3}");
    maker_add(&m, "{'state' {'removals' ['c' 'absent']}}", "{'types' ['state'] 'timestamp' 4}");
    maker_add(&m, "{'state' {'updates' {'c' 5}}}", "{'types' ['state'] 'timestamp' 5}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_front(r, 2500, NULL, "state", "{'state' {'updates' {'b' 1} 'removals' []}}");
    assert_front(r, 3500, NULL, "state", "{'state' {'updates' {'c' 3 'b' 1} 'removals' []}}");
    assert_front(r, 4500, NULL, "state", "{'state' {'updates' {'b' 1} 'removals' []}}");
    assert_front(r, 5500, NULL, "state", "{'state' {'updates' {'c' 5 'b' 1} 'removals' []}}");
}

/* Of many messages with the same keys only the last is read, whatever lies between. */
static void same_keys_share_a_number(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    for (int i = 0; i < 40; i++) {
        char message[128], metadata[64];
        snprintf(message, sizeof message,
                 i % 2 ? "{'state' {'updates' {'x' %d 'y' %d}}}" : "{'state' {'updates' {'y' %d 'x' %d}}}", i, i);
        snprintf(metadata, sizeof metadata, "{'types' ['state'] 'timestamp' %d}", i);
        maker_add(&m, message, metadata);
    }
    maker_add(&m, "{'state' {'updates' {'x' 7} 'removals' ['y']}}", "{'types' ['state'] 'timestamp' 100}");
    RECORDING *r = nanover_read(maker_finish(&m));
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection_all);
    struct reel_message message;
    for (int i = 0; i < 41; i++) {
        assert_non_null(next_payload(s, &message).data);
        assert_int_equal(nanover_key_set(&message.entry), i < 40 ? 1 : 2);
    }
    assert_front(r, 30500, NULL, "state", "{'state' {'updates' {'y' 30 'x' 30} 'removals' []}}");
}

/* Sets of keys are compared, not hashed: sums of unseeded FNV hashes of these keys are equal. */
static void other_keys_never_share_a_number(void **state) {
    (void)state;
    MAKER m = {.count = 0}, both = {.count = 0};
    maker_add(&m, "{'state' {'updates' {'a' 1}}}", "{'types' ['state'] 'timestamp' 1}");
    maker_add(&m, "{'state' {'removals' ['`']}}", "{'types' ['state'] 'timestamp' 2}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_front(r, 10000, NULL, "state", "{'state' {'updates' {'a' 1} 'removals' []}}");
    maker_add(&both, "{'frame' {'frame.index' 0 'a' 1} 'state' {'updates' {'c' 1}}}",
              "{'types' ['frame' 'state'] 'frame.index' 0 'timestamp' 1}");
    maker_add(&both, "{'frame' {'frame.index' 1 '`' 2} 'state' {'updates' {'b' 2}}}",
              "{'types' ['frame' 'state'] 'frame.index' 1 'timestamp' 2}");
    RECORDING *q = nanover_read(maker_finish(&both));
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(q, &selection_all);
    struct reel_message message;
    for (uint32_t i = 1; i <= 2; i++) {
        assert_non_null(next_payload(s, &message).data);
        assert_int_equal(nanover_key_set(&message.entry), i);
    }
}

static void many_keys_fold_right(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    enum { KEYS = 500 };
    msgpack_sbuffer want;
    msgpack_sbuffer_init(&want);
    msgpack_packer pk;
    msgpack_packer_init(&pk, &want, msgpack_sbuffer_write);
    msgpack_pack_map(&pk, KEYS);
    for (int i = 0; i < KEYS; i++) {
        char message[128], metadata[64];
        snprintf(message, sizeof message, "{'state' {'updates' {'key.%d' %d} 'removals' []}}", i, i);
        snprintf(metadata, sizeof metadata, "{'types' ['state'] 'timestamp' %d}", i);
        maker_add(&m, message, metadata);
        snprintf(message, sizeof message, "key.%d", KEYS - 1 - i); /* newest first */
        msgpack_pack_str_with_body(&pk, message, strlen(message));
        msgpack_pack_int(&pk, KEYS - 1 - i);
    }
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection selection = cut_at(INT64_C(1000000000), NULL);
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection);
    struct reel_message message;
    struct reel_bytes payload = next_payload(s, &message);
    struct nanover_body body;
    assert_int_equal(nanover_message_body(payload, &body), MSGPACK_OK);
    assert_true(body.has_updates && cursor_left(&body.updates) > want.size);
    assert_memory_equal(body.updates.at, want.data, want.size);
    msgpack_sbuffer_destroy(&want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_fold_since_the_reset_and_states_since_the_beginning),
        cmocka_unit_test(only_wanted_channels_contribute),
        cmocka_unit_test(updates_come_before_removals),
        cmocka_unit_test(same_keys_share_a_number),
        cmocka_unit_test(other_keys_never_share_a_number),
        cmocka_unit_test(many_keys_fold_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
