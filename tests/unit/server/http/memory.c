/* server/http/memory.c: requests that hold memory and need more of it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "http/http_internal.h"

enum { MIB = 1 << 20, REQUESTS = 4 };

static struct http_server server;
static struct http_request requests[REQUESTS];

static int open_memory(void **state) {
    (void)state;
    memory_open(&server.memory, 64 * MIB);
    for (int i = 0; i < REQUESTS; i++) {
        requests[i] = (struct http_request){.server = &server};
        strcpy(requests[i].grant.peer, "192.0.2.1");
    }
    return 0;
}

static int close_memory(void **state) {
    (void)state;
    assert_int_equal(server.memory.held, 0);
    assert_null(server.memory.shares);
    memory_close(&server.memory);
    memory_free(&server.memory);
    return 0;
}

static void *hold_more(void *context) {
    struct http_request *r = context;
    bool granted = http_hold(r, 20 * MIB, NULL);
    memory_release(r);
    return granted ? r : NULL;
}

/* Each holds a part, and together with the rest of any they would hold more than the client may. */
static void do_not_wait_for_one_another(void **state) {
    (void)state;
    pthread_t threads[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        assert_true(http_hold(&requests[i], 8 * MIB, NULL));
    }
    for (int i = 0; i < REQUESTS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hold_more, &requests[i]), 0);
    }
    for (int i = 0; i < REQUESTS; i++) {
        void *granted = NULL;
        assert_int_equal(pthread_join(threads[i], &granted), 0);
        assert_ptr_equal(granted, &requests[i]);
    }
    assert_int_equal(server.memory.refused, 0);
}

static void what_is_not_there_now_is_not_waited_for(void **state) {
    (void)state;
    assert_true(http_reserve_now(&requests[0], 40 * MIB));
    assert_false(http_reserve_now(&requests[1], 40 * MIB));
    assert_true(http_reserve_now(&requests[1], 2 * MIB));
    assert_int_equal(server.memory.held, 42 * MIB);
    memory_release(&requests[0]);
    memory_release(&requests[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(do_not_wait_for_one_another, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(what_is_not_there_now_is_not_waited_for, open_memory, close_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
