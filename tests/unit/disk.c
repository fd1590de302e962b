/* Paths, and writing all of something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "store/disk.h"

static struct reel_error err;

static void paths_are_joined_or_refused(void **state) {
    (void)state;
    char out[PATH_MAX], folder[PATH_MAX];
    assert_true(disk_join(out, "/a", "b", &err));
    assert_string_equal(out, "/a/b");
    assert_true(disk_join(out, "/", "b", &err));
    assert_string_equal(out, "/b");
    memset(folder, 'f', sizeof folder);
    folder[PATH_MAX - 3] = '\0';
    assert_true(disk_join(out, folder, "b", &err));
    assert_int_equal(strlen(out), PATH_MAX - 1);
    assert_false(disk_join(out, folder, "bc", &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}

static void folders_last_or_it_is_told(void **state) {
    (void)state;
    assert_true(disk_sync_folder(REEL_SCRATCH, &err));
    assert_false(disk_sync_folder(REEL_SCRATCH "/not there", &err));
    assert_int_equal(err.code, REEL_IO);
}

/* ---- a signal while the pipe is full */

static int pipe_ends[2];
static volatile sig_atomic_t drained;

static void drain(int number) {
    char bytes[4096];
    (void)number;
    while (read(pipe_ends[0], bytes, sizeof bytes) > 0) {
        drained = 1;
    }
}

static void a_signal_ends_no_write(void **state) {
    (void)state;
    char bytes[4096] = {0};
    struct sigaction on = {.sa_handler = drain}; /* without SA_RESTART: the call that it meets fails with EINTR */
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(fcntl(pipe_ends[1], F_SETFL, O_NONBLOCK), 0);
    while (write(pipe_ends[1], bytes, sizeof bytes) > 0) {
    }
    assert_int_equal(fcntl(pipe_ends[1], F_SETFL, 0), 0);
    assert_int_equal(sigaction(SIGALRM, &on, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    assert_true(disk_write_all(pipe_ends[1], bytes, sizeof bytes));
    assert_true(drained);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_joined_or_refused),
        cmocka_unit_test(folders_last_or_it_is_told),
        cmocka_unit_test(a_signal_ends_no_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
