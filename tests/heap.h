/* The heap below a malloc of our own: the C library's, or the sanitizer's. */
#ifndef REEL_TESTS_HEAP_H
#define REEL_TESTS_HEAP_H

#include <stddef.h>

#ifndef HEAP_SANITIZED /* also defined for a library that a sanitized program loads */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEAP_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_SANITIZED 1
#endif
#endif

#ifdef HEAP_SANITIZED
#define HEAP(name) __interceptor_##name
#else
#define HEAP(name) __libc_##name
#endif
void *HEAP(malloc)(size_t size);
void *HEAP(calloc)(size_t n, size_t size);
void *HEAP(realloc)(void *p, size_t size);
void HEAP(free)(void *p);

#endif
