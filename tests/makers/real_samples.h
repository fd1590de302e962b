/* The real recordings of ../shared/samples, which are not in the repository. For tests with cmocka. */
#ifndef REEL_TESTS_REAL_SAMPLES_H
#define REEL_TESTS_REAL_SAMPLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SAMPLES_SKIPPED(count)                                                                                         \
    do {                                                                                                               \
        print_message("skipped: %u real samples\n", (unsigned)(count));                                                \
        skip();                                                                                                        \
    } while (0)

#endif
