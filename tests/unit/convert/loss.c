/* reel_loss_*: order kept, texts owned, and a receiver is optional. */
#include "base/cleanup.h"
#include "convert/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void items_stay_in_order_and_own_their_texts(void **state) {
    (void)state;
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    size_t count = 9;
    reel_loss_items(loss, &count);
    assert_int_equal(count, 0);
    for (int i = 0; i < 1000; i++) {
        char name[24];
        (void)!snprintf(name, sizeof name, "/topic%d", i);
        struct reel_channel channel = {.name = name};
        reel_loss_add(loss, REEL_CHANGES, &channel, "time is cut to %d ns", i);
        memset(name, 'x', sizeof name);
    }
    reel_loss_add(loss, REEL_REFUSES, NULL, "holds one recording, not %u", 2U);
    const struct reel_loss_item *items = reel_loss_items(loss, &count);
    assert_int_equal(count, 1001);
    assert_string_equal(items[0].channel, "/topic0");
    assert_string_equal(items[999].channel, "/topic999");
    assert_string_equal(items[999].text, "time is cut to 999 ns");
    assert_int_equal(items[999].kind, REEL_CHANGES);
    assert_null(items[1000].channel);
    assert_string_equal(items[1000].text, "holds one recording, not 2");
    assert_int_equal(items[1000].kind, REEL_REFUSES);
}

static void the_callback_is_optional(void **state) {
    (void)state;
    reel_loss_add(NULL, REEL_LOSES, NULL, "%d", 1);
    reel_loss_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_in_order_and_own_their_texts),
        cmocka_unit_test(the_callback_is_optional),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
