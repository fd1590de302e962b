/* Growing memory (base/grow.h). */
#include "base/grow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* NULL means no memory: a message of no bytes is one. */
static void test_room_for_nothing(void **state) {
    struct grow g = {0};
    (void)state;
    assert_non_null(grow_room(&g, 0));
    assert_non_null(grow_take(&g, 0));
    assert_int_equal(g.size, 0);
    assert_false(g.failed);
    free(g.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_room_for_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
