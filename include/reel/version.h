/* The version of these headers, and of the library that a program runs with. */
#ifndef REEL_VERSION_H
#define REEL_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define REEL_VERSION_MAJOR 1
#define REEL_VERSION_MINOR 0
#define REEL_VERSION_PATCH 0
#define REEL_VERSION_NUMBER (REEL_VERSION_MAJOR * 10000 + REEL_VERSION_MINOR * 100 + REEL_VERSION_PATCH)

const char *reel_version(void); /* "1.0.0", of the library */

#ifdef __cplusplus
}
#endif

#endif
