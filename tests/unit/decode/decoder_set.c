/* decode/decoder_set.h: which channels share a decoder, and which must not. */
#include "decode/decoder_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/bytes.h"

static char definition[] = "int32 x\nint32 y"; /* one place: definitions are compared by where they are */

static struct reel_schema schema_of(const char *name, const char *language, size_t size) {
    return (struct reel_schema){
        .name = name, .encoding = language, .hash = "", .data = {.data = (const uint8_t *)definition, .size = size}};
}

static struct reel_channel channel_of(const char *type, const char *encoding, const struct reel_schema *schemas,
                                      uint32_t n) {
    static const char *const topics[] = {"/t"};
    return (struct reel_channel){.name = "/t",
                                 .topics = topics,
                                 .n_topics = 1,
                                 .type = type,
                                 .encoding = encoding,
                                 .schemas = schemas,
                                 .n_schemas = n};
}

static const struct reel_decoder *opened(struct decoder_set *set, const struct reel_channel *channel) {
    struct reel_error err = {0};
    const struct reel_decoder *decoder = decoder_set_open(set, channel, &err);
    if (!decoder) {
        fail_msg("%s", err.text);
    }
    return decoder;
}

static bool count(void *context, const struct reel_field *field) {
    (void)field;
    (*(unsigned *)context)++;
    return true;
}

static void channels_of_one_definition_share(void **state) {
    (void)state;
    const struct reel_schema schema = schema_of("a/B", "ros1msg", sizeof definition - 1), same = schema;
    const struct reel_channel first = channel_of("a/B", "ros1", &schema, 1),
                              second = channel_of("a/B", "ros1", &same, 1);
    struct decoder_set set = {0};
    const struct reel_decoder *decoder = opened(&set, &first);
    assert_ptr_equal(opened(&set, &second), decoder);
    assert_ptr_equal(opened(&set, &first), decoder);
    decoder_set_free(&set);
}

/* Each differs from the first in one thing. */
static void what_differs_does_not_share(void **state) {
    (void)state;
    const size_t size = sizeof definition - 1, one_field = strlen("int32 x");
    const struct reel_schema schema = schema_of("a/B", "ros1msg", size), renamed = schema_of("a/C", "ros1msg", size),
                             shorter = schema_of("a/B", "ros1msg", one_field), other = schema_of("a/B", "", size);
    const struct reel_channel channels[] = {
        channel_of("a/B", "ros1", &schema, 1),  channel_of("a/C", "ros1", &schema, 1),
        channel_of("a/B", "json", &schema, 1),  channel_of("a/B", "ros1", &renamed, 1),
        channel_of("a/B", "ros1", &shorter, 1), channel_of("a/B", "ros1", &other, 1)};
    enum { N = sizeof channels / sizeof *channels };
    const struct reel_decoder *decoders[N];
    struct decoder_set set = {0};
    for (size_t i = 0; i < N; i++) {
        decoders[i] = opened(&set, &channels[i]);
        for (size_t k = 0; k < i; k++) {
            assert_ptr_not_equal(decoders[i], decoders[k]);
        }
    }
    assert_ptr_equal(opened(&set, &channels[0]), decoders[0]); /* the others have not taken its place */
    unsigned fields = 0;
    assert_true(reel_decoder_fields(decoders[4], count, &fields));
    assert_int_equal(fields, 1); /* of the shorter one */
    decoder_set_free(&set);
}

static void equal_text_elsewhere_is_another_definition(void **state) {
    (void)state;
    const char copy[] = "int32 x\nint32 y";
    const struct reel_schema here = schema_of("a/B", "ros1msg", sizeof definition - 1);
    struct reel_schema there = here;
    there.data = bytes_text(copy);
    const struct reel_channel first = channel_of("a/B", "ros1", &here, 1),
                              second = channel_of("a/B", "ros1", &there, 1);
    struct decoder_set set = {0};
    assert_ptr_not_equal(opened(&set, &first), opened(&set, &second));
    decoder_set_free(&set);
}

/* Without a definition, or with several, of which the channel's metadata may choose. */
static void these_have_their_own(void **state) {
    (void)state;
    const struct reel_schema two[] = {schema_of("a/B", "ros1msg", sizeof definition - 1),
                                      schema_of("a/C", "ros1msg", sizeof definition - 1)};
    const struct reel_schema empty = schema_of("", "", 0);
    const struct reel_channel channels[] = {channel_of("", "json", NULL, 0), channel_of("", "json", &empty, 1),
                                            channel_of("a/B", "ros1", two, 2)};
    struct decoder_set set = {0};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        assert_ptr_not_equal(opened(&set, &channels[i]), opened(&set, &channels[i]));
    }
    decoder_set_free(&set);
}

static void what_cannot_be_decoded_is_passed_by(void **state) {
    (void)state;
    const struct reel_schema schema = schema_of("a/B", "ros1msg", sizeof definition - 1);
    const struct reel_channel unknown = channel_of("a/B", "no such encoding", &schema, 1),
                              known = channel_of("a/B", "ros1", &schema, 1);
    struct reel_error err = {0};
    struct decoder_set set = {0};
    const struct reel_decoder *decoder = opened(&set, &known), *none = decoder;
    assert_null(decoder_set_open(&set, &unknown, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_true(decoder_set_try(&set, &unknown, &none, &err));
    assert_null(none);
    assert_true(decoder_set_try(&set, &known, &none, &err));
    assert_ptr_equal(none, decoder);
    decoder_set_free(&set);
}

static void a_set_that_was_freed_is_empty(void **state) {
    (void)state;
    const struct reel_schema schema = schema_of("a/B", "ros1msg", sizeof definition - 1);
    const struct reel_channel channel = channel_of("a/B", "ros1", &schema, 1);
    struct decoder_set set = {0};
    decoder_set_free(&set);
    opened(&set, &channel);
    decoder_set_free(&set);
    assert_null(set.first);
    assert_ptr_equal(opened(&set, &channel), opened(&set, &channel));
    decoder_set_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_of_one_definition_share),           cmocka_unit_test(what_differs_does_not_share),
        cmocka_unit_test(equal_text_elsewhere_is_another_definition), cmocka_unit_test(these_have_their_own),
        cmocka_unit_test(what_cannot_be_decoded_is_passed_by),        cmocka_unit_test(a_set_that_was_freed_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
