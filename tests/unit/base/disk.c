/* Paths, writing all of something, and output files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/output_file.h"

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

static void folders_are_removed_last_or_reported(void **state) {
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

/* ---- output files */

#define OUTPUT REEL_SCRATCH "/output"

static void assert_output(const char *text) {
    char bytes[64];
    int fd = open(OUTPUT, O_RDONLY);
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(bytes, text, strlen(text));
}

static bool put_output(const char *text, bool replace) {
    AUTO(output_file_done) struct output_file o;
    return output_file_open(&o, OUTPUT, replace, &err) && output_file_write(&o, text, strlen(text), &err) &&
           output_file_finish(&o, &err);
}

static void an_output_file_is_replaced_only_on_request(void **state) {
    (void)state;
    unlink(OUTPUT);
    assert_true(put_output("old", false));
    assert_false(put_output("new", false));
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_output("old");
    assert_true(put_output("new", true));
    assert_output("new");
}

/* Of two that write the same file, the first to finish has the name. */
static void a_file_that_appears_meanwhile_stays(void **state) {
    (void)state;
    unlink(OUTPUT);
    {
        AUTO(output_file_done) struct output_file o;
        assert_true(output_file_open(&o, OUTPUT, false, &err));
        assert_true(output_file_write(&o, "mine", 4, &err));
        close(open(OUTPUT, O_WRONLY | O_CREAT, 0600));
        assert_false(output_file_finish(&o, &err));
        assert_int_equal(err.code, REEL_CONFLICT);
        assert_int_equal(access(o.temporary, F_OK), 0);
    }
    char temporary[PATH_MAX];
    snprintf(temporary, sizeof temporary, "%s.tmp-%ld", OUTPUT, (long)getpid());
    assert_int_equal(access(temporary, F_OK), -1);
    assert_output("");
}

static void pipes_and_standard_output_are_written_directly(void **state) {
    (void)state;
    char bytes[8];
    unlink(OUTPUT);
    assert_int_equal(mkfifo(OUTPUT, 0600), 0);
    int reading = open(OUTPUT, O_RDONLY | O_NONBLOCK);
    assert_true(put_output("piped", false));
    assert_int_equal(read(reading, bytes, sizeof bytes), 5);
    close(reading);
    struct stat st;
    assert_true(stat(OUTPUT, &st) == 0 && S_ISFIFO(st.st_mode));
    unlink(OUTPUT);
    {
        AUTO(output_file_done) struct output_file o;
        assert_true(output_file_open(&o, "-", false, &err) && output_file_write(&o, "", 0, &err) &&
                    output_file_finish(&o, &err));
        assert_int_equal(o.fd, STDOUT_FILENO);
    }
    assert_int_not_equal(fcntl(STDOUT_FILENO, F_GETFD), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_joined_or_refused),
        cmocka_unit_test(folders_are_removed_last_or_reported),
        cmocka_unit_test(a_signal_ends_no_write),
        cmocka_unit_test(an_output_file_is_replaced_only_on_request),
        cmocka_unit_test(a_file_that_appears_meanwhile_stays),
        cmocka_unit_test(pipes_and_standard_output_are_written_directly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
