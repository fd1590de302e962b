/* Of tests that take seconds and use one thread: ThreadSanitizer finds nothing in them. */
#ifndef TESTS_ONE_THREAD_H
#define TESTS_ONE_THREAD_H

#ifdef __SANITIZE_THREAD__
#define SKIP_WITH_TSAN() skip()
#else
#define SKIP_WITH_TSAN() ((void)0)
#endif

#endif
