/* values/undecoded.h: why messages are bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "makers/toy_format.h"

#include "base/bytes.h"
#include "values/undecoded.h"

static void add(struct toy *toy, uint32_t channel, const char *name, const char *encoding, const char *definition,
                size_t size) {
    struct reel_schema schema = {
        .name = "test/V", .encoding = "ros1msg", .hash = "", .data = bytes_text(definition ? definition : "")};
    uint8_t payload[16] = {0};
    toy_channel(
        toy,
        &(struct reel_channel){
            .name = name, .type = "test/V", .encoding = encoding, .schemas = &schema, .n_schemas = definition != NULL});
    toy_message(toy, channel, 1000, 0, payload, size);
}

static bool list(void *context, const char *topic, const char *why) {
    struct grow *text = context;
    grow_put(text, topic, strlen(topic));
    grow_put(text, ">", 1);
    grow_put(text, why, strlen(why));
    grow_put(text, "|", 1);
    return true;
}

static void each_topic_says_why_once(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_error err = {0}, why;
    struct grow text = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    add(&toy, 0, "/good", "ros1", "float64 v\n", 8);
    add(&toy, 1, "/longer", "ros1", "uint8 level\n", 16); /* a definition that is cut: in the payload only */
    add(&toy, 2, "/longer", "ros1", "uint8 level\n", 12);
    add(&toy, 3, "/unknown", "ros1", "Missing v\n", 8);
    add(&toy, 4, "/bytes", "jam", NULL, 8);
    struct reel_recording *recording = toy_open(&toy);
    assert_true(undecoded_topics(recording, list, &text, &err));
    grow_put(&text, "", 1);
    assert_non_null(strstr((char *)text.data, "/longer>/longer: byte 1 of 16: 15 bytes too many|/unknown>/unknown: "));
    assert_non_null(strstr((char *)text.data, "Missing"));
    assert_non_null(strstr((char *)text.data, "|/bytes>/bytes: the encoding \"jam\" is not decoded|"));
    assert_memory_equal(text.data, "/longer", 7); /* not /good */
    free(text.data);
    assert_true(topic_undecoded(recording, "longer", &why, &err) && why.code == REEL_DAMAGED);
    assert_true(topic_undecoded(recording, "/good", &why, &err) && why.code == REEL_OK);
    reel_recording_free(recording);
    toy_free(&toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_topic_says_why_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
